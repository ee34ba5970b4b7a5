/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what a table's certificate says is so. */
#ifndef PWLC_CLAIM_H
#define PWLC_CLAIM_H

#include <stdbool.h>

#include "base/diag.h"
#include "error_stats.h"
#include "function/function.h"
#include "function/weights.h"
#include "table/table.h"

/* Proves and measures a table and writes its certificate, in which nothing is said of other tables. weights: null where
 * the table has none. Exit 3 when it is not provable. */
int certificate_make(struct table *table, const struct function *function, const struct weights *weights,
                     bool all_codes, struct diag *diag);

/* The same of a table that is measured already. */
int certificate_make_of(struct table *table, const struct function *function, const struct weights *weights,
                        const struct error_stats *stats, struct diag *diag);

/* Takes from an older certificate of the same table what is known of other tables. */
void certificate_keep_judgement(struct certificate *certificate, const struct certificate *older);

/* What is measured of a table, beside its certificate. */
struct measured {
    const struct error_stats *stats;
    const struct weighted_stats *weighted; /* of a table made with weights; null where they are not given */
    double witness_err;                    /* at the certificate's max_err_at */
    bool has_bound;                        /* of inputs whose codes were not all visited */
    double bound;                          /* as table_bound() proves it */
};

/* Exit 3, with both figures, where an own certificate contradicts itself or what is measured. Reals are compared to the
 * six digits that are printed. */
int claim_compare(const struct table *table, const struct measured *measured, struct diag *diag);

/* To be called before a certificate is repeated: exit 3 where it or its table was edited, or it says something else
 * than what is measured; a table without one claims nothing. function and weights are the table's. Without a function
 * the table is measured all the same where its function needs no file; without weights the averages of a weighted table
 * are not compared. It takes less than a second: the measurement and the bound are those that a fit ends with. */
int claim_check(const struct table *table, const struct function *function, const struct weights *weights,
                struct diag *diag);

/* Replaces the certificate's averages by the weighted ones. */
void certificate_weigh(struct certificate *certificate, const struct weighted_stats *weighted);

#endif
