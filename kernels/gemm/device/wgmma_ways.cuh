/* SPDX-License-Identifier: Apache-2.0 */
/* From shifted sums of INT8 to what Y holds, by 32 bits (gemm/narrow.h): as codes, or by a table in shared memory. */
#ifndef PWL_QGEMM_WGMMA_WAYS_CUH
#define PWL_QGEMM_WGMMA_WAYS_CUH

#include "arch/bits.cuh"
#include "gemm/launch.h"
#include "gemm/narrow.h"

namespace pwl
{
namespace wgmma
{

/* sat(d) << 24 | sat(b) << 16 | sat(c) << 8 | sat(a) */
__device__ inline uint32_t saturate_bytes(int32_t a, int32_t b, int32_t c, int32_t d)
{
    uint32_t high, all;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(b)); /* high = sat(d) << 8 | sat(b) */
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" /* all = high << 16 | sat(c) << 8 | sat(a) */
        : "=r"(all)
        : "r"(c), "r"(a), "r"(high));
    return all;
}

__device__ inline uint32_t saturate_halves(int32_t low, int32_t high)
{
    uint32_t both;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(both) : "r"(high), "r"(low)); /* both = sat(high) << 16 | sat(low) */
    return both;
}

/* Loads of a table, which, unlike load_shared(), may move: it is there for all of the kernel. */
template <class T> __device__ T load_entry(uint32_t address)
{
    T v;
    if constexpr (sizeof(T) == 8)
        asm("ld.shared.u64 %0, [%1];" : "=l"(v) : "r"(address)); /* v = *address */
    else if constexpr (sizeof(T) == 4)
        asm("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address));
    else if constexpr (sizeof(T) == 2)
        asm("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address));
    return v;
}

template <> __device__ inline uint8_t load_entry<uint8_t>(uint32_t address)
{
    uint32_t v;
    asm("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(address));
    return static_cast<uint8_t>(v);
}

/*
 * Ways from shifted v to what Y holds, `bytes` each: find() for some at once; then pack() for two rows of X, of both
 * columns of the lane: bytes in the order of the arguments, or halves.
 */

/* Saturated codes. */
struct as_codes {
    static constexpr unsigned bytes = 1;
    const int32_t zero;

    __device__ as_codes(const pwl_qgemm_call &call, uint32_t) : zero(call.narrow.zero)
    {
    }

    template <int count> __device__ void find(int32_t (&q)[count]) const
    {
#pragma unroll
        for (int32_t &code : q)
            code += zero;
    }

    __device__ uint32_t pack(int32_t a, int32_t b, int32_t c, int32_t d) const
    {
        return saturate_bytes(a, b, c, d);
    }
};

/* Values of a table of up to 256 codes, which have no other bits than those of T. */
template <class T> struct as_values {
    static constexpr unsigned bytes = sizeof(T);
    const int32_t zero, last;
    const uint32_t values;

    __device__ as_values(const pwl_qgemm_call &call, uint32_t table)
        : zero(call.narrow.zero), last(call.narrow.last), values(table)
    {
    }

    template <int count> __device__ void find(int32_t (&q)[count]) const
    {
#pragma unroll
        for (int32_t &code : q)
            code = load_entry<T>(values + static_cast<uint32_t>(pwl_qgemm_narrow_code(code, zero, last)) * sizeof(T));
    }

    __device__ uint32_t pack(int32_t a, int32_t b, int32_t c, int32_t d) const
    {
        return pwl_prmt(static_cast<uint32_t>(c * 256 + a), static_cast<uint32_t>(d * 256 + b), 0x5410);
    }

    __device__ uint32_t pack(int32_t low, int32_t high) const
    {
        return pwl_prmt(static_cast<uint32_t>(low), static_cast<uint32_t>(high), 0x5410);
    }
};

/* A table's lines; `saturates` as gemm/narrow.h says. */
template <unsigned of, bool saturates> struct as_lines {
    static constexpr unsigned bytes = of;
    const pwl_qgemm_narrow &narrow;
    const pwl_cuda_plan &plan;
    const int32_t qmin_y, qmax_y;
    const uint32_t heads, cells;

    __device__ as_lines(const pwl_qgemm_call &call, uint32_t table)
        : narrow(call.narrow), plan(call.table.plan), qmin_y(static_cast<int32_t>(plan.qmin_y)),
          qmax_y(static_cast<int32_t>(plan.qmax_y)), heads(table), cells(table + pwl_qgemm_narrow_cells_at(&plan))
    {
    }

    template <int count> __device__ void find(int32_t (&q)[count]) const
    {
        uint32_t cell[count];
        pwl_compact line[count];
#pragma unroll
        for (int k = 0; k < count; k++) {
            q[k] = pwl_qgemm_narrow_code(q[k], narrow.zero, narrow.last);
            cell[k] = load_entry<uint32_t>(cells + (static_cast<uint32_t>(q[k]) >> plan.cell_shift) * 4);
        }
#pragma unroll
        for (int k = 0; k < count; k++)
            line[k] = load_entry<pwl_compact>(heads + pwl_narrow_pick(cell[k], static_cast<uint32_t>(q[k])) * 8);
#pragma unroll
        for (int k = 0; k < count; k++) {
            q[k] = pwl_compact_sum(line[k], static_cast<uint32_t>(q[k])) >> plan.fraction;
            if (!saturates)
                q[k] = min(max(q[k], qmin_y), qmax_y);
        }
    }

    __device__ uint32_t pack(int32_t a, int32_t b, int32_t c, int32_t d) const
    {
        if (saturates)
            return saturate_bytes(a, b, c, d);
        return pwl_prmt(pwl_prmt(static_cast<uint32_t>(a), static_cast<uint32_t>(c), 0x0040),
                        pwl_prmt(static_cast<uint32_t>(b), static_cast<uint32_t>(d), 0x0040), 0x5410);
    }

    __device__ uint32_t pack(int32_t low, int32_t high) const
    {
        return saturates ? saturate_halves(low, high)
                         : pwl_prmt(static_cast<uint32_t>(low), static_cast<uint32_t>(high), 0x5410);
    }
};

} // namespace wgmma
} // namespace pwl

#endif
