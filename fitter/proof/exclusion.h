/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exclusions of a proof: that no allowed line serves a range of codes. */
#ifndef PWLC_EXCLUSION_H
#define PWLC_EXCLUSION_H

#include "base/file.h"
#include "search/hulls.h"
#include "search/line.h"

enum exclusion {
    EXCLUDED,           /* and written */
    EXCLUDED_BY_WINDOW, /* likewise; no slope is left at all, whatever the line's origin */
    NOT_EXCLUDED,       /* some line serves */
    TOO_MANY_SLOPES
};

/* Writes the exclusion of the lines of some rules over the points [from, upto) of the hulls, which have bands. */
enum exclusion exclusion_write(struct hulls *hulls, const struct line_rules *rules, int from, int upto,
                               struct text *out);

#endif
