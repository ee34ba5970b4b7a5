#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Row operators on the command line: fit, and what every command makes of their files.
. "$(dirname "$0")/lib.sh"

expect_status 0 fit softmax --in s8:0.0472 --out u8:2^-8 --rows 4096 -o softmax.json
expect_status 0 fit layernorm --in s16:2^-10 --out s16:2^-11:5 --rows 40 -o layernorm.json
expect_status 0 fit logsoftmax --in u16:2^-10 --out s16:2^-11:32767 --rows 100 -o logsoftmax.json
expect_status 0 fit rmsnorm --in s8:2^-5:3 --out u8:0.03:128 --rows 40 --eps 1e-6 -o rmsnorm.json
expect_status 0 fit l2norm --in s8:2^-5 --out s8:2^-7 --rows 40 -o l2norm.json
all='softmax layernorm logsoftmax rmsnorm l2norm'

# The runtime, which the headers need.
mkdir ../runtime
(cd ../runtime && cc -std=c11 -O1 "-I$root/runtime/include" -c "$root"/runtime/{,rows/}*.c)

# The standalone header needs nothing, and gives the codes of the runtime: of drawn rows, in place, with masks.
check_standalone() {
    local name=$1 is_softmax=0 compiler
    case $name in *softmax) is_softmax=1 ;; esac
    expect_status 0 emit $name.json --name my_operator -o my_operator.h
    expect_status 0 emit $name.json --standalone --name own_operator -o own_operator.h
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
#define IS_SOFTMAX $is_softmax
#define BYTES(type) ((type) <= PWL_U8 ? 1u : 2u)
static uint64_t state = 1;
static uint32_t draw(void)
{
    return (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
}
int main(void)
{
    static uint16_t x[40], y[40], z[40];
    static uint8_t mask[40];
    long differing = 0, changing = 0;
    for (int r = 0; r < 3000; r++) {
        const uint32_t n = IS_SOFTMAX ? 1 + draw() % 40 : 40, width = 1 + draw() % (1u << draw() % 17), first = draw();
        const int masked = draw() % 3;
        for (uint32_t k = 0; k < 40; k++) {
            const uint32_t code = first + draw() % width;
            mask[k] = masked == 2 ? 0 : (uint8_t)(draw() & 2);
            if (BYTES(my_operator.in) == 1)
                ((uint8_t *)x)[k] = (uint8_t)code;
            else
                x[k] = (uint16_t)code;
        }
#if IS_SOFTMAX
        const pwl_rows rows = {x, y, 1, n, masked ? mask : 0, 0, 0, 0};
        pwl_softmax_run(&my_operator, &rows, PWL_LEVELS_ALL);
        own_operator_row((void *)x, (void *)z, masked ? mask : 0, n);
#else
        (void)masked;
        pwl_norm_run(&my_operator, x, y, 1, PWL_LEVELS_ALL);
        own_operator_row((void *)x, (void *)z);
#endif
        differing += memcmp(y, z, n * BYTES(my_operator.out)) != 0;
        changing += n > 1 && memcmp(y, (char *)y + BYTES(my_operator.out), (n - 1) * BYTES(my_operator.out)) != 0;
        if (BYTES(my_operator.in) == BYTES(my_operator.out)) {
#if IS_SOFTMAX
            own_operator_row((void *)x, (void *)x, masked ? mask : 0, n);
#else
            own_operator_row((void *)x, (void *)x);
#endif
            differing += memcmp(y, x, n * BYTES(my_operator.out)) != 0;
        }
    }
    printf("%ld %d\n", differing, changing > 1000);
    return 0;
}
SOURCE
    cc -std=c11 -O1 -fsanitize=undefined,address -Wall -Wextra -Werror -Wno-unused "-I$root/runtime/include" -I. own.c ../runtime/*.o \
        -o own 2>../cc || fail "$name: the standalone header does not compile: $(head -3 ../cc)"
    [ "$(./own 2>&1)" = "0 1" ] || fail "$name: the standalone header computes something else: $(./own 2>&1 | head -5)"
    rm my_operator.h own_operator.h own own.c
}

# The same flags give the same bytes; the file is read and written back as it was, and measured anew is the same.
for name in $all; do
    grep -q "\"spec\": \"$name --in" $name.json || fail "$name: no flags in the file"
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
        awk "BEGIN { exit !($max > 0.3 && $max <= $bound) }" || fail "$name: sweep finds $max, the bound is $bound"
    }
    expect_status 0 sweep $name.json --max-err 0.6
    expect_status 3 sweep $name.json --max-err 0.5
    expect_status 0 emit $name.json --name my_operator -o my_operator.h
    expect_status 0 emit $name.json --name my_operator -o my_operator.h --check
    kind=norm
    case $name in *softmax) kind=softmax ;; esac
    # The header is the operator: what it computes is what eval prints.
    cat >run.c <<SOURCE
#include <stdio.h>
#include "my_operator.h"
#define IS_BYTE(type) ((type) <= PWL_U8)
int main(void)
{
    unsigned char bytes[40];
    unsigned short words[40];
    static unsigned short y[40];
    int k;
    for (k = 0; k < 40; k++)
        bytes[k] = words[k] = (unsigned short)(k * k % 101);
    if (pwl_${kind}_check(&my_operator) != PWL_OK)
        return 1;
    const void *x = IS_BYTE(my_operator.in) ? (const void *)bytes : words;
#if $([ $kind = softmax ] && echo 1 || echo 0)
    const pwl_rows rows = {x, y, 1, 40, 0, 0, 0, 0};
    pwl_softmax_run(&my_operator, &rows, PWL_LEVELS_ALL);
#else
    pwl_norm_run(&my_operator, x, y, 1, PWL_LEVELS_ALL);
#endif
    for (k = 0; k < 40; k++)
        printf("%d\n", my_operator.out == PWL_S8    ? ((signed char *)y)[k]
                       : my_operator.out == PWL_U8  ? ((unsigned char *)y)[k]
                       : my_operator.out == PWL_S16 ? ((short *)y)[k]
                                                    : y[k]);
    return 0;
}
SOURCE
    cc -std=c11 -Wall -Wextra -Werror -Wno-unused -I"$root/runtime/include" -I. run.c ../runtime/*.o -o run 2>../cc ||
        fail "$name: the header does not compile: $(head -3 ../cc)"
    # shellcheck disable=SC2046
    expect_status 0 eval $name.json $(for ((k = 0; k < 40; k++)); do echo $((k * k % 101)); done)
    ./run | cmp -s - ../out || fail "$name: the header computes something else"
    check_standalone $name
    rm run run.c again.json
done

# With gamma and beta.
python3 - <<'END'
import struct
for name, values in (("gamma", [k / 16 - 1 for k in range(40)]), ("beta", [1 - k / 8 for k in range(40)])):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (40,), }"
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(name + ".npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<40d", *values))
END
expect_status 0 fit layernorm --in s16:2^-10 --out s16:2^-11 --gamma gamma.npy --beta beta.npy -o affine.json
check_standalone affine

# Drawn rows, a million of them in the whole test: sweep ends with 1 where a code is beyond the proven bound.
drawn=2000
! is_long || drawn=130000
for flags in "softmax --in s8:0.0472 --out u8:2^-8" "softmax --in s16:0.0003 --out u16:2^-16" "softmax --in u8:0.1 --out s16:2^-15" \
    "logsoftmax --in s16:0.0003 --out s16:2^-11:32767" "layernorm --in s8:0.05 --out s8:0.03" \
    "layernorm --in s16:2^-10 --out s16:2^-11" "rmsnorm --in u16:2^-10:9 --out s16:2^-11" "l2norm --in s8:0.05 --out s8:2^-7"; do
    # shellcheck disable=SC2086
    expect_status 0 fit $flags --rows 64 -o drawn.json
    expect_status 0 sweep drawn.json --rows $drawn
done

# Flags.
expect_error 2 'rows is needed' fit softmax --in s8:0.1 --out u8:2^-8
expect_error 2 '--out: the scale 0.004, must be a power of two from 2^-1 to 2^-16' fit softmax --in s8:0.1 --out u8:0.004 --rows 5
expect_error 2 '--in: 12 bits' fit softmax --in s12:0.1 --out u8:2^-8 --rows 5
expect_error 2 '--rows 65537' fit softmax --in s8:0.1 --out u8:2^-8 --rows 65537
expect_error 2 '--segments: not of a row operator' fit softmax --in s8:0.1 --out u8:2^-8 --rows 5 --segments 8
expect_error 2 '--eps: not of softmax' fit softmax --in s8:0.1 --out u8:2^-8 --rows 5 --eps 1
expect_error 2 '--fraction 31' fit softmax --in s8:0.1 --out u8:2^-8 --rows 5 --fraction 31
expect_error 2 '--fraction: not of layernorm' fit layernorm --in s8:0.1 --out s8:0.03 --rows 5 --fraction 20
expect_error 2 'zero point -200' fit rmsnorm --in s8:0.1:-200 --out s8:0.03 --rows 5
expect_error 2 '--eps -1' fit layernorm --in s8:0.1 --out s8:0.03 --rows 5 --eps -1
expect_status 2 fit l2norm --in s8:0.1 --out s8:0.03 --rows 5 --gamma no.npy
expect_error 2 '--rows: of softmax' fit tanh --in s8:2^-5 --out s8:2^-7 --rows 5
expect_error 3 '63 bits' fit layernorm --in s16:2^-10 --out s16:2^-10 --rows 65536 --eps 1e9
expect_error 3 'no provable operator' fit logsoftmax --in s8:0.1 --out s16:2^-40 --rows 5

# Jobs of --spec are operators beside tables, and the files are those of fit.
cat >jobs.json <<'END'
[{"name": "l2", "function": "l2norm", "in": "s8:2^-5", "out": "s8:2^-7", "rows": 40},
 {"name": "rms", "function": "rmsnorm", "in": "s8:2^-5:3", "out": "u8:0.03:128", "rows": "40", "eps": 1e-6},
 {"name": "tanh", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7"},
 {"name": "affine", "function": "layernorm", "in": "s16:2^-10", "out": "s16:2^-11", "gamma": "gamma.npy", "beta": "beta.npy"},
 {"name": "sum", "function": "add", "in": "s8:0.05", "in_b": "s8:0.02", "out": "s8:0.06"}]
END
expect_status 0 fit add --in s8:0.05 --in-b s8:0.02 --out s8:0.06 -o sum.json
expect_status 0 fit --spec jobs.json -o jobs && {
    cmp -s jobs/l2.json l2norm.json && cmp -s jobs/rms.json rmsnorm.json && cmp -s jobs/affine.json affine.json &&
        cmp -s jobs/sum.json sum.json && [ -e jobs/tanh.json ] || fail "--spec: other files"
}
rm -r jobs sum.json
expect_spec_error() { # WORDS JOB
    echo "[$2]" >job.json
    expect_error 2 "$1" fit --spec job.json -o none
}
expect_spec_error 'max_err' '{"name": "a", "function": "l2norm", "in": "s8:2^-5", "out": "s8:2^-7", "max_err": 1}'
expect_spec_error 'rows' '{"name": "a", "function": "l2norm", "in": "s8:2^-5", "out": "s8:2^-7", "rows": [4]}'
expect_spec_error 'a: --rows is needed' '{"name": "a", "function": "l2norm", "in": "s8:2^-5", "out": "s8:2^-7"}'
expect_spec_error 'a: --gamma: not of softmax' \
    '{"name": "a", "function": "softmax", "in": "s8:0.1", "out": "u8:2^-8", "rows": 5, "gamma": "gamma.npy"}'
expect_spec_error 'name' '{"function": "l2norm", "in": "s8:2^-5", "out": "s8:2^-7", "rows": 4}'
expect_spec_error 'rows' '{"name": "a", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "rows": 4}'

# eval.
expect_output 255 eval softmax.json 7
expect_error 2 '128, must be a code' eval softmax.json 128
expect_error 2 'a row of 3 places, must be 40' eval layernorm.json 1 2 3
expect_error 2 '--trace: of a table' eval softmax.json --trace 1
expect_error 2 'of a table, and softmax.json is a row operator' eval softmax.json 1 - </dev/null
expect_status 0 eval --help && { grep -q 'Of a row operator' ../out || fail "eval --help does not tell of row operators"; }

# show --format json: what the file says, tables beside operators.
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json
for name in $all; do
    expect_status 0 show $name.json && bytes=$(sed -n 's/^  tables *\([0-9]*\) bytes.*/\1/p' ../out)
    expect_status 0 show --format json $name.json tanh.json && python3 - $name.json "$bytes" <<'END' ||
import json, sys
shown, table = json.load(open("../out"))
file = json.load(open(sys.argv[1]))
assert shown["certificate"] == file["certificate"] and shown["packed_bytes"] == int(sys.argv[2])
assert all(shown[key] == file[key] for key in ("operator", "spec", "rows") + (("eps",) if "eps" in file else ()))
assert shown["in"]["qmin"] == file["in"]["qmin"] and table["function"] == "tanh"
END
        fail "$name: show --format json: $(head -c 300 ../out)"
done
sed 's/"max_err_lsb": 0.4/"max_err_lsb": 0.3/' softmax.json >edited.json
expect_status 0 show --format json edited.json && { grep -q '"certificate": null' ../out || fail "another's certificate is shown"; }

# diff.
expect_status 0 diff softmax.json softmax.json && { grep -q '0 of [0-9]* codes differ' ../out || fail "one differs from itself"; }
expect_status 0 fit softmax --in s8:0.05 --out u8:2^-8 --rows 64 -o other.json
expect_status 3 diff softmax.json other.json && {
    for line in 'in: s8:0.0472:0 | s8:0.05:0' 'rows: 4096 | 64' 'exp: 255 of 256 differ, the first \[1\]' \
        'outputs: [1-9][0-9]* of [0-9]* codes differ' 'largest difference [0-9]* in the row .* 64 places' 'softmax.json: proven'; do
        grep -q "^.*$line" ../out || fail "diff does not say: $line"
    done
}
expect_status 3 diff --outputs-only softmax.json other.json && { ! grep -q rows: ../out || fail "--outputs-only compares fields"; }
expect_status 0 fit layernorm --in s16:2^-10 --out s16:2^-11:5 --rows 40 --eps 0.001 -o other.json
expect_status 3 diff layernorm.json other.json && { grep -q '^eps: 1e-05 | 0.001$' ../out || fail "diff does not see eps"; }
expect_status 3 diff softmax.json layernorm.json && { grep -q 'take different rows' ../err || fail "diff: $(cat ../err)"; }
# Of one place alone.
python3 -c 'import json
of = json.load(open("softmax.json"))
of["exp"][2] -= 1
json.dump(of, open("other.json", "w"))'
expect_status 3 diff softmax.json other.json && { grep -q 'exp: 1 of 256 differ, the first \[2\]' ../out || fail "diff: $(cat ../out)"; }

# What does not take operators says so.
for command in "diff softmax.json tanh.json" "report softmax.json tanh.json -o page.html" "verify softmax.json --prove" "cost softmax.json --rtl-style rom" \
    "emit softmax.json tanh.json" "emit softmax.json --format v" \
    "emit softmax.json --profile tosa8" "sweep softmax.json tanh.json" \
    "sweep softmax.json --hist" "sweep tanh.json --rows 5" "certify softmax.json --exhaustive"; do
    # shellcheck disable=SC2086
    expect_error 2 operator $command
done
expect_error 2 'softmax.json: a row operator, which is emitted alone' emit tanh.json softmax.json
finish
