#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The program finds its own hashes and bounds kept, its figures are those of examples/RESULTS.md, and a step compiles
# where there are no registers for floats. usage: check_gru.sh PROGRAM SOURCE_ROOT COMPILER...
set -eu
program=$1 source_root=$2
shift 2
. "$(dirname "$0")/published.sh"
published "$source_root/examples/RESULTS.md" "$program"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
step='int16_t (*volatile step)(const gru_gates *, const int32_t *, const int32_t *, const int8_t *, const int8_t *, int,
    int16_t) = gru_unit;'
printf '#include "gru_step.h"\n%s\n' "$step" |
    "$@" -std=c11 -mgeneral-regs-only -O2 -Wall -Wextra -Werror -I"$source_root/runtime/include" \
        -I"$source_root/examples" -x c -c - -o "$scratch/gru_step.o"
