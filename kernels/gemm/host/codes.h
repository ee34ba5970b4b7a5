/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes out of their groups (panel.h), for vectors of any instructions. The file that includes this has before
 *
 *   codes                 type of vectors of LANES * 4 bytes
 *   load(p)               of them
 *   right(v, n)           every byte n bits to the right; what comes in above is anything
 *   only(v, mask)         bits of each byte
 *   join(a, b)            both bits
 *   word_right(v, n), word_only(v)    of words of 32 bits; bits 0 to 7 of each, as integers
 */
INLINE codes group_at(const uint8_t *tile, size_t groups, size_t row, size_t g)
{
    return load(tile + pwl_qgemm_panel_row(groups, row) + g * PWL_QGEMM_GROUP);
}

/* c[j] = codes of columns 16 * half + 4 j to + 3, of a vector of rows. */
INLINE void sixes(const uint8_t *tile, size_t row, size_t half, codes c[4])
{
    const codes a = group_at(tile, 6, row, half * 3), b = group_at(tile, 6, row, half * 3 + 1);
    const codes d = group_at(tile, 6, row, half * 3 + 2);
    c[0] = only(a, 0x3f);
    c[1] = only(b, 0x3f);
    c[2] = only(d, 0x3f);
    c[3] = join(join(only(right(a, 6), 0x03), only(right(b, 4), 0x0c)), only(right(d, 2), 0x30));
}

INLINE void fives(const uint8_t *tile, size_t row, size_t half, codes c[4])
{
    const codes one = group_at(tile, 5, row, 1), three = group_at(tile, 5, row, 3);
    if (half == 0) {
        c[0] = only(group_at(tile, 5, row, 0), 0x1f);
        c[1] = only(one, 0x1f);
        c[2] = only(group_at(tile, 5, row, 2), 0x1f);
        c[3] = only(three, 0x1f);
        return;
    }
    const codes four = group_at(tile, 5, row, 4);
    c[0] = only(four, 0x1f);
    c[1] = join(only(right(group_at(tile, 5, row, 0), 5), 0x07), only(right(one, 3), 0x18));
    c[2] = join(only(right(group_at(tile, 5, row, 2), 5), 0x07), only(right(three, 3), 0x18));
    c[3] = join(join(only(right(four, 5), 0x07), only(right(one, 2), 0x08)), only(right(three, 1), 0x10));
}

/* The four bytes of each row, as integers. */
INLINE void words(codes c, integers to[4])
{
    to[0] = word_only(c);
    to[1] = word_only(word_right(c, 8));
    to[2] = word_only(word_right(c, 16));
    to[3] = word_only(word_right(c, 24));
}
