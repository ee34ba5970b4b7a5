/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a module: all outputs in a ROM. */
#ifndef PWLC_RTL_OUTPUTS_H
#define PWLC_RTL_OUTPUTS_H

#include "module.h"

int module_of_outputs(struct module *m, struct diag *diag);

#endif
