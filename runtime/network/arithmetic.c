/* SPDX-License-Identifier: Apache-2.0 */
/* Products of elements and their sums in pairs, and means. */
#include "step.h"

/* Places [from, from + count) of the last axis: sums of factors times products of what lies at these places. */
static void multiply_piece(const pwl_network_step *step, const size_t *at, const size_t *last, size_t from,
                           size_t count, size_t y_at)
{
    const pwl_network_multiply *const multiply = step->node->of;
    const int n = multiply->shift;
    int64_t a[PWL_NETWORK_PIECE], b[PWL_NETWORK_PIECE], sums[PWL_NETWORK_PIECE];
    size_t i;
    int pair;
    for (i = 0; i < count; i++)
        sums[i] = (int64_t)1 << (n - 1);
    for (pair = 0; pair < step->node->reads; pair += 2) {
        const int64_t factor = multiply->factor[pair / 2];
        pwl_network_load((pwl_type)step->in[pair]->type, step->x[pair], at[pair] + from * last[pair], last[pair], count,
                         step->in[pair]->zero_point, a);
        pwl_network_load((pwl_type)step->in[pair + 1]->type, step->x[pair + 1], at[pair + 1] + from * last[pair + 1],
                         last[pair + 1], count, step->in[pair + 1]->zero_point, b);
        for (i = 0; i < count; i++)
            sums[i] += factor * (a[i] * b[i]);
    }
    for (i = 0; i < count; i++)
        sums[i] >>= n;
    pwl_network_store(step->out, step->y, y_at + from, count, sums);
}

void pwl_network_run_multiply(const pwl_network_step *step)
{
    const pwl_network_shape *const y = &step->y_shape;
    const size_t length = y->axes ? y->at[y->axes - 1] : 1, all = pwl_network_all(y);
    size_t place[PWL_NETWORK_AXES], at[PWL_NETWORK_READS], last[PWL_NETWORK_READS], k, y_at, from, count;
    for (k = 0; k < PWL_NETWORK_AXES; k++)
        place[k] = 0;
    for (k = 0; k < step->node->reads; k++) {
        at[k] = 0;
        last[k] = y->axes ? pwl_network_stride(&step->x_shape[k], y, y->axes - 1) : 0;
    }
    for (y_at = 0; y_at < all; y_at += length) {
        for (from = 0; from < length; from += count) {
            count = length - from < PWL_NETWORK_PIECE ? length - from : PWL_NETWORK_PIECE;
            multiply_piece(step, at, last, from, count, y_at);
        }
        if (y->axes)
            pwl_network_next(step, y->axes - 1, place, at);
    }
}

int pwl_network_fits_multiply(const pwl_network_step *step)
{
    return !(step->node->reads & 1) && pwl_network_broadcasts(step);
}

pwl_status pwl_network_check_multiply(const pwl_network_step *step)
{
    const pwl_network_multiply *const multiply = step->node->of;
    const uint64_t limit = (uint64_t)1 << 62;
    uint64_t sum = 0;
    int pair;
    if (!is_within(multiply->shift, 1, 62))
        return PWL_ERR_SHIFT;
    for (pair = 0; pair < step->node->reads; pair += 2) {
        const uint64_t factor = pwl_abs64(multiply->factor[pair / 2]);
        const uint64_t a = pwl_network_offset(step->in[pair]), b = pwl_network_offset(step->in[pair + 1]);
        if (pwl_bit_length(factor) + pwl_bit_length(a) + pwl_bit_length(b) > 64 || factor * a * b >= limit)
            return PWL_ERR_SUM_BITS;
        sum += factor * a * b;
    }
    return sum < limit ? PWL_OK : PWL_ERR_SUM_BITS;
}

/* The places of an axis that take part: of row `outer` of a mask, or all. */
static int takes_part(const pwl_network_step *step, size_t place)
{
    return step->node->reads < 2 || pwl_element_of((pwl_type)step->in[1]->type, step->x[1], place) != 0;
}

static void mean_piece(const pwl_network_step *step, size_t outer, size_t places, size_t inner, size_t from,
                       size_t count)
{
    const pwl_network_mean *const mean = step->node->of;
    int64_t codes[PWL_NETWORK_PIECE], sums[PWL_NETWORK_PIECE];
    size_t p, i, taken = 0, which;
    for (i = 0; i < count; i++)
        sums[i] = 0;
    for (p = outer * places; p < (outer + 1) * places; p++) {
        if (!takes_part(step, p))
            continue;
        taken++;
        pwl_network_load((pwl_type)step->in[0]->type, step->x[0], p * inner + from, 1, count, step->in[0]->zero_point,
                         codes);
        for (i = 0; i < count; i++)
            sums[i] += codes[i];
    }
    which = mean->factors.count > 1 && taken > 1 ? taken - 1 : 0;
    for (i = 0; i < count; i++)
        sums[i] = pwl_network_shr(sums[i] * mean->factors.factor[which], mean->factors.shift[which]);
    pwl_network_store(step->out, step->y, outer * inner + from, count, sums);
}

void pwl_network_run_mean(const pwl_network_step *step)
{
    const pwl_network_shape *const x = &step->x_shape[0];
    const size_t axis = ((const pwl_network_mean *)step->node->of)->axis;
    const size_t outer = pwl_network_places(x, 0, axis), inner = pwl_network_places(x, axis + 1, x->axes);
    size_t k, from, count;
    for (k = 0; k < outer; k++)
        for (from = 0; from < inner; from += count) {
            count = inner - from < PWL_NETWORK_PIECE ? inner - from : PWL_NETWORK_PIECE;
            mean_piece(step, k, x->at[axis], inner, from, count);
        }
}

int pwl_network_fits_mean(const pwl_network_step *step)
{
    const size_t axis = ((const pwl_network_mean *)step->node->of)->axis;
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape, *const mask = &step->x_shape[1];
    if (axis >= x->axes || y->axes + 1 != x->axes || !pwl_network_same_axes(x, 0, y, 0, axis) ||
        !pwl_network_same_axes(x, axis + 1, y, axis, x->axes - axis - 1))
        return 0;
    return step->node->reads < 2 || (mask->axes == axis + 1 && pwl_network_same_axes(x, 0, mask, 0, axis + 1));
}

pwl_status pwl_network_check_mean(const pwl_network_step *step)
{
    const pwl_network_mean *const mean = step->node->of;
    const uint64_t count = step->x_shape[0].at[mean->axis], most = pwl_network_offset(step->in[0]);
    if (pwl_bit_length(most) + pwl_bit_length(count) > 64)
        return PWL_ERR_SUM_BITS;
    return pwl_network_check_factors(&mean->factors, pwl_bit_length(most * count), count);
}
