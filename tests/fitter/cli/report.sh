#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc report: a page that stands alone, is well formed and says what the tables say.
. "$(dirname "$0")/lib.sh"

cat >../page.py <<'END'
"""Reads a page, checks that every element is closed and that nothing outside is referred to."""
import html.parser, re, sys, xml.dom.minidom

VOID = {"meta"}

class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.words, self.tables, self.row, self.ids, self.links = [], [], [], None, set(), []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert tag not in ("script", "link", "img", "iframe", "object", "b>"), tag
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("src", "style"), name
            assert "http" not in (value or "") or name == "xmlns", value
        if "href" in attributes:
            self.links.append(attributes["href"])
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.row = []
            self.tables[-1].append(self.row)
        if tag in ("td", "th"):
            self.row.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)
        if self.row is not None and ("td" in self.open or "th" in self.open):
            self.row[-1] += data

raw = open(sys.argv[1], encoding="utf-8").read()
page = Page(raw)
text = " ".join("".join(page.words).split())
pieces = ["<svg" + piece.split("</body>")[0] for piece in raw.split("<div class=\"plot\"><svg")[1:]]
plots = [xml.dom.minidom.parseString(p[: p.rindex("</svg>", 0, p.index("</div>")) + 6]) for p in pieces]
assert "@import" not in raw and "url(" not in raw
assert all(link[1:] in page.ids and link[0] == "#" for link in page.links)

def table(title):
    return next(t for t in page.tables if title in t[0])
END

# judge WHAT FILE PYTHON: a condition on a page.
judge() {
    checks=$((checks + 1))
    { cat ../page.py && printf '%s\n' "$3"; } >../judge.py
    python3 ../judge.py "$2" || fail "$1"
}

expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 6 --slope-bits 7 --method minimax -o tanh.json || finish
expect_status 0 fit gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --segments 5 --form biased -o gelu.json || finish
expect_status 0 report tanh.json -o page.html
[ ! -s ../out ] && [ ! -s ../err ] || fail "report -o wrote to a stream: $(head -c 300 ../out ../err)"
judge 'page of one table' page.html '
import json
made = json.load(open("tanh.json"))
says = made["certificate"]
for words in ("tanh.json", "s8:2^-5:0, codes -128 to 127, real -4 to 3.96875", "every one of 256 codes", made["spec"],
              "max %.6g LSB at code %d" % (says["max_err_lsb"], says["max_err_at"]), "%.6g RMS error" % says["rms_err_lsb"],
              "optimal: no table of this form", "30bytes", "certificate: max %.6g LSB" % says["max_err_lsb"]):
    assert words.replace(" ", "") in text.replace(" ", ""), words
assert len(plots) == 2
drawn = plots[0].getElementsByTagName("path")
assert len([p for p in drawn if p.getAttribute("class") == "dash s3" and p.parentNode != plots[0].documentElement]) == 2
dots = [float(c.getAttribute("cx")) for c in plots[0].getElementsByTagName("circle") if c.getAttribute("r") == "3.00"]
lines = [p.getAttribute("d") for p in drawn if p.getAttribute("class") == "line s1"]
curve = next(line for line in lines if "h22" not in line) # not the one of the key
steps = [float(number) for number in re.findall(r"-?[\d.]+", curve)] # x and y in turn: a point, then steps from it
left, right = steps[0], sum(steps[::2])
assert len(dots) == 5
for dot, segment in zip(dots, made["segments"][1:]):
    assert abs(left + (segment["start"] + 128) * (right - left) / 255 - dot) < 0.1, (dot, segment)
bars = [r for r in plots[1].getElementsByTagName("rect") if r.getAttribute("class") == "f4"]
assert bars and all(float(r.getAttribute("height")) >= 0 for r in bars)
rows = table("segment")
assert len(rows) == 7
for row, segment in zip(rows[1:], made["segments"]):
    assert [row[1], row[3], row[4], row[5]] == [str(segment[k]) for k in ("start", "q_b", "n_BX_total", "term_c")]
assert max(float(row[7]) for row in rows[1:]) == float("%.6g" % says["max_err_lsb"])
'
judge 'comparison' page.html '
import json, subprocess
rows = {row[0]: row for row in table("method")[1:]}
assert list(rows) == ["this table, minimax", "uniform", "document", "lut"]
assert rows["lut"][2:4] == ["256", "256"]
own = rows["this table, minimax"]
for name in "uniform", "document":
    flags = ["--method", name, "--segments", "6", "--slope-bits", "7"]
    made = json.loads(subprocess.check_output(["'"$pwlc"'", "fit", "tanh", "--in", "s8:2^-5", "--out", "s8:2^-7"] + flags,
                                              stderr=subprocess.DEVNULL))["certificate"]
    assert rows[name][4:6] == ["%.6g" % made["max_err_lsb"], "%.6g" % made["rms_err_lsb"]], name
    assert rows[name][7] == "%.3g" % (made["max_err_lsb"] / float(own[4]))
    assert rows[name][8] == "%.3g" % (made["rms_err_lsb"] / float(own[5]))
'

# Of strips of many segments the one with the worst segment is open, here by its first one.
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 128 --method uniform -o many.json || finish
python3 -c 'import json
made = json.load(open("many.json"))
made["segments"][48]["term_c"] += 9
del made["certificate"], made["hash"]
json.dump(made, open("strips.json", "w"))'
expect_status 0 certify strips.json -o certified.json
expect_status 0 report certified.json -o strips.html
judge 'strips' strips.html '
strips = re.findall("<details( open|)><summary>segments (\\d+) to (\\d+)", raw)
assert strips == [("", "0", "47"), (" open", "48", "95"), ("", "96", "127")], strips
'

# Row operators have a page of their own.
expect_status 0 fit softmax --in s8:0.0472 --out u8:2^-8 --rows 64 -o softmax.json
expect_status 0 fit layernorm --in s16:2^-10 --out s16:2^-11 --rows 40 -o layernorm.json
expect_status 0 report softmax.json layernorm.json -o operators.html
judge 'page of operators' operators.html '
import json, subprocess
rows = {row[0]: row for row in table("operator")[1:]}
assert list(rows) == ["softmax.json", "layernorm.json"] and len(plots) == 2 and len(page.tables) == 3
for name, worst in zip(rows, page.tables[1:]):
    made = json.load(open(name))
    says = made["certificate"]
    assert rows[name][1:3] == [made["operator"], str(made["rows"])]
    assert rows[name][4:] == ["%.6g" % says["bound_lsb"], "%.6g" % says["max_err_lsb"]]
    assert made["spec"] in text and "%d structured and drawn" % says["rows"] in text
    assert len(worst) == 11 and worst[1][0] == says["worst_row"] and float(worst[1][1]) >= float(worst[10][1])
    swept = json.loads(subprocess.check_output(["'"$pwlc"'", "sweep", name, "--format", "json"]))[0]
    for words in "%.6g RMS error" % swept["rms_err_lsb"], "%.4g %% correctly" % (100 * swept["correctly_rounded"]):
        assert words.replace(" ", "") in text.replace(" ", ""), words
for plot in plots:
    bars = [r for r in plot.getElementsByTagName("rect") if r.getAttribute("class") == "f4"]
    assert len(bars) == 20 and sum(float(r.getAttribute("height")) > 5 for r in bars) > 10
'
expect_error 2 'a page is of the ones or of the others' report tanh.json softmax.json -o mixed.html
expect_error 2 'weights: of a table' report softmax.json --weights w.npy -o mixed.html
python3 -c 'import json
of = json.load(open("softmax.json"))
of["exp"][0] += 1
json.dump(of, open("hostile.json", "w"))'
expect_error 2 'hostile.json: ' report softmax.json hostile.json -o mixed.html

# Several tables; names of files are text.
cp tanh.json '<script>alert("1")&amp;.json'
cp gelu.json $'\xff\n.json'
expect_status 0 report '<script>alert("1")&amp;.json' gelu.json $'\xff\n.json' -o several.html
judge 'page of three tables' several.html '
assert text.count("<script>alert(\"1\")&amp;.json") == 2 and "??.json" in text
assert len(plots) == 6 and len(page.links) == 3 and len(table("table")) == 4
assert "n/a: --method document: the scale of --in is 0.0472" in text
assert "bias" in page.tables[-1][0]
'
for jobs in 1 2 7; do
    expect_status 0 report tanh.json gelu.json --jobs $jobs -o "page.$jobs"
    cmp -s page.1 "page.$jobs" || fail "the page differs with --jobs $jobs"
done
expect_status 0 report tanh.json
cmp -s ../out page.html || fail "standard output and -o differ"

# Inputs too wide to visit whole, and for lut; folded tables; full tables; points.
expect_status 0 fit tanh --in s24:2^-21 --out s24:2^-23 --segments 4 --method uniform -o wide.json
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 4 --symmetry fold -o fold.json
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --method lut -o lut.json
printf '%s\n' -8,-1 0,0 8,1 >points.csv
expect_status 0 fit --samples points.csv --in s8:2^-4 --out s8:2^-7 --segments 2 -o points.json
expect_status 0 report wide.json fold.json lut.json points.json --samples points.csv -o kinds.html
judge 'kinds of tables' kinds.html '
assert "n/a: --method lut: --in has 24 bits" in text and "evenly spaced codes" in text
assert "codes below 0 are mirrored" in text
assert len([t for t in page.tables if len(t) == 257]) == 1
assert "samples, SHA-256" in text and "between them nothing is known" in text and "nan" not in raw
'
rm -f page.* several.html kinds.html

# Hundreds of segments: a strip for each range, with a line at every knot; the one of the largest error is open.
expect_status 0 fit sigmoid --in s16:2^-12 --out s16:2^-15 --segments 100 --method uniform -o many.json
expect_status 0 report many.json tanh.json -o many.html
judge 'strips' many.html '
import json
made = json.load(open("many.json"))
says, starts = made["certificate"], [segment["start"] for segment in made["segments"]]
assert len(starts) > 96
strips = [p for p in plots if p.getElementsByTagName("title")[0].firstChild.data.startswith("error of segments")]
assert len(strips) == (len(starts) + 47) // 48 == raw.count("<details") and raw.count("<details open>") == 1
for k, strip in enumerate(strips):
    knots = [p for p in strip.getElementsByTagName("path") if p.getAttribute("class") == "thin s6"]
    assert len(knots) == min(48, len(starts) - 48 * k) - (k == 0), (k, len(knots))
largest = [float(m) for m in re.findall(r"max ([0-9.e+-]+) LSB</summary>", raw)]
assert max(largest) == float("%.6g" % says["max_err_lsb"]), largest
opened = re.search(r"<details open><summary>segments (\d+) to (\d+)", raw)
assert starts[int(opened[1])] <= says["max_err_at"]
'
rm -f many.*

# A certificate that does not hold is not repeated.
sed -E 's/("max_err_lsb": )[0-9.]+/\11.5/' tanh.json >wrong.json
sign wrong.json
expect_error 3 'wrong.json: certificate says max_err_lsb 1.5, measured' report tanh.json wrong.json -o out.html
sed -E 's/("rms_err_lsb": )[0-9.]+/\11.5/' tanh.json >wrong.json
sign wrong.json
expect_error 3 'wrong.json: certificate says rms_err_lsb 1.5, measured' report wrong.json -o out.html
python3 - <<'END'
import json
table = json.load(open("wide.json"))
table["certificate"]["bound_lsb"] = 0.5
json.dump(table, open("wrong.json", "w"))
END
sign wrong.json
expect_error 3 'wrong.json: certificate says bound_lsb 0.5, measured' report wrong.json -o out.html

# Bad input.
expect_error 2 'a table is needed' report -o out.html
expect_error 1 missing.json report tanh.json missing.json -o out.html
printf '{' >broken.json
expect_error 2 broken.json: report tanh.json broken.json -o out.html
expect_error 2 points.json: report points.json -o out.html
expect_error 2 '--samples points.csv: no table here was made from samples' report tanh.json --samples points.csv -o out.html
expect_error 2 '--jobs 65: must be' report tanh.json --jobs 65 -o out.html
expect_error 2 '--form is not a flag' report tanh.json --form biased
expect_error 1 missing/out.html report tanh.json -o missing/out.html
finish
