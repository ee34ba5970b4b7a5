/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a proof, and its first claim: the table, its outputs, the function's enclosures, and every figure of the
 * certificate. */
#include "checker.h"
#include <nettle/sha2.h>
#include <stdarg.h>

const char *file_name;
char step[80];
mpfr_t at, alpha, far, asked_error, whole, rest, stack[8];

_Noreturn void fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s: %s: %s", file_name, status == 1 ? "refused" : "cannot be read", step);
    vprintf(format, arguments);
    printf("\n");
    exit(status);
}

void *get(i64 number, size_t size)
{
    void *memory = calloc((size_t)number + 1, size);
    if (!memory)
        fail(2, "no memory");
    return memory;
}

/* ---- Reading: each field known and there once ---- */

/* The fields of an object, or the items of an array, as json_unpack() reads them; others are refused. */
void read_json(json_t *value, const char *where, const char *format, ...)
{
    json_error_t problem;
    va_list arguments;
    va_start(arguments, format);
    if (json_vunpack_ex(value, &problem, JSON_STRICT, format, arguments))
        fail(2, "%s: %s", where, problem.text);
    va_end(arguments);
}

size_t length(const json_t *list)
{
    if (list && !json_is_array(list))
        fail(2, "a list is none");
    return json_array_size(list);
}

i64 element(const json_t *list, size_t i)
{
    if (!json_is_integer(json_array_get(list, i)))
        fail(2, "a number is no integer");
    return json_integer_value(json_array_get(list, i));
}

/* A decimal's value, good to 200 bits; as it is short, numbers of different decimals are different, and in order. */
void decimal(mpfr_t value, const char *text)
{
    char *end;
    mpfr_strtofr(value, text, &end, 10, MPFR_RNDN);
    if (!*text || *end || strlen(text) >= 50 || strspn(text, "0123456789+-.e") != strlen(text))
        fail(2, "'%s' is no decimal number", text);
    REQUIRE(mpfr_zero_p(value) || mpfr_get_exp(value) < 40, "%s is too large", text);
}

/* A number in units, rounded down. */
i128 in_units(const mpfr_t value)
{
    REQUIRE(mpfr_zero_p(value) || mpfr_get_exp(value) < 44, "a number is too large");
    mpfr_mul_2si(rest, value, POINT - 62, MPFR_RNDD);
    mpfr_floor(whole, rest);
    mpfr_sub(rest, rest, whole, MPFR_RNDD);
    mpfr_mul_2si(rest, rest, 62, MPFR_RNDD);
    return mpfr_get_sj(whole, MPFR_RNDD) * ((i128)1 << 62) + mpfr_get_sj(rest, MPFR_RNDD);
}

/* ---- The table, and its outputs (docs/meaning.md) ---- */

struct side x, y;
enum form form;
enum rounding rounding;
i64 code_bits, wide, offset_bits;
bool folded;
i64 sum, d0, d1;
i64 count, codes;
struct segment *segments;
json_t *certificate, *parameters;
const char *function_name, *spec, *outside, *weights;
i64 *outputs;
i128 *values, *errors, unit;

static int index_of(const char *name, const char *const *names, int known)
{
    for (int i = 0; i < known; i++)
        if (!strcmp(name, names[i]))
            return i;
    fail(1, "%s is not known", name);
}

void codes_of(bool is_signed, i64 bits, i64 ends[2])
{
    ends[0] = is_signed ? (i64) - ((i128)1 << (bits - 1)) : 0;
    ends[1] = (i64)(((i128)1 << (bits - is_signed)) - 1);
}

/* p * 2^-n, rounded to an integer. A shift to the left of what has more than 64 bits, and is allowed nowhere, makes an
 * infinite value. */
i128 shr(i128 p, i64 n)
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

void read_table(json_t *value)
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
i128 value_of(i128 p, i64 n, i128 c)
{
    return form == BIASED ? shr(p + c, n) : shr(p, n) + c;
}

i128 value_at(const struct segment *s, i64 q)
{
    return value_of(s->q_b * ((i128)q - s->origin), s->n, s->c);
}

void find_outputs(void)
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
i64 needed_bits(void)
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
static const struct function functions[] = {
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
void evaluate(const char *formula)
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

const struct function *function;
static double parameter;

/* Finds the function, and how wide an error the targets may have: unit. */
void find_function(void)
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
bool find_value(i64 q)
{
    mpfr_mul_si(at, x.scale, q - x.zero_point, MPFR_RNDN);
    if (!inside(function->domain[0]))
        return false;
    evaluate(function->below && mpfr_sgn(at) < 0 ? function->below : function->formula);
    mpfr_div(*stack, *stack, y.scale, MPFR_RNDN);
    return true;
}

void clip_far(mpfr_t value)
{
    if (mpfr_cmpabs(value, far) > 0) /* far beyond all codes, where any value does */
        mpfr_setsign(value, far, mpfr_signbit(value), MPFR_RNDN);
}

/* f / scale_y at every code. */
void enclose(void)
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

struct certificate said;
double squares, nearest;

/* Half a unit of the sixth digit of a number, and next to nothing. */
double half_digit(double number)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.17e", number);
    return 0.500001 * pow(10, atoi(strchr(digits, 'e') + 1) - 5);
}

/* Whether a printed number shows six digits of a real one, or of one that differs by no more than so much. */
bool agrees(double printed, double exact, double so_much)
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

void check_figure(const char *name, double printed, double exact)
{
    REQUIRE(agrees(printed, exact, in_steps(unit)), "%s: it is %.10g", name, exact);
}

void check_count(const char *name, i64 what, i64 least, i64 most)
{
    REQUIRE(least <= what && what <= most, "%s: it is %lld", name, least);
}

bool is_objective(const char *name)
{
    return !strcmp(said.objective, name);
}

void read_certificate(json_t *value)
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
    if (!json_is_null(bound))
        read_json(bound, "lower_bound_lsb", "F", &said.lower_bound);
    if (!json_is_null(optimal) && !json_is_boolean(optimal))
        fail(2, "certificate: optimal is of the wrong kind");
    said.optimal = json_is_true(optimal);
}

/* The certificate may name the proof: by the SHA-256 of all but the table. */
void check_name(const json_t *proof)
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
i128 check_certificate(void)
{
    i128 low = y.qmin * ONE, high = y.qmax * ONE, largest = 0, total = 0, rest = 0, against = most_against();
    i64 saturated[2] = {0, 0}, rounded[2] = {0, 0}, bits = needed_bits();
    double lost = 0, off_nearest;
    errors = get(codes, sizeof *errors);
    for (i64 k = 0; k < codes; k++) {
        i128 target = values[k] + y.zero_point * ONE;
        values[k] = smaller(larger(target, low), high);
        errors[k] = magnitude(outputs[k] * ONE - values[k]);
        largest = larger(largest, errors[k]);
        total += errors[k] >> 8; /* 2^20 errors of 2^32 steps fit */
        rest += errors[k] & 255;
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
        check_figure("mean_abs_err_lsb", said.mean, (ldexp(in_steps(total), 8) + in_steps(rest)) / (double)codes);
        check_figure("correctly_rounded", said.rounded, share / (double)codes);
    }
    return largest;
}
