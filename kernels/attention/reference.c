/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as pwl/attention.h defines it: scores of a row are found twice, so that none is kept. */
#include <pwl/attention.h>

static int is_byte(int type)
{
    return type == PWL_S8 || type == PWL_U8;
}

pwl_status pwl_attention_check(const pwl_attention *attention)
{
    pwl_status status;
    if (!attention)
        return PWL_ERR_NULL;
    status = pwl_softmax_check(&attention->softmax);
    if (status == PWL_OK)
        status = pwl_requantise_check(&attention->requantise);
    if (status != PWL_OK)
        return status;
    if (attention->softmax.kind != PWL_SOFTMAX || !is_byte(attention->softmax.in) ||
        attention->requantise.in != PWL_S32 || !is_byte(attention->requantise.out))
        return PWL_ERR_FIELD;
    if (attention->softmax.fraction > PWL_ATTENTION_FRACTION || attention->requantise.shift < 32)
        return PWL_ERR_SHIFT;
    if (attention->requantise.zp_x != 0 || pwl_abs64(attention->requantise.zp_y) > 1 << 20)
        return PWL_ERR_ZERO_POINT;
    return attention->step >= 1 && attention->step <= 1 << 24 ? PWL_OK : PWL_ERR_CONSTANT;
}

pwl_status pwl_attention_check_call(const pwl_attention *attention, const pwl_attention_call *call)
{
    const size_t most = (size_t)1 << 62, row = call->queries > call->keys ? call->queries : call->keys;
    if (call->channels == 0 || call->channels > PWL_ATTENTION_CHANNELS || call->share == 0)
        return PWL_ERR_SIZE;
    if (call->heads == 0 || call->queries == 0)
        return PWL_OK;
    if (call->keys == 0 || call->keys > attention->softmax.longest)
        return PWL_ERR_ROW;
    return call->share > most / row / call->channels / call->heads ? PWL_ERR_SIZE : PWL_OK;
}

/* One row of queries, and what it sees. */
typedef struct attention_row {
    const int8_t *q, *k, *v;
    size_t channels, reach;
} attention_row;

static int32_t product_with(const attention_row *row, size_t j)
{
    int32_t a = 0;
    for (size_t c = 0; c < row->channels; c++)
        a += row->q[c] * row->k[j * row->channels + c];
    return a;
}

static int32_t largest_of(const attention_row *row)
{
    int32_t largest = INT32_MIN;
    for (size_t j = 0; j < row->reach; j++) {
        const int32_t a = product_with(row, j);
        largest = a > largest ? a : largest;
    }
    return largest;
}

static void run_row(const pwl_attention *attention, const attention_row *row, uint8_t *y)
{
    const int64_t largest = largest_of(row);
    int64_t sums[PWL_ATTENTION_CHANNELS] = {0};
    uint64_t sum = 0;
    for (size_t j = 0; j < row->reach; j++) {
        const uint32_t e = attention->softmax.exp[pwl_attention_below(attention->step, largest - product_with(row, j))];
        sum += e;
        for (size_t c = 0; c < row->channels; c++)
            sums[c] += (int64_t)e * (row->v[j * row->channels + c] - attention->zp_v);
    }
    const pwl_row_factor reciprocal = pwl_row_reciprocal(attention->softmax.reciprocal, sum);
    for (size_t c = 0; c < row->channels; c++)
        y[c] = (uint8_t)pwl_requantise_element(&attention->requantise, pwl_row_mean(PWL_S8, sums[c], sum, reciprocal));
}

pwl_status pwl_attention_run(const pwl_attention *attention, const pwl_attention_call *call)
{
    const pwl_rows rows = {.length = call->keys, .is_causal = call->is_causal, .first = call->first};
    const pwl_status status = pwl_attention_check_call(attention, call);
    const size_t rows_of_all = call->heads * call->share * call->queries;
    if (status != PWL_OK || rows_of_all == 0)
        return status;
    if (!call->q || !call->k || !call->v || !call->y)
        return PWL_ERR_NULL;
    for (size_t r = 0; r < rows_of_all; r++) {
        const size_t head = r / call->queries / call->share * call->keys * call->channels;
        const attention_row row = {call->q + r * call->channels, call->k + head, call->v + head, call->channels,
                                   pwl_rows_reach(&rows, r % call->queries)};
        run_row(attention, &row, (uint8_t *)call->y + r * call->channels);
    }
    return PWL_OK;
}
