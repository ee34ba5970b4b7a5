#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc sweep: every code's error in files, bias, shares and worst codes, their gates, plots of several tables, and lines
# as wide as the terminal.
. "$(dirname "$0")/lib.sh"

# 233 codes are exact, 21 are 3 too high, two by 2 and 1; and the same too low.
make_step step.json
unclaimed step.json | sed 's/"term_c": 3/"term_c": -3/' >low.json

# The mean error has its sign: 66 of 256 above; below there is no limit of the output in the way, 28 * 3 = 84, less what
# is beyond 123, where the target stays: codes 124 to 127 are off by 2, 1, 0, 0.
sweep_passes step.json --format json
has bias_lsb 0.257812
has bias_real 0.257812
has median_abs_err_lsb 0
has within_90_lsb 0
has within_99_lsb 3
has within_99_9_lsb 3
has worst_codes '\[100, 101, 102, 103, 104, 105, 106, 107, 108, 109\]'
has worst_errors_lsb '\[3, 3, 3, 3, 3, 3, 3, 3, 3, 3\]'
sweep_passes low.json --format json
has bias_lsb -0.292969 # 24 * 3 + 2 + 1 of 256
has worst_errors_lsb '\[-3, -3, -3, -3, -3, -3, -3, -3, -3, -3\]'
sweep_passes step.json
expect_line '\| bias, LSB +\| 0.257812 +\|' ../out 'sweep'
expect_line 'step.json, the worst codes \(error: output - target\):' ../out 'sweep'
expect_line '\| +109 \| +109 \| +109 \| +112 \| +3 \|' ../out 'sweep, worst codes'
[ "$(grep -c '^| *1[0-9][0-9] |' ../out)" -eq 10 ] || fail "not ten worst codes: $(cat ../out)"
printf '100,1\n122,3\n' >weights.csv
sweep_passes step.json --weights weights.csv --format json
has weighted_bias_lsb 1.5

# Squares are of squared units.
expect_status 0 fit sigmoid --in s8:2^-5 --out u8:2^-2 --segments 4 --method uniform -o quarters.json
sweep_passes quarters.json --format json
python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))[0]
agree = lambda a, b: abs(a - b) <= 1.01e-5 * abs(b) # half a unit of the sixth digit on either side
for name in "mse", "mean_abs_squared":
    assert row[name + "_lsb2"] > 0 and agree(row[name + "_real"], row[name + "_lsb2"] / 16), row
for name in "max_err", "rms_err", "mean_abs_err", "bias":
    assert row[name + "_lsb"] and agree(row[name + "_real"], row[name + "_lsb"] / 4), row' ../out ||
    fail "units: $(cat ../out)"

# Gates: at the figure itself they hold.
sweep_passes step.json --max-rms 0.870525 --max-bias 0.257813 --min-correct 0.91015 --max-err 3
gate 'step.json: RMS error 0.870524 LSB exceeds --max-rms 0.5 by 0.370524' step.json --max-rms 0.5
gate 'step.json: bias 0.257812 LSB exceeds --max-bias 0.25 by 0.0078125' step.json --max-bias 0.25
gate 'low.json: bias -0.292969 LSB exceeds --max-bias 0.25 by 0.0429688' low.json --max-bias 0.25
gate 'step.json: share of correctly rounded codes 0.910156 is below --min-correct 0.95 by 0.0398437' step.json \
    --min-correct 0.95
gate 'low.json: bias -0.292969 LSB exceeds --max-bias 0.27' step.json low.json --max-bias 0.27
gate '; 2 tables in all miss it' step.json low.json --max-rms 0.1
gate 'step.json: weighted bias 1.5 LSB exceeds --max-bias 1 by 0.5' step.json --weights weights.csv --max-bias 1
gate 'step.json: weighted RMS error 1.73205 LSB exceeds --max-rms 1' step.json --weights weights.csv --max-rms 1
gate 'step.json: weighted share of correctly rounded codes 0 is below' step.json --weights weights.csv --min-correct 0.5
for flag in --max-rms --max-bias --min-correct; do
    for value in -1 nan '' x; do
        expect_error 2 "$flag is a " sweep step.json "$flag" "$value"
    done
done
expect_error 2 '--min-correct is a share of codes, 0 to 1, not "1.5"' sweep step.json --min-correct 1.5

# Every code in each format, against the table's own words: f is the identity, cut off at 123.
check_codes() {
    checks=$((checks + 1))
    python3 - "$1" <<'END' || fail "--codes $1"
import json, struct, sys
path, names = sys.argv[1], ["code", "x", "target", "output", "error"]
if path.endswith(".npy"):
    data = open(path, "rb").read()
    assert b"'descr': '<f8', 'fortran_order': False, 'shape': (256, 5)" in data[:128], data[:128]
    flat = struct.unpack("<1280d", data[128:])
    rows = [flat[i:i + 5] for i in range(0, 1280, 5)]
elif path.endswith(".jsonl"):
    rows = [[json.loads(line)[name] for name in names] for line in open(path)]
else:
    lines = open(path).read().splitlines()
    assert lines[0] == ",".join(names), lines[0]
    rows = [[float(word) for word in line.split(",")] for line in lines[1:]]
want = []
for q in range(-128, 128):
    target, output = min(q, 123), min(q + 3 * (q >= 100), 123)
    want.append([q, q, target, output, output - target])
assert [list(row) for row in rows] == want, "other rows"
END
}
for path in codes.csv codes.npy codes.jsonl; do
    sweep_passes step.json --codes "$path"
    check_codes "$path"
done
sweep_passes step.json --codes - -o report.md
cp ../out stdout.csv
check_codes stdout.csv
grep -q 'max, LSB' report.md || fail '--codes -: no report'
rm -f codes.* stdout.csv report.md
# Real units differ from codes; errors have all their digits.
"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 -o tanh.json
sweep_passes tanh.json --codes tanh.csv
checks=$((checks + 1))
python3 - <<'END' || fail '--codes of tanh'
import math
for line in open("tanh.csv").read().splitlines()[1:]:
    code, x, target, output, error = map(float, line.split(","))
    t = min(max(128 * math.tanh(x), -128), 127)
    assert x == code / 32 and abs(target - t) < 1e-9 and abs(output - target - error) < 1e-9, line
END
rm tanh.csv
expect_error 2 '--codes codes.txt: the name must end in .csv, .npy or .jsonl' sweep step.json --codes codes.txt
expect_error 2 '--codes writes those of one table, not of 2' sweep step.json low.json --codes codes.csv
expect_error 2 '--codes -: the errors go to standard output already; give -o FILE' sweep step.json --codes -
expect_error 2 '--codes -: the plot goes to standard output already; give --plot FILE' sweep step.json --plot - \
    --codes - -o report.md
expect_error 1 missing/codes.csv sweep step.json --codes missing/codes.csv
expect_error 2 'weights.csv: is an input of this command too' sweep step.json --weights weights.csv --codes weights.csv
unclaimed step.json | sed 's/s8:2^0/s24:2^0/g; s/"bits": 8/"bits": 24/g; s/"int8"/"int32"/; s/"qmin": -128, "qmax": 127/"qmin": -600000, "qmax": 600000/
    s/"qmin": -128, "qmax": 123/"qmin": -600000, "qmax": 600000/; s/"start": -128/"start": -600000/' >wide.json
expect_error 2 '--codes codes.csv: 1200001 rows, one for each input code; give --exhaustive as well' sweep wide.json \
    --codes codes.csv
sweep_passes wide.json --codes codes.csv --exhaustive
checks=$((checks + 1))
[ "$(wc -l <codes.csv)" -eq 1200002 ] && [ "$(tail -n 1 codes.csv)" = '600000,600000,600000,600000,0' ] ||
    fail "--codes of a wide input: $(tail -n 1 codes.csv)"
rm codes.csv
# The worst code is among the worst where codes were sampled, and this one was not.
python3 - <<'END'
import json
table = json.load(open("wide.json"))
table["segments"] = [{"start": start, "q_b": 1, "n_BX_total": 0, "term_c": term_c}
                     for start, term_c in ((-600000, 0), (-575, 9), (-574, 0))]
json.dump(table, open("end.json", "w"))
END
sweep_passes end.json --format json
has max_err_at -575
has worst_codes '\[-575, -600000, .*\]'
has worst_errors_lsb '\[9, 0, .*\]'

# Several tables in one plot.
sed 's/"scale": "2^0", "zero_point": 0, "qmin": -128, "qmax": 123/"scale": "2^1", "zero_point": 0, "qmin": -128, "qmax": 123/' \
    low.json >coarse.json
sweep_passes step.json low.json --plot both.svg
for words in '<title>leaky_relu, 2 tables</title>' 'step.json, 2 segments' 'low.json, -3 to 0' 'error, output LSB' '</svg>'; do
    grep -qF -- "$words" both.svg || fail "--plot of two tables: \"$words\" is missing"
done
python3 -c 'from xml.dom import minidom; minidom.parse("both.svg")' || fail '--plot of two tables: not well-formed'
sweep_passes step.json tanh.json coarse.json --plot three.svg
for words in '<title>3 tables</title>' 'error, real' 'coarse.json, '; do
    grep -qF -- "$words" three.svg || fail "--plot of three tables: \"$words\" is missing"
done
sweep_passes low.json --baseline low.json --plot pair.svg
grep -qF '<title>leaky_relu, 2 tables</title>' pair.svg || fail '--plot leaves the baseline out'
rm ./*.svg
expect_error 2 '--plot draws up to 6 tables, not 7' sweep {step,low,step,low,step,low}.json low.json --plot many.svg

# On a terminal, rows of several tables are cut to its width, and no column is lost; a column too wide stands alone.
on_terminal() { # COLUMNS ARGUMENT...: what is printed on a terminal so wide, in ../out
    python3 - "$pwlc" "$@" >../out 2>../err <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[2]), 0, 0))
process = subprocess.Popen([sys.argv[1]] + sys.argv[3:], stdout=slave)
os.close(slave)
printed = b""
try:
    while part := os.read(master, 65536):
        printed += part
except OSError:
    pass
sys.stdout.write(printed.decode().replace("\r\n", "\n"))
sys.exit(process.wait())
END
}
sweep_passes step.json low.json
titles=$(head -n 1 ../out | tr '|' '\n' | sed 's/^ *//; s/ *$//; /^$/d' | sort)
widest=$(awk '{ print length }' ../out | sort -n | tail -n 1)
for columns in 80 120 200; do
    checks=$((checks + 1))
    on_terminal "$columns" sweep step.json low.json || fail "sweep on a terminal: $(cat ../err)"
    [ "$(awk '{ print length }' ../out | sort -n | tail -n 1)" -le "$columns" ] || fail "wider than $columns: $(cat ../out)"
    [ "$(grep -c '^| step.json |' ../out)" -gt 1 ] || fail "$columns columns: not cut"
    cut=$(grep '^| table ' ../out | tr '|' '\n' | sed 's/^ *//; s/ *$//; /^$/d' | sort -u)
    [ "$cut" = "$titles" ] || fail "$columns columns: other titles: $cut"
done
on_terminal 10 sweep step.json low.json || fail "a terminal of 10 columns: $(cat ../err)"
[ "$(grep -c '^| step.json | [^|]*|$' ../out)" -eq 17 ] || fail "10 columns: $(cat ../out)"
on_terminal "$widest" sweep step.json low.json && [ "$(grep -c '^| step.json |' ../out)" -eq 1 ] ||
    fail "as wide as the table: $(cat ../out)"
on_terminal 80 sweep step.json low.json -o report.md && [ "$(grep -c step.json report.md)" -eq 1 ] ||
    fail "-o on a terminal is cut: $(cat report.md)"

finish
