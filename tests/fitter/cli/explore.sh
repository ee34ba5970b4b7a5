#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc explore: every combination is there, with the numbers of fit, and the front is the front.
. "$(dirname "$0")/lib.sh"

types='--in s8:2^-5 --out s8:2^-7'

# judge WHAT PYTHON [ARGUMENT...]: a condition on the rows printed as JSON; `tables` are those with a table.
judge() {
    local what=$1 program=$2
    shift 2
    checks=$((checks + 1))
    python3 - "$pwlc" "$@" <<END || fail "$what: $(head -c 600 ../out)"
import json, subprocess, sys
from xml.dom import minidom
rows = json.load(open("../out")) if open("../out").read(1) == "[" else []
tables = [row for row in rows if row["reason"] is None]
$program
END
}

# Each row is what fit makes of its spec, in the order of size and error; the front by its definition.
lists='--segments 4,8,16 --slope-bits 6,8 --form absolute,biased'
expect_status 0 explore tanh $types $lists --method uniform,minimax --format json || finish
[ ! -s ../err ] || fail "explore wrote to standard error: $(head -c 300 ../err)"
judge 'rows of explore' '
assert len(rows) == len(tables) == 24
for row in rows:
    made = json.loads(subprocess.check_output([sys.argv[1], "fit"] + row["spec"].split(), stderr=subprocess.DEVNULL))
    says = made["certificate"]
    assert float("%.6g" % says["max_err_lsb"]) == row["max_err_lsb"]
    assert float("%.6g" % says["rms_err_lsb"]) == row["rms_err_lsb"]
    assert len(made["segments"]) == row["segments"] <= row["segments_asked"]
    assert row["bytes"] == row["segments"] * {"absolute": 5, "biased": 7}[made["form"]]
    assert made["form"] == row["form"] and made["method"] == row["method"] and made["rounding"] == row["rounding"]
    assert "--slope-bits %d " % row["slope_bits"] in row["spec"] + " "
    assert (row["proof"] == "max optimal") == (says["optimal"] is True)
assert rows == sorted(rows, key=lambda row: (row["bytes"], row["rms_err_lsb"], row["spec"]))
assert len({(r["method"], r["form"], r["slope_bits"], r["segments_asked"]) for r in rows}) == 24'
front='
def dominated(row, error):
    return any(o["bytes"] <= row["bytes"] and o[error] <= row[error] and (o["bytes"], o[error]) != (row["bytes"], row[error])
               for o in tables)
error = sys.argv[2]
for row in tables:
    assert row["front"] != dominated(row, error), row
assert 2 <= sum(row["front"] for row in tables) < len(tables)'
judge 'front of RMS' "$front" rms_err_lsb
expect_status 0 explore tanh $types $lists --method uniform,minimax --format json --objective max
judge 'front of max' "$front" max_err_lsb
expect_status 0 explore tanh $types --segments 4,8 --objective max --format json
judge 'default method for max' 'assert [r["method"] for r in rows] == ["minimax"] * 2'
expect_status 0 explore tanh $types --segments 4 --format json
judge 'defaults' 'assert [(r["method"], r["form"], r["rounding"], r["slope_bits"], r["symmetry"]) for r in rows] == [
    ("lsq", "absolute", "floor", 8, "off")]'
expect_status 0 explore tanh $types --format json --symmetry off,fold --method uniform
judge 'default segments, fold' 'assert sorted((r["segments_asked"], r["symmetry"]) for r in rows) == [
    (n, s) for n in (4, 8, 16, 32) for s in ("fold", "off")]
assert all(("--symmetry fold" in r["spec"]) == (r["symmetry"] == "fold") for r in rows)'

# Constraints: some to compare, some that hold for all.
expect_status 0 explore tanh $types --segments 8 --slope-terms any,1,2 --shift per-segment,one --knots free,pow2,uniform \
    --method minimax,lut --objective max --zero free --format json
judge 'constraints' 'full = [r for r in rows if r["method"] == "lut"]
kept = {(r["slope_terms"], r["shift"], r["knots"]): r for r in rows if r["method"] != "lut"}
assert len(rows) == len(tables) == 19 and len(kept) == 18 and len(full) == 1 and full[0]["knots"] is None
for (terms, shift, knots), row in kept.items():
    flags = row["spec"] + " "
    assert ("--slope-terms %s " % terms in flags) == (terms != "any")
    assert ("--shift one " in flags) == (shift == "one") and ("--knots %s " % knots in flags) == (knots != "free")
    assert row["max_err_lsb"] >= kept["any", "per-segment", "free"]["max_err_lsb"] and row["proof"] == "max optimal"'
expect_status 0 explore tanh $types --segments 4,8 --monotone --continuous 1 --format json
judge 'ties' 'assert all("--monotone --continuous 1" in r["spec"] for r in tables) and len(tables) == 2'

# A full table has no segments to choose: it is there once.
expect_status 0 explore tanh $types --segments 4,8 --slope-bits 6,8 --method minimax,lut --format json
judge 'lut' 'full = [r for r in rows if r["method"] == "lut"]
assert len(rows) == 5 and len(full) == 1
assert (full[0]["segments"], full[0]["bytes"], full[0]["segments_asked"], full[0]["slope_bits"]) == (256, 256, None, None)
assert full[0]["proof"] == "optimal" and full[0]["front"]'

# Combinations without a table have a reason; they are a failure only when there is nothing else.
expect_status 0 explore tanh $types --segments 4,8 --slope-bits 8,12 --method uniform,document --form absolute,biased --format json
judge 'reasons' '
assert len(rows) == 16 and len(tables) == 6 and rows[:6] == tables
for row in rows[6:]:
    assert "--slope-bits 12" in row["reason"] or "--method document with --form biased" in row["reason"]
    assert row["bytes"] is None and row["front"] is None'
expect_status 0 explore tanh $types --segments 4,8 --slope-bits 8,12 --method uniform
expect_line '\| uniform +\| +8 \| +4 \| +20 \|.*\| front \|' ../out 'explore as md'
expect_line '\| uniform +\| +12 \| +4 \| --slope-bits 12: .*\|' ../out 'explore as md'
expect_status 0 explore tanh $types --segments 4,8 --slope-bits 8,12 --method uniform --format csv
expect_line 'method,form,.*,front,spec,reason' ../out 'explore as csv'
[ "$(wc -l <../out)" -eq 5 ] || fail "csv: not four rows"
expect_status 3 explore tanh $types --segments 4 --slope-bits 12 --svg none.svg
grep -q 'no combination has a table; the first, because --slope-bits 12' ../err || fail "no table: $(cat ../err)"
grep -q 'slope-bits 12' ../out || fail "no table: the combinations are not listed"
[ ! -e none.svg ] || fail "drew nothing"

# The same bytes on any number of threads; -o and --svg.
for format in md csv json jsonl; do
    for jobs in 1 2 7; do
        expect_status 0 explore tanh $types $lists --method uniform,minimax --format $format -j $jobs -o "$format.$jobs" --svg "svg.$jobs"
        [ ! -s ../out ] || fail "-o printed as well"
        cmp -s "$format.1" "$format.$jobs" || fail "$format differs with --jobs $jobs"
        cmp -s svg.1 "svg.$jobs" || fail "svg differs with --jobs $jobs"
    done
done
cp json.1 ../out
judge 'plot' '
svg = minidom.parse("svg.1").documentElement
dots = [c for name in ("circle", "path") for c in svg.getElementsByTagName(name) if c.getElementsByTagName("title")]
def radius(mark):
    return float(mark.getAttribute("r") or mark.getAttribute("data-r"))
def place(mark):
    if mark.tagName == "circle":
        return float(mark.getAttribute("cx")), float(mark.getAttribute("cy"))
    x, y = mark.getAttribute("d")[1:].split("h")[0].split() # a square, from a corner
    return round(float(x) + 0.89 * radius(mark), 1), round(float(y) + 0.89 * radius(mark), 1)
assert len(dots) == len(tables)
large = max(map(radius, dots))
assert sum(radius(c) == large for c in dots) == sum(r["front"] for r in tables)
# Colour is the method, shape the form.
for c in dots:
    says = c.getElementsByTagName("title")[0].firstChild.data
    assert c.getAttribute("class") == ("f0" if "--method uniform" in says else "f1"), says
    assert c.tagName == ("circle" if "--form absolute" in says else "path"), says
by_size = sorted((round(x, 1), -y) for x, y in map(place, dots))
ranks = [(r["bytes"], r["rms_err_lsb"]) for r in tables]
assert len(set(x for x, _ in by_size)) == len(set(b for b, _ in ranks))
text = svg.toxml()
for word in ("absolute", "biased", "tanh", "s8:2^-5:0", "RMS error, output LSB", "8 segments, ", "method", "form",
             "labels at the front: segments, slope bits", " bits"):
    assert word in text, word
assert "script" not in text and "href" not in text'
expect_status 0 explore leaky_relu --param alpha=1 --in s8:2^0 --out s8:2^0 --segments 1,2 --svg exact.svg
judge 'plot of no error' 'svg = minidom.parse("exact.svg")
assert "nan" not in svg.toxml() and "inf" not in svg.toxml().replace("information", "")'

expect_status 0 explore leaky_relu --param alpha=1 --in s8:2^0 --out s8:2^0 --segments 2,1 --method uniform --format json
judge 'front of tables as accurate' '
assert [(r["segments"], r["rms_err_lsb"], r["front"]) for r in rows] == [(1, 0, True), (2, 0, False)]'

# A function given as points.
printf '%s\n' -8,-1 0,0 8,1 >points.csv
expect_status 0 explore --samples points.csv --in s8:2^-4 --out s8:2^-7 --segments 1,2 --svg points.svg --format json
judge 'samples' 'assert len(tables) == 2'
expect_status 0 explore tanh $types --format json --segments 2,4-6,8:16:4,20:90:x2 --slope-bits 6:8:2 --method uniform
judge 'ranges' 'assert sorted({(r["segments_asked"], r["slope_bits"]) for r in rows}) == [
    (n, b) for n in (2, 4, 5, 6, 8, 12, 16, 20, 40, 80) for b in (6, 8)]'

expect_status 0 explore tanh --in s8 --out s8 --range -2:2 --fix 0:0 --method uniform --segments 4 --format json
judge 'types from a range' 'assert len(tables) == 1 and "--fix 0:0" in tables[0]["spec"] and ":" in tables[0]["spec"].split()[2]'
rm -f points.svg exact.svg svg.* md.* csv.* json.* jsonl.*

# Bad input.
refused() {
    local words=$1
    shift
    expect_error 2 "$words" explore "$@" -o out.md --svg out.svg
}
refused 'FUNCTION' $types
refused "did you mean tanh?" tahn $types
refused '--in' tanh --out s8:2^-7
refused '--out' tanh --in s8:2^-5 --out s8:x
refused '--segments 0: must be' tanh $types --segments 4,0
refused '--segments : must be' tanh $types --segments 4,
refused '--segments 4,8,4: 4 is given twice' tanh $types --segments 4,8,4
refused '--form flat: must be' tanh $types --form absolute,flat
refused '--rounding up: must be' tanh $types --rounding up
refused '--method best: must be' tanh $types --method best
refused '--slope-bits 1: must be' tanh $types --slope-bits 1,8
refused '--symmetry on: must be' tanh $types --symmetry on
refused '--symmetry: at most 64 values' tanh $types --symmetry "$(seq -s , 1 65)"
for range in 4- 16-4 4:64:0 4:64:x1 4:64:x 4:64:4:4 4-5000 4:9x; do
    refused "--segments $range: must be a range such as 4-16" tanh $types --segments "2,$range"
done
refused '--segments: at most 64 values' tanh $types --segments 1-65
refused '--segments 3-5,4: 4 is given twice' tanh $types --segments 3-5,4
refused '--svg out.png: the drawing is SVG; name a file that ends in .svg' tanh $types --svg out.png
refused '--objective mean: must be rms or max' tanh $types --objective mean
refused '--format xml: must be md' tanh $types --format xml
refused '--jobs 0: must be' tanh $types --jobs 0
refused '--jobs is given more than once' tanh $types --jobs 2 -j 2
refused '--jobs needs a value' tanh $types -j
refused 'more than 2000 combinations' tanh $types --segments "$(seq -s , 1 60)" --slope-bits "$(seq -s , 2 32)" --form absolute,biased
refused 'domain' log --in s8:2^-5 --out s8:2^-7
refused 'alpha' tanh $types --param alpha=1
expect_error 2 '--svg -: the table goes to standard output already' explore tanh $types --svg -
expect_error 1 missing/a.md explore tanh $types --segments 4 -o missing/a.md
expect_error 1 missing/a.svg explore tanh $types --segments 4 -o a.md --svg missing/a.svg
# A table that takes fewer segments than it may stands in one row; who asks for numbers gets a row for each.
expect_status 0 explore gelu --in s8:2^-5 --out s8:2^-5 --format csv
[ "$(cut -d, -f10 ../out | tr '\n' ' ')" = 'segments 4 8 12 ' ] || fail "explore repeats a table: $(cat ../out)"
expect_status 0 explore gelu --in s8:2^-5 --out s8:2^-5 --segments 12,16 --format csv
[ "$(cut -d, -f9,10 ../out | tr '\n' ' ')" = 'segments_asked,segments 12,12 16,12 ' ] || fail "explore --segments: $(cat ../out)"

finish
