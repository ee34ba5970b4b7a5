/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "curvature.h"

#include <math.h>
#include <stddef.h>

static const struct dd pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

/* softplus, exp, rsqrt: f'' > 0 */
const struct curvature curvature_convex = {.sign = {1}};
/* log, sqrt, logsigmoid: f'' < 0 */
const struct curvature curvature_concave = {.sign = {-1}};
/* sigmoid, tanh, erf, atan, softsign: f'' has the sign of -x */
const struct curvature curvature_convex_concave = {.changes = 1, .at = {{0, 0}}, .sign = {1, -1}};
/* reciprocal: f'' has the sign of x */
const struct curvature curvature_concave_convex = {.changes = 1, .at = {{0, 0}}, .sign = {-1, 1}};
/* relu, leaky_relu: two straight lines; elu, selu: convex below 0, since alpha >= 0, and a straight line above */
const struct curvature curvature_kink = {.changes = 1, .at = {{0, 0}}, .sign = {1, 1}};
/* straight lines */
const struct curvature curvature_relu6 = {.changes = 2, .at = {{0, 0}, {6, 0}}, .sign = {1, 1, 1}};
/* hard_sigmoid: straight lines; hard_swish: f'' = 1/3 between two straight lines */
const struct curvature curvature_hard = {.changes = 2, .at = {{-3, 0}, {3, 0}}, .sign = {1, 1, 1}};

/* f'' = (2 - x^2) phi(x) */
const struct curvature curvature_gelu = {
    .changes = 2,
    .at = {{-0x1.6a09e667f3bcdp+0, 0x1.bdd3413b26456p-54}, {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54}},
    .sign = {-1, 1, -1}};

/* f'' has the sign of 2 - x tanh(x/2); x tanh(x/2) is even, and a product of two that increase above 0. */
const struct curvature curvature_silu = {
    .changes = 2,
    .at = {{-0x1.331e23ad9de11p+1, -0x1.a9c55ef03c74ap-53}, {0x1.331e23ad9de11p+1, 0x1.a9c55ef03c74ap-53}},
    .sign = {-1, 1, -1}};

/* quick_gelu(x) = silu(1.702 x) / 1.702 */
const struct curvature curvature_quick_gelu = {
    .changes = 2,
    .at = {{-0x1.68e3f15ed0fc7p+0, -0x1.d16c4a424edcbp-54}, {0x1.68e3f15ed0fc7p+0, 0x1.d16c4a424edcbp-54}},
    .sign = {-1, 1, -1}};

/* With f = x sigmoid(v), v = a (x + c x^3) and u = 3 c x^2: f'' has the sign of
 * 2 + 4 u - a x (1 + u)^2 tanh(v/2), which is even. Above 0, x tanh(v/2) increases, and so does
 * (1 + u)^2 / (2 + 4 u), whose derivative has the sign of 4 u (1 + u): one change. */
const struct curvature curvature_gelu_tanh = {
    .changes = 2,
    .at = {{-0x1.6b23142700629p+0, -0x1.750d2fad2c04bp-54}, {0x1.6b23142700629p+0, 0x1.750d2fad2c04bp-54}},
    .sign = {-1, 1, -1}};

/* With e = e^x: f'' has the sign of H = N + x D, N = 2 (e^3 + 3 e^2 + 4 e + 2), D = 2 + 2 e - 3 e^2 - 2 e^3. D has one
 * root, D > 0 below it (its derivative in e is positive, then negative, and D = 2 at e = 0). Where D is not 0,
 * H = D (N/D + x), and N/D increases: N' D - N D' = 2 (4 + 24 e + 36 e^2 + 20 e^3 + 3 e^4) > 0, derivatives in e.
 * So N/D + x increases from -inf to inf below the root of D, and again above it: H changes once on either side, and
 * at the root of D it is N > 0. */
const struct curvature curvature_mish = {
    .changes = 2,
    .at = {{-0x1.20d0f116eb001p+1, -0x1.ed98c925498a2p-54}, {0x1.7d9612a440040p+0, 0x1.48a1647177d43p-54}},
    .sign = {-1, 1, -1}};

/* f'' = -f */
const struct curvature curvature_sine = {.changes = 1, .at = {{0, 0}}, .sign = {1, -1}, .periodic = true};
const struct curvature curvature_cosine = {
    .changes = 1, .at = {{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}}, .sign = {-1, 1}, .periodic = true};

struct curvature_region curvature_at(const struct curvature *curvature, struct dd x)
{
    if (curvature->periodic) {
        const struct dd waves = dd_div(dd_sub(x, curvature->at[0]), pi);
        const double high = floor(waves.hi), low = high == waves.hi ? floor(waves.lo) : 0;
        const struct dd wave = dd_sum(high, low);
        return (struct curvature_region){dd_add(curvature->at[0], dd_mul(pi, wave)),
                                         dd_add(curvature->at[0], dd_mul(pi, dd_plus(wave, 1))),
                                         curvature->sign[fabs(fmod(high, 2)) == fabs(fmod(low, 2))]};
    }
    int i = 0;
    while (i < curvature->changes && !dd_less(x, curvature->at[i]))
        i++;
    return (struct curvature_region){i > 0 ? curvature->at[i - 1] : dd_of(-(double)INFINITY),
                                     i < curvature->changes ? curvature->at[i] : dd_of((double)INFINITY),
                                     curvature->sign[i]};
}

/* The ends are roundings of numbers known to more digits, the periodic ones after two more roundings: 2^-100 of them.
 */
static bool apart(struct dd a, struct dd b)
{
    return isinf(b.hi) || fabs(dd_sub(a, b).hi) > 0x1p-58 * fabs(b.hi);
}

bool curvature_inside(const struct curvature_region *region, struct dd x)
{
    return dd_less(region->from, x) && dd_less(x, region->to) && apart(x, region->from) && apart(x, region->to);
}
