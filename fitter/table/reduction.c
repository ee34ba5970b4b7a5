/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reduction.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "storage.h"

static const struct {
    const char *function;
    pwl_reduction_kind kind;
    int log2_step, direction;
} laws[] = {
    {"sqrt", PWL_LEADING_ZEROS, 1, 1}, {"rsqrt", PWL_LEADING_ZEROS, 1, -1}, {"reciprocal", PWL_LEADING_ZEROS, 0, -1},
    {"log", PWL_LEADING_ZEROS, 0, 0},  {"exp", PWL_EXPONENT, 0, -1},
};

bool reduction_law(const char *function, pwl_reduction *reduction)
{
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        if (!strcmp(function, laws[k].function)) {
            *reduction = (pwl_reduction){.version = PWL_REDUCTION_VERSION,
                                         .kind = (uint8_t)laws[k].kind,
                                         .log2_step = (uint8_t)laws[k].log2_step,
                                         .direction = (int8_t)laws[k].direction};
            return true;
        }
    return false;
}

pwl_storage reduction_storage(int in_bits, int out_bits)
{
    const pwl_storage storage = storage_for(in_bits, out_bits);
    return storage < PWL_INT16 ? PWL_INT16 : storage;
}

void reduction_text(const pwl_reduction *reduction, char *text, size_t size)
{
    if (reduction->kind == PWL_EXPONENT)
        snprintf(text, size, "exponent, factor %" PRId64 " of %d fraction bits, direction %d, shift %d",
                 reduction->factor, reduction->fraction, reduction->direction, reduction->shift);
    else if (reduction->direction == 0)
        snprintf(text, size, "leading zeros, step %d, addend %" PRId64 ", shift %d, below %" PRId64,
                 1 << reduction->log2_step, reduction->addend, reduction->shift, reduction->below);
    else
        snprintf(text, size, "leading zeros, step %d, direction %d, shift %d, below %" PRId64,
                 1 << reduction->log2_step, reduction->direction, reduction->shift, reduction->below);
}

struct tensor reduction_words(const pwl_reduction *reduction, pwl_storage storage)
{
    const int bits = storage_bits(storage);
    struct tensor words = {.bits = bits, .zero_point = (int64_t)1 << (bits - 1), .qmax = code_max(bits, false)};
    scale_of_value(1, &words.scale);
    if (reduction->kind == PWL_LEADING_ZEROS)
        words.qmin = (int64_t)1 << (bits - 1 - reduction->log2_step);
    return words;
}
