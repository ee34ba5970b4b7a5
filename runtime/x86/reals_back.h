/* SPDX-License-Identifier: Apache-2.0 */
/* From codes to floats, a vector at a time. Whoever includes this has defined `vector` and `reals`, of words of 32 bits
 * and of floats, OP(name), the intrinsics of that width, and load(type, codes, k), a vector of codes in such words. */
#ifndef PWL_REALS_BACK_H
#define PWL_REALS_BACK_H

/* With `type` a constant. */
INLINE size_t store(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed)
{
    enum { CODES = sizeof(vector) / 4 };
    const vector zero = OP(set1_epi32)(of->zero_y);
    const reals scale = OP(set1_ps)(of->scale);
    size_t k;
    for (k = 0; k + CODES <= count; k += CODES) {
        const vector steps = OP(sub_epi32)(load(type, codes, k), zero);
        const reals real = OP(mul_ps)(scale, OP(cvtepi32_ps)(steps));
        if (streamed)
            OP(stream_ps)(y + k, real);
        else
            OP(storeu_ps)(y + k, real);
    }
    if (streamed)
        _mm_sfence();
    return k;
}

INLINE size_t store_all(const pwl_scaling *of, pwl_type type, const void *codes, float *y, size_t count, int streamed)
{
    switch (type) {
    case PWL_S8:
        return store(of, PWL_S8, codes, y, count, streamed);
    case PWL_U8:
        return store(of, PWL_U8, codes, y, count, streamed);
    case PWL_S16:
        return store(of, PWL_S16, codes, y, count, streamed);
    case PWL_U16:
        return store(of, PWL_U16, codes, y, count, streamed);
    default:
        return store(of, PWL_S32, codes, y, count, streamed);
    }
}

#endif
