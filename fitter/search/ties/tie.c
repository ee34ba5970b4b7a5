/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tie.h"

#include <stdlib.h>
#include <string.h>

#include "function/target.h"
#include "joint_exact.h"
#include "joint_search.h"

/* Of f itself: where targets are clipped it still rises or falls. */
static int direction_between(const struct spec *spec, int64_t from, int64_t to)
{
    const long double a = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, from);
    const long double b = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, to);
    return (b > a) - (b < a);
}

/* TURN where f starts one way and ends the other. */
static signed char direction_over(const struct spec *spec, int64_t from, int64_t to)
{
    if (to > from + 1 && direction_between(spec, from, from + 1) * direction_between(spec, to - 1, to) < 0)
        return TURN;
    return (signed char)direction_between(spec, from, to);
}

int ties_init(struct ties *ties, const struct spec *spec, const struct points *points, struct diag *diag)
{
    *ties = (struct ties){.constraints = spec->constraints,
                          .fold = spec->is_half,
                          .fold_sum = spec->fold_sum,
                          .by_max_err = spec->method == METHOD_MINIMAX,
                          .enough = isnan(spec->max_err) ? INFINITY : spec->max_err};
    if (!ties->constraints.monotone)
        return EXIT_DONE;
    ties->inside = calloc((size_t)points->count, 3);
    if (!ties->inside)
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", points->count);
    ties->joint = ties->inside + points->count;
    ties->cell = ties->joint + points->count;
    for (int k = 0; k < points->count; k++) {
        ties->cell[k] = direction_over(spec, points->cell[k], points->cell[k + 1] - 1);
        if (k == 0)
            continue;
        ties->joint[k] = direction_over(spec, points->cell[k] - 1, points->cell[k]);
        ties->inside[k] = direction_over(spec, (int64_t)points->code[k - 1], (int64_t)points->code[k]);
    }
    return EXIT_DONE;
}

void ties_free(struct ties *ties)
{
    free(ties->inside);
    ties->inside = NULL;
}

static const char *binding(const struct constraints *constraints)
{
    return constraints->monotone && constraints->continuous ? "--monotone and --continuous"
           : constraints->monotone                          ? "--monotone"
                                                            : "--continuous";
}

/* The rules of a table in hand: with one shift, its own. */
static struct line_rules rules_of(const struct line_rules *rules, const struct line *lines)
{
    struct line_rules own = *rules;
    if (rules->one_shift)
        own.shift_min = own.shift_max = lines[0].n;
    return own;
}

static void take(struct tie_search *search, int segments, const int *knots)
{
    search->segments = segments;
    for (int m = 0; m <= segments; m++)
        search->place[m] = points_place_before(search->points, knots[m]);
}

static void give(const struct tie_search *search, struct tied *tied)
{
    tied->segments = search->segments;
    for (int m = 0; m <= search->segments; m++)
        tied->knots[m] = points_at(search->points, search->place[m]);
}

/* The table of the least largest error, where it can be found; then one near it of smaller squares. */
static int search_completely(struct tie_search *search, const struct line_rules *rules, double low,
                             struct option *options, struct tied *tied, struct price *price, struct diag *diag)
{
    const double enough = search->ties->enough;
    const double high = fmin(price->violation > 0 ? INFINITY : price->error, nextafter(enough, INFINITY));
    struct tie_exact exact = {.knots = tied->knots, .lines = malloc((size_t)tied->most * sizeof *exact.lines)};
    if (!exact.lines)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    if (!tie_least_error(search->ties, search->points, rules, tied->most, low, high, &exact, diag)) {
        tied->proven = exact.complete && (exact.found || price->error <= enough);
        tied->max_err = exact.found ? exact.max_err : price->error;
        if (exact.found) {
            memcpy(search->lines, exact.lines, (size_t)exact.segments * sizeof *exact.lines);
            take(search, exact.segments, exact.knots);
            const struct line_rules *const before = search->rules, own = rules_of(rules, search->lines);
            search->rules = &own;
            *price = tie_price(search);
            tie_descend(search, options, price);
            search->rules = before;
        }
    }
    free(exact.lines);
    return diag->code;
}

/* Better lines on the knots in hand, where no segment depends on another. */
static void refine_lines(struct tie_search *search, struct price *price)
{
    for (int m = 0; m < search->segments; m++) {
        const int begin = points_at(search->points, search->place[m]),
                  end = points_at(search->points, search->place[m + 1]);
        const double cost =
            line_cost_below(search->rules, search->points, begin, end, &search->lines[m], NULL, INFINITY);
        struct line line;
        if (line_fit(search->rules, search->points, begin, end, (struct line_limits){INFINITY, cost}, LINE_THOROUGH,
                     &line))
            search->lines[m] = line;
    }
    *price = tie_price(search);
}

static int search_table(struct tie_search *search, const struct line_rules *rules, double low, struct tied *tied,
                        struct diag *diag)
{
    struct option *options = malloc((size_t)tied->most * TIE_OPTIONS * sizeof *options);
    struct price price = tie_price(search);
    tied->changed = price.violation > 0;
    tied->proven = false;
    if (!options)
        return diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    diag->code = EXIT_DONE;
    if (tied->changed || search->ties->improve) {
        tie_search_around(search, low, options, &price);
        if (!search->ties->by_max_err && !constraints_tie(&search->ties->constraints)) {
            refine_lines(search, &price);
            tie_descend(search, options, &price); /* better lines let knots move again */
            refine_lines(search, &price);
        }
        if (search->ties->by_max_err && !suffices(search->ties, &price))
            search_completely(search, rules, low, options, tied, &price, diag);
    }
    free(options);
    give(search, tied);
    if (price.violation > 0 && !diag->code)
        diag_set(diag, EXIT_REQUIREMENT, "%s: no table of %d segments %s it; more segments or a larger step are needed",
                 binding(&search->ties->constraints), tied->most,
                 tied->proven ? "keeps to" : "was found that keeps to");
    return diag->code;
}

int tie_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules, double low,
                 struct tied *tied, struct diag *diag)
{
    const struct line_rules own = rules_of(rules, tied->lines);
    struct tie_search search = {.ties = ties,
                                .points = points,
                                .rules = &own,
                                .most = tied->most,
                                .places = points_places(points),
                                .place = malloc(((size_t)tied->most + 1) * sizeof *search.place),
                                .lines = tied->lines,
                                .outputs = malloc((size_t)points->count * sizeof *search.outputs)};
    if (search.place && search.outputs) {
        take(&search, tied->segments, tied->knots);
        search_table(&search, rules, low, tied, diag);
    } else {
        diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    }
    free(search.place);
    free(search.outputs);
    return diag->code;
}

int tie_few_segments(const struct ties *ties, const struct points *points, const struct line_rules *rules,
                     struct tied *tied, struct diag *diag)
{
    const int trials = rules->one_shift ? rules->shift_max - rules->shift_min + 1 : 1;
    struct line_rules own = *rules;
    struct tie_search search = {.ties = ties,
                                .points = points,
                                .rules = &own,
                                .most = tied->most,
                                .places = points_places(points),
                                .place = malloc(((size_t)tied->most + 1) * sizeof *search.place),
                                .lines = malloc((size_t)tied->most * sizeof *search.lines),
                                .outputs = malloc((size_t)points->count * sizeof *search.outputs)};
    tied->segments = 0;
    if (search.place && search.lines && search.outputs) {
        for (int trial = 0; trial < trials && search.most > 0; trial++) {
            if (rules->one_shift)
                own.shift_min = own.shift_max = line_one_shift(rules, points, trial);
            if (!tie_meet_with_fewest(&search, ties->enough))
                continue;
            give(&search, tied);
            memcpy(tied->lines, search.lines, (size_t)search.segments * sizeof *search.lines);
            search.most = search.segments - 1;
        }
    } else {
        diag_set(diag, EXIT_IO, "out of memory for %d segments", tied->most);
    }
    free(search.place);
    free(search.lines);
    free(search.outputs);
    return diag->code;
}
