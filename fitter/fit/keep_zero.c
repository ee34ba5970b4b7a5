/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "keep_zero.h"

#include <math.h>
#include <string.h>

#include "function/target.h"
#include "measure/claim.h"

#define KEEP_ZERO_EFFORT 0.5 /* of the table's */

bool zero_find(const struct function *function, const struct tensor *in, const struct tensor *out, struct zero *zero)
{
    const struct code_domain domain = code_domain_find(function, in);
    const int64_t q_x = in->zero_point;
    if (q_x < domain.first || q_x > domain.last || (domain.has_hole && q_x == domain.hole))
        return false;
    const double value = (double)function_value(function, 0);
    const double q_y = (double)target_unclipped(function, in, out, OUTSIDE_ERROR, q_x);
    *zero = (struct zero){q_x, (int64_t)q_y, value};
    return (value == 0 || value == 0.5) && q_y == rint(q_y) && q_y >= (double)out->qmin && q_y <= (double)out->qmax;
}

bool zero_is_kept(const struct table *table, const struct zero *zero)
{
    struct packed_table packed;
    struct diag diag;
    if (table_prove(table, EXIT_IO, &packed, NULL, &diag))
        return false;
    const bool is_kept = packed_eval(&packed, zero->q_x) == zero->q_y;
    packed_table_free(&packed);
    return is_kept;
}

/* Whether a spec leaves room for one more --fix. */
static bool is_free(const struct spec *spec, const struct zero *zero)
{
    const bool may_fix = (spec->method == METHOD_LSQ || spec->method == METHOD_MINIMAX) && !spec->reduce &&
                         spec->in.bits <= SPEC_EXHAUSTIVE_BITS && spec->fix_count < SPEC_MAX_FIXES;
    for (int k = 0; k < spec->fix_count; k++) {
        int64_t q_x, q_y;
        struct diag diag;
        if (spec_fix_codes(spec, &spec->fixes[k], &q_x, &q_y, &diag) || q_x == zero->q_x)
            return false;
    }
    return may_fix;
}

static bool is_worth_it(const struct table *kept, const struct table *free)
{
    const struct certificate *c = &kept->certificate, *least = &free->certificate;
    return kept->segment_count <= free->segment_count && c->monotone >= least->monotone &&
           c->max_err_lsb <= least->max_err_lsb + KEEP_ZERO_COST &&
           c->rms_err_lsb <= least->rms_err_lsb + KEEP_ZERO_COST;
}

/* It is one of the tables that the other search was about. */
static void judge(struct certificate *kept, const struct certificate *free)
{
    certificate_keep_judgement(kept, free);
    if (free->objective != OBJECTIVE_SEGMENTS && free->optimal == 1 && objective_error(kept) > objective_error(free))
        kept->optimal = 0;
}

int keep_zero(const struct spec *spec, int (*fit)(const struct spec *spec, struct table *table, struct diag *diag),
              struct table *table, struct diag *diag)
{
    struct zero zero;
    struct spec fixed = *spec;
    struct table kept;
    struct diag refusal;
    if (!zero_find(&spec->function, &spec->in, &spec->out, &zero) || zero_is_kept(table, &zero) ||
        !is_free(spec, &zero) || time_limit_over(spec->time_limit))
        return EXIT_DONE;
    fixed.effort *= KEEP_ZERO_EFFORT;
    fixed.fixes[fixed.fix_count++] = (struct fix){0, zero.value};
    const int status = fit(&fixed, &kept, &refusal);
    if (status == EXIT_DONE && is_worth_it(&kept, table)) {
        char *const text = kept.spec;
        kept.spec = table->spec;
        table->spec = text;
        judge(&kept.certificate, &table->certificate);
        table_free(table);
        *table = kept;
    } else if (status == EXIT_DONE) {
        table_free(&kept);
    } else if (status != EXIT_REQUIREMENT) {
        *diag = refusal;
    }
    return diag->code;
}
