/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers, reals and strings in bytes that mean the same on every machine, one after the other. */
#ifndef PWLC_RECORD_H
#define PWLC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dd.h"
#include "diag.h"
#include "file.h"

void record_add_integer(struct text *record, int64_t value);

void record_add_real(struct text *record, double value);
void record_add_dd(struct text *record, struct dd value);

/* May hold zeros. */
void record_add_string(struct text *record, const char *bytes, size_t size);

void record_add_diag(struct text *record, const struct diag *diag);

/* What is left of a record that is read in the order in which it was written. */
struct record {
    const unsigned char *bytes;
    size_t size;
    bool failed; /* it ended before, or holds something else: what was read since is 0 */
};

int64_t record_integer(struct record *record);
double record_real(struct record *record);
struct dd record_dd(struct record *record);

/* A malloc'd copy with a zero byte behind its end; null where reading or memory failed. */
char *record_string(struct record *record, size_t *size);

void record_diag(struct record *record, struct diag *diag);

/* Whether all of it was read. */
bool record_is_read(const struct record *record);

#endif
