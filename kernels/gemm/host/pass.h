/* SPDX-License-Identifier: Apache-2.0 */
/* What a way computes at a time: a few rows of X by one panel of the weights, over all of K. */
#ifndef PWL_QGEMM_PASS_H
#define PWL_QGEMM_PASS_H

#include <stddef.h>
#include <stdint.h>

#include "panel.h"

/*
 * What is multiplied, by the code c in a tile. S and D are what pwl/qgemm_host.h calls S and d_x, but for MXFP4, whose
 * values are counted in halves: there S is twice and D half as much. Of super-blocks S is of c, in Q6_K of c - 32.
 */
typedef enum pwl_qgemm_kind {
    PWL_QGEMM_NIBBLES,        /* Q4_0: S of c - 8 */
    PWL_QGEMM_NIBBLES_STORED, /* Q4_0 with stored sums: S of c */
    PWL_QGEMM_BYTES,          /* Q8_0: S of c - 128 */
    PWL_QGEMM_E2M1,           /* MXFP4: S of twice the value of c */
    PWL_QGEMM_SUPER4,         /* Q4_K, Q5_K and Q6_K */
    PWL_QGEMM_SUPER5,
    PWL_QGEMM_SUPER6,
    PWL_QGEMM_HALVES4, /* A16 by Q4_0, Q8_0 and MXFP4: weights are rounded */
    PWL_QGEMM_HALVES8,
    PWL_QGEMM_HALVES_E2M1,
    PWL_QGEMM_INTEGERS /* ROWS8: S of c - 128, over all of K */
} pwl_qgemm_kind;

enum { PWL_QGEMM_KINDS = PWL_QGEMM_INTEGERS + 1, PWL_QGEMM_PASS_ROWS = 12 };

/*
 * A block of X. A way may multiply codes shifted by `zero`, as unsigned numbers, and add `start` to what comes out:
 *
 *                               sum of (code + zero) * q + start = S    where |start| <= 32 * 128 * 128
 *
 * zero is 8 in Q4_0 (0 with stored sums), 128 in Q8_0, 12 in MXFP4, and start = -zero * sum of q. In Q6_K it is 32, of
 * each half of the block.
 */
typedef struct pwl_qgemm_x {
    int8_t q[PWL_BLOCK];
    float d; /* D */
    union {
        int32_t start;
        float less;        /* stored sums: 8 s; Q4_K and Q5_K: RN(d * sum of q); start is 0 */
        int16_t halves[2]; /* Q6_K: sums of q */
    } of;
} pwl_qgemm_x;

/* Twice the value of each code of E2M1, with `zero` added. */
#define PWL_QGEMM_E2M1_ZERO 12
#define PWL_QGEMM_E2M1_SHIFTED 12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0

/* The format of the weights. */
static inline pwl_qgemm_format pwl_qgemm_format_of(pwl_qgemm_kind kind)
{
    switch (kind) {
    case PWL_QGEMM_NIBBLES:
    case PWL_QGEMM_NIBBLES_STORED:
    case PWL_QGEMM_HALVES4:
        return PWL_QGEMM_Q4_0;
    case PWL_QGEMM_BYTES:
    case PWL_QGEMM_HALVES8:
        return PWL_QGEMM_Q8_0;
    case PWL_QGEMM_E2M1:
    case PWL_QGEMM_HALVES_E2M1:
        return PWL_QGEMM_MXFP4;
    case PWL_QGEMM_SUPER4:
        return PWL_QGEMM_Q4_K;
    case PWL_QGEMM_SUPER5:
        return PWL_QGEMM_Q5_K;
    case PWL_QGEMM_SUPER6:
        return PWL_QGEMM_Q6_K;
    default:
        return PWL_QGEMM_ROWS8;
    }
}

/*
 * A16 takes weights w = RN(q * d * 2^-e), x in fp32, and leaves sum w x. Of p, the exact product, RN to so many bits is
 * the sum of p and of `unit`, from which unit is taken away again, where unit is 1.5 * 2^23 times what the last bit
 * counts: the power of two in p times `digits`, or `least` where the numbers are subnormal.
 *
 *               digits         least            of fp16 and bf16: 11 and 8 bits, which count 2^-24 and 2^-133 at least
 *   RN16     1.5 * 2^13     1.5 * 2^-1
 *   RNb      1.5 * 2^16     1.5 * 2^-110
 */
typedef struct pwl_qgemm_rounding {
    float digits, least;
    int scales;         /* some row has an e that is not 0 */
    const float *power; /* [32]: 2^-e of the panel's rows, in MXFP4 2^(-e - 1) */
} pwl_qgemm_rounding;

/* What is multiplied without the A16 that a kind is of. */
static inline pwl_qgemm_kind pwl_qgemm_codes_of(pwl_qgemm_kind kind)
{
    if (kind == PWL_QGEMM_HALVES4)
        return PWL_QGEMM_NIBBLES;
    return kind == PWL_QGEMM_HALVES8 ? PWL_QGEMM_BYTES : kind == PWL_QGEMM_HALVES_E2M1 ? PWL_QGEMM_E2M1 : kind;
}

static inline int pwl_qgemm_is_halves(pwl_qgemm_kind kind)
{
    return pwl_qgemm_codes_of(kind) != kind;
}

typedef struct pwl_qgemm_pass {
    pwl_qgemm_kind kind;
    const uint8_t *tiles; /* of the panel; aligned to 64 bytes */
    size_t blocks;        /* of K */
    const void *x;   /* pwl_qgemm_x [rows][blocks], without gaps; INTEGERS: int8_t, A16: float, rows x_stride apart */
    size_t x_stride; /* INTEGERS, A16: bytes */
    const int32_t *start;        /* INTEGERS: [rows], -128 * the sum of a row of X */
    pwl_qgemm_rounding rounding; /* A16 */
    size_t rows;                 /* 1 to what the way takes */
    void *sums;                  /* [rows][32]: y before the bias, float; INTEGERS: S, int32_t, exact modulo 2^32 */
} pwl_qgemm_pass;

#endif
