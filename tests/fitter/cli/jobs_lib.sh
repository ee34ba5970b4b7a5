# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by jobs.sh and mpi.sh behind lib.sh: what commands with jobs work on, and what they write.
unset OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK

# Tables of two kinds: of many parts, and with other parts; and a small one.
"$pwlc" fit tanh --in s22:2^-18 --out s16:2^-15 --segments 32 -o a.json 2>../err
"$pwlc" fit sigmoid --in s21:2^-17 --out s16:2^-15 --segments 8 -o b.json 2>../err
cat >specs.json <<'SPECS'
[{"name": "a", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7"},
 {"name": "b", "function": "gelu", "in": "s8:0.0472:-3", "out": "s8:0.0238:-121", "max_err": 1},
 {"name": "c", "function": "sigmoid", "in": "s12:2^-8", "out": "s16:2^-15", "method": "minimax"},
 {"name": "d", "function": "softmax", "in": "s8:2^-4", "out": "u8:2^-8", "rows": 64},
 {"name": "e", "function": "exp", "in": "s8:2^-4", "out": "u8:2^-8:0"}]
SPECS
outputs='sweep.txt certified.json explored.svg tables'

# snapshot FOLDER: what a command has written, standard output and messages too.
snapshot() {
    rm -rf "$1"
    mkdir "$1"
    cp ../out ../err "$1"
    for output in $outputs; do
        [ ! -e "$output" ] || mv "$output" "$1"
    done
}

# same_as_one HOW: it is what one process has written, of which $work/one is the snapshot.
same_as_one() {
    checks=$((checks + 1))
    snapshot "$work/this"
    diff -r "$work/one" "$work/this" >../diff || fail "$1: differs from one process: $(head -c 500 ../diff)"
}
