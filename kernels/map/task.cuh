/* SPDX-License-Identifier: Apache-2.0 */
/* What a map's kernel is told beside its arrays. */
#ifndef PWL_TASK_CUH
#define PWL_TASK_CUH

#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "shape.h"

namespace pwl
{

struct task : pwl_planned {
    /* Codes: u = clamp(code ^ flip, low, high) + add. */
    uint32_t flip, low, high, add;
    uint32_t flip_pair; /* flip in both halves of a word */

    /* Real inputs: u = clamp(rint(x * inverse), first, last) - first. Real outputs: scale * (q - zero). */
    float inverse, scale;
    uint32_t near_zero; /* zero less PWL_PRESET */
    int64_t first, last, zero;

    /* The elements from `head` on are aligned to packs, `packs` of them; the rest goes one by one. */
    size_t head, packs, count;
    pwl_shape shape; /* of the launch */
    uint32_t ring;   /* where in shared memory loads arrive */
};

} // namespace pwl

#endif
