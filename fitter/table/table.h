/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiled table as the fitter holds it: what the table JSON says, in memory. */
#ifndef PWLC_TABLE_H
#define PWLC_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <pwl/pwl.h>
#include <pwl/reduce.h>

#include "base/diag.h"
#include "function/function.h"
#include "function/target.h"
#include "function/tensor.h"
#include "function/weights.h"
#include "json_parts.h"
#include "storage.h"

/* The document's two-shift flow, kept beside a fused segment made by `--method document`. */
struct unfused {
    int64_t q_c;
    int n_bx, n_yb, n_yc;
    bool has_z_bx;
    int64_t z_bx; /* with has_z_bx: the zero point of the quantiser of b * x, which no result needs */
};

struct segment {
    int64_t start;
    int64_t q_b;
    int n;          /* n_BX_total */
    int64_t offset; /* term_c, bias or y, by form */
    struct unfused unfused;
};

/* What was made least. OBJECTIVE_SEGMENTS: their number, of tables that keep to --max-err. */
enum objective { OBJECTIVE_RMS, OBJECTIVE_MAX, OBJECTIVE_SEGMENTS };

/* Errors are |q_y - t| in output LSB, t = f(x)/scale_y + zp_y clipped to [qmin_y, qmax_y]. */
struct certificate {
    int64_t checked; /* codes compared */
    bool exhaustive; /* every code was */
    double max_err_lsb;
    int64_t max_err_at; /* lowest code that attains it */
    double rms_err_lsb, mean_abs_err_lsb;
    double correctly_rounded; /* share of codes with |q_y - t| <= 1/2 */
    int64_t saturated_codes;  /* real value outside [qmin_y, qmax_y] */
    bool monotone;            /* no step against the direction of f */
    int acc_bits;             /* smallest sufficient accumulator */
    enum objective objective;
    bool has_second_objective; /* among tables of least objective, one of little RMS error was sought */
    bool has_lower_bound;      /* else lower_bound_lsb is null in the file */
    double lower_bound_lsb;
    int optimal;    /* 1, 0, or -1: no proof was attempted */
    bool has_bound; /* bound_lsb: proven upper bound, wider inputs */
    double bound_lsb;
    char proof[SHA256_LENGTH + 1]; /* the name of the proof of what is said of other tables; empty without */
    bool has_rms_any_shift;        /* with one shift: what the best table without has; not in the file */
    double rms_any_shift_lsb;
};

struct table {
    char *spec; /* canonical flags of fit, no file names; malloc'd */
    char function[32];
    char *expression; /* of the function "expr", else null; malloc'd */
    int parameter_count;
    struct {
        char name[16];
        double value;
    } parameters[FUNCTION_MAX_PARAMETERS];
    char method[16];
    pwl_form form;
    pwl_rounding rounding;
    pwl_storage storage; /* "case" in the file */
    struct tensor in, out;
    bool has_fold;
    int64_t fold_sum;
    bool has_reduction;      /* the segments are a core's, over words instead of codes */
    pwl_reduction reduction; /* its kind and integers; table_pack() adds ranges and zero points */
    bool has_unfused;        /* every segment carries `unfused` */
    enum outside outside;    /* written only when clamp */
    char samples_sha256[65]; /* empty when not from samples */
    char weights_sha256[65]; /* empty without weights */
    int segment_count;
    struct segment *segments; /* malloc'd */
    enum standing standing;   /* of the certificate; only an own one is written */
    struct certificate certificate;
};

/* rms, max, segments; parsing returns false for an unknown name. */
const char *objective_name(enum objective objective);
bool objective_parse(const char *name, enum objective *objective);

/* The error that is the objective, or of a limit that was given the largest one. */
double objective_error(const struct certificate *certificate);

void table_free(struct table *table); /* frees what the table owns; the struct itself is the caller's */

/* A table in the runtime's layout. */
struct packed_table {
    pwl_table table; /* a reduced table's core */
    bool is_reduced;
    pwl_reduced reduced;
    void *memory;
};

/* Packs without judging whether it is safe to run; exit 2, naming segment and field, when a value does not fit
 * its storage type. The caller runs pwl_table_check on the result (table_prove does both). */
int table_pack(const struct table *table, struct packed_table *packed, struct diag *diag);
void packed_table_free(struct packed_table *packed);

/* The input codes of the segments: the table's, or the words of a reduced table's core. */
struct tensor table_segment_codes(const struct table *table);

/* Largest code that a segment can be asked for; with a fold the mirror image of qmin may lie beyond qmax. */
int64_t table_last_code(const struct table *table);

/* What the runtime gives for any code, and which segment it takes; -1 where a reduced table takes none. */
int64_t packed_eval(const struct packed_table *packed, int64_t q_x);
int packed_segment(const struct packed_table *packed, int64_t q_x);

/* Packs and proves, with its reduction; a failed proof is exit code `refusal` with the limit and the segment in the
 * message. */
int table_prove(const struct table *table, int refusal, struct packed_table *packed, pwl_proof *proof,
                struct diag *diag);

/* Names the function that an empty table is made from, with its parameters. */
int table_set_function(struct table *table, const struct function *function, struct diag *diag);

/* The function a table was made from, with its parameters. samples_path is for tables made from samples: required
 * for them (its sha256 must match), an error for others; null when not given. Free with function_free. */
int table_function(const struct table *table, const char *samples_path, struct function *function, struct diag *diag);
void function_free(struct function *function);

/* Whether the weights read from a file, null when not given, are those that a table was made with, if any: its averages
 * cannot be measured without. Exit 2 when they are not. */
int table_check_weights(const struct table *table, const struct weights *weights, struct diag *diag);

/* table_json.c: the canonical artefact. */

/* Deterministic bytes: same table, same text. *text is malloc'd. An edited certificate is left out. */
int table_to_json(const struct table *table, char **text, struct diag *diag);

/* What a file of 4096 segments stays far below. */
#define TABLE_MAX_BYTES ((size_t)4 << 20)

/* Full validation: every field, type, range and order, then the proof. Exit 2 with the field in the message. */
int table_from_json(const char *bytes, size_t size, struct table *table, struct diag *diag);

/* Reads a file ("-" is standard input); messages start with the path. */
int table_read(const char *path, struct table *table, struct diag *diag);

#endif
