/* SPDX-License-Identifier: Apache-2.0 */
/* What NEON's ways share. Only files compiled for NEON may have it. */
#ifndef PWL_LINE_NEON_H
#define PWL_LINE_NEON_H

#include <arm_neon.h>

#include "../loop.h"

/* 64 bytes of a table. By its parts, or GCC copies it by memcpy() where it optimises for size. */
INLINE uint8x16x4_t load(const uint8x16x4_t *of)
{
    const uint8x16x4_t parts = {{of->val[0], of->val[1], of->val[2], of->val[3]}};
    return parts;
}

#endif
