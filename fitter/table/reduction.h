/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Range reduction of a table: which functions repeat themselves from octave to octave, and how. */
#ifndef PWLC_REDUCTION_H
#define PWLC_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>

#include <pwl/reduce.h>

#include "function/tensor.h"

/* How a function repeats itself, by its name; false when it does not. Sets kind, log2_step and direction, clears the
 * rest. */
bool reduction_law(const char *function, pwl_reduction *reduction);

/* Storage of the core: the table's own, but at least int16. A 16-bit core over 16-bit words has room for 8 more bits of
 * value than an 8-bit result has, where an 8-bit one has none. */
pwl_storage reduction_storage(int in_bits, int out_bits);

/* "leading zeros, step 2, direction -1, shift 14, below 65535" */
void reduction_text(const pwl_reduction *reduction, char *text, size_t size);

/* The core's input codes: words of the storage's width, those of leading zeros with their highest octaves set; the zero
 * point in the middle, so that q - zp_x needs a bit less than the word. */
struct tensor reduction_words(const pwl_reduction *reduction, pwl_storage storage);

#endif
