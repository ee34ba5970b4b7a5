/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Enclosures of drawn expressions contain what MPFR says: at points the value and both derivatives, over intervals
 * those of the points inside. Derivatives are differences of MPFR's values 2^-150 apart, of 600 bits. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/engine.h"

#include "../../support/suite.h"
#include "../reference/draw.h"

#define PRECISION 600
#define STEP (-150)
#define NODES 24
#define INSIDE 4 /* points of an interval */

enum shape { LEAF_X, LEAF_NUMBER, ONE, TWO, CHOICE };

/* An expression as a tree, in an array: the index of its operands. */
struct node {
    enum shape shape;
    int function, a, b, c, d;
    char number[24];
};

struct tree {
    struct node nodes[NODES];
    int count;
};

typedef int one_argument(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int two_arguments(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_neg(y, x, rounding);
    mpfr_exp(y, y, rounding);
    mpfr_add_ui(y, y, 1, rounding);
    return mpfr_ui_div(y, 1, y, rounding);
}

/* max(x, 0) + log(1 + e^-|x|) */
static int softplus(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_t rest;
    mpfr_init2(rest, PRECISION);
    mpfr_abs(rest, x, rounding);
    mpfr_neg(rest, rest, rounding);
    mpfr_exp(rest, rest, rounding);
    mpfr_log1p(rest, rest, rounding);
    mpfr_set(y, x, rounding);
    if (mpfr_sgn(y) < 0)
        mpfr_set_ui(y, 0, rounding);
    mpfr_add(y, y, rest, rounding);
    mpfr_clear(rest);
    return 0;
}

static int logsigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_neg(y, x, rounding);
    softplus(y, y, rounding);
    return mpfr_neg(y, y, rounding);
}

/* x times a gate of x */
static int times(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding, one_argument *gate)
{
    mpfr_t gated;
    mpfr_init2(gated, PRECISION);
    gate(gated, x, rounding);
    mpfr_mul(y, x, gated, rounding);
    mpfr_clear(gated);
    return 0;
}

static int silu(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return times(y, x, rounding, sigmoid);
}

static int mish_gate(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    softplus(y, x, rounding);
    return mpfr_tanh(y, y, rounding);
}

static int mish(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return times(y, x, rounding, mish_gate);
}

static int quick_gate(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_mul_ui(y, x, 1702, rounding);
    mpfr_div_ui(y, y, 1000, rounding);
    return sigmoid(y, y, rounding);
}

static int quick_gelu(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return times(y, x, rounding, quick_gate);
}

static int gelu_gate(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_t root;
    mpfr_init2(root, PRECISION);
    mpfr_sqrt_ui(root, 2, rounding);
    mpfr_div(y, x, root, rounding);
    mpfr_neg(y, y, rounding);
    mpfr_erfc(y, y, rounding);
    mpfr_clear(root);
    return mpfr_div_ui(y, y, 2, rounding);
}

static int gelu(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return times(y, x, rounding, gelu_gate);
}

/* sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)) */
static int tanh_gate(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_t cube, factor;
    mpfr_inits2(PRECISION, cube, factor, (mpfr_ptr)NULL);
    mpfr_pow_ui(cube, x, 3, rounding);
    mpfr_mul_ui(cube, cube, 44715, rounding);
    mpfr_div_ui(cube, cube, 1000000, rounding);
    mpfr_add(cube, cube, x, rounding);
    mpfr_const_pi(factor, rounding);
    mpfr_ui_div(factor, 8, factor, rounding);
    mpfr_sqrt(factor, factor, rounding);
    mpfr_mul(y, cube, factor, rounding);
    mpfr_clears(cube, factor, (mpfr_ptr)NULL);
    return sigmoid(y, y, rounding);
}

static int gelu_tanh(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return times(y, x, rounding, tanh_gate);
}

static int softsign(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_t size;
    mpfr_init2(size, PRECISION);
    mpfr_abs(size, x, rounding);
    mpfr_add_ui(size, size, 1, rounding);
    mpfr_div(y, x, size, rounding);
    mpfr_clear(size);
    return 0;
}

static int hard_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_add_ui(y, x, 3, rounding);
    mpfr_div_ui(y, y, 6, rounding);
    if (mpfr_cmp_ui(y, 1) > 0)
        return mpfr_set_ui(y, 1, rounding);
    return mpfr_sgn(y) < 0 ? mpfr_set_ui(y, 0, rounding) : 0;
}

static int hard_swish(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return times(y, x, rounding, hard_sigmoid);
}

static int relu(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_sgn(x) < 0 ? mpfr_set_ui(y, 0, rounding) : mpfr_set(y, x, rounding);
}

static int elu(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_sgn(x) < 0 ? mpfr_expm1(y, x, rounding) : mpfr_set(y, x, rounding);
}

static int leaky_relu(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_set(y, x, rounding);
    return mpfr_sgn(x) < 0 ? mpfr_div_ui(y, y, 4, rounding) : 0;
}

static int square(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_sqr(y, x, rounding);
}

static int cube(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_pow_si(y, x, 3, rounding);
}

static int inverse_square(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_pow_si(y, x, -2, rounding);
}

static int power_of_half(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_sqrt(y, x, rounding);
    return mpfr_pow_si(y, y, 3, rounding);
}

static int floor_of(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    (void)rounding;
    return mpfr_floor(y, x);
}

static int ceil_of(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    (void)rounding;
    return mpfr_ceil(y, x);
}

static int inverse_root(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_rec_sqrt(y, x, rounding);
}

static int inverse(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_ui_div(y, 1, x, rounding);
}

static const struct {
    const char *before, *after;
    one_argument *mpfr;
} ones[] = {
    {"-", "", mpfr_neg},
    {"sin(", ")", mpfr_sin},
    {"cos(", ")", mpfr_cos},
    {"tan(", ")", mpfr_tan},
    {"asin(", ")", mpfr_asin},
    {"acos(", ")", mpfr_acos},
    {"atan(", ")", mpfr_atan},
    {"sinh(", ")", mpfr_sinh},
    {"cosh(", ")", mpfr_cosh},
    {"tanh(", ")", mpfr_tanh},
    {"asinh(", ")", mpfr_asinh},
    {"acosh(", ")", mpfr_acosh},
    {"atanh(", ")", mpfr_atanh},
    {"exp(", ")", mpfr_exp},
    {"expm1(", ")", mpfr_expm1},
    {"log(", ")", mpfr_log},
    {"log2(", ")", mpfr_log2},
    {"log10(", ")", mpfr_log10},
    {"log1p(", ")", mpfr_log1p},
    {"sqrt(", ")", mpfr_sqrt},
    {"erf(", ")", mpfr_erf},
    {"erfc(", ")", mpfr_erfc},
    {"abs(", ")", mpfr_abs},
    {"sigmoid(", ")", sigmoid},
    {"softplus(", ")", softplus},
    {"logsigmoid(", ")", logsigmoid},
    {"silu(", ")", silu},
    {"mish(", ")", mish},
    {"quick_gelu(", ")", quick_gelu},
    {"gelu(", ")", gelu},
    {"gelu_tanh(", ")", gelu_tanh},
    {"softsign(", ")", softsign},
    {"hard_sigmoid(", ")", hard_sigmoid},
    {"hard_swish(", ")", hard_swish},
    {"relu(", ")", relu},
    {"elu(", ")", elu},
    {"leaky_relu(", ", 0.25)", leaky_relu},
    {"rsqrt(", ")", inverse_root},
    {"reciprocal(", ")", inverse},
    {"", "^2", square},
    {"", "^3", cube},
    {"", "^-2", inverse_square},
    {"", "^1.5", power_of_half},
    {"floor(", ")", floor_of},
    {"ceil(", ")", ceil_of},
};

static const struct {
    const char *before, *between, *after;
    two_arguments *mpfr;
} twos[] = {
    {"(", "+", ")", mpfr_add},    {"(", "-", ")", mpfr_sub}, {"(", "*", ")", mpfr_mul},
    {"(", "/", ")", mpfr_div},    {"(", "^", ")", mpfr_pow}, {"min(", ",", ")", mpfr_min},
    {"max(", ",", ")", mpfr_max}, {"(", "+", ")", mpfr_add}, {"(", "*", ")", mpfr_mul},
};

#define ONES ((int)(sizeof ones / sizeof *ones))
#define CONTINUOUS (ONES - 2) /* of others, what is not told apart from an integer is that integer */
#define TWOS ((int)(sizeof twos / sizeof *twos))

static int draw_tree(struct tree *tree, int depth)
{
    const int index = tree->count++;
    struct node *const node = &tree->nodes[index];
    const int kind = depth == 0 || tree->count > NODES - 6 ? draw(4) : 4 + draw(12);
    *node = (struct node){.shape = kind == 3   ? LEAF_NUMBER
                                   : kind < 3  ? LEAF_X
                                   : kind < 10 ? ONE
                                   : kind < 15 ? TWO
                                               : CHOICE};
    if (node->shape == LEAF_NUMBER) {
        snprintf(node->number, sizeof node->number, "%.*f", draw(5), uniform(0, one_in(4) ? 100 : 3));
    } else if (node->shape == ONE) {
        node->function = draw(CONTINUOUS);
        node->a = draw_tree(tree, depth - 1);
    } else if (node->shape == TWO) {
        node->function = draw(TWOS);
        node->a = draw_tree(tree, depth - 1);
        node->b = draw_tree(tree, depth - 1);
    } else if (node->shape == CHOICE) {
        node->a = draw_tree(tree, 0);
        node->b = draw_tree(tree, 0);
        node->c = draw_tree(tree, depth - 1);
        node->d = draw_tree(tree, depth - 1);
    }
    return index;
}

static void write_tree(const struct tree *tree, int index, char *text)
{
    const struct node *const node = &tree->nodes[index];
    char *const end = text + strlen(text);
    if (node->shape == LEAF_X) {
        strcpy(end, "x");
    } else if (node->shape == LEAF_NUMBER) {
        strcpy(end, node->number);
    } else if (node->shape == ONE) { /* signs and powers bind by parentheses here */
        const bool bare = node->function == 0 || !*ones[node->function].before;
        strcat(end, bare ? "(" : "");
        strcat(end, ones[node->function].before);
        strcat(end, bare ? "(" : "");
        write_tree(tree, node->a, end);
        strcat(end, bare ? ")" : "");
        strcat(end, ones[node->function].after);
        strcat(end, bare ? ")" : "");
    } else if (node->shape == TWO) {
        strcat(end, twos[node->function].before);
        write_tree(tree, node->a, end);
        strcat(end, twos[node->function].between);
        write_tree(tree, node->b, end);
        strcat(end, twos[node->function].after);
    } else {
        strcat(end, "(");
        write_tree(tree, node->a, end);
        strcat(end, "<");
        write_tree(tree, node->b, end);
        strcat(end, "?");
        write_tree(tree, node->c, end);
        strcat(end, ":");
        write_tree(tree, node->d, end);
        strcat(end, ")");
    }
}

static bool is_wave(int function)
{
    return ones[function].mpfr == mpfr_sin || ones[function].mpfr == mpfr_cos || ones[function].mpfr == mpfr_tan;
}

/* Where MPFR would need too many digits of pi. */
static bool is_far(const mpfr_t x)
{
    return mpfr_regular_p(x) && mpfr_get_exp(x) > 400;
}

static void evaluate(const struct tree *tree, int index, const mpfr_t x, mpfr_t y)
{
    const struct node *const node = &tree->nodes[index];
    mpfr_t a, b;
    mpfr_inits2(PRECISION, a, b, (mpfr_ptr)NULL);
    if (node->shape == LEAF_X) {
        mpfr_set(y, x, MPFR_RNDN);
    } else if (node->shape == LEAF_NUMBER) {
        mpfr_set_str(y, node->number, 10, MPFR_RNDN);
    } else {
        evaluate(tree, node->a, x, a);
        if (node->shape != ONE)
            evaluate(tree, node->b, x, b);
        const bool has_none = mpfr_nan_p(a) || (node->shape == TWO && mpfr_nan_p(b)); /* min takes the other */
        if (has_none || (node->shape == ONE && is_wave(node->function) && is_far(a)))
            mpfr_set_nan(y);
        else if (node->shape == ONE)
            ones[node->function].mpfr(y, a, MPFR_RNDN);
        else if (node->shape == TWO)
            twos[node->function].mpfr(y, a, b, MPFR_RNDN);
        else
            evaluate(tree, mpfr_less_p(a, b) ? node->c : node->d, x, y);
    }
    mpfr_clears(a, b, (mpfr_ptr)NULL);
}

/* Value and derivatives at x. */
static void differentiate(const struct tree *tree, const mpfr_t x, mpfr_t truth[3])
{
    mpfr_t at, left, right, step;
    mpfr_inits2(PRECISION, at, left, right, step, (mpfr_ptr)NULL);
    mpfr_set_ui_2exp(step, 1, STEP, MPFR_RNDN);
    evaluate(tree, 0, x, truth[0]);
    mpfr_sub(at, x, step, MPFR_RNDN);
    evaluate(tree, 0, at, left);
    mpfr_add(at, x, step, MPFR_RNDN);
    evaluate(tree, 0, at, right);
    mpfr_sub(truth[1], right, left, MPFR_RNDN);
    mpfr_mul_2si(truth[1], truth[1], -STEP - 1, MPFR_RNDN);
    mpfr_add(truth[2], left, right, MPFR_RNDN);
    mpfr_sub(truth[2], truth[2], truth[0], MPFR_RNDN);
    mpfr_sub(truth[2], truth[2], truth[0], MPFR_RNDN);
    mpfr_mul_2si(truth[2], truth[2], -2 * STEP, MPFR_RNDN);
    mpfr_clears(at, left, right, step, (mpfr_ptr)NULL);
}

/* What differences themselves may be off by is far below any radius, unless the function is steep beyond 2^90. */
static bool is_gentle(mpfr_t truth[3])
{
    for (int i = 0; i < 3; i++)
        if (!mpfr_number_p(truth[i]) || mpfr_cmpabs_ui(truth[i], 1UL << 30) > 0)
            return false;
    return true;
}

/* Fails where a number is outside what is claimed to hold it. Whether anything was claimed. */
static bool check_inside(const char *text, const char *where, struct dd x, int order, struct ball ball, mpfr_t truth)
{
    mpfr_t off;
    if (ball.rad == (double)INFINITY || mpfr_nan_p(truth))
        return false;
    mpfr_init2(off, PRECISION);
    bool inside;
    if (isinf(ball.mid.hi)) {
        inside = mpfr_cmp_si_2exp(truth, 1, 900) >= 0 || mpfr_cmp_si_2exp(truth, -1, 900) <= 0;
    } else {
        mpfr_sub_d(off, truth, ball.mid.hi, MPFR_RNDN);
        mpfr_sub_d(off, off, ball.mid.lo, MPFR_RNDN);
        mpfr_abs(off, off, MPFR_RNDN);
        /* differences are 2^-300 or so, and far out more, off */
        inside = mpfr_cmp_d(off, ball.rad + (order > 0 ? 0x1p-120 : 0)) <= 0;
    }
    ck_assert_msg(inside, "%s %s %a + %a: derivative %d is %.17g, claimed within %g of %.17g", text, where, x.hi, x.lo,
                  order, mpfr_get_d(truth, MPFR_RNDN), ball.rad, ball.mid.hi);
    mpfr_clear(off);
    return true;
}

struct tally {
    long points, values, tight, slopes, bends, intervals, bounded;
};

/* Between 2^-6 and 40, of either sign, or one of the places where functions begin, end or turn. */
static struct dd draw_place(void)
{
    static const double special[] = {0, 1, -1, 0.5, -0.5, 2, -3, 3, 6, 0.25};
    if (one_in(12))
        return dd_of(special[draw(10)]);
    const double size = one_in(3) ? uniform(-40, 40) : uniform(-3, 3);
    return one_in(2) ? dd_of(size) : dd_sum(size, size * uniform(-0x1p-54, 0x1p-54));
}

static void check_point(const struct tree *tree, const char *text, const struct engine *engine, struct dd x,
                        struct tally *tally)
{
    mpfr_t at, truth[3];
    mpfr_inits2(PRECISION, at, truth[0], truth[1], truth[2], (mpfr_ptr)NULL);
    mpfr_set_d(at, x.hi, MPFR_RNDN);
    mpfr_add_d(at, at, x.lo, MPFR_RNDN);
    differentiate(tree, at, truth);
    const struct jet jet = engine_jet(engine, x);
    const struct ball value = engine_value(engine, x);
    tally->points += mpfr_number_p(truth[0]) != 0;
    if (check_inside(text, "at", x, 0, value, truth[0])) {
        tally->values++;
        tally->tight += value.rad <= 0x1p-60 * (1 + fabs(value.mid.hi));
    }
    check_inside(text, "at", x, 0, jet.at[0], truth[0]);
    if (x.lo != 0 && is_gentle(truth)) { /* at no place where a kink is likely */
        tally->slopes += check_inside(text, "at", x, 1, jet.at[1], truth[1]);
        tally->bends += check_inside(text, "at", x, 2, jet.at[2], truth[2]);
    }
    mpfr_clears(at, truth[0], truth[1], truth[2], (mpfr_ptr)NULL);
}

static void check_interval(const struct tree *tree, const char *text, const struct engine *engine, struct dd x,
                           double radius, struct tally *tally)
{
    mpfr_t at, truth[3];
    const struct jet jet = engine_enclosure(engine, x, radius);
    tally->intervals++;
    tally->bounded += jet.at[2].rad < (double)INFINITY;
    mpfr_inits2(PRECISION, at, truth[0], truth[1], truth[2], (mpfr_ptr)NULL);
    for (int k = 0; k < INSIDE; k++) { /* both ends first */
        const double offset = k < 2 ? (2 * k - 1) * radius : uniform(-radius, radius);
        mpfr_set_d(at, x.hi, MPFR_RNDN);
        mpfr_add_d(at, at, x.lo, MPFR_RNDN);
        mpfr_add_d(at, at, offset, MPFR_RNDN);
        differentiate(tree, at, truth);
        check_inside(text, "over an interval about", x, 0, jet.at[0], truth[0]);
        if (k < 2 || !is_gentle(truth))
            continue; /* differences reach over the ends */
        check_inside(text, "over an interval about", x, 1, jet.at[1], truth[1]);
        check_inside(text, "over an interval about", x, 2, jet.at[2], truth[2]);
    }
    mpfr_clears(at, truth[0], truth[1], truth[2], (mpfr_ptr)NULL);
}

static void check_tree(const struct tree *tree, int points, struct tally *tally)
{
    char text[2000] = "";
    struct engine *engine;
    struct diag diag = {0};
    write_tree(tree, 0, text);
    if (strchr(text, 'x') == NULL || engine_create(text, "--expr", &engine, &diag) != EXIT_DONE) {
        ck_assert_msg(strstr(diag.text, "does not depend on x") || !*diag.text, "%s: %s", text, diag.text);
        return;
    }
    for (int k = 0; k < points; k++) {
        check_point(tree, text, engine, draw_place(), tally);
        check_interval(tree, text, engine, draw_place(), ldexp(uniform(1, 2), -(int)between(0, 24)), tally);
    }
    engine_free(engine);
}

START_TEST(functions_are_enclosed)
{
    struct tally tally = {0};
    draw_from(1);
    for (int f = 0; f < ONES; f++) {
        const struct tree tree = {{{.shape = ONE, .function = f, .a = 1}, {.shape = LEAF_X}}, 2};
        check_tree(&tree, 300 / quick_step(3), &tally);
    }
    /* All but the jumps and kinks, where x happens to be there. */
    ck_assert_msg(tally.values * 50 > tally.points * 49 && tally.tight * 20 > tally.values * 19,
                  "%ld of %ld points have a value, %ld a tight one", tally.values, tally.points, tally.tight);
    ck_assert_msg(tally.bounded * 10 > tally.intervals * 5, "%ld of %ld intervals", tally.bounded, tally.intervals);
}
END_TEST

START_TEST(drawn_expressions_are_enclosed)
{
    struct tally tally = {0};
    draw_from(2);
    for (int k = 0; k < 40000 / quick_step(10); k++) {
        struct tree tree = {.count = 0};
        draw_tree(&tree, 1 + draw(4));
        check_tree(&tree, 3, &tally);
    }
    ck_assert_msg(tally.values * 10 > tally.points * 9 && tally.tight * 10 > tally.values * 8 &&
                      tally.bounded * 10 > tally.intervals * 3,
                  "%ld points: %ld values, %ld tight, %ld slopes, %ld bends; %ld of %ld intervals", tally.points,
                  tally.values, tally.tight, tally.slopes, tally.bends, tally.bounded, tally.intervals);
    if (getenv("PWL_TALLY"))
        printf("# %ld points: %ld values, %ld tight, %ld slopes, %ld bends; %ld of %ld intervals\n", tally.points,
               tally.values, tally.tight, tally.slopes, tally.bends, tally.bounded, tally.intervals);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("enclosures");
    tcase_set_timeout(cases, 600);
    tcase_add_test(cases, functions_are_enclosed);
    tcase_add_test(cases, drawn_expressions_are_enclosed);
    Suite *suite = suite_create("enclosures");
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
