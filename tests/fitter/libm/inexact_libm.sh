#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every table, certificate and all, is the same under a libm whose results are off by a unit: $3, inexact_libm.c. Each
# function is fitted in four ways; the long part takes types of other widths and more ways for each.
inexact=$(realpath "$3")
# shellcheck source=tests/fitter/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

ways=('--segments 7 --method minimax' '--max-err 1' '--segments 6 --form biased' '--segments 8 --method uniform')
types=('--in s8:0.0472:0 --out s8:0.0238:0' '--in s11:2^-8:-5 --out s16:2^-14')
if is_long; then
    ways+=('--segments 8 --method minimax --rounding half_even --shift one' '--segments 6 --form anchored')
    types+=('--in s16:2^-13 --out s16:2.9e-5:12' '--in s10 --range=-2.91:6.36 --out s12' '--in s20:2^-17 --out s24:2^-20')
fi

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

# By long double's expl this one had another table under the first seed.
same silu --in s16:2^-12 --out s16:2^-12 --segments 16

number=0
for function in $("$pwlc" list functions --format json | sed -n 's/^      "name": "\([a-z_0-9]*\)".*/\1/p'); do
    number=$((number + 1))
    for type in "${types[@]}"; do
        is_long || type=${types[$((number % 2))]}
        for way in "${ways[@]}"; do
            # shellcheck disable=SC2086
            same "$function" $type $way --outside clamp
        done
        is_long || break
    done
done
[ "$number" -ge 26 ] || fail "only $number functions"

finish
