#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries of pwlc for WebAssembly, from Debian's sources: `libraries.sh DIRECTORY`. Of GSL and nettle that part
# alone that pwlc calls. What is there already stays: delete DIRECTORY to build anew.
set -euo pipefail
mkdir -p "$1"
cd "$1"
prefix=$PWD/root
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"

# sources PACKAGE...: unpacks each in the folder of its name, by a list of sources that the system does not have.
sources() {
    local key=/usr/share/keyrings/debian-archive-keyring.gpg release package options
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mkdir -p lists/partial
    echo "deb-src [signed-by=$key] http://deb.debian.org/debian $release main" >sources.list
    options=(-q -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User=
        -o "Dir::State::Lists=$PWD/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    apt-get "${options[@]}" update
    for package; do
        rm -rf "$package" "$package"-[0-9]*/
        apt-get "${options[@]}" source "$package"
        mv "$package"-[0-9]*/ "$package"
    done
}

# library NAME SOURCE...: compiles the sources, and says where pkg-config looks what there is.
library() {
    local name=$1 objects=() source
    shift
    for source; do
        emcc -O2 -DHAVE_CONFIG_H -I. -I"$prefix/include" -c "$source" -o "${source%.c}.o"
        objects+=("${source%.c}.o")
    done
    emar rcs "$prefix/lib/lib$name.a" "${objects[@]}"
    describe "$name"
}

describe() {
    local version
    version=$(dpkg-parsechangelog -S Version | sed 's/[+-].*//')
    printf '%s\n' "Name: $1" "Description: $1" "Version: $version" "Cflags: -I$prefix/include" \
        "Libs: -L$prefix/lib -l$1" >"$prefix/lib/pkgconfig/$1.pc"
}

gsl() {
    mkdir -p "$prefix/include/gsl"
    cp gsl_*.h err/gsl_*.h fit/gsl_*.h sys/gsl_*.h "$prefix/include/gsl"
    : >config.h
    library gsl err/error.c err/stream.c fit/linear.c
}

nettle() {
    mkdir -p "$prefix/include/nettle"
    sed 's/@[A-Z_]*@/0/' version.h.in >version.h
    cp nettle-types.h sha2.h "$prefix/include/nettle"
    : >config.h
    library nettle sha256.c sha256-compress.c write-be32.c
}

jansson() {
    autoreconf -i
    emconfigure ./configure --host=wasm32 --prefix="$prefix" --disable-shared CFLAGS=-O2
    emmake make -C src install
    emmake make install-pkgconfigDATA
}

# Throws what its users catch.
muparser() {
    local source
    cp include/*.h "$prefix/include"
    for source in src/muParser*.cpp; do
        em++ -O2 -fexceptions -DMUPARSER_DLL -Iinclude -c "$source" -o "${source%.cpp}.o"
    done
    emar rcs "$prefix/lib/libmuparser.a" src/*.o
    describe muparser
}

for name in gsl nettle jansson muparser; do
    [ ! -e "$name.built" ] || continue
    [ -d "$name" ] || sources gsl nettle jansson muparser
    (cd "$name" && "$name")
    touch "$name.built"
done
