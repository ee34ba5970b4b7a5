/* SPDX-License-Identifier: Apache-2.0 */
/* Which weights and products there are. */
#include "check.h"
#include "input.h"
#include "layout.h"
#include "super.h"

enum {
    FLOATS = 1 << PWL_QGEMM_F32 | 1 << PWL_QGEMM_F16 | 1 << PWL_QGEMM_BF16,
    REALS = FLOATS | 1 << PWL_QGEMM_E4M3,
    INTEGERS = 1 << PWL_QGEMM_S8 | 1 << PWL_QGEMM_U8 | 1 << PWL_QGEMM_S16 | 1 << PWL_QGEMM_U16 | 1 << PWL_QGEMM_S32 |
               1 << PWL_QGEMM_U32,
    QUANTISED = FLOATS | 1 << PWL_QGEMM_BLOCKS_Q8_1
};

static const struct {
    uint16_t formats, x, y; /* formats and types, as sets */
} schemes[] = {
    [PWL_QGEMM_W4A16] = {1 << PWL_QGEMM_Q4_0, FLOATS, REALS},
    [PWL_QGEMM_W8A16] = {1 << PWL_QGEMM_Q8_0, FLOATS, REALS},
    [PWL_QGEMM_MXFP4_A16] = {1 << PWL_QGEMM_MXFP4, FLOATS, REALS},
    [PWL_QGEMM_W4A8] = {1 << PWL_QGEMM_Q4_0, QUANTISED, REALS},
    [PWL_QGEMM_W8A8] = {1 << PWL_QGEMM_Q8_0, QUANTISED, REALS},
    [PWL_QGEMM_INT8] = {1 << PWL_QGEMM_ROWS8 | 1 << PWL_QGEMM_ROWS4, 1 << PWL_QGEMM_S8,
                        1 << PWL_QGEMM_S8 | 1 << PWL_QGEMM_S32},
    [PWL_QGEMM_MXFP4_A8] = {1 << PWL_QGEMM_MXFP4, QUANTISED, REALS},
    [PWL_QGEMM_FP8] = {1 << PWL_QGEMM_ROWS_E4M3, REALS, REALS},
    [PWL_QGEMM_MXFP4_FP8] = {1 << PWL_QGEMM_MXFP4_E4M3, REALS, REALS},
    [PWL_QGEMM_Q4_K_A8] = {1 << PWL_QGEMM_Q4_K, QUANTISED, REALS},
    [PWL_QGEMM_Q5_K_A8] = {1 << PWL_QGEMM_Q5_K, QUANTISED, REALS},
    [PWL_QGEMM_Q6_K_A8] = {1 << PWL_QGEMM_Q6_K, QUANTISED, REALS},
    [PWL_QGEMM_SPARSE4_A16] = {1 << PWL_QGEMM_SPARSE4, FLOATS, REALS},
};

static const struct {
    uint8_t bytes, align;
} types[] = {
    [PWL_QGEMM_F32] = {4, 4},  [PWL_QGEMM_F16] = {2, 2},
    [PWL_QGEMM_BF16] = {2, 2}, [PWL_QGEMM_BLOCKS_Q8_1] = {sizeof(pwl_block_q8_1), _Alignof(pwl_block_q8_1)},
    [PWL_QGEMM_S8] = {1, 1},   [PWL_QGEMM_S32] = {4, 4},
    [PWL_QGEMM_U8] = {1, 1},   [PWL_QGEMM_S16] = {2, 2},
    [PWL_QGEMM_U16] = {2, 2},  [PWL_QGEMM_U32] = {4, 4},
    [PWL_QGEMM_E4M3] = {1, 1},
};

size_t pwl_qgemm_type_bytes(pwl_qgemm_type type)
{
    return types[type].bytes;
}

/* m rows of `row` elements, `stride` apart. */
static pwl_qgemm_status check_matrix(const void *data, pwl_qgemm_type type, size_t m, size_t row, size_t stride)
{
    if (!data)
        return PWL_QGEMM_ERR_NULL;
    if (stride < row)
        return PWL_QGEMM_ERR_STRIDE;
    if (m > SIZE_MAX / types[type].bytes / stride)
        return PWL_QGEMM_ERR_SHAPE;
    return (uintptr_t)data % types[type].align ? PWL_QGEMM_ERR_ALIGN : PWL_QGEMM_OK;
}

/* Rows of bytes that are read or written. */
typedef struct region {
    uintptr_t at;
    size_t rows, pitch, width;
} region;

static region region_of(const void *data, pwl_qgemm_type type, size_t m, size_t row, size_t stride)
{
    const region rows = {(uintptr_t)data, m, stride * types[type].bytes, row * types[type].bytes};
    return rows;
}

static region array_of(const void *data, size_t bytes)
{
    const region all = {(uintptr_t)data, 1, bytes, bytes};
    return all;
}

/* Whether any byte is in both. Of a's rows that begin before a row of b ends, the last one ends last. */
static int overlap(region a, region b)
{
    const uintptr_t a_end = a.at + (a.rows - 1) * a.pitch + a.width, b_end = b.at + (b.rows - 1) * b.pitch + b.width;
    if (!a.at || !b.at || a_end <= b.at || b_end <= a.at)
        return 0;
    for (size_t i = 0; i < b.rows; i++) {
        const uintptr_t begin = b.at + i * b.pitch, end = begin + b.width;
        size_t row;
        if (end <= a.at)
            continue;
        row = (end - 1 - a.at) / a.pitch;
        if (a.at + (row < a.rows ? row : a.rows - 1) * a.pitch + a.width > begin)
            return 1;
    }
    return 0;
}

static int is_gated(const pwl_qgemm_product *product)
{
    return product->activation && product->activation->gated;
}

/* Whether sums are the scheme's. */
static int has_sums(const pwl_qgemm_product *product)
{
    switch (product->sums) {
    case PWL_QGEMM_SUMS_EXACT:
        return 1;
    case PWL_QGEMM_SUMS_STORED:
        return product->scheme == PWL_QGEMM_W4A8;
    case PWL_QGEMM_SUMS_OF_512:
    case PWL_QGEMM_SUMS_OF_128:
        return pwl_qgemm_is_fp8(product);
    }
    return 0;
}

/* Whether a type of Y is the scheme's. */
static int has_y(const pwl_qgemm_product *product)
{
    const unsigned with_table = product->scheme == PWL_QGEMM_INT8 ? INTEGERS : REALS | INTEGERS;
    return (product->activation ? with_table : schemes[product->scheme].y) >> product->y.type & 1;
}

static region region_of_x(const pwl_qgemm_product *product)
{
    const pwl_qgemm_input *const x = &product->x;
    const size_t k = product->weights->k, columns = x->type == PWL_QGEMM_BLOCKS_Q8_1 ? k / PWL_BLOCK : k;
    return region_of(x->data, x->type, product->m, columns, x->stride);
}

static region region_of_y(const pwl_qgemm_product *product)
{
    const size_t columns = pwl_qgemm_columns(product->weights->n, is_gated(product));
    return region_of(product->y.data, product->y.type, product->m, columns, product->y.stride);
}

int pwl_qgemm_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return overlap(array_of(a, a_bytes), array_of(b, b_bytes));
}

int pwl_qgemm_touches(const pwl_qgemm_product *product, const void *memory, size_t bytes)
{
    return overlap(region_of_x(product), array_of(memory, bytes)) ||
           overlap(region_of_y(product), array_of(memory, bytes));
}

/* Scales of Y; nowhere, where it has none. */
static region region_of_scales(const pwl_qgemm_product *product)
{
    return array_of(product->y.type == PWL_QGEMM_E4M3 ? product->y.scale : NULL, product->m * sizeof(float));
}

/* Whether what is written lies in what is read but for scales of Y. */
static int lies_in_inputs(const pwl_qgemm_product *product, region written)
{
    const pwl_qgemm_weights *const w = product->weights;
    const size_t row = pwl_qgemm_columns(w->n, is_gated(product));
    return overlap(region_of_x(product), written) || overlap(array_of(w->memory, w->bytes), written) ||
           overlap(array_of(product->bias, row * 4), written) ||
           (is_gated(product) && overlap(array_of(product->activation->bias_up, row * 4), written)) ||
           (product->scheme == PWL_QGEMM_INT8 && overlap(array_of(product->x.n_x, product->m), written)) ||
           (product->x.type == PWL_QGEMM_E4M3 && overlap(array_of(product->x.scale, product->m * 4), written));
}

static int overwrites(const pwl_qgemm_product *product)
{
    const region y = region_of_y(product), scales = region_of_scales(product);
    return lies_in_inputs(product, y) || overlap(scales, y) || (product->y.dynamic && lies_in_inputs(product, scales));
}

/* Of rows in E4M3. */
static pwl_qgemm_status check_scales(const float *scale)
{
    if (!scale)
        return PWL_QGEMM_ERR_NULL;
    return (uintptr_t)scale % sizeof *scale ? PWL_QGEMM_ERR_ALIGN : PWL_QGEMM_OK;
}

static int is_int8(int32_t zero_point)
{
    return zero_point >= -128 && zero_point <= 127;
}

pwl_qgemm_status pwl_qgemm_check_shape(pwl_qgemm_format format, size_t n, size_t k)
{
    if ((unsigned)format > PWL_QGEMM_SPARSE4)
        return PWL_QGEMM_ERR_FORMAT;
    if (n == 0 || k == 0 || k % (pwl_qgemm_is_super(format) ? PWL_SUPER_BLOCK : pwl_qgemm_block_columns(format)))
        return PWL_QGEMM_ERR_SHAPE;
    /* 65536 is more than a piece takes, packed, as blocks or as floats, with its rows' data. */
    if (n / PWL_QGEMM_ROWS + 1 > SIZE_MAX / 65536 / (k / PWL_QGEMM_COLUMNS + 1))
        return PWL_QGEMM_ERR_SHAPE;
    return pwl_qgemm_is_rows(format) && k > PWL_QGEMM_MAX_K_INT8 ? PWL_QGEMM_ERR_DEPTH : PWL_QGEMM_OK;
}

/* Whether floats make blocks of the format by the rule. */
static pwl_qgemm_status check_floats(const pwl_qgemm_source *from)
{
    const pwl_qgemm_format format = from->format;
    if (pwl_qgemm_is_super(format) || pwl_qgemm_is_e4m3(format))
        return PWL_QGEMM_ERR_FORMAT;
    if ((unsigned)from->type > PWL_QGEMM_BF16)
        return PWL_QGEMM_ERR_TYPE;
    if ((unsigned)from->rule > PWL_RULE_DOCUMENT || (format == PWL_QGEMM_MXFP4 && from->rule == PWL_RULE_DOCUMENT) ||
        (pwl_qgemm_is_rows(format) && from->rule != PWL_RULE_DEFAULT))
        return PWL_QGEMM_ERR_RULE;
    if (pwl_qgemm_is_sparse(format) && from->spread != PWL_QGEMM_SPREAD_EXACT &&
        from->spread != PWL_QGEMM_SPREAD_PRUNED)
        return PWL_QGEMM_ERR_RULE;
    return PWL_QGEMM_OK;
}

/* Whether the format is made of such a source. */
static pwl_qgemm_status check_kind(const pwl_qgemm_source *from)
{
    const int of_rows = pwl_qgemm_is_rows(from->format) || from->format == PWL_QGEMM_ROWS_E4M3;
    if (from->pair && (from->pair != 1 || from->n % 16))
        return PWL_QGEMM_ERR_PAIR;
    switch ((int)from->from) {
    case PWL_QGEMM_FROM_BLOCKS:
        if (from->format == PWL_QGEMM_MXFP4_E4M3 && (unsigned)from->spread > PWL_QGEMM_SPREAD_ROUNDED)
            return PWL_QGEMM_ERR_RULE;
        return of_rows ? PWL_QGEMM_ERR_FORMAT : PWL_QGEMM_OK;
    case PWL_QGEMM_FROM_FLOATS:
        return check_floats(from);
    case PWL_QGEMM_FROM_CODES:
        return of_rows ? PWL_QGEMM_OK : PWL_QGEMM_ERR_FORMAT;
    case PWL_QGEMM_FROM_Q4_0:
        return from->format == PWL_QGEMM_ROWS4 ? PWL_QGEMM_OK : PWL_QGEMM_ERR_FORMAT;
    default:
        return PWL_QGEMM_ERR_TYPE;
    }
}

/* Of the source's data. */
static size_t alignment_of(const pwl_qgemm_source *from)
{
    switch ((int)from->from) {
    case PWL_QGEMM_FROM_BLOCKS:
        return from->format == PWL_QGEMM_MXFP4_E4M3 ? 1 : pwl_qgemm_scale_bytes(from->format);
    case PWL_QGEMM_FROM_FLOATS:
        return types[from->type].align;
    case PWL_QGEMM_FROM_Q4_0:
        return _Alignof(pwl_block_q4_0);
    default:
        return 1;
    }
}

static pwl_qgemm_status check_data(const pwl_qgemm_source *from, int i)
{
    const size_t row_alignment = from->format == PWL_QGEMM_ROWS_E4M3 ? _Alignof(float) : 1;
    if (!from->data[i] || (from->from == PWL_QGEMM_FROM_CODES && !from->row_data[i]))
        return PWL_QGEMM_ERR_NULL;
    return (uintptr_t)from->data[i] % alignment_of(from) || (uintptr_t)from->row_data[i] % row_alignment
               ? PWL_QGEMM_ERR_ALIGN
               : PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_check_source(const pwl_qgemm_source *from, const void *memory, size_t bytes,
                                        const pwl_qgemm_weights *weights)
{
    pwl_qgemm_status status = pwl_qgemm_check_shape(from->format, from->n, from->k);
    if (status == PWL_QGEMM_OK)
        status = check_kind(from);
    for (int i = 0; i <= (from->pair != 0) && status == PWL_QGEMM_OK; i++)
        status = check_data(from, i);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!memory || !weights)
        return PWL_QGEMM_ERR_NULL;
    if ((uintptr_t)memory % 16)
        return PWL_QGEMM_ERR_ALIGN;
    if (pwl_qgemm_is_super(from->format))
        return bytes < pwl_qgemm_super_bytes(from->format, from->n, from->k) ? PWL_QGEMM_ERR_SPACE : PWL_QGEMM_OK;
    return bytes < pwl_qgemm_weights_of(from, memory, 0).bytes ? PWL_QGEMM_ERR_SPACE : PWL_QGEMM_OK;
}

size_t pwl_qgemm_bytes_of(const pwl_qgemm_weights *weights)
{
    if (pwl_qgemm_is_super(weights->format))
        return pwl_qgemm_super_bytes(weights->format, weights->n, weights->k);
    return pwl_qgemm_pieces_bytes(weights->format, weights->n, weights->k) +
           (weights->row_data || pwl_qgemm_has_row_data(weights->format)
                ? pwl_qgemm_row_bytes(weights->format, weights->n)
                : 0);
}

pwl_qgemm_status pwl_qgemm_check_weights(const pwl_qgemm_weights *weights)
{
    pwl_qgemm_status status;
    if (!weights || !weights->memory)
        return PWL_QGEMM_ERR_NULL;
    status = pwl_qgemm_check_shape(weights->format, weights->n, weights->k);
    if (status != PWL_QGEMM_OK)
        return status;
    if ((uintptr_t)weights->memory % 16)
        return PWL_QGEMM_ERR_ALIGN;
    if (pwl_qgemm_is_super(weights->format) && weights->row_data)
        return PWL_QGEMM_ERR_SPACE;
    return weights->bytes != pwl_qgemm_bytes_of(weights) ? PWL_QGEMM_ERR_SPACE : PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_check(const pwl_qgemm_product *product)
{
    pwl_qgemm_codes codes;
    const pwl_qgemm_status status = pwl_qgemm_host_codes(product, &codes);
    return status == PWL_QGEMM_OK ? pwl_qgemm_check_with(product, &codes) : status;
}

pwl_qgemm_status pwl_qgemm_check_with(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    pwl_qgemm_status status;
    if (!product)
        return PWL_QGEMM_ERR_NULL;
    status = pwl_qgemm_check_weights(product->weights);
    return status == PWL_QGEMM_OK ? pwl_qgemm_check_operands(product, codes) : status;
}

/* Scheme, types, number of rows and activation. */
static pwl_qgemm_status check_terms(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    const pwl_qgemm_weights *const weights = product->weights;
    const pwl_qgemm_type x = product->x.type, y = product->y.type;
    if ((unsigned)product->scheme > PWL_QGEMM_SPARSE4_A16 ||
        !(schemes[product->scheme].formats >> weights->format & 1) || !has_sums(product))
        return PWL_QGEMM_ERR_SCHEME;
    if ((unsigned)x > PWL_QGEMM_E4M3 || !(schemes[product->scheme].x >> x & 1) || (unsigned)y > PWL_QGEMM_E4M3 ||
        !has_y(product))
        return PWL_QGEMM_ERR_TYPE;
    if (product->m == 0)
        return PWL_QGEMM_ERR_SHAPE;
    return product->activation ? pwl_qgemm_check_activation(product, codes) : PWL_QGEMM_OK;
}

/* All but X's elements. */
static pwl_qgemm_status check_results(const pwl_qgemm_product *product)
{
    const pwl_qgemm_input *const x = &product->x;
    const pwl_qgemm_output *const y = &product->y;
    const size_t columns = pwl_qgemm_columns(product->weights->n, is_gated(product));
    pwl_qgemm_status status = check_matrix(y->data, y->type, product->m, columns, y->stride);
    if (status != PWL_QGEMM_OK)
        return status;
    if ((uintptr_t)product->bias % 4) /* float or int32_t */
        return PWL_QGEMM_ERR_ALIGN;
    status = x->type == PWL_QGEMM_E4M3 ? check_scales(x->scale) : PWL_QGEMM_OK;
    if (status == PWL_QGEMM_OK && y->type == PWL_QGEMM_E4M3)
        status = check_scales(y->scale);
    if (status != PWL_QGEMM_OK)
        return status;
    if (product->scheme == PWL_QGEMM_INT8) {
        if (!x->n_x)
            return PWL_QGEMM_ERR_NULL;
        if (!is_int8(x->zero_point) || (!product->activation && y->type == PWL_QGEMM_S8 && !is_int8(y->zero_point)))
            return PWL_QGEMM_ERR_RANGE;
    }
    return overwrites(product) ? PWL_QGEMM_ERR_OVERLAP : PWL_QGEMM_OK;
}

pwl_qgemm_status pwl_qgemm_check_operands(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes)
{
    const pwl_qgemm_input *const x = &product->x;
    const size_t k = product->weights->k, columns = x->type == PWL_QGEMM_BLOCKS_Q8_1 ? k / PWL_BLOCK : k;
    pwl_qgemm_status status = check_terms(product, codes);
    if (status == PWL_QGEMM_OK)
        status = check_matrix(x->data, x->type, product->m, columns, x->stride);
    return status == PWL_QGEMM_OK ? check_results(product) : status;
}

pwl_qgemm_status pwl_qgemm_check_sums(const pwl_qgemm_product *product, const pwl_qgemm_codes *codes,
                                      const int32_t *sums, size_t stride)
{
    pwl_qgemm_status status = product ? pwl_qgemm_check_weights(product->weights) : PWL_QGEMM_ERR_NULL;
    if (status == PWL_QGEMM_OK)
        status = check_terms(product, codes);
    if (status == PWL_QGEMM_OK && product->scheme != PWL_QGEMM_INT8)
        status = PWL_QGEMM_ERR_SCHEME;
    if (status == PWL_QGEMM_OK)
        status = check_results(product);
    if (status == PWL_QGEMM_OK)
        status = check_matrix(sums, PWL_QGEMM_S32, product->m, product->weights->n, stride);
    if (status != PWL_QGEMM_OK)
        return status;
    const size_t bytes = ((product->m - 1) * stride + product->weights->n) * sizeof *sums;
    return overlap(array_of(sums, bytes), region_of_y(product)) ? PWL_QGEMM_ERR_OVERLAP : PWL_QGEMM_OK;
}

/* Whether what is written lies in what is read of a group, beside what `lies_in_inputs` knows. */
static int lies_in_group(const pwl_qgemm_product *product, const pwl_qgemm_group *group, region written)
{
    const size_t experts = group->experts, all = pwl_qgemm_columns(product->weights->n, is_gated(product)) * experts;
    const size_t weights = (experts - 1) * group->apart + product->weights->bytes;
    return overlap(array_of(product->weights->memory, weights), written) ||
           overlap(array_of(group->offsets, (experts + 1) * sizeof *group->offsets), written) ||
           overlap(array_of(product->bias, all * 4), written) ||
           (is_gated(product) && overlap(array_of(product->activation->bias_up, all * 4), written));
}

static int overwrites_group(const pwl_qgemm_product *product, const pwl_qgemm_group *group)
{
    return lies_in_group(product, group, region_of_y(product)) ||
           (product->y.dynamic && lies_in_group(product, group, region_of_scales(product)));
}

pwl_qgemm_status pwl_qgemm_check_group_with(const pwl_qgemm_product *product, const pwl_qgemm_group *group,
                                            const pwl_qgemm_codes *codes)
{
    const pwl_qgemm_status status = pwl_qgemm_check_with(product, codes);
    if (status != PWL_QGEMM_OK)
        return status;
    if (!group || !group->offsets)
        return PWL_QGEMM_ERR_NULL;
    if (group->experts == 0 || group->experts > PWL_QGEMM_MOST_EXPERTS || product->m > INT32_MAX ||
        group->apart < product->weights->bytes || group->apart % 16 || group->apart > SIZE_MAX / PWL_QGEMM_MOST_EXPERTS)
        return PWL_QGEMM_ERR_GROUP;
    if ((uintptr_t)group->offsets % sizeof *group->offsets)
        return PWL_QGEMM_ERR_ALIGN;
    return overwrites_group(product, group) ? PWL_QGEMM_ERR_OVERLAP : PWL_QGEMM_OK;
}

const char *pwl_qgemm_status_text(pwl_qgemm_status status)
{
    switch (status) {
    case PWL_QGEMM_OK:
        return "ok";
    case PWL_QGEMM_ERR_NULL:
        return "null pointer";
    case PWL_QGEMM_ERR_FORMAT:
        return "unknown format of weights, or not one that this function takes";
    case PWL_QGEMM_ERR_RULE:
        return "unknown rule, or none of this format's";
    case PWL_QGEMM_ERR_SHAPE:
        return "M, N or K is 0, K is not a multiple of 32, of 2:4 64, of super-blocks 256, or a matrix is too large";
    case PWL_QGEMM_ERR_ALIGN:
        return "array is not aligned to its elements, or packed weights not to 16 bytes";
    case PWL_QGEMM_ERR_SPACE:
        return "memory is too small";
    case PWL_QGEMM_ERR_SCALE:
        return "a scale, or a weight, is infinite or NaN";
    case PWL_QGEMM_ERR_SCHEME:
        return "unknown scheme, or weights or sums that are not the scheme's";
    case PWL_QGEMM_ERR_TYPE:
        return "type of X, Y or a tensor that is not taken here";
    case PWL_QGEMM_ERR_STRIDE:
        return "rows are closer together than they are long";
    case PWL_QGEMM_ERR_DEPTH:
        return "K is above 65793, where 32 bits do not hold every sum";
    case PWL_QGEMM_ERR_RANGE:
        return "zero point is outside -128 to 127";
    case PWL_QGEMM_ERR_KERNEL:
        return "PWL_QGEMM_KERNEL names no kernel";
    case PWL_QGEMM_ERR_OVERLAP:
        return "output overlaps what is read";
    case PWL_QGEMM_ERR_DATA:
        return "a tensor's data are more or fewer bytes than its shape takes";
    case PWL_QGEMM_ERR_TABLE:
        return "the activation's table is not safe to run, or was released";
    case PWL_QGEMM_ERR_FIT:
        return "type of Y does not hold the table's output range";
    case PWL_QGEMM_ERR_AFFINE:
        return "scale or zero point of an activation out of range, or in INT8 a scale that is no power of two";
    case PWL_QGEMM_ERR_PAIR:
        return "gate and up are of two types or shapes, or have rows that are no multiple of 8";
    case PWL_QGEMM_ERR_DEVICE:
        return "table lies on another device than the current one";
    case PWL_QGEMM_ERR_SPREAD:
        return "a row's numbers are further apart than E4M3 holds exactly";
    case PWL_QGEMM_ERR_GROUP:
        return "number of experts, or how far their weights are apart, is out of range, or M is above 2^31 - 1";
    case PWL_QGEMM_ERR_PART:
        return "a part of weights is empty, reaches beyond them or cuts through a piece";
    case PWL_QGEMM_ERR_SPARSE:
        return "more than two of four neighbouring weights are not 0, or positions of two that do not ascend";
    case PWL_QGEMM_ERR_CUDA:
        break;
    }
    return status >= PWL_QGEMM_ERR_CUDA ? "an error of CUDA" : "unknown status";
}
