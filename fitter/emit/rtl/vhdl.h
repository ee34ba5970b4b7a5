/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What formulas are in VHDL-2008. */
#ifndef PWLC_RTL_VHDL_H
#define PWLC_RTL_VHDL_H

#include "base/file.h"
#include "formula.h"

/* "  target <= ...;", or with a bit that is not -1 "  target(3) <= ...;". False where the formula means something that
 * has no counterpart here: widths that differ where signs do, a condition within a number. */
bool vhdl_add_assignment(struct text *out, const struct declared *target, int bit, const struct formula *formula);

/* "signed(7 downto 0)", "std_logic" */
#define VHDL_TYPE_TEXT 48
const char *vhdl_type(const struct declared *declared, char text[VHDL_TYPE_TEXT]);

#endif
