#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The runtime in other builds: by FetchContent of CMake, and as a library of Arduino, whose sources are compiled as there,
# on this machine; as a component of ESP-IDF and a module of Zephyr with commands of their names that stand for theirs.
# Exit 77, a skip, without CMake. usage: check_packages.sh SOURCE_ROOT COMPILER...
set -eu
source_root=$1
shift
command -v cmake >/dev/null || { echo "cmake is missing; ./dev test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$work/compiler"
chmod +x "$work/compiler"

# built NAME LINES...: a project of these lines, whose program `consumer` runs.
built() {
    local name=$1
    mkdir "$work/$name"
    { echo 'cmake_minimum_required(VERSION 3.18)' && echo 'project(consumer C)' && cat; } >"$work/$name/CMakeLists.txt"
    { cmake -S "$work/$name" -B "$work/$name/build" "-DCMAKE_C_COMPILER=$work/compiler" "${@:2}" &&
        cmake --build "$work/$name/build" --target consumer; } >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$work/$name/build/consumer"
    echo "$name: built and run"
}
consumer="add_executable(consumer $source_root/tests/consumer.c)
target_include_directories(consumer PRIVATE $source_root/luts)"

built FetchContent <<LISTS
include(FetchContent)
FetchContent_Declare(pwl SOURCE_DIR $source_root SOURCE_SUBDIR runtime)
FetchContent_MakeAvailable(pwl)
$consumer
target_link_libraries(consumer pwl::pwl)
LISTS

built ESP-IDF -DPWL_MOST_BITS=8 <<LISTS
function(idf_component_register)
  cmake_parse_arguments(of "" "" "SRCS;INCLUDE_DIRS" \${ARGN})
  add_library(component STATIC \${of_SRCS})
  target_include_directories(component PUBLIC \${of_INCLUDE_DIRS})
  set(COMPONENT_LIB component PARENT_SCOPE)
endfunction()
set(ESP_PLATFORM 1)
add_subdirectory($source_root/runtime component)
$consumer
target_link_libraries(consumer component)
LISTS

built Zephyr <<LISTS
function(zephyr_library_named name)
  add_library(\${name} STATIC)
endfunction()
function(zephyr_library_sources)
  target_sources(pwl PRIVATE \${ARGN})
endfunction()
function(zephyr_include_directories)
  target_include_directories(pwl PUBLIC \${ARGN})
endfunction()
function(zephyr_compile_definitions)
  target_compile_definitions(pwl PUBLIC \${ARGN})
endfunction()
set(ZEPHYR_BASE 1)
set(CONFIG_PWL y)
set(CONFIG_PWL_MOST_BITS 16)
add_subdirectory($source_root/runtime module)
$consumer
target_link_libraries(consumer pwl)
LISTS
cmake=$(sed -n 's/^  cmake: //p' "$source_root/runtime/zephyr/module.yml")
kconfig=$(sed -n 's/^  kconfig: //p' "$source_root/runtime/zephyr/module.yml")
[ -f "$source_root/runtime/$cmake/CMakeLists.txt" ] && [ -f "$source_root/runtime/$kconfig" ]

bash "$source_root/runtime/arduino/pack.sh" "$work"
for key in name version author maintainer sentence paragraph category url architectures; do
    grep -q "^$key=." "$work/pwl/library.properties" || { echo "library.properties has no $key"; exit 1; }
done
"$@" "-I$work/pwl/src" "-I$source_root/luts" "$source_root/tests/consumer.c" "$work"/pwl/src/*.c -o "$work/consumer"
"$work/consumer"
echo "Arduino: built and run"
bash "$source_root/runtime/arduino/pack.sh" "$work/flash" flash
if command -v avr-gcc >/dev/null; then
    echo '#include <pwl/pwl.h>' | avr-gcc -mmcu=atmega328p "-I$work/flash/pwl/src" -E -dM -x c - >"$work/macros"
    grep -q '#define PWL_TABLES_IN_FLASH' "$work/macros" || { echo "Arduino: tables are not read from flash"; exit 1; }
fi

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$source_root/meson.build")
grep -qx "version=$version" "$work/pwl/library.properties"
grep -qx "version: \"$version\"" "$source_root/runtime/idf_component.yml"
