/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags of random fits. */
#ifndef RANDOM_SPEC_H
#define RANDOM_SPEC_H

#include <stddef.h>

/* Every storage case, form and rounding in turn, by index; the rest drawn: function, widths, signs, scales (powers
 * of two and others), zero points in and outside the codes, method, segments or error limit, width of slopes. The
 * output range holds f's, or a part of it, or more. Most inputs are narrow, so that 10,000 fits take a minute. */
void random_flags(int index, char *flags, size_t size);

#endif
