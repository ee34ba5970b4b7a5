/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a test or benchmark cannot do without, aligned to 128 bytes. */
#ifndef NEED_H
#define NEED_H

#include <stdlib.h>

static inline void *need(size_t bytes)
{
    void *const memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (!memory)
        abort();
    return memory;
}

#endif
