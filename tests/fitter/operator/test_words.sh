#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The delta of certificates against every word that a core is asked for; in the quick part against every 1009th.
# usage: test_words.sh PWLC SOURCE CC...
set -eu
pwlc=$1 source_root=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step=1009
[ "${PWL_TEST_LONG-}" != 1 ] || step=1

# check KIND ROOT FLAG...: fits, and holds what its core gives against its certificate.
check() {
    local kind=$1 root=$2 core errors
    shift 2
    "$pwlc" fit "$kind" "$@" -o "$work/$kind.json"
    "$pwlc" emit "$work/$kind.json" -o "$work/$kind.h"
    core=$(sed -nE 's/^static const pwl_table (pwl_[a-z0-9_]+_core) = .*/\1/p' "$work/$kind.h")
    errors=$(grep -oE '"delta0?": [^,}]*' "$work/$kind.json" | sed 's/.*: //')
    "${compile[@]}" -include "$work/$kind.h" "-DCORE=$core" "-DROOT=$root" -o "$work/words"
    "$work/words" "$step" $errors || { echo "$kind: words are further off than its certificate says"; exit 1; }
}
compile=("$@" -std=c11 -O2 -Wall -Wextra -Werror "-I$source_root/runtime/include"
    "$source_root/tests/fitter/operator/words.c" "$source_root/runtime/eval.c" -lm)
check softmax 0 --in s8:0.0472 --out u8:2^-8 --rows 64
check layernorm 1 --in s16:2^-10 --out s16:2^-12 --rows 64
