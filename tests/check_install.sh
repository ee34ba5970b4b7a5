#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `meson install` into an empty place, then a program that finds pwl by pkg-config alone is compiled, linked and run, in
# C and in C++.
# $1 source root, $2 build root, $3 "yes" when pwlc is part of the build, then the compiler.
set -eu
source_root=$1 build_root=$2 with_pwlc=$3
shift 3

. "$source_root/tests/devices.sh"
devices=$(device_states)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
"${MESON:-meson}" install -C "$build_root" --no-rebuild --quiet --destdir "$root" >"$root/log" 2>&1 ||
    { cat "$root/log"; exit 1; }

pc=$(find "$root" -name pwl.pc)
[ -n "$pc" ] || { echo "no pwl.pc among what meson install wrote:"; find "$root" -type f; exit 1; }
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
pkg-config --exists --print-errors pwl

# Outside the source tree, so that only the installed headers can be found.
cp "$source_root/tests/consumer.c" "$source_root/luts/pwl_gelu_s8.h" "$root"
cd "$root"
libdir=$(pkg-config --variable=libdir pwl)
case $libdir in "$root"/*) ;; *) libdir=$root$libdir ;; esac
for language in 'c -std=c11' 'c++ -std=c++11' 'c++ -std=c++17'; do
    # The flags are lists of words.
    # shellcheck disable=SC2046,SC2086
    "$@" -x $language -Wall -Wextra -Wpedantic -Werror consumer.c $(pkg-config --cflags --libs pwl) -o consumer
    LD_LIBRARY_PATH=$libdir ./consumer
done
abi=$(sed -n 's/^#define PWL_ABI_VERSION //p' "$source_root/runtime/include/pwl/pwl.h")
[ -e "$libdir/libpwl.so.$abi" ] || { echo "no libpwl.so.$abi, though PWL_ABI_VERSION is $abi"; exit 1; }

# Likewise for products, whose header C++ takes, too.
cat >consumer_qgemm.c <<'SOURCE'
#include <pwl/qgemm_host.h>

int main(void)
{
    return pwl_qgemm(0, 0, 0, 0) != PWL_QGEMM_ERR_NULL;
}
SOURCE
for language in 'c -std=c11' 'c++ -std=c++11'; do
    # shellcheck disable=SC2046,SC2086
    "$@" -x $language -Wall -Wextra -Wpedantic -Werror consumer_qgemm.c $(pkg-config --cflags --libs pwl-qgemm) -lm \
        -o consumer_qgemm
    LD_LIBRARY_PATH=$libdir ./consumer_qgemm
done

# Likewise for CUDA; its .pc file also names the toolkit's folder, which is no part of the root.
if [ -f "${pc%/*}/pwl-cuda.pc" ]; then
    cat >consumer_cuda.c <<'SOURCE'
#include <pwl/cuda.h>
#include <stdio.h>

int main(void)
{
    const pwl_cuda_status status = pwl_cuda_map(NULL, PWL_S8, NULL, PWL_S8, NULL, 1, NULL);
    puts(pwl_cuda_status_text(status));
    return status != PWL_CUDA_ERR_NULL;
}
SOURCE
    unset PKG_CONFIG_SYSROOT_DIR
    prefix=$root$(pkg-config --variable=prefix pwl-cuda)
    # shellcheck disable=SC2046
    "$@" -std=c11 -Wall -Wextra -Wpedantic -Werror consumer_cuda.c \
        $(pkg-config "--define-variable=prefix=$prefix" --cflags --libs pwl-cuda) -o consumer_cuda
    LD_LIBRARY_PATH=$libdir ./consumer_cuda
fi

# CMake finds the same libraries.
if command -v cmake >/dev/null; then
    mkdir cmake
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >compiler
    chmod +x compiler
    cat >cmake/CMakeLists.txt <<'LISTS'
cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(pwl 0.1 REQUIRED)
foreach(library pwl static)
  add_executable(consumer_${library} ../consumer.c)
  target_link_libraries(consumer_${library} pwl::${library})
endforeach()
file(WRITE blocks.c "#include <pwl/blocks.h>\nint main(void) { return pwl_dequantise(PWL_Q4_0, 0, 1, 32, 32, 0) == 0; }\n")
add_executable(consumer_blocks blocks.c)
target_link_libraries(consumer_blocks pwl::blocks)
add_executable(consumer_qgemm ../consumer_qgemm.c)
target_link_libraries(consumer_qgemm pwl::qgemm m)
LISTS
    config=$(find "$root" -name pwl-config.cmake)
    { cmake -S cmake -B cmake/build "-Dpwl_DIR=${config%/*}" "-DCMAKE_C_COMPILER=$root/compiler" &&
        cmake --build cmake/build; } >log 2>&1 || { cat log; exit 1; }
    for library in pwl static blocks qgemm; do
        "cmake/build/consumer_$library"
    done
fi

# Python finds the package where its own are.
core=$(find "$root" -name '_core.abi3.so')
if [ -n "$core" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    PYTHONPATH=${core%/pwl/*} /usr/bin/python3 -m pwl
fi

if [ "$with_pwlc" = yes ]; then
    pwlc=$(find "$root" -type f -name pwlc -perm -u+x)
    [ -n "$pwlc" ] || { echo "pwlc was not installed"; exit 1; }
    "$pwlc" list | grep -q sigmoid
    # It finds the checker beside itself, where there is one.
    if [ -x "$build_root/fitter/pwlc-check-proof" ]; then
        "$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 --max-err 1 --proof few.proof -o few.json 2>/dev/null
        "$pwlc" certify few.json --check few.proof
    fi
    # A cross build cannot run pwlc to write them.
    if [ -f "$build_root/fitter/completion/pwlc.1" ]; then
        for file in man/man1/pwlc.1 bash-completion/completions/pwlc zsh/site-functions/_pwlc \
            fish/vendor_completions.d/pwlc.fish; do
            [ -s "$(find "$root" -path "*/share/$file")" ] || { echo "share/$file was not installed"; exit 1; }
        done
    fi
fi
same_devices "$devices"
