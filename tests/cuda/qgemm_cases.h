/* SPDX-License-Identifier: Apache-2.0 */
/* Packed weights to multiply by. */
#ifndef QGEMM_CASES_H
#define QGEMM_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/qgemm.h>

#include "../../kernels/half.h"
#include "../unit/random.h"

static const struct qgemm_kind {
    const char *name;
    pwl_qgemm_format format;
    pwl_format blocks;
} qgemm_kinds[] = {
    {"Q4_0", PWL_QGEMM_Q4_0, PWL_Q4_0},
    {"Q8_0", PWL_QGEMM_Q8_0, PWL_Q8_0},
    {"MXFP4", PWL_QGEMM_MXFP4, PWL_MXFP4},
};

#define QGEMM_KINDS (sizeof qgemm_kinds / sizeof qgemm_kinds[0])

/* Memory that a test cannot do without. */
static inline void *need(size_t bytes)
{
    void *const memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (!memory)
        abort();
    return memory;
}

static inline size_t blocks_bytes(const struct qgemm_kind *kind, size_t n, size_t k)
{
    return n * (k / PWL_BLOCK) * pwl_format_bytes(kind->blocks);
}

/* Codes at random, scales of any exponent between low and high, and any sign. */
static inline void draw_blocks(const struct qgemm_kind *kind, uint8_t *blocks, size_t count, int low, int high,
                               uint64_t *state)
{
    const size_t bytes = pwl_format_bytes(kind->blocks);
    for (size_t i = 0; i < count * bytes; i++)
        blocks[i] = (uint8_t)random_bits(state);
    for (size_t i = 0; i < count; i++, blocks += bytes) {
        const int exponent = (int)random_in(state, low, high);
        const double d = (1 + (double)(random_bits(state) >> 54) * 0x1p-10) * (random_bits(state) % 2 ? 1 : -1);
        const uint16_t scale = pwl_round_f64(ldexp(d, exponent), 10, 5);
        if (kind->blocks == PWL_MXFP4)
            blocks[0] = (uint8_t)(exponent + 127);
        else
            memcpy(blocks, &scale, sizeof scale);
    }
}

/* Packs into new memory; aborts where that fails. */
static inline pwl_qgemm_weights pack_new(const struct qgemm_kind *kind, const void *blocks, size_t n, size_t k)
{
    pwl_qgemm_weights weights;
    size_t bytes;
    if (pwl_qgemm_weights_bytes(kind->format, n, k, &bytes) != PWL_QGEMM_OK ||
        pwl_qgemm_pack(kind->format, blocks, n, k, need(bytes), bytes, &weights, NULL) != PWL_QGEMM_OK)
        abort();
    return weights;
}

static inline void free_weights(pwl_qgemm_weights *weights)
{
    free((void *)(uintptr_t)weights->memory);
}

#endif
