/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways around the steps of wgmma_loop.cuh, by what its shapes name: a step ahead, and in runs of K. */
#ifndef PWL_QGEMM_WGMMA_AHEAD_CUH
#define PWL_QGEMM_WGMMA_AHEAD_CUH

#include "wgmma_loop.cuh"

namespace pwl
{
namespace wgmma
{

#if PWL_IS_HOPPER

/* Operands are decoded a step ahead, before any multiplication is waited for; there are three of them. For
 * multiplications that take longer than decoding does. */
template <class shape> struct ahead_multiplier : multiplier<shape> {
    using base = multiplier<shape>;
    using sums_type = float[shape::tokens / 8][4];
    typename base::operand a[3];
    uint32_t steps, x, empty; /* all steps; of the one that is decoded, and not multiplied */
    bool has_before = false;  /* whether `before` is to be told */

    __device__ ahead_multiplier(const pwl_qgemm_call &call, const uint8_t *memory, size_t n, unsigned row,
                                uint32_t steps, const place<shape> &begin)
        : base(call, memory, n, row, begin), steps(steps)
    {
    }

    __device__ void prepare(typename base::operand &to)
    {
        typename base::raw codes;
        wait_for(this->from.full(), this->from.odd);
        this->load(codes);
        this->decode(codes, to);
        x = this->from.x();
        empty = this->from.empty();
        this->from.advance();
    }

    /* Step i, with operand i % 3. */
    template <unsigned which> __device__ void add(uint32_t i, sums_type &sums)
    {
        this->start(a[which], x, empty, sums);
        if (i + 1 < steps)
            prepare(a[(which + 1) % 3]);
        wait_for_multiplications<1>();
        if (has_before)
            this->tell(this->before);
        has_before = true;
    }
};

template <class shape>
__device__ void multiply_ahead(const pwl_qgemm_call &call, const uint8_t *memory, size_t n, unsigned row,
                               uint32_t steps, place<shape> &begin, float (&sums)[shape::tokens / 8][4])
{
    ahead_multiplier<shape> by(call, memory, n, row, steps, begin);
    by.prepare(by.a[0]);
    hopper::hold(sums);
    uint32_t i = 0;
    for (; i + 2 < steps; i += 3) {
        by.template add<0>(i, sums);
        by.template add<1>(i + 1, sums);
        by.template add<2>(i + 2, sums);
    }
    if (i < steps)
        by.template add<0>(i, sums);
    if (i + 1 < steps)
        by.template add<1>(i + 1, sums);
    wait_for_multiplications<0>();
    hopper::hold(sums);
    begin.stage = by.from.stage;
    begin.odd = by.from.odd;
    by.tell(by.last);
}

/* total += sums, which begin anew. */
template <unsigned groups> __device__ void fold(float (&total)[groups][4], float (&sums)[groups][4])
{
#pragma unroll
    for (unsigned i = 0; i < groups * 4; i++) {
        total[i / 4][i % 4] += sums[i / 4][i % 4];
        sums[i / 4][i % 4] = 0;
    }
}

/* multiply() in runs of K, whose sums are added in fp32. */
template <class shape>
__device__ void multiply_in_runs(const pwl_qgemm_call &call, const uint8_t *memory, size_t n, unsigned row,
                                 uint32_t steps, place<shape> &begin, float (&sums)[shape::tokens / 8][4])
{
    const uint32_t columns = call.product.sums == PWL_QGEMM_SUMS_OF_128 ? 128 : 512, run = columns / shape::columns;
    static_assert(shape::slabs == 1, "a step is no more than a run");
    float total[shape::tokens / 8][4] = {};
    for (uint32_t first = 0; first < steps; first += run) {
        multiply<shape>(call, memory, n, row, min(run, steps - first), begin, sums, [] {});
        fold(total, sums);
    }
    fold(sums, total);
}

#endif

} // namespace wgmma
} // namespace pwl

#endif
