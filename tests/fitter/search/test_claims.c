/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What certificates claim, of tiny specs with every method and constraint, against a search of all tables that shares no
 * code with the fitter: where a table is said to be optimal no other is better, and no bound is above the least error.
 * `test_claims FIRST LAST` checks the specs of these numbers alone. */
#include "../reference/fixture.h"
#include "../reference/tiny_spec.h"

enum { SPECS = 20000 };

/* Targets differ in their last bits, and the search for the largest error ends when one smaller by 1e-9 is out of
 * reach. */
static double hair(double error)
{
    return 1.01e-9 + 1e-9 * error;
}

struct counts {
    int drawn, unusable, without_table, claimed, bounded, of_form[3][4], one_shift, terms, knots, monotone, continuous,
        fixed, weighted, folded, fewest;
};

static struct counts counts;

static bool keeps_ties(const struct every_spec *every, const struct reference_table *reference)
{
    for (int k = 1; k < every->count; k++) {
        const int64_t q = every->first_x + k;
        const struct ref_table *table = &reference->table;
        if (every->monotone && every->output[k].exists &&
            every->output[k].direction * (ref_eval(table, q).q_y - ref_eval(table, q - 1).q_y) < 0)
            return false;
        if (every->monotone && every->mirror[k].exists) {
            const int64_t mirror = every->first_x - k;
            if (every->mirror[k - 1].direction * (ref_eval(table, mirror + 1).q_y - ref_eval(table, mirror).q_y) < 0)
                return false;
        }
    }
    for (int m = 1; m < reference->table.count && every->is_continuous; m++) {
        struct ref_table before = reference->table; /* whose last segment goes on */
        const int64_t at = before.start[m], mirror = 2 * before.zp_x - at;
        before.count = m;
        if (llabs(ref_eval(&reference->table, at).q_y - ref_eval(&before, at).q_y) > every->max_step)
            return false;
        if (before.fold && mirror >= before.qmin_x &&
            llabs(ref_eval(&reference->table, mirror).q_y - ref_eval(&before, mirror).q_y) > every->max_step)
            return false;
    }
    return true;
}

static bool keeps_to_fields(const struct every_spec *every, const struct table *table)
{
    for (int m = 0; m < table->segment_count; m++) {
        const struct segment *segment = &table->segments[m];
        const uint64_t q = (uint64_t)llabs(segment->q_b);
        if (!every->may_start[segment->start - every->first_x] || (every->one_shift && segment->n != table->segments[0].n) ||
            (every->slope_terms && __builtin_popcountll(q ^ 3 * q) > every->slope_terms) ||
            llabs(segment->q_b) >= 1 << (every->slope_bits - 1))
            return false;
    }
    return true;
}

struct error {
    double max, squares; /* weighted */
};

/* By the definitions alone. */
static struct error error_of(const struct every_spec *every, const struct reference_table *reference, const char *text)
{
    struct error error = {0, 0};
    for (int k = 0; k < 2 * every->count; k++) {
        const struct every_output *output = k < every->count ? &every->output[k] : &every->mirror[k - every->count];
        const int64_t q = every->first_x + (k < every->count ? k : every->count - k);
        if (!output->exists)
            continue;
        const struct ref_result result = ref_eval(&reference->table, q);
        ck_assert_msg(result.leaves == REF_FITS, "%s: code %" PRId64 " leaves the accumulator", text, q);
        ck_assert_msg(!output->is_fixed || result.q_y == output->fixed, "%s: code %" PRId64 " gives %" PRId64, text, q,
                      result.q_y);
        const double e = fabs((double)result.q_y - output->target);
        error.max = fmax(error.max, e);
        error.squares += output->weight * e * e;
    }
    return error;
}

static void describe(const struct every_found *found, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int m = 0; m < found->segments && length < size - 100; m++)
        length += (size_t)snprintf(text + length, size - length, " (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")",
                                   found->segment[m].start, found->segment[m].q_b, found->segment[m].n,
                                   found->segment[m].offset);
}

static void tally(const struct spec *spec)
{
    const struct constraints *constraints = &spec->constraints;
    counts.claimed++;
    counts.of_form[spec->form][spec->rounding]++;
    counts.one_shift += constraints->one_shift;
    counts.terms += constraints->slope_terms > 0;
    counts.knots += constraints->knots != KNOTS_FREE;
    counts.monotone += constraints->monotone;
    counts.continuous += constraints->continuous;
    counts.fixed += spec->fix_count > 0;
    counts.weighted += spec->weights != NULL;
    counts.folded += spec->fold;
}

/* The claims of a table of `error`, the largest or the sum of squares. */
static void check_claims(const struct tiny *tiny, const struct every_spec *every, const struct table *table,
                         double error)
{
    char better[800];
    const struct certificate *certificate = &table->certificate;
    double mass = 0;
    for (int k = 0; k < tiny->count; k++)
        mass += tiny->weight[k];
    if (certificate->optimal != 1 && !certificate->has_lower_bound)
        return;
    const struct every_found found = every_table(every, error + hair(error));
    describe(&found, better, sizeof better);
    ck_assert_msg(found.found, "%s: no table has an error of %.17g", tiny->text, error);
    if (certificate->optimal == 1) {
        ck_assert_msg(found.least >= error - hair(error), "%s: %.17g is said to be optimal; %.17g have%s", tiny->text,
                      error, found.least, better);
        tally(&tiny->spec);
    }
    if (certificate->has_lower_bound) {
        const double bound = certificate->lower_bound_lsb, proven = every->squares ? bound * bound * mass : bound;
        ck_assert_msg(proven <= found.least + hair(found.least), "%s: nothing below %.17g; %.17g have%s", tiny->text,
                      proven, found.least, better);
        ck_assert_msg(certificate->optimal != 1 || proven >= error - hair(error), "%s: optimal, with a bound of %.17g",
                      tiny->text, proven);
        counts.bounded++;
    }
}

/* Whether the grid of its knots is chosen with the table. */
static bool chooses_grid(const struct spec *spec)
{
    return !isnan(spec->max_err) && spec->constraints.knots == KNOTS_POW2 && !spec->constraints.index_bits;
}

/* A table of the fewest segments for an error: of one segment less none keeps to it. */
static void check_fewest(const struct tiny *tiny, const struct table *table)
{
    struct every_spec every = tiny_every(tiny, table);
    char better[800];
    every.segments = table->segment_count - 1;
    every.squares = false;
    if (every.segments == 0 || table->certificate.optimal != 1 || every.start_all)
        return;
    const struct every_found found = every_table(&every, tiny->spec.max_err - 1.01e-9);
    describe(&found, better, sizeof better);
    ck_assert_msg(!found.found, "%s: %d segments, fewer serve:%s", tiny->text, every.segments + 1, better);
    counts.fewest++;
}

/* Where none is found there is none, except by searches that are not complete. */
static void check_none(const struct tiny *tiny, const char *message)
{
    const struct spec *spec = &tiny->spec;
    const bool given = !isnan(spec->max_err);
    counts.without_table++;
    if (spec->constraints.knots == KNOTS_UNIFORM || (spec->method != METHOD_MINIMAX && spec->method != METHOD_LSQ) ||
        (spec->method == METHOD_LSQ && constraints_tie(&spec->constraints)) ||
        chooses_grid(spec) || spec->fold)
        return;
    struct every_spec every = tiny_every(tiny, NULL);
    char better[800];
    if (given)
        every.segments = every.count;
    const struct every_found found = every_table(&every, given ? spec->max_err - 1.01e-9 : 1e99);
    describe(&found, better, sizeof better);
    ck_assert_msg(!found.found, "%s: %s; %.17g have%s", tiny->text, message, found.least, better);
}

static void check_table(const struct tiny *tiny, const struct table *table)
{
    const struct spec *spec = &tiny->spec;
    const struct certificate *certificate = &table->certificate;
    struct every_spec every = tiny_every(tiny, table);
    struct reference_table reference;
    every.segments = spec->segments ? spec->segments : table->segment_count;
    every.squares = certificate->objective == OBJECTIVE_RMS;
    reference_table_init(&reference, table);
    const struct error error = error_of(&every, &reference, tiny->text);
    if (chooses_grid(spec)) {
        ck_assert_msg(error.max <= spec->max_err + 1e-9, "%s: an error of %.17g", tiny->text, error.max);
    } else if (spec->method == METHOD_LSQ || spec->method == METHOD_MINIMAX) {
        ck_assert_msg(keeps_to_fields(&every, table), "%s: a field or a start that is not allowed", tiny->text);
        ck_assert_msg(keeps_ties(&every, &reference), "%s: a step that is not allowed", tiny->text);
        ck_assert_msg(table->segment_count <= every.segments, "%s: too many segments", tiny->text);
        check_claims(tiny, &every, table, every.squares ? error.squares : error.max);
        if (!isnan(spec->max_err)) {
            ck_assert_msg(error.max <= spec->max_err + 1e-9, "%s: an error of %.17g", tiny->text, error.max);
            check_fewest(tiny, table);
        }
    } else if (spec->method == METHOD_LUT) {
        for (int k = 0; k < every.count; k++) {
            const double q_y = (double)ref_eval(&reference.table, every.first_x + k).q_y;
            ck_assert_msg(fabs(q_y - every.output[k].target) <= 0.5 + 1e-9, "%s: not the nearest code", tiny->text);
        }
        ck_assert_msg(certificate->optimal == 1, "%s: nearest codes are optimal", tiny->text);
    } else {
        ck_assert_msg(certificate->optimal == -1 && !certificate->has_lower_bound, "%s: claims something", tiny->text);
    }
    free(reference.memory);
}

static void check_number(int number)
{
    struct tiny tiny;
    struct table table;
    struct diag diag;
    tiny_draw(&tiny, number);
    if (tiny.spec.constraints.monotone && tiny.is_level) {
        spec_free(&tiny.spec);
        return;
    }
    counts.drawn++;
    const int status = fit(&tiny.spec, &table, &diag);
    ck_assert_msg(status == EXIT_DONE || status == EXIT_USAGE || status == EXIT_REQUIREMENT, "%s: %s", tiny.text,
                  diag.text);
    if (status == EXIT_DONE) {
        check_table(&tiny, &table);
        table_free(&table);
    } else if (status == EXIT_REQUIREMENT) {
        check_none(&tiny, diag.text);
    } else {
        counts.unusable++;
    }
    spec_free(&tiny.spec);
}

int main(int argc, char **argv)
{
    for (int k = atoi(argv[1]); k < atoi(argv[2]); k++)
        check_number(k);
    (void)argc;
    printf("drawn %d unusable %d none %d claimed %d bounded %d fewest %d\n", counts.drawn, counts.unusable,
           counts.without_table, counts.claimed, counts.bounded, counts.fewest);
    printf("one_shift %d terms %d knots %d monotone %d continuous %d fixed %d weighted %d folded %d\n", counts.one_shift,
           counts.terms, counts.knots, counts.monotone, counts.continuous, counts.fixed, counts.weighted,
           counts.folded);
    for (int f = 0; f < 3; f++)
        printf("%d %d %d %d\n", counts.of_form[f][0], counts.of_form[f][1], counts.of_form[f][2], counts.of_form[f][3]);
}
