/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read-only memories: their words, and the texts that hold them. */
#ifndef PWLC_RTL_ROM_H
#define PWLC_RTL_ROM_H

#include "base/diag.h"
#include "base/file.h"
#include "base/integers.h"
#include "pipeline.h"
#include "table/table.h"

#define ROM_MAX_BITS 20 /* of the address of a ROM of outputs */

struct rom {
    int entries, address_bits; /* entries <= 2^address_bits */
    int width;                 /* bits of a word */
    int stride;                /* bytes of a word */
    unsigned char *words;      /* lowest byte first; malloc'd */
};

int rom_make(struct rom *rom, int entries, int width, struct diag *diag);
void rom_free(struct rom *rom);

/* Sets bits of a word, from lowest_bit on, to the low bits of a value. */
void rom_put(struct rom *rom, int entry, int lowest_bit, int bits, wide value);

/* The output of every pattern of in.bits bits, a code's two's complement being its address. Exit 2 beyond
 * ROM_MAX_BITS. */
int rom_of_outputs(const struct table *table, const struct packed_table *packed, struct rom *rom, struct diag *diag);

/* A word in hexadecimal digits. */
void rom_add_hex(struct text *out, const struct rom *rom, int entry);

/* `function ... NAME_rom(index)` with a case for each word, in VHDL a constant array; an address behind the last gives
 * the last. */
void rom_add_function(struct text *out, const struct dialect *dialect, const struct rom *rom, const char *name);

/* A memory NAME_rom that a simulation or synthesis fills from the file. */
void rom_add_memory(struct text *out, const struct dialect *dialect, const struct rom *rom, const char *name,
                    const char *file);

#endif
