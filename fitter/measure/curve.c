/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "curve.h"

#include <stdlib.h>

#include "function/target.h"

struct curve_point curve_point_of(const struct table *table, const struct packed_table *packed,
                                  const struct function *function, int64_t code)
{
    const struct tensor *out = &table->out;
    const struct dd target = target_unclipped(function, &table->in, out, table->outside, code);
    const struct dd clipped = target_clipped(out, target);
    const int64_t y = packed_eval(packed, code);
    return (struct curve_point){.code = code,
                                .x = tensor_at(&table->in, code).hi,
                                .f = dd_times(dd_sub(target, dd_of_integer(out->zero_point)), out->scale.value).hi,
                                .target = clipped.hi,
                                .output = y,
                                .err = target_missed(clipped, y).hi};
}

int curve_make(const struct table *table, const struct packed_table *packed, const struct function *function,
               struct curve *curve, struct diag *diag)
{
    const int64_t codes = table->in.qmax - table->in.qmin + 1; /* at most 2^32 */
    const int64_t count = codes < CURVE_CODES ? codes : CURVE_CODES;
    const size_t n = (size_t)count;
    *curve = (struct curve){.count = n, .exhaustive = count == codes};
    curve->code = malloc(n * sizeof *curve->code);
    curve->x = malloc(n * sizeof *curve->x);
    curve->f = malloc(n * sizeof *curve->f);
    curve->y = malloc(n * sizeof *curve->y);
    curve->err = malloc(n * sizeof *curve->err);
    if (!curve->code || !curve->x || !curve->f || !curve->y || !curve->err) {
        curve_free(curve);
        return diag_set(diag, EXIT_IO, "out of memory for %lld codes", (long long)count);
    }
    /* At most 2^20 * 2^32. A single code is its own step. */
    for (int64_t k = 0; k < count; k++) {
        const int64_t code = table->in.qmin + (count > 1 ? k * (codes - 1) / (count - 1) : 0);
        const struct curve_point point = curve_point_of(table, packed, function, code);
        curve->code[k] = code;
        curve->x[k] = point.x;
        curve->f[k] = point.f;
        curve->y[k] = tensor_at(&table->out, point.output).hi;
        curve->err[k] = point.err;
    }
    return EXIT_DONE;
}

void curve_free(struct curve *curve)
{
    free(curve->code);
    free(curve->x);
    free(curve->f);
    free(curve->y);
    free(curve->err);
    *curve = (struct curve){0};
}
