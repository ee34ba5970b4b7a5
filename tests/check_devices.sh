#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_devices.sh SOURCE: devices.sh finds each change that it is there for, and no test tells a tool to write to a
# device, which root's tools may change or replace.
set -eu
. "$1/tests/devices.sh"
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "check_devices: $*"
    failed=1
}

[ "$(device_states | grep -c '^/dev/null: mode 666, ')" = 1 ] || fail "/dev/null is not as it should be: $(device_states)"
device=$scratch/null
reset() {
    rm -f "$device"
    : >"$device"
    chmod 666 "$device"
    before=$(device_states "$device")
}
reset
same_devices "$before" "$device" || fail "what nobody touched counts as changed"
echo written >"$device"
same_devices "$before" "$device" >"$scratch/said" && fail "a device that became a file counts as the same" # its %F
# found COMMAND...: after it the state is another.
found() {
    reset
    "$@"
    if same_devices "$before" "$device" >"$scratch/said"; then
        fail "not found: $*"
    elif ! grep -q 'mend them before anything else' "$scratch/said"; then
        fail "$*: does not say what to do"
    fi
}
replaced() {
    : >"$scratch/other" # while the old one is there, so that the inode is another
    chmod 666 "$scratch/other"
    mv "$scratch/other" "$device"
}
found chmod 755 "$device"
found replaced
found rm "$device"
[ "$(id -u)" -ne 0 ] || found chown 65534 "$device"

# The word after -o, in any of the ways that scripts and programs of the tests write a command.
if grep -rnE --exclude=check_devices.sh -e "-o[\"']?[ ,=]*[\"']?/dev/(null|zero|full|tty)" dev tests examples luts \
    kernels >"$scratch/said"; then
    fail "a tool writes to a device; name a file of the test's own folder: $(cat "$scratch/said")"
fi
exit $failed
