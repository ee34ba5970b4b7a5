#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence in the first two lines (a script's first line may be #!), and it is the one its
# folder calls for. Data files are exempt: they have no comments, or are compared byte by byte.
set -u
cd "$1" || exit 1
failed=0

GPL=GPL-3.0-or-later
APACHE=Apache-2.0

# Licences a path may carry, separated by spaces; "-" for data.
allowed() {
    case $1 in
    LICENSES/* | *.json | *.jsonl | *.csv | *.npy | *.txt | *.md | .git* | .clang-format | tests/fuzz/corpus/* | tests/golden/*.h | tests/golden/networks/* | docs/gallery/*) echo - ;;
    luts/*.h | examples/*) echo 0BSD ;;
    fitter/* | tests/fitter/* | tests/fuzz/*) echo $GPL ;;
    tests/runtime/* | tests/mcu/* | tests/kernels/* | runtime/* | kernels/*) echo $APACHE ;;
    tests/*) echo "$GPL $APACHE" ;;
    *) echo $APACHE ;;
    esac
}

files() {
    if [ -e .git ] && command -v git >/dev/null; then
        git -c safe.directory='*' ls-files --cached --others --exclude-standard
    else
        find . -type f -not -path './build*' | sed 's|^\./||'
    fi
}

count=0
while IFS= read -r path; do
    [ -f "$path" ] || continue
    want=$(allowed "$path")
    [ "$want" = - ] && continue
    count=$((count + 1))
    have=$(head -n 2 "$path" | grep -aoE 'SPDX-License-Identifier: [A-Za-z0-9.-]+' | head -n 1 | cut -d ' ' -f 2)
    case " $want " in
    *" ${have:-none} "*) ;;
    *)
        echo "$path: SPDX-License-Identifier is ${have:-missing}; should be ${want// / or }"
        failed=1
        ;;
    esac
    [ -f "LICENSES/${have:-none}.txt" ] || { echo "$path: no LICENSES/${have:-none}.txt"; failed=1; }
done < <(files)

[ "$count" -gt 0 ] || { echo "no source files found in $1"; exit 1; }
exit $failed
