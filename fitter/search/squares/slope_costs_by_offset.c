/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line_class.h"

void slope_costs_by_offset(struct slope_scan *slopes, const struct line_origin *lines)
{
    enum { SELDOM = 8 }; /* at ends that no better table can have, only each eighth is looked at */
    const struct points *points = slopes->points;
    const double *limit = slopes->trial.ceiling, far = (double)slopes->trial.far_y;
    const int first = lines->first;
    struct course course = {.reference = nearest(points->target[first]) - slopes->trial.code[first],
                            .w = LINE_CLASS_LEAST,
                            .paid_ahead = lines->leave ? INFINITY : 0};
    struct line_class class = line_class_of(lines);
    int k = first;
    if (lines->leave) {
        class.before = slopes->trial.code[first - 1];
        line_class_leave(slopes, &course, &class, class.before, slopes->trial.code[first]);
    }
    if (class.least > class.most || !take_step(slopes))
        return;
    for (; k < slopes->trial.end; k++) {
        const double mass = points->mass[k], pays = points_cost(points, k, far), most = limit[k + 1],
                     code = slopes->trial.code[k];
        if (pays < most && slopes->trial.rise != 0 && (lines->leave || k > first))
            line_class_reach(slopes, &course, &class, code);
        course.paid_ahead += pays;
        class.past += pays;
        line_class_record(slopes, &course, &class, k + 1, class.past_c, class.past);
        class.before = code;
        const double e = points->target[k] - course.reference - class.before;
        course.w += mass;
        class.d += mass * e;
        class.dd += mass * e * e + points_apart(points, k);
        /* Real constants cost no more. */
        bool can_serve = class.dd * course.w - line_class_gain(&course, &class) < most * course.w;
        if (can_serve && (k % SELDOM == 0 || slopes->trial.useful[k + 1] > 0))
            can_serve = line_class_find(slopes, &course, &class, k + 1) < most;
        if (!can_serve)
            class.dd = INFINITY;
        if (!can_serve && !(class.past < most))
            break;
    }
    slopes->work.steps += (k - first) / 2;
    note_point(slopes, k < slopes->trial.end ? k : slopes->trial.end - 1);
}
