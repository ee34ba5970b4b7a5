/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Did you mean ...": the closest known word to a mistyped one. */
#ifndef PWLC_SUGGEST_H
#define PWLC_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

/* What was meant by a word, or null; the candidates end with null. In this order: what others call so ("--output" is
 * -o); a candidate that is one edit away (insert, delete, replace, swap of neighbours; case and the dashes of flags do
 * not count); the only candidate that the word begins; the first with the fewest edits, at most one for every three
 * characters, rounded up. Words of less than six letters allow one edit, of less than three none. */
const char *suggest(const char *word, const char *const *candidates);

#define SUGGESTION_SIZE 300

/* How a message about a word ends: "; did you mean X?" where one of the candidates was meant, else `otherwise`. It is
 * returned, and may stand in text. */
const char *suggestion(const char *word, const char *const *candidates, const char *otherwise,
                       char text[SUGGESTION_SIZE]);

/* Whether a flag's argument, as its help writes it, is a list of all its values: "on|off", but not "free|pow2[:B]". */
bool choice_is_closed(const char *choices);

/* Exit 2 unless the value is one of "a|b|c": "--method minmax: must be lsq, minimax or lut; did you mean minimax?" */
int choice_check(const char *flag, const char *choices, const char *value, struct diag *diag);

/* The next word of a list "a,b,c", which is cut off from it; words that are longer than the buffer end early. False at
 * the list's end. */
bool choice_next(const char **list, char *word, size_t size);

/* Exit 2 unless the list has a word, and each is one of "a|b|c". */
int choice_check_list(const char *flag, const char *choices, const char *list, struct diag *diag);

#endif
