/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots as SVG: a canvas holds panels, a panel maps data to a box with axes, ticks and a legend. No scripts, fonts or
 * other files are referred to; colours follow the viewer's light or dark scheme; the same calls give the same bytes.
 * Sizes are in CSS pixels. Text may be any bytes: it is escaped, and what is not UTF-8 becomes '?'.
 *
 *     struct svg svg;
 *     svg_begin(&svg, 800, 300, "tanh");
 *     struct svg_panel panel = {.width = 800, .height = 300, .x = {.label = "x"}, .keys = keys, .key_count = 1};
 *     svg_axis_around(&panel.x, -4, 4);
 *     svg_axis_around(&panel.y, -1, 1);
 *     svg_panel_begin(&svg, &panel);
 *     svg_polyline(&panel, x, y, count, SVG_BLUE, SVG_LINE);
 *     svg_panel_end(&panel);
 *     svg_end(&svg);                       svg.text holds the document; svg_free drops it
 */
#ifndef PWLC_SVG_H
#define PWLC_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/file.h"

struct svg {
    struct text text; /* text.failed: out of memory */
    int width, height;
};

/* Both themes have a shade of each. */
enum svg_ink { SVG_BLUE, SVG_ORANGE, SVG_GREEN, SVG_RED, SVG_PURPLE, SVG_TEAL, SVG_GREY, SVG_TEXT };

/* SVG_WORD: in a legend, the name alone. */
enum svg_mark {
    SVG_LINE,
    SVG_THICK,
    SVG_DASHES,
    SVG_FILL,
    SVG_WORD,
    SVG_DOT,
    SVG_SQUARE,
    SVG_TRIANGLE,
    SVG_DIAMOND,
    SVG_RING
};

/* An entry of a legend. */
struct svg_key {
    const char *name;
    enum svg_ink ink;
    enum svg_mark mark;
};

struct svg_axis {
    double min, max; /* when logarithmic, both positive */
    bool logarithmic;
    bool bare;         /* ticks without numbers, as above a panel that shares the axis */
    const char *label; /* may be null */
};

struct svg_panel {
    double left, top, width, height; /* with title, legend and labels */
    const char *title;               /* may be null */
    struct svg_axis x, y;
    const struct svg_key *keys;
    int key_count;

    /* Set by svg_panel_begin: where the data goes. */
    struct svg *svg;
    double plot_left, plot_top, plot_width, plot_height;
};

/* The title is for viewers and screen readers; nothing is drawn. */
void svg_begin(struct svg *svg, int width, int height, const char *title);
void svg_end(struct svg *svg);
void svg_free(struct svg *svg);

/* The range from min to max and a little room at both ends; an empty range is widened. */
void svg_axis_around(struct svg_axis *axis, double min, double max);

/* Draws the axes; what is drawn until svg_panel_end is in data coordinates and clipped to the plot. */
void svg_panel_begin(struct svg *svg, struct svg_panel *panel);
void svg_panel_end(struct svg_panel *panel);

/* SVG_LINE, SVG_THICK or SVG_DASHES. A point that is not finite leaves a gap. Where x ascends and points are denser
 * than pixels, each column of pixels keeps its first, lowest, highest and last, so nothing visible is lost. */
void svg_polyline(struct svg_panel *panel, const double *x, const double *y, size_t count, enum svg_ink ink,
                  enum svg_mark mark);

/* Fills between low and high; x ascending, all finite. Thinned as a polyline. */
void svg_area(struct svg_panel *panel, const double *x, const double *low, const double *high, size_t count,
              enum svg_ink ink);

/* A filled box, as of a histogram. */
void svg_box(struct svg_panel *panel, double x_min, double x_max, double y_min, double y_max, enum svg_ink ink);

/* A mark from SVG_DOT on, of a radius in pixels; the tooltip may be null. */
void svg_symbol(struct svg_panel *panel, double x, double y, double radius, enum svg_mark mark, enum svg_ink ink,
                const char *tooltip);

/* The same with SVG_DOT. */
void svg_dot(struct svg_panel *panel, double x, double y, double radius, enum svg_ink ink, const char *tooltip);

/* Lines across the whole plot. */
void svg_vertical(struct svg_panel *panel, double x, enum svg_ink ink, enum svg_mark mark);
void svg_horizontal(struct svg_panel *panel, double y, enum svg_ink ink, enum svg_mark mark);

enum svg_anchor { SVG_ANCHOR_START, SVG_ANCHOR_MIDDLE, SVG_ANCHOR_END };

/* Text at a data point, moved by dx and dy pixels (dy > 0 is down). */
void svg_label(struct svg_panel *panel, double x, double y, double dx, double dy, enum svg_anchor anchor,
               enum svg_ink ink, const char *text);

/* Text on the canvas, not of a panel; `heading` is larger and bold. */
void svg_caption(struct svg *svg, double x, double y, bool heading, const char *text);

#endif
