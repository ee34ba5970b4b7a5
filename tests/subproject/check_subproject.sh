#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Meson project that has this tree as a subproject is configured, built and run, with nothing fetched.
# $1 source root, then the compiler.
set -eu
source_root=$1
shift

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$source_root"/tests/subproject/meson.build "$source_root"/tests/consumer.c "$source_root"/luts/pwl_gelu_s8.h "$root"
mkdir "$root/subprojects"
ln -s "$source_root" "$root/subprojects/pwl"

# quietly COMMAND...: what it says is shown when it fails.
quietly() {
    "$@" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
}
# As for a processor of no family that has ways of its own: compiling those takes longer than all the rest. What pwlc and
# the tests need is found, so that they could be built.
printf "[binaries]\nc = [%s]\npkgconfig = 'pkg-config'\n[host_machine]\nsystem = 'linux'\ncpu_family = 'none'\ncpu = 'none'\nendian = 'little'\n" \
    "$(printf "'%s', " "$@")" >"$root/plain.ini"
# On a machine with nvcc nothing is compiled by it unless it is asked for; this one would fail.
mkdir "$root/bin"
printf '#!/bin/sh\nexit 1\n' >"$root/bin/nvcc"
chmod +x "$root/bin/nvcc"
PATH=$root/bin:$PATH
quietly "${MESON:-meson}" setup --wrap-mode=nodownload --cross-file "$root/plain.ini" "$root/build" "$root"
quietly ninja -C "$root/build" consumer
"$root/build/consumer"

# Of this tree's own tests and programs none is a part of the user's build.
if grep -E '^build .*/(test_runtime|pwlc):' "$root/build/build.ninja"; then
    echo "a subproject builds its tests, or pwlc"
    exit 1
fi

# It can be asked for.
quietly "${MESON:-meson}" setup --wrap-mode=nodownload --cross-file "$root/plain.ini" -Dpwl:fitter=enabled "$root/asked" "$root"
grep -qE '^build .*/pwlc:' "$root/asked/build.ninja" || { echo "pwl:fitter=enabled gives no pwlc"; exit 1; }
