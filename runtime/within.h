/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PWL_WITHIN_H
#define PWL_WITHIN_H

#include <stdint.h>

static inline int is_within(int64_t v, int64_t min, int64_t max)
{
    return min <= v && v <= max;
}

#endif
