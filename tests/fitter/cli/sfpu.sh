#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc sfpu: what its actions print and write, and every refusal.
. "$(dirname "$0")/lib.sh"

# Tables that are shipped, with the figures of their pull requests.
expect_status 0 sfpu list
expect_line '\| tanh-3 +\| fp8x3 +\| tanh +\| +37\.0319 \| +1 \|.*\| +0\.144656 \|.*\| yes +\|' ../out 'sfpu list'
expect_line '\| sigmoid-3 +\|.*\| +0\.119203 \| +2 \|.*' ../out 'sfpu list'
expect_line '\| sigmoid-6 +\|.*\| +0\.0177421 \|.*' ../out 'sfpu list'

# A fit, the same bytes each time, and what is made of it.
expect_status 0 sfpu fit tanh --layout fp8x3 --measure ulp -o tanh.json
expect_status 0 sfpu fit tanh --layout fp8x3 --measure ulp
cmp -s ../out tanh.json || fail 'sfpu fit: another table, or other bytes'
expect_line '  "registers": \{"LREG0": "0x00001cff", "LREG1": "0x00003714", "LREG2": "0x0000ff00"\},' tanh.json 'sfpu fit'
expect_status 0 sfpu show tanh.json
expect_line 'tanh by SFPLUT on wormhole, 0 \| SGN_RETAIN: sign retain, add none, store truncate' ../out 'sfpu show'
expect_line '\| +0 \| +0\.875 \| +0 \| 0x1c +\| 0xff +\| +32 ULP \|' ../out 'sfpu show, a segment'
expect_line '\| this +\| fp8x3 +\| tanh +\| +32 \|.*' ../out 'sfpu show, the table'
expect_line '\| tanh-6 +\| fp16x6-3 +\| tanh +\| +10 \|.*' ../out 'sfpu show, a shipped table'
expect_line 'No table of this kernel has a smaller largest ULP error, and none .*' ../out 'sfpu show, what is proven'
expect_status 0 sfpu verify tanh.json
expect_line 'tanh\.json: 65280 codes agree with the certificate' ../out 'sfpu verify'
expect_status 0 sfpu verify tanh.json --search
expect_line 'tanh\.json: 65280 codes agree .*, and no table has a smaller largest error' ../out 'sfpu verify --search'
expect_status 0 sfpu eval tanh.json 0.1 -3 0x7f80 0x0001
expect_line '0x3dcd 0\.10009766 0x3db3 0\.087402344' ../out 'sfpu eval'
expect_line '0xc040 -3 0xbf80 -1' ../out 'sfpu eval'
expect_line '0x7f80 inf 0x7f80 inf' ../out 'sfpu eval, where 0 times infinity is NaN that a store makes infinity'
expect_status 0 sfpu eval tanh.json --all
[ "$(wc -l <../out)" -eq 65536 ] || fail 'sfpu eval --all: not a line each'
expect_status 0 sfpu emit tanh.json --format llk -o lut.h
expect_line 'constexpr std::uint32_t tanh_registers\[3\] = \{0x00001cff, 0x00003714, 0x0000ff00\};' lut.h 'sfpu emit'
expect_status 0 sfpu emit tanh.json --format c

# Demands: outputs saturate, and 0 stays 0.
expect_status 0 sfpu fit sigmoid --layout fp8x3 --keep-zero --keep-ends -o kept.json
expect_status 0 sfpu eval kept.json 0 -0 1e30 -1e30
printf '%s\n' '0x0000 0 0x3f00 0.5' '0x8000 -0 0x3f00 0.5' '0x714a 1.0002556e+30 0x3f80 1' \
    '0xf14a -1.0002556e+30 0x0000 0' | cmp -s - ../out || fail "sfpu fit --keep-ends: $(cat ../out)"

# Words of a kernel, which are no optimum.
expect_status 0 sfpu import tanh --layout fp8x3 --words 0x1dff,0x481a,0xff00 --measure ulp -o shipped.json
expect_line '.*"max_ulp": 37\.0319, .*"optimal": false, "least_mean": false.*' shipped.json 'sfpu import'
expect_status 0 sfpu verify shipped.json
expect_error 3 'the largest error is 37.0319, and 32 is attainable: not called optimal' sfpu verify shipped.json --search
sed 's/0x0000481a/0x0000481b/' shipped.json >edited.json
expect_error 3 'edited.json: certificate: it is not of this table, by its hash' sfpu verify edited.json

# A certificate with its hash, and wrong: no table attains what it says.
sed 's/"max_ulp": 37.0319/"max_ulp": 31.5/' shipped.json >claims.json
python3 "$root/tests/support/signed_table.py" claims.json
expect_error 3 'claims.json: certificate: not what the codes of bf16 give' sfpu verify claims.json

expect_error 2 'an action is needed: pwlc sfpu fit FUNCTION' sfpu
expect_error 2 '"shw" is not an action; did you mean show?' sfpu shw tanh.json
expect_error 2 'the actions are list, fit, import, show, eval, emit and verify' sfpu zzzzzz
expect_error 2 'a function is needed: pwlc sfpu fit FUNCTION' sfpu fit
expect_error 2 'a file is needed: pwlc sfpu show FILE' sfpu show
expect_error 2 'one argument too many' sfpu show tanh.json tanh.json
expect_error 2 'one argument too many' sfpu list tanh
expect_error 2 "unknown function 'tan'; did you mean tanh?" sfpu fit tan
expect_error 2 '--layout fp16x6: must be fp8x3, fp16x3, fp16x6-3 or fp16x6-4' sfpu fit tanh --layout fp16x6
expect_error 2 '--measure lsb: must be ulp or abs' sfpu fit tanh --measure lsb
expect_error 2 '--range 3:1: must be LO:HI' sfpu fit tanh --range=3:1
expect_error 2 '--range 1: must be LO:HI' sfpu fit tanh --range=1
expect_error 2 '--range: no bf16 number in 1.001:1.002 at which tanh is defined' sfpu fit tanh --range=1.001:1.002
expect_error 2 '--add 0.1: must be none, x/2 or a number other than 0 that bf16 has' sfpu fit tanh --add 0.1
expect_error 2 '--add 0: must be none' sfpu fit tanh --add 0
expect_error 2 'exp is neither odd nor even' sfpu fit exp
expect_error 2 '--range must leave it out' sfpu fit exp --sign update --add none
expect_error 2 'has no parameters' sfpu fit tanh --param a=1
expect_error 3 'segment 0, from |x| = 0 on: no pair of coefficients meets the demands' \
    sfpu fit tanh --layout fp8x3 --add 0.5 --keep-zero
expect_error 2 '--words is needed' sfpu import tanh
expect_error 2 '--words 1,2: 2 words, and fp8x3 has 3' sfpu import tanh --layout fp8x3 --words 1,2
expect_error 2 'must be 3 numbers from 0 to 0xffff' sfpu import tanh --layout fp8x3 --words 0x10000,2,3
expect_error 2 'must be 3 numbers from 0 to 0xffff' sfpu import tanh --layout fp8x3 --words 1,2,x
expect_error 2 'must be 3 numbers' sfpu import tanh --layout fp8x3 --words 1,2,3,4
expect_error 2 'numbers or --all are needed' sfpu eval tanh.json
expect_error 2 'numbers or --all are needed' sfpu eval tanh.json --all 1
expect_error 2 '"0x10000" is neither a number nor a code' sfpu eval tanh.json 0x10000
expect_error 2 '--format is needed, llk|c' sfpu emit tanh.json
expect_error 2 '--search does not go with show' sfpu show tanh.json --search
expect_error 2 '--words does not go with fit' sfpu fit tanh --words 1,2,3
expect_error 1 'missing.json' sfpu show missing.json
expect_error 2 'tanh.json: a table of the SFPU, which pwlc sfpu takes' show tanh.json

# Files that are no such table; each message names the field.
bad() { # MESSAGE PYTHON
    python3 -c "import json; t = json.load(open('tanh.json')); $2; json.dump(t, open('bad.json', 'w'))"
    expect_error 2 "bad.json: $1" sfpu show bad.json
}
bad 'pwl_sfpu: 2, must be 1' 't["pwl_sfpu"] = 2'
bad "function: unknown function 'tan'" 't["function"] = "tan"'
bad 'layout fp9: must be fp8x3' 't["layout"] = "fp9"'
bad 'add: "0.1", must be none, x/2' 't["add"] = "0.1"'
bad 'range: "2:1", must be LO:HI' 't["range"] = "2:1"'
bad 'registers.LREG1: "0x10000", must be a number from 0 to 0xffff' 't["registers"]["LREG1"] = "0x10000"'
bad 'registers.LREG4: unknown field' 't["registers"]["LREG4"] = "0x0000"'
bad 'registers.LREG2' 'del t["registers"]["LREG2"]'
bad 'keep_zero: ' 't["keep_zero"] = 1'
bad 'certificate.codes: 0, must be' 't["certificate"]["codes"] = 0'
bad 'certificate.max_ulp: ' 't["certificate"]["max_ulp"] = -1'
bad 'hash: ' 'del t["certificate"]'
bad 'parameters.a: unknown field' 't["parameters"]["a"] = 1'
bad 'more: unknown field' 't["more"] = 1'
echo '[1]' >bad.json
expect_error 2 'bad.json: must be a JSON object with "pwl_sfpu"' sfpu show bad.json
echo '{"pwl_table": 1}' >bad.json
expect_error 2 'bad.json: pwl_sfpu: missing' sfpu show bad.json
finish
