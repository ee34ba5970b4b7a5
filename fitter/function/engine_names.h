/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of the language of expressions, and what to say of others. */
#ifndef PWLC_ENGINE_NAMES_H
#define PWLC_ENGINE_NAMES_H

#include <stddef.h>

#include "base/ascii.h"
#include "base/suggest.h"
#include "engine_program.h"

/* A function of the language: of any number of arguments, each joined to those before by an operation; or of one. */
struct known_function {
    const char *name;
    enum operation operation;
    int argument;
    bool joins;
};

/* Null for a name that is none of these; the built-in functions that ball.h has not are formulas of the parser. */
const struct known_function *known_function_find(const char *name);

enum { NAME_SIZE = 32 }; /* with its zero; longer names are not understood */

/* The name that begins there, empty where none does or it is too long; returns its length. */
size_t name_read(const char *text, char name[NAME_SIZE]);

/* How the message about a place ends which is not understood: with what would be right, as far as that can be told. It
 * is returned, and may stand in words. */
const char *hint_at(const char *text, const char *at, char words[SUGGESTION_SIZE]);

#endif
