/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "exact.h"
#include "follow.h"

static const double none = 0x1p40; /* beyond all constants */

/* Lines of the slope in hand that were not at the limit behind at the start, and whose biases have phases in [low,
 * high): they give the same codes so far but for a constant. Where a phase has put a code at a tie, the constants that
 * round it one way are a class of their own. */
struct line_class {
    int64_t low, high;
    double least, most;  /* constants, relative to the reference ... */
    int step, first;     /* ... and all of those; or every other one, from this one on or back */
    double code, before; /* of constant 0, at the point in hand and at the one before */
    double d, dd;        /* sums of mass * (target - code - reference)^(1, 2); dd is INFINITY when those are given up */
    double past, past_c; /* cost of the best line that has run into the limit ahead, and its constant */
};

/* Each point cuts off a phase, and a tie parts its constants once more. */
enum { MOST_CLASSES = 3 * EXACT_POINTS + SLOPES_GROUPS };

struct classes {
    int count;
    struct line_class class[MOST_CLASSES];
    double reference, w; /* constants are relative to the reference; mass so far */
    double paid_ahead;   /* cost of being at the limit ahead so far */
};

static struct line_class *insert_class(struct classes *classes, int at)
{
    struct line_class *class = &classes->class[at];
    memmove(class + 1, class, (size_t)(classes->count++ - at) * sizeof *class);
    return class;
}

/* Cuts a class in two at a phase. Returns the first class from the phase on. */
static int cut_classes(struct classes *classes, int64_t phase)
{
    struct line_class *class = classes->class;
    int from = 0, to = classes->count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (class[middle].high <= phase)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == classes->count || class[from].low >= phase)
        return from;
    insert_class(classes, from)->high = phase;
    class[++from].low = phase;
    return from;
}

static double cost_of(const struct classes *classes, const struct line_class *class, double m)
{
    const double cost = class->dd - 2 * m * class->d + m * m * classes->w;
    return cost > 0 ? cost : 0;
}

/* The best constant within [low, high]; false where there is none. */
static inline bool best_constant(const struct classes *classes, const struct line_class *class, double low, double high,
                                 double *best)
{
    low = larger(low, class->least);
    high = smaller(high, class->most);
    const double mean = class->d / classes->w;
    if (class->step == 2) {
        low = class->first + 2 * nearest(0.5 * (low - class->first) + 0.25);
        high = class->first + 2 * nearest(0.5 * (high - class->first) - 0.25);
        *best = larger(low, smaller(high, class->first + 2 * nearest(0.5 * (mean - class->first))));
    } else {
        *best = larger(low, smaller(high, nearest(mean)));
    }
    return low <= high;
}

/* The best of a class's lines whose next code is the first at or beyond the limit ahead, when it costs less than that
 * limit from the start on. */
static void reach_limit(const struct slopes *slopes, const struct classes *classes, struct line_class *class)
{
    const double far = (double)slopes->far_y - classes->reference;
    const double low = slopes->rise > 0 ? far - class->code : far - class->before + 1,
                 high = slopes->rise > 0 ? far - class->before - 1 : far - class->code;
    double m;
    if (low > high || !best_constant(classes, class, low, high, &m))
        return;
    const double cost = cost_of(classes, class, m);
    if (cost < classes->paid_ahead && cost < class->past) {
        class->past = cost;
        class->past_c = m;
    }
}

/* Keeps a line that is the best of a range. */
static void record(struct slopes *slopes, const struct classes *classes, const struct line_class *class, int end,
                   double m, double cost)
{
    const int64_t constant = (int64_t)(m + classes->reference);
    if (cost < slopes->range[end].cost)
        keep_line(slopes, end,
                  phased(slopes) ? constant * pwl_shl64(1, slopes->n) + class->low - slopes->addend : constant, cost);
}

/* The best line before the limit ahead of a class at an end; returns its cost. */
static inline double find_line(struct slopes *slopes, const struct classes *classes, const struct line_class *class,
                               int end)
{
    const double last = (double)slopes->far_y - classes->reference - class->code;
    double m;
    if (!best_constant(classes, class, slopes->rise < 0 ? last + 1 : -none, slopes->rise > 0 ? last - 1 : none, &m))
        return INFINITY;
    const double cost = cost_of(classes, class, m);
    record(slopes, classes, class, end, m, cost);
    return cost;
}

/* Takes in point k, and drops the classes that are of no more use. Lines may reach the limit ahead there but where they
 * start. */
static void add_point(struct slopes *slopes, struct classes *classes, int k, bool started)
{
    const double w = slopes->points->mass[k], t = slopes->points->target[k] - classes->reference,
                 limit = slopes->limit[k + 1], pays = points_cost(slopes->points, k, (double)slopes->far_y),
                 apart = points_apart(slopes->points, k);
    const bool reaches = started && pays < limit && slopes->rise != 0;
    int kept = 0;
    for (int c = 0; reaches && c < classes->count; c++)
        reach_limit(slopes, classes, &classes->class[c]);
    classes->w += w;
    classes->paid_ahead += pays;
    for (int c = 0; c < classes->count; c++) {
        struct line_class *class = &classes->class[c];
        const double e = t - class->code;
        class->d += w * e;
        class->dd += w * e * e + apart;
        class->past += pays;
        class->before = class->code;
        record(slopes, classes, class, k + 1, class->past_c, class->past);
        if (!(find_line(slopes, classes, class, k + 1) < limit))
            class->dd = INFINITY;
        if (!(class->past < limit))
            class->past = INFINITY;
        if (class->dd < INFINITY || class->past < INFINITY)
            classes->class[kept++] = *class;
    }
    classes->count = kept;
}

/* Constants of a class that leaves the limit behind between two points, where its codes of constant 0 are these. */
static void bound_leaving(const struct slopes *slopes, const struct classes *classes, struct line_class *class,
                          double before, double after)
{
    const double first = (double)slopes->near_first - classes->reference;
    class->least = larger(class->least, slopes->rise > 0 ? first - after : first + 1 - before);
    class->most = smaller(class->most, slopes->rise > 0 ? first - 1 - before : first - after);
}

/* Lines whose constants have no phases. */
static void follow_constants(struct slopes *slopes, const struct lines *lines)
{
    enum { SELDOM = 8 }; /* ends where no line is of use are looked at now and then */
    const struct points *points = slopes->points;
    const double *limit = slopes->limit, far = (double)slopes->far_y;
    const int first = lines->first;
    struct classes classes; /* of which none but the sums are of use */
    classes.reference = nearest(points->target[first]) - slopes->code[first];
    classes.paid_ahead = lines->leave ? INFINITY : 0;
    struct line_class class = {.least = -none, .most = none, .step = 1, .dd = lines->paid, .past = INFINITY};
    double w = 0x1p-200; /* lest there be none */
    int k = first;
    if (lines->leave) {
        class.before = slopes->code[first - 1];
        bound_leaving(slopes, &classes, &class, class.before, slopes->code[first]);
    }
    if (class.least > class.most || !take_step(slopes))
        return;
    for (; k < slopes->end; k++) {
        const double mass = points->mass[k], pays = points_cost(points, k, far), most = limit[k + 1];
        classes.w = w;
        class.code = slopes->code[k];
        if (pays < most && slopes->rise != 0 && (lines->leave || k > first))
            reach_limit(slopes, &classes, &class);
        classes.paid_ahead += pays;
        class.past += pays;
        record(slopes, &classes, &class, k + 1, class.past_c, class.past);
        class.before = class.code;
        const double e = points->target[k] - classes.reference - class.code;
        classes.w = w += mass;
        class.d += mass * e;
        class.dd += mass * e * e + points_apart(points, k);
        /* Real constants cost no more. */
        bool of_use = class.dd * w - class.d * class.d < most * w;
        if (of_use && (k % SELDOM == 0 || slopes->useful[k + 1] > 0))
            of_use = find_line(slopes, &classes, &class, k + 1) < most;
        if (!of_use)
            class.dd = INFINITY;
        if (!of_use && !(class.past < most))
            break;
    }
    slopes->steps += (k - first) / 2;
    note_point(slopes, k < slopes->end ? k : slopes->end - 1);
}

/* A phase from which on the code of a point is one more, and what that takes off the sums. */
struct cut {
    int64_t phase;
    double d, dd;
};

/* In buckets, which hold about one each; then each of them goes to its place. */
static void sort_cuts(const struct cut *cut, int count, int64_t one, struct cut *sorted)
{
    int first[EXACT_POINTS + 1] = {0};
    const double share = (double)count / (double)(one + 1);
    for (int c = 0; c < count; c++)
        first[(int)((double)cut[c].phase * share)]++;
    for (int b = 0, sum = 0; b < count; b++) {
        const int size = first[b];
        first[b] = sum;
        sum += size;
    }
    for (int c = 0; c < count; c++)
        sorted[first[(int)((double)cut[c].phase * share)]++] = cut[c];
    for (int c = 1; c < count; c++) {
        const struct cut moved = sorted[c];
        int at = c;
        for (; at > 0 && sorted[at - 1].phase > moved.phase; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = moved;
    }
}

/* The phase from which on the code of a point is one more than that of phase 0, *v. */
static int64_t cut_at(const struct slopes *slopes, int k, int64_t *v)
{
    const int64_t p = product_at(slopes, k);
    *v = floor_shr(p, slopes->n);
    return pwl_shl64(1, slopes->n) - (p - pwl_shl64(*v, slopes->n));
}

/* The classes of lines and the points before `end`, where no line of use has run into the limit ahead; ties are left
 * out. */
static void begin_classes(struct slopes *slopes, struct classes *classes, const struct lines *lines, int end)
{
    const struct points *points = slopes->points;
    const bool tie = slopes->rules->rounding >= PWL_HALF_AWAY;
    const int64_t one = pwl_shl64(1, slopes->n);
    const int first = lines->first;
    struct cut given[EXACT_POINTS + 2], cut[EXACT_POINTS + 2];
    struct line_class class = {.step = 1, .dd = lines->paid, .past = INFINITY};
    int64_t v, last_cut = one, first_cut, cut_before = one, first_v, v_before = 0;
    bool tie_at_zero = false;
    int count = 0;
    first_cut = cut_at(slopes, first, &first_v);
    classes->count = 0;
    classes->w = 0;
    classes->paid_ahead = lines->leave ? INFINITY : 0;
    classes->reference = nearest(points->target[first]) - (double)first_v;
    if (lines->leave) {
        cut_before = last_cut = cut_at(slopes, first - 1, &v_before);
        given[count++] = (struct cut){.phase = cut_before};
        given[count++] = (struct cut){.phase = first_cut};
        tie_at_zero = tie && cut_before == one;
    }
    v = v_before;
    for (int k = first; k < end; k++) {
        const double w = points->mass[k];
        last_cut = cut_at(slopes, k, &v);
        const double e = points->target[k] - classes->reference - (double)v;
        tie_at_zero |= tie && last_cut == one;
        given[count++] = (struct cut){last_cut, w, w * (2 * e - 1)};
        classes->w += w;
        classes->paid_ahead += points_cost(points, k, (double)slopes->far_y);
        class.d += w * e;
        class.dd += w * e * e + points_apart(points, k);
    }
    sort_cuts(given, count, one, cut);
    const double limit = end > first ? slopes->limit[end] : INFINITY;
    int c = 0;
    for (int part = 0; part < slopes->parts; part++) {
        const struct phases *phases = &slopes->part[part];
        for (int64_t low = phases->low, high; low < phases->high; low = high) {
            for (; c < count && cut[c].phase <= low; c++) {
                class.d -= cut[c].d;
                class.dd -= cut[c].dd;
            }
            high = c < count && cut[c].phase < phases->high ? cut[c].phase : phases->high;
            class.low = low + (low == 0 ? tie_at_zero : tie && c > 0 && cut[c - 1].phase == low);
            class.high = high;
            class.before = (double)v + (low >= last_cut ? 1 : 0);
            class.least = -none;
            class.most = none;
            if (lines->leave)
                bound_leaving(slopes, classes, &class, (double)v_before + (low >= cut_before ? 1 : 0),
                              (double)first_v + (low >= first_cut ? 1 : 0));
            const double m = classes->w > 0 ? class.d / classes->w : 0;
            if (class.low < high && class.least <= class.most && (class.dd - m * class.d) * (1 - 1e-12) < limit)
                classes->class[classes->count++] = class;
        }
    }
    slopes->steps += count / 8;
}

/* Parts the constants of a class whose code is a half below `code` and the constant by the way that is rounded. */
static void part_constants(const struct slopes *slopes, struct classes *classes, int c)
{
    struct line_class *class = &classes->class[c];
    const double positive = 1 - classes->reference - class->code; /* from there on it is */
    const bool to_even = slopes->rules->rounding == PWL_HALF_EVEN;
    if (to_even ? class->step == 2 : positive <= class->least || class->most < positive)
        return;
    const struct line_class both = *class;
    *insert_class(classes, c) = both;
    if (to_even) {
        class[0].step = class[1].step = 2;
        class[1].first = 1;
    } else {
        class[0].most = positive - 1;
        class[1].least = positive;
    }
}

static bool goes_down(const struct slopes *slopes, const struct classes *classes, const struct line_class *class)
{
    const double code = class->code + classes->reference;
    return slopes->rules->rounding == PWL_HALF_EVEN ? ((int64_t)code + class->first) & 1 : class->most + code < 1;
}

/* Whether biases of an odd slope that put the code at point k at a tie may do so twice, that is 2^n codes apart. */
static bool comes_again(const struct slopes *slopes, int k)
{
    const int64_t period = pwl_shl64(1, slopes->n);
    return slopes->end - k > period || k - slopes->start >= period;
}

/* Finds the codes of the classes at point k, which cut them. A phase at a tie has the code of the phases above or one
 * less. */
static void find_codes(const struct slopes *slopes, struct classes *classes, int k)
{
    struct line_class *class = classes->class;
    int64_t v;
    const int64_t one = pwl_shl64(1, slopes->n), phase = cut_at(slopes, k, &v);
    const int cut = cut_classes(classes, phase), tied = phase == one ? 0 : cut;
    for (int c = 0; c < classes->count; c++)
        class[c].code = (double)v + (c >= cut ? 1 : 0);
    if (slopes->rules->rounding < PWL_HALF_AWAY || tied == classes->count || class[tied].low != (phase & (one - 1)))
        return;
    cut_classes(classes, class[tied].low + 1);
    if (slopes->ties == TIES_NONE || (slopes->ties == TIES_AGAIN && !comes_again(slopes, k))) {
        memmove(&class[tied], &class[tied + 1], (size_t)(--classes->count - tied) * sizeof *class);
        return;
    }
    for (int c = tied; c < classes->count && class[c].low == class[tied].low; c++) {
        part_constants(slopes, classes, c);
        class[c].code -= goes_down(slopes, classes, &class[c]);
    }
}

/* The classes of lines that may be at a tie, before the first point. */
static void begin_tied_classes(const struct slopes *slopes, struct classes *classes, const struct lines *lines)
{
    const int first = lines->first;
    struct line_class *class = classes->class;
    int64_t v;
    cut_at(slopes, first, &v);
    classes->count = slopes->parts;
    classes->reference = nearest(slopes->points->target[first]) - (double)v;
    classes->w = 0;
    classes->paid_ahead = lines->leave ? INFINITY : 0;
    for (int c = 0; c < slopes->parts; c++)
        class[c] = (struct line_class){.low = slopes->part[c].low,
                                       .high = slopes->part[c].high,
                                       .least = -none,
                                       .most = none,
                                       .step = 1,
                                       .dd = lines->paid,
                                       .past = INFINITY};
    if (!lines->leave)
        return;
    int kept = 0;
    find_codes(slopes, classes, first - 1);
    for (int c = 0; c < classes->count; c++)
        class[c].before = class[c].code;
    find_codes(slopes, classes, first);
    for (int c = 0; c < classes->count; c++) {
        bound_leaving(slopes, classes, &class[c], class[c].before, class[c].code);
        if (class[c].least <= class[c].most)
            class[kept++] = class[c];
    }
    classes->count = kept;
}

/* The same of biases with phases, by their classes. */
static void follow_classes(struct slopes *slopes, const struct lines *lines)
{
    enum { FEW_CODES = 16 };
    const int64_t one = pwl_shl64(1, slopes->n);
    struct classes classes;
    slopes->parts = 1;
    slopes->part[0] = (struct phases){0, one};
    slopes->until = slopes->end;
    slopes->at_once = lines->first;
    if (slopes->rise != 0 && one >= FEW_CODES && slopes->end - lines->first >= FEW_CODES &&
        !follow_groups(slopes, lines))
        return;
    if (follows_ties(slopes)) {
        slopes->at_once = lines->first;
        begin_tied_classes(slopes, &classes, lines);
    } else {
        begin_classes(slopes, &classes, lines, slopes->at_once);
    }
    if (slopes->at_once > lines->first)
        note_point(slopes, slopes->at_once - 1);
    for (int k = slopes->at_once; k < slopes->until && classes.count > 0; k++) {
        if (!take_step(slopes))
            return;
        find_codes(slopes, &classes, k);
        slopes->steps += classes.count / 8;
        note_point(slopes, k);
        add_point(slopes, &classes, k, lines->leave || k > lines->first);
    }
}

void follow_lines(struct slopes *slopes, const struct lines *lines)
{
    note_point(slopes, lines->first);
    if (phased(slopes))
        follow_classes(slopes, lines);
    else
        follow_constants(slopes, lines);
}
