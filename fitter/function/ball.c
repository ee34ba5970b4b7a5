/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ball.h"

struct ball ball_beyond(struct dd mid, double least)
{
    return (struct ball){mid, least >= BALL_BEYOND ? 0 : (double)INFINITY};
}

struct ball ball_hull(struct ball a, struct ball b)
{
    const double low = fmin(a.mid.hi - a.rad, b.mid.hi - b.rad), high = fmax(a.mid.hi + a.rad, b.mid.hi + b.rad);
    const double mid = low / 2 + high / 2;
    const double rad =
        ball_up(high / 2 - low / 2 + (fabs(low) + fabs(high) + fabs(a.mid.hi) + fabs(b.mid.hi)) * 0x1p-51);
    if (!isfinite(a.mid.hi) || !isfinite(b.mid.hi) || !isfinite(rad))
        return (struct ball){a.mid, (double)INFINITY};
    return (struct ball){dd_of(mid), rad};
}

/* a / b - a0 / b0 = (a - a0 - (b - b0) a0 / b0) / b */
struct ball ball_div(struct ball a, struct ball b)
{
    const struct dd mid = dd_div(a.mid, b.mid);
    const double least = ball_least(b);
    if (isinf(b.mid.hi) && b.rad == 0 && isfinite(a.mid.hi))
        return (struct ball){dd_of(0), ball_up(ball_most(a) * 0x1p-900 + BALL_TINY)};
    if (isinf(mid.hi) && least > 0)
        return ball_beyond(mid, ball_least(a) / ball_most(b));
    if (!(least > 0))
        return (struct ball){mid, (double)INFINITY};
    return (struct ball){mid,
                         ball_up((a.rad + fabs(mid.hi) * b.rad) / least + fabs(mid.hi) * BALL_QUOTIENT + BALL_TINY)};
}

struct ball ball_inverse(struct ball a)
{
    return ball_div(ball_of(1), a);
}

/* |sqrt(a) - sqrt(a0)| = |a - a0| / (sqrt(a) + sqrt(a0)). Where a may be 0, it is taken as at least that. */
struct ball ball_sqrt(struct ball a)
{
    if (a.mid.hi < -a.rad || isnan(a.mid.hi))
        return (struct ball){dd_of((double)NAN), (double)INFINITY};
    if (!(ball_least(a) > 0)) {
        const struct dd mid = a.mid.hi > 0 ? dd_sqrt(a.mid) : dd_of(0);
        return (struct ball){mid, a.rad > 0 ? ball_up(sqrt(ball_most(a))) : 0};
    }
    const struct dd mid = dd_sqrt(a.mid);
    if (isinf(mid.hi))
        return (struct ball){mid, (double)INFINITY};
    return (struct ball){mid, ball_up(a.rad / mid.hi + mid.hi * BALL_PRODUCT + BALL_TINY)};
}

struct ball ball_power(struct ball a, double whole)
{
    struct ball power = ball_of(1);
    for (int64_t left = (int64_t)fabs(whole); left > 0; left /= 2) {
        if (left % 2 == 1)
            power = ball_mul(power, a);
        if (left > 1)
            a = ball_mul(a, a);
    }
    return whole < 0 ? ball_inverse(power) : power;
}
