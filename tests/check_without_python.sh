#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_without_python.sh SOURCE COMPILER...: without the Python package all else is configured, with the tests that do not
# need it.
set -eu
source_root=$1
shift

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
CC=$* "${MESON:-meson}" setup "$root/build" "$source_root" -Dpython=disabled -Dtests=enabled -Dcuda=disabled >"$root/log" 2>&1 ||
    { cat "$root/log"; exit 1; }
"${MESON:-meson}" introspect --tests "$root/build" >"$root/tests"
for name in check_pages profiles test_table_json; do
    grep -q "\"name\": \"$name\"" "$root/tests" || { echo "the test $name is missing"; exit 1; }
done
for name in pages python_pool test_pwl_python; do
    ! grep -q "\"name\": \"$name\"" "$root/tests" || { echo "the test $name needs the package"; exit 1; }
done
