/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The codes that a bench drives, by their place: every pattern of the port up to 16 bits; beyond, those around knots
 * and limits, then drawn ones. */
#ifndef PWLC_RTL_CODES_H
#define PWLC_RTL_CODES_H

#include "module.h"

struct codes {
    int64_t *listed; /* malloc'd */
    int64_t listed_count;
    int64_t count; /* in all */
    int bits;
    bool is_signed, has_all;
};

int codes_make(const struct module *m, struct codes *codes, struct diag *diag);
int64_t code_at(const struct codes *codes, int64_t place);

/* Where a slow simulator may stop, and the hash of the outputs of so many codes. */
int64_t codes_first(const struct codes *codes);
uint64_t codes_hash(const struct module *m, const struct codes *codes, int64_t count);

/* Of every 512 codes, or of all where there are fewer, a quarter each has gaps before the module, waits behind it,
 * both, or neither: the bits of a place that tell. */
struct code_bits {
    int gap, wait;
};
struct code_bits code_bits(const struct codes *codes);

#endif
