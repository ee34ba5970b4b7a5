/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpwlc-cuda: what pwlc runs on a device (cuda_library.h). Here, comparing every code of a table: the codes of many
 * runs are written to an array, pwl_cuda_map() evaluates it, and a block of threads measures each run.
 */
#include <stdint.h>

#include <cuda_runtime.h>

#include <pwl/cuda.h>

#include "device_report.h"
#include "sweep_code.h"
#include "sweep_values.h"

EXPORTED pwlc_cuda_abi_function pwlc_cuda_abi;
EXPORTED pwlc_cuda_sweep_function pwlc_cuda_sweep;

namespace
{

constexpr unsigned batch_runs = 1024; /* evaluated together: 2^26 codes, 256 MiB of them at most */
constexpr unsigned lanes = SWEEP_LANES;

/* Elements of the arrays of a batch: the code before the first, where there is one, and the batch's. */
struct batch {
    int64_t first, count;
    unsigned before; /* 1 but at the first code of all */
};

/* x: the codes [first - before, first + count), of a type */
__global__ void __launch_bounds__(lanes) write_codes(pwl_type type, void *x, batch part)
{
    const size_t step = size_t{gridDim.x} * lanes, all = static_cast<size_t>(part.count) + part.before;
    for (size_t k = size_t{blockIdx.x} * lanes + threadIdx.x; k < all; k += step)
        sweep_store(type, x, k, part.first - part.before + static_cast<int64_t>(k));
}

/* Block b measures run b of the batch. y: values of the codes of write_codes(); runs: results. */
__global__ void __launch_bounds__(lanes) measure(sweep_task task, const void *y, batch part, sweep_run *runs)
{
    __shared__ sweep_lane gathered[lanes];
    __shared__ uint32_t undecided;
    sweep_run *const run = runs + blockIdx.x;
    const int64_t begin = int64_t{blockIdx.x} * SWEEP_RUN;
    const int64_t count = part.count - begin < SWEEP_RUN ? part.count - begin : SWEEP_RUN;
    sweep_lane lane = sweep_lane_empty();
    if (threadIdx.x == 0)
        undecided = 0;
    __syncthreads();
    for (int64_t k = threadIdx.x; k < count; k += lanes) {
        const int64_t at = begin + k + part.before;
        const int64_t value = sweep_load(task.out, y, at);
        const int64_t previous = at > 0 ? sweep_load(task.out, y, at - 1) : value;
        if (!sweep_add(&lane, &task, part.first + begin + k, value, previous)) {
            const uint32_t place = atomicAdd(&undecided, 1);
            if (place < SWEEP_UNDECIDED)
                run->code[place] = static_cast<uint16_t>(k);
        }
    }
    gathered[threadIdx.x] = lane;
    for (unsigned apart = lanes / 2; apart > 0; apart /= 2) {
        __syncthreads();
        if (threadIdx.x < apart)
            sweep_lane_join(&gathered[threadIdx.x], &gathered[threadIdx.x + apart]);
    }
    if (threadIdx.x == 0)
        sweep_run_set(run, &gathered[0], undecided, sweep_target_at(&task, part.first + begin).t);
}

/* What one sweep holds. */
struct sweep {
    pwl_cuda_table table;
    void *x, *y;
    sweep_run *runs; /* on the device */
    device_report report;
};

int check(const sweep *sweep, cudaError_t error, const char *what)
{
    return device_check(&sweep->report, error, what);
}

int check_pwl(const sweep *sweep, pwl_cuda_status status, const char *what)
{
    return status == PWL_CUDA_OK
               ? DEVICE_DONE
               : device_fail(&sweep->report, DEVICE_FAILED, "%s: %s", what, pwl_cuda_status_text(status));
}

int prepare(sweep *sweep, const pwl_table *table, const sweep_task *task)
{
    const size_t runs = (static_cast<size_t>(task->count) + SWEEP_RUN - 1) / SWEEP_RUN;
    const size_t held = runs < batch_runs ? runs : batch_runs, elements = held * SWEEP_RUN + 1;
    int code = device_find(&sweep->report);
    if (code == DEVICE_DONE)
        code = check_pwl(sweep, pwl_cuda_upload(table, &sweep->table), "pwl_cuda_upload");
    if (code == DEVICE_DONE)
        code = check(sweep, cudaMalloc(&sweep->x, elements * sweep_bytes(task->in)), "memory for codes");
    if (code == DEVICE_DONE)
        code = check(sweep, cudaMalloc(&sweep->y, elements * sweep_bytes(task->out)), "memory for values");
    if (code == DEVICE_DONE)
        code = check(sweep, cudaMalloc(reinterpret_cast<void **>(&sweep->runs), held * sizeof *sweep->runs),
                     "memory for results");
    return code;
}

int measure_batch(const sweep *sweep, const sweep_task *task, batch part, sweep_run *runs)
{
    const unsigned count = static_cast<unsigned>((part.count + SWEEP_RUN - 1) / SWEEP_RUN);
    write_codes<<<count, lanes>>>(task->in, sweep->x, part);
    int code = check(sweep, cudaGetLastError(), "writing codes");
    if (code == DEVICE_DONE)
        code = check_pwl(sweep,
                         pwl_cuda_map(&sweep->table, task->in, sweep->x, task->out, sweep->y,
                                      static_cast<size_t>(part.count) + part.before, nullptr),
                         "pwl_cuda_map");
    if (code != DEVICE_DONE)
        return code;
    /* Lists are filled as far as they are needed, and copied whole. */
    code = check(sweep, cudaMemsetAsync(sweep->runs, 0, count * sizeof *runs, nullptr), "clearing results");
    if (code != DEVICE_DONE)
        return code;
    measure<<<count, lanes>>>(*task, sweep->y, part, sweep->runs);
    code = check(sweep, cudaGetLastError(), "measuring");
    if (code == DEVICE_DONE)
        code = check(sweep, cudaMemcpy(runs, sweep->runs, count * sizeof *runs, cudaMemcpyDeviceToHost), "measuring");
    return code;
}

int measure_all(const sweep *sweep, const sweep_task *task, sweep_run *runs, pwlc_cuda_progress *progress,
                void *context)
{
    constexpr int64_t batch_codes = int64_t{batch_runs} * SWEEP_RUN;
    int code = DEVICE_DONE;
    for (int64_t begin = 0; begin < task->count && code == DEVICE_DONE; begin += batch_codes) {
        const int64_t left = task->count - begin;
        const batch part = {task->qmin_x + begin, left < batch_codes ? left : batch_codes, begin > 0};
        code = measure_batch(sweep, task, part, runs + begin / SWEEP_RUN);
        if (code == DEVICE_DONE && progress)
            progress(context, static_cast<uint64_t>(begin + part.count), static_cast<uint64_t>(task->count));
    }
    return code;
}

} // namespace

int pwlc_cuda_abi()
{
    return PWLC_CUDA_ABI;
}

int pwlc_cuda_sweep(const pwl_table *table, const sweep_task *task, sweep_run *runs, pwlc_cuda_progress *progress,
                    void *context, char *message, size_t size)
{
    sweep sweep = {};
    sweep.report = {message, size};
    int code = prepare(&sweep, table, task);
    if (code == DEVICE_DONE)
        code = measure_all(&sweep, task, runs, progress, context);
    /* The first failure is the one to tell. */
    const cudaError_t x = cudaFree(sweep.x), y = cudaFree(sweep.y), results = cudaFree(sweep.runs);
    const pwl_cuda_status released = pwl_cuda_release(&sweep.table);
    if (code == DEVICE_DONE)
        code = check(&sweep, x != cudaSuccess ? x : y != cudaSuccess ? y : results, "freeing memory");
    return code == DEVICE_DONE ? check_pwl(&sweep, released, "pwl_cuda_release") : code;
}
