/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two-shift flow of the quantisation documents, step by step under their names:
 *
 *   bx_32   = q_b * (q_x - zp_x)
 *   q_bx    = bx_32 >> n_bx          still without zero point
 *   term_bx = q_bx >> n_yb           in output LSB
 *   term_c  = q_c >> n_yc            the output zero point is part of q_c
 *   y       = term_bx + term_c       then saturated
 *
 * A negative count shifts left. The fused flow shifts once, by n_BX_total = n_bx + n_yb. For n_bx, n_yb >= 0 both give
 * the same integer, as floor(floor(p / 2^a) / 2^b) = floor(p / 2^(a+b)).
 */
#ifndef UNFUSED_H
#define UNFUSED_H

#include <stdint.h>

struct unfused_segment {
    int64_t q_b, q_c;
    int n_bx, n_yb, n_yc;
};

struct unfused_flow {
    int64_t x_offset, bx, q_bx, term_bx, term_c, y, q_y;
};

/* floor(v * 2^-n), without a shift of a signed value; |n| <= 62, and a left shift must fit. */
static inline int64_t unfused_shift(int64_t v, int n)
{
    const int64_t power = (int64_t)1 << (n < 0 ? -n : n);
    if (n < 0)
        return v * power;
    return v / power - (v % power < 0);
}

static inline struct unfused_flow unfused_eval(const struct unfused_segment *segment, int64_t zp_x, int64_t qmin_y,
                                               int64_t qmax_y, int64_t q_x)
{
    struct unfused_flow flow;
    flow.x_offset = q_x - zp_x;
    flow.bx = segment->q_b * flow.x_offset;
    flow.q_bx = unfused_shift(flow.bx, segment->n_bx);
    flow.term_bx = unfused_shift(flow.q_bx, segment->n_yb);
    flow.term_c = unfused_shift(segment->q_c, segment->n_yc);
    flow.y = flow.term_bx + flow.term_c;
    flow.q_y = flow.y < qmin_y ? qmin_y : flow.y > qmax_y ? qmax_y : flow.y;
    return flow;
}

#endif
