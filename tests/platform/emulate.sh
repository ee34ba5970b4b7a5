# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs programs under an emulator.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# needs COMMAND...: exit 77, a skip, without the command.
needs() {
    local tool=${1:-true}
    command -v "$tool" >/dev/null || { echo "$tool is missing; ./dev test installs it"; exit 77; }
}

# emulate "EMULATOR..." PROGRAM
# emulate "EMULATOR..." --build COMPILER ARGUMENT...
# What the program writes goes to $work/found, its exit status to $status.
emulate() {
    local emulator program=$2
    read -ra emulator <<<"$1"
    shift
    needs "${emulator[@]}"
    if [ "$1" = --build ]; then
        shift
        needs "$@"
        program=$work/program
        "$@" -o "$program"
    fi
    status=0
    "${emulator[@]}" "$program" >"$work/found" 2>&1 || status=$?
}
