/* SPDX-License-Identifier: 0BSD */
/*
 * The GRU cell of gru_step.h on a CUDA device: a product and a kernel for each step. The kernel evaluates tables by the
 * code that the host has, from arrays that are copied to the device.
 */
#include <cuda_runtime.h>

#include <pwl/cuda_qgemm.h>

#include "gru.h"

namespace
{

/* Device memory until the end of a run. */
struct memory {
    void *pieces[32] = {};
    int count = 0;
    bool failed = false;

    void *take(size_t bytes)
    {
        failed = failed || count == 32 || cudaMalloc(&pieces[count], bytes) != cudaSuccess;
        return failed ? NULL : pieces[count++];
    }

    template <typename T> T *copy(const T *source, size_t count)
    {
        void *const piece = take(count * sizeof *source);
        failed = failed || cudaMemcpy(piece, source, count * sizeof *source, cudaMemcpyHostToDevice) != cudaSuccess;
        return static_cast<T *>(piece);
    }

    ~memory()
    {
        while (count > 0)
            cudaFree(pieces[--count]);
    }
};

/* A table of INT16 storage, its arrays on the device. */
pwl_table copy_table(memory &device, const pwl_table &table)
{
    pwl_table copied = table;
    copied.start = device.copy(static_cast<const int16_t *>(table.start), table.segments);
    copied.q_b = device.copy(static_cast<const int16_t *>(table.q_b), table.segments);
    copied.n = device.copy(table.n, table.segments);
    copied.offset = device.copy(static_cast<const int32_t *>(table.offset), table.segments);
    return copied;
}

/* v[m][GRU_ROWS] of q[m][.], ready to be computed again and again. */
struct device_product {
    pwl_qgemm_weights weights;
    pwl_qgemm_product product = {};
    void *workspace;
    size_t bytes;

    device_product(memory &device, const gru_product &from, const int8_t *q, size_t m, int32_t *v)
        : weights(from.weights), workspace(NULL), bytes(0)
    {
        int8_t *const n = static_cast<int8_t *>(device.take(m));
        weights.memory = device.copy(static_cast<const char *>(from.weights.memory), from.weights.bytes);
        product.scheme = PWL_QGEMM_INT8;
        product.m = m;
        product.weights = &weights;
        product.x.data = q;
        product.x.stride = weights.k;
        product.x.type = PWL_QGEMM_S8;
        product.x.n_x = n;
        product.bias = device.copy(from.bias, GRU_ROWS);
        product.y.data = v;
        product.y.stride = GRU_ROWS;
        product.y.type = PWL_QGEMM_S32;
        device.failed = device.failed || cudaMemset(n, from.n, m) != cudaSuccess ||
                        pwl_cuda_qgemm_workspace(&product, &bytes) != PWL_QGEMM_OK;
        workspace = bytes ? device.take(bytes) : NULL;
    }

    device_product(const device_product &) = delete; /* product points to weights */

    bool compute() const
    {
        return pwl_cuda_qgemm(&product, workspace, bytes, NULL, NULL) == PWL_QGEMM_OK;
    }
};

/* The state of every unit, a thread each, and h8 for the next product. */
__global__ void __launch_bounds__(GRU_UNITS)
    step_units(gru_gates gates, const int32_t *v_x, const int32_t *v_h, const int8_t *shift_x, const int8_t *shift_h,
               const int16_t *h, int16_t *h_next, int8_t *h8)
{
    const int sequence = (int)blockIdx.x, j = (int)threadIdx.x, i = sequence * GRU_UNITS + j;
    h_next[i] = gru_unit(&gates, v_x + sequence * GRU_ROWS, v_h + sequence * GRU_ROWS, shift_x, shift_h, j, h[i]);
    h8[i] = gru_h8(h_next[i]);
}

} // namespace

int gru_run_cuda(const gru_cell *cell, const int8_t *x, size_t steps, int16_t *h)
{
    memory device;
    int8_t first[GRU_STATE];
    for (int i = 0; i < GRU_STATE; i++)
        first[i] = gru_h8(h[i]);

    const gru_gates gates = {copy_table(device, cell->gates.sigmoid), copy_table(device, cell->gates.tanh)};
    const int8_t *const q_x = device.copy(x, steps * GRU_BATCH * GRU_INPUTS);
    const int8_t *const shift_x = device.copy(cell->x.shift, GRU_ROWS), *const shift_h =
                                                                            device.copy(cell->h.shift, GRU_ROWS);
    int8_t *const h8 = device.copy(first, GRU_STATE);
    int16_t *const states = static_cast<int16_t *>(device.take((steps + 1) * GRU_STATE * sizeof *h));
    int32_t *const v_x = static_cast<int32_t *>(device.take(steps * GRU_BATCH * GRU_ROWS * sizeof *v_x));
    int32_t *const v_h = static_cast<int32_t *>(device.take(GRU_BATCH * GRU_ROWS * sizeof *v_h));
    /* What x brings does not depend on the state: one product for all steps. */
    const device_product of_x(device, cell->x, q_x, steps * GRU_BATCH, v_x);
    const device_product of_h(device, cell->h, h8, GRU_BATCH, v_h);

    bool good = !device.failed && cudaMemcpy(states, h, GRU_STATE * sizeof *h, cudaMemcpyHostToDevice) == cudaSuccess &&
                of_x.compute();
    for (size_t step = 0; step < steps && good; step++) {
        good = of_h.compute();
        step_units<<<GRU_BATCH, GRU_UNITS>>>(gates, v_x + step * GRU_BATCH * GRU_ROWS, v_h, shift_x, shift_h,
                                             states + step * GRU_STATE, states + (step + 1) * GRU_STATE, h8);
        good = good && cudaGetLastError() == cudaSuccess;
    }
    return good && cudaMemcpy(h + GRU_STATE, states + GRU_STATE, steps * GRU_STATE * sizeof *h,
                              cudaMemcpyDeviceToHost) == cudaSuccess;
}
