/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that evaluate what is emitted. Each reads lines "FIRST COUNT" from its standard input and writes, for each
 * code of each line, an int64_t of every name below.
 */
#ifndef PWLC_PROGRAM_H
#define PWLC_PROGRAM_H

#include "answers.h"
#include "base/scratch.h"
#include "verification.h"

#define PROGRAM_NAME "verified" /* of the table, in what is emitted */

struct program {
    const struct table *table;           /* what is emitted: the verified table, or that with a fault */
    char folder[SCRATCH_PATH_SIZE];      /* where it is built and run */
    const char *wave;                    /* in the folder, "wave.vcd" or "wave.fst"; null: none */
    const char *argv[8];                 /* to run it, in the folder; ends with null */
    const char *names[ANSWERS_MOST + 1]; /* of its values for a code; ends with null */
    char tools[80];                      /* that built it, with versions */
};

/* Bits of the input of what a program evaluates: a C type has more than the table's input where that is no such type.
 */
int c_program_bits(const struct table *table);
int sv_program_bits(const struct table *table);

/* These write sources into program->folder, build, and set what follows there. */
int c_program(const struct verification *verification, struct program *program, struct diag *diag);
int standalone_program(const struct verification *verification, struct program *program, struct diag *diag);
int cuda_program(const struct verification *verification, struct program *program, struct diag *diag);
int vhdl_program(const struct verification *verification, struct program *program, struct diag *diag);
int sv_program(const struct verification *verification, struct program *program, struct diag *diag);

/* Proves with yosys and ABC that the module of `table`, without feedback, gives the verified table's value for every
 * code, inputs of up to 8 bits; beyond, that there is no feedback, so that what it gives depends on the last codes
 * alone. The claim and the tools go into the verdict. Exit 3 when it is not so. */
int prove(const struct verification *verification, const struct table *table, struct verdict *verdict,
          struct diag *diag);

/* The file of waves: whether it can be written, before a simulation, whose waves lie in the folder; and its bytes, behind
 * one that came to an end or not. */
int wave_begin(const char *path, struct program *program, struct diag *diag);
bool wave_is_fst(const struct program *program);
int wave_end(const char *path, const struct program *program, struct diag *diag);

/* Emits program->table in a format of emitters[] into a file of the folder. */
int program_emit(const struct program *program, const char *format, const struct emit_options *options,
                 const char *file, struct diag *diag);

/* What C and C++ programs begin with: main(), which calls `static void evaluate(void)`, and the table's types. */
void program_add_main(struct text *out, const struct program *program);

#endif
