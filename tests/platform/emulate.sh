# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs programs under an emulator.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shopt -s nullglob

# needs COMMAND...: exit 77, a skip, without the command.
needs() {
    local tool=${1:-true}
    command -v "$tool" >/dev/null || { echo "$tool is missing; ./dev test installs it"; exit 77; }
}

# program PROGRAM
# program --build COMPILER ARGUMENT... [--apart COMPILER ARGUMENT...]...
# Its path goes to $program. What is built apart, for flags of its own, becomes part of it.
program() {
    local command=()
    program=$1
    [ "$1" = --build ] || return 0
    program=$work/program
    shift
    needs "$@"
    for ((k = $#; k > 0; k--)); do
        command=("${!k}" "${command[@]}")
        [ "${!k}" = --apart ] || continue
        (cd "$work" && "${command[@]:1}" -c)
        command=()
    done
    "${command[@]}" "$work"/*.o -o "$program"
}

# emulate "EMULATOR...": what $program writes goes to $work/found, its exit status to $status.
emulate() {
    local emulator
    read -ra emulator <<<"$1"
    needs "${emulator[@]}"
    status=0
    "${emulator[@]}" "$program" >"$work/found" 2>&1 || status=$?
}
