/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands do with networks: show, eval and emit take their files. */
#ifndef PWLC_CLI_NETWORK_H
#define PWLC_CLI_NETWORK_H

#include <jansson.h>

#include "base/diag.h"
#include "base/file.h"
#include "emit/options.h"

/* For people; and what a list of `show --format json` has, null after a failure. */
int network_show(const char *path, struct diag *diag);
json_t *network_json(const char *path, struct diag *diag);

/* The outputs of .npy arrays, one for each input: into the file `output`, or, of several, a file each, whose name has
 * the output's number before its ending. */
int network_eval(const char *path, const char *const *inputs, int count, const char *output, struct diag *diag);

/* The text of a header; `given` are "NAME=VALUE" of sizes, the others are the longest. */
int network_emit(const char *path, const char *const *given, int count, const struct emit_options *options,
                 struct text *out, struct diag *diag);

#endif
