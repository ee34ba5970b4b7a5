/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hard_elements.h"

#include <math.h>

#include "draw.h"

enum { BESIDE = 64, TIES = 4 }; /* rows of add beside one code, and near ties, where pairs are too many */

static uint32_t codes_of(const struct tensor *tensor)
{
    return (uint32_t)1 << tensor->bits;
}

static int64_t nearest_code(const struct tensor *tensor, long double v)
{
    return v <= (long double)tensor->qmin ? tensor->qmin : v >= (long double)tensor->qmax ? tensor->qmax : (int64_t)v;
}

static void every_code(const struct tensor *in, void *x)
{
    for (uint32_t k = 0; k < codes_of(in); k++)
        operator_set_code(in, x, k, in->qmin + k);
}

/* The code of an input below, or with `above` at or above, where its real value and a sum before it make the output
 * half a step below its code number k. */
static int64_t beside_tie(const struct row_operator *of, const struct tensor *in, uint32_t k, long double before,
                          bool above)
{
    const long double tie = (long double)(of->out.qmin - of->out.zero_point + k) - 0.5L - before;
    return nearest_code(in, floorl(tie * (long double)of->out.scale.value / (long double)in->scale.value) + above +
                                (long double)in->zero_point);
}

/* 32-bit codes of requantise: next to every tie, around the zero point and the ends; then drawn ones of every width. */
static bool wide_row(const struct row_operator *of, int64_t k, int64_t drawn, void *x, struct element_row *row)
{
    static const char *const shapes[] = {"below ties", "above ties", "around the zero point", "at the ends"};
    const struct tensor *const in = &of->in;
    uint64_t state = (uint64_t)k;
    if (k >= 4 + drawn)
        return false;
    *row = (struct element_row){k < 4 ? shapes[k] : "drawn", k < 4 ? 0 : (uint32_t)(k - 4),
                                k < 2 ? codes_of(&of->out) : HARD_ELEMENTS};
    for (uint32_t c = 0; c < row->length; c++) {
        const uint64_t bits = draw(&state);
        const int64_t any = (int64_t)bits >> (32 + bits % 32); /* of 1 to 32 bits */
        const int64_t far = c & 1 ? in->qmax - c / 2 : in->qmin + c / 2;
        const int64_t code = k < 2    ? beside_tie(of, in, c, 0, k == 1)
                             : k == 2 ? nearest_code(in, (long double)(in->zero_point - HARD_ELEMENTS / 2 + c))
                             : k == 3 ? far
                                      : nearest_code(in, (long double)(in->zero_point + any));
        operator_set_code(in, x, c, code);
    }
    return true;
}

/* Every code of the first input of add: beside a code of the second, near ties, and beside drawn ones. */
static bool pair_row(const struct row_operator *of, int64_t k, int64_t drawn, void *x, void *b, struct element_row *row)
{
    const struct tensor *const in = &of->in, *const in_b = &of->in_b;
    const bool is_whole = in->bits == 8 && in_b->bits == 8;
    const int64_t beside = is_whole ? codes_of(in_b) : BESIDE, ties = is_whole ? 0 : TIES;
    uint64_t state = (uint64_t)k;
    if (k >= beside + ties + (is_whole ? 0 : drawn))
        return false;
    *row = (struct element_row){k < beside          ? "every code beside one"
                                : k < beside + ties ? "every code near a tie"
                                                    : "every code beside drawn ones",
                                (uint32_t)k, codes_of(in)};
    every_code(in, x);
    for (uint32_t c = 0; c < row->length; c++) {
        const uint32_t bits = (uint32_t)(draw(&state) >> 32);
        const long double before = (long double)(in->qmin + c - in->zero_point) * (long double)in->scale.value /
                                   (long double)of->out.scale.value;
        const int64_t code = k < beside          ? in_b->qmin + k * (in_b->qmax - in_b->qmin) / (beside - 1)
                             : k < beside + ties ? beside_tie(of, in_b, bits % codes_of(&of->out), before, k & 1)
                                                 : in_b->qmin + bits % codes_of(in_b);
        operator_set_code(in_b, b, c, code);
    }
    return true;
}

bool hard_elements_row(const struct row_operator *of, int64_t k, int64_t drawn, void *x, void *b,
                       struct element_row *row)
{
    if (of->kind == OPERATOR_ADD)
        return pair_row(of, k, drawn, x, b, row);
    if (of->in.bits == 32)
        return wide_row(of, k, drawn, x, row);
    *row = (struct element_row){"every code", 0, codes_of(&of->in)};
    every_code(&of->in, x);
    return k == 0;
}
