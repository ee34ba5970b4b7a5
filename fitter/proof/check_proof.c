/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a proof of what a table's certificate says: check_proof.py in C, for speed, and a program of its own.
 *
 *     check_proof FILE
 *
 * It prints "accepted" and what is proven, or the first thing that fails. Exit status 0: accepted; 1: something does
 * not hold; 2: the file is not of the format. docs/proofs.md has the format and the theorems. Trusted are GMP, MPFR's
 * functions at 200 bits with a margin of 2^-100, and jansson, which reads the file. */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <mpfr.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 i128;

/* Targets and errors are integers in units of 2^-POINT of an output step, pairs of a low and a high one. */
enum { POINT = 128, MARGIN = 100, PRECISION = 200, MOST_CODES = 1 << 20 };
/* Beyond every number that occurs: no end of a band, no constant that types allow. */
#define INFINITE ((i128)1 << 126)

static const char *file_name;
static char step[80]; /* The step that is being checked, for messages. */

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

static void *get(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail(2, "no memory");
    return memory;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static i128 floor_div(i128 a, i128 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static i128 ceil_div(i128 a, i128 b)
{
    return -floor_div(-a, b);
}

static bool fits(i128 value, int bits)
{
    return value >= -((i128)1 << (bits - 1)) && value < (i128)1 << (bits - 1);
}

/* ---- Reading: each field known and there once ---- */

static bool is_ints(const json_t *value, size_t count)
{
    if (!json_is_array(value) || (count && json_array_size(value) != count))
        return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_integer(json_array_get(value, i)))
            return false;
    return true;
}

static bool is_pairs(const json_t *value)
{
    bool good = json_is_array(value);
    for (size_t i = 0; good && i < json_array_size(value); i++)
        good = is_ints(json_array_get(value, i), 2);
    return good;
}

static bool is_kind(const json_t *value, char kind)
{
    switch (kind) {
    case 'i':
        return json_is_integer(value);
    case 's':
        return json_is_string(value);
    case 'b':
        return json_is_boolean(value);
    case 'l':
        return json_is_array(value);
    case 'o':
        return json_is_object(value);
    case 'r':
        return json_is_number(value) && json_number_value(value) < 1e300 && json_number_value(value) > -1e300;
    case 'n':
        return is_ints(value, 0);
    case 'p':
        return is_ints(value, 2);
    case 'P':
        return is_pairs(value);
    default:
        return value;
    }
}

/* Checks an object's fields: of each the schema has its kind and its name. Behind the name "?" says that it may be
 * absent,
 * "~" that it may be null. */
static void read_fields(const json_t *object, const char *where, const char *schema)
{
    size_t found = 0;
    char name[40];
    if (!json_is_object(object))
        fail(2, "%s: is no object", where);
    for (const char *at = schema; *at; at += *at == ' ') {
        size_t length = strcspn(at + 1, " ");
        char mark = at[length];
        snprintf(name, sizeof name, "%.*s", (int)(length - (mark == '?' || mark == '~')), at + 1);
        const json_t *value = json_object_get(object, name);
        if (value ? !is_kind(value, *at) && !(mark == '~' && json_is_null(value)) : mark != '?')
            fail(2, "%s: %s is missing, or of the wrong kind", where, name);
        found += value != NULL;
        at += 1 + length;
    }
    if (found != json_object_size(object))
        fail(2, "%s: has unknown fields", where);
}

static int64_t integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static const char *text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static double real(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static int64_t element(const json_t *array, size_t i)
{
    return json_integer_value(json_array_get(array, i));
}

/* The rational of a decimal, which ends at `end`. */
static void decimal(mpq_t value, const char *start, size_t length)
{
    char digits[128] = "0";
    size_t used = 1, at = 0, whole = 0, part = 0;
    long exponent = 0;
    bool minus = length && start[0] == '-';
    at += minus;
    for (; at < length && isdigit((unsigned char)start[at]) && whole < 30; whole++)
        digits[used++] = start[at++];
    if (at < length && start[at] == '.')
        for (at++; at < length && isdigit((unsigned char)start[at]) && part < 60; part++)
            digits[used++] = start[at++];
    else
        part = 1, exponent = 1, digits[used++] = '0', exponent = 0;
    if (at < length && start[at] == 'e') {
        char *end;
        exponent = strtol(start + at + 1, &end, 10);
        at = (size_t)(end - start) <= length && isdigit((unsigned char)end[-1]) ? (size_t)(end - start) : length + 1;
    }
    if (!whole || !part || at != length || exponent > 999 || exponent < -999)
        fail(2, "'%.*s' is no decimal number", (int)length, start);
    mpz_set_str(mpq_numref(value), digits, 10);
    mpz_ui_pow_ui(mpq_denref(value), 10, part);
    mpq_canonicalize(value);
    mpq_t power;
    mpq_init(power);
    mpz_ui_pow_ui(exponent < 0 ? mpq_denref(power) : mpq_numref(power), 10, (unsigned long)labs(exponent));
    mpz_set_ui(exponent < 0 ? mpq_numref(power) : mpq_denref(power), 1);
    mpq_mul(value, value, power);
    if (minus)
        mpq_neg(value, value);
    mpq_clear(power);
}

/* ---- SHA-256, and the table's hash ---- */

static uint32_t turn(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

/* A word of the constants: the first 32 bits behind the point of the square or cube root of a prime. */
static uint32_t root_bits(unsigned long prime, unsigned long root)
{
    mpz_t power;
    mpz_init_set_ui(power, prime);
    mpz_mul_2exp(power, power, 32 * root);
    mpz_root(power, power, root);
    uint32_t bits = (uint32_t)mpz_get_ui(power);
    mpz_clear(power);
    return bits;
}

static void hash_block(uint32_t state[8], const uint32_t constant[64], const unsigned char *block)
{
    uint32_t w[64], v[8];
    for (size_t i = 0; i < 64; i++)
        if (i < 16)
            w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
        else
            w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
                   (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t one =
            v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + constant[i] + w[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += v[i];
}

static void sha256(const char *bytes, size_t length, char hex[65])
{
    uint32_t state[8], constant[64];
    size_t primes = 0, padded = (length + 9 + 63) / 64 * 64;
    for (unsigned long number = 2; primes < 64; number++) {
        bool prime = true;
        for (unsigned long factor = 2; factor * factor <= number; factor++)
            prime &= number % factor != 0;
        if (prime && primes < 8)
            state[primes] = root_bits(number, 2);
        if (prime)
            constant[primes++] = root_bits(number, 3);
    }
    unsigned char *block = get(padded, 1);
    memcpy(block, bytes, length);
    block[length] = 0x80;
    for (size_t i = 0; i < 8; i++)
        block[padded - 1 - i] = (unsigned char)((uint64_t)length * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64)
        hash_block(state, constant, block + at);
    for (size_t i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", state[i]);
    free(block);
}

/* The hash of the canonical text, in which numbers of the parameters and the certificate are doubles in hexadecimal. */
static void check_hash(const json_t *table)
{
    json_t *copy = json_deep_copy(table), *value;
    const char *name, *parts[2] = {"parameters", "certificate"};
    char hex[65];
    for (size_t i = 0; i < 2; i++)
        json_object_foreach(json_object_get(copy, parts[i]), name, value) if (json_is_number(value))
        {
            double number = json_number_value(value);
            uint64_t bits;
            memcpy(&bits, &number, sizeof bits);
            snprintf(hex, sizeof hex, "%016llx", (unsigned long long)bits);
            json_object_set_new(json_object_get(copy, parts[i]), name, json_string(hex));
        }
    json_object_del(copy, "hash");
    char *content = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    if (!content)
        fail(2, "no memory");
    sha256(content, strlen(content), hex);
    REQUIRE(!strcmp(hex, text(table, "hash")), "the table's hash is not that of its content");
    free(content);
    json_decref(copy);
}

/* Whether the certificate names this proof, where it names one. */
static void check_name(const json_t *proof)
{
    json_t *beside = json_copy((json_t *)proof);
    char hex[65];
    json_object_del(beside, "table");
    char *content = json_dumps(beside, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    if (!content)
        fail(2, "no memory");
    sha256(content, strlen(content), hex);
    const char *name = text(json_object_get(json_object_get(proof, "table"), "certificate"), "proof");
    REQUIRE(!name || !strcmp(name, hex), "proof: the certificate names another proof");
    free(content);
    json_decref(beside);
}

/* ---- The table, and its outputs (docs/meaning.md) ---- */

enum form { ABSOLUTE, BIASED, ANCHORED };
enum rounding { FLOOR, HALF_UP, HALF_AWAY, HALF_EVEN };

struct side {
    int64_t bits, zero_point, qmin, qmax;
    mpq_t scale;
};

struct segment {
    int64_t start, end, q_b, n, c, origin; /* end: behind its last code; origin: the code from which X counts */
};

struct table {
    const json_t *json, *certificate;
    struct side x, y;
    enum form form;
    enum rounding rounding;
    int bits, wide, offset_bits; /* of codes, of products and sums, of the constant */
    bool folded;
    int64_t sum, d0, d1; /* the stored codes are d0 to d1 - 1 */
    size_t count, codes;
    struct segment *segments;
    int64_t *outputs;  /* of all codes, from qmin */
    mpz_t *low, *high; /* of f / scale_y, then of the targets */
    mpz_t error_low, error_high;
};

static int index_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return i;
    fail(1, "%s is not known", name);
}

static void codes_of(bool is_signed, int64_t bits, int64_t *low, int64_t *high)
{
    *low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    *high = (is_signed ? INT64_C(1) << (bits - 1) : INT64_C(1) << bits) - 1;
    if (bits == 64)
        *low = INT64_MIN, *high = INT64_MAX;
}

/* p * 2^-n, rounded to an integer. What a shift to the left would make too large for 128 bits is infinite. */
static i128 shr(i128 p, int64_t n, enum rounding rounding)
{
    if (n < 0 && !fits(p, 64))
        return p > 0 ? INFINITE : -INFINITE;
    if (n <= 0)
        return p * ((i128)1 << -n);
    i128 half = (i128)1 << (n - 1), quotient = p >> n;
    bool up = rounding == HALF_UP || (rounding == HALF_AWAY && p >= 0) || (rounding == HALF_EVEN && (quotient & 1));
    return rounding == FLOOR ? quotient : (p + half - !up) >> n;
}

static void read_side(struct side *side, const json_t *value, const char *name)
{
    int64_t low, high;
    char *end;
    read_fields(value, name, "ibits izero_point iqmin iqmax bsigned sscale");
    side->bits = integer(value, "bits");
    side->zero_point = integer(value, "zero_point");
    side->qmin = integer(value, "qmin");
    side->qmax = integer(value, "qmax");
    REQUIRE(side->bits >= 2 && side->bits <= 32, "%s: is no type", name);
    codes_of(json_is_true(json_object_get(value, "signed")), side->bits, &low, &high);
    REQUIRE(low <= side->qmin && side->qmin <= side->qmax && side->qmax <= high, "%s: has no such codes", name);
    const char *scale = text(value, "scale");
    mpq_init(side->scale);
    if (!strncmp(scale, "2^", 2)) {
        long power = strtol(scale + 2, &end, 10);
        REQUIRE(scale[2] && !*end && power > -1000 && power < 1000, "%s: is no type", name);
        mpq_set_ui(side->scale, 1, 1);
        (power < 0 ? mpq_div_2exp : mpq_mul_2exp)(side->scale, side->scale, (mp_bitcnt_t)labs(power));
    } else {
        decimal(side->scale, scale, strlen(scale));
        mpq_set_d(side->scale, strtod(scale, NULL));
    }
    REQUIRE(mpq_sgn(side->scale) > 0, "%s: is no type", name);
}

static void read_segments(struct table *t, const json_t *rows)
{
    static const char *const schemas[] = {"istart iq_b in_BX_total iterm_c ounfused?",
                                          "istart iq_b in_BX_total ibias ounfused?",
                                          "istart iq_b in_BX_total iy ounfused?"};
    static const char *const constants[] = {"term_c", "bias", "y"};
    t->count = json_array_size(rows);
    REQUIRE(t->count >= 1 && t->count <= 4096, "segments are not 1 to 4096");
    t->segments = get(t->count, sizeof *t->segments);
    for (size_t i = 0; i < t->count; i++) {
        const json_t *row = json_array_get(rows, i);
        struct segment *s = t->segments + i;
        read_fields(row, "segment", schemas[t->form]);
        *s = (struct segment){integer(row, "start"),
                              t->d1,
                              integer(row, "q_b"),
                              integer(row, "n_BX_total"),
                              integer(row, constants[t->form]),
                              t->x.zero_point};
        if (t->form == ANCHORED)
            s->origin = s->start;
        REQUIRE(i ? s->start > s[-1].start : s->start == t->d0, "segments do not start as they must");
        REQUIRE(s->start <= t->x.qmax, "segments do not start as they must");
        REQUIRE(fits(s->q_b, t->bits) && s->n < t->wide && s->n > -t->wide && fits(s->c, t->offset_bits),
                "a segment does not fit its types");
        if (i)
            s[-1].end = s->start;
    }
}

static void read_table(struct table *t, const json_t *json)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
    char name[16];
    read_fields(json, "table",
                "ipwl_table sspec sfunction smethod sform srounding scase shash soutside? lsegments "
                "ssamples_sha256? sexpression? sweights_sha256? oparameters oin oout ocertificate ofold? "
                "oreduction?");
    t->json = json;
    t->certificate = json_object_get(json, "certificate");
    REQUIRE(integer(json, "pwl_table") == 1, "the table's version is not 1");
    check_hash(json);
    REQUIRE(!json_object_get(json, "reduction") && !text(json, "samples_sha256") && !text(json, "expression"),
            "nothing is proven of reduced tables, samples and expressions");
    REQUIRE(!text(json, "outside") || !strcmp(text(json, "outside"), "clamp"), "the table is of no known kind");
    t->form = (enum form)index_of(text(json, "form"), forms, 3);
    t->rounding = (enum rounding)index_of(text(json, "rounding"), roundings, 4);
    read_side(&t->x, json_object_get(json, "in"), "in");
    read_side(&t->y, json_object_get(json, "out"), "out");
    REQUIRE(t->x.qmax - t->x.qmin < MOST_CODES, "nothing is proven of more than 2^20 codes");
    int64_t widest = larger(t->x.bits, t->y.bits);
    t->bits = widest <= 8 ? 8 : widest <= 16 ? 16 : 32;
    snprintf(name, sizeof name, "int%d", t->bits);
    REQUIRE(!strcmp(text(json, "case"), name), "case is not the smallest one that holds both sides");
    t->wide = t->bits == 32 ? 64 : 32;
    t->offset_bits = t->form == BIASED ? t->wide : t->bits == 32 ? 48 : 2 * t->bits;
    t->codes = (size_t)(t->x.qmax - t->x.qmin + 1);
    t->d0 = t->x.qmin;
    t->d1 = t->x.qmax + 1;
    const json_t *fold = json_object_get(json, "fold");
    if (fold) {
        read_fields(fold, "fold", "isum");
        t->folded = true;
        t->sum = integer(fold, "sum");
        t->d0 = t->x.zero_point;
        REQUIRE(t->x.qmin <= t->d0 && t->d0 <= t->x.qmax && fits(t->sum, 60), "fold: is none of these codes");
        t->d1 = larger(t->x.qmax, 2 * t->d0 - t->x.qmin) + 1;
    }
    read_segments(t, json_object_get(json, "segments"));
}

/* The value of a segment at a code, before saturation. */
static i128 value_at(const struct table *t, const struct segment *s, int64_t q)
{
    i128 p = (i128)s->q_b * ((i128)q - s->origin);
    return t->form == BIASED ? shr(p + s->c, s->n, t->rounding) : shr(p, s->n, t->rounding) + s->c;
}

static void find_outputs(struct table *t)
{
    t->outputs = get(t->codes, sizeof *t->outputs);
    for (const struct segment *s = t->segments; s < t->segments + t->count; s++)
        for (int64_t q = s->start; q < s->end; q++) {
            i128 value = value_at(t, s, q), image = t->sum - value;
            int64_t back = 2 * t->d0 - q;
            if (q <= t->x.qmax)
                t->outputs[q - t->x.qmin] = (int64_t)(value < t->y.qmin   ? t->y.qmin
                                                      : value > t->y.qmax ? t->y.qmax
                                                                          : value);
            if (t->folded && q > t->d0 && back >= t->x.qmin)
                t->outputs[back - t->x.qmin] = (int64_t)(image < t->y.qmin   ? t->y.qmin
                                                         : image > t->y.qmax ? t->y.qmax
                                                                             : image);
        }
}

static int bits_of(i128 value)
{
    int bits = 1;
    while (!fits(value, bits))
        bits++;
    return bits;
}

/* The bits of what the arithmetic makes, where it can be largest: as p, and what is made of it, is monotone in the
 * code, or convex, these are the ends of each segment, and of the codes in it whose image is a code. */
static int needed_bits(const struct table *t, bool with_images)
{
    int most = 1;
    for (const struct segment *s = t->segments; s < t->segments + t->count; s++) {
        int64_t first = larger(s->start, t->d0 + 1), last = smaller(s->end - 1, 2 * t->d0 - t->x.qmin);
        bool images = t->folded && first <= last;
        int64_t at[4] = {s->start, s->end - 1, first, last};
        for (int k = 0; k < (images ? 4 : 2); k++) {
            i128 product = (i128)s->q_b * ((i128)at[k] - s->origin), p = t->form == BIASED ? product + s->c : product;
            i128 value = value_at(t, s, at[k]);
            i128 made[5] = {product, p, shr(p, s->n, t->rounding), value, 0};
            if (s->n > 0 && t->rounding != FLOOR)
                made[4] = (t->rounding == HALF_AWAY && p < 0 ? -p : p) + ((i128)1 << (s->n - 1));
            for (int i = 0; i < 5; i++)
                most = (int)larger(most, bits_of(made[i]));
            if (images && with_images && at[k] >= first && at[k] <= last)
                most = (int)larger(most, bits_of(t->sum - value));
        }
    }
    return most;
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

/* Each operation is good to 2^-200 of its result; formulas to 2^-190 of the largest of 1, |x|, |f|, alpha. */
static void evaluate(mpfr_t f, const char *formula, const mpfr_t x, const mpfr_t alpha)
{
    static mpfr_t stack[8];
    static bool ready;
    for (int i = 0; i < 8 && !ready; i++)
        mpfr_init2(stack[i], PRECISION);
    ready = true;
    size_t depth = 0;
    for (size_t length; *formula; formula += length + (formula[length] == ' ')) {
        length = strcspn(formula, " ");
        size_t k = 0, count = sizeof operations / sizeof *operations;
        while (k < count && (strlen(operations[k].name) != length || memcmp(operations[k].name, formula, length)))
            k++;
        if (k < count && operations[k].of_one)
            operations[k].of_one(stack[depth - 1], stack[depth - 1], MPFR_RNDN);
        else if (k < count) {
            operations[k].of_two(stack[depth - 2], stack[depth - 2], stack[depth - 1], MPFR_RNDN);
            depth--;
        } else if (*formula == 'x' || *formula == 'a')
            mpfr_set(stack[depth++], *formula == 'x' ? x : alpha, MPFR_RNDN);
        else if (*formula == 'p')
            mpfr_const_pi(stack[depth++], MPFR_RNDN);
        else
            mpfr_strtofr(stack[depth++], formula, NULL, 10, MPFR_RNDN);
    }
    mpfr_set(f, stack[0], MPFR_RNDN);
}

static bool inside(char domain, const mpfr_t x)
{
    int sign = mpfr_sgn(x);
    return domain == 'p' ? sign > 0 : domain == 'n' ? sign >= 0 : domain != 'z' || sign != 0;
}

/* Encloses f / scale_y at one code, cut to 2^150. `margin` is MARGIN's part of a step, in units. */
static void enclose_code(mpz_t low, mpz_t high, mpfr_t f, mpfr_exp_t size, const mpq_t scale, const mpz_t margin)
{
    mpfr_div_q(f, f, scale, MPFR_RNDN);
    mpz_set_ui(high, 0);
    if (mpfr_inf_p(f) || (!mpfr_zero_p(f) && mpfr_get_exp(f) > 150))
        mpfr_set_si_2exp(f, mpfr_sgn(f), 150, MPFR_RNDN);
    else {
        mpz_mul_2exp(high, margin, (mp_bitcnt_t)size);
        mpz_add_ui(high, high, 2);
    }
    mpfr_mul_2ui(f, f, POINT, MPFR_RNDN);
    mpfr_get_z(low, f, MPFR_RNDD);
    mpz_sub(low, low, high);
    mpz_addmul_ui(high, high, 1);
    mpz_add(high, high, low);
}

static void enclose(struct table *t)
{
    const struct function *function = functions;
    const json_t *parameters = json_object_get(t->json, "parameters");
    while (strcmp(function->name, text(t->json, "function")))
        REQUIRE(++function < functions + sizeof functions / sizeof *functions, "the function is not known");
    read_fields(parameters, "parameters", strchr(function->below ? function->below : "", 'a') ? "ralpha" : "");
    mpfr_t x, f, alpha, *all[] = {&x, &f, &alpha};
    mpz_t margin;
    mpz_init(margin);
    for (int i = 0; i < 3; i++)
        mpfr_init2(*all[i], PRECISION);
    mpfr_set_d(alpha, real(parameters, "alpha"), MPFR_RNDN);
    mpz_mul_2exp(margin, mpq_denref(t->y.scale), POINT - MARGIN);
    mpz_cdiv_q(margin, margin, mpq_numref(t->y.scale));
    t->low = get(t->codes, sizeof *t->low);
    t->high = get(t->codes, sizeof *t->high);
    bool *known = get(t->codes, sizeof *known);
    size_t defined = 0;
    for (size_t k = 0; k < t->codes; k++) {
        mpz_init(t->low[k]);
        mpz_init_set_si(t->high[k], t->x.qmin + (int64_t)k);
        mpz_set_si(t->low[k], t->x.zero_point);
        mpz_sub(t->high[k], t->high[k], t->low[k]);
        mpfr_set_z(x, t->high[k], MPFR_RNDN);
        mpfr_mul_q(x, x, t->x.scale, MPFR_RNDN);
        known[k] = inside(function->domain[0], x);
        if (!known[k])
            continue;
        defined++;
        evaluate(f, function->below && mpfr_sgn(x) < 0 ? function->below : function->formula, x, alpha);
        mpfr_exp_t size = 0;
        for (int i = 0; i < 3; i++)
            if (mpfr_regular_p(*all[i]) && mpfr_get_exp(*all[i]) > size)
                size = mpfr_get_exp(*all[i]);
        enclose_code(t->low[k], t->high[k], f, size, t->y.scale, margin);
    }
    REQUIRE(defined && (defined == t->codes || text(t->json, "outside")), "codes lie outside the function's domain");
    /* A code outside takes the value of the nearest code inside, of two the next one's. */
    for (size_t k = 0; k < t->codes; k++)
        for (size_t distance = 1; !known[k]; distance++) {
            size_t next = k + distance, before = k - distance;
            size_t from = next < t->codes && known[next] ? next : distance <= k && known[before] ? before : k;
            if (from == k)
                continue;
            mpz_set(t->low[k], t->low[from]);
            mpz_set(t->high[k], t->high[from]);
            break;
        }
    free(known);
    mpz_clear(margin);
    for (int i = 0; i < 3; i++)
        mpfr_clear(*all[i]);
}

/* ---- The first claim: every figure of the certificate ---- */

static double in_steps(const mpz_t units)
{
    long exponent;
    double part = mpz_get_d_2exp(&exponent, units);
    return ldexp(part, (int)exponent - POINT);
}

/* Whether a printed number shows six digits of some number from low to high, rationals of units. */
static bool agrees(double printed, const mpq_t low, const mpq_t high)
{
    mpq_t p, r, digit, next;
    mpq_inits(p, r, digit, next, NULL);
    mpq_set_d(p, printed);
    mpq_mul_2exp(p, p, POINT);
    mpq_set(r, mpq_cmp(p, low) < 0 ? low : mpq_cmp(p, high) > 0 ? high : p);
    const mpq_t *largest = mpq_cmp(p, r) > 0 ? (const mpq_t *)&p : (const mpq_t *)&r;
    bool same = mpq_equal(p, r);
    if (!same && mpq_sgn(*largest) > 0) {
        mpq_set_ui(digit, 1, 1); /* the power of ten of its first digit */
        mpq_mul_2exp(digit, digit, POINT);
        mpq_set_ui(next, 1, 10);
        while (mpq_cmp(digit, *largest) > 0)
            mpq_mul(digit, digit, next);
        mpq_set_ui(next, 10, 1);
        for (mpq_mul(next, digit, next); mpq_cmp(next, *largest) <= 0;) {
            mpq_set(digit, next);
            mpq_set_ui(next, 10, 1);
            mpq_mul(next, digit, next);
        }
        mpq_set_ui(next, 500001, 100000000000);
        mpq_canonicalize(next);
        mpq_mul(digit, digit, next);
        mpq_sub(p, p, r);
        mpq_abs(p, p);
        same = mpq_cmp(p, digit) <= 0;
    }
    mpq_clears(p, r, digit, next, NULL);
    return same;
}

static void check_agrees(const struct table *t, const char *name, const mpq_t low, const mpq_t high)
{
    REQUIRE(agrees(real(t->certificate, name), low, high), "%s: it is %.10g", name, ldexp(mpq_get_d(low), -POINT));
}

/* The errors of all codes, low and high, and the largest ones. */
static void find_errors(struct table *t, mpz_t *low, mpz_t *high)
{
    mpz_t a, b;
    mpz_inits(a, b, t->error_low, t->error_high, NULL);
    for (size_t k = 0; k < t->codes; k++) {
        mpz_set_si(a, t->outputs[k]);
        mpz_mul_2exp(a, a, POINT);
        mpz_sub(b, a, t->low[k]);
        mpz_sub(a, a, t->high[k]);
        mpz_init_set_ui(low[k], 0);
        mpz_init(high[k]);
        if (mpz_sgn(a) > 0)
            mpz_set(low[k], a);
        if (mpz_sgn(b) < 0)
            mpz_neg(low[k], b);
        mpz_neg(a, a);
        mpz_set(high[k], mpz_cmp(a, b) > 0 ? a : b);
        if (mpz_cmp(low[k], t->error_low) > 0)
            mpz_set(t->error_low, low[k]);
        if (mpz_cmp(high[k], t->error_high) > 0)
            mpz_set(t->error_high, high[k]);
    }
    mpz_clears(a, b, NULL);
}

static void check_largest(const struct table *t, mpz_t *low, mpz_t *high)
{
    mpz_t tie, limit, part;
    mpz_inits(tie, limit, part, NULL);
    mpz_setbit(tie, POINT);
    mpz_set_str(part, "1000000000000", 10);
    mpz_fdiv_q(tie, tie, part);
    mpz_set_si(part, t->y.qmax - t->y.qmin);
    mpz_mul_2exp(part, part, POINT - 59);
    if (mpz_cmp(tie, part) < 0)
        mpz_set(tie, part);
    int64_t at = integer(t->certificate, "max_err_at") - t->x.qmin;
    mpz_fdiv_q_2exp(part, t->error_low, 50);
    mpz_sub(limit, t->error_low, part);
    mpz_submul_ui(limit, tie, 2);
    REQUIRE(at >= 0 && at < (int64_t)t->codes && mpz_cmp(high[at], limit) >= 0, "max_err_at: the error is less there");
    mpz_fdiv_q_2exp(part, t->error_high, 50);
    mpz_fdiv_q_2exp(tie, tie, 1);
    mpz_add(limit, t->error_high, part);
    mpz_sub(limit, limit, tie);
    for (int64_t k = 0; k < at; k++)
        REQUIRE(mpz_cmp(low[k], limit) <= 0, "max_err_at: a lower code has it");
    mpz_clears(tie, limit, part, NULL);
}

static void check_averages(const struct table *t, mpz_t *low, mpz_t *high)
{
    mpz_t sums[2], squares[2], twice;
    mpq_t a, b, count;
    size_t least = 0, most = 0;
    mpz_inits(sums[0], sums[1], squares[0], squares[1], twice, NULL);
    mpq_inits(a, b, count, NULL);
    for (size_t k = 0; k < t->codes; k++) {
        for (int end = 0; end < 2; end++) {
            const mpz_t *error = (const mpz_t *)(end ? high : low) + k;
            mpz_add(sums[end], sums[end], *error);
            mpz_addmul(squares[end], *error, *error);
            mpz_mul_2exp(twice, *error, 1);
            mpz_tdiv_q_2exp(twice, twice, 1);
            mpz_set_ui(twice, 1);
            mpz_mul_2exp(twice, twice, POINT - 1);
            *(end ? &least : &most) += mpz_cmp(*error, twice) <= 0;
        }
    }
    mpq_set_ui(count, t->codes, 1);
    for (int end = 0; end < 2; end++) {
        mpz_fdiv_q_ui(squares[end], squares[end], t->codes);
        mpz_sqrt(squares[end], squares[end]);
        mpz_add_ui(squares[end], squares[end], (unsigned)end);
        mpq_set_z(end ? b : a, squares[end]);
    }
    check_agrees(t, "rms_err_lsb", a, b);
    mpq_set_z(a, sums[0]);
    mpq_set_z(b, sums[1]);
    mpq_div(a, a, count);
    mpq_div(b, b, count);
    check_agrees(t, "mean_abs_err_lsb", a, b);
    double printed = real(t->certificate, "correctly_rounded");
    int64_t share = printed < 0 || printed > 1 ? 0 : (int64_t)(printed * (double)t->codes + 0.5);
    mpq_set_ui(a, (size_t)larger(smaller(share, (int64_t)most), (int64_t)least), 1);
    mpq_div(a, a, count);
    mpq_mul_2exp(a, a, POINT);
    check_agrees(t, "correctly_rounded", a, a);
    mpz_clears(sums[0], sums[1], squares[0], squares[1], twice, NULL);
    mpq_clears(a, b, count, NULL);
}

/* Whether some step of the outputs goes against f, by more than 2^-60 of f: not, perhaps or surely. */
static int against(const struct table *t)
{
    int worst = 0;
    mpz_t low, high, size, width;
    mpz_inits(low, high, size, width, NULL);
    for (size_t k = 0; k + 1 < t->codes && worst < 2; k++) {
        bool up = t->outputs[k + 1] > t->outputs[k];
        size_t from = up ? k : k + 1, to = up ? k + 1 : k; /* f is to be larger at `to` */
        if (t->outputs[k + 1] == t->outputs[k])
            continue;
        mpz_sub(low, t->low[from], t->high[to]);
        mpz_sub(high, t->high[from], t->low[to]);
        mpz_sub(width, high, low);
        mpz_set_ui(size, 0);
        for (int i = 0; i < 4; i++) {
            const mpz_t *end = (const mpz_t *)(i & 1 ? t->low : t->high) + (i & 2 ? from : to);
            if (mpz_cmpabs(*end, size) > 0)
                mpz_abs(size, *end);
        }
        mpz_submul_ui(size, width, 2);
        mpz_fdiv_q_2exp(size, size, 60);
        if (mpz_cmp(high, size) > 0)
            worst = (int)larger(worst, 1);
        mpz_add(size, size, width);
        mpz_add(size, size, width);
        if (mpz_cmp(low, size) > 0)
            worst = 2;
    }
    mpz_clears(low, high, size, width, NULL);
    return worst;
}

/* Turns f / scale_y into targets, and counts the codes that surely and perhaps saturate. */
static void clip_targets(struct table *t, int64_t *least, int64_t *most)
{
    mpz_t ends[2], zero;
    mpz_init_set_si(ends[0], t->y.qmin);
    mpz_init_set_si(ends[1], t->y.qmax);
    mpz_init_set_si(zero, t->y.zero_point);
    mpz_mul_2exp(ends[0], ends[0], POINT);
    mpz_mul_2exp(ends[1], ends[1], POINT);
    mpz_mul_2exp(zero, zero, POINT);
    *least = *most = 0;
    for (size_t k = 0; k < t->codes; k++) {
        mpz_add(t->low[k], t->low[k], zero);
        mpz_add(t->high[k], t->high[k], zero);
        *least += mpz_cmp(t->low[k], ends[1]) > 0 || mpz_cmp(t->high[k], ends[0]) < 0;
        *most += mpz_cmp(t->high[k], ends[1]) > 0 || mpz_cmp(t->low[k], ends[0]) < 0;
        for (int i = 0; i < 2; i++) {
            mpz_t *end = i ? t->high + k : t->low + k;
            if (mpz_cmp(*end, ends[0]) < 0)
                mpz_set(*end, ends[0]);
            if (mpz_cmp(*end, ends[1]) > 0)
                mpz_set(*end, ends[1]);
        }
    }
    mpz_clears(ends[0], ends[1], zero, NULL);
}

static void check_certificate(struct table *t)
{
    const json_t *c = t->certificate;
    int64_t least, most;
    read_fields(c, "certificate",
                "ichecked imax_err_at isaturated_codes iacc_bits bexhaustive bmonotone rmax_err_lsb "
                "rrms_err_lsb rmean_abs_err_lsb rcorrectly_rounded rlower_bound_lsb~ boptimal~ "
                "sobjective ssecond_objective? sproof?");
    const char *objective = text(c, "objective");
    if (strcmp(objective, "max") != 0 && strcmp(objective, "rms") != 0 && strcmp(objective, "segments") != 0)
        fail(2, "objective: unknown");
    REQUIRE(integer(c, "checked") == (int64_t)t->codes && json_is_true(json_object_get(c, "exhaustive")),
            "checked: there are %zu codes", t->codes);
    int worst = against(t);
    clip_targets(t, &least, &most);
    REQUIRE(integer(c, "saturated_codes") >= least && integer(c, "saturated_codes") <= most,
            "saturated_codes: it is %lld", (long long)least);
    mpz_t *low = get(t->codes, sizeof *low), *high = get(t->codes, sizeof *high);
    find_errors(t, low, high);
    mpq_t a, b;
    mpq_inits(a, b, NULL);
    mpq_set_z(a, t->error_low);
    mpq_set_z(b, t->error_high);
    check_agrees(t, "max_err_lsb", a, b);
    check_largest(t, low, high);
    if (!text(t->json, "weights_sha256"))
        check_averages(t, low, high);
    bool monotone = json_is_true(json_object_get(c, "monotone"));
    REQUIRE(worst == 1 || monotone == (worst == 0), "monotone: it is %s", monotone ? "false" : "true");
    int bits = needed_bits(t, true);
    REQUIRE(integer(c, "acc_bits") == bits && bits <= t->wide, "acc_bits: it is %d", bits);
    mpq_clears(a, b, NULL);
}

/* ---- Rules: which tables, and which lines, the second claim is about ---- */

struct rules {
    const struct table *t;
    int64_t slopes[2], shifts[2], offsets[2], multiple, stored, terms, grid; /* grid: -1 where places are any */
    bool one_shift;
    const json_t *fixed, *equal;
    int64_t *of_terms; /* the slopes of so many terms, ascending */
    size_t of_terms_count;
};

/* The word behind a flag of the spec, the n-th such one; NULL where there is none. */
static const char *flag(const struct table *t, const char *name, size_t n, size_t *length)
{
    const char *at = text(t->json, "spec");
    size_t wanted = strlen(name);
    for (size_t word; *at; at += word + strspn(at + word, " ")) {
        word = strcspn(at, " ");
        if (word != wanted || memcmp(at, name, word) || n-- > 0)
            continue;
        at += word + strspn(at + word, " ");
        *length = strcspn(at, " ");
        return at;
    }
    return NULL;
}

/* The integer behind a flag; where there is none, or "any", another one. */
static int64_t flag_integer(const struct table *t, const char *name, int64_t otherwise)
{
    size_t length;
    REQUIRE(!flag(t, name, 1, &length), "spec: %s stands twice", name);
    const char *word = flag(t, name, 0, &length);
    if (!word || !strncmp(word, "any", 3))
        return otherwise;
    char *end;
    long value = strtol(word, &end, 10);
    REQUIRE((size_t)(end - word) == length && value >= 0 && value < 1 << 20, "spec: %s is no number", name);
    return value;
}

static bool flag_is(const struct table *t, const char *name, const char *value)
{
    size_t length;
    REQUIRE(!flag(t, name, 1, &length), "spec: %s stands twice", name);
    const char *word = flag(t, name, 0, &length);
    size_t wanted = strlen(value);
    return word && length >= wanted && !memcmp(word, value, wanted) && (length == wanted || word[wanted] == ':');
}

static void check_pair(const json_t *rules, const char *name, int64_t low, int64_t high, int64_t kept[2])
{
    const json_t *pair = json_object_get(rules, name);
    kept[0] = element(pair, 0);
    kept[1] = element(pair, 1);
    REQUIRE(kept[0] == low && kept[1] == high, "rules: %s is not %lld to %lld", name, (long long)low, (long long)high);
}

static int64_t check_integer(const json_t *rules, const char *name, int64_t value)
{
    REQUIRE(integer(rules, name) == value, "rules: %s is not %lld", name, (long long)value);
    return value;
}

/* Whether a code is one of those nearest to the real number of a word. */
static bool is_nearest(const struct side *side, int64_t code, const char *word, size_t length)
{
    mpq_t exact, part;
    mpz_t nearest;
    bool found = false;
    mpq_inits(exact, part, NULL);
    mpz_init(nearest);
    decimal(exact, word, length);
    mpq_div(exact, exact, side->scale);
    mpq_set_si(part, side->zero_point, 1);
    mpq_add(exact, exact, part);
    mpq_mul_2exp(exact, exact, 1);
    for (int sign = -1; sign <= 1; sign += 2) { /* ceil(r - 1/2), and floor(r + 1/2) */
        mpq_set_si(part, sign, 1);
        mpq_add(part, exact, part);
        mpq_div_2exp(part, part, 1);
        (sign < 0 ? mpz_cdiv_q : mpz_fdiv_q)(nearest, mpq_numref(part), mpq_denref(part));
        int64_t value = mpz_cmp_si(nearest, side->qmin) < 0   ? side->qmin
                        : mpz_cmp_si(nearest, side->qmax) > 0 ? side->qmax
                                                              : mpz_get_si(nearest);
        found |= value == code;
    }
    mpq_clears(exact, part, NULL);
    mpz_clear(nearest);
    return found;
}

static void check_fixed(const struct rules *r)
{
    size_t length, asked = 0;
    for (const char *word; (word = flag(r->t, "--fix", asked, &length)); asked++) {
        const json_t *pair = json_array_get(r->fixed, asked);
        size_t colon = strcspn(word, ": ");
        REQUIRE(pair && colon < length && is_nearest(&r->t->x, element(pair, 0), word, colon) &&
                    is_nearest(&r->t->y, element(pair, 1), word + colon + 1, length - colon - 1),
                "rules: fixed is not what --fix asks for");
    }
    REQUIRE(json_array_size(r->fixed) == asked, "rules: fixed is not what --fix asks for");
}

static int compare_integers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The sums of one or two of 0, 1, -1, 2, -2, ... 2^32, -2^32, each once. */
static void list_terms(struct rules *r)
{
    int64_t *all = get(67 * 67, sizeof *all);
    size_t count = 0, kept = 0;
    for (int i = 0; i < 67; i++)
        for (int j = 0; j < (r->terms == 2 ? 67 : 1); j++) {
            int64_t a = i ? INT64_C(1) << (i - 1) / 2 : 0, b = j ? INT64_C(1) << (j - 1) / 2 : 0;
            all[count++] = (i & 1 ? a : -a) + (j & 1 ? b : -b);
        }
    qsort(all, count, sizeof *all, compare_integers);
    for (size_t i = 0; i < count; i++)
        if (!i || all[i] != all[i - 1])
            all[kept++] = all[i];
    r->of_terms = all;
    r->of_terms_count = kept;
}

static void read_places(struct rules *r, const json_t *places)
{
    const struct table *t = r->t;
    bool any = json_is_string(places) && !strcmp(json_string_value(places), "any");
    r->grid = -1;
    if (!any) {
        read_fields(places, "places", "ishift? nequal?");
        const json_t *shift = json_object_get(places, "shift");
        r->equal = json_object_get(places, "equal");
        r->grid = shift ? json_integer_value(shift) : -1;
        REQUIRE(!shift || (r->grid >= 0 && r->grid <= 32), "places: shift is out of range");
        REQUIRE(!r->equal || json_array_size(r->equal), "places: equal has no numbers of segments");
        for (size_t i = 0; r->equal && i < json_array_size(r->equal); i++)
            REQUIRE(element(r->equal, i) > 0, "places: equal has no numbers of segments");
    }
    REQUIRE((r->grid >= 0) == flag_is(t, "--knots", "pow2") && (r->equal != NULL) == flag_is(t, "--knots", "uniform"),
            "rules: places are not those of --knots");
    size_t length;
    const char *word = flag(t, "--knots", 0, &length);
    REQUIRE(r->grid < 0 || length <= 5 || r->grid == t->x.bits - strtol(word + 5, NULL, 10),
            "rules: places are not those of --knots");
}

/* Narrower rules would make the claim worth little: they are those of the table's storage, and of its spec. */
static void read_rules(struct rules *r, const struct table *t, const json_t *rules)
{
    int64_t low, high, from, to;
    size_t length;
    read_fields(rules, "rules",
                "pslopes pshifts poffsets bone_shift aplaces Pfixed ishift_multiple istored_bits "
                "islope_terms iaccumulator_bits");
    r->t = t;
    int64_t stored = flag_integer(t, "--slope-bits", t->bits), reach = t->wide - 1;
    r->multiple = check_integer(rules, "shift_multiple", flag_integer(t, "--shift-multiple", 0));
    r->stored = check_integer(rules, "stored_bits", r->multiple ? stored : 0);
    r->terms = check_integer(rules, "slope_terms", flag_integer(t, "--slope-terms", 0));
    check_integer(rules, "accumulator_bits", t->wide);
    REQUIRE(r->multiple <= 64 && stored >= 1 && stored <= 64 && r->terms <= 2, "spec: is out of range");
    codes_of(true, smaller(stored, t->bits), &low, &high);
    check_pair(rules, "slopes", low, high, r->slopes);
    low = r->multiple ? r->multiple - stored + 1 : -reach;
    check_pair(rules, "shifts", low, r->multiple ? smaller(reach, 32 / r->multiple * r->multiple) : reach, r->shifts);
    r->one_shift = json_is_true(json_object_get(rules, "one_shift"));
    REQUIRE(r->one_shift == flag_is(t, "--shift", "one"), "rules: one_shift is not that of --shift");
    codes_of(true, t->offset_bits, &low, &high);
    REQUIRE(!flag(t, "--offset-type", 1, &length), "spec: --offset-type stands twice");
    const char *type = flag(t, "--offset-type", 0, &length);

    if (type) {
        long bits = strtol(type + 1, NULL, 10);
        REQUIRE((*type == 's' || *type == 'u') && bits >= 2 && bits <= 32, "spec: --offset-type is unknown");
        codes_of(*type == 's', bits, &from, &to);
        low = larger(low, from);
        high = smaller(high, to);
    }
    check_pair(rules, "offsets", low, high, r->offsets);
    r->fixed = json_object_get(rules, "fixed");
    check_fixed(r);
    read_places(r, json_object_get(rules, "places"));
    list_terms(r);
}

/* The integers that q_b may be beside the shift n, whatever its terms. */
static void slope_range(const struct rules *r, int64_t n, int64_t *low, int64_t *high)
{
    *low = r->slopes[0];
    *high = r->slopes[1];
    if (r->multiple) {
        int64_t s = larger(1, (int64_t)ceil_div(n, r->multiple)) * r->multiple, down = s - n;
        int64_t m = r->stored - 1 - down >= 0 ? INT64_C(1) << smaller(r->stored - 1 - down, 62) : 0;
        *low = larger(*low, -m);
        *high = smaller(*high, m - 1);
    }
}

static int64_t last_place(const struct rules *r, int64_t b)
{
    int64_t q = smaller(b - 1, r->t->x.qmax);
    return larger(r->t->d0, r->grid < 0 ? q : q >> r->grid << r->grid);
}

static int64_t equal_start(const struct table *t, int64_t segment, int64_t count)
{
    return segment == count ? t->d1 : t->d0 + (int64_t)((i128)(t->x.qmax + 1 - t->d0) * segment / count);
}

/* The table itself is allowed. */
static void check_allowed(const struct rules *r)
{
    const struct table *t = r->t;
    for (size_t i = 0; i < t->count; i++) {
        const struct segment *s = t->segments + i;
        int64_t low, high;
        slope_range(r, s->n, &low, &high);
        bool good =
            s->q_b >= low && s->q_b <= high && s->n >= r->shifts[0] && s->n <= r->shifts[1] && s->c >= r->offsets[0] &&
            s->c <= r->offsets[1] && last_place(r, s->start + 1) == s->start &&
            (!r->one_shift || s->n == t->segments[0].n) &&
            (!r->equal || s->start == equal_start(t, (int64_t)i, (int64_t)t->count)) &&
            (!r->terms || bsearch(&s->q_b, r->of_terms, r->of_terms_count, sizeof *r->of_terms, compare_integers));
        REQUIRE(good, "the rules do not allow the segment at %lld", (long long)s->start);
    }
    REQUIRE(needed_bits(t, false) <= t->wide, "a sum leaves its type");
    for (size_t i = 0; i < json_array_size(r->fixed); i++) {
        const json_t *pair = json_array_get(r->fixed, i);
        REQUIRE(t->outputs[element(pair, 0) - t->x.qmin] == element(pair, 1), "a fixed code has another output");
    }
}

/* ---- Bands: the values of each stored code that keep within the error, and give fixed codes their output ---- */

struct band {
    i128 low, high; /* -INFINITE or INFINITE where all beyond is clipped to what is good */
};

static struct band *find_bands(const struct rules *r, const mpq_t error)
{
    const struct table *t = r->t;
    struct band *asked = get(t->codes, sizeof *asked), *bands = get((size_t)(t->d1 - t->d0), sizeof *bands);
    mpz_t reach, end;
    mpz_inits(reach, end, NULL);
    mpz_mul_2exp(reach, mpq_numref(error), POINT);
    mpz_cdiv_q(reach, reach, mpq_denref(error));
    for (size_t k = 0; k < t->codes; k++) {
        mpz_sub(end, t->low[k], reach);
        mpz_cdiv_q_2exp(end, end, POINT);
        asked[k].low = mpz_cmp_si(end, t->y.qmin) < 0 ? t->y.qmin : mpz_get_si(end);
        mpz_add(end, t->high[k], reach);
        mpz_fdiv_q_2exp(end, end, POINT);
        asked[k].high = mpz_cmp_si(end, t->y.qmax) > 0 ? t->y.qmax : mpz_get_si(end);
    }
    for (size_t i = 0; i < json_array_size(r->fixed); i++) {
        struct band *band = asked + element(json_array_get(r->fixed, i), 0) - t->x.qmin;
        int64_t only = element(json_array_get(r->fixed, i), 1);
        band->low = band->low > only ? band->low : only;
        band->high = band->high < only ? band->high : only;
    }
    for (size_t k = 0; k < t->codes; k++) {
        asked[k].low = asked[k].low <= t->y.qmin ? -INFINITE : asked[k].low;
        asked[k].high = asked[k].high >= t->y.qmax ? INFINITE : asked[k].high;
    }
    for (int64_t q = t->d0; q < t->d1; q++) {
        struct band band = {-INFINITE, INFINITE};
        int64_t image = 2 * t->d0 - q;
        if (q <= t->x.qmax)
            band = asked[q - t->x.qmin];
        if (t->folded && image >= t->x.qmin && image < q) { /* A value v gives its image the output sum - v. */
            struct band other = asked[image - t->x.qmin];
            i128 low = other.high == INFINITE ? -INFINITE : t->sum - other.high;
            i128 high = other.low == -INFINITE ? INFINITE : t->sum - other.low;
            band.low = band.low > low ? band.low : low;
            band.high = band.high < high ? band.high : high;
        }
        bands[q - t->d0] = band;
    }
    free(asked);
    mpz_clears(reach, end, NULL);
    return bands;
}

/* ---- Exclusions: no allowed line serves a range ---- */

struct exclusion { /* of the codes a to b - 1; any_start: of anchored lines that start before a, too */
    const struct rules *r;
    const struct band *bands; /* of code a, and those behind it */
    int64_t a, b, origin;
    bool any_start;
};

/* The slopes of one shift: items, or first, first + step, ... */
struct slopes {
    int64_t n, first, step, count, *items;
};

static const struct band *band_at(const struct exclusion *e, int64_t i)
{
    REQUIRE(i >= 0 && i < e->b - e->a, "it names a code outside its range");
    return e->bands + i;
}

struct ratio {
    i128 above, below; /* below > 0; 0: no bound */
};

/* The slopes s = q_b * 2^-n that all pairs leave. A line that serves has a value of at least low at a + i, and of at
 * most high at a + j; rounding moves their difference by at most 1: s (i - j) >= low - high - 1. */
static void find_window(const struct exclusion *e, const json_t *pairs, struct ratio *least, struct ratio *most)
{
    *least = *most = (struct ratio){0, 0};
    for (size_t k = 0; k < json_array_size(pairs); k++) {
        int64_t i = element(json_array_get(pairs, k), 0), j = element(json_array_get(pairs, k), 1);
        i128 low = band_at(e, i)->low, high = band_at(e, j)->high;
        REQUIRE(i != j && low != -INFINITE && high != INFINITE, "a pair of its window bounds nothing");
        struct ratio bound = {low - high - 1, i - j}, *kept = i > j ? least : most;
        if (i < j)
            bound = (struct ratio){-bound.above, -bound.below};
        i128 more = bound.above * kept->below - kept->above * bound.below;
        if (!kept->below || (i > j ? more > 0 : more < 0))
            *kept = bound;
    }
}

static i128 scaled(struct ratio bound, int64_t n, bool up)
{
    i128 above = n > 0 ? bound.above * ((i128)1 << n) : bound.above, below = n < 0 ? bound.below << -n : bound.below;
    return up ? ceil_div(above, below) : floor_div(above, below);
}

/* The slopes of a shift that the window leaves. An even q_b is left out where its half is allowed at n - 1, and makes
 * the same values there. */
static struct slopes list_slopes(const struct rules *r, int64_t n, bool lowest, struct ratio least, struct ratio most)
{
    int64_t low, high, half_low, half_high;
    slope_range(r, n, &low, &high);
    if (least.below) {
        i128 bound = scaled(least, n, true);
        low = bound > high ? high + 1 : larger(low, bound < low ? low : (int64_t)bound);
    }
    if (most.below) {
        i128 bound = scaled(most, n, false);
        high = bound < low ? low - 1 : smaller(high, bound > high ? high : (int64_t)bound);
    }
    slope_range(r, n - 1, &half_low, &half_high);
    bool halved =
        !lowest && (r->t->form != BIASED || (n > 0 && (r->t->rounding == FLOOR || r->t->rounding == HALF_UP)));
    bool zero = halved && half_high < 0; /* No slope is stored at n - 1, not even 0. */
    if (!r->terms && !zero) {
        int64_t first = halved ? low | 1 : low, step_ = halved ? 2 : 1;
        return (struct slopes){n, first, step_, high < first ? 0 : (high - first) / step_ + 1, NULL};
    }
    struct slopes list = {n, 0, 0, 0, NULL};
    if (high < low)
        return list;
    list.items = get(r->terms ? r->of_terms_count : (size_t)(high - low + 1), sizeof *list.items);
    for (size_t k = 0; k < (r->terms ? r->of_terms_count : (size_t)(high - low + 1)); k++) {
        int64_t q_b = r->terms ? r->of_terms[k] : low + (int64_t)k;
        if (q_b >= low && q_b <= high && (!halved || q_b & 1 || (zero && !q_b)))
            list.items[list.count++] = q_b;
    }
    return list;
}

struct bounds { /* of the constant: each least one of a list is monotone in q_b, and so is each largest one */
    int count;
    i128 bound[12];
};

/* What fits in its type at both ends of the range. */
static void bounds_of_types(const struct exclusion *e, int64_t n, int64_t q_b, bool above, struct bounds *made)
{
    const struct rules *r = e->r;
    enum rounding rounding = r->t->rounding;
    i128 half = (i128)1 << (r->t->wide - 1), low = -half, high = half - 1;
    bool biased = r->t->form == BIASED;
    if (n < 0) {
        low = -(half >> -n);
        high = (half - 1) >> -n;
    } else if (n > 0 && rounding != FLOOR) {
        high -= (i128)1 << (n - 1);
        low += rounding == HALF_AWAY ? ((i128)1 << (n - 1)) + 1 : 0;
    }
    made->count = 0;
    made->bound[made->count++] = r->offsets[above];
    for (int end = 0; end < 2; end++) {
        i128 x = (i128)(end ? e->b - 1 : e->a) - e->origin, p = q_b * x;
        bool bad[3] = {!fits(x, r->t->wide), p<(biased ? -half : low), p>(biased ? half - 1 : high)};
        for (int k = 0; k < 3; k++)
            made->bound[made->count++] = bad[k] == above ? -INFINITE : INFINITE;
        made->bound[made->count++] =
            biased ? (above ? high : low) - p : (above ? half - 1 : -half) - shr(p, n, rounding);
    }
}

/* The least constant that code a + i asks for, or the largest that it allows; -1: that types allow. */
static void bounds_at(const struct exclusion *e, int64_t n, int64_t q_b, int64_t i, bool above, struct bounds *made)
{
    enum rounding rounding = e->r->t->rounding;
    if (i == -1) {
        bounds_of_types(e, n, q_b, above, made);
        return;
    }
    i128 value = above ? band_at(e, i)->high : band_at(e, i)->low;
    REQUIRE(value != (above ? INFINITE : -INFINITE), "a run names a code without such an end");
    REQUIRE(value < INFINITE && value > -INFINITE, "a run names a code of an empty band");
    i128 p = q_b * ((i128)e->a + i - e->origin), bound;
    value += above; /* What is at most high has less than the least constant that gives high + 1. */
    if (e->r->t->form != BIASED && n < 0 && !fits(p, 64))
        bound = above ? INFINITE : -INFINITE; /* too large to be told: it excludes nothing */
    else if (e->r->t->form != BIASED)
        bound = value - shr(p, n, rounding) - above;
    else if (n <= 0)
        bound = ceil_div(value, (i128)1 << -n) - p - above;
    else {
        i128 tie =
            value * ((i128)1 << n) - ((i128)1 << (n - 1)); /* the least sum that gives value, or a tie below it */
        bound = (rounding == FLOOR       ? value * ((i128)1 << n)
                 : rounding == HALF_UP   ? tie
                 : rounding == HALF_AWAY ? tie + (value <= 0)
                                         : tie + (value & 1)) -
                p - above;
    }
    made->count = 1;
    made->bound[0] = bound;
}

/* Code a + i asks of slopes first to last of a list for a larger constant than a + j allows. Both are made of bounds
 * that are monotone in q_b, so that those of the first and the last slope hold for all between; else the list is
 * halved. */
static void exclude(const struct exclusion *e, const struct slopes *list, int64_t first, int64_t last, int64_t i,
                    int64_t j)
{
    struct bounds made[2];
    int64_t ends[2], codes[2] = {i, j};
    i128 found[2];
    for (int end = 0; end < 2; end++)
        ends[end] = list->items ? list->items[end ? last : first] : list->first + list->step * (end ? last : first);
    for (int above = 0; above < 2; above++) {
        bounds_at(e, list->n, ends[0], codes[above], above, &made[0]);
        bounds_at(e, list->n, ends[1], codes[above], above, &made[1]);
        for (int k = 0; k < made[0].count; k++) {
            i128 a = made[0].bound[k], b = made[1].bound[k], bound = (a < b) == !above ? a : b;
            if (!k || (above ? bound < found[1] : bound > found[0]))
                found[above] = bound;
        }
    }
    if (found[0] > found[1])
        return;
    REQUIRE(first < last, "the slope %lld * 2^-%lld is not excluded by the codes %lld and %lld", (long long)ends[0],
            (long long)list->n, (long long)i, (long long)j);
    int64_t middle = first + (last - first + 1) / 2;
    exclude(e, list, first, middle - 1, i, j);
    exclude(e, list, middle, last, i, j);
}

/* The runs exclude the slopes that the window leaves, in their order. Returns whether there are none. */
static bool check_runs(const struct exclusion *e, const int64_t shifts[2], const json_t *window, const json_t *runs)
{
    struct ratio least, most;
    size_t run = 0, count = json_array_size(runs);
    int64_t left = 0;
    bool empty = true;
    find_window(e, window, &least, &most);
    REQUIRE(count % 3 == 0, "its runs are not of three integers");
    for (int64_t n = shifts[0]; n <= shifts[1]; n++) {
        struct slopes list = list_slopes(e->r, n, n == shifts[0], least, most);
        empty &= !list.count;
        for (int64_t done = 0; done < list.count;) {
            if (!left) {
                REQUIRE(run < count && element(runs, run) >= 1, "its runs are not of all slopes that are left");
                left = element(runs, run);
                run += 3;
            }
            int64_t taken = smaller(left, list.count - done);
            exclude(e, &list, done, done + taken - 1, element(runs, run - 2), element(runs, run - 1));
            left -= taken;
            done += taken;
        }
        free(list.items);
    }
    REQUIRE(run == count && !left, "its runs are not of all slopes that are left");
    return empty;
}

static struct exclusion check_exclusion(const struct rules *r, const struct band *bands, const int64_t shifts[2],
                                        const json_t *value)
{
    read_fields(value, "exclusion", "ifrom iupto inone? Pwindow? nruns?");
    const json_t *none = json_object_get(value, "none"), *window = json_object_get(value, "window");
    const json_t *runs = json_object_get(value, "runs");
    struct exclusion e = {r, NULL, integer(value, "from"), integer(value, "upto"), r->t->x.zero_point, true};
    REQUIRE(r->t->d0 <= e.a && e.a < e.b && e.b <= r->t->d1, "its range is not one of stored codes");
    e.bands = bands + (e.a - r->t->d0);
    if (r->t->form == ANCHORED)
        e.origin = e.a;
    if (!none == !window || !window != !runs)
        fail(2, "has not either none, or window and runs");
    if (none) {
        const struct band *band = band_at(&e, json_integer_value(none));
        REQUIRE(band->low > band->high, "the band is not empty");
    } else
        e.any_start = check_runs(&e, shifts, window, runs);
    return e;
}

/* ---- The second claim: no allowed table of so many segments is within the error ---- */

struct group { /* of exclusions that end together */
    struct exclusion *all;
    size_t count;
    int64_t b;
};

static void check_equal(const struct rules *r, const struct group *groups, size_t count, int64_t equal)
{
    bool known = false, within = false;
    for (size_t i = 0; i < json_array_size(r->equal); i++)
        known |= element(r->equal, i) == equal;
    REQUIRE(known && count == 1 && groups->count == 1, "it has not one exclusion");
    const struct exclusion *one = groups->all;
    for (int64_t k = 0; k < equal && equal_start(r->t, k, equal) <= one->a; k++)
        within |= one->b <= equal_start(r->t, k + 1, equal) &&
                  (r->t->form != ANCHORED || one->a == equal_start(r->t, k, equal) || one->any_start);
    REQUIRE(within, "its exclusion is not one of a segment");
}

/* F(m), here `place`, is the last place where segment m of a table can start: it cannot hold the range of an exclusion
 * that begins there or later. */
static void check_groups(const struct rules *r, const struct group *groups, size_t count, int64_t segments)
{
    int64_t before = r->t->d0 - 1, place = r->t->d0;
    for (size_t m = 0; m < count; m++) {
        const struct group *g = groups + m;
        bool last = false;
        if (r->t->form == ANCHORED) /* Starts up to `before` are excluded by earlier groups, up to a b not larger. */
            REQUIRE(!m || g->b >= g[-1].b, "group %zu ends before the one before it", m);
        for (int64_t p = before + 1; p <= place && r->t->form == ANCHORED; p++) {
            bool excluded = p != last_place(r, p + 1);
            for (size_t k = 0; k < g->count && !excluded; k++)
                excluded = g->all[k].a == p || (g->all[k].any_start && g->all[k].a >= p);
            REQUIRE(excluded, "group %zu leaves out the start %lld", m, (long long)p);
        }
        for (size_t k = 0; k < g->count; k++)
            last |= g->all[k].a >= place;
        REQUIRE(last || r->t->form == ANCHORED, "group %zu has no exclusion from %lld on", m, (long long)place);
        before = place;
        place = last_place(r, g->b);
    }
    REQUIRE((int64_t)count == segments || (count && (int64_t)count < segments && place <= before),
            "it does not go on to the end");
}

/* Checks a chain; returns the number of equal segments that it is about, or 0. */
static int64_t check_chain(const struct rules *r, const struct band *bands, const json_t *chain, int64_t segments,
                           int64_t shifts[2], size_t number)
{
    read_fields(chain, "chain", "pshifts iequal? lgroups");
    const json_t *rows = json_object_get(chain, "groups");
    size_t count = json_array_size(rows);
    struct group *groups = get(count, sizeof *groups);
    for (size_t i = 0; i < 2; i++)
        shifts[i] = element(json_object_get(chain, "shifts"), i);
    REQUIRE(r->shifts[0] <= shifts[0] && shifts[0] <= shifts[1] && shifts[1] <= r->shifts[1],
            "its shifts are not among those of the rules");
    REQUIRE(r->one_shift || (shifts[0] == r->shifts[0] && shifts[1] == r->shifts[1]), "it has not all shifts");
    for (size_t m = 0; m < count; m++) {
        const json_t *row = json_array_get(rows, m);
        snprintf(step, sizeof step, "chain %zu: group %zu: ", number, m);
        if (!json_is_array(row) || !json_array_size(row))
            fail(2, "is no list of exclusions");
        groups[m].count = json_array_size(row);
        groups[m].all = get(groups[m].count, sizeof *groups[m].all);
        for (size_t k = 0; k < groups[m].count; k++) {
            groups[m].all[k] = check_exclusion(r, bands, shifts, json_array_get(row, k));
            REQUIRE(groups[m].all[k].b == groups[m].all[0].b, "its exclusions do not end together");
        }
        groups[m].b = groups[m].all[0].b;
    }
    snprintf(step, sizeof step, "chain %zu: ", number);
    const json_t *equal = json_object_get(chain, "equal");
    REQUIRE(!equal == !r->equal, "it has equal segments, or has none, unlike the rules");
    equal ? check_equal(r, groups, count, json_integer_value(equal)) : check_groups(r, groups, count, segments);
    for (size_t m = 0; m < count; m++)
        free(groups[m].all);
    free(groups);
    return equal ? json_integer_value(equal) : 0;
}

static void check_claim(const struct rules *r, const struct band *bands, const json_t *chains, int64_t segments)
{
    size_t count = json_array_size(chains), kinds = r->equal ? json_array_size(r->equal) : 1;
    int64_t(*shifts)[2] = get(count, sizeof *shifts), *of = get(count, sizeof *of), most = 0;
    for (size_t k = 0; k < count; k++) {
        snprintf(step, sizeof step, "chain %zu: ", k);
        of[k] = check_chain(r, bands, json_array_get(chains, k), segments, shifts[k], k);
    }
    step[0] = 0;
    for (size_t i = 0; i < kinds; i++) {
        int64_t equal = r->equal ? element(r->equal, i) : 0;
        most = larger(most, equal);
        for (int64_t n = r->shifts[0]; n <= r->shifts[1]; n++) {
            bool shown = false;
            for (size_t k = 0; k < count; k++)
                shown |= of[k] == equal && shifts[k][0] <= n && n <= shifts[k][1];
            REQUIRE(shown, "no chain has the shift %lld", (long long)n);
        }
    }
    REQUIRE(!r->equal || segments == most, "segments are not the largest number of equal ones");
    free(shifts);
    free(of);
}

/* How far L may be below E; in steps. */
static void slack(const struct table *t, mpq_t most)
{
    mpq_t other;
    mpq_init(other);
    mpq_set_ui(most, 1, 100000000);
    mpq_set_z(other, t->error_low);
    mpq_div_2exp(other, other, POINT);
    mpz_mul_ui(mpq_denref(other), mpq_denref(other), 100000000000);
    mpq_canonicalize(other);
    if (mpq_cmp(other, most) > 0)
        mpq_set(most, other);
    mpq_set_si(other, larger(llabs(t->y.qmin), llabs(t->y.qmax)), 1);
    mpq_div_2exp(other, other, 48);
    if (mpq_cmp(other, most) > 0)
        mpq_set(most, other);
    mpq_clear(other);
}

static bool has_equal(const struct rules *r, int64_t count)
{
    for (size_t i = 0; i < json_array_size(r->equal); i++)
        if (element(r->equal, i) == count)
            return true;
    return false;
}

static void follows_for_max(const struct rules *r, int64_t segments, const mpq_t error, bool optimal)
{
    const struct table *t = r->t;
    int64_t asked = flag_integer(t, "--segments", 16);
    mpq_t exact, most, own;
    mpq_inits(exact, most, own, NULL);
    REQUIRE(segments >= larger(asked, (int64_t)t->count) && (!r->equal || has_equal(r, asked)),
            "impossible: S is too small");
    slack(t, most);
    mpq_set_z(own, t->error_low);
    mpq_div_2exp(exact, own, POINT);
    mpq_sub(exact, exact, error);
    REQUIRE(!optimal || mpq_cmp(exact, most) <= 0, "optimal: L is too far below E");
    double bound = real(t->certificate, "lower_bound_lsb");
    mpq_set_ui(most, 1000001, 1000000);
    mpq_mul(most, most, error);
    mpq_set_d(exact, bound);
    REQUIRE(bound == 0 || mpq_cmp(exact, most) <= 0 || (optimal && agrees(bound, own, own)),
            "lower_bound_lsb is above the error of impossible");
    mpq_clears(exact, most, own, NULL);
}

/* Returns how many smaller numbers of equal segments are left open. */
static int64_t follows_for_segments(const struct rules *r, int64_t segments, const mpq_t error, bool optimal)
{
    const struct table *t = r->t;
    int64_t number = (int64_t)t->count, open = 0, codes = t->x.qmax + 1 - t->d0;
    size_t length;
    REQUIRE(!flag(t, "--max-err", 1, &length), "spec: --max-err stands twice");
    const char *word = flag(t, "--max-err", 0, &length);
    mpq_t asked, own;
    mpq_inits(asked, own, NULL);
    REQUIRE(json_is_null(json_object_get(t->certificate, "lower_bound_lsb")), "a claim that the certificate has not");
    REQUIRE(word, "spec: --max-err is missing");
    decimal(asked, word, length);
    REQUIRE(mpq_cmp(error, asked) >= 0, "impossible: --max-err allows a larger error");
    mpq_set_z(own, t->error_low);
    mpq_div_2exp(asked, own, POINT);
    REQUIRE(mpq_cmp(asked, error) <= 0 || agrees(mpq_get_d(error), own, own), "the table is not within L");
    if (!r->equal)
        REQUIRE(!optimal || segments == number - 1, "optimal: S is not one less than the table's segments");
    for (int k = 0; k < 21 && r->equal && optimal; k++)
        REQUIRE(codes % (INT64_C(1) << k) || codes >> k >= number || has_equal(r, codes >> k),
                "optimal: some equal segments of 2^k codes are left out");
    for (int64_t count = 1; count < number && r->equal; count++)
        open += !has_equal(r, count);
    mpq_clears(asked, own, NULL);
    return open;
}

/* Returns how many smaller numbers of equal segments are left open. */
static int64_t check_impossible(const struct table *t, const json_t *proof)
{
    const json_t *impossible = json_object_get(proof, "impossible"), *rules = json_object_get(proof, "rules");
    struct rules r = {0};
    mpq_t error;
    mpq_init(error);
    read_fields(impossible, "impossible", "isegments serror");
    int64_t segments = integer(impossible, "segments"), open = 0;
    decimal(error, text(impossible, "error"), strlen(text(impossible, "error")));
    REQUIRE(segments >= 1 && segments <= 4096, "impossible: segments are 1 to 4096");
    read_rules(&r, t, rules);
    check_allowed(&r);
    bool optimal = json_is_true(json_object_get(t->certificate, "optimal"));
    const char *objective = text(t->certificate, "objective");
    if (!strcmp(objective, "max"))
        follows_for_max(&r, segments, error, optimal);
    else {
        REQUIRE(!strcmp(objective, "segments"), "a claim that the certificate has not");
        open = follows_for_segments(&r, segments, error, optimal);
    }
    struct band *bands = find_bands(&r, error);
    check_claim(&r, bands, json_object_get(proof, "chains"), segments);
    free(bands);
    free(r.of_terms);
    mpq_clear(error);
    return open;
}

/* What the certificate says, and no claim bears out. */
static void tell_unproven(const struct table *t)
{
    const char *objective = text(t->certificate, "objective");
    mpq_t small, own;
    mpq_inits(small, own, NULL);
    mpq_set_z(own, t->error_low);
    mpq_div_2exp(own, own, POINT);
    if (!strcmp(objective, "max"))
        slack(t, small);
    bool open =
        !strcmp(objective, "rms") || (mpq_cmp(own, small) > 0 && (strcmp(objective, "segments") || t->count > 1));
    if (open && json_is_true(json_object_get(t->certificate, "optimal")))
        printf("; not proven: optimal");
    if (real(t->certificate, "lower_bound_lsb") > mpq_get_d(small))
        printf("; not proven: lower_bound_lsb");
    mpq_clears(small, own, NULL);
}

int main(int count, char **arguments)
{
    json_error_t problem;
    struct table t = {0};
    if (count != 2) {
        fprintf(stderr, "Usage: check_proof FILE\n");
        return 2;
    }
    file_name = arguments[1];
    json_t *proof = json_load_file(file_name, JSON_REJECT_DUPLICATES, &problem);
    if (!proof)
        fail(2, "no JSON: %s", problem.text);
    read_fields(proof, "proof", "ipwl_proof otable oimpossible? orules? lchains?");
    REQUIRE(integer(proof, "pwl_proof") == 1, "the proof's version is not 1");
    read_table(&t, json_object_get(proof, "table"));
    enclose(&t);
    find_outputs(&t);
    check_certificate(&t);
    check_name(proof);
    const json_t *impossible = json_object_get(proof, "impossible");
    REQUIRE(impossible || (!json_object_get(proof, "rules") && !json_object_get(proof, "chains")),
            "rules or chains, and no claim");
    int64_t open = impossible ? check_impossible(&t, proof) : 0;
    printf("%s: accepted: largest error %.10g LSB, %zu segments", file_name, in_steps(t.error_low), t.count);
    if (impossible)
        printf("; no allowed table of at most %lld segments is within %s LSB",
               (long long)integer(impossible, "segments"), text(impossible, "error"));
    else
        tell_unproven(&t);
    if (open)
        printf("; not proven: that %lld smaller numbers of equal segments, of no 2^k codes, do not do",
               (long long)open);
    if (text(t.json, "weights_sha256"))
        printf("; not proven: the averages (their weights are needed)");
    printf("\n");
    json_decref(proof);
    return 0;
}
