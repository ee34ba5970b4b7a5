/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to bytes by 16 lookups of 16 values each. A lookup gives 0 where the top bit of its index is set, and passes
 * over the three bits below it. With x below 128, that of part k has the index x - 16 k: negative for the codes of all
 * parts before it, and elsewhere right in its low four bits. So part k holds what its values differ in from those of
 * part k - 1, and the lookups of all parts make a sum modulo 2 of differences. Codes from 128 on have eight parts of
 * their own on the same indices, the top bit of a code choosing between the two sums.
 * line_*.h gives the width.
 */
#ifndef PWL_BYTES_SHUFFLE_H
#define PWL_BYTES_SHUFFLE_H

#include "../ways.h"

typedef struct table_256 {
    vector part[16];
} table_256;

/* sum ^ v. Compilers that regroup a long sum run out of registers: the empty statement makes them keep its order. */
INLINE vector add(vector sum, vector v)
{
    sum = BITS(xor)(sum, v);
    __asm__("" : "+x"(sum));
    return sum;
}

INLINE vector look_up(const table_256 *values, vector x)
{
    vector index = BITS(and)(x, OP(set1_epi8)(INT8_MAX));
    vector lower = OP(shuffle_epi8)(values->part[0], index), upper = OP(shuffle_epi8)(values->part[8], index);
    int k;
    for (k = 1; k < 8; k++) {
        index = OP(sub_epi8)(index, OP(set1_epi8)(16));
        lower = add(lower, OP(shuffle_epi8)(values->part[k], index));
        upper = add(upper, OP(shuffle_epi8)(values->part[8 + k], index));
    }
    return OP(blendv_epi8)(lower, upper, x);
}

INLINE void run_all(const uint8_t *all, const uint8_t *from, uint8_t *to, size_t count)
{
    table_256 values;
    int k;
    for (k = 0; k < 16; k++)
        values.part[k] = in_each_16(_mm_load_si128((const __m128i *)(all + 16 * k)));
    for (k = 7; k > 0; k--) {
        values.part[k] = BITS(xor)(values.part[k], values.part[k - 1]);
        values.part[8 + k] = BITS(xor)(values.part[8 + k], values.part[7 + k]);
    }
    for (; count >= sizeof(vector); count -= sizeof(vector), from += sizeof(vector), to += sizeof(vector))
        BITS(storeu)((vector *)to, look_up(&values, BITS(loadu)((const vector *)from)));
    for (; count; count--)
        *to++ = all[*from++];
}

#endif
