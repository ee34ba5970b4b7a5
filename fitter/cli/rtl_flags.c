/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rtl_flags.h"

#include <string.h>

#include "base/number.h"

static void set_clock(const char *value, double *ns, struct diag *diag)
{
    if (number_real(value, strlen(value), ns) != NUMBER_OK || *ns < 1e-3 || *ns > 1e6)
        diag_set(diag, EXIT_USAGE, "--clock %.40s: must be a period in nanoseconds, 0.001 to 1000000", value);
}

bool rtl_flag_set(const char *flag, const char *value, struct rtl_options *rtl, struct diag *diag)
{
    int64_t stages;
    if (strcmp(flag, "--rtl-style") == 0)
        rtl->style = rtl_style_parse(value);
    else if (strcmp(flag, "--rtl-handshake") == 0)
        rtl->has_ready = strcmp(value, "ready") == 0;
    else if (strcmp(flag, "--rom") == 0)
        rtl->rom_in_file = strcmp(value, "mem") == 0;
    else if (strcmp(flag, "--clock") == 0)
        set_clock(value, &rtl->clock_ns, diag);
    else if (strcmp(flag, "--stages") != 0)
        return false;
    else if (number_integer(value, strlen(value), &stages) == NUMBER_OK && stages >= 0 && stages <= RTL_MAX_STAGES)
        rtl->stages = (int)stages;
    else
        diag_set(diag, EXIT_USAGE, "--stages %.40s: must be a number of registers, 0 to %d", value, RTL_MAX_STAGES);
    return true;
}

int rtl_lanes_set(const char *value, struct rtl_options *rtl, struct diag *diag)
{
    int64_t lanes;
    if (number_integer(value, strlen(value), &lanes) != NUMBER_OK || lanes < 1 || lanes > RTL_MAX_LANES)
        return diag_set(diag, EXIT_USAGE, "--lanes %.40s: must be a number of places, 1 to %d", value, RTL_MAX_LANES);
    rtl->lanes = (int)lanes;
    return EXIT_DONE;
}
