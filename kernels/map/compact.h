/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line in 8 bytes, for tables of storage INT8 and INT16. With u as in pwl/plain.h, taken for a signed number of
 * 16 bits,
 *
 *   q_y = sat( floor((slope * u * 2^16 + line) / 2^32) >> fraction ),   line = offset * 2^32 + slope mod 2^32
 *
 * which is one multiplication of 32 by 32 bits, whose product is added to the line as it lies in memory, and one shift
 * that all lines of a table share. So many bits of what a line gives lie below the point that one slope and one
 * offset, looked for among all, give the rounded values of most lines at each of their codes, whatever the rounding.
 * Where none does, the line is cut in two.
 *
 * Ties that are rounded to even go up and down in turn, which no such line does where they are many. Lines of a table
 * that is `even` give values half a unit higher; one without a fraction, which was a tie, is lowered by one where it is
 * odd and the slope even, or the other way round: what is even before a line's constant is added may be odd after it.
 *
 * Beside lines of 16 bytes, these leave room for more copies in the image (plan.h) and are read faster: with 144
 * segments 0.865 of the speed of a copy for 0.84, with 64 in the L2 cache 1.26 times its time for 1.34. Real numbers,
 * bound by instructions, lose 0.01 by them. Even lines are slower (a GELU with 16 segments: s16 0.862), but not as slow
 * as searching (0.351).
 */
#ifndef PWL_COMPACT_H
#define PWL_COMPACT_H

#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/plain.h>
#include <pwl/pwl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t pwl_compact; /* offset << 32 | slope */

/* A value before the shift: the high word of slope * (u << 16) + line. */
PWL_FN int32_t pwl_compact_sum(pwl_compact line, uint32_t u)
{
#ifdef __CUDA_ARCH__
    int32_t sum;
    asm("{\n\t" /* as below, from which nvcc does not make one instruction */
        ".reg .s32 slope, high;\n\t"
        ".reg .s64 product;\n\t"
        "mov.b64 {slope, high}, %2;\n\t"
        "mul.wide.s32 product, slope, %1;\n\t"
        "add.s64 product, product, %2;\n\t"
        "mov.b64 {slope, %0}, product;\n\t"
        "}"
        : "=r"(sum)
        : "r"(u << 16), "l"(line));
    return sum;
#else
    return (int32_t)(((uint64_t)((int64_t)(int32_t)line * (int32_t)(u << 16)) + line) >> 32);
#endif
}

/* A value before saturation. */
PWL_FN int32_t pwl_compact_eval(pwl_compact line, uint32_t u, uint32_t fraction, int even)
{
    const int32_t sum = pwl_compact_sum(line, u), lowered = ((sum >> fraction) ^ (int32_t)line) & 1;
    return (even ? sum - lowered : sum) >> fraction;
}

/* Some codes, u = `first` to `last`, and the compact line that gives their values. */
typedef struct pwl_compact_part {
    uint32_t first, last;
    pwl_compact line;
} pwl_compact_part;

/* Walks the compact lines of a checked table of storage INT8 or INT16 from the lowest code up. */
typedef struct pwl_compact_walk {
    pwl_plain_walk table;
    pwl_plain_line next; /* of the table, if there is one */
    int has_next;
    pwl_plain32 line; /* whose codes `first` to `last` are left */
    uint32_t first, last;
    uint32_t fraction, shift;
    int even;
} pwl_compact_walk;

/* A line is cut where a multiple of 2^shift starts the second part. Sets walk->fraction. */
void pwl_compact_begin(pwl_compact_walk *walk, const pwl_table *table, uint32_t shift, int even);

/* The next part, which starts where the last one ended: 1; 0 after the last; -1 where a line cannot be cut as it would
 * have to be. */
int pwl_compact_next(pwl_compact_walk *walk, pwl_compact_part *part);

#ifdef __cplusplus
}
#endif
#endif
