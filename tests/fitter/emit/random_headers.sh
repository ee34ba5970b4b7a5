#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check_headers.sh over drawn tables. usage: random_headers.sh PWLC CC RANDOM_TABLES [TABLE.json...]
set -eu
pwlc=$1
cc=$2
random_tables=$3
shift 3
tables=$(mktemp -d)
trap 'rm -rf "$tables"' EXIT
"$random_tables" "$tables"
bash "$(dirname "$0")/check_headers.sh" "$pwlc" "$cc" "$tables"/*.json "$@"
