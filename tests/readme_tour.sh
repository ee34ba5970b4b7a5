#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme_tour.sh PWLC: prints the tour of README.md by running its commands.
# readme_tour.sh PWLC SOURCE: fails when SOURCE/README.md shows anything else.
# readme_tour.sh PWLC SOURCE --write: puts it there.
set -eu
pwlc=$(realpath "$1")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
begin='<!-- tour: made by tests/readme_tour.sh -->'
end='<!-- end of the tour -->'

mkdir "$directory/run"
ln -s "$pwlc" "$directory/pwlc"
tour() {
    cd "$directory/run"
    PATH=$directory:$PATH
    echo '```'
    while read -r line; do
        printf '$ %s\n' "$line"
        eval "$line"
    done <<'COMMANDS'
pwlc fit sigmoid --in u16:2^-12:24576 --out u16:2^-16:-1 --segments 16 -o sigmoid.json
pwlc eval sigmoid.json 24986
pwlc eval --real sigmoid.json 0.1
pwlc sweep sigmoid.json
pwlc fit gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --max-err 1.0 -o gelu8.json
pwlc show gelu8.json
pwlc emit gelu8.json --standalone -o gelu8.h
COMMANDS
    echo '```'
}
(tour) >"$directory/tour.md" 2>&1

if [ $# -eq 1 ]; then
    cat "$directory/tour.md"
    exit
fi
readme=$2/README.md
{
    sed "\\|^$begin\$|q" "$readme"
    cat "$directory/tour.md"
    sed -n "\\|^$end\$|,\$p" "$readme"
} >"$directory/README.md"
if [ "${3:-}" = --write ]; then
    cp "$directory/README.md" "$readme"
elif ! diff "$readme" "$directory/README.md"; then
    echo "readme_tour: run \`./dev luts\` and commit what it changes" >&2
    exit 1
fi
