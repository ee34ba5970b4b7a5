/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn products to compute on the host, with guards around all that is written. */
#ifndef HOST_PRODUCTS_H
#define HOST_PRODUCTS_H

#include <pwl/qgemm_host.h>

#include "../../tap.h"
#include "../cases.h"

enum { GUARD = 64, POISON = 0xa5 };

static const struct scheme {
    const char *name;
    pwl_qgemm_scheme scheme;
    pwl_qgemm_format format;
    pwl_qgemm_sums sums;
} schemes[] = {{"W4A8", PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, PWL_QGEMM_SUMS_EXACT},
               {"W4A8, stored sums", PWL_QGEMM_W4A8, PWL_QGEMM_Q4_0, PWL_QGEMM_SUMS_STORED},
               {"W8A8", PWL_QGEMM_W8A8, PWL_QGEMM_Q8_0, PWL_QGEMM_SUMS_EXACT},
               {"MXFP4 x A8", PWL_QGEMM_MXFP4_A8, PWL_QGEMM_MXFP4, PWL_QGEMM_SUMS_EXACT},
               {"INT8", PWL_QGEMM_INT8, PWL_QGEMM_ROWS8, PWL_QGEMM_SUMS_EXACT},
               {"INT8 of 4 bits", PWL_QGEMM_INT8, PWL_QGEMM_ROWS4, PWL_QGEMM_SUMS_EXACT},
               {"Q4_K x A8", PWL_QGEMM_Q4_K_A8, PWL_QGEMM_Q4_K, PWL_QGEMM_SUMS_EXACT},
               {"Q5_K x A8", PWL_QGEMM_Q5_K_A8, PWL_QGEMM_Q5_K, PWL_QGEMM_SUMS_EXACT},
               {"Q6_K x A8", PWL_QGEMM_Q6_K_A8, PWL_QGEMM_Q6_K, PWL_QGEMM_SUMS_EXACT},
               {"W4A16", PWL_QGEMM_W4A16, PWL_QGEMM_Q4_0, PWL_QGEMM_SUMS_EXACT},
               {"W8A16", PWL_QGEMM_W8A16, PWL_QGEMM_Q8_0, PWL_QGEMM_SUMS_EXACT},
               {"MXFP4 x A16", PWL_QGEMM_MXFP4_A16, PWL_QGEMM_MXFP4, PWL_QGEMM_SUMS_EXACT}};

enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static inline int is_a16(const struct scheme *scheme)
{
    return scheme->scheme <= PWL_QGEMM_MXFP4_A16;
}

/* Of which K is a multiple. */
static inline size_t step_of(const struct scheme *scheme)
{
    return super_kind_of(scheme->format) ? PWL_SUPER_BLOCK : PWL_BLOCK;
}

static const size_t element_bytes[] = {4, 2, 2, sizeof(pwl_block_q8_1), 1, 4, 1, 2, 2, 4};

/* What must be so that the test can go on. */
static inline void must(int status)
{
    if (status != 0)
        abort();
}

/* Weights of both kinds, with bias. */
struct operand {
    pwl_qgemm_weights packed;
    pwl_qgemm_panels panels;
    void *panels_memory;
    int8_t *n_w;
    int32_t *bias, *bias_up; /* float but for INT8; [n] each */
};

/* Panels at any address, to whose last byte the memory is checked. */
static inline void arrange(struct operand *w, uint64_t *state)
{
    const size_t offset = random_bits(state) % 64;
    uint8_t *memory;
    size_t bytes;
    must(pwl_qgemm_panels_bytes(&w->packed, &bytes));
    memory = need(offset + bytes + GUARD);
    memset(memory, POISON, offset + bytes + GUARD);
    must(pwl_qgemm_arrange(&w->packed, memory + offset, bytes, &w->panels));
    w->panels_memory = memory;
    for (size_t i = 0; i < GUARD; i++) {
        if (memory[offset + bytes + i] != POISON || (i < offset && memory[i] != POISON))
            abort();
    }
}

/* Scales from 2^low to 2^high. */
static inline struct operand draw_operand(const struct scheme *scheme, size_t n, size_t k, int low, int high,
                                          uint64_t *state)
{
    struct operand w = {.n_w = need(n), .bias = need(4 * n), .bias_up = need(4 * n)};
    const int int8 = scheme->scheme == PWL_QGEMM_INT8;
    if (int8) {
        int8_t *const q = need(n * k);
        size_t bytes;
        for (size_t i = 0; i < n * k; i++)
            q[i] = (int8_t)random_bits(state);
        for (size_t i = 0; i < n; i++)
            w.n_w[i] = (int8_t)random_in(state, 3, 9);
        must(pwl_qgemm_weights_bytes(scheme->format, n, k, &bytes));
        must((int)pack_codes(scheme->format, q, w.n_w, n, k, need(bytes), bytes, &w.packed));
        free(q);
    } else if (super_kind_of(scheme->format)) {
        const struct qgemm_kind *const kind = super_kind_of(scheme->format);
        const size_t count = n * (k / PWL_SUPER_BLOCK);
        uint8_t *const blocks = need(count * pwl_format_bytes(kind->blocks));
        draw_super_blocks(kind, blocks, count, low, high, state);
        w.packed = pack_new(kind, blocks, n, k);
        free(blocks);
    } else {
        const struct qgemm_kind *const kind = &qgemm_kinds[scheme->format];
        uint8_t *const blocks = need(blocks_bytes(kind, n, k));
        draw_blocks(kind, blocks, n * k / PWL_BLOCK, low, high, state);
        w.packed = pack_new(kind, blocks, n, k);
        free(blocks);
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t bias[2] = {(int32_t)random_in(state, -1000, 1000), (int32_t)random_in(state, -1000, 1000)};
        for (int up = 0; up < 2; up++) {
            const float real = (float)bias[up] / 16;
            memcpy((up ? w.bias_up : w.bias) + i, int8 ? (const void *)&bias[up] : &real, 4);
        }
    }
    arrange(&w, state);
    return w;
}

static inline void free_operand(struct operand *w)
{
    free_weights(&w->packed);
    free(w->panels_memory);
    free(w->n_w);
    free(w->bias);
    free(w->bias_up);
}

/* X and Y of a product. */
struct problem {
    pwl_qgemm_product product;
    uint8_t *x, *y;
    size_t y_offset, y_bytes;
    int8_t *n_x;
};

static inline void put_x(pwl_qgemm_type type, uint8_t *x, size_t at, float v)
{
    const uint16_t half = type == PWL_QGEMM_F16 ? pwl_f16_from_f32(v) : pwl_bf16_from_f32(v);
    if (type == PWL_QGEMM_F32)
        ((float *)(void *)x)[at] = v;
    else
        ((uint16_t *)(void *)x)[at] = half;
}

/* Floats from -4 to 4, now and then with a NaN or an infinity in a row; INT8 any codes; NaN between rows. */
static inline void draw_x(struct problem *p, size_t k, uint64_t *state)
{
    const pwl_qgemm_input *const x = &p->product.x;
    float *const row = need(k * sizeof *row);
    for (size_t m = 0; m < p->product.m; m++) {
        p->n_x[m] = (int8_t)random_in(state, 3, 9);
        for (size_t c = 0; c < k; c++)
            row[c] = (float)random_in(state, -4096, 4095) / 1024;
        if (random_bits(state) % 16 == 0)
            row[random_bits(state) % k] = random_bits(state) % 2 ? NAN : INFINITY;
        if (x->type == PWL_QGEMM_BLOCKS_Q8_1) {
            pwl_block_q8_1 *const blocks = (pwl_block_q8_1 *)(void *)p->x + m * x->stride;
            must((int)pwl_quantise(PWL_Q8_1, PWL_RULE_DEFAULT, row, 1, k, k, blocks));
            if (random_bits(state) % 2) /* of others, too, whose codes may be -128 */
                memset(blocks[random_bits(state) % (k / PWL_BLOCK)].qs, 0x80, PWL_BLOCK);
        }
        for (size_t c = 0; c < k && x->type < PWL_QGEMM_BLOCKS_Q8_1; c++)
            put_x(x->type, p->x, m * x->stride + c, row[c]);
        for (size_t c = 0; c < k && x->type == PWL_QGEMM_S8; c++)
            p->x[m * x->stride + c] = (uint8_t)(m % 8 == 7 ? 0x80 : random_bits(state));
    }
    free(row);
}

/* Rows with gaps, at any address that the types have; no activation. */
static inline struct problem draw_problem(const struct scheme *scheme, const struct operand *w, size_t m,
                                          uint64_t *state)
{
    const int int8 = scheme->scheme == PWL_QGEMM_INT8;
    const pwl_qgemm_type x_type = int8 ? PWL_QGEMM_S8 : (pwl_qgemm_type)(random_bits(state) % (is_a16(scheme) ? 3 : 4));
    const pwl_qgemm_type y_type =
        int8 ? (random_bits(state) % 2 ? PWL_QGEMM_S8 : PWL_QGEMM_S32) : (pwl_qgemm_type)(random_bits(state) % 3);
    const size_t n = w->panels.n, k = w->panels.k, columns = x_type == PWL_QGEMM_BLOCKS_Q8_1 ? k / PWL_BLOCK : k;
    const size_t x_stride = columns + random_bits(state) % 5, y_stride = n + random_bits(state) % 5;
    struct problem p = {.n_x = need(m), .x = need(m * x_stride * element_bytes[x_type])};
    memset(p.x, 0xff, m * x_stride * element_bytes[x_type]);
    p.y_offset = GUARD + random_bits(state) % 16 * element_bytes[y_type];
    p.y_bytes = m * y_stride * element_bytes[y_type];
    p.y = need(p.y_bytes + 2 * p.y_offset);
    p.product =
        (pwl_qgemm_product){scheme->scheme,
                            scheme->sums,
                            m,
                            NULL,
                            {p.x, x_stride, x_type, int8 ? (int32_t)random_in(state, -128, 127) : 0, p.n_x, NULL},
                            random_bits(state) % 4 ? w->bias : NULL,
                            {p.y + p.y_offset, y_stride, y_type, (int32_t)random_in(state, -128, 127),
                             (int32_t)random_in(state, 0, 9), NULL, 0},
                            NULL};
    draw_x(&p, k, state);
    return p;
}

static inline void free_problem(struct problem *p)
{
    free(p->x);
    free(p->y);
    free(p->n_x);
}

/* A workspace of as many bytes as are wanted, at any address, with guards. */
struct workspace {
    uint8_t *memory, *at;
    size_t bytes;
};

static inline struct workspace new_workspace(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels,
                                             uint64_t *state)
{
    struct workspace w;
    const size_t offset = GUARD + random_bits(state) % 64;
    must(pwl_qgemm_workspace(product, panels, &w.bytes));
    w.memory = need(offset + w.bytes + GUARD);
    memset(w.memory, POISON, offset + w.bytes + GUARD);
    w.at = w.memory + offset;
    return w;
}

static inline int is_guarded(const struct workspace *w)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (w->at[w->bytes + i] != POISON || w->at[-(ptrdiff_t)i - 1] != POISON)
            return 0;
    }
    return 1;
}

#endif
