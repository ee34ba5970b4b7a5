/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from a fixed seed, the same everywhere. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* splitmix64 */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* min..max; max - min < 2^63 */
static inline int64_t random_in(uint64_t *state, int64_t min, int64_t max)
{
    return min + (int64_t)(random_bits(state) % ((uint64_t)max - (uint64_t)min + 1));
}

#endif
