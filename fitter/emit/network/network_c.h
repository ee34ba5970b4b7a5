/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PWLC_EMIT_NETWORK_C_H
#define PWLC_EMIT_NETWORK_C_H

#include "emit/options.h"
#include "network/network.h"

/* A network as a header for the runtime: its constants, a pwl_network over them, and a function that runs it at
 * `sizes`, one for each of the network's, in memory of its own. */
int emit_network_c(const struct network *network, const uint32_t *sizes, const struct emit_options *options,
                   struct text *out, struct diag *diag);

#endif
