/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-VNNI: VPDPBUSD on vectors of 256 bits. */
#include "vectors256.h"

#define MOST 6
#define MOST_INTEGERS 6

#define dot(s, u, q) _mm256_dpbusd_avx_epi32(s, u, q)

#include "vnni.h"

void pwl_qgemm_avxvnni(const pwl_qgemm_pass *pass)
{
    multiply(pass);
}

PWL_QGEMM_DEFINE_ROUND(avxvnni)
