#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of every command: an output is never an input, all are written or none, nothing is left behind, and what stands
# behind a descriptor is written into.
. "$(dirname "$0")/lib.sh"
corpus=$root/tests/fuzz/corpus/gguf

"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 --segments 4 -o t.json 2>../err
printf '0,0\n1,1\n2,0\n' >s.csv
printf '1\n%.0s' $(seq 256) >w.csv
make_npy x.npy '<i2' '(2,)' '\0\0\1\0'
make_npy a.npy '<f4' '(1, 32)' "$(printf '\\0%.0s' $(seq 128))"
cp "$corpus/every_type" m.gguf
cp t.json t.csv
ln -s t.json soft.json
ln t.json hard.json
echo '[{"name": "jobs", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": 2}]' >jobs.json
sha256sum ./* >../before

# refused OUTPUT ARGUMENT...: exit 2, and every file is as it was; gemm says before where it ran.
refused() {
    local output=$1
    shift
    expect_status 2 "$@" || return 0
    expect_line "pwlc $1: $output: is an input of this command too; write to another file" ../err "pwlc $*"
    sha256sum -c --quiet ../before >../differ 2>&1 || fail "pwlc $*: $(cat ../differ)"
}
refused m.gguf gguf extract m.gguf f32 -o m.gguf
refused m.gguf gguf extract --raw m.gguf f32 -o m.gguf
refused s.csv fit --samples s.csv --in s8:2^-5 --out s8:2^-5 --outside clamp -o s.csv
refused w.csv fit tanh --in s8:2^-5 --out s8:2^-7 --weights w.csv -o w.csv
refused x.npy eval t.json x.npy -o x.npy
refused t.json report t.json -o t.json
refused s.csv explore --samples s.csv --in s8:2^-5 --out s8:2^-5 --outside clamp --segments 2 -o s.csv
refused s.csv explore --samples s.csv --in s8:2^-5 --out s8:2^-5 --outside clamp --segments 2 -o e.md --svg s.csv
refused ./jobs.json fit --spec jobs.json -o .
refused ./t.json emit t.json --format json -o ./t.json
refused t.json emit soft.json --format json -o t.json
refused soft.json emit t.json -o soft.json
refused hard.json emit t.json -o hard.json
refused t.json emit t.json -o t.h -MD -MF t.json
refused t.json sweep t.json -o t.json
refused t.json sweep t.json -o e.md --plot t.json
refused t.csv sweep t.csv --codes t.csv
refused t.json certify t.json -o t.json
# before what takes long
expect_error 1 'absent/t.json: cannot write: the folder absent: No such file' fit sin --in u10:2^-6 --out s16:2^-14 --segments 48 -o absent/t.json
refused a.npy gemm --weights m.gguf:q4_0 --act a.npy --device cpu -o a.npy
refused m.gguf gemm --weights m.gguf:q4_0 --act a.npy --device cpu -o m.gguf
refused t.json emit - -o t.json <t.json
refused /dev/fd/3 emit t.json -o /dev/fd/3 3>>t.json
"$pwlc" show t.json >>t.json 2>../err && fail 'show: wrote into the table that it reads'
grep -qF 't.json: standard output goes into this file too; write to another one' ../err || fail "show >>: $(cat ../err)"
sha256sum -c --quiet ../before || fail 'show >>: changed its input'
expect_error 2 'e.md: two outputs of this command go there' sweep t.json -o e.md --plot ./e.md

# Behind a descriptor may be a log: it keeps what it has, and its place.
for name in /dev/stderr /dev/fd/3 /proc/self/fd/3; do
    echo before >log
    number=$(stat -c %i log)
    "$pwlc" show t.json >../shown
    "$pwlc" emit t.json --format csv -o "$name" 3>>log 2>>log || fail "emit -o $name: exit $?"
    checks=$((checks + 1))
    [ "$number" = "$(stat -c %i log)" ] || fail "emit -o $name: replaced the file"
    [ "$(head -n 1 log)" = before ] && [ "$(wc -l <log)" -eq 6 ] || fail "emit -o $name: $(head -c 300 log)"
done
rm log

# Three jobs of which the last is longer than a file may be, and a rule whose header is.
cat >many.json <<'END'
[{"name": "a", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": 2},
 {"name": "b", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "segments": 3},
 {"name": "c", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7", "method": "lut"}]
END
mkdir tables
failed=$failures
(
    ulimit -f 8 # of 1024 bytes
    expect_status 1 fit --spec many.json -o tables
    expect_line 'pwlc fit: tables/c.json: cannot write: File too large' ../err 'fit --spec'
    [ "$failures" -eq "$failed" ]
) || fail 'fit --spec at the limit of file sizes'
[ -z "$(ls -A tables)" ] || fail "fit --spec: left $(ls -A tables)"
expect_status 0 fit --spec many.json -o tables
[ "$(ls -A tables | tr '\n' ' ')" = 'a.json b.json c.json ' ] || fail "fit --spec: wrote $(ls -A tables)"
(
    ulimit -f 1
    expect_error 1 'c.h: cannot write: File too large' emit tables/c.json -o c.h -MD
    [ "$failures" -eq "$failed" ]
) || fail 'emit -MD at the limit of file sizes'

# A signal while a file waits for its place: the rule is ready, and the header waits for the reader of a pipe.
mkfifo pipe
for signal in HUP TERM INT; do
    before=$(ls -A)
    python3 - "$pwlc" "$signal" <<'END' || fail "emit: wrong end after SIG$signal"
import glob, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[2])
signal.signal(number, signal.SIG_DFL)
pwlc = subprocess.Popen([sys.argv[1], "emit", "t.json", "-o", "pipe", "-MD", "-MF", "rule"])
for _ in range(2000):
    if glob.glob(".pwlc-*.tmp"):
        break
    time.sleep(0.01)
else:
    sys.exit("no file waits")
pwlc.send_signal(number)
sys.exit(pwlc.wait() != -number)
END
    checks=$((checks + 1))
    [ "$before" = "$(ls -A)" ] || fail "SIG$signal: left $(ls -A)"
done
rm pipe

# A make rule cannot hold what ends a line, and a terminal shows no control sequence of a name.
name=$(printf 'new\nline')
cp t.json "$name"
expect_error 2 '-MD: new?line: a make rule cannot hold control characters; rename the file' emit "$name" -o t.h -MD -MF t.d
expect_error 2 'a make rule cannot hold control characters' emit t.json -o "$(printf 't\033.h')" -MD -MF t.d
mv "$name" "$(printf 'esc\033[31m.json')"
name=$(printf 'esc\033[31m.json')
for arguments in 'sweep' 'sweep --hist' 'sweep t.json' 'sweep --format csv' 'sweep --format jsonl' 'show' 'show t.json' 'diff t.json' \
    'report'; do
    read -r -a words <<<"$arguments"
    expect_status 0 "${words[@]}" "$name" || continue
    ! grep -q "$(printf '\033')" ../out || fail "pwlc $arguments: printed a control character: $(head -c 300 ../out)"
done
expect_status 0 sweep --format csv "$name"
grep -qF 'esc\x1b[31m.json' ../out || fail "sweep: does not show the name: $(head -c 300 ../out)"
finish
