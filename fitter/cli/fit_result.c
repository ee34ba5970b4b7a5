/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit_result.h"

#include <stdlib.h>
#include <string.h>

/* What of a certificate its file rounds, or does not have. */
#define REALS                                                                                                          \
    {                                                                                                                  \
        &certificate->max_err_lsb, &certificate->rms_err_lsb, &certificate->mean_abs_err_lsb,                          \
            &certificate->correctly_rounded, &certificate->lower_bound_lsb, &certificate->bound_lsb,                   \
            &certificate->rms_any_shift_lsb                                                                            \
    }

bool fit_result_save(const struct table *table, const struct diag *why, struct text *record)
{
    const struct certificate *const certificate = &table->certificate;
    const double *const reals[] = REALS;
    struct diag own = *why;
    char *json = NULL;
    if (!own.code)
        table_to_json(table, &json, &own);
    record_add_diag(record, &own);
    if (!own.code) {
        record_add_string(record, json, strlen(json));
        record_add_integer(record, certificate->has_rms_any_shift);
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
            record_add_real(record, *reals[i]);
    }
    free(json);
    return own.code != EXIT_IO && own.code != EXIT_MISSING;
}

bool fit_result_load(struct table *table, struct diag *why, struct record *record)
{
    struct certificate *const certificate = &table->certificate;
    double *const reals[] = REALS;
    struct diag refusal;
    size_t size;
    record_diag(record, why);
    if (record->failed || why->code)
        return !record->failed;
    char *const json = record_string(record, &size);
    if (!json || table_from_json(json, size, table, &refusal) != EXIT_DONE)
        record->failed = true;
    free(json);
    if (record->failed) {
        *why = (struct diag){.code = EXIT_IO};
        return false;
    }
    certificate->has_rms_any_shift = record_integer(record) != 0;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = record_real(record);
    return !record->failed;
}
