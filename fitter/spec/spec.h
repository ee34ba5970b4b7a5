/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `pwlc fit` is asked for. Flags and the jobs of `--spec` fill the same structure. */
#ifndef PWLC_SPEC_H
#define PWLC_SPEC_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/integers.h"
#include "base/time_limit.h"
#include "calibrate.h"
#include "constraints.h"
#include "function/function.h"
#include "function/tensor.h"
#include "function/weights.h"
#include "table/table.h"

/* The values of the flags that have a list of them, as --help writes it. */
#define SPEC_METHODS "lsq|minimax|uniform|document|lut|residual"
#define SPEC_FORMS FORM_CHOICES
#define SPEC_ROUNDINGS ROUNDING_CHOICES
#define SPEC_SHIFTS "per-segment|one"
#define SPEC_SLOPE_TERMS "any|1|2"
#define SPEC_SYMMETRIES "fold|off"
#define SPEC_REDUCES "on|off"
#define SPEC_ZEROS "keep|free"
#define SPEC_OUTSIDES "clamp|error"

enum method { METHOD_LSQ, METHOD_MINIMAX, METHOD_UNIFORM, METHOD_DOCUMENT, METHOD_LUT, METHOD_RESIDUAL };

/* `--fix X:Y`: the code nearest to x gives the code nearest to y. */
struct fix {
    double x, y;
};

/* Inputs of up to this many bits are fitted on every code. */
#define SPEC_EXHAUSTIVE_BITS 16

/* Least squares of inputs of up to so many codes, 10 bits or halves of 11, come of a complete search. */
#define SPEC_COMPLETE_CODES 1025

#define SPEC_MAX_FIXES 16

/* Where types without a scale take it from; see calibrate.h. */
struct calibration {
    bool has_range, has_by, powers_of_two;
    bool is_implied;  /* powers_of_two is what a profile asks for, where a scale is found */
    double low, high; /* with has_range */
    double *values;   /* of --calibrate, sorted; malloc'd, else null */
    size_t count;
    enum calibrate_by by;
    double percent;
};

struct spec {
    struct function function;
    struct tensor in, out;
    bool in_lacks_scale, out_lacks_scale; /* given as codes alone, "s8", until spec_resolve */
    bool out_is_derived;                  /* as out_lacks_scale, and from spec_resolve on */
    bool in_keeps_zero, out_keeps_zero;   /* given as "s8:auto:0": the zero point is 0 */
    bool has_model_type;                  /* a type was read from a model */
    const struct profile *profile;        /* of --profile, else null; and how its file is to be written */
    const struct notation *notation;
    struct calibration calibration;
    int segments;       /* 1..4096; 0 when not given */
    double max_err;     /* output LSB, > 0; NAN when not given */
    enum method method; /* lsq when not given, minimax with max_err */
    pwl_form form;
    pwl_rounding rounding;
    int slope_bits;       /* 2..storage_bits: width of q_b, or of what --shift-multiple stores; 0: the storage's */
    bool has_offset_type; /* offsets lie in the codes of a type */
    struct tensor offset_type;
    struct constraints constraints;
    int fix_count;
    struct fix fixes[SPEC_MAX_FIXES];
    const char *weights_path; /* the caller's, read by spec_resolve; null: every code counts alike */
    struct weights *weights;  /* of that */
    bool fold;                /* half a table for an odd or complementary function */
    bool is_half;             /* of the half of a folded table, see spec_fold_half: */
    int64_t fold_sum;         /* q_y(q_x) = sum - raw(2 * zp_x - q_x) below zp_x */
    bool saturates_as_one;    /* both halves are taken to saturate where `out` ends, and not each for itself */
    bool reduce;              /* a table of one octave, see reduce.h */
    const struct spec *whole; /* of the core of a reduced table: the table's spec, and the plan; else null */
    const struct reduced_core *core;
    enum outside outside;
    bool no_saturate;
    double effort; /* share of EFFORT_POINTS that its searches may look at: 1, or less for what only a note asks */
    bool is_aside; /* what a note or another fit asks: its tied segments are searched from one table alone */
    struct time_limit *time_limit; /* the caller's; null: none. No part of the canonical flags */
    bool zero_is_free;             /* f(0) may come out as another code than its own; else see keep_zero.h */
    bool has_in, has_out, has_method, has_form;
};

#define SPEC_DEFAULT_SEGMENTS 16

const char *method_name(enum method method);
const char *method_summary(enum method method); /* one line for `pwlc list` */
bool method_parse(const char *name, enum method *method);

/* Whether a code decides for itself, and nothing of segments and slopes is to be chosen. */
static inline bool method_is_of_codes(enum method method)
{
    return method == METHOD_LUT || method == METHOD_RESIDUAL;
}
#define METHOD_COUNT 6

/* Starts a spec with every default; function, in and out are still to be given. spec_free drops what it owns. */
void spec_init(struct spec *spec);
void spec_free(struct spec *spec);

/* Sets one choice from its flag ("--in") and text ("u16:2^-12:24576"); switches take a null value. The positional
 * function name has the flag "FUNCTION". Flags and spec files both come through here, so that they accept the same
 * and complain alike. Exit 2 with the flag in the message. */
int spec_set(struct spec *spec, const char *flag, const char *value, struct diag *diag);

/* The same, where it takes a value with the next word of strtok_r(): it may begin with "-", as -1:0 of --fix. */
int spec_set_word(struct spec *spec, const char *flag, char **rest, struct diag *diag);

/* Whether spec_set knows the flag. */
bool spec_has_flag(const char *flag);

/* derive.c: reads the weights, which may be as many as --in has codes, and finds the scales and zero points that types
 * lack. --in takes those of --range, or of the range that
 * --calibrate finds; --out takes those of the function's smallest and largest value over the codes of --in in that
 * range, or over all of them when there is none. To be called once when every flag is set. Exit 2 when something needed
 * is missing, something given is of no use, or there is no such range. */
int spec_resolve(struct spec *spec, struct diag *diag);

/* The parts of spec_check that come before spec_resolve: what must be given is; and that no type lacks a scale. */
int spec_check_given(const struct spec *spec, struct diag *diag);
int spec_check_scales(const struct spec *spec, struct diag *diag);

/* points.c, of --knots points: the codes between two points, as a power of two, by what is given or by default; 0 where
 * --max-err alone decides. */
int spec_points_shift(const struct spec *spec);

/* Takes the form that holds such tables where none was given: anchored, or biased where the whole sum is rounded. */
void spec_settle_form(struct spec *spec);

/* Exit 2 where something is asked for that such tables cannot be, or another form; of --knots steps too. */
int spec_check_points(const struct spec *spec, struct diag *diag);

/* Segments of --knots steps: an index more than there are intervals, but where it is rounded down. */
int spec_step_count(const struct spec *spec);

/* Checks what single flags cannot: contradictions (document with an arbitrary scale, lut with more than 12 bits or
 * with --segments, ...), the domain, an output that is saturated everywhere. */
int spec_check(const struct spec *spec, struct diag *diag);

/* Canonical flags, for example "sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 --method lsq
 * --form absolute --rounding floor": every choice that changes the table is written, in one order. malloc'd. */
char *spec_canonical(const struct spec *spec);

/* A flag of fit and its value; of a positional argument the flag is "FUNCTION". */
struct given {
    const char *flag, *value;
};

/* Functions that tables have no part in, and the flags that their jobs may have. */
struct other_jobs {
    bool (*is_named)(const char *function);
    const char *const *flags; /* ends with null */
};

/* A job of `--spec`: the name of its output file (NAME.json), and the spec or, of another function, its flags. */
struct job {
    char name[64];
    struct spec spec;
    struct given *given; /* malloc'd, the values too; null: of a table */
    int given_count;
};

/* spec_json.c: a JSON list of objects, whose keys are "function" and those of SPEC_FLAGS: strings or numbers as their
 * flags take them, true for a switch, "param": {"alpha": 0.1}, "fix": ["0:0"]; "name" is required and names the output.
 * At most SPEC_MAX_JOBS jobs in SPEC_MAX_BYTES. `others` may be null: there are none. */
#define SPEC_MAX_JOBS 10000
#define SPEC_MAX_BYTES ((size_t)64 << 20)
int spec_list_parse(const char *bytes, size_t size, const struct other_jobs *others, struct job **jobs, int *count,
                    struct diag *diag);
void spec_list_free(struct job *jobs, int count);

static inline bool has_points(const struct spec *spec)
{
    return spec->constraints.knots == KNOTS_POINTS;
}

/* Whether values at evenly spaced codes say how many segments there are. */
static inline bool has_values(const struct spec *spec)
{
    return has_points(spec) || spec->constraints.knots == KNOTS_STEPS;
}

/* The offsets that --offset-type leaves of those that the storage has. */
struct integers spec_offsets(const struct spec *spec, struct integers stored);

/* The values at points that it leaves. */
struct integers spec_values(const struct spec *spec, struct integers all);

/* Whether an expression has a finite value at a code of --in; exit 2 where it has none. */
int spec_check_value(const struct spec *spec, int64_t code, struct diag *diag);

/* The codes of a fix. Exit 2 when x or y has no code. */
int spec_fix_codes(const struct spec *spec, const struct fix *fix, int64_t *q_x, int64_t *q_y, struct diag *diag);

/* fold.c: the sum S of a folded table, q_y(q_x) = S - raw(2*zp_x - q_x) below zp_x. Exit 2 when the function has no
 * such symmetry or the types do not allow it. */
int spec_fold_sum(const struct spec *spec, int64_t *sum, struct diag *diag);

/* The spec whose table, over the codes from zp_x on, is the half that a folded table stores. Its codes are those that
 * the table is asked for: the mirror image of the lowest code, -32768 as 32768, may lie one beyond the last code of the
 * input, and can then start no segment. Its output range holds the raw values of both halves, so that nothing but the
 * whole table saturates. */
struct spec spec_fold_half(const struct spec *spec, int64_t sum);

/* That output range, which spec_fold_narrow may have narrowed. */
struct integers spec_fold_outputs(const struct spec *half);

/* Narrows the output range of a half to one code beyond those that no half saturates, where squared errors are exact. A
 * line that goes on beyond that costs no less than at its end, as no target lies there; it may cost more. False, and
 * nothing is changed, where some target or fix does lie there, or codes are too many to look. */
bool spec_fold_narrow(struct spec *half);

#endif
