/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines: which ones rules allow, what excludes all of them from a range, and what they cost there at least. */
#include "checker.h"

enum { MOST_WORDS = 100 }; /* of a spec */

/* ---- Rules: which tables, and which lines, the second claim is about ---- */

struct rules rules;
#define FREE INT64_MIN
static const char *words[MOST_WORDS + 2]; /* of the spec */

/* The n-th word behind a flag of the spec; where there is none, another one. */
static const char *flag(const char *name, size_t n, const char *otherwise)
{
    for (size_t i = 0; words[i]; i++)
        if (!strcmp(words[i], name) && n-- == 0)
            return words[i + 1] ? words[i + 1] : "";
    return otherwise;
}

const char *one_flag(const char *name, const char *otherwise)
{
    REQUIRE(!flag(name, 1, NULL), "spec: %s stands twice", name);
    return flag(name, 0, otherwise);
}

/* The integer behind a flag; 0 for "any". */
i64 flag_number(const char *name, const char *otherwise)
{
    char *end;
    const char *word = one_flag(name, otherwise);
    long value = strtol(word, &end, 10);
    REQUIRE(!strcmp(word, "any") || (*word && !*end && value >= 0 && value < MOST_CODES), "spec: %s is no number",
            name);
    return value;
}

/* Whether a code is one of those nearest to a real number: |real - scale (code - zero point)| <= scale / 2. */
static bool is_nearest(const struct side *side, i64 code, const char *real)
{
    decimal(at, real);
    mpfr_mul_si(rest, side->scale, code - side->zero_point, MPFR_RNDN);
    mpfr_sub(at, at, rest, MPFR_RNDN);
    mpfr_div_2ui(rest, side->scale, 1, MPFR_RNDN);
    bool beyond = (code == side->qmin && mpfr_sgn(at) < 0) || (code == side->qmax && mpfr_sgn(at) > 0);
    return beyond || mpfr_cmpabs(at, rest) <= 0;
}

static void check_fixed(void)
{
    size_t asked = 0;
    rules.output = get(codes, sizeof *rules.output);
    for (i64 k = 0; k < codes; k++)
        rules.output[k] = FREE;
    for (const char *word; (word = flag("--fix", asked, NULL)); asked++) {
        char real[2][52];
        i64 q_x, q_y;
        REQUIRE(asked < length(rules.fixed) && sscanf(word, "%50[^:]:%50s", real[0], real[1]) == 2,
                "spec: wrong --fix");
        read_json(json_array_get(rules.fixed, asked), "fixed", "[II]", &q_x, &q_y);
        REQUIRE(q_x >= x.qmin && q_x <= x.qmax && is_nearest(&x, q_x, real[0]) && is_nearest(&y, q_y, real[1]),
                "rules: fixed is not what --fix asks for");
        REQUIRE(outputs[q_x - x.qmin] == q_y, "a fixed code has another output");
        rules.output[q_x - x.qmin] = q_y;
    }
    REQUIRE(length(rules.fixed) == asked, "rules: fixed is not what --fix asks for");
}

static int compare_integers(const void *a, const void *b)
{
    i64 u = *(const i64 *)a, v = *(const i64 *)b;
    return (u > v) - (u < v);
}

/* The sums of one or two of 0, 1, -1, 2, -2, ... 2^32, -2^32, each once. */
static void list_terms(void)
{
    static i64 all[67 * 67];
    int made = 0;
    for (int i = 0; i < 67; i++)
        for (int j = 0; j < (rules.terms == 2 ? 67 : 1); j++) {
            i64 a = i ? (i64)1 << (i - 1) / 2 : 0, b = j ? (i64)1 << (j - 1) / 2 : 0;
            all[made++] = (i & 1 ? a : -a) + (j & 1 ? b : -b);
        }
    qsort(all, (size_t)made, sizeof *all, compare_integers);
    rules.of_terms = all;
    for (int i = 0; i < made; i++)
        if (!i || all[i] != all[rules.of_terms_count - 1])
            all[rules.of_terms_count++] = all[i];
}

static void read_places(json_t *places)
{
    const char *knots = one_flag("--knots", "free");
    bool uniform = !strcmp(knots, "uniform"), pow2 = !strncmp(knots, "pow2", 4);
    rules.grid = -1;
    if (!json_is_string(places) || strcmp(json_string_value(places), "any"))
        read_json(places, "places", "{s?I s?o}", "shift", &rules.grid, "equal", &rules.equal);
    REQUIRE(pow2 ? rules.grid >= 0 && rules.grid <= 32 : rules.grid == -1, "rules: places are not those of --knots");
    REQUIRE(!pow2 || !knots[4] || rules.grid == x.bits - strtol(knots + 5, NULL, 10),
            "rules: places are not those of --knots");
    REQUIRE(uniform == (length(rules.equal) > 0), "rules: places are not those of --knots");
    for (size_t i = 0; i < length(rules.equal); i++)
        REQUIRE(element(rules.equal, i) > 0 && element(rules.equal, i) <= MOST_SEGMENTS,
                "rules: equal is out of range");
}

/* Narrower rules would make the claim worth little: they are those of the table's storage, and of its spec. */
void read_rules(json_t *value)
{
    i64 ends[2], own[2], accumulator;
    int bits;
    json_t *places;
    char *text = get((i64)strlen(spec), 1), kind;
    size_t known = 0;
    for (char *word = strtok(strcpy(text, spec), " "); word; word = strtok(NULL, " ")) {
        REQUIRE(known < MOST_WORDS, "spec: is too long");
        words[known++] = word;
    }
    read_json(value, "rules", "{s[II] s[II] s[II] sI sI sI sI sb so so}", "slopes", rules.slopes, rules.slopes + 1,
              "shifts", rules.shifts, rules.shifts + 1, "offsets", rules.offsets, rules.offsets + 1, "shift_multiple",
              &rules.multiple, "stored_bits", &rules.stored, "slope_terms", &rules.terms, "accumulator_bits",
              &accumulator, "one_shift", &rules.one_shift, "fixed", &rules.fixed, "places", &places);
    i64 stored = flag_number("--slope-bits", "0"), m = flag_number("--shift-multiple", "0"), reach = wide - 1;
    const i64 width = flag_number("--shift-bits", "0");
    i64 shifts[2] = {-reach, reach};
    stored = stored ? stored : code_bits;
    REQUIRE(stored <= 64 && m <= 64 && width <= 64, "spec: is out of range");
    if (width)
        codes_of(true, width, shifts);
    shifts[0] = (i64)larger(shifts[0], m ? m - stored + 1 : -reach);
    shifts[1] = (i64)smaller(shifts[1], m ? smaller(reach, 32 / m * m) : reach);
    codes_of(true, (i64)smaller(stored, code_bits), ends);
    REQUIRE(rules.slopes[0] == ends[0] && rules.slopes[1] == ends[1], "rules: other slopes than of the table");
    REQUIRE(rules.shifts[0] == shifts[0] && rules.shifts[1] == shifts[1], "rules: other shifts than of the table");
    REQUIRE(rules.multiple == m && rules.stored == (m ? stored : 0), "rules: other stored slopes than of the table");
    REQUIRE(rules.terms == flag_number("--slope-terms", "0") && rules.terms <= 2,
            "rules: other terms than of the table");
    REQUIRE(accumulator == wide, "rules: another accumulator than that of the table");
    REQUIRE(rules.one_shift == !strcmp(one_flag("--shift", ""), "one"), "rules: one_shift is not that of --shift");
    REQUIRE(sscanf(one_flag("--offset-type", "s64"), "%c%2d", &kind, &bits) == 2 && (kind == 's' || kind == 'u') &&
                bits >= 1 && bits <= 64,
            "spec: --offset-type is unknown");
    codes_of(kind == 's', bits, ends);
    codes_of(true, offset_bits, own);
    REQUIRE(rules.offsets[0] == larger(ends[0], own[0]) && rules.offsets[1] == smaller(ends[1], own[1]),
            "rules: other offsets than of the table");
    check_fixed();
    read_places(places);
    list_terms();
}

/* The integers that q_b may be beside the shift n, whatever its terms. */
static void slope_range(i64 n, i64 ends[2])
{
    i64 due = rules.multiple, down = due ? (i64)larger(1, ceil_div(n, due)) * due - n : 0;
    i64 m = down < rules.stored ? (i64)1 << (rules.stored - 1 - down) : 0;
    ends[0] = due ? (i64)larger(rules.slopes[0], -m) : rules.slopes[0];
    ends[1] = due ? (i64)smaller(rules.slopes[1], m - 1) : rules.slopes[1];
}

/* The last place before the code b. */
i64 last_place(i64 b)
{
    i64 q = b - 1 < x.qmax ? b - 1 : x.qmax;
    q = rules.grid < 0 ? q : q >> rules.grid << rules.grid;
    return q > d0 ? q : d0;
}

i64 equal_start(i64 m, i64 of)
{
    return m == of ? d1 : d0 + (i64)((i128)(x.qmax + 1 - d0) * m / of);
}

bool is_equal_count(i64 number)
{
    bool found = !rules.equal;
    for (size_t i = 0; i < length(rules.equal); i++)
        found |= element(rules.equal, i) == number;
    return found;
}

/* The table itself is allowed; that its sums stay in their types is a part of acc_bits. */
void check_allowed(void)
{
    for (i64 i = 0; i < count; i++) {
        const struct segment *s = segments + i;
        i64 ends[2];
        slope_range(s->n, ends);
        bool good = s->q_b >= ends[0] && s->q_b <= ends[1] && s->n >= rules.shifts[0] && s->n <= rules.shifts[1] &&
                    s->c >= rules.offsets[0] && s->c <= rules.offsets[1] && last_place(s->start + 1) == s->start;
        good &= fits((i128)s->start - s->origin, wide) && fits((i128)s->end - 1 - s->origin, wide);
        good &= (!rules.one_shift || s->n == segments->n) && (!rules.equal || s->start == equal_start(i, count));
        good &= !rules.terms || bsearch(&s->q_b, rules.of_terms, (size_t)rules.of_terms_count, sizeof *rules.of_terms,
                                        compare_integers);
        REQUIRE(good, "the rules do not allow the segment at %lld", s->start);
    }
}

/* ---- Bands: the values of each stored code that keep within the error, and give fixed codes their output ---- */

/* Of each stored code from d0 on the low end, and the high one; infinite where all beyond is clipped to what is good.
 */
static i128 (*bands)[2];

void find_bands(i128 reach)
{
    bands = get(d1 - d0, sizeof *bands);
    for (i64 k = 0; k < d1 - d0; k++) {
        bands[k][0] = -INFINITE;
        bands[k][1] = INFINITE;
    }
    for (i64 q = x.qmin; q <= x.qmax; q++) {
        i128 target = values[q - x.qmin], low = ceil_div(target - reach - unit, ONE);
        i128 high = floor_div(target + reach + unit, ONE), other;
        i64 only = rules.output[q - x.qmin];
        low = only == FREE ? low : larger(low, only);
        high = only == FREE ? high : smaller(high, only);
        low = low <= y.qmin ? -INFINITE : low;
        high = high >= y.qmax ? INFINITE : high;
        if (q < d0) { /* The value v of its image gives it the output sum - v. */
            other = low == -INFINITE ? INFINITE : sum - low;
            low = high == INFINITE ? -INFINITE : sum - high;
            high = other;
        }
        i128 *band = bands[q < d0 ? d0 - q : q - d0];
        band[0] = larger(band[0], low);
        band[1] = smaller(band[1], high);
    }
}

/* ---- Exclusions: no allowed line serves a range ---- */

/* The slopes of one shift: items, or first, first + step, ... */
struct slopes {
    i64 first, step, count, *items;
};

static i64 slope_at(const struct slopes *list, i64 k)
{
    return list->items ? list->items[k] : list->first + list->step * k;
}

struct ratio {
    i128 above, below; /* below > 0; 0: no bound */
};

/* An end of the band of code a + i, which has to have one. */
static i128 end_at(const struct exclusion *e, i64 i, bool above)
{
    REQUIRE(i >= 0 && i < e->b - e->a, "there is no code %lld in its range", i);
    i128 end = bands[e->a - d0 + i][above];
    REQUIRE(magnitude(end) < INFINITE / 2, "there is no such end of a band at %lld", i);
    return end;
}

/* The slopes s = q_b * 2^-n that all pairs leave. A line that serves has a value of at least low at a + i, and of at
 * most high at a + j; rounding moves their difference by at most 1: s (i - j) >= low - high - 1. */
static void find_window(const struct exclusion *e, json_t *pairs, struct ratio *least, struct ratio *most)
{
    *least = *most = (struct ratio){0, 0};
    for (size_t k = 0; k < length(pairs); k++) {
        i64 i, j;
        read_json(json_array_get(pairs, k), "window", "[II]", &i, &j);
        i128 above = end_at(e, i, false) - end_at(e, j, true) - 1, below = i - j;
        struct ratio *kept = i > j ? least : most, bound = {i > j ? above : -above, magnitude(below)};
        i128 more = bound.above * kept->below - kept->above * bound.below;
        REQUIRE(i != j, "a pair of its window is of one code");
        if (!kept->below || (i > j ? more > 0 : more < 0))
            *kept = bound;
    }
}

/* The slopes of a shift that the window leaves. An even q_b is left out where its half makes the same values at n - 1,
 * and is allowed there: it is not where no slope is stored at n - 1, not even 0. */
static struct slopes list_slopes(i64 n, bool lowest, struct ratio least, struct ratio most)
{
    static i64 items[67 * 67];
    i64 ends[2], half[2], up = n > 0 ? n : 0, down = n < 0 ? -n : 0;
    slope_range(n, ends);
    slope_range(n - 1, half);
    i128 low = ends[0], high = ends[1];
    if (least.below)
        low = larger(low, ceil_div(least.above * ((i128)1 << up), least.below << down));
    if (most.below)
        high = smaller(high, floor_div(most.above * ((i128)1 << up), most.below << down));
    bool halved = form != BIASED || (n > 0 && (rounding == FLOOR || rounding == HALF_UP));
    halved &= !lowest && half[1] >= 0;
    low = halved && low % 2 == 0 ? low + 1 : low;
    struct slopes list = {(i64)larger(low, INT64_MIN), halved ? 2 : 1, 0, NULL};
    if (!rules.terms)
        list.count = high < low ? 0 : (i64)((high - low) / list.step + 1);
    else {
        list.items = items;
        for (int k = 0; k < rules.of_terms_count; k++)
            if (rules.of_terms[k] >= low && rules.of_terms[k] <= high && (!halved || rules.of_terms[k] & 1))
                items[list.count++] = rules.of_terms[k];
    }
    return list;
}

/* The least integer that the shift makes this value of, or a larger one. */
static i128 least_sum(i64 n, i128 value)
{
    if (n <= 0)
        return ceil_div(value, (i128)1 << -n);
    i128 half = (i128)1 << (n - 1); /* A tie is rounded down where half_away and half_even take away less. */
    return value * 2 * half - (rounding == FLOOR       ? 0
                               : rounding == HALF_UP   ? half
                               : rounding == HALF_AWAY ? half - (value <= 0)
                                                       : half - (value & 1));
}

/* Bounds on the constant, from below, or from above, by what fits in its type: the first one is that of the offsets;
 * four are of the first code of the range, and four of its last. */
static i128 bound_of_types(const struct exclusion *e, i64 q_b, bool above, int kind)
{
    i128 half = (i128)1 << (wide - 1), at_x = (kind <= 4 ? e->a : e->b - 1) - (i128)e->origin, p = q_b * at_x;
    i128 low = e->n > 0 ? -half : least_sum(e->n, -half), high = e->n > 0 ? half - 1 : least_sum(e->n, half) - 1;
    if (e->n > 0 && rounding != FLOOR) { /* What rounding adds has to fit, too. */
        high -= (i128)1 << (e->n - 1);
        low += rounding == HALF_AWAY ? ((i128)1 << (e->n - 1)) + 1 : 0;
    }
    if (!kind)
        return rules.offsets[above];
    if (kind % 4 == 0 && form == BIASED)
        return (above ? high : low) - p;
    if (kind % 4 == 0)
        return (above ? half - 1 : -half) - shr(p, e->n);
    bool none = kind % 4 == 1   ? !fits(at_x, wide)
                : kind % 4 == 2 ? p < (form == BIASED ? -half : low)
                                : p > (form == BIASED ? half - 1 : high);
    return none == above ? -INFINITE : INFINITE;
}

/* Bounds on the constant that code a + i makes; of types, for -1. */
static i128 bound_at(const struct exclusion *e, i64 q_b, i64 i, bool above, int kind)
{
    if (i == -1)
        return bound_of_types(e, q_b, above, kind);
    i128 value = end_at(e, i, above), p = q_b * ((i128)e->a + i - e->origin);
    /* What is at most high has less than the least sum that gives high + 1. */
    return form == BIASED ? least_sum(e->n, value + above) - above - p : value - shr(p, e->n);
}

/* The constants that code a + i asks slopes from u to w for, or those that it allows. Both are made of bounds that are
 * monotone in q_b, so that those of u and w hold for all between. */
static i128 bound_of_part(const struct exclusion *e, i64 u, i64 w, i64 i, bool above)
{
    i128 found = above ? INFINITE : -INFINITE;
    for (int kind = 0; kind < (i == -1 ? 9 : 1); kind++) {
        i128 a = bound_at(e, u, i, above, kind), b = bound_at(e, w, i, above, kind);
        found = above ? smaller(found, larger(a, b)) : larger(found, smaller(a, b));
    }
    return found;
}

/* Code a + i asks of slopes first to last of a list for a larger constant than a + j allows; else the list is halved.
 */
static void exclude(const struct exclusion *e, const struct slopes *list, i64 first, i64 last, i64 i, i64 j)
{
    i64 u = slope_at(list, first), w = slope_at(list, last);
    if (bound_of_part(e, u, w, i, false) > bound_of_part(e, u, w, j, true))
        return;
    REQUIRE(first < last, "the slope %lld * 2^-%lld is not excluded by the codes %lld and %lld", u, e->n, i, j);
    i64 middle = first + (last - first + 1) / 2;
    exclude(e, list, first, middle - 1, i, j);
    exclude(e, list, middle, last, i, j);
}

/* The runs exclude the slopes that the window leaves, in their order. Returns whether there are none. */
static bool check_runs(struct exclusion *e, const i64 shifts[2], json_t *window, const json_t *runs)
{
    struct ratio least, most;
    size_t run = 0;
    i64 left = 0;
    bool empty = true;
    find_window(e, window, &least, &most);
    for (e->n = shifts[0]; e->n <= shifts[1]; e->n++) {
        struct slopes list = list_slopes(e->n, e->n == shifts[0], least, most);
        empty &= !list.count;
        for (i64 done = 0, taken; done < list.count; done += taken, left -= taken) {
            if (!left) {
                REQUIRE(run + 3 <= length(runs), "its runs are not of all slopes that are left");
                left = element(runs, run);
                run += 3;
                REQUIRE(left >= 1, "a run has no slopes");
            }
            taken = (i64)smaller(left, list.count - done);
            exclude(e, &list, done, done + taken - 1, element(runs, run - 2), element(runs, run - 1));
        }
    }
    REQUIRE(run == length(runs) && !left, "its runs are of more slopes than are left");
    return empty;
}

struct exclusion check_exclusion(const i64 shifts[2], json_t *value)
{
    struct exclusion e = {.origin = x.zero_point, .any_start = true};
    json_t *window = NULL, *runs = NULL;
    i64 none = -1;
    read_json(value, "exclusion", "{sI sI s?I s?o s?o}", "from", &e.a, "upto", &e.b, "none", &none, "window", &window,
              "runs", &runs);
    snprintf(step, sizeof step, "exclusion of %lld to %lld: ", e.a, e.b - 1);
    REQUIRE(d0 <= e.a && e.a < e.b && e.b <= d1, "these are no stored codes");
    if (!window != !runs || !window == !json_object_get(value, "none"))
        fail(2, "it has not either none, or window and runs");
    if (form == ANCHORED)
        e.origin = e.a;
    if (window)
        e.any_start = check_runs(&e, shifts, window, runs) || form != ANCHORED;
    else
        REQUIRE(none >= 0 && none < e.b - e.a && bands[e.a - d0 + none][0] > bands[e.a - d0 + none][1],
                "the band is not empty");
    step[0] = 0;
    return e;
}

/* ---- Squares: what lines cost at least ---- */

/* Of the stored codes before d0 + i: what their outputs cost at least. And what lines from one place on cost at least
 * before each code: need, and rest where what follows needs no more. In units of 2^-unit_bits, each square rounded
 * down, of the least error that may be. */
static i128 *floors, *need, *rest_need;
static i64 unit_bits;

static i128 square(i128 error_of)
{
    i128 e = larger(error_of - unit, 0), high = e >> 48, low = e & (((i128)1 << 48) - 1);
    if (e >> 111)
        return (i128)1 << 100;
    return (high * high + ((2 * high * low + (low * low >> 48)) >> 48)) >> (2 * POINT - 96 - unit_bits);
}

/* The least cost at a code of outputs from low to high: that of the nearest one, or of the fixed one. */
static i128 cost_of_code(i64 q, i128 low, i128 high)
{
    i128 target = values[q - x.qmin], output = (target + ONE / 2) >> POINT;
    low = smaller(larger(low, y.qmin), y.qmax);
    high = smaller(larger(high, y.qmin), y.qmax);
    output = rules.output[q - x.qmin] == FREE ? smaller(larger(output, low), high) : rules.output[q - x.qmin];
    return output < low || output > high ? (i128)1 << 100 : square(magnitude(output * ONE - target));
}

/* The least cost at a stored code of values from low to high: its own, and that of its image. */
static i128 least_cost(i64 q, i128 low, i128 high)
{
    i64 image = 2 * d0 - q;
    i128 cost = q <= x.qmax ? cost_of_code(q, low, high) : 0;
    return cost + (folded && image < q && image >= x.qmin ? cost_of_code(image, sum - high, sum - low) : 0);
}

/* Lines of a part of a list of slopes, and of the constants c1 to c2, cost enough: they are looked at from code to
 * code, until they cost enough for all that follows; else one half after the other is. */
static void check_box(struct exclusion *line, const struct slopes *list, i64 first, i64 last, i64 c1, i64 c2)
{
    i64 u = slope_at(list, first), w = slope_at(list, last), b = line->a;
    i128 cost = 0;
    do {
        i128 p = u * ((i128)b - line->origin), r = w * ((i128)b - line->origin);
        cost += least_cost(b, value_of(smaller(p, r), line->n, c1), value_of(larger(p, r), line->n, c2));
        b++;
    } while (cost >= need[b - d0] && cost < rest_need[b - d0]);
    if (cost >= need[b - d0])
        return;
    line->b = b;
    i128 least = larger(c1, bound_of_part(line, u, w, -1, false)); /* Constants that types do not allow are left out. */
    i128 largest = smaller(c2, bound_of_part(line, u, w, -1, true));
    if (least > largest)
        return;
    bool is_smaller = least > c1 || largest < c2;
    c1 = (i64)least;
    c2 = (i64)largest;
    i128 most = larger(magnitude((i128)line->a - line->origin), magnitude((i128)b - 1 - line->origin));
    double moved = ldexp((double)((w - u) * most), form == BIASED ? 0 : (int)-line->n);
    if (first < last && (c1 == c2 || moved >= (double)c2 - (double)c1)) {
        check_box(line, list, first, first + (last - first) / 2, c1, c2);
        check_box(line, list, first + (last - first) / 2 + 1, last, c1, c2);
    } else if (c1 < c2) {
        i64 middle = (i64)floor_div((i128)c1 + c2, 2);
        check_box(line, list, first, last, c1, middle);
        check_box(line, list, first, last, middle + 1, c2);
    } else if (is_smaller)
        check_box(line, list, first, last, c1, c2);
    else
        fail(1, "the line of %lld * 2^-%lld and %lld costs less from %lld to %lld", u, line->n, c1, line->a, b - 1);
}

static void check_lines(i64 a, const i64 shifts[2])
{
    struct exclusion line = {.a = a, .origin = form == ANCHORED ? a : x.zero_point};
    for (line.n = shifts[0]; line.n <= shifts[1]; line.n++) {
        struct slopes list = list_slopes(line.n, line.n == shifts[0], (struct ratio){0, 0}, (struct ratio){0, 0});
        if (list.count)
            check_box(&line, &list, 0, list.count - 1, rules.offsets[0], rules.offsets[1]);
    }
}

void find_floors(i64 bits)
{
    unit_bits = bits;
    floors = get(d1 - d0, sizeof *floors);
    need = get(d1 - d0, sizeof *need);
    rest_need = get(d1 - d0, sizeof *rest_need);
    for (i64 q = d0; q < d1; q++)
        floors[q + 1 - d0] = floors[q - d0] + least_cost(q, -INFINITE / 2, INFINITE / 2);
}

/* What m segments cost at least that end before the k-th place; the one behind the last is d1. */
static i64 least_of(json_t *rows, i64 m, i64 k)
{
    return m ? element(json_array_get(rows, (size_t)m - 1), (size_t)k - 1) : 0;
}

/* Finds what lines from the k-th place on cost at least, with m segments before them, first <= m <= last. */
static void find_needs(json_t *rows, const i64 *place, i64 places, i64 k, i64 first, i64 last)
{
    i128 behind = -INFINITE;
    for (i64 i = 0; i <= d1 - d0; i++)
        need[i] = -INFINITE;
    for (i64 b = k + 1; b <= places; b++)
        for (i64 m = first; m <= last; m++)
            need[place[b] - d0] = larger(need[place[b] - d0], (i128)least_of(rows, m + 1, b) - least_of(rows, m, k));
    for (i64 i = d1 - d0; i > place[k] - d0; i--) {
        rest_need[i] = behind;
        behind = larger(behind, need[i]) - (floors[i] - floors[i - 1]);
    }
    for (i64 b = k + 1; b < places && k && form != ANCHORED;
         b++) { /* From there on it is a line of the range from b. */
        i128 most = -INFINITE;
        for (i64 m = first; m <= last; m++)
            most = larger(most, (i128)least_of(rows, m, b) - least_of(rows, m, k));
        rest_need[place[b] - d0] = smaller(rest_need[place[b] - d0], most);
    }
}

/* least[m] has for each place what m segments cost at least that end there; no line costs less than what this grows
 * by. */
void check_costs(const i64 shifts[2], i64 equal, json_t *rows, i64 segments_asked, i64 squares_asked)
{
    i64 *place = get(d1 - d0, sizeof *place), places = 0, m = equal ? 1 : segments_asked;
    for (i64 q = d0; q <= x.qmax && !equal; q++)
        if (q == last_place(q + 1))
            place[places++] = q;
    for (; places < equal; places++)
        place[places] = equal_start(places, equal);
    place[places] = d1;
    if ((i64)length(rows) != m)
        fail(2, "least has not its rows");
    for (; m; m--) {
        if ((i64)length(json_array_get(rows, (size_t)m - 1)) != places)
            fail(2, "a row of least has another length");
        REQUIRE(least_of(rows, m, places) >= squares_asked, "least ends below squares");
    }
    for (i64 k = places - 1; k >= 0; k--) {
        if (equal) {
            for (i64 i = 0; i <= d1 - d0; i++) {
                need[i] = -INFINITE;
                rest_need[i] = INFINITE;
            }
            need[place[k + 1] - d0] = (i128)least_of(rows, 1, k + 1) - (k ? least_of(rows, 1, k) : 0);
            rest_need[place[k + 1] - d0] = -INFINITE;
        } else if (k == 0 || segments_asked > 1)
            find_needs(rows, place, places, k, k ? 1 : 0, k ? segments_asked - 1 : 0);
        if (equal || k == 0 || segments_asked > 1)
            check_lines(place[k], shifts);
    }
    free(place);
}
