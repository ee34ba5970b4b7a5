/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers in text, the same under every locale. */
#ifndef PWLC_NUMBER_H
#define PWLC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "real.h"

enum number_status { NUMBER_OK, NUMBER_SYNTAX, NUMBER_RANGE };

#define NUMBER_TEXT_SIZE 32
#define NUMBER_MAX_LENGTH 1200 /* no double needs more characters */

/* The whole of text[0..length) as a decimal: [+-] digits [. digits] [e [+-] digits], a digit on at least one side of
 * the point; no blanks, hexadecimal, "inf" or "nan". Rounded to the nearest double; NUMBER_RANGE when that overflows.
 * More than NUMBER_MAX_LENGTH characters are NUMBER_SYNTAX. */
enum number_status number_real(const char *text, size_t length, double *value);

/* The whole of text[0..length) as [+-] digits. NUMBER_RANGE beyond int64. */
enum number_status number_integer(const char *text, size_t length, int64_t *value);

/* Shortest decimal that reads back as the same finite double, "0.0472", "1000", "1e-9", "1e20". */
void number_format(double value, char text[NUMBER_TEXT_SIZE]);

/* A bound as it is written with 6 significant digits, not nearer to what it bounds: the next such number at or above,
 * or at or below, one that is not negative. */
double number_rounded_up(real value);
double number_rounded_down(real value);

/* Whether a number that is not negative, as it is written with 6 significant digits, is at most a limit that may have
 * been copied from there. */
bool number_written_within(double value, double limit);

#endif
