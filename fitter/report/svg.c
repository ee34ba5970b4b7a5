/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "svg.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#define FAR 1e6             /* pixels; nothing farther outside is needed to draw what is inside */
#define COLUMNS_PER_PIXEL 2 /* of a thinned line */
#define CHARACTER_WIDTH 6.6 /* at 12 pixels, on average and generously: for the places of legend entries */
#define ROW 18              /* of legend text */
#define KEY_WIDTH 22        /* the sample of a line before its name */
#define MAX_TICKS 40

/* Rules that take a colour, for one theme. Literal colours, since not every viewer knows CSS variables. */
#define INK(n, color) ".pwl-svg .s" n "{stroke:" color "}.pwl-svg .f" n "{fill:" color "}"
#define THEME(background, text, soft, rule, edge)                                                                      \
    ".pwl-svg .bg{fill:" background "}.pwl-svg .halo{stroke:" background "}.pwl-svg text{fill:" text "}"               \
    ".pwl-svg .soft{fill:" soft "}.pwl-svg .rule{stroke:" rule "}.pwl-svg .edge{stroke:" edge "}" INK("7", text)

/* One prefix, since the classes of an SVG inside a page belong to the whole page. */
static const char style[] =
    "<style>\n"
    ".pwl-svg{font:12px system-ui,'Segoe UI','Helvetica Neue',Arial,sans-serif}"
    ".pwl-svg .title{font-weight:600;font-size:13px}.pwl-svg .heading{font-weight:600;font-size:16px}"
    ".pwl-svg .rule,.pwl-svg .edge,.pwl-svg .line,.pwl-svg .thick,.pwl-svg .dash,.pwl-svg .thin{fill:none}"
    ".pwl-svg .halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
    ".pwl-svg .line{stroke-width:1.5;stroke-linejoin:round}"
    ".pwl-svg .thick{stroke-width:5;stroke-linejoin:round;stroke-opacity:.35}"
    ".pwl-svg .dash{stroke-width:1.2;stroke-dasharray:6 4}"
    ".pwl-svg .thin{stroke-width:1;stroke-opacity:.55}.pwl-svg .fill{fill-opacity:.3;stroke:none}\n" THEME(
        "#ffffff", "#1f2328", "#59636e", "#e3e7ec", "#8c959f") INK("0", "#0b62c4") INK("1", "#bc4c00")
        INK("2", "#1a7f37") INK("3", "#cf222e") INK("4", "#8250df") INK("5", "#087a82")
            INK("6", "#8c959f") "\n@media(prefers-color-scheme:dark){" THEME("#0d1117", "#e6edf3", "#9ba5b0", "#242b33",
                                                                             "#6e7681") INK("0", "#6cb6ff")
                INK("1", "#f6a25a") INK("2", "#6bc46d") INK("3", "#ff8a80") INK("4", "#c39bff") INK("5", "#4fd0da")
                    INK("6", "#7d8690") "}\n</style>\n";

static const char *const mark_class[] = {"line", "thick", "dash", "fill"};

static double text_width(const char *string)
{
    double width = 0;
    for (const unsigned char *c = (const unsigned char *)string; *c; c++)
        width += (*c & 0xc0) == 0x80 ? 0 : CHARACTER_WIDTH;
    return width;
}

/* Pixels within the plot; NAN stays NAN. */
static double limit(double pixel)
{
    return pixel > FAR ? FAR : pixel < -FAR ? -FAR : pixel;
}

static double share(const struct svg_axis *axis, double value)
{
    if (axis->logarithmic)
        return (log(value) - log(axis->min)) / (log(axis->max) - log(axis->min));
    return (value - axis->min) / (axis->max - axis->min);
}

static double pixel_x(const struct svg_panel *panel, double x)
{
    return limit(share(&panel->x, x) * panel->plot_width);
}

static double pixel_y(const struct svg_panel *panel, double y)
{
    return limit((1 - share(&panel->y, y)) * panel->plot_height);
}

/* Values of the ticks, at most MAX_TICKS, and how each is written. */
struct ticks {
    int count;
    double value[MAX_TICKS];
    char text[MAX_TICKS][24];
};

/* "0.25", "1e-7", "2e5": no exponent that is padded, and no trailing zeros. */
static void number_text(double value, int decimals, char text[24])
{
    const double size = fabs(value);
    if (size != 0 && (size >= 1e6 || size < 1e-4)) {
        int exponent = (int)floor(log10(size) + 1e-9);
        snprintf(text, 24, "%.3ge%d", value / pow(10, exponent), exponent);
    } else {
        snprintf(text, 24, "%.*f", decimals, value);
    }
}

/* Steps of 1, 2 or 5 times a power of ten: the nearest to `wanted` ticks. */
static void linear_ticks(const struct svg_axis *axis, int wanted, struct ticks *ticks)
{
    const double raw = (axis->max - axis->min) / wanted;
    const double power = pow(10, floor(log10(raw)));
    const double step = power * (raw <= 1.5 * power ? 1 : raw <= 3.5 * power ? 2 : raw <= 7.5 * power ? 5 : 10);
    const double decimals = -floor(log10(step) + 1e-9);
    const double first = ceil(axis->min / step - 1e-6);
    for (double k = first; k * step <= axis->max + 1e-6 * step && ticks->count < MAX_TICKS; k++) {
        const double value = k == 0 ? 0 : k * step; /* not -0 */
        ticks->value[ticks->count] = value;
        number_text(value, decimals > 0 && decimals < 12 ? (int)decimals : 0, ticks->text[ticks->count]);
        ticks->count++;
    }
}

/* Powers of ten; also twice and five times them where there are few. */
static void logarithmic_ticks(const struct svg_axis *axis, int wanted, struct ticks *ticks)
{
    const double decades = log10(axis->max / axis->min);
    const int every = (int)ceil(decades / wanted);
    const int parts = decades * 3 <= wanted ? 3 : 1;
    static const double part[] = {1, 2, 5};
    for (int k = (int)floor(log10(axis->min)); k <= log10(axis->max); k++) {
        for (int i = 0; i < parts && ticks->count < MAX_TICKS; i++) {
            const double value = part[i] * pow(10, k);
            if (k % (every > 0 ? every : 1) != 0 || value < axis->min * 0.999999 || value > axis->max * 1.000001)
                continue;
            ticks->value[ticks->count] = value;
            number_text(value, k < 0 ? -k : 0, ticks->text[ticks->count]);
            ticks->count++;
        }
    }
}

static void axis_ticks(const struct svg_axis *axis, int wanted, struct ticks *ticks)
{
    ticks->count = 0;
    wanted = wanted < 2 ? 2 : wanted > MAX_TICKS / 3 ? MAX_TICKS / 3 : wanted;
    if (axis->logarithmic && axis->max / axis->min >= 10)
        logarithmic_ticks(axis, wanted, ticks);
    else
        linear_ticks(axis, wanted, ticks);
}

/* Ranges that cannot be drawn become ones that can. */
static void repair_axis(struct svg_axis *axis)
{
    if (!isfinite(axis->min) || !isfinite(axis->max) || (axis->logarithmic && axis->min <= 0))
        *axis = (struct svg_axis){axis->logarithmic ? 1 : 0, 10, axis->logarithmic, axis->bare, axis->label};
    if (!(axis->max - axis->min > 1e-12 * fmax(fabs(axis->min), fabs(axis->max)))) {
        const double middle = axis->min, room = middle == 0 ? 1 : fabs(middle) / 2;
        axis->min = middle - room;
        axis->max = middle + room;
    }
}

/* The start of a mark's element, which has no end yet; its name. */
static const char *begin_symbol(struct text *out, enum svg_mark mark, enum svg_ink ink, double x, double y,
                                double radius)
{
    /* Corners and half sides that give each about the area of the dot. */
    const double side = 0.89 * radius, high = 1.2 * radius, wide = 1.25 * radius;
    if (mark == SVG_DOT || mark == SVG_RING) {
        text_add(out, "<circle class=\"%s%d\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", mark == SVG_RING ? "line s" : "f",
                 ink, x, y, radius);
        return "circle";
    }
    text_add(out, "<path class=\"f%d\" data-r=\"%.2f\" d=\"", ink, radius);
    if (mark == SVG_SQUARE)
        text_add(out, "M%.2f %.2fh%.2fv%.2fh%.2fz\"", x - side, y - side, 2 * side, 2 * side, -2 * side);
    else if (mark == SVG_TRIANGLE)
        text_add(out, "M%.2f %.2fl%.2f %.2fh%.2fz\"", x, y - high, wide, 1.8 * radius, -2 * wide);
    else
        text_add(out, "M%.2f %.2fl%.2f %.2fl%.2f %.2fl%.2f %.2fz\"", x, y - wide, wide, wide, -wide, wide, -wide,
                 -wide);
    return "path";
}

/* Lays the entries out from left to right, in rows; returns how many rows, and draws when asked to. */
static int legend(const struct svg_panel *panel, double top, bool draw)
{
    double x = 0;
    int row = 0;
    for (int i = 0; i < panel->key_count; i++) {
        const struct svg_key *key = &panel->keys[i];
        const double mark_width = key->mark == SVG_WORD ? 0 : KEY_WIDTH + 6;
        const double width = mark_width + text_width(key->name) + (key->mark == SVG_WORD ? 8 : 14);
        if (x > 0 && x + width > panel->plot_width) {
            x = 0;
            row++;
        }
        if (draw) {
            struct text *out = &panel->svg->text;
            const double left = panel->plot_left + x, middle = top + row * ROW + ROW / 2.0;
            if (key->mark >= SVG_DOT) {
                begin_symbol(out, key->mark, key->ink, left + KEY_WIDTH / 2.0, middle, 4);
                text_add(out, "/>");
            } else if (key->mark == SVG_FILL)
                text_add(out, "<rect class=\"fill f%d\" x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"10\"/>", key->ink,
                         left, middle - 5, KEY_WIDTH);
            else if (key->mark != SVG_WORD)
                text_add(out, "<path class=\"%s s%d\" d=\"M%.2f %.2fh%d\"/>", mark_class[key->mark], key->ink, left,
                         middle, KEY_WIDTH);
            text_add(out, "<text x=\"%.2f\" y=\"%.2f\">", left + mark_width, middle + 4);
            escape_xml(out, key->name);
            text_add(out, "</text>\n");
        }
        x += width;
    }
    return panel->key_count > 0 ? row + 1 : 0;
}

static void draw_x_axis(struct svg_panel *panel)
{
    struct text *out = &panel->svg->text;
    const double bottom = panel->plot_top + panel->plot_height;
    struct ticks ticks;
    axis_ticks(&panel->x, (int)(panel->plot_width / 80), &ticks);
    for (int i = 0; i < ticks.count; i++) {
        const double x = panel->plot_left + pixel_x(panel, ticks.value[i]);
        text_add(out, "<path class=\"rule\" d=\"M%.2f %.2fV%.2f\"/>", x, panel->plot_top, bottom);
        if (!panel->x.bare)
            text_add(out, "<text class=\"soft\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%s</text>\n", x,
                     bottom + 16, ticks.text[i]);
    }
    if (panel->x.label) {
        text_add(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">", panel->plot_left + panel->plot_width / 2,
                 bottom + (panel->x.bare ? 16 : 34));
        escape_xml(out, panel->x.label);
        text_add(out, "</text>\n");
    }
}

static void draw_y_axis(struct svg_panel *panel)
{
    struct text *out = &panel->svg->text;
    struct ticks ticks;
    axis_ticks(&panel->y, (int)(panel->plot_height / 40), &ticks);
    for (int i = 0; i < ticks.count; i++) {
        const double y = panel->plot_top + pixel_y(panel, ticks.value[i]);
        text_add(out, "<path class=\"rule\" d=\"M%.2f %.2fh%.2f\"/>", panel->plot_left, y, panel->plot_width);
        if (!panel->y.bare)
            text_add(out, "<text class=\"soft\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%s</text>\n",
                     panel->plot_left - 6, y + 4, ticks.text[i]);
    }
    if (panel->y.label) {
        const double x = panel->left + 14, y = panel->plot_top + panel->plot_height / 2;
        text_add(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" transform=\"rotate(-90 %.2f %.2f)\">", x, y,
                 x, y);
        escape_xml(out, panel->y.label);
        text_add(out, "</text>\n");
    }
}

/* A path in tenths of a pixel: absolute where it starts or a gap ended, then relative, which is shorter. */
struct pen {
    struct text *out;
    bool down;    /* a line goes on from x and y */
    char command; /* the path's last one, of which further numbers are more */
    int64_t x, y;
};

/* "12.3", ".3" or "-4"; a minus sign separates as well. */
static void pen_number(struct pen *pen, const char *separator, int64_t tenths)
{
    const long long size = llabs(tenths);
    text_add(pen->out, "%s", tenths < 0 ? "-" : separator);
    if (size >= 10 || size == 0)
        text_add(pen->out, "%lld", size / 10);
    if (size % 10)
        text_add(pen->out, ".%lld", size % 10);
}

static void pen_pair(struct pen *pen, char command, int64_t x, int64_t y)
{
    if (command == pen->command) {
        pen_number(pen, " ", x);
    } else {
        text_add(pen->out, "%c", command);
        pen_number(pen, "", x);
    }
    pen_number(pen, " ", y);
    pen->command = command;
}

static void pen_to(struct pen *pen, double x, double y)
{
    const int64_t to_x = llround(10 * x), to_y = llround(10 * y);
    if (!pen->down) {
        pen->command = '\0'; /* a second pair after M would be a line */
        pen_pair(pen, 'M', to_x, to_y);
    } else if (to_x != pen->x || to_y != pen->y) {
        pen_pair(pen, 'l', to_x - pen->x, to_y - pen->y);
    }
    pen->down = true;
    pen->x = to_x;
    pen->y = to_y;
}

/* The points of one column of pixels that can be seen. */
struct column {
    int64_t index;
    double x[4], y[4]; /* first, lowest, highest, last */
};

static void column_start(struct column *column, int64_t index, double x, double y)
{
    column->index = index;
    for (int i = 0; i < 4; i++) {
        column->x[i] = x;
        column->y[i] = y;
    }
}

static void column_add(struct column *column, double x, double y)
{
    const bool lower = y > column->y[1], higher = y < column->y[2];
    if (lower || higher) {
        column->x[lower ? 1 : 2] = x;
        column->y[lower ? 1 : 2] = y;
    }
    column->x[3] = x;
    column->y[3] = y;
}

static void column_draw(const struct column *column, struct pen *pen)
{
    const bool low_first = column->x[1] <= column->x[2];
    const int order[] = {0, low_first ? 1 : 2, low_first ? 2 : 1, 3};
    for (int i = 0; i < 4; i++) {
        const int k = order[i], before = i ? order[i - 1] : 0;
        if (i == 0 || column->x[k] != column->x[before] || column->y[k] != column->y[before])
            pen_to(pen, column->x[k], column->y[k]);
    }
}

static void trace(const struct svg_panel *panel, const double *x, const double *y, size_t count, struct pen *pen)
{
    struct column column;
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        const double px = pixel_x(panel, x[i]), py = pixel_y(panel, y[i]);
        const bool gap = !isfinite(x[i]) || !isfinite(y[i]) || isnan(px) || isnan(py);
        const int64_t index = gap ? 0 : (int64_t)floor(px * COLUMNS_PER_PIXEL);
        if (open && !gap && index == column.index) {
            column_add(&column, px, py);
            continue;
        }
        if (open)
            column_draw(&column, pen);
        if (gap)
            pen->down = false;
        else
            column_start(&column, index, px, py);
        open = !gap;
    }
    if (open)
        column_draw(&column, pen);
}

void svg_begin(struct svg *svg, int width, int height, const char *title)
{
    *svg = (struct svg){.width = width, .height = height};
    text_add(&svg->text,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pwl-svg\" width=\"%d\" height=\"%d\" "
             "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
             width, height, width, height);
    escape_xml(&svg->text, title);
    text_add(&svg->text, "</title>\n%s<rect class=\"bg\" width=\"%d\" height=\"%d\"/>\n", style, width, height);
}

void svg_end(struct svg *svg)
{
    text_add(&svg->text, "</svg>\n");
}

void svg_free(struct svg *svg)
{
    text_free(&svg->text);
}

void svg_axis_around(struct svg_axis *axis, double min, double max)
{
    axis->min = min;
    axis->max = max;
    repair_axis(axis);
    if (axis->logarithmic) {
        const double room = pow(axis->max / axis->min, 0.04);
        axis->min /= room;
        axis->max *= room;
    } else {
        const double room = (axis->max - axis->min) * 0.04;
        axis->min -= room;
        axis->max += room;
    }
}

void svg_panel_begin(struct svg *svg, struct svg_panel *panel)
{
    const double above = panel->title ? 24 : 8;
    panel->svg = svg;
    repair_axis(&panel->x);
    repair_axis(&panel->y);
    panel->plot_left = panel->left + (panel->y.label ? 28 : 8) + (panel->y.bare ? 0 : 48);
    panel->plot_width = panel->left + panel->width - 16 - panel->plot_left;
    const double legend_top = panel->top + above;
    panel->plot_top = legend_top + legend(panel, legend_top, false) * ROW + (panel->key_count ? 6 : 0);
    panel->plot_height =
        panel->top + panel->height - (panel->x.label ? 20 : 0) - (panel->x.bare ? 6 : 24) - panel->plot_top;

    if (panel->title) {
        text_add(&svg->text, "<text class=\"title\" x=\"%.2f\" y=\"%.2f\">", panel->plot_left, panel->top + 16);
        escape_xml(&svg->text, panel->title);
        text_add(&svg->text, "</text>\n");
    }
    legend(panel, legend_top, true);
    draw_x_axis(panel);
    draw_y_axis(panel);
    /* An inner svg clips without an id, which would have to be unique in a page. */
    text_add(&svg->text, "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">\n", panel->plot_left,
             panel->plot_top, panel->plot_width, panel->plot_height);
}

void svg_panel_end(struct svg_panel *panel)
{
    text_add(&panel->svg->text, "</svg>\n<rect class=\"edge\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
             panel->plot_left, panel->plot_top, panel->plot_width, panel->plot_height);
}

void svg_polyline(struct svg_panel *panel, const double *x, const double *y, size_t count, enum svg_ink ink,
                  enum svg_mark mark)
{
    struct pen pen = {.out = &panel->svg->text};
    text_add(pen.out, "<path class=\"%s s%d\" d=\"", mark_class[mark], ink);
    trace(panel, x, y, count, &pen);
    text_add(pen.out, "\"/>\n");
}

void svg_area(struct svg_panel *panel, const double *x, const double *low, const double *high, size_t count,
              enum svg_ink ink)
{
    struct pen pen = {.out = &panel->svg->text};
    text_add(pen.out, "<path class=\"fill f%d\" d=\"", ink);
    /* Along the top, then back along the bottom; a column of pixels is as high as its highest and lowest point. */
    for (int side = 0; side < 2; side++) {
        size_t done = 0;
        while (done < count) {
            const size_t first = side ? count - 1 - done : done;
            const double px = pixel_x(panel, x[first]);
            double py = pixel_y(panel, side ? low[first] : high[first]);
            for (done++; done < count; done++) {
                const size_t k = side ? count - 1 - done : done;
                if (floor(pixel_x(panel, x[k]) * COLUMNS_PER_PIXEL) != floor(px * COLUMNS_PER_PIXEL))
                    break;
                const double other = pixel_y(panel, side ? low[k] : high[k]);
                py = side ? fmax(py, other) : fmin(py, other);
            }
            pen_to(&pen, px, py);
        }
    }
    text_add(pen.out, "%s\"/>\n", count ? "Z" : "");
}

void svg_box(struct svg_panel *panel, double x_min, double x_max, double y_min, double y_max, enum svg_ink ink)
{
    const double left = pixel_x(panel, x_min), right = pixel_x(panel, x_max);
    const double top = pixel_y(panel, y_max), bottom = pixel_y(panel, y_min);
    text_add(&panel->svg->text, "<rect class=\"f%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", ink,
             left, top, fmax(right - left, 0), fmax(bottom - top, 0));
}

void svg_dot(struct svg_panel *panel, double x, double y, double radius, enum svg_ink ink, const char *tooltip)
{
    svg_symbol(panel, x, y, radius, SVG_DOT, ink, tooltip);
}

void svg_symbol(struct svg_panel *panel, double x, double y, double radius, enum svg_mark mark, enum svg_ink ink,
                const char *tooltip)
{
    struct text *out = &panel->svg->text;
    const char *element = begin_symbol(out, mark, ink, pixel_x(panel, x), pixel_y(panel, y), radius);
    if (!tooltip) {
        text_add(out, "/>\n");
        return;
    }
    text_add(out, "><title>");
    escape_xml(out, tooltip);
    text_add(out, "</title></%s>\n", element);
}

void svg_vertical(struct svg_panel *panel, double x, enum svg_ink ink, enum svg_mark mark)
{
    text_add(&panel->svg->text, "<path class=\"%s s%d\" d=\"M%.2f 0V%.2f\"/>\n",
             mark == SVG_LINE ? "thin" : mark_class[mark], ink, pixel_x(panel, x), panel->plot_height);
}

void svg_horizontal(struct svg_panel *panel, double y, enum svg_ink ink, enum svg_mark mark)
{
    text_add(&panel->svg->text, "<path class=\"%s s%d\" d=\"M0 %.2fH%.2f\"/>\n",
             mark == SVG_LINE ? "thin" : mark_class[mark], ink, pixel_y(panel, y), panel->plot_width);
}

void svg_label(struct svg_panel *panel, double x, double y, double dx, double dy, enum svg_anchor anchor,
               enum svg_ink ink, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    text_add(&panel->svg->text, "<text class=\"halo f%d\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", ink,
             pixel_x(panel, x) + dx, pixel_y(panel, y) + dy, anchors[anchor]);
    escape_xml(&panel->svg->text, text);
    text_add(&panel->svg->text, "</text>\n");
}

void svg_caption(struct svg *svg, double x, double y, bool heading, const char *text)
{
    text_add(&svg->text, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\">", heading ? "heading" : "soft", x, y);
    escape_xml(&svg->text, text);
    text_add(&svg->text, "</text>\n");
}
