#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc prove, and fit --proof: what they write, what they leave out and say so, and what they refuse.
. "$(dirname "$0")/lib.sh"

types='--in s8:2^-5 --out s8:2^-7'

# has FILE EXPRESSION: whether it holds of the proof, p.
has() {
    checks=$((checks + 1))
    /usr/bin/python3 - "$@" <<'END' || fail "$1: not so: $2"
import json, sys
p = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))
END
}

# Both ways write the same, and the table is that without a proof but for the proof's name.
expect_status 0 fit tanh $types --segments 8 --method minimax -o alone.json
expect_status 0 fit tanh $types --segments 8 --method minimax -o tanh.json --proof tanh.proof
name=$(sed -n 's/.*, "proof": "\([0-9a-f]*\)"}$/\1/p' tanh.json)
sed "s/, \"proof\": \"$name\"}/}/" tanh.json >unnamed.json
sign unnamed.json
/usr/bin/python3 -c 'import json; assert json.load(open("alone.json")) == json.load(open("unnamed.json"))' ||
    fail 'fit --proof makes another table'
for table in tanh.json alone.json; do
    expect_status 0 prove $table -o prove.proof
    [ ! -s ../err ] || fail "prove: messages: $(cat ../err)"
    cmp -s tanh.proof prove.proof || fail "fit --proof and prove $table write different proofs"
done
expect_status 0 show tanh.json
expect_line "  proof        $name" ../out show
/usr/bin/python3 - "$name" <<'END' || fail 'the name of a proof is not as docs/proofs.md says'
import hashlib, json, sys
fields = json.load(open("tanh.proof"))
del fields["table"]
text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
sys.exit(hashlib.sha256(text.encode()).hexdigest() != sys.argv[1])
END
expect_status 0 prove - <tanh.json
cmp -s tanh.proof ../out || fail 'prove of standard input writes another proof'
has tanh.proof 'list(p) == ["pwl_proof", "table", "impossible", "rules", "chains"] and p["pwl_proof"] == 1'
has tanh.proof 'p["table"] == json.load(open("tanh.json"))'
has tanh.proof 'p["impossible"]["segments"] == 8 and len(p["chains"][0]["groups"]) == 8'
has tanh.proof '0 < p["table"]["certificate"]["max_err_lsb"] - float(p["impossible"]["error"]) < 1e-5'

# The number of segments, to the error asked for; rules as asked for; chains of each shift, and of equal segments.
expect_status 0 fit sigmoid $types --max-err 1.5 --slope-bits 5 --slope-terms 2 --fix 0:0.5 \
    -o few.json --proof few.proof
has few.proof 'p["impossible"] == {"segments": len(p["table"]["segments"]) - 1, "error": "1.5"}'
has few.proof 'p["rules"]["slopes"] == [-16, 15] and p["rules"]["slope_terms"] == 2'
has few.proof 'p["rules"]["fixed"] == [[0, 64]]'
# A value may begin as flags do; where there is none the message says so.
expect_status 0 fit tanh $types --segments 4 --fix -1:-0.75 -o fixed.json --proof fixed.proof
has fixed.proof 'p["rules"]["fixed"] == [[-32, -96]]'
expect_status 0 prove fixed.json
sed 's/"spec": .*/"spec": "tanh --in s8:2^-5 --out",/' fixed.json >valueless.json
sign valueless.json
expect_error 2 'valueless.json: --out: without a value' prove valueless.json
expect_status 0 fit sigmoid $types --max-err 1.5 --shift one -o few.json --proof few.proof
has few.proof 'p["chains"][0]["shifts"][0] == -31 and p["chains"][-1]["shifts"][1] == 31'
expect_status 0 fit sigmoid $types --max-err 1.5 --shift-bits 4 -o few.json --proof few.proof
has few.proof 'p["rules"]["shifts"] == [-8, 7]'
expect_status 0 fit sigmoid $types --max-err 1.5 --knots uniform -o few.json --proof few.proof
has few.proof '[c["equal"] for c in p["chains"]] == [2 ** k for k in range(len(p["chains"]))]'
has few.proof '[c["equal"] for c in p["chains"]] == p["rules"]["places"]["equal"]'
expect_status 0 fit sigmoid $types --max-err 1.5 --knots pow2:5 -o few.json --proof few.proof
has few.proof 'p["rules"]["places"] == {"shift": 3}'

# Least squares: a row for each segment, a bound for each place; the claim is next to the table's own sum.
rms_is_claimed='abs((p["impossible"]["squares"] / 2 ** p["impossible"]["unit"] / 256) ** 0.5 /
    p["table"]["certificate"]["rms_err_lsb"] - 1) < 1e-6'
expect_status 0 fit tanh $types --segments 8 -o squares.json --proof squares.proof
has squares.proof '[len(row) for row in p["chains"][0]["least"]] == [256] * 8'
has squares.proof '{row[-1] for row in p["chains"][0]["least"]} == {p["impossible"]["squares"]}'
has squares.proof "$rms_is_claimed"
expect_status 0 fit tanh $types --segments 6 --shift one --form biased -o squares.json --proof squares.proof
has squares.proof 'p["chains"][0]["shifts"][0] == -31 and p["chains"][-1]["shifts"][1] == 31'
has squares.proof "$rms_is_claimed"
expect_status 0 fit tanh $types --segments 8 --knots uniform -o squares.json --proof squares.proof
has squares.proof '[(c["equal"], len(c["least"]), len(c["least"][0])) for c in p["chains"]] == [(8, 1, 8)]'

# Slopes of 16 bits, most of which no type allows beside shifts to the left.
expect_status 0 fit tanh --in s8:2^-5 --out s9:2^-8 --segments 8 --form anchored -o steep.json --proof steep.proof
has steep.proof 'p["impossible"]["segments"] == 8 and "squares" in p["impossible"]'
if [ "${PWL_TEST_LONG:-}" = 1 ]; then
    # Biased lines with such slopes are too many, which takes most of a minute of a core to find out.
    expect_status 0 fit sigmoid --in s9:2^-6 --out s8:2^-7:-64 --segments 8 --form biased --rounding half_up \
        -o some.json --proof some.proof
    grep -q "other tables' RMS errors has no proof yet: its lines are too many to look at; the proof is" ../err ||
        fail "too many lines: no note: $(cat ../err)"
    has some.proof 'list(p) == ["pwl_proof", "table"]'
fi

# Inputs of more than 2^20 codes: the table says all.
expect_status 0 fit gelu --in s24:2^-20 --out s16:2^-12 --segments 8 -o wide.json --proof wide.proof
has wide.proof 'list(p) == ["pwl_proof", "table"] and "bound_lsb" in p["table"]["certificate"]'

# Nothing is claimed of other tables where there is nothing to prove.
expect_status 0 fit relu --in s8:2^-4 --out s8:2^-4 --segments 2 --method minimax -o relu.json --proof relu.proof
has relu.proof 'list(p) == ["pwl_proof", "table"]'
expect_status 0 fit tanh $types --method lut -o lut.json --proof lut.proof
has lut.proof 'list(p) == ["pwl_proof", "table"]'
[ ! -s ../err ] || ! grep -q 'no proof' ../err || fail "fit --method lut --proof: messages: $(cat ../err)"

# What has no proof yet: a note, and a proof of the figures.
for flags in '--segments 8 --monotone' '--max-err 2 --monotone' '--knots points:4 --method minimax'; do
    expect_status 0 fit tanh $types $flags -o some.json --proof some.proof
    grep -q 'note: what it claims of other tables.* no proof yet.*; the proof is one of the figures alone' ../err ||
        fail "fit $flags --proof: no note: $(cat ../err)"
    has some.proof 'list(p) == ["pwl_proof", "table"]'
    expect_status 0 prove some.json -o again.proof
    grep -q 'note: what it claims of other tables.* no proof yet' ../err || fail "prove of $flags: no note"
    cmp -s some.proof again.proof || fail "prove of $flags writes another proof"
done

# Tables of which nothing is proven, tables that are not as they say, and what is no table.
rm -f ./*.proof
printf '0,0\n1,1\n2,3\n' >points.txt
expect_status 0 fit --samples points.txt --in u8:2^-7 --out u8:2^-5 --segments 2 -o samples.json
expect_error 3 'samples.json: functions from samples and expressions have no proof yet' prove samples.json
core='--in u16:2^-8:0 --out u16:2^-12:0 --segments 4 --reduce on --outside clamp'
expect_status 0 fit rsqrt $core -o reduced.json
expect_error 3 'reduced.json: reduced tables have no proof yet' prove reduced.json -o reduced.proof
expect_error 3 '--proof: reduced tables have no proof yet' fit rsqrt $core -o new.json --proof new.proof
unclaimed tanh.json >bare.json
expect_error 3 'bare.json: has no certificate of its own' prove bare.json -o bare.proof
sed 's/"max_err_lsb": [0-9.]*/"max_err_lsb": 0.5/' tanh.json >false.json
expect_error 3 'false.json: hash: not that of this table' prove false.json -o false.proof
sign false.json
expect_error 3 'false.json: certificate says' prove false.json -o false.proof
sed 's/--segments 8/--segments 8 --slope-bits 3 --symmetry fold/' tanh.json >other.json
sign other.json
expect_error 2 'other.json: spec: these flags make no such table' prove other.json -o other.proof
sed 's/--segments 8/--segments eight/' tanh.json >other.json
sign other.json
expect_error 2 'other.json: --segments eight' prove other.json -o other.proof
expect_status 0 fit softmax --in s8:0.05 --out u8:2^-8 --rows 8 -o softmax.json
expect_error 3 'softmax.json: row operators have no proof yet' prove softmax.json -o softmax.proof

# A false claim: the best table of seven segments, said to be the best of eight.
expect_status 0 fit tanh $types --segments 7 --method minimax -o seven.json
sed 's/--segments 7/--segments 8/' seven.json >false.json
sign false.json
expect_error 3 'false.json: what it claims of other tables is not so: 8 segments can keep to' prove false.json -o false.proof
expect_status 0 fit tanh $types --segments 7 -o seven.json
sed 's/--segments 7/--segments 8/' seven.json >false.json
sign false.json
expect_error 3 'is not so: 8 segments can have a smaller RMS error' prove false.json -o false.proof

# Errors below what counts as one: the lowest code that has such an error stands for all.
expect_status 0 fit sigmoid --in u7:0.0472:1000 --out s4:0.0321:0 -o small.json --proof small.proof
expect_status 0 show small.json

# The checker, where it is built: certify repeats its words, and names the proof in what it writes.
if [ -x "$(dirname "$pwlc")/pwlc-check-proof" ]; then
    said='tanh.proof: accepted: largest error 1.428487982 LSB, 8 segments; no allowed table of at most 8 segments is within'
    expect_status 0 prove tanh.json -o tanh.proof
    for table in tanh.json alone.json; do
        expect_status 0 certify $table --check tanh.proof
        grep -q "^$said" ../out || fail "certify $table --check: $(cat ../out)"
    done
    expect_status 0 certify alone.json --check tanh.proof -o named.json
    cmp -s named.json tanh.json || fail 'certify --check -o names another proof'
    expect_status 0 certify tanh.json -o kept.json
    cmp -s kept.json tanh.json || fail 'certify drops the name of a proof'

    # What needs no claim of other tables is said all the same, and what has none so far; both checkers use the same words.
    printf '%s\n' 'relu.proof: accepted: largest error 0 LSB, 2 segments; no table has a smaller error' \
        'lut.proof: accepted: largest error 0.4969791212 LSB, 256 segments; no table has a smaller RMS error, for each output is the nearest code' \
        'near.proof: accepted: largest error 0.4967732261 LSB, 12 segments; no table has a smaller RMS error, for each output is the nearest code' \
        'single.proof: accepted: largest error 55 LSB, 1 segments; no table has fewer segments' \
        'ties.proof: accepted: largest error 0.7009340944 LSB, 16 segments; not proven: optimal; not proven: lower_bound_lsb' >expected
    expect_status 0 fit relu --in s8:2^-4 --out s8:2^-4 --segments 2 --method minimax -o relu.json --proof relu.proof
    expect_status 0 fit tanh $types --method lut -o lut.json --proof lut.proof
    expect_status 0 fit gelu --in s8:2^-5 --out s8:2^-5 -o near.json --proof near.proof
    expect_status 0 fit sqrt --in s8:1 --out s8:2^-4 --max-err 200 --outside clamp -o single.json --proof single.proof
    expect_status 0 fit tanh $types --monotone -o ties.json --proof ties.proof
    for name in relu lut near single ties; do
        expect_status 0 certify $name.json --check $name.proof
        cat ../out
    done >checked
    cmp -s expected checked || fail "certify --check: $(diff expected checked)"
    if /usr/bin/python3 -c 'import mpmath' 2>/dev/null; then
        /usr/bin/python3 "$root/fitter/proof/check_proof.py" {relu,lut,near,single,ties}.proof >checked
        cmp -s expected checked || fail "check_proof.py: $(diff expected checked)"
    fi
    expect_error 2 'a table is needed: pwlc certify TABLE.json --check PROOF' certify --check tanh.proof

    # What does not hold: a run, and its own table's name of it; another table; another proof of the same one.
    sed 's/"runs": \[1, /"runs": [2, /' tanh.proof >named.proof
    expect_error 3 'named.proof: refused: proof: the certificate names another proof' certify tanh.json --check named.proof
    /usr/bin/python3 - "$root/tests/support" <<'END'
import json, sys
sys.path.append(sys.argv[1])
import signed_table
for source, to in (("named", "false"), ("tanh", "other")):
    proof = json.load(open(f"{source}.proof"))
    del proof["table"]["certificate"]["proof"]
    proof["table"] = signed_table.signed(proof["table"])
    if to == "other":
        proof["impossible"]["error"] += "0"
    json.dump(proof, open(f"{to}.proof", "w"))
END
    expect_error 3 'false.proof: refused: exclusion of -128 to -50: ' certify alone.json --check false.proof
    expect_error 3 'false.proof: refused: exclusion of -128 to -50: ' certify alone.json --check false.proof -o never.json
    [ ! -e never.json ] || fail 'certify --check writes a table whose proof is refused'
    expect_status 0 certify alone.json --check other.proof
    expect_error 3 'tanh.json: the certificate names another proof than other.proof' certify tanh.json --check other.proof
    expect_status 0 certify tanh.json --check other.proof -o renamed.json
    expect_status 0 certify renamed.json --check other.proof
    expect_error 3 'tanh.proof: the proof is of another table' certify seven.json --check tanh.proof
    sed 's/"acc_bits": 15/"acc_bits": 16/' tanh.json >edited.json
    expect_error 3 'edited.json: hash: not that of this table' certify edited.json --check tanh.proof
    expect_error 3 'bare.json: certificate: missing, so that there is nothing to prove' certify bare.json --check tanh.proof

    # What is no proof, and what --check has nothing to do with.
    expect_error 2 'alone.json: table: missing' certify alone.json --check alone.json
    expect_error 2 'points.txt: line 1: ' certify alone.json --check points.txt
    expect_error 1 'missing.proof' certify alone.json --check missing.proof
    expect_error 2 '--check -: another program reads the proof' certify alone.json --check -
    # Errors that are next to nothing, but no less than the last digits of their sum.
    expect_status 0 fit softplus --in u4:2^-4 --out s5:2^64 --segments 8 --knots uniform -o tiny.json --proof tiny.proof
    expect_status 0 certify tiny.json --check tiny.proof
    # Of the slope 1 * 2^27 types allow the one bias of -16, which costs more.
    expect_status 0 fit gelu_tanh --in u5:2^-2 --out s4:2^-4 --knots uniform --segments 1 --form biased \
        --rounding half_up --slope-terms 1 --offset-type s8 -o steep.json --proof steep.proof
    expect_status 0 certify steep.json --check steep.proof
    sed '1s/{/{"more": 1, /' other.proof >more.proof
    expect_error 2 'more.proof: cannot be read: ' certify alone.json --check more.proof
    expect_error 2 '--exhaustive: not with --check' certify alone.json --check tanh.proof --exhaustive
    expect_error 2 '--check: of a table, and softmax.json is a row operator' certify softmax.json --check tanh.proof
fi

# Without a checker.
mkdir away
cp "$pwlc" away/pwlc
status=0
PATH=/nowhere away/pwlc certify tanh.json --check tanh.proof 2>../err || status=$?
[ "$status" -eq 77 ] || fail "certify --check without a checker: exit $status"
grep -q 'pwlc-check-proof: is neither beside pwlc nor in PATH' ../err || fail "certify --check without a checker: $(cat ../err)"

# The command line.
expect_error 2 'a table is needed: pwlc prove TABLE.json' prove
expect_error 2 '--proof is not a flag of prove' prove tanh.json --proof x
expect_error 1 'missing.json' prove missing.json -o x.proof
expect_error 1 'none/x.proof' prove tanh.json -o none/x.proof
expect_error 2 '--proof -: the table goes to standard output; give -o' fit tanh $types --proof -
expect_error 1 'none/x.proof' fit tanh $types -o new.json --proof none/x.proof
expect_error 2 '--proof: row operators have no proof yet' fit softmax --in s8:0.05 --out u8:2^-8 --rows 8 --proof x.proof
printf '[{"name": "a", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7"}]' >jobs
expect_error 2 '--proof: of one table' fit --spec jobs -o many --proof x.proof
expect_error 2 'tanh.json' prove tanh.json -o tanh.json

finish
