/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SVG writer: well-formed whatever the data, nothing visible lost, the same bytes each time. */
#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/svg.h"

#include "../../support/suite.h"

#define MANY 200000

static double many_x[MANY], many_y[MANY];

static int count_words(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at += strlen(words))
        count++;
    return count;
}

/* Every tag is closed in order, and no attribute or text holds a bare '<' or '&'. */
static void check_well_formed(const char *text)
{
    char names[32][16];
    int depth = 0;
    for (const char *at = text; *at;) {
        if (*at == '&')
            ck_assert_msg(!strncmp(at, "&amp;", 5) || !strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) ||
                              !strncmp(at, "&quot;", 6),
                          "%.20s", at);
        if (*at++ != '<')
            continue;
        const bool closing = *at == '/';
        at += closing;
        size_t length = 0;
        while (isalpha((unsigned char)at[length]))
            length++;
        ck_assert_msg(length > 0 && length < 16, "%.20s", at);
        const char *end = strchr(at, '>');
        ck_assert_ptr_nonnull(end);
        const char *inner = strchr(at, '<');
        ck_assert(!inner || inner > end);
        if (closing) {
            ck_assert_int_gt(depth, 0);
            depth--;
            ck_assert_msg(strlen(names[depth]) == length && !strncmp(names[depth], at, length), "%s closed by %.16s",
                          names[depth], at);
        } else if (end[-1] != '/') {
            ck_assert_int_lt(depth, 32);
            memcpy(names[depth], at, length);
            names[depth++][length] = '\0';
        }
        at = end;
    }
    ck_assert_int_eq(depth, 0);
}

static void begin(struct svg *svg, struct svg_panel *panel, double x_min, double x_max, double y_min, double y_max)
{
    svg_begin(svg, 400, 300, "plot");
    *panel = (struct svg_panel){.width = 400, .height = 300};
    panel->x.min = x_min;
    panel->x.max = x_max;
    panel->y.min = y_min;
    panel->y.max = y_max;
    svg_panel_begin(svg, panel);
}

static const char *end(struct svg *svg, struct svg_panel *panel)
{
    svg_panel_end(panel);
    svg_end(svg);
    ck_assert(!svg->text.failed);
    check_well_formed(svg->text.bytes);
    return svg->text.bytes;
}

/* The d attribute of the last line drawn. */
static const char *last_line(const char *text)
{
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, "<path class=\"line s0\" d=\"")) != NULL; at++)
        found = at + strlen("<path class=\"line s0\" d=\"");
    ck_assert_ptr_nonnull(found);
    return found;
}

/* Whether a line of steps from its first point has a corner there, to a tenth of a pixel. */
static bool has_corner(const char *line, double x, double y)
{
    char *at;
    double now_x = strtod(line + 1, &at), now_y = strtod(at, &at);
    ck_assert(*line == 'M' && *at == 'l');
    at++;
    while (*at != '"') {
        now_x += strtod(at, &at);
        now_y += strtod(at, &at);
        if (fabs(now_x - x) < 0.06 && fabs(now_y - y) < 0.06)
            return true;
    }
    return false;
}

START_TEST(texts_are_escaped)
{
    struct svg svg;
    struct svg_panel panel = {
        .width = 400, .height = 300, .title = "<t>", .x = {.label = "a&b"}, .y = {.label = "\"q\""}};
    const struct svg_key keys[] = {
        {"k<\xff\x01", SVG_BLUE, SVG_LINE}, {"d", SVG_RED, SVG_DOT}, {"f", SVG_RED, SVG_FILL}};
    panel.keys = keys;
    panel.key_count = 3;
    svg_begin(&svg, 400, 300, "x > \xe2\x82\xac");
    svg_axis_around(&panel.x, 0, 1);
    svg_axis_around(&panel.y, 0, 1);
    svg_panel_begin(&svg, &panel);
    svg_dot(&panel, 0.5, 0.5, 3, SVG_BLUE, "tip <");
    svg_label(&panel, 0.5, 0.5, 0, 0, SVG_ANCHOR_END, SVG_TEXT, "l<");
    svg_caption(&svg, 0, 0, true, "c<");
    const char *text = end(&svg, &panel);
    ck_assert_ptr_nonnull(strstr(text, "<title>x &gt; \xe2\x82\xac</title>"));
    ck_assert_ptr_nonnull(strstr(text, ">&lt;t&gt;<"));
    ck_assert_ptr_nonnull(strstr(text, ">a&amp;b<"));
    ck_assert_ptr_nonnull(strstr(text, ">&quot;q&quot;<"));
    ck_assert_ptr_nonnull(strstr(text, ">k&lt;?"
                                       "?<"));
    ck_assert_ptr_nonnull(strstr(text, "<title>tip &lt;</title>"));
    ck_assert_ptr_nonnull(strstr(text, ">l&lt;<"));
    ck_assert_ptr_nonnull(strstr(text, ">c&lt;<"));
    svg_free(&svg);
}
END_TEST

START_TEST(nothing_outside_is_referred_to)
{
    struct svg svg;
    struct svg_panel panel;
    begin(&svg, &panel, 0, 1, 0, 1);
    const char *text = end(&svg, &panel);
    ck_assert_int_eq(count_words(text, "://"), 1);
    ck_assert_ptr_nonnull(strstr(text, "xmlns=\"http://www.w3.org/2000/svg\""));
    static const char *const words[] = {"href", "url(", "<script", "@import", "@font-face", " id=\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_ptr_null(strstr(text, words[i]));
    ck_assert_ptr_nonnull(strstr(text, "prefers-color-scheme:dark"));
    svg_free(&svg);
}
END_TEST

START_TEST(a_thinned_line_keeps_its_extremes)
{
    struct svg svg;
    struct svg_panel panel;
    for (int i = 0; i < MANY; i++) {
        many_x[i] = i;
        many_y[i] = 0.5;
    }
    many_y[77777] = 1; /* one point in 600 of its column */
    many_y[123456] = 0;
    begin(&svg, &panel, 0, MANY, 0, 1);
    svg_polyline(&panel, many_x, many_y, MANY, SVG_BLUE, SVG_LINE);
    const char *line = last_line(end(&svg, &panel));
    ck_assert(has_corner(line, 77777.0 / MANY * panel.plot_width, 0));
    ck_assert(has_corner(line, 123456.0 / MANY * panel.plot_width, panel.plot_height));
    ck_assert_uint_lt(svg.text.size, 20000);
    svg_free(&svg);
}
END_TEST

START_TEST(a_line_is_written_in_short_steps)
{
    struct svg svg;
    struct svg_panel panel;
    const double x[] = {0, 10.3, 30.3, 30.32, 40, NAN, 50, 60.04}, y[] = {268, 267.5, 269, 269.02, 268.1, 0, 0, 8};
    begin(&svg, &panel, 0, 328, 0, 268); /* a unit is a pixel, and y = 268 the top */
    svg_polyline(&panel, x, y, 8, SVG_BLUE, SVG_LINE);
    const char *expected = "M0 0l10.3 .5 20-1.5 9.7 .9M50 268l10-8\"";
    const char *line = last_line(end(&svg, &panel));
    ck_assert_msg(strncmp(line, expected, strlen(expected)) == 0, "%.80s", line);
    svg_free(&svg);
}
END_TEST

START_TEST(what_is_not_finite_leaves_a_gap)
{
    struct svg svg;
    struct svg_panel panel;
    const double x[] = {0, 1, 2, 3, 4, 5}, y[] = {0, 1, NAN, 1, INFINITY, 0};
    begin(&svg, &panel, 0, 5, 0, 1);
    svg_polyline(&panel, x, y, 6, SVG_BLUE, SVG_LINE);
    const char *text = end(&svg, &panel);
    const char *line = last_line(text);
    char path[400];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(line, "\""), line);
    ck_assert_int_eq(count_words(path, "M"), 3);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf"));
    svg_free(&svg);
}
END_TEST

START_TEST(an_axis_of_any_range_can_be_drawn)
{
    static const double ranges[][2] = {{0, 0},         {1, 1},         {5, 3},           {NAN, 1},
                                       {-INFINITY, 1}, {1e300, 2e300}, {1e-300, 2e-300}, {-1e-12, 1e-12},
                                       {1, 1 + 1e-15}, {-1e9, 1e9}};
    const double x[] = {-1, 0, 1}, y[] = {-1e300, 0, 1e300};
    for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            struct svg svg;
            struct svg_panel panel = {.width = 400, .height = 300};
            panel.x.logarithmic = panel.y.logarithmic = logarithmic;
            svg_begin(&svg, 400, 300, "");
            svg_axis_around(&panel.x, ranges[i][0], ranges[i][1]);
            panel.y.min = ranges[i][0];
            panel.y.max = ranges[i][1];
            svg_panel_begin(&svg, &panel);
            svg_polyline(&panel, x, y, 3, SVG_BLUE, SVG_LINE);
            svg_area(&panel, x, y, y, logarithmic ? 0 : 3, SVG_BLUE);
            svg_box(&panel, 0.5, 0.1, 0.5, 0.1, SVG_BLUE);
            svg_vertical(&panel, 1, SVG_GREY, SVG_LINE);
            svg_horizontal(&panel, 1, SVG_GREY, SVG_DASHES);
            const char *text = end(&svg, &panel);
            ck_assert_ptr_null(strstr(text, "nan"));
            ck_assert_ptr_null(strstr(text, "inf"));
            ck_assert_uint_lt(svg.text.size, 30000);
            svg_free(&svg);
        }
    }
}
END_TEST

START_TEST(ticks_are_round_numbers)
{
    struct svg svg;
    struct svg_panel panel;
    begin(&svg, &panel, -1, 1, 0, 3e-7);
    const char *text = end(&svg, &panel);
    for (int i = -2; i <= 2; i++) {
        char tick[32];
        snprintf(tick, sizeof tick, ">%.1f</text>", i / 2.0);
        ck_assert_msg(strstr(text, tick) != NULL, "%s", tick);
    }
    ck_assert_ptr_null(strstr(text, ">-0.0"));
    ck_assert_ptr_nonnull(strstr(text, ">1e-7</text>"));
    svg_free(&svg);

    svg_begin(&svg, 400, 300, "");
    panel = (struct svg_panel){
        .width = 400, .height = 300, .x = {0.01, 1000, true, false, NULL}, .y = {1, 10, true, false, NULL}};
    svg_panel_begin(&svg, &panel);
    text = end(&svg, &panel);
    static const char *const ticks[] = {">0.01<", ">1<", ">100<", ">10<", ">2<", ">5<"};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++)
        ck_assert_msg(strstr(text, ticks[i]) != NULL, "%s", ticks[i]);
    svg_free(&svg);

    begin(&svg, &panel, 0, 1, 0, 1); /* less than a decade */
    svg_panel_end(&panel);
    panel.x = (struct svg_axis){.min = 30, .max = 40, .logarithmic = true};
    svg_panel_begin(&svg, &panel);
    text = end(&svg, &panel);
    ck_assert_ptr_nonnull(strstr(text, ">30<"));
    ck_assert_ptr_nonnull(strstr(text, ">36<"));
    svg_free(&svg);
}
END_TEST

START_TEST(the_same_calls_give_the_same_bytes)
{
    struct text first = {0};
    for (int run = 0; run < 2; run++) {
        struct svg svg;
        struct svg_panel panel;
        for (int i = 0; i < MANY; i++) {
            many_x[i] = i;
            many_y[i] = sin(i * 0.001);
        }
        begin(&svg, &panel, 0, MANY, -1, 1);
        svg_polyline(&panel, many_x, many_y, MANY, SVG_RED, SVG_LINE);
        svg_area(&panel, many_x, many_y, many_y, MANY, SVG_RED);
        end(&svg, &panel);
        if (run == 0) {
            first = svg.text;
            continue;
        }
        ck_assert_uint_eq(first.size, svg.text.size);
        ck_assert_int_eq(memcmp(first.bytes, svg.text.bytes, first.size), 0);
        svg_free(&svg);
    }
    text_free(&first);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("svg");
    TCase *tests = tcase_create("svg");
    tcase_add_test(tests, texts_are_escaped);
    tcase_add_test(tests, nothing_outside_is_referred_to);
    tcase_add_test(tests, a_thinned_line_keeps_its_extremes);
    tcase_add_test(tests, a_line_is_written_in_short_steps);
    tcase_add_test(tests, what_is_not_finite_leaves_a_gap);
    tcase_add_test(tests, an_axis_of_any_range_can_be_drawn);
    tcase_add_test(tests, ticks_are_round_numbers);
    tcase_add_test(tests, the_same_calls_give_the_same_bytes);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
