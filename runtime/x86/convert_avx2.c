/* SPDX-License-Identifier: Apache-2.0 */
#include "../convert.h"

#define RUN_CONVERTED pwl_run_converted_avx2
#define RUN_JOINED pwl_run_joined_avx2
#include "../convert_loops.h"
