#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, and twice, as C11, C++11 and C++17, without a warning. $1 source root, then the
# compiler.
set -u
cd "$1" || exit 1
shift
failed=0
headers=({runtime,kernels}/include/pwl/*.h)
[ ${#headers[@]} -ge 10 ] || { echo "no headers found"; exit 1; }
for header in "${headers[@]#*/include/}"; do
    for language in 'c -std=c11' 'c++ -std=c++11' 'c++ -std=c++17'; do
        # A language and its standard are two words.
        # shellcheck disable=SC2086
        printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
            "$@" -x $language -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I{runtime,kernels}/include \
                -fsyntax-only - || { echo "$header does not compile alone, -x $language"; failed=1; }
    done
done
exit $failed
