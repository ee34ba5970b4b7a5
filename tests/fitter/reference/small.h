/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiny formats with a function each, at random, for the fitter and for brute force. */
#ifndef SMALL_H
#define SMALL_H

#include "brute_force.h"
#include "spec/spec.h"

/* A format and a function on it. */
struct small {
    struct spec spec;
    double target[BRUTE_CODES];
    long double whole[BRUTE_CODES]; /* before they are clipped to the output range */
    int64_t fixed[BRUTE_CODES];
    struct brute_problem problem;
    double least[BRUTE_CODES + 1];
    bool constant; /* the function lies outside the output range at every code */
    char text[2800];
};

/* Random numbers, the same everywhere, from the seed of the last small_draw. */
uint64_t draw(uint64_t choices);
int64_t between(int64_t low, int64_t high);
double uniform(double low, double high);

/* The case of a number: form and rounding in turn, the rest at random. Inputs have 3 to 6 bits, outputs 3 to 10; with
 * tiny 3 to 4 and 3 to 5. The caller frees the spec, whose method is minimax. */
void small_draw(struct small *small, int number, bool tiny);

/* Sets a flag of the spec, value null for those without one, and adds it to the text. */
void small_set(struct small *small, const char *flag, const char *value);

/* Whether targets have no rounding error, in the fitter too. */
bool small_is_exact(const struct small *small);

#endif
