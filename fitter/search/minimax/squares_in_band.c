/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "squares_in_band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bounded_line.h"

enum {
    MOVES = 3,     /* of a knot in a round: none, to the left, to the right */
    STAY = 0,      /* the one that is none */
    FIRST_STEP = 8 /* shares of a mean segment */
};

/* Points of the ranges that are looked at: some hundred rounds over 10 bits, all there are over 14. Of 16 bits and more
 * it is the rounds of large steps, which gain most; all others gain 1 % of the RMS error, in three times the time that
 * the table takes. */
#define MOST_POINTS ((int64_t)9 << 17)

#define TIE 1e-9        /* of the squared error: where two moves cost the same another libm takes the same one */
#define LEAST_GAIN 1e-4 /* of the squared error; a round that gains less is the last one of its step */

/* A line between two places of the knot grid; its cost is INFINITY where none is known. */
struct range {
    int begin, end;
    struct line line;
};

/* The ranges that one segment can take in a round. */
struct choice {
    struct range at[MOVES][MOVES]; /* by the moves of its first and of its last place */
};

struct program {
    const struct points *points;
    const struct line_rules *rules;
    double max_err;
    int segments;
    int64_t left;          /* of MOST_POINTS */
    int *place;            /* segments + 1 of the incumbent */
    struct choice *choice; /* of this round and of the last, by segment */
    struct choice *last;
    signed char (*from)[MOVES]; /* the best move of a segment's first place, by that of its last */
};

/* The best line found between two places. Where it is off by more between the points than at them, a second one is held
 * to as much less. */
static struct line fit_range(const struct program *program, int begin, int end, enum line_effort effort)
{
    const struct points *points = program->points;
    const int first = points_at(points, begin), last = points_at(points, end);
    struct line_limits limits = {program->max_err, INFINITY};
    struct line line;
    for (int attempt = 0; attempt < 2 && line_fit(program->rules, points, first, last, limits, effort, &line);
         attempt++) {
        const double error = points->between ? bounded_line_error(points, first, last, &line, program->max_err) : 0;
        if (error <= program->max_err)
            return line;
        limits.max_err -= 1.02 * (error - program->max_err);
    }
    return (struct line){.cost = INFINITY};
}

/* The same, unless it is known from the last round. */
static struct range range_of(struct program *program, int m, int begin, int end)
{
    const struct range *last = &program->last[m].at[0][0];
    for (int i = 0; i < MOVES * MOVES; i++)
        if (last[i].begin == begin && last[i].end == end && isfinite(last[i].line.cost))
            return last[i];
    struct range range = {begin, end, {.cost = INFINITY}};
    if (begin < end) {
        range.line = fit_range(program, begin, end, LINE_QUICK);
        program->left -= points_at(program->points, end) - points_at(program->points, begin);
    }
    return range;
}

/* Where a knot goes; the ends stay, and so do knots that would leave the codes. */
static int moved(const struct program *program, int m, int move, int step)
{
    static const int direction[MOVES] = {0, -1, 1};
    const int place = program->place[m] + direction[move] * step;
    const bool fixed = m == 0 || m == program->segments;
    return fixed || place <= 0 || place >= program->place[program->segments] ? program->place[m] : place;
}

/* Tries every knot at its three places; returns whether the table got better. */
static bool improve(struct program *program, int step)
{
    const int segments = program->segments;
    double cost[MOVES] = {0, 0, 0}, before = 0;
    struct choice *const swap = program->last;
    program->last = program->choice;
    program->choice = swap;
    for (int m = 0; m < segments; m++) {
        double sum[MOVES] = {INFINITY, INFINITY, INFINITY};
        for (int k = 0; k < MOVES; k++)
            for (int i = 0; i < MOVES; i++) {
                struct range *range = &program->choice[m].at[i][k];
                const int begin = moved(program, m, i, step), end = moved(program, m + 1, k, step);
                const bool again =
                    (i != STAY && begin == program->place[m]) || (k != STAY && end == program->place[m + 1]);
                *range = again ? (struct range){begin, end, {.cost = INFINITY}} : range_of(program, m, begin, end);
                if (cost[i] + range->line.cost < sum[k] * (1 - TIE)) {
                    sum[k] = cost[i] + range->line.cost;
                    program->from[m][k] = (signed char)i;
                }
            }
        before += program->choice[m].at[STAY][STAY].line.cost;
        memcpy(cost, sum, sizeof cost);
    }
    if (!(cost[STAY] < before * (1 - LEAST_GAIN)))
        return false;
    for (int m = segments - 1, k = STAY; m >= 0; m--) {
        const int i = program->from[m][k];
        program->place[m] = program->choice[m].at[i][k].begin;
        program->choice[m].at[STAY][STAY] = program->choice[m].at[i][k];
        k = i;
    }
    return true;
}

static void search(struct program *program)
{
    const int mean = program->place[program->segments] / program->segments;
    int step = 1;
    while (step * FIRST_STEP < mean)
        step *= 2;
    for (; step > 0; step /= 2)
        while (program->left > 0 && !points_out_of_time(program->points) && improve(program, step))
            ;
}

/* The incumbent is a choice of the first round; its lines stay where the fit finds only worse ones. */
static void start(struct program *program, const struct minimax *table)
{
    for (int m = 0; m < program->segments; m++) {
        const int begin = program->place[m], end = program->place[m + 1];
        struct line kept = table->lines[m];
        kept.cost = line_cost_below(program->rules, program->points, table->knots[m], table->knots[m + 1], &kept, NULL,
                                    INFINITY);
        const struct line fitted = fit_range(program, begin, end, LINE_QUICK);
        for (int i = 0; i < MOVES; i++)
            for (int k = 0; k < MOVES; k++)
                program->choice[m].at[i][k] = (struct range){-1, -1, {.cost = INFINITY}};
        program->choice[m].at[STAY][STAY] =
            (struct range){begin, end, fitted.cost <= kept.cost * (1 + TIE) ? fitted : kept};
    }
}

/* Lines stay where a thorough fit finds only worse ones. */
static void take(const struct program *program, struct minimax *table)
{
    for (int m = 0; m < program->segments; m++) {
        const struct range *range = &program->choice[m].at[STAY][STAY];
        const struct line fitted = fit_range(program, range->begin, range->end, LINE_THOROUGH);
        table->knots[m] = points_at(program->points, range->begin);
        table->lines[m] = fitted.cost <= range->line.cost * (1 + TIE) ? fitted : range->line;
    }
}

int squares_in_band(const struct points *points, const struct line_rules *rules, double max_err, struct minimax *table,
                    struct diag *diag)
{
    const size_t count = (size_t)table->segments;
    struct program program = {points,
                              rules,
                              max_err,
                              table->segments,
                              MOST_POINTS,
                              malloc((count + 1) * sizeof *program.place),
                              malloc(count * sizeof *program.choice),
                              malloc(count * sizeof *program.last),
                              malloc(count * sizeof *program.from)};
    diag->code = EXIT_DONE;
    if (program.place && program.choice && program.last && program.from) {
        for (size_t m = 0; m <= count; m++)
            program.place[m] = points_place_before(points, table->knots[m]);
        start(&program, table);
        if (!points->grid_whole)
            search(&program);
        take(&program, table);
    } else {
        diag_set(diag, EXIT_IO, "out of memory for %d segments", table->segments);
    }
    free(program.place);
    free(program.choice);
    free(program.last);
    free(program.from);
    return diag->code;
}
