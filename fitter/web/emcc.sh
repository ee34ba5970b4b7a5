#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# emcc with what it compiles given to clang at once: PWLC_CLANG is clang and the flags that emcc gives it, as
# `emcc.sh --clang` prints them. The start of emcc, in Python, takes longer than clang with most files.
set -euo pipefail
if [ "${1:-}" = --clang ]; then
    empty=$(mktemp --suffix=.c)
    trap 'rm -f "$empty"' EXIT
    emcc -v -c "$empty" -o /dev/null 2>&1 | sed -n '1{s/"//g;s/ -v -c .*//p}'
elif [ -n "${PWLC_CLANG:-}" ] && [[ " $* " == *" -c "* ]]; then
    # shellcheck disable=SC2086 # words
    exec $PWLC_CLANG "$@"
else
    exec emcc "$@"
fi
