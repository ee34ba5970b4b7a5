/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Proven bounds against tables whose every code is visited: never below an error, above the worst of the line and its
 * rounding by no more than error_bound.h allows, and above the largest error by 0.02 LSB at most. */
#include <stdio.h>

#include "../reference/fixture.h"
#include "../reference/draw.h"
#include "../reference/random_spec.h"
#include "measure/measure.h"
#include "measure/error_bound.h"
#include "measure/residues.h"

enum { TABLES = 1200, EXPRESSIONS = 800, MAX_SEGMENTS = 12, FUNCTIONS = 25, FORMS = 3, ROUNDINGS = 4 };

struct made {
    struct table table;
    struct segment segments[MAX_SEGMENTS];
    struct packed_table packed;
    struct function function;
};

static struct tally {
    int tables, functions[FUNCTIONS], kinds[FORMS][ROUNDINGS], folded, clamped, saturated, wide, tight;
} tally;

static struct tensor random_tensor(int bits, double low, double high)
{
    char text[80], scale[40];
    struct tensor tensor;
    struct diag diag;
    const int is_signed = draw(2);
    const double wanted = (high - low) / ldexp(1, bits);
    if (draw(2))
        snprintf(scale, sizeof scale, "2^%d", (int)rint(log2(wanted)));
    else
        snprintf(scale, sizeof scale, "%.7g", wanted);
    ck_assert_int_eq(scale_parse(scale, "scale", &tensor.scale, &diag), EXIT_DONE);
    const int64_t zero_point = code_min(bits, is_signed) - (int64_t)rint(low / (double)tensor.scale.value);
    snprintf(text, sizeof text, "%c%d:%s:%" PRId64, is_signed ? 's' : 'u', bits, tensor.scale.text, zero_point);
    ck_assert_msg(tensor_parse(text, "in", &tensor, &diag) == EXIT_DONE, "%s", diag.text);
    return tensor;
}

static long double target_of(const struct made *made, int64_t q)
{
    return dd_long(target_unclipped(&made->function, &made->table.in, &made->table.out, made->table.outside, q));
}

/* A line near f between two codes: as a rule off by a little, so that the worst code may be anywhere. */
static void random_line(struct made *made, struct segment *segment, int64_t last)
{
    const struct table *table = &made->table;
    const int64_t a = segment->start + (int64_t)(draw_bits() % (uint64_t)(last - segment->start + 1));
    const int64_t b = segment->start + (int64_t)(draw_bits() % (uint64_t)(last - segment->start + 1));
    const long double t_a = fminl(fmaxl(target_of(made, a), -0x1p34L), 0x1p34L);
    const long double t_b = fminl(fmaxl(target_of(made, b), -0x1p34L), 0x1p34L);
    long double slope = a == b || draw(12) == 0 ? 0 : (t_b - t_a) / (long double)(b - a);
    if (draw(3) == 0)
        slope *= (long double)uniform(0.5, 1.5);
    const int bits = storage_bits(table->storage) - 1 - draw(4);
    int exponent;
    frexpl(slope, &exponent);
    const int limit = accumulator_bits(table->storage) - 1;
    segment->n = slope == 0 ? draw(20) : bits - 1 - exponent;
    segment->n = segment->n > limit ? limit : segment->n < -limit ? -limit : segment->n;
    segment->q_b = (int64_t)rintl(ldexpl(slope, segment->n));
    const int64_t from = table->form == PWL_ANCHORED ? segment->start : table->in.zero_point;
    const long double line = ldexpl((long double)segment->q_b * (long double)(a - from), -segment->n);
    const long double offset = t_a - line + (long double)uniform(-2, 2);
    if (table->form == PWL_BIASED)
        segment->offset = (int64_t)fminl(fmaxl(rintl(ldexpl(offset, segment->n)), -0x1p62L), 0x1p62L);
    else
        segment->offset = (int64_t)fminl(fmaxl(rintl(offset), -0x1p47L), 0x1p47L - 1);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void random_segments(struct made *made)
{
    struct table *table = &made->table;
    const int64_t first = table->has_fold ? table->in.zero_point : table->in.qmin;
    int64_t starts[MAX_SEGMENTS];
    const int wanted = 1 + draw(MAX_SEGMENTS);
    for (int i = 0; i < wanted; i++)
        starts[i] = i == 0 ? first : first + (int64_t)(draw_bits() % (uint64_t)(table->in.qmax - first + 1));
    qsort(starts, (size_t)wanted, sizeof *starts, by_value);
    for (int i = 0; i < wanted; i++)
        if (i == 0 || starts[i] > starts[i - 1])
            made->segments[table->segment_count++].start = starts[i];
    table->segments = made->segments;
    for (int i = 0; i < table->segment_count; i++)
        random_line(made, &made->segments[i],
                    i + 1 < table->segment_count ? made->segments[i + 1].start - 1 : table->in.qmax);
}

/* The zero point in the middle, where a fold is. */
static void fold(struct made *made)
{
    struct table *table = &made->table;
    struct spec spec = {.function = made->function, .in = table->in, .out = table->out};
    struct diag diag;
    spec.in.zero_point = table->in.zero_point = (table->in.qmin + table->in.qmax + 1) / 2;
    table->has_fold = spec_fold_sum(&spec, &table->fold_sum, &diag) == EXIT_DONE;
}

static void choose_built_in(struct made *made, int index)
{
    const struct function_info *info = &function_table[index % FUNCTIONS];
    struct diag diag;
    function_init(&made->function, info->name, &diag);
    for (int k = 0; info->parameters[k].name; k++)
        made->function.parameters[k] = uniform(fmax(info->parameters[k].min, -3), 3);
}

/* Two terms, joined, with numbers in them. All have values everywhere. */
static void choose_expression(struct made *made, char *text, size_t size)
{
    static const char *const terms[] = {
        "sin(A*x+B)",      "tanh(A*x)",       "abs(x-A)",    "max(x,A)",        "exp(-(x-A)^2)",   "1/(1+(A*x)^2)",
        "(x<A?B:x/4)",     "floor(A*x)/3",    "sqrt(x^2+A)", "log(1+x^2)",      "erf(x*A)",        "atan(x)",
        "abs(sin(x))^0.7", "cosh(x/30)",      "asinh(x)",    "x/(1+exp(-A*x))", "gelu(x)",         "min(x^2/9,A)",
        "sign(x-A)",       "leaky_relu(x,A)", "x^3/100",     "rint(x)",         "acos(tanh(x))",   "2^sin(x)",
        "elu(x,A)",        "(x>A&&x<B)",      "mish(x)",     "hard_swish(x)",   "log10(abs(x)+A)", "softsign(x)*x",
    };
    static const char *const joints[] = {"P+Q", "P-Q", "P*Q", "max(P,Q)", "(P)/(2+abs(Q))"};
    char parts[2][100];
    struct diag diag;
    for (int i = 0; i < 2; i++) {
        char *end = parts[i];
        for (const char *c = terms[draw((int)(sizeof terms / sizeof *terms))]; *c; c++)
            end += *c == 'A' || *c == 'B' ? sprintf(end, "%.4f", uniform(*c == 'A' ? 0.1 : 2, *c == 'A' ? 2 : 4))
                                          : sprintf(end, "%c", *c);
    }
    size_t used = 0;
    for (const char *c = joints[draw(5)]; *c; c++)
        used += (size_t)(*c == 'P' || *c == 'Q' ? snprintf(text + used, size - used, "%s", parts[*c == 'Q'])
                                                : snprintf(text + used, size - used, "%c", *c));
    ck_assert_msg(function_set_expression(&made->function, text, "--expr", &diag) == EXIT_DONE, "%s", diag.text);
}

/* False where the table has no proof. */
static bool make(struct made *made, int index)
{
    struct table *table = &made->table;
    struct diag diag;
    pwl_proof proof;
    table->form = (pwl_form)(index / FUNCTIONS % FORMS);
    table->rounding = (pwl_rounding)(index / FUNCTIONS / FORMS % ROUNDINGS);
    const bool wide = draw(150) == 0;
    const int bits = wide ? 18 + draw(3) : 6 + draw(7);
    const double span = exp(uniform(log(0.1), log(40)));
    const double low = uniform(-1.2, 0.3) * span;
    table->in = random_tensor(bits, low, low + span);
    table->outside = OUTSIDE_CLAMP; /* changes nothing inside the domain */
    const double f_a = (double)function_value(&made->function, fmax(low, 0.01) + 0.3 * span);
    const double height = exp(uniform(log(0.05), log(20)));
    table->out = random_tensor(6 + draw(27), f_a - height, f_a + height);
    table->storage = storage_for(table->in.bits, table->out.bits);
    if (draw(3) == 0)
        fold(made);
    random_segments(made);
    return table_prove(table, EXIT_REQUIREMENT, &made->packed, &proof, &diag) == EXIT_DONE;
}

/* The worst that the line and the rounding could do at a code, without the integers. */
static long double worst_at(const struct made *made, int64_t q)
{
    const struct table *table = &made->table;
    const bool mirrored = table->has_fold && q < table->in.zero_point;
    const int64_t code = mirrored ? 2 * table->in.zero_point - q : q;
    int i = table->segment_count - 1;
    while (made->segments[i].start > code)
        i--;
    const struct segment *segment = &made->segments[i];
    const int64_t from = table->form == PWL_ANCHORED ? segment->start : table->in.zero_point;
    long double line = ldexpl((long double)segment->q_b * (long double)(code - from), -segment->n);
    line += ldexpl((long double)segment->offset, table->form == PWL_BIASED ? -segment->n : 0);
    long double below = 0, above = 0;
    if (segment->n > 0 && segment->q_b != 0) {
        below = table->rounding == PWL_FLOOR ? 1 : 0.5L;
        above = table->rounding == PWL_FLOOR ? 0 : 0.5L;
    }
    if (table->form == PWL_BIASED && segment->q_b == 0) {
        line = (long double)packed_eval(&made->packed, q);
    } else if (mirrored) {
        const long double kept = below;
        line = (long double)table->fold_sum - line;
        below = above;
        above = kept;
    }
    const long double low = (long double)table->out.qmin, high = (long double)table->out.qmax;
    const long double t = fminl(fmaxl(target_of(made, q), low), high);
    return fmaxl(fabsl(fminl(fmaxl(line + above, low), high) - t), fabsl(fminl(fmaxl(line - below, low), high) - t));
}

static void count(const struct made *made, const struct error_stats *stats, int index)
{
    const struct table *table = &made->table;
    const struct function_info *info = made->function.info;
    tally.tables++;
    tally.functions[index % FUNCTIONS]++;
    tally.kinds[table->form][table->rounding]++;
    tally.folded += table->has_fold;
    tally.clamped += !function_defined(&made->function, tensor_real(&table->in, table->in.qmin)) || info->punctured;
    tally.saturated += stats->saturated_codes > 0;
    tally.wide += table->in.bits >= 18;
}

START_TEST(bounds_hold_at_every_code_and_are_tight)
{
    const int tables = TABLES / quick_step(4); /* each function in each form and rounding once at least */
    draw_from(20);
    for (int index = 0; index < tables; index++) {
        struct made made;
        struct error_stats stats;
        struct diag diag;
        double bound;
        memset(&made, 0, sizeof made);
        choose_built_in(&made, index);
        if (!make(&made, index))
            continue;
        const struct table *table = &made.table;
        char in[80], out[80], what[300];
        tensor_format(&table->in, in, sizeof in);
        tensor_format(&table->out, out, sizeof out);
        snprintf(what, sizeof what, "table %d, %s --in %s --out %s, %d segments, %s, %s%s", index,
                 made.function.info->name, in, out, table->segment_count, form_name(table->form),
                 rounding_name(table->rounding), table->has_fold ? ", folded" : "");
        if (measure(table, &made.packed, &made.function, false, NULL, NULL, &stats, &diag) != EXIT_DONE) {
            packed_table_free(&made.packed); /* no code in the domain */
            continue;
        }
        ck_assert_msg(table_bound(table, &made.function, &bound), "%s: no bound", what);
        ck_assert_msg(bound >= stats.max_err, "%s: bound %.17g, off by %.17g at %" PRId64, what, bound, stats.max_err,
                      stats.max_err_at);
        long double worst = 0;
        for (int64_t q = table->in.qmin; q <= table->in.qmax; q++)
            worst = fmaxl(worst, worst_at(&made, q));
        /* What a run may keep, and six digits. The lines' terms stay below 2^48, so that noise is below 2^-8. */
        const long double most = (worst * (1 + 0x1p-20L) + 0x1p-12L + 0x1p-8L) * (1 + 1e-5L);
        ck_assert_msg(bound <= most, "%s: bound %.17g, the line's worst is %.17Lg", what, bound, worst);
        ck_assert_msg(bound <= (stats.max_err + 0.02) * (1 + 2e-5), "%s: bound %.17g, off by %.17g", what, bound,
                      stats.max_err);
        tally.tight += bound <= stats.max_err * 1.001 + 0.01;
        count(&made, &stats, index);
        packed_table_free(&made.packed);
    }
    for (int k = 0; k < FUNCTIONS; k++)
        ck_assert_msg(tally.functions[k] > tables / FUNCTIONS / 4, "%s: %d", function_table[k].name,
                      tally.functions[k]);
    for (int form = 0; form < FORMS; form++)
        for (int rounding = 0; rounding < ROUNDINGS; rounding++)
            ck_assert_int_gt(tally.kinds[form][rounding], tables / FORMS / ROUNDINGS / 4);
    ck_assert_int_gt(tally.folded, tables / 50);
    ck_assert_int_gt(tally.clamped, tables / 50);
    ck_assert_int_gt(tally.saturated, tables / 10);
    ck_assert_int_gt(tally.wide, tables / 600);
    ck_assert_int_gt(tally.tight, tally.tables / 10);
    if (getenv("PWL_TEST_VERBOSE"))
        fprintf(stderr, "%d tables, %d folded, %d clamped, %d saturated, %d wide, %d tight\n", tally.tables,
                tally.folded, tally.clamped, tally.saturated, tally.wide, tally.tight);
}
END_TEST

/* Of an expression, whose curvature is found out, as of a function whose curvature is known. */
START_TEST(bounds_of_expressions_hold_at_every_code_and_are_tight)
{
    const int tables = EXPRESSIONS / quick_step(4);
    int bounded = 0;
    draw_from(21);
    for (int index = 0; index < tables; index++) {
        struct made made;
        struct error_stats stats;
        struct diag diag;
        char text[160], in[80], out[80], what[400];
        double bound;
        memset(&made, 0, sizeof made);
        choose_expression(&made, text, sizeof text);
        if (!make(&made, index)) {
            function_free(&made.function);
            continue;
        }
        const struct table *table = &made.table;
        tensor_format(&table->in, in, sizeof in);
        tensor_format(&table->out, out, sizeof out);
        snprintf(what, sizeof what, "table %d, --expr '%s' --in %s --out %s, %d segments, %s, %s", index, text, in, out,
                 table->segment_count, form_name(table->form), rounding_name(table->rounding));
        ck_assert_msg(measure(table, &made.packed, &made.function, false, NULL, NULL, &stats, &diag) == EXIT_DONE,
                      "%s: %s", what, diag.text);
        ck_assert_msg(table_bound(table, &made.function, &bound), "%s: no bound", what);
        ck_assert_msg(bound >= stats.max_err, "%s: bound %.17g, off by %.17g at %" PRId64, what, bound, stats.max_err,
                      stats.max_err_at);
        ck_assert_msg(bound <= (stats.max_err + 0.02) * (1 + 2e-5), "%s: bound %.17g, off by %.17g", what, bound,
                      stats.max_err);
        bounded++;
        packed_table_free(&made.packed);
        function_free(&made.function);
    }
    ck_assert_int_gt(bounded, tables / 2);
}
END_TEST

/* The bound of a formula is that of the built-in function that it is. */
START_TEST(bounds_of_formulas_are_those_of_functions)
{
    static const char *const pairs[][2] = {
        {"sigmoid", "1/(1+exp(-x))"},
        {"silu", "x/(1+exp(-x))"},
        {"quick_gelu", "x/(1+exp(-1.702*x))"},
        {"gelu", "x*erfc(-x/sqrt(2))/2"},
        {"gelu_tanh", "x*(1+tanh(sqrt(2/_pi)*(x+0.044715*x^3)))/2"},
        {"mish", "x*tanh(log1p(exp(x)))"},
        {"softplus", "log(1+exp(x))"},
        {"tanh", "(exp(2*x)-1)/(exp(2*x)+1)"},
        {"hard_swish", "x*min(max(x/6+1/2,0),1)"},
        {"leaky_relu", "x<0?0.01*x:x"},
        {"atan", "asin(x/sqrt(1+x^2))"},
        {"sin", "cos(x-_pi/2)"},
        {"selu", "1.0507009873554804934193349852946*(x<0?1.6732632423543772848170429916717*expm1(x):x)"},
    };
    static const char *const types[] = {"--in s24:2^-20:0 --out s16:2^-12:0 --method uniform --segments 64",
                                        "--in s32:2^-28:0 --out s32:2^-28:0 --method uniform --segments 256"};
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i += (size_t)quick_step(3)) {
        struct fitted fitted;
        struct function function;
        struct diag diag;
        char flags[200];
        double bound;
        snprintf(flags, sizeof flags, "%s %s", pairs[i / 2][0], types[i % 2]);
        fit_well(flags, &fitted);
        const struct certificate *certificate = &fitted.table.certificate;
        ck_assert_int_eq(function_set_expression(&function, pairs[i / 2][1], "--expr", &diag), EXIT_DONE);
        ck_assert_msg(table_bound(&fitted.table, &function, &bound), "%s", pairs[i / 2][1]);
        ck_assert_msg(fabs(bound - certificate->bound_lsb) <= 0.002 + 4e-6 * bound, "%s of %s: bound %.9g, not %.9g",
                      flags, pairs[i / 2][1], bound, certificate->bound_lsb);
        function_free(&function);
        fitted_free(&fitted);
    }
}
END_TEST

/* None is claimed where an expression has too many jumps, or at some code no value that is known. */
START_TEST(hopeless_expressions_have_no_bound)
{
    static const char *const texts[] = {"floor(x*100000)/100000-x", "x==0 ? 1/(1/(x*0)) : x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fitted fitted;
        struct function function;
        struct diag diag;
        double bound;
        fit_well("tanh --in s24:2^-20:0 --out s16:2^-12:0 --method uniform --segments 64", &fitted);
        ck_assert_int_eq(function_set_expression(&function, texts[i], "--expr", &diag), EXIT_DONE);
        ck_assert_msg(!table_bound(&fitted.table, &function, &bound), "%s: %.9g", texts[i], bound);
        function_free(&function);
        fitted_free(&fitted);
    }
}
END_TEST

/* Residues by counting, of moduli and runs of every size that can be counted, and of few steps of the largest. */
START_TEST(residues_are_those_of_every_step)
{
    draw_from(7);
    for (int index = 0; index < 20000; index += quick_step(4)) {
        const int n = 1 + draw(index % 2 ? 63 : 10);
        const uint64_t first = draw_bits(), step = draw_bits() >> draw(64), below = ((uint64_t)1 << n) - 1;
        const int64_t last = draw(draw(2) ? 8 : 3000);
        const struct residues residues = residues_over(first, step, n, last);
        struct residues counted = {.least = UINT64_MAX};
        for (int64_t k = 0; k <= last; k++) {
            const uint64_t residue = (first + step * (uint64_t)k) & below;
            if (residue < counted.least) {
                counted.least = residue;
                counted.least_at = k;
            }
            if (k == 0 || residue > counted.most) {
                counted.most = residue;
                counted.most_at = k;
            }
        }
        ck_assert_msg(residues.least == counted.least && residues.least_at == counted.least_at &&
                          residues.most == counted.most && residues.most_at == counted.most_at,
                      "%" PRIu64 " + %" PRIu64 " k modulo 2^%d, k to %" PRId64, first, step, n, last);
    }
    const struct residues longest = residues_over(1, 2, 40, ((int64_t)1 << 62) - 1); /* every odd one */
    ck_assert(longest.least == 1 && longest.least_at == 0 && longest.most == ((uint64_t)1 << 40) - 1 &&
              longest.most_at == ((int64_t)1 << 39) - 1);
}
END_TEST

/* Every code of a fitted table's wide input. */
static struct error_stats every_code(const char *flags, const struct fitted *fitted)
{
    struct error_stats stats;
    struct diag diag;
    ck_assert_msg(measure(&fitted->table, &fitted->packed, &fitted->spec.function, true, NULL, NULL, &stats, &diag) ==
                      EXIT_DONE,
                  "%s: %s", flags, diag.text);
    ck_assert(stats.exhaustive);
    return stats;
}

/* --max-err is met at every code, not only at those that were looked at. */
START_TEST(limits_of_wide_inputs_hold_at_every_code)
{
    static const char *const flags[] = {
        "sigmoid --in s22:2^-18:0 --out s16:2^-15:0 --max-err 1",
        "sigmoid --in s22:2^-18:0 --out s16:2^-15:0 --max-err 1 --rounding half_up --method lsq",
        "sigmoid --in s22:2^-18:0 --out s16:2^-15:0 --max-err 1.5 --symmetry fold",
        "tanh --in s22:0.0000038:77 --out s22:2^-21:0 --max-err 200 --form biased --rounding half_even",
        "gelu --in u21:2^-18:1000000 --out s16:2^-12:0 --max-err 2 --form anchored",
        "silu --in s21:2^-17:0 --out s8:2^-4:0 --max-err 1 --method lsq",
        "leaky_relu --in s22:2^-18:0 --out s16:2^-12:0 --max-err 1 --param alpha=0.3",
        "rsqrt --in u21:2^-17:-100000 --out u16:2^-15:0 --max-err 5 --method uniform --segments 512",
        "log --in u21:2^-17:0 --out s16:2^-11:0 --max-err 3 --outside clamp",
        "sin --in s22:2^-18:0 --out s16:2^-14:0 --max-err 4 --rounding half_away",
        "exp --in s22:2^-18:2000000 --out u8:2^-8:0 --max-err 1",
        "--expr x*tanh(x)-sin(3*x)/4 --in s22:2^-19:0 --out s16:2^-12:0 --max-err 2",
        "--expr max(x,0.3)-abs(sin(5*x)) --in s21:2^-18:0 --out s16:2^-12:0 --max-err 3 --method lsq",
        "--expr 1/(1+exp(-x)) --in s22:2^-18:0 --out s16:2^-15:0 --max-err 1",
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i += (size_t)quick_step(3)) {
        struct fitted fitted;
        fit_well(flags[i], &fitted);
        const struct certificate *certificate = &fitted.table.certificate;
        ck_assert_msg(certificate->has_bound && !certificate->exhaustive, "%s", flags[i]);
        const struct error_stats stats = every_code(flags[i], &fitted);
        ck_assert_msg(stats.max_err <= certificate->bound_lsb && certificate->bound_lsb <= fitted.spec.max_err,
                      "%s: off by %.9g at %" PRId64 ", bound %.9g", flags[i], stats.max_err, stats.max_err_at,
                      certificate->bound_lsb);
        ck_assert_msg(certificate->bound_lsb <= stats.max_err + 1 + 0x1p-7, "%s: off by %.9g, bound %.9g", flags[i],
                      stats.max_err, certificate->bound_lsb);
        if (certificate->has_lower_bound)
            ck_assert_msg(certificate->lower_bound_lsb <= stats.max_err, "%s: off by %.9g, called unreachable %.9g",
                          flags[i], stats.max_err, certificate->lower_bound_lsb);
        fitted_free(&fitted);
    }
}
END_TEST

/* The gap between a table's error and what none reaches is that of 2^16 points where there are 2^32 codes: a segment of
 * 2^12 of them ends within one of its best end, which moves its error by 2 / 2^12, and its neighbour's too. */
START_TEST(least_errors_of_wide_inputs_are_near_the_lower_bound)
{
    static const char *const flags[] = {
        "sigmoid --in s32:2^-28:0 --out s32:2^-31:0", "tanh --in s32:2^-29:0 --out s32:2^-31:0",
        "gelu --in s32:2^-28:0 --out s32:2^-28:0",    "hard_swish --in s32:2^-28:0 --out s32:2^-28:0",
        "sqrt --in u32:2^-28:0 --out u32:2^-30:0",
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i += (size_t)quick_step(3)) {
        struct fitted fitted;
        char text[200];
        snprintf(text, sizeof text, "%s --method minimax", flags[i]);
        fit_well(text, &fitted);
        const struct certificate *certificate = &fitted.table.certificate;
        ck_assert_msg(certificate->has_bound && certificate->has_lower_bound, "%s", text);
        ck_assert_msg(certificate->bound_lsb <= certificate->lower_bound_lsb * 1.002, "%s: %.9g, lower bound %.9g",
                      text, certificate->bound_lsb, certificate->lower_bound_lsb);
        fitted_free(&fitted);
    }
}
END_TEST

/* Lines of every form can be near the same real ones. */
START_TEST(forms_of_wide_words_are_equally_good)
{
    static const char *const forms[] = {"absolute", "anchored", "biased"};
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct fitted fitted;
        char text[200];
        snprintf(text, sizeof text, "sin --in s32:2^-29:0 --out s32:2^-31:0 --segments 16 --form %s", forms[i]);
        fit_well(text, &fitted);
        least = fmin(least, fitted.table.certificate.rms_err_lsb);
        most = fmax(most, fitted.table.certificate.rms_err_lsb);
        fitted_free(&fitted);
    }
    ck_assert_msg(most <= 1.02 * least, "RMS from %.9g to %.9g", least, most);
}
END_TEST

/* Straight lines need no more segments than they have, and are exact. */
START_TEST(kinks_of_wide_inputs_are_knots)
{
    struct fitted fitted;
    fit_well("relu --in s24:2^-20:12345 --out s24:2^-20:0 --max-err 0.001", &fitted);
    ck_assert_int_eq(fitted.table.segment_count, 2);
    ck_assert_int_le(llabs(fitted.table.segments[1].start - 12345), 1); /* both lines are right at 0 */
    ck_assert(fitted.table.certificate.bound_lsb <= 0.001);
    fitted_free(&fitted);
}
END_TEST

/* A limit is kept by what is proven, which is close to what the codes looked at are off by. */
START_TEST(limits_are_held_against_the_bound)
{
    static const char flags[] = "sigmoid --in s24:2^-20:0 --out s8:2^-8:-128 --method lsq --segments 40";
    struct fitted fitted;
    char limited[200];
    fit_well(flags, &fitted);
    const double found = fitted.table.certificate.max_err_lsb, bound = fitted.table.certificate.bound_lsb;
    ck_assert_msg(found <= bound && bound <= found + 0.02, "%.9g found, %.9g proven", found, bound);
    snprintf(limited, sizeof limited, "%s --max-err %.9g", flags, 1.02 * bound);
    fitted_free(&fitted);
    fit_well(limited, &fitted);
    ck_assert(fitted.table.certificate.bound_lsb <= fitted.spec.max_err);
    fitted_free(&fitted);
    /* The monotone table of least error at the points is off by more between them. */
    fit_well("mish --in s24:2^-20:0 --out s16:2^-12:0 --monotone --max-err 2", &fitted);
    ck_assert(fitted.table.certificate.bound_lsb <= 2);
    fitted_free(&fitted);
}
END_TEST

START_TEST(bounds_are_claimed_where_there_are_some)
{
    struct fitted fitted;
    fit_well("sigmoid --in s20:2^-16:0 --out s8:2^-8:-128", &fitted); /* exact */
    ck_assert(!fitted.table.certificate.has_bound && fitted.table.certificate.exhaustive);
    fitted_free(&fitted);
    fit_well("sin --in s32:2^-8:0 --out s8:2^-7:0", &fitted); /* 2.7 million half-waves */
    ck_assert(!fitted.table.certificate.has_bound && !fitted.table.certificate.exhaustive);
    fitted_free(&fitted);
    refuse("sigmoid --in s32:2^-28:0 --out s16:2^-15:0 --segments 16 --method lsq --max-err 40", EXIT_REQUIREMENT,
           "--max-err 40: the table of 16 segments is off by");
    refuse("tanh --in s24:2^-20:0 --out s16:2^-15:0 --max-err 0.5", EXIT_REQUIREMENT, "--max-err 0.5: ");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound");
    TCase *tests = tcase_create("bound");
    tcase_add_test(tests, residues_are_those_of_every_step);
    tcase_add_test(tests, bounds_hold_at_every_code_and_are_tight);
    tcase_add_test(tests, limits_of_wide_inputs_hold_at_every_code);
    tcase_add_test(tests, least_errors_of_wide_inputs_are_near_the_lower_bound);
    tcase_add_test(tests, forms_of_wide_words_are_equally_good);
    tcase_add_test(tests, kinks_of_wide_inputs_are_knots);
    tcase_add_test(tests, limits_are_held_against_the_bound);
    tcase_add_test(tests, bounds_are_claimed_where_there_are_some);
    suite_add_tcase(suite, tests);
    TCase *expressions = tcase_create("expressions");
    tcase_add_test(expressions, bounds_of_expressions_hold_at_every_code_and_are_tight);
    tcase_add_test(expressions, bounds_of_formulas_are_those_of_functions);
    tcase_add_test(expressions, hopeless_expressions_have_no_bound);
    suite_add_tcase(suite, expressions);
    return run_suite(suite);
}
