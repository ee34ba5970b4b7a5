#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh WORK: what make.sh left in WORK/dist is made again from a clone in another folder, with the same bytes; then
# each program and package runs where nothing else is: programs in empty roots, packages and wheels in new roots of
# Debian 12 and 13, without a compiler. As root.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(realpath "$1")
dist=$work/dist
export LC_ALL=C
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
[ -e "$dist/SHA256SUMS" ] || { echo "check.sh: $dist has no release: ./dev release" && exit 1; }
passed=0 failed=0

# check NAME COMMAND...
check() {
    local name=$1
    shift
    if "$@" >"$work/check.log" 2>&1; then
        echo "ok - $name" && passed=$((passed + 1))
    else
        cat "$work/check.log"
        echo "not ok - $name" && failed=$((failed + 1))
    fi
}

same_bytes() {
    rm -rf "$work/again"
    git clone --quiet . "$work/again/clone"
    bash "$work/again/clone/tests/release/make.sh" "$work/again/made"
    diff "$dist/SHA256SUMS" "$work/again/made/dist/SHA256SUMS"
}

# static_program MACHINE: where nothing else is, it makes the header that luts/ has. Programs of other machines run by
# QEMU, which finds no library for them.
static_program() {
    local folder=$work/empty-$1 run
    rm -rf "$folder"
    mkdir "$folder"
    tar -C "$folder" --strip-components=1 -xf "$dist/pwlc-$version-linux-$1.tar.gz"
    run=(chroot "$folder")
    [ "$1" = "$(uname -m)" ] || run=(env -C "$folder" "qemu-$1" -L "$folder")
    "${run[@]}" ./pwlc fit gelu --in s8:2^-5 --out s8:2^-5 -o gelu.json --proof gelu.proof
    "${run[@]}" ./pwlc emit gelu.json -o pwl_gelu_s8.h
    cmp "$folder/pwl_gelu_s8.h" luts/pwl_gelu_s8.h
    "${run[@]}" ./pwlc-check-proof gelu.proof
}

# in_debian SUITE SCRIPT FILE...: what the script says, in a new root that has the files in /given.
in_debian() {
    local suite=$1 script=$2
    shift 2
    mkdir -p "$work/given"
    rm -rf "$work/given"/*
    cp "$@" luts/pwl_gelu_s8.h "$work/given"
    # shellcheck disable=SC2016
    SCRIPT=$script mmdebstrap --variant=minbase --format=null --customize-hook="cp -r '$work/given' \"\$1/given\"" \
        --customize-hook='chroot "$1" sh -euxc "$SCRIPT"' "$suite" -
}

# What README.md shows in its first minute, without a compiler. The root's shell expands what stands in these.
# shellcheck disable=SC2016
minute='cd /tmp
pwlc fit gelu --in s8:2^-5 --out s8:2^-5 -o gelu.json
pwlc emit gelu.json -o pwl_gelu_s8.h
cmp pwl_gelu_s8.h /given/pwl_gelu_s8.h
[ "$(pwlc eval gelu.json 20)" = 15 ]
pwlc emit gelu.json --format sv -o pwl_gelu_s8.sv'

python='python3 -c "
import ctypes, numpy, pwl
table = pwl.fit(\"gelu\", input=\"s8:2^-5\", output=\"s8:2^-5\")
assert table(numpy.array([20], numpy.int8))[0] == 15"'

packages='apt-get install -y --no-install-recommends /given/*.deb
! command -v cc
'$minute'
pwlc fit --expr "x * sigmoid(x)" --in s8:2^-5 --out s8:2^-5 -o expression.json
'$python'
python3 -c "import ctypes; assert ctypes.CDLL(\"libpwl.so.1\").pwl_abi_version() == 1"
[ -e /usr/include/pwl/pwl.h ]
apt-get purge -y pwlc libpwl1 libpwl-dev python3-pwl
[ ! -e /usr/include/pwl ]'

# shellcheck disable=SC2016
wheel='apt-get install -y --no-install-recommends python3-venv python3-numpy
python3 -m venv --system-site-packages /tmp/venv
/tmp/venv/bin/pip install --no-index /given/*.whl
! command -v cc
PATH=/tmp/venv/bin:$PATH
'$minute'
'$python

check "the sums are those of the files" sh -c "cd '$dist' && sha256sum --check --quiet SHA256SUMS"
check "the program for x86-64 needs nothing" static_program x86_64
check "the program for aarch64 needs nothing" static_program aarch64
for suite in bookworm trixie; do
    check "the packages install and run in $suite" in_debian "$suite" "$packages" "$dist"/*_amd64.deb
    check "the wheel installs and runs in $suite" in_debian "$suite" "$wheel" "$dist"/wheels/*x86_64.whl
done
check "a clone in another folder gives the same bytes" same_bytes
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
