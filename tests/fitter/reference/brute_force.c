/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "brute_force.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* least[i][j]: the least error of one line over the codes i..j found so far. */
struct ranges {
    double least[BRUTE_CODES][BRUTE_CODES];
};

struct candidates {
    int64_t *offset;
    size_t count, room;
};

/* Products have at most 2^31 * 2^7, and are shifted to the left only when they fit 32 bits: all sums fit 64 bits. */
static int64_t power(int n)
{
    return (int64_t)1 << n;
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q * b > a ? q - 1 : q;
}

/* p / 2^n rounded */
static int64_t shifted(const struct brute_problem *problem, int64_t p, int n)
{
    if (n <= 0)
        return p * power(-n);
    const int64_t down = floor_quotient(p, power(n)), rest = 2 * (p - down * power(n)), one = power(n);
    switch (problem->rounding) {
    case BRUTE_FLOOR:
        return down;
    case BRUTE_HALF_UP:
        return rest >= one ? down + 1 : down;
    case BRUTE_HALF_AWAY:
        return rest > one || (rest == one && p > 0) ? down + 1 : down;
    case BRUTE_HALF_EVEN:
        return rest > one || (rest == one && down % 2 != 0) ? down + 1 : down;
    }
    return 0;
}

static bool fits(const struct brute_problem *problem, int64_t value)
{
    const int64_t limit = power(problem->accumulator_bits - 1);
    return -limit <= value && value < limit;
}

/* What is added before a right shift must fit as well. */
static bool rounding_fits(const struct brute_problem *problem, int64_t p, int n)
{
    if (n <= 0 || problem->rounding == BRUTE_FLOOR)
        return true;
    return fits(problem, (problem->rounding == BRUTE_HALF_AWAY && p < 0 ? -p : p) + power(n - 1));
}

/* One slope at one code, before the offset comes in. */
struct partial {
    bool legal;
    int64_t product, shifted; /* shifted: but for the biased form */
};

static struct partial partial_at(const struct brute_problem *problem, int64_t q_b, int n, int64_t origin, int k)
{
    const int64_t X = problem->qmin_x + k - origin;
    struct partial partial = {.product = q_b * X};
    partial.legal = fits(problem, X) && fits(problem, partial.product);
    if (problem->form == BRUTE_BIASED || (!partial.legal && !problem->continuous))
        return partial;
    partial.shifted = shifted(problem, partial.product, n);
    partial.legal = partial.legal && rounding_fits(problem, partial.product, n) && fits(problem, partial.shifted);
    return partial;
}

static int64_t saturate(const struct brute_problem *problem, int64_t value)
{
    return value < problem->qmin_y ? problem->qmin_y : value > problem->qmax_y ? problem->qmax_y : value;
}

/* |q_y - target| at one code; of a code and its mirror image both together. */
static double distance(const struct brute_problem *problem, int64_t value, int k)
{
    if (!problem->mirrored)
        return fabs((double)saturate(problem, value) - problem->target[k]);
    double e = fabs((double)saturate(problem, value) - problem->target[k]),
           mirrored = fabs((double)saturate(problem, problem->sum - value) - problem->mirrored[k]);
    e = isnan(e) ? 0 : e;
    mirrored = isnan(mirrored) ? 0 : mirrored;
    return problem->squares ? sqrt(e * e + mirrored * mirrored) : fmax(e, mirrored);
}

/* The distance at one code; INFINITY where an intermediate value leaves the accumulator or a fixed code is missed.
 *
 * A segment is legal when its two end codes are, since each intermediate value is monotone in the code (or, under
 * half_away, convex); so the codes between legal ends are legal, and counting an illegal code as an error without limit
 * asks for nothing more than legal ends. */
static double error_at(const struct brute_problem *problem, const struct partial *partial, int n, int64_t offset, int k)
{
    int64_t value = partial->shifted + offset;
    if (!partial->legal)
        return INFINITY;
    if (problem->form == BRUTE_BIASED) {
        value = partial->product + offset;
        if (!fits(problem, value) || !rounding_fits(problem, value, n))
            return INFINITY;
        value = shifted(problem, value, n);
    }
    if (!fits(problem, value))
        return INFINITY;
    if (problem->fixed && problem->fixed[k] != BRUTE_FREE && problem->fixed[k] != saturate(problem, value))
        return INFINITY;
    return distance(problem, value, k);
}

static void add(const struct brute_problem *problem, struct candidates *candidates, int64_t offset)
{
    const int64_t limit = power(problem->offset_bits - 1);
    if (offset < -limit || offset >= limit)
        return;
    if (candidates->count == candidates->room) {
        candidates->room = 2 * candidates->room + 64;
        candidates->offset = realloc(candidates->offset, candidates->room * sizeof *candidates->offset);
        if (!candidates->offset)
            abort();
    }
    candidates->offset[candidates->count++] = (int64_t)offset;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique(struct candidates *candidates)
{
    size_t kept = 0;
    if (candidates->count == 0)
        return;
    qsort(candidates->offset, candidates->count, sizeof *candidates->offset, ascending);
    for (size_t k = 0; k < candidates->count; k++)
        if (kept == 0 || candidates->offset[k] != candidates->offset[kept - 1])
            candidates->offset[kept++] = candidates->offset[k];
    candidates->count = kept;
}

/* The least offset with which the code's output is v, before saturation; where ties may go either way, the next too. */
static void add_step(const struct brute_problem *problem, struct candidates *candidates, const struct partial *partial,
                     int n, int64_t v)
{
    if (problem->form != BRUTE_BIASED) {
        add(problem, candidates, v - partial->shifted);
    } else if (n <= 0) {
        add(problem, candidates, -floor_quotient(-v, power(-n)) - partial->product);
    } else {
        const int64_t step = v * power(n) - (problem->rounding == BRUTE_FLOOR ? 0 : power(n - 1)) - partial->product;
        add(problem, candidates, step);
        if (problem->rounding == BRUTE_HALF_AWAY || problem->rounding == BRUTE_HALF_EVEN)
            add(problem, candidates, step + 1);
    }
}

/* The least offset with which each intermediate value of the code is legal. */
static void add_limit(const struct brute_problem *problem, struct candidates *candidates, const struct partial *partial,
                      int n)
{
    const int64_t limit = power(problem->accumulator_bits - 1);
    if (problem->form != BRUTE_BIASED)
        add(problem, candidates, -limit - partial->shifted);
    else if (n <= 0)
        add(problem, candidates, -limit / power(-n) - partial->product);
    else if (problem->rounding == BRUTE_HALF_AWAY)
        add(problem, candidates, power(n - 1) - limit + 1 - partial->product);
    else
        add(problem, candidates, -limit - partial->product);
}

struct span {
    double low, high;
};

/* Output codes within `most` of a target. */
static struct span outputs_near(const struct brute_problem *problem, double target, double most)
{
    return (struct span){fmax(ceil(target - most), (double)problem->qmin_y),
                         fmin(floor(target + most), (double)problem->qmax_y)};
}

/* What code k may give before saturation: what is near its target, or that of its mirror image. */
static struct span values_near(const struct brute_problem *problem, double most, int k)
{
    if (!problem->mirrored || isnan(problem->mirrored[k]))
        return outputs_near(problem, problem->target[k], most);
    const struct span image = outputs_near(problem, problem->mirrored[k], most);
    struct span near = {(double)problem->sum - image.high, (double)problem->sum - image.low};
    if (!isnan(problem->target[k])) {
        const struct span own = outputs_near(problem, problem->target[k], most);
        near = (struct span){fmin(near.low, own.low), fmax(near.high, own.high)};
    }
    return near;
}

/*
 * Every offset that can make a difference for a slope. As the offset grows, the outputs of the codes grow step by step.
 * Between two steps, of any code in a range, nothing changes, so the least offset of each step, and the least that is
 * legal, stand for all others. A step brings its code within `most` of the target, the error that some line found
 * before has over all codes, or the line is of no use.
 */
static void offsets_of(const struct brute_problem *problem, const struct partial *partials, int n, int begin,
                       double most, struct candidates *candidates)
{
    candidates->count = 0;
    add(problem, candidates, -power(problem->offset_bits - 1));
    for (int k = begin; k < problem->count; k++) {
        const struct span near = values_near(problem, most, k);
        if (!partials[k].legal && !problem->continuous)
            continue;
        for (int64_t v = (int64_t)near.low; v <= (int64_t)near.high; v++)
            add_step(problem, candidates, &partials[k], n, v);
        add_limit(problem, candidates, &partials[k], n);
    }
    sort_unique(candidates);
}

/* One line from code `begin` on, as far as it is of use: once its error is that of a line that serves all further
 * codes, nothing is left to improve. error[k] is computed when it is first asked for; it is NAN before. */
static void extend(const struct brute_problem *problem, struct ranges *ranges, const struct partial *partials, int n,
                   int64_t offset, double *error, int begin)
{
    double *least = ranges->least[begin], so_far = 0;
    for (int k = begin; k < problem->count; k++) {
        if (isnan(error[k]))
            error[k] = error_at(problem, &partials[k], n, offset, k);
        so_far = problem->squares ? so_far + error[k] * error[k] : fmax(so_far, error[k]);
        if (so_far >= least[problem->count - 1])
            return;
        if (so_far < least[k])
            least[k] = so_far;
    }
}

/* Every offset of a slope, over all ranges that start in first..last and share the origin of X. */
static void try_offsets(const struct brute_problem *problem, struct ranges *ranges, struct candidates *candidates,
                        int64_t q_b, int n, int64_t origin, int first, int last)
{
    struct partial partials[BRUTE_CODES];
    double error[BRUTE_CODES], most = 0;
    for (int k = first; k < problem->count; k++)
        partials[k] = partial_at(problem, q_b, n, origin, k);
    for (int k = first; k <= last; k++)
        most = fmax(most, ranges->least[k][problem->count - 1]);
    offsets_of(problem, partials, n, first, problem->squares ? sqrt(most) : most, candidates);
    for (size_t c = 0; c < candidates->count; c++) {
        for (int k = first; k < problem->count; k++)
            error[k] = NAN;
        for (int k = first; k <= last; k++)
            extend(problem, ranges, partials, n, candidates->offset[c], error, k);
    }
}

static void try_slope(const struct brute_problem *problem, struct ranges *ranges, struct candidates *candidates,
                      int64_t q_b, int n)
{
    if (problem->form != BRUTE_ANCHORED)
        try_offsets(problem, ranges, candidates, q_b, n, problem->zp_x, 0, problem->count - 1);
    else
        for (int k = 0; k < problem->count; k++)
            try_offsets(problem, ranges, candidates, q_b, n, problem->qmin_x + k, k, k);
}

/*
 * Whether n and all larger shifts make lines that a smaller one makes too.
 *
 * Once 2^n is more than eight times each product, the products shifted by n are 0 or -1, as those shifted by n - 1 are.
 * In the biased form, once 2^n is more than eight times the difference of any two products, the line has at most one
 * step, by 1, which n - 1 puts between the same codes, with smaller values on the way.
 */
static bool is_too_flat(const struct brute_problem *problem, int64_t q_b, int n)
{
    const int64_t a = q_b * (problem->qmin_x - problem->zp_x), b = a + q_b * (problem->count - 1);
    const int64_t largest = llabs(a) > llabs(b) ? llabs(a) : llabs(b);
    return n > 3 && power(n - 3) > (problem->form == BRUTE_ABSOLUTE ? largest : llabs(b - a));
}

/*
 * Whether n shifts further to the left than twice the number R of outputs, where a smaller shift does as well.
 *
 * Absolute and anchored: a line that rises by more than R from code to code has at most one code that does not
 * saturate. The line of slope 2^m, the least such, through that code and value saturates the same codes alike, and lies
 * between the other line and that value everywhere, so that it is legal when the other is. Biased: a shift by m to the
 * left makes values that are multiples of 2^m; when 2^m exceeds each output's magnitude, only the sign of the sum
 * counts, and all such m are alike, the least of them being legal when another is.
 */
static bool is_too_steep(const struct brute_problem *problem, int n)
{
    int64_t range = problem->qmax_y - problem->qmin_y;
    if (problem->mirrored) /* before saturation */
        range += llabs(problem->sum - problem->qmax_y - problem->qmin_y);
    return n < 0 && power(-n) > 4 * range;
}

/* Without a bias under the shift, q_b / 2^n in lowest terms makes the same values by smaller numbers. */
static bool is_reducible(const struct brute_problem *problem, int64_t q_b, int n)
{
    return problem->form != BRUTE_BIASED && q_b % 2 == 0 && n > 1 - problem->accumulator_bits &&
           !is_too_steep(problem, n - 1);
}

static bool adds_nothing(const struct brute_problem *problem, int64_t q_b, int n)
{
    return !problem->every_line &&
           (is_too_flat(problem, q_b, n) || is_too_steep(problem, n) || is_reducible(problem, q_b, n));
}

/* Digits other than 0 in the shortest sum of signed powers of two: those of the non-adjacent form, q and 3 q differing
 * at each. Source: G. W. Reitwiesner, "Binary arithmetic", Advances in Computers 1, 1960. */
static int signed_digits(int64_t q_b)
{
    const uint64_t q = (uint64_t)llabs(q_b);
    int digits = 0;
    for (uint64_t differ = q ^ (3 * q); differ; differ &= differ - 1)
        digits++;
    return digits;
}

/* With one shift a segment cannot take the shift of another, so that all lines of a shift count or none. */
static bool is_tried(const struct brute_problem *problem, int64_t q_b, int n)
{
    const int64_t steepest = power(problem->slope_bits - 1);
    if (problem->slope_terms && signed_digits(q_b) > problem->slope_terms)
        return false;
    if (problem->one_shift)
        return problem->every_line || !(is_too_flat(problem, steepest, n) || is_too_steep(problem, n));
    return !adds_nothing(problem, q_b, n);
}

static bool may_start(const struct brute_problem *problem, int k)
{
    return k == 0 || k == problem->count || !problem->starts || problem->starts[k];
}

/* Whether a segment may serve the codes i..j - 1. */
static bool may_span(const struct brute_problem *problem, int i, int j)
{
    if (!may_start(problem, i) || !may_start(problem, j))
        return false;
    for (int k = i + 1; problem->every_start && k < j; k++)
        if (may_start(problem, k))
            return false;
    return true;
}

/* The error of two parts together. */
static double both(const struct brute_problem *problem, double a, double b)
{
    return problem->squares ? a + b : fmax(a, b);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    if (!memory)
        abort();
    return memory;
}

/* Segments that do not depend on each other, with shifts from n_min to n_max. */
static void brute_free(const struct brute_problem *problem, int n_min, int n_max, double least[BRUTE_CODES + 1])
{
    struct ranges *ranges = allocate(1, sizeof *ranges);
    struct candidates candidates = {0};
    const int count = problem->count;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            ranges->least[i][j] = INFINITY;

    const int flat = n_min > 0 ? n_min : n_max < 0 ? n_max : 0;
    try_slope(problem, ranges, &candidates, 0, flat); /* constants first: they make `most` small */
    const int64_t steepest = power(problem->slope_bits - 1);
    for (int n = n_max; n >= n_min; n--)
        for (int64_t q_b = -steepest; q_b < steepest; q_b++)
            if (is_tried(problem, q_b, n))
                try_slope(problem, ranges, &candidates, q_b, n);
    free(candidates.offset);

    double(*joined)[BRUTE_CODES + 1] = allocate(BRUTE_CODES + 1, sizeof *joined);
    for (int j = 0; j <= count; j++)
        joined[0][j] = j == 0 ? 0 : INFINITY;
    for (int m = 1; m <= count; m++) {
        joined[m][0] = problem->every_start ? INFINITY : 0;
        for (int j = 1; j <= count; j++) {
            joined[m][j] = INFINITY;
            for (int i = 0; i < j; i++)
                if (may_span(problem, i, j))
                    joined[m][j] = fmin(joined[m][j], both(problem, joined[m - 1][i], ranges->least[i][j - 1]));
        }
        least[m] = joined[m][count];
    }
    free(joined);
    free(ranges);
}

/* Input and output codes of tied tables at most; outputs are counted from qmin_y. */
enum { TIED_CODES = 16, OUTPUTS = 32 };

/* Tables of m segments over the first codes, by what counts for the next segment: the last output, and what the last
 * segment gives at the code after it. */
struct tied {
    double least[TIED_CODES + 1][TIED_CODES + 1][OUTPUTS][OUTPUTS];
    double begun[TIED_CODES + 1][OUTPUTS]; /* of m segments that end where one starts with this output */
};

static bool agrees(const struct brute_problem *problem, int k, int64_t last, int64_t next, int64_t first)
{
    return !(problem->direction && problem->direction[k] * (first - last) < 0) &&
           !(problem->continuous && llabs(first - next) > problem->max_step);
}

/* Where fewer segments do as well, more are left out. */
static void begin_at(const struct brute_problem *problem, struct tied *tied, int i)
{
    const int outputs = (int)(problem->qmax_y - problem->qmin_y) + 1;
    double best[OUTPUTS];
    for (int first = 0; first < outputs; first++)
        best[first] = INFINITY;
    for (int m = 0; m <= i; m++) {
        double *begun = tied->begun[m];
        for (int first = 0; first < outputs; first++)
            begun[first] = i == 0 ? 0 : INFINITY;
        for (int last = 0; i > 0 && last < outputs; last++)
            for (int next = 0; next < outputs; next++)
                for (int first = 0; tied->least[m][i][last][next] < INFINITY && first < outputs; first++)
                    if (agrees(problem, i, last, next, first))
                        begun[first] = fmin(begun[first], tied->least[m][i][last][next]);
        for (int first = 0; first < outputs; first++) {
            if (!problem->every_start && begun[first] >= best[first])
                begun[first] = INFINITY;
            best[first] = fmin(best[first], begun[first]);
        }
    }
}

/* Any sum, legal or not. */
static int64_t output_of(const struct brute_problem *problem, int64_t q_b, int n, int64_t origin, int64_t offset, int k)
{
    const int64_t product = q_b * (problem->qmin_x + k - origin);
    const int64_t value =
        problem->form == BRUTE_BIASED ? shifted(problem, product + offset, n) : shifted(problem, product, n) + offset;
    return saturate(problem, value);
}

/* One line as a segment from code i to every end. */
static void extend_tied(const struct brute_problem *problem, struct tied *tied, const struct partial *partials,
                        int64_t q_b, int n, int64_t origin, int64_t offset, int i)
{
    int64_t before = 0;
    double so_far = 0;
    const int64_t first = output_of(problem, q_b, n, origin, offset, i) - problem->qmin_y;
    for (int k = i; k < problem->count; k++) {
        const double error = error_at(problem, &partials[k], n, offset, k);
        if (!isfinite(error))
            return;
        const int64_t value = output_of(problem, q_b, n, origin, offset, k) - problem->qmin_y;
        if (k > i && problem->direction && problem->direction[k] * (value - before) < 0)
            return;
        so_far = both(problem, so_far, problem->squares ? error * error : error);
        before = value;
        if (!may_span(problem, i, k + 1))
            continue;
        const int64_t next =
            k + 1 < problem->count ? output_of(problem, q_b, n, origin, offset, k + 1) - problem->qmin_y : 0;
        for (int m = 0; m <= i; m++) {
            double *least = &tied->least[m + 1][k + 1][value][next];
            if (tied->begun[m][first] < *least)
                *least = fmin(*least, both(problem, tied->begun[m][first], so_far));
        }
    }
}

/* Each slope with every offset that can make a difference from code i on. */
static void try_tied(const struct brute_problem *problem, struct tied *tied, struct candidates *candidates, int64_t q_b,
                     int n, int i)
{
    struct partial partials[BRUTE_CODES];
    const int64_t origin = problem->form == BRUTE_ANCHORED ? problem->qmin_x + i : problem->zp_x;
    for (int k = i; k < problem->count; k++)
        partials[k] = partial_at(problem, q_b, n, origin, k);
    offsets_of(problem, partials, n, i, INFINITY, candidates);
    for (size_t c = 0; c < candidates->count; c++)
        extend_tied(problem, tied, partials, q_b, n, origin, candidates->offset[c], i);
}

/* Segments that depend on their neighbours. */
static void brute_tied(const struct brute_problem *problem, int n_min, int n_max, double least[BRUTE_CODES + 1])
{
    struct tied *tied = allocate(1, sizeof *tied);
    struct candidates candidates = {0};
    const int64_t steepest = power(problem->slope_bits - 1);
    const int outputs = (int)(problem->qmax_y - problem->qmin_y) + 1;
    if (problem->count > TIED_CODES || outputs > OUTPUTS)
        abort();
    for (int m = 0; m <= problem->count; m++)
        for (int k = 0; k <= problem->count; k++)
            for (int last = 0; last < outputs; last++)
                for (int next = 0; next < outputs; next++)
                    tied->least[m][k][last][next] = INFINITY;
    for (int i = 0; i < problem->count; i++) {
        if (!may_start(problem, i))
            continue;
        begin_at(problem, tied, i);
        for (int n = n_min; n <= n_max; n++)
            for (int64_t q_b = -steepest; q_b < steepest; q_b++)
                if (is_tried(problem, q_b, n))
                    try_tied(problem, tied, &candidates, q_b, n, i);
    }
    for (int m = 1; m <= problem->count; m++) {
        least[m] = m > 1 && !problem->every_start ? least[m - 1] : INFINITY;
        for (int last = 0; last < outputs; last++)
            least[m] = fmin(least[m], tied->least[m][problem->count][last][0]);
    }
    free(candidates.offset);
    free(tied);
}

void brute_force(const struct brute_problem *problem, double least[BRUTE_CODES + 1])
{
    const bool is_tied = problem->direction || problem->continuous;
    void (*const solve)(const struct brute_problem *, int, int, double *) = is_tied ? brute_tied : brute_free;
    const int most = problem->accumulator_bits - 1;
    if (!problem->one_shift) {
        solve(problem, -most, most, least);
        return;
    }
    for (int m = 1; m <= problem->count; m++)
        least[m] = INFINITY;
    for (int n = -most; n <= most; n++) {
        double with_n[BRUTE_CODES + 1];
        solve(problem, n, n, with_n);
        for (int m = 1; m <= problem->count; m++)
            least[m] = fmin(least[m], with_n[m]);
    }
}
