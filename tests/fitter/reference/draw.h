/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers from a seed, the same everywhere: one sequence for what is drawn and for the tests that draw on. */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>
#include <stdint.h>

void draw_from(uint64_t seed);

uint64_t draw_bits(void);

/* 0..choices - 1 */
int draw(int choices);

/* low..high */
int64_t between(int64_t low, int64_t high);

bool one_in(int count);

/* [low, high) */
double uniform(double low, double high);

#endif
