#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults in the arithmetic of operators of rows and of elements and in their proofs, one after the other: the hashes of
# hashes.txt, the constants that a check must refuse, or what elements, tiles and weighted sums must be, tell each of them.
# Every fifth of them, all with PWL_TEST_LONG.
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
rows/softmax_row.c|codes\[k\] > largest|codes[k] >= largest - 1
rows/softmax_row.c|RESULTS = 256|RESULTS = 255
rows/norm.c|codes\[k\] - norm->zp_x;|codes[k] - norm->zp_x + 1;
rows/row_proof.c|is_within(softmax->fraction, 8, 30)|is_within(softmax->fraction, 8, 31)
rows/row_proof.c|entries\[k\] > entries\[k - 1\]|entries[k] > entries[k - 1] + 1
rows/row_proof.c|for (d = 256; d < 65536; d += 256)|for (d = 256; d < 256; d += 256)
rows/row_proof.c|variance_shift \& 1|variance_shift \& 0
rows/row_proof.c|(int64_t)cell - 16384)) < 0)|(int64_t)cell - 16384)) < -9000000000)
rows/row_proof.c|product_of(t, gamma) < limit - beta|product_of(1, gamma) < limit - beta
rows/row_proof.c|spread > (uint64_t)(INT64_MAX - norm->eps) >> norm->variance_shift|spread > (uint64_t)(INT64_MAX - norm->eps)
include/pwl/rows.h|(sum >> softmax->fraction) \* e|(sum >> softmax->fraction)
include/pwl/rows.h|\* e + one / 2) >>|* e) >>
include/pwl/rows.h|drop = length + bits - 31;|drop = length + bits - 30;
include/pwl/rows.h|weighted = pwl_row_shr(weighted, drop);|weighted = weighted >> drop;
include/pwl/rows.h|drop > 0 ? 31 : length + bits|31
rows/tiles.c|largest > row->largest|largest >= row->largest
rows/tiles.c|row->rescalings++;|
rows/tiles.c|        row->largest = largest;|
rows/weigh.c|if (!pwl_softmax_masks(of, at + k))|if (1)
rows/weigh.c|codes\[c\] - values->zero_point|codes[c] + values->zero_point
rows/weigh.c|values->stride + from|values->channels + from
rows/weigh.c|of.mask + rows->mask_stride|of.mask
include/pwl/elements.h|x - requantise->zp_x|x + requantise->zp_x
include/pwl/elements.h|requantise->shift, PWL_HALF_UP|requantise->shift, PWL_HALF_AWAY
include/pwl/elements.h|add->shift, PWL_HALF_UP|add->shift, PWL_FLOOR
rows/codes.c|case PWL_S32:|case PWL_U32:
rows/elements.c|qmax_y - zp_y, zp_y}|qmax_y, zp_y}
rows/elements.c|half - (uint64_t)|0 - (uint64_t)
rows/elements.c|INT32_MAX - half|INT32_MAX
rows/elements.c|least >= INT32_MIN|least >= 2 * (int64_t)INT32_MIN
rows/elements.c|-limit < add->zp_y|-limit * 4 < add->zp_y
rows/elements.c|v < low ? low|v < low ? v
rows/elements.c|factor_b \* b\[k\]|factor_a * b[k]
rows/element_proof.c|in > PWL_S32|in > PWL_U32
rows/element_proof.c|highest - requantise->zp_x ?|highest + requantise->zp_x ?
rows/element_proof.c|requantise->shift - 1)|0)
rows/element_proof.c|multiplier < (int32_t)1 << 30|multiplier < (int32_t)1 << 29
rows/element_proof.c|add->factor_b < 0|add->factor_b < -1
rows/element_proof.c|CONSTANT_LIMIT ((int64_t)1 << 62)|CONSTANT_LIMIT INT64_MAX
rows/element_proof.c|is_within(shift, 1, 62)|is_within(shift, 1, 63)
'

compiler=("$@" -std=c11 -O1 -w -Iruntime/include)
# No fault is in these.
"${compiler[@]}" -c runtime/*.c

# Whether a program of Check fails, with its words of the environment.
fails() {
    local name=$1 libraries
    shift
    rm -f checked
    for libraries in "-lcheck -lsubunit -lm -lrt -lpthread" "-lcheck -lm -lpthread"; do
        # shellcheck disable=SC2086
        [ -e checked ] || "${compiler[@]}" "tests/runtime/$name.c" ./*.o $libraries -o checked 2>linked || true
    done
    [ -e checked ] || { cat linked && exit 1; }
    ! env "$@" timeout 60 ./checked >/dev/null 2>&1
}

# Whether what is built tells a fault.
seen() {
    "${compiler[@]}" -c runtime/rows/*.c || return 1
    "${compiler[@]}" tests/platform/row_{main,equivalence}.c tests/platform/hosted.c ./*.o -o rows || return 1
    timeout 20 ./rows >found 2>&1 || return 0
    cmp -s expected found || return 0
    fails test_runtime_elements CK_VERBOSITY=silent || fails test_runtime_tiles CK_VERBOSITY=silent ||
        fails test_runtime_rows_check CK_RUN_CASE=refused
}

failed=0
count=0
tried=0
if seen; then
    echo "FAILED: without a fault: $(cat found)"
    exit 1
fi
while IFS='|' read -r file what with; do
    [ -n "$file" ] || continue
    count=$((count + 1))
    [ -n "${PWL_TEST_LONG:-}" ] || [ $((count % 5)) -eq 0 ] || continue
    tried=$((tried + 1))
    cp "$source_root/runtime/$file" "runtime/$file"
    sed -i "s|$what|$with|" "runtime/$file"
    if cmp -s "$source_root/runtime/$file" "runtime/$file"; then
        echo "FAILED: $file has no \"$what\""
        failed=1
    elif ! seen; then
        echo "FAILED: no test sees \"$with\" for \"$what\" in $file"
        failed=1
    fi
    cp "$source_root/runtime/$file" "runtime/$file"
done <<<"$faults"
echo "$tried faults of $count"
exit $failed
