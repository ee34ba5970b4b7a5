#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc show and pwlc list: what they print, as text and as JSON.
. "$(dirname "$0")/lib.sh"

golden=$root/tests/golden/document_002_segment_8.json

# json EXPRESSION FILE: whether a Python expression about the parsed file, d, holds.
json() {
    checks=$((checks + 1))
    python3 -c 'import json, sys
d = json.load(open(sys.argv[2]))
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" "$2" || fail "not so: $1: $(head -c 600 "$2")"
}

# columns FILE: every table in it has rows of one width.
columns() {
    checks=$((checks + 1))
    awk '/^\|/ { if (width && length($0) != width) exit 1; width = length($0); rows++; next } { width = 0 }
         END { if (!rows) exit 1 }' "$1" || fail "columns do not line up: $(head -c 1500 "$1")"
}

expect_status 0 show "$golden" && {
    columns ../out
    for line in '  function +sigmoid' '  in +u16:2\^-12:24576, codes 0\.\.65535, real -6\.\.9\.99975586' \
        '  out +u16:2\^-16:-1, .*' '  form +absolute' '  rounding +floor' \
        '  case +int16: start and q_b 16 bits, term_c 32, accumulator 32' '  segments +[0-9]+ of 9 bytes: [0-9]+ bytes' \
        '\|.*32619 \| +13 \| +32770 \| 0.24886322 \| 16385 \| +9 \| +4 \| +-1 \|'; do
        expect_line "$line" ../out 'show'
    done
}
expect_status 0 show --format json "$golden" "$golden" && {
    json 'len(d) == 2 and d[0] == d[1]' ../out
    json 'd[0]["function"] == "sigmoid" and d[0]["in"]["type"] == "u16:2^-12:24576"' ../out
    json 'd[0]["in"]["real_min"] == -6 and d[0]["packed_bytes"] == 9 * len(d[0]["segments"])' ../out
    json 'any(s["q_b"] == 32619 and abs(s["slope"] - 0.248863220) < 1e-8 for s in d[0]["segments"])' ../out
    json 'any(s.get("unfused") == {"q_c": 16385, "n_bx": 9, "n_yb": 4, "n_yc": -1} for s in d[0]["segments"])' ../out
    json 'd[0]["certificate"]["acc_bits"] <= 32' ../out
    json 'd[0]["field_bits"]["zp_x"] == 16' ../out
}
# Bits of a zero point, with its sign; the documents' field has 16 for these types.
for zero in 40000:17 32767:16 -32768:16 -32769:17 -3:3 0:1; do
    "$pwlc" fit sin --in "u16:2^-12:${zero%:*}" --out s16:2^-15 --segments 2 -o zero.json 2>../err
    expect_status 0 show --format json zero.json
    json "d[0][\"field_bits\"][\"zp_x\"] == ${zero#*:}" ../out
done

segment='{"start": 0, "q_b": 8, "n_BX_total": 4, "FIELD": 3}'
make_table biased.json "${segment/0/-128}" form='"biased"'
sed -i -e 's/FIELD/bias/' -e 's/"parameters": {}/"parameters": {"alpha": 0.5}/' -e 's/"tanh"/"leaky_relu"/' biased.json
make_table fold.json "${segment/FIELD/y}" form='"anchored"' extra='"fold": {"sum": 2}, "outside": "clamp",'
expect_status 0 show biased.json fold.json && {
    columns ../out
    for line in 'biased.json' '  function +leaky_relu, alpha=0.5' '  segments +1 of 7 bytes: 7 bytes' \
        'fold.json' '  fold +sum 2, codes below 0 are mirrored' '  outside +clamp' '  segments +1 of 5 bytes: 5 bytes' \
        '\| +0 \| +0 \| +0 \| +8 \| +4 \| +3 \| 0.0625 \|'; do
        expect_line "$line" ../out 'show of two'
    done
}
expect_status 0 show --format json biased.json fold.json && {
    json '[t["file"] for t in d] == ["biased.json", "fold.json"] and d[0]["parameters"] == {"alpha": 0.5}' ../out
    json 'd[1]["fold_sum"] == 2 and d[1]["outside"] == "clamp" and d[0]["segments"][0]["bias"] == 3' ../out
}
expect_status 0 show - <fold.json || true

functions='sigmoid tanh gelu gelu_tanh quick_gelu silu softplus mish elu selu exp erf log sqrt rsqrt reciprocal sin cos atan softsign
    logsigmoid hard_sigmoid hard_swish relu relu6 leaky_relu'
expect_status 0 list && {
    columns ../out
    for name in $functions lsq uniform document lut absolute biased anchored floor half_up half_away half_even int8 int16 \
        int32 c json csv npy; do
        expect_line "\\| +$name +\\|.*" ../out 'list'
    done
    expect_line '\| leaky_relu .* alpha=0\.01 .*' ../out 'list'
    expect_line '\| log .*\(0, inf\).*' ../out 'list'
    expect_line '\| tanh .* odd .*' ../out 'list'
    expect_line '\| sigmoid .* f\(-x\) = 1 - f\(x\) .*' ../out 'list'
    expect_line '\| int16 +\| +16 \| +32 \| +32 \| +32 \| +9 \| +9 \| +9 \|' ../out 'list'
    expect_line '\| int32 +\| +32 \| +48 \| +64 \| +64 \| +17 \| +17 \| +17 \|' ../out 'list'
}
expect_status 0 list --format json && {
    json "{f['name'] for f in d['functions']} == set('$(echo $functions)'.split())" ../out
    json '[f for f in d["functions"] if f["name"] == "log"][0]["domain_min"] == 0' ../out
    json '[f for f in d["functions"] if f["name"] == "log"][0]["domain_max"] is None' ../out
    json '[f["parameters"][0]["name"] for f in d["functions"] if f["name"] == "leaky_relu"] == ["alpha"]' ../out
    json 'd["formats"]["cases"][0]["segment_bytes"] == {"absolute": 5, "biased": 7, "anchored": 5}' ../out
    json '[m["name"] for m in d["methods"]] == ["lsq", "minimax", "uniform", "document", "lut", "residual"]' ../out
    json 'all(m["summary"] for m in d["methods"] + d["formats"]["emit"])' ../out
}
expect_status 0 list methods && if grep -q sigmoid ../out; then fail 'list methods shows functions'; fi
expect_status 0 list functions methods --format json && json 'sorted(d) == ["functions", "methods"]' ../out

finish
