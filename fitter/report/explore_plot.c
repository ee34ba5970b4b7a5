/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore_report.h"

#define WIDTH 960
#define HEIGHT 560
#define HEADING 52
#define INKS 6           /* for values of a choice, SVG_BLUE to SVG_TEAL */
#define SHAPES 4         /* SVG_DOT to SVG_DIAMOND */
#define LETTER_WIDTH 6.5 /* of a label, in pixels */
#define LABEL_HEIGHT 16

static const char *const axis_names[AXIS_COUNT] = {"method", "form",  "rounding", "slope bits", "slope terms",
                                                   "shift",  "knots", "symmetry", "segments"};

/* How the choices with several values show: one as colour, one as shape, the others in the labels. */
struct looks {
    enum explore_axis color, shape; /* AXIS_COUNT for none */
    bool written[AXIS_COUNT];
};

static struct looks looks_of(const struct exploration *exploration)
{
    struct looks looks = {AXIS_COUNT, AXIS_COUNT, {false}};
    for (int a = 0; a < AXIS_SEGMENTS; a++) {
        const int count = exploration->choice[a].count;
        if (count < 2)
            continue;
        if (looks.color == AXIS_COUNT && count <= INKS)
            looks.color = (enum explore_axis)a;
        else if (looks.shape == AXIS_COUNT && count <= SHAPES)
            looks.shape = (enum explore_axis)a;
        else
            looks.written[a] = true;
    }
    return looks;
}

/* The place of a row's value among those of its choice; 0 for no choice, and none where the method leaves none. */
static int place_of(const struct exploration *exploration, const struct explore_row *row, enum explore_axis axis,
                    int none)
{
    if (axis == AXIS_COUNT)
        return 0;
    const struct explore_choice *choice = &exploration->choice[axis];
    for (int i = 0; i < choice->count; i++)
        if (choice->value[i] == row->value[axis])
            return i;
    return none;
}

/* The axis is logarithmic, and a module may need no cell. */
static double place_on_x(const struct explore_row *row)
{
    return fmax(row->price, 0.5);
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
    svg_axis_around(&panel->x, place_on_x(&exploration->rows[0]),
                    place_on_x(&exploration->rows[exploration->found - 1]) * 1.1);
}

static void draw_dots(const struct exploration *exploration, const struct looks *looks, struct svg_panel *panel,
                      bool front)
{
    for (int k = 0; k < exploration->found; k++) {
        const struct explore_row *row = &exploration->rows[k];
        char tooltip[700];
        tooltip_text(row, tooltip, sizeof tooltip);
        if (row->front == front)
            svg_symbol(panel, place_on_x(row), height_of(panel, row), front ? 6 : 3.5,
                       (enum svg_mark)(SVG_DOT + place_of(exploration, row, looks->shape, SVG_RING - SVG_DOT)),
                       (enum svg_ink)place_of(exploration, row, looks->color, SVG_GREY), tooltip);
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
            x[used] = place_on_x(row);
            y[used] = y[used - 1];
            used++;
        }
        x[used] = place_on_x(row);
        y[used++] = height_of(panel, row);
    }
    x[used] = panel->x.max;
    y[used] = y[used - 1];
    svg_polyline(panel, x, y, used + 1, SVG_GREY, SVG_LINE);
}

static void label_text(const struct explore_row *row, const struct looks *looks, char *text, size_t size)
{
    const int segments = row->table.segment_count;
    size_t used = (size_t)snprintf(text, size, "%d segment%s", segments, segments == 1 ? "" : "s");
    for (int a = 0; a < AXIS_SEGMENTS && used < size; a++)
        if (looks->written[a] && row->value[a])
            used += (size_t)snprintf(text + used, size - used, ", %s%s", row->value[a],
                                     a == AXIS_SLOPE_BITS    ? " bits"
                                     : a == AXIS_SLOPE_TERMS ? " terms"
                                                             : "");
}

/* Segments, and what has neither colour nor shape, beside the dots of the front, where the last label leaves room. */
static void draw_labels(const struct exploration *exploration, const struct looks *looks, struct svg_panel *panel)
{
    double last_end = -1, last_y = -LABEL_HEIGHT;
    for (int k = 0; k < exploration->found; k++) {
        const struct explore_row *row = &exploration->rows[k];
        const double height = height_of(panel, row);
        const double x = log(place_on_x(row) / panel->x.min) / log(panel->x.max / panel->x.min) * panel->plot_width;
        const double y = log(panel->y.max / height) / log(panel->y.max / panel->y.min) * panel->plot_height;
        char text[120];
        label_text(row, looks, text, sizeof text);
        const double width = 12 + LETTER_WIDTH * (double)strlen(text);
        const bool right = x + width < panel->plot_width;
        const double start = right ? x : x - width;
        if (!row->front || (start < last_end && y - last_y < LABEL_HEIGHT))
            continue;
        svg_label(panel, place_on_x(row), height, right ? 8 : -8, -9, right ? SVG_ANCHOR_START : SVG_ANCHOR_END,
                  SVG_TEXT, text);
        last_end = start + width;
        last_y = y;
    }
}

/* The name of a choice and its values, as colours or as shapes. */
static int add_keys(const struct exploration *exploration, enum explore_axis axis, bool shapes, struct svg_key *keys)
{
    if (axis == AXIS_COUNT)
        return 0;
    const struct explore_choice *choice = &exploration->choice[axis];
    keys[0] = (struct svg_key){axis_names[axis], SVG_TEXT, SVG_WORD};
    for (int i = 0; i < choice->count; i++)
        keys[i + 1] = (struct svg_key){choice->value[i], shapes ? SVG_GREY : (enum svg_ink)i,
                                       shapes ? (enum svg_mark)(SVG_DOT + i) : SVG_DOT};
    return choice->count + 1;
}

/* ", segments and rounding at the front": what the labels say. */
static void subtitle_text(const struct exploration *exploration, const struct looks *looks, char *text, size_t size)
{
    char in[80], out[80];
    tensor_format(exploration->in, in, sizeof in);
    tensor_format(exploration->out, out, sizeof out);
    size_t used =
        (size_t)snprintf(text, size, "%s to %s, %d tables; labels at the front: segments", in, out, exploration->found);
    for (int a = 0; a < AXIS_SEGMENTS && used < size; a++)
        if (looks->written[a])
            used += (size_t)snprintf(text + used, size - used, ", %s", axis_names[a]);
}

void explore_plot(const struct exploration *exploration, struct svg *svg)
{
    const char *error = exploration->objective == OBJECTIVE_MAX ? "max error" : "RMS error";
    const struct looks looks = looks_of(exploration);
    char title[128], subtitle[320], label[48];
    snprintf(title, sizeof title, "%s: %s over size", exploration->function, error);
    subtitle_text(exploration, &looks, subtitle, sizeof subtitle);
    snprintf(label, sizeof label, "%s, output LSB", error);

    struct svg_key keys[INKS + SHAPES + 3];
    int key_count = add_keys(exploration, looks.color, false, keys);
    key_count += add_keys(exploration, looks.shape, true, &keys[key_count]);
    keys[key_count++] = (struct svg_key){"Pareto front, large marks", SVG_GREY, SVG_LINE};
    struct svg_panel panel = {
        .top = HEADING,
        .width = WIDTH,
        .height = HEIGHT - HEADING,
        .x = {.logarithmic = true, .label = exploration->cost ? exploration->cost : "bytes of the table"},
        .y = {.logarithmic = true, .label = label},
        .keys = keys,
        .key_count = key_count};
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
    draw_dots(exploration, &looks, &panel, true);
    draw_dots(exploration, &looks, &panel, false);
    draw_labels(exploration, &looks, &panel);
    svg_panel_end(&panel);
    svg_end(svg);
}
