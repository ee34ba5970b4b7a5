/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a product by wgmma takes, by tile. Thread blocks work on their tiles in waves, one tile each; the last wave
 * takes as long as the others, or half of it where two blocks share its tiles. Around them comes what a launch takes,
 * the first copies and the last stores, and where two blocks share a tile, adding up: together within 10 % of what was
 * measured on an H100, of ROWS4 an H200 (kernels/results/).
 */
#include "tiles.h"

#include "layout.h"

typedef struct tile_speed {
    uint32_t tokens, piece[3]; /* nanoseconds, by format; of bytes ROWS8, ROWS4 */
} tile_speed;

#define SPEED(tokens, ...) {tokens, {__VA_ARGS__}},
static const tile_speed of_halves[] = {PWL_QGEMM_TILE_SIZES(SPEED)}, of_bytes[] = {PWL_QGEMM_BYTE_TILE_SIZES(SPEED)},
                        of_e4m3[] = {PWL_QGEMM_E4M3_TILE_SIZES(SPEED)},
                        of_sparse[] = {PWL_QGEMM_SPARSE_TILE_SIZES(SPEED)};

enum { LAUNCH = 2500, TOKEN = 6, ADDING = 800, ADDING_TOKEN = 9, CROWD = 76, CROWD4 = 60, CROWD_E4M3 = 40 };
enum { TILE = 2000 }; /* of a tile of a group, beside its pieces and tokens */

static int is_of_bytes(const pwl_qgemm_weights *weights)
{
    return pwl_qgemm_is_rows(weights->format);
}

/* Of a tile's nanoseconds, by format. */
static size_t index_of(const pwl_qgemm_weights *weights)
{
    if (pwl_qgemm_is_e4m3(weights->format))
        return weights->format - PWL_QGEMM_ROWS_E4M3;
    if (pwl_qgemm_is_sparse(weights->format))
        return 0;
    return is_of_bytes(weights) ? weights->format - PWL_QGEMM_ROWS8 : weights->format;
}

/* The tiles that are compiled for weights. */
static const tile_speed *speeds_of(const pwl_qgemm_weights *weights, size_t *count)
{
    if (pwl_qgemm_is_e4m3(weights->format)) {
        *count = sizeof of_e4m3 / sizeof *of_e4m3;
        return of_e4m3;
    }
    if (pwl_qgemm_is_sparse(weights->format)) {
        *count = sizeof of_sparse / sizeof *of_sparse;
        return of_sparse;
    }
    *count = is_of_bytes(weights) ? sizeof of_bytes / sizeof *of_bytes : sizeof of_halves / sizeof *of_halves;
    return is_of_bytes(weights) ? of_bytes : of_halves;
}

static size_t tiles_of(size_t m, size_t n, uint32_t tokens)
{
    return ((m - 1) / tokens + 1) * ((n - 1) / PWL_QGEMM_ROWS + 1);
}

/* Microseconds, of a tile of a speed. */
static double time_of(size_t m, const pwl_qgemm_weights *weights, const tile_speed *speed, const pwl_qgemm_tile *tile)
{
    const size_t tiles = tiles_of(m, weights->n, tile->tokens), left = tiles % tile->blocks;
    const double waves = (double)(tiles / tile->blocks) + (left ? 1.0 / tile->split : 0);
    const double pieces = (double)pwl_qgemm_depth(weights->k);
    const double tokens = tile->tokens, adding = tile->split > 1 ? ADDING + ADDING_TOKEN * tokens : 0;
    /* Bytes, which are multiplied in half the time, wait for copies: the less, the fewer blocks copy. */
    const double busy = (double)tiles_of(m, weights->n, tile->tokens) * tile->split / tile->blocks;
    const double crowd = weights->format == PWL_QGEMM_ROWS4   ? CROWD4
                         : is_of_bytes(weights)               ? CROWD
                         : pwl_qgemm_is_e4m3(weights->format) ? CROWD_E4M3
                                                              : 0;
    const double alone = busy < 1 ? crowd * (1 - busy) : 0;
    const double around = LAUNCH + TOKEN * tokens + adding;
    return (waves * pieces * (speed->piece[index_of(weights)] - alone) + around) / 1000;
}

int pwl_qgemm_is_direct(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights)
{
    const pwl_qgemm_output *const y = &product->y;
    const int exponents = weights->row_data && !pwl_qgemm_is_e4m3(weights->format);
    return !product->activation && !exponents && (y->type == PWL_QGEMM_F16 || y->type == PWL_QGEMM_BF16) &&
           (uintptr_t)y->data % 16 == 0 && y->stride % 8 == 0 && weights->n % 8 == 0;
}

pwl_qgemm_tile pwl_qgemm_tile_of(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights, size_t blocks)
{
    const int direct = pwl_qgemm_is_direct(product, weights);
    pwl_qgemm_tile best = {0, 0, 0, 0};
    double least = 0;
    size_t count;
    const tile_speed *const speeds = speeds_of(weights, &count);
    const uint32_t most = product->sums < PWL_QGEMM_SUMS_OF_512 ? UINT32_MAX : PWL_QGEMM_RUN_TOKENS;
    blocks = blocks / 2 * 2;
    for (size_t i = 0; i < count; i++) {
        const uint32_t tokens = speeds[i].tokens;
        const size_t left = tiles_of(product->m, weights->n, tokens) % blocks;
        const int splits = left > 0 && left <= blocks / 2;
        for (uint32_t split = 1; split <= 1u + (uint32_t)splits; split++) {
            const pwl_qgemm_tile tile = {tokens, split, (uint32_t)blocks, (uint32_t)direct};
            const double time = time_of(product->m, weights, &speeds[i], &tile);
            if (tokens <= most && (direct || is_of_bytes(weights) || tokens == PWL_QGEMM_ANY_TOKENS) &&
                (!best.tokens || time < least)) {
                best = tile;
                least = time;
            }
        }
    }
    return best;
}

/* Tiles along M of an expert that has about so many rows: the last tile is half full. */
static double tiles_of_expert(double rows, uint32_t tokens)
{
    const double tiles = rows / tokens + 0.5;
    return tiles < 1 ? 1 : tiles;
}

pwl_qgemm_tile pwl_qgemm_group_tile_of(const pwl_qgemm_product *product, const pwl_qgemm_weights *weights,
                                       size_t experts, size_t blocks)
{
    static const tile_speed halves[] = {PWL_QGEMM_GROUP_TILE_SIZES(SPEED)},
                            bytes[] = {PWL_QGEMM_GROUP_BYTE_TILE_SIZES(SPEED)};
#undef SPEED
    const int direct = pwl_qgemm_is_direct(product, weights), e4m3 = pwl_qgemm_is_e4m3(weights->format);
    const int small = e4m3 || is_of_bytes(weights), exponents = !small && weights->row_data;
    const size_t count = small ? sizeof bytes / sizeof *bytes : sizeof halves / sizeof *halves;
    const size_t across = (weights->n - 1) / PWL_QGEMM_ROWS + 1, active = experts < product->m ? experts : product->m;
    const uint32_t most =
        (direct && product->sums < PWL_QGEMM_SUMS_OF_512) || is_of_bytes(weights) ? UINT32_MAX : PWL_QGEMM_ANY_TOKENS;
    pwl_qgemm_tile best = {PWL_QGEMM_GROUP_ANY_TOKENS, 1, (uint32_t)(blocks / 2 * 2), (uint32_t)direct};
    double least = 0;
    for (size_t i = 0; i < count && !exponents; i++) {
        const uint32_t tokens = (small ? bytes : halves)[i].tokens;
        const double tiles = tiles_of_expert((double)product->m / (double)active, tokens) * (double)(active * across);
        const double pieces = (double)pwl_qgemm_depth(weights->k) * (small ? bytes : halves)[i].piece[0];
        const double waves = tiles / best.blocks, time = (waves > 1 ? waves : 1) * (pieces + TILE + TOKEN * tokens);
        if (tokens <= most && (least == 0 || time < least)) {
            best.tokens = tokens;
            least = time;
        }
    }
    return best;
}

size_t pwl_qgemm_tile_first_rows(size_t n, const pwl_qgemm_tile *tile)
{
    return ((tile->blocks - 1) / ((n - 1) / PWL_QGEMM_ROWS + 1) + 1) * tile->tokens;
}

double pwl_qgemm_tile_time(size_t m, const pwl_qgemm_weights *weights, const pwl_qgemm_tile *tile)
{
    size_t i = 0, count;
    const tile_speed *const speeds = speeds_of(weights, &count);
    while (i + 1 < count && speeds[i].tokens != tile->tokens)
        i++;
    return time_of(m, weights, &speeds[i], tile);
}
