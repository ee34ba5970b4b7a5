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
    if (problem->form == BRUTE_BIASED || !partial.legal)
        return partial;
    partial.shifted = shifted(problem, partial.product, n);
    partial.legal = rounding_fits(problem, partial.product, n) && fits(problem, partial.shifted);
    return partial;
}

/* |q_y - target| at one code; INFINITY where an intermediate value leaves the accumulator or a fixed code is missed.
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
    const int64_t q_y = value < problem->qmin_y ? problem->qmin_y : value > problem->qmax_y ? problem->qmax_y : value;
    if (problem->fixed && problem->fixed[k] != BRUTE_FREE && problem->fixed[k] != q_y)
        return INFINITY;
    return fabs((double)q_y - problem->target[k]);
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
        const double low = fmax(ceil(problem->target[k] - most), (double)problem->qmin_y);
        const double high = fmin(floor(problem->target[k] + most), (double)problem->qmax_y);
        if (!partials[k].legal)
            continue;
        for (int64_t v = (int64_t)low; v <= (int64_t)high; v++)
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
    return n < 0 && power(-n) > 4 * (problem->qmax_y - problem->qmin_y);
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

/* The error of two parts together. */
static double both(const struct brute_problem *problem, double a, double b)
{
    return problem->squares ? a + b : fmax(a, b);
}

void brute_force(const struct brute_problem *problem, double least[BRUTE_CODES + 1])
{
    struct ranges *ranges = malloc(sizeof *ranges);
    struct candidates candidates = {0};
    const int count = problem->count;
    if (!ranges)
        abort();
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            ranges->least[i][j] = INFINITY;

    try_slope(problem, ranges, &candidates, 0, 0); /* constants first: they make `most` small */
    const int64_t steepest = ((int64_t)1 << (problem->slope_bits - 1)) - 1;
    const int most = problem->accumulator_bits - 1;
    for (int n = most; n >= -most; n--)
        for (int64_t q_b = -steepest; q_b <= steepest; q_b++)
            if (!adds_nothing(problem, q_b, n))
                try_slope(problem, ranges, &candidates, q_b, n);
    free(candidates.offset);

    /* least[m] for the first j codes, in place from the last j down. */
    double(*joined)[BRUTE_CODES + 1] = malloc((BRUTE_CODES + 1) * sizeof *joined);
    if (!joined)
        abort();
    for (int j = 0; j <= count; j++)
        joined[0][j] = j == 0 ? 0 : INFINITY;
    for (int m = 1; m <= count; m++) {
        joined[m][0] = 0;
        for (int j = 1; j <= count; j++) {
            joined[m][j] = INFINITY;
            for (int i = 0; i < j; i++)
                joined[m][j] = fmin(joined[m][j], both(problem, joined[m - 1][i], ranges->least[i][j - 1]));
        }
        least[m] = joined[m][count];
    }
    free(joined);
    free(ranges);
}
