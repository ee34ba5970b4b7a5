/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flags that choose a module, of every command that makes one. */
#ifndef PWLC_RTL_FLAGS_H
#define PWLC_RTL_FLAGS_H

#include <stdbool.h>

#include "emit/options.h"

/* Whether the flag is one of them; its value is then set, or *diag is, exit 2. */
bool rtl_flag_set(const char *flag, const char *value, struct rtl_options *rtl, struct diag *diag);

/* --lanes, which units of rows alone have. */
#define RTL_MAX_LANES 64
int rtl_lanes_set(const char *value, struct rtl_options *rtl, struct diag *diag);

#endif
