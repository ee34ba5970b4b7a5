/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass by vectors of any instructions. The file that includes this has before
 *
 *   integers, floats      types of vectors, of LANES rows of weights
 *   LANES, ALL            ALL vectors to a panel
 *   MOST, VECTORS         up to MOST rows of X (4 or 6) by VECTORS vectors at a time, whose sums are in registers
 *   add_dots(kind, tile, row, vectors, q, stride, rows, s)    s[i][v] += the sums of 32 columns: of X, q and what is i
 *                         strides of bytes behind it; of the weights, vector v of those that begin at row `row`
 *   scales(kind, tile, row)    of a vector of rows, in a tile
 *   is_shifted(kind)      whether codes are shifted by `zero` (pass.h)
 *   START_LAST, add(a, b) whether `start` is added to sums when they are complete, as there are few registers
 *   integer(i), real(f), zeros(), nothing()    in each lane
 *   to_real(s), times(a, b), plus(a, b), minus(a, b), store(p, y), store_integers(p, s)
 */
enum { AHEAD = 6 };

/* What memory has to give, some tiles ahead: with one row of X the processor waits for nothing else. */
INLINE void fetch(uintptr_t tile, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PWL_QGEMM_LINE)
        __builtin_prefetch((const void *)(tile + at));
}

/* y of `rows` rows of X, of a block. */
INLINE void add_block(pwl_qgemm_kind kind, const uint8_t *tile, size_t row, size_t vectors, const pwl_qgemm_x *x,
                      size_t blocks, size_t rows, floats y[MOST][ALL])
{
    const int stored = kind == PWL_QGEMM_NIBBLES_STORED, starts = is_shifted(kind) && !stored;
    integers s[MOST][ALL];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] =
            starts && !START_LAST ? integer(x[i * blocks].of.start) : nothing();
    }
    add_dots(kind, tile, row, vectors, x->q, blocks * sizeof *x, rows, s);
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] =
            starts && START_LAST ? add(s[i][v], integer(x[i * blocks].of.start)) : s[i][v];
    }
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
        fetch((uintptr_t)tile + tile_bytes * AHEAD, tile_bytes);
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
    integers s[MOST][ALL];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) s[i][v] = is_shifted(kind) ? integer(pass->start[i]) : nothing();
    }
    for (size_t b = 0; b < pass->blocks; b++, tile += tile_bytes, x += PWL_BLOCK) {
        fetch((uintptr_t)tile + tile_bytes * AHEAD, tile_bytes);
        add_dots(kind, tile, row, vectors, x, pass->x_stride, rows, s);
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            store_integers((int32_t *)pass->sums + i * PWL_QGEMM_PANEL + row + v * LANES, s[i][v]);
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
        else
            multiply_floats(pass, kind, tile_bytes, rows, vectors, row);
    }
}

#if MOST == 4
#define MORE_ROWS(kind, tile)                                                                                          \
    case 4:                                                                                                            \
        multiply_panel(pass, kind, tile, 4);                                                                           \
        return;
#elif MOST == 6
#define MORE_ROWS(kind, tile)                                                                                          \
    case 4:                                                                                                            \
        multiply_panel(pass, kind, tile, 4);                                                                           \
        return;                                                                                                        \
    case 5:                                                                                                            \
        multiply_panel(pass, kind, tile, 5);                                                                           \
        return;                                                                                                        \
    case 6:                                                                                                            \
        multiply_panel(pass, kind, tile, 6);                                                                           \
        return;
#else
#define MORE_ROWS(kind, tile)
#endif

/* Every number of rows has its own code, whose sums are in registers. */
#define DEFINE_KIND(name, kind, tile)                                                                                  \
    static void name(const pwl_qgemm_pass *pass)                                                                       \
    {                                                                                                                  \
        switch (pass->rows) {                                                                                          \
        case 1:                                                                                                        \
            multiply_panel(pass, kind, tile, 1);                                                                       \
            return;                                                                                                    \
        case 2:                                                                                                        \
            multiply_panel(pass, kind, tile, 2);                                                                       \
            return;                                                                                                    \
        case 3:                                                                                                        \
            multiply_panel(pass, kind, tile, 3);                                                                       \
            return;                                                                                                    \
            MORE_ROWS(kind, tile)                                                                                      \
        }                                                                                                              \
    }
DEFINE_KIND(nibbles, PWL_QGEMM_NIBBLES, 576)
DEFINE_KIND(nibbles_stored, PWL_QGEMM_NIBBLES_STORED, 576)
DEFINE_KIND(bytes, PWL_QGEMM_BYTES, 1088)
DEFINE_KIND(e2m1, PWL_QGEMM_E2M1, 576)
DEFINE_KIND(whole_numbers, PWL_QGEMM_INTEGERS, 1024)

INLINE void multiply(const pwl_qgemm_pass *pass)
{
    static void (*const kinds[PWL_QGEMM_KINDS])(const pwl_qgemm_pass *) = {
        [PWL_QGEMM_NIBBLES] = nibbles, [PWL_QGEMM_NIBBLES_STORED] = nibbles_stored, [PWL_QGEMM_BYTES] = bytes,
        [PWL_QGEMM_E2M1] = e2m1,       [PWL_QGEMM_INTEGERS] = whole_numbers,
    };
    kinds[pass->kind](pass);
}
