/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "statement.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fit/problem.h"
#include "fit/segments.h"
#include "function/target.h"

/* By how much targets and errors may be off, as a share of them: far more than a few units of long double, and than
 * what a rounded x adds. Bands are that much wider than they need to be, which only makes proofs harder. */
#define TARGET_SHARE (1024 * LDBL_EPSILON)
/* The same of doubles, a few roundings. */
#define DOUBLE_SHARE (4 * DBL_EPSILON)

/* Inputs of more codes have too many ranges. */
enum { SQUARES_MOST_CODES = 1 << 12 };

/* Errors beyond the range of all outputs. */
#define MOST_ERROR 0x1p34L

/* The outputs at one code that keep within an error, open where they saturate. */
static struct band band_of_code(const struct statement *statement, const struct function *function, int64_t q_x,
                                long double error)
{
    const struct table *table = statement->table;
    const struct tensor *out = &table->out;
    const struct dd target = target_clipped(out, target_unclipped(function, &table->in, out, table->outside, q_x));
    const long double t = dd_long(target);
    const long double margin = TARGET_SHARE * (fabsl(t - (long double)out->zero_point) + fabsl(t) + error + 1);
    struct band band = {.low = (int64_t)ceill(t - error - margin), .high = (int64_t)floorl(t + error + margin)};
    for (int k = 0; k < statement->fixed_count; k++)
        if (statement->fixed[k].q_x == q_x) {
            band.low = larger_integer(band.low, statement->fixed[k].q_y);
            band.high = smaller_integer(band.high, statement->fixed[k].q_y);
        }
    band.open_low = band.low <= out->qmin;
    band.open_high = band.high >= out->qmax;
    return band;
}

/* What an image asks of the value of the code that serves it. */
static struct band mirrored(struct band band, int64_t sum)
{
    return (struct band){
        .low = sum - band.high, .high = sum - band.low, .open_low = band.open_high, .open_high = band.open_low};
}

/* What both of two bands allow. An open end has no value of its own. */
static struct band both(struct band a, struct band b)
{
    struct band band = a;
    if (a.open_low || (!b.open_low && b.low > a.low)) {
        band.low = b.low;
        band.open_low = b.open_low;
    }
    if (a.open_high || (!b.open_high && b.high < a.high)) {
        band.high = b.high;
        band.open_high = b.open_high;
    }
    return band;
}

static struct band band_of_stored(const struct statement *statement, const struct function *function, int64_t code,
                                  long double error)
{
    const struct table *table = statement->table;
    const int64_t image = 2 * table->in.zero_point - code;
    const bool serves_image = table->has_fold && code > table->in.zero_point && image >= table->in.qmin;
    struct band band = {.open_low = true, .open_high = true};
    if (code <= table->in.qmax)
        band = band_of_code(statement, function, code, error);
    if (serves_image)
        band = both(band, mirrored(band_of_code(statement, function, image, error), table->fold_sum));
    /* So that no open end makes a band look empty. */
    if (band.open_low)
        band.low = band.open_high ? 0 : smaller_integer(band.high, table->out.qmin);
    if (band.open_high)
        band.high = larger_integer(band.low, table->out.qmax);
    return band;
}

static void serve(const struct statement *statement, const struct function *function, int64_t q_x, bool is_image,
                  struct stored_code *stored)
{
    const struct tensor *out = &statement->table->out;
    const struct dd target =
        target_clipped(out, target_unclipped(function, &statement->table->in, out, statement->table->outside, q_x));
    const long double t = dd_long(target);
    const long double size = fabsl(t) + fabsl(t - (long double)out->zero_point) + fabsl((long double)out->qmin) +
                             fabsl((long double)out->qmax) + 1;
    struct served_code *served = &stored->serves[stored->count++];
    *served = (struct served_code){
        .target = (double)t, .spread = (double)((TARGET_SHARE + DOUBLE_SHARE) * size), .is_image = is_image};
    for (int k = 0; k < statement->fixed_count; k++)
        if (statement->fixed[k].q_x == q_x) {
            served->is_fixed = true;
            served->q_y = statement->fixed[k].q_y;
        }
}

static struct stored_code stored_code_of(const struct statement *statement, const struct function *function,
                                         int64_t code)
{
    const struct tensor *in = &statement->table->in;
    const int64_t image = 2 * in->zero_point - code;
    struct stored_code stored = {.count = 0};
    if (code <= in->qmax)
        serve(statement, function, code, false, &stored);
    if (statement->table->has_fold && code > in->zero_point && image >= in->qmin)
        serve(statement, function, image, true, &stored);
    return stored;
}

/* The stored codes, with their bands or what they serve. */
static int make_points(struct statement *statement, const struct function *function, struct diag *diag)
{
    const struct table *table = statement->table;
    struct points *points = &statement->points;
    const int64_t first = table->has_fold ? table->in.zero_point : table->in.qmin, last = table_last_code(table);
    const int count = (int)(last - first + 1);
    const long double error = fminl(strtold(statement->error, NULL), MOST_ERROR);
    if (points_allocate(points, count, false, false, diag))
        return diag->code;
    if (statement->of_squares)
        statement->codes = malloc((size_t)count * sizeof *statement->codes);
    else
        statement->bands = malloc((size_t)count * sizeof *statement->bands);
    if (!statement->codes && !statement->bands)
        return diag_set(diag, EXIT_IO, "out of memory for %d codes", count);
    for (int k = 0; k < count; k++) {
        points->cell[k] = first + k;
        points->code[k] = (double)(first + k);
        if (statement->of_squares)
            statement->codes[k] = stored_code_of(statement, function, first + k);
        else
            statement->bands[k] = band_of_stored(statement, function, first + k, error);
    }
    points->cell[count] = last + 1;
    points->beyond = last > table->in.qmax;
    points->exhaustive = true;
    points->bands = statement->bands;
    return EXIT_DONE;
}

static int take_fixes(struct statement *statement, const struct spec *spec, struct diag *diag)
{
    for (int k = 0; k < spec->fix_count; k++) {
        struct fixed_code *fixed = &statement->fixed[statement->fixed_count++];
        if (spec_fix_codes(spec, &spec->fixes[k], &fixed->q_x, &fixed->q_y, diag))
            return diag->code;
    }
    return EXIT_DONE;
}

/* By how much errors may differ and count as the same: what a search leaves out of doubles' last digits. */
static long double resolution(const struct table *table, long double error)
{
    const long double y_max = fmaxl(fabsl((long double)table->out.qmin), fabsl((long double)table->out.qmax));
    return fmaxl(fmaxl(4e-9L, 4e-12L * error), 0x1p-49L * y_max);
}

/* Of equal segments those numbers that the certificate says are too few, or its own. */
static int equal_numbers(struct statement *statement, struct diag *diag)
{
    const struct points *points = &statement->points;
    const int own = statement->table->segment_count, codes = points_starts(points);
    const bool of_powers = codes % own == 0 && (codes / own & (codes / own - 1)) == 0;
    const bool one = statement->table->certificate.objective != OBJECTIVE_SEGMENTS;
    statement->places = PLACES_EQUAL;
    statement->equal = malloc(((size_t)own + 1) * sizeof *statement->equal);
    if (!statement->equal)
        return diag_set(diag, EXIT_IO, "out of memory for a proof");

    if (one)
        statement->equal[statement->equal_count++] = own;
    for (int count = of_powers ? points_next_of_powers(points, 0) : 1; !one && count > 0 && count < own;
         count = of_powers ? points_next_of_powers(points, count) : count + 1)
        statement->equal[statement->equal_count++] = count;
    statement->segments = statement->equal_count ? statement->equal[statement->equal_count - 1] : 0;
    return EXIT_DONE;
}

static int take_places(struct statement *statement, const struct spec *spec, struct diag *diag)
{
    const struct constraints *constraints = &spec->constraints;
    const int in_bits = spec->in.bits, halves = statement->table->has_fold ? 2 : 1;
    if (has_uniform_knots(spec))
        return equal_numbers(statement, diag);
    if (constraints->knots == KNOTS_FREE)
        return EXIT_DONE;
    const int finest = in_bits < CONSTRAINTS_MAX_INDEX_BITS ? in_bits : CONSTRAINTS_MAX_INDEX_BITS;
    const int bits = statement->table->certificate.objective != OBJECTIVE_SEGMENTS
                         ? constraints_index_bits(constraints, halves * statement->segments, in_bits)
                     : constraints->index_bits ? constraints->index_bits
                                               : finest;
    statement->places = PLACES_SHIFT;
    statement->shift = in_bits - bits;
    return points_grid_pow2(&statement->points, statement->shift, diag);
}

long double squares_slack(const struct table *table, long double squares)
{
    const long double codes = (long double)(table->in.qmax - table->in.qmin + 1);
    return fmaxl(1e-9L * squares, 0x1p-30L * codes);
}

/* Units that leave sums of squares SUM_BITS bits. */
static void take_squares(struct statement *statement, long double squares)
{
    enum { SUM_BITS = 44, MOST_UNIT = 40 };
    int bits;
    frexpl(squares, &bits);
    statement->of_squares = true;
    statement->unit = SUM_BITS - bits < MOST_UNIT ? SUM_BITS - bits : MOST_UNIT;
    statement->squares = statement->unit >= 0 ? (int64_t)floorl(ldexpl(squares, statement->unit)) : 0;
}

/* What the sum of squares of a better table is below. The bound of a certificate has six digits, rounded down. */
static long double squares_bound(const struct table *table, const struct own_errors *own)
{
    const struct certificate *says = &table->certificate;
    const long double codes = (long double)(table->in.qmax - table->in.qmin + 1),
                      bound = (long double)says->lower_bound_lsb;
    return says->optimal == 1 ? own->squares - squares_slack(table, own->squares) / 2
                              : bound * bound * codes * (1 - 1e-6L);
}

/* The number of segments, and the error or the squares. */
static void take_limits(struct statement *statement, const struct spec *spec, const struct own_errors *own)
{
    const struct table *table = statement->table;
    const struct certificate *says = &table->certificate;
    if (says->objective == OBJECTIVE_SEGMENTS) {
        char text[NUMBER_TEXT_SIZE];
        number_format(spec->max_err, text);
        snprintf(statement->error, sizeof statement->error, "%s", text);
        statement->segments = table->segment_count - 1;
        return;
    }
    const long double bound = says->optimal == 1 ? own->largest : (long double)says->lower_bound_lsb;
    const bool of_squares = says->objective == OBJECTIVE_RMS;
    if (of_squares ? squares_bound(table, own) <= own->least_squares : bound <= 2 * resolution(table, bound))
        return; /* there is nothing to prove */
    if (of_squares)
        take_squares(statement, squares_bound(table, own));
    else /* The bound of a certificate has six digits, rounded down. */
        snprintf(statement->error, sizeof statement->error, "%.10Lf",
                 says->optimal == 1 ? bound - resolution(table, bound) : bound * (1 - 2e-7L));
    statement->segments = spec->segments ? spec->segments : SPEC_DEFAULT_SEGMENTS;
    if (statement->segments < table->segment_count)
        statement->segments = table->segment_count;
}

/* What claims have no proof of any table. */
static int check_kind(const struct spec *spec, const struct table *table, struct diag *diag)
{
    const char *kind = has_points(spec)                      ? "with --knots points"
                       : has_values(spec)                    ? "with --knots steps"
                       : constraints_tie(&spec->constraints) ? "with --monotone or --continuous"
                                                             : NULL;
    if (kind)
        return diag_set(diag, EXIT_REQUIREMENT, "what it claims of other tables, %s, has no proof yet", kind);
    if (table->certificate.objective != OBJECTIVE_RMS)
        return EXIT_DONE;
    if (table->weights_sha256[0])
        return diag_set(diag, EXIT_REQUIREMENT,
                        "what it claims of other tables' RMS errors, with weights, has no proof yet");
    if (table->in.qmax - table->in.qmin >= SQUARES_MOST_CODES)
        return diag_set(diag, EXIT_REQUIREMENT,
                        "what it claims of other tables' RMS errors has no proof yet of more than %d codes",
                        SQUARES_MOST_CODES);
    return EXIT_DONE;
}

int statement_make(const struct spec *spec, const struct table *table, const struct function *function,
                   const struct own_errors *own, struct statement *statement, struct diag *diag)
{
    *statement = (struct statement){.table = table};
    diag->code = EXIT_DONE;
    line_rules_init(&statement->rules, spec);
    take_limits(statement, spec, own);
    if (statement->segments == 0 || check_kind(spec, table, diag))
        return diag->code;
    if (take_fixes(statement, spec, diag) || make_points(statement, function, diag) ||
        take_places(statement, spec, diag))
        return diag->code;
    return EXIT_DONE;
}

void statement_free(struct statement *statement)
{
    points_free(&statement->points);
    free(statement->bands);
    free(statement->codes);
    free(statement->equal);
}
