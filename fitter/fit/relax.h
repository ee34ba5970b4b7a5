/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a spec asks for that costs accuracy or may be too much, one choice at a time. */
#ifndef PWLC_RELAX_H
#define PWLC_RELAX_H

#include <stdbool.h>

#include "base/file.h"
#include "spec/spec.h"

/* The k-th such choice, from 0: its flag and value as text, and the spec without it, which shares what the spec owns.
 * False after the last. Choices: --slope-bits, --shift, --shift-bits, --shift-multiple, --slope-terms, --knots, --monotone,
 * --continuous, --fix (all), --symmetry; of --knots points, which is a layout, neither it nor --shift. */
bool relax(const struct spec *spec, int k, struct spec *relaxed, struct text *choice);

#endif
