/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 960
#define HEIGHT 640
#define HEADING 52
#define VALUES 350 /* height of the panel of f and the table */
#define STRIP_HEIGHT 230

static void range_of(const double *values, size_t count, double *low, double *high)
{
    *low = *high = values[0];
    for (size_t i = 1; i < count; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

/* Index of the last point at or before a code. */
static size_t point_at_code(const struct curve *curve, int64_t code)
{
    size_t low = 0, high = curve->count;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        if (curve->code[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where the segments from first up to last start. */
static void draw_knots(struct svg_panel *panel, const struct table *table, const struct curve *curve, int first,
                       int last, bool dots)
{
    const bool many = last - first > PLOT_MANY_KNOTS;
    if (table->has_reduction) /* its knots are words', in every octave */
        return;
    for (int i = first > 0 ? first : 1; i < last; i++) {
        const size_t k = point_at_code(curve, table->segments[i].start);
        if (!many)
            svg_vertical(panel, curve->x[k], SVG_GREY, SVG_LINE);
        if (dots)
            svg_dot(panel, curve->x[k], curve->y[k], many ? 1.5 : 3, SVG_TEXT, NULL);
    }
}

static const enum svg_ink inks[PLOT_MAX_TABLES] = {SVG_ORANGE, SVG_GREEN, SVG_PURPLE, SVG_TEAL, SVG_RED, SVG_GREY};

struct extent {
    double low, high;
};

static void extend(struct extent *extent, const double *values, size_t count)
{
    double low, high;
    range_of(values, count, &low, &high);
    extent->low = fmin(extent->low, low);
    extent->high = fmax(extent->high, high);
}

static struct extent extent_of_x(const struct plot_item *items, int count)
{
    struct extent extent = {INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        const struct curve *curve = items[i].curve;
        extent.low = fmin(extent.low, curve->x[0]);
        extent.high = fmax(extent.high, curve->x[curve->count - 1]);
    }
    return extent;
}

/* The functions and what the tables make of them; of a single table its knots, too. */
static void draw_values(struct svg *svg, const struct plot_item *items, int count, struct extent x)
{
    struct svg_key keys[PLOT_MAX_TABLES + 2] = {{"f(x)", SVG_BLUE, SVG_THICK}};
    char names[PLOT_MAX_TABLES][160];
    struct extent y = {INFINITY, -INFINITY}, f = y;
    const struct table *single = count == 1 ? items[0].table : NULL;
    const bool has_knots = single && !single->has_reduction;
    for (int i = 0; i < count; i++) {
        if (single)
            snprintf(names[i], sizeof names[i], "table");
        else
            snprintf(names[i], sizeof names[i], "%s, %d segments", items[i].label, items[i].table->segment_count);
        keys[i + 1] = (struct svg_key){names[i], inks[i], SVG_LINE};
        extend(&y, items[i].curve->y, items[i].curve->count);
        extend(&f, items[i].curve->f, items[i].curve->count);
    }
    keys[count + 1] = (struct svg_key){"knots", SVG_TEXT, SVG_DOT};
    struct svg_panel panel = {.top = HEADING,
                              .width = WIDTH,
                              .height = VALUES,
                              .x = {.bare = true},
                              .y = {.label = "y, real"},
                              .keys = keys,
                              .key_count = count + 1 + has_knots};
    /* Where the output saturates, f may leave it far behind. */
    const double room = (y.high - y.low) / 2;
    svg_axis_around(&panel.x, x.low, x.high);
    svg_axis_around(&panel.y, fmin(y.low, fmax(f.low, y.low - room)), fmax(y.high, fmin(f.high, y.high + room)));
    svg_panel_begin(svg, &panel);
    for (int i = 0; i < count; i++)
        svg_polyline(&panel, items[i].curve->x, items[i].curve->f, items[i].curve->count, SVG_BLUE, SVG_THICK);
    for (int i = 0; i < count; i++)
        svg_polyline(&panel, items[i].curve->x, items[i].curve->y, items[i].curve->count, inks[i], SVG_LINE);
    if (has_knots)
        draw_knots(&panel, single, items[0].curve, 0, single->segment_count, true);
    svg_panel_end(&panel);
}

/* Of the segments from first up to last, whose points are the curve's, below `top`. */
static void draw_errors(struct svg *svg, const struct table *table, const struct curve *curve, int first, int last,
                        double top)
{
    const struct certificate *says = &table->certificate;
    const bool is_certified = table->standing == CERTIFICATE_OWN;
    const double bound = !is_certified ? 0 : says->has_bound ? says->bound_lsb : says->max_err_lsb;
    char name[80];
    snprintf(name, sizeof name, "certificate: %s %.6g LSB", says->has_bound ? "at most" : "max", bound);
    const struct svg_key keys[] = {{"error, table - f(x)", SVG_PURPLE, SVG_LINE}, {name, SVG_RED, SVG_DASHES}};
    struct svg_panel panel = {.top = top,
                              .width = WIDTH,
                              .height = svg->height - top,
                              .x = {.label = "x, real"},
                              .y = {.label = "error, output LSB"},
                              .keys = keys,
                              .key_count = is_certified ? 2 : 1};
    double low, high;
    range_of(curve->err, curve->count, &low, &high);
    svg_axis_around(&panel.x, curve->x[0], curve->x[curve->count - 1]);
    svg_axis_around(&panel.y, fmin(low, -bound), fmax(high, bound));
    svg_panel_begin(svg, &panel);
    draw_knots(&panel, table, curve, first, last, false);
    svg_polyline(&panel, curve->x, curve->err, curve->count, SVG_PURPLE, SVG_LINE);
    svg_horizontal(&panel, 0, SVG_TEXT, SVG_LINE);
    if (is_certified) {
        svg_horizontal(&panel, bound, SVG_RED, SVG_DASHES);
        svg_horizontal(&panel, -bound, SVG_RED, SVG_DASHES);
    }
    svg_panel_end(&panel);
}

void plot_table(const struct table *table, const struct curve *curve, struct svg *svg)
{
    const struct plot_item item = {table, curve, NULL};
    char in[80], out[80], title[160], subtitle[320];
    tensor_format(&table->in, in, sizeof in);
    tensor_format(&table->out, out, sizeof out);
    snprintf(title, sizeof title, "%s, %d segments", table->function, table->segment_count);
    snprintf(subtitle, sizeof subtitle, "%s to %s, %s, %s%s", in, out, form_name(table->form),
             rounding_name(table->rounding), curve->exhaustive ? ", every code" : ", codes sampled evenly");
    svg_begin(svg, WIDTH, HEIGHT, title);
    svg_caption(svg, 76, 24, true, title);
    svg_caption(svg, 76, 44, false, subtitle);
    draw_values(svg, &item, 1, extent_of_x(&item, 1));
    draw_errors(svg, table, curve, 0, table->segment_count, HEADING + VALUES);
    svg_end(svg);
}

void plot_strip(const struct table *table, const struct curve *curve, int first, int last, struct svg *svg)
{
    const size_t from = point_at_code(curve, table->segments[first].start);
    const size_t to =
        last < table->segment_count ? point_at_code(curve, table->segments[last].start) : curve->count - 1;
    const struct curve part = {.count = to - from + 1,
                               .exhaustive = curve->exhaustive,
                               .code = curve->code + from,
                               .x = curve->x + from,
                               .f = curve->f + from,
                               .y = curve->y + from,
                               .err = curve->err + from};
    char title[80];
    snprintf(title, sizeof title, "error of segments %d to %d", first, last - 1);
    svg_begin(svg, WIDTH, STRIP_HEIGHT, title);
    draw_errors(svg, table, &part, first, last, 0);
    svg_end(svg);
}

static bool same_steps(const struct plot_item *items, int count)
{
    for (int i = 1; i < count; i++)
        if (items[i].table->out.scale.value != items[0].table->out.scale.value)
            return false;
    return true;
}

/* err[i]: the errors of table i in the unit that is drawn */
static void draw_all_errors(struct svg *svg, const struct plot_item *items, int count, struct extent x,
                            double *const *err, const char *unit)
{
    struct svg_key keys[PLOT_MAX_TABLES];
    char names[PLOT_MAX_TABLES][160], label[40];
    struct extent y = {INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        struct extent own = {INFINITY, -INFINITY};
        extend(&own, err[i], items[i].curve->count);
        extend(&y, err[i], items[i].curve->count);
        snprintf(names[i], sizeof names[i], "%s, %.4g to %.4g", items[i].label, own.low, own.high);
        keys[i] = (struct svg_key){names[i], inks[i], SVG_LINE};
    }
    snprintf(label, sizeof label, "error, %s", unit);
    struct svg_panel panel = {.top = HEADING + VALUES,
                              .width = WIDTH,
                              .height = HEIGHT - HEADING - VALUES,
                              .x = {.label = "x, real"},
                              .y = {.label = label},
                              .keys = keys,
                              .key_count = count};
    svg_axis_around(&panel.x, x.low, x.high);
    svg_axis_around(&panel.y, y.low, y.high);
    svg_panel_begin(svg, &panel);
    for (int i = 0; i < count; i++)
        svg_polyline(&panel, items[i].curve->x, err[i], items[i].curve->count, inks[i], SVG_LINE);
    svg_horizontal(&panel, 0, SVG_TEXT, SVG_LINE);
    svg_panel_end(&panel);
}

static void draw_several(const struct plot_item *items, int count, double *const *err, bool steps, struct svg *svg)
{
    const struct table *first = items[0].table;
    const struct extent x = extent_of_x(items, count);
    char title[160], subtitle[160];
    bool alike = true;
    for (int i = 1; i < count; i++)
        alike &= strcmp(items[i].table->function, first->function) == 0;
    snprintf(title, sizeof title, "%s%s%d tables", alike ? first->function : "", alike ? ", " : "", count);
    snprintf(subtitle, sizeof subtitle, "error: table - f(x), in %s", steps ? "output LSB" : "real units");
    svg_begin(svg, WIDTH, HEIGHT, title);
    svg_caption(svg, 76, 24, true, title);
    svg_caption(svg, 76, 44, false, subtitle);
    draw_values(svg, items, count, x);
    draw_all_errors(svg, items, count, x, err, steps ? "output LSB" : "real");
    svg_end(svg);
}

void plot_tables(const struct plot_item *items, int count, struct svg *svg)
{
    const bool steps = same_steps(items, count);
    double *err[PLOT_MAX_TABLES] = {0};
    if (count == 1) {
        plot_table(items[0].table, items[0].curve, svg);
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct curve *curve = items[i].curve;
        const double unit = steps ? 1 : (double)items[i].table->out.scale.value;
        err[i] = malloc(curve->count * sizeof *err[i]);
        svg->text.failed |= !err[i];
        for (size_t k = 0; err[i] && k < curve->count; k++)
            err[i][k] = curve->err[k] * unit;
    }
    if (!svg->text.failed)
        draw_several(items, count, err, steps, svg);
    for (int i = 0; i < count; i++)
        free(err[i]);
}
