#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The binary interface of libpwl is the one recorded in lp64.txt: sizes and offsets of public structs, values of
# enumerations and constants, prototypes. The libraries of kernels/ are static: kernels.txt has what their headers declare.
# What changes, or goes, needs a new PWL_ABI_VERSION; what is added does not.
# usage: check_abi.sh [--write] SOURCE CC...      --write records what is there now, where the version allows it
set -eu
export LC_ALL=C
write=no
[ "$1" != --write ] || { write=yes && shift; }
source_root=$1
shift
recorded=$source_root/tests/abi
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
unnamed() {
    sed -E -e 's/^__attribute__\(\(warn_unused_result\)\) //' -e 's/\b[a-z_]+([,)])/\1/g' -e 's/ ([,)])/\1/g' \
        -e 's/\(\)/(void)/' | sort -t '(' -k 1,1 -u
}
printf '#include <%s>\n' "${headers[@]#"$source_root/runtime/include/"}" |
    "$@" -std=c11 "-I$source_root/runtime/include" -E -P -x c - | tr -s ' \n' ' ' |
    grep -oE 'visibility\("default"\)\)\)[^;]*;' | sed 's/[^)]*))) //' | unnamed >>"$work/abi"
[ "$(wc -l <"$work/abi")" -gt 100 ] || { echo "check_abi: the headers cannot be read"; exit 1; }

# Declarations of kernels/, each in one line; of an enumeration, each of its names. Bodies of inline functions may change.
headers=("$source_root"/kernels/include/pwl/*.h)
sed -nE 's/^#define (PWL_ABI_VERSION [0-9]+)$/\1/p' "$source_root/runtime/include/pwl/pwl.h" >"$work/kernels"
sed -nE 's/^#define (PWL_[A-Z0-9_]+) +(\(?[0-9].*)/\1 \2/p' "${headers[@]}" | sed -E 's, */\*.*,,' >>"$work/kernels"
printf '#include <%s>\n' "${headers[@]#"$source_root/kernels/include/"}" |
    "$@" -std=c11 "-I$source_root/runtime/include" "-I$source_root/kernels/include" -E -x c - |
    awk '/^# / { ours = /kernels\/include/ } !/^#/ && ours' | tr -s ' \n' ' ' | sed 's/[;{}]/&\n/g' |
    awk '{
        sub(/^ +/, "")
        line = line (line == "" ? "" : " ") $0
        depth += gsub(/\{/, "{") - gsub(/\}/, "}")
        inline_ends = line ~ /^(static )?inline/ && /\}$/
        if (depth == 0 && (/;$/ || inline_ends)) {
            if (line !~ /^(static )?inline/) print line
            line = ""
        }
    }' >"$work/declared"
sed -nE 's/^typedef enum (\w+) \{(.*)\}.*/\1,\2/p' "$work/declared" |
    awk -F ', *' '{ for (i = 2; i <= NF; i++) { sub(/^ +| +$/, "", $i); print $1 "." $i } }' >>"$work/kernels"
{ grep -v '^typedef enum' "$work/declared" | grep '{' | sort; grep -v '{' "$work/declared" | unnamed; } >>"$work/kernels"
[ "$(wc -l <"$work/kernels")" -gt 100 ] || { echo "check_abi: the headers of kernels/ cannot be read"; exit 1; }

# hold RECORDED NOW
hold() {
    local lost
    ! cmp -s "$1" "$2" || return 0
    lost=$(grep -vxFf "$2" "$1" || true)
    if [ -n "$lost" ] && [ "$(head -n 1 "$1")" = "$(head -n 1 "$2")" ]; then
        diff "$1" "$2" || true
        echo "check_abi: programs that use this library would go wrong: raise PWL_ABI_VERSION in pwl/pwl.h"
        exit 1
    fi
    if [ $write = yes ]; then
        cp "$2" "$1"
        return
    fi
    diff "$1" "$2" || true
    echo "check_abi: not recorded yet: bash tests/abi/check_abi.sh --write . cc"
    exit 1
}
hold "$recorded/lp64.txt" "$work/abi"
hold "$recorded/kernels.txt" "$work/kernels"
