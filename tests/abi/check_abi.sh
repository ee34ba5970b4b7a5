#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The binary interface of libpwl is the one recorded in lp64.txt: sizes and offsets of public structs, values of
# enumerations and constants, prototypes. What changes, or goes, needs a new PWL_ABI_VERSION; what is added does not.
# usage: check_abi.sh [--write] SOURCE CC...      --write records what is there now, where the version allows it
set -eu
export LC_ALL=C
write=no
[ "$1" != --write ] || { write=yes && shift; }
source_root=$1
shift
recorded=$source_root/tests/abi/lp64.txt
headers=("$source_root"/runtime/include/pwl/*.h)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every constant: enumerators, and macros that are numbers.
sed -nE 's/^#define (PWL_[A-Z0-9_]+) +[0-9].*/\1/p' "${headers[@]}" | grep -vx PWL_ABI_VERSION >"$work/names"
grep -ohE '\bPWL_[A-Z0-9_]+ = [0-9]+' "${headers[@]}" | sed 's/ = .*//' >>"$work/names"
sed 's/.*/VALUE(&)/' "$work/names" >"$work/values.h"

# Every type, but for those that no function of the library takes: inline functions and makers of networks alone do.
sed -nE 's/^(typedef .*)?\} (pwl_[a-z0-9_]+);.*/\2/p' "${headers[@]}" |
    grep -vxE 'pwl_location|pwl_reduced_code|pwl_row_cell|pwl_row_factor|pwl_norm_row|pwl_network_any|pwl_network_shape' | while read -r type; do
    grep -qE "(STRUCT|ENUM)\($type\)" "$source_root/tests/abi/layout.c" ||
        { echo "check_abi: $type is public, but tests/abi/layout.c does not print it"; exit 1; }
done

"$@" -std=c11 -Wall -Wextra -Wpedantic -Werror "-I$source_root/runtime/include" "-I$work" \
    "$source_root/tests/abi/layout.c" -o "$work/layout"
"$work/layout" >"$work/abi"

# Prototypes, as the preprocessor shows them, without names of parameters.
printf '#include <%s>\n' "${headers[@]#"$source_root/runtime/include/"}" |
    "$@" -std=c11 "-I$source_root/runtime/include" -E -P -x c - | tr -s ' \n' ' ' |
    grep -oE 'visibility\("default"\)\)\)[^;]*;' |
    sed -E -e 's/.*\)\)\) (__attribute__\(\(warn_unused_result\)\) )?//' \
        -e 's/\b[a-z_]+([,)])/\1/g' -e 's/ ([,)])/\1/g' -e 's/\(\)/(void)/' |
    sort -t '(' -k 1,1 -u >>"$work/abi"
[ "$(wc -l <"$work/abi")" -gt 100 ] || { echo "check_abi: the headers cannot be read"; exit 1; }

! cmp -s "$recorded" "$work/abi" || exit 0
lost=$(grep -vxFf "$work/abi" "$recorded" || true)
if [ -n "$lost" ] && [ "$(head -n 1 "$recorded")" = "$(head -n 1 "$work/abi")" ]; then
    diff "$recorded" "$work/abi" || true
    echo "check_abi: programs that run with this library would go wrong: raise PWL_ABI_VERSION in pwl/pwl.h"
    exit 1
fi
if [ $write = yes ]; then
    cp "$work/abi" "$recorded"
    exit 0
fi
diff "$recorded" "$work/abi" || true
echo "check_abi: not recorded yet: bash tests/abi/check_abi.sh --write . cc"
exit 1
