/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of arrays: how many move together, what an input means, what becomes of a value. */
#ifndef PWL_ELEMENTS_CUH
#define PWL_ELEMENTS_CUH

#include <stddef.h>
#include <stdint.h>

#include "arch/near.h"
#include "task.cuh"

namespace pwl
{

/* As many elements as move together: 16 bytes of the wider type. */
__host__ __device__ constexpr int together_of(size_t in_bytes, size_t out_bytes)
{
    return static_cast<int>(16 / (in_bytes > out_bytes ? in_bytes : out_bytes));
}

/* Elements that move together, by one load or store. They stay in words: arrays of bytes would be taken
 * apart in registers. */
template <class T, int count> struct alignas(sizeof(T) * count) pack {
    static constexpr int per_word = 4 / sizeof(T);
    uint32_t word[count / per_word];

    __device__ T get(int k) const
    {
        return static_cast<T>(word[k / per_word] >> (8 * sizeof(T) * (k % per_word)));
    }

    /* `value(k)` is element k, in the low bits. */
    template <class function> __device__ void set_all(const function &value)
    {
#pragma unroll
        for (int w = 0; w < count / per_word; w++) {
            if (sizeof(T) == 4)
                word[w] = value(w);
            else if (sizeof(T) == 2)
                word[w] = __byte_perm(value(2 * w), value(2 * w + 1), 0x5410);
            else
                word[w] = __byte_perm(__byte_perm(value(4 * w), value(4 * w + 1), 0x0040),
                                      __byte_perm(value(4 * w + 2), value(4 * w + 3), 0x0040), 0x5410);
        }
    }
};

/* Codes, signed and unsigned alike, by their bits. */
template <class T> struct codes {
    using element = T;
    using near = codes;
    static constexpr bool is_real = false;

    /* u of an element, for lines of 64 bits or of 32. */
    template <bool wide> static __device__ uint32_t u(const task &task, T raw)
    {
        const uint32_t code = raw ^ task.flip;
        return min(max(code, task.low), task.high) + task.add;
    }

    /* The element of a saturated value. */
    template <class V> static __device__ uint32_t from(const task &, V q)
    {
        return static_cast<uint32_t>(q);
    }
};

/* Real numbers, by their bits: a kind says how they are stored. */
struct f32 {
    using bits = uint32_t;
    static __device__ float value(bits raw)
    {
        return __uint_as_float(raw);
    }
    static __device__ bits of(float v)
    {
        return __float_as_uint(v);
    }
};

struct f16 {
    using bits = uint16_t;
    static __device__ float value(bits raw)
    {
        return pwl_f32_from_f16(raw);
    }
    static __device__ bits of(float v)
    {
        return pwl_f16_from_f32(v);
    }
};

struct bf16 {
    using bits = uint16_t;
    static __device__ float value(bits raw)
    {
        return __uint_as_float(static_cast<uint32_t>(raw) << 16);
    }
    static __device__ bits of(float v)
    {
        return pwl_bf16_from_f32(v);
    }
};

/* Real outputs whose zero point is near the table's values. */
template <class kind> struct near_reals {
    using element = typename kind::bits;

    static __device__ uint32_t from(const task &task, int32_t q)
    {
        return kind::of(pwl_near_real(static_cast<uint32_t>(q), task.near_zero, task.scale));
    }
};

/* As pwl_code_of_real() and pwl_real_of_code() of pwl/real.h, counted from the lowest code. */
template <class kind> struct reals {
    using element = typename kind::bits;
    using near = near_reals<kind>;
    static constexpr bool is_real = true;

    template <bool wide> static __device__ uint32_t u(const task &task, element raw)
    {
        const float steps = __fmul_rn(kind::value(raw), task.inverse);
        if constexpr (wide) {
            const int64_t whole = steps == steps ? __float2ll_rn(steps) : 0;
            return static_cast<uint32_t>(min(max(whole, task.first), task.last) - task.first);
        } else { /* all have 32 bits; a NaN is converted to 0 */
            const int32_t first = static_cast<int32_t>(task.first), last = static_cast<int32_t>(task.last);
            return static_cast<uint32_t>(min(max(__float2int_rn(steps), first), last) - first);
        }
    }

    static __device__ uint32_t from(const task &task, int32_t q)
    {
        return kind::of(__fmul_rn(__int2float_rn(q - static_cast<int32_t>(task.zero)), task.scale));
    }

    static __device__ uint32_t from(const task &task, int64_t q)
    {
        return kind::of(__fmul_rn(__ll2float_rn(q - task.zero), task.scale));
    }
};

/* The same of tables that take all codes of 16 bits around their zero point, -2^15 to 2^15 - 1. */
template <class kind> struct reals16 {
    using element = typename kind::bits;
    static constexpr bool is_real = true;

    template <bool wide> static __device__ uint32_t u(const task &task, element raw)
    {
        return pwl_round16(task.inverse, kind::value(raw));
    }
};

} // namespace pwl

#endif
