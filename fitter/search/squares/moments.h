/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted moments of points. */
#ifndef PWLC_MOMENTS_H
#define PWLC_MOMENTS_H

/* Moments of a set of points about their own means, so that nothing cancels. */
struct moments {
    double w, x, y, xx, xy, yy;
};

/* Source: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979. */
static inline struct moments merge(struct moments a, struct moments b)
{
    if (a.w <= 0)
        return b;
    const double w = a.w + b.w, dx = b.x - a.x, dy = b.y - a.y, share = b.w / w, both = a.w * share;
    return (struct moments){.w = w,
                            .x = a.x + dx * share,
                            .y = a.y + dy * share,
                            .xx = a.xx + b.xx + dx * dx * both,
                            .xy = a.xy + b.xy + dx * dy * both,
                            .yy = a.yy + b.yy + dy * dy * both};
}

/* Sums of the same products relative to one point near all others: cheaper, and differences of them are sums of a
 * range. */
struct moment_sums {
    double w, x, y, xx, xy, yy;
};

static inline void moment_sums_add(struct moment_sums *sums, double w, double x, double y)
{
    sums->w += w;
    sums->x += w * x;
    sums->y += w * y;
    sums->xx += w * x * x;
    sums->xy += w * x * y;
    sums->yy += w * y * y;
}

/* The moments of the points whose sums are the one but not the other. */
static inline struct moments moments_between(const struct moment_sums *from, const struct moment_sums *to)
{
    const double w = to->w - from->w, x = to->x - from->x, y = to->y - from->y;
    return (struct moments){.w = w,
                            .x = x / w,
                            .y = y / w,
                            .xx = to->xx - from->xx - x * x / w,
                            .xy = to->xy - from->xy - x * y / w,
                            .yy = to->yy - from->yy - y * y / w};
}

#endif
