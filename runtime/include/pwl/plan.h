/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: the way that costs least, by times measured beforehand, of those that a machine has to map arrays by one
 * table, with what it needs worked out. Nothing is timed when plans are made: the library, the levels, the table, the
 * types and the memory decide. Which way is taken never changes a bit: pwl_run() gives the codes of pwl_eval().
 *
 *   pwl_plan plan;
 *   size_t bytes = pwl_plan_size(&table, PWL_S16, PWL_S16, PWL_LEVELS_ALL);
 *   void *memory = malloc(bytes);
 *   pwl_status status = pwl_plan_init(&plan, memory, memory ? bytes : 0, &table, PWL_S16, PWL_S16, PWL_LEVELS_ALL);
 *   pwl_run(&plan, x, y, count);
 *
 * No state is kept outside a plan but what pwl_levels() found, and a plan is only read once it is made: any number of
 * threads may run one.
 */
#ifndef PWL_PLAN_H
#define PWL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "pwl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instructions that a way may use beyond plain C, to be combined. A level does not stand for those below it. */
#define PWL_LEVEL_SSE41 1u         /* x86: SSE4.1 */
#define PWL_LEVEL_AVX2 2u          /* x86: AVX2 */
#define PWL_LEVEL_AVX512 4u        /* x86: AVX-512 F, BW, DQ and VL */
#define PWL_LEVEL_AVX512VBMI 8u    /* x86: AVX-512 VBMI */
#define PWL_LEVEL_NEON 16u         /* Arm: Advanced SIMD */
#define PWL_LEVEL_DSP 32u          /* Arm: 32-bit SIMD, of Cortex-M the DSP extension */
#define PWL_LEVEL_HELIUM 64u       /* Arm: M-profile Vector Extension */
#define PWL_LEVEL_RVV 128u         /* RISC-V: V */
#define PWL_LEVEL_SVE2 256u        /* Arm: Scalable Vector Extension 2, of any length */
#define PWL_LEVEL_F16C 512u        /* x86: F16C */
#define PWL_LEVEL_AVXVNNI 1024u    /* x86: AVX-VNNI */
#define PWL_LEVEL_AVX512VNNI 2048u /* x86: AVX-512 VNNI */
#define PWL_LEVEL_DOTPROD 4096u    /* Arm: dot products of bytes */
#define PWL_LEVEL_I8MM 8192u       /* Arm: products of matrices of bytes */
#define PWL_LEVELS_ALL 0xffffffffu

/* Those that this machine, its operating system and this library have. The processor is asked by the first call alone;
 * any number of threads may be the first. */
PWL_API uint32_t pwl_levels(void);

/* A plan. Its fields are the library's own; copy it as you like. */
typedef struct pwl_plan {
    void (*run)(const struct pwl_plan *plan, const void *x, void *y, size_t count);
    void (*kernel)(const struct pwl_plan *plan, const void *x, void *y, size_t count);
    const void *memory;
    const pwl_table *table;
    const char *way;
    uint8_t in, out;               /* pwl_type of the arrays */
    uint8_t kernel_in, kernel_out; /* pwl_type of what the kernel maps */
} pwl_plan;

/*
 * Bytes of memory that the quickest way wants for a checked table and arrays of these types, with no levels but those
 * given (and this machine's); 0 when it wants none. At most 300 KiB. Arrays of 8 bits, and with tables of 8 bits wider
 * ones, want at most 1 KiB, where no search in registers is quicker. Those of 16 bits, and with tables of 16 bits those
 * of 32, want 64 to 256 KiB, for the value of each code, or less than 2 KiB where the machine has a way of searching in
 * registers that is quicker: SSE4.1 none, AVX2 and NEON for up to 32 lines, AVX-512 for up to 64. With less memory than
 * 64 KiB there are slower ways, whose memory grows by 16 to 36 bytes a line.
 */
PWL_API size_t pwl_plan_size(const pwl_table *table, pwl_type in, pwl_type out, uint32_t levels);

/*
 * Makes a plan in `bytes` of memory, which may be fewer than pwl_plan_size(), down to none (memory is then not read and
 * may be null): the quickest way that finds room is taken. Memory needs no alignment, and may be read by nobody else
 * until pwl_plan_init() returns. The plan points to the memory and to the table: both must outlive it.
 *
 * The table has passed pwl_table_check(). Returns PWL_OK, PWL_ERR_NULL (plan, table, or memory with bytes),
 * PWL_ERR_FIELD (in or out is not a pwl_type) or PWL_ERR_RANGE_Y (out does not hold [qmin_y, qmax_y], see pwl_fits()).
 */
PWL_API PWL_NODISCARD pwl_status pwl_plan_init(pwl_plan *plan, void *memory, size_t bytes, const pwl_table *table,
                                               pwl_type in, pwl_type out, uint32_t levels);

/*
 * y[k] = pwl_eval(table, x[k]) for k in [0, count), in the types of the plan. Reads x[0..count), writes y[0..count),
 * nothing else, at any alignment that the types have. x and y may be the same array when their elements have the same
 * size; otherwise they must not overlap.
 */
static inline void pwl_run(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    plan->run(plan, x, y, count);
}

/* pwl_run() as a function of the library, for bindings that cannot compile the one above. */
PWL_API void pwl_plan_run(const pwl_plan *plan, const void *x, void *y, size_t count);

/* The name of the way taken, for reports: "narrow_avx512", or "map" where pwl_map_*() does it. */
static inline const char *pwl_plan_way(const pwl_plan *plan)
{
    return plan->way;
}

#ifdef __cplusplus
}
#endif
#endif
