#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The runtime as a library of Arduino: pack.sh FOLDER [flash] makes FOLDER/pwl, to be put among the libraries of a
# sketchbook. With `flash`, on AVR all tables are read from flash: pwl.h tells of PWL_TABLES_IN_FLASH.
set -eu
runtime=$(dirname "$0")/..
mkdir -p "$1/pwl/src"
cp "$runtime/arduino/library.properties" "$1/pwl"
cp -r "$runtime"/*.[ch] "$runtime/include/pwl" "$1/pwl/src"
define='#if defined(__AVR__) \&\& !defined(PWL_TABLES_IN_FLASH)\n#define PWL_TABLES_IN_FLASH\n#endif'
[ "${2:-}" != flash ] || sed -i "/^#define PWL_PWL_H/a $define" "$1/pwl/src/pwl/pwl.h"
