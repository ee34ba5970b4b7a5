/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of an element type that is chosen at run time. Elements are read and written by the runtime's own functions,
 * which test_runtime_map.c holds against C's. */
#ifndef TYPED_ARRAY_H
#define TYPED_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include <pwl/pwl.h>

#include "../../runtime/element.h"

struct type_limits {
    int64_t min, max;
};
#define LIMITS(name, type, min, max) {min, max},
static const struct type_limits limits[] = {PWL_MAP_TYPES(LIMITS)};

#define BYTES(type) ((size_t)1 << pwl_type_bytes_log2(type))

#endif
