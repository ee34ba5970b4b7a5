#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_luts.sh PWLC SOURCE: the standard tables, their headers, the manifest and the accuracy tables of luts/README.md
# and README.md are what their specs give, byte for byte.
set -eu
pwlc=$1
source=$2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

mkdir "$made/luts"
cp "$source/README.md" "$made/README.md"
cp -r "$source/luts/specs" "$source/luts/"*.py "$source/luts/"*.md "$made/luts/"
python3 "$source/luts/generate.py" "$pwlc" "$made/luts" "$made/README.md" "$made/luts/README.md"
status=0
diff -r "$source/luts" "$made/luts" || status=1
diff "$source/README.md" "$made/README.md" || status=1
[ $status -eq 0 ] || echo "check_luts: run \`./dev luts\` and commit what it changes" >&2
exit $status
