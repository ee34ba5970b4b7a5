/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The body of a module that computes lines, while it is written: the signals that lead from a code to its output. */
#ifndef PWLC_RTL_BODY_H
#define PWLC_RTL_BODY_H

#include "line.h"
#include "module.h"

#define FIELDS 10
#define SEARCH_PARTS 32 /* of the longest search, of 16 bits */

/* What the parts of a body take, in tenths of a nanosecond of an iCE40 UltraPlus at 16 bits (README.md). */
enum {
    DELAY_GATE = 20,
    DELAY_LOOKUP = 90,
    DELAY_COMPARISON = 160,
    DELAY_PRODUCT = 200,
    DELAY_SUM = 130,
    DELAY_NORMALISE = 400
};

/* A number of the segment: a slice of its word in the ROM, or a constant. */
struct field {
    const char *name;
    bool is_number; /* else a vector of bits */
    wide *values;   /* one a segment; malloc'd */
    wide low, high;
    int bits, lowest_bit; /* in the word; no bits where all values are the same */
    struct signal signal;
};

struct body {
    struct module *m;
    struct pipeline *p; /* of m */
    const struct table *table;
    struct lines lines;
    const bool *cuts;       /* whether registers lie behind each part */
    struct signal code;     /* what the search compares */
    struct signal mirrored; /* folded: the code lies below the zero point */
    struct signal octave;   /* reduced */
    struct signal is_below; /* reduced by leading zeros: there is no word */
    struct signal segment;  /* the segment's number, of two or more */
    struct signal x;        /* what the slope is multiplied by */
    int high, low;          /* slopes that are sums of powers of two: the least of each power */
    struct signal product;  /* biased: with the bias */
    struct signal sum;      /* before saturation */
};

/* code.c: sets code and mirrored; sum -> y_o. */
void add_code(struct body *b);
void add_unfolded(struct body *b);
struct signal add_saturated(struct body *b);

/* reduced.c: sets code, octave and is_below; sum -> sum of the whole. */
void add_word(struct body *b);
void add_restored(struct body *b);

/* Ends a part of the body, with registers where they are due. */
void add_end(struct body *b);

/* search.c: sets segment. It has so many parts, one or more, of these delays. */
int search_delays(const struct body *b, int delays[SEARCH_PARTS]);
int add_search(struct body *b, struct diag *diag);

/* Bits of its comparisons, and of its ROMs. */
void search_sizes(const struct body *b, int *compared, int *looked_up);

/* Whether the segment's number is bits of the code, so that its low bits are those of the anchors that differ. */
bool search_gives_starts(const struct body *b);

/* arithmetic.c: sets x; product; sum. Fields go into m->rom. */
int add_fields(struct body *b, struct field fields[FIELDS], struct diag *diag);
int multiplied_bits(const struct body *b, const struct field fields[FIELDS]); /* of slopes; 0: they are shifts */
void add_product(struct body *b, struct field fields[FIELDS]);
void add_sum(struct body *b, struct field fields[FIELDS]);

#endif
