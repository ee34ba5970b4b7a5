/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pwl: integer-only evaluation of fixed-point piecewise-linear (PWL) tables.
 *
 * A quantised tensor holds codes q with real = scale * (q - zero_point). A table maps
 * input codes q_x to output codes q_y; scales never appear here, because only the slope
 * in code space matters. With X = q_x - zp_x, and i the segment of q_x:
 *
 *   absolute   q_y = sat( shr(q_b[i] * X, n[i]) + term_c[i] )
 *   biased     q_y = sat( shr(q_b[i] * X + bias[i], n[i]) )
 *   anchored   q_y = sat( shr(q_b[i] * (q_x - start[i]), n[i]) + y[i] )
 *
 * q_x is first clamped to [qmin_x, qmax_x]; the segment of q_x is the last i with
 * start[i] <= q_x; shr(p, n) shifts right by n with the table's rounding, or left by -n;
 * sat clips to [qmin_y, qmax_y]. The output zero point is part of term_c, bias and y.
 *
 * Fold: with PWL_FLAG_FOLD, segments start at zp_x, and a code below it gives
 * q_y = sat( fold_sum - raw(2*zp_x - q_x) ), raw being the value before sat. The mirrored
 * code may exceed qmax_x.
 *
 * No function here allocates, prints, uses floating point (pwl_run_real() of real.h does), or keeps state but for what
 * pwl_levels() of plan.h found. A
 * table is checked once with pwl_table_check(); everything else assumes a table that passed.
 */
#ifndef PWL_PWL_H
#define PWL_PWL_H

#include <stddef.h>
#include <stdint.h>

/*
 * On AVR, -DPWL_TABLES_IN_FLASH has the library, and all that includes eval.h, read the arrays of every table from
 * flash, from its first 64 KiB, where PROGMEM places them (`pwlc emit --attribute PROGMEM`). pwl_table itself lies in
 * RAM.
 */
#ifdef PWL_TABLES_IN_FLASH
#include <avr/pgmspace.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PWL_TABLE_VERSION 1 /* layout and meaning of pwl_table */
#define PWL_MAX_SEGMENTS 4096

/*
 * Bits of the widest tables that the library is built for: 32, or, for small chips, 16 (storage INT8 and INT16) or 8
 * (INT8). pwl_table_check() refuses wider ones by PWL_ERR_FIELD. Arrays may have any type.
 */
#ifndef PWL_MOST_BITS
#define PWL_MOST_BITS 32
#endif

/*
 * Version of the binary interface: layouts of the structs, values of the enumerations, functions. It is the shared
 * library's soname version, and changes when a program that is not compiled anew would go wrong; what is only added
 * leaves it.
 */
#define PWL_ABI_VERSION 1

#if defined(__GNUC__)
#define PWL_NODISCARD __attribute__((warn_unused_result))
#else
#define PWL_NODISCARD
#endif

/* What the shared library offers; all else stays inside. */
#if defined(__GNUC__) && !defined(_WIN32)
#define PWL_API __attribute__((visibility("default")))
#else
#define PWL_API
#endif

/* Why a table is not safe to run; the values are stable. */
typedef enum pwl_status {
    PWL_OK = 0,
    PWL_ERR_NULL = 1,        /* a null pointer */
    PWL_ERR_VERSION = 2,     /* version is not PWL_TABLE_VERSION */
    PWL_ERR_FIELD = 3,       /* storage, form, rounding or flags outside their range, or fold_sum without fold */
    PWL_ERR_SEGMENTS = 4,    /* segments outside 1..PWL_MAX_SEGMENTS */
    PWL_ERR_RANGE_X = 5,     /* qmin_x > qmax_x, or wider than the storage case holds */
    PWL_ERR_RANGE_Y = 6,     /* qmin_y > qmax_y, or wider than the storage case holds */
    PWL_ERR_ZERO_POINT = 7,  /* zp_x, or q_x - zp_x, leaves its type */
    PWL_ERR_START = 8,       /* starts not ascending, the first not qmin_x (zp_x when folded), or one no code reaches */
    PWL_ERR_SHIFT = 9,       /* n outside -31..31 (32-bit accumulator) or -63..63 (64-bit) */
    PWL_ERR_OFFSET = 10,     /* term_c or y needs more than its 48 valid bits */
    PWL_ERR_PRODUCT = 11,    /* q_b * X leaves the accumulator */
    PWL_ERR_BIAS = 12,       /* product + bias leaves the accumulator */
    PWL_ERR_ROUNDING = 13,   /* the rounding addend 2^(n-1) leaves the accumulator */
    PWL_ERR_LEFT_SHIFT = 14, /* a left shift leaves the accumulator */
    PWL_ERR_SUM = 15,        /* shifted value + term_c or y leaves the accumulator */
    PWL_ERR_FOLD = 16,       /* zp_x outside [qmin_x, qmax_x], or fold_sum or fold_sum - raw leaves the accumulator */
    PWL_ERR_REDUCTION = 17,  /* of <pwl/reduce.h>: a field outside its range, or a folded core */
    PWL_ERR_REDUCED_CODE = 18,  /* (q_x - zp_x) * factor needs more than 63 bits */
    PWL_ERR_REDUCED_VALUE = 19, /* the core's value, or r * addend, needs more than 61 bits */
    PWL_ERR_ROW = 20,           /* of <pwl/rows.h>: the length of a row, or a sum over it, is too large */
    PWL_ERR_CORE = 21,          /* the core gives what is no reciprocal, or no reciprocal root */
    PWL_ERR_CONSTANT = 22,      /* a constant, or an entry of a table, is outside its range */
    PWL_ERR_EDGE = 23,     /* of <pwl/network.h>: no edge, or one that is read before it is written, or written twice */
    PWL_ERR_SHAPE = 24,    /* shapes of edges do not fit each other, or the constants of a node */
    PWL_ERR_SUM_BITS = 25, /* a sum, or a sum times its factor, can have too many bits */
    PWL_ERR_MEMORY = 26,   /* edges share a place that they need at once; or memory is too small, or not aligned */
    PWL_ERR_SIZE = 27,     /* a size is not from 1 to its longest, or an edge has too many codes */
    PWL_ERR_CODE = 28      /* an input has a code that is not its edge's */
} pwl_status;

/* Storage case: element types of the arrays and the accumulator.
 *            start (u)int8   q_b int8    offset int16 (bias int32)  accumulator int32
 *            start (u)int16  q_b int16   offset int32               accumulator int32
 *            start (u)int32  q_b int32   offset int64 (term_c, y: 48 valid bits)  accumulator int64 */
typedef enum pwl_storage { PWL_INT8 = 0, PWL_INT16 = 1, PWL_INT32 = 2 } pwl_storage;

typedef enum pwl_form { PWL_ABSOLUTE = 0, PWL_BIASED = 1, PWL_ANCHORED = 2 } pwl_form;

/* Rounding of the right shift: to minus infinity; to nearest with ties up, away from zero, to even. */
typedef enum pwl_rounding { PWL_FLOOR = 0, PWL_HALF_UP = 1, PWL_HALF_AWAY = 2, PWL_HALF_EVEN = 3 } pwl_rounding;

#define PWL_FLAG_UNSIGNED_X 1u /* start holds unsigned elements */
#define PWL_FLAG_FOLD 2u       /* codes below zp_x are mirrored, see above */

/* A table: four arrays of `segments` elements and the constants they share. Can live in ROM. */
typedef struct pwl_table {
    uint8_t version;    /* PWL_TABLE_VERSION */
    uint8_t storage;    /* pwl_storage */
    uint8_t form;       /* pwl_form */
    uint8_t rounding;   /* pwl_rounding */
    uint16_t flags;     /* PWL_FLAG_* */
    uint16_t segments;  /* 1..PWL_MAX_SEGMENTS */
    const void *start;  /* first code of each segment, ascending */
    const void *q_b;    /* slopes */
    const int8_t *n;    /* n_BX_total: right shift, negative is left */
    const void *offset; /* term_c, bias or y, by form */
    int64_t zp_x;       /* int16, int32 or int64 range by storage case */
    int64_t qmin_x, qmax_x;
    int64_t qmin_y, qmax_y;
    int64_t fold_sum; /* 0 without PWL_FLAG_FOLD */
} pwl_table;

/* What the proof found; filled by pwl_table_check(). */
typedef struct pwl_proof {
    pwl_status status;
    int32_t segment;  /* segment that fails, -1 when the failure is not of one segment */
    int32_t acc_bits; /* smallest two's complement accumulator that holds every intermediate value; 0 unless PWL_OK */
} pwl_proof;

/* PWL_ABI_VERSION of the library that runs, for those who load it without its headers or do not trust the loader. */
PWL_API int pwl_abi_version(void);

/*
 * Proves a table safe over its whole input range: every field legal, no product, rounding addend,
 * shift or sum leaves its type. Reads the arrays only after the fields that size them are checked.
 * proof may be null. Returns PWL_OK, or the first limit that binds (also in proof->status).
 */
PWL_API PWL_NODISCARD pwl_status pwl_table_check(const pwl_table *table, pwl_proof *proof);

/* Name of a status for messages, for example "product leaves the accumulator". Never null. */
PWL_API const char *pwl_status_text(pwl_status status);

/* Segment index of a code: the last i with start[i] <= q_x. q_x is clamped (and mirrored, when folded) first. */
PWL_API int32_t pwl_segment(const pwl_table *table, int64_t q_x);

/* One code: the specification every other evaluation must equal. Any q_x is accepted. */
PWL_API int64_t pwl_eval(const pwl_table *table, int64_t q_x);

/* As pwl_eval, with q_x clamped but the result not saturated: raw, or fold_sum - raw below zp_x when folded. */
PWL_API int64_t pwl_eval_unclamped(const pwl_table *table, int64_t q_x);

/* Element types of the arrays that pwl_map_* reads and writes; the values are stable. */
typedef enum pwl_type { PWL_S8 = 0, PWL_U8 = 1, PWL_S16 = 2, PWL_U16 = 3, PWL_S32 = 4, PWL_U32 = 5 } pwl_type;

/* 1 when every value of [qmin_y, qmax_y] is one of the output type, so that pwl_map_*_<out> loses nothing; else 0.
 * The input type needs no such question: every code is accepted and clamped. */
PWL_API int pwl_fits(const pwl_table *table, pwl_type out);

/*
 * Arrays: y[k] = (out type) pwl_eval(table, x[k]) for k in [0, count). Reads x[0..count), writes
 * y[0..count), nothing else. x and y may be the same array when their elements have the same size;
 * otherwise they must not overlap. The table's [qmin_y, qmax_y] must fit the output type, see pwl_fits().
 *
 * From 128 to some thousands of elements on, by the table's lines, a plan (plan.h) is made for the call, on the stack:
 * with all that is called, at most 28 KiB of it. On 32-bit processors, and for shorter arrays, at most 1 KiB. A library
 * built with -DPWL_MAP_STACK=0 makes none. Who maps by one table again and again, a plan that is kept serves better.
 */
#define PWL_MAP_TYPES(F)                                                                                               \
    F(s8, int8_t, INT8_MIN, INT8_MAX)                                                                                  \
    F(u8, uint8_t, 0, UINT8_MAX)                                                                                       \
    F(s16, int16_t, INT16_MIN, INT16_MAX) F(u16, uint16_t, 0, UINT16_MAX) F(s32, int32_t, INT32_MIN, INT32_MAX)        \
        F(u32, uint32_t, 0, UINT32_MAX)

/* Every pair of an input and an output type: F(in, in_t, out, out_t). */
#define PWL_MAP_PAIRS_FROM(F, in, in_t)                                                                                \
    F(in, in_t, s8, int8_t)                                                                                            \
    F(in, in_t, u8, uint8_t)                                                                                           \
    F(in, in_t, s16, int16_t) F(in, in_t, u16, uint16_t) F(in, in_t, s32, int32_t) F(in, in_t, u32, uint32_t)
#define PWL_MAP_PAIRS(F)                                                                                               \
    PWL_MAP_PAIRS_FROM(F, s8, int8_t)                                                                                  \
    PWL_MAP_PAIRS_FROM(F, u8, uint8_t)                                                                                 \
    PWL_MAP_PAIRS_FROM(F, s16, int16_t) PWL_MAP_PAIRS_FROM(F, u16, uint16_t) PWL_MAP_PAIRS_FROM(F, s32, int32_t)       \
        PWL_MAP_PAIRS_FROM(F, u32, uint32_t)

#define PWL_DECLARE_MAP(in, in_t, out, out_t)                                                                          \
    PWL_API void pwl_map_##in##_##out(const pwl_table *table, const in_t *x, out_t *y, size_t count);
PWL_MAP_PAIRS(PWL_DECLARE_MAP)
#undef PWL_DECLARE_MAP

#ifdef __cplusplus
}
#endif
#endif
