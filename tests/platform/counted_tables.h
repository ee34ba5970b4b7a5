/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of count_standalone.c as the runtime has them: in a file of their own, as their names are those of the
 * standalone headers. */
#ifndef COUNTED_TABLES_H
#define COUNTED_TABLES_H

#include <pwl/pwl.h>

extern const pwl_table *const counted_s8, *const counted_s16, *const counted_s32;

#endif
