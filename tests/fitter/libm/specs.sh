#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes flags of tables, a line each, that are to come out alike everywhere: of each function of $1, pwlc, in turn one
# of two types and of four ways; every type and way where PWL_TEST_LONG=1, and types of other widths.
set -eu
is_long=$([ "${PWL_TEST_LONG:-}" != 1 ] || echo 1)
ways=('--segments 7 --method minimax' '--max-err 1' '--segments 6 --form biased' '--segments 8 --method uniform')
types=('--in s8:0.0472:0 --out s8:0.0238:0' '--in s11:2^-8:-5 --out s16:2^-14')
if [ -n "$is_long" ]; then
    ways+=('--segments 8 --method minimax --rounding half_even --shift one' '--segments 6 --form anchored')
    types+=('--in s16:2^-13 --out s16:2.9e-5:12' '--in s10 --range=-2.91:6.36 --out s12' '--in s20:2^-17 --out s24:2^-20')
fi
functions=$("$1" list functions --format json | sed -n 's/^      "name": "\([a-z_0-9]*\)".*/\1/p')
[ "$(wc -w <<<"$functions")" -ge 26 ] || { echo "only these functions: $functions" >&2; exit 1; }

# By long double's expl this one had another table under the first seed of inexact_libm.c.
echo silu --in s16:2^-12 --out s16:2^-12 --segments 16
# Of operations that an expression may have, without blanks.
for expression in 'x/(1+exp(-1.702*x))' 'log10(abs(x)+2)^1.5-asinh(x)' 'x<0?tan(x/8):min(sqrt(x),acosh(x+1))' \
    'atan(x)*2^x+sinh(x/9)-erfc(x)' 'sin(3*x)*cos(x)+rint(x)/4+log1p(x^2)' 'avg(gelu(x),mish(x),elu(x,0.5))'; do
    echo "--expr $expression --in s10:2^-7:-5 --out s16:2^-11 --segments 7"
done
number=0
for function in $functions; do
    number=$((number + 1))
    for type in "${types[@]}"; do
        [ -n "$is_long" ] || type=${types[$((number % 2))]}
        for way in "${ways[@]}"; do
            echo "$function $type $way --outside clamp"
        done
        [ -n "$is_long" ] || break
    done
done
