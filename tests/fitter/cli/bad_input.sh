#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad input: exit 2 (or the code that is due), one message with the field and what would be right, and no output file.
. "$(dirname "$0")/lib.sh"

types='--in s8:2^-4 --out s8:2^-7'

# refused CODE WORDS ARGUMENT...: of `pwlc fit ... -o out.json`
refused() {
    local code=$1 words=$2
    shift 2
    expect_error "$code" "$words" fit "$@" -o out.json
}

# Functions.
refused 2 'did you mean sigmoid?' sigmiod $types
refused 2 'frobnicate' frobnicate $types
refused 2 'FUNCTION' $types
refused 2 'gelu' tanh gelu $types
refused 2 'alpha' tanh $types --param alpha=1
refused 2 'alpha' leaky_relu $types --param alpha
refused 2 'alpha' leaky_relu $types --param alpha=nan
refused 2 'alpha' leaky_relu $types --param alpha=1e9
refused 2 'beta' leaky_relu $types --param beta=1

# Numbers of segments, error bounds, slope widths.
for count in 0 4097 -1 1.5 x '' 99999999999999999999; do
    refused 2 '--segments' tanh $types --segments "$count"
done
for bound in 0 -1 nan inf x ''; do
    refused 2 '--max-err' tanh $types --max-err "$bound"
done
for bits in 1 9 0x4 -3; do
    refused 2 '--slope-bits' tanh $types --slope-bits "$bits"
done

# Tensor types.
for width in 1 33 0 -8 99999999999 x; do
    refused 2 '--in' tanh --in "s$width:2^-4" --out s8:2^-7
    refused 2 '--out' tanh --in s8:2^-4 --out "u$width:2^-7"
done
for scale in 0 -0.5 nan inf 2^-9999 2^9999 2^ 2^x x '' 1e999 0.0; do
    refused 2 '--in' tanh --in "s8:$scale" --out s8:2^-7
    refused 2 '--out' tanh --in s8:2^-4 --out "s8:$scale:3"
done
for zero_point in 1.5 x '' 99999999999999999999; do
    refused 2 '--in' tanh --in "s8:2^-4:$zero_point" --out s8:2^-7
done
for type in '' s8 8:2^-4 z8:2^-4 s8:2^-4:0:0 q3 q3. q.12 q40.40 uq33.0 'q3.12 '; do
    refused 2 '--in' tanh --in "$type" --out s8:2^-7
done
refused 2 '--out' tanh --in s8:2^-4
refused 2 '--in' tanh --out s8:2^-7

for type in s8:auto s8:auto:3; do
    refused 2 "--in: scale 'auto' is found for the zero point 0 alone, as in s8:auto:0; s8 finds both" tanh --in $type --out s8
done
refused 2 '--profile tosa: is no profile; did you mean tosa8? ' tanh --profile tosa
refused 2 '--profile x: is no profile; `pwlc list' tanh --profile x
expect_error 2 '-o: empty; name a file' fit tanh $types -o ''

# Zero points for which no table can be proven: the limit is named.
refused 3 'zero_point: 40000, must fit -32768..32767' tanh --in s8:2^-4:40000 --out s8:2^-7
refused 3 'zero_point' tanh --in s16:2^-12:4000000000 --out s16:2^-15

# Ranges outside the domain, with and without a rule for them.
refused 2 'domain' log $types
refused 2 'domain' reciprocal $types
refused 2 'domain' log --in u8:2^-4:300 --out s8:2^-4 --outside clamp

# Constant tables.
refused 2 '--out: exp is outside the output range' exp --in u8:2^-8:-2000 --out s8:2^-7
refused 2 '--out: sigmoid is outside the output range' sigmoid $types:-400

# Flags that contradict each other, and values that no flag takes.
refused 2 '--method' tanh $types --method magic
refused 2 '--form' tanh $types --form magic
refused 2 '--rounding' tanh $types --rounding magic
refused 2 '--outside' tanh $types --outside magic
refused 2 'document' tanh --in s8:0.05 --out s8:2^-7 --method document
refused 2 'document' tanh --in s8:2^-4 --out s8:0.01 --method document
refused 2 'document' tanh $types --method document --form biased
refused 2 '--time-limit 0: must be seconds, more than 0' tanh $types --time-limit 0
refused 2 '--time-limit nan: must be seconds' tanh $types --time-limit nan
refused 2 '--time-limit 3s: must be seconds' tanh $types --time-limit 3s
refused 2 'lut' tanh $types --method lut --segments 16
refused 2 'lut' tanh --in s13:2^-9 --out s8:2^-7 --method lut
refused 2 '--samples' tanh $types --samples points.csv
refused 2 '--spec' tanh $types --spec jobs.json
refused 2 'more than once' tanh $types --in s8:2^-4

# A requirement that cannot hold.
refused 3 '0.001' tanh $types --segments 2 --max-err 0.001 --method uniform
refused 3 '--no-saturate' tanh $types --no-saturate

# Samples: each fault names the file and the line.
samples() {
    printf "$2" >points.csv
    refused 2 "$1" --samples points.csv $types --outside clamp
}
samples 'points.csv' ''
samples 'points.csv' 'x,y\n'
samples 'points.csv' '0,0\n'
samples 'points.csv: line 3' '0,0\n2,1\n1,2\n'
samples 'points.csv: line 2' '0,0\n0,1\n1,2\n'
samples 'points.csv: line 2' '0,0\n1,nan\n'
samples 'points.csv: line 3' 'x,y\n0,0\ninf,1\n'
samples 'points.csv: line 2' '0,0\n1,2,3\n'
samples 'points.csv: line 2' '0,0\n1\n'
samples 'points.csv: line 2' '0,0\n1,y\n'
printf '0,0\n1,1\n' >points.csv
refused 2 'domain [0, 1] of samples' --samples points.csv $types
refused 1 'missing.csv' --samples missing.csv $types
make_npy points.npy '<f8' '(2, 3)' "$(printf '\\0%.0s' $(seq 48))"
refused 2 'points.npy' --samples points.npy $types
make_npy points.npy '<f8' '(4000000000000000000, 2)' '\0'
refused 2 'points.npy' --samples points.npy $types
printf 'not numpy' >points.npy
refused 2 'points.npy' --samples points.npy $types

# Table files: each is refused by every command that reads one, with the file and the field.
good='{"start": -128, "q_b": 1, "n_BX_total": 1, "term_c": 0}, {"start": 0, "q_b": 2, "n_BX_total": 2, "term_c": 0}'
make_table good.json "$good"
sed -i 's/"method": "lsq"/"method": "by_hand"/; s/"spec": "[^"]*"/"spec": ""/' good.json # as certify writes them
expect_status 0 certify good.json -o certified.json || finish
python3 - <<'END'
import json
good, certified = (open(name).read() for name in ("good.json", "certified.json"))
rest = certified[certified.index('  "hash"'):] # its own, in lines of their own
open("good.json", "w").write(good[:good.rindex("]}")] + "],\n" + rest)
END
rm certified.json
expect_status 0 show good.json || finish

# bad FIELD: bad.json is refused, by show and by each of the other commands in turn.
readers=0
bad() {
    expect_error 2 "bad.json: $1" show bad.json
    readers=$((readers + 1))
    case $((readers % 4)) in
    0) expect_error 2 "bad.json: $1" eval bad.json 5 -o out.npy ;;
    1) expect_error 2 "bad.json: $1" emit bad.json -o out.h ;;
    2) expect_error 2 "bad.json: $1" sweep bad.json ;;
    3) expect_error 2 "bad.json: $1" diff good.json bad.json ;;
    esac
}

# edited FIELD SED_SCRIPT: as bad, of good.json with a change.
edited() {
    sed -e "$2" good.json >bad.json
    if cmp -s bad.json good.json; then fail "the change \"$2\" changes nothing"; fi
    bad "$1"
}
head -c 200 good.json >bad.json
bad ''
: >bad.json
bad ''
printf '[1, 2]' >bad.json
bad ''
printf '%5000s' '' | tr ' ' '[' >bad.json
bad ''
{ cat good.json; printf '{}'; } >bad.json
bad ''
printf '\377\376{' >bad.json
bad ''
head -c 100000000 /dev/zero | tr '\0' ' ' >bad.json
expect_error 2 'bad.json' show bad.json
edited 'pwl_table' 's/"pwl_table": 1/"pwl_table": 2/'
edited 'pwl_table' 's/"pwl_table": 1/"pwl_table": "1"/'
edited 'pwl_table' 's/"pwl_table": 1, //'
edited 'color' 's/"pwl_table": 1,/& "color": 3,/'
edited '' 's/"pwl_table": 1,/& "pwl_table": 1,/'
edited 'function' 's/"function": "tanh"/"function": "tan"/'
edited 'function' 's/"function": "tanh"/"function": 7/'
edited 'parameters' 's/"parameters": {}/"parameters": {"alpha": 1}/'
edited 'form' 's/"absolute"/"relative"/'
edited 'rounding' 's/"floor"/"ceil"/'
edited 'case' 's/"int8"/"int16"/'
edited 'in.bits' '/"in"/s/"bits": 8/"bits": 33/'
edited 'in.bits' '/"in"/s/"bits": 8/"bits": 8.0/'
edited 'in.signed' '/"in"/s/true/1/'
edited 'in.scale' '/"in"/s/"2^-4"/"0"/'
edited 'in.scale' '/"in"/s/"2^-4"/"nan"/'
edited 'in.scale' '/"in"/s/"2^-4"/0.0625/'
edited 'in.zero_point' '/"in"/s/"zero_point": 0/"zero_point": 1e3/'
edited 'in.zero_point' '/"in"/s/"zero_point": 0/"zero_point": 32768/'
edited 'in.qmax' '/"in"/s/"qmax": 127/"qmax": 128/'
edited 'out.qmin' '/"out"/s/"qmin": -128/"qmin": -129/'
edited 'out.qmax' '/"out"/s/"qmax": 127/"qmax": -129/'
edited 'out.color' '/"out"/s/"bits"/"color": 1, "bits"/'
edited 'segments[1].start' 's/"start": 0/"start": -128/'
edited 'segments[1].start' 's/"start": 0/"start": 128/'
edited 'segments[0].start' 's/"start": -128/"start": -127/'
edited 'segments[0].q_b' 's/"q_b": 1/"q_b": 128/'
edited 'segments[0].q_b' 's/"q_b": 1/"q_b": true/'
edited 'line 5' 's/"q_b": 1/"q_b": 99999999999999999999/'
edited 'segments[0].n_BX_total' 's/"n_BX_total": 1/"n_BX_total": 32/'
edited 'segments[0].n_BX_total' 's/"n_BX_total": 1/"n_BX_total": -32/'
edited 'segments[0]' 's/"n_BX_total": 1/"n_BX_total": -30/'
edited 'segments[0].term_c' 's/"term_c": 0}, {/"term_c": 32768}, {/'
edited 'segments[0].color' 's/"q_b": 1/"color": 1, &/'
edited 'segments[0].bias' 's/"term_c": 0}, {/"bias": 0}, {/'
edited 'segments[0].unfused' 's/"q_b": 1/"unfused": {"q_c": 0, "n_bx": 40, "n_yb": -39, "n_yc": 0}, &/'
edited 'segments' 's/"segments": .*/"segments": [],/'
edited 'segments[0]' 's/"segments": .*/"segments": [1],/; /"start"/d'
edited 'certificate' 's/"certificate": {/"certificate": {"color": 1,/'
edited 'certificate.checked' 's/"checked": 256/"checked": -1/'
edited 'certificate.correctly_rounded' 's/"correctly_rounded": [0-9.]*/"correctly_rounded": 1.5/'
edited 'fold' 's/"pwl_table": 1,/& "fold": 1,/'
edited 'samples_sha256' 's/"pwl_table": 1,/& "samples_sha256": "abc",/'
many=$(seq -f '{"start": %.0f, "q_b": 0, "n_BX_total": 0, "term_c": 0}' -32768 -28672 | paste -sd ,)
make_table bad.json "$many" case='"int16"' bits=16 qmin=-32768 qmax=32767
bad 'segments'

# Lists of jobs.
jobs() {
    printf '%s' "$2" >jobs.json
    expect_error 2 "$1" fit --spec jobs.json -o jobs
}
jobs 'jobs.json' ''
jobs 'jobs.json' '[{"function": "tanh"'
jobs 'jobs.json' '{}'
jobs 'jobs.json' '[]'
jobs 'jobs.json' '[7]'
jobs 'name' '[{"function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7"}]'
jobs 'FUNCTION' '[{"name": "t", "in": "s8:2^-4", "out": "s8:2^-7"}]'
jobs '[0]: --in' '[{"name": "t", "function": "tanh", "in": "s33:2^-4", "out": "s8:2^-7"}]'
jobs 'color' '[{"name": "t", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7", "color": 1}]'
jobs '[0]: --segments 4097' '[{"name": "t", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7", "segments": 4097}]'

# Outputs that cannot be written: a missing directory, a read-only one, a full disk.
expect_error 1 'missing/out.json' fit tanh $types --method lut -o missing/out.json
expect_error 1 'missing/out.h' emit good.json -o missing/out.h
mkdir read_only
chmod a-w read_only
if [ ! -w read_only ]; then # false for root, who may write anywhere
    expect_error 1 'read_only/out.json' fit tanh $types --method lut -o read_only/out.json
    expect_error 1 'read_only/out.h' emit good.json -o read_only/out.h
fi
chmod u+w read_only
expect_error 1 'read_only' fit tanh $types --method lut -o read_only

# full COMMAND...: must exit 1, leave nothing new in the full folder and say why.
full() {
    checks=$((checks + 1))
    status=0
    "$@" >../out 2>../err || status=$?
    [ "$status" -eq 1 ] || fail "$*, disk full: exit $status, expected 1: $(head -c 300 ../err)"
    grep -q '^pwlc' ../err || fail "$*, disk full: no message: $(head -c 300 ../err)"
    [ -z "$(ls -A full)" ] || fail "$*, disk full: left $(ls -A full)"
}
mkdir full
if mount -t tmpfs -o size=4k,nr_inodes=8 tmpfs full 2>/dev/null; then
    mounted=$PWD/full
    limited() { "$@"; }
else
    # Without the right to mount: a limit on the size of files stops the write in the same place.
    limited() { (trap '' XFSZ; ulimit -f 1; exec "$@"); }
fi
expect_status 0 fit tanh $types --method lut -o large.json || finish
full limited "$pwlc" fit tanh $types --method lut -o full/out.json
full limited "$pwlc" emit large.json -o full/out.h
full limited "$pwlc" emit large.json --format csv -o full/out.csv
make_npy large.npy '|i1' '(5000,)' "$(printf '\\0%.0s' $(seq 5000))"
full limited "$pwlc" eval large.json large.npy -o full/out.npy
if [ -w /dev/full ]; then
    for arguments in "fit tanh $types --method lut" "fit tanh $types --method lut -o -" 'emit good.json' \
        'emit good.json --format csv -o -' 'sweep good.json' 'eval good.json codes.npy -o -'; do
        checks=$((checks + 1))
        make_npy codes.npy '|i1' '(1,)' '\0'
        status=0
        # shellcheck disable=SC2086
        "$pwlc" $arguments >/dev/full 2>../err || status=$?
        [ "$status" -eq 1 ] || fail "pwlc $arguments >/dev/full: exit $status, expected 1: $(head -c 300 ../err)"
    done
fi

# Files that hold no JSON yet, or another system's.
: >empty.json
printf '\xef\xbb\xbf{}' >utf8.json
printf '\xff\xfe{\0}\0' >utf16.json
expect_error 2 'empty.json: is empty; must be JSON' show empty.json
expect_error 2 'empty.json: is empty; must be JSON' fit --spec empty.json -o jobs
expect_error 2 'utf8.json: begins with a byte order mark; save it as UTF-8 without one' show utf8.json
expect_error 2 'utf16.json: begins with a byte order mark; save it as UTF-8 without one' show utf16.json

finish
