/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tied_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_exact.h"
#include "joint_search.h"

static const char *binding(const struct ties *ties)
{
    return ties->monotone && ties->continuous ? "--monotone and --continuous"
           : ties->monotone                   ? "--monotone"
                                              : "--continuous";
}

/* The rules for changing a table's lines: with --shift one, those of its shift. */
static struct line_rules rules_of(const struct line_rules *rules, const struct line *lines)
{
    struct line_rules own = *rules;
    if (rules->one_shift)
        own.shift_min = own.shift_max = lines[0].n;
    return own;
}

/* False when memory is short. */
static bool search_init(struct tie_search *search, const struct ties *ties, const struct points *points,
                        const struct line_rules *rules, int most, struct diag *diag)
{
    const int positions = points_places(points);
    *search =
        (struct tie_search){.ties = ties,
                            .points = points,
                            .rules = rules,
                            .most = most,
                            .positions = positions,
                            .position = malloc(((size_t)most + 1) * sizeof *search->position),
                            .lines = malloc((size_t)most * sizeof *search->lines),
                            .outputs = malloc((size_t)points->count * sizeof *search->outputs),
                            .reach = malloc(sizeof *search->reach + (size_t)positions * sizeof *search->reach->last)};
    diag->code = EXIT_DONE;
    if (!search->position || !search->lines || !search->outputs || !search->reach)
        diag_set(diag, EXIT_IO, "out of memory for %d segments", most);
    else
        search->reach->max_err = NAN;
    return diag->code == EXIT_DONE;
}

static void search_free(struct tie_search *search)
{
    free(search->position);
    free(search->lines);
    free(search->outputs);
    free(search->reach);
}

/* Makes a table the incumbent. */
static void take_table(struct tie_search *search, int segments, const int *knots, const struct line *lines)
{
    search->segments = segments;
    for (int m = 0; m <= segments; m++)
        search->position[m] = points_place_before(search->points, knots[m]);
    memcpy(search->lines, lines, (size_t)segments * sizeof *lines);
}

static void give_table(const struct tie_search *search, struct tied *tied)
{
    tied->segments = search->segments;
    for (int m = 0; m <= search->segments; m++)
        tied->knots[m] = points_at(search->points, search->position[m]);
    memcpy(tied->lines, search->lines, (size_t)search->segments * sizeof *tied->lines);
}

/* The table of the least largest error, where it can be found; then one near it of smaller squares. tied->knots and
 * lines are overwritten. */
static int search_completely(struct tie_search *search, const struct line_rules *rules, double low,
                             struct candidate *candidates, struct tied *tied, struct tie_cost *cost, struct diag *diag)
{
    const double max_err = search->ties->max_err;
    const double high = fmin(cost->violation > 0 ? INFINITY : cost->error, nextafter(max_err, INFINITY));
    struct tie_exact exact = {.knots = tied->knots, .lines = tied->lines};
    if (tie_least_error(search->ties, search->points, rules, tied->most, low, high, &exact, diag))
        return diag->code;
    tied->proven = exact.complete && (exact.found || cost->error <= max_err);
    tied->max_err = exact.found ? exact.max_err : cost->error;
    if (exact.found) {
        take_table(search, exact.segments, exact.knots, exact.lines);
        const struct line_rules *const before = search->rules, own = rules_of(rules, search->lines);
        search->rules = &own;
        *cost = tie_table_cost(search);
        tie_descend(search, candidates, cost);
        search->rules = before;
    }
    return EXIT_DONE;
}

/* Better lines on the same knots, where no segment depends on another. */
static void refine_lines(struct tie_search *search, struct tie_cost *cost)
{
    for (int m = 0; m < search->segments; m++) {
        const int begin = points_at(search->points, search->position[m]),
                  end = points_at(search->points, search->position[m + 1]);
        const double present =
            line_cost_below(search->rules, search->points, begin, end, &search->lines[m], NULL, INFINITY);
        struct line line;
        if (line_fit(search->rules, search->points, begin, end, (struct line_limits){INFINITY, present}, LINE_THOROUGH,
                     &line))
            search->lines[m] = line;
    }
    *cost = tie_table_cost(search);
}

static int search_table(struct tie_search *search, const struct line_rules *rules, double low, struct tied *tied,
                        struct diag *diag)
{
    struct candidate *candidates = malloc((size_t)tied->most * TIE_CANDIDATES * sizeof *candidates);
    struct tie_cost cost = tie_table_cost(search);
    tied->changed = cost.violation > 0;
    tied->proven = false;
    if (!candidates)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    diag->code = EXIT_DONE;
    if (tied->changed || search->ties->improve) {
        tie_search_around(search, low, candidates, &cost);
        if (!search->ties->by_max_err && !ties_bind(search->ties)) {
            refine_lines(search, &cost);
            tie_descend(search, candidates, &cost); /* better lines let knots move again */
            refine_lines(search, &cost);
        }
        if (search->ties->by_max_err && !holds_max_err(search->ties, &cost))
            search_completely(search, rules, low, candidates, tied, &cost, diag);
    }
    free(candidates);
    give_table(search, tied);
    if (cost.violation > 0 && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT, "%s: no table of %d segments %s it; more segments or a larger step are needed",
                 binding(search->ties), tied->most, tied->proven ? "keeps to" : "was found that keeps to");
    return diag->code;
}

int tie_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules, double low,
                 struct tied *tied, struct diag *diag)
{
    const struct line_rules own = rules_of(rules, tied->lines);
    struct tie_search search;
    if (search_init(&search, ties, points, &own, tied->most, diag)) {
        take_table(&search, tied->segments, tied->knots, tied->lines);
        search_table(&search, rules, low, tied, diag);
    }
    search_free(&search);
    return diag->code;
}

int tie_few_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules,
                     struct tied *tied, struct diag *diag)
{
    struct line_rules own = *rules;
    struct tie_search search;
    tied->segments = 0;
    if (search_init(&search, ties, points, &own, tied->most, diag))
        for (int trial = 0; search.most > 0 && line_rules_of_trial(rules, points, trial, &own); trial++) {
            if (agreed_cover_fewest(&search, ties->max_err)) {
                give_table(&search, tied);
                search.most = search.segments - 1;
            }
            if (effort_overdrawn(points->effort))
                break;
        }
    search_free(&search);
    return diag->code;
}
