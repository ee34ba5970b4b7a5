/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NETWORK_EQUIVALENCE_H
#define NETWORK_EQUIVALENCE_H

#include <stddef.h>

/* Says a line for each network; 1 when a check refuses it, or a way gives other codes than plain C. Some KiB of memory,
 * aligned as an int64_t, are written. */
int check_networks(void *memory, size_t bytes);

#endif
