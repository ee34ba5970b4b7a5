/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a module: segments, and their lines. */
#ifndef PWLC_RTL_SEGMENTS_H
#define PWLC_RTL_SEGMENTS_H

#include "module.h"

int module_of_segments(struct module *m, struct diag *diag);

#endif
