/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each function is a short series about the nearest of some points where its value stands in a table. Of a series the
 * first terms, which matter, are pairs, and the rest doubles. log and atan take a double's worth from a series, and the
 * rest from the function that they invert.
 *
 * The comment at each function derives its error, relative to the result where it names nothing else, with u = 2^-53:
 * what is left out of a series, and how often the doubles of its rest are rounded. Pairs add some u^2 for each
 * operation (dd.h), in no function more than 2^-93 of the result; what underflows, below 2^-960, is left
 * aside. tests/fitter/function/test_elementary.c compares with MPFR where these errors are largest.
 *
 * The numbers were made by mpmath, with 400 bits.
 */
#include "elementary.h"

#include <float.h>
#include <string.h>

/* 2^(j / 32) */
static const struct dd power[32] = {
    {0x1p+0, 0x0p+0},
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80dp-59},
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
    {0x1.9c49182a3f09p+0, 0x1.c7c46b071f2bep-56},
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    {0x1.f50765b6e454p+0, 0x1.9d3e12dd8a18bp-54},
};

/* erfc((j + 8) / 16) */
static const struct dd erfc_at[121] = {
    {0x1.eb02147ce245cp-2, -0x1.5e809f1a31a28p-56},   {0x1.b48eaee924501p-2, 0x1.ab2d71290b7aap-57},
    {0x1.81cd2465e1d96p-2, 0x1.f25f4f6fdf70bp-56},    {0x1.52db785a98acap-2, -0x1.8eef7012e8df5p-56},
    {0x1.27c6d14c5e341p-2, 0x1.3af3434d0eeabp-57},    {0x1.008c80a24ff1p-2, -0x1.66cf14bcad032p-56},
    {0x1.ba36dab91c0e9p-3, 0x1.3c896e9a97c59p-58},    {0x1.7aab97a554544p-3, -0x1.a558a46df5f67p-57},
    {0x1.4226162fbddd5p-3, -0x1.b40443f6ec34ap-59},   {0x1.1043c1086777dp-3, 0x1.91608a4706a42p-58},
    {0x1.c9296beb09cf1p-4, -0x1.5224acd170beep-59},   {0x1.7d3fa69816db5p-4, 0x1.81ace739008b7p-58},
    {0x1.3bcd133aa0ffcp-4, -0x1.89da82345938bp-62},   {0x1.03d0ab9273b94p-4, -0x1.1c2fb565dcadep-60},
    {0x1.a8973c4b5c03ep-5, 0x1.d27662c1d9dc2p-59},    {0x1.588cf12f4446bp-5, 0x1.3a42831ec7755p-59},
    {0x1.15aaa8ec85205p-5, -0x1.e86ee834da4cep-61},   {0x1.bc6c1da1f3121p-6, 0x1.fbf90a59c8999p-60},
    {0x1.612d893085125p-6, -0x1.7847afe4f2a7bp-62},   {0x1.16b24cb8f8f92p-6, -0x1.9d194a11ca30dp-62},
    {0x1.b4be201caa4b4p-7, -0x1.6abde927f9cddp-61},   {0x1.53c89d8bb3ddbp-7, -0x1.9e42624e454bfp-63},
    {0x1.0678442cc256fp-7, -0x1.77b62199d8601p-61},   {0x1.9299afa0246a6p-8, -0x1.e613bc6b0debdp-62},
    {0x1.328f5ec350e67p-8, -0x1.ca006412e68dp-62},    {0x1.cf80d4afc3019p-9, -0x1.6aabfff1e020bp-63},
    {0x1.5bde729a6b60fp-9, 0x1.999ec7becc5c7p-65},    {0x1.033197ec68c0ep-9, -0x1.b0615fb45c6ffp-63},
    {0x1.7f713f9cc9784p-10, -0x1.4207143202515p-64},  {0x1.198fd6a0ee7bdp-10, 0x1.78dc7315b06e8p-64},
    {0x1.9a7c305336484p-11, 0x1.6394dd2ff0093p-65},   {0x1.29082600643fdp-11, 0x1.8be7e5c848c07p-65},
    {0x1.aab859b20ac9ep-12, 0x1.88f4ff748376bp-66},   {0x1.30439c56dadf6p-12, 0x1.2900671ba2e85p-67},
    {0x1.aeb4423e690e7p-13, -0x1.a732e928e4c5dp-68},  {0x1.2e984ed53e777p-13, 0x1.9c7db1f96e779p-72},
    {0x1.a609f7584d32bp-14, 0x1.d92f3f7ab9ef5p-68},   {0x1.2422ed95a3235p-14, -0x1.8174270a3a7eap-68},
    {0x1.916f7c5f2f764p-15, 0x1.84e95673c70a1p-70},   {0x1.11c3bed8e716ap-15, -0x1.899ad47c9a36bp-70},
    {0x1.729df6503422ap-16, 0x1.784ca4c429a15p-73},   {0x1.f1febf7a916aap-17, 0x1.b7c360a6e4aeap-72},
    {0x1.4c144d984e1b8p-17, 0x1.2d1f7068bf3fbp-74},   {0x1.b792bbc489b04p-18, -0x1.a99758b268f91p-73},
    {0x1.20c1303550f0ep-18, -0x1.20ee80d2c8d09p-73},  {0x1.7885ce9f67cdbp-19, -0x1.004a4c0a6b8a9p-73},
    {0x1.e749309831666p-20, -0x1.76172989e68aep-76},  {0x1.38f2e86f38216p-20, -0x1.04a7333baf0fdp-74},
    {0x1.8ef2a9a18d857p-21, -0x1.2d76dc03e80a5p-75},  {0x1.f8c0c2e2ce8dep-22, 0x1.ac2e9d31bb2d7p-76},
    {0x1.3ce784b411931p-22, -0x1.8c77157062626p-76},  {0x1.8aee4cd06ec1bp-23, -0x1.519d0e06052c4p-79},
    {0x1.e87470e4f4246p-24, -0x1.cafa3aa5b4314p-82},  {0x1.2bc82ab9d2302p-24, 0x1.4b5a3c94128b3p-78},
    {0x1.6d3126d74b6ccp-25, -0x1.301eb5249fe1dp-79},  {0x1.b9823c51276e1p-26, -0x1.a2e44396d39b5p-80},
    {0x1.08ddd13bd35e7p-26, -0x1.615db40319381p-80},  {0x1.3b62b6aafb0c8p-27, -0x1.6da080c6bf63dp-82},
    {0x1.74b179d1eba81p-28, -0x1.83473776fe2fcp-82},  {0x1.b512a1fb1d8fcp-29, 0x1.9aa5e17595859p-84},
    {0x1.fcae93fb7323cp-30, 0x1.35a3596692c9cp-84},   {0x1.25c354b26cb4ep-30, -0x1.683677f351cc5p-84},
    {0x1.50b75c536f927p-31, -0x1.3c10e160b737ep-89},  {0x1.7f03b935e8e3ap-32, -0x1.dec27620c6d2dp-86},
    {0x1.b05cfe2e99435p-33, -0x1.a071ed80552c6p-87},  {0x1.e45a9790460c1p-34, 0x1.a06cff54da2eap-88},
    {0x1.0d3b35021d695p-34, -0x1.42a25e7a42894p-89},  {0x1.2906cb94eb40dp-35, -0x1.c0660ecf7e5b9p-91},
    {0x1.453141082302ap-36, -0x1.1a101007d8742p-90},  {0x1.61500f5293f06p-37, -0x1.0e1405b5fdf78p-94},
    {0x1.7cef42e9a617dp-38, 0x1.22a7daf8a3e2fp-92},   {0x1.97945aa1c9c35p-39, -0x1.baf2404348f92p-93},
    {0x1.b0c1a759f7739p-40, -0x1.b28568855c7a1p-94},  {0x1.c7fa0c7e3bac7p-41, -0x1.fbfe69f39a91ap-96},
    {0x1.dcc4fabf32f1cp-42, -0x1.748a050f39acfp-96},  {0x1.eeb27891d2bb3p-43, -0x1.71d1156d4afcep-97},
    {0x1.fd5f08ad2b29ap-44, 0x1.e5b1d0c5bf934p-99},   {0x1.043b9f1621ff3p-44, -0x1.8a2177f602255p-100},
    {0x1.07dd6833bb38p-45, -0x1.63b11e0c47d2ap-99},   {0x1.097f82fc04025p-46, -0x1.22acca5ce58afp-103},
    {0x1.09182b326b229p-47, -0x1.22e85b13a8e1dp-102}, {0x1.06a996198f06fp-48, -0x1.2c3e9e8be3eb3p-102},
    {0x1.0241de6c31e5bp-49, -0x1.636c6dd3916bp-103},  {0x1.f7f4f88751db4p-51, 0x1.4d9ca78674d69p-107},
    {0x1.e7eea02e4ed88p-52, -0x1.824cc1e2339a2p-106}, {0x1.d4ca9b634ecbap-53, 0x1.7013429c9e27ap-110},
    {0x1.bef1b1a12823ep-54, -0x1.b1807c3b357d3p-108}, {0x1.a6d7d18831888p-55, -0x1.69240b604f20ep-111},
    {0x1.8cf81557d20b6p-56, 0x1.a7fff0cc732cp-112},   {0x1.71d0b55b79b86p-57, 0x1.703cbce8413efp-113},
    {0x1.55df1790f2f61p-58, 0x1.ec3d39d9bc1d6p-113},  {0x1.399c279e4699ap-59, 0x1.c144a82136e39p-113},
    {0x1.1d791bb1324a1p-60, 0x1.4c1d1176d0d26p-114},  {0x1.01dcc2acf7755p-61, -0x1.9fe50981dbfc2p-116},
    {0x1.ce42dd8e4fa23p-63, 0x1.8bad2d1795b81p-117},  {0x1.9b270c24cc8fap-64, -0x1.9d2f83e4ab1fap-120},
    {0x1.6ae172414cebap-65, -0x1.4ce015960b1e5p-122}, {0x1.3dcfaee52a8f5p-66, -0x1.a73b957aaa25cp-120},
    {0x1.1432649c86c4dp-67, -0x1.76681db3323e7p-121}, {0x1.dc5de496b181p-69, 0x1.74366e31a34a7p-125},
    {0x1.97a3dc62119c8p-70, 0x1.bb8349c77f884p-125},  {0x1.5a245d5e5289cp-71, 0x1.fb9188d1b862dp-126},
    {0x1.23a85891dc72bp-72, 0x1.fe4810babd776p-127},  {0x1.e7b62ce66acdep-74, 0x1.b156cd12a020fp-128},
    {0x1.94a28136fa731p-75, 0x1.491f9e70583ap-129},   {0x1.4d1f2eb8531p-76, 0x1.9f09c3950e637p-131},
    {0x1.1022313b11381p-77, 0x1.e521cbf9cf10ep-131},  {0x1.b931b883c77f2p-79, 0x1.80b9df05c5108p-133},
    {0x1.62e225ebca19p-80, 0x1.24abc2451f08ep-137},   {0x1.1b418ba2217c6p-81, -0x1.dc9c6f18dcc42p-135},
    {0x1.c0aee6d6b1406p-83, 0x1.01c2b84c30198p-139},  {0x1.609ec277b8703p-84, 0x1.4fa0669bf6c67p-139},
    {0x1.12fc6cdafd10dp-85, 0x1.add6ff295f6bap-139},  {0x1.a9942579915cdp-87, 0x1.1efc280661798p-142},
    {0x1.46c779ebb14aep-88, 0x1.61c0b9f885047p-144},  {0x1.f1f58fe66e142p-90, 0x1.e15c07071d4e2p-144},
    {0x1.7879eb52380edp-91, 0x1.e4289f32a4bep-146},   {0x1.1a6ed66936eeap-92, -0x1.58b5aa508dceep-146},
    {0x1.a47db588b15cfp-94, 0x1.6268156643083p-148},  {0x1.3699940a6a811p-95, -0x1.ffc80b8f9cd9bp-150},
    {0x1.c74fc41217dfbp-97, 0x1.dae003e8b6247p-151},
};

const struct dd dd_ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
const struct dd dd_log2_e = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
const struct dd dd_two_over_sqrt_pi = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed8p-56};
static const struct dd half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

/* 2^exponent, -1022 to 1023 */
static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The nearest integer, |x| < 2^51. */
static double nearest(double x)
{
    const double shift = 0x1.8p52, shifted = x + shift;
    return shifted - shift;
}

static struct dd polynomial(const struct dd *coefficients, int count, struct dd x, double rest)
{
    struct dd sum = dd_times(x, rest);
    for (int i = count - 1; i >= 0; i--) {
        sum = dd_add(sum, coefficients[i]);
        if (i > 0)
            sum = dd_mul(sum, x);
    }
    return sum;
}

static double double_polynomial(const double *coefficients, int count, double x)
{
    double sum = 0;
    for (int i = count - 1; i >= 0; i--)
        sum = sum * x + coefficients[i];
    return sum;
}

/*
 * e^r - 1, |r| <= log(2) / 64: r + r^2 / 2 in pairs, and from r^3 / 6 on in doubles. Those are below 2^-15.6 of r and
 * rounded by 6.1 u: two factors to doubles, two products, and 1 / 6 and the sum that it begins. r^9 / 9! and what
 * follows is below 2^-70 of r. Error: 2^-65.9 of the result.
 */
static struct dd expm1_near(struct dd r)
{
    static const double rest[] = {1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};
    const struct dd square = dd_square(r);
    const double tail = square.hi * r.hi * double_polynomial(rest, 6, r.hi);
    return dd_add(r, dd_plus(dd_scaled(square, 0.5), tail));
}

/* x = k log(2) / 32 + r. Of log(2) / 32 the first two parts have 36 bits, and k has 16, so that their products and what
 * the first leaves of x are exact. x.lo, at most 2^-44, is rounded with the third: r is off by 2^-96. */
static struct dd exp_reduced(struct dd x, double *k)
{
    *k = nearest(x.hi * 0x1.71547652b82fep+5);
    const double first = x.hi - *k * 0x1.62e42fefap-6;
    return dd_plus(dd_sum(first, -*k * 0x1.cf79abc9ep-45), x.lo - *k * 0x1.d9cc01f97b57ap-84);
}

/* Error: what expm1_near() errs, below 2^-72.4 since |r| < 2^-6.5, and what r is off by. */
struct dd dd_exp(struct dd x)
{
    double k;
    if (!(x.hi > -745 && x.hi < 709.5))
        return dd_of(x.hi < 0 ? 0 : x.hi > 0 ? (double)INFINITY : x.hi);
    const struct dd r = exp_reduced(x, &k);
    const int whole = (int)k, j = whole & 31, exponent = (whole - j) / 32;
    const struct dd value = dd_add(power[j], dd_mul(power[j], expm1_near(r)));
    return dd_scaled(dd_scaled(value, power_of_two(exponent / 2)), power_of_two(exponent - exponent / 2));
}

/* Error: 2^-65.8. Where |x| > log(2) / 64 the result is above 1 / 93 of e^x, which errs by 2^-72.4; nearer to 0 e^x is
 * 1 + expm1_near(x), which errs by 2^-65.9 of the result. */
struct dd dd_expm1(struct dd x)
{
    if (fabs(x.hi) < 0x1p-7) /* below log(2) / 64 */
        return expm1_near(x);
    return dd_plus(dd_exp(x), -1);
}

/* Error: as of e^x; |x log(2)| < 745 is off by 6 u^2 of itself. */
struct dd dd_exp2(struct dd x)
{
    return dd_exp(dd_mul(x, dd_ln2));
}

/*
 * log(1 + v), sqrt(1/2) - 1 <= v <= sqrt(2) - 1: y = 2 atanh(s), s = v / (2 + v), is a double's worth, and the rest is
 * log(1 + w), 1 + w = (1 + v) e^-y.
 *
 * |s| < 0.172, so that s^25 and what follows is below 2^-65 of y, and roundings are below 6 u of y: |w| < 6 u |y|, and
 * w stands for log(1 + w) within w^2 / 2, below 2^-101 of y. What expm1 errs, 2^-65.8, is multiplied by (1 + v) (e^-y -
 * 1), which is -v, and that is at most 1.2 times the result. Error: 2^-65.5.
 */
static struct dd log_near(struct dd v)
{
    static const double series[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                    2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
    const double s = v.hi / (2 + v.hi), y = s * double_polynomial(series, 12, s * s);
    const struct dd less = dd_expm1(dd_of(-y));
    const struct dd rest = dd_add(dd_add(v, less), dd_mul(v, less));
    return dd_plus(rest, y);
}

/* x = 2^exponent m, sqrt(1/2) < m < sqrt(2). m - 1 is off by 2 u^2 of itself, near 1 too, and log(m) is at most half of
 * any exponent's log(2), so that the error is log_near()'s: 2^-65.5. */
struct dd dd_log(struct dd x)
{
    int exponent = 0;
    if (!(x.hi > 0) || !isfinite(x.hi))
        return dd_of(x.hi == 0 ? -(double)INFINITY : x.hi > 0 ? x.hi : (double)NAN);
    if (x.hi < DBL_MIN * 0x1p64) {
        x = dd_scaled(x, 0x1p200);
        exponent = -200;
    }
    uint64_t bits;
    memcpy(&bits, &x.hi, sizeof bits);
    int own = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffff) | (uint64_t)1023 << 52;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    own += mantissa > 1.4142135623730951;
    const struct dd m = dd_scaled(dd_scaled(x, power_of_two(-(own / 2))), power_of_two(-(own - own / 2)));
    exponent += own;
    return dd_add(dd_times(dd_ln2, exponent), log_near(dd_plus(m, -1)));
}

struct dd dd_log1p(struct dd x)
{
    return x.hi > 0.41 ? dd_log(dd_plus(x, 1)) : log_near(x);
}

/* Error: what expm1 errs, 2^-65.8, since l = e^-2|x| - 1 is multiplied by at most 2 / (2 + l), and e^-2|x| errs by less
 * where that is far from 1. */
struct dd dd_tanh(struct dd x)
{
    const struct dd less = dd_expm1(dd_scaled(dd_abs(x), -2)); /* e^-2|x| - 1 */
    const struct dd value = dd_div(dd_neg(less), dd_plus(less, 2));
    return x.hi < 0 ? dd_neg(value) : value;
}

/* sin(r), |r| <= pi / 4. The doubles, from r^10 / 11! on, are below 2^-28.5 of the result and rounded by 2.1 u; r^23 /
 * 23! is below 2^-81. Error: 2^-79. */
static struct dd sin_near(struct dd r)
{
    static const struct dd terms[] = {{1, 0},
                                      {-0x1.5555555555555p-3, -0x1.5555555555555p-57},
                                      {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                      {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
                                      {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73}};
    static const double rest[] = {-1 / 39916800.0,       1 / 6227020800.0,          -1 / 1307674368000.0,
                                  1 / 355687428096000.0, -1 / 121645100408832000.0, 1 / 51090942171709440000.0};
    const struct dd square = dd_square(r);
    return dd_mul(r, polynomial(terms, 5, square, double_polynomial(rest, 6, square.hi)));
}

/* cos(r), |r| <= pi / 4. The doubles, from r^12 / 12! on, are below 2^-32.4 of the result, and rounded as those of the
 * sine; r^24 / 24! is below 2^-86. Error: 2^-79. */
static struct dd cos_near(struct dd r)
{
    static const struct dd terms[] = {{1, 0},
                                      {-0x1p-1, 0},
                                      {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                      {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
                                      {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                      {-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76}};
    static const double rest[] = {1 / 479001600.0,         -1 / 87178291200.0,        1 / 20922789888000.0,
                                  -1 / 6402373705728000.0, 1 / 2432902008176640000.0, -1 / 1124000727777607680000.0};
    const struct dd square = dd_square(r);
    return polynomial(terms, 6, square, double_polynomial(rest, 6, square.hi));
}

/*
 * x - k pi / 2 for a double k that is whole; *quadrant is what is left of the quadrants so far. The products with the
 * four parts of pi / 2 are exact, and what these leave out is below 2^-217. Each difference is off by 3 u^2 of itself:
 * if r is what is left in the end, they are |r| + 2^-53.8 |k|, and then |r|, nearly, so that r is off by 13 u^2 |r| +
 * 2^-158 |k|.
 */
static struct dd less_quadrants(struct dd x, double k, int *quadrant)
{
    static const double parts[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110,
                                   0x1.4cf98e804177dp-164};
    for (int i = 0; i < 4; i++)
        x = dd_sub(x, dd_product(k, parts[i]));
    *quadrant += fabs(k) < 0x1p53 ? (int)((int64_t)k & 3) : (int)fmod(k, 4) & 3;
    return x;
}

/*
 * x = quadrant pi / 2 + r, |r| <= pi / 4. Below 2^50 one round is enough, or two where k is off by one, and r is then
 * above 1 / 3 in between: r is off by 2^-100 |r| + 2^-158 |x|.
 *
 * Beyond, k is off by 3 u of itself, so that each round takes off 51 bits of x, and differences are off by 3 u^2 of at
 * most 3.4 u |x|: together less than 2^-153 |x|.
 */
static struct dd quadrant_reduced(struct dd x, int *quadrant)
{
    *quadrant = 0;
    for (int rounds = 0; rounds < 4 && fabs(x.hi) > 0x1p50; rounds++)
        x = less_quadrants(x, rint(x.hi * 0x1.45f306dc9c883p-1), quadrant);
    for (int rounds = 0; rounds < 2 && fabs(x.hi) > 0.7853981633974483; rounds++)
        x = less_quadrants(x, nearest(x.hi * 0x1.45f306dc9c883p-1), quadrant);
    *quadrant &= 3;
    return x;
}

/* Error: 2^-78 of the result, and 2^-158 |x| where |x| < 2^50, else 2^-153 |x|: of 1, not of the result. */
static struct dd sin_of(struct dd x, int ahead)
{
    int quadrant;
    if (!(fabs(x.hi) < 0x1p200))
        return dd_of(isnan(x.hi) ? (double)NAN : 0);
    const struct dd r = quadrant_reduced(x, &quadrant);
    quadrant += ahead;
    const struct dd value = quadrant & 1 ? cos_near(r) : sin_near(r);
    return quadrant & 2 ? dd_neg(value) : value;
}

struct dd dd_sin(struct dd x)
{
    return sin_of(x, 0);
}

struct dd dd_cos(struct dd x)
{
    return sin_of(x, 1);
}

/*
 * tan(y / 2) = x / (1 + sqrt(1 + x^2)), twice, for a double's worth, y; the rest is tan(atan(x) - y). |x| <= 1.
 *
 * A quarter of the angle has a tangent below 0.199, so that what is left out is below 2^-60 of y; some 12 roundings
 * make |atan(x) - y| < 13 u |y|, whose cube is nothing, and which, itself rounded to a double by 7 u, is off by 2^-99
 * |y|. sine and cosine err by 2^-79 |y| in the difference, whose divisor is above 1. Error: 2^-78.
 */
static struct dd atan_near(struct dd x)
{
    static const double series[] = {4.0,      -4.0 / 3,  4.0 / 5,  -4.0 / 7,  4.0 / 9,  -4.0 / 11,
                                    4.0 / 13, -4.0 / 15, 4.0 / 17, -4.0 / 19, 4.0 / 21, -4.0 / 23};
    const double half = x.hi / (1 + sqrt(1 + x.hi * x.hi)), quarter = half / (1 + sqrt(1 + half * half));
    const double y = quarter * double_polynomial(series, 12, quarter * quarter);
    const struct dd s = sin_near(dd_of(y)), c = cos_near(dd_of(y));
    const double rest = dd_sub(dd_mul(x, c), s).hi / (c.hi + x.hi * s.hi);
    return dd_sum(y, rest);
}

/* Beyond 1 what is taken from pi / 2 is at most half of it. Error: 2^-78. */
struct dd dd_atan(struct dd x)
{
    const struct dd magnitude = dd_abs(x);
    const struct dd value = magnitude.hi > 1 ? dd_sub(half_pi, atan_near(dd_inverse(magnitude))) : atan_near(magnitude);
    return x.hi < 0 ? dd_neg(value) : value;
}

/* erf(x), |x| <= 1/2: the series of its integral. The doubles, from x^17 on, are below 2^-35 of the result and rounded
 * by 2.1 u; x^41 is below 2^-100. Error: 2^-85. */
static struct dd erf_near(struct dd x)
{
    static const struct dd terms[] = {
        {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed8p-56},   {-0x1.812746b0379e7p-2, 0x1.ee12e49cab7p-57},
        {0x1.ce2f21a042be2p-4, -0x1.2871bc5e00766p-58}, {-0x1.b82ce31288b51p-6, 0x1.1015978e7ac92p-61},
        {0x1.565bcd0e6a53fp-8, -0x1.a73e0832f7e39p-64}, {-0x1.c02db40040b86p-11, 0x1.d9a497a0f8b0ep-65},
        {0x1.f9a326f9b89b7p-14, 0x1.e9a2341c71459p-68}, {-0x1.f4d25c3e0c2ebp-17, -0x1.79b1b9b5c586cp-71}};
    static const double rest[] = {0x1.b9e6c9dc651a3p-20,  -0x1.5f742ec43e71ap-23, 0x1.fcc5720624c1cp-27,
                                  -0x1.51d7181c5d36dp-30, 0x1.9e6ad5e55a73p-34,   -0x1.d8453cb0c46eap-38,
                                  0x1.f683ae4a97007p-42,  -0x1.f56f071a885cfp-46, 0x1.d70b3537f4765p-50,
                                  -0x1.a2007af3447f6p-54, 0x1.5f7919bc67b8cp-58,  -0x1.18cc8a061c479p-62};
    const struct dd square = dd_square(x);
    return dd_mul(x, polynomial(terms, 8, square, double_polynomial(rest, 12, square.hi)));
}

/*
 * erfc(c + h) = erfc(c) - 2 / sqrt(pi) e^(-c^2) h sum b(n) / (n + 1), where b(n) / h^n are the coefficients of
 * e^(c^2 - (c + h)^2): b(0) = 1, b(1) = -2 h c, b(n) = -2 h (c b(n - 1) + h b(n - 2)) / n. |h| <= 1/32 and c <= 8.
 *
 * So |b(n)| <= B(n), B(0) = 1, B(1) = 1/2, n B(n) = B(n - 1) / 2 + B(n - 2) / 512, and what is left out, from n = 18
 * on, is below 2^-73. Each b(n) that is a double is rounded by 5 u B(n) and takes over no more than what the one before
 * is off by: from n = 6 on they are off by 6, 11, 16 ... u of B(n). With 2 u for each quotient, and 12 sums, this makes
 * 21 u of the sum of B(n) / (n + 1), which is 2^-18: 2^-66.6. The factor 2 / sqrt(pi) e^(-c^2) |h| is at most |h| (c +
 * sqrt(c^2 + 2)) < 0.51 of erfc(c), and erfc(c) < 1.67 erfc(c + h); what e^(-c^2) errs, 2^-72.4, comes to less than
 * itself. Error: 2^-66.
 */
static struct dd erfc_between(struct dd x)
{
    enum { PAIRS = 6, TERMS = 18 };
    static const double inverse[] = {0,        1.0,      1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,
                                     1.0 / 7,  1.0 / 8,  1.0 / 9,  1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13,
                                     1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17, 1.0 / 18};
    static const struct dd part[] = {{0, 0},
                                     {1, 0},
                                     {0.5, 0},
                                     {0x1.5555555555555p-2, 0x1.5555555555555p-56},
                                     {0.25, 0},
                                     {0x1.999999999999ap-3, -0x1.999999999999ap-57},
                                     {0x1.5555555555555p-3, 0x1.5555555555555p-57}};
    const int j = (int)nearest(16 * x.hi);
    const double c = j / 16.0;
    const struct dd h = dd_plus(x, -c), step = dd_times(h, -2 * c), square = dd_times(dd_square(h), -2);
    struct dd before = {1, 0}, b = step, sum = dd_plus(dd_scaled(step, 0.5), 1);
    for (int n = 2; n < PAIRS; n++) {
        const struct dd next = dd_mul(dd_add(dd_mul(step, b), dd_mul(square, before)), part[n]);
        before = b;
        b = next;
        sum = dd_add(sum, dd_mul(b, part[n + 1]));
    }
    double last = before.hi, own = b.hi, rest = 0;
    for (int n = PAIRS; n < TERMS; n++) {
        const double next = (step.hi * own + square.hi * last) * inverse[n];
        last = own;
        own = next;
        rest += own * inverse[n + 1];
    }
    const struct dd slope = dd_mul(dd_two_over_sqrt_pi, dd_exp(dd_of(-c * c)));
    return dd_sub(erfc_at[j - 8], dd_mul(dd_mul(slope, h), dd_plus(sum, rest)));
}

/* From 8 on it is below 2^-96, so that a double's worth is enough: e^(-x^2) / (x sqrt(pi)) (1 - 1 / 2x^2 + 3 / 4x^4
 * ...). The term that is left out, 59!! / 128^30, is below 2^-78. 16 of the terms are above u, so that 16 sums are
 * rounded, by u / 2 each; with the factor's roundings that makes 12 u. Error: 2^-49. */
static struct dd erfc_beyond(struct dd x)
{
    double term = 1, sum = 1;
    const double step = -0.5 / (x.hi * x.hi);
    for (int n = 1; n < 30; n++) {
        term *= (2 * n - 1) * step;
        sum += term;
    }
    const double factor = 0.5 * dd_two_over_sqrt_pi.hi / x.hi;
    return x.hi > 28 ? dd_of(0) : dd_times(dd_exp(dd_neg(dd_square(x))), factor * sum);
}

/* Below 1/2 the result is at least 0.47, and erf errs by 2^-66 of at most 1. */
struct dd dd_erfc(struct dd x)
{
    if (x.hi < 0.5)
        return dd_plus(dd_neg(dd_erf(x)), 1);
    return x.hi < 8 ? erfc_between(x) : erfc_beyond(x);
}

/* From 1/2 on what erfc errs is below 2^-66 of 0.48, and the result above 0.52. Error: 2^-66. */
struct dd dd_erf(struct dd x)
{
    const struct dd magnitude = dd_abs(x);
    if (magnitude.hi < 0.5)
        return erf_near(x);
    const struct dd value = dd_plus(dd_neg(dd_erfc(magnitude)), 1);
    return x.hi < 0 ? dd_neg(value) : value;
}
