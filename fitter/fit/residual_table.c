/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "residual_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/integers.h"
#include "function/elementary.h"

#define MOST_SHIFT 6 /* 2^6 is a slope of 8 bits */
#define HAIR 1e-9    /* an error that is the limit but for a rounding */

/* What a value of g costs up to an index: steps, in units of the smallest; squared errors. */
struct price {
    int64_t steps;
    double squares;
};

struct choice {
    const struct spec *spec;
    const struct points *points;
    int shift, entries, index_bits;
    bool is_inverted;
    int64_t *low, *high; /* of g at each index */
    int64_t *g;
};

static int64_t ramp_of(const struct choice *c, int64_t d)
{
    return d <= 0 ? 0 : c->shift >= 0 ? d * ((int64_t)1 << c->shift) : d >> -c->shift;
}

static int64_t zero_of(const struct choice *c)
{
    return c->spec->in.zero_point;
}

/* The mirror image of the lowest code is one beyond the others, and wraps around to 0. */
static int index_of(const struct choice *c, int64_t d)
{
    const int64_t index = d >= 0 ? d : c->is_inverted ? -1 - d : -d;
    return (int)(index & ((1 << c->index_bits) - 1));
}

static int64_t ramp_code(const struct choice *c, int64_t d)
{
    return c->spec->out.zero_point + ramp_of(c, d);
}

/* What g may be at each index; false where there is none. */
static bool set_limits(struct choice *c)
{
    const struct points *points = c->points;
    const struct tensor *out = &c->spec->out;
    for (int i = 0; i < c->entries; i++) {
        c->low[i] = INT64_MIN / 4;
        c->high[i] = INT64_MAX / 4;
    }
    for (int k = 0; k < points->count; k++) {
        const int64_t d = points->cell[k] - zero_of(c), ramp = ramp_code(c, d);
        const double limit = c->spec->max_err + HAIR;
        int64_t least = (int64_t)ceil(points->target[k] - limit), most = (int64_t)floor(points->target[k] + limit);
        const int64_t own = (int64_t)rint(points->target[k]);
        if (d == 0 && !c->spec->zero_is_free && own >= least && own <= most)
            least = most = own;
        least = larger_integer(least, out->qmin);
        most = smaller_integer(most, out->qmax);
        const int i = index_of(c, d);
        c->low[i] = larger_integer(c->low[i], ramp - most);
        c->high[i] = smaller_integer(c->high[i], ramp - least);
    }
    for (int i = 0; i < c->entries; i++)
        if (c->low[i] > c->high[i])
            return false;
    return true;
}

static double squares_of(const struct choice *c, const int *by_index[2], int i, int64_t g)
{
    double squares = 0;
    for (int side = 0; side < 2; side++) {
        const int k = by_index[side][i];
        if (k < 0)
            continue;
        const double off = (double)(ramp_code(c, c->points->cell[k] - zero_of(c)) - g) - c->points->target[k];
        squares += off * off;
    }
    return squares;
}

static int64_t step_at(const struct choice *c, int i)
{
    int zeros = 0;
    while (((i >> zeros) & 1) == 0)
        zeros++;
    return (int64_t)1 << (c->index_bits - zeros);
}

static bool is_cheaper(struct price a, struct price b)
{
    return a.steps < b.steps || (a.steps == b.steps && a.squares < b.squares);
}

/* Values from low[i] on: the cheapest way to each, and the value before it. */
static void walk(struct choice *c, const int *by_index[2], int width, struct price *price, int16_t *before)
{
    for (int i = 0; i < c->entries; i++) {
        int best = 0;
        for (int v = 1; i > 0 && v <= c->high[i - 1] - c->low[i - 1]; v++)
            if (is_cheaper(price[(i - 1) * width + v], price[(i - 1) * width + best]))
                best = v;
        for (int v = 0; v <= c->high[i] - c->low[i]; v++) {
            const int64_t g = c->low[i] + v;
            struct price p = {0, 0};
            if (i > 0) {
                p = price[(i - 1) * width + best];
                p.steps += step_at(c, i);
                before[i * width + v] = (int16_t)best;
                const int64_t same = g - c->low[i - 1];
                if (same >= 0 && g <= c->high[i - 1] && !is_cheaper(p, price[(i - 1) * width + same])) {
                    p = price[(i - 1) * width + same];
                    before[i * width + v] = (int16_t)same;
                }
            }
            p.squares += squares_of(c, by_index, i, g);
            price[i * width + v] = p;
        }
    }
    const int last = c->entries - 1;
    int v = 0;
    for (int k = 1; k <= c->high[last] - c->low[last]; k++)
        if (is_cheaper(price[last * width + k], price[last * width + v]))
            v = k;
    for (int i = last; i >= 0; v = before[i * width + v], i--)
        c->g[i] = c->low[i] + v;
}

static int search(struct choice *c, struct diag *diag)
{
    const size_t entries = (size_t)c->entries;
    int64_t widest = 1;
    for (int i = 0; i < c->entries; i++)
        widest = larger_integer(widest, c->high[i] - c->low[i] + 1);
    const int width = (int)widest;
    int *const sides = malloc(2 * entries * sizeof *sides);
    struct price *const price = malloc(entries * (size_t)width * sizeof *price);
    int16_t *const before = calloc(entries * (size_t)width, sizeof *before);
    if (!sides || !price || !before) {
        diag_set(diag, EXIT_IO, "out of memory for %d values", c->entries);
    } else {
        const int *const by_index[2] = {sides, sides + entries};
        for (size_t i = 0; i < 2 * entries; i++)
            sides[i] = -1;
        for (int k = 0; k < c->points->count; k++) {
            const int64_t d = c->points->cell[k] - zero_of(c);
            sides[(d < 0 ? entries : 0) + (size_t)index_of(c, d)] = k;
        }
        walk(c, (const int **)by_index, width, price, before);
    }
    free(sides);
    free(price);
    free(before);
    return diag->code;
}

/* Whether the two sides agree when they are counted so; g is then set. */
static bool try_index(struct choice *c, bool is_inverted, struct diag *diag)
{
    const int64_t below = zero_of(c) - c->spec->in.qmin, above = c->spec->in.qmax - zero_of(c);
    c->is_inverted = is_inverted;
    int64_t last = larger_integer(below - is_inverted, above);
    if ((last & (last - 1)) == 0 && last > 1 && below > above)
        last--;
    c->entries = (int)(larger_integer(last, 0) + 1);
    c->index_bits = unsigned_bits(c->entries - 1);
    return set_limits(c) && search(c, diag) == EXIT_DONE;
}

/* Neighbours of one value and one side are a segment. */
static int put_segments(const struct choice *c, struct segment *segments)
{
    int count = 0;
    for (int k = 0; k < c->points->count; k++) {
        const int64_t code = c->points->cell[k], d = code - zero_of(c);
        struct segment segment = {.start = code, .offset = c->spec->out.zero_point - c->g[index_of(c, d)]};
        if (d >= 0) {
            segment.q_b = c->shift > 0 ? 1 << c->shift : 1;
            segment.n = c->shift < 0 ? -c->shift : 0;
        }
        if (count == 0 || segments[count - 1].offset != segment.offset || segments[count - 1].q_b != segment.q_b)
            segments[count++] = segment;
    }
    return count;
}

int residual_segments(const struct spec *spec, const struct points *points, struct segment *segments, int *count,
                      struct diag *diag)
{
    const double ratio =
        dd_mul(dd_log(dd_div(dd_of(spec->in.scale.value), dd_of(spec->out.scale.value))), dd_log2_e).hi;
    const size_t most = (size_t)points->count + 1;
    struct choice c = {.spec = spec, .points = points, .shift = (int)rint(ratio)};
    if (fabs(ratio - rint(ratio)) > HAIR || fabs(ratio) > MOST_SHIFT)
        return diag_set(diag, EXIT_USAGE,
                        "--method residual: the scales of --in and --out must differ by a power of two, 2^%d at most",
                        MOST_SHIFT);
    int64_t *const values = malloc(3 * most * sizeof *values);
    if (!values)
        return diag_set(diag, EXIT_IO, "out of memory for %zu values", most);
    c.low = values;
    c.high = values + most;
    c.g = values + 2 * most;
    if (try_index(&c, true, diag) || (!diag->code && try_index(&c, false, diag)))
        *count = put_segments(&c, segments);
    else if (!diag->code)
        diag_set(diag, EXIT_REQUIREMENT,
                 "--method residual: within --max-err %.6g the codes are no ramp less what is the same on both sides",
                 spec->max_err);
    free(values);
    return diag->code;
}
