/* SPDX-License-Identifier: Apache-2.0 */
/* E2M1, the elements of MXFP4. */
#ifndef E2M1_H
#define E2M1_H

#include <stdint.h>

static inline double e2m1(uint32_t code)
{
    static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}

#endif
