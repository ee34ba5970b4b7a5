/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wide inputs: of more than 2^20 codes some are looked at, and the others are bounded by how f bends. */
#include "checker.h"

/* Where regions meet, in reverse Polish notation, and whether f is convex (+), concave (-) or straight (0) on each,
 * from the left. Of sin and cos: on those from even multiples of pi, and from odd ones. */
static const struct {
    const char *names, *signs, *place[2];
} bends[] = {
    {" exp softplus rsqrt ", "+", {NULL}},
    {" log sqrt logsigmoid ", "-", {NULL}},
    {" sigmoid tanh erf atan softsign ", "+-", {"0"}},
    {" reciprocal ", "-+", {"0"}},
    {" relu leaky_relu ", "00", {"0"}},
    {" elu selu ", "+0", {"0"}},
    {" relu6 ", "000", {"0", "6"}},
    {" hard_sigmoid ", "000", {"-3", "3"}},
    {" hard_swish ", "0+0", {"-3", "3"}},
    {" gelu ", "-+-", {"2 sqrt neg", "2 sqrt"}},
    {" silu ", "-+-", {"2.399357280515467667832739697282283888523 neg", "2.399357280515467667832739697282283888523"}},
    {" quick_gelu ",
     "-+-",
     {"2.399357280515467667832739697282283888523 -1.702 /", "2.399357280515467667832739697282283888523 1.702 /"}},
    {" gelu_tanh ", "-+-", {"-1.418504008790828355548033545599642697924", "1.418504008790828355548033545599642697924"}},
    {" mish ", "-+-", {"-2.256376396360793120005748543950163906264", "1.490571179485428459294418908197909821128"}},
    {" sin ", "-+", {NULL}},
    {" cos ", "+-", {NULL}},
};

struct region {
    i64 first, last;
    int sign;
};

static struct region *region;
static size_t regions;

static void add_region(i64 first, i64 last, char sign)
{
    REQUIRE(regions < MOST_CODES, "f bends too often");
    if (first < x.qmin)
        first = x.qmin;
    if (last > x.qmax)
        last = x.qmax;
    if (first <= last)
        region[regions++] = (struct region){first, last, sign == '+' ? 1 : sign == '-' ? -1 : 0};
}

/* Ends a region where the place on the stack is, if it has an x; returns the first code of the next one. */
static i64 end_region(i64 first, char sign, bool own)
{
    mpfr_div(rest, *stack, x.scale, MPFR_RNDN);
    mpfr_abs(at, rest, MPFR_RNDN);
    mpfr_div_2ui(at, at, 100, MPFR_RNDN);
    mpfr_add_si(rest, rest, x.zero_point, MPFR_RNDN);
    i64 near = mpfr_get_si(rest, MPFR_RNDN), down = mpfr_get_si(rest, MPFR_RNDD), up = mpfr_get_si(rest, MPFR_RNDU);
    mpfr_sub_si(rest, rest, near, MPFR_RNDN);
    own |= mpfr_cmpabs(rest, at) < 0;
    add_region(first, own ? near - 1 : down, sign);
    if (own)
        add_region(near, near, '0');
    return own ? near + 1 : up;
}

static void find_regions(void)
{
    char name[40];
    size_t k = 0;
    i64 first = x.qmin, from = strchr("pn", function->domain[0]) && function->domain[0] ? x.zero_point : x.qmin;
    region = get(MOST_CODES, sizeof *region);
    snprintf(name, sizeof name, " %s ", function_name);
    while (!strstr(bends[k].names, name))
        REQUIRE(++k < sizeof bends / sizeof *bends, "nothing is known of the curvature");
    const char *signs = bends[k].signs;
    if (from > x.qmin || function->domain[0] == 'p') { /* Codes outside have the target of the first one inside. */
        from += function->domain[0] == 'p' && from == x.zero_point;
        add_region(first, from - 1, '0');
        first = from > first ? from : first;
    }
    if (strcmp(function_name, "sin") && strcmp(function_name, "cos")) {
        for (int i = 0; i < 2 && bends[k].place[i]; i++) {
            evaluate(bends[k].place[i]);
            first = end_region(first, *signs++, !strcmp(function_name, "reciprocal"));
        }
        add_region(first, x.qmax, *signs);
        return;
    }
    mpfr_const_pi(far, MPFR_RNDN);
    mpfr_mul_si(whole, x.scale, x.qmin - x.zero_point, MPFR_RNDN);
    mpfr_div(whole, whole, far, MPFR_RNDN);
    for (i64 turn = mpfr_get_si(whole, MPFR_RNDD) - 1; first <= x.qmax; turn++) {
        mpfr_set_d(*stack, (double)(turn + 1) + (*function_name == 'c' ? 0.5 : 0), MPFR_RNDN);
        mpfr_mul(*stack, *stack, far, MPFR_RNDN);
        first = end_region(first, signs[turn & 1], false);
    }
    mpfr_set_si_2exp(far, 1, 41, MPFR_RNDN);
}

static mpfr_t near_target[4], edge[4], slack_of, upto, behind;
static i64 looks;
static i128 most_error;

/* The target of a code before it is clipped; of a code outside the domain, that of the nearest one inside. */
static void find_target(mpfr_t target, i64 q)
{
    REQUIRE(looks++ < 4 * MOST_CODES, "f is needed at too many codes");
    i64 zero = x.zero_point, inner = function->domain[0] == 'n' ? zero : zero == x.qmax ? zero - 1 : zero + 1;
    if (!find_value(q))
        REQUIRE(find_value(inner), "codes lie outside the function's domain");
    mpfr_add_si(target, *stack, y.zero_point, MPFR_RNDN);
}

static i128 output_of(const struct segment *s, i64 q, bool image)
{
    i128 value = image ? sum - value_at(s, 2 * d0 - q) : value_at(s, q);
    return smaller(larger(value, y.qmin), y.qmax);
}

/* The largest error that a code may have. */
static i128 error_at(const struct segment *s, i64 q, bool image)
{
    find_target(rest, q);
    clip_far(rest);
    i128 low = y.qmin * ONE, high = y.qmax * ONE, target = in_units(rest), output = output_of(s, q, image) * ONE;
    low = smaller(larger(target - unit, low), high);
    high = smaller(larger(target + unit, y.qmin * ONE), high);
    return larger(magnitude(output - low), magnitude(output - high));
}

/* The real line of a segment at a code, or at half a code: twice the code is given; and by how much values may be above
 * it. All is exact at 200 bits, but for what slack_of covers. */
static void find_line(mpfr_t value, const struct segment *s, i64 twice, bool image, bool above)
{
    i64 digits = s->n, low_bits = s->q_b | (form == BIASED ? s->c : 0);
    for (; digits > 0 && low_bits % 2 == 0; low_bits /= 2)
        digits--;
    mpfr_set_si(value, image ? 4 * d0 - twice : twice, MPFR_RNDN);
    mpfr_sub_si(value, value, 2 * s->origin, MPFR_RNDN);
    mpfr_mul_si(value, value, s->q_b, MPFR_RNDN);
    mpfr_div_2ui(value, value, 1, MPFR_RNDN);
    if (form == BIASED)
        mpfr_add_si(value, value, s->c, MPFR_RNDN);
    mpfr_mul_2si(value, value, -s->n, MPFR_RNDN);
    if (form != BIASED)
        mpfr_add_si(value, value, s->c, MPFR_RNDN);
    double off = digits <= 0 ? 0 : rounding == FLOOR ? 1 : 0.5; /* at least that of the page */
    off = above != image && rounding == FLOOR ? 0 : off;
    if (!s->q_b) {
        mpfr_set_si(value, (long)smaller(larger(value_at(s, s->start), -INT64_MAX), INT64_MAX), MPFR_RNDN);
        off = 0;
    }
    if (image)
        mpfr_si_sub(value, sum, value, MPFR_RNDN);
    (above ? mpfr_add_d : mpfr_sub_d)(value, value, off, MPFR_RNDN);
}

/* How far straight functions, of which the values at both ends of a range are given, are positive: cuts off what is
 * not. False where nothing is left. */
static bool cut_range(const mpfr_t first, const mpfr_t last)
{
    if (mpfr_sgn(first) <= 0 && mpfr_sgn(last) <= 0)
        return false;
    if (mpfr_sgn(first) > 0 && mpfr_sgn(last) > 0)
        return true;
    mpfr_sub(rest, first, last, MPFR_RNDN);
    mpfr_div(rest, first, rest, MPFR_RNDN);
    if (mpfr_sgn(first) <= 0 && mpfr_cmp(rest, behind) > 0)
        mpfr_set(behind, rest, MPFR_RNDN);
    if (mpfr_sgn(last) <= 0 && mpfr_cmp(rest, upto) < 0)
        mpfr_set(upto, rest, MPFR_RNDN);
    mpfr_sub(rest, behind, upto, MPFR_RNDN);
    return mpfr_sgn(rest) <= 0 || mpfr_get_exp(rest) < -150;
}

/* Whether more(q) - less(q) > G, more > qmin + G and less < qmax - G at some q: by the values of both at both ends,
 * edge 0 and 1 of more, and 2 and 3 of less. */
static bool may_be_off(const mpfr_t most)
{
    bool off = true;
    mpfr_set_si(behind, 0, MPFR_RNDN);
    mpfr_set_si(upto, 1, MPFR_RNDN);
    for (int kind = 0; kind < 3 && off; kind++) {
        for (int end = 0; end < 2; end++) {
            if (kind == 0)
                mpfr_sub(stack[end], edge[end], edge[2 + end], MPFR_RNDN);
            else if (kind == 1)
                mpfr_sub_si(stack[end], edge[end], y.qmin, MPFR_RNDN);
            else
                mpfr_si_sub(stack[end], y.qmax, edge[2 + end], MPFR_RNDN);
            mpfr_sub(stack[end], stack[end], most, MPFR_RNDN);
            mpfr_add(stack[end], stack[end], slack_of, MPFR_RNDN);
        }
        off = cut_range(stack[0], stack[1]);
    }
    return off;
}

/* The chord of f over a piece, or the other line, from its first half's outer end or its second one's, at both ends of
 * the half: put into two edges. */
static void find_bound(mpfr_t put[2], i64 a, i64 b, bool second, bool chord)
{
    for (int end = 0; end < 2; end++) {
        i64 twice = second == (end == 1) ? (second ? 2 * b : 2 * a) : a + b; /* twice the code */
        mpfr_srcptr from = near_target[chord || !second ? 1 : 2];
        mpfr_sub(put[end], near_target[chord ? 2 : second ? 3 : 1], near_target[chord ? 1 : second ? 2 : 0], MPFR_RNDN);
        mpfr_mul_si(put[end], put[end], twice - (chord || !second ? 2 * a : 2 * b), MPFR_RNDN);
        mpfr_div_si(put[end], put[end], chord ? 2 * (b - a) : 2, MPFR_RNDN);
        mpfr_add(put[end], put[end], from, MPFR_RNDN);
    }
}

/* No code of a piece has a larger error, as far as lines tell. */
static bool is_good_piece(const struct segment *s, i64 a, i64 b, int sign, bool image)
{
    bool good = true;
    mpfr_set_d(slack_of, ldexp(1, 40), MPFR_RNDN);
    for (int i = 0; i < 4; i++) {
        find_target(near_target[i], a - 1 + (i & 1) + (i >= 2 ? b - a + 1 : 0));
        mpfr_abs(rest, near_target[i], MPFR_RNDU);
        mpfr_add(slack_of, slack_of, rest, MPFR_RNDU);
    }
    mpfr_div_2ui(slack_of, slack_of, 95, MPFR_RNDU); /* enclosures, 2^-140 times 2^33 codes, and what 200 bits lose */
    mpfr_set_d(whole, in_steps(most_error), MPFR_RNDD);
    for (int second = 0; second < 2 && good; second++)
        for (int over = 0; over < 2 && good; over++) { /* whether f is to be above the line, or below it */
            i64 first = second ? a + b : 2 * a, last = second ? 2 * b : a + b;
            find_line(edge[over ? 2 : 0], s, first, image, !over);
            find_line(edge[over ? 3 : 1], s, last, image, !over);
            find_bound(edge + (over ? 0 : 2), a, b, second, over == (sign >= 0));
            good = !may_be_off(whole);
        }
    return good;
}

/* No code from first to last, of one segment and one region, has an error of more than G. */
static void check_stretch(const struct segment *s, i64 first, i64 last, int sign, bool image)
{
    REQUIRE(error_at(s, first, image) <= most_error, "the code %lld has a larger error", first);
    REQUIRE(error_at(s, last, image) <= most_error, "the code %lld has a larger error", last);
    i64 a = first + 1, b = last - 1;
    if (a == b)
        check_stretch(s, a, a, sign, image);
    else if (a < b && !is_good_piece(s, a, b, sign, image)) {
        check_stretch(s, first, a + (b - a) / 2, sign, image);
        check_stretch(s, a + (b - a) / 2, last, sign, image);
    }
}

/* Every code's error is at most bound_lsb. */
void check_wide(void)
{
    i64 bits = needed_bits();
    double most = said.bound < 0 ? said.largest + half_digit(said.largest) : said.bound;
    for (size_t i = 0; i < 4; i++)
        mpfr_inits2(PRECISION, near_target[i], edge[i], NULL);
    mpfr_inits2(PRECISION, slack_of, upto, behind, NULL);
    REQUIRE(said.exhaustive == (said.bound < 0), "bound_lsb: it is there without need, or missing");
    REQUIRE(said.largest >= 0 && said.largest <= most && most < 1e10, "max_err_lsb is more than bound_lsb");
    check_count("acc_bits", said.acc_bits, bits, (i64)smaller(bits, wide));
    check_count("checked", said.checked, said.exhaustive ? codes : 0, said.exhaustive ? codes : codes - 1);
    check_count("max_err_at", said.max_err_at, x.qmin, x.qmax);
    bool ends = find_value(x.qmin) && find_value(x.qmax);
    ends &= x.zero_point < x.qmin || x.zero_point > x.qmax || find_value(x.zero_point);
    REQUIRE(ends || (outside && (find_value(x.qmin) || find_value(x.qmax))), "codes lie outside the function's domain");
    find_regions();
    mpfr_set_d(whole, most, MPFR_RNDD);
    most_error = in_units(whole);
    for (const struct segment *s = segments; s < segments + count; s++)
        for (int image = 0; image < (folded ? 2 : 1); image++) {
            i64 low = image ? 2 * d0 - s->end + 1 : s->start, high = image ? 2 * d0 - s->start : s->end - 1;
            low = low < x.qmin ? x.qmin : low;
            high = (i64)smaller(high, image ? d0 - 1 : x.qmax);
            for (size_t k = 0; k < regions; k++) {
                i64 first = (i64)larger(region[k].first, low), last = (i64)smaller(region[k].last, high);
                if (first <= last)
                    check_stretch(s, first, last, region[k].sign, image);
            }
            if (low <= said.max_err_at && said.max_err_at <= high)
                check_figure("max_err_lsb", said.largest, in_steps(error_at(s, said.max_err_at, image)));
        }
    printf("%s: accepted: no error is above %.10g LSB, %lld segments; not checked: counts and averages%s%s\n",
           file_name, most, count, said.optimal ? "; not proven: optimal" : "",
           said.lower_bound > 0 ? "; not proven: lower_bound_lsb" : "");
}
