/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "relax.h"

#include "spec/reduce.h"

#define NOTE_EFFORT 0.0625 /* of the table's, for each that a message is about */

/* Drops one choice if it is there, and names it. */
typedef bool drop(struct spec *spec, struct text *choice);

static bool drop_slope_bits(struct spec *spec, struct text *choice)
{
    text_add(choice, "--slope-bits %d", spec->slope_bits);
    /* What --shift-multiple stores may be wider than slopes, which then would not be given more. */
    const bool is_wide = spec->constraints.shift_multiple && spec->slope_bits >= storage_bits(spec_storage(spec));
    const bool present = spec->slope_bits != 0 && !is_wide;
    spec->slope_bits = 0;
    return present;
}

static bool drop_offset_type(struct spec *spec, struct text *choice)
{
    char type[16];
    tensor_type_name(&spec->offset_type, type, sizeof type);
    text_add(choice, "--offset-type %s", type);
    const bool present = spec->has_offset_type;
    spec->has_offset_type = false;
    return present;
}

/* Of the constraints, what a dropped one leaves; the choice is then the flags of that one alone. */
static bool drop_constraints(struct spec *spec, const struct constraints *rest, struct constraints *dropped,
                             struct text *choice)
{
    struct text flags = {0};
    constraints_add_flags(dropped, &flags);
    const bool present = flags.size > 0;
    if (present)
        text_add(choice, "%s", flags.bytes + 1);
    text_free(&flags);
    spec->constraints = *rest;
    return present;
}

static bool drop_shift(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.one_shift = rest.one_shift};
    if (has_values(spec))
        return false;
    rest.one_shift = false;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_shift_bits(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.shift_bits = rest.shift_bits};
    rest.shift_bits = 0;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_shift_multiple(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.shift_multiple = rest.shift_multiple};
    rest.shift_multiple = 0;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_slope_terms(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.slope_terms = rest.slope_terms};
    rest.slope_terms = 0;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_knots(struct spec *spec, struct text *choice)
{
    if (has_values(spec))
        return false;
    struct constraints rest = spec->constraints, dropped = {.knots = rest.knots, .index_bits = rest.index_bits};
    rest.knots = KNOTS_FREE;
    rest.index_bits = 0;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_monotone(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.monotone = rest.monotone};
    rest.monotone = false;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_continuous(struct spec *spec, struct text *choice)
{
    struct constraints rest = spec->constraints, dropped = {.continuous = rest.continuous, .max_step = rest.max_step};
    rest.continuous = false;
    return drop_constraints(spec, &rest, &dropped, choice);
}

static bool drop_fixes(struct spec *spec, struct text *choice)
{
    const bool present = spec->fix_count > 0;
    text_add(choice, "--fix");
    spec->fix_count = 0;
    return present;
}

static bool drop_fold(struct spec *spec, struct text *choice)
{
    const bool present = spec->fold;
    text_add(choice, "--symmetry fold");
    spec->fold = false;
    return present;
}

static drop *const drops[] = {drop_slope_bits,     drop_offset_type, drop_shift, drop_shift_bits,
                              drop_shift_multiple, drop_slope_terms, drop_knots, drop_monotone,
                              drop_continuous,     drop_fixes,       drop_fold};

bool relax(const struct spec *spec, int k, struct spec *relaxed, struct text *choice)
{
    for (size_t d = 0; d < sizeof drops / sizeof *drops; d++) {
        *relaxed = *spec;
        relaxed->effort *= NOTE_EFFORT;
        relaxed->is_aside = true;
        choice->size = 0;
        if (drops[d](relaxed, choice) && k-- == 0)
            return !choice->failed;
    }
    return false;
}
