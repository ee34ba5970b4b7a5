/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparing every code on a device: what is measured of a run of codes, one code at a time, by functions that hosts and
 * devices both compile; and the function of libpwlc-cuda.so that runs them.
 *
 * Targets are doubles with a margin. What a code counts for is decided where the margin cannot change it: whether
 * |q_y - t| is at most 1/2, whether t lies beyond a limit of the output, whether a step of the table goes against f.
 * All other codes are listed, and left to the host's reference. Codes whose error is lost in the margin are, too, so
 * that exact stretches add nothing to the sums. A run that has more of them than the list holds is left to the host.
 *
 * Of the errors themselves a run gives bounds: the host measures those runs again that may hold the largest.
 */
#ifndef PWLC_SWEEP_CODE_H
#define PWLC_SWEEP_CODE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <pwl/fixed.h>
#include <pwl/pwl.h>

#include "cuda_interface.h"
#include "double_function.h"

#define SWEEP_RUN 65536     /* codes of a run; a number in it has 16 bits */
#define SWEEP_LANES 256     /* each takes every 256th code of a run */
#define SWEEP_UNDECIDED 100 /* that a run lists */
#define SWEEP_NOISE 0x1p-70 /* LSB: margins below it do not matter in sums */

/* A table's codes and targets. */
struct sweep_task {
    int64_t qmin_x, count;     /* codes; the runs are of SWEEP_RUN from the first on, the last may be shorter */
    int64_t first, last;       /* where f is defined; the ends' values are those of the codes beyond */
    int64_t hole, hole_stands; /* the value of the code `hole` is that of hole_stands; equal where there is no hole */
    int64_t zp_x, zp_y, qmin_y, qmax_y;
    double scale_x, inverse_scale_y; /* 1 / scale_y, rounded */
    enum double_function function;
    double parameter;
    struct double_error error;
    pwl_type in, out; /* of the arrays that the table is evaluated on */
};

/* What is found in a run. */
struct sweep_run {
    double sum, signed_sum, sum_of_squares; /* of the errors of decided codes, without and with their signs */
    double at_least, at_most;               /* what the largest error is; -1 where no code has one */
    double probe;                           /* the target of the run's first code, not clipped */
    uint64_t hash;                          /* sweep_hash of every code, summed */
    uint32_t averaged, correct, saturated;  /* decided codes, those within 1/2, those beyond a limit */
    uint32_t backward;                      /* whether the table surely steps against f */
    uint32_t undecided;                     /* codes that are not decided; the run is void when the list is too short */
    uint16_t code[SWEEP_UNDECIDED];         /* places of these in the run, in any order */
};

/* What a lane gathers. */
struct sweep_lane {
    double sum, signed_sum, sum_of_squares, at_least, at_most;
    uint64_t hash;
    uint32_t averaged, correct, saturated, backward;
};

struct sweep_target {
    double t, margin;
};

PWL_FN struct sweep_lane sweep_lane_empty(void)
{
    const struct sweep_lane lane = {0, 0, 0, -1, -1, 0, 0, 0, 0, 0};
    return lane;
}

/* Adds the lane of a higher number to one. Sums depend on the order: lanes are joined in halves, SWEEP_LANES / 2 apart
 * first. */
PWL_FN void sweep_lane_join(struct sweep_lane *lane, const struct sweep_lane *other)
{
    lane->sum += other->sum;
    lane->signed_sum += other->signed_sum;
    lane->sum_of_squares += other->sum_of_squares;
    lane->at_least = fmax(lane->at_least, other->at_least);
    lane->at_most = fmax(lane->at_most, other->at_most);
    lane->hash += other->hash;
    lane->averaged += other->averaged;
    lane->correct += other->correct;
    lane->saturated += other->saturated;
    lane->backward |= other->backward;
}

/* Of one code's value: sums of these tell whether two sets of values are equal. (splitmix64's last steps) */
PWL_FN uint64_t sweep_hash(int64_t q, int64_t y)
{
    uint64_t h = (uint64_t)q * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)y;
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

/*
 * The target of a code, not clipped. q - zp_x has at most 35 bits, and scale_x is a double, so x is within u = 2^-53 of
 * its value, as double_function.h asks; the product with a rounded 1 / scale_y adds 2 u of v, the sum u of t. The
 * reference that margins are held against has noise itself, below 2^-59 of v and t. Infinite targets are beyond every
 * limit for certain.
 */
PWL_FN struct sweep_target sweep_target_at(const struct sweep_task *task, int64_t q)
{
    struct sweep_target target;
    int64_t code = q < task->first ? task->first : q > task->last ? task->last : q;
    if (code == task->hole)
        code = task->hole_stands;
    const double x = task->scale_x * (double)(code - task->zp_x);
    const double f = double_value(task->function, x, task->parameter);
    const double v = f * task->inverse_scale_y;
    target.t = v + (double)task->zp_y;
    target.margin = double_margin(&task->error, x, f) * task->inverse_scale_y +
                    DOUBLE_UNIT * (v == 0 ? 0 : 3 * fabs(v) + 2 * fabs(target.t));
    if (isinf(target.t))
        target.margin = 0;
    return target;
}

/* 1 forward, -1 backward, 0 not known: a step of the table from q - 1 to q. */
PWL_FN int sweep_direction(const struct sweep_task *task, int64_t q, const struct sweep_target *target, int up)
{
    const struct sweep_target before = sweep_target_at(task, q - 1);
    const double rise = up ? target->t - before.t : before.t - target->t;
    /* twice the margins, so that the true difference is above the reference's noise */
    const double surely = 2 * (target->margin + before.margin);
    return rise > surely ? 1 : rise < -surely ? -1 : 0;
}

/* Adds code q of value y, after q - 1 of value previous_y (y where q is the first code). 0 when it is not decided. */
PWL_FN int sweep_add(struct sweep_lane *lane, const struct sweep_task *task, int64_t q, int64_t y, int64_t previous_y)
{
    const struct sweep_target target = sweep_target_at(task, q);
    const double low = (double)task->qmin_y, high = (double)task->qmax_y;
    const int above = target.t - target.margin > high, below = target.t + target.margin < low;
    const int inside = target.t + target.margin <= high && target.t - target.margin >= low;
    int decided = above || below || inside;
    int direction = 1;
    lane->hash += sweep_hash(q, y);
    if (y != previous_y)
        direction = sweep_direction(task, q, &target, y > previous_y);
    if (isnan(target.t))
        return 0;

    const double difference = (double)y - fmin(fmax(target.t, low), high), err = fabs(difference);
    const double margin = above || below ? 0 : target.margin + 2 * DOUBLE_UNIT * err;
    lane->at_least = fmax(lane->at_least, err - margin);
    lane->at_most = fmax(lane->at_most, err + margin);
    decided = decided && direction != 0 && (margin == 0 || fabs(err - 0.5) > margin) &&
              (margin < SWEEP_NOISE || err > margin);
    if (!decided)
        return 0;
    lane->sum += err;
    lane->signed_sum += difference;
    lane->sum_of_squares += err * err;
    lane->averaged++;
    lane->correct += err <= 0.5;
    lane->saturated += above || below;
    lane->backward |= direction < 0;
    return 1;
}

/* A run's results but for its list. */
PWL_FN void sweep_run_set(struct sweep_run *run, const struct sweep_lane *lane, uint32_t undecided, double probe)
{
    run->sum = lane->sum;
    run->signed_sum = lane->signed_sum;
    run->sum_of_squares = lane->sum_of_squares;
    run->at_least = lane->at_least;
    run->at_most = lane->at_most;
    run->probe = probe;
    run->hash = lane->hash;
    run->averaged = lane->averaged;
    run->correct = lane->correct;
    run->saturated = lane->saturated;
    run->backward = lane->backward;
    run->undecided = undecided;
}

/* pwlc_cuda_sweep of the library: measures all runs of a table, results in `runs`, one each. On the current device, by
 * the kernels of pwl/cuda.h. */
typedef int pwlc_cuda_sweep_function(const pwl_table *table, const struct sweep_task *task, struct sweep_run *runs,
                                     pwlc_cuda_progress *progress, void *context, char *message, size_t size);

#endif
