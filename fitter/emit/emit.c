/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "emit.h"

#include <string.h>

#include "c/c.h"
#include "data.h"
#include "rtl/rtl.h"

const struct emitter emitters[] = {
    {"c", "C header with const tables for the runtime, or --standalone with its own evaluation", EMIT_MANY | EMIT_NAMES,
     emit_c},
    {"cuda", "C header with its own evaluation, for .cu files and any C or C++", EMIT_MANY | EMIT_NAMES, emit_cuda},
    {"sv", "SystemVerilog module, for iverilog, Verilator and yosys", EMIT_NAMES | EMIT_HARDWARE | EMIT_ROM_FILE,
     emit_sv},
    {"v", "the same module in Verilog-2005", EMIT_NAMES | EMIT_HARDWARE | EMIT_ROM_FILE, emit_v},
    {"sv-tb", "bench that checks the module of the same flags", EMIT_NAMES | EMIT_HARDWARE, emit_sv_bench},
    {"mem", "the words of the module's ROM, for $readmemh", EMIT_NAMES | EMIT_HARDWARE, emit_mem},
    {"coe", "the same for Xilinx's memory generator", EMIT_NAMES | EMIT_HARDWARE, emit_coe},
    {"mif", "the same for Intel's", EMIT_NAMES | EMIT_HARDWARE, emit_mif},
    {"core", "FuseSoC core of NAME.sv and NAME_tb.sv; with --clock of NAME.sdc, too", EMIT_NAMES | EMIT_HARDWARE, emit_core},
    {"sdc", "constraints of the module's clock", EMIT_NAMES | EMIT_HARDWARE, emit_sdc},
    {"json", "the table as it was read; several tables as one array", EMIT_MANY, emit_json},
    {"csv", "one row per segment: the integers, then start, slope and intercept as real numbers", 0, emit_csv},
    {"npy", "NumPy int64 array of shape (segments, 4): start, q_b, n_BX_total, term_c/bias/y", 0, emit_npy},
    {NULL, NULL, 0, NULL}};

const struct emitter *emitter_find(const char *name)
{
    for (const struct emitter *emitter = emitters; emitter->name; emitter++)
        if (strcmp(emitter->name, name) == 0)
            return emitter;
    return NULL;
}
