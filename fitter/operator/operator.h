/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators of rows and of elements as the fitter holds them: what the operator JSON says, in memory.
 * docs/operators.md has the formulas and the names. */
#ifndef PWLC_OPERATOR_H
#define PWLC_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <pwl/elements.h>
#include <pwl/rows.h>

#include "base/diag.h"
#include "function/tensor.h"
#include "table/table.h"

enum operator_kind {
    OPERATOR_SOFTMAX,
    OPERATOR_LOG_SOFTMAX,
    OPERATOR_LAYER_NORM,
    OPERATOR_RMS_NORM,
    OPERATOR_L2_NORM,
    OPERATOR_REQUANTISE,
    OPERATOR_ADD,
    OPERATOR_WEIGH,
};
#define OPERATOR_KINDS 8
#define OPERATOR_NAMES "softmax, logsoftmax, layernorm, rmsnorm, l2norm, requantise, add and weigh"

/* Kinds that have their fields in common, and a struct of the runtime: a pwl_softmax, a pwl_norm, what maps elements
 * one by one, a pwl_requantise or a pwl_add; or of weigh a pwl_softmax and the pwl_requantise of its sums. */
enum operator_family { FAMILY_SOFTMAX, FAMILY_NORM, FAMILY_ELEMENT, FAMILY_WEIGH };

/* How far codes may be off, and how far they were found to be. Errors are of codes against the real function, clipped
 * to [qmin_y, qmax_y], in output LSB. */
struct operator_certificate {
    double bound_lsb;     /* proven of every row of up to `length` places */
    double delta0, delta; /* of the core before and after the Newton step */
    double rho, largest;  /* softmax: rho_N and B_N (log-softmax: rho_N and lambda) */
    double root, gamma,
        beta;            /* norms: what delta and eps_rel, rounded gammas and betas, and t, add in the worst channel */
    double sum;          /* weigh: what its weighted sums may be off by before they become codes, in output LSB */
    double factor;       /* of elements, weigh: what the rounding of the multiplier or of the factors adds */
    int64_t rows;        /* measured, */
    double max_err_lsb;  /* the largest error in them, */
    char worst_row[160]; /* and the row that has it, in words */
};

/* Field for field what the runtime's operators hold; arrays are malloc'd, and null where the kind has none. */
struct row_operator {
    char *spec; /* canonical flags of fit, no file names */
    enum operator_kind kind;
    struct tensor in, in_b, out; /* in_b: add's second input, weigh's values */
    uint32_t length;             /* places of the longest row; norms: of every row; of elements: 0 */
    struct table core;           /* of elements: none */

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

    int64_t factor_a, factor_b; /* requantise, weigh: the multiplier a; add: F, G */
    int shift;                  /* of elements, weigh: n */

    enum standing standing;
    struct operator_certificate certificate; /* when own */
};

/* One of OPERATOR_NAMES. */
const char *operator_name(enum operator_kind kind);
bool operator_parse(const char *name, enum operator_kind *kind);
enum operator_family operator_family(enum operator_kind kind);
bool operator_is_norm(enum operator_kind kind);
bool operator_is_element(enum operator_kind kind);

/* Whether it has a second input, in_b, and by which name commands show that; and whether its rows have exponentials. */
bool operator_has_in_b(enum operator_kind kind);
const char *operator_in_b_words(enum operator_kind kind);
bool operator_has_exp(enum operator_kind kind);

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

/* What the softmax of a row gives: of weigh, which does not write it, probabilities of u8. */
const struct tensor *operator_softmax_out(const struct row_operator *of);

/* An operator in the runtime's layout; it points into the row_operator. */
struct packed_operator {
    enum operator_kind kind;
    pwl_softmax softmax;
    pwl_norm norm;
    pwl_requantise requantise;
    pwl_row_values values; /* weigh: without an array and its channels */
    pwl_add add;
    struct packed_table core;
};

/* Packs and proves it; a failed proof is exit code `refusal`. Free with packed_operator_free, also after a failure. */
int operator_pack(const struct row_operator *of, int refusal, struct packed_operator *packed, struct diag *diag);
void packed_operator_free(struct packed_operator *packed);

/* One row: arrays of the operator's types. */
struct operator_row {
    const void *x, *b; /* b: add's second input; weigh's values, `channels` of each place */
    void *y;           /* `length` codes; of weigh `channels` */
    size_t length, channels;
};
void packed_operator_run(const struct packed_operator *packed, const struct operator_row *row);

/* Code k of an array of a type of 8, 16 or 32 bits. */
int64_t operator_code(const struct tensor *tensor, const void *array, size_t k);
void operator_set_code(const struct tensor *tensor, void *array, size_t k, int64_t code);

/* Bytes of tables and constants per channel: what firmware stores beside the struct; of elements the struct itself. */
size_t operator_bytes(const struct row_operator *of);

/* make.c: what is asked for. */
struct operator_request {
    enum operator_kind kind;
    struct tensor in, in_b, out; /* in_b: of add and weigh */
    uint32_t length;             /* 0: as many as gamma has */
    int fraction;                /* of softmax and weigh; 0: 30 */
    double eps;
    const double *gamma, *beta; /* null: 1 and 0 */
    const char *words;          /* canonical flags beside the types and the length: "--eps 1e-05" */
};

/* Makes every constant and the core; the certificate is operator_certify()'s. Exit 2 when the types are not
 * those of such an operator, 3 when no provable operator exists. */
int operator_make(const struct operator_request *request, struct row_operator *of, struct diag *diag);

/* elements.c: the constants of an operator of elements, or of weigh's requantisation, whose types have been checked;
 * and what the rounding of the factors adds to half a step. */
int element_make(struct row_operator *of, struct diag *diag);
long double element_error(const struct row_operator *of);

/* What a step of one of its inputs is, in output LSB; and a step of weigh's sums. */
long double element_ratio(const struct row_operator *of, const struct tensor *in);
long double weigh_ratio(const struct row_operator *of);

/* The largest distance of a code from its zero point. */
int64_t element_farthest(const struct tensor *in);

/* Whether 32 bits hold the sum of add, with the half that is added to it, of every two codes. */
bool element_is_narrow(const struct row_operator *of);

/* Exit 2 where a zero point of its inputs, by these names, is no code. */
int element_check_zero_points(const struct row_operator *of, const char *in, const char *in_b, struct diag *diag);

/* bound.c: fills the bound and its parts, by the formulas and all entries of the tables. */
int operator_bound(const struct row_operator *of, struct operator_certificate *certificate, struct diag *diag);

/* The parts of a bound that a certificate of the kind names. */
struct operator_part {
    const char *name; /* of the field: "rho" */
    double *value;
};
#define OPERATOR_PARTS 5
int operator_parts(enum operator_kind kind, struct operator_certificate *certificate,
                   struct operator_part parts[OPERATOR_PARTS]);

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
