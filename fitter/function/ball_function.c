/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function of a narrow enclosure is that of its middle, with what elementary.c derives as error, and the radius times
 * a bound of the slope. Over a wide one a monotone function lies between its values at both ends.
 */
#include "ball.h"

#include <stddef.h>

#include "elementary.h"
#include "function.h"
#include "functions.h"

/* Twice the relative error that elementary.h and function.h promise; and that of sin, cos and atan. */
#define OF_VALUE 0x1p-64
#define OF_WAVE 0x1p-77
#define OF_FAR_ERFC 0x1p-48
/* Wider enclosures, relative to 1 + |middle|, are taken by their ends. */
#define NARROW 0x1p-40

static const struct ball pi = {{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, 0x1p-106};
static const struct ball two_over_sqrt_pi = {{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed8p-56}, 0x1p-106};

/* The rows of function_table. */
#define ROW(value, ...) ROW_##value,
enum row { FUNCTIONS(ROW) ROWS };
#undef ROW

/* Built-in functions without a kink, and the largest |f'|, |f''| and |f'''|, rounded up by some per cent. */
struct smooth {
    enum row row;
    double slope, bend, turn;
};

static const struct smooth smooth[] = {
    [BALL_SIGMOID] = {ROW_sigmoid, 0.25, 0.1, 0.13},    [BALL_GELU] = {ROW_gelu, 1.15, 0.8, 0.8},
    [BALL_GELU_TANH] = {ROW_gelu_tanh, 1.15, 0.8, 0.8}, [BALL_QUICK_GELU] = {ROW_quick_gelu, 1.12, 0.86, 0.92},
    [BALL_SILU] = {ROW_silu, 1.12, 0.51, 0.32},         [BALL_SOFTPLUS] = {ROW_softplus, 1, 0.25, 0.1},
    [BALL_MISH] = {ROW_mish, 1.11, 0.66, 0.61},         [BALL_LOGSIGMOID] = {ROW_logsigmoid, 1, 0.25, 0.1},
};

static struct ball absolute(struct ball a)
{
    return (struct ball){dd_abs(a.mid), a.rad};
}

/* (1 - a) (1 + a), without cancelling next to 1 */
static struct ball one_less_square(struct ball a)
{
    return ball_mul(ball_sub(ball_of(1), a), ball_add(ball_of(1), a));
}

static struct ball narrow_value(enum ball_function function, struct ball a);

/* With the sign of a, of an odd function's value at |a|. */
static struct ball signed_as(struct ball a, struct ball value)
{
    return a.mid.hi < 0 ? ball_neg(value) : value;
}

/* acos = 2 atan(sqrt((1 - a) / (1 + a))), and below 0 what is left of pi */
static struct ball narrow_acos(struct ball a)
{
    const struct ball size = absolute(a), one = ball_of(1);
    const struct ball tangent = ball_sqrt(ball_div(ball_sub(one, size), ball_add(one, size)));
    const struct ball angle = ball_times(narrow_value(BALL_ATAN, tangent), 2);
    return a.mid.hi < 0 ? ball_sub(pi, angle) : angle;
}

static struct ball narrow_asin(struct ball a)
{
    if (fabs(a.mid.hi) < 0.5)
        return narrow_value(BALL_ATAN, ball_div(a, ball_sqrt(one_less_square(a))));
    return signed_as(a, ball_sub(ball_times(pi, 0.5), narrow_acos(absolute(a))));
}

/* sinh = (e + e / (e + 1)) / 2, e = e^|a| - 1 */
static struct ball narrow_sinh(struct ball a)
{
    const struct ball e = narrow_value(BALL_EXPM1, absolute(a));
    if (isinf(e.mid.hi))
        return signed_as(a, e);
    return signed_as(a, ball_times(ball_add(e, ball_div(e, ball_add(e, ball_of(1)))), 0.5));
}

static struct ball narrow_cosh(struct ball a)
{
    const struct ball e = narrow_value(BALL_EXP, absolute(a));
    return isinf(e.mid.hi) ? e : ball_times(ball_add(e, ball_inverse(e)), 0.5);
}

/* asinh = log(1 + |a| + a^2 / (1 + sqrt(1 + a^2))); from 2^400 on log(2 |a|), to less than its error */
static struct ball narrow_asinh(struct ball a)
{
    const struct ball size = absolute(a);
    if (size.mid.hi > 0x1p400)
        return signed_as(a, narrow_value(BALL_LOG, ball_times(size, 2)));
    const struct ball square = ball_mul(a, a), root = ball_sqrt(ball_add(square, ball_of(1)));
    const struct ball more = ball_add(size, ball_div(square, ball_add(root, ball_of(1))));
    return signed_as(a, narrow_value(BALL_LOG1P, more));
}

/* acosh = log(1 + t + sqrt(t (a + 1))), t = a - 1; far out as above */
static struct ball narrow_acosh(struct ball a)
{
    if (a.mid.hi > 0x1p400)
        return narrow_value(BALL_LOG, ball_times(a, 2));
    const struct ball t = ball_sub(a, ball_of(1));
    return narrow_value(BALL_LOG1P, ball_add(t, ball_sqrt(ball_mul(t, ball_add(a, ball_of(1))))));
}

/* atanh = log(1 + 2 |a| / (1 - |a|)) / 2 */
static struct ball narrow_atanh(struct ball a)
{
    const struct ball size = absolute(a);
    if (size.mid.hi > 1)
        return (struct ball){dd_of((double)NAN), (double)INFINITY};
    const struct ball share = ball_div(ball_times(size, 2), ball_sub(ball_of(1), size));
    return signed_as(a, ball_times(narrow_value(BALL_LOG1P, share), 0.5));
}

static struct ball narrow_log(struct dd argument, double rad, struct dd value)
{
    const double least = argument.hi * (1 - 0x1p-50) - rad;
    if (!(least > 0) || isinf(value.hi))
        return (struct ball){value, (double)INFINITY};
    return (struct ball){value, ball_up(fabs(value.hi) * OF_VALUE + rad / least + BALL_TINY)};
}

/* e^x sqrt(pi) erfc(x) / 2 is at least 1 / (x + sqrt(x^2 + 2)) at x^2, which bounds the slope by erfc itself. */
static struct ball narrow_erfc(struct ball a)
{
    const struct dd value = dd_erfc(a.mid);
    const double slope = a.mid.hi > 0 ? fmin(1.13, 2 * value.hi * (2 * a.mid.hi + 2)) : 1.13;
    const double error = a.mid.hi > 7 ? OF_FAR_ERFC : OF_VALUE;
    return (struct ball){value, ball_up(value.hi * error + slope * a.rad + BALL_TINY)};
}

static struct ball wave(struct ball a, struct dd value)
{
    const double size = fabs(a.mid.hi);
    if (!isfinite(size))
        return (struct ball){dd_of((double)NAN), (double)INFINITY};
    if (size >= 0x1p200)
        return (struct ball){dd_of(0), 1};
    const double error = OF_WAVE * fabs(value.hi) + size * (size < 0x1p50 ? 0x1p-157 : 0x1p-152);
    return (struct ball){value, fmin(2, ball_up(error + a.rad))};
}

static struct ball sloped(struct ball a, struct dd value, double error, double slope)
{
    return (struct ball){value, ball_up(fabs(value.hi) * error + slope * a.rad + BALL_TINY)};
}

/* The radius is at most NARROW (1 + |middle|); where it matters, |middle| < 746. */
static struct ball narrow_value(enum ball_function function, struct ball a)
{
    struct dd value;
    switch (function) {
    case BALL_SIN:
        return wave(a, dd_sin(a.mid));
    case BALL_COS:
        return wave(a, dd_cos(a.mid));
    case BALL_TAN:
        return ball_div(wave(a, dd_sin(a.mid)), wave(a, dd_cos(a.mid)));
    case BALL_ASIN:
        return narrow_asin(a);
    case BALL_ACOS:
        return narrow_acos(a);
    case BALL_ATAN:
        return sloped(a, dd_atan(a.mid), OF_WAVE, 1);
    case BALL_SINH:
        return narrow_sinh(a);
    case BALL_COSH:
        return narrow_cosh(a);
    case BALL_TANH:
        return sloped(a, dd_tanh(a.mid), OF_VALUE, 1);
    case BALL_ASINH:
        return narrow_asinh(a);
    case BALL_ACOSH:
        return narrow_acosh(a);
    case BALL_ATANH:
        return narrow_atanh(a);
    case BALL_EXP:
        value = dd_exp(a.mid);
        if (isinf(value.hi))
            return ball_beyond(value, a.rad < 1 ? BALL_BEYOND : 0);
        return sloped(a, value, OF_VALUE, 1.01 * value.hi);
    case BALL_EXPM1:
        value = dd_expm1(a.mid);
        if (isinf(value.hi))
            return ball_beyond(value, a.rad < 1 ? BALL_BEYOND : 0);
        return sloped(a, value, OF_VALUE, 1.01 * (value.hi + 1) + 0x1p-50);
    case BALL_LOG:
        return narrow_log(a.mid, a.rad, dd_log(a.mid));
    case BALL_LOG1P:
        value = dd_plus(a.mid, 1);
        return narrow_log(value, a.rad, a.mid.hi > -0.25 ? dd_log1p(a.mid) : dd_log(value));
    case BALL_SQRT:
        return ball_sqrt(a);
    case BALL_ERF:
        return sloped(a, dd_erf(a.mid), OF_VALUE, 1.13);
    case BALL_ERFC:
        return narrow_erfc(a);
    default: /* gelu is made of erfc */
        value = function_table[smooth[function].row].value(a.mid, NULL);
        return sloped(a, value, function == BALL_GELU && a.mid.hi < -9 ? OF_FAR_ERFC : OF_VALUE,
                      smooth[function].slope);
    }
}

static bool is_monotone(enum ball_function function)
{
    return function != BALL_SIN && function != BALL_COS && function != BALL_TAN && function != BALL_COSH &&
           function <= BALL_ERFC;
}

static struct ball value_of(enum ball_function function, struct ball a)
{
    const bool narrow = a.rad <= NARROW * (1 + fabs(a.mid.hi));
    if (narrow || !(is_monotone(function) || function == BALL_COSH))
        return narrow_value(function, a);
    struct dd low = dd_plus(a.mid, -a.rad), high = dd_plus(a.mid, a.rad);
    if (function == BALL_COSH) { /* of |a| */
        const struct dd least = dd_smaller(dd_abs(low), dd_abs(high));
        high = dd_larger(dd_abs(low), dd_abs(high));
        low = ball_least(a) > 0 ? least : dd_of(0);
    }
    const struct ball ends[] = {
        narrow_value(function, (struct ball){low, fabs(low.hi) * BALL_SUM}),
        narrow_value(function, (struct ball){high, fabs(high.hi) * BALL_SUM}),
    };
    const struct ball hull = ball_hull(ends[0], ends[1]);
    if (!isfinite(a.rad) || hull.rad == (double)INFINITY) {
        const struct ball middle = narrow_value(function, (struct ball){a.mid, 0});
        return (struct ball){middle.mid, (double)INFINITY};
    }
    return hull;
}

/* The derivatives of what has a square root in it: f' = sign / root, f'' = bend a / root^3. */
static void by_root(struct ball a, struct ball square, double sign, double bend, struct ball values[3])
{
    const struct ball slope = ball_inverse(ball_sqrt(square));
    values[1] = ball_times(slope, sign);
    values[2] = ball_times(ball_mul(a, ball_power(slope, 3)), bend);
}

static void smooth_derivatives(enum ball_function function, struct ball a, struct ball values[3])
{
    const struct smooth *own = &smooth[function];
    const struct function_info *info = &function_table[own->row];
    const struct dd slope = info->derivative(a.mid, NULL), bend = info->second_derivative(a.mid, NULL);
    values[1] = (struct ball){slope, ball_up(own->bend * a.rad + own->slope * 0x1p-58)};
    values[2] = (struct ball){bend, ball_up(own->turn * a.rad + own->bend * 0x1p-58)};
    if (!(values[1].rad < own->slope))
        values[1] = (struct ball){dd_of(0), own->slope};
    if (!(values[2].rad < own->bend))
        values[2] = (struct ball){dd_of(0), own->bend};
}

void ball_function(enum ball_function function, struct ball a, int order, struct ball values[3])
{
    const struct ball one = ball_of(1);
    struct ball square;
    values[0] = value_of(function, a);
    if (order == 0)
        return;
    const struct ball value = values[0];
    switch (function) {
    case BALL_SIN:
        values[1] = value_of(BALL_COS, a);
        values[2] = ball_neg(value);
        break;
    case BALL_COS:
        values[1] = ball_neg(value_of(BALL_SIN, a));
        values[2] = ball_neg(value);
        break;
    case BALL_TAN:
        values[1] = ball_add(one, ball_mul(value, value));
        values[2] = ball_times(ball_mul(value, values[1]), 2);
        break;
    case BALL_ASIN:
        by_root(a, one_less_square(a), 1, 1, values);
        break;
    case BALL_ACOS:
        by_root(a, one_less_square(a), -1, -1, values);
        break;
    case BALL_ATAN:
        values[1] = ball_inverse(ball_add(one, ball_mul(a, a)));
        values[2] = ball_times(ball_mul(a, ball_mul(values[1], values[1])), -2);
        break;
    case BALL_SINH:
        values[1] = value_of(BALL_COSH, a);
        values[2] = value;
        break;
    case BALL_COSH:
        values[1] = value_of(BALL_SINH, a);
        values[2] = value;
        break;
    case BALL_TANH:
        values[1] = one_less_square(value);
        values[2] = ball_times(ball_mul(value, values[1]), -2);
        break;
    case BALL_ASINH:
        by_root(a, ball_add(one, ball_mul(a, a)), 1, -1, values);
        break;
    case BALL_ACOSH:
        by_root(a, ball_mul(ball_sub(a, one), ball_add(a, one)), 1, -1, values);
        break;
    case BALL_ATANH:
        values[1] = ball_inverse(one_less_square(a));
        values[2] = ball_times(ball_mul(a, ball_mul(values[1], values[1])), 2);
        break;
    case BALL_EXP:
        values[1] = values[2] = value;
        break;
    case BALL_EXPM1:
        values[1] = values[2] = value_of(BALL_EXP, a);
        break;
    case BALL_LOG:
    case BALL_LOG1P:
        values[1] = ball_inverse(function == BALL_LOG ? a : ball_add(one, a));
        values[2] = ball_neg(ball_mul(values[1], values[1]));
        break;
    case BALL_SQRT:
        values[1] = ball_div(ball_of(0.5), value);
        values[2] = ball_div(ball_of(-0.25), ball_mul(a, value));
        break;
    case BALL_ERF:
    case BALL_ERFC:
        square = ball_mul(a, a);
        values[1] = ball_mul(two_over_sqrt_pi, value_of(BALL_EXP, ball_neg(square)));
        values[1] = function == BALL_ERF ? values[1] : ball_neg(values[1]);
        values[2] = ball_times(ball_mul(a, values[1]), -2);
        break;
    default:
        smooth_derivatives(function, a, values);
        break;
    }
}
