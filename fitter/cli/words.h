/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Codes as words of the command line and of standard input, which is read piece by piece. */
#ifndef PWLC_WORDS_H
#define PWLC_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "function/tensor.h"

/* Input codes as given, not yet clamped. */
struct codes {
    const struct tensor *in;
    bool real; /* words are real values */
    int64_t *values;
    size_t count, capacity;
};

/* Adds the code of one word. */
int codes_add_word(struct codes *codes, const char *word, size_t length, struct diag *diag);

/* Adds the codes of all words of text[0..size), which begins with line *line of standard input; *line is then that of
 * its end. */
int codes_add_words(struct codes *codes, const char *text, size_t size, size_t *line, struct diag *diag);

/* Given some codes of standard input, in order; exit code. */
typedef int codes_take(void *context, const int64_t *codes, size_t count, struct diag *diag);

#define CODES_AT_LEAST 8192 /* that take is given at once, but for the last */

/* Reads standard input to its end, and gives what it holds to take in pieces, in memory that does not grow with them;
 * codes holds a piece meanwhile. */
int codes_read(struct codes *codes, codes_take *take, void *context, struct diag *diag);

#endif
