#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# count_sass.sh CUOBJDUMP OBJECT: `NAME COUNT` for each pair of kernels count_8_NAME and count_16_NAME in an object of one
# architecture: machine instructions an element, which is the difference between the two over eight words, less loads
# and stores. bits_methods.cuh says how many elements a word of each has.
set -euo pipefail
methods=$(dirname "$0")/bits_methods.cuh

"$1" -sass "$2" | awk '
    FNR == NR {
        # METHOD(name, "what", "cycles", elements, ...
        if (match($0, /METHOD\([a-z0-9_]+, "[^"]*", "[^"]*", [0-9]+/)) {
            split(substr($0, RSTART + 7, RLENGTH - 7), field, ", ")
            name = field[1]
            order[++methods] = name
            elements[name] = substr($0, RSTART + RLENGTH - 1, 1)
        }
        next
    }
    /Function :/ { kernel = $NF }
    # "/*0010*/  @P0 OPCODE operands ;"
    /^[ \t]*\/\*[0-9a-f]+\*\/[ \t]+[@A-Z]/ {
        opcode = $2 ~ /^@/ ? $3 : $2
        if (opcode !~ /^(LDG|STG|NOP)/)
            count[kernel]++
    }
    END {
        for (i = 1; i <= methods; i++) {
            eight = count["count_8_" order[i]]
            sixteen = count["count_16_" order[i]]
            if (!eight || !sixteen) {
                print "count_sass.sh: no kernels of " order[i] > "/dev/stderr"
                exit 1
            }
            printf "%s %.4f\n", order[i], (sixteen - eight) / 8 / elements[order[i]]
        }
    }' "$methods" -
