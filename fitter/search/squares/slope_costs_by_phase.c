/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "complete_search.h"
#include "line_class.h"
#include "search/rounding.h"

/* Phases lie in [1, 2^n]. From one on, the cut, the code of a point is one more than before; with the bias of that
 * phase it is at a tie, which is rounded one way or the other. */
struct cut {
    int64_t phase;
    int point;
    double code; /* of the phases before, and constant 0 */
};

/* Classes of biases by their phases, in order. A class of a tie has that phase alone; then it is one of two or more,
 * whose constants are all rounded alike. */
struct classes {
    struct course course;
    int count;
    struct line_class class[3 * EXACT_POINTS + 2];
};

static bool has_ties(const struct slope_scan *slopes)
{
    return slopes->rules->rounding >= PWL_HALF_AWAY;
}

static struct cut cut_at(const struct slope_scan *slopes, int k)
{
    const int64_t p = product_at(slopes, k), v = floor_shr(p, slopes->trial.n), one = pwl_shl64(1, slopes->trial.n);
    return (struct cut){.phase = one - (p - v * one), .point = k, .code = (double)v};
}

/* Whether a tie comes again before the last end that a better table can have. */
static bool comes_again(const struct slope_scan *slopes, const struct cut *cut)
{
    return cut->point + pwl_shl64(1, slopes->trial.n) < slopes->trial.end;
}

/* The largest constant whose sum at a tie lies below 0, where the code would be `code` + m. */
static double last_below(const struct course *course, double code)
{
    return -code - course->reference;
}

static bool rounds_down(const struct slope_scan *slopes, const struct course *course, const struct line_class *class,
                        double code)
{
    if (slopes->rules->rounding == PWL_HALF_EVEN)
        return ((int64_t)(code + course->reference) + class->rest) % 2 != 0;
    return class->most <= last_below(course, code);
}

static double code_of(const struct slope_scan *slopes, const struct course *course, const struct line_class *class,
                      const struct cut *cut)
{
    const double code = cut->code + (class->low >= cut->phase ? 1 : 0);
    const bool tie = class->low == cut->phase && has_ties(slopes);
    return tie && rounds_down(slopes, course, class, code) ? code - 1 : code;
}

static void repeat_class(struct classes *classes, int c)
{
    struct line_class *class = classes->class;
    memmove(&class[c + 1], &class[c], (size_t)(classes->count++ - c) * sizeof *class);
}

/* Parts the classes of a tie, the first of them being `c`, by how it rounds their constants; returns the next class. */
static int part_by_tie(const struct slope_scan *slopes, struct classes *classes, int c, const struct cut *cut)
{
    const double below = last_below(&classes->course, cut->code + 1);
    for (; c < classes->count && classes->class[c].low == cut->phase; c++) {
        struct line_class *class = &classes->class[c];
        class->met = true;
        if (slopes->rules->rounding == PWL_HALF_EVEN && class->unit == 1) {
            class->unit = 2;
            repeat_class(classes, c++);
            class[1].rest = 1;
        } else if (slopes->rules->rounding == PWL_HALF_AWAY && class->least <= below && below < class->most) {
            repeat_class(classes, c++);
            class[0].most = below;
            class[1].least = below + 1;
        }
    }
    return c;
}

/* The first class from a phase on, none having it between. */
static int class_from(struct classes *classes, int64_t phase)
{
    struct line_class *class = classes->class;
    int from = 0, to = classes->count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (class[middle].high <= phase)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < classes->count && class[from].low < phase) {
        repeat_class(classes, from);
        class[from++].high = phase;
        class[from].low = phase;
    }
    return from;
}

/* Parts the classes at the cut of a point. */
static void cut_classes(const struct slope_scan *slopes, struct classes *classes, const struct cut *cut)
{
    struct line_class *class = classes->class;
    const int c = class_from(classes, cut->phase);
    if (c == classes->count || class[c].low > cut->phase || !has_ties(slopes))
        return;
    const bool met_before = class[c].met;
    class_from(classes, cut->phase + 1);
    if (slopes->trial.ties == TIES_ALL ||
        (slopes->trial.ties == TIES_AGAIN && (met_before || comes_again(slopes, cut))))
        part_by_tie(slopes, classes, c, cut);
    else
        memmove(&class[c], &class[c + 1], (size_t)(--classes->count - c) * sizeof *class);
}

/* Takes in a point and drops the classes that are of no more use. Lines may reach the far limit there but where they
 * start. */
static void add_point(struct slope_scan *slopes, struct classes *classes, const struct cut *cut, bool started)
{
    const int k = cut->point;
    const double w = slopes->points->mass[k], t = slopes->points->target[k], limit = slopes->trial.ceiling[k + 1];
    const double useful = slopes->trial.useful[k + 1];
    const double pays = points_cost(slopes->points, k, (double)slopes->trial.far_y);
    const bool reaches = started && pays < limit && slopes->trial.rise != 0;
    struct course *course = &classes->course;
    int kept = 0;
    for (int c = 0; reaches && c < classes->count; c++)
        line_class_reach(slopes, course, &classes->class[c], code_of(slopes, course, &classes->class[c], cut));
    course->w += w;
    course->paid_ahead += pays;
    for (int c = 0; c < classes->count; c++) {
        struct line_class *class = &classes->class[c];
        class->before = code_of(slopes, course, class, cut);
        const double e = t - course->reference - class->before;
        class->d += w * e;
        class->dd += w * e * e + points_apart(slopes->points, k);
        class->past += pays;
        if (class->past < limit)
            line_class_record(slopes, course, class, k + 1, class->past_c, class->past);
        else
            class->past = INFINITY;
        /* Real constants cost no more. */
        const double gain = line_class_gain(course, class);
        bool goes_on = (class->dd - limit) * course->w < gain;
        if (goes_on && (class->dd - useful) * course->w < gain)
            goes_on = line_class_find(slopes, course, class, k + 1) < limit;
        if (!goes_on)
            class->dd = INFINITY;
        if (!(class->dd < INFINITY || class->past < INFINITY))
            continue;
        if (kept < c)
            classes->class[kept] = *class;
        kept++;
    }
    classes->count = kept;
}

/* One class of all phases; of lines that leave the near limit, those that do, parted at the point before and at the
 * first. */
static void begin_classes(const struct slope_scan *slopes, struct classes *classes, const struct line_origin *lines)
{
    const struct cut at = cut_at(slopes, lines->first);
    struct course *course = &classes->course;
    int kept = 0;
    *course = (struct course){.reference = nearest(slopes->points->target[lines->first]) - at.code,
                              .w = LINE_CLASS_LEAST,
                              .paid_ahead = lines->leave ? INFINITY : 0};
    classes->count = 1;
    classes->class[0] = line_class_of(lines);
    classes->class[0].low = 1;
    classes->class[0].high = pwl_shl64(1, slopes->trial.n) + 1;
    if (!lines->leave)
        return;
    const struct cut before = cut_at(slopes, lines->first - 1);
    cut_classes(slopes, classes, &before);
    cut_classes(slopes, classes, &at);
    for (int c = 0; c < classes->count; c++) {
        struct line_class class = classes->class[c];
        class.before = code_of(slopes, course, &class, &before);
        line_class_leave(slopes, course, &class, class.before, code_of(slopes, course, &class, &at));
        if (class.least <= class.most)
            classes->class[kept++] = class;
    }
    classes->count = kept;
}

void slope_costs_by_phase(struct slope_scan *slopes, const struct line_origin *lines)
{
    struct classes classes;
    const enum tie_rounding ties = slopes->trial.ties;
    if (ties == TIES_ALL &&
        ties_are_apart(slopes->trial.q_b, slopes->trial.n, slopes->trial.end - lines->first + lines->leave))
        slopes->trial.ties = TIES_NONE;
    begin_classes(slopes, &classes, lines);
    for (int k = lines->first; k < slopes->trial.end && classes.count > 0; k++) {
        const struct cut cut = cut_at(slopes, k);
        cut_classes(slopes, &classes, &cut);
        if (!take_step(slopes))
            break;
        slopes->work.steps += classes.count / 8;
        note_point(slopes, k);
        add_point(slopes, &classes, &cut, lines->leave || k > lines->first);
    }
    slopes->trial.ties = ties;
}
