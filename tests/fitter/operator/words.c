/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words STEP DELTA0 DELTA: every STEP-th word that a core is asked for, and how far what it gives is off before and
 * after the Newton step, exactly. CORE is the core's name in the header that the compiler includes first, ROOT whether
 * it is that of reciprocal roots. Fails where a word is further off than DELTA0 or DELTA, or where no word comes near
 * DELTA0.
 *
 * A word M stands for numbers from M to below M + 1, cut. Of reciprocals, with R 2^-62 for 1/M,
 *     e = R M 2^-62 - 1;
 * of roots, with R 2^-46 for 1/sqrt(M), and M to M + 2, since an even number of bits is cut,
 *     (1 + e)^2 = R^2 M 2^-92.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <pwl/rows.h>

__extension__ typedef unsigned __int128 uint128;

/* (1 + e) or (1 + e)^2 of r 2^-scale for a word, as a multiple of 2^-60; 2^-60 is far below every delta. */
static int64_t product_of(uint64_t r, uint64_t word, int scale)
{
    const uint128 product = (uint128)(ROOT ? r * r : r) * word;
    return (int64_t)(scale < 60 ? product << (60 - scale) : product >> (scale - 60));
}

/* The extremes of what words give. */
struct extremes {
    int64_t low, high;
};

static void widen(struct extremes *of, int64_t product)
{
    of->low = product < of->low ? product : of->low;
    of->high = product > of->high ? product : of->high;
}

static double error_of(const struct extremes *of)
{
    const long double low = ldexpl((long double)of->low, -60), high = ldexpl((long double)of->high, -60);
    return (double)(ROOT ? fmaxl(1 - sqrtl(low), sqrtl(high) - 1) : fmaxl(1 - low, high - 1));
}

int main(int argc, char **argv)
{
    const uint64_t first = ROOT ? UINT64_C(1) << 30 : UINT64_C(1) << 31, end = UINT64_C(1) << 32;
    const uint64_t step = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
    const int64_t one = INT64_C(1) << 60;
    struct extremes before = {one, one}, after = {one, one};
    uint64_t cell = 0, r = 0;
    if (step == 0)
        return 2;
    for (uint64_t word = first; word < end; word += step) {
        if (r == 0 || word >> 16 != cell) {
            cell = word >> 16;
            r = (uint64_t)pwl_eval_inline(&CORE, (int64_t)cell - (ROOT ? 16384 : 32768));
        }
        const uint64_t R = (uint64_t)(ROOT ? pwl_rsqrt_newton((uint32_t)word, (int64_t)r)
                                           : pwl_reciprocal_newton((uint32_t)word, (int64_t)r));
        widen(&before, product_of(r, word, ROOT ? 62 : 47));
        widen(&after, product_of(R, word, ROOT ? 92 : 62));
        widen(&after, product_of(R, word + (ROOT ? 2 : 1), ROOT ? 92 : 62));
    }
    const double delta0 = strtod(argv[2], NULL), delta = strtod(argv[3], NULL);
    const double found0 = error_of(&before), found = error_of(&after);
    printf("before the Newton step %.6g of %.6g, after %.6g of %.6g\n", found0, delta0, found, delta);
    return found0 <= delta0 && found0 > 0.99 * delta0 && found <= delta ? 0 : 1;
}
