/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RISC-V's V, vectors of 128 bits or more: a tile is turned over, so that a column's 32 codes are side by side, once
 * for all rows of X; then a column of all rows of the panel is multiplied by a number of X at a time. Products are
 * added in 16 bits as long as they fit:
 *
 *   4 and 5 bits   16 columns, 16 * 15 * 128, and 8, 8 * 31 * 128; in E2M1 16 * 12 * 128
 *   6 bits         4 columns, 4 * 32 * 128
 *   8 bits         one, 128 * 128
 */
#include <riscv_vector.h>

#include "gemm/host/scales.h"
#include "gemm/host/ways.h"

/* Before version 0.11 intrinsics had no prefix. */
#if defined(__riscv_v_intrinsic) && __riscv_v_intrinsic >= 11000
#define RVV(name) __riscv_##name
#else
#define RVV(name) name
#endif

enum { ROWS = PWL_QGEMM_PANEL, HALF = 16 };

/* w[c]: column c of a tile, what S is of. */
typedef struct columns {
    int8_t w[PWL_BLOCK][ROWS];
    pwl_qgemm_scales scales;
} columns;

/* Codes of column j of a group, of 16 rows. */
static vuint8m1_t column_of(const uint8_t *group, size_t j)
{
    const vuint32m4_t words = RVV(vle32_v_u32m4)((const uint32_t *)(const void *)group, HALF);
    return RVV(vnsrl_wx_u8m1)(RVV(vnsrl_wx_u16m2)(words, 8 * j, HALF), 0, HALF);
}

static void put_column(int8_t *to, vuint8m1_t codes, int less)
{
    RVV(vse8_v_i8m1)(to, RVV(vsub_vx_i8m1)(RVV(vreinterpret_v_u8m1_i8m1)(codes), (int8_t)less, HALF), HALF);
}

/* Bits `from` and up, so many, moved to bits `to` and up. */
static vuint8m1_t bits_of(vuint8m1_t codes, unsigned from, unsigned bits, unsigned to)
{
    const vuint8m1_t low = RVV(vand_vx_u8m1)(RVV(vsrl_vx_u8m1)(codes, from, HALF), (uint8_t)((1u << bits) - 1), HALF);
    return RVV(vsll_vx_u8m1)(low, to, HALF);
}

static vuint8m1_t join(vuint8m1_t a, vuint8m1_t b)
{
    return RVV(vor_vv_u8m1)(a, b, HALF);
}

/* Codes of 4 bits: in columns 4 g + j and 16 further on. */
static void turn_nibbles(pwl_qgemm_kind kind, const uint8_t *group, size_t first, int8_t (*to)[ROWS])
{
    static const uint8_t shifted[16] = {PWL_QGEMM_E2M1_SHIFTED};
    const vuint8m1_t values = RVV(vle8_v_u8m1)(shifted, HALF);
    const int zero = kind == PWL_QGEMM_E2M1 ? PWL_QGEMM_E2M1_ZERO : kind == PWL_QGEMM_NIBBLES ? 8 : 0;
    for (size_t j = 0; j < 4; j++) {
        const vuint8m1_t codes = column_of(group, j);
        vuint8m1_t low = bits_of(codes, 0, 4, 0), high = bits_of(codes, 4, 4, 0);
        if (kind == PWL_QGEMM_E2M1) {
            low = RVV(vrgather_vv_u8m1)(values, low, HALF);
            high = RVV(vrgather_vv_u8m1)(values, high, HALF);
        }
        put_column(to[j] + first, low, zero);
        put_column(to[PWL_BLOCK / 2 + j] + first, high, zero);
    }
}

/* panel.h has the drawings: what groups hold above the low bits of their codes is further codes. */
static void turn_fives(const uint8_t *tile, size_t first, int8_t (*w)[ROWS])
{
    const uint8_t *const group = tile + pwl_qgemm_panel_row(5, first);
    for (size_t j = 0; j < 4; j++) {
        const vuint8m1_t a = column_of(group, j), b = column_of(group + PWL_QGEMM_GROUP, j);
        const vuint8m1_t c = column_of(group + 2 * PWL_QGEMM_GROUP, j), d = column_of(group + 3 * PWL_QGEMM_GROUP, j);
        const vuint8m1_t e = column_of(group + 4 * PWL_QGEMM_GROUP, j);
        put_column(w[j] + first, bits_of(a, 0, 5, 0), 0);
        put_column(w[4 + j] + first, bits_of(b, 0, 5, 0), 0);
        put_column(w[8 + j] + first, bits_of(c, 0, 5, 0), 0);
        put_column(w[12 + j] + first, bits_of(d, 0, 5, 0), 0);
        put_column(w[16 + j] + first, bits_of(e, 0, 5, 0), 0);
        put_column(w[20 + j] + first, join(bits_of(a, 5, 3, 0), bits_of(b, 6, 2, 3)), 0);
        put_column(w[24 + j] + first, join(bits_of(c, 5, 3, 0), bits_of(d, 6, 2, 3)), 0);
        put_column(w[28 + j] + first, join(bits_of(e, 5, 3, 0), join(bits_of(b, 5, 1, 3), bits_of(d, 5, 1, 4))), 0);
    }
}

static void turn_sixes(const uint8_t *tile, size_t first, size_t half, int8_t (*w)[ROWS])
{
    const uint8_t *const group = tile + pwl_qgemm_panel_row(6, first) + half * 3 * PWL_QGEMM_GROUP;
    for (size_t j = 0; j < 4; j++) {
        const vuint8m1_t a = column_of(group, j), b = column_of(group + PWL_QGEMM_GROUP, j);
        const vuint8m1_t c = column_of(group + 2 * PWL_QGEMM_GROUP, j);
        put_column(w[j] + first, bits_of(a, 0, 6, 0), 32);
        put_column(w[4 + j] + first, bits_of(b, 0, 6, 0), 32);
        put_column(w[8 + j] + first, bits_of(c, 0, 6, 0), 32);
        put_column(w[12 + j] + first, join(bits_of(a, 6, 2, 0), join(bits_of(b, 6, 2, 2), bits_of(c, 6, 2, 4))), 32);
    }
}

static void turn(pwl_qgemm_kind kind, const uint8_t *tile, columns *to)
{
    for (size_t first = 0; first < ROWS; first += HALF) {
        if (kind == PWL_QGEMM_SUPER5) {
            turn_fives(tile, first, to->w);
        } else if (kind == PWL_QGEMM_SUPER6) {
            turn_sixes(tile, first, 0, to->w);
            turn_sixes(tile, first, 1, to->w + PWL_SUB_BLOCK);
        } else if (kind == PWL_QGEMM_BYTES || kind == PWL_QGEMM_INTEGERS) {
            for (size_t c = 0; c < PWL_BLOCK; c++)
                put_column(to->w[c] + first,
                           column_of(tile + pwl_qgemm_panel_row(8, first) + c / 4 * PWL_QGEMM_GROUP, c % 4), 128);
        } else {
            for (size_t g = 0; g < 4; g++)
                turn_nibbles(kind, tile + pwl_qgemm_panel_row(4, first) + g * PWL_QGEMM_GROUP, first, to->w + 4 * g);
        }
    }
}

/* s + the sums of columns [begin, end), of which so many have 16 bits. */
static vint32m8_t add_columns(vint32m8_t s, const columns *w, const int8_t *q, size_t begin, size_t end,
                              size_t together)
{
    for (size_t first = begin; first < end; first += together) {
        vint16m4_t part = RVV(vwmul_vx_i16m4)(RVV(vle8_v_i8m2)(w->w[first], ROWS), q[first], ROWS);
        for (size_t c = first + 1; c < first + together; c++)
            part = RVV(vwmacc_vx_i16m4)(part, q[c], RVV(vle8_v_i8m2)(w->w[c], ROWS), ROWS);
        s = RVV(vwadd_wv_i32m8)(s, part, ROWS);
    }
    return s;
}

/* y += (S D - less) d of columns [begin, end). */
static void add_real(const columns *w, const pwl_qgemm_x *x, size_t begin, size_t end, size_t together, float less,
                     const float *d, float *y)
{
    const vint32m8_t s = add_columns(RVV(vmv_v_x_i32m8)(0, ROWS), w, x->q, begin, end, together);
    vfloat32m8_t p = RVV(vfmul_vf_f32m8)(RVV(vfcvt_f_x_v_f32m8)(s, ROWS), x->d, ROWS);
    p = RVV(vfsub_vf_f32m8)(p, less, ROWS); /* p - 0 is p */
    p = RVV(vfmul_vv_f32m8)(p, RVV(vle32_v_f32m8)(d, ROWS), ROWS);
    RVV(vse32_v_f32m8)(y, RVV(vfadd_vv_f32m8)(RVV(vle32_v_f32m8)(y, ROWS), p, ROWS), ROWS);
}

static void add_block(pwl_qgemm_kind kind, const columns *w, const pwl_qgemm_x *x, float *y)
{
    const size_t together = kind == PWL_QGEMM_BYTES    ? 1
                            : kind == PWL_QGEMM_SUPER6 ? 4
                            : kind == PWL_QGEMM_SUPER5 ? 8
                                                       : 16;
    const float *const d = w->scales.d, *const second = w->scales.second;
    if (kind == PWL_QGEMM_SUPER6) {
        add_real(w, x, 0, PWL_SUB_BLOCK, together, 0, d, y);
        add_real(w, x, PWL_SUB_BLOCK, PWL_BLOCK, together, 0, second, y);
        return;
    }
    add_real(w, x, 0, PWL_BLOCK, together, kind == PWL_QGEMM_NIBBLES_STORED ? x->of.less : 0, d, y);
    if (kind == PWL_QGEMM_SUPER4 || kind == PWL_QGEMM_SUPER5) {
        const vfloat32m8_t less = RVV(vfmul_vf_f32m8)(RVV(vle32_v_f32m8)(second, ROWS), x->of.less, ROWS);
        RVV(vse32_v_f32m8)(y, RVV(vfsub_vv_f32m8)(RVV(vle32_v_f32m8)(y, ROWS), less, ROWS), ROWS);
    }
}

static void add_integers(const columns *w, const int8_t *q, int32_t *s)
{
    const vint32m8_t sums = RVV(vle32_v_i32m8)(s, ROWS);
    RVV(vse32_v_i32m8)(s, add_columns(sums, w, q, 0, PWL_BLOCK, 1), ROWS);
}

/* Rounding the weights of A16 is left to compilers. */
void pwl_qgemm_rvv(const pwl_qgemm_pass *pass)
{
    const pwl_qgemm_format format = pwl_qgemm_format_of(pass->kind);
    const uint8_t *tile = pass->tiles, *head = tile;
    if (pwl_qgemm_is_halves(pass->kind)) {
        pwl_qgemm_plain(pass);
        return;
    }
    memset(pass->sums, 0, pass->rows * ROWS * sizeof(float));
    for (size_t b = 0; b < pass->blocks; b++, tile += pwl_qgemm_panel_tile(format)) {
        columns w;
        if (pwl_qgemm_is_super(format) && b % PWL_QGEMM_SUPER_TILES == 0) {
            head = tile;
            tile += pwl_qgemm_panel_head(format);
        }
        turn(pass->kind, tile, &w);
        pwl_qgemm_read_scales(pass->kind, head, tile, &w.scales);
        for (size_t i = 0; i < pass->rows; i++) {
            if (pass->kind == PWL_QGEMM_INTEGERS)
                add_integers(&w, (const int8_t *)pass->x + i * pass->x_stride + b * PWL_BLOCK,
                             (int32_t *)pass->sums + i * ROWS);
            else
                add_block(pass->kind, &w, (const pwl_qgemm_x *)pass->x + i * pass->blocks + b,
                          (float *)pass->sums + i * ROWS);
        }
    }
}

PWL_QGEMM_DEFINE_ROUND(rvv)
