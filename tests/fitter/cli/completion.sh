#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The manual and the completion scripts hold every command and every flag of --help, and bash completes with its script.
# Exit 77, a skip, without mandoc, zsh and fish.
for tool in mandoc zsh fish; do
    command -v "$tool" >/dev/null || { echo "$tool is missing; ./dev test installs it"; exit 77; }
done
. "$(dirname "$0")/lib.sh"

expect_status 0 --completion bash && cp ../out ../pwlc.bash
expect_status 0 --completion zsh && cp ../out ../_pwlc
expect_status 0 --completion fish && cp ../out ../pwlc.fish
expect_status 0 --completion json && cp ../out ../pwlc.json
expect_status 0 --man && cp ../out ../pwlc.1
expect_error 2 '--completion needs a value, bash|zsh|fish|json' --completion
expect_error 2 '--completion tcsh: must be bash, zsh, fish or json' --completion tcsh
expect_error 2 'takes one shell, not 2 arguments' --completion bash zsh

# troff: no request but those of the man macros, and none begun by chance.
checks=$((checks + 6))
if grep -vE '^(\.(TH|SH|SS|PP|TP|RS|RE|nf|fi|br|B|I)( |$)|[^.'"'"'])' ../pwlc.1; then
    fail 'pwlc --man: a line that is no request of the man macros'
fi
mandoc -Tlint -W error ../pwlc.1 || fail 'mandoc finds errors'
zsh -n ../_pwlc || fail 'zsh does not read its script'
fish --no-config --no-execute ../pwlc.fish || fail 'fish does not read its script'
python3 -m json.tool ../pwlc.json >/dev/null || fail 'Python does not read the JSON'
bash -n ../pwlc.bash || fail 'bash does not read its script'

expect_status 0 --help && commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' ../out)
[ "$(echo "$commands" | wc -w)" -ge 7 ] || fail "only these commands: $commands"
for name in $commands; do
    checks=$((checks + 1))
    grep -qx "\.SS pwlc $name" ../pwlc.1 || fail "pwlc --man: no section of $name"
    grep -qE "^        '$name:" ../_pwlc || fail "pwlc --completion zsh: no $name"
    "$pwlc" "$name" --help >../out
    for flag in $(sed -n '/^Flags:/,/^$/{s/^  \(-[^ ]*\).*, \(-[a-z]\) .*/\1 \2/p;t;s/^  \(-[^ ]*\).*/\1/p}' ../out); do
        checks=$((checks + 1))
        escaped=$(printf '%s' "$flag" | sed 's/-/\\\\-/g')
        sed -n "/^\.SS pwlc $name\$/,/^\.S/p" ../pwlc.1 | grep -qE -- "^(.*, )?\\\\fB$escaped\\\\fR" ||
            fail "pwlc --man: no $flag in $name"
        sed -n "/^        $name)/,/;;/p" ../_pwlc | grep -q -- "$flag\[" || fail "pwlc --completion zsh: no $flag in $name"
        sed -n "/^    $name)/,/^        ;;/p" ../pwlc.bash | grep -qE -- "flags='(.* )?$flag[ ']" ||
            fail "pwlc --completion bash: no $flag in $name"
        sed -n "/^  \"$name\": /,/^    ]/p" ../pwlc.json | grep -q -- "{\"name\": \"$flag\", " ||
            [[ $flag =~ ^(-j|--help|--color)$ ]] || fail "pwlc --completion json: no $flag in $name"
        grep -qE -- "^complete -c pwlc -n '__fish_seen_subcommand_from $name' -[slo] $(sed 's/^-*//' <<<"$flag") " \
            ../pwlc.fish || fail "pwlc --completion fish: no $flag in $name"
    done
done

# completes "WORD..." WANTED: the last word, completed by bash's script.
. ../pwlc.bash
completes() {
    local wanted=$2
    checks=$((checks + 1))
    IFS=' ' read -ra COMP_WORDS <<<"$1"
    case $1 in *' ') COMP_WORDS+=('') ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _pwlc
    [ "${COMPREPLY[*]}" = "$wanted" ] || fail "\"$1\" completes to \"${COMPREPLY[*]}\", expected \"$wanted\""
}
touch table.json notes.txt
completes 'pwlc fit --se' --segments
completes 'pwlc sh' show
completes 'pwlc --ver' --version
completes 'pwlc --completion ' 'bash zsh fish json'
completes 'pwlc help ex' explore
completes 'pwlc gguf ' 'list extract'
completes 'pwlc gguf list no' notes.txt
completes 'pwlc sfpu ' 'list fit import show eval emit verify'
completes 'pwlc gguf extract no' notes.txt
completes 'pwlc bench ' gemm
completes 'pwlc bench gemm -o no' notes.txt
completes 'pwlc bench gemm --device ' 'cpu cuda'
completes 'pwlc bench gemm no' ''
completes 'pwlc gemm --weights no' notes.txt
completes 'pwlc gemm --act no' notes.txt
completes 'pwlc sweep table.json --baseline tab' table.json
completes 'pwlc show --color ' 'auto always never'
completes 'pwlc fit tan' tanh
completes 'pwlc fit hard_s' 'hard_sigmoid hard_swish'
completes 'pwlc fit tanh --method l' 'lsq lut'
completes 'pwlc fit tanh --method = d' document
completes 'pwlc fit tanh --symmetry =' 'fold off'
completes 'pwlc fit tanh --calibrate-by p' 'percentile='
completes 'pwlc fit tanh --segments ' ''
completes 'pwlc fit tanh --in no' notes.txt
completes 'pwlc tensors no' notes.txt
completes 'pwlc fit --samples no' notes.txt
completes 'pwlc show tabl' 'table.json'
completes 'pwlc explore -j' -j
completes 'pwlc explore -j ' ''
completes 'pwlc list f' 'functions formats'
completes 'pwlc frobnicate --se' ''
complete -p pwlc | grep -q -- '-F _pwlc' || fail 'the script does not register its function'

# The same by fish: what it offers for a line, each before a tab.
offers() {
    local wanted=$2
    checks=$((checks + 1))
    got=$(HOME=$PWD fish --no-config -c "source ../pwlc.fish; complete -C '$1'" | cut -f 1 | tr '\n' ' ')
    [ "${got% }" = "$wanted" ] || fail "fish: \"$1\" completes to \"${got% }\", expected \"$wanted\""
}
offers 'pwlc sh' show
offers 'pwlc fit tan' tanh
offers 'pwlc fit --se' --segments
offers 'pwlc fit tanh --method l' 'lsq lut'
offers 'pwlc fit tanh --symmetry=' '--symmetry=fold --symmetry=off'
offers 'pwlc fit --samples no' notes.txt
offers 'pwlc show tab' table.json
offers 'pwlc gguf ext' extract
offers 'pwlc gguf list no' notes.txt
offers 'pwlc bench gemm -o no' notes.txt
offers 'pwlc tensors no' notes.txt
offers 'pwlc fit tanh --out no' notes.txt
offers 'pwlc bench g' gemm
offers 'pwlc fit no' ''
offers 'pwlc help ex' explore

finish
