#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs in shards, and runs that go on where others ended: the bytes of one run; and what is refused. mpi.sh has the ranks.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/fitter/cli/jobs_lib.sh
. "$(dirname "$0")/jobs_lib.sh"

# Every command that has jobs, as one process runs it.
commands=(
    'sweep a.json b.json --exhaustive --format json -o sweep.txt'
    'certify a.json --exhaustive -o certified.json'
    'explore tanh --in s8:2^-5 --out s8:2^-7 --segments 4,8,16 --form absolute,biased --method minimax,lsq,lut
        --shift per-segment,one --svg explored.svg'
    'fit --spec specs.json -o tables')

# The quick part: each in one shard and in another number of them, in turn.
for ((k = 0; k < ${#commands[@]}; k++)); do
    command=${commands[k]}
    # shellcheck disable=SC2086
    run $command
    [ "$status" -eq 0 ] || fail "pwlc $command: exit $status: $(head -c 300 ../err)"
    snapshot "$work/one"
    for shards in $(is_long && echo 1 2 3 4 || echo 1 $((2 + k % 3))); do
        files=
        for ((i = shards; i >= 1; i--)); do
            files="$files shard$i"
            # shellcheck disable=SC2086
            expect_status 0 $command --shard "$i/$shards" --resume "shard$i" || true
            if [ "$shards" -gt 1 ]; then
                [ ! -s ../out ] || fail "$command, shard $i/$shards: printed"
                for output in $outputs; do
                    [ ! -e "$output" ] || fail "$command, shard $i/$shards: wrote $output"
                done
            fi
        done
        # shellcheck disable=SC2086
        [ "$shards" -eq 1 ] || run merge $files
        same_as_one "$command in $shards shards"
        # shellcheck disable=SC2086
        rm $files
    done
    # Once more from a whole file, and from one whose run was ended at any byte.
    # shellcheck disable=SC2086
    run $command --resume whole
    same_as_one "$command --resume, a new file"
    cp whole first
    size=$(stat -c %s whole)
    for part in 20 $((size / 2)) "$size"; do
        head -c "$part" first >cut
        # shellcheck disable=SC2086
        run $command --resume cut
        same_as_one "$command --resume after $part of $size bytes"
        [ "$(stat -c %s cut)" -eq "$size" ] || fail "$command --resume after $part of $size bytes: another size"
    done
    cmp -s first cut || fail "$command --resume: a whole file changes"
    rm -f first whole cut
done

# What is killed at any time has lost nothing that it had finished: its file begins the next run's.
RANDOM=1
sweep='sweep a.json b.json --exhaustive --format json -o sweep.txt'
# shellcheck disable=SC2086
run $sweep
snapshot "$work/one"
for ((i = 0; i < $(is_long && echo 50 || echo 2); i++)); do
    rm -f killed
    # shellcheck disable=SC2086
    "$pwlc" $sweep --resume killed >../out 2>../err &
    sleep "0.$((RANDOM % 40 + 10))"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    rm -rf sweep.txt
    touch killed
    cp killed before
    # shellcheck disable=SC2086
    run $sweep --resume killed
    same_as_one "after kill -9, $i"
    whole=$(grep -aob pwlcjob before | tail -n 1 | cut -d : -f 1 || true)
    cmp -s -n "${whole:-0}" before killed || fail "after kill -9, $i: a finished job is not there any more"
done

# Refusals.
sweep='sweep b.json --exhaustive'
for i in 1 2 3; do
    # shellcheck disable=SC2086
    run $sweep --shard "$i/3" --resume "s$i"
done
expect_error 2 'journals are needed: pwlc merge FILE...' merge
expect_error 1 'nowhere: cannot open' merge nowhere
expect_error 2 'b.json: is no journal that --resume writes' merge b.json
expect_error 2 'shard 2/3 is missing; must be among the files' merge s1 s3
expect_error 2 's1 and s1 are both of shard 1/3' merge s1 s2 s1
cp s1 copy
expect_error 2 's1 and copy are both of shard 1/3' merge s1 copy s2 s3
head -c 1000 s2 >short
expect_error 2 'is not finished; run shard 2/3 again with --resume' merge s1 short s3
expect_error 2 '--shard 1/3: needs --resume FILE' $sweep --shard 1/3
for shard in 0/3 4/3 1 1/ /3 x/y 1/3/4 1/0 -1/3; do
    expect_error 2 "--shard $shard: must be I/N" $sweep --shard "$shard" --resume new
done
expect_error 2 '--resume needs a value' $sweep --resume
expect_error 2 '--resume is given more than once' $sweep --resume new --resume new
expect_error 2 's1: the journal of shard 1/3, must be of 2/3' $sweep --shard 2/3 --resume s1
expect_error 2 's1: the journal of `pwlc sweep b.json --exhaustive`, must be of `pwlc sweep a.json --exhaustive`' \
    sweep a.json --exhaustive --shard 1/3 --resume s1
expect_error 2 'b.json: is no journal that --resume writes' $sweep --resume b.json
"$pwlc" certify a.json --exhaustive --shard 1/2 --resume c1
expect_error 2 'c1: the journal of `pwlc certify a.json --exhaustive`, must be of' merge s1 c1
run sweep b.json --exhaustive --shard 1/2 --resume half
expect_error 2 'half: of 2 shards, must be of 3, as s1' merge s1 half s3
expect_error 2 'is no regular file, which a journal must be' $sweep --resume /dev/null
cat b.json | expect_error 2 'an input is no regular file' sweep - --exhaustive --resume new
rm -f new
expect_error 2 '--resume new: of --spec alone' fit tanh --in s8:2^-5 --out s8:2^-7 --resume new
expect_error 2 '--resume new: of --exhaustive' sweep b.json --resume new
expect_error 2 '--resume new: of --exhaustive' certify b.json --resume new

# Verification has no bytes that last: it says times. In parts of the codes it says as much as in one.
"$pwlc" fit tanh --in s25:2^-21 --out s8:2^-7 --segments 4 -o wide.json 2>../err
if is_long; then
    run verify wide.json --against standalone --exhaustive --inject
    cp ../err ../alone
    for i in 1 2; do
        run verify wide.json --against standalone --exhaustive --inject --shard "$i/2" --resume "v$i"
    done
    expect_status 3 merge v1 v2 && sed 's/^pwlc merge/pwlc verify/' ../err | cmp -s - ../alone ||
        fail "verify in parts: $(cat ../err), not $(cat ../alone)"
fi

# A file that has changed since, in a byte that means nothing; one that is broken; and one of another version.
cp b.json kept.json
echo >>b.json
expect_error 2 's1: the journal of the same command with other content of its inputs; must be of the same' merge s1 s2 s3
cp kept.json b.json
at=$(($(grep -aob pwlcjob s2 | sed -n 2p | cut -d : -f 1) + 100))
cp s2 broken
printf 'X' | dd of=broken bs=1 seek="$at" conv=notrunc 2>/dev/null
cat s2 >>broken
expect_error 2 'is broken, and others follow; remove the file' merge s1 broken s3
expect_error 2 'is broken, and others follow; remove the file' $sweep --shard 2/3 --resume broken
/usr/bin/python3 - <<'END_PYTHON'
# A head that says another version, with its hash.
import hashlib, struct
data = open("s1", "rb").read()
size, = struct.unpack_from("<q", data, 16)
head = data[56:56 + size].replace(b"0.1.0", b"9.9.9", 1)
assert head != data[56:56 + size]
fields = data[8:24]
open("newer", "wb").write(data[:24] + hashlib.sha256(fields + head).digest() + head + data[56 + size:])
# A record of no job, and one that is there twice.
job = data[56 + size:]
fields, rest = struct.pack("<q", 7777) + job[16:24], job[56:56 + struct.unpack_from("<q", job, 16)[0]]
wrong = job[:8] + fields + hashlib.sha256(fields + rest).digest() + rest
open("nojob", "wb").write(data[:56 + size] + wrong)
open("twice", "wb").write(data + job[:56 + len(rest)])
END_PYTHON
expect_error 2 'newer: a journal of pwlc 9.9.9' merge newer
expect_error 2 'is of no job' merge nojob s2 s3
expect_error 2 'is there twice' merge twice s2 s3
expect_error 2 'is there twice' $sweep --shard 1/3 --resume twice

# One that another process adds to; a full disk, after which the file is as good as it was.
exec 9<>s1
flock 9
expect_error 2 's1: another run of pwlc adds to it' $sweep --shard 1/3 --resume s1
exec 9>&-
checks=$((checks + 1))
status=0
(trap '' XFSZ; ulimit -f 40; exec "$pwlc" $sweep --resume full >../out 2>../err) || status=$?
[ "$status" -eq 1 ] && grep -q '^pwlc sweep: full: cannot write: ' ../err ||
    fail "a full disk: exit $status: $(head -c 300 ../err)"
[ ! -s ../out ] || fail 'a full disk: printed'
expect_status 0 $sweep && cp ../out ../whole
expect_status 0 $sweep --resume full && cmp -s ../out ../whole || fail 'after a full disk: other output'
for i in 1 2; do
    run sweep a.json --exhaustive --format json -o merged.txt --shard "$i/2" --resume "m$i"
done
checks=$((checks + 1))
status=0
(trap '' XFSZ; ulimit -f 1; exec "$pwlc" merge m1 m2 >../out 2>../err) || status=$?
[ "$status" -eq 1 ] && grep -q '^pwlc merge: merged.txt: cannot write: ' ../err && [ ! -e merged.txt ] ||
    fail "merge, a full disk: exit $status: $(head -c 300 ../err)"

# mpirun without the library of MPI: not where it is said to be, nowhere, and where that lacks a library in turn.
# without_mpi WORDS PWLC: the exit code of a missing tool, and one message.
without_mpi() {
    checks=$((checks + 1))
    status=0
    OMPI_COMM_WORLD_RANK=0 "$2" $sweep >../out 2>../err || status=$?
    [ "$status" -eq 77 ] && [ ! -s ../out ] && [ "$(wc -l <../err)" -eq 1 ] &&
        grep -q "^pwlc sweep: started by mpirun: $1" ../err || fail "no MPI, $1: exit $status: $(head -c 300 ../err)"
}
PWL_MPI_LIBRARY=/nowhere/libpwlc-mpi.so without_mpi 'PWL_MPI_LIBRARY: /nowhere/libpwlc-mpi.so: ' "$pwlc"
mkdir ../alone
cp "$pwlc" ../alone
unset PWL_MPI_LIBRARY
without_mpi "libpwlc-mpi.so is neither in $work/alone nor in .*; build it with -Dmpi=enabled, or name it in" ../alone/pwlc
if command -v cc >/dev/null; then
    echo 'int pwlc_mpi_abi(void); int pwlc_mpi_abi(void) { return 0; }' >mpi.c
    cc -shared -fPIC mpi.c -o libmpi_is_gone.so -Wl,-soname,libmpi_is_gone.so
    cc -shared -fPIC mpi.c -o ../alone/libpwlc-mpi.so -Wl,--no-as-needed libmpi_is_gone.so
    rm libmpi_is_gone.so
    without_mpi "$work/alone/libpwlc-mpi.so: libmpi_is_gone.so: cannot open shared object file" ../alone/pwlc
fi

finish
