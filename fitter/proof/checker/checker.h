/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the checker share. One proof is checked, of one table: both stand in globals, and what is allocated
 * for them lasts to the end. */
#ifndef PWLC_PROOF_CHECKER_H
#define PWLC_PROOF_CHECKER_H

#include <stdint.h> /* first: MPFR's header then takes intmax_t */
#include <jansson.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 i128;
typedef json_int_t i64;

/* Targets and errors are integers in units of 2^-POINT of an output step. */
enum { POINT = 80, MARGIN = 140, PRECISION = 200, MOST_CODES = 1 << 20, MOST_SEGMENTS = 4096 };
#define ONE ((i128)1 << POINT)
/* Beyond every number that occurs: no end of a band, no constant that types allow. */
#define INFINITE ((i128)1 << 126)

extern const char *file_name;
extern char step[80];                                             /* The step that is being checked, for messages. */
extern mpfr_t at, alpha, far, asked_error, whole, rest, stack[8]; /* what is computed in reals */

_Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define REQUIRE(holds, ...) ((holds) ? (void)0 : fail(1, __VA_ARGS__))
void *get(i64 number, size_t size);

static inline i128 smaller(i128 a, i128 b)
{
    return a < b ? a : b;
}

static inline i128 larger(i128 a, i128 b)
{
    return a > b ? a : b;
}

static inline i128 magnitude(i128 a)
{
    return a < 0 ? -a : a;
}

static inline i128 floor_div(i128 a, i128 b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline i128 ceil_div(i128 a, i128 b)
{
    return -floor_div(-a, b);
}

static inline bool fits(i128 value, i64 bits)
{
    return value >= -((i128)1 << (bits - 1)) && value < (i128)1 << (bits - 1);
}

static inline double in_steps(i128 units)
{
    return ldexp((double)units, -POINT);
}

/* ---- table.c: reading, the table, its outputs and its certificate ---- */

void read_json(json_t *value, const char *where, const char *format, ...);
size_t length(const json_t *list);
i64 element(const json_t *list, size_t i);
void decimal(mpfr_t value, const char *text);
i128 in_units(const mpfr_t value);

enum form { ABSOLUTE, BIASED, ANCHORED };
enum rounding { FLOOR, HALF_UP, HALF_AWAY, HALF_EVEN };

struct side {
    i64 bits, zero_point, qmin, qmax;
    mpfr_t scale;
};

struct segment {
    i64 start, end, q_b, n, c, origin; /* end: behind its last code; origin: the code from which X counts */
};

extern struct side x, y;
extern enum form form;
extern enum rounding rounding;
extern i64 code_bits, wide, offset_bits; /* bits of slopes, of products and sums, of the constant */
extern bool folded;
extern i64 sum, d0, d1; /* The stored codes are d0 to d1 - 1: a fold mirrors all others to these. */
extern i64 count, codes;
extern struct segment *segments;
extern json_t *certificate, *parameters;
extern const char *function_name, *spec, *outside, *weights;
extern i64 *outputs;                /* of all codes, from x.qmin */
extern i128 *values, *errors, unit; /* f / scale_y, later the targets; |output - target|; how far off these may be */

void codes_of(bool is_signed, i64 bits, i64 ends[2]);
i128 shr(i128 p, i64 n);
void read_table(json_t *value);
i128 value_of(i128 p, i64 n, i128 c);
i128 value_at(const struct segment *s, i64 q);
void find_outputs(void);
i64 needed_bits(void);

struct function {
    const char *name, *domain, *below, *formula;
};

extern const struct function *function;

void evaluate(const char *formula);
void find_function(void);
bool find_value(i64 q);
void clip_far(mpfr_t value);
void enclose(void);

struct certificate {
    i64 checked, max_err_at, saturated, acc_bits;
    int exhaustive, monotone;
    double largest, rms, mean, rounded, lower_bound, bound; /* bound: -1 where there is none */
    bool optimal;
    const char *objective, *second, *proof;
};

extern struct certificate said;

extern double squares, nearest; /* the sum of squared errors, and the least that outputs can have */

bool is_objective(const char *name);
void read_certificate(json_t *value);
void check_name(const json_t *proof);
double half_digit(double number);
bool agrees(double printed, double exact, double so_much);
void check_figure(const char *name, double printed, double exact);
void check_count(const char *name, i64 what, i64 least, i64 most);
i128 check_certificate(void);

/* ---- wide.c: inputs of more than 2^20 codes ---- */

void check_wide(void);

/* ---- lines.c: which tables and lines a claim is about, and what excludes lines, or what they cost at least ---- */

struct rules {
    i64 slopes[2], shifts[2], offsets[2], multiple, stored, terms, grid, *of_terms; /* grid: -1 where places are any */
    int one_shift, of_terms_count;
    json_t *fixed, *equal;
    i64 *output; /* of each code, that it is fixed to, or FREE */
};

extern struct rules rules;

/* No allowed line, in the anchored form none that starts at a, has values in the bands of all codes from a to b - 1;
 * with any_start none that starts before a, either. */
struct exclusion {
    i64 a, b, origin, n; /* n: the shift that is looked at */
    bool any_start;
};

const char *one_flag(const char *name, const char *otherwise);
i64 flag_number(const char *name, const char *otherwise);
void read_rules(json_t *value);
void check_allowed(void);
i64 last_place(i64 b);
i64 equal_start(i64 m, i64 of);
bool is_equal_count(i64 number);
void find_bands(i128 reach);
struct exclusion check_exclusion(const i64 shifts[2], json_t *value);
void find_floors(i64 bits);
void check_costs(const i64 shifts[2], i64 equal, json_t *rows, i64 segments_asked, i64 squares_asked);

#endif
