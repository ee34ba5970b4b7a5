/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least error of all tables of a spec, whatever they are asked to keep to. No header of the project. */
#ifndef EVERY_TABLE_H
#define EVERY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define EVERY_CODES 1024

/* Of a code that is not fixed. */
#define EVERY_FREE INT64_MIN

enum every_form { EVERY_ABSOLUTE, EVERY_BIASED, EVERY_ANCHORED };
enum every_rounding { EVERY_FLOOR, EVERY_HALF_UP, EVERY_HALF_AWAY, EVERY_HALF_EVEN };

/* What a line gives at one input code. */
struct every_output {
    bool exists;
    double target; /* clipped to the output range */
    double weight; /* of its squared error */
    int64_t fixed; /* the output code that it must have, or EVERY_FREE */
    int direction; /* no step against it, 1 or -1, from the code below to this code; 0: any step */
};

struct every_spec {
    enum every_form form;
    enum every_rounding rounding;
    int64_t first_x, zp_x, qmin_y, qmax_y;
    int sum_bits;       /* width of every sum on the way, at most 32 */
    int slope_bits;     /* width of q_b, sign included; 8 at most */
    int slope_terms;    /* 0: any slope */
    int shift_bits;     /* width of n, sign included; 0: any shift */
    int shift_multiple; /* of --shift-multiple; 0: any shift */
    int stored_bits;    /* width of what it stores for a slope */
    bool one_shift, monotone, is_continuous;
    int max_step; /* of --continuous */
    int segments; /* at most */
    bool squares; /* else the largest error */
    /* Codes that segments serve, from first_x on. The mirror image of code k gives sum - value instead of value;
     * without a fold no mirror image exists. */
    int count;
    struct every_output output[EVERY_CODES], mirror[EVERY_CODES];
    int64_t sum;
    bool may_start[EVERY_CODES];     /* a segment */
    bool start_all;                  /* and one does wherever it may */
    int field_bits;                  /* of the inputs and outputs: 8 or 16 */
    int64_t offset_low, offset_high; /* --offset-type: of the constants, or of the values at points */
    int shift;                       /* of every_points: values lie 2^shift codes apart */
    bool half_down;                  /* and halves are rounded down, under floor */
    bool toward_left;                /* and lines are rounded towards their left value, under floor */
    int step_shift;                  /* of every_steps, likewise */
    bool every_line;                 /* tries even lines that are known to add nothing */
};

struct every_segment {
    int64_t start, q_b, n, offset;
};

struct every_found {
    bool found;
    double least; /* the largest error, or the sum of weighted squares */
    int segments; /* of the first table that has it */
    struct every_segment segment[EVERY_CODES];
    double
        least_of[EVERY_CODES + 1]; /* the same of at most so many segments, from 1 on; INFINITY where there is none */
};

/* p * 2^-n. */
int64_t every_shift(enum every_rounding rounding, int64_t p, int n);

/* Whether a sum has room in sum_bits. */
bool every_fits(const struct every_spec *spec, int64_t sum);

/* Whether p, what rounding adds to it, and what is shifted do. */
bool every_shifts_legally(const struct every_spec *spec, int64_t p, int n);

/* Whether n has the bits of shift_bits, and q_b * 2^-n can be stored: with some shift s of the multiples up to 32, as
 * q_b * 2^(s - n) and in so many bits that each has a place. */
bool every_is_stored(const struct every_spec *spec, int64_t q_b, int n);

/* What the mirror image or code costs that comes out as q_y. */
double every_cost(const struct every_spec *spec, const struct every_output *output, int64_t q_y);

/* The least error among tables whose error is at most `limit`, which may be INFINITY. Tries every segment: each slope,
 * each shift less than sum_bits, and each offset with which outputs differ; and joins segments by dynamic programming
 * over what the next one has to know of the one before. The less a table may cost, the sooner a line is given up: with
 * the cost of a known table hundreds of codes take a second. */
struct every_found every_table(const struct every_spec *spec, double limit);

#endif
