/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines over many points at once: what they give and cost is what each code does. */
#include "../../support/random.h"
#include "../reference/fixture.h"
#include "fit/problem.h"
#include "search/line.h"
#include "search/points.h"

static const char *const formats[] = {
    "sigmoid --in s16:2^-12:0 --out s16:2^-15:0", "exp --in s16:2^-12:32767 --out s16:2^-15:0",
    "gelu --in s8:2^-5:3 --out s8:2^-5:-100",     "sin --in u10:2^-7:512 --out s12:2^-12:0",
    "tanh --in s18:2^-15:0 --out s16:2^-15:0",    "sigmoid --in s16:2^-12:0 --out s16:2^-15:0 --symmetry fold",
};
enum { FORMATS = sizeof formats / sizeof *formats };

struct problem {
    struct spec spec, half; /* the half is that of a folded table, else the same */
    struct points points;
    struct line_rules rules;
};

static void problem_init(struct problem *problem, const char *flags)
{
    struct diag diag;
    int64_t sum = 0;
    ck_assert_int_eq(spec_from(flags, &problem->spec, &diag), EXIT_DONE);
    ck_assert(!problem->spec.fold || !spec_fold_sum(&problem->spec, &sum, &diag));
    problem->half = problem->spec.fold ? spec_fold_half(&problem->spec, sum) : problem->spec;
    ck_assert_int_eq(points_build(&problem->half, &problem->points, &diag), EXIT_DONE);
    line_rules_init(&problem->rules, &problem->half);
}

static void problem_free(struct problem *problem)
{
    points_free(&problem->points);
    spec_free(&problem->spec);
}

/* A line that is provable over the points [begin, end), of any size: its numbers have as many bits as chance gives. */
static struct line random_line(const struct problem *problem, int begin, int end, uint64_t *random)
{
    struct line line;
    const int64_t *cell = problem->points.cell;
    do {
        const struct integers slopes = problem->rules.slopes;
        const int less = (int)random_in(random, 0, 14);
        const int64_t offset = problem->rules.offsets.high >> random_in(random, 0, 30);
        line = (struct line){.q_b = random_in(random, slopes.low >> less, slopes.high >> less),
                             .n = (int)random_in(random, -3, 20),
                             .offset = random_in(random, -offset, offset)};
    } while (!line_provable(&problem->rules, &line, cell[begin], cell[end] - 1));
    return line;
}

/* Of one line over the points [begin, end); q has room for all. */
static void check(const struct problem *problem, const struct line *line, int begin, int end, double *q)
{
    const struct points *points = &problem->points;
    const struct line_rules *rules = &problem->rules;
    double cost = 0, worst = 0;
    line_outputs(rules, points, begin, begin, end, line, q);
    for (int k = begin; k < end; k++) {
        const int64_t y = line_output(rules, points, begin, k, line);
        ck_assert_msg((double)y == q[k - begin],
                      "form %d rounding %d: q_b %lld n %d offset %lld at point %d: %.17g, is %lld", (int)rules->form,
                      (int)rules->rounding, (long long)line->q_b, line->n, (long long)line->offset, k, q[k - begin],
                      (long long)y);
        cost += points_cost(points, k, (double)y);
        worst = fmax(worst, points_error(points, k, (double)y));
    }
    ck_assert_msg(points_worst(points, begin, end, q) == worst, "off by %.17g, is %.17g",
                  points_worst(points, begin, end, q), worst);
    /* Sums of count terms, none below 0, in two orders. */
    const double squares = points_squares(points, begin, end, q), tolerance = cost * points->count * 0x1p-52;
    ck_assert_msg(fabs(squares - cost) <= tolerance, "costs %.17g, is %.17g", squares, cost);
    const double below = line_cost_below(rules, points, begin, end, line, NULL, INFINITY);
    ck_assert_msg(fabs(below - cost) <= tolerance, "costs %.17g, is %.17g", below, cost);
    ck_assert(!isfinite(line_cost_below(rules, points, begin, end, line, NULL, below)));
}

START_TEST(many_points_are_as_each_one)
{
    enum { LINES = 5, FORMS = 3, ROUNDINGS = 4 };
    struct problem problem;
    uint64_t random = (uint64_t)_i;
    problem_init(&problem, formats[_i]);
    const int count = problem.points.count;
    double *q = malloc((size_t)count * sizeof *q);
    for (int repeat = 0; repeat < LINES * FORMS * ROUNDINGS; repeat++) {
        const int begin = (int)random_in(&random, 0, count - 1), end = (int)random_in(&random, begin + 1, count);
        problem.rules.form = (pwl_form)(repeat % FORMS);
        problem.rules.rounding = (pwl_rounding)(repeat / FORMS % ROUNDINGS);
        const struct line line = random_line(&problem, begin, end, &random);
        check(&problem, &line, begin, end, q);
    }
    free(q);
    problem_free(&problem);
}
END_TEST

/* Whether q is a sum of at most `terms` signed powers of two. */
static bool is_sum(int64_t q, int terms)
{
    if (q == 0)
        return true;
    for (int bit = 0; terms > 0 && bit <= 12; bit++)
        if (is_sum(q - ((int64_t)1 << bit), terms - 1) || is_sum(q + ((int64_t)1 << bit), terms - 1))
            return true;
    return false;
}

START_TEST(slopes_are_the_next_sums_of_powers_of_two)
{
    enum { LIMIT = 1 << 10 };
    const struct line_rules rules = {.slope_terms = _i};
    int64_t above = LIMIT;
    for (int64_t q = LIMIT - 1; q >= -LIMIT; q--) {
        above = is_sum(q + 1, _i) ? q + 1 : above;
        ck_assert_msg(slope_above(&rules, q) == above, "%d terms: above %lld comes %lld, not %lld", _i, (long long)q,
                      (long long)above, (long long)slope_above(&rules, q));
        for (double part = 0; part < 1; part += 0.25) {
            const double real = (double)q + part, apart = fabs((double)slope_nearest(&rules, real) - real);
            ck_assert(is_sum(slope_nearest(&rules, real), _i));
            for (int64_t other = (int64_t)ceil(real - apart); (double)other < real + apart; other++)
                ck_assert_msg((double)other <= real - apart || !is_sum(other, _i), "%d terms: %lld is nearer to %g", _i,
                              (long long)other, real);
        }
    }
}
END_TEST

START_TEST(ties_are_half_way_between_outputs)
{
    enum { LINES = 2000, CODES = 300 };
    uint64_t random = 1;
    for (int i = 0; i < LINES; i++) {
        const struct line_rules rules = {.form = (pwl_form)(i % 3)};
        const struct line line = {.q_b = random_in(&random, -3000, 3000) >> random_in(&random, 0, 12),
                                  .n = (int)random_in(&random, -2, 14),
                                  .offset = random_in(&random, -3000, 3000) * (1 << random_in(&random, 0, 5))};
        const struct line_halfway ties = line_halfway(&rules, &line);
        const int64_t bias = rules.form == PWL_BIASED ? line.offset : 0, unit = (int64_t)1 << (line.n > 0 ? line.n : 0);
        ck_assert((ties.period & (ties.period - 1)) == 0);
        for (int64_t x = -CODES; x <= CODES; x++) {
            const bool is_tie = line.n > 0 && ((line.q_b * x + bias) & (unit - 1)) == unit / 2;
            const bool is_found = ties.period && (((uint64_t)x - ties.first) & (ties.period - 1)) == 0;
            ck_assert_msg(is_tie == is_found, "form %d, q_b %lld n %d offset %lld: at %lld %s", (int)rules.form,
                          (long long)line.q_b, line.n, (long long)line.offset, (long long)x,
                          is_tie ? "is one" : "is none");
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("line");
    TCase *points = tcase_create("points");
    tcase_add_loop_test(points, many_points_are_as_each_one, 0, FORMATS);
    TCase *slopes = tcase_create("slopes");
    tcase_add_loop_test(slopes, slopes_are_the_next_sums_of_powers_of_two, 1, 3);
    tcase_add_test(points, ties_are_half_way_between_outputs);
    suite_add_tcase(suite, points);
    suite_add_tcase(suite, slopes);
    return run_suite(suite);
}
