/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "curvature.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const long double pi = 3.141592653589793238462643383279502884197L;

/* softplus, exp, rsqrt: f'' > 0 */
const struct curvature curvature_convex = {.sign = {1}};
/* log, sqrt, logsigmoid: f'' < 0 */
const struct curvature curvature_concave = {.sign = {-1}};
/* sigmoid, tanh, erf, atan, softsign: f'' has the sign of -x */
const struct curvature curvature_convex_concave = {.changes = 1, .at = {0}, .sign = {1, -1}};
/* reciprocal: f'' has the sign of x */
const struct curvature curvature_concave_convex = {.changes = 1, .at = {0}, .sign = {-1, 1}};
/* relu, leaky_relu: two straight lines; elu, selu: convex below 0, since alpha >= 0, and a straight line above */
const struct curvature curvature_kink = {.changes = 1, .at = {0}, .sign = {1, 1}};
/* straight lines */
const struct curvature curvature_relu6 = {.changes = 2, .at = {0, 6}, .sign = {1, 1, 1}};
/* hard_sigmoid: straight lines; hard_swish: f'' = 1/3 between two straight lines */
const struct curvature curvature_hard = {.changes = 2, .at = {-3, 3}, .sign = {1, 1, 1}};

/* f'' = (2 - x^2) phi(x) */
const struct curvature curvature_gelu = {
    .changes = 2,
    .at = {-1.414213562373095048801688724209698078570L, 1.414213562373095048801688724209698078570L},
    .sign = {-1, 1, -1}};

/* f'' has the sign of 2 - x tanh(x/2); x tanh(x/2) is even, and a product of two that increase above 0. */
const struct curvature curvature_silu = {
    .changes = 2,
    .at = {-2.399357280515467667832739697282283888523L, 2.399357280515467667832739697282283888523L},
    .sign = {-1, 1, -1}};

/* quick_gelu(x) = silu(1.702 x) / 1.702 */
const struct curvature curvature_quick_gelu = {
    .changes = 2,
    .at = {-1.409728131912730709654958694055395939203L, 1.409728131912730709654958694055395939203L},
    .sign = {-1, 1, -1}};

/* With f = x sigmoid(v), v = a (x + c x^3) and u = 3 c x^2: f'' has the sign of
 * 2 + 4 u - a x (1 + u)^2 tanh(v/2), which is even. Above 0, x tanh(v/2) increases, and so does
 * (1 + u)^2 / (2 + 4 u), whose derivative has the sign of 4 u (1 + u): one change. */
const struct curvature curvature_gelu_tanh = {
    .changes = 2,
    .at = {-1.418504008790828355548033545599642697924L, 1.418504008790828355548033545599642697924L},
    .sign = {-1, 1, -1}};

/* With e = e^x: f'' has the sign of H = N + x D, N = 2 (e^3 + 3 e^2 + 4 e + 2), D = 2 + 2 e - 3 e^2 - 2 e^3. D has one
 * root, D > 0 below it (its derivative in e is positive, then negative, and D = 2 at e = 0). Where D is not 0,
 * H = D (N/D + x), and N/D increases: N' D - N D' = 2 (4 + 24 e + 36 e^2 + 20 e^3 + 3 e^4) > 0, derivatives in e.
 * So N/D + x increases from -inf to inf below the root of D, and again above it: H changes once on either side, and
 * at the root of D it is N > 0. */
const struct curvature curvature_mish = {
    .changes = 2,
    .at = {-2.256376396360793120005748543950163906264L, 1.490571179485428459294418908197909821128L},
    .sign = {-1, 1, -1}};

/* f'' = -f */
const struct curvature curvature_sine = {.changes = 1, .at = {0}, .sign = {1, -1}, .periodic = true};
const struct curvature curvature_cosine = {
    .changes = 1, .at = {1.570796326794896619231321691639751442099L}, .sign = {-1, 1}, .periodic = true};

struct curvature_region curvature_at(const struct curvature *curvature, long double x)
{
    if (curvature->periodic) {
        const long double wave = floorl((x - curvature->at[0]) / pi);
        return (struct curvature_region){curvature->at[0] + wave * pi, curvature->at[0] + (wave + 1) * pi,
                                         curvature->sign[fmodl(wave, 2) == 0]};
    }
    int i = 0;
    while (i < curvature->changes && x >= curvature->at[i])
        i++;
    return (struct curvature_region){i > 0 ? curvature->at[i - 1] : -INFINITY,
                                     i < curvature->changes ? curvature->at[i] : INFINITY, curvature->sign[i]};
}

/* The ends are roundings of numbers known to more digits, the periodic ones after two more roundings, and x is one of
 * scale times a code: 4 ulp in all. */
static bool apart(long double a, long double b)
{
    return isinf(b) || fabsl(a - b) > 32 * LDBL_EPSILON * fabsl(b);
}

bool curvature_inside(const struct curvature_region *region, long double x)
{
    return x > region->from && x < region->to && apart(x, region->from) && apart(x, region->to);
}
