/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bounds of digital_line.h, by visiting every digital line, and what follows from them for targets. */
#include "../../../support/random.h"
#include "../../reference/fixture.h"
#include "search/line.h"
#include "search/squares/digital_line.h"

enum { MOST = DIGITAL_LINE_POINTS };

/* What lines of one length have in common. */
struct length {
    int n;
    double middle, mean, spread; /* (n - 1) / 2, 1 / n, and 1 / sum (k - middle)^2 */
    double u[MOST];              /* the unit vector along the parabola */
};

static void length_init(struct length *length, int n)
{
    const double spread = n * ((double)n * n - 1) / 12;
    double norm = 0;
    length->n = n;
    length->middle = 0.5 * (n - 1);
    length->mean = 1.0 / n;
    length->spread = 1 / spread;
    for (int k = 0; k < n; k++) {
        length->u[k] = (k - length->middle) * (k - length->middle) - spread / n;
        norm += length->u[k] * length->u[k];
    }
    for (int k = 0; k < n; k++)
        length->u[k] /= sqrt(norm);
}

/* Of values at the points. */
struct sums {
    double y, xy, yy, uy;
};

static inline void add(struct sums *sums, const struct length *length, int k, double value)
{
    sums->y += value;
    sums->xy += (k - length->middle) * value;
    sums->yy += value * value;
    sums->uy += length->u[k] * value;
}

/* Adds 1 to a value. */
static inline void step(struct sums *sums, const struct length *length, int k, double value)
{
    sums->y += 1;
    sums->xy += k - length->middle;
    sums->yy += 2 * value + 1;
    sums->uy += length->u[k];
}

/* The most that the best real line leaves, and of that along the parabola. */
struct extremes {
    double circle, strip;
};

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline void take(struct extremes *extremes, const struct length *length, const struct sums *sums)
{
    const double left = sums->yy - sums->y * sums->y * length->mean - sums->xy * sums->xy * length->spread;
    extremes->circle = larger(extremes->circle, left);
    extremes->strip = larger(extremes->strip, larger(sums->uy, -sums->uy));
}

/*
 * Every digital line of n points but for a real line, and for the mirror images of slopes above 1/2. Between neighbours
 * p/q and p'/q' of the Farey sequence of order n - 1, all slopes b have the same order of the fractions {k b}; as c
 * grows from 0 to 1, the points step in that order, the largest first. In it {k b} is followed by that of k + q', k - q
 * or k + q' - q (V. T. Sos, 1958).
 */
static struct extremes all_digital_lines(const struct length *length)
{
    const int n = length->n;
    struct extremes extremes = {0, 0};
    static int floors[MOST]; /* of the slopes in hand, for c = 0 */
    struct sums first = {0};
    memset(floors, 0, sizeof floors);
    for (int p = 0, q = 1, p_next = 1, q_next = n - 1; 2 * p < q;) {
        struct sums sums = first;
        int k = 0, steps = 0;
        for (;; steps++) {
            take(&extremes, length, &sums);
            k += k + q_next < n ? q_next : k >= q ? -q : q_next - q;
            if (k == 0)
                break;
            step(&sums, length, k, floors[k]);
        }
        if (steps != n - 1)
            ck_abort_msg("between %d/%d and %d/%d, %d of %d points step", p, q, p_next, q_next, steps, n);
        for (int meets = q_next; meets < n; meets += q_next)
            step(&first, length, meets, floors[meets]++);
        const int times = (n - 1 + q) / q_next, p_after = times * p_next - p, q_after = times * q_next - q;
        p = p_next;
        q = q_next;
        p_next = p_after;
        q_next = q_after;
    }
    return extremes;
}

/* Lines of slopes a / period of which a class of points modulo the period are ties, which go up and down in turn. */
static struct extremes all_even_lines(const struct length *length, int period)
{
    static int first[MOST];
    const int n = length->n;
    const double share = 1.0 / period;
    struct extremes extremes = {0, 0};
    for (int a = 1; a <= period; a += 2) {
        struct sums sums = {0};
        for (int k = 0, part = 0; k < n; k++) {
            first[part] = k < period ? k : first[part];
            add(&sums, length, k, -share * part);
            part += part < period - a ? a : a - period;
        }
        for (int part = period - 1; part >= 0; part--) {
            struct sums up[2] = {sums, sums}; /* every other one of the class */
            for (int k = first[part], turn = 0; k < n; k += period, turn = !turn) {
                step(&up[turn], length, k, -share * part);
                step(&sums, length, k, -share * part);
            }
            for (int turn = 0; turn < 2; turn++)
                take(&extremes, length, &up[turn]);
        }
    }
    return extremes;
}

static double circle_of(const struct digital_lines *lines, int n)
{
    return lines->circle * n * (1 + 1e-12);
}

static double strip_of(const struct digital_lines *lines, int n)
{
    return (n < DIGITAL_LINE_FEW ? lines->strip_few : lines->strip) * sqrt(n) * (1 + 1e-12);
}

/* Lines of more points are at most so much further along their parabola than the points in their middle along theirs,
 * as values are within 1/2 of a real line. */
static double apart(const struct length *length, int longer)
{
    static struct length other;
    const int left = (longer - length->n) / 2;
    double sum = 0;
    length_init(&other, longer);
    for (int k = 0; k < longer; k++)
        sum += fabs(other.u[k] - (k >= left && k < left + length->n ? length->u[k - left] : 0));
    return 0.5 * sum;
}

/* Of so many points, and by what follows for fewer and more of them, of any number. */
START_TEST(digital_lines_are_within_the_bounds)
{
    static struct length length;
    const struct digital_lines *lines = digital_lines_of(PWL_BIASED, PWL_FLOOR);
    for (int before = 2, n = 3; before < MOST; before = n, n = n + 1 + n / 80 < MOST ? n + 1 + n / 80 : MOST) {
        length_init(&length, n);
        const struct extremes extremes = all_digital_lines(&length);
        ck_assert_msg(extremes.circle <= circle_of(lines, before + 1), "%d points: the best line leaves %.6f n", n,
                      extremes.circle / n);
        for (int longer = n; longer <= n + n / 80 && longer <= MOST; longer++)
            ck_assert_msg(extremes.strip + apart(&length, longer) <= strip_of(lines, longer),
                          "%d points: %.6f sqrt(n) along the parabola, %.6f more with %d points", n,
                          extremes.strip / sqrt(n), apart(&length, longer) / sqrt(n), longer);
    }
    ck_assert_ptr_eq(digital_lines_of(PWL_ABSOLUTE, PWL_HALF_UP), lines);
    ck_assert_ptr_eq(digital_lines_of(PWL_ANCHORED, PWL_HALF_AWAY), lines);
}
END_TEST

/* Without a bias before the shift no line has ties everywhere. */
START_TEST(ties_to_even_are_within_the_bounds)
{
    static struct length length;
    const struct digital_lines *digital = digital_lines_of(PWL_ABSOLUTE, PWL_FLOOR);
    for (int n = 3; n <= MOST; n++) {
        length_init(&length, n);
        for (int period = 1; period < n; period *= 2) {
            const struct extremes extremes = all_even_lines(&length, period);
            for (pwl_form form = period > 1 ? PWL_ABSOLUTE : PWL_BIASED; form <= PWL_BIASED; form++) {
                const struct digital_lines *lines = digital_lines_of(form, PWL_HALF_EVEN);
                if (!(extremes.circle <= circle_of(lines, n) && extremes.strip <= strip_of(lines, n)))
                    ck_abort_msg("%d points, slopes a/%d: the best line leaves %.6f n, and %.6f sqrt(n) along the "
                                 "parabola",
                                 n, period, extremes.circle / n, extremes.strip / sqrt(n));
                /* Where there is one tie, or none. */
                ck_assert(circle_of(digital, n) <= circle_of(lines, n) && strip_of(digital, n) <= strip_of(lines, n));
            }
        }
    }
    ck_assert_ptr_eq(digital_lines_of(PWL_ANCHORED, PWL_HALF_EVEN), digital_lines_of(PWL_ABSOLUTE, PWL_HALF_EVEN));
}
END_TEST

enum { FRACTION = 5, STEEPEST = 4 << FRACTION, POINTS = 14 }; /* slopes of up to 4, in steps of 2^-FRACTION */

/* Bent and noisy, or the steps of a line, made larger: nearest to that line, and as far from it as from no other. */
static void draw_targets(uint64_t *seed, int n, double *t)
{
    const double bend = (double)random_in(seed, -40, 40) / 128, noise = (double)random_in(seed, 0, 8) / 8;
    const double slope = (double)random_in(seed, -60, 60) / 32, larger_by = 1 + (double)random_in(seed, 0, 64) / 16;
    const int64_t width = random_in(seed, 2, 2 * n), before = random_in(seed, 0, width - 1);
    const bool steps = random_in(seed, 0, 1);
    for (int k = 0; k < n; k++)
        t[k] = slope * k + (steps ? larger_by * (double)((k + before) / width)
                                  : bend * k * (n - 1 - k) + noise * (double)random_in(seed, -64, 64) / 64);
}

static double cost_of(const struct line_rules *rules, const struct line *line, const double *t, int n)
{
    double cost = 0;
    for (int k = 0; k < n; k++) {
        const double e = (double)line_value(rules, line, 0, k) - t[k];
        cost += e * e;
    }
    return cost;
}

/* The least cost of all lines, of one step of slope and at each of those the constants around the targets. */
static double least_cost(const struct line_rules *rules, const double *t, int n)
{
    const int steps = rules->form == PWL_BIASED ? 1 << FRACTION : 1;
    double least = INFINITY;
    for (int q_b = -STEEPEST; q_b <= STEEPEST; q_b++) {
        const double middle = (t[0] + t[n - 1]) / 2 - ldexp(q_b * 0.5 * (n - 1), -FRACTION);
        for (int c = -6 * steps; c <= 6 * steps; c++) {
            const struct line line = {.q_b = q_b, .n = FRACTION, .offset = (int64_t)rint(middle * steps) + c};
            least = fmin(least, cost_of(rules, &line, t, n));
        }
    }
    return least;
}

START_TEST(no_line_costs_less)
{
    uint64_t seed = 1;
    int closer = 0;
    for (int round = 0; round < 240; round++) {
        const int n = (int)random_in(&seed, 3, POINTS);
        const struct line_rules rules = {.form = (pwl_form)(round % 3), .rounding = (pwl_rounding)(round / 3 % 4)};
        static struct length length;
        struct sums sums = {0};
        double t[POINTS];
        length_init(&length, n);
        draw_targets(&seed, n, t);
        for (int k = 0; k < n; k++)
            add(&sums, &length, k, t[k]);
        const double sse = fmax(0, sums.yy - sums.y * sums.y / n - sums.xy * sums.xy * length.spread);

        struct digital_sums digital = {0};
        const bool reversed = round % 2;
        for (int k = 0; k < n; k++) {
            const double x = reversed ? n - 1 - k : k;
            digital.y += t[k];
            digital.xy += x * t[k];
            digital.xxy += x * x * t[k];
        }
        const double bend = digital_line_bend(n, &digital);
        ck_assert_msg(fabs(bend - fabs(sums.uy)) < 1e-6, "%d points: %.17g along the parabola, not %.17g", n, bend,
                      fabs(sums.uy));
        digital.error = 0.5;
        ck_assert(digital_line_bend(n, &digital) <= bend);

        const struct digital_lines *lines = digital_lines_of(rules.form, rules.rounding);
        const double cost = digital_line_cost(lines, n, sse * (1 - 1e-9), bend * (1 - 1e-6));
        const double least = least_cost(&rules, t, n);
        ck_assert_msg(cost <= least, "form %d, rounding %d, %d points: %.17g at least, but %.17g is reached", round % 3,
                      round / 3 % 4, n, cost, least);
        ck_assert_msg(cost <= sse && digital_line_cost(lines, n, sse, 0) <= cost * (1 + 1e-5) + 1e-9,
                      "%d points: %.17g at least, of %.17g, and without the parabola %.17g", n, cost, sse,
                      digital_line_cost(lines, n, sse, 0));
        closer += cost > 0.8 * least;
    }
    ck_assert_int_gt(closer, 10);
}
END_TEST

START_TEST(runs_end_where_points_differ)
{
    static double code[2 * MOST], mass[2 * MOST];
    static int end[2 * MOST];
    const struct points points = {.count = 2 * MOST, .code = code, .mass = mass};
    for (int k = 0; k < 2 * MOST; k++) {
        code[k] = k + (k >= 100); /* the code 100 is no point */
        mass[k] = k < 40 ? 1 : 2;
    }
    digital_line_runs(&points, false, end);
    for (int k = 0; k < 2 * MOST; k++) {
        const int run = k < 40 ? 40 : k < 100 ? 100 : 2 * MOST;
        ck_assert_int_eq(end[k], run - k < MOST ? run : k + MOST);
    }
    digital_line_runs(&points, true, end);
    for (int k = 0; k < 2 * MOST; k++) {
        const int run = k < 2 * MOST - 100 ? 2 * MOST - 100 : k < 2 * MOST - 40 ? 2 * MOST - 40 : 2 * MOST;
        ck_assert_int_eq(end[k], run - k < MOST ? run : k + MOST);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("digital_line");
    TCase *bounds = tcase_create("bounds");
    tcase_add_test(bounds, digital_lines_are_within_the_bounds);
    tcase_add_test(bounds, ties_to_even_are_within_the_bounds);
    suite_add_tcase(suite, bounds);
    TCase *targets = tcase_create("targets");
    tcase_add_test(targets, no_line_costs_less);
    tcase_add_test(targets, runs_end_where_points_differ);
    suite_add_tcase(suite, targets);
    return run_suite(suite);
}
