#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ladder.sh JSONL [K]: what bench_qgemm measured as a table, of one K or of all, under the roof of the card:
#   FLOP per byte   2 M N K over the bytes of packed weights, of X and of Y (fp16), each moved once
#   of the roof     TFLOP/s over the least of what the tensor cores do with such operands, in dense products (int8 of
#                   dp4a and mma_bytes, else fp16), and of what so many FLOP per byte allow at the memory's speed
# Cards whose figures are not here have no roof.
set -euo pipefail

awk -v only="${2:-}" '
    BEGIN {
        # By NVIDIA, H100 and H200 data sheets: TFLOP/s without sparsity, TB/s.
        peak["NVIDIA H100 80GB HBM3", "fp16"] = peak["NVIDIA H200", "fp16"] = 989.4
        peak["NVIDIA H100 80GB HBM3", "int8"] = peak["NVIDIA H200", "int8"] = 1978.9
        memory["NVIDIA H100 80GB HBM3"] = 3.35
        memory["NVIDIA H200"] = 4.8
        # Bytes of a block of 32 weights.
        block["W4A16"] = block["W4A8"] = 18
        block["W8A16"] = block["W8A8"] = 34
        block["MXFP4 x A16"] = 17
        block["fp16"] = 64
        print "| scheme | K | kernel | us | percentiles | TFLOP/s | times naive | FLOP per byte | of the roof |"
        print "|---|---:|---|---:|---:|---:|---:|---:|---:|"
    }
    function text(name) {
        return match($0, "\"" name "\": \"[^\"]*\"") ? substr($0, RSTART + length(name) + 5, RLENGTH - length(name) - 6) : ""
    }
    function number(name) {
        return match($0, "\"" name "\": [0-9.]+") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) : ""
    }
    only == "" || number("k") == only {
        scheme = text("scheme")
        kernel = text("kernel")
        device = text("device")
        m = number("m")
        n = number("n")
        k = number("k")
        if (!(scheme in block)) {
            print "ladder.sh: no bytes are known of " scheme > "/dev/stderr"
            exit 1
        }
        intensity = 2 * m * n * k / (n * k / 32 * block[scheme] + 2 * m * k + 2 * m * n)
        teraflops = 2e-6 * m * n * k / number("us")
        roof = peak[device, kernel ~ /^(dp4a|mma_bytes)$/ ? "int8" : "fp16"]
        if (intensity * memory[device] < roof)
            roof = intensity * memory[device]
        printf "| %s | %d | %s | %.1f | %.1f to %.1f | %.1f | %s | %.0f | %s |\n", scheme, k, kernel, number("us"), number("p10"),
            number("p90"), teraflops, number("times_naive") != "" ? sprintf("%.1f", number("times_naive")) : "-", intensity,
            roof ? sprintf("%.3f", teraflops / roof) : "-"
    }' "$1"
