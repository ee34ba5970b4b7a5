/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of more than 16 input bits: as few segments, and errors as small, as narrower inputs have. */
#include "../reference/fixture.h"

static const struct {
    const char *flags;
    bool quick;   /* part of the quick part */
    int segments; /* at most */
    double error; /* at most: the largest one of every code, or the bound on it */
    double rms;   /* at most; 0 where it does not matter */
} cases[] = {
    /* What is added to a line after floor is a whole output. */
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --max-err 0.55", true, 540, 0.55, 0},
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --max-err 0.6", false, 385, 0.6, 0},
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --max-err 0.7", false, 258, 0.7, 0},
    {"sigmoid --in s24:2^-20 --out s16:2^-15 --max-err 0.55", false, 540, 0.55, 0},
    {"sigmoid --in s24:2^-20 --out s16:2^-15 --max-err 0.6", false, 385, 0.6, 0},
    {"sigmoid --in s24:2^-20 --out s16:2^-15 --max-err 0.7", false, 258, 0.7, 0},
    {"sigmoid --in s32:2^-28 --out s16:2^-15 --max-err 0.55", true, 540, 0.55, 0},
    {"sigmoid --in s32:2^-28 --out s16:2^-15 --max-err 0.6", false, 385, 0.6, 0},
    {"sigmoid --in s32:2^-28 --out s16:2^-15 --max-err 0.7", false, 258, 0.7, 0},
    /* That of 16 bits is 0.499997. */
    {"sigmoid --in s18:2^-14 --out s16:2^-15 --method minimax --segments 1024", false, 1024, 0.52, 0},
    {"sigmoid --in s19:2^-15 --out s16:2^-15 --method minimax --segments 1024", false, 1024, 0.52, 0},
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --method minimax --segments 1024", false, 1024, 0.52, 0},
    {"sigmoid --in s24:2^-20 --out s16:2^-15 --method minimax --segments 1024", false, 1024, 0.52, 0},
    {"sigmoid --in s32:2^-28 --out s16:2^-15 --method minimax --segments 1024", false, 1024, 0.52, 0},
    /* Nearly two thirds of an output a code: no code is rounded by more. */
    {"hard_sigmoid --in s32:2^-28:0 --out s32:2^-30 --max-err 1", true, 4, 0.69, 0},
    /* Each half saturates at its own end: 286 is 255, and 316 - 286 is not cut off. */
    {"sigmoid --in s18:2^-14 --out u8:2^-8:30 --symmetry fold --max-err 1", true, 8, 1, 0},
    {"sigmoid --in s18:2^-14 --out u8:2^-8:30 --symmetry fold --method minimax --segments 16", false, 16, 0.69, 0},
    {"tanh --in u32:9.3132e-10:964264583 --out s12:0.00020895:1376 --symmetry fold --form anchored --method minimax "
     "--segments 64",
     false, 64, 0.69, 0},
    /* With 16 bits 245.779, 320.923, 226.292 and 6995.19: knots are those of lines that saturate. */
    {"sigmoid --in s32:2^-28 --out s16:2^-15 --segments 4", true, 4, INFINITY, 245.779 * 1.01},
    {"tanh --in s32:2^-28 --out s16:2^-15 --segments 4", false, 4, INFINITY, 320.923 * 1.01},
    {"erf --in s32:2^-28 --out s16:2^-15 --segments 4", false, 4, INFINITY, 226.292 * 1.01},
    {"sin --in s32:2^-28 --out s16:2^-15 --segments 4", false, 4, INFINITY, 6995.19 * 1.01},
    {"sigmoid --in s20:2^-16 --out s16:2^-15 --segments 4", false, 4, INFINITY, 245.779 * 1.01},
    {"--expr abs(x-0.3) --in s24:2^-20 --out s16:2^-12 --max-err 1", false, 2, 1, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Every code up to this width is visited here. */
static int most_bits_visited(void)
{
    return test_is_long() ? 24 : 20;
}

START_TEST(wide_tables_are_as_good_as_narrow_ones)
{
    const char *const flags = cases[_i].flags;
    struct fitted fitted;
    fit_well(flags, &fitted);
    const struct certificate *certificate = &fitted.table.certificate;
    const bool visited = fitted.spec.in.bits <= most_bits_visited() && !fitted.spec.function.expression;
    const double error = visited                  ? measure_plainly(&fitted.spec, &fitted.table).max
                         : certificate->has_bound ? certificate->bound_lsb
                                                  : certificate->max_err_lsb;
    ck_assert_msg(fitted.table.segment_count <= cases[_i].segments, "%s: %d segments, must be at most %d", flags,
                  fitted.table.segment_count, cases[_i].segments);
    ck_assert_msg(error <= cases[_i].error, "%s: off by %.9g LSB, must be at most %.9g", flags, error, cases[_i].error);
    ck_assert_msg(cases[_i].rms == 0 || certificate->rms_err_lsb <= cases[_i].rms, "%s: RMS %.9g, must be at most %.9g",
                  flags, certificate->rms_err_lsb, cases[_i].rms);
    ck_assert_msg(certificate->max_err_lsb <= error * (1 + 5e-6) + 1e-9, "%s: certified %.9g, measured %.9g", flags,
                  certificate->max_err_lsb, error);
    if (certificate->has_bound)
        ck_assert_msg(error <= certificate->bound_lsb, "%s: bound %.9g, measured %.9g", flags, certificate->bound_lsb,
                      error);
    fitted_free(&fitted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wide");
    TCase *wide = tcase_create("wide");
    for (int k = 0; k < CASES; k++)
        if (cases[k].quick || test_is_long())
            tcase_add_loop_test(wide, wide_tables_are_as_good_as_narrow_ones, k, k + 1);
    suite_add_tcase(suite, wide);
    return run_suite(suite);
}
