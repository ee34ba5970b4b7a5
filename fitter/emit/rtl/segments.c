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

/* The longest search, what lies before it, and what comes behind it. */
#define PARTS (SEARCH_PARTS + 5)

/* The parts in order, and what each takes. */
static int delays_of(const struct body *b, int delays[PARTS])
{
    const struct table *table = b->table;
    int parts = 0;
    delays[parts++] = table->has_reduction ? DELAY_NORMALISE : table->has_fold ? DELAY_SUM : 0;
    parts += search_delays(b, &delays[parts]);
    delays[parts++] = b->lines.count > 1 ? DELAY_LOOKUP : 0;
    delays[parts++] = DELAY_PRODUCT;
    delays[parts++] = DELAY_SUM;
    delays[parts++] = table->has_reduction ? DELAY_NORMALISE
                      : table->has_fold    ? DELAY_SUM + DELAY_SUM / 2
                                           : DELAY_SUM / 2;
    return parts;
}

/* What registers behind some of the parts leave: the longest way between two, and where two choices have the same, the
 * squares of all. */
struct length {
    int longest;
    long squares;
};

static bool is_shorter(struct length a, struct length b)
{
    return a.longest < b.longest || (a.longest == b.longest && a.squares < b.squares);
}

static struct length joined(struct length front, int way)
{
    return (struct length){front.longest > way ? front.longest : way, front.squares + (long)way * way};
}

/*
 * Where registers lie: the last behind all parts, the others so that the longest way between two is as short as can be.
 * best[s][k]: the first k parts in s + 1 ways; from[s][k] parts are before the last of them.
 */
static void place_cuts(const int delays[], int parts, int stages, bool cuts[PARTS])
{
    struct length best[PARTS][PARTS + 1];
    int from[PARTS][PARTS + 1];
    const int ways = stages < parts ? stages : parts;
    for (int k = 0; k < parts; k++)
        cuts[k] = false;
    if (ways == 0)
        return;
    for (int s = 0; s < ways; s++)
        for (int k = s + 1; k <= parts; k++) {
            int way = 0;
            for (int i = k - 1; i >= s; i--) {
                way += delays[i];
                if (s == 0 && i > 0)
                    continue;
                const struct length length = joined(s == 0 ? (struct length){0, 0} : best[s - 1][i], way);
                if (i == k - 1 || (s == 0 && i == 0) || is_shorter(length, best[s][k])) {
                    best[s][k] = length;
                    from[s][k] = i;
                }
            }
        }
    for (int s = ways - 1, k = parts; s >= 0; k = from[s][k], s--)
        cuts[k - 1] = true;
}

void add_end(struct body *b)
{
    if (*b->cuts++)
        pipeline_cut(b->p);
}

/* A heading in the module. */
static void head(struct body *b, const char *what)
{
    struct text *part = pipeline_part(b->p);
    text_add(part, "%s  // %s\n", part->size > 0 ? "\n" : "", what);
}

/* The longest way between two registers. */
static int longest_way(const int delays[], const bool cuts[], int parts)
{
    int longest = 0, way = 0;
    for (int k = 0; k < parts; k++) {
        way += delays[k];
        longest = way > longest ? way : longest;
        way = cuts[k] ? 0 : way;
    }
    return longest;
}

/* What was written; parts is their number. */
static struct datapath datapath_of(const struct body *b, const struct field fields[FIELDS], const int delays[],
                                   const bool cuts[], int parts)
{
    const struct table *t = b->table;
    const int words = parts - 4; /* behind it the product, the sum, what follows */
    struct datapath path = {.x_bits = b->x.bits,
                            .slope_bits = multiplied_bits(b, fields),
                            .longest = longest_way(delays, cuts, parts),
                            .addressed = cuts[words - 1] || cuts[words]};
    search_sizes(b, &path.compared, &path.looked_up);
    path.added = b->sum.bits + (t->form == PWL_BIASED ? b->product.bits : 0) +
                 (t->form != PWL_ANCHORED && b->lines.zero != 0 ? b->x.bits : 0);
    path.folded = t->has_fold ? b->code.bits + b->sum.bits : 0;
    path.saturated = b->sum.high > t->out.qmax || b->sum.low < t->out.qmin ? t->out.bits : 0;
    return path;
}

static int add_body(struct body *b, struct field fields[FIELDS], struct diag *diag)
{
    char y[SIGNAL_TEXT];
    int delays[PARTS];
    bool cuts[PARTS];
    head(b, b->table->has_reduction ? "The word of the code, and its octave."
            : b->table->has_fold    ? "The code's distance from the zero point."
                                    : "The code.");
    add_code(b);
    if (b->table->has_reduction)
        add_word(b);
    const int parts = delays_of(b, delays); /* what the search is, the code's bits decide */
    place_cuts(delays, parts, b->m->stages, cuts);
    b->cuts = cuts;
    add_end(b);
    head(b, "Its segment, and what belongs to that.");
    if (add_search(b, diag) != EXIT_DONE)
        return diag->code;
    add_end(b);
    if (add_fields(b, fields, diag) != EXIT_DONE)
        return diag->code;
    add_end(b);
    head(b, "The line.");
    add_product(b, fields);
    add_end(b);
    add_sum(b, fields);
    add_end(b);
    head(b, "The output code.");
    if (b->table->has_fold)
        add_unfolded(b);
    if (b->table->has_reduction)
        add_restored(b);
    b->m->datapath = datapath_of(b, fields, delays, cuts, parts);
    struct signal result = add_saturated(b);
    while (b->p->stages < b->m->stages) /* the last, and what no part had use for */
        pipeline_cut(b->p);
    text_add(pipeline_part(b->p), b->table->out.is_signed ? "  assign y_o = %s;\n" : "  assign y_o = {%s};\n",
             signal_use(b->p, &result, y));
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
