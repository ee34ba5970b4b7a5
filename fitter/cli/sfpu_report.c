/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sfpu_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/columns.h"
#include "sfpu/shipped.h"

static const char *const titles[] = {"table",    "layout", "function",  ">max ULP", ">at x", ">mean ULP",
                                     ">max abs", ">at x",  ">mean abs", "monotone", NULL};

static void add_error(struct columns *columns, const struct sfpu_error *error)
{
    columns_cell(columns, "%.6g", error->largest);
    columns_cell(columns, "%.6g", sfpu_real(error->at));
    columns_cell(columns, "%.6g", error->mean);
}

static void add_row(struct columns *columns, const char *name, const char *function, const struct sfpu_table *table,
                    const struct sfpu_errors *errors)
{
    columns_text(columns, name);
    columns_text(columns, table->kernel.layout->name);
    columns_text(columns, function);
    add_error(columns, &errors->ulp);
    add_error(columns, &errors->abs);
    columns_text(columns, errors->monotone ? "yes" : "no");
}

static int finish(struct columns *columns, struct diag *diag)
{
    return columns_print(columns) ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for the report");
}

static int print_segments(const struct sfpu_document *of, const struct sfpu_errors *errors, struct diag *diag)
{
    static const char *const heads[] = {">from |x|",     ">slope",         ">offset", "slope's code",
                                        "offset's code", ">largest error", NULL};
    const struct sfpu_layout *const layout = of->table.kernel.layout;
    struct columns columns;
    columns_start(&columns, heads);
    for (int k = 0; k < layout->segments; k++) {
        const struct sfpu_pair pair = of->table.pairs[k];
        columns_cell(&columns, "%g", sfpu_real(layout->start[k]));
        columns_cell(&columns, "%.8g", sfpu_real_of_bits(sfpu_coefficient(layout, pair.a)) + 0.0);
        columns_cell(&columns, "%.8g", sfpu_real_of_bits(sfpu_coefficient(layout, pair.b)) + 0.0);
        columns_cell(&columns, "0x%0*x", layout->bits / 4, pair.a);
        columns_cell(&columns, "0x%0*x", layout->bits / 4, pair.b);
        columns_cell(&columns, "%.6g %s", errors->largest[k], of->demand.measure == SFPU_ULP ? "ULP" : "abs");
    }
    return finish(&columns, diag);
}

static void print_kernel(const struct sfpu_document *of)
{
    const struct sfpu_kernel *const kernel = &of->table.kernel;
    char add[SFPU_ADD_SIZE];
    uint32_t words[SFPU_MAX_WORDS] = {0};
    sfpu_add_text(kernel, add);
    sfpu_words(&of->table, words);
    printf("%s by %s on %s, %s%s: sign %s, add %s, store %s\n", of->function.info->name, kernel->layout->instruction,
           sfpu_chips[kernel->chip], kernel->layout->modifier, kernel->sign == SFPU_RETAIN ? " | SGN_RETAIN" : "",
           sfpu_signs[kernel->sign], add, sfpu_stores[kernel->store]);
    for (int k = 0; k < kernel->layout->words; k++)
        printf("%sLREG%d 0x%08x", k ? ", " : "", sfpu_register(k), words[k]);
    printf("\n\n");
}

static void print_claims(const struct sfpu_document *of)
{
    if (of->standing == CERTIFICATE_OTHER)
        printf("The certificate is not of this table: the file was edited.\n");
    if (of->standing != CERTIFICATE_OWN || !of->is_optimal)
        return;
    printf("No table of this kernel has a smaller largest %s error%s.\n",
           of->demand.measure == SFPU_ULP ? "ULP" : "absolute",
           of->is_least_mean ? ", and none that attains it has a smaller mean" : "");
}

/* The document's own row, and one of each shipped table of its function. */
static int print_errors(const struct sfpu_document *of, const struct sfpu_target *targets,
                        const struct sfpu_errors *errors, struct diag *diag)
{
    const struct sfpu_kernel *const kernel = &of->table.kernel;
    const char *const function = of->function.info->name;
    struct columns columns;
    columns_start(&columns, titles);
    add_row(&columns, "this", function, &of->table, errors);
    for (const struct sfpu_shipped *shipped = sfpu_shipped; shipped->name; shipped++) {
        struct sfpu_table table;
        struct sfpu_errors others;
        if (strcmp(shipped->function, function) != 0)
            continue;
        sfpu_shipped_table(shipped, kernel->chip, kernel->store, &table);
        sfpu_measure_table(&table, targets, of->demand.measure, &others);
        add_row(&columns, shipped->name, function, &table, &others);
    }
    return finish(&columns, diag);
}

int sfpu_report_print(const struct sfpu_document *of, struct diag *diag)
{
    struct sfpu_errors errors;
    struct sfpu_target *const targets = malloc(SFPU_CODES * sizeof *targets);
    if (!targets)
        return diag_set(diag, EXIT_IO, "out of memory for the targets");
    if (sfpu_document_targets(of, targets, diag) == EXIT_DONE) {
        sfpu_measure_table(&of->table, targets, of->demand.measure, &errors);
        print_kernel(of);
        if (print_segments(of, &errors, diag) == EXIT_DONE) {
            printf("\n");
            print_errors(of, targets, &errors, diag);
        }
        print_claims(of);
    }
    free(targets);
    return diag->code;
}

int sfpu_shipped_print(struct diag *diag)
{
    struct columns columns;
    columns_start(&columns, titles);
    for (const struct sfpu_shipped *shipped = sfpu_shipped; shipped->name; shipped++) {
        struct sfpu_document of = {.demand = {.low = -INFINITY, .high = INFINITY}};
        sfpu_shipped_table(shipped, SFPU_WORMHOLE, SFPU_TRUNCATE, &of.table);
        if (function_init(&of.function, shipped->function, diag) || sfpu_document_certify(&of, diag))
            return diag->code;
        add_row(&columns, shipped->name, shipped->function, &of.table, &of.errors);
    }
    return finish(&columns, diag);
}
