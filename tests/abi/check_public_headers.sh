#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, and twice, as C11, C++11 and C++17, without a warning, and defines no macro that
# does not begin with PWL_. $1 source root, then the compiler.
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

# What the C library's headers define, then with ours.
macros() {
    printf '#include <%s>\n' stddef.h stdint.h math.h string.h "$@" | "${compiler[@]}" -std=c11 -I{runtime,kernels}/include -dM -E - |
        sort
}
compiler=("$@")
if comm -13 <(macros) <(macros "${headers[@]#*/include/}") | grep -v '^#define PWL_'; then
    echo "public headers define macros that do not begin with PWL_"
    failed=1
fi
exit $failed
