#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ratios.py JSON: of a run of bench_cpu, the ratios by which its ways are judged, as a Markdown table."""
import json
import sys

rows = {}
with open(sys.argv[1]) as lines:
    for line in lines:
        row = json.loads(line)
        rows.setdefault((row["in"], row["type"], row["segments"]), {})[row["work"]] = row["ns"]


def ns(place, codes, segments, work):
    return rows.get((place, codes, segments), {}).get(work)


def quickest(place, codes, segments, level):
    """The quickest way whose name ends in one of the levels."""
    ways = rows.get((place, codes, segments), {})
    times = [(time, name) for name, time in ways.items() if name.split("_")[-1] in level]
    return min(times) if times else (None, None)


AVX512, AVX2 = ("avx512", "avx512vbmi"), ("avx2",)
# level, place, codes, segments, against, times quicker (below 1: share of its speed)
goals = [
    (AVX512, "L1", "s8", 16, "256-byte table", 10),
    (AVX512, "L1", "s8", 16, "memcpy", 0.2),
    (AVX512, "L1", "s16", 16, "scan", 45),
    (AVX512, "L1", "s16", 16, "513-entry table", 3.7),
    (AVX512, "L1", "s16", 16, "gather of 512 entries", 1),
    (AVX512, "L1", "s16", 64, "513-entry table", 2.5),
    (AVX512, "L1", "s32", 16, "scan", 15),
    (AVX512, "memory", "s8", 16, "memcpy", 0.8),
    (AVX512, "memory", "s16", 16, "memcpy", 0.6),
    (AVX2, "L1", "s8", 16, "256-byte table", 2),
    (AVX2, "L1", "s16", 16, "513-entry table", 2),
]
print("| codes | segments | in | way | ns per element | against | its ns | times as quick | goal |")
print("|---|---:|---|---|---:|---|---:|---:|---:|")
for level, place, codes, segments, against, goal in goals:
    time, name = quickest(place, codes, segments, level)
    other = ns(place, codes, segments, against)
    if time and other:
        print(f"| {codes} | {segments} | {place} | {name} | {time:.4f} | {against} | {other:.4f} "
              f"| {other / time:.2f} | {goal} |")
