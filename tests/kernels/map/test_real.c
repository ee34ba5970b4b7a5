/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of real numbers and back, against the definition in wider arithmetic: every f16, and floats around every tie.
 */
#include <math.h>
#include <stdint.h>

#include <pwl/half.h>
#include <pwl/real.h>

#include "../../support/random.h"
#include "../tap.h"

/* The code by its definition. A product of two floats is exact in double; what lies beyond 2^52 has no fraction. */
static int64_t code_by_definition(float x, float scale, int64_t zero_point, int64_t qmin, int64_t qmax)
{
    const float steps = (float)((double)x * (1.0f / scale));
    const double down = floor(steps), rest = (double)steps - down;
    double whole = down;
    if (steps != steps)
        whole = 0;
    else if (rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0))
        whole = down + 1;
    const double q = fmin(fmax(whole, (double)(qmin - zero_point)), (double)(qmax - zero_point));
    return (int64_t)q + zero_point;
}

static int agrees(float x, pwl_affine of, int64_t qmin, int64_t qmax)
{
    const int64_t q = pwl_code_of_real(x, 1.0f / of.scale, of.zero_point, qmin, qmax);
    const int64_t expected = code_by_definition(x, of.scale, of.zero_point, qmin, qmax);
    const float real = pwl_real_of_code(q, of), real_expected = (float)((double)(float)(q - of.zero_point) * of.scale);
    if (q == expected && real == real_expected)
        return 1;
    printf("# x %a, scale %a, zero point %lld: code %lld, not %lld; real %a, not %a\n", (double)x, (double)of.scale,
           (long long)of.zero_point, (long long)q, (long long)expected, (double)real, (double)real_expected);
    return 0;
}

/* floor((v + 2^(n-1)) / 2^n) by division, or a product; beyond 2^40, which is beyond every code, whatever has its sign.
 */
static int64_t shifted_by_definition(int64_t v, int64_t n)
{
    const int64_t beyond = INT64_C(1) << 40;
    if (n > 55 || v == 0)
        return 0;
    if (n > 0) {
        const int64_t unit = INT64_C(1) << n, sum = v + unit / 2, rest = (sum % unit + unit) % unit;
        return (sum - rest) / unit;
    }
    for (; n < 0 && v < beyond && v > -beyond; n++)
        v *= 2;
    return v;
}

/* Codes of integers, shifts from -300 to 300 and far beyond, ties among them. */
static void test_integers(int64_t qmin, int64_t qmax, int64_t zero_point, const char *name)
{
    static const int64_t ends[] = {INT64_MIN, INT32_MIN, -300, -64, -63, -62,       -61,
                                   61,        62,        63,   64,  300, INT32_MAX, INT64_MAX};
    uint64_t state = 2;
    int good = 1;
    for (int i = 0; i < 200000 && good; i++) {
        const int bits = (int)random_in(&state, 0, 53);
        const int64_t most = INT64_C(1) << bits;
        const int64_t v = i % 3 ? random_in(&state, -most, most) : random_in(&state, -9, 9) * (most / 16);
        const int64_t n = i % 5 ? random_in(&state, -60, 60) : ends[random_bits(&state) % 14];
        const int64_t q = pwl_code_of_integer(v, n, zero_point, qmin, qmax);
        const int64_t expected = pwl_sat(shifted_by_definition(v, n) + zero_point, qmin, qmax);
        good = q == expected;
        if (!good)
            printf("# v %lld, n %lld: code %lld, not %lld\n", (long long)v, (long long)n, (long long)q,
                   (long long)expected);
    }
    tap(good, "codes of integers: %s", name);
}

/* The ends of what an affine may be. */
static void test_affines(void)
{
    const pwl_affine good[] = {{0x1p-126f, INT64_C(1) << 30}, {0x1p126f, -(INT64_C(1) << 30)}};
    const pwl_affine bad[] = {{0x1.fffffcp-127f, 0},       {0x1.000002p126f, 0},        {NAN, 0}, {-1, 0},
                              {1, (INT64_C(1) << 33) + 1}, {1, -(INT64_C(1) << 33) - 1}};
    const pwl_affine wide[] = {{1, INT64_C(1) << 33}, {1, -(INT64_C(1) << 33)}, {1, (INT64_C(1) << 30) + 1}};
    int right = 1;
    for (int i = 0; i < 2; i++)
        right &= pwl_affine_serves(good[i], 0) && pwl_affine_serves(good[i], 1);
    for (int i = 0; i < 6; i++)
        right &= !pwl_affine_serves(bad[i], 0) && !pwl_affine_serves(bad[i], 1);
    for (int i = 0; i < 3; i++)
        right &= !pwl_affine_serves(wide[i], 0) && pwl_affine_serves(wide[i], 1);
    tap(right, "scales and zero points at their ends");
}

int main(void)
{
    static const struct {
        const char *name;
        int64_t qmin, qmax, zero_points[4];
    } types[] = {{"s8", INT8_MIN, INT8_MAX, {0, -128, 5, 1 << 30}},
                 {"u16", 0, UINT16_MAX, {0, 24576, -1, -(1 << 30)}},
                 {"s32", INT32_MIN, INT32_MAX, {0, INT32_MIN, 7, (int64_t)1 << 33}},
                 {"u32", 0, UINT32_MAX, {0, INT32_MAX, UINT32_MAX, -((int64_t)1 << 33)}}};
    static const float scales[] = {1, 0x1p-7f, 0.1f, 3e-5f, 0x1p-126f, 0x1p126f, 777.7f};
    static const float ends[] = {0,        -0.0f,     INFINITY,      -INFINITY, NAN,     0x1p-149f,
                                 0x1p127f, -0x1p127f, 0x1p62f,       -0x1p62f,  0x1p31f, -0x1p31f,
                                 0x1p63f,  -0x1p63f,  2147483520.0f, 0x1p32f,   0x1p33f, -0x1p33f};
    uint64_t state = 1;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int good = 1;
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            for (int z = 0; z < 4; z++) {
                const pwl_affine of = {scales[s], types[t].zero_points[z]};
                for (uint32_t h = 0; h < 65536; h++)
                    good &= agrees(pwl_f32_from_f16((uint16_t)h), of, types[t].qmin, types[t].qmax);
                for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
                    good &= agrees(ends[e], of, types[t].qmin, types[t].qmax) &
                            agrees(ends[e] * of.scale, of, types[t].qmin, types[t].qmax);
                for (int k = 0; k < 20000; k++) {
                    /* A tie, and the floats next to it. */
                    const float tie = ((float)random_in(&state, -300, 300) + 0.5f) * of.scale;
                    good &= agrees(tie, of, types[t].qmin, types[t].qmax) &
                            agrees(nextafterf(tie, INFINITY), of, types[t].qmin, types[t].qmax) &
                            agrees(nextafterf(tie, -INFINITY), of, types[t].qmin, types[t].qmax) &
                            agrees(pwl_f32_of_bits((uint32_t)random_bits(&state)), of, types[t].qmin, types[t].qmax);
                }
            }
        }
        tap(good, "codes of real numbers and back: %s", types[t].name);
        test_integers(types[t].qmin, types[t].qmax, types[t].zero_points[1], types[t].name);
    }
    test_affines();
    return tap_end();
}
