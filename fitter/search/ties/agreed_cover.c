/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_search.h"
#include "search/hulls.h"
#include "search/minimax/bounded_line.h"
#include "search/minimax/integer_line_in_band.h"

/* The codes of a segment that its neighbours depend on; the last is the start of the next segment. */
enum { FIRST, LAST, NEXT };

/* The search for one table. */
struct meeting {
    struct tie_search *search;
    struct points points; /* those of the search, held */
    struct held held[POINTS_HELD];
    struct hulls hulls;
    double max_err, share; /* of it, by which knots lie off f */
    struct option before;  /* the segment before */
};

/* f at the first code of a cell; where points are in the middle of their cells, about that. */
static double target_at_start(const struct points *points, int k)
{
    if (points->exhaustive || k == 0)
        return points->target[k];
    const double x0 = points->code[k - 1], x1 = points->code[k], x = (double)points->cell[k];
    return points->target[k - 1] + (points->target[k] - points->target[k - 1]) * (x - x0) / (x1 - x0);
}

/* Of f, between the cells of points k - 1 and k + 1: positive where it is convex. */
static double bend_at(const struct points *points, int k)
{
    if (k == 0 || k + 1 >= points->count)
        return 0;
    const double *x = points->code + k, *t = points->target + k;
    return (t[1] - t[0]) / (x[1] - x[0]) - (t[0] - t[-1]) / (x[0] - x[-1]);
}

/* The output at a knot: below a convex f and above a concave one, so that lines from knot to knot cross f and are off
 * by less between them. Rounding takes half a code of the error. */
static int64_t agreed_code(const struct meeting *meeting, int k)
{
    const struct points *points = meeting->search->points;
    const double target = target_at_start(points, k), bend = bend_at(points, k);
    const double off = meeting->share * fmax(0, meeting->max_err - 0.5);
    return (int64_t)rint(bend > 0 ? target - off : bend < 0 ? target + off : target);
}

static void narrow(struct held *held, int64_t low, int64_t high)
{
    held->low = low > held->low ? low : held->low;
    held->high = high < held->high ? high : held->high;
}

/* To a code, and to those beyond it in the direction of f, if it has one. */
static void narrow_beyond(struct held *held, int direction, int64_t code)
{
    narrow(held, direction == -1 ? INT64_MIN : code, direction == 1 ? INT64_MAX : code);
}

/* What the first output may be for a segment to meet the one before, or the other half of a folded table. */
static void hold_first(struct meeting *meeting, int begin)
{
    const struct ties *ties = meeting->search->ties;
    const struct constraints *constraints = &ties->constraints;
    const struct option *before = &meeting->before;
    const int64_t sum = ties->fold_sum, step = constraints->max_step;
    struct held *first = &meeting->held[FIRST];
    first->point = begin;
    first->code = meeting->points.cell[begin];
    if (begin > 0) {
        if (constraints->continuous)
            narrow(first, before->next - step, before->next + step);
        if (constraints->monotone)
            narrow_beyond(first, ties->joint[begin], before->last);
    } else if (ties->fold) {
        if (constraints->continuous)
            narrow(first, (sum - step + 1) >> 1, (sum + step) >> 1);
        if (constraints->monotone && meeting->points.count > 1)
            narrow_beyond(first, ties->joint[1], ties->joint[1] == 1 ? (sum + 1) >> 1 : sum >> 1);
    }
}

/* What the last output and the next may be for the segment after it to find lines. */
static void hold_last(struct meeting *meeting, int end)
{
    const struct ties *ties = meeting->search->ties;
    const struct constraints *constraints = &ties->constraints;
    if (end == meeting->points.count)
        return;
    const int64_t code = agreed_code(meeting, end), step = (constraints->max_step + 1) / 2;
    meeting->held[LAST].point = end - 1;
    meeting->held[LAST].code = meeting->points.cell[end] - 1;
    if (constraints->continuous) {
        meeting->held[NEXT].point = end;
        meeting->held[NEXT].code = meeting->points.cell[end];
        narrow(&meeting->held[NEXT], code - step, code + step);
    }
    if (constraints->monotone)
        narrow_beyond(&meeting->held[LAST], -ties->joint[end], code);
}

static bool is_held(const struct held *held, int64_t q)
{
    return held->point < 0 || (held->low <= q && q <= held->high);
}

/* Points the hulls to ranges from a point, unless they are. Bands of single codes are held where points are codes. */
static void look_from(struct meeting *meeting, int begin)
{
    struct hulls *hulls = &meeting->hulls;
    if (!meeting->points.spec || hulls->begin != begin || hulls->max_err != meeting->max_err)
        hulls_start(hulls, meeting->max_err, begin);
}

/* A line that serves [begin, end) and the code after it where that is held. */
static bool find_line(struct meeting *meeting, int begin, int end, struct line *line)
{
    const struct line_rules *rules = meeting->search->rules;
    look_from(meeting, begin);
    if (meeting->points.spec)
        return hulls_end_at(&meeting->hulls, end) && bounded_line(&meeting->hulls, rules, line);
    return hulls_end_at(&meeting->hulls, meeting->held[NEXT].point < 0 ? end : end + 1) &&
           integer_line_in_band(&meeting->hulls, rules, line) == LINE_FOUND;
}

/* Whether a line serves [begin, end) and meets the neighbours. */
static bool meets(struct meeting *meeting, int begin, int end, struct option *option)
{
    const struct tie_search *search = meeting->search;
    const struct held *held = meeting->held;
    *option = (struct option){.begin = begin, .end = end};
    for (int i = 0; i < POINTS_HELD; i++)
        meeting->held[i] = (struct held){.point = -1, .low = search->rules->qmin_y, .high = search->rules->qmax_y};
    hold_first(meeting, begin);
    hold_last(meeting, end);
    if (!find_line(meeting, begin, end, &option->line))
        return false;
    struct pieces pieces = {.count = 1, .edge = {begin, end}};
    tie_appraise(search, &pieces, option, &unaffordable);
    return option->price.violation <= 0 && option->price.error <= meeting->max_err &&
           is_held(&held[FIRST], option->first) && is_held(&held[LAST], option->last) &&
           is_held(&held[NEXT], option->next);
}

/* The last place that a real line from `begin` can reach. */
static int real_reach(struct meeting *meeting, int begin)
{
    const struct points *points = meeting->search->points;
    meeting->points.held = NULL;
    look_from(meeting, points_at(points, begin));
    hulls_end_at(&meeting->hulls, points->grid_whole ? points_at(points, begin + 1) : points->count);
    meeting->points.held = meeting->held;
    return points_place_before(points, meeting->hulls.end);
}

/* The farthest place that was found for a segment from `begin`, or that itself: steps back that double from where real
 * lines reach, then bisection. A line may serve a longer segment and none a shorter one, as that ends elsewhere; far
 * steps find some of those. */
static int longest(struct meeting *meeting, int begin, struct option *option)
{
    const struct points *points = meeting->search->points;
    const int reach = real_reach(meeting, begin);
    int good = begin, bad = reach + 1;
    for (int back = 0; good + 1 < bad;) {
        struct option found;
        int probe = reach - back;
        if (probe <= good || back > reach - good)
            probe = good + (bad - good) / 2;
        if (meets(meeting, points_at(points, begin), points_at(points, probe), &found)) {
            *option = found;
            good = probe;
            back = reach;
        } else {
            bad = probe;
            back = 2 * back + 1;
        }
    }
    return good;
}

/* Whether `most` segments suffice for an error. */
static bool cover(struct meeting *meeting, int most, double max_err, double share)
{
    struct tie_search *search = meeting->search;
    int place = 0;
    meeting->max_err = max_err;
    meeting->share = share;
    for (search->segments = 0; place < search->places; search->segments++) {
        struct option option;
        if (search->segments == most)
            return false;
        const int next = longest(meeting, place, &option);
        if (next == place)
            return false;
        search->lines[search->segments] = option.line;
        search->place[search->segments] = place;
        meeting->before = option;
        place = next;
    }
    search->place[search->segments] = place;
    return true;
}

static bool meeting_init(struct meeting *meeting, struct tie_search *search)
{
    const struct points *points = search->points;
    *meeting = (struct meeting){.search = search, .points = *points};
    meeting->points.held = meeting->held;
    return hulls_init(&meeting->hulls, &meeting->points, search->rules->qmin_y, search->rules->qmax_y, points->count);
}

/* Where the error is many codes segments are the longest with knots off f by most of it; where it is few, and lines are
 * coarse, with knots near f. */
static const double shares[] = {0.8, 0.9, 1, 0.6, 0};
enum { SHARES = sizeof shares / sizeof *shares };

/* Whether some share holds an error with `most` segments or fewer; the first to do so from share *s on. */
static bool cover_within(struct meeting *meeting, int most, double max_err, int *s)
{
    for (; *s < SHARES; ++*s)
        if (cover(meeting, most, max_err, shares[*s]))
            return true;
    return false;
}

static bool cover_with_fewest(struct meeting *meeting, int most, double max_err)
{
    int best = SHARES;
    for (int s = 0; most > 0 && cover_within(meeting, most, max_err, &s); s++) {
        best = s;
        most = meeting->search->segments - 1;
    }
    return best < SHARES && cover(meeting, most + 1, max_err, shares[best]);
}

/* Of errors from `low` on. */
static bool cover_with_least_error(struct meeting *meeting, int segments, double low)
{
    const double whole = (double)(meeting->search->rules->qmax_y - meeting->search->rules->qmin_y) + 1;
    const double close = 1 + 0x1p-7;
    double high = low;
    int best = SHARES;
    for (double excess = 0x1p-5; best == SHARES && low * excess < whole; excess *= 2) {
        high = low * (1 + excess);
        best = 0;
        cover_within(meeting, segments, high, &best);
    }
    for (int s = 0; s < SHARES && best < SHARES; s++) {
        /* No share is followed that is not a little better than those before. */
        double bad = low, probe = high - (high - low) / 32;
        while (high > bad * close) {
            const bool covered = cover(meeting, segments, probe, shares[s]);
            if (!covered && bad == low && probe > 0.5 * (low + high))
                break;
            *(covered ? &high : &bad) = probe;
            best = covered ? s : best;
            probe = 0.5 * (bad + high);
        }
    }
    return best < SHARES && cover(meeting, segments, high, shares[best]);
}

bool tie_meet_least_error(struct tie_search *search, double low)
{
    struct meeting meeting;
    const bool found = meeting_init(&meeting, search) && cover_with_least_error(&meeting, search->most, fmax(low, 0.5));
    hulls_free(&meeting.hulls);
    return found;
}

bool tie_meet_within(struct tie_search *search, double max_err)
{
    struct meeting meeting;
    int share = 0;
    const bool found = meeting_init(&meeting, search) && cover_within(&meeting, search->most, max_err, &share);
    hulls_free(&meeting.hulls);
    return found;
}

bool tie_meet_with_fewest(struct tie_search *search, double max_err)
{
    struct meeting meeting;
    const bool found = meeting_init(&meeting, search) && cover_with_fewest(&meeting, search->most, max_err);
    hulls_free(&meeting.hulls);
    return found;
}
