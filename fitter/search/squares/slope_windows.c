/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slope_windows.h"

#include <math.h>

#include "base/numbers.h"
#include "search/rounding.h"

/* Real least squares of a range. */
struct real_line {
    double slope, sse, spread;
};

/* The line of least squares over the points [a, b), which lie at or after the start. */
static struct real_line real_line_of(const struct line_program *program, int a, int b)
{
    const struct moments moments = moments_between(&program->sums[a], &program->sums[b]);
    const bool is_level = b - a < 2 || !(moments.xx > 0);
    const double slope = is_level ? 0 : moments.xy / moments.xx;
    return (struct real_line){.slope = slope,
                              .sse = larger(0, moments.yy - moments.xy * slope - EXACT_ROUNDING * program->sums[b].yy),
                              .spread = is_level ? 0 : moments.xx};
}

void slope_windows_sum_points(struct line_program *program, int i)
{
    const struct points *points = program->points;
    struct moment_sums s = {0};
    program->sums[i] = s;
    for (int k = i; k < program->slopes.from.furthest; k++) {
        moment_sums_add(&s, points->mass[k], points->code[k] - points->code[i], points->target[k] - points->target[i]);
        program->sums[k + 1] = s;
    }
}

/* The points of [i, j) that no line of a direction leaves to saturation there: being at the near limit at all before,
 * or at that ahead at all after, costs as much as the range may. There are none where the last comes before the first.
 */
static void find_core(const struct line_program *program, enum direction way, int j, double excess, int *a, int *b)
{
    const int i = program->slopes.from.start;
    const double *behind = program->over[way], *ahead = program->over[DIRECTIONS - 1 - way];
    const double most = excess + program->over_error;
    int below = i, above = program->slopes.from.apart ? i : j;
    while (below < above) { /* the first whose points before, itself included, cost too much */
        const int k = below + (above - below) / 4;
        if (behind[k + 1] - behind[i] >= most)
            above = k;
        else
            below = k + 1;
    }
    *a = below;
    below = i;
    above = j;
    while (below < above) { /* the first from which on the points do not */
        const int k = above - 1 - (above - below) / 4;
        if (ahead[j] - ahead[k] >= most)
            below = k + 1;
        else
            above = k;
    }
    *b = below;
}

/* The most that lines over the points [a, b) may cost as real lines, to cost at most `excess` beyond their floor. */
static double real_room(const struct line_program *program, int a, int b, double excess)
{
    const double mass = program->sums[b].w - program->sums[a].w;
    const double reach = sqrt(excess + program->floor_sum[b] - program->floor_sum[a]) + 0.5 * sqrt(mass);
    return square(reach) * (1 + EXACT_ROUNDING);
}

static void widen(struct window *window, double low, double high)
{
    if (low <= high) {
        window->low = smaller(window->low, low);
        window->high = larger(window->high, high);
    }
}

/* Widens a window by the slopes of such lines. */
static bool widen_by_lines(const struct line_program *program, int a, int b, double excess, struct window *window)
{
    const struct real_line real = a < b ? real_line_of(program, a, b) : (struct real_line){0};
    const double room = real_room(program, a, b, excess) - real.sse;
    if (room < 0)
        return false;
    const double half = real.spread > 0 ? sqrt(room / real.spread) : INFINITY;
    widen(window, real.slope - half, real.slope + half);
    return true;
}

double slope_windows_centre(const struct line_program *program, int j)
{
    const struct core *core = &program->slopes.from.core[DOWN][j];
    const struct real_line real =
        core->begin < core->end ? real_line_of(program, core->begin, core->end) : (struct real_line){0};
    return real.spread > 0 ? real.slope : NAN;
}

/* Slopes s in [low, high] of lines that cost at most `room` beyond sse and pass at x by y + share * s, which are those
 * between the roots of a parabola. */
static void widen_through(const struct real_line *real, double mass, double x, double y, double room, double low,
                          double high, struct window *window)
{
    /* spread (s - slope)^2 + mass (y + x s)^2 <= room */
    const double a = real->spread + mass * x * x, b = real->spread * real->slope - mass * x * y,
                 c = real->spread * square(real->slope) + mass * y * y - room;
    const double root = b * b - a * c + EXACT_ROUNDING * (b * b + fabs(a * c));
    if (root >= 0)
        widen(window, larger(low, (b - sqrt(root)) / a), smaller(high, (b + sqrt(root)) / a));
}

/* Widens the window by lines that are at or beyond the near limit at the point before a, and leave it there: rounded,
 * they are at a where they meet it or up to a step further. */
static bool widen_by_leaving(const struct line_program *program, enum direction way, int a, int b, double excess,
                             struct window *window)
{
    const struct moment_sums *from = &program->sums[a], *to = &program->sums[b];
    struct real_line real = a < b ? real_line_of(program, a, b) : (struct real_line){0};
    const double room = real_room(program, a, b, excess) - real.sse;
    struct window rising = {INFINITY, -INFINITY};
    if (!(real.spread > 0)) {
        if (room >= 0)
            widen(window, -INFINITY, INFINITY);
        return room >= 0;
    }
    /* As lines that rise. */
    const double up = way == UP ? 1 : -1, mass = to->w - from->w;
    const double x =
        (to->x - from->x) / mass - (program->points->code[a] - program->points->code[program->slopes.from.start]);
    const double y = (to->y - from->y) / mass + program->points->target[program->slopes.from.start];
    const double near_y = (double)(way == UP ? program->rules->qmin_y : program->rules->qmax_y);
    const double limit = near_y + up; /* from there on it is left */
    real.slope *= up;
    /* The mean is to be off by between `least` + x s and that + s. */
    const double least = up * (limit - y) - 0.5 - CODE_SLACK, most = least + 2 * CODE_SLACK,
                 half = room >= 0 ? sqrt(room / real.spread) : -1;
    const double meets = -least / x, parts = -most / (x + 1);
    if (half >= 0)
        widen(&rising, larger(parts, real.slope - half), smaller(meets, real.slope + half));
    widen_through(&real, mass, x, least, room, meets, INFINITY, &rising);
    widen_through(&real, mass, x + 1, most, room, -INFINITY, parts, &rising);
    if (way == UP)
        widen(window, rising.low, rising.high);
    else
        widen(window, -rising.high, -rising.low);
    return rising.low <= rising.high;
}

enum { PARTS = 24 };               /* of a range: points of one where a limit may be met are looked at in one */
static const double FEW = 1.0 / 8; /* a window of few slopes, by its width */

static bool widen_by_range(const struct line_program *program, enum direction way, bool leaves, int a, int b,
                           double excess, struct window *window)
{
    return leaves ? widen_by_leaving(program, way, a, b, excess, window)
                  : widen_by_lines(program, a, b, excess, window);
}

/* Widens a window by the slopes of lines over the points [a, j) that may reach the far limit at any from the core's
 * end on, some at once: what they pay there from the last of these on, they cannot over the points before the first. */
static bool widen_by_ends(struct line_program *program, enum direction way, bool leaves, int a, int j, double excess,
                          struct window *window)
{
    const double *ahead = program->over[DIRECTIONS - 1 - way];
    const struct core *core = &program->slopes.from.core[way][j];
    const int at_once = 1 + (j - program->slopes.from.start) / PARTS, first = core->end > a ? core->end : a;
    struct window whole = {INFINITY, -INFINITY};
    bool any = false;
    if (!widen_by_range(program, way, leaves, a, first, excess, &whole))
        return false;
    if (whole.high - whole.low < FEW * larger(fabs(whole.low), fabs(whole.high)) ||
        (window->low <= whole.low && whole.high <= window->high)) {
        widen(window, whole.low, whole.high);
        return true;
    }
    for (int end = first; end <= j; end += at_once) {
        const int last = end + at_once - 1 < j ? end + at_once - 1 : j;
        const double left = excess - larger(0, ahead[j] - ahead[last] - program->over_error);
        any |= left > 0 && widen_by_range(program, way, leaves, a, end, left, window);
    }
    return any;
}

/* The windows of slopes whose lines can make a range part of a better table, by the end. */
static void find_windows(struct line_program *program, enum direction way)
{
    const double *floor_sum = program->floor_sum, *behind = program->over[way];
    struct slope_scan *slopes = &program->slopes;
    const int i = slopes->from.start;
    for (int j = i + 1; j <= slopes->from.furthest; j++) {
        const double budget = smaller(slopes->from.range[j].cost, slopes->from.spare[j]),
                     floor = floor_sum[j] - floor_sum[i], excess = budget - floor;
        struct window *window = &slopes->from.window[way][j];
        struct core *core = &slopes->from.core[way][j];
        *window = (struct window){INFINITY, -INFINITY};
        *core = (struct core){-INFINITY, i, i};
        if (!(larger(floor, slopes->from.least[j]) < just_below(budget)))
            continue;
        find_core(program, way, j, excess, &core->begin, &core->end);
        bool any = widen_by_ends(program, way, slopes->from.leaves, i, j, excess, window);
        /* Those that leave the near limit, up to the core's first point, in groups. */
        for (int from = i; from < core->begin;) {
            const int next = from + 1 + (j - i) / PARTS, to = next < core->begin ? next : core->begin;
            const double left = excess - larger(0, behind[from + 1] - behind[i] - program->over_error);
            if (left > 0)
                any |= widen_by_ends(program, way, false, to, j, left, window);
            from = to;
        }
        if (any)
            core->excess = excess;
    }
}

/* Slopes of lines that are at the near limit until k: the slopes for the points from there on, with what is left. */
static void find_leaving_windows(struct line_program *program, enum direction way)
{
    struct slope_scan *slopes = &program->slopes;
    const int i = slopes->from.start;
    const double *over = program->over[way], *off = program->off[way];
    double most = slopes->from.apart ? -INFINITY : INFINITY; /* what an end has to spare */
    for (int k = i + 1; k < slopes->from.furthest; k++) {
        const double paid = over[k] - over[i] - program->over_error;
        struct window *window = &slopes->from.leaving[way][k];
        *window = (struct window){INFINITY, -INFINITY};
        if (paid >= most)
            continue;
        most = -INFINITY;
        for (int j = k + 1; j <= slopes->from.furthest;) {
            /* Some ends at once: what the least of them has to better, with what the most of them has to spare. */
            enum { AT_ONCE = 4 };
            double excess = -INFINITY;
            int end = program->count;
            for (int next = j + AT_ONCE; j < next && j <= slopes->from.furthest; j++) {
                const struct core *core = &slopes->from.core[way][j];
                most = larger(most, core->excess);
                if (core->excess <= paid + larger(0, off[j] - off[k] - program->over_error))
                    continue;
                excess = larger(excess, core->excess);
                end = core->end < end ? core->end : end;
            }
            if (excess > paid)
                widen_by_leaving(program, way, k, end > k ? end : k, excess - paid, window);
        }
    }
}

struct window slope_windows_find(struct line_program *program)
{
    const struct slope_scan *slopes = &program->slopes;
    const double steepest = line_steepest(program->rules);
    double most[DIRECTIONS] = {0, 0};
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        if (slopes->from.leaves && way != slopes->from.way)
            continue;
        find_windows(program, way);
        find_leaving_windows(program, way);
        for (int j = slopes->from.start + 1; j <= slopes->from.furthest; j++) {
            const struct window *window = &slopes->from.window[way][j];
            most[way] = larger(most[way], way == UP ? window->high : -window->low);
        }
    }
    return (struct window){-smaller(most[DOWN], steepest), smaller(most[UP], steepest)};
}

/* Their lines lie between the limits at few codes, behind those at the one and before those at the other. */
bool slope_windows_hold_steep(const struct line_program *program)
{
    const struct slope_scan *slopes = &program->slopes;
    const double range = (double)(program->rules->qmax_y - program->rules->qmin_y + 1);
    const int i = slopes->from.start;
    const int between =
        program->unsafe > 0 ? (int)smaller(ceil(range / program->unsafe) + 1, program->count) : program->count;
    for (enum direction way = UP; way < DIRECTIONS; way++) {
        const double *behind = program->over[way], *ahead = program->over[DIRECTIONS - 1 - way];
        double least = INFINITY; /* of being at the near limit before the codes between, less that ahead up to there */
        for (int j = i + 1; j <= slopes->from.furthest; j++) {
            const double most = smaller(slopes->from.range[j].cost, slopes->from.spare[j]) -
                                (program->floor_sum[j] - program->floor_sum[i]) + 2 * program->over_error;
            if (j - between > i)
                least = smaller(least, behind[j - between] - behind[i] - ahead[j]);
            /* Its codes between may begin before the start or go on beyond the end. */
            const int last = j - between > i ? j - between : i, first = i + between < j ? i + between : j;
            if (least + ahead[j] < most || behind[last] - behind[i] < most || ahead[j] - ahead[first] < most)
                return true;
        }
    }
    return false;
}
