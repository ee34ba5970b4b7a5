/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "every_table.h"

#include <math.h>
#include <stdlib.h>

#include "every_slope.h"

/* What has to be known of the segments before a code: the value at the code before it, for --monotone, and the value
 * that the last segment would have at it, for --continuous; each is 0 where nobody asks. */
struct state {
    double least; /* above program.floor */
    struct slope slope;
    int64_t offset;
    int start, before; /* of the last segment; before: the state at its start */
};

struct program {
    const struct every_spec *spec;
    struct values values;
    double floor;                         /* what the best value of every code costs, of squares; else 0 */
    double limit;                         /* what a table may cost above it */
    double *cost;                         /* above the floor, of each code and place */
    struct interval legal[2 * SHIFTS][2]; /* of each shift, at codes without and with a mirror image */
    bool is_tied;
    int lasts, nexts;    /* values that a state tells apart */
    struct state *state; /* of each code to count, number of segments, last and next */
    struct state *range; /* the best line from one start to each end, where segments are not tied */
};

static int64_t output_of(const struct every_spec *spec, int64_t value)
{
    return clip(value, spec->qmin_y, spec->qmax_y);
}

/* --- costs and ties --- */

double every_cost(const struct every_spec *spec, const struct every_output *output, int64_t q_y)
{
    const double e = fabs((double)q_y - output->target);
    if (!output->exists)
        return 0;
    if (output->fixed != EVERY_FREE && q_y != output->fixed)
        return INFINITY;
    return spec->squares ? output->weight * e * e : e;
}

static double together(const struct program *program, double a, double b)
{
    return program->spec->squares ? a + b : fmax(a, b);
}

static double cost_at(const struct program *program, int k, int place)
{
    return program->cost[(size_t)k * (size_t)program->values.count + (size_t)place];
}

static void fill_costs(struct program *program)
{
    const struct every_spec *spec = program->spec;
    for (int k = 0; k < spec->count; k++) {
        double *const cost = program->cost + (size_t)k * (size_t)program->values.count, floor = INFINITY;
        for (int v = 0; v < program->values.count; v++) {
            const int64_t value = program->values.low + v;
            cost[v] = together(program, every_cost(spec, &spec->output[k], output_of(spec, value)),
                               every_cost(spec, &spec->mirror[k], output_of(spec, spec->sum - value)));
            floor = fmin(floor, cost[v]);
        }
        if (!spec->squares || !isfinite(floor))
            continue;
        program->floor += floor;
        for (int v = 0; v < program->values.count; v++)
            cost[v] -= floor;
    }
    program->limit -= program->floor;
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

static struct state *states_at(const struct program *program, int code, int segments)
{
    const int at = code * (program->spec->segments + 1) + segments;
    return program->state + (size_t)at * (size_t)(program->lasts * program->nexts);
}

/* The best state, -1 for none, that a segment may follow which has the value of place v at code k. */
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

/* --- segments from one start --- */

struct start {
    int code;
    int first, last; /* places with which a segment may begin */
    double behind;   /* the least that the codes before cost */
    /* Lines that have been tried from the code before serve from here on too. */
    bool inherits;
    int *before; /* of each place, for each number of segments: best_before */
};

struct line {
    const struct slope *slope;
    int first; /* the code of slope->base[0] */
    int64_t offset;
    int64_t next; /* the lowest offset above this one where something changes at a code that was looked at */
};

struct at {
    bool legal;
    int place;
};

static struct at look(const struct program *program, struct line *line, int k)
{
    const struct every_spec *spec = program->spec;
    const int n = line->slope->n;
    const struct base base = line->slope->base[k - line->first];
    const struct interval *legal = &program->legal[n + SHIFTS][spec->mirror[k].exists];
    const int64_t sum = base.sum + line->offset,
                  value = spec->form == EVERY_BIASED ? shifted(spec->rounding, sum, n) : sum,
                  kept = clip(value, program->values.low, program->values.high);
    /* Above the highest legal sum a code changes for the worse. */
    int64_t change = sum < legal->low ? legal->low : INT64_MAX;
    if (kept < program->values.high) {
        const int64_t step = least_sum(spec, kept + 1, n);
        change = step < change ? step : change;
    }
    if (change < INT64_MAX && change - base.sum < line->next)
        line->next = change - base.sum;
    return (struct at){.legal = base.legal && legal->low <= sum && sum <= legal->high,
                       .place = (int)(kept - program->values.low)};
}

/* A segment that ends before code `end`, and what its last code and the next one, places, are to those behind it. */
static void record(const struct program *program, const struct start *start, const struct line *line, int place,
                   int end, int last, int next, double sum)
{
    struct state state = {.least = sum, .slope = *line->slope, .offset = line->offset, .start = start->code};
    if (!program->is_tied) {
        if (sum < program->range[end].least)
            program->range[end] = state;
        return;
    }
    const int *before = start->before + place * program->spec->segments;
    for (int m = 0; m < program->spec->segments; m++) {
        if (before[m] < 0)
            continue;
        struct state *const known = &states_at(program, end, m + 1)[last * program->nexts + next];
        state.before = before[m];
        state.least = together(program, states_at(program, start->code, m)[before[m]].least, sum);
        if (state.least < known->least)
            *known = state;
    }
}

/* Ends the line's segment after each code that it can reach at a cost that is of use. */
static void extend(const struct program *program, const struct start *start, struct line *line, struct at at)
{
    const struct every_spec *spec = program->spec;
    const int first = at.place;
    /* What serves all further codes serves each of them. */
    const double most = program->is_tied ? INFINITY : program->range[spec->count].least;
    double sum = 0;
    for (int k = start->code; at.legal; k++) {
        const int here = at.place;
        sum = together(program, sum, cost_at(program, k, here));
        if (sum >= most || together(program, start->behind, sum) > program->limit)
            return;
        at = k + 1 < spec->count ? look(program, line, k + 1) : (struct at){.legal = false};
        if (k + 1 == spec->count || spec->may_start[k + 1]) {
            record(program, start, line, first, k + 1, spec->monotone ? here : 0, spec->is_continuous ? at.place : 0,
                   sum);
            if (spec->start_all)
                return;
        }
        if (at.legal && !steps_well(program, k + 1, here, at.place))
            return;
    }
}

/* Whether the line has been tried from the code before at the same cost; not where an intermediate value of that code
 * leaves its type. */
static bool is_inherited(const struct program *program, const struct start *start, struct line *line, struct at at)
{
    const int k = start->code - 1;
    if (!start->inherits)
        return false;
    const struct at before = look(program, line, k);
    const double here = cost_at(program, start->code, at.place);
    if (!before.legal || together(program, cost_at(program, k, before.place), here) != here)
        return false;
    const struct interval *legal = &program->legal[line->slope->n + SHIFTS][program->spec->mirror[k].exists];
    const int64_t leaves = legal->high + 1 - line->slope->base[k - line->first].sum;
    line->next = leaves < line->next ? leaves : line->next;
    return true;
}

/* Offsets that are alike at all codes that a line reaches are tried once. */
static void try_slope(const struct program *program, const struct start *start, const struct slope *slope)
{
    const struct every_spec *spec = program->spec;
    struct line line = {.slope = slope, .first = spec->form == EVERY_ANCHORED ? start->code : 0};
    const int64_t base = slope->base[start->code - line.first].sum;
    int64_t offset = program->legal[slope->n + SHIFTS][spec->mirror[start->code].exists].low - base;
    if (start->first > 0) {
        const int64_t least = least_sum(spec, program->values.low + start->first, slope->n) - base;
        offset = least > offset ? least : offset;
    }
    for (line.next = offset > spec->offset_low ? offset : spec->offset_low; line.next <= spec->offset_high;) {
        line.offset = line.next;
        line.next = INT64_MAX;
        const struct at at = look(program, &line, start->code);
        if (!at.legal || at.place > start->last)
            return;
        if (!is_inherited(program, start, &line, at))
            extend(program, start, &line, at);
    }
}

/* --- tables --- */

/* What begins at a code: false where nothing can. */
static bool begin(const struct program *program, struct start *start, int code)
{
    const struct every_spec *spec = program->spec;
    start->code = code;
    start->behind = INFINITY;
    start->first = program->values.count;
    start->last = -1;
    start->inherits = code > 0 && !program->is_tied && !spec->every_line && !spec->start_all &&
                      spec->form != EVERY_ANCHORED && spec->may_start[code - 1];
    for (int m = 0; m < spec->segments; m++)
        for (int s = 0; s < program->lasts * program->nexts; s++)
            start->behind = fmin(start->behind, states_at(program, code, m)[s].least);
    for (int v = 0; v < program->values.count; v++) {
        const double least = together(program, start->behind, cost_at(program, code, v));
        bool begins = least <= program->limit && least < INFINITY;
        if (program->is_tied) {
            bool follows = false;
            for (int m = 0; m < spec->segments; m++) {
                int *const before = &start->before[v * spec->segments + m];
                *before = begins ? best_before(program, code, m, v) : -1;
                follows |= *before >= 0;
            }
            begins &= follows;
        }
        start->first = begins && v < start->first ? v : start->first;
        start->last = begins ? v : start->last;
    }
    for (int end = 0; end <= spec->count; end++)
        if (!start->inherits || end <= code)
            program->range[end].least = INFINITY;
        else
            program->range[end].start = code;
    return start->first <= start->last && spec->may_start[code];
}

/* Tables whose last segment is one of program->range. */
static void join(const struct program *program, const struct start *start)
{
    const struct every_spec *spec = program->spec;
    for (int m = 0; m < spec->segments; m++) {
        const double before = states_at(program, start->code, m)->least;
        for (int end = start->code + 1; before <= program->limit && end <= spec->count; end++) {
            struct state *const known = states_at(program, end, m + 1);
            const double least = together(program, before, program->range[end].least);
            if (least < known->least) {
                *known = program->range[end];
                known->least = least;
            }
        }
    }
}

static void take_best(const struct program *program, struct every_found *found)
{
    const struct every_spec *spec = program->spec;
    int segments = 0, at = 0;
    double least = INFINITY;
    for (int m = 1; m <= spec->segments; m++) {
        for (int s = 0; s < program->lasts * program->nexts; s++) {
            const double cost = states_at(program, spec->count, m)[s].least;
            if (cost <= program->limit && cost < least) {
                least = cost;
                segments = m;
                at = s;
            }
        }
        found->least_of[m] = fmin(found->least_of[m], least + program->floor);
    }
    if (segments == 0 || (found->found && found->least <= least + program->floor))
        return;
    found->found = true;
    found->least = least + program->floor;
    found->segments = segments;
    for (int m = segments, code = spec->count; m > 0; m--) {
        const struct state *state = &states_at(program, code, m)[at];
        found->segment[m - 1] = (struct every_segment){.start = spec->first_x + state->start,
                                                       .q_b = state->slope.q_b,
                                                       .n = state->slope.n,
                                                       .offset = state->offset};
        code = state->start;
        at = state->before;
    }
}

/* The best table of these slopes, if better than the one found so far. */
static void search(struct program *program, const struct slopes *slopes, struct start *start, struct every_found *found)
{
    const struct every_spec *spec = program->spec;
    const size_t states = (size_t)((spec->count + 1) * (spec->segments + 1) * program->lasts * program->nexts);
    for (size_t s = 0; s < states; s++)
        program->state[s].least = INFINITY;
    states_at(program, 0, 0)[0].least = 0;
    for (int code = 0; code < spec->count; code++) {
        if (!begin(program, start, code))
            continue;
        for (int s = 0; s < slopes->count; s++)
            try_slope(program, start, &slopes->slope[s]);
        if (!program->is_tied)
            join(program, start);
    }
    take_best(program, found);
}

struct every_found every_table(const struct every_spec *spec, double limit)
{
    struct every_found found = {.found = false};
    struct program program = {.spec = spec, .values = values_of(spec), .limit = limit};
    const int most = spec->sum_bits - 1, places = program.values.count;
    program.is_tied = spec->monotone || spec->is_continuous;
    program.lasts = spec->monotone ? places : 1;
    program.nexts = spec->is_continuous ? places : 1;
    program.cost = allocate((size_t)spec->count * (size_t)places, sizeof *program.cost);
    program.state = allocate((size_t)((spec->count + 1) * (spec->segments + 1) * program.lasts * program.nexts),
                             sizeof *program.state);
    program.range = allocate((size_t)spec->count + 1, sizeof *program.range);
    struct start start = {.before = allocate((size_t)(places * spec->segments), sizeof *start.before)};
    struct slopes slopes = {0};
    for (int m = 0; m <= spec->segments; m++)
        found.least_of[m] = INFINITY;
    for (int n = -most; n <= most; n++)
        for (int mirrored = 0; mirrored < 2; mirrored++)
            program.legal[n + SHIFTS][mirrored] = legal_sums(spec, n, mirrored);
    fill_costs(&program);
    for (int n = -most; n <= most; n++) {
        collect_slopes(spec, &program.values, spec->one_shift ? n : -most, spec->one_shift ? n : most, &slopes);
        search(&program, &slopes, &start, &found);
        if (!spec->one_shift)
            break;
    }
    free(program.cost);
    free(program.state);
    free(program.range);
    free(start.before);
    free(slopes.slope);
    free(slopes.base);
    return found;
}
