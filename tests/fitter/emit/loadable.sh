#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `pwlc emit --loadable`: a table over the write port gives the table's outputs; the C side makes the same words, and
# refuses tables that are unsafe or of other types; one file of words for each instance; each refusal of a flag.
. "$(dirname "$0")/../cli/lib.sh"
compiler=$3

holds() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" >../holds 2>&1 || fail "$what: $(head -c 600 ../holds)"
}

# Each form, each rounding, a fold, both signs, the three cases.
cases=(
    'tanh --in s8:2^-5 --out s8:2^-7'
    'gelu --in s8:2^-5 --out s8:2^-5 --form biased --rounding half_up'
    'silu --in u8:2^-4:100 --out u8:2^-5:10 --form anchored --rounding half_away --method minimax'
    'sigmoid --in s12:2^-8 --out u8:2^-8 --symmetry fold --rounding half_even --method uniform'
    'gelu --in s16:2^-12 --out s16:2^-12 --method uniform --segments 14'
    'softplus --in s32:2^-27 --out s32:2^-27 --method uniform --segments 9'
)

cat >main.c <<'END'
#include <stdio.h>
#include "table.h"
#include "loader.h"
int main(void)
{
    uint32_t words[LOADED][LIMBS];
    pwl_table other = table;
    if (m_words(&table, words) != PWL_OK)
        return 1;
    for (int i = 0; i < LOADED; i++) {
        for (int limb = LIMBS - 1; limb >= 0; limb--)
            printf("%08x", (unsigned)words[i][limb]);
        printf("\n");
    }
    /* What is not of the module's types, and what is not safe: a left shift of everything. */
    static const int8_t shifts[PWL_MAX_SEGMENTS] = {[0 ... PWL_MAX_SEGMENTS - 1] = -31};
    other.rounding ^= 1;
    fprintf(stderr, "%d", m_words(&other, words));
    other = table;
    other.zp_x += 1;
    fprintf(stderr, " %d", m_words(&other, words) != PWL_OK);
    other = table;
    other.qmax_y -= 1;
    fprintf(stderr, " %d", m_words(&other, words));
    other = table;
    other.segments = PWL_MAX_SEGMENTS + 1;
    fprintf(stderr, " %d", m_words(&other, words));
    other = table;
    other.n = shifts;
    fprintf(stderr, " %d\n", m_words(&other, words) != PWL_OK);
    return 0;
}
END

number=0
for words in "${cases[@]}"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$pwlc" fit $words -o t$number.json 2>../err || fail "$words: $(cat ../err)"
    for format in sv sv-tb mem loader; do
        expect_status 0 emit t$number.json --format $format --loadable 16 --name m -o m.$format
    done
    expect_status 0 emit t$number.json --name table -o table.h
    bits=$(sed -n 's/.*16 words of \([0-9]*\) bits.*/\1/p' m.mem | head -1)
    cp m.loader loader.h
    # shellcheck disable=SC2086
    holds "$words: the loader compiles" $compiler -std=gnu11 -Wall -Wextra -Werror -DLOADED=16 -DLIMBS=$(((bits + 31) / 32)) \
        -I"$root/runtime/include" -I"$root/runtime" -o main main.c "$root"/runtime/proof.c
    holds "$words: the loader runs" bash -c './main >words.txt 2>statuses.txt'
    holds "$words: the same words" diff <(sed 's/^0*//' words.txt) <(grep -v // m.mem | sed 's/^0*//')
    holds "$words: refusals $(cat statuses.txt)" grep -qx '3 1 6 4 1' statuses.txt
    if command -v iverilog >/dev/null; then
        last=$("$pwlc" show t$number.json | grep -q ' s32:' && echo 2000 || echo '')
        cp m.sv-tb m_tb.sv
        holds "$words: Icarus" iverilog -Wall -g2012 ${last:+-Pm_tb.LAST=$last} -o m.vvp m.sv m_tb.sv
        holds "$words: the bench" bash -c 'vvp -n m.vvp | grep -q "no mismatch"'
        # a word that is not loaded
        sed '/    words\[2\] = /s/h\(.\)\(.*\);/h\1\2 ^ 1'"'"'b1;/' m_tb.sv >broken_tb.sv
        holds "$words: Icarus" iverilog -g2012 ${last:+-Pm_tb.LAST=$last} -o m.vvp m.sv broken_tb.sv
        holds "$words: a wrong word is found" bash -c '! vvp -n m.vvp'
    fi
    if command -v verilator >/dev/null; then
        holds "$words: Verilator" verilator --lint-only -Wall m.sv
    fi
done

# One module, two functions.
if command -v iverilog >/dev/null; then
    "$pwlc" fit tanh --in s8:2^-5 --out s8:2^-7 -o a.json 2>../err
    "$pwlc" fit sigmoid --in s8:2^-5 --out s8:2^-7 -o b.json 2>../err
    expect_status 0 emit a.json --format sv --loadable 16 --name m -o m.sv
    expect_status 0 emit a.json --format mem --loadable 16 --name a -o a.mem
    expect_status 0 emit b.json --format mem --loadable 16 --name b -o b.mem
    cat >two.sv <<'END'
module two;
  logic clk = 0;
  logic signed [7:0] x = 0, a, b;
  m #(.INIT_FILE("a.mem")) u_a (.clk_i(clk), .rst_ni(1'b1), .write_i(1'b0), .address_i(4'd0), .word_i('0),
    .valid_i(1'b1), .x_i(x), .valid_o(), .y_o(a));
  m #(.INIT_FILE("b.mem")) u_b (.clk_i(clk), .rst_ni(1'b1), .write_i(1'b0), .address_i(4'd0), .word_i('0),
    .valid_i(1'b1), .x_i(x), .valid_o(), .y_o(b));
  initial begin
    for (integer k = -128; k < 128; k = k + 1) begin
      x = k[7:0];
      repeat (4) begin #1 clk = 1; #1 clk = 0; end
      $display("%0d %0d", a, b);
    end
  end
endmodule
END
    holds 'two instances' iverilog -g2012 -o two.vvp two.sv m.sv
    vvp -n two.vvp >both.txt
    holds 'two functions' diff both.txt <(paste -d ' ' <(seq -128 127 | "$pwlc" eval a.json -) <(seq -128 127 | "$pwlc" eval b.json -))
fi

expect_error 2 'a power of two from 2 to 256' emit t1.json --format sv --loadable 12
expect_error 2 'a power of two from 2 to 256' emit t1.json --format sv --loadable 512
expect_error 2 'a power of two from 2 to 256' emit t1.json --format sv --loadable many
expect_error 2 '--loadable 2: the table has' emit t1.json --format sv --loadable 2
for format in c v vhdl hls coe core sdc csv; do
    expect_error 2 "--loadable needs --format sv, sv-tb, mem or loader, not $format" emit t1.json --format $format --loadable 16
done
for flag in '--stages 2' '--rtl-style tree' '--rtl-handshake ready' '--rom mem'; do
    # shellcheck disable=SC2086
    expect_error 2 "${flag% *} with --loadable" emit t1.json --format sv --loadable 16 $flag
done
expect_error 2 '--format loader needs --loadable' emit t1.json --format loader
expect_error 2 '--loadable with --profile' emit t1.json --profile tosa8 --loadable 16
"$pwlc" fit rsqrt --in u16:2^-6:-6 --out u16:2^-14 --reduce on --segments 8 --method uniform -o reduced.json 2>../err
expect_error 2 'a reduced table needs more' emit reduced.json --format sv --loadable 16

finish
