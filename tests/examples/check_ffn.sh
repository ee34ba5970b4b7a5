#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The program finds what it runs equal to its parts, its figures are those of examples/RESULTS.md, and bad input is told.
# usage: check_ffn.sh PROGRAM WRITE_MODEL SOURCE_ROOT
set -eu
ffn=$1 write_model=$2 source_root=$3
. "$(dirname "$0")/published.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=$work/model.gguf cut=$work/cut.gguf
"$write_model" "$model"
gate=(--gate blk.0.ffn_gate.weight) up=(--up blk.0.ffn_up.weight) down=(--down blk.0.ffn_down.weight)

published "$source_root/examples/RESULTS.md" "$ffn" "$model" "${up[@]}" "${down[@]}"
published "$source_root/examples/RESULTS.md" "$ffn" "$model" "${gate[@]}" "${up[@]}" "${down[@]}"

# refuses STATUS MESSAGE ARGUMENT...: and prints nothing else.
refuses() {
    local want=$1 message=$2 status=0
    shift 2
    "$ffn" "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status -eq "$want" ] && [ ! -s "$work/out" ] && grep -qF -e "$message" "$work/err" && return
    echo "ffn $*: exit $status, not $want with: $message"
    cat "$work/out" "$work/err"
    exit 1
}
refuses 2 'usage: ffn' "$model" "${up[@]}"
refuses 2 'usage: ffn' "$model" "${up[@]}" "${down[@]}" --tokens 0
refuses 2 'usage: ffn' "$model" "${up[@]}" "${down[@]}" --gate
refuses 2 'usage: ffn' "$model" "${up[@]}" "${down[@]}" --function tanh
refuses 1 'none.gguf cannot be read: ' "$work/none.gguf" "${up[@]}" "${down[@]}"
refuses 1 'model.gguf has no such tensor: up' "$model" --up up "${down[@]}"
refuses 1 'gate and up must be ff rows of d' "$model" "${up[@]}" --down blk.0.ffn_up.weight
head -c 100 "$model" >"$cut"
refuses 1 'cut.gguf is cut off or damaged: blk.0.ffn_up.weight' "$cut" "${up[@]}" "${down[@]}"
head -c 1000 "$model" >"$cut"
refuses 1 'cut.gguf ends before that tensor does' "$cut" "${up[@]}" "${down[@]}"
