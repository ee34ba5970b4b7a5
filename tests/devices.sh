# SPDX-License-Identifier: Apache-2.0
# Sourced by what runs tests. A tool that is told to write to a device may change its mode, as iverilog does for root,
# or put a file in its place: from then on every other program of the machine fails.

# device_states [PATH...]: a line for each that is there, with what no test may change.
device_states() {
    local path
    [ $# -gt 0 ] || set -- /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx
    for path; do
        [ ! -e "$path" ] || stat -c '%n: mode %a, owner %u:%g, inode %i, %F' "$path"
    done
}

# same_devices BEFORE [PATH...]: whether they are now as device_states said; else tells what is not.
same_devices() {
    local now
    now=$(device_states "${@:2}")
    [ "$now" != "$1" ] || return 0
    echo "devices of this machine are not as they were; mend them before anything else runs. They were:"
    printf '%s\n' "$1" "and now they are:" "$now"
    return 1
}
