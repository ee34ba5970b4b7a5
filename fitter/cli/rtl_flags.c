/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rtl_flags.h"

#include <string.h>

#include "base/number.h"

bool rtl_flag_set(const char *flag, const char *value, struct rtl_options *rtl, struct diag *diag)
{
    int64_t stages;
    if (strcmp(flag, "--rtl-style") == 0)
        rtl->style = rtl_style_parse(value);
    else if (strcmp(flag, "--rtl-handshake") == 0)
        rtl->has_ready = strcmp(value, "ready") == 0;
    else if (strcmp(flag, "--stages") != 0)
        return false;
    else if (number_integer(value, strlen(value), &stages) == NUMBER_OK && stages >= 0 && stages <= RTL_MAX_STAGES)
        rtl->stages = (int)stages;
    else
        diag_set(diag, EXIT_USAGE, "--stages %.40s: must be a number of registers, 0 to %d", value, RTL_MAX_STAGES);
    return true;
}
