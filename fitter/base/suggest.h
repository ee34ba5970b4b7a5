/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "Did you mean ...": the closest known word to a mistyped one. */
#ifndef PWLC_SUGGEST_H
#define PWLC_SUGGEST_H

/* The first candidate with the fewest edits (insert, delete, replace, swap of neighbours; case does not count), or
 * null when even that takes more than one edit for every three characters, rounded up. The list ends with null. */
const char *suggest(const char *word, const char *const *candidates);

#endif
