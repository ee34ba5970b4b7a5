#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# environments.sh DIRECTORY: an environment for each list in requirements/, in DIRECTORY, of what PyPI has; those that are
# there already stay. Where PyPI does not give it, in_environment.sh skips what needs it.
set -u
directory=$1
here=$(dirname "$0")
mkdir -p "$directory"

# One pip for all, and compiled when it is first imported: most of each package never is.
install() {
    [ -x "$directory/pip/bin/pip" ] || /usr/bin/python3 -m venv "$directory/pip" || return 1
    rm -rf "${directory:?}/$1"
    /usr/bin/python3 -m venv --without-pip "$directory/$1" &&
        "$directory/pip/bin/pip" -q --disable-pip-version-check --python "$directory/$1/bin/python" \
            install --no-deps --no-compile -r "$2" &&
        cp "$2" "$directory/$1/requirements.txt"
}

failed=0
for requirements in "$here"/requirements/*.txt; do
    name=$(basename "$requirements" .txt)
    if ! cmp -s "$requirements" "$directory/$name/requirements.txt" && ! install "$name" "$requirements"; then
        echo "environments: PyPI has not given what $requirements lists, or python3-venv is missing" >&2
        failed=1
    fi
done
exit $failed
