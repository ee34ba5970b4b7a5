/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that sweep.cu compiles for a device, in its order, on the host. Values are pwl_eval()'s.
 */
#include <pwl/pwl.h>

#include "device/sweep_code.h"
#include "device/sweep_values.h"
#include "device_host.h"

__attribute__((visibility("default"))) pwlc_cuda_abi_function pwlc_cuda_abi;
__attribute__((visibility("default"))) pwlc_cuda_sweep_function pwlc_cuda_sweep;

/* What the table's value of a code becomes in arrays of the task's types. */
static int64_t value_of(const pwl_table *table, const struct sweep_task *task, int64_t q, int wrong)
{
    uint32_t x, y;
    sweep_store(task->in, &x, 0, q);
    sweep_store(task->out, &y, 0, pwl_eval(table, sweep_load(task->in, &x, 0)) ^ wrong);
    return sweep_load(task->out, &y, 0);
}

static void measure(const pwl_table *table, const struct sweep_task *task, int64_t first, int64_t count,
                    struct sweep_run *run)
{
    struct sweep_lane lanes[SWEEP_LANES];
    const int wrong = fault("value");
    uint32_t undecided = 0;
    /* Listed from the last lane to the first: a device lists in any order. */
    for (int l = SWEEP_LANES - 1; l >= 0; l--) {
        lanes[l] = sweep_lane_empty();
        for (int64_t k = l; k < count; k += SWEEP_LANES) {
            const int64_t q = first + k, y = value_of(table, task, q, wrong);
            const int64_t previous = q > task->qmin_x ? value_of(table, task, q - 1, wrong) : y;
            if (!sweep_add(&lanes[l], task, q, y, previous) && undecided++ < SWEEP_UNDECIDED)
                run->code[undecided - 1] = (uint16_t)k;
        }
    }
    for (int apart = SWEEP_LANES / 2; apart > 0; apart /= 2)
        for (int l = 0; l < apart; l++)
            sweep_lane_join(&lanes[l], &lanes[l + apart]);
    sweep_run_set(run, &lanes[0], undecided, sweep_target_at(task, first).t);
}

int pwlc_cuda_abi(void)
{
    return PWLC_CUDA_ABI + fault("abi");
}

int pwlc_cuda_sweep(const pwl_table *table, const struct sweep_task *task, struct sweep_run *runs,
                    pwlc_cuda_progress *progress, void *context, char *message, size_t size)
{
    if (fault("device"))
        return no_device(message, size);
    for (int64_t begin = 0; begin < task->count; begin += SWEEP_RUN) {
        const int64_t left = task->count - begin;
        struct sweep_run *run = &runs[begin / SWEEP_RUN];
        measure(table, task, task->qmin_x + begin, left < SWEEP_RUN ? left : SWEEP_RUN, run);
        if (progress)
            progress(context, (uint64_t)begin, (uint64_t)task->count);
    }
    if (fault("target"))
        runs[0].probe += 0.001;
    if (fault("lost"))
        runs[0].averaged--;
    return 0;
}
