/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exit codes and error messages. A function that can fail returns an exit code and fills a diag. */
#ifndef PWLC_DIAG_H
#define PWLC_DIAG_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_IO = 1,          /* I/O or internal error */
    EXIT_USAGE = 2,       /* unusable flags, spec or file content */
    EXIT_REQUIREMENT = 3, /* a requirement is not met: bound missed, mismatch, no provable table */
    EXIT_MISSING = 77     /* a needed tool or GPU is missing */
};

struct diag {
    int code;       /* enum exit_code */
    char text[640]; /* one line: the file, the field or flag, and what would be right */
};

/* Formats a message into *diag (cut when too long) and returns code, so that `return diag_set(...)` reads well. */
int diag_set(struct diag *diag, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message, for example the file name. Returns diag->code. */
int diag_prefix(struct diag *diag, const char *prefix);

#endif
