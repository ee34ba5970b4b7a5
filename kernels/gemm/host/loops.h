/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass by vectors of any instructions. The file that includes this has before
 *
 *   integers, floats      types of vectors, of LANES rows of weights
 *   LANES, ALL            ALL vectors to a panel
 *   MOST, VECTORS         up to MOST rows of X (4 or 6) by VECTORS vectors at a time, whose sums are in registers
 *   MOST_INTEGERS         rows of X in INT8, as many or 12
 *   add_dots(kind, tile, row, vectors, q, stride, rows, s)    s[i][v] += the sums of 32 columns: of X, q and what is i
 *                         strides of bytes behind it; of the weights, vector v of those that begin at row `row`
 *   add_half_dots(kind, tile, half, row, vectors, q, stride, rows, s)    of SUPER5 and SUPER6, of 16 columns
 *   scales(kind, tile, row)    of a vector of rows, in a tile
 *   value_codes(kind, both, high)    bytes of a group of NIBBLES, E2M1 (with `zero` added) or BYTES
 *   load_floats(p), exponent(p), larger(a, b), add_product(y, a, b)    the power of two in p; y + a b, rounded or not
 *   from_halves(p), from_codes(p), from_signed(p)    LANES numbers of fp16, uint8_t or int8_t
 *   is_shifted(kind)      whether codes are shifted by `zero` (pass.h)
 *   START_LAST, add(a, b) whether `start` is added to sums when they are complete, as there are few registers
 *   SUMS(rows)            rows of s that add_dots() and add_half_dots() write, at least those of X
 *   settle(s, vectors, rows)    s[i][v] = sums of row i of X by a vector's rows, of what these wrote
 *   FEWEST                rows of X in a pass, 1 or 2
 *   integer(i), real(f), zeros(), nothing()    in each lane
 *   to_real(s), times(a, b), plus(a, b), minus(a, b), store(p, y), store_integers(p, s)
 */
enum { AHEAD = 12 << 10 };

/* What memory has to give, so many bytes ahead: with one row of X the processor waits for nothing else. The first rows
 * of a panel fetch for all. */
INLINE void fetch(uintptr_t tile, size_t bytes)
{
    UNROLL for (size_t at = 0; at < bytes; at += PWL_QGEMM_LINE) __builtin_prefetch((const void *)(tile + at));
}

/* Sums that begin with `start`, or end with it. */
INLINE void begin_sums(const int32_t start[MOST], size_t vectors, size_t rows, integers s[MOST][ALL])
{
    UNROLL for (size_t i = 0; i < SUMS(rows); i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] = START_LAST ? nothing() : integer(start[i]);
    }
}

INLINE void end_sums(const int32_t start[MOST], size_t vectors, size_t rows, integers s[MOST][ALL])
{
    settle(s, vectors, rows);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] = START_LAST ? add(s[i][v], integer(start[i])) : s[i][v];
    }
}

/* y of `rows` rows of X, of a block. */
INLINE void add_block(pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors, const pwl_qgemm_x *x,
                      size_t blocks, size_t rows, floats y[MOST][ALL])
{
    const int stored = kind == PWL_QGEMM_NIBBLES_STORED, starts = is_shifted(kind) && !stored;
    integers s[MOST][ALL];
    int32_t start[MOST];
    UNROLL for (size_t i = 0; i < rows; i++) start[i] = starts ? x[i * blocks].of.start : 0;
    begin_sums(start, vectors, rows, s);
    add_dots(kind, tile, row, vectors, x->q, blocks * sizeof *x, rows, s);
    end_sums(start, vectors, rows, s);
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        const floats d = scales(kind, tile, row + v * LANES);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            floats p = times(to_real(s[i][v]), real(x[i * blocks].d));
            if (stored)
                p = minus(p, real(x[i * blocks].of.less));
            y[i][v] = plus(y[i][v], times(p, d));
        }
    }
}

/* y += S d_x d_w of sub-blocks; scale points to their bytes of these rows, whose d it counts. */
INLINE void add_sub_blocks(pwl_qgemm_kind kind, const uint8_t *scale, const floats *d, size_t vectors,
                           const pwl_qgemm_x *x, size_t blocks, size_t rows, integers s[MOST][ALL], floats y[MOST][ALL])
{
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        const uint8_t *const at = scale + v * LANES;
        const floats w = times(d[v], kind == PWL_QGEMM_SUPER6 ? from_signed(at) : from_codes(at));
        UNROLL for (size_t i = 0; i < rows; i++) y[i][v] =
            plus(y[i][v], times(times(to_real(s[i][v]), real(x[i * blocks].d)), w));
    }
}

/* A block of Q4_K or Q5_K: its sub-block, less what all its codes have below them. */
INLINE void add_less(const uint8_t *least, const floats *dmin, size_t vectors, const pwl_qgemm_x *x, size_t blocks,
                     size_t rows, floats y[MOST][ALL])
{
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        const floats less = times(dmin[v], from_codes(least + v * LANES));
        UNROLL for (size_t i = 0; i < rows; i++) y[i][v] = minus(y[i][v], times(real(x[i * blocks].of.less), less));
    }
}

/* A block of a super-block, d and dmin from its head. */
INLINE void add_super_block(pwl_qgemm_kind kind, const uint8_t *tile, floats d[2][ALL], size_t row, size_t vectors,
                            const pwl_qgemm_x *x, size_t blocks, size_t rows, floats y[MOST][ALL])
{
    const size_t groups = kind == PWL_QGEMM_SUPER4 ? 4 : kind == PWL_QGEMM_SUPER5 ? 5 : 6;
    const uint8_t *const scale = tile + groups * 2 * PWL_QGEMM_GROUP + row;
    const size_t stride = blocks * sizeof *x;
    const int six = kind == PWL_QGEMM_SUPER6;
    integers s[MOST][ALL];
    int32_t start[MOST];
    UNROLL for (size_t half = 0; half < 2; half++)
    {
        UNROLL for (size_t i = 0; i < rows; i++) start[i] = six ? -32 * x[i * blocks].of.halves[half] : 0;
        if (half == 0 || six)
            begin_sums(start, vectors, rows, s);
        if (kind != PWL_QGEMM_SUPER4)
            add_half_dots(kind, tile, half, row, vectors, x->q + half * PWL_SUB_BLOCK, stride, rows, s);
        else if (half == 0)
            add_dots(PWL_QGEMM_NIBBLES_STORED, tile, row, vectors, x->q, stride, rows, s);
        if (half == 1 || six) {
            end_sums(start, vectors, rows, s);
            add_sub_blocks(kind, six ? scale + half * PWL_QGEMM_PANEL : scale, d[0], vectors, x, blocks, rows, s, y);
        }
    }
    if (!six)
        add_less(scale + PWL_QGEMM_PANEL, d[1], vectors, x, blocks, rows, y);
}

/* As multiply_floats(), of super-blocks. */
INLINE void multiply_super(const pwl_qgemm_pass *pass, pwl_qgemm_kind kind, size_t tile_bytes, size_t rows,
                           size_t vectors, size_t row)
{
    const size_t head = (kind == PWL_QGEMM_SUPER6 ? 1 : 2) * PWL_QGEMM_PANEL * sizeof(uint16_t);
    const uint8_t *tile = pass->tiles;
    const pwl_qgemm_x *x = pass->x;
    floats y[MOST][ALL];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) y[i][v] = zeros();
    }
    for (size_t super = 0; super < pass->blocks; super += PWL_QGEMM_SUPER_TILES) {
        floats d[2][ALL];
        if (row == 0)
            fetch((uintptr_t)tile + AHEAD, head);
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            d[0][v] = from_halves(tile + (row + v * LANES) * sizeof(uint16_t));
            d[1][v] = kind == PWL_QGEMM_SUPER6
                          ? zeros()
                          : from_halves(tile + (PWL_QGEMM_PANEL + row + v * LANES) * sizeof(uint16_t));
        }
        tile += head;
        for (size_t b = 0; b < PWL_QGEMM_SUPER_TILES; b++, tile += tile_bytes, x++) {
            if (row == 0)
                fetch((uintptr_t)tile + AHEAD, tile_bytes);
            add_super_block(kind, tile, d, row, vectors, x, pass->blocks, rows, y);
        }
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            store((float *)pass->sums + i * PWL_QGEMM_PANEL + row + v * LANES, y[i][v]);
    }
}

/* `rows` of X by `vectors` of the panel's from `row` on; both are known where it is compiled. */
INLINE void multiply_floats(const pwl_qgemm_pass *pass, pwl_qgemm_kind kind, size_t tile_bytes, size_t rows,
                            size_t vectors, size_t row)
{
    const uint8_t *tile = pass->tiles;
    const pwl_qgemm_x *x = pass->x;
    floats y[MOST][ALL];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) y[i][v] = zeros();
    }
    for (size_t b = 0; b < pass->blocks; b++, tile += tile_bytes, x++) {
        if (row == 0)
            fetch((uintptr_t)tile + AHEAD, tile_bytes);
        add_block(kind, tile, row, vectors, x, pass->blocks, rows, y);
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            store((float *)pass->sums + i * PWL_QGEMM_PANEL + row + v * LANES, y[i][v]);
    }
}

INLINE void multiply_integers(const pwl_qgemm_pass *pass, pwl_qgemm_kind kind, size_t tile_bytes, size_t rows,
                              size_t vectors, size_t row)
{
    const uint8_t *tile = pass->tiles;
    const int8_t *x = pass->x;
    integers s[MOST_INTEGERS][ALL];
    int32_t start[MOST_INTEGERS];
    UNROLL for (size_t i = 0; i < rows; i++) start[i] = is_shifted(kind) ? pass->start[i] : 0;
    begin_sums(start, vectors, rows, s);
    for (size_t b = 0; b < pass->blocks; b++, tile += tile_bytes, x += PWL_BLOCK) {
        if (row == 0)
            fetch((uintptr_t)tile + AHEAD, tile_bytes);
        add_dots(kind, tile, row, vectors, x, pass->x_stride, rows, s);
    }
    end_sums(start, vectors, rows, s);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            store_integers((int32_t *)pass->sums + i * PWL_QGEMM_PANEL + row + v * LANES, s[i][v]);
    }
}

/* A16: the low or the high codes of a group of columns, whose weights are rounded once for all rows of X. */
INLINE void add_halves(const pwl_qgemm_pass *pass, pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors,
                       size_t g, size_t high, const floats *d, const uint8_t *x, size_t rows, floats y[MOST][ALL])
{
    const floats digits = real(pass->rounding.digits), least = real(pass->rounding.least);
    const floats zero = real(is_bytes(kind) ? 128 : kind == PWL_QGEMM_E2M1 ? PWL_QGEMM_E2M1_ZERO : 8);
    const uint8_t *const at = x + (high * 16 + g * 4) * sizeof(float);
    integers q[ALL][4];
    UNROLL for (size_t v = 0; v < vectors; v++)
        words(value_codes(kind, group_at(tile, is_bytes(kind) ? 8 : 4, row + v * LANES, g), high), q[v]);
    UNROLL for (size_t j = 0; j < 4; j++)
    {
        floats w[ALL];
        UNROLL for (size_t v = 0; v < vectors; v++)
        {
            const floats p = times(minus(to_real(q[v][j]), zero), d[v]);
            const floats unit = larger(times(exponent(p), digits), least);
            w[v] = minus(plus(p, unit), unit);
        }
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            const floats of_x = real(((const float *)(const void *)(at + i * pass->x_stride))[j]);
            UNROLL for (size_t v = 0; v < vectors; v++) y[i][v] = add_product(y[i][v], w[v], of_x);
        }
    }
}

/* As multiply_floats(), of A16. */
INLINE void multiply_halves(const pwl_qgemm_pass *pass, pwl_qgemm_kind kind, size_t tile_bytes, size_t rows,
                            size_t vectors, size_t row)
{
    const uint8_t *tile = pass->tiles, *x = pass->x;
    floats y[MOST][ALL], power[ALL];
    UNROLL for (size_t v = 0; v < vectors; v++)
    {
        power[v] = load_floats(pass->rounding.power + row + v * LANES);
        UNROLL for (size_t i = 0; i < rows; i++) y[i][v] = zeros();
    }
    for (size_t b = 0; b < pass->blocks; b++, tile += tile_bytes, x += PWL_BLOCK * sizeof(float)) {
        floats d[ALL];
        if (row == 0)
            fetch((uintptr_t)tile + AHEAD, tile_bytes);
        UNROLL for (size_t v = 0; v < vectors; v++) d[v] = times(scales(kind, tile, row + v * LANES), power[v]);
        for (size_t g = 0; g < (is_bytes(kind) ? 8u : 4u); g++) {
            add_halves(pass, kind, tile, row, vectors, g, 0, d, x, rows, y);
            if (!is_bytes(kind))
                add_halves(pass, kind, tile, row, vectors, g, 1, d, x, rows, y);
        }
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            store((float *)pass->sums + i * PWL_QGEMM_PANEL + row + v * LANES, y[i][v]);
    }
}

/* All rows of the panel; one row of X by all of them at once, so that memory is read in order. */
INLINE void multiply_panel(const pwl_qgemm_pass *pass, pwl_qgemm_kind kind, size_t tile_bytes, size_t rows)
{
    const size_t two = VECTORS * 2 < ALL ? VECTORS * 2 : ALL;
    const size_t vectors = rows == 1 ? ALL : rows == 2 ? two : VECTORS;
    for (size_t row = 0; row < PWL_QGEMM_PANEL; row += vectors * LANES) {
        if (kind == PWL_QGEMM_INTEGERS)
            multiply_integers(pass, kind, tile_bytes, rows, vectors, row);
        else if (kind == PWL_QGEMM_SUPER4 || kind == PWL_QGEMM_SUPER5 || kind == PWL_QGEMM_SUPER6)
            multiply_super(pass, kind, tile_bytes, rows, vectors, row);
        else if (pwl_qgemm_is_halves(kind))
            multiply_halves(pass, pwl_qgemm_codes_of(kind), tile_bytes, rows, vectors, row);
        else
            multiply_floats(pass, kind, tile_bytes, rows, vectors, row);
    }
}

#define CASE_OF_ROWS(kind, tile, rows)                                                                                 \
    case rows:                                                                                                         \
        multiply_panel(pass, kind, tile, rows);                                                                        \
        return;
#if MOST == 4
#define MORE_ROWS(kind, tile)
#else
#define MORE_ROWS(kind, tile)                                                                                          \
    CASE_OF_ROWS(kind, tile, 5)                                                                                        \
    CASE_OF_ROWS(kind, tile, 6)
#endif
#if MOST_INTEGERS == 12
#define MOST_ROWS(kind, tile)                                                                                          \
    CASE_OF_ROWS(kind, tile, 7)                                                                                        \
    CASE_OF_ROWS(kind, tile, 8)                                                                                        \
    CASE_OF_ROWS(kind, tile, 9)                                                                                        \
    CASE_OF_ROWS(kind, tile, 10)                                                                                       \
    CASE_OF_ROWS(kind, tile, 11)                                                                                       \
    CASE_OF_ROWS(kind, tile, 12)
#else
#define MOST_ROWS(kind, tile)
#endif
#define NO_ROWS(kind, tile)
#if FEWEST == 2
#define ONE_ROW(kind, tile)
#else
#define ONE_ROW(kind, tile) CASE_OF_ROWS(kind, tile, 1)
#endif

/* Every number of rows has its own code, whose sums are in registers. */
#define DEFINE_KIND_OF(name, kind, tile, ROWS_BEYOND)                                                                  \
    static void name(const pwl_qgemm_pass *pass)                                                                       \
    {                                                                                                                  \
        switch (pass->rows) {                                                                                          \
            ONE_ROW(kind, tile)                                                                                        \
            CASE_OF_ROWS(kind, tile, 2)                                                                                \
            CASE_OF_ROWS(kind, tile, 3)                                                                                \
            CASE_OF_ROWS(kind, tile, 4)                                                                                \
            MORE_ROWS(kind, tile)                                                                                      \
            ROWS_BEYOND(kind, tile)                                                                                    \
        }                                                                                                              \
    }
#define DEFINE_KIND(name, kind, tile) DEFINE_KIND_OF(name, kind, tile, NO_ROWS)
DEFINE_KIND(nibbles, PWL_QGEMM_NIBBLES, 576)
DEFINE_KIND(nibbles_stored, PWL_QGEMM_NIBBLES_STORED, 576)
DEFINE_KIND(bytes, PWL_QGEMM_BYTES, 1088)
DEFINE_KIND(e2m1, PWL_QGEMM_E2M1, 576)
DEFINE_KIND(super4, PWL_QGEMM_SUPER4, 576)
DEFINE_KIND(super5, PWL_QGEMM_SUPER5, 704)
DEFINE_KIND(super6, PWL_QGEMM_SUPER6, 832)
DEFINE_KIND(halves4, PWL_QGEMM_HALVES4, 576)
DEFINE_KIND(halves8, PWL_QGEMM_HALVES8, 1088)
DEFINE_KIND(halves_e2m1, PWL_QGEMM_HALVES_E2M1, 576)
DEFINE_KIND_OF(whole_numbers, PWL_QGEMM_INTEGERS, 1024, MOST_ROWS)

INLINE void multiply(const pwl_qgemm_pass *pass)
{
    static void (*const kinds[PWL_QGEMM_KINDS])(const pwl_qgemm_pass *) = {
        [PWL_QGEMM_NIBBLES] = nibbles,
        [PWL_QGEMM_NIBBLES_STORED] = nibbles_stored,
        [PWL_QGEMM_BYTES] = bytes,
        [PWL_QGEMM_E2M1] = e2m1,
        [PWL_QGEMM_SUPER4] = super4,
        [PWL_QGEMM_SUPER5] = super5,
        [PWL_QGEMM_SUPER6] = super6,
        [PWL_QGEMM_HALVES4] = halves4,
        [PWL_QGEMM_HALVES8] = halves8,
        [PWL_QGEMM_HALVES_E2M1] = halves_e2m1,
        [PWL_QGEMM_INTEGERS] = whole_numbers,
    };
    kinds[pass->kind](pass);
}
