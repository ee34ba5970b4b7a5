/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "every_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value before saturation is kept as its place among low..high, which holds all that saturation leaves apart. */
struct values {
    int64_t low, high;
    int count;
};

struct line {
    int64_t q_b, offset;
    int n, start;                /* start: of the anchored form, a code counted from the first; else -1 */
    uint32_t legal;              /* codes where no intermediate value leaves its type, one bit each */
    uint16_t value[EVERY_CODES]; /* places */
};

struct lines {
    struct line *line;
    size_t count, room;
};

/* Left shifts end here: farther than any type reaches. */
static const int64_t far = INT64_C(1) << 40;

static int64_t floor_div(int64_t p, int64_t d)
{
    return p >= 0 ? p / d : -((-p + d - 1) / d);
}

int64_t every_shift(enum every_rounding rounding, int64_t p, int n)
{
    for (; n < 0 && llabs(p) < far; n++)
        p *= 2;
    if (n <= 0)
        return p;
    const int64_t whole = INT64_C(1) << n, down = floor_div(p, whole), rest = p - down * whole;
    if (rounding == EVERY_FLOOR || 2 * rest < whole)
        return down;
    if (2 * rest > whole || rounding == EVERY_HALF_UP)
        return down + 1;
    return rounding == EVERY_HALF_AWAY ? down + (p > 0) : down + (down % 2 != 0);
}

bool every_is_int32(int64_t v)
{
    return INT32_MIN <= v && v <= INT32_MAX;
}

bool every_shifts_legally(const struct every_spec *spec, int64_t p, int n)
{
    int64_t added = 0;
    if (n > 0 && spec->rounding != EVERY_FLOOR)
        added = (spec->rounding == EVERY_HALF_AWAY ? llabs(p) : p) + (INT64_C(1) << (n - 1));
    return every_is_int32(p) && every_is_int32(added) && every_is_int32(every_shift(spec->rounding, p, n));
}

static int64_t clip(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static int64_t output_of(const struct every_spec *spec, int64_t value)
{
    return clip(value, spec->qmin_y, spec->qmax_y);
}

static struct values values_of(const struct every_spec *spec)
{
    struct values values = {.low = spec->qmin_y, .high = spec->qmax_y};
    for (int k = 0; k < spec->count; k++)
        if (spec->mirror[k].exists) {
            values.low = spec->sum - spec->qmax_y < values.low ? spec->sum - spec->qmax_y : values.low;
            values.high = spec->sum - spec->qmin_y > values.high ? spec->sum - spec->qmin_y : values.high;
        }
    values.count = (int)(values.high - values.low + 1);
    if (values.count > EVERY_VALUES)
        abort();
    return values;
}

/* The least p of which the shift gives at least v. */
static int64_t threshold(const struct every_spec *spec, int64_t v, int n)
{
    int64_t low = -far, high = far;
    if (every_shift(spec->rounding, low, n) >= v)
        return low;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(every_shift(spec->rounding, middle, n) >= v ? &high : &low) = middle;
    }
    return high;
}

/* The sums p = base + offset that are legal at one code, ends included: an interval around 0. */
struct interval {
    int64_t low, high;
};

static bool is_legal_sum(const struct every_spec *spec, int64_t p, int n, bool mirrored)
{
    const int64_t value = spec->form == EVERY_BIASED ? every_shift(spec->rounding, p, n) : p;
    if (spec->form == EVERY_BIASED && !every_shifts_legally(spec, p, n))
        return false;
    return every_is_int32(value) && (!mirrored || every_is_int32(spec->sum - value));
}

static struct interval legal_sums(const struct every_spec *spec, int n, bool mirrored)
{
    struct interval legal = {0, 0};
    for (int64_t step = far; step > 0; step /= 2) {
        while (is_legal_sum(spec, legal.low - step, n, mirrored))
            legal.low -= step;
        while (is_legal_sum(spec, legal.high + step, n, mirrored))
            legal.high += step;
    }
    return legal;
}

/* One slope and shift. base: what the offset is added to. */
struct family {
    int64_t q_b;
    int n, start;
    int64_t base[EVERY_CODES];
    bool legal[EVERY_CODES]; /* so far, whatever the offset */
};

static struct family family_of(const struct every_spec *spec, int64_t q_b, int n, int start)
{
    struct family family = {.q_b = q_b, .n = n, .start = start};
    const int64_t origin = spec->form == EVERY_ANCHORED ? spec->first_x + start : spec->zp_x;
    for (int k = 0; k < spec->count; k++) {
        const int64_t product = q_b * (spec->first_x + k - origin);
        family.legal[k] =
            every_is_int32(product) && (spec->form == EVERY_BIASED || every_shifts_legally(spec, product, n));
        family.base[k] = spec->form == EVERY_BIASED ? product : every_shift(spec->rounding, product, n);
    }
    return family;
}

/* What all families of one shift have in common. */
struct sums {
    int64_t least[EVERY_VALUES]; /* the least sum that gives the value of each place, -far for the lowest */
    struct interval legal[2];    /* at codes without and with a mirror image */
};

static struct sums sums_of(const struct every_spec *spec, const struct values *values, int n)
{
    struct sums sums;
    for (int v = 0; v < values->count; v++)
        sums.least[v] = v == 0                       ? -far
                        : spec->form == EVERY_BIASED ? threshold(spec, values->low + v, n)
                                                     : values->low + v;
    for (int m = 0; m < 2; m++)
        sums.legal[m] = legal_sums(spec, n, m);
    return sums;
}

static void add_line(struct lines *lines, const struct line *line)
{
    if (lines->count == lines->room) {
        lines->room = 2 * lines->room + 1024;
        lines->line = realloc(lines->line, lines->room * sizeof *lines->line);
        if (!lines->line)
            abort();
    }
    lines->line[lines->count++] = *line;
}

/* Lines of all offsets of the field that differ at a code in value or in being legal: the lowest of each kind. */
static void add_family(const struct every_spec *spec, const struct values *values, const struct sums *sums,
                       const struct family *family, struct lines *lines)
{
    struct line line = {.q_b = family->q_b, .n = family->n, .start = family->start, .offset = spec->offset_low};
    for (;;) {
        int64_t next = INT64_MAX; /* the lowest offset above this one where something changes */
        line.legal = 0;
        for (int k = family->start < 0 ? 0 : family->start; k < spec->count; k++) {
            const int64_t sum = family->base[k] + line.offset;
            const struct interval legal = sums->legal[spec->mirror[k].exists];
            int v = line.value[k];
            while (v + 1 < values->count && sums->least[v + 1] <= sum)
                v++;
            line.value[k] = (uint16_t)v;
            if (family->legal[k] && legal.low <= sum && sum <= legal.high)
                line.legal |= UINT32_C(1) << k;
            const int64_t changes[] = {v + 1 < values->count ? sums->least[v + 1] : INT64_MAX, legal.low,
                                       legal.high + 1};
            for (int c = 0; c < 3; c++)
                if (changes[c] != INT64_MAX && changes[c] > sum && changes[c] - family->base[k] < next)
                    next = changes[c] - family->base[k];
        }
        add_line(lines, &line);
        if (next > spec->offset_high)
            return;
        line.offset = next;
    }
}

static bool has_terms(int64_t q_b, int terms, int bits)
{
    if (q_b == 0 || terms == 0)
        return true;
    for (int k = 0; k <= bits; k++)
        for (int sign = -1; sign <= 1; sign += 2)
            if (terms > 0 && (q_b == sign * (1 << k) || (terms > 1 && has_terms(q_b - sign * (1 << k), 1, bits))))
                return true;
    return false;
}

bool every_is_stored(const struct every_spec *spec, int64_t q_b, int n)
{
    if (spec->shift_multiple == 0)
        return true;
    for (int s = spec->shift_multiple; s <= 32; s += spec->shift_multiple) {
        if (s < n || s - n >= spec->stored_bits)
            continue;
        const int64_t stored = q_b * (INT64_C(1) << (s - n)), end = INT64_C(1) << (spec->stored_bits - 1);
        if (stored >= -end && stored < end)
            return true;
    }
    return false;
}

struct families {
    struct family *family;
    int count;
};

/* Without an offset to separate them, the lines of two families are the same. */
static bool is_known(const struct families *families, const struct family *family)
{
    for (int f = 0; f < families->count; f++)
        if (families->family[f].start == family->start &&
            !memcmp(families->family[f].base, family->base, sizeof family->base) &&
            !memcmp(families->family[f].legal, family->legal, sizeof family->legal))
            return true;
    return false;
}

/* The lines of one shift and one origin that no family so far has. */
static void add_slopes(const struct every_spec *spec, const struct values *values, const struct sums *sums, int n,
                       int start, struct families *families, struct lines *lines)
{
    const int64_t steepest = INT64_C(1) << (spec->slope_bits - 1);
    for (int64_t q_b = -steepest; q_b < steepest; q_b++) {
        const struct family family = family_of(spec, q_b, n, start);
        if (!has_terms(q_b, spec->slope_terms, spec->slope_bits) || !every_is_stored(spec, q_b, n) ||
            (spec->form != EVERY_BIASED && is_known(families, &family)))
            continue;
        families->family[families->count++] = family;
        add_family(spec, values, sums, &family, lines);
    }
}

/* What has to be known of the segments before a code: the value at the code before it, for --monotone, and the value
 * that the last segment would have at it, for --continuous; each is 0 where nobody asks. */
struct state {
    double least;
    int line, start, before; /* of the last segment; before: the state at its start */
};

struct program {
    const struct every_spec *spec;
    struct values values;
    double limit;
    double cost[EVERY_CODES][EVERY_VALUES];
    int lasts, nexts;    /* values that a state tells apart */
    struct state *state; /* of each code to count, number of segments, last and next */
};

static struct state *states_at(const struct program *program, int code, int segments)
{
    const int at = code * (program->spec->segments + 1) + segments;
    return program->state + (size_t)at * (size_t)(program->lasts * program->nexts);
}

double every_cost(const struct every_spec *spec, const struct every_output *output, int64_t q_y)
{
    const double e = fabs((double)q_y - output->target);
    if (!output->exists)
        return 0;
    if (output->is_fixed && q_y != output->fixed)
        return INFINITY;
    return spec->squares ? output->weight * e * e : e;
}

static double together(const struct program *program, double a, double b)
{
    return program->spec->squares ? a + b : fmax(a, b);
}

static void fill_costs(struct program *program)
{
    const struct every_spec *spec = program->spec;
    for (int k = 0; k < spec->count; k++)
        for (int v = 0; v < program->values.count; v++) {
            const int64_t value = program->values.low + v;
            program->cost[k][v] = together(program, every_cost(spec, &spec->output[k], output_of(spec, value)),
                                           every_cost(spec, &spec->mirror[k], output_of(spec, spec->sum - value)));
        }
}

/* Whether --monotone allows these values, places, at code k - 1 and k. */
static bool steps_well(const struct program *program, int k, int before, int here)
{
    const struct every_spec *spec = program->spec;
    const int64_t u = program->values.low + before, v = program->values.low + here;
    if (!spec->monotone)
        return true;
    if (spec->output[k].exists && spec->output[k].direction * (output_of(spec, v) - output_of(spec, u)) < 0)
        return false;
    /* The code above the mirror image of code 1 is code 0 itself. */
    const int64_t above = k == 1 ? u : spec->sum - u;
    return !spec->mirror[k].exists ||
           spec->mirror[k - 1].direction * (output_of(spec, above) - output_of(spec, spec->sum - v)) >= 0;
}

/* Whether --continuous allows this value at the first code: with a fold, the mirrored half would go on to it. */
static bool begins_well(const struct program *program, int here)
{
    const struct every_spec *spec = program->spec;
    const int64_t v = program->values.low + here;
    return !spec->is_continuous || spec->count < 2 || !spec->mirror[1].exists ||
           llabs(output_of(spec, spec->sum - v) - output_of(spec, v)) <= spec->max_step;
}

/* Whether --continuous allows that a segment begins at code k with a value where the one before has another. */
static bool joins_well(const struct program *program, int k, int before, int here)
{
    const struct every_spec *spec = program->spec;
    const int64_t u = program->values.low + before, v = program->values.low + here;
    if (!spec->is_continuous)
        return true;
    if (spec->output[k].exists && llabs(output_of(spec, u) - output_of(spec, v)) > spec->max_step)
        return false;
    return !spec->mirror[k].exists ||
           llabs(output_of(spec, spec->sum - u) - output_of(spec, spec->sum - v)) <= spec->max_step;
}

/* The best state, -1 for none, that a segment may follow which has value v at code k. */
static int best_before(const struct program *program, int k, int segments, int v)
{
    const struct state *states = states_at(program, k, segments);
    int best = -1;
    for (int last = 0; last < program->lasts; last++)
        for (int next = 0; next < program->nexts; next++) {
            const int at = last * program->nexts + next;
            if (states[at].least <= program->limit && (best < 0 || states[at].least < states[best].least) &&
                (k == 0 ? begins_well(program, v) : steps_well(program, k, last, v) && joins_well(program, k, next, v)))
                best = at;
        }
    return best;
}

/* Ends the line's segment from `start` after each code that it can reach. */
static void extend(const struct program *program, const struct lines *lines, int index, int start, const int before[])
{
    const struct every_spec *spec = program->spec;
    const struct line *line = &lines->line[index];
    double sum = 0;
    for (int k = start; k < spec->count && line->legal >> k & 1; k++) {
        sum = together(program, sum, program->cost[k][line->value[k]]);
        if (sum > program->limit || (k > start && !steps_well(program, k, line->value[k - 1], line->value[k])))
            return;
        const int last = spec->monotone ? line->value[k] : 0,
                  next = spec->is_continuous && k + 1 < spec->count ? line->value[k + 1] : 0;
        for (int m = 0; m < spec->segments; m++) {
            if (before[m] < 0)
                continue;
            struct state *const end = &states_at(program, k + 1, m + 1)[last * program->nexts + next];
            const double least = together(program, states_at(program, start, m)[before[m]].least, sum);
            if (least < end->least)
                *end = (struct state){.least = least, .line = index, .start = start, .before = before[m]};
        }
        if (spec->start_all && k + 1 < spec->count && spec->may_start[k + 1])
            return;
    }
}

static void take_best(const struct program *program, const struct lines *lines, struct every_found *found)
{
    const struct every_spec *spec = program->spec;
    int segments = 0, at = -1;
    for (int m = 1; m <= spec->segments; m++)
        for (int s = 0; s < program->lasts * program->nexts; s++) {
            const double least = states_at(program, spec->count, m)[s].least;
            if (least <= program->limit && (found->found ? least < found->least : true)) {
                found->found = true;
                found->least = least;
                segments = m;
                at = s;
            }
        }
    if (segments == 0)
        return;
    found->segments = segments;
    for (int m = segments, code = spec->count; m > 0; m--) {
        const struct state *state = &states_at(program, code, m)[at];
        const struct line *line = &lines->line[state->line];
        found->segment[m - 1] = (struct every_segment){
            .start = spec->first_x + state->start, .q_b = line->q_b, .n = line->n, .offset = line->offset};
        code = state->start;
        at = state->before;
    }
}

/* The best table of these lines, if better than the one found so far. */
static void join(struct program *program, const struct lines *lines, struct every_found *found)
{
    const struct every_spec *spec = program->spec;
    const size_t states = (size_t)((spec->count + 1) * (spec->segments + 1) * program->lasts * program->nexts);
    for (size_t s = 0; s < states; s++)
        program->state[s].least = INFINITY;
    states_at(program, 0, 0)[0].least = 0;
    for (int start = 0; start < spec->count; start++) {
        int before[EVERY_VALUES][EVERY_CODES];
        if (!spec->may_start[start])
            continue;
        for (int v = 0; v < program->values.count; v++)
            for (int m = 0; m < spec->segments; m++)
                before[v][m] = program->cost[start][v] <= program->limit ? best_before(program, start, m, v) : -1;
        for (size_t l = 0; l < lines->count; l++)
            if (lines->line[l].start < 0 || lines->line[l].start == start)
                extend(program, lines, (int)l, start, before[lines->line[l].value[start]]);
    }
    take_best(program, lines, found);
}

struct every_found every_table(const struct every_spec *spec, double limit)
{
    struct every_found found = {.found = false};
    struct program program = {.spec = spec, .values = values_of(spec), .limit = limit};
    struct lines lines = {0};
    const int origins = spec->form == EVERY_ANCHORED ? spec->count : 1, all = 63 * origins << spec->slope_bits;
    struct families families = {.family = malloc((size_t)all * sizeof *families.family)};
    program.lasts = spec->monotone ? program.values.count : 1;
    program.nexts = spec->is_continuous ? program.values.count : 1;
    program.state = malloc((size_t)((spec->count + 1) * (spec->segments + 1) * program.lasts * program.nexts) *
                           sizeof *program.state);
    if (!families.family || !program.state)
        abort();
    fill_costs(&program);
    for (int n = -31; n <= 31; n++) {
        const struct sums sums = sums_of(spec, &program.values, n);
        for (int origin = 0; origin < origins; origin++)
            if (spec->form != EVERY_ANCHORED || spec->may_start[origin])
                add_slopes(spec, &program.values, &sums, n, spec->form == EVERY_ANCHORED ? origin : -1, &families,
                           &lines);
        if (!spec->one_shift)
            continue;
        join(&program, &lines, &found);
        program.limit = found.found ? found.least : program.limit;
        lines.count = 0;
        families.count = 0;
    }
    if (!spec->one_shift)
        join(&program, &lines, &found);
    free(program.state);
    free(families.family);
    free(lines.line);
    return found;
}
