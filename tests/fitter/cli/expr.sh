#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions given as expressions: the table is the built-in function's, keeps the expression, and is measured without
# anything else; each refusal says where and what would be right.
. "$(dirname "$0")/lib.sh"

types='--in s8:2^-4 --out s16:2^-15'
sigmoid='1/(1+exp(-x))'

# The same segments and certificate as the built-in function's.
for flags in '--in s16:2^-12 --out s16:2^-15 --method minimax' "$types"; do
    expect_status 0 fit sigmoid $flags -o builtin.json
    expect_status 0 fit --expr " $sigmoid " $flags -o table.json
    checks=$((checks + 1))
    sed -e '/"spec"/d; /"function"/d; /"expression"/d; /"hash"/d' table.json >../a
    sed -e '/"spec"/d; /"function"/d; /"hash"/d' builtin.json >../b
    cmp -s ../a ../b || fail "$flags: an expression gives another table than the built-in function"
done
expect_line '  "function": "expr",' table.json 'the table'
expect_line '  "expression": "1/\(1\+exp\(-x\)\)",' table.json 'the table'
expect_line "  \"spec\": \"--expr '1/\\(1\\+exp\\(-x\\)\\)' --in .*" table.json 'the table'

# The spec is the command line that made it, as a shell reads it.
sed -n 's/^  "spec": "\(.*\)",$/\1/p' table.json >../flags
checks=$((checks + 1))
eval "\"$pwlc\" fit $(cat ../flags)" >../again 2>../err || fail "the spec is no command line: $(head -c 300 ../err)"
cmp -s ../again table.json || fail 'the spec gives another table'

# Every command reads it; sweep measures it.
expect_status 0 sweep table.json --format csv && cp ../out ../swept
expect_status 0 sweep builtin.json --format csv
checks=$((checks + 1))
[ "$(sed 's/[^,]*,[^,]*,//' ../swept)" = "$(sed 's/[^,]*,[^,]*,//' ../out)" ] || fail 'sweep measures other errors'
expect_status 0 show table.json && expect_line '  expression   1/\(1\+exp\(-x\)\)' ../out show
expect_status 0 show table.json --format json && grep -q '"expression": "1/(1+exp(-x))"' ../out || fail 'show --format json'
expect_status 0 eval table.json 0 --trace
expect_status 0 emit table.json --format c -o table.h
rm -f table.h
expect_status 0 fit --expr '0.5+0.5*tanh(x/2)' $types -o other.json
expect_status 0 diff table.json other.json && grep -q 'expression' ../out || fail 'diff does not show the expressions'
expect_error 2 'must have the parameters, samples or expression of table.json' sweep table.json --baseline other.json
rm -f other.json

# Types are found for expressions too, and spec files take them.
expect_status 0 fit --expr 'x*x' --in s8 --out u8 --range -2:2 -o square.json
grep -q -- '--in s8:0.015748031496062992:0 --out u8:0.01568627450980392:0' ../err || fail "types: $(head -c 300 ../err)"
printf '[{"name": "a", "expr": "%s", "in": "s8:2^-4", "out": "s16:2^-15"}]' "$sigmoid" >spec.json
mkdir jobs
expect_status 0 fit --spec spec.json -o jobs
checks=$((checks + 1))
cmp -s jobs/a.json table.json || fail 'a job gives another table'
rm -r square.json jobs spec.json

refused() {
    local words=$1
    shift
    expect_error 2 "$words" fit "$@" -o out.json
}
refused '--expr: empty' --expr '' $types
refused "--expr 'x+y': not understood from character 3 on, 'y'" --expr 'x+y' $types
refused "--expr 'sin(x': the expression is not complete" --expr 'sin(x' $types
refused 'character 2 assigns; write == to compare' --expr 'x=1' $types
refused 'character 4: a power is written ^, as in x^2' --expr '2*x**2' $types
refused 'character 5 is no part of an expression' --expr 'x + "1"' $types
refused 'does not depend on x' --expr '2*3' $types
refused 'has 2 values' --expr 'x, 2' $types
refused 'the function is already tanh' tanh --expr x $types
refused 'the function is already expr' --expr x tanh $types
refused 'the function is already tanh; types are given by --in and --out' tanh s8:2^-5 s8:2^-7
refused "unknown function 'x*x'; a formula of x is given by --expr" 'x*x' $types
refused 'the function is already expr' --expr x --samples points.csv $types
refused '--expr is given more than once' --expr x --expr x $types
refused 'expr has no parameters' --expr x $types --param alpha=1
refused 'expr is neither odd nor' --expr 'tanh(x)' $types --symmetry fold
refused 'has no finite value at code 0 of --in, x = 0' --expr '1/x' $types
refused 'has no finite value at code 0 of --in, x = 0' --expr 'sin(x)/x' --in s32:2^-28 --out s32:2^-30
# Between the codes that are evenly spaced: where points lie closer, and where a table is compared.
refused 'has no finite value at code 807 of --in' --expr 'x>0.000003 && x<0.0000031 ? 0/0 : tanh(x*65536)' \
    --in s32:2^-28 --out s16:2^-15
refused 'has no finite value at code' --expr 'x>0.3001 && x<0.3002 ? 0/0 : tanh(x*4096)' --in s32:2^-28 --out s16:2^-15
refused 'has no finite value at code -128 of --in, x = -8; change the type, or write a limit into the expression' \
    --expr 'sqrt(x)' $types
refused '--outside clamp with --expr' --expr 'sqrt(x)' $types --outside clamp
refused '--out u8: expr has no finite value over the range of --in' --expr 'sqrt(-1-x*x)' --in s8:2^-4 --out u8
expect_error 2 'expr' sweep table.json --ref mpfr

# Errors whose squares are below every double.
expect_status 0 fit --expr 'x*1e-300' $types -o tiny.json
expect_status 0 certify tiny.json
rm tiny.json

# Beyond both ends of the output.
refused 'outside the output range at every input code, so the table would hold no values but the ends of that range' \
    --expr 'x<0?-9:9' $types

# The built-in functions inside.
expect_status 0 fit silu $types -o silu.json
expect_status 0 fit --expr 'x*sigmoid(x)' $types -o product.json
expect_status 0 fit --expr 'swish(x)' $types -o swish.json
checks=$((checks + 2))
for name in product swish; do
    [ "$(sed -n '/"segments"/,/^  \]/p' silu.json)" = "$(sed -n '/"segments"/,/^  \]/p' $name.json)" ] ||
        fail "the expression of $name.json gives another table than silu"
done
rm silu.json product.json swish.json
refused "--expr 'elu(x, 1, 2)': too many arguments of elu, which takes x and alpha" --expr 'elu(x, 1, 2)' $types
refused "--expr 'gelu(x, 1)': too many arguments of gelu, which takes one, at character 7" --expr 'gelu(x, 1)' $types

# The field in a file.
broken() {
    local words=$1 script=$2
    sed "$script" table.json >broken.json
    expect_error 2 "broken.json: $words" sweep broken.json
}
broken 'expression: missing, must be a string of at most 1000' '/"expression"/d'
broken 'expression: "1/(1+exp(-x))", must be left out unless function is "expr"' 's/"function": "expr"/"function": "tanh"/'
broken 'expression: 3, must be a string' 's/"expression": .*/"expression": 3,/'
broken 'expression: "x?y", must be a string of at most 1000 printable' 's/"expression": .*/"expression": "x\\ny",/'
sed 's/"expression": .*/"expression": "y",/' table.json >broken.json
sign broken.json
expect_status 0 show broken.json
expect_error 2 "expression 'y': not understood from character 1" sweep broken.json
sed 's/"expression": .*/"expression": "sqrt(x)",/' table.json >broken.json
expect_error 2 'expr has no value' sweep broken.json

# It may jump between the codes compared, whatever the method: the bound holds there, too.
for method in lsq minimax uniform; do
    expect_status 0 fit --expr 'x>0.1?1:0' --in s22:2^-18 --out s8:2^-6 --method $method -o wide.json
    checks=$((checks + 1))
    if grep -q 'nothing is proven' ../err || ! grep -q '"bound_lsb"' wide.json; then
        fail "an expression that jumps, by $method, has no bound: $(cat ../err)"
    fi
done
expect_status 0 fit --expr 'x>0.1?1:0' --in s12:2^-8 --out s8:2^-6 -o narrow.json
if grep -q 'nothing is proven' ../err; then fail "every code was compared: $(cat ../err)"; fi
# Level where the root's own slope is infinite.
expect_status 0 fit --expr 'sqrt(max(x,0))-x/3' --in s22:2^-18 --out s16:2^-13 --method uniform --segments 4 -o wide.json
grep -q '"bound_lsb"' wide.json || fail "sqrt(max(x,0))-x/3 has no bound: $(cat ../err)"
# With more jumps than can be looked at there is none.
expect_status 0 fit --expr 'floor(x*100000)/100000-x' --in s22:2^-19 --out s16:2^-30 --method uniform --segments 4 -o wide.json
checks=$((checks + 1))
grep -q 'note: the errors are those of the [0-9]* codes compared; of the others nothing is proven' ../err ||
    fail "an expression of many jumps: $(cat ../err)"
if grep -qE '"bound_lsb"|"optimal": true' wide.json; then
    fail "an expression of many jumps: a claim of every code: $(grep certificate wide.json)"
fi
# A claim of a bound is one that counts.
expect_status 0 fit --expr 'tanh(x)-x/3' --in s21:2^-18 --out s16:2^-15 --method uniform --segments 16 -o wide.json
expect_status 0 sweep wide.json --exhaustive
sed 's/"bound_lsb": [0-9.]*/"bound_lsb": 1.5/' wide.json >broken.json
sign broken.json
expect_error 3 'certificate says ' emit broken.json

# Terms that cancel leave a value that is not known.
expect_status 0 fit --expr '(x+1e28)-1e28' --in s8:2^-4 --out s16:2^-12 -o vague.json
checks=$((checks + 1))
grep -q 'note: terms of the expression cancel' ../err || fail "cancelling terms: $(cat ../err)"
expect_status 0 fit --expr 'exp(x)-1' --in s8:2^-4 --out s16:2^-12 -o exact.json
if grep -q 'cancel' ../err; then fail "terms that hardly cancel: $(cat ../err)"; fi

finish
