/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains.h"

#include <stdlib.h>
#include <string.h>

#include "exclusion.h"
#include "search/cover.h"
#include "search/hulls.h"
#include "search/minimax/integer_line_in_band.h"
#include "squares.h"

/* A chain in the making, over the shifts of its rules. */
struct chain {
    const struct statement *statement;
    const struct points *points;
    struct line_rules rules;
    struct hulls hulls;
    struct cover cover; /* asked for single segments alone */
    int *end;           /* end[m]: the last place where segment m can start; statement->segments + 1 of them */
    int groups;
    struct text *out;
    bool has_exclusions;
    enum exclusion answer; /* of the last exclusion */
    bool is_covered;       /* lines of its shifts serve all codes */
};

static int reach(void *context, int begin)
{
    struct chain *chain = context;
    return hulls_last_position(&chain->hulls, 0, begin);
}

static enum line_answer find(void *context, int begin, int end, struct line *line)
{
    struct chain *chain = context;
    hulls_start_at(&chain->hulls, 0, points_at(chain->points, begin));
    if (!hulls_end_at(&chain->hulls, points_at(chain->points, end)))
        return LINE_NONE;
    return integer_line_in_band(&chain->hulls, &chain->rules, line);
}

/* Whether a real line comes from a place to another one. */
static bool real_line_reaches(struct chain *chain, int begin, int end)
{
    hulls_start(&chain->hulls, 0, points_at(chain->points, begin));
    return hulls_end_at(&chain->hulls, points_at(chain->points, end));
}

/* The farthest end of a segment that starts at one of the places from `lowest` to `highest`. */
static int farthest_end(struct chain *chain, int lowest, int highest)
{
    const int places = points_places(chain->points);
    struct line line;
    int end = cover_longest(&chain->cover, highest, &line);
    for (int start = highest - 1; start >= lowest && end < places; start--) {
        if (!real_line_reaches(chain, start, end + 1))
            break;
        while (end < places && cover_finds(&chain->cover, start, end + 1, &line))
            end++;
    }
    return end;
}

/* The last places where segments can start; false where the segments suffice. */
static bool find_ends(struct chain *chain)
{
    const int places = points_places(chain->points);
    const bool moves = chain->rules.form == PWL_ANCHORED;
    int *end = chain->end;
    struct line line;
    end[0] = 0;
    for (int m = 0; m < chain->statement->segments; m++) {
        const int lowest = m ? end[m - 1] + 1 : 0;
        end[m + 1] = moves ? farthest_end(chain, lowest, end[m]) : cover_longest(&chain->cover, end[m], &line);
        chain->is_covered = end[m + 1] == places;
        if (chain->is_covered)
            return false;
        chain->groups = m + 1;
        if (end[m + 1] == end[m])
            break;
    }
    return true;
}

/* Whether the lines from a place are excluded up to another one. */
static bool exclude(struct chain *chain, int begin, int end)
{
    const struct points *points = chain->points;
    text_add(chain->out, chain->has_exclusions ? ", " : "");
    chain->has_exclusions = true;
    chain->answer =
        exclusion_write(&chain->hulls, &chain->rules, points_at(points, begin), points_at(points, end), chain->out);
    return chain->answer == EXCLUDED || chain->answer == EXCLUDED_BY_WINDOW;
}

static void begin_group(struct chain *chain, int m)
{
    text_add(chain->out, "%s\n    [", m ? "," : "");
    chain->has_exclusions = false;
}

/* Of segment m: of anchored lines from each start that those before it can leave, down to where the window alone
 * excludes. */
static bool exclude_group(struct chain *chain, int m)
{
    begin_group(chain, m);
    const int *end = chain->end, lowest = chain->rules.form != PWL_ANCHORED ? end[m] : m ? end[m - 1] + 1 : 0;
    for (int start = end[m]; start >= lowest; start--) {
        if (!exclude(chain, start, end[m + 1] + 1))
            return false;
        if (chain->answer == EXCLUDED_BY_WINDOW)
            break;
    }
    text_add(chain->out, "]");
    return true;
}

static bool exclude_groups(struct chain *chain)
{
    for (int m = 0; m < chain->groups; m++)
        if (!exclude_group(chain, m))
            return false;
    return true;
}

/* Equal segments: one that no line serves. */
static bool exclude_some_segment(struct chain *chain)
{
    struct line line;
    for (int m = 0; m < points_places(chain->points); m++)
        if (find(chain, m, m + 1, &line) != LINE_FOUND) {
            begin_group(chain, 0);
            const bool whole = exclude(chain, m, m + 1);
            text_add(chain->out, "]");
            return whole;
        }
    chain->is_covered = true;
    return false;
}

static void begin_chain(struct chain *chain, int count)
{
    const struct line_rules *rules = &chain->rules;
    text_add(chain->out, "\n  {\"shifts\": [%d, %d], ", rules->shift_min, rules->shift_max);
    if (chain->statement->places == PLACES_EQUAL)
        text_add(chain->out, "\"equal\": %d, ", count);
    text_add(chain->out, "\"%s\": ", chain->statement->of_squares ? "least" : "groups");
}

static bool write_groups(struct chain *chain)
{
    text_add(chain->out, "[");
    const bool whole = chain->statement->places == PLACES_EQUAL ? exclude_some_segment(chain)
                                                                : find_ends(chain) && exclude_groups(chain);
    text_add(chain->out, "]");
    return whole;
}

static bool write_squares(struct chain *chain)
{
    const enum squares_answer answer = squares_write(chain->statement, &chain->rules, chain->out);
    chain->is_covered = answer == SQUARES_REFUTED;
    chain->answer = answer == SQUARES_TOO_MANY ? TOO_MANY_SLOPES : NOT_EXCLUDED;
    chain->out->failed |= answer == SQUARES_NO_MEMORY;
    return answer == SQUARES_PROVEN;
}

/* A chain for the shifts of its rules; false where it is not so, or not said. */
static bool write_chain(struct chain *chain, int count)
{
    chain->answer = NOT_EXCLUDED;
    begin_chain(chain, count);
    const bool whole = chain->statement->of_squares ? write_squares(chain) : write_groups(chain);
    text_add(chain->out, "}");
    return whole;
}

/* Chains for all shifts of the rules; with one shift in parts of them, as large as may be by halves. */
static bool write_parts(struct chain *chain, int count, bool *is_first)
{
    struct text part = {0}, *const out = chain->out;
    const struct line_rules rules = chain->rules;
    chain->out = &part;
    bool whole = write_chain(chain, count);
    chain->out = out;
    if (whole) {
        text_add(out, "%s", *is_first ? "" : ",");
        text_add_bytes(out, part.bytes, part.size);
        out->failed |= part.failed;
        *is_first = false;
    }
    text_free(&part);
    if (!whole && rules.one_shift && rules.shift_min < rules.shift_max) {
        const int middle = rules.shift_min + (rules.shift_max - rules.shift_min) / 2;
        chain->rules.shift_max = middle;
        whole = write_parts(chain, count, is_first);
        chain->rules.shift_min = middle + 1;
        chain->rules.shift_max = rules.shift_max;
        whole = whole && write_parts(chain, count, is_first);
        chain->rules = rules;
    }
    return whole;
}

static bool write_all(struct chain *chain, struct statement *statement, struct diag *diag)
{
    bool is_first = true;
    if (statement->places != PLACES_EQUAL)
        return write_parts(chain, 0, &is_first);
    for (int k = 0; k < statement->equal_count; k++)
        if (points_grid_uniform(&statement->points, statement->equal[k], diag) ||
            !write_parts(chain, statement->equal[k], &is_first))
            return false;
    return true;
}

/* Why there are no chains. */
static void say_why(const struct chain *chain, struct statement *statement, struct diag *diag)
{
    statement->is_refuted = chain->is_covered;
    if (chain->is_covered && statement->of_squares)
        diag_set(diag, EXIT_REQUIREMENT,
                 "what it claims of other tables is not so: %d segments can have a smaller RMS error",
                 statement->segments);
    else if (chain->is_covered)
        diag_set(diag, EXIT_REQUIREMENT, "what it claims of other tables is not so: %d segments can keep to %s LSB",
                 statement->segments, statement->error);
    else if (chain->answer == TOO_MANY_SLOPES)
        diag_set(diag, EXIT_REQUIREMENT,
                 statement->of_squares
                     ? "what it claims of other tables' RMS errors has no proof yet: its lines are too many to look at"
                     : "what it claims of other tables has no proof yet that is short: slopes are too many");
    else
        diag_set(diag, EXIT_REQUIREMENT, "what it claims of other tables has no proof yet: a line is not excluded");
}

int chains_write(struct statement *statement, struct text *out, struct diag *diag)
{
    struct chain chain = {.statement = statement, .points = &statement->points, .rules = statement->rules, .out = out};
    chain.cover =
        (struct cover){.points = chain.points, .reach = reach, .find = find, .context = &chain, .complete = true};
    chain.end = malloc(((size_t)statement->segments + 2) * sizeof *chain.end);
    diag->code = EXIT_DONE;
    if (!chain.end || !hulls_init(&chain.hulls, chain.points, statement->rules.qmin_y, statement->rules.qmax_y,
                                  chain.points->count)) {
        free(chain.end);
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", chain.points->count);
    }
    text_add(out, "[");
    const bool whole = write_all(&chain, statement, diag);
    text_add(out, "]");
    if (!whole && !diag->code)
        say_why(&chain, statement, diag);
    hulls_free(&chain.hulls);
    free(chain.end);
    return diag->code;
}
