/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "squares_in_band.h"

#include <math.h>
#include <stdlib.h>

#include "base/progress.h"
#include "bounded_line.h"
#include "search/knot_moves.h"

enum { STAY, LEFT, RIGHT, MOVES }; /* of a knot in a round */
enum { FIRST_STEP = 8 };           /* shares of a mean segment */

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
    int64_t left;            /* of MOST_POINTS */
    struct knot_moves knots; /* of the incumbent */
    struct choice *choice;   /* of this round and of the last, by segment */
    struct choice *last;
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

/* The range between two places, where it is one of those of a choice, with a line. */
static const struct range *known_range(const struct choice *choice, int begin, int end)
{
    for (int i = 0; i < MOVES * MOVES; i++) {
        const struct range *range = &choice->at[i / MOVES][i % MOVES];
        if (range->begin == begin && range->end == end && isfinite(range->line.cost))
            return range;
    }
    return NULL;
}

/* What a range costs; its line is found unless it is known from the last round. */
static double cost_of_range(void *context, int m, int begin_move, int end_move, int begin, int end)
{
    struct program *program = context;
    struct range *range = &program->choice[m].at[begin_move][end_move];
    const struct range *last = known_range(&program->last[m], begin, end);
    *range = last ? *last : (struct range){begin, end, fit_range(program, begin, end, LINE_QUICK)};
    if (!last)
        program->left -= points_at(program->points, end) - points_at(program->points, begin);
    return range->line.cost;
}

/* Forgets the ranges of a segment. */
static void clear(struct choice *choice)
{
    for (int i = 0; i < MOVES * MOVES; i++)
        choice->at[i / MOVES][i % MOVES] = (struct range){-1, -1, {.cost = INFINITY}};
}

/* Tries every knot at its three places; returns whether the table got better. */
static bool improve(struct program *program, int step)
{
    const struct knot_moves *knots = &program->knots;
    struct choice *const swap = program->last;
    double before = 0;
    program->last = program->choice;
    program->choice = swap;
    for (int m = 0; m < knots->segments; m++)
        clear(&program->choice[m]);
    const double cost = knot_moves_try(knots, step);
    for (int m = 0; m < knots->segments; m++)
        before += program->choice[m].at[STAY][STAY].line.cost;
    if (!(cost < before * (1 - LEAST_GAIN)))
        return false;
    knot_moves_take(knots, step);
    for (int m = 0; m < knots->segments; m++)
        program->choice[m].at[STAY][STAY] = *known_range(&program->choice[m], knots->place[m], knots->place[m + 1]);
    return true;
}

static void search(struct program *program)
{
    const int mean = program->knots.end / program->knots.segments;
    int step = 1;
    while (step * FIRST_STEP < mean)
        step *= 2;
    for (; step > 0; step /= 2)
        while (program->left > 0 && !points_out_of_time(program->points) && improve(program, step))
            progress_step("less squared error within the largest",
                          (uint64_t)(MOST_POINTS - (program->left > 0 ? program->left : 0)), (uint64_t)MOST_POINTS);
}

/* The incumbent is a choice of the first round; its lines stay where the fit finds only worse ones. */
static void start(struct program *program, const struct minimax *table)
{
    for (int m = 0; m < program->knots.segments; m++) {
        const int begin = program->knots.place[m], end = program->knots.place[m + 1];
        struct line kept = table->lines[m];
        kept.cost = line_cost_below(program->rules, program->points, table->knots[m], table->knots[m + 1], &kept, NULL,
                                    INFINITY);
        const struct line fitted = fit_range(program, begin, end, LINE_QUICK);
        clear(&program->choice[m]);
        program->choice[m].at[STAY][STAY] =
            (struct range){begin, end, fitted.cost <= kept.cost * (1 + TIE) ? fitted : kept};
    }
}

/* Lines stay where a thorough fit finds only worse ones. */
static void take(const struct program *program, struct minimax *table)
{
    for (int m = 0; m < program->knots.segments; m++) {
        const struct range *range = &program->choice[m].at[STAY][STAY];
        const struct line fitted = fit_range(program, range->begin, range->end, LINE_THOROUGH);
        table->knots[m] = points_at(program->points, range->begin);
        table->lines[m] = fitted.cost <= range->line.cost * (1 + TIE) ? fitted : range->line;
    }
}

int squares_in_band(const struct points *points, const struct line_rules *rules, double max_err, struct minimax *table,
                    struct diag *diag)
{
    static const int moves[MOVES] = {[STAY] = 0, [LEFT] = -1, [RIGHT] = 1};
    const size_t count = (size_t)table->segments;
    struct program program = {.points = points,
                              .rules = rules,
                              .max_err = max_err,
                              .left = MOST_POINTS,
                              .knots = {.segments = table->segments,
                                        .place = malloc((count + 1) * sizeof *program.knots.place),
                                        .end = points_places(points),
                                        .moves = moves,
                                        .count = MOVES,
                                        .stay = STAY,
                                        .tie = TIE,
                                        .cost = cost_of_range,
                                        .context = &program,
                                        .from = malloc(count * sizeof *program.knots.from)},
                              .choice = malloc(count * sizeof *program.choice),
                              .last = malloc(count * sizeof *program.last)};
    diag->code = EXIT_DONE;
    if (program.knots.place && program.choice && program.last && program.knots.from) {
        for (size_t m = 0; m <= count; m++)
            program.knots.place[m] = points_place_before(points, table->knots[m]);
        start(&program, table);
        if (!points->grid_whole)
            search(&program);
        take(&program, table);
    } else {
        diag_set(diag, EXIT_IO, "out of memory for %d segments", table->segments);
    }
    free(program.knots.place);
    free(program.choice);
    free(program.last);
    free(program.knots.from);
    return diag->code;
}
