/* SPDX-License-Identifier: GPL-3.0-or-later */
/* VHDL-2008: what formulas, words of a ROM and whole modules are in it. */
#ifndef PWLC_RTL_VHDL_H
#define PWLC_RTL_VHDL_H

#include "formula.h"
#include "rom.h"

/* "  target <= ...;". False where the formula means something that has no counterpart here: widths that differ where
 * signs do, a condition within a number. */
bool vhdl_add_assignment(struct text *out, const char *target, const struct declared *declared,
                         const struct formula *formula);

/* "signed(7 downto 0)", "std_logic" */
#define VHDL_TYPE_TEXT 48
const char *vhdl_type(const struct declared *declared, char text[VHDL_TYPE_TEXT]);

/* A constant NAME_rom, or one that is read from a file. Both have an entry for every address: those behind the last are
 * as that is. */
void vhdl_add_rom(struct text *out, const struct rom *rom, const char *name);
void vhdl_add_rom_of_file(struct text *out, const struct rom *rom, const char *name, const char *file);

#endif
