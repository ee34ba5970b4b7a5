#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Weighted sums on the command line: fit, and what every command makes of their files.
. "$(dirname "$0")/lib.sh"

expect_status 0 fit weigh --in s8:0.08:900 --in-b s8:0.03:4 --out s8:0.03 --rows 256 -o bytes.json
expect_status 0 fit weigh --in u16:0.0003 --in-b u16:0.0004:30000 --out s16:0.0005:2 --rows 64 -o words.json
expect_status 0 fit weigh --in s16:0.0003 --in-b u8:0.03:128 --out u8:0.02:100 --rows 64 --fraction 20 -o mixed.json
all='bytes words mixed'

mkdir ../runtime
(cd ../runtime && cc -std=c11 -O1 "-I$root/runtime/include" -c "$root"/runtime/{,rows/}*.c)

# The header is the operator, the standalone one computes the same, with masks too, and both what eval prints.
check_headers() {
    local name=$1 compiler
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
enum { PLACES = 64, CHANNELS = 5, STRIDE = 7, WORDS = 3 };
static uint64_t state = 1;
static uint32_t draw(void)
{
    return (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
}
static void fill(int type, void *array, uint32_t count, uint32_t width)
{
    const uint32_t first = draw();
    for (uint32_t k = 0; k < count; k++)
        if (type <= PWL_U8)
            ((uint8_t *)array)[k] = (uint8_t)(first + draw() % width);
        else
            ((uint16_t *)array)[k] = (uint16_t)(first + draw() % width);
}
int main(void)
{
    static uint16_t x[PLACES], v[PLACES * STRIDE], y[CHANNELS], z[CHANNELS], before[CHANNELS];
    static uint8_t mask[PLACES];
    const pwl_row_values values = {v, V_TYPE, 0, CHANNELS, STRIDE};
    long differing = 0, changing = 0;
    if (pwl_softmax_check(&my_operator) != PWL_OK || pwl_requantise_check(&my_operator_codes) != PWL_OK)
        return 1;
    for (int r = 0; r < 3000; r++) {
        const uint32_t n = 1 + draw() % PLACES, kind = draw() % 3;
        int32_t sums[CHANNELS];
        fill(my_operator.in, x, n, 1 + draw() % (1u << draw() % 17));
        fill(values.type, v, n * STRIDE, 65536);
        for (uint32_t k = 0; k < n; k++)
            mask[k] = kind == 2 ? 0 : (uint8_t)(draw() & 2);
        const pwl_rows rows = {x, 0, 1, n, kind ? mask : 0, 0, 0, 0};
        my_operator_run(&rows, (void *)v, CHANNELS, STRIDE, sums, (void *)y);
        own_operator_row((void *)x, (void *)v, (void *)z, kind ? mask : 0, n, CHANNELS, STRIDE);
        differing += memcmp(y, z, sizeof y) != 0;
        changing += memcmp(y, before, sizeof y) != 0;
        memcpy(before, y, sizeof y);
    }
    /* Pairs of scores and values, and what eval must print of them. */
    FILE *const file = fopen("words", "w");
    int32_t sum;
    fill(my_operator.in, x, 30, 5000);
    fill(values.type, v, 30, 65536);
    for (int k = 0; k < 30; k++)
        fprintf(file, "%d %d\n", X_CODE(k), V_CODE(k));
    fclose(file);
    my_operator_run(&(pwl_rows){x, 0, 1, 30, 0, 0, 0, 0}, (void *)v, 1, 1, &sum, (void *)y);
    printf("%ld %d %d\n", differing, changing > 1000, Y_CODE(0));
    return 0;
}
SOURCE
    # shellcheck disable=SC2046
    cc -std=c11 -O1 -fsanitize=undefined,address -Wall -Wextra -Werror -Wno-unused $(python3 - "$name.json" <<'END'
import json, sys
op = json.load(open(sys.argv[1]))
for name, side in (("X", "in"), ("V", "in_b"), ("Y", "out")):
    side = op[side]
    letter = "xvy"["XVY".index(name)]
    c_type = f"{'' if side['signed'] else 'u'}int{side['bits']}_t"
    print(f"-D{name}_TYPE=PWL_{'S' if side['signed'] else 'U'}{side['bits']} -D{name}_CODE(k)=((int)(({c_type}*)(void*){letter})[k])")
END
    ) "-I$root/runtime/include" -I. own.c ../runtime/*.o -o own 2>../cc || fail "$name: the headers do not compile: $(head -3 ../cc)"
    ./own >printed 2>&1
    [ "$(cut -d' ' -f1,2 printed)" = "0 1" ] || fail "$name: the standalone header computes something else: $(head -5 printed)"
    # shellcheck disable=SC2046
    expect_status 0 eval "$name.json" -- $(cat words) && { [ "$(cut -d' ' -f3 printed)" = "$(cat ../out)" ] || fail "$name: eval: $(cat ../out)"; }
    rm -f my_operator.h own_operator.h own own.c words printed
}

# The same flags give the same bytes; the file is read and written back as it was, and measured anew is the same.
for name in $all; do
    # shellcheck disable=SC2046
    expect_status 0 fit $(sed -n 's/^  "spec": "\(.*\)",$/\1/p' $name.json) -o again.json
    cmp -s again.json $name.json || fail "$name: other bytes of the same flags"
    expect_status 0 emit $name.json --format json && { cmp -s ../out $name.json || fail "$name: written differently"; }
    expect_status 0 certify $name.json -o again.json && { cmp -s again.json $name.json || fail "$name: certified differently"; }
    bound=$(sed -n 's/.*"bound_lsb": \([0-9.]*\),.*/\1/p' $name.json)
    expect_status 0 show $name.json && {
        grep -q "proven *$bound LSB" ../out || fail "$name: show has another bound"
        grep -q "^  values  .*, codes" ../out || fail "$name: show has no values"
    }
    expect_status 0 sweep $name.json --rows 50 --format json && {
        grep -q "\"bound_lsb\": $bound,\$" ../out || fail "$name: sweep has another bound"
        max=$(sed -n 's/.*"max_err_lsb": \([0-9.]*\),$/\1/p' ../out)
        awk "BEGIN { exit !($max > 0.49 && $max <= $bound && $bound < 0.6) }" || fail "$name: sweep finds $max, the bound is $bound"
    }
    expect_status 3 sweep $name.json --max-err 0.5
    expect_status 0 show --format json $name.json && python3 - $name.json <<'END' || fail "$name: show --format json"
import json, sys
shown, = json.load(open("../out"))
file = json.load(open(sys.argv[1]))
assert all(shown[field] == file[field] for field in ("certificate", "operator", "rows")) and shown["in_b"]["qmin"] == file["in_b"]["qmin"]
END
    check_headers $name
done
expect_status 0 report bytes.json words.json -o page.html && {
    [ "$(grep -c '<dt>values</dt>' page.html)" -eq 2 ] || fail "report does not tell of values"
}
drawn=1000
! is_long || drawn=60000
expect_status 0 sweep words.json --rows $drawn

# eval: pairs, and arrays as a product of matrices has them.
expect_error 2 'must be pairs' eval bytes.json 4 100 5
expect_error 2 '128, must be a code' eval bytes.json 1 128
# shellcheck disable=SC2046
expect_error 2 'a row of 65 places' eval words.json $(seq 130)
python3 - <<'END'
import struct
for name, shape in (("x", "(2, 3, 4)"), ("v", "(2, 4, 5)"), ("shared", "(4, 5)"), ("row", "(4,)"), ("short", "(2, 3, 5)"), ("flat", "(24,)")):
    count = eval("*".join(shape.strip("(),").split(",")))
    head = b"{'descr': '<i8', 'fortran_order': False, 'shape': %s, }" % shape.encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{count}q", *range(count)))
END
expect_status 0 eval bytes.json x.npy v.npy -o y.npy && { head -c 100 y.npy | grep -q '(2, 3, 5)' || fail "the shape is lost"; }
expect_status 0 eval bytes.json x.npy v.npy && { [ "$(wc -l <../out)" -eq 30 ] || fail "eval: $(cat ../out)"; }
cp ../out all
expect_status 0 eval bytes.json x.npy shared.npy && { [ "$(head -15 all)" = "$(head -15 ../out)" ] || fail "shared values: $(cat ../out)"; }
expect_status 0 eval bytes.json row.npy shared.npy -o y.npy && { head -c 100 y.npy | grep -q '(5,)' || fail "a row has another shape"; }
expect_status 0 eval bytes.json row.npy shared.npy && { [ "$(head -5 all)" = "$(cat ../out)" ] || fail "a row: $(cat ../out)"; }
for values in x row short flat; do
    expect_error 2 "$values.npy: must be values" eval bytes.json x.npy $values.npy
done
expect_error 2 'must be values' eval bytes.json row.npy v.npy
expect_error 2 'must be' eval bytes.json x.npy

# Flags, jobs, and what cannot be made.
expect_error 2 '--in-b is needed' fit weigh --in s8:0.1 --out s8:0.1 --rows 4
expect_error 2 '--rows is needed' fit weigh --in s8:0.1 --in-b s8:0.1 --out s8:0.1
expect_error 2 '--eps: not of weigh' fit weigh --in s8:0.1 --in-b s8:0.1 --out s8:0.1 --rows 4 --eps 1
expect_error 2 '--in-b: 32 bits' fit weigh --in s8:0.1 --in-b s32:0.1 --out s8:0.1 --rows 4
expect_error 2 '--in-b: the zero point 128' fit weigh --in s8:0.1 --in-b s8:0.1:128 --out s8:0.1 --rows 4
expect_error 2 '--fraction 31' fit weigh --in s8:0.1 --in-b s8:0.1 --out s8:0.1 --rows 4 --fraction 31
expect_error 3 'beside 2^-11 of --in-b' fit weigh --in s8:0.1 --in-b s8:2^-11 --out s8:1 --rows 4
expect_error 3 'no provable operator' fit weigh --in s8:0.1 --in-b s8:2^60 --out s8:1 --rows 4
echo '[{"name": "bytes", "function": "weigh", "in": "s8:0.08:900", "in_b": "s8:0.03:4", "out": "s8:0.03", "rows": 256}]' >jobs.json
expect_status 0 fit --spec jobs.json -o jobs && { cmp -s jobs/bytes.json bytes.json || fail "--spec: another file"; }

# diff.
expect_status 0 diff bytes.json bytes.json && { grep -q '0 of [1-9][0-9]* codes differ' ../out || fail "diff: $(cat ../out)"; }
expect_status 0 fit weigh --in s8:0.08:900 --in-b s8:0.04:4 --out s8:0.03 --rows 64 -o other.json
expect_status 3 diff bytes.json other.json && {
    for line in 'in_b: s8:0.03:4 | s8:0.04:4' 'rows: 256 | 64' 'multiplier: [0-9]* | [0-9]*' 'outputs: [1-9][0-9]* of [0-9]* codes differ' \
        'outputs: largest difference .*, channel [0-7]$'; do
        grep -q "^$line" ../out || fail "diff does not say: $line"
    done
}
expect_status 3 diff bytes.json mixed.json && { grep -q 'take different rows' ../err || fail "diff: $(cat ../err)"; }
finish
