#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pwlc under mpirun: the bytes of one process at any number of ranks; the death of a rank, which is named with its job,
# and after which --resume goes on.
. "$(dirname "$0")/lib.sh"
command -v mpirun >/dev/null || { echo "mpirun is missing; ./dev test installs it"; exit 77; }
[ -n "${PWL_MPI_LIBRARY:-}" ] || { echo 'pwlc was built without MPI'; exit 77; }
export ASAN_OPTIONS=detect_leaks=0 # MPI has leaks of its own
# shellcheck source=tests/fitter/cli/jobs_lib.sh
. "$(dirname "$0")/jobs_lib.sh"

# ranks COUNT ARGUMENT...: as run of lib.sh. Open MPI tells what fails in a frame of its own.
ranks() {
    local count=$1
    shift
    status=0
    timeout 100 mpirun --allow-run-as-root --oversubscribe -n "$count" "$pwlc" "$@" >../out 2>../err || status=$?
}

"$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 -o t8.json 2>../err
sweep='sweep a.json b.json --exhaustive --format json -o sweep.txt'
commands=(
    "$sweep"
    'certify a.json --exhaustive -o certified.json'
    'certify a.json -o certified.json'
    'sweep a.json -o sweep.txt'
    'explore tanh --in s8:2^-5 --out s8:2^-7 --segments 4,8 --form absolute,biased --method minimax,lut --svg explored.svg'
    'fit tanh --in s8:2^-5 --out s8:2^-7 -o tables'
    'fit --spec specs.json -o tables')

# The quick part: each in one number of ranks, in turn.
for ((k = 0; k < ${#commands[@]}; k++)); do
    command=${commands[k]}
    # shellcheck disable=SC2086
    run $command
    snapshot "$work/one"
    for count in $(is_long && echo 1 2 3 || echo $((3 - k % 3))); do
        # shellcheck disable=SC2086
        ranks "$count" $command
        same_as_one "$command in $count ranks"
    done
done

# Targets of a verification; the times that it says are none of its bytes.
timeless() { sed 's/, [0-9.]* s,/, T s,/' ../out >../timeless; }
run verify t8.json --against standalone
timeless
cp ../timeless ../alone
ranks 2 verify t8.json --against standalone
timeless
checks=$((checks + 1))
cmp -s ../alone ../timeless || fail "verify in 2 ranks: $(cat ../out ../err)"
ranks 2 verify t8.json --against standalone --inject
checks=$((checks + 1))
[ "$status" -eq 3 ] && grep -q '^pwlc verify: standalone: code .* differ)' ../err || fail "verify --inject: $(head -c 900 ../err)"

# A shard in ranks, and the other in one process.
# shellcheck disable=SC2086
run $sweep
snapshot "$work/one"
# shellcheck disable=SC2086
ranks 2 $sweep --shard 1/2 --resume one
# shellcheck disable=SC2086
run $sweep --shard 2/2 --resume two
run merge two one
same_as_one 'a shard in ranks'

# kill -9 of any rank at any time. Who has died, and at what, is said; what was finished is there. Further runs until one
# was at a job, since a slow machine may have it elsewhere in all of the first.
runs=$(is_long && echo 50 || echo 4)
ended=0
killed=0
kept=0
hung=0
RANDOM=1
for ((i = 0; i < runs || (killed == 0 && i < 40); i++)); do
    rm -f journal
    # shellcheck disable=SC2086
    mpirun --allow-run-as-root --oversubscribe -n 3 "$pwlc" $sweep --resume journal >../out 2>../err &
    launcher=$!
    victim=$((RANDOM % 3))
    # Every other time as soon as there is a finished job, however slow the machine is.
    for ((waited = 0; i % 2 && waited < 2000; waited++)); do
        [ "$(grep -ao pwlcjob journal 2>/dev/null | wc -l)" -lt 2 ] || break
        sleep 0.01
    done
    sleep "$([ $((i % 2)) -eq 1 ] && printf '0.%03d' $((RANDOM % 100)) ||
        printf '%d.%03d' $((RANDOM % 2)) $((300 + RANDOM % 700)))"
    process=$(pgrep -P "$launcher" -x pwlc | sort -n | sed -n "$((victim + 1))p" || true)
    [ -z "$process" ] || kill -9 "$process" 2>/dev/null || true
    # Open MPI 4.1.4 may wait for ever where a rank dies while it connects: then no pwlc is left, and it is ended here.
    for ((waited = 0; waited < 500; waited++)); do
        kill -0 "$launcher" 2>/dev/null || break
        sleep 0.2
    done
    if kill -0 "$launcher" 2>/dev/null; then
        ! ps -o stat= --ppid "$launcher" | grep -qv '^Z' || fail "kill -9 of rank $victim, $i: other ranks go on"
        hung=$((hung + 1))
        kill -9 "$launcher"
    fi
    code=0
    wait "$launcher" || code=$?
    if [ "$code" -ne 0 ]; then
        checks=$((checks + 1))
        ended=$((ended + 1))
        [ "$code" -eq 137 ] || fail "kill -9 of rank $victim, $i: mpirun ends with $code: $(head -c 900 ../err)"
        # A rank that is at no job yet, or not any more, dies without one.
        if grep -q "^pwlc: rank " ../err; then
            killed=$((killed + 1))
            grep -qE "^pwlc: rank $victim on .* \(process $process\) has died at (or behind )?job [0-9]+ \(codes .*\)" ../err ||
                fail "kill -9 of rank $victim, $i: $(grep '^pwlc' ../err)"
        fi
    fi
    rm -f sweep.txt
    touch journal
    cp journal before
    # shellcheck disable=SC2086
    ranks 2 $sweep --resume journal
    same_as_one "after kill -9 of rank $victim, $i"
    whole=$(grep -aob pwlcjob before | tail -n 1 | cut -d : -f 1 || true)
    [ ! -s before ] || kept=$((kept + $(grep -ao pwlcjob before | wc -l) - 1)) # behind the head
    cmp -s -n "${whole:-0}" before journal || fail "after kill -9 of rank $victim, $i: a finished job is not there any more"
done
[ "$killed" -gt 0 ] || fail 'no rank was killed at a job'
printf 'kill -9: %d runs, %d ended by it, %d of them at a job; %d finished jobs were kept; mpirun hung in %d\n' "$i" \
    "$ended" "$killed" "$kept" "$hung"

# said CODE WORDS: mpirun ended with the code, and of all ranks one said so.
said() {
    checks=$((checks + 1))
    [ "$status" -eq "$1" ] || fail "exit $status, expected $1: $(head -c 900 ../err)"
    [ "$(grep -c '^pwlc' ../err)" -eq 1 ] && grep '^pwlc' ../err | grep -qF -- "$2" ||
        fail "expected one message \"$2\": $(head -c 900 ../err)"
}
ranks 3 sweep nowhere.json --exhaustive
said 1 'nowhere.json: cannot open'
ranks 3 sweep a.json --exhaustive --frobnicate
said 2 '--frobnicate is not a flag of sweep'
ranks 2 sweep b.json --exhaustive --max-err 0
said 3 'exceeds'
run sweep b.json --exhaustive --resume of-b
ranks 2 sweep a.json --exhaustive --resume of-b
said 2 'of-b: the journal of `pwlc sweep b.json --exhaustive`, must be of `pwlc sweep a.json --exhaustive`'
mkdir full # a limit on the size of files is one of MPI's own, too; without the right to mount, jobs.sh has this alone
if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
    mounted=$PWD/full
    ranks 2 sweep a.json --exhaustive --resume full/journal
    said 1 'full/journal: cannot write: No space left on device'
fi

# A rank with other inputs: each sees a file of its own by the same name.
mkdir 0 1
cp a.json 0/table.json
cp b.json 1/table.json
status=0
mpirun --allow-run-as-root --oversubscribe -n 2 bash -c 'cd $OMPI_COMM_WORLD_RANK && exec "$@"' bash \
    "$pwlc" sweep table.json --exhaustive >../out 2>../err || status=$?
said 2 'has other inputs, or another pwlc, than rank 0; must be the same'
rm 1/table.json
status=0
mpirun --allow-run-as-root --oversubscribe -n 2 bash -c 'cd $OMPI_COMM_WORLD_RANK && exec "$@"' bash \
    "$pwlc" sweep table.json --exhaustive >../out 2>../err || status=$?
checks=$((checks + 1))
[ "$status" -eq 1 ] && grep -q '^pwlc sweep: table.json: cannot open' ../err &&
    grep -q '^pwlc sweep: rank 1 on .* has failed, with code 1' ../err || fail "a rank that fails: $(head -c 900 ../err)"

finish
