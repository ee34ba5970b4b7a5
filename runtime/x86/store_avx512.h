/* SPDX-License-Identifier: Apache-2.0 */
/* How vectors of values go to memory. */
#ifndef PWL_STORE_AVX512_H
#define PWL_STORE_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Elements before the first whole line of the cache: a vector that crosses lines costs more than one masked vector. */
static inline size_t elements_before_line(const void *y, size_t element)
{
    return (-(uintptr_t)y & 63) / element;
}

/* Whether stores pass the caches by, so that no line is read before it is written: where a cache hardly holds what is
 * mapped. In place, lines have been read already. */
static inline int is_streamed(const void *x, const void *y, size_t bytes)
{
    return bytes >= (size_t)32 << 20 && x != y;
}

/* To a whole line. The branch goes one way in each array. */
static inline void store_line(void *to, __m512i v, int streamed)
{
    if (streamed)
        _mm512_stream_si512(to, v);
    else
        _mm512_store_si512(to, v);
}

/* After the last: streamed stores come before what is written later. */
static inline void end_stores(int streamed)
{
    if (streamed)
        _mm_sfence();
}

#endif
