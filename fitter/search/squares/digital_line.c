/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "digital_line.h"

#include <math.h>

const struct digital_lines *digital_lines_of(pwl_form form, pwl_rounding rounding)
{
    /* Half codes: with a bias before the shift all values of a line may be ties. */
    static const struct digital_lines digital = {0.11, 0.25, 0.25}, even = {0.14, 0.36, 0.25},
                                      halves = {0.25, 0.5, 0.25};
    return rounding != PWL_HALF_EVEN ? &digital : form == PWL_BIASED ? &halves : &even;
}

double digital_line_cost(const struct digital_lines *lines, int n, double sse, double bend)
{
    const double radius = sqrt(lines->circle * n), root = sqrt(sse);
    const double strip = (n < DIGITAL_LINE_FEW ? lines->strip_few : lines->strip) * sqrt(n);
    if (bend * radius <= strip * root) { /* nearest is the circle, not where it meets the strip */
        const double apart = fmax(0, root - radius);
        return apart * apart;
    }
    const double corner = sqrt(radius * radius - strip * strip), rest = sqrt(fmax(0, sse - bend * bend));
    const double along = fmax(0, bend - strip), across = fmax(0, rest - corner);
    return along * along + across * across;
}

double digital_line_bend(int n, const struct digital_sums *sums)
{
    const double count = n, square = count * count, mean = 0.5 * (count - 1);
    const double product = sums->xxy - 2 * mean * sums->xy + (mean * mean - (square - 1) / 12) * sums->y;
    return n < 3 ? 0 : fmax(0, fabs(product) - sums->error) / sqrt(count * (square - 1) * (square - 4) / 180);
}

void digital_line_runs(const struct points *points, bool reversed, int *end)
{
    const int count = points->count;
    for (int k = count - 1; k >= 0; k--) {
        const int a = reversed ? count - 1 - k : k, b = reversed ? a - 1 : a + 1;
        const bool joined =
            k + 1 < count && points->mass[a] == points->mass[b] && fabs(points->code[a] - points->code[b]) == 1;
        end[k] = joined ? end[k + 1] : k + 1;
    }
    for (int k = 0; k < count; k++)
        end[k] = end[k] - k < DIGITAL_LINE_POINTS ? end[k] : k + DIGITAL_LINE_POINTS;
}
