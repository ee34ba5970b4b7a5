#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --method residual: a ramp less what is the same on both sides, by the steps that are cheapest, held against every
# choice of steps; what it refuses; and which tables --rtl-style residual and auto take.
. "$(dirname "$0")/lib.sh"

# Every g within the limits of tiny types, and the least sum of steps; types, limit, whether f(0) is free.
checks=$((checks + 1))
/usr/bin/python3 - "$pwlc" <<'END' || fail 'tables of tiny types'
import itertools, json, math, subprocess, sys

def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))

def silu(x):
    return x / (1 + math.exp(-x))

def cases():
    for name, f in (("gelu", gelu), ("silu", silu)):
        for x, y in (("s4:2^-1:0", "s5:2^-2:0"), ("s4:2^-1:0", "s4:2^-1:1"), ("u4:2^-1:7", "s6:2^-3:0"),
                     ("s4:2^-2:-2", "s4:2^-1:0"), ("u4:2^-2:5", "u5:2^-2:3")):
            for limit in (0.5, 0.75, 1, 1.5):
                for zero in ("keep", "free"):
                    yield name, f, x, y, limit, zero

def tensor(text):
    codes, scale, zero = text.split(":")
    bits = int(codes[1:])
    low = -(1 << bits - 1) if codes[0] == "s" else 0
    return low, low + (1 << bits) - 1, 2.0 ** float(scale[2:]), int(zero)

def least(f, x, y, limit, zero):
    """Of both ways to count |d|, that with an inversion first: the least sum of steps over every g, or None."""
    (low, high, scale_x, zp_x), (y_low, y_high, scale_y, zp_y) = tensor(x), tensor(y)
    for inverted in (True, False):
        last = max(zp_x - low - inverted, high - zp_x)
        if last > 1 and last & (last - 1) == 0 and zp_x - low > high - zp_x:
            last -= 1
        bits = max(last.bit_length(), 1)
        index = lambda d: (d if d >= 0 else -1 - d if inverted else -d) & ((1 << bits) - 1)
        allowed = [set(range(-64, 65)) for _ in range(last + 1)]
        for code in range(low, high + 1):
            d = code - zp_x
            target = min(max(f(d * scale_x) / scale_y + zp_y, y_low), y_high)
            ramp = zp_y + (math.floor(d * scale_x / scale_y) if d > 0 else 0)
            serves = {g for g in range(-64, 65) if y_low <= ramp - g <= y_high and abs(ramp - g - target) <= limit + 1e-9}
            own = {g for g in serves if ramp - g == round(target)}
            allowed[index(d)] &= own if d == 0 and zero == "keep" and own else serves
        best = {g: 0 for g in allowed[0]}
        price = lambda i: 2.0 ** -((i & -i).bit_length() - 1)
        found = [sum(price(i) for i in range(1, last + 1) if g[i] != g[i - 1]) for g in itertools.islice(
            itertools.product(*map(sorted, allowed)), 300000)] if all(allowed) else []
        if found:
            return min(found), inverted, bits, last
    return None

made = refused = 0
for name, f, x, y, limit, zero in cases():
    want = least(f, x, y, limit, zero)
    done = subprocess.run([sys.argv[1], "fit", name, "--in", x, "--out", y, "--method", "residual", "--max-err", str(limit),
                           "--zero", zero], capture_output=True, text=True)
    assert (done.returncode == 0) == (want is not None), (name, x, y, limit, zero, want, done.stderr)
    if want is None:
        assert done.returncode == 3, done.stderr
        refused += 1
        continue
    made += 1
    table, (steps, inverted, bits, last) = json.loads(done.stdout), want
    assert table["certificate"]["max_err_lsb"] <= limit + 1e-6 and table["certificate"]["optimal"] is None
    (low, high, scale_x, zp_x), zp_y = tensor(x), tensor(y)[3]
    g = {}
    for code in range(low, high + 1):
        segment = [s for s in table["segments"] if s["start"] <= code][-1]
        d = code - zp_x
        assert (segment["q_b"] != 0) == (d >= 0), segment
        i = (d if d >= 0 else -1 - d if inverted else -d) & ((1 << bits) - 1)
        assert g.setdefault(i, zp_y - segment["term_c"]) == zp_y - segment["term_c"], (code, segment)
    got = sum(2.0 ** -((i & -i).bit_length() - 1) for i in range(1, last + 1) if g[i] != g[i - 1])
    assert got == steps, (name, x, y, limit, zero, got, steps)
print(made, "made,", refused, "refused")
assert made > 40 and refused > 3
END

gelu='gelu --in s8:2^-5 --out s8:2^-5'
"$pwlc" fit $gelu --method lut -o nearest.json 2>../err
"$pwlc" fit $gelu --method residual --max-err 0.5 -o half.json 2>../err
"$pwlc" fit $gelu --method residual --max-err 1 -o one.json 2>../err
for table in nearest half one; do
    expect_status 0 show $table.json && expect_line '  hardware     residual, ROM 128 x 3 = 384 bits: g\[2:0\]' ../out "$table"
done
checks=$((checks + 1))
[ "$("$pwlc" eval nearest.json -- -128 -90 -5 -1 0 1 77 127)" = "$("$pwlc" eval half.json -- -128 -90 -5 -1 0 1 77 127)" ] ||
    fail 'within half an LSB the codes are the nearest'
expect_status 0 emit one.json --format sv && expect_line '  assign index = d\[6:0\] \^ \{7\{mirrored\}\};' ../out 'no adder'
expect_status 0 emit half.json --format mem && expect_line '// g\[2:0\]' ../out 'words'
"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 --method lut -o tanh.json 2>../err
expect_status 0 show tanh.json && expect_line '  hardware     rom, .*' ../out 'no ramp'
expect_error 2 '--rtl-style residual: the outputs of this table are no ramp' emit tanh.json --format sv --rtl-style residual
expect_error 2 'needs --max-err' fit $gelu --method residual
expect_error 2 '--method residual with --segments 8' fit $gelu --method residual --max-err 1 --segments 8
expect_error 2 'its form is absolute' fit $gelu --method residual --max-err 1 --form biased
expect_error 2 'must differ by a power of two' fit gelu --in s8:0.03 --out s8:0.05 --method residual --max-err 1
expect_error 2 'must be lsq, minimax or uniform' fit $gelu --method residual --max-err 1 --monotone
expect_error 2 'must have at most 12' fit gelu --in s13:2^-9 --out s13:2^-9 --method residual --max-err 1
expect_error 3 'the codes are no ramp' fit tanh --in s8:2^-5 --out s8:2^-5 --method residual --max-err 1

# Gates: 212 of the ROM of all outputs.
if command -v yosys >/dev/null; then
    for row in 'half.json 175' 'one.json 152'; do
        expect_status 0 cost "${row% *}" --target generic --rtl-style auto --format jsonl || continue
        cells=$(grep -oE '"cells": [0-9]+' ../out | head -n 1 | grep -oE '[0-9]+')
        [ "$cells" -le "${row#* }" ] || fail "$row: $cells cells"
    done
fi
finish
