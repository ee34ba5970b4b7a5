/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that can be compiled: built-in ones, described by one table, and sampled ones. */
#ifndef PWLC_FUNCTION_H
#define PWLC_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/dd.h"

#define FUNCTION_MAX_PARAMETERS 2
#define FUNCTION_MAX_ALIASES 3

enum symmetry {
    SYMMETRY_NONE,
    SYMMETRY_ODD,       /* f(-x) = -f(x) */
    SYMMETRY_EVEN,      /* f(-x) = f(x) */
    SYMMETRY_COMPLEMENT /* f(-x) = 1 - f(x) */
};

struct parameter_info {
    const char *name; /* null ends the list */
    double initial, min, max;
};

struct curvature; /* curvature.h */

/* Real functions take x and the parameter values. Values are accurate to 2^-65 of themselves, but for sin and cos next
 * to their roots, and for erfc's share of less than 2^-94 in gelu, as elementary.h tells. */
typedef struct dd real_function(struct dd x, const double *parameters);

struct function_info {
    const char *name;
    const char *aliases[FUNCTION_MAX_ALIASES + 1]; /* what others call it, "swish" for silu; null ends the list */
    const char *formula;                           /* for `pwlc list` */
    real_function *value;
    real_function *derivative; /* one-sided limit from the right at kinks */
    real_function *second_derivative;
    double domain_min, domain_max; /* +-INFINITY when unbounded */
    bool open_min, open_max;       /* the end itself is outside the domain (log, rsqrt, reciprocal at 0) */
    bool punctured;                /* 0 is outside the domain (reciprocal) */
    enum symmetry symmetry;
    const struct curvature *curvature; /* null where it is not known */
    const char *limit_min, *limit_max; /* behaviour at the domain's ends: "0", "1", "x", "-inf", "oscillates" */
    struct parameter_info parameters[FUNCTION_MAX_PARAMETERS + 1];
};

/* The table, ending with a null name. */
extern const struct function_info function_table[];

const struct function_info *function_find(const char *name); /* null when unknown */
const struct function_info *function_find_by_any_name(const char *name);

/* Names and aliases, for suggest(), and null behind them; returns how many there are. */
enum { FUNCTION_NAMES = 128 };
size_t function_names(const char *names[FUNCTION_NAMES + 1]);

struct samples;    /* samples.h */
struct expression; /* expression.h */

/* A function with its parameters bound. Either info or samples is set; with an expression, info says that it is one. */
struct function {
    const struct function_info *info;
    double parameters[FUNCTION_MAX_PARAMETERS];
    struct samples *samples;
    struct expression *expression;
};

/* Sets info and the parameters' initial values; name may be an alias. Exit 2, naming close matches, when unknown. */
int function_init(struct function *function, const char *name, struct diag *diag);

/* `--param name=value`. Exit 2 when the function has no such parameter or the value is outside its range. */
int function_set_parameter(struct function *function, const char *assignment, struct diag *diag);

/* Makes text the function. As expression_create. */
int function_set_expression(struct function *function, const char *text, const char *field, struct diag *diag);

/* "sigmoid", "samples" or "expr" */
const char *function_name(const struct function *function);

/* The same on every machine. */
struct dd function_at(const struct function *function, struct dd x);
struct dd function_derivative_at(const struct function *function, struct dd x);

/* Whether f is defined at x. For samples: between the first and the last x; for an expression: where it is finite. */
bool function_defined_at(const struct function *function, struct dd x);

/* For display: the same of a long double. */
long double function_value(const struct function *function, long double x);
long double function_derivative(const struct function *function, long double x);
long double function_second_derivative(const struct function *function, long double x);
bool function_defined(const struct function *function, long double x);

/* How far a value, function_at() of x, may be off: differences within that are noise. */
double function_noise(const struct function *function, struct dd x, struct dd value);

/* "(0, inf)": the domain for messages. */
void function_domain_text(const struct function *function, char *text, size_t size);

#endif
