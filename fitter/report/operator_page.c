/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "operator_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/escape.h"
#include "page.h"

#define WIDTH 960
#define HEIGHT 240

static void add_tiles(const struct operator_report *report, struct text *page)
{
    const struct row_sweep *const sweep = &report->sweep;
    char value[64];
    text_add(page, "<div class=\"tiles\">\n");
    snprintf(value, sizeof value, "%.6g", report->bound.bound_lsb);
    page_tile(page, value, "max error, LSB, proven");
    snprintf(value, sizeof value, "%.6g", sweep->worst[0].error);
    page_tile(page, value, "max error, LSB, of rows measured");
    snprintf(value, sizeof value, "%.6g", sqrt(sweep->squares / (double)sweep->places));
    page_tile(page, value, "RMS error, LSB");
    snprintf(value, sizeof value, "%.4g %%", 100 * (double)sweep->correct / (double)sweep->places);
    page_tile(page, value, "correctly rounded");
    snprintf(value, sizeof value, "%zu", operator_bytes(&report->of));
    page_tile(page, value, "bytes");
    text_add(page, "</div>\n");
}

static void parts_text(const struct operator_report *report, char *text, size_t size)
{
    const struct operator_certificate *const bound = &report->bound;
    if (operator_is_element(report->of.kind))
        snprintf(text, size, "1/2 for rounding, factors %.3g LSB", bound->factor);
    else if (operator_is_norm(report->of.kind))
        snprintf(text, size, "1/2 for rounding, root %.3g, gamma %.3g, the rest %.3g LSB", bound->root, bound->gamma,
                 bound->beta);
    else if (report->of.kind == OPERATOR_WEIGH)
        snprintf(text, size, "1/2 for rounding, sums %.3g (rho %.3g), factor %.3g LSB", bound->sum, bound->rho,
                 bound->factor);
    else
        snprintf(text, size, "1/2 for rounding, rho %.3g, %s %.3g", bound->rho,
                 report->of.kind == OPERATOR_SOFTMAX ? "B" : "lambda", bound->largest);
}

static void add_row_facts(const struct operator_report *report, struct text *page)
{
    const struct row_operator *const of = &report->of;
    char text[256];
    snprintf(text, sizeof text, "%s%" PRIu32 " places", operator_is_norm(of->kind) ? "" : "up to ", of->length);
    page_fact(page, "rows", text);
    snprintf(text, sizeof text, "%d segments, delta0 %.3g; %.3g after a Newton step", of->core.segment_count,
             report->bound.delta0, report->bound.delta);
    page_fact(page, "core", text);
}

static void add_facts(const struct operator_report *report, struct text *page)
{
    const struct row_operator *const of = &report->of;
    char text[256];
    text_add(page, "<dl>\n");
    page_fact(page, "operator", operator_name(of->kind));
    page_tensor_text(&of->in, text, sizeof text);
    page_fact(page, "in", text);
    if (operator_has_in_b(of->kind)) {
        page_tensor_text(&of->in_b, text, sizeof text);
        page_fact(page, operator_in_b_words(of->kind), text);
    }
    page_tensor_text(&of->out, text, sizeof text);
    page_fact(page, "out", text);
    parts_text(report, text, sizeof text);
    page_fact(page, "bound", text);
    if (!operator_is_element(of->kind))
        add_row_facts(report, page);
    snprintf(text, sizeof text, "%" PRId64 " structured and drawn, of %" PRId64 " places", report->sweep.rows,
             report->sweep.places);
    page_fact(page, "rows measured", text);
    if (of->standing != CERTIFICATE_OWN)
        page_fact(page, "certificate", "none of its own: what is here was computed for this page");
    text_add(page, "</dl>\n<pre><code>pwlc fit ");
    escape_xml(page, of->spec);
    text_add(page, "</code></pre>\n");
}

static void add_histogram(const struct row_sweep *sweep, struct text *page)
{
    const double width = sweep->top / ROW_SWEEP_BINS;
    struct svg svg;
    double most = 0;
    for (int k = 0; k < ROW_SWEEP_BINS; k++)
        most = fmax(most, 100 * (double)sweep->bins[k] / (double)sweep->places);
    struct svg_panel panel = {.width = WIDTH,
                              .height = HEIGHT,
                              .x = {.label = "error, output LSB"},
                              .y = {.max = most * 1.06, .label = "places, %"}};
    svg_begin(&svg, WIDTH, HEIGHT, "Histogram of errors");
    svg_axis_around(&panel.x, 0, sweep->top);
    svg_panel_begin(&svg, &panel);
    for (int k = 0; k < ROW_SWEEP_BINS; k++)
        svg_box(&panel, (k + 0.06) * width, (k + 0.94) * width, 0, 100 * (double)sweep->bins[k] / (double)sweep->places,
                SVG_PURPLE);
    svg_vertical(&panel, 0.5, SVG_TEXT, SVG_DASHES);
    svg_vertical(&panel, sweep->top, SVG_RED, SVG_LINE);
    svg_panel_end(&panel);
    svg_end(&svg);
    text_add(page,
             "<h3>Error histogram</h3>\n<p class=\"soft\">Share of all places measured. Dashed: half an LSB, which "
             "rounding alone costs. Red: the bound.</p>\n");
    page_svg(&svg, page);
}

static void add_worst(const struct row_sweep *sweep, struct text *page)
{
    static const char *const titles[] = {"<row", "error, LSB", NULL};
    text_add(page, "<h3>The worst rows</h3>\n<div class=\"wide\">");
    page_titles(titles, page);
    for (int k = 0; k < sweep->kept; k++)
        text_add(page, "<tr><td class=\"text\">%s</td><td>%.6f</td></tr>\n", sweep->worst[k].words,
                 sweep->worst[k].error);
    text_add(page, "</tbody></table></div>\n");
}

static void add_summary(const struct operator_report *reports, int count, struct text *page)
{
    static const char *const titles[] = {"<file", "<operator", "places", "bytes", "proven, LSB", "measured, LSB", NULL};
    text_add(page, "<div class=\"wide\">");
    page_titles(titles, page);
    for (int i = 0; i < count; i++) {
        text_add(page, "<tr><td class=\"text\"><a href=\"#operator-%d\">", i + 1);
        escape_xml(page, reports[i].label);
        text_add(page,
                 "</a></td><td class=\"text\">%s</td><td>%" PRIu32 "</td><td>%zu</td><td>%.6g</td><td>%.6g</td></tr>\n",
                 operator_name(reports[i].of.kind), reports[i].of.length, operator_bytes(&reports[i].of),
                 reports[i].bound.bound_lsb, reports[i].sweep.worst[0].error);
    }
    text_add(page, "</tbody></table></div>\n");
}

void operator_page(const struct operator_report *reports, int count, struct text *page)
{
    char many[40];
    snprintf(many, sizeof many, "%d row operators", count);
    page_begin(
        page, count == 1 ? reports[0].label : many, count == 1 ? "Row operator" : "Row operators",
        "Errors are |y - t| in output LSB: t is the real function of the real inputs, in output codes, clipped to the "
        "output range and not rounded.");
    if (count > 1)
        add_summary(reports, count, page);
    for (int i = 0; i < count; i++) {
        text_add(page, "<section id=\"operator-%d\"%s>\n<h2>", i + 1, i == 0 ? " class=\"first\"" : "");
        escape_xml(page, reports[i].label);
        text_add(page, "</h2>\n");
        add_tiles(&reports[i], page);
        add_facts(&reports[i], page);
        add_histogram(&reports[i].sweep, page);
        add_worst(&reports[i].sweep, page);
        text_add(page, "</section>\n");
    }
    page_end(page);
}
