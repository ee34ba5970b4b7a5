/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/escape.h"
#include "function/samples.h"
#include "measure/histogram.h"
#include "page.h"
#include "plot.h"
#include "table/reduction.h"
#include "table/size.h"

#define WIDTH 960
#define HISTOGRAM_HEIGHT 240
#define STRIP_SEGMENTS 48 /* of a strip, or as many as STRIPS_MAX of them need */
#define STRIPS_MAX 24

const char *const report_rival_names[REPORT_RIVALS] = {"uniform", "document", "lut"};

static void function_text(const struct table *table, char *text, size_t size)
{
    if (table->expression) {
        snprintf(text, size, "%s", table->expression);
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%s", table->function);
    for (int i = 0; i < table->parameter_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, ", %s = %.9g", table->parameters[i].name,
                                 table->parameters[i].value);
}

/* What is known of all other tables of the same form, widths and number of segments. */
static void proof_text(const struct certificate *says, char *text, size_t size)
{
    const char *error = says->objective == OBJECTIVE_MAX ? "max" : "RMS";
    const double achieved = objective_error(says);
    if (says->optimal == 1 && says->objective == OBJECTIVE_SEGMENTS)
        snprintf(text, size, "fewest: no table of this form and these widths keeps to --max-err with fewer segments");
    else if (says->optimal == 1 && says->has_lower_bound)
        snprintf(text, size,
                 "optimal: no table of this form, these widths and this number of segments has a %s error below %.6g "
                 "LSB",
                 error, says->lower_bound_lsb);
    else if (says->optimal == 1)
        snprintf(text, size, "optimal: no table has a smaller error");
    else if (says->has_lower_bound && says->lower_bound_lsb > 0)
        snprintf(text, size, "no such table has a %s error below %.6g LSB; this one has %.4g times that", error,
                 says->lower_bound_lsb, achieved / says->lower_bound_lsb);
    else
        snprintf(text, size, "none: it is not known whether a table of this size can be better");
}

static void coverage_text(const struct certificate *says, char *text, size_t size)
{
    if (says->exhaustive)
        snprintf(text, size, "every one of %" PRId64 " codes: the largest error is exact", says->checked);
    else if (says->has_bound)
        snprintf(text, size, "%" PRId64 " codes; proven for all: no error above %.6g LSB", says->checked,
                 says->bound_lsb);
    else
        snprintf(text, size, "%" PRId64 " codes; others may be off by more", says->checked);
}

static void add_tiles(const struct table *table, struct text *page)
{
    const struct certificate *says = &table->certificate;
    char value[64];
    text_add(page, "<div class=\"tiles\">\n");
    snprintf(value, sizeof value, "%.6g", says->has_bound ? says->bound_lsb : says->max_err_lsb);
    page_tile(page, value,
              says->has_bound    ? "max error, LSB, at most"
              : says->exhaustive ? "max error, LSB"
                                 : "max error, LSB, sampled");
    snprintf(value, sizeof value, "%.6g", says->rms_err_lsb);
    page_tile(page, value, table->weights_sha256[0] ? "RMS error, weighted, LSB" : "RMS error, LSB");
    snprintf(value, sizeof value, "%.4g %%", 100 * says->correctly_rounded);
    page_tile(page, value, table->weights_sha256[0] ? "correctly rounded, weighted" : "correctly rounded");
    snprintf(value, sizeof value, "%d", table->segment_count);
    page_tile(page, value, table->segment_count == 1 ? "segment" : "segments");
    snprintf(value, sizeof value, "%d", table_bytes(table));
    page_tile(page, value, "bytes");
    text_add(page, "</div>\n");
}

static void add_facts(const struct table *table, struct text *page)
{
    static const char *const formulas[] = {"q_y = sat(shr(q_b * (q_x - zp_x), n) + term_c)",
                                           "q_y = sat(shr(q_b * (q_x - zp_x) + bias, n))",
                                           "q_y = sat(shr(q_b * (q_x - start), n) + y)"};
    const struct certificate *says = &table->certificate;
    char text[1200]; /* an expression is the longest */
    text_add(page, "<dl>\n");
    function_text(table, text, sizeof text);
    page_fact(page, "function", text);
    page_tensor_text(&table->in, text, sizeof text);
    page_fact(page, "in", text);
    page_tensor_text(&table->out, text, sizeof text);
    page_fact(page, "out", text);
    snprintf(text, sizeof text, "%s: %s", form_name(table->form), formulas[table->form]);
    page_fact(page, "form", text);
    page_fact(page, "rounding", rounding_name(table->rounding));
    if (table->has_fold) {
        snprintf(text, sizeof text, "codes below %" PRId64 " are mirrored, q_y = sat(%" PRId64 " - raw)",
                 table->in.zero_point, table->fold_sum);
        page_fact(page, "fold", text);
    }
    if (table->has_reduction) {
        reduction_text(&table->reduction, text, sizeof text);
        page_fact(page, "reduction", text);
    }
    snprintf(text, sizeof text, "%s; %d bytes a segment, an accumulator of %d bits suffices",
             storage_name(table->storage), table_bytes(table) / table->segment_count, says->acc_bits);
    page_fact(page, "storage", text);
    coverage_text(says, text, sizeof text);
    page_fact(page, "codes compared", text);
    snprintf(text, sizeof text, "max %.6g LSB at code %" PRId64 " (x = %.6Lg), %.4g real; %smean abs %.6g LSB",
             says->max_err_lsb, says->max_err_at, tensor_real(&table->in, says->max_err_at),
             says->max_err_lsb * table->out.scale.value, table->weights_sha256[0] ? "weighted " : "",
             says->mean_abs_err_lsb);
    page_fact(page, "error", text);
    snprintf(text, sizeof text, "%s; %" PRId64 " codes saturate", says->monotone ? "yes" : "no", says->saturated_codes);
    page_fact(page, "monotone as f is", text);
    proof_text(says, text, sizeof text);
    page_fact(page, "proof", text);
    if (table->outside == OUTSIDE_CLAMP)
        page_fact(page, "outside the domain", "the nearest defined code");
    if (table->samples_sha256[0]) {
        page_fact(page, "samples", SAMPLES_BETWEEN);
        page_fact(page, "samples, SHA-256", table->samples_sha256);
    }
    if (table->weights_sha256[0])
        page_fact(page, "weights, SHA-256", table->weights_sha256);
    text_add(page, "</dl>\n<pre><code>pwlc fit ");
    escape_xml(page, table->spec);
    text_add(page, "</code></pre>\n");
}

/* The errors range by range, where the plot of all has no room for the knots. The range of the largest is open. */
static void add_strips(const struct report *report, struct text *page)
{
    const struct table *table = &report->table;
    const int count = table->segment_count, most = (count + STRIPS_MAX - 1) / STRIPS_MAX;
    const int each = most > STRIP_SEGMENTS ? most : STRIP_SEGMENTS;
    if (count <= PLOT_MANY_KNOTS || table->has_reduction)
        return;
    text_add(page, "<h3>Errors, %d segments at a time</h3>\n", each);
    int worst = 0;
    for (int i = 1; i < count; i++)
        if (report->segments[i].max > report->segments[worst].max)
            worst = i;
    for (int first = 0; first < count; first += each) {
        const int last = first + each < count ? first + each : count;
        double largest = 0;
        for (int i = first; i < last; i++)
            largest = fmax(largest, report->segments[i].max);
        text_add(page,
                 "<details%s><summary>segments %d to %d, from code %" PRId64 ", x = %.6Lg: max %.6g LSB</summary>\n",
                 worst >= first && worst < last ? " open" : "", first, last - 1, table->segments[first].start,
                 tensor_real(&table->in, table->segments[first].start), largest);
        struct svg svg;
        plot_strip(table, &report->curve, first, last, &svg);
        page_svg(&svg, page);
        text_add(page, "</details>\n");
    }
}

static void add_histogram(const struct curve *curve, struct text *page)
{
    struct histogram histogram;
    struct svg svg;
    double most = 0;
    histogram_make(curve->err, curve->count, &histogram);
    for (int k = 0; k < histogram.bins; k++)
        most = fmax(most, 100 * (double)histogram.counts[k] / (double)histogram.total);

    struct svg_panel panel = {.width = WIDTH,
                              .height = HISTOGRAM_HEIGHT,
                              .x = {.label = "error, output LSB"},
                              .y = {.max = most * 1.06, .label = "codes, %"}};
    svg_begin(&svg, WIDTH, HISTOGRAM_HEIGHT, "Histogram of errors");
    svg_axis_around(&panel.x, (double)histogram.first * histogram.width,
                    (double)(histogram.first + histogram.bins) * histogram.width);
    svg_panel_begin(&svg, &panel);
    for (int k = 0; k < histogram.bins; k++) {
        const double left = (double)(histogram.first + k) * histogram.width, gap = 0.06 * histogram.width;
        svg_box(&panel, left + gap, left + histogram.width - gap, 0,
                100 * (double)histogram.counts[k] / (double)histogram.total, SVG_PURPLE);
    }
    svg_vertical(&panel, 0, SVG_TEXT, SVG_LINE);
    svg_panel_end(&panel);
    svg_end(&svg);
    text_add(page, "<h3>Error histogram</h3>\n<p class=\"soft\">Share of %s in bins of %.6g LSB.</p>\n",
             curve->exhaustive ? "all codes" : "evenly spaced codes", histogram.width);
    page_svg(&svg, page);
}

static void add_table_row(const struct table *table, const struct table *own, const char *name, struct text *page)
{
    const struct certificate *says = &table->certificate, *ours = &own->certificate;
    text_add(page,
             "<tr%s><td class=\"text\">%s</td><td class=\"text\">%s, %s</td><td>%d</td><td>%d</td><td>%.6g</td>"
             "<td>%.6g</td><td>%.4g %%</td>",
             table == own ? " class=\"own\"" : "", name, form_name(table->form), rounding_name(table->rounding),
             table->segment_count, table_bytes(table), says->max_err_lsb, says->rms_err_lsb,
             100 * says->correctly_rounded);
    if (table == own)
        text_add(page, "<td>1</td><td>1</td></tr>\n");
    else if (ours->max_err_lsb > 0 && ours->rms_err_lsb > 0)
        text_add(page, "<td>%.3g</td><td>%.3g</td></tr>\n", says->max_err_lsb / ours->max_err_lsb,
                 says->rms_err_lsb / ours->rms_err_lsb);
    else
        text_add(page, "<td>-</td><td>-</td></tr>\n");
}

static void add_rivals(const struct report *report, struct text *page)
{
    static const char *const titles[] = {"<method",    "<form",    "segments",          "bytes",
                                         "max, LSB",   "RMS, LSB", "correctly rounded", "max, ratio",
                                         "RMS, ratio", NULL};
    char name[48];
    text_add(page,
             "<h3>The same types by other methods</h3>\n<p class=\"soft\">uniform and document have as many "
             "segments as this table, lut one for each code. A ratio above 1 is an error larger than this "
             "table's.%s</p>\n<div class=\"wide\">",
             report->table.weights_sha256[0] ? " RMS and correctly rounded are weighted for all." : "");
    page_titles(titles, page);
    snprintf(name, sizeof name, "this table, %s", report->table.method);
    add_table_row(&report->table, &report->table, name, page);
    for (int i = 0; i < REPORT_RIVALS; i++) {
        const struct report_rival *rival = &report->rivals[i];
        if (rival->diag.code == EXIT_DONE) {
            add_table_row(&rival->table, &report->table, report_rival_names[i], page);
            continue;
        }
        text_add(page, "<tr><td class=\"text\">%s</td><td class=\"reason\" colspan=\"8\">n/a: ", report_rival_names[i]);
        escape_xml(page, rival->diag.text);
        text_add(page, "</td></tr>\n");
    }
    text_add(page, "</tbody></table></div>\n");
}

static void add_segments(const struct report *report, struct text *page)
{
    const struct table *table = &report->table;
    const char *titles[] = {"segment", "start",    "x",        "q_b", "n_BX_total", offset_name(table->form),
                            "slope",   "max, LSB", "RMS, LSB", NULL};
    text_add(page,
             "<h3>Segments</h3>\n<p class=\"soft\">Errors are of %s of each segment%s%s.</p>\n"
             "<div class=\"wide tall\">",
             report->curve.exhaustive ? "all codes" : "evenly spaced codes",
             table->has_fold        ? ", with those that mirror it"
             : table->has_reduction ? ", in every octave; it starts at a word of the reduction"
                                    : "",
             table->weights_sha256[0] ? ", not weighted" : "");
    page_titles(titles, page);
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        const struct report_segment *errors = &report->segments[i];
        char x[32] = "-", slope[32] = "-"; /* words stand for other x in each octave */
        if (!table->has_reduction) {
            snprintf(x, sizeof x, "%.6Lg", tensor_real(&table->in, segment->start));
            snprintf(slope, sizeof slope, "%.6Lg",
                     ldexpl((long double)segment->q_b, -segment->n) * table->out.scale.value / table->in.scale.value);
        }
        text_add(page,
                 "<tr><td>%d</td><td>%" PRId64 "</td><td>%s</td><td>%" PRId64 "</td><td>%d</td><td>%" PRId64
                 "</td><td>%s</td>",
                 i, segment->start, x, segment->q_b, segment->n, segment->offset, slope);
        if (errors->codes > 0)
            text_add(page, "<td>%.6g</td><td>%.6g</td></tr>\n", errors->max, errors->rms);
        else
            text_add(page, "<td>-</td><td>-</td></tr>\n");
    }
    text_add(page, "</tbody></table></div>\n");
}

static void add_summary(const struct report *reports, int count, struct text *page)
{
    static const char *const titles[] = {"<table",   "<function", "segments",          "bytes",
                                         "max, LSB", "RMS, LSB",  "correctly rounded", NULL};
    text_add(page, "<div class=\"wide\">");
    page_titles(titles, page);
    for (int i = 0; i < count; i++) {
        const struct table *table = &reports[i].table;
        const struct certificate *says = &table->certificate;
        text_add(page, "<tr><td class=\"text\"><a href=\"#table-%d\">", i + 1);
        escape_xml(page, reports[i].label);
        text_add(page,
                 "</a></td><td class=\"text\">%s</td><td>%d</td><td>%d</td><td>%.6g</td><td>%.6g</td>"
                 "<td>%.4g %%</td></tr>\n",
                 table->function, table->segment_count, table_bytes(table), says->max_err_lsb, says->rms_err_lsb,
                 100 * says->correctly_rounded);
    }
    text_add(page, "</tbody></table></div>\n");
}

static void add_report(const struct report *report, int number, struct text *page)
{
    struct svg svg;
    text_add(page, "<section id=\"table-%d\"%s>\n<h2>", number, number == 1 ? " class=\"first\"" : "");
    escape_xml(page, report->label);
    text_add(page, "</h2>\n");
    add_tiles(&report->table, page);
    add_facts(&report->table, page);
    plot_table(&report->table, &report->curve, &svg);
    page_svg(&svg, page);
    add_strips(report, page);
    add_histogram(&report->curve, page);
    add_rivals(report, page);
    add_segments(report, page);
    text_add(page, "</section>\n");
}

void report_page(const struct report *reports, int count, struct text *page)
{
    char many[32];
    snprintf(many, sizeof many, "%d tables", count);
    page_begin(
        page, count == 1 ? reports[0].label : many, count == 1 ? "Piecewise-linear table" : "Piecewise-linear tables",
        "Errors are |q_y - t| in output LSB: t is the real function in output codes, clipped to the output range and "
        "not rounded.");
    if (count > 1)
        add_summary(reports, count, page);
    for (int i = 0; i < count; i++)
        add_report(&reports[i], i + 1, page);
    page_end(page);
}
