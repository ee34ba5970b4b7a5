#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries of pwlc for WebAssembly, from Debian's sources: `libraries.sh DIRECTORY`. Of each that part alone that
# pwlc calls. What is there already stays: delete DIRECTORY to build anew.
set -euo pipefail
emcc=$(dirname "$(realpath "$0")")/emcc.sh
mkdir -p "$1"
cd "$1"
prefix=$PWD/root
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"

# sources PACKAGE...: unpacks each in the folder of its name, by a list of sources that the system does not have: those
# of the system's own mirror, or of Debian's.
sources() {
    local key=/usr/share/keyrings/debian-archive-keyring.gpg release package options mirror
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mkdir -p lists/partial
    options=(-q -o "Dir::Etc::SourceList=$PWD/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User=
        -o "Dir::State::Lists=$PWD/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    for mirror in $(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Label: Debian' \
        "Codename: $release" 'Component: main') http://deb.debian.org/debian; do
        echo "deb-src [signed-by=$key] $mirror $release main" >sources.list
        apt-get "${options[@]}" -o APT::Update::Error-Mode=any update && break
    done
    for package; do
        rm -rf "$package" "$package"-[0-9]*/
        apt-get "${options[@]}" source "$package"
        mv "$package"-[0-9]*/ "$package"
    done
}

# library NAME SOURCE...: compiles the sources, and says where pkg-config looks what there is.
library() {
    local name=$1
    shift
    printf '%s\n' "$@" | xargs -n 1 -P 2 "$emcc" -O2 -DHAVE_CONFIG_H -I. "-I$prefix/include" -c
    emar rcs "$prefix/lib/lib$name.a" ./*.o
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
    sed 's/@json_inline@/inline/; s/@json_[a-z_]*@/1/' src/jansson_config.h.in >src/jansson_config.h
    cp src/jansson.h src/jansson_config.h "$prefix/include"
    printf '#define HAVE_%s 1\n' ATOMIC_BUILTINS CLOSE FCNTL_H GETPID GETTIMEOFDAY LOCALE_H OPEN READ SCHED_H \
        SCHED_YIELD STDINT_H STRTOLL SYS_PARAM_H SYS_STAT_H SYS_TIME_H SYS_TYPES_H UNISTD_H >jansson_private_config.h
    printf '#define INITIAL_HASHTABLE_ORDER 3\n#define USE_URANDOM 1\n' >>jansson_private_config.h
    library jansson src/*.c
}

for name in gsl nettle jansson; do
    [ ! -e "$name.built" ] || continue
    [ -d "$name" ] || sources gsl nettle jansson
    (cd "$name" && "$name")
    touch "$name.built"
done
