/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The right sides of assignments as trees, for languages other than Verilog. The parts of a module write one notation,
 * SystemVerilog's: what the tree has is the subset that they use, with the widths and signs that IEEE 1800 gives them.
 *
 *   5'd3  -16'sd5  64'shff   a  a[3]  a[7:0]  a[b]  {a, b}  {4{a}}  $signed(a)  12'(a)  NAME_rom(a)  NAME_rom[a]
 *   - ~ ! | & ^ ~| ~& ~^   *   + -   << <<< >>>   < <= > >=   ==   &   ^   |   a ? b : c   (a)
 */
#ifndef PWLC_RTL_FORMULA_H
#define PWLC_RTL_FORMULA_H

#include <stdbool.h>

#include "base/integers.h"

/* A signal by its declaration. */
struct declared {
    char name[48];
    int bits;
    bool is_signed;
    bool is_port;
};

struct declarations {
    struct declared *list; /* malloc'd */
    int count, room;
};

enum formula_kind {
    FORMULA_NUMBER,   /* value */
    FORMULA_SIGNAL,   /* signal */
    FORMULA_BIT,      /* signal[high] */
    FORMULA_SLICE,    /* signal[high:low] */
    FORMULA_CHOSEN,   /* signal[first] */
    FORMULA_LOOKUP,   /* rom, at first; of as many bits as what it is assigned to */
    FORMULA_JOINED,   /* {first, its next, ...} */
    FORMULA_REPEATED, /* {bits{first}}, of one bit */
    FORMULA_SIGNED,   /* $signed(first) */
    FORMULA_RESIZED,  /* bits'(first) */
    FORMULA_UNARY,    /* - or ~ first */
    FORMULA_NOT,      /* ! first */
    FORMULA_REDUCED,  /* & | ^ ~& ~| ~^ first */
    FORMULA_BINARY,   /* first + - & ^ | second */
    FORMULA_PRODUCT,  /* first * second */
    FORMULA_SHIFTED,  /* first << <<< >>> second */
    FORMULA_COMPARED,
    FORMULA_CHOICE /* first ? second : third */
};

struct formula {
    enum formula_kind kind;
    char operation[4];
    int bits; /* its own; what it is assigned to may ask for more */
    bool is_signed;
    wide value; /* in as many bits, extended as its sign says */
    const struct declared *signal;
    char rom[48];
    int high, low;
    const struct formula *first, *second, *third;
    const struct formula *next; /* in what is joined */
};

#define FORMULA_MOST 256
struct formulas {
    struct formula list[FORMULA_MOST];
    int count;
};

const struct declared *declared_find(const struct declarations *declarations, const char *name, size_t length);

/* Reads a text to its end; null where it is not in the notation. Trees lie in *formulas. */
const struct formula *formula_read(const char *text, size_t length, const struct declarations *declarations,
                                   struct formulas *formulas);

#endif
