/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a group of threads computes of a row (rows/softmax.h, rows/norm.h), here one thread after the other, against
 * pwl/rows.h: every pair of types, as many threads and packs as kernels have, and rows that end anywhere in them.
 */
#include <stdlib.h>
#include <string.h>

#include "../../support/row_shapes.h"
#include "../need.h"
#include "../tap.h"
#include "rows/norm.h"
#include "rows/prepare.h"
#include "rows/softmax.h"

enum { MOST = 4096, MOST_PACKS = 8, MOST_THREADS = 64, WORDS = 8 };

static const pwl_type types[] = {PWL_S8, PWL_U8, PWL_S16, PWL_U16};
static const uint32_t widths[] = {1, 2, 8, 64}; /* threads of a group */

/* What each thread of a group has. */
static struct {
    pwl_pack x[MOST_PACKS];
    uint32_t kept[MOST_PACKS * 16];
    int absent;
} threads[MOST_THREADS];

static uint32_t low[256 * PWL_EXP_COPIES];
static uint64_t high[256 * PWL_HIGH_COPIES];

static int bytes_of(pwl_type type)
{
    return type_bits(type) / 8;
}

static uint32_t flip_of(pwl_type type, int if_signed)
{
    const uint32_t flip = type_bits(type) == 8 ? 0x80808080u : 0x80008000u;
    return (int)(type & 1) == if_signed ? 0 : flip;
}

/* Thread t takes packs t, t + width ...; codes from `reach` on become 0. */
static void load(const void *x, pwl_type type, size_t length, size_t reach, uint32_t flip, uint32_t width, int packs)
{
    const int places = 16 / bytes_of(type);
    for (uint32_t t = 0; t < width; t++) {
        threads[t].absent = packs * places;
        for (int k = 0; k < packs; k++) {
            const size_t at = ((size_t)k * width + t) * (size_t)places;
            pwl_pack *const pack = &threads[t].x[k];
            const int has = at >= reach ? 0 : reach - at < (size_t)places ? (int)(reach - at) : places;
            memset(pack, 0, sizeof *pack);
            if (at < length)
                memcpy(pack, (const char *)x + at * (size_t)bytes_of(type), sizeof *pack);
            for (int w = 0; w < PWL_PACK_WORDS; w++)
                pack->word[w] ^= flip;
            pwl_pack_cut(pack, bytes_of(type), has);
            threads[t].absent -= has;
        }
    }
}

static void fill_copies(const pwl_softmax *softmax)
{
    const int is_wide = softmax->exp_high != NULL, copies = is_wide ? PWL_LOW_COPIES : PWL_EXP_COPIES;
    for (int k = 0; k < 256; k++) {
        for (int c = 0; c < copies; c++)
            low[k * copies + c] = softmax->exp[k];
        for (int c = 0; is_wide && c < PWL_HIGH_COPIES; c++)
            high[k * PWL_HIGH_COPIES + c] = pwl_exp_high_of(softmax->exp_high[k], softmax->exp_shift[k]);
    }
}

static pwl_exp exp_of(uint32_t thread, int copies)
{
    const pwl_exp exp = {(uintptr_t)(low + thread % (uint32_t)copies), (uintptr_t)(high + thread % PWL_HIGH_COPIES),
                         4 * (uint32_t)copies, 8 * PWL_HIGH_COPIES};
    return exp;
}

/* One row, as softmax_packs() of rows/softmax.cu has it. */
static void run_softmax(const pwl_cuda_softmax *prepared, const void *x, void *y, size_t length, size_t reach,
                        uint32_t width, int packs, int keeps)
{
    const pwl_softmax *const softmax = &prepared->softmax;
    const pwl_type in = (pwl_type)softmax->in, out = (pwl_type)softmax->out;
    const int bytes = bytes_of(in), places = 16 / bytes, words = places * bytes_of(out) / 4;
    const pwl_softmax_ends ends = pwl_softmax_ends_of(softmax);
    const int copies = bytes == 1 ? PWL_EXP_COPIES : PWL_LOW_COPIES;
    uint32_t largest = 0;
    uint64_t sum = 0;
    load(x, in, length, reach, flip_of(in, 1), width, packs);
    for (uint32_t t = 0; t < width; t++) {
        const uint32_t found = pwl_packs_largest(threads[t].x, packs, bytes);
        largest = found > largest ? found : largest;
    }
    for (uint32_t t = 0; t < width; t++) {
        const pwl_exp exp = exp_of(t, copies);
        pwl_packs_from(threads[t].x, packs, bytes, largest);
        sum += pwl_packs_sum(threads[t].x, packs, bytes, &exp, (uint32_t)threads[t].absent, largest,
                             keeps ? threads[t].kept : NULL);
    }
    const pwl_row_cell cell = pwl_reciprocal_cell(sum);
    const pwl_softmax_share share =
        pwl_softmax_share_of(pwl_reciprocal_factor(cell, prepared->core[cell.code]), ends.out_bits);
    for (uint32_t t = 0; t < width; t++) {
        const pwl_exp exp = exp_of(t, copies);
        for (int k = 0; k < packs; k++) {
            const size_t at = ((size_t)k * width + t) * (size_t)places;
            uint32_t codes[WORDS];
            pwl_softmax_words(&ends, &share, &threads[t].x[k], bytes, &exp, keeps ? threads[t].kept + k * places : NULL,
                              bytes_of(out), ends.zero != 0, codes);
            if (reach < at + (size_t)places)
                pwl_softmax_cut(&ends, reach < at ? 0 : (int)(reach - at), bytes_of(out), words, codes);
            if (at < length)
                memcpy((char *)y + at * (size_t)bytes_of(out), codes, (size_t)words * 4);
        }
    }
}

/* Rows of one length through one group; all that the first `reach` places are not is masked. */
static int softmax_agrees(const made_softmax *made, const pwl_cuda_softmax *prepared, uint32_t width, int packs,
                          int keeps, uint64_t *state)
{
    static uint16_t x[MOST], plain[MOST], other[MOST];
    const pwl_type in = (pwl_type)made->softmax.in, out = (pwl_type)made->softmax.out;
    const size_t places = (size_t)(16 / bytes_of(in)), most = width * (size_t)packs;
    for (int k = 0; k < 40; k++) {
        const size_t length = (most - random_bits(state) % (most < 3 ? most : 3)) * places;
        const size_t reach = k % 3 ? length : 1 + random_bits(state) % length;
        const pwl_rows row = {.x = x, .y = plain, .count = 1, .length = length, .is_causal = 1, .first = reach - 1};
        fill_row(in, x, length, shapes[k % SHAPES], part_of(in, (int)(random_bits(state) % 28)), state);
        pwl_softmax_run(&made->softmax, &row, 0);
        memset(other, 0x5a, sizeof other);
        run_softmax(prepared, x, other, length, reach, width, packs, keeps);
        if (memcmp(plain, other, length * (size_t)bytes_of(out)) != 0) {
            printf("# row %d of %zu places, %zu not masked, %u threads of %d packs\n", k, length, reach, width, packs);
            return 0;
        }
    }
    return 1;
}

static void test_softmax(pwl_type in, pwl_type out)
{
    static const double scales[] = {0.0472, 0.3, 3.7, 0.0001};
    uint64_t state = 0x9ac5u + in * 4u + out;
    int good = 1;
    for (int k = 0; k < 24; k++) {
        made_softmax made;
        pwl_cuda_softmax prepared = {0};
        const double scale = scales[k % 4] / (type_bits(in) == 8 ? 1 : 256);
        make_softmax(&made, in, scale, out, 1 + (int)(random_bits(&state) % 16),
                     k % 3 ? random_in(&state, -300, 300) : type_lowest(out), 65536);
        make_exp(&made, k % 2 ? 30 : 8 + (int)(random_bits(&state) % 23)); /* some have too few for packs */
        made.softmax.zp_y = k % 8 == 7 ? random_in(&state, -((int64_t)1 << 32), (int64_t)1 << 32) : made.softmax.zp_y;
        void *const image = need(pwl_cuda_softmax_bytes(&made.softmax));
        good &= pwl_softmax_check(&made.softmax) == PWL_OK;
        pwl_cuda_softmax_prepare(&made.softmax, image, image, &prepared);
        fill_copies(&prepared.softmax);
        for (size_t w = 0; pwl_softmax_in_packs(&made.softmax) && w < sizeof widths / sizeof *widths; w++) {
            good &= softmax_agrees(&made, &prepared, widths[w], 2 * bytes_of(in), 1, &state);
            good &= softmax_agrees(&made, &prepared, widths[w], 4 * bytes_of(in), 0, &state);
        }
        free(image);
    }
    tap(good, "softmax in packs, types %d to %d", in, out);
}

/* One row, as norm_packs() of rows/norm.cu has it. */
static void run_norm(const pwl_cuda_norm *prepared, const void *x, void *y, uint32_t width, int packs)
{
    const pwl_norm *const norm = &prepared->norm;
    const pwl_type in = (pwl_type)norm->in, out = (pwl_type)norm->out;
    const int bytes = bytes_of(in), places = 16 / bytes;
    const uint32_t of_row = norm->length / (uint32_t)places;
    const int is_short = bytes == 1 && bytes_of(out) == 1;
    pwl_norm_sums sums = {0, 0};
    pwl_row_factor root = {0, 0};
    pwl_norm_share share;
    load(x, in, norm->length, norm->length, flip_of(in, 0), width, packs);
    for (uint32_t t = 0; t < width; t++) {
        const pwl_norm_sums found = pwl_packs_sums(threads[t].x, packs, bytes);
        sums.sum += found.sum;
        sums.squares += found.squares;
    }
    sums = pwl_norm_sums_of(sums, prepared->ends.base, norm->length);
    const uint64_t spread = pwl_norm_spread(norm, sums.sum, sums.squares);
    if (spread) {
        const pwl_row_cell cell = pwl_rsqrt_cell(pwl_norm_variance(norm, spread));
        root = pwl_rsqrt_factor(cell, prepared->core[cell.code]);
    }
    const pwl_norm_row row = pwl_norm_row_by(norm, sums.sum, spread, root);
    if (!pwl_norm_share_of(&prepared->ends, &row, norm->length, is_short, &share)) {
        for (uint32_t c = 0; c < norm->length; c++)
            set_code_at(out, y, c, (int32_t)pwl_norm_place(norm, &row, code_at(in, x, c) - norm->zp_x, c));
        return;
    }
    for (uint32_t pack = 0; pack < of_row; pack++)
        for (int k = 0; k < places; k += 4) {
            const int32_t *const gamma =
                prepared->gamma + pwl_plane_at(pack * (uint32_t)places + (uint32_t)k, (uint32_t)places, 4, of_row);
            int64_t beta[4];
            uint32_t words[2];
            for (int i = 0; prepared->beta && i < 4; i++)
                beta[i] =
                    prepared
                        ->beta[pwl_plane_at(pack * (uint32_t)places + (uint32_t)(k + i), (uint32_t)places, 2, of_row)];
            pwl_norm_words(&prepared->ends, &share, is_short, &threads[pack % width].x[pack / width], bytes, k, gamma,
                           prepared->beta ? beta : NULL, bytes_of(out), words);
            memcpy((char *)y + (pack * (size_t)places + (size_t)k) * (size_t)bytes_of(out), words,
                   4 * (size_t)bytes_of(out));
        }
}

static int norm_agrees(const made_norm *made, const pwl_cuda_norm *prepared, uint32_t width, int packs, uint64_t *state)
{
    static uint16_t x[MOST], plain[MOST], other[MOST];
    const pwl_norm *const norm = &made->norm;
    for (int k = 0; k < 40; k++) {
        fill_row((pwl_type)norm->in, x, norm->length, shapes[k % SHAPES],
                 part_of((pwl_type)norm->in, (int)(random_bits(state) % 28)), state);
        pwl_norm_run(norm, x, plain, 1, 0);
        memset(other, 0x5a, sizeof other);
        run_norm(prepared, x, other, width, packs);
        if (memcmp(plain, other, norm->length * (size_t)bytes_of((pwl_type)norm->out)) != 0) {
            printf("# row %d of %u places, %u threads of %d packs\n", k, norm->length, width, packs);
            return 0;
        }
    }
    return 1;
}

static void test_norm(pwl_norm_kind kind, pwl_type in, pwl_type out)
{
    static double gamma[MOST], beta[MOST];
    static int32_t gamma_codes[MOST];
    static int64_t beta_codes[MOST];
    uint64_t state = 0x4035u + in * 4u + out;
    int good = 1, served = 0;
    for (int k = 0; k < 24; k++) {
        const uint32_t width = widths[k % 4], places = 16 / (uint32_t)bytes_of(in);
        const int packs = 4 * bytes_of(in);
        const uint32_t length = (width * (uint32_t)packs - (uint32_t)(random_bits(&state) % 2)) * places;
        made_norm made = {
            .gamma = gamma, .beta = k % 3 ? beta : NULL, .gamma_codes = gamma_codes, .beta_codes = beta_codes};
        pwl_cuda_norm prepared = {0};
        for (uint32_t c = 0; c < length; c++) {
            gamma[c] = (double)random_in(&state, -2000, 2000) / 1000;
            beta[c] = (double)random_in(&state, -2000, 2000) / 1000;
        }
        make_norm(&made, kind, in, 0.01L, random_in(&state, type_lowest(in), type_highest(in)), out,
                  type_bits(out) == 8 ? 0.03L : 0.0002L, random_in(&state, -200, 200), length, k % 2 ? 1e-5L : 0);
        made.norm.zp_y = k % 8 == 7 ? random_in(&state, -((int64_t)1 << 32), (int64_t)1 << 32) : made.norm.zp_y;
        void *const image = need(pwl_cuda_norm_bytes(&made.norm));
        good &= pwl_norm_check(&made.norm) == PWL_OK;
        pwl_cuda_norm_prepare(&made.norm, image, image, &prepared);
        served += prepared.ends.serves;
        good &= !prepared.ends.serves || norm_agrees(&made, &prepared, width, packs, &state);
        free(image);
    }
    tap(good && served >= 18, "%s in packs, types %d to %d, %d of 24 operators", kind ? "RMSNorm" : "LayerNorm", in,
        out, served);
}

/* Rows that 32 bits do not serve, and those next to them that they do. */
static void test_limits_of_rows(void)
{
    const pwl_norm_ends ends = {.raise = 10};
    pwl_norm_share share;
    pwl_norm_row row = {0, INT32_MAX, 30};
    tap(pwl_norm_share_of(&ends, &row, 16, 0, &share) && (row.factor++, !pwl_norm_share_of(&ends, &row, 16, 0, &share)),
        "31 bits hold R', or not");
    row = (pwl_norm_row){0, 1, 23};
    tap(pwl_norm_share_of(&ends, &row, 16, 1, &share) && (row.shift--, !pwl_norm_share_of(&ends, &row, 16, 1, &share)),
        "an upper word is shifted by 1 at least");
    row.shift = 53;
    tap(pwl_norm_share_of(&ends, &row, 16, 1, &share) && (row.shift++, !pwl_norm_share_of(&ends, &row, 16, 1, &share)),
        "and by 31 at most");
}

/* Kernels read four G of a pack at once, and two B. */
static void test_planes(void)
{
    int good = 1;
    for (uint32_t places = 8; places <= 16; places *= 2)
        for (uint32_t c = 0; c < 7 * places; c++) {
            const uint32_t pack = c / places, k = c % places;
            good &= pwl_plane_at(c, places, 4, 7) == (k / 4 * 7 + pack) * 4 + k % 4;
            good &= pwl_plane_at(c, places, 2, 7) == (k / 2 * 7 + pack) * 2 + k % 2;
        }
    tap(good, "planes of constants");
}

int main(void)
{
    for (int in = 0; in < 4; in++)
        for (int out = 0; out < 4; out++) {
            test_softmax(types[in], types[out]);
            test_norm(PWL_LAYER_NORM, types[in], types[out]);
            test_norm(PWL_RMS_NORM, types[in], types[out]);
        }
    test_limits_of_rows();
    test_planes();
    return tap_end();
}
