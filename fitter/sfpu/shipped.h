/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that tt-metal and tt-llk ship, as the words that their kernels load: what a fit is compared with. */
#ifndef PWLC_SFPU_SHIPPED_H
#define PWLC_SFPU_SHIPPED_H

#include "kernel.h"

struct sfpu_shipped {
    const char *name, *function, *layout;
    enum sfpu_sign sign;
    const char *add;
    uint32_t words[SFPU_MAX_WORDS];
    const char *source; /* file and state */
};

/* Ends with a null name. */
extern const struct sfpu_shipped sfpu_shipped[];

/* The table, for a chip and a way to store. */
void sfpu_shipped_table(const struct sfpu_shipped *shipped, enum sfpu_chip chip, enum sfpu_store store,
                        struct sfpu_table *table);

#endif
