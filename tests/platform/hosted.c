/* SPDX-License-Identifier: Apache-2.0 */
/* A platform with a C library. */
#include <stdio.h>

#include "say.h"

void say(const char *text)
{
    fputs(text, stdout);
}
