/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "constraints.h"

#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"

/* An integer from min to max, the whole text. */
static bool parse_integer(const char *value, int min, int max, int *integer)
{
    int64_t parsed;
    if (number_integer(value, strlen(value), &parsed) != NUMBER_OK || parsed < min || parsed > max)
        return false;
    *integer = (int)parsed;
    return true;
}

static const char *const points_roundings[] = {
    [POINTS_AS_TABLE] = "", [POINTS_HALF_DOWN] = ":half_down", [POINTS_TOWARD_LEFT] = ":toward_left"};

static const char *const knots_names[] = {[KNOTS_FREE] = "free",     [KNOTS_UNIFORM] = "uniform", [KNOTS_POW2] = "pow2",
                                          [KNOTS_POINTS] = "points", [KNOTS_STEPS] = "steps",     NULL};

const char *points_rounding_suffix(enum points_rounding rounding)
{
    return points_roundings[rounding];
}

/* K, K:half_down or K:toward_left. */
static bool parse_points(struct constraints *constraints, const char *value)
{
    char shift[4];
    const size_t length = strcspn(value, ":");
    int rounding = POINTS_TOWARD_LEFT;
    while (rounding > POINTS_AS_TABLE && strcmp(value + length, points_roundings[rounding]) != 0)
        rounding--;
    if (length >= sizeof shift || strcmp(value + length, points_roundings[rounding]) != 0)
        return false;
    memcpy(shift, value, length);
    shift[length] = '\0';
    constraints->points_rounding = (enum points_rounding)rounding;
    return parse_integer(shift, 1, CONSTRAINTS_MAX_POINT_SHIFT, &constraints->point_shift);
}

static int set_knots(struct constraints *constraints, const char *value, struct diag *diag)
{
    static const char pow2[] = "pow2:", points[] = "points:", steps[] = "steps:";
    constraints->index_bits = constraints->point_shift = 0;
    constraints->points_rounding = POINTS_AS_TABLE;
    if (!strcmp(value, "free"))
        constraints->knots = KNOTS_FREE;
    else if (!strcmp(value, "uniform"))
        constraints->knots = KNOTS_UNIFORM;
    else if (!strcmp(value, "pow2") ||
             (!strncmp(value, pow2, strlen(pow2)) &&
              parse_integer(value + strlen(pow2), 1, CONSTRAINTS_GIVEN_INDEX_BITS, &constraints->index_bits)))
        constraints->knots = KNOTS_POW2;
    else if (!strcmp(value, "points") ||
             (!strncmp(value, points, strlen(points)) && parse_points(constraints, value + strlen(points))))
        constraints->knots = KNOTS_POINTS;
    else if (!strncmp(value, steps, strlen(steps)) &&
             parse_integer(value + strlen(steps), 1, CONSTRAINTS_MAX_POINT_SHIFT, &constraints->point_shift))
        constraints->knots = KNOTS_STEPS;
    else {
        char meant[SUGGESTION_SIZE];
        return diag_set(
            diag, EXIT_USAGE,
            "--knots %.40s: must be free, uniform, pow2 or pow2:B, B from 1 to %d being the top bits of a "
            "code that decide its segment, or points, points:K, points:K:half_down, points:K:toward_left or "
            "steps:K, K from 1 to %d, with a value every 2^K codes%s",
            value, CONSTRAINTS_GIVEN_INDEX_BITS, CONSTRAINTS_MAX_POINT_SHIFT,
            suggestion(value, knots_names, "", meant));
    }
    return EXIT_DONE;
}

int constraints_set(struct constraints *constraints, const char *flag, const char *value, struct diag *diag)
{
    if (!strcmp(flag, "--knots"))
        return set_knots(constraints, value, diag);
    if (!strcmp(flag, "--shift")) {
        constraints->one_shift = !strcmp(value, "one");
        return EXIT_DONE;
    }
    if (!strcmp(flag, "--shift-bits"))
        return parse_integer(value, 2, 8, &constraints->shift_bits)
                   ? EXIT_DONE
                   : diag_set(diag, EXIT_USAGE, "--shift-bits %.40s: must be an integer from 2 to 8", value);
    if (!strcmp(flag, "--shift-multiple"))
        return parse_integer(value, 2, CONSTRAINTS_LONGEST_STORED_SHIFT, &constraints->shift_multiple)
                   ? EXIT_DONE
                   : diag_set(diag, EXIT_USAGE, "--shift-multiple %.40s: must be an integer from 2 to %d", value,
                              CONSTRAINTS_LONGEST_STORED_SHIFT);
    if (!strcmp(flag, "--slope-terms")) {
        constraints->slope_terms = !strcmp(value, "any") ? 0 : value[0] - '0';
        return EXIT_DONE;
    }
    if (!strcmp(flag, "--monotone")) {
        constraints->monotone = true;
        return EXIT_DONE;
    }
    constraints->continuous = true;
    return parse_integer(value, 0, INT32_MAX, &constraints->max_step)
               ? EXIT_DONE
               : diag_set(diag, EXIT_USAGE, "--continuous %s: must be an integer from 0 to %d, in output LSB", value,
                          INT32_MAX);
}

void constraints_add_flags(const struct constraints *constraints, struct text *text)
{
    if (constraints->one_shift)
        text_add(text, " --shift one");
    if (constraints->shift_bits)
        text_add(text, " --shift-bits %d", constraints->shift_bits);
    if (constraints->shift_multiple)
        text_add(text, " --shift-multiple %d", constraints->shift_multiple);
    if (constraints->slope_terms)
        text_add(text, " --slope-terms %d", constraints->slope_terms);
    if (constraints->knots != KNOTS_FREE)
        text_add(text, " --knots %s", knots_names[constraints->knots]);
    if (constraints->index_bits || constraints->point_shift)
        text_add(text, ":%d", constraints->index_bits + constraints->point_shift);
    text_add(text, "%s", points_roundings[constraints->points_rounding]);
    if (constraints->monotone)
        text_add(text, " --monotone");
    if (constraints->continuous)
        text_add(text, " --continuous %d", constraints->max_step);
}

bool constraints_tie(const struct constraints *constraints)
{
    return constraints->monotone || constraints->continuous;
}

int constraints_index_bits(const struct constraints *constraints, int segments, int in_bits)
{
    const int most = in_bits < CONSTRAINTS_MAX_INDEX_BITS ? in_bits : CONSTRAINTS_MAX_INDEX_BITS;
    int bits = 0;
    if (constraints->index_bits)
        return constraints->index_bits;
    while (1 << bits < segments)
        bits++;
    return bits + 2 < most ? bits + 2 : most;
}
