/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "explore_report.h"

#define WIDTH 960
#define HEIGHT 560
#define HEADING 52
#define INKS 6         /* for values of a choice, SVG_BLUE to SVG_TEAL */
#define LABEL_WIDTH 84 /* of "16 segments" and some room, in pixels */
#define LABEL_HEIGHT 16

/* The first choice that has several values; the method when none has. Segments show in the size. */
static enum explore_axis colored_axis(const struct exploration *exploration)
{
    for (int a = 0; a < AXIS_SEGMENTS; a++)
        if (exploration->choice[a].count > 1)
            return (enum explore_axis)a;
    return AXIS_METHOD;
}

static enum svg_ink ink_of(const struct explore_choice *choice, const char *value)
{
    for (int i = 0; i < choice->count; i++)
        if (choice->value[i] == value)
            return (enum svg_ink)(i % INKS);
    return SVG_GREY;
}

static void tooltip_text(const struct explore_row *row, char *text, size_t size)
{
    const struct certificate *certificate = &row->table.certificate;
    snprintf(text, size, "%d segments, %d bytes, max %.6g, RMS %.6g LSB: %s", row->table.segment_count, row->bytes,
             certificate->max_err_lsb, certificate->rms_err_lsb, row->table.spec);
}

/* An error of 0 has no place on the axis and stands at its foot. */
static double height_of(const struct svg_panel *panel, const struct explore_row *row)
{
    return fmax(row->error, panel->y.min);
}

static void set_axes(const struct exploration *exploration, struct svg_panel *panel)
{
    double low = INFINITY, high = 0;
    bool any_zero = false;
    for (int k = 0; k < exploration->found; k++) {
        const double error = exploration->rows[k].error;
        any_zero |= error == 0;
        low = error > 0 ? fmin(low, error) : low;
        high = fmax(high, error);
    }
    if (high == 0)
        low = high = 1;
    /* Room for the labels above and beside. */
    svg_axis_around(&panel->y, any_zero ? low / 4 : low, high * 1.25);
    svg_axis_around(&panel->x, exploration->rows[0].bytes, exploration->rows[exploration->found - 1].bytes * 1.1);
}

static void draw_dots(const struct exploration *exploration, struct svg_panel *panel, bool front)
{
    const enum explore_axis axis = colored_axis(exploration);
    for (int k = 0; k < exploration->found; k++) {
        const struct explore_row *row = &exploration->rows[k];
        char tooltip[700];
        tooltip_text(row, tooltip, sizeof tooltip);
        if (row->front == front)
            svg_dot(panel, row->bytes, height_of(panel, row), front ? 6 : 3.5,
                    ink_of(&exploration->choice[axis], row->value[axis]), tooltip);
    }
}

/* As stairs: with less than the next size, nothing better is there. */
static void draw_front(const struct exploration *exploration, struct svg_panel *panel, double *x, double *y)
{
    size_t used = 0;
    for (int k = 0; k < exploration->found; k++) {
        const struct explore_row *row = &exploration->rows[k];
        if (!row->front)
            continue;
        if (used > 0) {
            x[used] = row->bytes;
            y[used] = y[used - 1];
            used++;
        }
        x[used] = row->bytes;
        y[used++] = height_of(panel, row);
    }
    x[used] = panel->x.max;
    y[used] = y[used - 1];
    svg_polyline(panel, x, y, used + 1, SVG_GREY, SVG_LINE);
}

/* Segments beside the dots of the front, where the last label leaves room. */
static void draw_labels(const struct exploration *exploration, struct svg_panel *panel)
{
    double last_end = -1, last_y = -LABEL_HEIGHT;
    for (int k = 0; k < exploration->found; k++) {
        const struct explore_row *row = &exploration->rows[k];
        const double height = height_of(panel, row);
        const double x = log(row->bytes / panel->x.min) / log(panel->x.max / panel->x.min) * panel->plot_width;
        const double y = log(panel->y.max / height) / log(panel->y.max / panel->y.min) * panel->plot_height;
        const bool right = x + LABEL_WIDTH < panel->plot_width;
        const double start = right ? x : x - LABEL_WIDTH;
        if (!row->front || (start < last_end && y - last_y < LABEL_HEIGHT))
            continue;
        char text[32];
        const int segments = row->table.segment_count;
        snprintf(text, sizeof text, "%d segment%s", segments, segments == 1 ? "" : "s");
        svg_label(panel, row->bytes, height, right ? 8 : -8, -9, right ? SVG_ANCHOR_START : SVG_ANCHOR_END, SVG_TEXT,
                  text);
        last_end = start + LABEL_WIDTH;
        last_y = y;
    }
}

void explore_plot(const struct exploration *exploration, struct svg *svg)
{
    const char *error = exploration->objective == OBJECTIVE_MAX ? "max error" : "RMS error";
    char in[80], out[80], title[128], subtitle[256], label[48];
    tensor_format(exploration->in, in, sizeof in);
    tensor_format(exploration->out, out, sizeof out);
    snprintf(title, sizeof title, "%s: %s over size", exploration->function, error);
    snprintf(subtitle, sizeof subtitle, "%s to %s, %d tables", in, out, exploration->found);
    snprintf(label, sizeof label, "%s, output LSB", error);

    const struct explore_choice *colored = &exploration->choice[colored_axis(exploration)];
    struct svg_key keys[EXPLORE_MAX_VALUES + 1];
    for (int i = 0; i < colored->count; i++)
        keys[i] = (struct svg_key){colored->value[i], ink_of(colored, colored->value[i]), SVG_DOT};
    keys[colored->count] = (struct svg_key){"Pareto front, large dots", SVG_GREY, SVG_LINE};
    struct svg_panel panel = {.top = HEADING,
                              .width = WIDTH,
                              .height = HEIGHT - HEADING,
                              .x = {.logarithmic = true, .label = "bytes of the table"},
                              .y = {.logarithmic = true, .label = label},
                              .keys = keys,
                              .key_count = colored->count + 1};
    set_axes(exploration, &panel);

    svg_begin(svg, WIDTH, HEIGHT, title);
    svg_caption(svg, 84, 24, true, title);
    svg_caption(svg, 84, 44, false, subtitle);
    svg_panel_begin(svg, &panel);
    const size_t corners = 2 * (size_t)exploration->found + 1;
    double *x = malloc(2 * corners * sizeof *x);
    if (x)
        draw_front(exploration, &panel, x, x + corners);
    else
        svg->text.failed = true;
    free(x);
    /* The small dots above, not to be hidden. */
    draw_dots(exploration, &panel, true);
    draw_dots(exploration, &panel, false);
    draw_labels(exploration, &panel);
    svg_panel_end(&panel);
    svg_end(svg);
}
