#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compile.sh NVCC OPTION...: runs nvcc on one .cu file, strictly: a warning, a spilled register, other local memory, or
# ptxas telling of a performance loss (which it does as mere information, with exit status 0) is an error. Says nothing
# when all is well.
set -u
nvcc=$1
shift

log=$("$nvcc" -std=c++17 -O3 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror,-fno-exceptions \
    -Xptxas -v,-warn-spills,-warn-lmem-usage,-Werror "$@" 2>&1)
status=$?

spills='[1-9][0-9]* bytes spill|[1-9][0-9]* bytes (cumulative )?stack|[1-9][0-9]* bytes lmem'
losses='Potential Performance Loss|C75[0-9][0-9]'
found=$(grep -E "$spills|$losses" <<<"$log")
if [ $status -eq 0 ] && [ -n "$found" ]; then
    # The kernel that ptxas speaks of stands above the line, in words of the same log.
    grep -E "entry function|$spills|$losses" <<<"$log" | grep -E -B 1 "$spills|$losses"
    echo "compile.sh: ptxas spilled registers, used local memory or serialised, see above"
    exit 1
fi
if [ $status -ne 0 ]; then
    grep -vE '^ptxas info|bytes stack frame, 0 bytes spill|^$' <<<"$log"
    echo "compile.sh: $nvcc ended with status $status"
fi
exit $status
