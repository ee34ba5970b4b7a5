/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing tables for their consumers. Each emitter turns tables into the bytes of one file. */
#ifndef PWLC_EMIT_H
#define PWLC_EMIT_H

#include <stdbool.h>

#include "options.h"

/* What an emitter takes. */
enum {
    EMIT_MANY = 1,      /* several tables */
    EMIT_NAMES = 2,     /* identifiers, as --prefix and --name give them */
    EMIT_HARDWARE = 4,  /* the flags of rtl_options */
    EMIT_ROM_FILE = 8,  /* with --rom mem: fills options.rom, a second file */
    EMIT_STYLE = 16,    /* of the flags of rtl_options --rtl-style alone */
    EMIT_LOADABLE = 32, /* --loadable */
};

struct emitter {
    const char *name; /* the --format value */
    const char *summary;
    unsigned takes;
    int (*emit)(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag);
};

/* The formats: a row each, F(value of --format, function, what it takes, a line for `pwlc list formats`). */
/* clang-format off */
#define EMITTERS(F)                                                                                                    \
    F("c", emit_c, EMIT_MANY | EMIT_NAMES,                                                                             \
      "C header with const tables for the runtime, or --standalone with its own evaluation")                           \
    F("cuda", emit_cuda, EMIT_MANY | EMIT_NAMES,                                                                       \
      "C header with its own evaluation, for .cu files and any C or C++")                                              \
    F("sv", emit_sv, EMIT_NAMES | EMIT_HARDWARE | EMIT_ROM_FILE | EMIT_LOADABLE,                                       \
      "SystemVerilog module, for iverilog, Verilator and yosys")                                                       \
    F("v", emit_v, EMIT_NAMES | EMIT_HARDWARE | EMIT_ROM_FILE,                                                         \
      "the same module in Verilog-2005")                                                                               \
    F("vhdl", emit_vhdl, EMIT_NAMES | EMIT_HARDWARE | EMIT_ROM_FILE,                                                   \
      "the same module in VHDL-2008, for GHDL and synthesis")                                                          \
    F("sv-tb", emit_sv_bench, EMIT_NAMES | EMIT_HARDWARE | EMIT_LOADABLE,                                              \
      "bench that checks the module of the same flags")                                                                \
    F("vhdl-tb", emit_vhdl_bench, EMIT_NAMES | EMIT_HARDWARE,                                                          \
      "the same in VHDL-2008")                                                                                         \
    F("cocotb", emit_cocotb, EMIT_NAMES | EMIT_HARDWARE,                                                               \
      "the same in Python, for cocotb 2 with Icarus Verilog")                                                          \
    F("mem", emit_mem, EMIT_NAMES | EMIT_HARDWARE | EMIT_LOADABLE,                                                     \
      "the words of the module's ROM, for $readmemh")                                                                  \
    F("coe", emit_coe, EMIT_NAMES | EMIT_HARDWARE,                                                                     \
      "the same for Xilinx's memory generator")                                                                        \
    F("mif", emit_mif, EMIT_NAMES | EMIT_HARDWARE,                                                                     \
      "the same for Intel's")                                                                                          \
    F("loader", emit_loader, EMIT_NAMES | EMIT_LOADABLE,                                                               \
      "C header that checks a table and makes words of it for the module of --loadable")                               \
    F("core", emit_core, EMIT_NAMES | EMIT_HARDWARE,                                                                   \
      "FuseSoC core of NAME.sv and NAME_tb.sv; with --clock of NAME.sdc, too")                                         \
    F("sdc", emit_sdc, EMIT_NAMES | EMIT_HARDWARE,                                                                     \
      "constraints of the module's clock")                                                                             \
    F("hls", emit_hls, EMIT_NAMES | EMIT_STYLE,                                                                        \
      "C++ header for Vitis HLS and Catapult, with widths of ap_int or ac_int, or plain integers")                     \
    F("json", emit_json, EMIT_MANY,                                                                                    \
      "the table as it was read; several tables as one array")                                                         \
    F("csv", emit_csv, 0,                                                                                              \
      "one row per segment: the integers, then start, slope and intercept as real numbers")                            \
    F("npy", emit_npy, 0,                                                                                              \
      "NumPy int64 array of shape (segments, 4): start, q_b, n_BX_total, term_c/bias/y")
/* clang-format on */

extern const struct emitter emitters[]; /* as EMITTERS, then a null name */

/* "c|cuda|sv", as help lists them */
#define EMITTER_AFTER_A_BAR(name, ...) "|" name
#define EMIT_FORMATS (&(EMITTERS(EMITTER_AFTER_A_BAR))[1])

const struct emitter *emitter_find(const char *name);

#endif
