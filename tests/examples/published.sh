# SPDX-License-Identifier: Apache-2.0
# Sourced by what compares figures with those that are published.

# published FILE COMMAND...: every row of a table that the command prints is a line of the file.
published() {
    local file=$1 output line rows=0
    shift
    output=$("$@") || { echo "$output"; return 1; }
    echo "$output"
    while IFS= read -r line; do
        rows=$((rows + 1))
        grep -Fxq -e "$line" "$file" || { echo "not in ${file##*/}: $line"; return 1; }
    done < <(grep '^|' <<<"$output")
    [ "$rows" -gt 0 ]
}
