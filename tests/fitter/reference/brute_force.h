/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least possible error of tiny tables, largest or squared, by trying every integer line. No header of the project.
 */
#ifndef BRUTE_FORCE_H
#define BRUTE_FORCE_H

#include <stdbool.h>
#include <stdint.h>

enum brute_form { BRUTE_ABSOLUTE, BRUTE_BIASED, BRUTE_ANCHORED };
enum brute_rounding { BRUTE_FLOOR, BRUTE_HALF_UP, BRUTE_HALF_AWAY, BRUTE_HALF_EVEN };

#define BRUTE_CODES 64 /* inputs of at most 6 bits */
#define BRUTE_FREE INT64_MIN

struct brute_problem {
    int count;            /* codes, at most BRUTE_CODES */
    const double *target; /* clipped to [qmin_y, qmax_y] */
    /* Of half a folded table: the target of each code's mirror image, whose output is `sum` less what the code's is
     * before saturation. NAN, as in target, where there is no such code; null: not folded, so that no target is NAN. */
    const double *mirrored;
    int64_t sum;
    const int64_t *fixed; /* output code that a code must have, or BRUTE_FREE; null without any */
    int64_t qmin_x, zp_x, qmin_y, qmax_y;
    enum brute_form form;
    enum brute_rounding rounding;
    int slope_bits;       /* width of q_b, sign included */
    int offset_bits;      /* width of term_c, bias or y */
    int accumulator_bits; /* at most 32; |n| is less */
    int slope_terms;      /* q_b has at most so many digits other than 0, each of them 1 or -1; 0: any */
    bool one_shift;       /* n is the same in all segments */
    const bool *starts;   /* where segments may start; null: anywhere */
    bool every_start;     /* and a segment starts at each */
    const int *direction; /* of f, -1 to 1, from the code before: no output steps against it; null: may step */
    bool continuous;      /* what a segment gives at the start of the next is within max_step of what that one gives */
    int max_step;
    bool squares;    /* sums of squared errors in place of the largest error */
    bool every_line; /* try even lines that are known to add nothing */
};

/* With direction or continuous at most 16 codes, and 32 outputs.
 *
 * least[m], m = 1..count: the least possible error of a table with at most m segments; INFINITY when there is none.
 * A code and its mirror image count as one, of the larger of their errors or the sum of their squares.
 * Every range of codes is given every slope, shift and offset that can make a difference, and the ranges are joined by
 * dynamic programming. */
void brute_force(const struct brute_problem *problem, double least[BRUTE_CODES + 1]);

#endif
