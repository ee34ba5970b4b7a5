/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least error of all tables of steps. No header of the project. */
#ifndef EVERY_STEPS_H
#define EVERY_STEPS_H

#include "every_table.h"

/* Tries every output at every step, of codes k with the same k * 2^-step_shift as the rounding makes it. An output is
 * one that some constant from offset_low to offset_high comes out as. The least error among tables whose error is at
 * most `limit`. */
struct every_found every_steps(const struct every_spec *spec, double limit);

#endif
