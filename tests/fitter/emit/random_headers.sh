#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check_headers.sh over drawn tables, and a reduced one whose results have 33 bits more than the output.
# usage: random_headers.sh PWLC CC RANDOM_TABLES [TABLE.json...]
set -eu
pwlc=$1
cc=$2
random_tables=$3
shift 3
tables=$(mktemp -d)
trap 'rm -rf "$tables"' EXIT
"$random_tables" "$tables"
"$pwlc" fit reciprocal --in u32:2^-16 --out u32:2^-16 --outside clamp --reduce on --segments 16 --method uniform \
    -o "$tables/reciprocal.json" 2>/dev/null
bash "$(dirname "$0")/check_headers.sh" "$pwlc" "$cc" "$tables"/*.json "$@"
