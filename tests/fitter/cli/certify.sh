#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a file says of itself: no command repeats a certificate that does not fit its table, and pwlc certify mends it.
. "$(dirname "$0")/lib.sh"

expect_status 0 fit gelu --in s8:0.0472:-3 --out s8:0.0238:-121 --segments 6 -o good.json || finish

# One slope changed: the certificate is of another table, with both figures; sweep measures it all the same.
python3 - <<'END'
import json
table = json.load(open("good.json"))
steepest = max(table["segments"], key=lambda segment: abs(segment["q_b"]))
steepest["q_b"] -= 9 if steepest["q_b"] > 0 else -9
json.dump(table, open("edited.json", "w"))
END
expect_status 0 sweep edited.json --format json
grep -q 'note: edited.json: hash: not that of this table and its certificate' ../err || fail "sweep: no note: $(cat ../err)"
measured=$(sed -n 's/.*"max_err_lsb": \([0-9.]*\),.*/\1/p' ../out)
says=$(sed -n 's/.*"certificate".*"max_err_lsb": \([0-9.]*\),.*/\1/p' good.json)
wrong="edited.json: hash: not that of this table and its certificate, which says max_err_lsb $says, measured $measured"
for command in 'show edited.json' 'show good.json --format json edited.json' 'report edited.json' \
    'emit edited.json' 'emit good.json edited.json' 'emit edited.json --format json' 'emit edited.json --format csv'; do
    if [ "${command%% *}" = show ]; then
        expect_status 3 $command
        grep -qF "$wrong" ../err || fail "pwlc $command: $(cat ../err)"
    else
        expect_error 3 "$wrong" $command
    fi
done
expect_error 3 "$wrong" emit edited.json -o edited.h
expect_status 0 eval edited.json 5

# A false figure beside a hash that fits is measured.
for change in max_err_lsb=0.25 rms_err_lsb=0.125 correctly_rounded=1.0 saturated_codes=7 monotone=true checked=9 \
    exhaustive=false; do
    sed -E "s/(\"${change%=*}\": )[^,}]+/\1${change#*=}/" good.json >false.json
    cmp -s good.json false.json && continue
    sign false.json
    expect_error 3 'certificate says ' emit false.json
    expect_error 3 'certificate says ' certify false.json
done

# A true certificate, of which other tables are not known; it is the one that fit writes.
expect_status 0 certify edited.json -o true.json
expect_line '  "method": "by_hand",' true.json certify
expect_line '  "spec": "",' true.json certify
expect_line ".*\"certificate\": .*\"max_err_lsb\": $measured, .*\"lower_bound_lsb\": null, \"optimal\": null.*" true.json certify
expect_status 0 emit true.json --name gelu -o true.h
expect_line ' \*   spec        none, .*' true.h 'emit of a certified table'
expect_line " \*   max error   $measured LSB.*" true.h 'emit of a certified table'
expect_status 0 sweep true.json
expect_status 0 certify good.json -o same.json
cmp -s good.json same.json || fail 'certify changes a table that fit wrote'
expect_status 0 certify - -o piped.json <edited.json
cmp -s true.json piped.json || fail 'certify reads standard input otherwise'

# Codes 181 and 245 are off by the same, but for the last bit of a long double.
expect_status 0 fit hard_sigmoid --in u8:0.062745098039215685:213 --out s16:2^-15:2381 --segments 16 --method minimax \
    --fix 0.062745098039215685:0.510467529296875 -o tied.json
expect_line '.*"max_err_lsb": 0.499346, "max_err_at": 181,.*' tied.json 'equal errors'
expect_status 0 sweep tied.json --ref mpfr --format json
expect_line ' *"max_err_at": 181,' ../out 'equal errors, by MPFR'

# By hand, without a certificate: nothing is claimed.
python3 - <<'END'
import json
table = json.load(open("edited.json"))
del table["certificate"], table["hash"]
json.dump(table, open("bare.json", "w"))
END
expect_status 0 show bare.json
expect_line '  certificate  none, .*' ../out show
expect_status 0 emit bare.json --name gelu -o bare.h
expect_line ' \*   certificate none' bare.h emit
if grep -q 'max error' bare.h; then fail 'a header claims what no certificate says'; fi
expect_status 0 show --format json bare.json
expect_line ' *"certificate": null,?' ../out 'show --format json'
expect_error 3 'bare.json: certificate: missing' report bare.json -o report.html
expect_status 0 certify bare.json -o true_too.json
cmp -s true.json true_too.json || fail 'certify of a bare table differs'

# What is needed to measure.
printf '%s\n' -8,0 0,0.5 8,1 >points.csv
expect_status 0 fit --samples points.csv --in s8:2^-4 --out u8:2^-8 -o sampled.json
sed 's/"term_c": [0-9]*/"term_c": 9/' sampled.json >other.json
expect_error 2 '--samples' certify other.json
expect_status 0 certify other.json --samples points.csv -o other_true.json
expect_error 3 'hash: not that of this table and its certificate, which says' emit other.json
for count in $(seq 256); do echo $((count * 7 % 13)); done >weights.csv
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --weights weights.csv -o weighted.json
expect_status 0 emit weighted.json
expect_error 2 '--weights: missing' certify weighted.json
expect_status 0 certify weighted.json --weights weights.csv -o same.json
cmp -s weighted.json same.json || fail 'certify changes a weighted table'

# Wide inputs are measured too, and every code may be asked for.
expect_status 0 fit tanh --in s22:2^-18 --out s16:2^-15 -o wide.json
sed '0,/"q_b": [0-9]*/s/"q_b": [0-9]*/"q_b": 3/' wide.json >edited_wide.json
expect_error 3 'hash: not that of this table and its certificate, which says max_err_lsb' emit edited_wide.json
expect_status 0 certify wide.json --exhaustive -o every.json
expect_line '.*"checked": 4194304, "exhaustive": true, .*' every.json 'certify --exhaustive'
expect_status 0 sweep every.json --exhaustive
expect_error 2 'a table is needed' certify
expect_error 2 'one table too many' certify good.json edited.json
expect_error 1 'absent.json' certify absent.json

finish
