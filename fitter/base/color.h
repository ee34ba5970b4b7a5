/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colour for what matters first: errors and verdicts. */
#ifndef PWLC_COLOR_H
#define PWLC_COLOR_H

#include <stdio.h>

#define COLOR_MODES "auto|always|never"

enum color { COLOR_ERROR, COLOR_GOOD, COLOR_BAD };

/* One of COLOR_MODES. auto, which holds until this is called: on terminals that are not dumb, unless NO_COLOR is set
 * and not empty. */
void color_mode(const char *mode);

/* Instead of "auto" none: standard output is no terminal, however it looks. */
void color_refuse(void);

/* What turns a colour on and all off: "" where the stream gets none. */
const char *color_on(FILE *stream, enum color color);
const char *color_off(FILE *stream);

#endif
