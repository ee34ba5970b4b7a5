#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh luts|page PAGE PWLC SOURCE: one test of the page in the folder PAGE, which ./dev web makes.
set -eu
test=$1 page=$2 pwlc=$3 source=$4
here=$(dirname "$0")
case $test in
luts) runner=node ;;
page) runner=chromedriver ;;
esac
if [ ! -f "$page/page.css" ] || ! command -v "$runner" >/dev/null; then
    echo "skipped: no $runner, or no page in $page; ./dev web makes it"
    exit 77
fi
case $test in
luts) exec node "$here/test_luts.mjs" "$page" "$source/luts" ;;
page) exec /usr/bin/python3 "$here/test_page.py" "$page" "$pwlc" ;;
esac
