/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <pwl/half.h>

#include "base/number.h"

#define HALF 0x3f000000u
#define ONE 0x3f800000u

/* Starts are codes of bf16: 0.5 is 0x3f00, 1 0x3f80, 1.5 0x3fc0, 2 0x4000, 3 0x4040 and 4 0x4080. */
const struct sfpu_layout sfpu_layouts[] = {
    {"fp8x3", "SFPLUT", "0", 0, 8, 3, 3, {0, 0x3f80, 0x4000}},
    {"fp16x3", "SFPLUTFP32", "FP16_3ENTRY_TABLE", 10, 16, 3, 3, {0, 0x3f80, 0x4000}},
    {"fp16x6-3", "SFPLUTFP32", "FP16_6ENTRY_TABLE1", 2, 16, 6, 6, {0, 0x3f00, 0x3f80, 0x3fc0, 0x4000, 0x4040}},
    {"fp16x6-4", "SFPLUTFP32", "FP16_6ENTRY_TABLE2", 3, 16, 6, 6, {0, 0x3f00, 0x3f80, 0x3fc0, 0x4000, 0x4080}},
    {0},
};

const char *const sfpu_chips[] = {"wormhole", "blackhole", NULL};
const char *const sfpu_signs[] = {"retain", "update", NULL};
const char *const sfpu_stores[] = {"truncate", "nearest", NULL};

const struct sfpu_layout *sfpu_layout_find(const char *name)
{
    for (const struct sfpu_layout *layout = sfpu_layouts; layout->name; layout++)
        if (strcmp(layout->name, name) == 0)
            return layout;
    return NULL;
}

int sfpu_segment(const struct sfpu_layout *layout, uint16_t x)
{
    int segment = layout->segments - 1;
    while ((x & 0x7fff) < layout->start[segment])
        segment--;
    return segment;
}

uint16_t sfpu_zero(const struct sfpu_layout *layout)
{
    return layout->bits == 8 ? 0xff : 0x7c00;
}

uint32_t sfpu_coefficient(const struct sfpu_layout *layout, uint16_t code)
{
    return layout->bits == 8 ? sfpu_of_fp8(code) : sfpu_of_fp16(code);
}

uint32_t sfpu_line(const struct sfpu_kernel *kernel, uint32_t a, uint32_t b, uint16_t x)
{
    return sfpu_multiply_add(kernel->chip, a, (uint32_t)(x & 0x7fff) << 16, b);
}

uint16_t sfpu_finish(const struct sfpu_kernel *kernel, uint32_t line, uint16_t x)
{
    const uint32_t wide = (uint32_t)x << 16;
    if (kernel->sign == SFPU_RETAIN)
        line = (line & ~SFPU_SIGN) | (wide & SFPU_SIGN);
    if (kernel->add == SFPU_ADD_CONSTANT)
        line = sfpu_multiply_add(kernel->chip, (uint32_t)kernel->constant << 16, ONE, line);
    else if (kernel->add == SFPU_ADD_HALF_X)
        line = sfpu_multiply_add(kernel->chip, ONE, sfpu_multiply_add(kernel->chip, wide, HALF, 0), line);
    return sfpu_stored(kernel->store, line);
}

uint16_t sfpu_result(const struct sfpu_table *table, uint16_t x)
{
    const struct sfpu_layout *const layout = table->kernel.layout;
    const struct sfpu_pair pair = table->pairs[sfpu_segment(layout, x)];
    const uint32_t a = sfpu_coefficient(layout, pair.a), b = sfpu_coefficient(layout, pair.b);
    return sfpu_finish(&table->kernel, sfpu_line(&table->kernel, a, b, x), x);
}

int sfpu_register(int word)
{
    return word < 3 ? word : word + 1; /* LREG3 is x */
}

void sfpu_words(const struct sfpu_table *table, uint32_t words[SFPU_MAX_WORDS])
{
    const struct sfpu_layout *const layout = table->kernel.layout;
    const struct sfpu_pair *const pairs = table->pairs;
    for (int k = 0; k < 3; k++)
        if (layout->segments == 3)
            words[k] = (uint32_t)pairs[k].a << layout->bits | pairs[k].b;
        else {
            words[k] = (uint32_t)pairs[2 * k + 1].a << 16 | pairs[2 * k].a;
            words[3 + k] = (uint32_t)pairs[2 * k + 1].b << 16 | pairs[2 * k].b;
        }
}

int sfpu_modifier(const struct sfpu_kernel *kernel)
{
    return kernel->layout->number | (kernel->sign == SFPU_RETAIN ? 4 : 0);
}

double sfpu_real_of_bits(uint32_t fp32)
{
    return (double)pwl_f32_of_bits(fp32);
}

double sfpu_real(uint16_t bf16)
{
    return sfpu_real_of_bits((uint32_t)bf16 << 16);
}

bool sfpu_code_of(double value, uint16_t *code)
{
    if (!(fabs(value) <= sfpu_real(SFPU_LARGEST)) || (value != 0 && fabs(value) < 0x1p-126))
        return false;
    *code = value == 0 ? 0 : (uint16_t)(pwl_bits_of_f32((float)value) >> 16);
    return sfpu_real(*code) == value;
}

void sfpu_add_text(const struct sfpu_kernel *kernel, char text[SFPU_ADD_SIZE])
{
    if (kernel->add == SFPU_ADD_CONSTANT)
        number_format(sfpu_real(kernel->constant), text);
    else
        snprintf(text, SFPU_ADD_SIZE, "%s", kernel->add == SFPU_ADD_HALF_X ? "x/2" : "none");
}

bool sfpu_add_parse(const char *text, struct sfpu_kernel *kernel)
{
    double value;
    kernel->constant = 0;
    kernel->add = strcmp(text, "x/2") == 0 ? SFPU_ADD_HALF_X : SFPU_ADD_NOTHING;
    if (kernel->add == SFPU_ADD_HALF_X || strcmp(text, "none") == 0)
        return true;
    kernel->add = SFPU_ADD_CONSTANT;
    return number_real(text, strlen(text), &value) == NUMBER_OK && sfpu_code_of(value, &kernel->constant) &&
           kernel->constant != 0;
}
