#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A pwlc built without muParser: --expr and measuring its tables need what is missing; everything else works.
. "$(dirname "$0")/lib.sh"

missing='this pwlc was built without muParser; build it with -Dmuparser=enabled'
expect_error 77 "--expr: $missing" fit --expr 'x*x' --in s8:2^-4 --out u8:2^-4 -o out.json
expect_error 2 '--expr: empty' fit --expr '' --in s8:2^-4 --out u8:2^-4 -o out.json
expect_status 0 fit tanh --in s8 --out s8 --range -4:4 -o table.json
expect_status 0 sweep table.json
sed 's/"function": "tanh"/"function": "expr", "expression": "tanh(x)"/' table.json >expr.json
sign expr.json
expect_status 0 show expr.json
expect_status 0 emit expr.json --format c -o expr.h
expect_status 0 eval expr.json 3
expect_error 77 "expression: $missing" sweep expr.json

finish
