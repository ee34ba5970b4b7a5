/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "emit.h"

#include <string.h>

#include "c/c.h"
#include "data.h"
#include "rtl/rtl.h"

const struct emitter emitters[] = {
    {"c", "C header with const tables for the runtime, or --standalone with its own evaluation", true, true, false,
     emit_c},
    {"cuda", "C header with its own evaluation, for .cu files and any C or C++", true, true, false, emit_cuda},
    {"json", "the table as it was read; several tables as one array", true, false, false, emit_json},
    {"csv", "one row per segment: the integers, then start, slope and intercept as real numbers", false, false, false,
     emit_csv},
    {"npy", "NumPy int64 array of shape (segments, 4): start, q_b, n_BX_total, term_c/bias/y", false, false, false,
     emit_npy},
    {"sv", "SystemVerilog module, for iverilog, Verilator and yosys", false, true, true, emit_sv},
    {"v", "the same module in Verilog-2005", false, true, true, emit_v},
    {"sv-tb", "bench that checks the module, with the same flags", false, true, true, emit_sv_bench},
    {NULL, NULL, false, false, false, NULL}};

const struct emitter *emitter_find(const char *name)
{
    for (const struct emitter *emitter = emitters; emitter->name; emitter++)
        if (strcmp(emitter->name, name) == 0)
            return emitter;
    return NULL;
}
