/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the binary interface of libpwl but for the functions: check_abi.sh holds it to what is recorded. Values are in
 * "values.h", which the script takes from the headers. */
#include <stdio.h>

#include <pwl/elements.h>
#include <pwl/network.h>
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
    F(step_shift)                                                                                                      \
    F(log_shift) F(longest) F(step) F(log_unit) F(qmin_y) F(qmax_y) F(zp_y) F(exp) F(exp_high) F(exp_shift)            \
        F(log_factor) F(log_value) F(reciprocal)
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
#define NETWORK_AXIS(F) F(times) F(sizes)
#define NETWORK_EDGE(F) F(type) F(axes) F(place) F(zero_point) F(qmin) F(qmax) F(shape)
#define NETWORK_NODE(F) F(kind) F(reads) F(inputs) F(output) F(of)
#define NETWORK_FACTORS(F) F(factor) F(shift) F(count)
#define NETWORK_GATHER(F) F(table) F(rows) F(columns)
#define NETWORK_CONSTANT(F) F(codes) F(count)
#define NETWORK_PRODUCT(F) F(weights) F(bias) F(factors) F(channels) F(length) F(is_narrow)
#define NETWORK_MATMUL(F) F(factors) F(transposed)
#define NETWORK_MULTIPLY(F) F(factor) F(shift)
#define NETWORK_MEAN(F) F(factors) F(axis)
#define NETWORK_OPERATOR(F) F(of) F(type) F(is_causal)
#define NETWORK_TRANSPOSE(F) F(order)
#define NETWORK_SLICE(F) F(start) F(stop) F(step) F(axis) F(keep)
#define NETWORK_CONCAT(F) F(axis)
#define NETWORK_WINDOW(F) F(kernel) F(stride) F(padding) F(dilation)
#define NETWORK_CONVOLUTION(F) F(weights) F(bias) F(factors) F(channels) F(inputs) F(groups) F(window) F(is_narrow)
#define NETWORK_MAX_POOL(F) F(window)
#define NETWORK_LOOP(F) F(body) F(axis) F(reverse)
#define NETWORK_APPEND(F) F(axis)
#define NETWORK(F)                                                                                                     \
    F(version)                                                                                                         \
    F(sizes) F(inputs) F(outputs) F(edge_count) F(node_count) F(places) F(longest) F(input) F(output) F(edges)         \
        F(nodes)
#define NETWORK_PROOF(F) F(status) F(node) F(edge)
#define NETWORK_SUMS(F)                                                                                                \
    F(a)                                                                                                               \
    F(b) F(a_type) F(b_type) F(is_narrow) F(rows) F(columns) F(length) F(a_stride) F(b_stride) F(b_step) F(a_zero)     \
        F(b_zero) F(sums)
#define NETWORK_WAY(F) F(levels) F(sum)
#define NETWORK_CALL(F) F(sizes) F(inputs) F(outputs) F(memory) F(bytes) F(way)
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
#define IN_NETWORK_AXIS(field) FIELD(pwl_network_axis, field)
#define IN_NETWORK_EDGE(field) FIELD(pwl_network_edge, field)
#define IN_NETWORK_NODE(field) FIELD(pwl_network_node, field)
#define IN_NETWORK_FACTORS(field) FIELD(pwl_network_factors, field)
#define IN_NETWORK_GATHER(field) FIELD(pwl_network_gather, field)
#define IN_NETWORK_CONSTANT(field) FIELD(pwl_network_constant, field)
#define IN_NETWORK_PRODUCT(field) FIELD(pwl_network_product, field)
#define IN_NETWORK_MATMUL(field) FIELD(pwl_network_matmul, field)
#define IN_NETWORK_MULTIPLY(field) FIELD(pwl_network_multiply, field)
#define IN_NETWORK_MEAN(field) FIELD(pwl_network_mean, field)
#define IN_NETWORK_OPERATOR(field) FIELD(pwl_network_operator, field)
#define IN_NETWORK_TRANSPOSE(field) FIELD(pwl_network_transpose, field)
#define IN_NETWORK_SLICE(field) FIELD(pwl_network_slice, field)
#define IN_NETWORK_CONCAT(field) FIELD(pwl_network_concat, field)
#define IN_NETWORK_WINDOW(field) FIELD(pwl_network_window, field)
#define IN_NETWORK_CONVOLUTION(field) FIELD(pwl_network_convolution, field)
#define IN_NETWORK_MAX_POOL(field) FIELD(pwl_network_max_pool, field)
#define IN_NETWORK_LOOP(field) FIELD(pwl_network_loop, field)
#define IN_NETWORK_APPEND(field) FIELD(pwl_network_append, field)
#define IN_NETWORK(field) FIELD(pwl_network, field)
#define IN_NETWORK_PROOF(field) FIELD(pwl_network_proof, field)
#define IN_NETWORK_SUMS(field) FIELD(pwl_network_sums, field)
#define IN_NETWORK_WAY(field) FIELD(pwl_network_way, field)
#define IN_NETWORK_CALL(field) FIELD(pwl_network_call, field)
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
    STRUCT(pwl_network_axis)
    NETWORK_AXIS(IN_NETWORK_AXIS)
    STRUCT(pwl_network_edge)
    NETWORK_EDGE(IN_NETWORK_EDGE)
    STRUCT(pwl_network_node)
    NETWORK_NODE(IN_NETWORK_NODE)
    STRUCT(pwl_network_factors)
    NETWORK_FACTORS(IN_NETWORK_FACTORS)
    STRUCT(pwl_network_gather)
    NETWORK_GATHER(IN_NETWORK_GATHER)
    STRUCT(pwl_network_constant)
    NETWORK_CONSTANT(IN_NETWORK_CONSTANT)
    STRUCT(pwl_network_product)
    NETWORK_PRODUCT(IN_NETWORK_PRODUCT)
    STRUCT(pwl_network_matmul)
    NETWORK_MATMUL(IN_NETWORK_MATMUL)
    STRUCT(pwl_network_multiply)
    NETWORK_MULTIPLY(IN_NETWORK_MULTIPLY)
    STRUCT(pwl_network_mean)
    NETWORK_MEAN(IN_NETWORK_MEAN)
    STRUCT(pwl_network_operator)
    NETWORK_OPERATOR(IN_NETWORK_OPERATOR)
    STRUCT(pwl_network_transpose)
    NETWORK_TRANSPOSE(IN_NETWORK_TRANSPOSE)
    STRUCT(pwl_network_slice)
    NETWORK_SLICE(IN_NETWORK_SLICE)
    STRUCT(pwl_network_concat)
    NETWORK_CONCAT(IN_NETWORK_CONCAT)
    STRUCT(pwl_network_window)
    NETWORK_WINDOW(IN_NETWORK_WINDOW)
    STRUCT(pwl_network_convolution)
    NETWORK_CONVOLUTION(IN_NETWORK_CONVOLUTION)
    STRUCT(pwl_network_max_pool)
    NETWORK_MAX_POOL(IN_NETWORK_MAX_POOL)
    STRUCT(pwl_network_loop)
    NETWORK_LOOP(IN_NETWORK_LOOP)
    STRUCT(pwl_network_append)
    NETWORK_APPEND(IN_NETWORK_APPEND)
    STRUCT(pwl_network)
    NETWORK(IN_NETWORK)
    STRUCT(pwl_network_proof)
    NETWORK_PROOF(IN_NETWORK_PROOF)
    STRUCT(pwl_network_sums)
    NETWORK_SUMS(IN_NETWORK_SUMS)
    STRUCT(pwl_network_way)
    NETWORK_WAY(IN_NETWORK_WAY)
    STRUCT(pwl_network_call)
    NETWORK_CALL(IN_NETWORK_CALL)
    ENUM(pwl_status)
    ENUM(pwl_network_kind)
    ENUM(pwl_network_of)
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
