/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare.h"

#include <string.h>

#include "norm.h"

enum { ALIGN = 16, RECIPROCALS = 32768, ROOTS = 49152, EXPS = 256 };

/* Arrays one after the other: where the next begins in the image, and where it will be. */
typedef struct piece {
    char *image, *memory;
    size_t at;
} piece;

/* Room for so many bytes; *there is where they will be. Without an image only the room is counted. */
static void *take(piece *of, size_t bytes, const void **there)
{
    const size_t at = of->at;
    of->at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    *there = of->image ? of->memory + at : NULL;
    return of->image ? of->image + at : NULL;
}

/* A copy of an array, or null of null. */
static const void *copy(piece *of, const void *array, size_t bytes)
{
    const void *there;
    void *const to = array ? take(of, bytes, &there) : NULL;
    if (!array)
        return NULL;
    if (to)
        memcpy(to, array, bytes);
    return there;
}

/* What the core gives for each of its codes; all have 16 bits. */
static const uint16_t *cells(piece *of, const pwl_table *core, uint32_t count)
{
    const void *there;
    uint16_t *const to = take(of, count * sizeof *to, &there);
    for (uint32_t k = 0; to && k < count; k++)
        to[k] = (uint16_t)pwl_eval(core, (int64_t)k);
    return there;
}

static void softmax_arrays(const pwl_softmax *softmax, piece *of, pwl_cuda_softmax *made)
{
    made->softmax = *softmax;
    made->softmax.reciprocal = NULL;
    made->softmax.exp = copy(of, softmax->exp, EXPS * sizeof *softmax->exp);
    made->softmax.exp_high = copy(of, softmax->exp_high, EXPS * sizeof *softmax->exp_high);
    made->softmax.exp_shift = copy(of, softmax->exp_shift, EXPS * sizeof *softmax->exp_shift);
    made->softmax.log_factor = copy(of, softmax->log_factor, PWL_LOG_CELLS * sizeof *softmax->log_factor);
    made->softmax.log_value = copy(of, softmax->log_value, PWL_LOG_CELLS * sizeof *softmax->log_value);
    made->core = cells(of, softmax->reciprocal, RECIPROCALS);
}

size_t pwl_cuda_softmax_bytes(const pwl_softmax *softmax)
{
    piece of = {NULL, NULL, 0};
    pwl_cuda_softmax made;
    softmax_arrays(softmax, &of, &made);
    return of.at;
}

void pwl_cuda_softmax_prepare(const pwl_softmax *softmax, void *image, void *memory, pwl_cuda_softmax *made)
{
    piece of = {image, memory, 0};
    softmax_arrays(softmax, &of, made);
}

/* The largest |G| and |B|. */
static uint64_t largest_gamma(const pwl_norm *norm)
{
    uint64_t largest = 0;
    for (uint32_t c = 0; c < norm->length; c++)
        largest = pwl_abs64(norm->gamma[c]) > largest ? pwl_abs64(norm->gamma[c]) : largest;
    return largest;
}

static uint64_t largest_beta(const pwl_norm *norm)
{
    uint64_t largest = 0;
    for (uint32_t c = 0; norm->beta && c < norm->length; c++)
        largest = pwl_abs64(norm->beta[c]) > largest ? pwl_abs64(norm->beta[c]) : largest;
    return largest;
}

/* Bits that all constants of v, and v, have to spare in 31 and 62. Negative: not even those that they have. */
static int spare_bits(const pwl_norm *norm)
{
    const int shift = norm->gamma_shift + norm->fraction;
    const uint64_t gamma = largest_gamma(norm), zero = pwl_abs64(norm->zp_y - pwl_type_first(norm->out));
    /* below 2^62, by the check */
    const int of_v = 60 - pwl_bit_length(pwl_norm_most(norm) * gamma + largest_beta(norm));
    const int of_gamma = 31 - pwl_bit_length(gamma), of_zero = 60 - shift - pwl_bit_length(zero);
    const int least = of_v < of_gamma ? of_v : of_gamma;
    return least < of_zero ? least : of_zero;
}

/* n range of the check. */
static int64_t row_range(const pwl_norm *norm)
{
    const int64_t lowest = pwl_type_first(norm->in), highest = pwl_type_last(norm->in);
    const int64_t below = norm->zp_x - lowest, above = highest - norm->zp_x, longer = below > above ? below : above;
    return norm->length * (norm->kind == PWL_LAYER_NORM ? highest - lowest : longer);
}

/* Sets *raise to bits that constants of channels get. Codes are those of upper words, and fit in them: v and what it is
 * added to are below 2^62 + 2^61 once raised, and shifted by 33 at least. */
static pwl_norm_ends ends_of(const pwl_norm *norm, int *raise)
{
    const int64_t lowest = pwl_type_first(norm->in), highest = pwl_type_last(norm->in), range = row_range(norm);
    const int spare = spare_bits(norm), shift = norm->gamma_shift + norm->fraction + spare;
    const int64_t first = pwl_type_first(norm->out);
    pwl_norm_ends ends = {0};
    *raise = spare;
    ends.base = (int32_t)(norm->zp_x - (lowest + highest + 1) / 2);
    ends.raise = 31 - pwl_bit_length((uint64_t)range);
    ends.serves = range <= INT32_MAX && pwl_norm_most(norm) <= INT32_MAX && spare >= 0 && shift >= 33 &&
                  norm->qmin_y == first && norm->qmax_y == pwl_type_last(norm->out);
    if (!ends.serves)
        return ends;
    ends.shift = shift - 32;
    ends.added = ((int64_t)1 << (shift - 1)) + (norm->zp_y - first) * ((int64_t)1 << shift);
    ends.flip = pwl_flip_of(first);
    return ends;
}

/* Channels of a pack side by side, where that is what a row consists of. */
static void planes(const pwl_norm *norm, int raise, piece *of, pwl_cuda_norm *made)
{
    const uint32_t places = norm->in <= PWL_U8 ? 16 : 8, packs = norm->length / places, n = norm->length;
    const void *there;
    int32_t *const gamma = take(of, n * sizeof *gamma, &there);
    made->gamma = there;
    for (uint32_t c = 0; gamma && c < n; c++)
        gamma[pwl_plane_at(c, places, 4, packs)] = norm->gamma[c] * ((int32_t)1 << raise);
    if (!norm->beta)
        return;
    int64_t *const beta = take(of, n * sizeof *beta, &there);
    made->beta = there;
    for (uint32_t c = 0; beta && c < n; c++)
        beta[pwl_plane_at(c, places, 2, packs)] = norm->beta[c] * ((int64_t)1 << raise) + made->ends.added;
}

static void norm_arrays(const pwl_norm *norm, piece *of, pwl_cuda_norm *made)
{
    int raise;
    made->norm = *norm;
    made->norm.rsqrt = NULL;
    made->norm.gamma = copy(of, norm->gamma, norm->length * sizeof *norm->gamma);
    made->norm.beta = copy(of, norm->beta, norm->length * sizeof *norm->beta);
    made->core = cells(of, norm->rsqrt, ROOTS);
    made->ends = ends_of(norm, &raise);
    made->ends.serves &= norm->length % (norm->in <= PWL_U8 ? 16 : 8) == 0;
    if (made->ends.serves)
        planes(norm, raise, of, made);
}

size_t pwl_cuda_norm_bytes(const pwl_norm *norm)
{
    piece of = {NULL, NULL, 0};
    pwl_cuda_norm made;
    norm_arrays(norm, &of, &made);
    return of.at;
}

void pwl_cuda_norm_prepare(const pwl_norm *norm, void *image, void *memory, pwl_cuda_norm *made)
{
    piece of = {image, memory, 0};
    norm_arrays(norm, &of, made);
}
