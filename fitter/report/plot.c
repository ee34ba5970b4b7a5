/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 960
#define HEIGHT 640
#define HEADING 52
#define VALUES 350    /* height of the panel of f and the table */
#define MANY_KNOTS 96 /* no line for each of more */

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

static void draw_knots(struct svg_panel *panel, const struct table *table, const struct curve *curve, bool dots)
{
    const bool many = table->segment_count > MANY_KNOTS;
    if (table->has_reduction) /* its knots are words', in every octave */
        return;
    for (int i = 1; i < table->segment_count; i++) {
        const size_t k = point_at_code(curve, table->segments[i].start);
        if (!many)
            svg_vertical(panel, curve->x[k], SVG_GREY, SVG_LINE);
        if (dots)
            svg_dot(panel, curve->x[k], curve->y[k], many ? 1.5 : 3, SVG_TEXT, NULL);
    }
}

static void draw_values(struct svg *svg, const struct table *table, const struct curve *curve)
{
    static const struct svg_key keys[] = {
        {"f(x)", SVG_BLUE, SVG_THICK}, {"table", SVG_ORANGE, SVG_LINE}, {"knots", SVG_TEXT, SVG_DOT}};
    struct svg_panel panel = {.top = HEADING,
                              .width = WIDTH,
                              .height = VALUES,
                              .x = {.bare = true},
                              .y = {.label = "y, real"},
                              .keys = keys,
                              .key_count = table->has_reduction ? 2 : 3};
    double f_low, f_high, low, high;
    range_of(curve->f, curve->count, &f_low, &f_high);
    range_of(curve->y, curve->count, &low, &high);
    /* Where the output saturates, f may leave it far behind. */
    const double room = (high - low) / 2;
    svg_axis_around(&panel.x, curve->x[0], curve->x[curve->count - 1]);
    svg_axis_around(&panel.y, fmin(low, fmax(f_low, low - room)), fmax(high, fmin(f_high, high + room)));
    svg_panel_begin(svg, &panel);
    svg_polyline(&panel, curve->x, curve->f, curve->count, SVG_BLUE, SVG_THICK);
    svg_polyline(&panel, curve->x, curve->y, curve->count, SVG_ORANGE, SVG_LINE);
    draw_knots(&panel, table, curve, true);
    svg_panel_end(&panel);
}

static void draw_errors(struct svg *svg, const struct table *table, const struct curve *curve)
{
    const struct certificate *says = &table->certificate;
    const bool is_certified = table->standing == CERTIFICATE_OWN;
    const double bound = !is_certified ? 0 : says->has_bound ? says->bound_lsb : says->max_err_lsb;
    char name[80];
    snprintf(name, sizeof name, "certificate: %s %.6g LSB", says->has_bound ? "at most" : "max", bound);
    const struct svg_key keys[] = {{"error, table - f(x)", SVG_PURPLE, SVG_LINE}, {name, SVG_RED, SVG_DASHES}};
    struct svg_panel panel = {.top = HEADING + VALUES,
                              .width = WIDTH,
                              .height = HEIGHT - HEADING - VALUES,
                              .x = {.label = "x, real"},
                              .y = {.label = "error, output LSB"},
                              .keys = keys,
                              .key_count = is_certified ? 2 : 1};
    double low, high;
    range_of(curve->err, curve->count, &low, &high);
    svg_axis_around(&panel.x, curve->x[0], curve->x[curve->count - 1]);
    svg_axis_around(&panel.y, fmin(low, -bound), fmax(high, bound));
    svg_panel_begin(svg, &panel);
    draw_knots(&panel, table, curve, false);
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
    char in[80], out[80], title[160], subtitle[320];
    tensor_format(&table->in, in, sizeof in);
    tensor_format(&table->out, out, sizeof out);
    snprintf(title, sizeof title, "%s, %d segments", table->function, table->segment_count);
    snprintf(subtitle, sizeof subtitle, "%s to %s, %s, %s%s", in, out, form_name(table->form),
             rounding_name(table->rounding), curve->exhaustive ? ", every code" : ", codes sampled evenly");
    svg_begin(svg, WIDTH, HEIGHT, title);
    svg_caption(svg, 76, 24, true, title);
    svg_caption(svg, 76, 44, false, subtitle);
    draw_values(svg, table, curve);
    draw_errors(svg, table, curve);
    svg_end(svg);
}
