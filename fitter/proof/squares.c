/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ahead[m][p] is the least that lines cost over the codes from place p on, m segments of them at most, as far as it is
 * less than what a better table has to spare there. It is found from the last place to the first:
 *
 *     ahead[m][p] = min over places r > p of  cost(p, r) + ahead[m - 1][r]
 *
 * where cost is the least of all lines from p to r. These are walked through in boxes, as a checker does: of a box it
 * is enough to know a bound, as long as no line in it betters any ahead[m][p]. A line that does is noted, and lowers
 * what the others have to better.
 */
#include "squares.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <pwl/fixed.h>

#include "shifted.h"

/* A cost beyond all that are proven. */
#define FAR (INT64_C(1) << 60)
/* Codes of boxes that are looked at. */
#define MOST_LOOKS (INT64_C(1) << 30)
/* No left shift brings a sum beyond this back among the outputs. */
#define FAR_SUM ((wide)1 << 62)

/* Lines that start at one code: a shift, slopes from the first to the last, offsets likewise. */
struct box {
    int n;
    bool odd; /* even slopes are reducible */
    struct integers slopes, offsets;
};

/* The best line of a number of segments from the place under trial. */
struct first_line {
    struct line line;
    int end; /* a point; 0: none was found */
};

struct search {
    const struct statement *statement;
    const struct line_rules *rules;
    const struct points *points;
    int count, places, rows;
    bool is_equal;            /* all places start segments */
    double units;             /* 2^unit */
    int64_t *floor;           /* least cost of the points before */
    int *place_of;            /* by the point: its place, or -1 */
    int64_t *ahead;           /* [m * (places + 1) + place] */
    int64_t *to_better;       /* by m: what a line and what follows it have to cost less than */
    struct first_line *first; /* by m: of the place before, in the order of the search */
    /* The place under trial. */
    int start;     /* its point */
    int64_t *need; /* by the point where a line ends: what it has to cost less than, to better some table */
    int64_t *rest; /* by the point: what it has to cost less than up to there, to better one that ends later */
    int64_t looks;
};

static int64_t *ahead_at(const struct search *search, int m, int place)
{
    return &search->ahead[(size_t)m * ((size_t)search->places + 1) + (size_t)place];
}

static int64_t add_costs(int64_t a, int64_t b)
{
    return a + b < FAR ? a + b : FAR;
}

static wide clipped(const struct line_rules *rules, wide value)
{
    return larger_wide(rules->qmin_y, smaller_wide(rules->qmax_y, value));
}

/* The least cost of outputs from low to high, in units, rounded down. */
static int64_t served_cost(const struct served_code *served, int64_t low, int64_t high, double units)
{
    if (served->is_fixed) {
        if (served->q_y < low || served->q_y > high)
            return FAR;
        low = high = served->q_y;
    }
    const double t = served->target;
    const double distance = t < (double)low    ? (double)low - t
                            : t > (double)high ? t - (double)high
                                               : fabs(t - rint(t)),
                 least = distance - served->spread;
    const double cost = least > 0 ? least * least * units - 1 : 0;
    return cost > 0 ? cost < (double)FAR ? (int64_t)cost : FAR : 0;
}

/* The least cost of values from low to high at a point. */
static int64_t least_cost(const struct search *search, int k, wide low, wide high)
{
    const struct stored_code *stored = &search->statement->codes[k];
    const wide fold_sum = search->statement->table->fold_sum;
    int64_t cost = 0;
    for (int i = 0; i < stored->count; i++) {
        const struct served_code *served = &stored->serves[i];
        const wide a = served->is_image ? fold_sum - high : low, b = served->is_image ? fold_sum - low : high;
        cost = add_costs(cost, served_cost(served, (int64_t)clipped(search->rules, a),
                                           (int64_t)clipped(search->rules, b), search->units));
    }
    return cost;
}

/* A line's value. */
static wide value_of(const struct line_rules *rules, wide product, int n, int64_t offset)
{
    const bool is_biased = rules->form == PWL_BIASED;
    wide sum = is_biased ? product + offset : product;
    if (n < 0)
        sum = larger_wide(-FAR_SUM, smaller_wide(FAR_SUM, sum));
    const wide value = n >= 0 && rules->accumulator_bits == 32 ? (wide)pwl_shr64((int64_t)sum, n, (int)rules->rounding)
                                                               : shifted(rules, sum, n);
    return is_biased ? value : value + offset;
}

/* The listed slopes next to one, itself included. */
static int64_t listed_from(const struct search *search, bool odd, int64_t q_b)
{
    q_b = slope_above(search->rules, q_b - 1);
    while (odd && q_b % 2 == 0)
        q_b = slope_above(search->rules, q_b);
    return q_b;
}

static int64_t listed_up_to(const struct search *search, bool odd, int64_t q_b)
{
    return -listed_from(search, odd, -q_b); /* q_b is listed where -q_b is, but for the limits */
}

/* What lines have to better, by where they end. */
static void find_needs(struct search *search)
{
    const int first = search->is_equal || search->start == 0 ? search->rows : 1,
              last = search->is_equal || search->start == 0 ? search->rows : search->rows - 1,
              from = search->place_of[search->start];
    int64_t later = -FAR; /* the largest need, less the floor before, of what ends later */
    for (int b = search->count; b > search->start; b--) {
        const int place = search->place_of[b];
        const bool is_end = place >= 0 && (!search->is_equal || place == from + 1);
        int64_t need = -FAR, hereditary = -FAR;
        for (int m = first; is_end && m <= last; m++) {
            const int64_t left = *ahead_at(search, search->is_equal ? 0 : m - 1, place);
            need = left < FAR ? larger_integer(need, search->to_better[m] - left) : need;
            hereditary = larger_integer(hereditary, search->to_better[m] - *ahead_at(search, m, place));
        }
        search->need[b] = need;
        search->rest[b] = later + search->floor[b];
        if (is_end && b < search->count && search->start > 0 && !search->is_equal &&
            search->rules->form != PWL_ANCHORED)
            search->rest[b] = smaller_integer(search->rest[b], hereditary);
        later = larger_integer(later, need - search->floor[b]);
    }
}

/* Takes a line that betters what is known. */
static void take_line(struct search *search, const struct line *line, int end, int64_t cost)
{
    const int place = search->place_of[end];
    for (int m = 1; m <= search->rows; m++) {
        const int64_t whole = add_costs(cost, *ahead_at(search, search->is_equal ? 0 : m - 1, place));
        if (whole < search->to_better[m]) {
            search->to_better[m] = whole;
            search->first[m] = (struct first_line){*line, end};
        }
    }
    find_needs(search);
}

/* The integer of a range that is nearest to 0. */
static int64_t least_magnitude(struct integers range)
{
    return range.low > 0 ? range.low : range.high < 0 ? range.high : 0;
}

/* Whether products of a box's slopes fit at two distances: if that of the slope nearest to 0 does not, none does. */
static bool products_fit(const struct line_rules *rules, const struct box *box, const int64_t x[2])
{
    static const struct integers any = {INT64_MIN, INT64_MAX};
    bool fit = true;
    for (int k = 0; k < 2; k++) {
        const struct integers offsets = line_offsets_at(rules, least_magnitude(box->slopes), box->n, x[k], any);
        fit = fit && offsets.low <= offsets.high;
    }
    return fit;
}

/* Whether the line of a box that is least likely to leave its types may be used up to a point. */
static bool is_provable(const struct search *search, const struct box *box, int end, struct line *line)
{
    const int64_t q_b = least_magnitude(box->slopes);
    *line = (struct line){
        .q_b = q_b == 0 && box->odd ? box->slopes.high : q_b, .n = box->n, .offset = least_magnitude(box->offsets)};
    return line_provable(search->rules, line, search->points->cell[search->start], search->points->cell[end] - 1);
}

static bool look(struct search *search, const struct box *box);

/* Looks at the lines of a box that types allow up to a point: at fewer, where some are not, else at two halves. */
static bool look_closer(struct search *search, const struct box *box, int end)
{
    const int64_t *cell = search->points->cell, origin = line_origin(search->rules, cell[search->start]),
                  x[] = {cell[search->start] - origin, cell[end] - 1 - origin};
    const struct integers slopes = box->slopes, offsets = box->offsets;
    const bool is_one_slope = slopes.low == slopes.high;
    struct box low = *box, high = *box;
    struct integers provable;
    if (!products_fit(search->rules, box, x))
        return true;
    if (offsets_over(search->rules, box->n, slopes, x, &provable)) {
        low.offsets = integers_within(offsets, provable.low, provable.high);
        if (provable.low > provable.high || low.offsets.low > low.offsets.high)
            return true;
        if (low.offsets.low > offsets.low || low.offsets.high < offsets.high)
            return look(search, &low);
    }
    const double by_slope =
                     ((double)slopes.high - (double)slopes.low) * (double)larger_integer(llabs(x[0]), llabs(x[1])),
                 by_offset =
                     ldexp((double)offsets.high - (double)offsets.low, search->rules->form == PWL_BIASED ? 0 : box->n);
    if (!is_one_slope && (offsets.low == offsets.high || by_slope >= by_offset)) {
        const int64_t middle = slopes.low + (slopes.high - slopes.low) / 2;
        low.slopes.high = listed_up_to(search, box->odd, middle);
        high.slopes.low = listed_from(search, box->odd, middle + 1);
    } else {
        const int64_t middle = (int64_t)(((wide)offsets.low + offsets.high) >> 1);
        low.offsets.high = middle;
        high.offsets.low = middle + 1;
    }
    return look(search, &low) && look(search, &high);
}

/* Looks at all lines of a box; false where that takes too long. */
static bool look(struct search *search, const struct box *box)
{
    const struct line_rules *rules = search->rules;
    const int64_t *cell = search->points->cell, origin = line_origin(rules, cell[search->start]);
    bool are_alike = true; /* they have the same outputs so far */
    int64_t cost = 0;
    for (int k = search->start; k < search->count; k++) {
        const wide x = cell[k] - origin, a = box->slopes.low * x, b = box->slopes.high * x;
        const wide low = value_of(rules, smaller_wide(a, b), box->n, box->offsets.low),
                   high = value_of(rules, larger_wide(a, b), box->n, box->offsets.high);
        struct line line;
        cost = add_costs(cost, least_cost(search, k, low, high));
        are_alike = are_alike && low == high;
        if (search->looks++ >= MOST_LOOKS)
            return false;
        if (cost < search->need[k + 1]) {
            if (are_alike && is_provable(search, box, k + 1, &line))
                take_line(search, &line, k + 1, cost);
            else
                return look_closer(search, box, k + 1);
        }
        if (cost >= search->rest[k + 1])
            return true;
    }
    return true;
}

/* The lines of the place before from this one on, too. */
static void take_longer_lines(struct search *search)
{
    const struct line_rules *rules = search->rules;
    const int64_t *cell = search->points->cell, origin = line_origin(rules, cell[search->start]);
    if (rules->form == PWL_ANCHORED || search->is_equal)
        return;
    for (int m = 1; m <= search->rows; m++) {
        const struct first_line first = search->first[m];
        if (first.end == 0 || !line_provable(rules, &first.line, cell[search->start], cell[first.end] - 1))
            continue;
        int64_t cost = 0;
        for (int k = search->start; k < first.end; k++) {
            const wide value =
                value_of(rules, (wide)first.line.q_b * (cell[k] - origin), first.line.n, first.line.offset);
            cost = add_costs(cost, least_cost(search, k, value, value));
        }
        if (cost < search->need[first.end])
            take_line(search, &first.line, first.end, cost);
    }
}

/* All lines of a place. */
static bool look_from(struct search *search, int place)
{
    const struct line_rules *rules = search->rules;
    search->start = points_at(search->points, place);
    for (int m = 0; m <= search->rows; m++)
        search->to_better[m] = larger_integer(0, search->statement->squares - search->floor[search->start]);
    find_needs(search);
    take_longer_lines(search);
    for (int n = rules->shift_min; n <= rules->shift_max; n++) {
        const struct integers slopes = line_slopes(rules, n);
        struct box box = {.n = n, .offsets = rules->offsets};
        box.odd = line_is_reducible(rules, 0, n) && line_slopes(rules, n - 1).low <= line_slopes(rules, n - 1).high;
        box.slopes =
            (struct integers){listed_from(search, box.odd, slopes.low), listed_up_to(search, box.odd, slopes.high)};
        if (box.slopes.low <= box.slopes.high && !look(search, &box))
            return false;
    }
    for (int m = 1; m <= search->rows; m++)
        *ahead_at(search, search->is_equal ? 0 : m, place) = search->to_better[m];
    return true;
}

static enum squares_answer look_from_all(struct search *search)
{
    for (int m = 0; m <= search->rows; m++)
        for (int place = 0; place <= search->places; place++)
            *ahead_at(search, m, place) = place == search->places ? 0 : FAR;
    for (int place = search->places - 1; place >= 0; place--)
        if (!look_from(search, place))
            return SQUARES_TOO_MANY;
    return *ahead_at(search, search->is_equal ? 0 : search->rows, 0) < search->statement->squares ? SQUARES_REFUTED
                                                                                                  : SQUARES_PROVEN;
}

/* What the first m segments cost at least that end before a place: as much as is left for them, and no less than their
 * codes. */
static void write_rows(const struct search *search, struct text *out)
{
    text_add(out, "[");
    for (int m = 1; m <= search->rows; m++) {
        text_add(out, "%s\n    [", m > 1 ? "," : "");
        for (int place = 1; place <= search->places; place++) {
            const int64_t left = search->statement->squares -
                                 *ahead_at(search, search->is_equal ? 0 : search->rows - m, place),
                          floor = search->floor[points_at(search->points, place)];
            text_add(out, "%s%" PRId64, place > 1 ? ", " : "", larger_integer(left, floor));
        }
        text_add(out, "]");
    }
    text_add(out, "]");
}

static bool allocate(struct search *search)
{
    const size_t count = (size_t)search->count + 1, rows = (size_t)search->rows + 1;
    search->floor = calloc(count, sizeof *search->floor);
    search->need = malloc(count * sizeof *search->need);
    search->rest = malloc(count * sizeof *search->rest);
    search->place_of = malloc(count * sizeof *search->place_of);
    search->ahead = malloc(rows * ((size_t)search->places + 1) * sizeof *search->ahead);
    search->to_better = malloc(rows * sizeof *search->to_better);
    search->first = calloc(rows, sizeof *search->first);
    return search->floor && search->need && search->rest && search->place_of && search->ahead && search->to_better &&
           search->first;
}

static void free_all(struct search *search)
{
    free(search->floor);
    free(search->need);
    free(search->rest);
    free(search->place_of);
    free(search->ahead);
    free(search->to_better);
    free(search->first);
}

enum squares_answer squares_write(const struct statement *statement, const struct line_rules *rules, struct text *out)
{
    const struct points *points = &statement->points;
    struct search search = {.statement = statement,
                            .rules = rules,
                            .points = points,
                            .count = points->count,
                            .places = points_places(points),
                            .is_equal = statement->places == PLACES_EQUAL,
                            .units = ldexp(1, statement->unit)};
    search.rows = search.is_equal ? 1 : statement->segments;
    enum squares_answer answer = SQUARES_NO_MEMORY;
    if (allocate(&search)) {
        for (int k = 0; k < search.count; k++) {
            search.floor[k + 1] = add_costs(search.floor[k], least_cost(&search, k, INT64_MIN, INT64_MAX));
            search.place_of[k] = -1;
        }
        for (int place = 0; place <= search.places; place++)
            search.place_of[points_at(points, place)] = place;
        answer = look_from_all(&search);
        if (answer == SQUARES_PROVEN)
            write_rows(&search, out);
    }
    free_all(&search);
    return answer;
}
