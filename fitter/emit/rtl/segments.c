/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A module that finds the segment of a code and computes its line:
 *
 *   x_i --> code --> segment --> fields --> product --> sum --> y_o
 *        clamp,   search     ROM         *         shift,   saturate
 *        fold or                                   + offset,
 *        reduce                                    unfold or restore
 */
#include "segments.h"

#include <stdlib.h>

#include "body.h"

/* Where registers may lie, from front to back. */
enum place { AFTER_CODE = 1, AFTER_FIELDS = 2, AFTER_PRODUCT = 4, AFTER_SUM = 8, AFTER_OUTPUT = 16 };

/* Which are taken, by the number of stages. What lies before and behind a reduced table's core is as long as the core.
 */
static const unsigned plain_places[] = {0, AFTER_OUTPUT, AFTER_FIELDS | AFTER_OUTPUT,
                                        AFTER_FIELDS | AFTER_PRODUCT | AFTER_OUTPUT,
                                        AFTER_FIELDS | AFTER_PRODUCT | AFTER_SUM | AFTER_OUTPUT};
static const unsigned reduced_places[] = {0, AFTER_OUTPUT, AFTER_FIELDS | AFTER_OUTPUT,
                                          AFTER_CODE | AFTER_PRODUCT | AFTER_OUTPUT,
                                          AFTER_CODE | AFTER_FIELDS | AFTER_SUM | AFTER_OUTPUT};

static void pass(struct body *b, enum place place)
{
    const unsigned places = (b->table->has_reduction ? reduced_places : plain_places)[b->m->stages];
    if (places & place)
        pipeline_cut(b->p);
}

/* A heading in the module. */
static void head(struct body *b, const char *what)
{
    struct text *part = pipeline_part(b->p);
    text_add(part, "%s  // %s\n", part->size > 0 ? "\n" : "", what);
}

static int add_body(struct body *b, struct field fields[FIELDS], struct diag *diag)
{
    char y[SIGNAL_TEXT];
    head(b, b->table->has_reduction ? "The word of the code, and its octave."
            : b->table->has_fold    ? "The code's distance from the zero point."
                                    : "The code.");
    add_code(b);
    if (b->table->has_reduction)
        add_word(b);
    pass(b, AFTER_CODE);
    head(b, "Its segment, and what belongs to that.");
    if (add_search(b, diag) != EXIT_DONE || add_fields(b, fields, diag) != EXIT_DONE)
        return diag->code;
    pass(b, AFTER_FIELDS);
    head(b, "The line.");
    add_product(b, fields);
    pass(b, AFTER_PRODUCT);
    add_sum(b, fields);
    pass(b, AFTER_SUM);
    head(b, "The output code.");
    if (b->table->has_fold)
        add_unfolded(b);
    if (b->table->has_reduction)
        add_restored(b);
    struct signal result = add_saturated(b);
    pass(b, AFTER_OUTPUT);
    text_add(pipeline_part(b->p), "  assign y_o = %s;\n", signal_use(b->p, &result, y));
    return EXIT_DONE;
}

int module_of_segments(struct module *m, struct diag *diag)
{
    struct body body = {.m = m, .p = &m->pipeline, .table = m->table};
    struct field fields[FIELDS] = {{0}};
    int code = lines_make(m->table, m->style != RTL_BARREL, &body.lines, diag);
    if (code == EXIT_DONE)
        code = add_body(&body, fields, diag);
    for (int i = 0; i < FIELDS; i++)
        free(fields[i].values);
    lines_free(&body.lines);
    return code;
}
