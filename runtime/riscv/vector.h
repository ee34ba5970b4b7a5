/* SPDX-License-Identifier: Apache-2.0 */
/* The intrinsics of RISC-V's V by the names that the compiler has: RVV(vadd_vv_i32m4)(a, b, vl), and
 * RVV_KEEP(vadd_vv_i32m4)(lanes, kept, a, b, vl), which leaves other lanes as in `kept`. Before version 0.11 they had
 * no prefix and no policies. Only files compiled for V may have it. */
#ifndef PWL_RISCV_VECTOR_H
#define PWL_RISCV_VECTOR_H

#include <riscv_vector.h>

#if defined(__riscv_v_intrinsic) && __riscv_v_intrinsic >= 11000
#define RVV(name) __riscv_##name
#define RVV_KEEP(name) __riscv_##name##_mu
#else
#define RVV(name) name
#define RVV_KEEP(name) name##_m
#endif

#endif
