/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table in the layout of the runtime, and the proof that it is safe to run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "reduction.h"
#include "table.h"

/* A pair of limits; bits is 8 to 64. */
struct limits {
    int64_t min, max;
};

static struct limits type_limits(int bits, bool is_signed)
{
    struct limits limits;
    if (is_signed) {
        limits.max = INT64_MAX >> (64 - bits);
        limits.min = -limits.max - 1;
    } else {
        limits.max = (int64_t)(UINT64_MAX >> (64 - bits)); /* unsigned types here have at most 32 bits */
        limits.min = 0;
    }
    return limits;
}

static bool within(int64_t value, struct limits limits)
{
    return value >= limits.min && value <= limits.max;
}

/* Stores a value that was found to fit. Elements are read back with the signed or unsigned type of this size. */
static void put(void *array, int bytes, int index, int64_t value)
{
    switch (bytes) {
    case 1:
        ((uint8_t *)array)[index] = (uint8_t)value;
        break;
    case 2:
        ((uint16_t *)array)[index] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)array)[index] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)array)[index] = (uint64_t)value;
        break;
    }
}

static int require_fit(int segment, const char *field, int64_t value, struct limits limits, struct diag *diag)
{
    if (within(value, limits))
        return EXIT_DONE;
    return diag_set(diag, EXIT_USAGE, "segments[%d].%s: %" PRId64 ", must fit %" PRId64 "..%" PRId64, segment, field,
                    value, limits.min, limits.max);
}

static int check_header(const struct table *table, struct diag *diag)
{
    /* zp_x: int16, int32, int64 */
    const struct limits zero_point = type_limits(2 * storage_bits(table->storage), true);
    if (table->segment_count < 1 || table->segment_count > PWL_MAX_SEGMENTS)
        return diag_set(diag, EXIT_USAGE, "segments: %d of them, must be 1..%d", table->segment_count,
                        PWL_MAX_SEGMENTS);
    if (!within(table->in.zero_point, zero_point))
        return diag_set(diag, EXIT_USAGE,
                        "in.zero_point: %" PRId64 ", must fit %" PRId64 "..%" PRId64 " in an %s table",
                        table->in.zero_point, zero_point.min, zero_point.max, storage_name(table->storage));
    return EXIT_DONE;
}

/* What would make a table that fails with this status provable. */
static const char *status_remedy(pwl_status status)
{
    switch (status) {
    case PWL_ERR_PRODUCT:
    case PWL_ERR_BIAS:
    case PWL_ERR_ROUNDING:
        return "a shorter slope or a zero point nearer to the codes is needed";
    case PWL_ERR_LEFT_SHIFT:
    case PWL_ERR_SUM:
        return "a smaller offset or a flatter segment is needed";
    case PWL_ERR_ZERO_POINT:
        return "a zero point nearer to the codes is needed";
    case PWL_ERR_FOLD:
        return "a fold needs zp_x in [qmin_x, qmax_x] and a smaller sum";
    case PWL_ERR_OFFSET:
        return "it must fit 48 bits";
    case PWL_ERR_SHIFT:
        return "-31..31 is legal with a 32-bit accumulator, -63..63 with 64 bits";
    case PWL_ERR_START:
        return "starts must ascend from the lowest code";
    case PWL_ERR_REDUCED_CODE:
    case PWL_ERR_REDUCED_VALUE:
        return "a smaller factor or addend, or a zero point nearer to the codes, is needed";
    default:
        return "the field must be within the limits of its storage case";
    }
}

int table_pack(const struct table *table, struct packed_table *packed, struct diag *diag)
{
    memset(packed, 0, sizeof *packed);
    if (check_header(table, diag))
        return diag->code;

    const int element = storage_bits(table->storage) / 8;
    const int wide = offset_bytes(table->storage, table->form);
    const struct tensor in = table_segment_codes(table);
    const struct limits start_limits = type_limits(8 * element, in.is_signed);
    const struct limits q_b_limits = type_limits(8 * element, true);
    const struct limits n_limits = type_limits(8, true);
    const struct limits offset_limits = type_limits(8 * wide, true);
    const size_t count = (size_t)table->segment_count;

    /* Arrays in falling order of their element size, so that each is aligned without gaps. */
    unsigned char *const memory = malloc(count * (size_t)(wide + 2 * element + 1));
    if (!memory)
        return diag_set(diag, EXIT_IO, "out of memory for %zu segments", count);
    void *const offset = memory;
    void *const start = memory + count * (size_t)wide;
    void *const q_b = memory + count * (size_t)(wide + element);
    void *const n = memory + count * (size_t)(wide + 2 * element);
    packed->memory = memory;

    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *const segment = &table->segments[i];
        if (require_fit(i, "start", segment->start, start_limits, diag) ||
            require_fit(i, "q_b", segment->q_b, q_b_limits, diag) ||
            require_fit(i, "n_BX_total", segment->n, n_limits, diag) ||
            require_fit(i, offset_name(table->form), segment->offset, offset_limits, diag)) {
            packed_table_free(packed);
            return diag->code;
        }
        put(start, element, i, segment->start);
        put(q_b, element, i, segment->q_b);
        put(n, 1, i, segment->n);
        put(offset, wide, i, segment->offset);
    }

    packed->table = (pwl_table){
        .version = PWL_TABLE_VERSION,
        .storage = (uint8_t)table->storage,
        .form = (uint8_t)table->form,
        .rounding = (uint8_t)table->rounding,
        .flags = (uint16_t)((in.is_signed ? 0u : PWL_FLAG_UNSIGNED_X) | (table->has_fold ? PWL_FLAG_FOLD : 0u)),
        .segments = (uint16_t)table->segment_count,
        .start = start,
        .q_b = q_b,
        .n = n,
        .offset = offset,
        .zp_x = in.zero_point,
        .qmin_x = in.qmin,
        .qmax_x = in.qmax,
        .qmin_y = table->out.qmin,
        .qmax_y = table->out.qmax,
        .fold_sum = table->has_fold ? table->fold_sum : 0,
    };
    packed->is_reduced = table->has_reduction;
    if (table->has_reduction) {
        packed->reduced = (pwl_reduced){.reduction = table->reduction, .core = packed->table};
        packed->reduced.reduction.zp_x = table->in.zero_point;
        packed->reduced.reduction.qmin_x = table->in.qmin;
        packed->reduced.reduction.qmax_x = table->in.qmax;
        packed->reduced.reduction.zp_y = table->out.zero_point;
    }
    return EXIT_DONE;
}

void packed_table_free(struct packed_table *packed)
{
    free(packed->memory);
    memset(packed, 0, sizeof *packed);
}

struct tensor table_segment_codes(const struct table *table)
{
    return table->has_reduction ? reduction_words(&table->reduction, table->storage) : table->in;
}

int64_t packed_eval(const struct packed_table *packed, int64_t q_x)
{
    return packed->is_reduced ? pwl_reduced_eval(&packed->reduced, q_x) : pwl_eval(&packed->table, q_x);
}

int packed_segment(const struct packed_table *packed, int64_t q_x)
{
    if (!packed->is_reduced)
        return pwl_segment(&packed->table, q_x);
    const pwl_reduction *reduction = &packed->reduced.reduction;
    const int64_t d = pwl_sat(q_x, reduction->qmin_x, reduction->qmax_x) - reduction->zp_x;
    if (reduction->kind == PWL_LEADING_ZEROS && d <= 0)
        return -1;
    return pwl_segment(&packed->table, pwl_reduce(reduction, 8 << packed->table.storage, d).m);
}

int table_prove(const struct table *table, int refusal, struct packed_table *packed, pwl_proof *proof,
                struct diag *diag)
{
    pwl_proof own;
    if (!proof)
        proof = &own;
    if (table_pack(table, packed, diag)) {
        if (diag->code == EXIT_USAGE)
            diag->code = refusal;
        return diag->code;
    }
    const pwl_status status =
        packed->is_reduced ? pwl_reduced_check(&packed->reduced, proof) : pwl_table_check(&packed->table, proof);
    if (status == PWL_OK)
        return EXIT_DONE;
    packed_table_free(packed);
    if (proof->segment < 0)
        return diag_set(diag, refusal, "no proof that the table is safe: %s (%d-bit accumulator); %s",
                        pwl_status_text(status), accumulator_bits(table->storage), status_remedy(status));
    return diag_set(diag, refusal, "segments[%d]: no proof that it is safe: %s (%d-bit accumulator); %s",
                    (int)proof->segment, pwl_status_text(status), accumulator_bits(table->storage),
                    status_remedy(status));
}
