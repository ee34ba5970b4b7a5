/* SPDX-License-Identifier: Apache-2.0 */
/* What ways by vectors are written with: functions and loops that are laid open, so that a kind of weights, which is
 * known where a pass is made, costs no branch in it. */
#ifndef PWL_QGEMM_UNROLL_H
#define PWL_QGEMM_UNROLL_H

#include "pass.h"

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 17")
#endif

INLINE int is_bytes(pwl_qgemm_kind kind)
{
    return kind == PWL_QGEMM_BYTES || kind == PWL_QGEMM_INTEGERS;
}

#endif
