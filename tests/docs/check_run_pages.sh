#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_run_pages.sh SOURCE: run_pages.py accepts a page that shows what its commands print, refuses one that does not,
# and writes one anew.
# shellcheck disable=SC2016
set -eu
source=$1
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
failed=0

pages() {
    python3 "$source/tests/docs/run_pages.py" "$(type -P true)" "$source" "$@" "$made/page.md" >"$made/said" 2>&1
}

complain() {
    echo "check_run_pages: $*"
    cat "$made/page.md" "$made/said"
    failed=1
}

# accepted: standard input is a page.
accepted() {
    cat >"$made/page.md"
    pages || complain "refused:"
}

# refused WORDS PAGE: the page, as printf writes it, is refused with these words.
refused() {
    # shellcheck disable=SC2059
    printf "$2" >"$made/page.md"
    if pages; then
        complain "accepted:"
    elif ! grep -qF -- "$1" "$made/said"; then
        complain "did not say \"$1\":"
    fi
}

accepted <<'PAGE'
# A session: what one block sets, the next one has.
<!-- docs: file greeting.txt -->
```text
hello
```
```sh
name=world
mkdir folder; cd folder
```
```console
$ cat ../greeting.txt; echo $name
hello
world
$ printf 'no end of line'
no end of line
$ echo two \
    lines; echo err >&2
two lines
err
```
<!-- docs: not compared: a number of its own -->
```console
$ echo $$
1
```
<!-- docs: not run: it would fail -->
```sh
false
```
<!-- docs: compile unit.c -->
```c
#include <pwl/pwl.h>
int one(void) { return pwl_abi_version(); }
```
<!-- docs: needs: false -->
```sh
false
```
```sh
exit_77() { return 77; }
```
```console
$ exit_77
never
```
PAGE
grep -q 'SKIP false fails here' "$made/said" || complain "a block that needs something was not skipped:"
grep -q 'SKIP exit status 77' "$made/said" || complain "exit status 77 was no skip:"

refused '+new' '```console\n$ echo new\nold\n```\n'
refused '+new' '```console\n$ echo new\n```\n'
refused '-old' '```console\n$ true\nold\n```\n'
refused 'exit status 1' '```console\n$ false\n```\n'
refused 'exit status 1' '```console\n$ false | cat\n```\n'
refused 'the shell ended' '```console\n$ exit 0\n```\n'
refused 'exit status' '```console\n$ echo "\n```\n'
refused 'a console block begins with' '```console\nold\n```\n'
refused 'exit status 1' '```sh\nfalse\ntrue\n```\n'
refused 'the shell ended' '```sh\nexit 0\n```\n'
refused 'a comment must say what is done with this block of c' '```c\nint x;\n```\n'
refused 'a comment must say' '```\ntrue\n```\n'
refused 'x.c compiles' '<!-- docs: compile x.c -->\n```c\nint x = y;\n```\n'
refused 'exit status 1' '<!-- docs: not compared: why -->\n```console\n$ false\n```\n'
refused 'no comment that this program knows' '<!-- docs: skip -->\n```sh\ntrue\n```\n'
refused 'stands before no block' '<!-- docs: file x -->\ntext\n'
refused 'has no end' '```sh\ntrue\n'

# What is written: outputs, and those that are not compared where there are none yet.
written() {
    printf 'before\n```console\n$ echo new\n%s$ echo \\\n  more\n%s```\n' "$1" "$2"
    printf '<!-- docs: not compared: why -->\n```console\n$ echo other\n%s$ echo none\n%s```\nafter\n' "$3" "$4"
}
written $'old\n' '' $'one\n' '' >"$made/page.md"
pages --write || complain "not written:"
written $'new\n' $'more\n' $'one\n' $'none\n' >"$made/wanted"
cmp -s "$made/page.md" "$made/wanted" || complain "written otherwise:"
pages || complain "refuses what it wrote:"
exit $failed
