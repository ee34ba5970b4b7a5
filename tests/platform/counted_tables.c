/* SPDX-License-Identifier: Apache-2.0 */
#include "counted_tables.h"

#include "../../luts/pwl_sigmoid_s16.h"
#include "../../luts/pwl_sigmoid_s32.h"
#include "../../luts/pwl_sigmoid_s8.h"

const pwl_table *const counted_s8 = &pwl_sigmoid_s8;
const pwl_table *const counted_s16 = &pwl_sigmoid_s16;
const pwl_table *const counted_s32 = &pwl_sigmoid_s32;
