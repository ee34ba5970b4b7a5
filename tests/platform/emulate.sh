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
# Its path goes to $program. What is built apart, for flags of its own, becomes part of it. Each source is compiled by
# itself, by ccache where it is there, as tests share most of them.
program() {
    local argument group=() link=()
    program=$1
    [ "$1" = --build ] || return 0
    program=$work/program
    shift
    needs "$@"
    for argument in "$@" --apart; do
        if [ "$argument" != --apart ]; then
            group+=("$argument")
            continue
        fi
        compile "${group[@]}"
        [ ${#link[@]} -gt 0 ] || link=("${linked[@]}")
        group=()
    done
    "${link[@]:0:1}" "$work"/*.o "${link[@]:1}" -o "$program"
}

# compile COMPILER ARGUMENT...: the sources among them go to $work/N.o, what a linker wants to $linked.
compile() {
    local cache=() flags=() sources=() source
    ! ccache --show-stats >/dev/null 2>&1 || cache=(ccache)
    linked=("$1")
    while shift && [ $# -gt 0 ]; do
        case $1 in
        *.c) sources+=("$1") ;;
        -T) linked+=("$1" "$2") && shift ;;
        -static | -nostdlib | -Wl,* | -l*) linked+=("$1") ;;
        *) flags+=("$1") && linked+=("$1") ;;
        esac
    done
    for source in "${sources[@]}"; do
        objects=$((${objects:-0} + 1))
        "${cache[@]}" "${linked[0]}" "${flags[@]}" -c "$source" -o "$work/$objects.o"
    done
}

# emulate "EMULATOR...": what $program writes goes to $work/found, its exit status to $status.
emulate() {
    local emulator
    read -ra emulator <<<"$1"
    needs "${emulator[@]}"
    status=0
    "${emulator[@]}" "$program" >"$work/found" 2>&1 || status=$?
}
