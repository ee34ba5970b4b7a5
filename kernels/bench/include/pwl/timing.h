/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long work on a device takes, for benchmarks: works in turn, so that all see the same clocks. No part of
 * libpwl-cuda. Functions return null, or in words what went wrong.
 */
#ifndef PWL_TIMING_H
#define PWL_TIMING_H

struct CUstream_st;

/* Queues one piece of work; `turn` counts the launches, for works that take turns among buffers. */
typedef const char *pwl_timing_launch(const void *work, int turn, struct CUstream_st *stream);

typedef struct pwl_timing_work {
    pwl_timing_launch *launch;
    const void *work;
} pwl_timing_work;

/* Of one launch, in microseconds: the median, and percentiles. */
typedef struct pwl_timing {
    float median, p10, p90;
} pwl_timing;

/* Each repetition measures all works, one after the other: `launches` of each in a graph, or where that is 0 one. Three
 * that are not counted come first. */
const char *pwl_timing_measure(const pwl_timing_work *works, int count, int launches, int repetitions,
                               pwl_timing *times, struct CUstream_st *stream);

/* The same, where the device rests for so many microseconds before each measurement: it has its full clock then, which
 * power lowers in the course of long works. */
const char *pwl_timing_measure_rested(const pwl_timing_work *works, int count, int launches, int repetitions,
                                      unsigned rest, pwl_timing *times, struct CUstream_st *stream);

#endif
