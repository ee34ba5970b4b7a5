/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The body of a module: a chain of combinational parts with registers between them. Signals are declared, assigned and
 * used from front to back. A signal that is used behind a cut gets its copies in registers by being used there, so that
 * a cut may lie anywhere.
 *
 *   part 0 --> registers 1 --> part 1 --> registers 2 --> part 2 ...
 */
#ifndef PWLC_RTL_PIPELINE_H
#define PWLC_RTL_PIPELINE_H

#include <stdbool.h>

#include "base/file.h"
#include "base/integers.h"
#include "emit/options.h"

enum rom_language { ROM_VERILOG, ROM_VHDL, ROM_CPP };

/* What differs between SystemVerilog and Verilog-2005. Parts are written as SystemVerilog for VHDL and C++ too, whose
 * writers read them again (statements.h). */
struct dialect {
    const struct identifiers *identifiers;
    const char *net, *variable; /* what `assign` drives, what a clocked block drives */
    const char *clocked;        /* begins a clocked block */
    const char *in_function;    /* the type of a function's result and arguments, with a space behind it */
    bool has_casts;             /* 12'(x) */
    enum rom_language roms;     /* of lookups */
};

extern const struct dialect system_verilog, verilog_2005, vhdl_2008, hls_cpp;

/* A value by its range, two's complement where it may be negative, or a vector of bits. */
struct signal {
    char name[32];
    int bits;
    bool is_signed;
    wide low, high; /* what a number can be */
    int stage;      /* the part that assigns it */
    int copied;     /* the last part that has a copy */
};

struct pipeline {
    const struct dialect *dialect;
    bool has_enables; /* registers of stage k load when advance_k is 1 */
    int stages;       /* registers so far: the part that is being written */
    struct text parts[RTL_MAX_STAGES + 1];
    struct text declarations[RTL_MAX_STAGES + 1]; /* of the registers before a part */
    struct text moves[RTL_MAX_STAGES + 1];        /* what they load */
};

void pipeline_free(struct pipeline *pipeline);

/* The part that is being written. */
struct text *pipeline_part(struct pipeline *pipeline);

/* Ends the part. */
void pipeline_cut(struct pipeline *pipeline);

/* Declares a number in this part: with a sign also where nothing is negative, of as few bits as hold the range, but at
 * least `bits`, those of what it is computed from. */
struct signal pipeline_value(struct pipeline *pipeline, const char *name, int bits, wide low, wide high);

/* A vector of bits. */
struct signal pipeline_bits(struct pipeline *pipeline, const char *name, int bits);

/* A number that is a + constant, or constant - a. */
struct signal pipeline_sum(struct pipeline *pipeline, const char *name, struct signal *a, wide constant);
struct signal pipeline_difference(struct pipeline *pipeline, const char *name, wide constant, struct signal *a);

/* Says to lint tools that bits of a signal are of no use in this part. */
void pipeline_drop(struct pipeline *pipeline, struct signal *signal, int high, int low);

/* The name of a signal in this part, good until the next call of pipeline_cut. */
#define SIGNAL_TEXT 96
const char *signal_use(struct pipeline *pipeline, struct signal *signal, char text[SIGNAL_TEXT]);

/* The same, extended to as many bits or more; a vector of bits becomes a number, and needs one more. */
const char *signal_extend(struct pipeline *pipeline, struct signal *signal, int bits, char text[SIGNAL_TEXT]);

/* A literal of a value, modulo 2^bits: 16'sd5, -16'sd5, 72'sh00ff00ff00ff00ff00. */
#define CONSTANT_TEXT 64
const char *signed_constant(int bits, wide value, char text[CONSTANT_TEXT]);

/* "[7:0] " or, of one bit, nothing. */
const char *bit_range(int bits, char text[CONSTANT_TEXT]);

/* Every part with its registers, in order. */
void pipeline_write(const struct pipeline *pipeline, struct text *out);

#endif
