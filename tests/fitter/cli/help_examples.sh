#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each command's --help: what it must contain, and its example, run as pasted into a shell.
. "$(dirname "$0")/lib.sh"

mkdir ../bin
ln -s "$pwlc" ../bin/pwlc
PATH=$work/bin:$PATH

expect_status 0 --help || finish
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' ../out)
for name in list fit certify emit import show eval sweep diff verify cost explore report tensors gguf gemm sfpu bench merge; do
    case " $(echo $commands) " in
    *" $name "*) ;;
    *) fail "pwlc --help does not list $name" ;;
    esac
done

for name in $commands; do
    expect_status 0 "$name" --help || continue
    [ ! -s ../err ] || fail "pwlc $name --help: wrote to standard error: $(head -c 300 ../err)"
    expect_line "Usage: pwlc $name.*" ../out "pwlc $name --help"
    expect_line '  2   .*' ../out "pwlc $name --help"
    sed -n 3p ../out >../summary
    expect_line '[A-Z].*\.' ../summary "pwlc $name --help, what the command does"
    awk 'length($0) > 140 { exit 1 }' ../out || fail "pwlc $name --help: a line is longer than 140 characters"
    sed -n '/^Example:/,$s/^  //p' ../out >"../example_$name"
    if ! grep -q "^pwlc $name" "../example_$name"; then
        fail "pwlc $name --help: the example does not show pwlc $name: $(cat "../example_$name")"
        continue
    fi
    mkdir "../try_$name"
    checks=$((checks + 1))
    status=0
    (cd "../try_$name" && bash -eu "../example_$name") >../out 2>../err </dev/null || status=$?
    [ $status -ne 77 ] || continue # a tool is missing, which ./dev test installs
    [ $status -eq 0 ] || fail "the example of pwlc $name --help fails: $(head -c 500 ../err)"
    if [ "$name" != fit ] && [ "$name" != certify ] && [ "$name" != emit ] && [ "$name" != report ] && [ ! -s ../out ]; then
        fail "the example of pwlc $name --help prints nothing"
    fi
done

finish
