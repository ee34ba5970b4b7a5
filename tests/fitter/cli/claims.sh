#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A certificate's claims: the hash covers every one of them, and what is cheap to check is checked beside a right hash.
. "$(dirname "$0")/lib.sh"

# claim NAME VALUE TABLE: a copy, changed.json, whose certificate says that instead.
claim() {
    python3 - "$@" <<'END'
import json, sys
name, value, path = sys.argv[1:]
table = json.load(open(path))
assert table["certificate"].get(name) != json.loads(value), (name, value)
table["certificate"][name] = json.loads(value)
json.dump(table, open("changed.json", "w"), indent=2)
END
}

expect_status 0 fit sigmoid --in s16:2^-12 --out u16:2^-16 --segments 8 -o s16.json || finish
expect_status 0 fit gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --segments 6 --method minimax -o s8.json || finish
expect_status 0 fit tanh --in s24:2^-18 --out s16:2^-15 --segments 64 --method minimax -o s24.json || finish
expect_status 0 fit sigmoid --in s32:2^-16 --out s32:2^-30 -o s32.json || finish
expect_line '.*"optimal": false.*' s16.json 'a table that is not known to be optimal'

# In the quick part each claim is told to `emit`, and to one of four other commands, in turn.
turn=0
is_turn() {
    is_long || [ $((turn % 4)) -eq "$1" ]
}

# Every field, without another hash: said by each command that repeats a certificate, in its own way by the others.
hash='hash: not that of this table and its certificate, which says'
while read -r table name value; do
    claim "$name" "$value" "$table"
    turn=$((turn + 1))
    expect_status 3 show changed.json
    grep -qF "changed.json: $hash" ../err || fail "show, $table $name: $(cat ../err)"
    expect_error 3 "changed.json: $hash" emit changed.json
    ! is_turn 0 || expect_error 3 "changed.json: $hash" report changed.json -o report.html
    if is_turn 1; then
        expect_status 0 sweep changed.json
        grep -qF 'pwlc sweep: note: changed.json: hash: not that' ../err || fail "sweep, $table $name: $(cat ../err)"
    fi
    if is_turn 2; then
        expect_status 0 diff "$table" changed.json
        expect_line "changed.json: no certificate that counts: $hash .*" ../out "diff, $table $name"
    fi
    if is_turn 3; then
        expect_status 0 certify changed.json -o certified.json
        expect_line '  "method": "by_hand",' certified.json "certify, $table $name"
        expect_line '.*"lower_bound_lsb": null, "optimal": null.*' certified.json "certify, $table $name"
    fi
done <<'END'
s16.json optimal true
s16.json acc_bits 9
s16.json lower_bound_lsb 0.001
s16.json second_objective "rms"
s16.json objective "segments"
s8.json optimal null
s8.json max_err_at 0
s24.json max_err_lsb 5.5
s24.json bound_lsb 1.5
s32.json rms_err_lsb 0.1
END
for change in 's/"spec": "sigmoid/&_fine/' 's/"method": "lsq"/"method": "minimax"/'; do
    sed "$change" s16.json >changed.json
    expect_error 3 "changed.json: $hash" emit changed.json
done
expect_status 0 fit elu --in s24:2^-18 --out s16:2^-14 --param alpha=0.5 -o elu.json
sed 's/"alpha": 0.5/"alpha": 0.25/' elu.json >changed.json
expect_error 3 "changed.json: $hash" emit changed.json
if command -v iverilog >/dev/null || command -v verilator >/dev/null || command -v cc >/dev/null; then
    expect_status 0 verify changed.json --against standalone
    grep -qF 'pwlc verify: note: changed.json: hash: not that' ../err || fail "verify: $(cat ../err)"
fi

# The same numbers in another writer's spelling are the same claims.
python3 - <<'END'
import json
def spelled(value):
    return int(value) if isinstance(value, float) and value == int(value) else value
table = json.load(open("elu.json"))
for name in "parameters", "certificate":
    table[name] = {key: spelled(value) for key, value in table[name].items()}
json.dump(table, open("changed.json", "w"), indent=1, sort_keys=True)
END
expect_status 0 emit changed.json

# With its hash made anew, what contradicts itself, the table's segments or the function.
while read -r table name value words; do
    claim "$name" "$value" "$table"
    sign changed.json
    turn=$((turn + 1))
    expect_error 3 "changed.json: certificate says $words" emit changed.json
    ! is_turn 0 || expect_error 3 "changed.json: certificate says $words" report changed.json -o report.html
    ! is_turn 1 || expect_error 3 "changed.json: certificate says $words" certify changed.json
    ! is_turn 2 || gate "changed.json: certificate says $words" changed.json
    if is_turn 3; then
        expect_status 0 diff "$table" changed.json
        expect_line "changed.json: no certificate that counts: certificate says .*" ../out "diff, $table $name"
    fi
done <<'END'
s16.json acc_bits 9 acc_bits 9, the table needs
s16.json acc_bits 32 acc_bits 32, the table needs
s32.json acc_bits 40 acc_bits 40, the table needs
s16.json lower_bound_lsb 1e3 lower_bound_lsb 1000, above its own rms_err_lsb
s8.json lower_bound_lsb 2.5 lower_bound_lsb 2.5, above its own max_err_lsb
s8.json lower_bound_lsb 0.1 optimal true, with a lower_bound_lsb of 0.1 below its error
s16.json optimal true optimal true, with a lower_bound_lsb
s16.json mean_abs_err_lsb 1e3 mean_abs_err_lsb 1000, measured
s16.json exhaustive false exhaustive false, and checked every code
s16.json checked 65535 checked 65535, the table has 65536 codes
s24.json checked 16777217 checked 16777217, the table has 16777216 codes
s24.json rms_err_lsb 5.5 rms_err_lsb 5.5, measured
s24.json saturated_codes 9 saturated_codes 9, measured
s24.json max_err_at 12345 max_err_at 12345, where the error is
s32.json exhaustive true checked
END

# A bound and a largest error that are half of what they are, one code given for the other: both are found.
python3 - <<'END'
import json
for path in "s24.json", "s32.json":
    table = json.load(open(path))
    claims = table["certificate"]
    claims["bound_lsb"] /= 2
    json.dump(table, open("bound_" + path, "w"))
    claims["bound_lsb"] *= 2
    claims["lower_bound_lsb"] = None
    claims["max_err_lsb"] /= 2
    claims["rms_err_lsb"], claims["mean_abs_err_lsb"] = claims["rms_err_lsb"] / 2, claims["mean_abs_err_lsb"] / 2
    json.dump(table, open("max_" + path, "w"))
table = json.load(open("s32.json"))
claims = table["certificate"]
del claims["bound_lsb"]
claims.update(checked=1 << 32, exhaustive=True, max_err_lsb=0.51, rms_err_lsb=0.25, mean_abs_err_lsb=0.25,
              correctly_rounded=0.99)
json.dump(table, open("every.json", "w"))
END
sign bound_*.json max_*.json every.json
for table in bound_s24 bound_s32; do
    expect_error 3 "$table.json: certificate says bound_lsb" emit "$table.json"
    gate "$table.json: certificate says bound_lsb" "$table.json"
done
for table in max_s24 max_s32 every; do
    expect_error 3 "$table.json: certificate says max_err_lsb" emit "$table.json"
    gate "$table.json: certificate says max_err_lsb" "$table.json"
    expect_error 3 "$table.json: certificate says max_err_lsb" report "$table.json" -o report.html
done

# A bound that holds at every code looked at, and is not proven.
says=$(python3 - <<'END'
import json
table = json.load(open("s24.json"))
claims = table["certificate"]
highest, bound = claims["max_err_lsb"], claims["bound_lsb"]
claims["bound_lsb"] = float("%.6g" % ((highest + bound) / 2))
assert highest < claims["bound_lsb"] < bound
json.dump(table, open("tight.json", "w"))
print("certificate says bound_lsb %.6g, proven is" % claims["bound_lsb"])
END
)
sign tight.json
expect_error 3 "tight.json: $says" emit tight.json
gate "tight.json: $says" tight.json

# And one of a reduced table, which has none to be proven.
expect_status 0 fit rsqrt --in s24:2^-6 --out u16:2^-14 --outside clamp --reduce on --segments 8 -o reduced.json
claim bound_lsb 1e9 reduced.json
sign changed.json
expect_error 3 'changed.json: certificate says bound_lsb 1e+09, where none can be proven' emit changed.json

# Of samples, whose function takes a file, all that needs none.
printf '%s\n' -8,0 0,0.5 8,1 >points.csv
expect_status 0 fit --samples points.csv --in s8:2^-4 --out u8:2^-8 -o sampled.json
expect_status 0 emit sampled.json
while read -r name value words; do
    claim "$name" "$value" sampled.json
    sign changed.json
    expect_error 3 "changed.json: certificate says $words" emit changed.json
done <<'END'
acc_bits 7 acc_bits 7, the table needs
bound_lsb 1e9 bound_lsb 1e+09, where none can be proven
mean_abs_err_lsb 1e3 mean_abs_err_lsb 1000, above its own rms_err_lsb
rms_err_lsb 1e3 rms_err_lsb 1000, above its own max_err_lsb
END

finish
