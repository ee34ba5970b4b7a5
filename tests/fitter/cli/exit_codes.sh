#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What every command does with its command line, and what becomes of standard output.
. "$(dirname "$0")/lib.sh"

golden=$root/tests/golden/document_002_segment_8.json

expect_error 2 'a command is needed'
expect_error 2 'did you mean show?' shwo
expect_error 2 'is not a command' frobnicate
expect_error 2 'is not a command' ''
expect_error 2 'is not a command' -3
run --version </dev/null
expect_line 'pwlc [0-9]+\.[0-9]+\.[0-9]+' ../out 'pwlc --version'

# Unknown flags name the closest; a flag is given once, with its value; a switch has none.
for name in list fit prove emit show eval sweep diff verify cost tensors gguf gemm sfpu bench merge; do
    expect_error 2 '--frobnicate is not a flag of' "$name" --frobnicate
    expect_error 2 'did you mean --help?' "$name" --hepl
done
expect_error 2 'did you mean --format?' show --fromat json "$golden"
expect_error 2 'did you mean --format?' show --fromat=json "$golden"
expect_error 2 '--format needs a value' list --format
expect_error 2 '--format needs a value' list --format --
expect_error 2 '--format needs a value' list --format --format
expect_error 2 '--format is given more than once' list --format md --format md
expect_error 2 '--format is given more than once' list --format=md --format=json
expect_error 2 '--real is a switch' eval "$golden" --real=1 24986
expect_error 2 '--format xml: must be md or json' list --format xml
expect_error 2 '--format : must be md or json' list --format=
expect_error 2 '--format md: must be text or json' show --format md "$golden"

# What was meant, or nothing.
types='--in s8:2^-4 --out s8:2^-7'
expect_error 2 '--seg is not a flag of fit; did you mean --segments?' fit tanh $types --seg 4
expect_error 2 '--output is not a flag of fit; did you mean -o?' fit tanh $types --output x.json
expect_error 2 '--alpha is not a flag of fit; did you mean --param?' fit elu $types --alpha 2
expect_error 2 '; did you mean sv?' emit "$golden" --format systemverilog
expect_error 2 '-n is not a flag of fit; pwlc fit --help lists them' fit tanh $types -n 4
expect_error 2 'must be lsq, minimax, uniform, document, lut or residual; did you mean minimax?' fit tanh $types --method minmax
expect_error 2 'must be floor, half_up, half_away or half_even; did you mean half_even?' \
    fit tanh $types --rounding nearest
expect_error 2 '; did you mean uniform?' fit tanh $types --knots unform
expect_error 2 '; did you mean minmax?' fit tanh --in s8 --out s8 --calibrate-by minimax
expect_error 2 'must be cpu or cuda; did you mean cuda?' sweep "$golden" --device gpu
expect_error 2 '--form biassed: must be absolute, biased or anchored; did you mean biased?' \
    explore tanh $types --form absolute,biassed
printf '[{"name": "a", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7", "max-err": 1}]' >../jobs.json
expect_error 2 '[0].max-err: unknown field, must be left out; did you mean max_err?' fit --spec ../jobs.json -o .
printf '[{"name": "a", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7", "zero": "none"}]' >../jobs.json
expect_error 2 '--zero none: must be keep or free' fit --spec ../jobs.json -o .
printf '[{"name": "a b", "function": "tanh"}]' >../jobs.json
expect_error 2 '[0].name: "a b", must be made of letters' fit --spec ../jobs.json -o .
printf '[{"name": "a", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7"},
  {"name": "a", "function": "tanh", "in": "s8:2^-4", "out": "s8:2^-7"}]' >../jobs.json
expect_error 2 '[1].name: "a", must be different from the names of the other jobs' fit --spec ../jobs.json -o .

# Help and the version, however they are asked for.
expect_status 0 fit --help && cp ../out ../help && expect_status 0 help fit && { cmp -s ../out ../help || fail 'help fit'; }
expect_status 0 --help && cp ../out ../help && expect_status 0 help && { cmp -s ../out ../help || fail 'help'; }
expect_error 2 'did you mean fit?' help fitt
for word in version -V; do
    expect_status 0 "$word" && expect_line 'pwlc [0-9]+\.[0-9]+\.[0-9]+' ../out "$word"
done
expect_error 2 'did you mean --version?' --verison
expect_error 2 'did you mean functions?' list function
expect_error 2 'is not a section' list everything
expect_error 2 'a table is needed' show
expect_error 2 'a table is needed' eval
expect_error 2 'codes are needed' eval "$golden"
expect_error 2 'two tables are needed' diff "$golden"
expect_error 2 'one table too many' diff "$golden" "$golden" "$golden"
expect_error 2 'standard input can be read once' diff - -

# Negative numbers are values, -- ends the flags.
expect_status 0 eval "$golden" -3 && expect_line '[0-9]+' ../out 'eval -3'
expect_status 0 eval "$golden" --trace -- -3 && expect_line 'q_x 0 \(clamped from -3\)' ../out 'eval --trace -- -3'
expect_error 2 '"--trace" is not an integer' eval "$golden" -- 24986 --trace
expect_error 1 '--frobnicate' show -- --frobnicate
expect_error 1 '--help' show -- --help

# Messages stay on one line whatever they quote.
expect_error 2 'is not a command' $'a\nb'
expect_error 2 'is not an integer' eval "$golden" $'1\n2\n'
printf '{}' >$'one\ntwo.json'
expect_error 2 'one?two.json: pwl_table' show $'one\ntwo.json'
expect_error 1 'no?such' show $'no\nsuch.json'

# Files.
expect_error 1 'missing.json' show missing.json
expect_error 1 'missing.json' eval missing.json 1
expect_error 1 'missing.json' diff "$golden" missing.json
expect_error 1 'missing.npy' eval "$golden" missing.npy
expect_error 1 'run' show ../run

# Standard output that cannot be written.
if [ -w /dev/full ]; then
    for arguments in "list" "list --format json" "--help" "--version" "show --help" "show $golden" "eval $golden 24986" \
        "eval --trace $golden 24986" "diff $golden $golden"; do
        checks=$((checks + 1))
        status=0
        # shellcheck disable=SC2086
        "$pwlc" $arguments >/dev/full 2>../err || status=$?
        [ "$status" -eq 1 ] || fail "pwlc $arguments >/dev/full: exit $status, expected 1"
        grep -qx 'pwlc.*: standard output: .*' ../err ||
            fail "pwlc $arguments >/dev/full: $(head -c 300 ../err)"
    done
fi

# No colours, terminal or not.
checks=$((checks + 1))
NO_COLOR=1 "$pwlc" list >../plain
"$pwlc" list >../out
cmp -s ../plain ../out || fail 'NO_COLOR changes what list prints'
if grep -q $'\033' ../out; then fail 'list prints escape sequences'; fi

finish
