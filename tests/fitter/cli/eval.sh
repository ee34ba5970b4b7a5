#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc eval: codes, streams, arrays, real values and every step of a trace.
. "$(dirname "$0")/lib.sh"

golden=$root/tests/golden/document_002_segment_8.json

# expect_bytes FILE DTYPE SHAPE HEX: the array that was written, header and data.
expect_bytes() {
    local data
    checks=$((checks + 1))
    [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 934e554d50590100 ] || fail "$1: not a .npy of version 1.0"
    grep -qaF "'descr': '$2'" "$1" || fail "$1: the type is not $2: $(head -n 1 "$1" | tr -d '\000-\037')"
    grep -qaF "'shape': $3" "$1" || fail "$1: the shape is not $3: $(head -n 1 "$1" | tr -d '\000-\037')"
    data=$(tail -c +129 "$1" | od -An -v -tx1 | tr -d ' \n')
    [ "$data" = "$4" ] || fail "$1: the data is $data, expected $4"
}

# The worked example of the documents, step by step.
expect_output 34402 eval "$golden" 24986
expect_status 0 eval --trace "$golden" 24986 && {
    [ ! -s ../err ] || fail "eval --trace: $(head -c 300 ../err)"
    cat >../want <<'END'
q_x 24986
x 0.100097656
segment 0
start 0
x_offset 410
q_b 32619
product 13373790
n_bx 9
q_bx 26120
n_yb 4
term_bx 1632
q_c 16385
n_yc -1
n_BX_total 13
shifted 1632
term_c 32770
sum 34402
q_y 34402
y 0.52494812
reference 0.525003541
error_lsb 3.63203
END
    sed -e 's/^segment .*/segment 0/' -e 's/^start .*/start 0/' ../out | cmp -s - ../want ||
        fail "eval --trace 24986: $(diff ../out ../want)"
}
# With the zero point of b x, 1276 in the documents, which changes no result; certify and diff keep it.
sed 's/"n_yc": -1}/"n_yc": -1, "z_bx": 1276}/' "$golden" >offset.json
expect_status 0 eval --trace offset.json 24986 && {
    sed 's/^q_bx 26120$/&\nz_bx 1276\nq_bx_code 27396/' ../want >../want_offset
    sed -e 's/^segment .*/segment 0/' -e 's/^start .*/start 0/' ../out | cmp -s - ../want_offset ||
        fail "eval --trace with z_bx: $(diff ../out ../want_offset)"
}
expect_status 0 certify offset.json -o certified.json
grep -q '"n_yc": -1, "z_bx": 1276}' certified.json || fail "certify loses z_bx: $(grep unfused certified.json | head -n 2)"
expect_status 0 show --format json certified.json
grep -q '"z_bx": 1276' ../out || fail 'show --format json without z_bx'
expect_status 3 diff "$golden" certified.json
grep -q 'n_yc -1 z_bx 1276' ../out || fail "diff: $(cat ../out)"
# An import leaves it behind, as the file's q_c and all that no table needs.
expect_status 0 fit tanh --profile aimet-pe -o pe.json
expect_status 0 emit pe.json --profile aimet-pe:json -o rom.json
sed 's/"q_c": 0}/"q_c": 0, "z_bx": 1276}/' rom.json >rom_offset.json
grep -q z_bx rom_offset.json || fail 'no q_c in the JSON of aimet-pe'
expect_status 0 import rom_offset.json --profile aimet-pe:json -o back.json
expect_status 0 diff pe.json back.json
sed 's/"n_yc": -1}/"n_yc": -1, "z_bx": 0.5}/' "$golden" >bad.json
expect_error 2 'z_bx' eval bad.json 24986

# The other forms, with every step worked by hand.
make_table biased.json '{"start": -128, "q_b": 0, "n_BX_total": 0, "bias": -127},
    {"start": -16, "q_b": 127, "n_BX_total": 4, "bias": 8}, {"start": 17, "q_b": 0, "n_BX_total": 0, "bias": 127}' \
    form='"biased"'
expect_output $'-127\n-127\n-40\n0\n40\n127\n127' eval biased.json -128 -16 -5 0 5 16 127
expect_status 0 eval biased.json --trace -5 && for line in 'q_x -5' 'x -0.3125' 'segment 1' 'start -16' 'x_offset -5' \
    'q_b 127' 'product -635' 'n_BX_total 4' 'bias 8' 'sum -627' 'shifted -40' 'q_y -40' 'y -0.3125' \
    'reference -0\.30270[0-9]*' 'error_lsb 1\.25[0-9]*'; do
    expect_line "$line" ../out 'eval --trace, biased'
done

# The error is counted from where f ends with the output.
expect_status 0 fit leaky_relu --param alpha=1 --in s8:2^0 --out s6:2^0 --segments 1 --method uniform -o narrow.json
for code in -100 100; do
    expect_status 0 eval narrow.json --trace $code
    expect_line 'q_y -?3[12] \(saturated\)' ../out "eval --trace $code"
    expect_line "reference $code" ../out "eval --trace $code"
    expect_line 'error_lsb 0' ../out "eval --trace $code"
done

anchored='{"start": -128, "q_b": 0, "n_BX_total": 0, "y": -127}, {"start": -16, "q_b": 127, "n_BX_total": 4, "y": -127},
    {"start": 17, "q_b": 0, "n_BX_total": 0, "y": 127}'
make_table anchored.json "$anchored" form='"anchored"'
make_table anchored_up.json "$anchored" form='"anchored"' rounding='"half_up"'
expect_output $'-127\n-40\n39\n127' eval anchored.json -16 -5 5 16
expect_output $'-127\n-40\n40\n127' eval anchored_up.json -16 -5 5 16
expect_status 0 eval anchored.json --trace 5 && for line in 'x_offset 21' 'product 2667' 'shifted 166' 'y -127' 'sum 39' \
    'q_y 39' 'y 0.3046875'; do
    expect_line "$line" ../out 'eval --trace, anchored'
done

# A folded table mirrors what lies below its zero point; -128 mirrors to a code that no input has.
make_table fold.json '{"start": 0, "q_b": 127, "n_BX_total": 4, "term_c": 0},
    {"start": 17, "q_b": 0, "n_BX_total": 0, "term_c": 127}' extra='"fold": {"sum": 3},'
expect_output $'-124\n-36\n0\n39' eval fold.json -128 -5 0 5
expect_status 0 eval fold.json --trace -5 && for line in 'q_x -5' 'mirrored 5' 'segment 0' 'x_offset 5' 'product 635' \
    'shifted 39' 'sum 39' 'fold_sum 3' 'folded -36' 'q_y -36'; do
    expect_line "$line" ../out 'eval --trace, fold'
done

# Left shifts, 64-bit products, saturation of the output.
make_table wide.json '{"start": -8388608, "q_b": 2147483647, "n_BX_total": 29, "term_c": 5}' case='"int32"' bits=24 \
    qmin=-8388608 qmax=8388607
expect_output $'8388607\n4000004\n-8388608' eval wide.json 8388607 1000000 -3000000
expect_status 0 eval wide.json --trace -3000000 && for line in 'product -6442450941000000' 'shifted -12000000' \
    'sum -11999995' 'q_y -8388608 \(saturated\)'; do
    expect_line "$line" ../out 'eval --trace, wide'
done
make_table left.json '{"start": -128, "q_b": 3, "n_BX_total": -2, "term_c": -1}'
expect_output $'-13\n11' eval left.json -1 1
expect_status 0 eval left.json --trace -1 && for line in 'n_BX_total -2' 'shifted -12' 'sum -13'; do
    expect_line "$line" ../out 'eval --trace, left shift'
done

# Every code: the trace, which works step by step, ends where the evaluation does (it exits 1 otherwise).
seq -128 127 >../codes
for table in biased anchored anchored_up fold left; do
    expect_status 0 eval "$table.json" - <../codes || continue
    cp ../out ../values
    expect_status 0 eval "$table.json" --trace - <../codes || continue
    sed -n 's/^q_y \(-*[0-9]*\).*/\1/p' ../out | cmp -s - ../values || fail "$table: trace and evaluation differ"
    [ "$(wc -l <../values)" -eq 256 ] || fail "$table: not every code was evaluated"
done

# Standard input, alone and between other codes.
expect_output $'-40\n40\n127' eval biased.json - < <(printf ' -5\t5\n\n99 ')
expect_output $'0\n-40\n40' eval biased.json 0 - 5 < <(printf -- '-5')
expect_output '' eval biased.json - </dev/null
expect_error 2 'standard input: line 3: "x7" is not an integer' eval biased.json - < <(printf '1\n2\nx7\n')
expect_error 2 'standard input: line 1: "' eval biased.json - < <(printf '1\0002')
expect_output 40 eval - 5 <biased.json

# Not codes.
for word in 1.5 1e3 0x10 '' ' 5' '5 ' --5 nan; do
    expect_error 2 'is not an integer code' eval biased.json -- "$word"
done
expect_error 2 'does not fit 64 bits' eval biased.json 9223372036854775808
expect_error 2 'does not fit 64 bits' eval biased.json -9223372036854775809

# Codes outside the input's range are clamped, with a note.
expect_status 0 eval biased.json 5 9223372036854775807 -9223372036854775808 && {
    [ "$(cat ../out)" = $'40\n127\n-127' ] || fail "clamped codes gave $(cat ../out)"
    expect_line 'pwlc eval: note: 2 of 3 codes outside \[-128, 127\] clamped; the first is 9223372036854775807' ../err clamp
}
expect_status 0 eval biased.json --trace 300 && expect_line 'q_x 127 \(clamped from 300\)' ../out 'eval --trace 300'

# Real values: ties to even, saturating.
expect_output $'0.3125\n-0.3125\n0.3125\n0.25' eval biased.json --real 0.3125 -.3125 3.4e-1 0.28125
expect_status 0 eval biased.json --real 1e300 -1e300 && {
    [ "$(cat ../out)" = $'0.9921875\n-0.9921875' ] || fail "large real values gave $(cat ../out)"
    grep -q '2 of 2 codes outside' ../err || fail 'large real values: no note'
}
for word in nan inf -inf 1e999 0x1p3 one; do
    expect_error 2 'is not a finite real value' eval biased.json --real "$word"
done
expect_output 0.52494812 eval "$golden" --real 0.1

# Arrays: shape kept, the smallest type of the output's codes.
make_npy codes.npy '|i1' '(2, 3)' '\xfb\x00\x05\x10\x80\x7f'
make_npy wide.npy '<i8' '(2,)' '\x05\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f'
make_npy huge.npy '<u8' '(1,)' '\x00\x00\x00\x00\x00\x00\x00\x80'
make_npy real.npy '<f4' '(2,)' '\x00\x00\xa0\x3e\x00\x00\xa0\xbe'
make_npy nan.npy '<f4' '(2,)' '\x00\x00\xa0\x3e\x00\x00\xc0\x7f'
make_npy empty.npy '<i2' '(0, 4)' ''
expect_output $'-40\n0\n40\n127\n-127\n127' eval biased.json codes.npy
expect_output '' eval biased.json codes.npy -o out.npy
expect_bytes out.npy '|i1' '(2, 3)' d800287f817f
expect_output '' eval "$golden" 24986 24986 -o pair.npy
expect_bytes pair.npy '<u2' '(2,)' 62866286
expect_output '' eval wide.json 1000000 -o out.npy
expect_bytes out.npy '<i4' '(1,)' 04093d00
expect_output '' eval biased.json empty.npy -o out.npy
expect_bytes out.npy '|i1' '(0, 4)' ''
expect_output '' eval biased.json --real real.npy -o out.npy
expect_bytes out.npy '<f8' '(2,)' 000000000000d43f000000000000d4bf
expect_status 0 eval biased.json wide.npy && grep -q '1 of 2 codes' ../err || fail 'wide.npy: no note'
expect_error 2 'huge.npy: element 0 is above' eval biased.json huge.npy
expect_error 2 'real.npy: the elements are real' eval biased.json real.npy
expect_error 2 'nan.npy: element 1' eval biased.json --real nan.npy
head -c 100 codes.npy >short.npy
expect_error 2 'short.npy' eval biased.json short.npy
expect_error 2 'must end in .npy' eval biased.json 5 -o five.txt
expect_error 2 'contradict' eval biased.json 5 --trace -o five.npy
expect_error 2 '--samples is of use with --trace' eval biased.json 5 --samples s.csv
expect_error 1 'missing/out.npy' eval biased.json 5 -o missing/out.npy

# Arrays of every element type, larger than what is read at a time, give what words give; their data may begin anywhere.
long_array() {
    python3 - "$@" <<'END'
import struct, sys
path, kind, count, low, high, padding = sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(int, sys.argv[4:7])
values = [low + i * 2654435761 % (high - low + 1) for i in range(count)]
letter = {"|i1": "b", "|u1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q", "<f8": "d"}[kind]
header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}".encode() + b" " * padding + b"\n"
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{count}{letter}", *values))
with open("../words", "w") as file:
    file.writelines(f"{value}\n" for value in values)
END
}
make_table big.json '{"start": 0, "q_b": 77, "n_BX_total": 6, "term_c": 5}, {"start": 150, "q_b": -3, "n_BX_total": 0, "term_c": 9}' \
    case='"int16"' bits=9 qmin=0 qmax=200
make_table far.json '{"start": 300, "q_b": 77, "n_BX_total": 6, "term_c": 5}' case='"int16"' bits=9 qmin=300 qmax=500
sed -i 's/"signed": true/"signed": false/g' big.json far.json
"$pwlc" fit rsqrt --in u16:2^-8 --out u16:2^-12 --reduce on --outside clamp -o reduced.json 2>../err || fail "fit: $(cat ../err)"
for table in biased big far reduced; do
    for type in '|i1 -128 127' '|u1 0 255' '<i2 -400 400' '<u2 0 65535' '<i4 -300 70000' '<u4 100 4294967295' \
        '<i8 -9000 9000' '<u8 0 70000' '<f8 -200 200'; do
        read -r kind low high <<<"$type"
        real=()
        [ "$kind" != '<f8' ] || real=(--real)
        count=40001
        [ "${kind#?}" != i1 ] && [ "${kind#?}" != u1 ] || count=140001
        long_array long.npy "$kind" "$count" "$low" "$high" 5
        expect_status 0 eval "$table.json" "${real[@]}" - <../words || continue
        cp ../out ../printed
        cp ../err ../noted
        expect_status 0 eval "$table.json" "${real[@]}" long.npy || continue
        cmp -s ../out ../printed || fail "$table, $type: printed otherwise than words"
        cmp -s ../err ../noted || fail "$table, $type: $(cat ../err), of words $(cat ../noted)"
        expect_status 0 eval "$table.json" "${real[@]}" long.npy -o out.npy || continue
        cmp -s ../err ../noted || fail "$table, $type, -o: $(cat ../err), of words $(cat ../noted)"
        python3 - "$([ "$kind" = '<f8' ] && echo d || case $table in biased) echo b ;; *) echo H ;; esac)" "$count" <<'END' || fail "$table, $type: -o"
import struct, sys
data = open("out.npy", "rb").read()[128:]
values = struct.unpack(f"<{len(data) // struct.calcsize(sys.argv[1])}{sys.argv[1]}", data)
printed = [float(line) for line in open("../printed")]
sys.exit(len(values) != int(sys.argv[2]) or any(abs(a - b) > 1e-8 * abs(b) for a, b in zip(values, printed)))
END
    done
done
# Nothing is printed of an array whose last element is refused.
long_array long.npy '<u8' 40001 0 9223372036854775808 0
python3 -c 'import struct; f = open("long.npy", "r+b"); f.seek(-8, 2); f.write(struct.pack("<Q", 1 << 63))'
expect_error 2 'long.npy: element' eval biased.json long.npy
printf 'x' >>codes.npy
expect_error 2 'codes.npy: npy data is 7 bytes; the header'"'"'s shape and type need 6' eval biased.json codes.npy
truncate -s -1 codes.npy
# From a pipe, whose size nobody knows, too.
mkfifo pipe.npy
for bytes in 133 134 135; do
    { cat codes.npy; printf xyz; } | head -c "$bytes" >pipe.npy &
    status=0
    "$pwlc" eval biased.json pipe.npy >../out 2>../err || status=$?
    wait $!
    case $bytes in
    134) [ "$status" -eq 0 ] && [ "$(cat ../out)" = $'-40\n0\n40\n127\n-127\n127' ] || fail "a pipe: $status $(cat ../err)" ;;
    *) [ "$status" -eq 2 ] && grep -qF "pipe.npy: npy data is $((bytes - 128)) bytes" ../err || fail "a pipe: $(cat ../err)" ;;
    esac
done
rm pipe.npy
expect_error 1 'missing/codes.npy: cannot open' eval biased.json codes.npy missing/codes.npy
mkdir folder.npy
expect_error 1 'folder.npy: is a directory' eval biased.json folder.npy
rmdir folder.npy

# Arrays larger than the memory that is allowed: 48 MB of codes, and as many results.
python3 - <<'END'
header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (48000000,), }" + b" " * 53 + b"\n"
with open("large.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    for i in range(480):
        file.write(bytes(range(250)) * 400)
END
limited() ( # ARGUMENT...: in 40 MB; sanitizers, which reserve terabytes, run without a limit
    [ "$limits" = no ] || ulimit -v 40000
    exec "$pwlc" "$@"
)
limits=yes
limited --version >../out 2>&1 || limits=no
checks=$((checks + 1))
limited eval biased.json large.npy -o out.npy 2>../err || fail "large.npy: $(cat ../err)"
[ "$(stat -c %s out.npy)" -eq 48000128 ] || fail "large.npy: a file of $(stat -c %s out.npy) bytes"
[ "$(limited eval biased.json large.npy | tail -n 1)" = "$("$pwlc" eval biased.json -- -7)" ] || fail 'large.npy, printed'
# The same of words on standard input: 8 million of them, of 26 MB, from a file and from a pipe.
python3 - >../words <<'END'
import sys
words = "".join(f"{code}\n" for code in [-7, 0, 123, -128, 99] * 100000)
for _ in range(16):
    sys.stdout.write(words)
END
"$pwlc" eval biased.json -- -7 0 123 -128 99 >../want
same_five() ( # as many answers as words, the first and the last as of few
    [ "$(wc -l <../out)" -eq 8000000 ] && head -n 5 ../out | cmp - ../want && tail -n 5 ../out | cmp - ../want
)
checks=$((checks + 3))
limited eval biased.json - <../words >../out 2>../err && same_five || fail "many words: $(cat ../err)"
cat ../words | limited eval biased.json - >../out 2>../err && same_five || fail "many words from a pipe: $(cat ../err)"
head -n 5000000 ../words | limited eval biased.json 16 - 17 -o out.npy 2>../err || fail "many words, -o: $(cat ../err)"
[ "$(stat -c %s out.npy)" -eq $((5000002 + 128)) ] || fail "many words, -o: a file of $(stat -c %s out.npy) bytes"
# Nothing is printed of a file in which a word is refused, however far down; of a pipe, the answers before some of it.
echo x7 >>../words
expect_error 2 'standard input: line 8000001: "x7" is not an integer code' eval biased.json - <../words
status=0
tail -n 300000 ../words | "$pwlc" eval biased.json - >../out 2>../err || status=$?
[ "$status" -eq 2 ] && [ "$(wc -l <../out)" -gt 200000 ] && grep -q 'line 300000: "x7"' ../err ||
    fail "a word is refused: exit $status, $(wc -l <../out) answers: $(cat ../err)"
rm ../words
# A word is one wherever a piece that is read ends; no code has more characters than such a piece.
for ((k = 65530; k < 65540; k++)); do
    printf '%*s' "$k" '' | sed 's/$/-5 16/' >../words
    expect_output $'-40\n127' eval biased.json - <../words
done
head -c 70000 /dev/zero | tr '\0' 0 >../words
expect_error 2 'standard input: line 1: a word of more than 65536 characters, "000' eval biased.json - <../words
# The codes beyond the range are told in the order of the arguments.
expect_status 0 eval biased.json 300 - 400 -o out.npy < <(echo 500) &&
    expect_line 'pwlc eval: note: 3 of 3 codes outside \[-128, 127\] clamped; the first is 300' ../err 'clamp, -o'
# What cannot be written whole is not there.
rm -f out.npy
before=$(ls -A)
(
    ulimit -f 1000
    failures=0
    expect_error 1 'out.npy: cannot write: File too large' eval biased.json large.npy -o out.npy
    [ "$failures" -eq 0 ]
) || fail 'large.npy at the limit of file sizes'
[ "$before" = "$(ls -A)" ] || fail "large.npy at the limit of file sizes left $(ls -A)"
rm large.npy

# A line is answered before the next one comes; one that is refused ends it, behind the answers to those before.
answers() { # answers LINE RESULT...: to a line of standard input, which stays open
    local line
    checks=$((checks + 1))
    [ -z "$1" ] || echo "$1" >&"${pwlc_in}"
    for result in "${@:2}"; do
        read -r -t 20 -u "$pwlc_out" line || line='nothing within 20 s'
        [ "$line" = "$result" ] || fail "--line-buffered: $1: $line, expected $result"
    done
}
coproc "$pwlc" eval biased.json 16 - 5 --line-buffered 2>../err
eval "exec {pwlc_out}<&${COPROC[0]} {pwlc_in}>&${COPROC[1]} ${COPROC[0]}<&- ${COPROC[1]}>&-"
pid=$COPROC_PID
answers '' 127
answers 5 40
answers '  -5 0 ' -40 0
exec {pwlc_in}>&-
answers '' 40
exec {pwlc_out}<&-
wait "$pid" || fail "--line-buffered: exit $?: $(cat ../err)"
status=0
printf '5\n\n1 x\n16\n' | "$pwlc" eval biased.json - --line-buffered >../out 2>../err || status=$?
[ "$status" -eq 2 ] && [ "$(cat ../out)" = 40 ] && grep -qF 'standard input: line 3: "x" is not' ../err ||
    fail "--line-buffered: exit $status, $(cat ../out ../err)"
expect_output 0 eval biased.json - --line-buffered < <(printf 0)
expect_error 2 '--line-buffered is for standard input alone' eval biased.json 5 --line-buffered
expect_error 2 '--line-buffered is for standard input alone' eval - 5 --line-buffered <biased.json
expect_error 2 '--line-buffered and -o contradict' eval biased.json - --line-buffered -o five.npy

# No array goes to a terminal.
on_terminal() {
    python3 - "$pwlc" "$@" <<'END'
import os, pty, subprocess, sys
master, slave = pty.openpty()
code = subprocess.run(sys.argv[1:], stdout=slave, stderr=open("../err", "wb")).returncode
os.close(slave)
sys.exit(code)
END
}
checks=$((checks + 1))
status=0
on_terminal eval biased.json 5 -o - || status=$?
[ "$status" -eq 2 ] && grep -qF -- '-o -: an array is binary' ../err || fail "-o - on a terminal: $status, $(cat ../err)"
on_terminal eval biased.json 5 || fail 'eval on a terminal'
expect_status 0 eval biased.json 5 -o - && expect_bytes ../out '|i1' '(1,)' 28

# A table made from samples is traced with its reference when the samples are at hand.
sum=$(printf -- '-8,-1\n8,1\n' | tee line.csv | sha256sum | cut -d ' ' -f 1)
sed -e 's/"function": "tanh"/"function": "samples", "samples_sha256": "'"$sum"'"/' biased.json >sampled.json
expect_status 0 eval sampled.json --trace 16 && {
    expect_line 'q_y 127' ../out 'trace without samples'
    if grep -q reference ../out; then fail 'trace without samples shows a reference'; fi
}
expect_status 0 eval sampled.json --trace --samples line.csv 16 && expect_line 'reference 0.125' ../out 'trace, samples'
printf -- '-8,-1\n8,2\n' >other.csv
expect_status 2 eval sampled.json --trace --samples other.csv 16 || true
expect_status 2 eval biased.json --trace --samples line.csv 16 || true

finish
