/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void compare_text(const char *field, const char *a, const char *b, int *differences)
{
    if (strcmp(a, b) == 0)
        return;
    printf("%s: %s | %s\n", field, a[0] ? a : "none", b[0] ? b : "none");
    if (differences)
        ++*differences;
}

void compare_integer(const char *field, int64_t a, int64_t b, int *differences)
{
    if (a == b)
        return;
    printf("%s: %" PRId64 " | %" PRId64 "\n", field, a, b);
    ++*differences;
}

void compare_tensor(const char *field, const struct tensor *a, const struct tensor *b, int *differences)
{
    char text_a[128], text_b[128], name[16];
    tensor_format(a, text_a, sizeof text_a);
    tensor_format(b, text_b, sizeof text_b);
    compare_text(field, text_a, text_b, differences);
    snprintf(name, sizeof name, "%s.qmin", field);
    compare_integer(name, a->qmin, b->qmin, differences);
    snprintf(name, sizeof name, "%s.qmax", field);
    compare_integer(name, a->qmax, b->qmax, differences);
}
