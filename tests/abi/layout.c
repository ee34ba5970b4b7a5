/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the binary interface of libpwl but for the functions: check_abi.sh holds it to what is recorded. Values are in
 * "values.h", which the script takes from the headers. */
#include <stdio.h>

#include <pwl/elements.h>
#include <pwl/plain.h>
#include <pwl/plan.h>
#include <pwl/pwl.h>
#include <pwl/real.h>
#include <pwl/reduce.h>
#include <pwl/rows.h>

#define STRUCT(type) printf(#type " %zu\n", sizeof(type));
#define FIELD(type, field) printf(#type "." #field " %zu+%zu\n", offsetof(type, field), sizeof(((type *)0)->field));
#define VALUE(name) printf(#name " %lld\n", (long long)(name));
#define ENUM(type) printf(#type " %zu\n", sizeof(type));

#define TABLE(F)                                                                                                       \
    F(version)                                                                                                         \
    F(storage)                                                                                                         \
    F(form)                                                                                                            \
    F(rounding)                                                                                                        \
    F(flags) F(segments) F(start) F(q_b) F(n) F(offset) F(zp_x) F(qmin_x) F(qmax_x) F(qmin_y) F(qmax_y) F(fold_sum)
#define PROOF(F) F(status) F(segment) F(acc_bits)
/* What pwl_run() and pwl_plan_way() read of it. */
#define PLAN(F) F(run) F(way)
#define LINE(F) F(slope) F(pre) F(post) F(n)
#define PLAIN_LINE(F) F(start) F(of)
#define WALK(F) F(table) F(segment) F(mirrored) F(next)
#define REDUCTION(F)                                                                                                   \
    F(version)                                                                                                         \
    F(kind)                                                                                                            \
    F(log2_step) F(fraction) F(direction) F(shift) F(factor) F(addend) F(below) F(zp_x) F(qmin_x) F(qmax_x) F(zp_y)
#define REDUCED(F) F(reduction) F(core)
#define SOFTMAX(F)                                                                                                     \
    F(version)                                                                                                         \
    F(kind)                                                                                                            \
    F(in)                                                                                                              \
    F(out)                                                                                                             \
    F(fraction)                                                                                                        \
    F(out_bits)                                                                                                        \
    F(step_shift) F(log_shift) F(longest) F(step) F(log_unit) F(qmin_y) F(qmax_y) F(zp_y) F(exp) F(exp_high)           \
        F(exp_shift) F(log_factor) F(log_value) F(reciprocal)
#define NORM(F)                                                                                                        \
    F(version)                                                                                                         \
    F(kind)                                                                                                            \
    F(in)                                                                                                              \
    F(out)                                                                                                             \
    F(variance_shift)                                                                                                  \
    F(fraction) F(gamma_shift) F(drop) F(length) F(qmin_y) F(qmax_y) F(zp_y) F(zp_x) F(eps) F(gamma) F(beta) F(rsqrt)
#define REQUANTISE(F) F(version) F(in) F(out) F(shift) F(multiplier) F(qmin_y) F(qmax_y) F(zp_x) F(zp_y)
#define ADD(F)                                                                                                         \
    F(version)                                                                                                         \
    F(in_a) F(in_b) F(out) F(shift) F(factor_a) F(factor_b) F(qmin_y) F(qmax_y) F(constant) F(zp_y)
#define TILES(F) F(sum) F(largest) F(rescalings)
#define VALUES(F) F(v) F(type) F(zero_point) F(channels) F(stride)
#define ROWS(F) F(x) F(y) F(count) F(length) F(mask) F(mask_stride) F(is_causal) F(first)
#define AFFINE(F) F(scale) F(zero_point)

#define IN_TABLE(field) FIELD(pwl_table, field)
#define IN_PROOF(field) FIELD(pwl_proof, field)
#define IN_PLAN(field) FIELD(pwl_plan, field)
#define IN_LINE32(field) FIELD(pwl_plain32, field)
#define IN_LINE64(field) FIELD(pwl_plain64, field)
#define IN_PLAIN_LINE(field) FIELD(pwl_plain_line, field)
#define IN_WALK(field) FIELD(pwl_plain_walk, field)
#define IN_REDUCTION(field) FIELD(pwl_reduction, field)
#define IN_REDUCED(field) FIELD(pwl_reduced, field)
#define IN_SOFTMAX(field) FIELD(pwl_softmax, field)
#define IN_NORM(field) FIELD(pwl_norm, field)
#define IN_REQUANTISE(field) FIELD(pwl_requantise, field)
#define IN_ADD(field) FIELD(pwl_add, field)
#define IN_TILES(field) FIELD(pwl_softmax_tiles, field)
#define IN_VALUES(field) FIELD(pwl_row_values, field)
#define IN_ROWS(field) FIELD(pwl_rows, field)
#define IN_AFFINE(field) FIELD(pwl_affine, field)

int main(void)
{
    VALUE(PWL_ABI_VERSION)
    STRUCT(pwl_table)
    TABLE(IN_TABLE)
    STRUCT(pwl_proof)
    PROOF(IN_PROOF)
    STRUCT(pwl_plan)
    PLAN(IN_PLAN)
    STRUCT(pwl_plain32)
    LINE(IN_LINE32)
    STRUCT(pwl_plain64)
    LINE(IN_LINE64)
    STRUCT(pwl_plain_line)
    PLAIN_LINE(IN_PLAIN_LINE)
    STRUCT(pwl_plain_walk)
    WALK(IN_WALK)
    STRUCT(pwl_reduction)
    REDUCTION(IN_REDUCTION)
    STRUCT(pwl_reduced)
    REDUCED(IN_REDUCED)
    STRUCT(pwl_affine)
    AFFINE(IN_AFFINE)
    STRUCT(pwl_softmax)
    SOFTMAX(IN_SOFTMAX)
    STRUCT(pwl_norm)
    NORM(IN_NORM)
    STRUCT(pwl_requantise)
    REQUANTISE(IN_REQUANTISE)
    STRUCT(pwl_add)
    ADD(IN_ADD)
    STRUCT(pwl_softmax_tiles)
    TILES(IN_TILES)
    STRUCT(pwl_row_values)
    VALUES(IN_VALUES)
    STRUCT(pwl_rows)
    ROWS(IN_ROWS)
    ENUM(pwl_status)
    ENUM(pwl_storage)
    ENUM(pwl_form)
    ENUM(pwl_rounding)
    ENUM(pwl_type)
    ENUM(pwl_plain_rounding)
    ENUM(pwl_reduction_kind)
    ENUM(pwl_real)
    ENUM(pwl_softmax_kind)
    ENUM(pwl_norm_kind)
#include "values.h"
    return 0;
}
