/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "joint_search.h"
#include "search/cover.h"
#include "search/hulls.h"
#include "search/minimax/bounded_line.h"
#include "search/minimax/integer_line_in_band.h"

/* The codes of a segment at which its neighbours depend on the output: the first, the last and the one after it. */
enum { FIRST, LAST, NEXT };

/* The effort of moving the end of a hull by a point, in points. */
enum { HULL_EFFORT = 4 };

/* The search for one table. */
struct agreed {
    struct tie_search *search;
    struct points points;          /* those of the search, with held outputs */
    struct held held[POINTS_HELD]; /* of the segment under trial */
    struct hulls hulls;
    int held_begin; /* the hulls start at this point, whose outputs are held as those of a first code; -1: they do not
                     */
    double max_err;
    double share;           /* agreed codes lie off f by this share of max_err */
    struct candidate found; /* the last one to agree; it is the segment before when the next one begins: */
    struct candidate before;
    struct cover cover; /* makes the incumbent of the search */
};

/* f at the first code of a cell; where points are in the middle of their cells, about that. */
static double target_at_start(const struct points *points, int k)
{
    if (points->exhaustive || k == 0)
        return points->target[k];
    const double x0 = points->code[k - 1], x1 = points->code[k], x = (double)points->cell[k];
    return points->target[k - 1] + (points->target[k] - points->target[k - 1]) * (x - x0) / (x1 - x0);
}

/* The change of the slope of f at point k: positive where f is convex. */
static double bend_at(const struct points *points, int k)
{
    if (k == 0 || k + 1 >= points->count)
        return 0;
    const double *x = points->code + k, *t = points->target + k;
    return (t[1] - t[0]) / (x[1] - x[0]) - (t[0] - t[-1]) / (x[0] - x[-1]);
}

/* The output at a knot: below a convex f and above a concave one, so that lines from knot to knot cross f twice and are
 * off by less between the knots. Rounding takes half a code of the error. */
static int64_t agreed_code(const struct agreed *agreed, int k)
{
    const struct points *points = agreed->search->points;
    const double target = target_at_start(points, k), bend = bend_at(points, k);
    const double off = agreed->share * fmax(0, agreed->max_err - 0.5);
    return (int64_t)rint(bend > 0 ? target - off : bend < 0 ? target + off : target);
}

static void narrow(struct held *held, struct integers outputs)
{
    held->low = outputs.low > held->low ? outputs.low : held->low;
    held->high = outputs.high < held->high ? outputs.high : held->high;
}

/* To a code and, where f has a direction, to all codes beyond it in that direction. */
static void narrow_beyond(struct held *held, int direction, int64_t code)
{
    narrow(held, (struct integers){direction == -1 ? INT64_MIN : code, direction == 1 ? INT64_MAX : code});
}

/* Bounds the first output by the segment before, or by the other half of a folded table. */
static void hold_first(struct agreed *agreed, int begin)
{
    const struct ties *ties = agreed->search->ties;
    const struct points *points = &agreed->points;
    const struct candidate *before = &agreed->before;
    const int64_t sum = ties->fold_sum, step = ties->max_step;
    struct held *first = &agreed->held[FIRST];
    first->point = begin;
    first->code = points->cell[begin];
    if (begin > 0) {
        if (ties->continuous)
            narrow(first, tie_outputs_near(ties, points, begin, before->next));
        if (ties->monotone)
            narrow(first, tie_outputs_after(ties, points, begin, ties->joint[begin], before->last));
    } else if (ties->fold) {
        if (ties->continuous)
            narrow(first, (struct integers){(sum - step + 1) >> 1, (sum + step) >> 1});
        if (ties->monotone && points->count > 1)
            narrow_beyond(first, ties->joint[1], ties->joint[1] == 1 ? (sum + 1) >> 1 : sum >> 1);
    }
}

/* Bounds the last output and the next one, so that the segment behind may begin at the agreed code. */
static void hold_last(struct agreed *agreed, int end)
{
    const struct ties *ties = agreed->search->ties;
    if (end == agreed->points.count)
        return;
    const int64_t code = agreed_code(agreed, end), step = (ties->max_step + 1) / 2;
    agreed->held[LAST].point = end - 1;
    agreed->held[LAST].code = agreed->points.cell[end] - 1;
    if (ties->continuous) {
        agreed->held[NEXT].point = end;
        agreed->held[NEXT].code = agreed->points.cell[end];
        narrow(&agreed->held[NEXT], (struct integers){code - step, code + step});
    }
    if (ties->monotone)
        narrow_beyond(&agreed->held[LAST], -ties->joint[end], code);
}

static bool is_held(const struct held *held, int64_t q)
{
    return held->point < 0 || (held->low <= q && q <= held->high);
}

/* Looks for a line where the last outputs are held: their bounds are part of the bands, so that their points
 * come last and go first. */
static enum line_answer line_in_held_band(struct agreed *agreed, int begin, int end, struct line *line)
{
    const struct held last = agreed->held[LAST], next = agreed->held[NEXT];
    struct hulls *hulls = &agreed->hulls;
    enum line_answer answer = LINE_NONE;
    if (agreed->held_begin != begin)
        hulls_start(hulls, agreed->max_err, begin);
    agreed->held_begin = begin;
    agreed->held[LAST].point = agreed->held[NEXT].point = -1;
    const bool served = hulls_end_at(hulls, end - 1);
    agreed->held[LAST] = last;
    agreed->held[NEXT] = next;
    if (served && hulls_end_at(hulls, next.point < 0 ? end : end + 1))
        answer = integer_line_in_band(hulls, agreed->search->rules, line);
    if (hulls->end >= end)
        hulls_end_at(hulls, end - 1);
    return answer;
}

/* A line over the points [begin, end), and over the code after them where its output is held. */
static bool any_line(struct agreed *agreed, int begin, int end, struct line *line)
{
    const struct line_rules *rules = agreed->search->rules;
    if (!agreed->points.between)
        return line_in_held_band(agreed, begin, end, line) == LINE_FOUND;
    hulls_start_at(&agreed->hulls, agreed->max_err, begin);
    return hulls_end_at(&agreed->hulls, end) && bounded_line(&agreed->hulls, rules, line);
}

/* A line over the points between two positions that agrees with both neighbours. */
static enum line_answer find_line(void *context, int first, int last, struct line *line)
{
    struct agreed *agreed = context;
    const struct tie_search *search = agreed->search;
    const struct held *held = agreed->held;
    const int begin = points_at(&agreed->points, first), end = points_at(&agreed->points, last);
    struct candidate candidate = {.begin = begin, .end = end};
    struct pieces pieces = {.count = 1, .edge = {begin, end}};
    for (int i = 0; i < POINTS_HELD; i++)
        agreed->held[i] = (struct held){.point = -1, .low = search->rules->qmin_y, .high = search->rules->qmax_y};
    hold_first(agreed, begin);
    hold_last(agreed, end);
    if (!any_line(agreed, begin, end, &candidate.line) || !tie_is_provable(search, &candidate))
        return LINE_NONE;
    tie_find_cost(search, &pieces, &candidate, &infeasible);
    if (candidate.cost.violation > 0 || candidate.cost.error > agreed->max_err ||
        !is_held(&held[FIRST], candidate.first) || !is_held(&held[LAST], candidate.last) ||
        !is_held(&held[NEXT], candidate.next))
        return LINE_NONE;
    agreed->found = candidate;
    *line = candidate.line;
    return LINE_FOUND;
}

/* The last position to which a real line from `begin` serves, whatever is held. A longer segment than one without a
 * line may have one, as the agreed code at its end is another: far steps find some of those. */
static int real_reach(void *context, int begin)
{
    struct agreed *agreed = context;
    struct reach *reach = agreed->search->reach;
    agreed->before = agreed->found;
    agreed->held_begin = -1;
    if (points_out_of_time(&agreed->points))
        return begin;
    if (reach->max_err != agreed->max_err)
        for (int k = 0; k < agreed->search->positions; k++)
            reach->last[k] = -1;
    reach->max_err = agreed->max_err;
    if (reach->last[begin] < 0) {
        agreed->points.held = NULL;
        hulls_start(&agreed->hulls, agreed->max_err, points_at(&agreed->points, begin));
        reach->last[begin] = hulls_last_position(&agreed->hulls, agreed->max_err, begin);
        agreed->points.held = agreed->held;
    }
    return reach->last[begin];
}

/* Whether `most` segments suffice for an error. */
static bool cover_all(struct agreed *agreed, int most, double max_err, double share)
{
    agreed->max_err = max_err;
    agreed->share = share;
    agreed->cover.most = most;
    const bool covered = cover_greedily(&agreed->cover);
    agreed->search->segments = agreed->cover.segments;
    return covered;
}

static bool agreed_init(struct agreed *agreed, struct tie_search *search)
{
    const struct points *points = search->points;
    *agreed = (struct agreed){.search = search,
                              .points = *points,
                              .cover = {.points = &agreed->points,
                                        .reach = real_reach,
                                        .find = find_line,
                                        .context = agreed,
                                        .place = search->position,
                                        .lines = search->lines}};
    agreed->points.held = agreed->held;
    const bool whole =
        hulls_init(&agreed->hulls, &agreed->points, search->rules->qmin_y, search->rules->qmax_y, points->count);
    agreed->hulls.effort = HULL_EFFORT;
    return whole;
}

/* Where the error is many codes, segments are the longest with agreed codes off f by most of it; where it is few, and
 * lines are coarse, with agreed codes near f. */
static const double shares[] = {0.8, 0.9, 1, 0.6, 0};
enum { SHARES = sizeof shares / sizeof *shares };

/* Whether some share holds an error with `most` segments or fewer; the first to do so from share *s on. */
static bool cover_with_some_share(struct agreed *agreed, int most, double max_err, int *s)
{
    for (; *s < SHARES; ++*s)
        if (cover_all(agreed, most, max_err, shares[*s]))
            return true;
    return false;
}

static bool cover_with_fewest(struct agreed *agreed, int most, double max_err)
{
    int best = SHARES;
    for (int s = 0; most > 0 && cover_with_some_share(agreed, most, max_err, &s); s++) {
        best = s;
        most = agreed->search->segments - 1;
        if (effort_spent(agreed->points.effort))
            break;
    }
    return best < SHARES && cover_all(agreed, most + 1, max_err, shares[best]);
}

/* Covers the codes within the least error from `low` on. */
static bool cover_with_least_error(struct agreed *agreed, int segments, double low)
{
    const double whole = (double)(agreed->search->rules->qmax_y - agreed->search->rules->qmin_y) + 1;
    const double close = 1 + 0x1p-7;
    double high = low;
    int best = SHARES;
    for (double excess = 0x1p-5; best == SHARES && low * excess < whole; excess *= 2) {
        high = low * (1 + excess);
        best = 0;
        cover_with_some_share(agreed, segments, high, &best);
    }
    for (int s = 0; s < SHARES && best < SHARES && !effort_spent(agreed->points.effort); s++) {
        /* A share that is not a little better than those before is left. */
        double bad = low, probe = high - (high - low) / 32;
        while (high > bad * close && !effort_spent(agreed->points.effort)) {
            const bool covered = cover_all(agreed, segments, probe, shares[s]);
            if (!covered && bad == low && probe > 0.5 * (low + high))
                break;
            *(covered ? &high : &bad) = probe;
            best = covered ? s : best;
            probe = 0.5 * (bad + high);
        }
    }
    return best < SHARES && cover_all(agreed, segments, high, shares[best]);
}

bool agreed_cover_least_error(struct tie_search *search, double low)
{
    struct agreed agreed;
    const bool found = agreed_init(&agreed, search) && cover_with_least_error(&agreed, search->most, fmax(low, 0.5));
    hulls_free(&agreed.hulls);
    return found;
}

bool agreed_cover_within(struct tie_search *search, double max_err)
{
    struct agreed agreed;
    int share = 0;
    const bool found = agreed_init(&agreed, search) && cover_with_some_share(&agreed, search->most, max_err, &share);
    hulls_free(&agreed.hulls);
    return found;
}

bool agreed_cover_fewest(struct tie_search *search, double max_err)
{
    struct agreed agreed;
    const bool found = agreed_init(&agreed, search) && cover_with_fewest(&agreed, search->most, max_err);
    hulls_free(&agreed.hulls);
    return found;
}
