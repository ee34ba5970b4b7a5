/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The storage cases of a table (INT8, INT16, INT32), its forms and roundings: their names and widths. */
#ifndef PWLC_STORAGE_H
#define PWLC_STORAGE_H

#include <stdbool.h>

#include <pwl/pwl.h>

/* Forms and roundings, in the order of their enumerations: the name, a form's offset, a line for `pwlc list`. */
#define FORMS(F)                                                                                                       \
    F("absolute", "term_c", "q_y = sat(shr(q_b * (q_x - zp_x), n_BX_total) + term_c)")                                 \
    F("biased", "bias", "q_y = sat(shr(q_b * (q_x - zp_x) + bias, n_BX_total))")                                       \
    F("anchored", "y", "q_y = sat(shr(q_b * (q_x - start), n_BX_total) + y)")
#define ROUNDINGS(F)                                                                                                   \
    F("floor", "to minus infinity: an arithmetic shift")                                                               \
    F("half_up", "to nearest, ties up")                                                                                \
    F("half_away", "to nearest, ties away from zero")                                                                  \
    F("half_even", "to nearest, ties to even")

/* The names as help and messages list them, "absolute|biased|anchored". */
#define AFTER_A_BAR(name, ...) "|" name
#define FORM_CHOICES (&(FORMS(AFTER_A_BAR))[1])
#define ROUNDING_CHOICES (&(ROUNDINGS(AFTER_A_BAR))[1])

/* Names as the JSON and the command line write them; parsing returns false for an unknown name. */
const char *form_name(pwl_form form);
const char *rounding_name(pwl_rounding rounding);
const char *storage_name(pwl_storage storage); /* int8, int16, int32 */
const char *offset_name(pwl_form form);        /* term_c, bias, y */
bool form_parse(const char *name, pwl_form *form);
bool rounding_parse(const char *name, pwl_rounding *rounding);
bool storage_parse(const char *name, pwl_storage *storage);

/* Smallest storage case that holds codes of both widths: up to 8, 16, 32 bits. */
pwl_storage storage_for(int in_bits, int out_bits);
int storage_bits(pwl_storage storage);               /* 8, 16, 32: start and q_b */
int offset_bits(pwl_storage storage, pwl_form form); /* 16, 32, 48 valid; bias 32, 32, 64 */
int accumulator_bits(pwl_storage storage);           /* 32, 32, 64 */

/* Bytes of an element of pwl_table.offset, which for the 48-bit offsets is more than their valid bits. */
int offset_bytes(pwl_storage storage, pwl_form form);
int packed_segment_bytes(pwl_storage storage, pwl_form form); /* 5, 7, 9, 17 */

#endif
