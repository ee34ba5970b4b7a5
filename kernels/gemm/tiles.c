/* SPDX-License-Identifier: Apache-2.0 */
/* What a product by wgmma takes, by tile. */
#include "tiles.h"

#include "layout.h"

static const uint32_t tokens[] = {
#define TOKENS(count) count,
    PWL_QGEMM_TILE_TOKENS(TOKENS)
#undef TOKENS
};

double pwl_qgemm_tile_time(size_t m, const pwl_qgemm_weights *weights, const pwl_qgemm_tile *tile)
{
    const double piece = (double)pwl_qgemm_piece_bytes(weights->format) + (double)tile->tokens * PWL_QGEMM_COLUMNS * 2;
    const size_t tiles = ((m - 1) / tile->tokens + 1) * ((weights->n - 1) / PWL_QGEMM_ROWS + 1) * tile->split;
    const size_t waves = (tiles - 1) / tile->blocks + 1;
    const double multiplications = 4.2 * tile->tokens / 1700, supply = piece / 38 / 1700;
    const double of_piece = multiplications > supply ? multiplications : supply;
    const double pieces = (double)pwl_qgemm_depth(weights->k) / tile->split;
    return 3.5 + (double)waves * (pieces * of_piece + 0.004 * tile->tokens) + (tile->split > 1 ? 0.8 : 0);
}

int pwl_qgemm_is_direct(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights)
{
    const pwl_qgemm_output *const y = &product->y;
    return !product->activation && !weights->row_data && (y->type == PWL_QGEMM_F16 || y->type == PWL_QGEMM_BF16) &&
           (uintptr_t)y->data % 16 == 0 && y->stride % 8 == 0 && weights->n % 8 == 0;
}

pwl_qgemm_tile pwl_qgemm_tile_of(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights, size_t blocks)
{
    const int direct = pwl_qgemm_is_direct(product, weights);
    pwl_qgemm_tile best = {0, 0, 0, 0};
    double least = 0;
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        const size_t tiles = ((product->m - 1) / tokens[i] + 1) * ((weights->n - 1) / PWL_QGEMM_ROWS + 1);
        const uint32_t most = tokens[i] <= PWL_QGEMM_SPLIT_TOKENS && tiles <= blocks / 2 ? 2 : 1;
        for (uint32_t split = 1; split <= most && (direct || tokens[i] == PWL_QGEMM_ANY_TOKENS); split++) {
            const pwl_qgemm_tile tile = {tokens[i], split, (uint32_t)blocks, (uint32_t)direct};
            const double time = pwl_qgemm_tile_time(product->m, weights, &tile);
            if (!best.tokens || time < least) {
                best = tile;
                least = time;
            }
        }
    }
    return best;
}
