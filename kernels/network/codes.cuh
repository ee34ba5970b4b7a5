/* SPDX-License-Identifier: Apache-2.0 */
/* Eight neighbouring codes at a time. */
#ifndef PWL_NETWORK_CODES_CUH
#define PWL_NETWORK_CODES_CUH

#include "task.h"

namespace pwl
{

constexpr unsigned together = 8;

/* Of at most 16 bits, or of S32. */
struct eight_codes {
    int32_t code[together];
};

/* Eight codes of at most 16 bits as they lie; of 8 bits in x and y. */
__device__ inline uint4 load_words(const pwl_work_input &x, uint32_t at)
{
    if (x.type > PWL_U8)
        return *reinterpret_cast<const uint4 *>(static_cast<const int16_t *>(x.at) + at);
    const uint2 read = *reinterpret_cast<const uint2 *>(static_cast<const char *>(x.at) + at);
    return make_uint4(read.x, read.y, 0, 0);
}

__device__ inline eight_codes codes_of(int type, const uint4 &words)
{
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
    eight_codes codes;
#pragma unroll
    for (unsigned k = 0; k < together; k++) {
        const uint32_t byte = word[k / 4] >> 8 * (k % 4), half = word[k / 2] >> 16 * (k % 2);
        codes.code[k] = type == PWL_S8    ? static_cast<int8_t>(byte)
                        : type == PWL_U8  ? static_cast<uint8_t>(byte)
                        : type == PWL_S16 ? static_cast<int16_t>(half)
                                          : static_cast<uint16_t>(half);
    }
    return codes;
}

__device__ inline eight_codes load_eight(const pwl_work_input &x, uint32_t at)
{
    if (x.type <= PWL_U16)
        return codes_of(x.type, load_words(x, at));
    const int4 *const read = reinterpret_cast<const int4 *>(static_cast<const int32_t *>(x.at) + at);
    const int4 first = read[0], last = read[1];
    return {{first.x, first.y, first.z, first.w, last.x, last.y, last.z, last.w}};
}

__device__ inline void store_eight(const pwl_work_output &y, uint32_t at, const eight_codes &codes)
{
    uint32_t half[together / 2];
#pragma unroll
    for (unsigned k = 0; k < together / 2; k++)
        half[k] = __byte_perm(static_cast<uint32_t>(codes.code[2 * k]), static_cast<uint32_t>(codes.code[2 * k + 1]),
                              y.type <= PWL_U8 ? 0x0040 : 0x5410);
    if (y.type <= PWL_U8)
        *reinterpret_cast<uint2 *>(static_cast<char *>(y.at) + at) =
            make_uint2(__byte_perm(half[0], half[1], 0x5410), __byte_perm(half[2], half[3], 0x5410));
    else
        *reinterpret_cast<uint4 *>(static_cast<int16_t *>(y.at) + at) = make_uint4(half[0], half[1], half[2], half[3]);
}

} // namespace pwl

#endif
