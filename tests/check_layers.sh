#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Dependencies point one way: fitter -> runtime, kernels -> runtime, runtime -> nothing; GSL is in one file.
set -u
cd "$1" || exit 1
failed=0

# allow FOLDER PATTERN WHY: every #include in the folder's sources matches the extended pattern.
allow() {
    local folder=$1 pattern=$2 why=$3 line
    [ -d "$folder" ] || return 0
    while IFS= read -r line; do
        echo "$line: $why"
        failed=1
    done < <(grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.inc' \
                 '^[[:space:]]*#[[:space:]]*include' "$folder" | grep -vE "include[[:space:]]*($pattern)")
}

# Headers beside a runtime source, and the public ones.
own_runtime=$(find runtime -name '*.h' -o -name '*.inc' | sed 's|.*/||; s|\.|\\.|' | paste -sd '|')
allow runtime "<std(def|int)\.h>|<immintrin\.h>|<arm_(acle|mve|neon|sve)\.h>|<riscv_vector\.h>|<sys/auxv\.h>|<pwl/[a-z0-9_]+\.h>|\"(pwl/|\.\./)?($own_runtime)\"" \
    'runtime/ includes stddef.h, stdint.h, compilers'\'' own headers of instructions, the list of what Linux tells of the processor, and its own headers only'

if grep -rnE '#[[:space:]]*include.*(fitter|gsl|jansson|nettle)' runtime kernels; then
    echo 'runtime/ and kernels/ never include fitter/ headers or the libraries it needs'
    failed=1
fi
own_fitter=$(find fitter -name '*.h' | sed 's|.*/||; s|\.|\\.|' | paste -sd '|')
if [ -n "$own_fitter" ] && grep -rnE "#[[:space:]]*include[[:space:]]*\"(.*/)?($own_fitter)\"" runtime kernels; then
    echo 'runtime/ and kernels/ never include fitter/ headers'
    failed=1
fi
if grep -rnE '#[[:space:]]*include[[:space:]]*<gsl/' --include='*.[ch]' --exclude-dir='build*' . |
    grep -v '^\./fitter/search/real_line_fit\.c:'; then
    echo 'GSL is included by fitter/search/real_line_fit.c alone'
    failed=1
fi
exit $failed
