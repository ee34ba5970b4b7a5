#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the runtime takes of a chip: the flash of programs that map arrays, built for tables of 8, 16 and 32 bits, on AVR
# with tables in flash, and that RAM holds none of them; and the stack of every path through the library. docs/firmware.md and the headers say the limits. Exit 77, a skip, without
# a compiler. usage: check_sizes.sh TARGET SOURCE_ROOT COMPILER...
set -eu
target=$1 source_root=$2
shift 2
command -v "$1" >/dev/null || { echo "$1 is missing; ./dev test installs it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compile BITS FLAGS...: all sources into $work/BITS.
compile() {
    local bits=$1 source flags
    shift
    mkdir "$work/$bits"
    for source in "$source_root"/runtime/*.c $sources; do
        flags=
        case $source in
        *_avx512vbmi.c) flags='-mavx512f -mavx512bw -mavx512vbmi' ;;
        *_avx512.c) flags='-mavx512f -mavx512bw -mavx512dq -mavx512vl' ;;
        *_avx512vnni.c) flags='-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni' ;;
        *_avx2.c) flags=-mavx2 ;;
        *_sse41.c) flags=-msse4.1 ;;
        esac
        # shellcheck disable=SC2086
        (cd "$work/$bits" && "${compiler[@]}" "$@" $flags -DPWL_MOST_BITS="$bits" -c "$source")
    done
}

# link BITS FLAGS...
link() {
    local quiet=(-Wl,--no-warn-rwx-segments)
    [ "$target" != avr ] || quiet=() # an older linker, which does not know it
    "${compiler[@]}" -nostdlib -static -Wl,--gc-sections -Wl,-e,start "${quiet[@]}" "${@:2}" "$work/$1"/*.o -lgcc \
        -o "$work/program"
}

# flash BITS LIMIT MAIN: of a program that calls what MAIN says.
flash() {
    local bytes
    echo "$3" | "${compiler[@]}" -Os -include "$source_root/runtime/include/pwl/plan.h" -x c -c - -o "$work/$1/main.o"
    link "$1"
    bytes=$("${compiler[0]%gcc}size" "$work/program" | awk 'NR == 2 { print $1 + $2 }')
    echo "$target: tables of $1 bits: $bytes of $2 bytes of flash: ${3##*:*/ }"
    [ "$bytes" -le "$2" ] || { echo "FAILED: more than $2 bytes"; failed=1; }
}

# stack BITS LIMIT:FUNCTIONS...
stack() {
    local bits=$1
    shift
    : >"$work/removed"
    if [ "$target" != x86_64 ]; then
        "${compiler[@]}" -DWHOLE -c "$source_root/tests/mcu/main.c" -o "$work/$bits/main.o"
        link "$bits" -Wl,--unresolved-symbols=ignore-all -Wl,--print-gc-sections 2>"$work/removed"
    fi
    python3 "$source_root/tests/mcu/stack_paths.py" "$work/removed" "$@" -- "$work/$bits"/*.ci || failed=1
}

compiler=("$@" -std=c11 -Wall -Wextra -Werror -ffreestanding -fno-pic -ffunction-sections -fdata-sections
    -fcallgraph-info=su "-I$source_root/runtime/include")
sources=$(echo "$source_root"/runtime/rows/*.c)
table='const pwl_table *volatile table; int8_t a[9]; int16_t b[9]; char memory[9]; pwl_plan plan;
void start(void); void start(void) { '
checked='if (pwl_table_check(table, 0) == PWL_OK) /*:*/'
plan8='pwl_plan_init(&plan, memory, 9, table, PWL_S8, PWL_S8, PWL_LEVELS_ALL) == PWL_OK) pwl_run(&plan, a, a, 9); }'
plan16='pwl_plan_init(&plan, memory, 9, table, PWL_S16, PWL_S16, PWL_LEVELS_ALL) == PWL_OK) pwl_run(&plan, b, b, 9); }'
maps='pwl_(map|plan|reduced|fits|table|eval|segment|plain|levels).*|pwl_run.*|pwl_(values|cells|octaves|bytes).*'

if [ "$target" = x86_64 ]; then
    compiler+=(-DPWL_HAVE_AVX512 -DPWL_HAVE_AVX2 -DPWL_HAVE_SSE41)
    sources+=" $(echo "$source_root"/runtime/x86/*.c)"
    compile 32 -O2
    stack 32 28672:'pwl_map_.*' 36864:'pwl_run_real'
    exit $failed
fi
if [ "$target" = avr ]; then # whose gcc 5 tells of no paths
    sources=
    compiler=("$@" -std=c11 -Os -Wall -Wextra -Werror -ffreestanding -ffunction-sections -fdata-sections
        -DPWL_TABLES_IN_FLASH "-I$source_root/runtime/include")
    for bits in 8 16; do
        sed 's/^\(static const .*\[\]\) =/\1 PROGMEM =/' "$source_root/luts/pwl_gelu_s$bits.h" >"$work/table.h"
        compile $bits
        flash $bits $((bits == 8 ? 10240 : 10752)) "#include \"$work/table.h\"
            int$((bits))_t a[9]; void start(void); void start(void) {
            if (pwl_table_check(&pwl_gelu_s$bits, 0) == PWL_OK) /*:*/ pwl_map_s${bits}_s$bits(&pwl_gelu_s$bits, a, a, 9); }"
        ram=$(avr-size "$work/program" | awk 'NR == 2 { print $2 + $3 }')
        echo "$target: tables of $bits bits: $ram bytes of RAM, of which an array takes $((9 * bits / 8))"
        [ "$ram" -le 128 ] || { echo "FAILED: arrays of a table lie in RAM"; failed=1; }
    done
    exit $failed
fi
case $target in
cortex-m4) compiler+=(-DPWL_HAVE_DSP) sources+=" $source_root/runtime/arm/cells16_dsp.c" ;;
cortex-m55)
    compiler+=(-DPWL_HAVE_DSP -DPWL_HAVE_HELIUM)
    sources+=" $(echo "$source_root"/runtime/arm/*_{dsp,helium}.c)"
    ;;
esac
compile 8 -Os
flash 8 3072 "$table$checked pwl_map_s8_s8(table, a, a, 9); }"
flash 8 5376 "$table$checked if (${plan8#}"
compile 16 -Os
flash 16 6144 "$table$checked pwl_map_s16_s16(table, b, b, 9); }"
flash 16 15360 "$table$checked if ($plan16"
compile 32 -O2
for bits in 8 16 32; do
    stack $bits 1024:"$maps" 1536:'pwl_(softmax|norm)_run'
done
exit $failed
