#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Operators of elements, requantise and add, on the command line: fit, and what every command makes of their files.
. "$(dirname "$0")/lib.sh"

expect_status 0 fit requantise --in s32:0.0003 --out s8:0.05:-3 -o sums.json
expect_status 0 fit requantise --in u16:0.0003:100 --out u8:0.031:128 -o codes.json
expect_status 0 fit add --in s8:0.05:4 --in-b u8:0.031:100 --out s8:0.06:2 -o narrow.json
expect_status 0 fit add --in s16:0.0007:4 --in-b s8:0.031 --out u16:0.0009:2 -o wide.json
all='sums codes narrow wide'

mkdir ../runtime
(cd ../runtime && cc -std=c11 -O1 "-I$root/runtime/include" -c "$root"/runtime/{,rows/}*.c)

# The header is the operator, the standalone one computes the same, and both what eval prints.
check_headers() {
    local name=$1 is_add=$2 compiler
    expect_status 0 emit "$name.json" --name my_operator -o my_operator.h
    expect_status 0 emit "$name.json" --name my_operator -o my_operator.h --check
    expect_status 0 emit "$name.json" --standalone --name own_operator -o own_operator.h
    for compiler in "cc -std=c11 -x c -ffreestanding -Wconversion" "c++ -std=c++11 -x c++" \
        "arm-none-eabi-gcc -x c -mcpu=cortex-m4 -Os -ffreestanding"; do
        ! command -v "${compiler%% *}" >/dev/null ||
            $compiler -O2 -Wall -Wextra -Wpedantic -Werror -fsyntax-only own_operator.h 2>../cc ||
            fail "$name: $compiler: $(head -3 ../cc)"
    done
    cat >own.c <<SOURCE
#include <stdio.h>
#include <string.h>
#include "my_operator.h"
#include "own_operator.h"
#define IS_ADD $is_add
int main(void)
{
    enum { ROOM = 5000 };
    static int32_t a[ROOM], b[ROOM], y[ROOM], z[ROOM];
    uint64_t state = 1;
    for (int k = 0; k < ROOM; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        a[k] = (int32_t)(state >> 32) >> k % 24;
        b[k] = (int32_t)(state >> 16);
    }
#if IS_ADD
    if (pwl_add_check(&my_operator) != PWL_OK)
        return 1;
    pwl_add_run(&my_operator, a, b, y, ROOM);
    own_operator_run((void *)a, (void *)b, (void *)z, ROOM);
#else
    if (pwl_requantise_check(&my_operator) != PWL_OK)
        return 1;
    pwl_requantise_run(&my_operator, a, y, ROOM);
    own_operator_run((void *)a, (void *)z, ROOM);
#endif
    int changes = 0;
    for (int k = 1; k < ROOM; k++)
        changes += ((char *)y)[k] != ((char *)y)[k - 1];
    FILE *const file = fopen("codes.bin", "wb");
    fwrite(a, sizeof a, 1, file);
    fwrite(b, sizeof b, 1, file);
    fwrite(y, sizeof y, 1, file);
    fclose(file);
    printf("%d %d\n", memcmp(y, z, sizeof y), changes > 1000);
    return 0;
}
SOURCE
    cc -std=c11 -O1 -fsanitize=undefined,address -Wall -Wextra -Werror -Wno-unused "-I$root/runtime/include" -I. own.c \
        ../runtime/*.o -o own 2>../cc || fail "$name: the headers do not compile: $(head -3 ../cc)"
    [ "$(./own 2>&1)" = "0 1" ] || fail "$name: the standalone header computes something else: $(./own 2>&1 | head -5)"
    python3 - "$name.json" <<'END'
import json, struct, sys
op, data, letters = json.load(open(sys.argv[1])), open("codes.bin", "rb").read(), {8: "b", 16: "h", 32: "i"}
def codes(side, block):
    letter = letters[op[side]["bits"]]
    letter = letter if op[side]["signed"] else letter.upper()
    return struct.unpack(f"<400{letter}", data[block * 20000:][:struct.calcsize(f"<400{letter}")])
inputs = [codes(side, k) for k, side in enumerate(("in", "in_b")) if side in op]
open("words", "w").write(" ".join(str(code) for place in zip(*inputs) for code in place))
open("expected", "w").write("".join(f"{code}\n" for code in codes("out", 2)))
END
    # shellcheck disable=SC2046
    expect_status 0 eval "$name.json" -- $(cat words) && { cmp -s ../out expected || fail "$name: eval gives other codes"; }
    rm -f my_operator.h own_operator.h own own.c codes.bin words expected
}

# The same flags give the same bytes; the file is read and written back as it was, and measured anew is the same.
for name in $all; do
    # shellcheck disable=SC2046
    expect_status 0 fit $(sed -n 's/^  "spec": "\(.*\)",$/\1/p' $name.json) -o again.json
    cmp -s again.json $name.json || fail "$name: other bytes of the same flags"
    expect_status 0 emit $name.json --format json && { cmp -s ../out $name.json || fail "$name: written differently"; }
    expect_status 0 certify $name.json -o again.json && { cmp -s again.json $name.json || fail "$name: certified differently"; }
    bound=$(sed -n 's/.*"bound_lsb": \([0-9.]*\),.*/\1/p' $name.json)
    expect_status 0 show $name.json && { grep -q "proven *$bound LSB" ../out || fail "$name: show has another bound"; }
    expect_status 0 sweep $name.json --rows 50 --format json && {
        grep -q "\"bound_lsb\": $bound,\$" ../out || fail "$name: sweep has another bound"
        max=$(sed -n 's/.*"max_err_lsb": \([0-9.]*\),$/\1/p' ../out)
        awk "BEGIN { exit !($max > 0.44 && $max <= $bound && $bound < 0.5005) }" || fail "$name: sweep finds $max, the bound is $bound"
    }
    expect_status 0 sweep $name.json --max-err 0.6
    expect_status 3 sweep $name.json --max-err 0.5
    expect_status 0 show --format json $name.json && python3 - $name.json <<'END' || fail "$name: show --format json"
import json, sys
shown, = json.load(open("../out"))
file = json.load(open(sys.argv[1]))
assert shown["certificate"] == file["certificate"] and shown["operator"] == file["operator"] and "rows" not in shown
assert ("in_b" in shown) == ("in_b" in file)
END
    case $name in narrow | wide) check_headers $name 1 ;; *) check_headers $name 0 ;; esac
done
expect_status 0 report sums.json codes.json narrow.json wide.json -o page.html && {
    [ "$(grep -c 'second in' page.html)" -eq 2 ] || fail "report does not tell of second inputs"
}

# Every code and every pair is measured where they are few.
expect_status 0 show codes.json && { grep -q 'over 1 rows' ../out || fail "codes: $(cat ../out)"; }
expect_status 0 show narrow.json && { grep -q 'over 256 rows' ../out || fail "narrow: $(cat ../out)"; }

# eval.
expect_output 128 eval codes.json 100
expect_status 0 eval narrow.json 4 100 && { [ "$(cat ../out)" = 2 ] || fail "zero and zero: $(cat ../out)"; }
expect_error 2 'must be pairs' eval narrow.json 4 100 5
expect_error 2 '256, must be a code' eval narrow.json 4 256
expect_error 2 '128, must be a code' eval narrow.json 128 4
python3 - <<'END'
import struct
for name, shape, count in (("a", "(2, 3)", 6), ("b", "(3, 2)", 6)):
    head = b"{'descr': '<i8', 'fortran_order': False, 'shape': %s, }" % shape.encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<6q", *range(count)))
END
expect_status 0 eval narrow.json a.npy a.npy -o y.npy && { head -c 100 y.npy | grep -q '(2, 3)' || fail "the shape is lost"; }
expect_status 0 eval narrow.json a.npy a.npy && { [ "$(wc -l <../out)" -eq 6 ] || fail "eval: $(cat ../out)"; }
expect_error 2 'b.npy: must have the shape of a.npy' eval narrow.json a.npy b.npy
expect_error 2 'must be' eval narrow.json a.npy
expect_error 2 'must be' eval codes.json a.npy a.npy

# Flags, and what cannot be made.
expect_error 2 '--in-b is needed' fit add --in s8:0.1 --out s8:0.1
expect_error 2 '--in-b: not of requantise' fit requantise --in s8:0.1 --in-b s8:0.1 --out s8:0.1
expect_error 2 '--in-b: not of softmax' fit softmax --in s8:0.1 --in-b s8:0.1 --out u8:2^-8 --rows 5
expect_error 2 '--rows: not of add' fit add --in s8:0.1 --in-b s8:0.1 --out s8:0.1 --rows 5
expect_error 2 '--eps: not of requantise' fit requantise --in s8:0.1 --out s8:0.1 --eps 1
expect_error 2 '--in: 32 bits' fit add --in s32:0.1 --in-b s8:0.1 --out s8:0.1
expect_error 2 '--in-b: 32 bits' fit add --in s8:0.1 --in-b s32:0.1 --out s8:0.1
expect_error 2 '--in: 32 bits' fit requantise --in u32:0.1 --out s8:0.1
expect_error 2 '--out: 32 bits' fit requantise --in s8:0.1 --out s32:0.1
expect_error 2 'the zero point -129' fit requantise --in s8:0.1:-129 --out s8:0.1
expect_error 2 '--in-b: the zero point 256' fit add --in s8:0.1 --in-b u8:0.1:256 --out s8:0.1
expect_error 3 'no provable operator' fit requantise --in s8:2^40 --out s8:0.1
expect_error 3 'no provable operator' fit requantise --in s8:2^-40 --out s8:1
expect_error 3 'no provable operator' fit add --in s8:2^40 --in-b s8:2^40 --out s8:0.1
expect_error 3 'not safe to run' fit requantise --in s32:0.0000019073484:-2147483648 --out s8:1
expect_error 2 '--in-b: of' fit tanh --in s8:2^-5 --in-b s8:1 --out s8:2^-7

# diff.
expect_status 0 diff narrow.json narrow.json
expect_status 0 fit add --in s8:0.05:4 --in-b u8:0.035:100 --out s8:0.06:2 -o other.json
expect_status 3 diff narrow.json other.json && {
    for line in 'in_b: u8:0.031:100 | u8:0.035:100' 'factor_b: [0-9]* | [0-9]*' 'outputs: [1-9][0-9]* of 65536 codes differ'; do
        grep -q "^$line" ../out || fail "diff does not say: $line"
    done
}
expect_status 3 diff narrow.json wide.json && { grep -q 'take different rows' ../err || fail "diff: $(cat ../err)"; }
expect_status 3 diff narrow.json sums.json && { grep -q 'take different rows' ../err || fail "diff: $(cat ../err)"; }
finish
