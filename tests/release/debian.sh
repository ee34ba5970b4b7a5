#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# debian.sh INSTALLED ARCHITECTURE TRIPLET VERSION SOURCE OUT: packages of Debian, of what `meson install` gave.
set -euo pipefail
installed=$1 architecture=$2 triplet=$3 version=$4 source=$5 out=$6
abi=$(sed -n 's/^#define PWL_ABI_VERSION //p' "$source/runtime/include/pwl/pwl.h")
tree=$installed.packages
rm -rf "$tree"

# The newest names of the C library that files need say which version of it; nothing where they need none.
libc() {
    objdump -T "$@" | sed -n 's/.*GLIBC_\(2\.[0-9]*\).*/\1/p' | sort -Vu | tail -n 1 | sed 's/.*/libc6 (>= &)/'
}

# take PACKAGE PATH...: moves what is installed to the package's tree.
take() {
    local package=$1 path
    shift
    for path; do
        mkdir -p "$tree/$package/$(dirname "$path")"
        mv "$installed/$path" "$tree/$package/$path"
    done
}

# package NAME SECTION LICENCE DEPENDS DESCRIPTION DETAILS [FIELD...]
package() {
    local root=$tree/$1 name=$1 section=$2 licence=$3 depends=$4 description=$5 details=$6 field
    shift 6
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        printf '\nFiles: *\nCopyright: the pwlc developers\nLicense: %s\n' "$licence"
    } >"$root/usr/share/doc/$name/copyright"
    gzip -n9 <"$source/CHANGELOG.md" >"$root/usr/share/doc/$name/changelog.gz"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$name" "$version" "$architecture"
        printf 'Section: %s\nPriority: optional\n' "$section"
        printf 'Maintainer: %s\n' "${PWL_MAINTAINER:-The pwlc developers <pwlc@example.invalid>}"
        [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
        for field; do printf '%s\n' "$field"; done
        printf 'Installed-Size: '
        find "$root/usr" -type f -printf '%s\n' | awk '{ k += int(($1 + 1023) / 1024) } END { print k }'
        printf 'Description: %s\n %s\n' "$description" "$details"
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
    [ "$name" != "libpwl$abi" ] || echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
}

gzip -n9 "$installed/usr/share/man/man1/pwlc.1"
take pwlc usr/bin usr/share/man usr/share/bash-completion usr/share/fish
mkdir -p "$tree/pwlc/usr/share/zsh"
mv "$installed/usr/share/zsh/site-functions" "$tree/pwlc/usr/share/zsh/vendor-completions"
take "libpwl$abi" "usr/lib/$triplet/libpwl.so.$abi" "usr/lib/$triplet/libpwl.so.$version"
take libpwl-dev usr/include "usr/lib/$triplet"
take python3-pwl usr/lib/python3
left=$(find "$installed" -type f)
[ -z "$left" ] || { echo "debian.sh: in no package: $left" && exit 1; }

package pwlc math "GPL-3.0-or-later" "$(libc "$tree"/pwlc/usr/bin/*)" \
    "compiler of activation functions into integer tables" \
    "pwlc compiles functions into small tables of straight lines, measures and proves them." \
    "Recommends: python3-pwl" "Suggests: libpwl-dev"
package "libpwl$abi" libs Apache-2.0 "$(libc "$tree/libpwl$abi/usr/lib/$triplet/libpwl.so.$version")" \
    "integer-only evaluation of piecewise-linear tables" \
    "libpwl evaluates tables by pwlc, softmax, normalisation and networks, by integers alone." "Multi-Arch: same"
package libpwl-dev libdevel Apache-2.0 "libpwl$abi (= $version)" "headers and static libraries of libpwl" \
    "Also libpwl-blocks and libpwl-qgemm, products with quantised weights." "Multi-Arch: same"
package python3-pwl python Apache-2.0 \
    "$(libc "$tree"/python3-pwl/usr/lib/python3/dist-packages/pwl/*.so), python3 (>= 3.9), python3-numpy" \
    "activation functions as integer tables, in Python" \
    "Fits tables by pwlc and maps arrays of numpy by libpwl." "Recommends: pwlc"
