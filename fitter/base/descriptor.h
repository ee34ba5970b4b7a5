/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths that name an open descriptor of the process, and what links lead to. */
#ifndef PWLC_DESCRIPTOR_H
#define PWLC_DESCRIPTOR_H

/* The descriptor that an output goes into: 1 for "-", null and /dev/stdout, 2 for /dev/stderr, N for /dev/fd/N,
 * /proc/self/fd/N and links to them; -1 for every other path. Behind a descriptor may be a regular file, which must be
 * written into and not replaced. */
int descriptor_of(const char *path);

/* What a path leads to, where it is a link, or a link to links: a path of which the last may be of nothing yet. Null
 * with errno; free it. */
char *path_behind_links(const char *path);

#endif
