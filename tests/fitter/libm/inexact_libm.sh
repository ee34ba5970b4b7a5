#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every table of specs.sh, certificate and all, is the same under a libm whose results are off by a unit: $3,
# inexact_libm.c.
inexact=$(realpath "$3")
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/fitter/cli/lib.sh
. "$here/../cli/lib.sh"

# same FLAG...: the same table under either libm
same() {
    checks=$((checks + 1))
    status=0
    "$pwlc" fit "$@" -o exact.json >../out 2>../err || status=$?
    if [ "$status" -ne 0 ]; then
        fail "pwlc fit $*: exit $status: $(head -c 300 ../err)"
        return
    fi
    LD_PRELOAD=$inexact PWL_TEST_LIBM=$checks "$pwlc" fit "$@" -o inexact.json >../out 2>../err || status=$?
    cmp -s exact.json inexact.json || fail "pwlc fit $*: exit $status; $(diff exact.json inexact.json | head -c 300)"
}

# What is compared is not two times the same.
one=$(LD_PRELOAD=$inexact PWL_TEST_LIBM=1 awk 'BEGIN { for (k = 1; k < 50; k++) printf "%.17g ", exp(k / 7) }')
[ "$one" != "$(awk 'BEGIN { for (k = 1; k < 50; k++) printf "%.17g ", exp(k / 7) }')" ] || fail "$inexact has no effect"

set -f # the * and ? of expressions
# shellcheck disable=SC2086
while read -r spec; do
    same $spec
done <<<"$(bash "$here/specs.sh" "$pwlc")"
set +f
[ "$checks" -gt 100 ] || fail "only $checks tables"

finish
