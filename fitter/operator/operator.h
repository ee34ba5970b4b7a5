/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Row operators as the fitter holds them: what the operator JSON says, in memory. docs/operators.md has the formulas
 * and the names. */
#ifndef PWLC_OPERATOR_H
#define PWLC_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <pwl/rows.h>

#include "base/diag.h"
#include "function/tensor.h"
#include "table/table.h"

enum operator_kind { OPERATOR_SOFTMAX, OPERATOR_LOG_SOFTMAX, OPERATOR_LAYER_NORM, OPERATOR_RMS_NORM, OPERATOR_L2_NORM };
#define OPERATOR_KINDS 5

/* How far codes may be off, and how far they were found to be. Errors are of codes against the real function, clipped
 * to [qmin_y, qmax_y], in output LSB. */
struct operator_certificate {
    double bound_lsb;     /* proven of every row of up to `length` places */
    double delta0, delta; /* of the core before and after the Newton step */
    double rho, largest;  /* softmax: rho_N and B_N (log-softmax: rho_N and lambda) */
    double root, gamma,
        beta;            /* norms: what delta and eps_rel, rounded gammas and betas, and t, add in the worst channel */
    int64_t rows;        /* measured, */
    double max_err_lsb;  /* the largest error in them, */
    char worst_row[160]; /* and the row that has it, in words */
};

/* Field for field what the runtime's operators hold; arrays are malloc'd, and null where the kind has none. */
struct row_operator {
    char *spec; /* canonical flags of fit, no file names */
    enum operator_kind kind;
    struct tensor in, out;
    uint32_t length; /* places of the longest row; norms: of every row */
    struct table core;

    int fraction;              /* F; norms: T */
    int step_shift, log_shift; /* log-softmax: g, h */
    int64_t step, log_unit;    /* log-softmax: P, W */
    uint32_t *exp, *exp_high;  /* 256 each */
    uint8_t *exp_shift;        /* 256 */
    uint16_t *log_factor;      /* PWL_LOG_CELLS each */
    int32_t *log_value;

    double eps;           /* norms: as it was given */
    double *gamma, *beta; /* norms, `length` each: as they were given; L2 norm: null */
    int variance_shift, gamma_shift, drop;
    int64_t eps_code; /* E0 */
    int32_t *gamma_codes;
    int64_t *beta_codes;

    enum standing standing;
    struct operator_certificate certificate; /* when own */
};

/* "softmax", "logsoftmax", "layernorm", "rmsnorm", "l2norm". */
const char *operator_name(enum operator_kind kind);
bool operator_parse(const char *name, enum operator_kind *kind);
bool operator_is_norm(enum operator_kind kind);

void operator_free(struct row_operator *of);

/* Its lists of integers, whose fields have types of their own. */
enum operator_list {
    OPERATOR_EXP,
    OPERATOR_EXP_HIGH,
    OPERATOR_EXP_SHIFT,
    OPERATOR_LOG_FACTOR,
    OPERATOR_LOG_VALUE,
    OPERATOR_GAMMA_CODES,
    OPERATOR_BETA_CODES,
};

/* Integer k of a list that the operator has. */
int64_t operator_integer(const struct row_operator *of, enum operator_list list, uint32_t k);

/* gamma_c and beta_c of channel c, real; of an L2 norm 1/sqrt(n) and 0. */
long double operator_gamma(const struct row_operator *of, uint32_t c);
long double operator_beta(const struct row_operator *of, uint32_t c);

/* eps as RMSNorm and LayerNorm have it: of an L2 norm eps / n. */
long double operator_eps(const struct row_operator *of);

/* An operator in the runtime's layout; it points into the row_operator. */
struct packed_operator {
    bool is_norm;
    pwl_softmax softmax;
    pwl_norm norm;
    struct packed_table core;
};

/* Packs and proves it; a failed proof is exit code `refusal`. Free with packed_operator_free, also after a failure. */
int operator_pack(const struct row_operator *of, int refusal, struct packed_operator *packed, struct diag *diag);
void packed_operator_free(struct packed_operator *packed);

/* y of a row x of `length` places, arrays of the operator's types. */
void packed_operator_run(const struct packed_operator *packed, const void *x, void *y, size_t length);

/* Code k of an array of a type of 8 or 16 bits. */
int64_t operator_code(const struct tensor *tensor, const void *array, size_t k);

/* Bytes of tables and constants per channel: what firmware stores beside the struct. */
size_t operator_bytes(const struct row_operator *of);

/* make.c: what is asked for. */
struct operator_request {
    enum operator_kind kind;
    struct tensor in, out;
    uint32_t length; /* 0: as many as gamma has */
    int fraction;    /* of softmax; 0: 30 */
    double eps;
    const double *gamma, *beta; /* null: 1 and 0 */
    const char *words;          /* canonical flags beside the types and the length: "--eps 1e-05" */
};

/* Makes every constant and the core; the certificate is operator_certify()'s. Exit 2 when the types are not
 * those of such an operator, 3 when no provable operator exists. */
int operator_make(const struct operator_request *request, struct row_operator *of, struct diag *diag);

/* bound.c: fills the bound and its parts, by the formulas and all entries of the tables. */
int operator_bound(const struct row_operator *of, struct operator_certificate *certificate, struct diag *diag);

/* Exit 2 where an own certificate claims less than the bound or one of its parts, which are computed anew, or has
 * measured more than the bound. What was measured is not measured again. */
int operator_check_claim(const struct row_operator *of, struct diag *diag);

/* operator_write.c and operator_json.c: the canonical artefact, as of tables. */
int operator_to_json(const struct row_operator *of, char **text, struct diag *diag);
#define OPERATOR_MAX_BYTES ((size_t)16 << 20)
int operator_from_json(const char *bytes, size_t size, struct row_operator *of, struct diag *diag);
int operator_read(const char *path, struct row_operator *of, struct diag *diag);

/* Whether a file is an operator's: a regular file, an object of JSON with the field pwl_operator. Standard input is
 * never looked at. */
bool operator_recognise(const char *path);

#endif
