/* SPDX-License-Identifier: Apache-2.0 */
#include "softmax_row.h"

#include "../element.h"
#include "codes.h"

int32_t pwl_softmax_row_largest(const pwl_softmax_row *of)
{
    int32_t codes[PWL_PIECE], largest = INT32_MIN;
    size_t from, k, count;
    for (from = 0; from < of->length; from += count) {
        count = pwl_piece_of(of->length - from);
        pwl_codes_load((pwl_type)of->softmax->in, of->x, of->at + from, count, codes);
        for (k = 0; k < count; k++)
            if (codes[k] > largest && !pwl_softmax_masks(of, from + k))
                largest = codes[k];
    }
    return largest;
}

uint64_t pwl_softmax_row_sum(const pwl_softmax_row *of, int32_t largest)
{
    int32_t codes[PWL_PIECE];
    uint64_t sum = 0;
    size_t from, k, count;
    for (from = 0; from < of->length; from += count) {
        count = pwl_piece_of(of->length - from);
        pwl_codes_load((pwl_type)of->softmax->in, of->x, of->at + from, count, codes);
        for (k = 0; k < count; k++)
            if (!pwl_softmax_masks(of, from + k))
                sum += pwl_softmax_exp(of->softmax, (uint32_t)(largest - codes[k]));
    }
    return sum;
}

static int32_t place(const pwl_softmax *softmax, const pwl_softmax_share *all, uint32_t d)
{
    if (softmax->kind == PWL_LOG_SOFTMAX)
        return (int32_t)pwl_log_softmax_place(softmax, all->log, d);
    return (int32_t)pwl_softmax_place(softmax, all->reciprocal, d);
}

void pwl_softmax_row_write(const pwl_softmax_row *of, const pwl_softmax_share *all)
{
    enum { RESULTS = 256 };
    const pwl_softmax *const softmax = of->softmax;
    /* Of 8-bit codes, one result a difference: 16 bits hold those of each type. */
    const int is_tabulated = !softmax->exp_high && of->length > RESULTS;
    const int is_unsigned = pwl_type_is_unsigned((pwl_type)softmax->out);
    const int32_t least = pwl_softmax_least(softmax);
    uint16_t results[RESULTS];
    int32_t codes[PWL_PIECE];
    size_t from, k, count;
    for (k = 0; is_tabulated && k < RESULTS; k++)
        results[k] = (uint16_t)place(softmax, all, (uint32_t)k);
    for (from = 0; from < of->length; from += count) {
        count = pwl_piece_of(of->length - from);
        pwl_codes_load((pwl_type)softmax->in, of->x, of->at + from, count, codes);
        for (k = 0; k < count; k++) {
            const uint32_t d = (uint32_t)(all->largest - codes[k]);
            if (pwl_softmax_masks(of, from + k))
                codes[k] = least;
            else if (!is_tabulated)
                codes[k] = place(softmax, all, d);
            else
                codes[k] = is_unsigned ? results[d] : (int16_t)results[d];
        }
        pwl_codes_store((pwl_type)softmax->out, of->y, of->at + from, count, codes);
    }
}

void pwl_softmax_share_init(pwl_softmax_share *all, const pwl_softmax *softmax, int32_t largest, uint64_t sum)
{
    all->largest = largest;
    if (softmax->kind == PWL_LOG_SOFTMAX)
        all->log = pwl_log_softmax_row(softmax, sum);
    else
        all->reciprocal = pwl_row_reciprocal(softmax->reciprocal, sum);
}

void pwl_softmax_row_clear(const pwl_softmax_row *of)
{
    pwl_codes_fill((pwl_type)of->softmax->out, of->y, of->at, of->length, pwl_softmax_least(of->softmax));
}
