#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# toolkit.sh NVCC: the folder of the toolkit that this nvcc belongs to, by its own word: the one in PATH may be a
# script or a link that lies elsewhere.
set -u
top=$("$1" --dryrun -E -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' | head -n 1)
if [ -z "$top" ] || ! cd "$top" 2>/dev/null; then
    echo "toolkit.sh: $1 --dryrun names no folder of its toolkit (TOP=...)" >&2
    exit 1
fi
pwd -P
