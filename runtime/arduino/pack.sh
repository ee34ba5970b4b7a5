#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The runtime as a library of Arduino: pack.sh FOLDER makes FOLDER/pwl, to be put among the libraries of a sketchbook.
set -eu
runtime=$(dirname "$0")/..
mkdir -p "$1/pwl/src"
cp "$runtime/arduino/library.properties" "$1/pwl"
cp -r "$runtime"/*.[ch] "$runtime/include/pwl" "$1/pwl/src"
