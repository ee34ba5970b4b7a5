#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# in_environment.sh DIRECTORY NAMES SCRIPT...: runs a script of Python in the first of the environments NAMES that
# environments.sh made in DIRECTORY; the others' programs are in PATH. A skip where one is missing.
set -eu
directory=$1
read -ra names <<<"$2"
here=$(dirname "$0")
shift 2
for name in "${names[@]}"; do
    if ! cmp -s "$here/requirements/$name.txt" "$directory/$name/requirements.txt"; then
        echo "1..0 # SKIP $directory/$name is not what requirements/$name.txt lists: run ./dev test profiles"
        exit
    fi
    PATH=$directory/$name/bin:$PATH
done
unset PYTHONDONTWRITEBYTECODE # pip has not compiled them
export PATH PYTHONPYCACHEPREFIX=$directory/compiled PYTHONPATH=$here/.. TF_CPP_MIN_LOG_LEVEL=3
exec "$directory/${names[0]}/bin/python" "$@"
