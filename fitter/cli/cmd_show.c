/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/color.h"
#include "base/escape.h"
#include "base/integers.h"
#include "command.h"
#include "emit/rtl/rtl.h"
#include "function/samples.h"
#include "io/columns.h"
#include "measure/claim.h"
#include "network.h"
#include "network/network.h"
#include "operator/operator.h"
#include "row_operator.h"
#include "table/reduction.h"
#include "table/size.h"
#include "table/table.h"

static const struct option_info options[] = {
    {"--format", "text|json", "for people (default), or a JSON list of the same"},
    {NULL, NULL, NULL},
};

/* dy/dx in real units; scales never reach the runtime, only q_b * 2^-n does. */
static double real_slope(const struct table *table, const struct segment *segment)
{
    return (double)(ldexpl((long double)segment->q_b, -segment->n) * table->out.scale.value / table->in.scale.value);
}

static void print_tensor(const char *label, const struct tensor *tensor)
{
    char text[128];
    tensor_format(tensor, text, sizeof text);
    printf("  %-12s %s, codes %" PRId64 "..%" PRId64 ", real %.9Lg..%.9Lg\n", label, text, tensor->qmin, tensor->qmax,
           tensor_real(tensor, tensor->qmin), tensor_real(tensor, tensor->qmax));
}

static void print_width(const char *name, struct field_width width)
{
    if (width.bits > 0)
        printf("%s %d%s, ", name, width.bits, width.is_signed ? " signed" : "");
}

static void print_widths(const struct table *table)
{
    const struct field_widths widths = table_field_widths(table);
    printf("  %-12s ", "fields, bits");
    print_width("start", widths.start);
    print_width("q_b", widths.q_b);
    print_width("n_BX_total", widths.n);
    print_width(offset_name(table->form), widths.offset);
    print_width("output", widths.value);
    printf("ROM %d\n", widths.rom_bits);
}

static int print_hardware(const struct table *table, struct diag *diag)
{
    struct hardware hardware;
    if (hardware_of(table, &(struct rtl_options){0}, &hardware, diag) != EXIT_DONE)
        return diag->code;
    printf("  %-12s %s", "hardware", hardware.style);
    if (hardware.words > 0)
        printf(", ROM %d x %d = %d bits: %s", hardware.words, hardware.word_bits, hardware.words * hardware.word_bits,
               hardware.fields);
    printf("\n");
    return EXIT_DONE;
}

static int print_head(const char *path, const struct table *table, struct diag *diag)
{
    escape_print(path);
    printf("\n  %-12s %s\n", "spec", table->spec);
    printf("  %-12s %s", "function", table->function);
    for (int i = 0; i < table->parameter_count; i++)
        printf(", %s=%.9g", table->parameters[i].name, table->parameters[i].value);
    if (table->expression)
        printf("\n  %-12s %s", "expression", table->expression);
    printf("\n  %-12s %s\n", "method", table->method);
    print_tensor("in", &table->in);
    print_tensor("out", &table->out);
    printf("  %-12s %s\n", "form", form_name(table->form));
    printf("  %-12s %s\n", "rounding", rounding_name(table->rounding));
    printf("  %-12s %s: start and q_b %d bits, %s %d, accumulator %d\n", "case", storage_name(table->storage),
           storage_bits(table->storage), offset_name(table->form), offset_bits(table->storage, table->form),
           accumulator_bits(table->storage));
    const int each = table_bytes(table) / table->segment_count;
    printf("  %-12s %d of %d byte%s: %d bytes%s\n", "segments", table->segment_count, each, each == 1 ? "" : "s",
           table_bytes(table), table_is_full(table) ? ", an output for each code" : "");
    print_widths(table);
    if (print_hardware(table, diag) != EXIT_DONE)
        return diag->code;
    if (table->has_fold)
        printf("  %-12s sum %" PRId64 ", codes below %" PRId64 " are mirrored\n", "fold", table->fold_sum,
               table->in.zero_point);
    if (table->has_reduction) {
        char text[160];
        reduction_text(&table->reduction, text, sizeof text);
        printf("  %-12s %s; the segments are of %d-bit words\n", "reduction", text, storage_bits(table->storage));
    }
    if (table->outside == OUTSIDE_CLAMP)
        printf("  %-12s clamp\n", "outside");
    if (table->samples_sha256[0])
        printf("  %-12s %s, " SAMPLES_BETWEEN "\n", "samples", table->samples_sha256);
    if (table->weights_sha256[0])
        printf("  %-12s %s\n", "weights", table->weights_sha256);
    return EXIT_DONE;
}

/* The fewest equal segments are those of a width that is a power of two, where there are such. */
static bool is_of_powers(const struct table *table)
{
    const struct segment *s = table->segments;
    const int64_t width = table->segment_count > 1 ? s[1].start - s[0].start : 0;
    bool is_equal = table->certificate.objective == OBJECTIVE_SEGMENTS && strstr(table->spec, " --knots uniform") &&
                    width > 0 && (width & (width - 1)) == 0;
    for (int i = 1; i < table->segment_count && is_equal; i++)
        is_equal = s[i].start - s[i - 1].start == width;
    return is_equal;
}

static void print_certificate(const struct table *table)
{
    const struct certificate *c = &table->certificate;
    const bool weighted = table->weights_sha256[0] != '\0';
    if (table->standing == CERTIFICATE_ABSENT) {
        printf("  %-12s none, `pwlc certify` measures the table\n", "certificate");
        return;
    }
    printf("  %-12s %" PRId64 " codes, %s\n", "checked", c->checked, c->exhaustive ? "every one" : "not every one");
    printf("  %-12s max %.6g at code %" PRId64 ", %srms %.6g, mean %.6g LSB\n", "error", c->max_err_lsb, c->max_err_at,
           weighted ? "weighted " : "", c->rms_err_lsb, c->mean_abs_err_lsb);
    printf("  %-12s %.6g %% %scorrectly rounded, %" PRId64 " saturated, %smonotone\n", "codes",
           100 * c->correctly_rounded, weighted ? "by weight " : "", c->saturated_codes, c->monotone ? "" : "not ");
    printf("  %-12s %d bits suffice\n", "accumulator", c->acc_bits);
    printf("  %-12s %s%s%s", "objective", objective_name(c->objective), is_of_powers(table) ? " of 2^k codes" : "",
           c->has_second_objective ? ", then rms" : "");
    if (c->has_lower_bound)
        printf(", nothing below %.6g LSB is reachable", c->lower_bound_lsb);
    if (c->has_lower_bound && c->lower_bound_lsb > 0 && c->optimal != 1)
        printf(", %.4g times that is reached", objective_error(c) / c->lower_bound_lsb);
    if (c->has_bound)
        printf(", proven at most %.6g LSB", c->bound_lsb);
    if (c->optimal >= 0)
        printf(", %s%soptimal%s", c->optimal ? color_on(stdout, COLOR_GOOD) : "", c->optimal ? "" : "not known to be ",
               c->optimal ? color_off(stdout) : "");
    printf("\n");
    if (c->proof[0])
        printf("  %-12s %s\n", "proof", c->proof);
}

static bool print_segments(const struct table *table)
{
    /* Words have no x, and the slope in x is another in each octave. */
    const bool real = !table->has_reduction;
    const char *titles[12];
    char offset_title[16];
    int count = 0;
    snprintf(offset_title, sizeof offset_title, ">%s", offset_name(table->form));
    titles[count++] = ">segment";
    titles[count++] = ">start";
    if (real)
        titles[count++] = ">x";
    titles[count++] = ">q_b";
    titles[count++] = ">n_BX_total";
    titles[count++] = offset_title;
    if (real)
        titles[count++] = ">slope";
    if (table->has_unfused) {
        titles[count++] = ">q_c";
        titles[count++] = ">n_bx";
        titles[count++] = ">n_yb";
        titles[count++] = ">n_yc";
    }
    titles[count] = NULL;

    struct columns columns;
    columns_start(&columns, titles);
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        columns_cell(&columns, "%d", i);
        columns_cell(&columns, "%" PRId64, segment->start);
        if (real)
            columns_cell(&columns, "%.9Lg", tensor_real(&table->in, segment->start));
        columns_cell(&columns, "%" PRId64, segment->q_b);
        columns_cell(&columns, "%d", segment->n);
        columns_cell(&columns, "%" PRId64, segment->offset);
        if (real)
            columns_cell(&columns, "%.9g", real_slope(table, segment));
        if (!table->has_unfused)
            continue;
        columns_cell(&columns, "%" PRId64, segment->unfused.q_c);
        columns_cell(&columns, "%d", segment->unfused.n_bx);
        columns_cell(&columns, "%d", segment->unfused.n_yb);
        columns_cell(&columns, "%d", segment->unfused.n_yc);
    }
    return columns_print(&columns);
}

static int show_text(const char *path, const struct table *table, struct diag *diag)
{
    if (print_head(path, table, diag) != EXIT_DONE)
        return diag->code;
    print_certificate(table);
    printf("\n");
    return print_segments(table) ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory");
}

static json_t *tensor_json(const struct tensor *tensor)
{
    char text[128];
    tensor_format(tensor, text, sizeof text);
    return json_pack("{s:s, s:I, s:I, s:f, s:f}", "type", text, "qmin", (json_int_t)tensor->qmin, "qmax",
                     (json_int_t)tensor->qmax, "real_min", (double)tensor_real(tensor, tensor->qmin), "real_max",
                     (double)tensor_real(tensor, tensor->qmax));
}

static json_t *widths_json(const struct table *table)
{
    const struct field_widths widths = table_field_widths(table);
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "start", widths.start.bits, "q_b", widths.q_b.bits,
                     "n_BX_total", widths.n.bits, offset_name(table->form), widths.offset.bits, "output",
                     widths.value.bits, "rom", widths.rom_bits, "zp_x",
                     signed_bits(table->in.zero_point, table->in.zero_point));
}

static json_t *hardware_json(const struct table *table, struct diag *diag)
{
    struct hardware hardware;
    if (hardware_of(table, &(struct rtl_options){0}, &hardware, diag) != EXIT_DONE)
        return NULL;
    return json_pack("{s:s, s:i, s:i, s:i, s:s}", "style", hardware.style, "words", hardware.words, "word_bits",
                     hardware.word_bits, "rom_bits", hardware.words * hardware.word_bits, "fields", hardware.fields);
}

static json_t *segments_json(const struct table *table)
{
    json_t *array = json_array();
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *segment = &table->segments[i];
        json_t *object = json_pack("{s:I}", "start", (json_int_t)segment->start);
        if (!table->has_reduction)
            json_object_set_new(object, "x", json_real((double)tensor_real(&table->in, segment->start)));
        json_object_set_new(object, "q_b", json_integer(segment->q_b));
        json_object_set_new(object, "n_BX_total", json_integer(segment->n));
        json_object_set_new(object, offset_name(table->form), json_integer(segment->offset));
        if (!table->has_reduction)
            json_object_set_new(object, "slope", json_real(real_slope(table, segment)));
        if (table->has_unfused) {
            const struct unfused *u = &segment->unfused;
            json_object_set_new(object, "unfused",
                                json_pack("{s:I, s:i, s:i, s:i}", "q_c", (json_int_t)u->q_c, "n_bx", u->n_bx, "n_yb",
                                          u->n_yb, "n_yc", u->n_yc));
            if (u->has_z_bx)
                json_object_set_new(json_object_get(object, "unfused"), "z_bx", json_integer(u->z_bx));
        }
        json_array_append_new(array, object);
    }
    return array;
}

/* The certificate in the text of a file, which it frees. */
static json_t *certificate_of_text(char *text, struct diag *diag)
{
    json_t *root = json_loads(text, 0, NULL);
    json_t *certificate = json_incref(json_object_get(root, "certificate"));
    json_decref(root);
    free(text);
    if (!certificate)
        diag_set(diag, EXIT_IO, "out of memory");
    return certificate;
}

/* The certificate as the table file words it, null without one. */
static json_t *certificate_json(const struct table *table, struct diag *diag)
{
    char *text;
    if (table->standing == CERTIFICATE_ABSENT)
        return json_null();
    return table_to_json(table, &text, diag) == EXIT_DONE ? certificate_of_text(text, diag) : NULL;
}

static json_t *table_json(const char *path, const struct table *table, struct diag *diag)
{
    json_t *certificate = certificate_json(table, diag), *hardware = certificate ? hardware_json(table, diag) : NULL;
    if (!hardware) {
        json_decref(certificate);
        return NULL;
    }
    json_t *parameters = json_object();
    for (int i = 0; i < table->parameter_count; i++)
        json_object_set_new(parameters, table->parameters[i].name, json_real(table->parameters[i].value));
    json_t *root = json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:s, s:s}", "file", path, "spec", table->spec,
                             "function", table->function, "parameters", parameters, "method", table->method, "in",
                             tensor_json(&table->in), "out", tensor_json(&table->out), "form", form_name(table->form),
                             "rounding", rounding_name(table->rounding), "case", storage_name(table->storage));
    if (!root) {
        json_decref(certificate);
        json_decref(hardware);
        diag_set(diag, EXIT_USAGE, "the file name is not UTF-8, which JSON needs");
        return NULL;
    }
    json_object_set_new(root, "packed_bytes", json_integer(table_bytes(table)));
    json_object_set_new(root, "field_bits", widths_json(table));
    json_object_set_new(root, "hardware", hardware);
    if (table->has_fold)
        json_object_set_new(root, "fold_sum", json_integer(table->fold_sum));
    if (table->has_reduction) {
        char text[160];
        reduction_text(&table->reduction, text, sizeof text);
        json_object_set_new(root, "reduction", json_string(text));
    }
    json_object_set_new(root, "outside", json_string(table->outside == OUTSIDE_CLAMP ? "clamp" : "error"));
    if (table->expression)
        json_object_set_new(root, "expression", json_string(table->expression));
    if (table->samples_sha256[0])
        json_object_set_new(root, "samples_sha256", json_string(table->samples_sha256));
    if (table->weights_sha256[0])
        json_object_set_new(root, "weights_sha256", json_string(table->weights_sha256));
    json_object_set_new(root, "segments", segments_json(table));
    json_object_set_new(root, "certificate", certificate);
    return root;
}

/* The certificate of a row operator as its file words it, null without one of its own. */
static json_t *operator_certificate_json(const struct row_operator *of, struct diag *diag)
{
    char *text;
    if (of->standing != CERTIFICATE_OWN)
        return json_null();
    return operator_to_json(of, &text, diag) == EXIT_DONE ? certificate_of_text(text, diag) : NULL;
}

/* What only some kinds have. */
static void set_operator_fields(json_t *root, const struct row_operator *of)
{
    if (!operator_is_element(of->kind)) {
        json_object_set_new(root, "rows", json_integer(of->length));
        json_object_set_new(root, "core_segments", json_integer(of->core.segment_count));
        json_object_set_new(root, "core_bytes", json_integer(table_bytes(&of->core)));
    }
    if (operator_is_norm(of->kind))
        json_object_set_new(root, "eps", json_real(of->eps));
    if (operator_has_in_b(of->kind))
        json_object_set_new(root, "in_b", tensor_json(&of->in_b));
}

static int list_operator(const char *path, json_t *list, struct diag *diag)
{
    struct row_operator of;
    if (row_operator_read(path, &of, diag))
        return diag->code;
    json_t *const certificate = operator_certificate_json(&of, diag);
    json_t *const root =
        certificate ? json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:o}", "file", path, "spec", of.spec, "operator",
                                operator_name(of.kind), "in", tensor_json(&of.in), "out", tensor_json(&of.out),
                                "packed_bytes", (json_int_t)operator_bytes(&of), "certificate", certificate)
                    : NULL;
    if (!root && certificate)
        diag_set(diag, EXIT_USAGE, "%s: the file name is not UTF-8, which JSON needs", path);
    if (root)
        set_operator_fields(root, &of);
    if (root)
        json_array_append_new(list, root);
    operator_free(&of);
    return diag->code;
}

static int list_network(const char *path, json_t *list, struct diag *diag)
{
    json_t *const root = network_json(path, diag);
    if (root)
        json_array_append_new(list, root);
    return diag->code;
}

static int show_file(const char *path, bool first, json_t *list, struct diag *diag)
{
    struct table table = {0};
    const bool is_network = network_recognise(path);
    if (is_network || operator_recognise(path)) {
        if (!first && !list)
            printf("\n");
        if (is_network)
            return list ? list_network(path, list, diag) : network_show(path, diag);
        return list ? list_operator(path, list, diag) : row_operator_show(path, diag);
    }
    int code = table_read(path, &table, diag);
    if (code == EXIT_DONE && claim_check(&table, NULL, NULL, diag))
        code = diag_prefix(diag, path);
    if (code == EXIT_DONE && !list) {
        if (!first)
            printf("\n");
        code = show_text(path, &table, diag);
    } else if (code == EXIT_DONE) {
        json_t *object = table_json(path, &table, diag);
        if (object)
            json_array_append_new(list, object);
        else
            code = diag_prefix(diag, path);
    }
    table_free(&table);
    return code;
}

static int show_files(const char *const *paths, int count, bool json, struct diag *diag)
{
    json_t *list = json ? json_array() : NULL;
    int code = EXIT_DONE;
    for (int i = 0; i < count && code == EXIT_DONE; i++)
        code = show_file(paths[i], i == 0, list, diag);
    if (code == EXIT_DONE && json) {
        char *text = json_dumps(list, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        if (text)
            printf("%s\n", text);
        else
            code = diag_set(diag, EXIT_IO, "out of memory");
        free(text);
    }
    json_decref(list);
    return code;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_show, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value, **paths = malloc((size_t)argc * sizeof *paths);
    bool json = false;
    int next, count = 0, code = EXIT_DONE;
    if (!paths)
        return diag_set(diag, EXIT_IO, "out of memory");
    while (code == EXIT_DONE && (next = argument_next(&walk, &option, &value, diag)) != 0) {
        if (next < 0)
            code = diag->code;
        else if (!option)
            paths[count++] = value;
        else
            json = strcmp(value, "json") == 0;
    }
    if (code == EXIT_DONE && count == 0)
        code = diag_set(diag, EXIT_USAGE, "a table is needed: pwlc show TABLE.json...");
    if (code == EXIT_DONE)
        code = show_files(paths, count, json, diag);
    free(paths);
    return code;
}

const struct command command_show = {
    .name = "show",
    .synopsis = "pwlc show TABLE.json... [--format text|json]",
    .summary = "Show a table: its types, size, certificate and segments in codes and in real units; or a row operator "
               "or a network.",
    .example = "pwlc fit tanh --in s8:2^-5 --out s8:2^-7 --method uniform -o tanh.json\n"
               "pwlc show tanh.json",
    .options = options,
    .run = run,
};
