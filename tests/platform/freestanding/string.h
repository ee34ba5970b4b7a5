/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers expect of every platform, for those without a C library. */
#ifndef STRING_H
#define STRING_H

#include <stddef.h>

void *memset(void *to, int value, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);

#endif
