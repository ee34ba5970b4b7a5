/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags of random fits, the same for the same seed everywhere. */
#ifndef RANDOM_SPEC_H
#define RANDOM_SPEC_H

#include <stddef.h>
#include <stdint.h>

struct random_source {
    uint64_t state;
};

uint64_t random_bits(struct random_source *source);

/* 0..count - 1 */
int random_below(struct random_source *source, int count);

/* [low, high) */
double random_between(struct random_source *source, double low, double high);

/* Every storage case, form and rounding in turn, by index; the rest at random: function, widths, signs, scales (powers
 * of two and others), zero points in and outside the codes, method, segments or error limit, width of slopes. The
 * output range holds f's, or a part of it, or more. Most inputs are narrow, so that 10,000 fits take a minute. */
void random_flags(struct random_source *source, int index, char *flags, size_t size);

#endif
