#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `pwlc emit -MD`: make reads every name back as it was given, and names that it would run, break at, expand or drop are
# refused before anything is written.
. "$(dirname "$0")/../cli/lib.sh"

# holds WHAT COMMAND...: counts a check that the command succeeds.
holds() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" >../holds 2>&1 || fail "$what: $(head -c 600 ../holds)"
}

# reads_back TARGET PREREQUISITE: make knows the one rule of rule.d by these names.
reads_back() {
    make -rRpq -f rule.d >../made 2>&1 || true
    holds "make reads $1 and $2 back: $(cat rule.d)" grep -qxF -- "$1: $2" ../made
}

"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 --segments 2 --method uniform -o tanh.json 2>../err
"$pwlc" fit sigmoid --in s8:2^-5 --out u8:2^-8 --segments 2 --method uniform -o sigmoid.json 2>../err

# Paths as given, escaped.
expect_status 0 emit tanh.json sigmoid.json -o both.h -MD
holds '-MD' [ "$(cat both.h.d)" = 'both.h: tanh.json sigmoid.json' ]
odd='a b#c$d\ e\f.json'
cp tanh.json "$odd"
expect_status 0 emit "./$odd" -o 'out 1.h' -MD -MF rule.d
holds '-MF, escaped' [ "$(cat rule.d)" = 'out\ 1.h: ./a\ b\#c$$d\\\ e\f.json' ]
holds '-MF names the only rule' [ ! -e 'out 1.h.d' ]
printf "include rule.d\nout\\\\ 1.h:\n\t@echo '\$<'\n" >Makefile
holds 'make reads the path back' [ "$(make -s -B 'out 1.h')" = "$odd" ]
expect_status 0 emit - -o in.h -MD <tanh.json
holds 'standard input is no prerequisite' [ "$(cat in.h.d)" = 'in.h:' ]

# Each printable character within a name, and some longer ones: in the header's name and in the table's.
names=('(c)' 'a\\b' 'a~' 'a(b)c' 'x\(y')
for ((code = 32; code < 127; code++)); do
    printf -v name "a\\x$(printf %x "$code")b"
    [ "$name" = a/b ] || names+=("$name")
done
refused=
for name in "${names[@]}"; do
    cp tanh.json "$name"
    checks=$((checks + 1))
    rm -f rule.d
    run emit "$name" -o "$name.h" -MD -MF rule.d
    case $status in
    0) reads_back "$name.h" "$name" ;;
    2) refused+=${name:1:1} ;;
    *) fail "emit $name -MD: exit $status: $(cat ../err)" ;;
    esac
    rm -f "$name" "$name.h"
done
holds "the characters that are refused, not $refused" [ "$refused" = '%*:;=?[|' ]

# What make would run, break at, expand or drop. A semicolon begins a recipe, what is dollared an expansion where
# .SECONDEXPANSION is on, and what ends with parentheses is the member of an archive.
ran='t.json;touch${IFS}PWN;.json'
for name in "$ran" ':b' 'a|' ';b' 'a=' '%' '*' '?' '[' 'a&' '~' '~root' 'a$(b)' 'a${b}' 'a\' 'a ' 'lib(a)'; do
    cp tanh.json "$name"
    expect_error 2 "-MD: $name: a make rule cannot hold a name with " emit "$name" -o t.h -MD
    rm "$name"
    expect_error 2 "-MD: $name: a make rule cannot hold a name with " emit tanh.json -o "$name" -MD -MF rule.d
    expect_status 0 emit tanh.json -o "$name"
    rm "$name"
done
mkdir 'folder;'
expect_error 2 "-MD: folder;/t.h: a make rule cannot hold a name with ';'; rename it" emit tanh.json -o 'folder;/t.h' -MD
holds 'nothing is left' [ -z "$(ls -A 'folder;')" ]
expect_error 2 '-MD: .PHONY: make takes this name for itself; rename it' emit tanh.json -o .PHONY -MD
expect_status 0 emit tanh.json -o .hidden.h -MD -MF rule.d
reads_back .hidden.h tanh.json

finish
