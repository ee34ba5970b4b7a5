/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From one k to a later one a residue falls by some amount or rises by 2^n less that amount. Whatever it is, it falls
 * to less than all residues before when k grows by the least number of steps that lowers it by no more than itself.
 * Falls that are smaller than those of all fewer steps are those of the convergents of step / 2^n and between them: of
 * the smallest fall and the smallest rise so far the larger one is diminished by the smaller one, as often as is
 * needed.
 *
 *     residue
 *      |  x                        fall: of `fall_steps` steps
 *      |      .   x
 *      |          .   .   x
 *      |______________________ k
 */
#include "residues.h"

#include "base/integers.h"

/* The least of first + step * k modulo 2^n, and its k. */
static uint64_t least_over(uint64_t first, uint64_t step, int n, int64_t last, int64_t *at)
{
    const uint64_t modulus = (uint64_t)1 << n;
    uint64_t x = first & (modulus - 1), rise = step & (modulus - 1), fall = modulus - rise;
    wide rise_steps = 1, fall_steps = 1;
    *at = 0;
    if (rise == 0)
        return x;
    while (x > 0) {
        if (fall <= x) {
            const wide left = (last - *at) / fall_steps, wanted = (wide)(x / fall),
                       taken = left < wanted ? left : wanted;
            *at += (int64_t)(taken * fall_steps);
            x -= (uint64_t)taken * fall;
            if (taken < wanted)
                break;
        } else if (rise >= fall) {
            const uint64_t times = (rise - 1) / fall;
            if (times == 0) /* they are equal: residues repeat */
                break;
            rise -= times * fall;
            rise_steps += (wide)times * fall_steps;
        } else {
            const uint64_t wanted = (fall - x + rise - 1) / rise, most = (fall - 1) / rise,
                           times = wanted < most ? wanted : most;
            fall -= times * rise;
            fall_steps += (wide)times * rise_steps;
        }
        if (fall_steps > last - *at)
            break;
    }
    return x;
}

struct residues residues_over(uint64_t first, uint64_t step, int n, int64_t last)
{
    const uint64_t below = ((uint64_t)1 << n) - 1;
    struct residues residues;
    residues.least = least_over(first, step, n, last, &residues.least_at);
    residues.most = below - least_over(below - (first & below), 0 - step, n, last, &residues.most_at);
    return residues;
}
