#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What pwlc does on a terminal, and nowhere else: progress, and colour.
. "$(dirname "$0")/lib.sh"

# on_terminal ARGUMENT...: pwlc with its streams on a terminal; what it wrote there is in ../screen. It is ended once $until
# was seen there, unless that is empty. The terminal has $width columns, or says of none.
until= width=0
on_terminal() {
    checks=$((checks + 1))
    status=0
    until=$until width=$width python3 - "$pwlc" "$@" >../screen <<'END' || status=$?
import fcntl, os, re, select, signal, struct, sys, termios
until = os.environ["until"].encode()
# What was written to a terminal may be there to read only some time after the writer has ended. So the mark is written
# behind the program's last words, and all before it is theirs.
mark = b"\0ended\0"
terminal, program = os.openpty()
fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("4H", 0, int(os.environ["width"]), 0, 0))
pid = os.fork()
if pid == 0:
    os.close(terminal)
    os.login_tty(program)
    os.execv(sys.argv[1], sys.argv[1:])
data, unwritten = b"", mark
status = None
while not data.endswith(mark):
    if select.select([terminal], [], [], 0.05)[0]:
        data += os.read(terminal, 65536)
    if status is None:
        ended, how = os.waitpid(pid, os.WNOHANG)
        status = os.waitstatus_to_exitcode(how) if ended else None
        os.set_blocking(program, not ended)
    elif unwritten and select.select([], [program], [], 0)[1]:
        unwritten = unwritten[os.write(program, unwritten):]
    if until and status is None and re.search(until, data):
        os.kill(pid, signal.SIGTERM)
        until = b""
sys.stdout.buffer.write(data[:-len(mark)])
sys.exit(status)
END
}
seen() {
    grep -qE -- "$1" ../screen || fail "$2: no \"$1\" in: $(cat -v ../screen | head -c 600)"
}
unseen() {
    if grep -qE -- "$1" ../screen; then fail "$2: \"$1\" in: $(cat -v ../screen | head -c 600)"; fi
}
export TERM=xterm
unset NO_COLOR
red=$'\033\\[1;31m'

# A run of more than a second: how much of it is done, how fast, and for how long yet.
long='sigmoid --in s16:2^-12 --out s16:2^-15 --shift one'
until='pwlc explore: [0-9]+ % of 60 tables, [0-9.]+/s, ([0-9]+ min )?[0-9]+ s left'
on_terminal explore $long --segments 4-63 --jobs 1 -o rows.md
seen "$until" 'progress of explore'
until='pwlc fit: [a-z ,]+, [0-9]+ %, [0-9]+ s'
on_terminal fit sin --in s10:2^-7 --out s8:2^-7 --rounding half_even --shift one --form biased -o table.json
seen "$until" 'progress of fit'
expect_status 0 fit sigmoid --in s32:2^-28 --out s16:2^-15 --segments 4 --method uniform -o wide.json
until='pwlc sweep: [0-9]+ % of 4294967296 codes, [0-9.]+ [kMG]/s, ([0-9]+ (h|min) )?[0-9]+ (min|s) left'
on_terminal sweep wide.json --exhaustive -o swept.md
seen "$until" 'progress of sweep'
until=

# The line is wiped away; a moment shows none.
on_terminal fit sigmoid --in s16:2^-12 --out s16:2^-15 -o table.json
if tr '\r' '\n' <../screen | tail -n 1 | grep -qE 'pwlc fit: .*[0-9] s'; then
    fail "fit leaves its line: $(tail -c 60 ../screen | cat -v)"
fi
on_terminal certify table.json
unseen 'pwlc certify: ' 'certify of a moment'
on_terminal fit tanh --in s8:2^-5 --out s8:2^-7 -o small.json
unseen 'pwlc fit: [0-9]|'$'\033' 'fit of a moment'
expect_status 0 explore $long --segments 8 --jobs 1 -o rows.md
[ ! -s ../err ] || fail "progress without a terminal: $(head -c 300 ../err | cat -v)"

# Errors in red, verdicts in green and red.
on_terminal fit tanh
[ "$status" = 2 ] || fail "fit without types: exit $status"
seen "^${red}pwlc fit:"$'\033\\[0m' 'an error'
on_terminal diff small.json small.json
seen $'\033\\[32m0 of 256 codes differ\033\\[0m' 'a good verdict'
expect_status 0 fit tanh --in s8:2^-5 --out s8:2^-7 --segments 4 -o other.json
on_terminal diff small.json other.json --outputs-only
[ "$status" = 3 ] || fail "diff of two tables: exit $status"
seen $'\033\\[31m[0-9]+ of 256 codes differ\033\\[0m' 'a bad verdict'
on_terminal show other.json
seen $', \033\\[32moptimal\033\\[0m' 'show of an optimal table'
expect_status 2 fit tanh
grep -q $'\033' ../err && fail 'colour without a terminal'
expect_status 2 --color always fit tanh && grep -q $'^\033\\[1;31mpwlc fit:' ../err || fail '--color always: no colour'
expect_status 2 fit tanh --color=always && grep -q $'^\033\\[1;31mpwlc fit:' ../err || fail '--color=always: no colour'
on_terminal fit tanh --color never
unseen $'\033' '--color never'
NO_COLOR=1 on_terminal fit tanh
unseen $'\033' 'NO_COLOR'
NO_COLOR='' on_terminal fit tanh
seen "$red" 'an empty NO_COLOR'
TERM=dumb on_terminal fit tanh
unseen $'\033' 'a dumb terminal'
NO_COLOR=1 on_terminal fit tanh --color always
seen "$red" '--color always before NO_COLOR'
expect_error 2 '--color sometimes: must be auto, always or never' fit tanh --color sometimes
expect_error 2 '--color needs a value, auto|always|never' fit tanh --color
expect_error 2 '--color is given more than once' --color never fit tanh --color=never

# Folders that are not there: said before anything is computed, or made.
begin=$(date +%s%N)
expect_error 1 'missing/rows.md: cannot write: the folder missing:' explore $long --segments 8,12 -o missing/rows.md
expect_error 1 'small.json/rows.md: cannot write: small.json is no folder' explore $long -o small.json/rows.md
expect_error 1 'missing/a.svg' explore $long -o rows.md --svg missing/a.svg
expect_error 1 'missing/table.json' fit $long -o missing/table.json
checks=$((checks + 1))
[ $((($(date +%s%N) - begin) / 1000000)) -lt 6000 ] || fail 'a missing folder was not refused at once'
printf '[{"name": "a", "function": "tanh", "in": "s8:2^-5", "out": "s8:2^-7"}]' >jobs.json
expect_status 0 fit --spec jobs.json -o made && { cmp -s made/a.json small.json || fail 'the folder made has another table'; }
expect_status 0 fit --spec jobs.json -o made
rm -r made
expect_error 1 'missing/made' fit --spec jobs.json -o missing/made
expect_error 1 'small.json: is a file; name a folder' fit --spec jobs.json -o small.json
printf '[{"name": "a", "function": "sin", "in": "s10:2^-7", "out": "s8:2^-7", "rounding": "half_even", "shift": "one", "form": "biased"}]' \
    >jobs.json
for signal in INT TERM; do # while it is fitted
    checks=$((checks + 1))
    env --default-signal=INT "$pwlc" fit --spec jobs.json -o made 2>../err &
    sleep 0.3
    [ ! -e made ] || fail "fit --spec makes its folder before it has a table"
    kill -s "$signal" $!
    wait $! || true
    [ ! -e made ] || fail "fit --spec leaves an empty folder after SIG$signal"
done
printf '[{"name": "a", "function": "log", "in": "s8:2^-5", "out": "s8:2^-7", "outside": "clamp", "no_saturate": true}]' >jobs.json
expect_error 3 'leaves the output range' fit --spec jobs.json -o made
expect_error 2 '--plot g.png: the drawing is SVG' sweep small.json --plot g.png
expect_error 2 '--plot g.PDF: the drawing is SVG' sweep small.json --plot g.PDF

# Rows of several tables are in pieces of the terminal's width, each with the names in front.
for width in 60 70 80 90 100; do
    on_terminal sweep table.json small.json
    longest=$(tr -d '\r' <../screen | awk 'length > longest { longest = length } END { print longest }')
    [ "$longest" -gt 40 ] && [ "$longest" -le "$width" ] || fail "$width columns: a line of $longest: $(head -c 600 ../screen)"
    [ "$(grep -c '^| small.json ' ../screen)" -ge 2 ] || fail "$width columns: in one piece: $(head -c 600 ../screen)"
done
width=0

finish
