/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shipped.h"

#include "document.h"

const struct sfpu_shipped sfpu_shipped[] = {
    {"tanh-3", "tanh", "fp8x3", SFPU_RETAIN, "none", {0x1dff, 0x481a, 0xff00}, "tt-llk, ckernel_sfpu_tanh.h"},
    {"tanh-6",
     "tanh",
     "fp16x6-3",
     SFPU_RETAIN,
     "none",
     {0x389c3bb2, 0x2e2c3498, 0x7c002900, 0x322c7c00, 0x3a2537b6, 0x3c003b10},
     "tt-metal #56076, ckernel_sfpu_tanh.h"},
    {"sigmoid-3",
     "sigmoid",
     "fp8x3",
     SFPU_RETAIN,
     "0.5",
     {0x3dff, 0x21d8, 0xff10},
     "tt-metal, ckernel_sfpu_sigmoid_appx.h before #55061"},
    {"sigmoid-6",
     "sigmoid",
     "fp16x6-4",
     SFPU_RETAIN,
     "0.5",
     {0x32f433d9, 0x300a318a, 0x7c002a35, 0x23c87c00, 0x30272baa, 0x37ff34cc},
     "tt-metal #55061, ckernel_sfpu_sigmoid_appx.h"},
    {"gelu-6",
     "gelu",
     "fp16x6-3",
     SFPU_UPDATE,
     "x/2",
     {0x37e7322b, 0x38e138f3, 0x38003852, 0xb12286d8, 0xb437b479, 0x7c00afa4},
     "tt-llk, ckernel_sfpu_gelu.h"},
    {0},
};

void sfpu_shipped_table(const struct sfpu_shipped *shipped, enum sfpu_chip chip, enum sfpu_store store,
                        struct sfpu_table *table)
{
    *table = (struct sfpu_table){.kernel = {.layout = sfpu_layout_find(shipped->layout), .chip = chip}};
    table->kernel.sign = shipped->sign;
    table->kernel.store = store;
    sfpu_add_parse(shipped->add, &table->kernel);
    sfpu_words_take(shipped->words, table);
}
