/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The documents' quantisation: real lines, whose slopes share one shift and whose constants share another. */
#ifndef PWLC_DOCUMENT_H
#define PWLC_DOCUMENT_H

#include "base/diag.h"
#include "search/line.h"
#include "search/points.h"
#include "spec/spec.h"
#include "table/table.h"

/*
 * Quantises the least-squares line of each range [knots[m], knots[m + 1]) (names as in the documents):
 *   q_b = round(b * 2^shift_bits_b), the largest shift_bits_b for which every q_b has its bits and the product its
 *   accumulator; q_c = round(c_adjusted * 2^shift_bits_c) likewise in 16 bits (32 in the INT32 case),
 *   c_adjusted = c + zp_y * scale_y; term_c = q_c shifted by n_yc = shift_bits_c - shift_bits_y;
 *   n_BX_total = shift_bits_b + shift_bits_x - shift_bits_y, the same in every segment, split into n_bx + n_yb by the
 *   finest 16-bit (32-bit) quantiser that holds b*x over the segment: n_yb = shift_bits_bx - shift_bits_y.
 */
int document_quantise(const struct spec *spec, const struct line_rules *rules, const struct points *points,
                      int segment_count, const int *knots, struct segment *segments, struct diag *diag);

#endif
