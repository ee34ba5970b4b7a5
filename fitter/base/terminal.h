/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PWLC_TERMINAL_H
#define PWLC_TERMINAL_H

/* How many characters a line has of what file_write() writes to a path, where that is a terminal that knows; else 0. */
int terminal_width(const char *path);

#endif
