#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are too much: refused at once, with no more memory than 20 times what they hold.
. "$(dirname "$0")/lib.sh"
types='--in s8:2^-5 --out s8:2^-7'

# refused MIB WORDS ARGUMENT...: exit 2 in so little memory, and 10 s of a processor; sanitizers, which reserve terabytes,
# run without limits.
base=20000 # KiB, of pwlc itself
limited() (
    [ "$limits" = no ] || ulimit -v "$1" -t 10
    shift
    "$@"
)
limits=yes
limited 100000 "$pwlc" --version >../out 2>&1 || limits=no
refused() {
    local kib=$(($1 * 1024 + base)) words=$2
    shift 2
    status=0
    checks=$((checks + 1))
    limited "$kib" "$pwlc" "$@" >../out 2>../err || status=$?
    [ "$status" -eq 2 ] && grep -qF -- "$words" ../err ||
        fail "pwlc $*: exit $status, expected 2 and \"$words\": $(head -c 300 ../err)"
}

# repeated TEXT BYTES: TEXT as often as so many bytes hold it.
repeated() {
    python3 -c 'import sys; text = sys.argv[1].encode().decode("unicode_escape"); sys.stdout.write(text * (int(sys.argv[2]) // len(text)))' "$1" "$2"
}
mib=1048576
{ printf '['; repeated '{},' $((4 * mib - 8)); printf '{}]'; } >objects.json
{ printf '['; repeated '{},' $((5 * mib)); printf '{}]'; } >long.json
{ printf '['; repeated '{},' $((67 * mib)); printf '{}]'; } >longer.json
{ printf '['; repeated '{},' $((20 * mib)); printf '{}]'; } >jobs.json
refused 80 'objects.json: line 1: more than 8256 objects and lists' show objects.json
refused 80 'long.json: larger than the limit of 4194304 bytes' sweep long.json
refused 400 'jobs.json: line 1: more than 30001 objects and lists' fit --spec jobs.json -o .
refused 400 'longer.json: larger than the limit of 67108864 bytes' fit --spec longer.json -o .
{ printf '['; repeated '1,' $((20 * mib)); printf '1]'; } >numbers.json
refused 400 'numbers.json: line 1: more than 640000 values' fit --spec numbers.json -o .

# Weights: as many as the input has codes.
repeated '1\n' $((50 * mib)) >weights.csv
refused 150 'weights.csv: line 257: one weight too many, the input has 256 codes' fit tanh --weights weights.csv $types
repeated ',' $((200 * mib)) >commas.csv
refused 500 'commas.csv: line 1: more than the two columns' fit tanh --weights commas.csv $types
refused 500 'commas.csv: line 1: more than the two columns' fit --samples commas.csv $types
{ repeated 1 1201; printf ',1\n2,2\n3,3\n'; } >number.csv
refused 20 'number.csv: line 1: x has 1201 characters; write a decimal number of at most 1200' fit --samples number.csv $types
rm ./*.csv ./*.json

# Half a million tensors of no name but a number: 32 MiB of entries are listed as they are read.
python3 - <<'END'
import struct
count = 1 << 19
with open("many.gguf", "wb") as file:
    file.write(b"GGUF" + struct.pack("<IQQ", 3, count, 0))
    for i in range(count):
        name = b"%d" % i
        file.write(struct.pack("<Q", len(name)) + name + struct.pack("<IQIQ", 1, 0, 0, 0))
    file.write(bytes(32))
END
kib=$(($(stat -c %s many.gguf) * 6 / 1024 + base))
limited $kib "$pwlc" gguf list many.gguf >../out 2>../err || fail "gguf list: $(cat ../err)"
expect_line '\| 524287 +\| F32 +\| 0 +\| +0 \| +[0-9]+ \|' ../out 'gguf list'
rm many.gguf

# Models of 1.5 GiB, nearly all of it weights in a hole of the file: what stands around them is read.
PYTHONDONTWRITEBYTECODE=1 python3 - "$root/tests/fuzz" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import model_seeds as seeds
weights = 3 << 29
def header(number, size):
    return seeds.varint(number << 3 | 2) + seeds.varint(size)
nodes = b"".join(seeds.part(1, node) for node in seeds.pair("x", "s", "z"))
stored = seeds.part(8, "w") + header(9, weights)
scales = seeds.part(5, seeds.scale("s", 0.5)) + seeds.part(5, seeds.code("z", "int8", -3))
graph = nodes + header(5, len(stored) + weights) + stored
with open("large.onnx", "wb") as file:
    file.write(header(7, len(graph) + weights + len(scales)) + graph)
    file.seek(weights, 1)
    file.write(scales)
with open("large.tflite", "wb") as file:
    file.write(seeds.tflite(seeds.EVERY_TENSOR))
    file.truncate(weights)
END
for model in large.onnx:x_q:-3 large.tflite:0:-3; do
    checks=$((checks + 1))
    limited $base "$pwlc" fit tanh --in "${model%:*}" --out s8:2^-7 --method uniform >../out 2>../err ||
        fail "fit --in ${model%:*}: $(cat ../err)"
    grep -qF -- ":${model##*:} --out" ../err || fail "fit --in ${model%:*}: $(cat ../err)"
done
rm large.*

# A job's name is a file's, and no flag of the commands that take it.
job='"function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": 2'
echo "[{\"name\": \"-o\", $job}]" >dash.json
expect_error 2 '[0].name: "-o", must be made of letters, digits, _ and -, not - first' fit --spec dash.json -o .
finish
