#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pool of threads and that of processes give the codes of one call. Exit 77, a skip, without numpy. $1 Python, $2
# source root; PYTHONPATH says where the package is.
set -eu
"$1" -c 'import numpy' 2>/dev/null || { echo "numpy is missing: install python3-numpy"; exit 77; }
output=$("$1" "$2/examples/python_pool.py" "$2/luts/tables/gelu_s16.json")
echo "$output"
[ "$(grep -c 'the same as by one call' <<<"$output")" -eq 2 ]
