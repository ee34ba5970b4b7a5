/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw.h"

#include "../../support/random.h"

static uint64_t state;

void draw_from(uint64_t seed)
{
    state = seed;
}

uint64_t draw_bits(void)
{
    return random_bits(&state);
}

int draw(int choices)
{
    return (int)random_in(&state, 0, choices - 1);
}

int64_t between(int64_t low, int64_t high)
{
    return random_in(&state, low, high);
}

bool one_in(int count)
{
    return draw(count) == 0;
}

double uniform(double low, double high)
{
    return low + (high - low) * ((double)(draw_bits() >> 11) * 0x1p-53);
}
