/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bench in VHDL. It holds hashes of the outputs that the runtime computed, one for each block of codes: of a code
 * each for inputs of up to 8 bits. A single output that differs changes the hash of its block.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "codes.h"
#include "rtl.h"
#include "verilog.h"

#define MOST_BLOCKS 512

/* Of the outputs of a block: h = (h ^ y) * prime, modulo 2^32; prime = 2^24 + 403, an odd number. */
#define HASH_START UINT32_C(0x811c9dc5)
#define HASH_PRIME UINT32_C(0x01000193)

static uint32_t hash_of_block(const struct module *m, const struct codes *codes, int64_t first, int64_t last)
{
    const uint64_t mask = UINT64_MAX >> (64 - m->table->out.bits);
    uint32_t hash = HASH_START;
    for (int64_t place = first; place < last; place++)
        hash = (hash ^ (uint32_t)((uint64_t)packed_eval(&m->packed, code_at(codes, place)) & mask)) * HASH_PRIME;
    return hash;
}

static int64_t codes_of_block(const struct codes *codes)
{
    int64_t block = 1;
    while (codes->count / block > MOST_BLOCKS)
        block *= 2;
    return block;
}

static void add_hashes(struct text *out, const struct module *m, const struct codes *codes)
{
    const int64_t block = codes_of_block(codes), blocks = (codes->count + block - 1) / block;
    text_add(out,
             "\n  -- Of the outputs of each block of codes.\n"
             "  type hashes_t is array (0 to %" PRId64 ") of unsigned(31 downto 0);\n"
             "  constant HASHES : hashes_t := (\n   ",
             blocks - 1);
    for (int64_t k = 0; k < blocks; k++) {
        const int64_t last = smaller_integer((k + 1) * block, codes->count);
        text_add(out, " 32x\"%08" PRIx32 "\"%s", hash_of_block(m, codes, k * block, last),
                 k + 1 == blocks ? "\n  );\n"
                 : k % 8 == 7    ? ",\n   "
                                 : ",");
    }
}

static void add_codes(struct text *out, const struct codes *codes)
{
    const uint64_t mask = UINT64_MAX >> (64 - codes->bits);
    if (codes->listed) {
        text_add(out,
                 "\n  type listed_t is array (0 to %" PRId64 ") of std_logic_vector(%d downto 0);\n"
                 "  constant LISTED : listed_t := (\n   ",
                 codes->listed_count - 1, codes->bits - 1);
        for (int64_t i = 0; i < codes->listed_count; i++)
            text_add(out, " %dx\"%0*" PRIx64 "\"%s", codes->bits, (codes->bits + 3) / 4,
                     (uint64_t)codes->listed[i] & mask,
                     i + 1 == codes->listed_count ? "\n  );\n"
                     : i % 8 == 7                 ? ",\n   "
                                                  : ",");
    }
    text_add(out,
             "\n  -- The code at a place of the stream%s.\n"
             "  function code_at(place : natural) return std_logic_vector is\n"
             "    variable mixed : unsigned(31 downto 0) := to_unsigned(place, 32);\n"
             "  begin\n",
             codes->has_all ? ": every one" : ": those around knots and limits, then drawn ones");
    if (!codes->has_all)
        text_add(out,
                 "    if place < %" PRId64 " then\n"
                 "      return LISTED(place);\n"
                 "    end if;\n"
                 "    mixed := resize((mixed xor shift_right(mixed, 16)) * unsigned'(32x\"7feb352d\"), 32);\n"
                 "    mixed := resize((mixed xor shift_right(mixed, 15)) * unsigned'(32x\"846ca68b\"), 32);\n"
                 "    mixed := mixed xor shift_right(mixed, 16);\n",
                 codes->listed_count);
    text_add(out, "    return std_logic_vector(mixed(%d downto 0));\n  end function;\n", codes->bits - 1);
}

static void add_signals(struct text *out, const struct module *m)
{
    text_add(out,
             "\n  signal clk, rst_n, valid_in : std_logic := '0';\n"
             "  signal ready_in, ready_out : std_logic := '1';\n"
             "  signal valid_out : std_logic;\n"
             "  signal x : std_logic_vector(%d downto 0) := (others => '0');\n"
             "  signal y : std_logic_vector(%d downto 0);\n"
             "  signal running : boolean := false;\n"
             "  signal received_codes : natural := 0;\n"
             "begin\n\n"
             "  dut : entity work.%s\n"
             "    port map (clk_i => clk, rst_ni => rst_n, valid_i => valid_in, x_i => x, valid_o => valid_out, y_o => "
             "y%s);\n",
             m->table->in.bits - 1, m->table->out.bits - 1, m->name,
             m->has_ready ? ",\n      ready_o => ready_out, ready_i => ready_in" : "");
}

static const char stream[] =
    "\n"
    "  clk <= not clk after 5 ns;\n"
    "\n"
    "  process (clk)\n"
    "    -- Codes that were taken, and those that came out; the order tells which is which.\n"
    "    variable sent, following, received : natural := 0;\n"
    "    variable taken : boolean;\n"
    "    -- What gaps and waits are drawn from.\n"
    "    variable draw : unsigned(31 downto 0) := to_unsigned(1, 32);\n"
    "    -- valid_in, now and before; edges since ready_in was 0; what must stand still.\n"
    "    variable entered : std_logic_vector(LATENCY + 1 downto 0) := (others => '0');\n"
    "    variable flowing, cycles : natural := 0;\n"
    "    variable held : boolean := false;\n"
    "    variable held_y : std_logic_vector(y'range);\n"
    "    variable hash : unsigned(31 downto 0);\n"
    "\n"
    "    impure function is_drawn(bit : natural; draw_bit : natural) return boolean is\n"
    "    begin\n"
    "      return (following / 2**bit) mod 2 = 1 and draw(draw_bit) = '1';\n"
    "    end function;\n"
    "  begin\n"
    "    if rising_edge(clk) then\n"
    "      cycles := cycles + 1;\n"
    "      assert cycles / 8 <= LAST + 100\n"
    "        report integer'image(received) & \" of \" & integer'image(LAST) & \" codes came out\" severity failure;\n"
    "      if not running then\n"
    "        -- What was inside is lost, and sent again.\n"
    "        sent := received;\n"
    "        valid_in <= '0';\n"
    "        entered := (others => '0');\n"
    "        flowing := 0;\n"
    "        held := false;\n"
    "      else\n"
    "        taken := valid_in = '1' and ready_out = '1';\n"
    "        following := sent + 1 when taken else sent;\n"
    "        entered := entered(LATENCY downto 0) & valid_in;\n"
    "        assert ready_in = '0' or ready_out = '1'\n"
    "          report \"ready_o is 0 where ready_i is 1\" severity failure;\n"
    "        assert flowing < LATENCY or valid_out = entered(LATENCY)\n"
    "          report \"valid_o is not valid_i of \" & integer'image(LATENCY) &\n"
    "            \" edges before; emit module and bench with the same --stages\" severity failure;\n"
    "        assert not held or (valid_out = '1' and y = held_y)\n"
    "          report \"an output changed while it waited\" severity failure;\n"
    "        flowing := flowing + 1 when ready_in = '1' else 0;\n"
    "        held := valid_out = '1' and ready_in = '0';\n"
    "        held_y := y;\n"
    "        if valid_out = '1' and ready_in = '1' then\n"
    "          if received mod BLOCK_CODES = 0 then\n"
    "            hash := 32x\"811c9dc5\";\n"
    "          end if;\n"
    "          hash := hash xor resize(unsigned(y), 32);\n"
    "          hash := shift_left(hash, 24) + shift_left(hash, 8) + shift_left(hash, 7) + shift_left(hash, 4)\n"
    "            + shift_left(hash, 1) + hash;\n"
    "          received := received + 1;\n"
    "          if received mod BLOCK_CODES = 0 or received = CODES then\n"
    "            assert hash = HASHES((received - 1) / BLOCK_CODES)\n"
    "              report \"an output differs from the table's: of the codes from \"\n"
    "                & to_hstring(code_at((received - 1) / BLOCK_CODES * BLOCK_CODES)) & \" to \"\n"
    "                & to_hstring(code_at(received - 1)) & \", in hexadecimal\" severity failure;\n"
    "          end if;\n"
    "          if received = LAST then\n"
    "            report integer'image(LAST) & \" codes, no mismatch\";\n"
    "            finish;\n"
    "          end if;\n"
    "        end if;\n"
    "        sent := following;\n"
    "        if taken or valid_in = '0' then\n"
    "          valid_in <= '1' when following < LAST and not is_drawn(GAP_BIT, 0) else '0';\n"
    "          x <= code_at(following);\n"
    "        end if;\n"
    "        ready_in <= '0' when HAS_READY and is_drawn(WAIT_BIT, 5) else '1';\n"
    "      end if;\n"
    "      draw := draw(30 downto 0) & (draw(31) xor draw(21) xor draw(1) xor draw(0));\n"
    "      received_codes <= received;\n"
    "    end if;\n"
    "  end process;\n"
    "\n"
    "  -- A reset in the middle, between two edges of the clock.\n"
    "  process\n"
    "  begin\n"
    "    wait for 30 ns;\n"
    "    rst_n <= '1';\n"
    "    running <= true;\n"
    "    while received_codes < LAST / 2 loop\n"
    "      wait until falling_edge(clk);\n"
    "    end loop;\n"
    "    running <= false;\n"
    "    rst_n <= '0';\n"
    "    wait for 1 ns;\n"
    "    assert LATENCY = 0 or valid_out = '0' report \"valid_o during reset\" severity failure;\n"
    "    wait for 19 ns;\n"
    "    rst_n <= '1';\n"
    "    running <= true;\n"
    "    wait;\n"
    "  end process;\n"
    "end architecture;\n";

static int write_bench(struct text *out, const struct module *m, const struct emit_options *options, struct diag *diag)
{
    struct codes codes;
    (void)options;
    if (codes_make(m, &codes, diag) != EXIT_DONE)
        return diag->code;
    const struct code_bits bits = code_bits(&codes);
    text_add(out,
             "-- SPDX-License-Identifier: 0BSD\n-- DO NOT EDIT: generated by pwlc %s\n--\n"
             "-- Checks %s, and ends with a failure where it differs from the table.\n\n"
             "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\nuse std.env.finish;\n\n"
             "entity %s_tb is\n"
             "  generic (LAST : positive := %" PRId64 "); -- codes that are driven\n"
             "end entity;\n\n"
             "architecture bench of %s_tb is\n\n"
             "  constant LATENCY : natural := %d;\n"
             "  constant CODES : natural := %" PRId64 ";\n"
             "  constant BLOCK_CODES : positive := %" PRId64 ";\n"
             "  constant GAP_BIT : natural := %d;\n"
             "  constant WAIT_BIT : natural := %d;\n"
             "  constant HAS_READY : boolean := %s;\n",
             PWLC_VERSION, m->name, m->name, codes.count, m->name, m->stages, codes.count, codes_of_block(&codes),
             bits.gap, bits.wait, m->has_ready ? "true" : "false");
    add_hashes(out, m, &codes);
    add_codes(out, &codes);
    add_signals(out, m);
    text_add(out, "%s", stream);
    free(codes.listed);
    return EXIT_DONE;
}

int emit_vhdl_bench(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                    struct diag *diag)
{
    (void)count;
    return module_emit(tables[0], options, &vhdl_2008, write_bench, out, diag);
}
