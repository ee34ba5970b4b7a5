/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure.h"

#include <math.h>

static void add(struct sfpu_error *error, double missed, uint16_t code)
{
    error->mean += missed;
    if (missed > error->largest) {
        error->largest = missed;
        error->at = code;
    }
}

/* Codes from the lowest number to the highest: negative ones downward. */
static uint16_t nth_code(int n)
{
    return (uint16_t)(n < SFPU_CODES / 2 ? 0xffff - n : n - SFPU_CODES / 2);
}

static bool is_monotone(const struct sfpu_table *table, const struct sfpu_target targets[SFPU_CODES])
{
    bool rises = false, falls = false, any = false;
    double before = 0;
    for (int n = 0; n < SFPU_CODES; n++) {
        const uint16_t code = nth_code(n);
        if (!targets[code].counts)
            continue;
        const double y = sfpu_real(sfpu_result(table, code));
        rises |= any && y > before;
        falls |= any && y < before;
        any = true;
        before = y;
    }
    return !(rises && falls);
}

void sfpu_measure_table(const struct sfpu_table *table, const struct sfpu_target targets[SFPU_CODES],
                        enum sfpu_measure measure, struct sfpu_errors *errors)
{
    *errors = (struct sfpu_errors){0};
    for (int code = 0; code < SFPU_CODES; code++) {
        const struct sfpu_target *const target = &targets[code];
        if (!target->counts)
            continue;
        const uint16_t x = (uint16_t)code, y = sfpu_result(table, x);
        const struct sfpu_target plain = {target->value, 1, true},
                                 in_ulp = {target->value, sfpu_ulp(target->value), true};
        const double distance = sfpu_missed(&plain, y), ulp = sfpu_missed(&in_ulp, y);
        double *const largest = &errors->largest[sfpu_segment(table->kernel.layout, x)];
        *largest = fmax(*largest, measure == SFPU_ULP ? ulp : distance);
        add(&errors->abs, distance, x);
        add(&errors->ulp, ulp, x);
        errors->codes++;
    }
    errors->abs.mean /= errors->codes;
    errors->ulp.mean /= errors->codes;
    errors->monotone = is_monotone(table, targets);
}
