/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the other methods find, where the one asked for may not have found the best by its own objective. */
#ifndef PWLC_OTHER_METHODS_H
#define PWLC_OTHER_METHODS_H

#include "base/diag.h"
#include "spec/spec.h"
#include "table/table.h"

/* Exchanges a table of least squares for the one of least largest error, or of equal parts of the codes, with as many
 * segments, where that has a smaller RMS error. Where its own search shows that little could be won, no other is begun;
 * fit is what fits a spec by one method. What is known of all tables stays. */
int try_other_methods(const struct spec *spec,
                      int (*fit)(const struct spec *spec, struct table *table, struct diag *diag), struct table *table,
                      struct diag *diag);

#endif
