/* SPDX-License-Identifier: Apache-2.0 */
#include "convert.h"

#define RUN_CONVERTED pwl_run_converted
#define RUN_JOINED pwl_run_joined
#include "convert_loops.h"
