#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc bench gemm: its rows in every format, and every refusal. $3 is a libpwlc-cuda.so that needs no device, and makes
# times from M, N and K: 16.000064 + 2 for 16 x 2 x 64 and so on.
host_library=$(realpath "$3")
. "$(dirname "$0")/lib.sh"

# On the CPU: times are what they are.
small=(bench gemm -m 1,3 -n 5 -k 32,64 --device cpu)
expect_status 0 "${small[@]}" --scheme w4a16,int8
[ "$(grep -cE '^\| (w4a16|int8) ' ../out)" -eq 8 ] || fail "bench: not 8 rows: $(cat ../out)"
expect_line '\| w4a16 +\| +3 \| +5 \| +64 \| host +\| +- \| +[0-9.e+]+ \| +- \| +- \| +- \| CPU +\|' ../out bench
expect_status 0 "${small[@]}" --scheme w8a8,mxfp4a16 --format jsonl -o rows.jsonl
[ ! -s ../out ] || fail 'bench -o: prints as well'
[ "$(grep -c '^{"scheme": "mxfp4a16", "m": [13], "n": 5, "k": \(32\|64\), "kernel": "host", "cold_us": null, ' rows.jsonl)" -eq 4 ] ||
    fail "bench --format jsonl: $(cat rows.jsonl)"
checks=$((checks + 1))
python3 -c 'import json, sys; rows = [json.loads(line) for line in open("rows.jsonl")]
sys.exit(len(rows) != 8 or any(not 0 < row["warm_p10_us"] <= row["warm_us"] <= row["warm_p90_us"] for row in rows))' ||
    fail 'bench --format jsonl: times out of order'
expect_status 0 "${small[@]}" --format csv
[ "$(grep -cE '^(w4a16|w8a16|w4a8|w8a8),' ../out)" -eq 16 ] || fail 'bench: not all schemes by default'

# By a library.
export PWL_CUDA_LIBRARY=$host_library
expect_status 0 bench gemm -m 16,1 -n 2000 -k 64 --scheme w4a16,int8 --format csv
expect_line 'scheme,m,n,k,kernel,cold_us,.*,times_cublaslt_cold,repetitions,launches,device' ../out 'bench --format csv'
expect_line 'w4a16,16,2000,64,reference,18.0001,17.0001,19.0001,9.00003,4.50002,18.0001,36.0001,18.0001,54.0002,54.0002,36.0001,72.0003,2,51,7,no device' \
    ../out 'bench --format csv'
expect_line 'int8,1,2000,64,reference,3.00006,2.00006,4.00006,1.50003,0.750016,3.00006,,,,,,,,51,7,no device' ../out 'bench --format csv'
expect_status 0 bench gemm --device cuda --scheme w4a8
expect_line '\| w4a8 +\| 512 \| 4096 \| 4096 \| reference \| +516.1 \| +258.05 \| +1032.2 \| +1548.3 \| +2 \| no device \|' ../out bench
[ "$(grep -c w4a8 ../out)" -eq 3 ] || fail 'bench: not three M by default'
export DEVICE_FAULT=device
expect_error 77 '--device cuda: w4a16, M 1, N 4096, K 4096: no CUDA device: none was found' bench gemm
DEVICE_FAULT=memory
expect_error 1 '--device cuda: w4a16, M 1, N 4096, K 4096: out of memory' bench gemm -o out.md
unset DEVICE_FAULT
PWL_CUDA_LIBRARY=nowhere/lib.so
expect_error 77 'PWL_CUDA_LIBRARY: nowhere/lib.so: cannot open shared object file' bench gemm
unset PWL_CUDA_LIBRARY

expect_error 2 'what to measure is gemm' bench
expect_error 2 'what to measure is gemm' bench fit
expect_error 2 '"sweep" is one argument too many' bench gemm sweep
for value in 0 -1 1.5 x 16777217 '' 1, ,1 99999999999999999999; do
    expect_error 2 'is not a number from 1 to 16777216' bench gemm -m "$value"
    expect_error 2 'is not a number from 1 to 16777216' bench gemm -n "$value"
done
for value in 0 33 16 16777248; do
    expect_error 2 "-k \"$value\" is not a number from 32 to 16777216, a multiple of 32" bench gemm -k "32,$value"
done
expect_error 2 '-m has more than 32 values' bench gemm -m "1$(printf ',%s' {1..32})"
expect_error 2 '--scheme has more than 32 values' bench gemm --scheme "int8$(printf ',int8%.0s' {1..32})"
expect_error 2 '--scheme w4: must be w4a16, w8a16, mxfp4a16, w4a8, w8a8, mxfp4a8, q4ka8, q5ka8, q6ka8, int8 or w4int8' bench gemm --scheme w8a8,w4
expect_error 2 '--device auto: must be cpu or cuda' bench gemm --device auto
expect_error 2 '--format xml: must be md, csv, json or jsonl' bench gemm --format xml
expect_error 2 'M 4097, N 4096, K 4096 is more than 2^36 multiplications' bench gemm -m 4097 --device cpu
expect_error 2 '-k 32: must be a multiple of 256 for --scheme q5ka8' "${small[@]}" --scheme q5ka8
expect_error 2 '--scheme q4ka8 has no kernel; must be with --device cpu' bench gemm -m 1 -k 256 --scheme w4a8,q4ka8
expect_status 0 bench gemm -m 2 -n 5 -k 256 --device cpu --scheme q4ka8,q5ka8,q6ka8,mxfp4a8 --format csv
[ "$(grep -cE '^(q[456]k|mxfp4)a8,2,5,256,host,' ../out)" -eq 4 ] || fail "bench: super-blocks: $(cat ../out)"
expect_error 2 'random weights, 1 x 65824 (N x K): K is above 65793' bench gemm -m 1 -n 1 -k 65824 --scheme int8 --device cpu
expect_status 1 "${small[@]}" -o missing/rows && grep -q '^pwlc bench: missing/rows: cannot write' ../err ||
    fail "bench -o: $(head -c 300 ../err)"

finish
