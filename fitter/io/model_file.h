/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model files of either format, which is told by their first bytes. */
#ifndef PWLC_MODEL_FILE_H
#define PWLC_MODEL_FILE_H

#include "model.h"

/* Reads what a file says of its tensors. Exit 1 or 2, of model_read() with the path in the message; needs no
 * model_free() then. */
int model_read(const char *path, struct model *model, struct diag *diag);
int model_parse(struct window *window, struct model *model, struct diag *diag);

#endif
