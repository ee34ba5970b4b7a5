/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways from y to what Y holds, four neighbouring columns at a time (gemm/fast.h): as it is; by a table of up to 256
 * codes, of which each lane has a copy of every entry in shared memory; by the lines of a table's image; and products
 * of what a table gives with another y.
 *
 * Nothing hides what comes after the multiplications. On an H200, 128 elements to a thread, entries add 7 to 8
 * instructions an element (0.5 us), lines 1.4 us, 0.3 us less than lines of 16 bytes: a warp's elements take shared
 * memory 4 cycles, one for the sums, one for cells, two for lines. IMAD.WIDE and two sums in place of IMAD.HI cost 0.4
 * us, an image of few copies that each block spreads 0.8.
 */
#ifndef PWL_QGEMM_VALUES_CUH
#define PWL_QGEMM_VALUES_CUH

#include "arch/e4m3.cuh"
#include "gemm/fast.h"
#include "gemm/launch.h"
#include "map/evaluate.cuh"
#include "tile.cuh"

namespace pwl
{
namespace mma
{

/* 256 entries by value, a word for each lane, so that neighbouring lanes read different banks. */
constexpr unsigned entry_bytes = 128, entries = 256;

/* What a table takes behind the sums, at most PWL_PLAN_IMAGE. */
inline unsigned table_bytes(const pwl_qgemm_call *call)
{
    return call->fast.way == PWL_QGEMM_BY_VALUE   ? entry_bytes * entries
           : call->fast.way == PWL_QGEMM_BY_IMAGE ? call->table.plan.image_bytes
                                                  : 0;
}

static_assert(entry_bytes * entries <= PWL_PLAN_IMAGE, "as an image");

/* Two halves in a word. */
template <pwl_qgemm_type type> __device__ uint32_t halves_of(float first, float second)
{
    uint32_t pair;
    if (type == PWL_QGEMM_F16)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first)); /* second << 16 | first, RN16 */
    else
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first)); /* the same, RNbf16 */
    return pair;
}

/* Four codes of E4M3, of floats as their bits times an inverse, as pwl_e4m3_code() makes them. */
__device__ inline uint32_t codes_of(const uint32_t (&v)[4], float inverse)
{
    float of[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        of[k] = __fmul_rn(__uint_as_float(v[k]), inverse);
    return pwl_e4m3x4_from_f32(of);
}

/* Four columns of `count` rows of Y, those that are there. */
template <int count> struct destination {
    char *to;
    size_t apart;
    const float *inverses; /* of Y in E4M3: the first row's, in shared memory, and how far it is to the next */
    unsigned inverses_apart;
    bool there[count];

    template <class T> __device__ void store(int i, const T &four) const
    {
        if (there[i])
            *reinterpret_cast<T *>(to + i * apart) = four;
    }
};

/* Low bytes of words. */
template <class T, int count> __device__ void store_low(const destination<count> &y, const uint32_t (&words)[count][4])
{
#pragma unroll
    for (int i = 0; i < count; i++) {
        pack<T, 4> low;
        low.set_all([&](int k) { return words[i][k]; });
        y.store(i, low);
    }
}

/* As many as are known but at run time: all that branch on them do so for some rows at once. */
template <int count>
__device__ void store_low(unsigned bytes, const destination<count> &y, const uint32_t (&words)[count][4])
{
    if (bytes == 1)
        store_low<uint8_t>(y, words);
    else if (bytes == 2)
        store_low<uint16_t>(y, words);
    else
        store_low<uint32_t>(y, words);
}

/* Floats, of which words are the bits. */
template <pwl_qgemm_type type, int count>
__device__ void store_floats(const destination<count> &y, const uint32_t (&words)[count][4])
{
#pragma unroll
    for (int i = 0; i < count && type == PWL_QGEMM_E4M3; i++) {
        if (y.there[i])
            y.store(i, codes_of(words[i], y.inverses[i * y.inverses_apart]));
    }
#pragma unroll
    for (int i = 0; i < count && (type == PWL_QGEMM_F16 || type == PWL_QGEMM_BF16); i++) {
        const uint32_t(&of)[4] = words[i];
        y.store(i, make_uint2(halves_of<type>(__uint_as_float(of[0]), __uint_as_float(of[1])),
                              halves_of<type>(__uint_as_float(of[2]), __uint_as_float(of[3]))));
    }
    if (type == PWL_QGEMM_F32)
        store_low<uint32_t>(y, words);
}

/* In the type of Y, which is none of integers. */
template <int count>
__device__ void store_floats(const pwl_qgemm_call &call, const destination<count> &y, const uint32_t (&words)[count][4])
{
    if (call.product.y.type == PWL_QGEMM_F16)
        store_floats<PWL_QGEMM_F16>(y, words);
    else if (call.fast.y_bytes == 2)
        store_floats<PWL_QGEMM_BF16>(y, words);
    else if (call.fast.y_bytes == 1)
        store_floats<PWL_QGEMM_E4M3>(y, words);
    else
        store_floats<PWL_QGEMM_F32>(y, words);
}

/*
 * Ways from y to Y: find() gives a word for each of four columns, of y that is finite where `finite` says so, and
 * store() takes those of some rows, `rows` where there are as many.
 */

/* As they are. */
template <pwl_qgemm_type type> struct as_floats {
    static constexpr bool finite = false, gated = false;
    static constexpr int rows = 4;

    __device__ void find(const float (&y)[4], const float (&)[4], uint32_t (&words)[4]) const
    {
#pragma unroll
        for (int k = 0; k < 4; k++)
            words[k] = __float_as_uint(y[k]);
    }

    template <int count> __device__ void store(const destination<count> &to, const uint32_t (&words)[count][4]) const
    {
        store_floats<type>(to, words);
    }
};

/* A table of at most 256 codes by its entries: what Y holds, or where that is another's factor, real numbers. */
struct by_entry {
    const pwl_qgemm_rounding &x;
    uint32_t origin;

    __device__ by_entry(const pwl_qgemm_call &call, const char *table)
        : x(call.fast.x), origin(shared_address(table) + thread_here() % 32 * 4 - call.fast.x.zero * entry_bytes)
    {
    }

    static __device__ uint32_t entry_of(const pwl_qgemm_call &call, int32_t q)
    {
        const pwl_qgemm_type type = call.product.y.type;
        const float real = pwl_real_of_code(q, call.epilogue.as.of_y);
        if (call.epilogue.as.gated || type == PWL_QGEMM_F32 || type == PWL_QGEMM_E4M3)
            return __float_as_uint(real);
        return type >= PWL_QGEMM_S8    ? static_cast<uint32_t>(q)
               : type == PWL_QGEMM_F16 ? halves_of<PWL_QGEMM_F16>(real, real)
                                       : halves_of<PWL_QGEMM_BF16>(real, real);
    }

    __device__ uint32_t word(float y) const
    {
        return load_shared<uint32_t>(pwl_qgemm_round(&x, y) * entry_bytes + origin);
    }

    __device__ float real(float y) const
    {
        return __uint_as_float(word(y));
    }
};

/* A table by its image. */
struct by_line {
    const pwl_qgemm_call &call;
    by_image<compact> raw;

    __device__ by_line(const pwl_qgemm_call &of, const char *table) : call(of), raw(of.table, table, thread_here())
    {
    }

    /* Before saturation. */
    __device__ int32_t value(float y) const
    {
        return raw(call.table, pwl_qgemm_round(&call.fast.x, y) - call.fast.x.zero);
    }

    __device__ int32_t value16(float y) const
    {
        return raw(call.table, pwl_round16(call.fast.x.inverse, y));
    }

    __device__ uint32_t word(float y) const
    {
        return static_cast<uint32_t>(min(max(value(y), call.fast.qmin_y), call.fast.qmax_y));
    }

    __device__ float real(float y) const
    {
        return pwl_near_real(word(y), call.fast.zero_y, call.epilogue.as.of_y.scale);
    }
};

/* What a table gives, of which Y holds the low bytes: `bytes`, or 0 where that is known but at run time. */
template <class table, unsigned bytes> struct as_words {
    static constexpr bool finite = true, gated = false;
    static constexpr int rows = 4;
    const pwl_qgemm_call &call;
    table by;

    __device__ as_words(const pwl_qgemm_call &of, const char *memory) : call(of), by(of, memory)
    {
    }

    __device__ void find(const float (&y)[4], const float (&)[4], uint32_t (&words)[4]) const
    {
#pragma unroll
        for (int k = 0; k < 4; k++)
            words[k] = by.word(y[k]);
    }

    template <int count> __device__ void store(const destination<count> &to, const uint32_t (&words)[count][4]) const
    {
        store_low(bytes ? bytes : call.fast.y_bytes, to, words);
    }
};

/* By the lines of a table from all codes of 16 bits to all codes of 16 bits: two at a time. */
template <fit all> struct as_pairs {
    static constexpr bool finite = false, gated = false;
    static constexpr int rows = 8;
    by_line by;

    __device__ as_pairs(const pwl_qgemm_call &of, const char *memory) : by(of, memory)
    {
    }

    __device__ void find(const float (&y)[4], const float (&)[4], uint32_t (&words)[4]) const
    {
#pragma unroll
        for (int k = 0; k < 4; k += 2)
            words[k / 2] = saturate_pair<all>(by.value16(y[k]), by.value16(y[k + 1]));
    }

    template <int count> __device__ void store(const destination<count> &to, const uint32_t (&words)[count][4]) const
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            to.store(i, make_uint2(words[i][0], words[i][1]));
    }
};

/* Real numbers of what a table gives. */
template <class table> struct as_reals {
    static constexpr bool finite = true, gated = false;
    static constexpr int rows = 4;
    const pwl_qgemm_call &call;
    table by;

    __device__ as_reals(const pwl_qgemm_call &of, const char *memory) : call(of), by(of, memory)
    {
    }

    __device__ void find(const float (&y)[4], const float (&)[4], uint32_t (&words)[4]) const
    {
#pragma unroll
        for (int k = 0; k < 4; k++)
            words[k] = __float_as_uint(by.real(y[k]));
    }

    template <int count> __device__ void store(const destination<count> &to, const uint32_t (&words)[count][4]) const
    {
        store_floats(call, to, words);
    }
};

/* Gated: real numbers, or codes of them. */
template <class table> struct as_products {
    static constexpr bool finite = true, gated = true;
    static constexpr int rows = 4;
    const pwl_qgemm_call &call;
    table by;

    __device__ as_products(const pwl_qgemm_call &of, const char *memory) : call(of), by(of, memory)
    {
    }

    __device__ void find(const float (&y)[4], const float (&up)[4], uint32_t (&words)[4]) const
    {
#pragma unroll
        for (int k = 0; k < 4; k++)
            words[k] = __float_as_uint(__fmul_rn(by.real(y[k]), pwl_qgemm_fast_up(&call.fast, up[k])));
    }

    template <int count> __device__ void store(const destination<count> &to, const uint32_t (&words)[count][4]) const
    {
        uint32_t codes[count][4];
        if (!pwl_qgemm_is_integer(call.product.y.type)) {
            store_floats(call, to, words);
            return;
        }
#pragma unroll
        for (int i = 0; i < count; i++) {
#pragma unroll
            for (int k = 0; k < 4; k++)
                codes[i][k] = pwl_qgemm_round(&call.fast.out, __uint_as_float(words[i][k])) + call.fast.zero_out;
        }
        store_low(call.fast.y_bytes, to, codes);
    }
};

/*
 * Brings to shared memory what a way takes of a table there: its entries, whose values come through registers, or its
 * image. Nothing by search.
 */
struct table_loader {
    static constexpr unsigned each = entries / threads;
    int32_t q[each];

    /* Values, asked for before any copies that follow: none moves across where lanes meet. */
    __device__ void load(const pwl_qgemm_call &call)
    {
        if (call.fast.way != PWL_QGEMM_BY_VALUE)
            return;
        const pwl_cuda_plan &plan = call.table.plan;
        const int32_t *const values =
            reinterpret_cast<const int32_t *>(call.table.memory) + (plan.qmin_x - PWL_PLAN_BYTE_FIRST);
        const unsigned last = static_cast<unsigned>(plan.qmax_x - plan.qmin_x), thread = thread_here();
#pragma unroll
        for (unsigned i = 0; i < each; i++)
            q[i] = values[min(thread + i * threads, last)];
        __syncwarp();
    }

    /* Starts to copy the image, with the copies of the group that is open. */
    __device__ void copy(const pwl_qgemm_call &call, char *table) const
    {
        if (call.fast.way != PWL_QGEMM_BY_IMAGE)
            return;
        copy_image(call.table, table, thread_here(), threads);
    }

    /* Entries of the values. Threads take turns at the chunks of their rows, to write to different banks. */
    __device__ void put(const pwl_qgemm_call &call, char *table) const
    {
        if (call.fast.way != PWL_QGEMM_BY_VALUE)
            return;
        const unsigned thread = thread_here();
#pragma unroll
        for (unsigned i = 0; i < each; i++) {
            const uint32_t word = by_entry::entry_of(call, q[i]);
            char *const row = table + (thread + i * threads) * entry_bytes;
            for (unsigned c = 0; c < entry_bytes; c += 16)
                *reinterpret_cast<uint4 *>(row + (c + thread * 16) % entry_bytes) = make_uint4(word, word, word, word);
        }
    }
};

} // namespace mma
} // namespace pwl

#endif
