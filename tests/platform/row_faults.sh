#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults in the arithmetic of row operators and in their proofs, one after the other: the hashes of hashes.txt, or the
# constants that a check must refuse, tell each of them.
# usage: row_faults.sh SOURCE COMPILER...
set -eu
source_root=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source_root/runtime" "$work"
cp -r "$source_root/tests" "$work"
cd "$work"
grep '^few rows ' tests/platform/hashes.txt >expected
[ "$(wc -l <expected)" -ge 5 ] || { echo "no hashes of rows in hashes.txt"; exit 1; }

# FILE|WHAT|WITH: the first is a source of runtime/, WHAT is text that it has once, or that is changed at each place.
faults='
include/pwl/rows.h|32 - pwl_bit_length(sum);|31 - pwl_bit_length(sum);
include/pwl/rows.h|(word >> 16) - 32768;|(word >> 16) - 32767;
include/pwl/rows.h|(word >> 16) - 16384;|(word >> 16) - 16385;
include/pwl/rows.h|(r << 15) + ((r \* (err >> 15)) >> 17);|(r << 15) + ((r * (err >> 15)) >> 18);
include/pwl/rows.h|(r << 15) + ((r \* (err >> 15)) >> 17);|(r << 15);
include/pwl/rows.h|((int64_t)1 << 47) - (int64_t)word|((int64_t)1 << 46) - (int64_t)word
include/pwl/rows.h|((uint64_t)word + 1) >> 1)) >> 15);|((uint64_t)word + 1) >> 1)) >> 14);
include/pwl/rows.h|result.shift = 62 - cell.up;|result.shift = 63 - cell.up;
include/pwl/rows.h|result.shift = 46 - cell.up / 2;|result.shift = 46 - cell.up;
include/pwl/rows.h|up = 32 - length - (length \& 1);|up = 32 - length;
include/pwl/rows.h|n > 62 ? 0 : pwl_shr64(p, n, PWL_HALF_UP)|n > 62 ? 0 : pwl_shr64(p, n, PWL_FLOOR)
include/pwl/rows.h|pwl_shr64(p, n, PWL_HALF_UP)|pwl_shr64(p, n, PWL_HALF_AWAY)
include/pwl/rows.h|((uint64_t)1 << (shift - 1))) >> shift)|0) >> shift)
include/pwl/rows.h|softmax->exp_high\[d >> 8\]|softmax->exp_high[(d + 1) >> 8]
include/pwl/rows.h|744261118|744261119
include/pwl/rows.h|z - ((z \* z) >> 31)|z - ((z * z) >> 30)
include/pwl/rows.h|(word >> 24) - 128;|(word >> 24) - 127;
include/pwl/rows.h|length - 1 - softmax->fraction|length - softmax->fraction
include/pwl/rows.h|softmax->step) - log;|softmax->step) + log;
include/pwl/rows.h|norm->length \* squares - a \* a|norm->length * squares - a
include/pwl/rows.h|+ (uint64_t)norm->eps;|;
include/pwl/rows.h|norm->variance_shift / 2;|norm->variance_shift;
include/pwl/rows.h|- norm->fraction - norm->variance|- norm->variance
include/pwl/rows.h|norm->length \* u - row->sum|norm->length * u
include/pwl/rows.h|norm->beta\[c\] : 0|norm->beta[c] * 2 : 0
rows/softmax.c|codes\[k\] > largest|codes[k] >= largest - 1
rows/softmax.c|RESULTS = 256|RESULTS = 255
rows/norm.c|codes\[k\] - norm->zp_x;|codes[k] - norm->zp_x + 1;
rows/row_proof.c|is_within(softmax->fraction, 8, 30)|is_within(softmax->fraction, 8, 31)
rows/row_proof.c|entries\[k\] > entries\[k - 1\]|entries[k] > entries[k - 1] + 1
rows/row_proof.c|for (d = 256; d < 65536; d += 256)|for (d = 256; d < 256; d += 256)
rows/row_proof.c|variance_shift \& 1|variance_shift \& 0
rows/row_proof.c|(int64_t)cell - 16384)) < 0)|(int64_t)cell - 16384)) < -9000000000)
rows/row_proof.c|product_of(t, gamma) < limit - beta|product_of(1, gamma) < limit - beta
rows/row_proof.c|spread > (uint64_t)(INT64_MAX - norm->eps) >> norm->variance_shift|spread > (uint64_t)(INT64_MAX - norm->eps)
'

# No fault is in these.
"$@" -std=c11 -O1 -w -Iruntime/include -c runtime/*.c

# Whether what is built tells a fault.
seen() {
    "$@" -std=c11 -O1 -w -Iruntime/include -c runtime/rows/*.c || return 1
    "$@" -std=c11 -O1 -w -Iruntime/include tests/platform/row_{main,equivalence}.c tests/platform/hosted.c ./*.o -o rows ||
        return 1
    timeout 20 ./rows >found 2>&1 || return 0
    cmp -s expected found || return 0
    "$@" -std=c11 -O1 -w -Iruntime/include tests/runtime/test_runtime_rows_check.c ./*.o -lcheck -lsubunit -lm -lrt -lpthread \
        -o refused 2>/dev/null ||
        "$@" -std=c11 -O1 -w -Iruntime/include tests/runtime/test_runtime_rows_check.c ./*.o -lcheck -lm -lpthread -o refused
    ! CK_RUN_CASE=refused timeout 60 ./refused >/dev/null 2>&1
}

failed=0
count=0
if seen "$@"; then
    echo "FAILED: without a fault: $(cat found)"
    exit 1
fi
while IFS='|' read -r file what with; do
    [ -n "$file" ] || continue
    count=$((count + 1))
    cp "$source_root/runtime/$file" "runtime/$file"
    sed -i "s|$what|$with|" "runtime/$file"
    if cmp -s "$source_root/runtime/$file" "runtime/$file"; then
        echo "FAILED: $file has no \"$what\""
        failed=1
    elif ! seen "$@"; then
        echo "FAILED: no test sees \"$with\" for \"$what\" in $file"
        failed=1
    fi
    cp "$source_root/runtime/$file" "runtime/$file"
done <<<"$faults"
echo "$count faults"
exit $failed
