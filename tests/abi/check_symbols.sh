#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A library's names begin with pwl_, its public functions have C linkage in C++ too, a shared one offers nothing else and
# versions them, and no library needs cuBLAS. $1 source root, $2 the library, then the compiler.
set -u
source_root=$1 library=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

case $library in *.so | *.so.*) dynamic=--dynamic ;; *) dynamic=--extern-only ;; esac
nm $dynamic --defined-only "$library" 2>/dev/null | awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/defined"
if ! grep -q '^pwl_' "$work/defined"; then
    echo "$library: no symbols can be read"
    exit 1
fi
# nvcc makes names in anonymous namespaces global, unique to each file.
if grep -vE '^pwl_|_GLOBAL__N__' "$work/defined"; then
    echo "$library has names that do not begin with pwl_"
    failed=1
fi
# Where the linker can version names, all have the number of the binary interface.
case $library in *.so | *.so.*)
    abi=$(sed -n 's/^#define PWL_ABI_VERSION //p' "$source_root/runtime/include/pwl/pwl.h")
    if readelf --dyn-syms --wide "$library" | grep -E ' (FUNC|OBJECT) +GLOBAL +DEFAULT +[0-9]+ ' | grep -v "@@PWL_$abi\$"; then
        echo "$library has names without the version PWL_$abi"
        failed=1
    fi
    ;;
esac
if nm --undefined-only "$library" 2>/dev/null | grep -i cublas; then
    echo "$library needs cuBLAS"
    failed=1
fi

# The address of each public function, in C++.
headers=("$source_root"/{runtime,kernels}/include/pwl/*.h)
grep -ohE '\bpwl_[a-z0-9_]+' "${headers[@]}" | sort -u >"$work/words"
"$@" -E -P -x c++ -std=c++11 "-I$source_root"/{runtime,kernels}/include "$source_root"/runtime/include/pwl/pwl.h |
    grep -ohE '\bpwl_map_[a-z0-9_]+' | sort -u >>"$work/words"
case $library in
*.so | *.so.*) cp "$work/defined" "$work/public" ;;
*) grep -Fx -f "$work/words" "$work/defined" >"$work/public" ;;
esac
{
    printf '#include <%s>\n' "${headers[@]#"$source_root"/*/include/}"
    echo 'extern void *const functions[];'
    echo 'void *const functions[] = {'
    sed 's/.*/    reinterpret_cast<void *>(\&&),/' "$work/public"
    echo '};'
} >"$work/public.cpp"
if ! "$@" -x c++ -std=c++11 "-I$source_root"/{runtime,kernels}/include -c "$work/public.cpp" -o "$work/public.o"; then
    echo "$library has names that no public header declares"
    failed=1
elif ! nm --undefined-only "$work/public.o" | awk '{ print $2 }' | sort | diff - "$work/public"; then
    echo "public functions of $library have no C linkage in C++"
    failed=1
fi
[ $failed -ne 0 ] || echo "$(wc -l <"$work/public") public functions, $(wc -l <"$work/defined") names"
exit $failed
