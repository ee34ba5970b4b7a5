/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a proof of what a table's certificate says: check_proof.py in C, for speed, and a program of its own.
 *
 *     check_proof FILE
 *
 * It prints "accepted" and what is proven, or the first thing that fails. Exit status 0: accepted; 1: something does
 * not hold; 2: the file is not of the format. docs/proofs.md has the format and the theorems. It reads well from its
 * end. Trusted are jansson, which reads the file, and MPFR's functions at 200 bits with a margin of 2^-140. One proof
 * is checked, of one table: both stand in globals, and what is allocated for them lasts to the end. */
#include <stdint.h> /* first: MPFR's header then takes intmax_t */
#include <jansson.h>
#include <math.h>
#include <mpfr.h>
#include <nettle/sha2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 i128;
typedef json_int_t i64;

/* Targets and errors are integers in units of 2^-POINT of an output step. */
enum { POINT = 80, MARGIN = 140, PRECISION = 200, MOST_CODES = 1 << 20, MOST_SEGMENTS = 4096, MOST_WORDS = 100 };
#define ONE ((i128)1 << POINT)
/* Beyond every number that occurs: no end of a band, no constant that types allow. */
#define INFINITE ((i128)1 << 126)

static const char *file_name;
static char step[80];                                       /* The step that is being checked, for messages. */
static mpfr_t at, alpha, far, error, whole, rest, stack[8]; /* what is computed in reals */

static _Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static _Noreturn void fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s: %s: %s", file_name, status == 1 ? "refused" : "cannot be read", step);
    vprintf(format, arguments);
    printf("\n");
    exit(status);
}

#define REQUIRE(holds, ...) ((holds) ? (void)0 : fail(1, __VA_ARGS__))

static void *get(i64 count, size_t size)
{
    void *memory = calloc((size_t)count + 1, size);
    if (!memory)
        fail(2, "no memory");
    return memory;
}

static i128 smaller(i128 a, i128 b)
{
    return a < b ? a : b;
}

static i128 larger(i128 a, i128 b)
{
    return a > b ? a : b;
}

static i128 magnitude(i128 a)
{
    return a < 0 ? -a : a;
}

static i128 floor_div(i128 a, i128 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static i128 ceil_div(i128 a, i128 b)
{
    return -floor_div(-a, b);
}

static bool fits(i128 value, i64 bits)
{
    return value >= -((i128)1 << (bits - 1)) && value < (i128)1 << (bits - 1);
}

static double in_steps(i128 units)
{
    return ldexp((double)units, -POINT);
}

/* ---- Reading: each field known and there once ---- */

/* The fields of an object, or the items of an array, as json_unpack() reads them; others are refused. */
static void read_json(json_t *value, const char *where, const char *format, ...)
{
    json_error_t problem;
    va_list arguments;
    va_start(arguments, format);
    if (json_vunpack_ex(value, &problem, JSON_STRICT, format, arguments))
        fail(2, "%s: %s", where, problem.text);
    va_end(arguments);
}

static size_t length(const json_t *list)
{
    if (list && !json_is_array(list))
        fail(2, "a list is none");
    return json_array_size(list);
}

static i64 element(const json_t *list, size_t i)
{
    if (!json_is_integer(json_array_get(list, i)))
        fail(2, "a number is no integer");
    return json_integer_value(json_array_get(list, i));
}

/* A decimal's value, good to 200 bits; as it is short, numbers of different decimals are different, and in order. */
static void decimal(mpfr_t value, const char *text)
{
    char *end;
    mpfr_strtofr(value, text, &end, 10, MPFR_RNDN);
    if (!*text || *end || strlen(text) >= 50 || strspn(text, "0123456789+-.e") != strlen(text))
        fail(2, "'%s' is no decimal number", text);
    REQUIRE(mpfr_zero_p(value) || mpfr_get_exp(value) < 40, "%s is too large", text);
}

/* A number in units, rounded down. */
static i128 in_units(const mpfr_t value)
{
    REQUIRE(mpfr_zero_p(value) || mpfr_get_exp(value) < 44, "a number is too large");
    mpfr_mul_2si(rest, value, POINT - 62, MPFR_RNDD);
    mpfr_floor(whole, rest);
    mpfr_sub(rest, rest, whole, MPFR_RNDD);
    mpfr_mul_2si(rest, rest, 62, MPFR_RNDD);
    return mpfr_get_sj(whole, MPFR_RNDD) * ((i128)1 << 62) + mpfr_get_sj(rest, MPFR_RNDD);
}

/* ---- The table, and its outputs (docs/meaning.md) ---- */

enum form { ABSOLUTE, BIASED, ANCHORED };
enum rounding { FLOOR, HALF_UP, HALF_AWAY, HALF_EVEN };

struct side {
    i64 bits, zero_point, qmin, qmax;
    mpfr_t scale;
};

struct segment {
    i64 start, end, q_b, n, c, origin; /* end: behind its last code; origin: the code from which X counts */
};

static struct side x, y;
static enum form form;
static enum rounding rounding;
static i64 code_bits, wide, offset_bits; /* bits of slopes, of products and sums, of the constant */
static bool folded;
static i64 sum, d0, d1; /* The stored codes are d0 to d1 - 1: a fold mirrors all others to these. */
static i64 count, codes;
static struct segment *segments;
static json_t *certificate, *parameters;
static const char *function_name, *spec, *outside, *weights;
static i64 *outputs;                /* of all codes, from x.qmin */
static i128 *values, *errors, unit; /* f / scale_y, later the targets; |output - target|; how far off these may be */

static int index_of(const char *name, const char *const *names, int known)
{
    for (int i = 0; i < known; i++)
        if (!strcmp(name, names[i]))
            return i;
    fail(1, "%s is not known", name);
}

static void codes_of(bool is_signed, i64 bits, i64 ends[2])
{
    ends[0] = is_signed ? (i64) - ((i128)1 << (bits - 1)) : 0;
    ends[1] = (i64)(((i128)1 << (bits - is_signed)) - 1);
}

/* p * 2^-n, rounded to an integer. A shift to the left of what has more than 64 bits, and is allowed nowhere, makes an
 * infinite value. */
static i128 shr(i128 p, i64 n)
{
    if (n < 0 && !fits(p, 64))
        return p > 0 ? INFINITE : -INFINITE;
    if (n <= 0)
        return p * ((i128)1 << -n);
    i128 half = (i128)1 << (n - 1), quotient = p >> n;
    bool up = rounding == HALF_UP || (rounding == HALF_AWAY && p >= 0) || (rounding == HALF_EVEN && (quotient & 1));
    return rounding == FLOOR ? quotient : (p + half - !up) >> n;
}

static void read_side(struct side *side, json_t *value, const char *name)
{
    i64 ends[2];
    int is_signed;
    const char *scale;
    char *end = "";
    read_json(value, name, "{sI sI sI sI sb ss}", "bits", &side->bits, "zero_point", &side->zero_point, "qmin",
              &side->qmin, "qmax", &side->qmax, "signed", &is_signed, "scale", &scale);
    REQUIRE(side->bits >= 2 && side->bits <= 32 && fits(side->zero_point, 40), "%s: is no type", name);
    codes_of(is_signed, side->bits, ends);
    REQUIRE(ends[0] <= side->qmin && side->qmin <= side->qmax && side->qmax <= ends[1], "%s: has no such codes", name);
    mpfr_init2(side->scale, PRECISION);
    if (!strncmp(scale, "2^", 2))
        mpfr_set_si_2exp(side->scale, 1, strtol(scale + 2, &end, 10), MPFR_RNDN);
    else {
        decimal(side->scale, scale);
        mpfr_set_d(side->scale, strtod(scale, NULL), MPFR_RNDN);
    }
    REQUIRE(!*end && mpfr_sgn(side->scale) > 0, "%s: is no type", name);
}

static void read_segments(json_t *rows)
{
    static const char *const constants[] = {"term_c", "bias", "y"};
    count = (i64)length(rows);
    REQUIRE(count >= 1 && count <= MOST_SEGMENTS, "segments are not 1 to 4096");
    segments = get(count, sizeof *segments);
    for (i64 i = 0; i < count; i++) {
        json_t *unfused;
        struct segment *s = segments + i;
        read_json(json_array_get(rows, (size_t)i), "segment", "{sI sI sI sI s?o}", "start", &s->start, "q_b", &s->q_b,
                  "n_BX_total", &s->n, constants[form], &s->c, "unfused", &unfused);
        REQUIRE((i ? s->start > s[-1].start : s->start == d0) && s->start <= x.qmax,
                "segments do not start as they must");
        REQUIRE(fits(s->q_b, code_bits) && s->n < wide && s->n > -wide && fits(s->c, offset_bits),
                "a segment does not fit its types");
        s->origin = form == ANCHORED ? s->start : x.zero_point;
        s->end = d1;
        if (i)
            s[-1].end = s->start;
    }
}

static void read_table(json_t *value)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
    i64 version;
    char name[16];
    const char *method, *form_name, *rounding_name, *case_name, *hash, *samples = NULL, *expression = NULL;
    json_t *in, *out, *fold = NULL, *reduction = NULL, *rows;
    read_json(value, "table", "{sI ss ss ss ss ss ss ss s?s s?s s?s s?s so so so so so s?o s?o}", "pwl_table", &version,
              "spec", &spec, "function", &function_name, "method", &method, "form", &form_name, "rounding",
              &rounding_name, "case", &case_name, "hash", &hash, "outside", &outside, "samples_sha256", &samples,
              "expression", &expression, "weights_sha256", &weights, "segments", &rows, "parameters", &parameters, "in",
              &in, "out", &out, "certificate", &certificate, "fold", &fold, "reduction", &reduction);
    REQUIRE(version == 1 && (!outside || !strcmp(outside, "clamp")), "the table is of no known kind");
    REQUIRE(!reduction && !samples && !expression, "nothing is proven of reduced tables, samples and expressions");
    form = (enum form)index_of(form_name, forms, 3);
    rounding = (enum rounding)index_of(rounding_name, roundings, 4);
    read_side(&x, in, "in");
    read_side(&y, out, "out");
    codes = x.qmax - x.qmin + 1;
    i64 widest = x.bits > y.bits ? x.bits : y.bits;
    code_bits = widest <= 8 ? 8 : widest <= 16 ? 16 : 32;
    snprintf(name, sizeof name, "int%d", (int)code_bits);
    REQUIRE(!strcmp(case_name, name), "case is not the smallest one that holds both sides");
    wide = code_bits == 32 ? 64 : 32;
    offset_bits = form == BIASED ? wide : code_bits == 32 ? 48 : 2 * code_bits;
    d0 = x.qmin;
    d1 = x.qmax + 1;
    if (fold) {
        folded = true;
        read_json(fold, "fold", "{sI}", "sum", &sum);
        d0 = x.zero_point;
        REQUIRE(x.qmin <= d0 && d0 <= x.qmax && fits(sum, 60), "a folded table's zero point is no code");
        d1 = (i64)larger(x.qmax, 2 * d0 - x.qmin) + 1;
    }
    read_segments(rows);
}

/* The value, before saturation, of a product. */
static i128 value_of(i128 p, i64 n, i128 c)
{
    return form == BIASED ? shr(p + c, n) : shr(p, n) + c;
}

static i128 value_at(const struct segment *s, i64 q)
{
    return value_of(s->q_b * ((i128)q - s->origin), s->n, s->c);
}

static void find_outputs(void)
{
    outputs = get(codes, sizeof *outputs);
    for (const struct segment *s = segments; s < segments + count; s++)
        for (i64 q = s->start; q < s->end; q++) {
            i128 value = value_at(s, q);
            i64 image = 2 * d0 - q;
            if (q <= x.qmax)
                outputs[q - x.qmin] = (i64)smaller(larger(value, y.qmin), y.qmax);
            if (folded && q > d0 && image >= x.qmin)
                outputs[image - x.qmin] = (i64)smaller(larger(sum - value, y.qmin), y.qmax);
        }
}

/* The bits of what the arithmetic makes, where it can be largest: as p, and what is made of it, is monotone in the
 * code, or convex, these are the ends of each segment, and of the codes in it whose image is a code. */
static i64 needed_bits(void)
{
    i64 bits = 1;
    for (const struct segment *s = segments; s < segments + count; s++) {
        i64 first = (i64)larger(s->start, d0 + 1), last = (i64)smaller(s->end - 1, 2 * d0 - x.qmin);
        i64 ends[4] = {s->start, s->end - 1, first, last};
        for (int k = 0; k < (folded && first <= last ? 4 : 2); k++) {
            i128 product = s->q_b * ((i128)ends[k] - s->origin), p = form == BIASED ? product + s->c : product;
            i128 value = value_at(s, ends[k]), made[6] = {product, p, shr(p, s->n), value};
            if (s->n > 0 && rounding != FLOOR)
                made[4] = (rounding == HALF_AWAY ? magnitude(p) : p) + ((i128)1 << (s->n - 1));
            if (folded && ends[k] >= first && ends[k] <= last)
                made[5] = sum - value;
            for (int i = 0; i < 6; i++)
                while (!fits(made[i], bits))
                    bits++;
        }
    }
    return bits;
}

/* ---- The function, and enclosures of its targets ---- */

/* The functions in reverse Polish notation, a is alpha; for x < 0 where that is another one, and for the rest. The
 * domain is all x, p: x > 0, n: x >= 0, or z: all but 0. */
static const struct function {
    const char *name, *domain, *below, *formula;
} functions[] = {
    {"sigmoid", "", NULL, "1 1 x neg exp + /"},
    {"tanh", "", NULL, "x tanh"},
    {"gelu", "", NULL, "x 1 x 2 sqrt / erf + * 2 /"},
    {"gelu_tanh", "", NULL, "x 1 2 pi / sqrt x 0.044715 x * x * x * + * tanh + * 2 /"},
    {"quick_gelu", "", NULL, "x 1 -1.702 x * exp + /"},
    {"silu", "", NULL, "x 1 x neg exp + /"},
    {"softplus", "", NULL, "1 x exp + log"},
    {"mish", "", NULL, "x 1 x exp + log tanh *"},
    {"elu", "", "a x exp 1 - *", "x"},
    {"selu", "", "1.0507009873554804934193349852946 1.6732632423543772848170429916717 * x exp 1 - *",
     "1.0507009873554804934193349852946 x *"},
    {"exp", "", NULL, "x exp"},
    {"erf", "", NULL, "x erf"},
    {"log", "p", NULL, "x log"},
    {"sqrt", "n", NULL, "x sqrt"},
    {"rsqrt", "p", NULL, "1 x sqrt /"},
    {"reciprocal", "z", NULL, "1 x /"},
    {"sin", "", NULL, "x sin"},
    {"cos", "", NULL, "x cos"},
    {"atan", "", NULL, "x atan"},
    {"softsign", "", "x 1 x - /", "x 1 x + /"},
    {"logsigmoid", "", NULL, "1 x neg exp + log neg"},
    {"hard_sigmoid", "", NULL, "x 6 / 0.5 + 0 max 1 min"},
    {"hard_swish", "", NULL, "x x 6 / 0.5 + 0 max 1 min *"},
    {"relu", "", "0", "x"},
    {"relu6", "", "0", "x 6 min"},
    {"leaky_relu", "", "a x *", "x"},
};

static const struct {
    const char *name;
    int (*of_one)(mpfr_t, const mpfr_t, mpfr_rnd_t), (*of_two)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
} operations[] = {{"exp", mpfr_exp, NULL}, {"log", mpfr_log, NULL},   {"tanh", mpfr_tanh, NULL},
                  {"erf", mpfr_erf, NULL}, {"sqrt", mpfr_sqrt, NULL}, {"sin", mpfr_sin, NULL},
                  {"cos", mpfr_cos, NULL}, {"atan", mpfr_atan, NULL}, {"neg", mpfr_neg, NULL},
                  {"+", NULL, mpfr_add},   {"-", NULL, mpfr_sub},     {"*", NULL, mpfr_mul},
                  {"/", NULL, mpfr_div},   {"min", NULL, mpfr_min},   {"max", NULL, mpfr_max}};

enum { OPERATIONS = sizeof operations / sizeof *operations, FUNCTIONS = sizeof functions / sizeof *functions };

/* Each operation is good to 2^-200 of its result; formulas to 2^-190 of the largest of 1, |x|, |f|, alpha. The value is
 * left in the first place of the stack. */
static void evaluate(const char *formula)
{
    char word[80];
    int used, top = -1, k;
    for (; sscanf(formula, "%79s%n", word, &used) == 1; formula += used) {
        for (k = 0; k < OPERATIONS && strcmp(operations[k].name, word);)
            k++;
        if (k == OPERATIONS) {
            top++;
            if (*word == 'x' || *word == 'a')
                mpfr_set(stack[top], *word == 'x' ? at : alpha, MPFR_RNDN);
            else if (!strcmp(word, "pi"))
                mpfr_const_pi(stack[top], MPFR_RNDN);
            else
                mpfr_set_str(stack[top], word, 10, MPFR_RNDN);
        } else if (operations[k].of_one)
            operations[k].of_one(stack[top], stack[top], MPFR_RNDN);
        else {
            top--;
            operations[k].of_two(stack[top], stack[top], stack[top + 1], MPFR_RNDN);
        }
    }
}

static bool inside(char domain)
{
    int sign = mpfr_sgn(at);
    return domain == 'p' ? sign > 0 : domain == 'n' ? sign >= 0 : domain != 'z' || sign != 0;
}

static const struct function *function;
static double parameter;

/* Finds the function, and how wide an error the targets may have: unit. */
static void find_function(void)
{
    for (function = functions; strcmp(function->name, function_name);)
        REQUIRE(++function < functions + FUNCTIONS, "the function is not known");
    bool has_alpha = function->below && strchr(function->below, 'a');
    read_json(parameters, "parameters", has_alpha ? "{sF}" : "{}", "alpha", &parameter);
    mpfr_set_d(alpha, parameter, MPFR_RNDN);
    mpfr_set_si_2exp(far, 1, 41, MPFR_RNDN);
    mpfr_set_si(at, (long)larger(magnitude(x.qmin - x.zero_point), magnitude(x.qmax - x.zero_point)), MPFR_RNDU);
    mpfr_mul(at, at, x.scale, MPFR_RNDU);
    mpfr_add_d(at, at, 1 + fabs(parameter), MPFR_RNDU);
    mpfr_div(at, at, y.scale, MPFR_RNDU);
    mpfr_add(at, at, far, MPFR_RNDU);
    mpfr_div_2ui(at, at, MARGIN, MPFR_RNDU);
    unit = in_units(at) + 2;
}

/* f / scale_y at a code, on the stack, where the function has a value there. */
static bool find_value(i64 q)
{
    mpfr_mul_si(at, x.scale, q - x.zero_point, MPFR_RNDN);
    if (!inside(function->domain[0]))
        return false;
    evaluate(function->below && mpfr_sgn(at) < 0 ? function->below : function->formula);
    mpfr_div(*stack, *stack, y.scale, MPFR_RNDN);
    return true;
}

static void clip_far(mpfr_t value)
{
    if (mpfr_cmpabs(value, far) > 0) /* far beyond all codes, where any value does */
        mpfr_setsign(value, far, mpfr_signbit(value), MPFR_RNDN);
}

/* f / scale_y at every code. */
static void enclose(void)
{
    values = get(codes, sizeof *values);
    bool *known = get(codes, sizeof *known), any = false, all = true;
    for (i64 k = 0; k < codes; k++) {
        known[k] = find_value(x.qmin + k);
        any |= known[k];
        all &= known[k];
        if (!known[k])
            continue;
        clip_far(*stack);
        values[k] = in_units(*stack);
    }
    REQUIRE(any && (all || outside), "codes lie outside the function's domain");
    for (i64 k = 0; k < codes;
         k++) { /* Codes outside take the value of the nearest one inside, of two the next one's. */
        i64 away = 0;
        while (!(k + away < codes && known[k + away]) && !(k - away >= 0 && known[k - away]))
            away++;
        values[k] = values[k + away < codes && known[k + away] ? k + away : k - away];
    }
    free(known);
}

/* ---- The first claim: every figure of the certificate ---- */

/* Half a unit of the sixth digit of a number, and next to nothing. */
static double half_digit(double number)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.17e", number);
    return 0.500001 * pow(10, atoi(strchr(digits, 'e') + 1) - 5);
}

/* Whether a printed number shows six digits of a real one, or of one that differs by no more than so much. */
static bool agrees(double printed, double exact, double so_much)
{
    double off = fabs(printed - exact) - so_much - ldexp(fabs(exact), -50); /* what doubles may lose */
    return off <= 0 || off <= half_digit(fmax(printed, exact));
}

/* How far a step of the outputs goes against f, at most, beyond 2^-60 of f. */
static i128 most_against(void)
{
    i128 most = -ONE;
    for (i64 k = 0; k + 1 < codes; k++)
        if (outputs[k] != outputs[k + 1]) {
            i128 rise = values[k + 1] - values[k], size = larger(magnitude(values[k]), magnitude(values[k + 1]));
            most = larger(most, (outputs[k + 1] > outputs[k] ? -rise : rise) - (size >> 60));
        }
    return most;
}

static void check_largest(i128 largest, i64 max_err_at)
{
    i128 tie = larger(ONE / 1000000000000, (y.qmax - y.qmin) * (ONE >> 59)), off = 2 * unit + (largest >> 50);
    i64 found = max_err_at - x.qmin;
    REQUIRE(found >= 0 && found < codes && errors[found] >= largest - 2 * tie - off, "max_err_at: it is less there");
    for (i64 k = 0; k < found; k++)
        REQUIRE(errors[k] <= largest - tie / 2 + off, "max_err_at: a lower code has it");
}

static void check_figure(const char *name, double printed, double exact)
{
    REQUIRE(agrees(printed, exact, in_steps(unit)), "%s: it is %.10g", name, exact);
}

static void check_count(const char *name, i64 said, i64 least, i64 most)
{
    REQUIRE(least <= said && said <= most, "%s: it is %lld", name, least);
}

static struct {
    i64 checked, max_err_at, saturated, acc_bits;
    int exhaustive, monotone;
    double largest, rms, mean, rounded, lower_bound, bound; /* bound: -1 where there is none */
    bool has_bound, optimal;
    const char *objective, *second, *proof;
} said;

static bool is_objective(const char *name)
{
    return !strcmp(said.objective, name);
}

static void read_certificate(json_t *value)
{
    json_t *bound, *optimal;
    said.bound = -1;
    read_json(value, "certificate", "{sI sI sI sI sb sb sF sF sF sF so so ss s?s s?F s?s}", "checked", &said.checked,
              "max_err_at", &said.max_err_at, "saturated_codes", &said.saturated, "acc_bits", &said.acc_bits,
              "exhaustive", &said.exhaustive, "monotone", &said.monotone, "max_err_lsb", &said.largest, "rms_err_lsb",
              &said.rms, "mean_abs_err_lsb", &said.mean, "correctly_rounded", &said.rounded, "lower_bound_lsb", &bound,
              "optimal", &optimal, "objective", &said.objective, "second_objective", &said.second, "bound_lsb",
              &said.bound, "proof", &said.proof);
    if (!is_objective("max") && !is_objective("rms") && !is_objective("segments"))
        fail(2, "objective: unknown");
    said.has_bound = !json_is_null(bound);
    if (said.has_bound)
        read_json(bound, "lower_bound_lsb", "F", &said.lower_bound);
    if (!json_is_null(optimal) && !json_is_boolean(optimal))
        fail(2, "certificate: optimal is of the wrong kind");
    said.optimal = json_is_true(optimal);
}

static double squares, nearest; /* the sum of squared errors, and the least that outputs can have */

/* The certificate may name the proof: by the SHA-256 of all but the table. */
static void check_name(const json_t *proof)
{
    json_t *beside = json_copy((json_t *)proof);
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char hex[2 * SHA256_DIGEST_SIZE + 1];
    json_object_del(beside, "table");
    char *content = json_dumps(beside, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    if (!content)
        fail(2, "no memory");
    sha256_init(&context);
    sha256_update(&context, strlen(content), (const uint8_t *)content);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    REQUIRE(!said.proof || !strcmp(said.proof, hex), "proof: the certificate names another proof");
    free(content);
    json_decref(beside);
}

/* Every figure is that of the table. Leaves the targets in `values`; returns the largest error. */
static i128 check_certificate(void)
{
    i128 low = y.qmin * ONE, high = y.qmax * ONE, largest = 0, total = 0, against = most_against();
    i64 saturated[2] = {0, 0}, rounded[2] = {0, 0}, bits = needed_bits();
    double lost = 0, off_nearest;
    errors = get(codes, sizeof *errors);
    for (i64 k = 0; k < codes; k++) {
        i128 target = values[k] + y.zero_point * ONE;
        values[k] = smaller(larger(target, low), high);
        errors[k] = magnitude(outputs[k] * ONE - values[k]);
        largest = larger(largest, errors[k]);
        total += errors[k] >> 8; /* 2^20 errors of 2^32 steps fit */
        double square = in_steps(errors[k]) * in_steps(errors[k]) - lost, next = squares + square;
        lost = (next - squares) - square; /* Kahan's sum, good to 2^-51 */
        squares = next;
        off_nearest = in_steps(magnitude(floor_div(values[k] + ONE / 2, ONE) * ONE - values[k]));
        nearest += off_nearest * off_nearest;
        for (int most = 0; most < 2; most++) {
            i128 off = most ? unit : -unit;
            saturated[most] += target < low + off || target > high - off;
            rounded[most] += errors[k] <= ONE / 2 + off;
        }
    }
    REQUIRE(said.bound < 0, "bound_lsb: all codes are looked at");
    check_count("checked", said.checked, codes, codes);
    check_count("exhaustive", said.exhaustive, true, true);
    check_count("saturated_codes", said.saturated, saturated[0], saturated[1]);
    check_count("acc_bits", said.acc_bits, bits, (i64)smaller(bits, wide));
    check_count("monotone", said.monotone, against <= -3 * unit, against <= 3 * unit);
    check_figure("max_err_lsb", said.largest, in_steps(largest));
    check_largest(largest, said.max_err_at);
    if (!weights) {
        double share = (double)smaller(larger(llround(said.rounded * (double)codes), rounded[0]), rounded[1]);
        check_figure("rms_err_lsb", said.rms, sqrt(squares / (double)codes));
        check_figure("mean_abs_err_lsb", said.mean, ldexp(in_steps(total), 8) / (double)codes);
        check_figure("correctly_rounded", said.rounded, share / (double)codes);
    }
    return largest;
}

/* ---- Wide inputs: of more than 2^20 codes some are looked at, and the others are bounded by how f bends ---- */

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
static void check_wide(void)
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

/* ---- Rules: which tables, and which lines, the second claim is about ---- */

static struct {
    i64 slopes[2], shifts[2], offsets[2], multiple, stored, terms, grid, *of_terms; /* grid: -1 where places are any */
    int one_shift, of_terms_count;
    json_t *fixed, *equal;
    i64 *output; /* of each code, that it is fixed to, or FREE */
} rules;
#define FREE INT64_MIN
static const char *words[MOST_WORDS + 2]; /* of the spec */

/* The n-th word behind a flag of the spec; where there is none, another one. */
static const char *flag(const char *name, size_t n, const char *otherwise)
{
    for (size_t i = 0; words[i]; i++)
        if (!strcmp(words[i], name) && n-- == 0)
            return words[i + 1] ? words[i + 1] : "";
    return otherwise;
}

static const char *one_flag(const char *name, const char *otherwise)
{
    REQUIRE(!flag(name, 1, NULL), "spec: %s stands twice", name);
    return flag(name, 0, otherwise);
}

/* The integer behind a flag; 0 for "any". */
static i64 flag_number(const char *name, const char *otherwise)
{
    char *end;
    const char *word = one_flag(name, otherwise);
    long value = strtol(word, &end, 10);
    REQUIRE(!strcmp(word, "any") || (*word && !*end && value >= 0 && value < MOST_CODES), "spec: %s is no number",
            name);
    return value;
}

/* Whether a code is one of those nearest to a real number: |real - scale (code - zero point)| <= scale / 2. */
static bool is_nearest(const struct side *side, i64 code, const char *real)
{
    decimal(at, real);
    mpfr_mul_si(rest, side->scale, code - side->zero_point, MPFR_RNDN);
    mpfr_sub(at, at, rest, MPFR_RNDN);
    mpfr_div_2ui(rest, side->scale, 1, MPFR_RNDN);
    bool beyond = (code == side->qmin && mpfr_sgn(at) < 0) || (code == side->qmax && mpfr_sgn(at) > 0);
    return beyond || mpfr_cmpabs(at, rest) <= 0;
}

static void check_fixed(void)
{
    size_t asked = 0;
    rules.output = get(codes, sizeof *rules.output);
    for (i64 k = 0; k < codes; k++)
        rules.output[k] = FREE;
    for (const char *word; (word = flag("--fix", asked, NULL)); asked++) {
        char real[2][52];
        i64 q_x, q_y;
        REQUIRE(asked < length(rules.fixed) && sscanf(word, "%50[^:]:%50s", real[0], real[1]) == 2,
                "spec: wrong --fix");
        read_json(json_array_get(rules.fixed, asked), "fixed", "[II]", &q_x, &q_y);
        REQUIRE(q_x >= x.qmin && q_x <= x.qmax && is_nearest(&x, q_x, real[0]) && is_nearest(&y, q_y, real[1]),
                "rules: fixed is not what --fix asks for");
        REQUIRE(outputs[q_x - x.qmin] == q_y, "a fixed code has another output");
        rules.output[q_x - x.qmin] = q_y;
    }
    REQUIRE(length(rules.fixed) == asked, "rules: fixed is not what --fix asks for");
}

static int compare_integers(const void *a, const void *b)
{
    i64 u = *(const i64 *)a, v = *(const i64 *)b;
    return (u > v) - (u < v);
}

/* The sums of one or two of 0, 1, -1, 2, -2, ... 2^32, -2^32, each once. */
static void list_terms(void)
{
    static i64 all[67 * 67];
    int made = 0;
    for (int i = 0; i < 67; i++)
        for (int j = 0; j < (rules.terms == 2 ? 67 : 1); j++) {
            i64 a = i ? (i64)1 << (i - 1) / 2 : 0, b = j ? (i64)1 << (j - 1) / 2 : 0;
            all[made++] = (i & 1 ? a : -a) + (j & 1 ? b : -b);
        }
    qsort(all, (size_t)made, sizeof *all, compare_integers);
    rules.of_terms = all;
    for (int i = 0; i < made; i++)
        if (!i || all[i] != all[rules.of_terms_count - 1])
            all[rules.of_terms_count++] = all[i];
}

static void read_places(json_t *places)
{
    const char *knots = one_flag("--knots", "free");
    bool uniform = !strcmp(knots, "uniform"), pow2 = !strncmp(knots, "pow2", 4);
    rules.grid = -1;
    if (!json_is_string(places) || strcmp(json_string_value(places), "any"))
        read_json(places, "places", "{s?I s?o}", "shift", &rules.grid, "equal", &rules.equal);
    REQUIRE(pow2 ? rules.grid >= 0 && rules.grid <= 32 : rules.grid == -1, "rules: places are not those of --knots");
    REQUIRE(!pow2 || !knots[4] || rules.grid == x.bits - strtol(knots + 5, NULL, 10),
            "rules: places are not those of --knots");
    REQUIRE(uniform == (length(rules.equal) > 0), "rules: places are not those of --knots");
    for (size_t i = 0; i < length(rules.equal); i++)
        REQUIRE(element(rules.equal, i) > 0 && element(rules.equal, i) <= MOST_SEGMENTS,
                "rules: equal is out of range");
}

/* Narrower rules would make the claim worth little: they are those of the table's storage, and of its spec. */
static void read_rules(json_t *value)
{
    i64 ends[2], own[2], accumulator;
    int bits;
    json_t *places;
    char *text = get((i64)strlen(spec), 1), kind;
    size_t known = 0;
    for (char *word = strtok(strcpy(text, spec), " "); word; word = strtok(NULL, " ")) {
        REQUIRE(known < MOST_WORDS, "spec: is too long");
        words[known++] = word;
    }
    read_json(value, "rules", "{s[II] s[II] s[II] sI sI sI sI sb so so}", "slopes", rules.slopes, rules.slopes + 1,
              "shifts", rules.shifts, rules.shifts + 1, "offsets", rules.offsets, rules.offsets + 1, "shift_multiple",
              &rules.multiple, "stored_bits", &rules.stored, "slope_terms", &rules.terms, "accumulator_bits",
              &accumulator, "one_shift", &rules.one_shift, "fixed", &rules.fixed, "places", &places);
    i64 stored = flag_number("--slope-bits", "0"), m = flag_number("--shift-multiple", "0"), reach = wide - 1;
    stored = stored ? stored : code_bits;
    REQUIRE(stored <= 64 && m <= 64, "spec: is out of range");
    codes_of(true, (i64)smaller(stored, code_bits), ends);
    REQUIRE(rules.slopes[0] == ends[0] && rules.slopes[1] == ends[1], "rules: other slopes than of the table");
    REQUIRE(rules.shifts[0] == (m ? m - stored + 1 : -reach), "rules: other shifts than of the table");
    REQUIRE(rules.shifts[1] == (m ? smaller(reach, 32 / m * m) : reach), "rules: other shifts than of the table");
    REQUIRE(rules.multiple == m && rules.stored == (m ? stored : 0), "rules: other stored slopes than of the table");
    REQUIRE(rules.terms == flag_number("--slope-terms", "0") && rules.terms <= 2,
            "rules: other terms than of the table");
    REQUIRE(accumulator == wide, "rules: another accumulator than that of the table");
    REQUIRE(rules.one_shift == !strcmp(one_flag("--shift", ""), "one"), "rules: one_shift is not that of --shift");
    REQUIRE(sscanf(one_flag("--offset-type", "s64"), "%c%2d", &kind, &bits) == 2 && (kind == 's' || kind == 'u') &&
                bits >= 1 && bits <= 64,
            "spec: --offset-type is unknown");
    codes_of(kind == 's', bits, ends);
    codes_of(true, offset_bits, own);
    REQUIRE(rules.offsets[0] == larger(ends[0], own[0]) && rules.offsets[1] == smaller(ends[1], own[1]),
            "rules: other offsets than of the table");
    check_fixed();
    read_places(places);
    list_terms();
}

/* The integers that q_b may be beside the shift n, whatever its terms. */
static void slope_range(i64 n, i64 ends[2])
{
    i64 due = rules.multiple, down = due ? (i64)larger(1, ceil_div(n, due)) * due - n : 0;
    i64 m = down < rules.stored ? (i64)1 << (rules.stored - 1 - down) : 0;
    ends[0] = due ? (i64)larger(rules.slopes[0], -m) : rules.slopes[0];
    ends[1] = due ? (i64)smaller(rules.slopes[1], m - 1) : rules.slopes[1];
}

/* The last place before the code b. */
static i64 last_place(i64 b)
{
    i64 q = b - 1 < x.qmax ? b - 1 : x.qmax;
    q = rules.grid < 0 ? q : q >> rules.grid << rules.grid;
    return q > d0 ? q : d0;
}

static i64 equal_start(i64 m, i64 of)
{
    return m == of ? d1 : d0 + (i64)((i128)(x.qmax + 1 - d0) * m / of);
}

static bool is_equal_count(i64 number)
{
    bool found = !rules.equal;
    for (size_t i = 0; i < length(rules.equal); i++)
        found |= element(rules.equal, i) == number;
    return found;
}

/* The table itself is allowed; that its sums stay in their types is a part of acc_bits. */
static void check_allowed(void)
{
    for (i64 i = 0; i < count; i++) {
        const struct segment *s = segments + i;
        i64 ends[2];
        slope_range(s->n, ends);
        bool good = s->q_b >= ends[0] && s->q_b <= ends[1] && s->n >= rules.shifts[0] && s->n <= rules.shifts[1] &&
                    s->c >= rules.offsets[0] && s->c <= rules.offsets[1] && last_place(s->start + 1) == s->start;
        good &= fits((i128)s->start - s->origin, wide) && fits((i128)s->end - 1 - s->origin, wide);
        good &= (!rules.one_shift || s->n == segments->n) && (!rules.equal || s->start == equal_start(i, count));
        good &= !rules.terms || bsearch(&s->q_b, rules.of_terms, (size_t)rules.of_terms_count, sizeof *rules.of_terms,
                                        compare_integers);
        REQUIRE(good, "the rules do not allow the segment at %lld", s->start);
    }
}

/* ---- Bands: the values of each stored code that keep within the error, and give fixed codes their output ---- */

/* Of each stored code from d0 on the low end, and the high one; infinite where all beyond is clipped to what is good.
 */
static i128 (*bands)[2];

static void find_bands(i128 reach)
{
    bands = get(d1 - d0, sizeof *bands);
    for (i64 k = 0; k < d1 - d0; k++) {
        bands[k][0] = -INFINITE;
        bands[k][1] = INFINITE;
    }
    for (i64 q = x.qmin; q <= x.qmax; q++) {
        i128 target = values[q - x.qmin], low = ceil_div(target - reach - unit, ONE);
        i128 high = floor_div(target + reach + unit, ONE), other;
        i64 only = rules.output[q - x.qmin];
        low = only == FREE ? low : larger(low, only);
        high = only == FREE ? high : smaller(high, only);
        low = low <= y.qmin ? -INFINITE : low;
        high = high >= y.qmax ? INFINITE : high;
        if (q < d0) { /* The value v of its image gives it the output sum - v. */
            other = low == -INFINITE ? INFINITE : sum - low;
            low = high == INFINITE ? -INFINITE : sum - high;
            high = other;
        }
        i128 *band = bands[q < d0 ? d0 - q : q - d0];
        band[0] = larger(band[0], low);
        band[1] = smaller(band[1], high);
    }
}

/* ---- Exclusions: no allowed line serves a range ---- */

/* No allowed line, in the anchored form none that starts at a, has values in the bands of all codes from a to b - 1;
 * with any_start none that starts before a, either. */
struct exclusion {
    i64 a, b, origin, n; /* n: the shift that is looked at */
    bool any_start;
};

/* The slopes of one shift: items, or first, first + step, ... */
struct slopes {
    i64 first, step, count, *items;
};

static i64 slope_at(const struct slopes *list, i64 k)
{
    return list->items ? list->items[k] : list->first + list->step * k;
}

struct ratio {
    i128 above, below; /* below > 0; 0: no bound */
};

/* An end of the band of code a + i, which has to have one. */
static i128 end_at(const struct exclusion *e, i64 i, bool above)
{
    REQUIRE(i >= 0 && i < e->b - e->a, "there is no code %lld in its range", i);
    i128 end = bands[e->a - d0 + i][above];
    REQUIRE(magnitude(end) < INFINITE / 2, "there is no such end of a band at %lld", i);
    return end;
}

/* The slopes s = q_b * 2^-n that all pairs leave. A line that serves has a value of at least low at a + i, and of at
 * most high at a + j; rounding moves their difference by at most 1: s (i - j) >= low - high - 1. */
static void find_window(const struct exclusion *e, json_t *pairs, struct ratio *least, struct ratio *most)
{
    *least = *most = (struct ratio){0, 0};
    for (size_t k = 0; k < length(pairs); k++) {
        i64 i, j;
        read_json(json_array_get(pairs, k), "window", "[II]", &i, &j);
        i128 above = end_at(e, i, false) - end_at(e, j, true) - 1, below = i - j;
        struct ratio *kept = i > j ? least : most, bound = {i > j ? above : -above, magnitude(below)};
        i128 more = bound.above * kept->below - kept->above * bound.below;
        REQUIRE(i != j, "a pair of its window is of one code");
        if (!kept->below || (i > j ? more > 0 : more < 0))
            *kept = bound;
    }
}

/* The slopes of a shift that the window leaves. An even q_b is left out where its half makes the same values at n - 1,
 * and is allowed there: it is not where no slope is stored at n - 1, not even 0. */
static struct slopes list_slopes(i64 n, bool lowest, struct ratio least, struct ratio most)
{
    static i64 items[67 * 67];
    i64 ends[2], half[2], up = n > 0 ? n : 0, down = n < 0 ? -n : 0;
    slope_range(n, ends);
    slope_range(n - 1, half);
    i128 low = ends[0], high = ends[1];
    if (least.below)
        low = larger(low, ceil_div(least.above * ((i128)1 << up), least.below << down));
    if (most.below)
        high = smaller(high, floor_div(most.above * ((i128)1 << up), most.below << down));
    bool halved = form != BIASED || (n > 0 && (rounding == FLOOR || rounding == HALF_UP));
    halved &= !lowest && half[1] >= 0;
    low = halved && low % 2 == 0 ? low + 1 : low;
    struct slopes list = {(i64)larger(low, INT64_MIN), halved ? 2 : 1, 0, NULL};
    if (!rules.terms)
        list.count = high < low ? 0 : (i64)((high - low) / list.step + 1);
    else {
        list.items = items;
        for (int k = 0; k < rules.of_terms_count; k++)
            if (rules.of_terms[k] >= low && rules.of_terms[k] <= high && (!halved || rules.of_terms[k] & 1))
                items[list.count++] = rules.of_terms[k];
    }
    return list;
}

/* The least integer that the shift makes this value of, or a larger one. */
static i128 least_sum(i64 n, i128 value)
{
    if (n <= 0)
        return ceil_div(value, (i128)1 << -n);
    i128 half = (i128)1 << (n - 1); /* A tie is rounded down where half_away and half_even take away less. */
    return value * 2 * half - (rounding == FLOOR       ? 0
                               : rounding == HALF_UP   ? half
                               : rounding == HALF_AWAY ? half - (value <= 0)
                                                       : half - (value & 1));
}

/* Bounds on the constant, from below, or from above, by what fits in its type: the first one is that of the offsets;
 * four are of the first code of the range, and four of its last. */
static i128 bound_of_types(const struct exclusion *e, i64 q_b, bool above, int kind)
{
    i128 half = (i128)1 << (wide - 1), at_x = (kind <= 4 ? e->a : e->b - 1) - (i128)e->origin, p = q_b * at_x;
    i128 low = e->n > 0 ? -half : least_sum(e->n, -half), high = e->n > 0 ? half - 1 : least_sum(e->n, half) - 1;
    if (e->n > 0 && rounding != FLOOR) { /* What rounding adds has to fit, too. */
        high -= (i128)1 << (e->n - 1);
        low += rounding == HALF_AWAY ? ((i128)1 << (e->n - 1)) + 1 : 0;
    }
    if (!kind)
        return rules.offsets[above];
    if (kind % 4 == 0 && form == BIASED)
        return (above ? high : low) - p;
    if (kind % 4 == 0)
        return (above ? half - 1 : -half) - shr(p, e->n);
    bool none = kind % 4 == 1   ? !fits(at_x, wide)
                : kind % 4 == 2 ? p < (form == BIASED ? -half : low)
                                : p > (form == BIASED ? half - 1 : high);
    return none == above ? -INFINITE : INFINITE;
}

/* Bounds on the constant that code a + i makes; of types, for -1. */
static i128 bound_at(const struct exclusion *e, i64 q_b, i64 i, bool above, int kind)
{
    if (i == -1)
        return bound_of_types(e, q_b, above, kind);
    i128 value = end_at(e, i, above), p = q_b * ((i128)e->a + i - e->origin);
    /* What is at most high has less than the least sum that gives high + 1. */
    return form == BIASED ? least_sum(e->n, value + above) - above - p : value - shr(p, e->n);
}

/* The constants that code a + i asks slopes from u to w for, or those that it allows. Both are made of bounds that are
 * monotone in q_b, so that those of u and w hold for all between. */
static i128 bound_of_part(const struct exclusion *e, i64 u, i64 w, i64 i, bool above)
{
    i128 found = above ? INFINITE : -INFINITE;
    for (int kind = 0; kind < (i == -1 ? 9 : 1); kind++) {
        i128 a = bound_at(e, u, i, above, kind), b = bound_at(e, w, i, above, kind);
        found = above ? smaller(found, larger(a, b)) : larger(found, smaller(a, b));
    }
    return found;
}

/* Code a + i asks of slopes first to last of a list for a larger constant than a + j allows; else the list is halved.
 */
static void exclude(const struct exclusion *e, const struct slopes *list, i64 first, i64 last, i64 i, i64 j)
{
    i64 u = slope_at(list, first), w = slope_at(list, last);
    if (bound_of_part(e, u, w, i, false) > bound_of_part(e, u, w, j, true))
        return;
    REQUIRE(first < last, "the slope %lld * 2^-%lld is not excluded by the codes %lld and %lld", u, e->n, i, j);
    i64 middle = first + (last - first + 1) / 2;
    exclude(e, list, first, middle - 1, i, j);
    exclude(e, list, middle, last, i, j);
}

/* The runs exclude the slopes that the window leaves, in their order. Returns whether there are none. */
static bool check_runs(struct exclusion *e, const i64 shifts[2], json_t *window, const json_t *runs)
{
    struct ratio least, most;
    size_t run = 0;
    i64 left = 0;
    bool empty = true;
    find_window(e, window, &least, &most);
    for (e->n = shifts[0]; e->n <= shifts[1]; e->n++) {
        struct slopes list = list_slopes(e->n, e->n == shifts[0], least, most);
        empty &= !list.count;
        for (i64 done = 0, taken; done < list.count; done += taken, left -= taken) {
            if (!left) {
                REQUIRE(run + 3 <= length(runs), "its runs are not of all slopes that are left");
                left = element(runs, run);
                run += 3;
                REQUIRE(left >= 1, "a run has no slopes");
            }
            taken = (i64)smaller(left, list.count - done);
            exclude(e, &list, done, done + taken - 1, element(runs, run - 2), element(runs, run - 1));
        }
    }
    REQUIRE(run == length(runs) && !left, "its runs are of more slopes than are left");
    return empty;
}

static struct exclusion check_exclusion(const i64 shifts[2], json_t *value)
{
    struct exclusion e = {.origin = x.zero_point, .any_start = true};
    json_t *window = NULL, *runs = NULL;
    i64 none = -1;
    read_json(value, "exclusion", "{sI sI s?I s?o s?o}", "from", &e.a, "upto", &e.b, "none", &none, "window", &window,
              "runs", &runs);
    snprintf(step, sizeof step, "exclusion of %lld to %lld: ", e.a, e.b - 1);
    REQUIRE(d0 <= e.a && e.a < e.b && e.b <= d1, "these are no stored codes");
    if (!window != !runs || !window == !json_object_get(value, "none"))
        fail(2, "it has not either none, or window and runs");
    if (form == ANCHORED)
        e.origin = e.a;
    if (window)
        e.any_start = check_runs(&e, shifts, window, runs) || form != ANCHORED;
    else
        REQUIRE(none >= 0 && none < e.b - e.a && bands[e.a - d0 + none][0] > bands[e.a - d0 + none][1],
                "the band is not empty");
    step[0] = 0;
    return e;
}

/* ---- Squares: what lines cost at least ---- */

/* Of the stored codes before d0 + i: what their outputs cost at least. And what lines from one place on cost at least
 * before each code: need, and rest where what follows needs no more. In units of 2^-unit_bits, each square rounded
 * down, of the least error that may be. */
static i128 *floors, *need, *rest_need;
static i64 unit_bits;

static i128 square(i128 error_of)
{
    i128 e = larger(error_of - unit, 0), high = e >> 48, low = e & (((i128)1 << 48) - 1);
    if (e >> 111)
        return (i128)1 << 100;
    return (high * high + ((2 * high * low + (low * low >> 48)) >> 48)) >> (2 * POINT - 96 - unit_bits);
}

/* The least cost at a code of outputs from low to high: that of the nearest one, or of the fixed one. */
static i128 cost_of_code(i64 q, i128 low, i128 high)
{
    i128 target = values[q - x.qmin], output = (target + ONE / 2) >> POINT;
    low = smaller(larger(low, y.qmin), y.qmax);
    high = smaller(larger(high, y.qmin), y.qmax);
    output = rules.output[q - x.qmin] == FREE ? smaller(larger(output, low), high) : rules.output[q - x.qmin];
    return output < low || output > high ? (i128)1 << 100 : square(magnitude(output * ONE - target));
}

/* The least cost at a stored code of values from low to high: its own, and that of its image. */
static i128 least_cost(i64 q, i128 low, i128 high)
{
    i64 image = 2 * d0 - q;
    i128 cost = q <= x.qmax ? cost_of_code(q, low, high) : 0;
    return cost + (folded && image < q && image >= x.qmin ? cost_of_code(image, sum - high, sum - low) : 0);
}

/* Lines of a part of a list of slopes, and of the constants c1 to c2, cost enough: they are looked at from code to
 * code, until they cost enough for all that follows; else one half after the other is. */
static void check_box(struct exclusion *line, const struct slopes *list, i64 first, i64 last, i64 c1, i64 c2)
{
    i64 u = slope_at(list, first), w = slope_at(list, last), b = line->a;
    i128 cost = 0;
    do {
        i128 p = u * ((i128)b - line->origin), r = w * ((i128)b - line->origin);
        cost += least_cost(b, value_of(smaller(p, r), line->n, c1), value_of(larger(p, r), line->n, c2));
        b++;
    } while (cost >= need[b - d0] && cost < rest_need[b - d0]);
    if (cost >= need[b - d0])
        return;
    line->b = b;
    i128 least = larger(c1, bound_of_part(line, u, w, -1, false)); /* Constants that types do not allow are left out. */
    i128 largest = smaller(c2, bound_of_part(line, u, w, -1, true));
    if (least > largest)
        return;
    c1 = (i64)least;
    c2 = (i64)largest;
    i128 most = larger(magnitude((i128)line->a - line->origin), magnitude((i128)b - 1 - line->origin));
    double moved = ldexp((double)((w - u) * most), form == BIASED ? 0 : (int)-line->n);
    if (first < last && (c1 == c2 || moved >= (double)c2 - (double)c1)) {
        check_box(line, list, first, first + (last - first) / 2, c1, c2);
        check_box(line, list, first + (last - first) / 2 + 1, last, c1, c2);
    } else if (c1 < c2) {
        i64 middle = (i64)floor_div((i128)c1 + c2, 2);
        check_box(line, list, first, last, c1, middle);
        check_box(line, list, first, last, middle + 1, c2);
    } else
        fail(1, "the line of %lld * 2^-%lld and %lld costs less from %lld to %lld", u, line->n, c1, line->a, b - 1);
}

static void check_lines(i64 a, const i64 shifts[2])
{
    struct exclusion line = {.a = a, .origin = form == ANCHORED ? a : x.zero_point};
    for (line.n = shifts[0]; line.n <= shifts[1]; line.n++) {
        struct slopes list = list_slopes(line.n, line.n == shifts[0], (struct ratio){0, 0}, (struct ratio){0, 0});
        if (list.count)
            check_box(&line, &list, 0, list.count - 1, rules.offsets[0], rules.offsets[1]);
    }
}

static void find_floors(i64 bits)
{
    unit_bits = bits;
    floors = get(d1 - d0, sizeof *floors);
    need = get(d1 - d0, sizeof *need);
    rest_need = get(d1 - d0, sizeof *rest_need);
    for (i64 q = d0; q < d1; q++)
        floors[q + 1 - d0] = floors[q - d0] + least_cost(q, -INFINITE / 2, INFINITE / 2);
}

/* What m segments cost at least that end before the k-th place; the one behind the last is d1. */
static i64 least_of(json_t *rows, i64 m, i64 k)
{
    return m ? element(json_array_get(rows, (size_t)m - 1), (size_t)k - 1) : 0;
}

/* Finds what lines from the k-th place on cost at least, with m segments before them, first <= m <= last. */
static void find_needs(json_t *rows, const i64 *place, i64 places, i64 k, i64 first, i64 last)
{
    i128 behind = -INFINITE;
    for (i64 i = 0; i <= d1 - d0; i++)
        need[i] = -INFINITE;
    for (i64 b = k + 1; b <= places; b++)
        for (i64 m = first; m <= last; m++)
            need[place[b] - d0] = larger(need[place[b] - d0], (i128)least_of(rows, m + 1, b) - least_of(rows, m, k));
    for (i64 i = d1 - d0; i > place[k] - d0; i--) {
        rest_need[i] = behind;
        behind = larger(behind, need[i]) - (floors[i] - floors[i - 1]);
    }
    for (i64 b = k + 1; b < places && k && form != ANCHORED;
         b++) { /* From there on it is a line of the range from b. */
        i128 most = -INFINITE;
        for (i64 m = first; m <= last; m++)
            most = larger(most, (i128)least_of(rows, m, b) - least_of(rows, m, k));
        rest_need[place[b] - d0] = smaller(rest_need[place[b] - d0], most);
    }
}

/* least[m] has for each place what m segments cost at least that end there; no line costs less than what this grows
 * by. */
static void check_costs(const i64 shifts[2], i64 equal, json_t *rows, i64 segments_asked, i64 squares_asked)
{
    i64 *place = get(d1 - d0, sizeof *place), places = 0, m = equal ? 1 : segments_asked;
    for (i64 q = d0; q <= x.qmax && !equal; q++)
        if (q == last_place(q + 1))
            place[places++] = q;
    for (; places < equal; places++)
        place[places] = equal_start(places, equal);
    place[places] = d1;
    if ((i64)length(rows) != m)
        fail(2, "least has not its rows");
    for (; m; m--) {
        if ((i64)length(json_array_get(rows, (size_t)m - 1)) != places)
            fail(2, "a row of least has another length");
        REQUIRE(least_of(rows, m, places) >= squares_asked, "least ends below squares");
    }
    for (i64 k = places - 1; k >= 0; k--) {
        if (equal) {
            for (i64 i = 0; i <= d1 - d0; i++) {
                need[i] = -INFINITE;
                rest_need[i] = INFINITE;
            }
            need[place[k + 1] - d0] = (i128)least_of(rows, 1, k + 1) - (k ? least_of(rows, 1, k) : 0);
            rest_need[place[k + 1] - d0] = -INFINITE;
        } else if (k == 0 || segments_asked > 1)
            find_needs(rows, place, places, k, k ? 1 : 0, k ? segments_asked - 1 : 0);
        if (equal || k == 0 || segments_asked > 1)
            check_lines(place[k], shifts);
    }
    free(place);
}

/* ---- The second claim: no allowed table of so many segments is within the error ---- */

static struct {
    i64 segments, squares, unit; /* the squares in units of 2^-unit */
    const char *error;           /* or NULL: the claim is one of squares */
} claim;

/* For each number of equal segments, or 0, and each shift from -63 to 63, whether a chain is about it. */
static bool covered[MOST_SEGMENTS + 1][127];
static i64 *group_of; /* of each stored code: the last group that excludes lines which start there alone */
static i64 groups;    /* that were looked at, in all chains */

static bool is_excluded(i64 place, i64 reach)
{
    return place <= reach || group_of[place - d0] == groups || place != last_place(place + 1);
}

/* Checks a group, and returns the b of its exclusions; reach is the largest a of those that exclude any line from
 * there. */
static i64 check_group(const i64 shifts[2], const json_t *rows, i64 *reach)
{
    i64 b = 0;
    groups++;
    *reach = d0 - 1;
    for (size_t k = 0; k < length(rows); k++) {
        struct exclusion e = check_exclusion(shifts, json_array_get(rows, k));
        REQUIRE(!b || b == e.b || k == 0, "a group's exclusions do not end together");
        b = e.b;
        if (e.any_start)
            *reach = (i64)larger(*reach, e.a);
        group_of[e.a - d0] = groups;
    }
    if (!length(rows))
        fail(2, "a group has no exclusions");
    return b;
}

/* One exclusion of a segment of `equal` ones. */
static void check_equal(const i64 shifts[2], const json_t *rows, i64 equal)
{
    bool found = false;
    REQUIRE(length(rows) == 1 && length(json_array_get(rows, 0)) == 1, "a chain of equal segments has one exclusion");
    struct exclusion e = check_exclusion(shifts, json_array_get(json_array_get(rows, 0), 0));
    for (i64 m = 0; m < equal; m++)
        found |= (equal_start(m, equal) == e.a || (equal_start(m, equal) < e.a && e.any_start)) &&
                 e.b <= equal_start(m + 1, equal);
    REQUIRE(found, "its exclusion is not one of a segment");
}

/* F(m), here `place`, is the last place where segment m of a table of these shifts can start: it cannot hold the range
 * of an exclusion that begins there or later. */
static void check_groups(const i64 shifts[2], json_t *rows, i64 number)
{
    i64 before = d0 - 1, place = d0, reach, made = (i64)length(rows);
    for (i64 m = 0; m < made; m++) {
        i64 b = check_group(shifts, json_array_get(rows, (size_t)m), &reach);
        /* In the anchored form starts up to `before` are excluded by the groups before. */
        for (i64 p = form == ANCHORED ? before + 1 : place; p <= place; p++)
            REQUIRE(is_excluded(p, reach), "group %lld does not exclude a segment from %lld on", m, p);
        before = place;
        place = last_place(b);
    }
    REQUIRE(made == number || (made && made < number && place <= before), "a chain ends too early");
}

static void check_chain(json_t *chain)
{
    i64 shifts[2], equal = 0;
    json_t *rows;
    read_json(chain, "chain", "{s[II] s?I so}", "shifts", shifts, shifts + 1, "equal", &equal,
              claim.error ? "groups" : "least", &rows);
    REQUIRE(rules.shifts[0] <= shifts[0] && shifts[0] <= shifts[1] && shifts[1] <= rules.shifts[1],
            "a chain's shifts are not among those of the rules");
    REQUIRE(rules.one_shift || (shifts[0] == rules.shifts[0] && shifts[1] == rules.shifts[1]),
            "a chain has not all shifts");
    REQUIRE(rules.equal ? equal && is_equal_count(equal) : !equal, "a chain is not of the rules' equal segments");
    if (!claim.error)
        check_costs(shifts, equal, rows, claim.segments, claim.squares);
    else if (equal)
        check_equal(shifts, rows, equal);
    else
        check_groups(shifts, rows, claim.segments);
    for (i64 n = shifts[0]; n <= shifts[1]; n++)
        covered[equal][n + 63] = true;
}

static void check_chains(json_t *chains)
{
    group_of = get(d1 - d0, sizeof *group_of);
    for (size_t k = 0; k < length(chains); k++)
        check_chain(json_array_get(chains, k));
    for (i64 equal = 0; equal <= MOST_SEGMENTS; equal++)
        for (i64 n = rules.shifts[0]; n <= rules.shifts[1]; n++)
            REQUIRE(covered[equal][n + 63] || (rules.equal ? !equal || !is_equal_count(equal) : equal),
                    "no chain has the shift %lld", n);
}

/* ---- What follows for the certificate ---- */

/* How far L may be below E. */
static i128 slack(i128 largest)
{
    return larger(larger(ONE / 100000000, largest / 100000000000),
                  larger(magnitude(y.qmin), magnitude(y.qmax)) * (ONE >> 48));
}

static void follows_for_max(i64 number, i128 limit, i128 largest)
{
    i64 asked = flag_number("--segments", "16");
    REQUIRE(number >= asked && number >= count && is_equal_count(asked), "impossible: S is too small");
    REQUIRE(!said.optimal || largest - limit <= slack(largest), "optimal: L is too far below E");
    REQUIRE(said.lower_bound == 0 || said.lower_bound <= in_steps(limit) * 1.000001 ||
                (said.optimal && agrees(said.lower_bound, in_steps(largest), 0)),
            "lower_bound_lsb is above the error of impossible");
}

/* How far below the table's sum of squares B may be, or the least sum that outputs can have. */
static double slack_of_squares(void)
{
    return fmax(squares / 1e9, ldexp((double)codes, -30));
}

static bool is_bound_of_squares(double least)
{
    return said.lower_bound * said.lower_bound * (double)codes <= least * 1.000002;
}

static void follows_for_squares(void)
{
    i64 asked = flag_number("--segments", "16");
    double least = ldexp((double)claim.squares, (int)-claim.unit);
    REQUIRE(codes <= 1 << 12 && !weights, "squares are of 2^12 codes, without weights");
    REQUIRE(claim.segments >= asked && claim.segments >= count && is_equal_count(asked), "impossible: S is too small");
    REQUIRE(!said.optimal || squares - least <= slack_of_squares(), "optimal: B is too far below the table's squares");
    REQUIRE(!said.optimal || agrees(said.lower_bound, said.rms, 0), "lower_bound_lsb is not rms_err_lsb");
    REQUIRE(said.optimal || is_bound_of_squares(least), "lower_bound_lsb is above the squares of impossible");
}

/* Returns how many smaller numbers of equal segments are left open. */
static i64 follows_for_segments(i64 number, i128 limit, i128 largest)
{
    i64 all = x.qmax + 1 - d0, left = 0;
    REQUIRE(!said.has_bound, "a claim that the certificate has not");
    decimal(at, one_flag("--max-err", "none"));
    REQUIRE(mpfr_cmp(error, at) >= 0, "impossible: --max-err allows a larger error");
    REQUIRE(largest <= limit || agrees(in_steps(limit), in_steps(largest), 0), "the table is not within L");
    REQUIRE(!said.optimal || rules.equal || number == count - 1,
            "optimal: S is not one less than the table's segments");
    for (i64 k = 1; k < count; k++) {
        bool power = all % k == 0 && ((all / k) & (all / k - 1)) == 0;
        REQUIRE(!said.optimal || !power || is_equal_count(k), "optimal: %lld equal segments are left out", k);
        left += !is_equal_count(k);
    }
    return left;
}

/* Checks the second claim; returns how many smaller numbers of equal segments it leaves open. */
static i64 check_impossible(json_t *impossible, json_t *rule, json_t *chains, i128 largest)
{
    i64 most = 0, left = 0;
    i128 limit = 0;
    bool rms = is_objective("rms");
    read_json(impossible, "impossible", rms ? "{sI sI sI}" : "{sI ss}", "segments", &claim.segments,
              rms ? "squares" : "error", rms ? (void *)&claim.squares : (void *)&claim.error, "unit", &claim.unit);
    REQUIRE(claim.segments >= 1 && claim.segments <= MOST_SEGMENTS && claim.unit >= 0 && claim.unit <= 60,
            "impossible: is out of range");
    if (!rms) {
        decimal(error, claim.error);
        limit = in_units(error);
    }
    read_rules(rule);
    check_allowed();
    for (size_t i = 0; i < length(rules.equal); i++)
        most = (i64)larger(most, element(rules.equal, i));
    REQUIRE(!rules.equal || claim.segments == most, "segments are not the largest number of equal ones");
    if (is_objective("max"))
        follows_for_max(claim.segments, limit, largest);
    else if (rms)
        follows_for_squares();
    else
        left = follows_for_segments(claim.segments, limit, largest);
    if (rms)
        find_floors(claim.unit);
    else
        find_bands(limit + 1);
    check_chains(chains);
    return left;
}

/* What the certificate says of other tables, and no claim bears out. */
static void tell_unproven(i128 largest)
{
    i128 small = is_objective("max") ? slack(largest) : 0;
    bool open = is_objective("segments") ? count > 1 : largest > small, high = said.lower_bound > in_steps(small);
    if (is_objective("rms")) {
        open = squares - nearest > slack_of_squares() || !agrees(said.lower_bound, said.rms, 0);
        high = !is_bound_of_squares(nearest) && (open || !said.optimal);
    }
    if (said.optimal && (open || weights))
        printf("; not proven: optimal");
    if (high)
        printf("; not proven: lower_bound_lsb");
}

int main(int arguments, char **argument)
{
    json_error_t problem;
    json_t *table, *impossible = NULL, *rule = NULL, *chains = NULL;
    i64 version;
    if (arguments != 2) {
        fprintf(stderr, "Usage: check_proof FILE\n");
        return 2;
    }
    file_name = argument[1];
    mpfr_inits2(PRECISION, at, alpha, far, error, whole, rest, NULL);
    for (size_t i = 0; i < sizeof stack / sizeof *stack; i++)
        mpfr_init2(stack[i], PRECISION);
    json_t *proof = json_load_file(file_name, JSON_REJECT_DUPLICATES, &problem);
    if (!proof)
        fail(2, "no JSON: %s", problem.text);
    read_json(proof, "proof", "{sI so s?o s?o s?o}", "pwl_proof", &version, "table", &table, "impossible", &impossible,
              "rules", &rule, "chains", &chains);
    REQUIRE(version == 1, "the proof's version is not 1");
    read_table(table);
    read_certificate(certificate);
    check_name(proof);
    find_function();
    if (codes > MOST_CODES) {
        REQUIRE(!impossible && !rule && !chains, "impossible: nothing is proven of more than 2^20 codes");
        check_wide();
        json_decref(proof);
        return 0;
    }
    enclose();
    find_outputs();
    i128 largest = check_certificate() - unit;
    REQUIRE(impossible || (!rule && !chains), "rules or chains, and no claim");
    i64 left = impossible ? check_impossible(impossible, rule, chains, largest) : 0;
    printf("%s: accepted: largest error %.10g LSB, %lld segments", file_name, in_steps(largest), count);
    const char *kind = rules.equal ? "equal " : "";
    if (impossible && claim.error)
        printf("; no allowed table of at most %lld %ssegments is within %s LSB", claim.segments, kind, claim.error);
    else if (impossible)
        printf("; no allowed table of at most %lld %ssegments has an RMS error of less than %.10g LSB", claim.segments,
               kind, sqrt(ldexp((double)claim.squares, (int)-claim.unit) / (double)codes));
    else
        tell_unproven(largest);
    if (left)
        printf("; not proven: that %lld smaller numbers of equal segments, of no 2^k codes, do not do", left);
    if (weights)
        printf("; not proven: the averages (their weights are needed)");
    printf("\n");
    json_decref(proof);
    return 0;
}
