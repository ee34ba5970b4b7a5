#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc sweep --device cuda: what it says without the library or with a wrong one, and the same report as on the host
# from a library that needs no device. $3 is that library.
host_library=$(realpath "$3")
. "$(dirname "$0")/lib.sh"

expect_status 0 fit tanh --in s10:2^-7 --out s8:2^-7 --method uniform -o tanh.json
expect_status 0 fit rsqrt --in u10:2^-6:-6 --out u10:2^-8 --reduce on --segments 4 -o reduced.json
printf '%s\n' '-4,0' '4,1' >samples.csv
expect_status 0 fit --samples samples.csv --in s8:2^-5 --out s8:2^-7 -o samples.json

cuda=(--exhaustive --device cuda)
expect_error 2 '--device gpu: must be cpu or cuda' sweep tanh.json --exhaustive --device gpu
expect_error 2 '--device cuda visits every code, and needs --exhaustive' sweep tanh.json --device cuda

# None found: pwlc alone in a folder, and an empty folder for libraries where it cannot be the system's.
leave_libraries
if ! ldconfig -p 2>/dev/null | grep -q libpwlc-cuda; then
    expect_error 77 "libpwlc-cuda.so is neither in $(dirname "$pwlc") nor in" sweep tanh.json "${cuda[@]}"
    expect_error 77 'name it in PWL_CUDA_LIBRARY' sweep tanh.json "${cuda[@]}"
fi
# Where the system searches; no library, and one.
mkdir ../searched
echo 'no library' >../searched/libpwlc-cuda.so
LD_LIBRARY_PATH=$(realpath ../searched) expect_error 77 'searched/libpwlc-cuda.so: file too short' sweep tanh.json "${cuda[@]}"
cp "$host_library" ../searched/libpwlc-cuda.so
LD_LIBRARY_PATH=$(realpath ../searched) expect_status 0 sweep tanh.json "${cuda[@]}"
# Beside pwlc, where it is no library.
echo 'no library' >../libpwlc-cuda.so
expect_error 77 "$(dirname "$pwlc")/libpwlc-cuda.so: file too short" sweep tanh.json "${cuda[@]}"
# Beside pwlc, where it is one.
cp "$host_library" ../libpwlc-cuda.so
expect_status 0 sweep tanh.json "${cuda[@]}"
pwlc=$built

export PWL_CUDA_LIBRARY=nowhere/lib.so
expect_error 77 'PWL_CUDA_LIBRARY: nowhere/lib.so: cannot open shared object file' sweep tanh.json "${cuda[@]}"
PWL_CUDA_LIBRARY=$(ldd "$pwlc" | sed -n 's/.*=> \(.*libjansson[^ ]*\).*/\1/p')
[ -z "$PWL_CUDA_LIBRARY" ] ||
    expect_error 77 'has no function pwlc_cuda_abi; it must be the libpwlc-cuda.so of pwlc' sweep tanh.json "${cuda[@]}"
PWL_CUDA_LIBRARY=$host_library

export DEVICE_FAULT=abi
expect_error 77 'has interface version 5, must be 4; build it with this pwlc' sweep tanh.json "${cuda[@]}"
DEVICE_FAULT=device
expect_error 77 'tanh.json: --device cuda: no CUDA device: none was found' sweep tanh.json "${cuda[@]}"
DEVICE_FAULT=target
expect_error 1 "--device cuda: the device's targets from code -512" sweep tanh.json "${cuda[@]}"
DEVICE_FAULT=lost
expect_error 1 "--device cuda: the device's targets from code -512" sweep tanh.json "${cuda[@]}"
DEVICE_FAULT=value
expect_error 1 "--device cuda: the device's values of codes -512 to 511 are not the runtime's" \
    sweep tanh.json "${cuda[@]}"
unset DEVICE_FAULT

expect_error 2 'samples.json: --device cuda: samples is no built-in function; must be --device cpu' \
    sweep samples.json --samples samples.csv "${cuda[@]}"
expect_error 2 'reduced.json: --device cuda: the table is reduced; must be --device cpu' sweep reduced.json "${cuda[@]}"

# The same report, certificates and all, of one run of codes or of two.
expect_status 0 fit tanh --in s17:2^-14 --out s16:2^-15 --method uniform -o wide.json
tables=("$root"/luts/tables/*_s8.json "$root"/luts/tables/*_s16_1lsb.json tanh.json wide.json)
expect_status 0 sweep "${tables[@]}" --exhaustive --format json
cp ../out host.json
expect_status 0 sweep "${tables[@]}" "${cuda[@]}" --format json
cmp ../out host.json || fail "the device's report differs from the host's"
run sweep tanh.json --exhaustive --ref mpfr --format json
if [ "$status" -ne 77 ]; then # built with it
    cp ../out host.json
    expect_status 0 sweep tanh.json "${cuda[@]}" --ref mpfr --format json
    cmp ../out host.json || fail "by MPFR the device's report differs from the host's"
fi
PWL_CUDA_LIBRARY=none expect_status 0 sweep tanh.json --exhaustive --device cpu

finish
