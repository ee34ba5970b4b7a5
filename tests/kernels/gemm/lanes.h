/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 32 lanes of a warp at a matrix product of packed weights: mma's fragments as the PTX manual has them (sections on
 * mma.m16n8k16 and m16n8k32), and around them what a kernel does, lane by lane: loads, conversions, shares of K,
 * stores.
 */
#ifndef QGEMM_LANES_H
#define QGEMM_LANES_H

#include "cases.h"
#include "gemm/device/fragment.cuh"
#include "gemm/input.h"
#include "gemm/layout.h"
#include "gemm/schedule.h"
#include "gemm/store.h"

enum { LANES = 32 };

/* Registers of all lanes. */
typedef struct lanes {
    uint32_t a[LANES][4], b[LANES][2];
} lanes;

/* Sums of a tile: c0, c1 row g, tokens 2t, 2t + 1; c2, c3 row g + 8; in ROWS8 rows 2g and 2g + 1. */
typedef struct lane_sums {
    float f[LANES][4];
    int32_t s[LANES][4];
} lane_sums;

static inline double half_of(uint32_t word, unsigned i, int bf16)
{
    const uint16_t half = (uint16_t)(word >> 16 * i);
    return bf16 ? pwl_f32_from_bf16(half) : pwl_f32_from_f16(half);
}

/* f += A * B, m16n8k16: element i of a register in its half i. */
static inline void mma_halves(const lanes *in, int bf16, lane_sums *c)
{
    double a[16][16], b[16][8];
    for (unsigned l = 0; l < LANES; l++) {
        const unsigned g = l / 4, t = l % 4;
        for (unsigned i = 0; i < 2; i++) {
            a[g][2 * t + i] = half_of(in->a[l][0], i, bf16);
            a[g + 8][2 * t + i] = half_of(in->a[l][1], i, bf16);
            a[g][2 * t + 8 + i] = half_of(in->a[l][2], i, bf16);
            a[g + 8][2 * t + 8 + i] = half_of(in->a[l][3], i, bf16);
            b[2 * t + i][g] = half_of(in->b[l][0], i, bf16);
            b[2 * t + 8 + i][g] = half_of(in->b[l][1], i, bf16);
        }
    }
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned k = 0; k < 16; k++)
                c->f[l][i] += (float)(a[l / 4 + i / 2 * 8][k] * b[k][l % 4 * 2 + i % 2]);
        }
    }
}

/* s += A * B, m16n8k32: element i of a register in its byte i. */
static inline void mma_bytes(const lanes *in, lane_sums *c)
{
    int a[16][32], b[32][8];
    for (unsigned l = 0; l < LANES; l++) {
        const unsigned g = l / 4, t = l % 4;
        for (unsigned i = 0; i < 4; i++) {
            a[g][4 * t + i] = (int8_t)(in->a[l][0] >> 8 * i);
            a[g + 8][4 * t + i] = (int8_t)(in->a[l][1] >> 8 * i);
            a[g][16 + 4 * t + i] = (int8_t)(in->a[l][2] >> 8 * i);
            a[g + 8][16 + 4 * t + i] = (int8_t)(in->a[l][3] >> 8 * i);
            b[4 * t + i][g] = (int8_t)(in->b[l][0] >> 8 * i);
            b[16 + 4 * t + i][g] = (int8_t)(in->b[l][1] >> 8 * i);
        }
    }
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned k = 0; k < 32; k++)
                c->s[l][i] += a[l / 4 + i / 2 * 8][k] * b[k][l % 4 * 2 + i % 2];
        }
    }
}

static inline uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* One tile of weights in one piece, as a warp sees it. */
typedef struct tile_view {
    const pwl_qgemm_weights *weights;
    const uint8_t *codes, *scales;
    size_t row; /* the first */
} tile_view;

static inline tile_view view_of(const pwl_qgemm_weights *weights, size_t row, size_t column)
{
    const uint8_t *const piece =
        (const uint8_t *)weights->memory + pwl_qgemm_piece_at(weights->format, weights->k, row, column);
    const size_t tile = row % PWL_QGEMM_ROWS / PWL_QGEMM_TILE_ROWS, bytes = pwl_qgemm_tile_bytes(weights->format);
    const tile_view view = {weights, piece + tile * bytes,
                            piece + PWL_QGEMM_TILES * bytes + tile * 32 * pwl_qgemm_scale_bytes(weights->format), row};
    return view;
}

/* The words of a lane's four steps: of 16 bytes that lie together, or of twice 16. */
static inline void load_codes(const tile_view *view, unsigned lane, unsigned step, uint32_t words[2])
{
    if (pwl_qgemm_bits(view->weights->format) == 4) {
        words[0] = word_at(view->codes + lane * 16 + step * 4);
        words[1] = 0;
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        words[i] = word_at(view->codes + step / 2 * 512 + lane * 16 + step % 2 * 8 + i * 4);
}

/* Two scales, of rows g and g + 8, for 32 columns: d, or in MXFP4 what the fragments take. */
static inline uint32_t load_scales(const tile_view *view, unsigned lane, unsigned block, int bf16)
{
    const unsigned at = lane / 4 * 4 + block * 2;
    uint32_t scales = 0;
    if (view->weights->format != PWL_QGEMM_MXFP4)
        return word_at(view->scales + 2 * at);
    for (unsigned i = 0; i < 2; i++) {
        const int e = pwl_qgemm_row_exponent(view->weights, view->row + lane / 4 + 8 * i);
        scales |= (uint32_t)pwl_fragment_scale(PWL_QGEMM_MXFP4, bf16, view->scales[at + i], e) << 16 * i;
    }
    return scales;
}

/* 2^-e of rows g and g + 8 in fp16. */
static inline uint32_t load_units(const tile_view *view, unsigned lane)
{
    const size_t row = view->row + lane / 4;
    const int e = pwl_qgemm_row_exponent(view->weights, row), e8 = pwl_qgemm_row_exponent(view->weights, row + 8);
    return (uint32_t)(15 - e) << 10 | (uint32_t)(15 - e8) << 26;
}

/* a0 to a3 of a lane, in halves. bf16 has Q4_0's and Q8_0's range without e. */
static inline pwl_fragment load_halves(const tile_view *view, unsigned lane, unsigned step, int bf16)
{
    uint32_t words[2];
    load_codes(view, lane, step, words);
    return pwl_fragment_halves(view->weights->format, bf16, view->weights->row_data, words[0], words[1],
                               load_scales(view, lane, step / 2, bf16), load_units(view, lane));
}

/* b0 and b1 of a lane: X as it is, in halves; 0 outside of it. */
static inline void load_input_halves(const pwl_qgemm_product *product, size_t token, size_t column, unsigned lane,
                                     uint32_t b[2])
{
    const size_t row = token + lane / 4;
    for (unsigned i = 0; i < 4; i++) {
        const size_t c = column + lane % 4 * 2 + i / 2 * 8 + i % 2;
        uint16_t half = 0;
        if (i % 2 == 0)
            b[i / 2] = 0;
        if (row < product->m && c < product->weights->k)
            half = ((const uint16_t *)product->x.data)[row * product->x.stride + c];
        b[i / 2] |= (uint32_t)half << i % 2 * 16;
    }
}

/* A piece's four steps into f. */
static inline void add_halves(const pwl_qgemm_product *product, const tile_view *view, size_t token, size_t column,
                              lane_sums *c)
{
    const int bf16 = product->x.type == PWL_QGEMM_BF16;
    for (unsigned step = 0; step < 4; step++) {
        lanes in;
        for (unsigned l = 0; l < LANES; l++) {
            const pwl_fragment a = load_halves(view, l, step, bf16);
            memcpy(in.a[l], a.r, sizeof a.r);
            load_input_halves(product, token, column + step * 16, l, in.b[l]);
        }
        mma_halves(&in, bf16, c);
    }
}

/* A piece's two blocks: into s, or each by its scales into f. X is packed. */
static inline void add_bytes(const pwl_qgemm_product *product, const uint8_t *x, const tile_view *view, size_t token,
                             size_t column, lane_sums *c)
{
    const size_t m = product->m, k = product->weights->k;
    for (unsigned block = 0; block < 2; block++) {
        lanes in;
        lane_sums block_sum = {{{0}}, {{0}}};
        lane_sums *const sum = product->scheme == PWL_QGEMM_INT8 ? c : &block_sum;
        for (unsigned l = 0; l < LANES; l++) {
            const uint8_t *const codes = x + pwl_qgemm_input_at(m, token + l / 4, column) + l % 4 * 16 + block * 8;
            for (unsigned half = 0; half < 2; half++) {
                uint32_t words[2];
                load_codes(view, l, block * 2 + half, words);
                const pwl_bytes8 a = pwl_fragment_bytes(view->weights->format, 0, words[0], words[1]);
                memcpy(&in.a[l][half * 2], a.w, sizeof a.w);
                in.b[l][half] = word_at(codes + half * 4);
            }
        }
        mma_bytes(&in, sum);
        for (unsigned l = 0; l < LANES && product->scheme != PWL_QGEMM_INT8; l++) {
            const uint32_t scales = load_scales(view, l, block, 0);
            for (unsigned i = 0; i < 4; i++) {
                const size_t row = token + l % 4 * 2 + i % 2;
                const uint32_t input = word_at(x + pwl_qgemm_input_scale_at(m, k, row, column) + block * 4);
                const float d = pwl_f32_from_f16((uint16_t)(scales >> i / 2 * 16)) * pwl_f32_from_f16((uint16_t)input);
                c->f[l][i] = fmaf(d, (float)sum->s[l][i], c->f[l][i]);
            }
        }
    }
}

static inline void store_tile(const pwl_qgemm_product *product, size_t row, size_t token, const lane_sums *c)
{
    const pwl_qgemm_weights *const weights = product->weights;
    const int bf16 = product->x.type == PWL_QGEMM_BF16;
    for (unsigned l = 0; l < LANES; l++) {
        for (unsigned i = 0; i < 4; i++) {
            const size_t n =
                row + pwl_qgemm_row_of_lane(weights->format, l / 4) + i / 2 * pwl_qgemm_rows_apart(weights->format);
            const size_t m = token + l % 4 * 2 + i % 2, at = m * product->y.stride + n;
            if (n >= weights->n || m >= product->m)
                continue;
            /* e of the weights as they were used. */
            const int halves = !pwl_qgemm_is_a8(product) && !(bf16 && weights->format != PWL_QGEMM_MXFP4);
            const int e = halves ? pwl_qgemm_row_exponent(weights, n) : 0;
            if (product->scheme == PWL_QGEMM_INT8) {
                const int64_t v = (int64_t)c->s[l][i] - (int64_t)product->x.zero_point * pwl_qgemm_row_sum(weights, n) +
                                  (product->bias ? ((const int32_t *)product->bias)[n] : 0);
                if (product->y.type == PWL_QGEMM_S32)
                    ((int32_t *)product->y.data)[at] = pwl_qgemm_store_s32(v);
                else
                    ((int8_t *)product->y.data)[at] =
                        pwl_qgemm_store_s8(v, (int64_t)e + product->x.n_x[m] - product->y.n_y, product->y.zero_point);
                continue;
            }
            const float bias = product->bias ? ((const float *)product->bias)[n] : 0;
            pwl_qgemm_store(product->y.type, product->y.data, at, pwl_qgemm_finish(c->f[l][i], e, bias));
        }
    }
}

/* Pieces of the tile at a row of the weights and a token, into c. X is in halves, or, packed, in bytes. */
static inline void add_part(const pwl_qgemm_product *product, const uint8_t *x, size_t row, size_t token,
                            const pwl_qgemm_part *part, lane_sums *c)
{
    for (size_t i = part->piece; i < part->piece + part->count; i++) {
        const size_t column = i * PWL_QGEMM_COLUMNS;
        const tile_view view = view_of(product->weights, row, column);
        if (x)
            add_bytes(product, x, &view, token, column, c);
        else
            add_halves(product, &view, token, column, c);
    }
}

/*
 * Y as a kernel on tiles of 16 rows and 8 tokens makes it of shares (1 to all pieces), the last one first: it leaves
 * sums of tiles that others began, and adds to its own what they left.
 */
static inline void multiply_by_lanes(const pwl_qgemm_product *product, size_t shares)
{
    const size_t m = product->m, n = product->weights->n, k = product->weights->k, depth = pwl_qgemm_depth(k);
    const size_t across = (n - 1) / PWL_QGEMM_TILE_ROWS + 1, down = (m - 1) / PWL_QGEMM_TOKENS + 1;
    const pwl_qgemm_schedule schedule = {depth, across * down * depth, shares};
    lane_sums *const left = need(shares * sizeof *left);
    uint8_t *x = NULL;
    if (pwl_qgemm_is_a8(product) || product->scheme == PWL_QGEMM_INT8) {
        x = need(pwl_qgemm_input_bytes(m, k));
        pwl_qgemm_pack_input(product, x);
    }
    for (size_t share = shares; share-- > 0;) {
        const size_t end = pwl_qgemm_share_at(&schedule, share + 1);
        for (size_t at = pwl_qgemm_share_at(&schedule, share); at < end;) {
            const pwl_qgemm_part part = pwl_qgemm_part_from(&schedule, at, end);
            const size_t row = part.tile % across * PWL_QGEMM_TILE_ROWS, token = part.tile / across * PWL_QGEMM_TOKENS;
            lane_sums c = {{{0}}, {{0}}};
            add_part(product, x, row, token, &part, &c);
            at += part.count;
            if (part.piece) {
                left[share] = c;
                continue;
            }
            for (size_t other = share + 1; other <= pwl_qgemm_last_share(&schedule, part.tile); other++) {
                for (unsigned i = 0; i < LANES * 4; i++) {
                    c.f[i / 4][i % 4] += left[other].f[i / 4][i % 4];
                    c.s[i / 4][i % 4] += left[other].s[i / 4][i % 4];
                }
            }
            store_tile(product, row, token, &c);
        }
    }
    free(left);
    free(x);
}

#endif
