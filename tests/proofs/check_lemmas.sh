#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check_lemmas.sh SOURCE: Coq proves lemmas.v, with nothing assumed and nothing left out, and docs/proofs.md names each
# theorem there is, and none that there is not. With PWL_TEST_LONG=1 Coq's kernel, a program of its own, checks the
# proofs too, with all that they use of Coq's library. Without Coq it is skipped: exit 77.
set -eu
command -v coqc >/dev/null || { echo "check_lemmas: no coqc" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$(realpath "$1")
source=$root/tests/proofs/lemmas.v
page=$root/docs/proofs.md

fail() {
    echo "check_lemmas: $*" >&2
    exit 1
}

names() {
    sed -nE "s/^($1) ([a-z_]+).*/\2/p" "$source"
}

cp "$source" "$scratch"
cd "$scratch"
coqc -q lemmas.v || fail "Coq refuses lemmas.v"

{
    echo "Require Import lemmas."
    names 'Theorem|Lemma' | sed 's/.*/Print Assumptions &./'
} >assumptions.v
coqc -q assumptions.v >assumed || fail "Coq refuses to tell what is assumed"
[ "$(grep -c '^Closed under the global context$' assumed)" = "$(names 'Theorem|Lemma' | wc -l)" ] ||
    fail "something is assumed: $(grep -v '^Closed' assumed)"

names Theorem | sort >proven
[ -s proven ] || fail "there are no theorems"
tr '\n' ' ' <"$page" | grep -oE 'Coq: (`[a-z_]+`(, | and )?)+' | grep -oE '`[a-z_]+`' | tr -d '`' | sort -u >named
diff proven named || fail "docs/proofs.md names (>) other theorems than lemmas.v proves (<)"

[ "${PWL_TEST_LONG:-}" != 1 ] || {
    coqchk -silent -o -Q . "" lemmas >checked 2>&1 || fail "Coq's kernel refuses the proofs: $(cat checked)"
    grep -q '^\* Axioms: <none>$' checked || fail "there are axioms: $(cat checked)"
}
echo "$(wc -l <proven) theorems are proven"
