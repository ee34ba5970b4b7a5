/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rom.h"

#include <stdlib.h>

#define MOST_PARTITIONED 64 /* entries of an array that C++ has in gates, not in a memory */

int rom_make(struct rom *rom, int entries, int width, struct diag *diag)
{
    *rom = (struct rom){
        .entries = entries, .address_bits = unsigned_bits(entries - 1), .width = width, .stride = (width + 7) / 8};
    rom->words = calloc((size_t)entries, (size_t)rom->stride);
    return rom->words ? EXIT_DONE : diag_set(diag, EXIT_IO, "out of memory for a ROM of %d words", entries);
}

void rom_free(struct rom *rom)
{
    free(rom->words);
    rom->words = NULL;
}

void rom_put(struct rom *rom, int entry, int lowest_bit, int bits, wide value)
{
    unsigned char *word = rom->words + (size_t)entry * (size_t)rom->stride;
    for (int i = 0; i < bits; i++) {
        const int at = lowest_bit + i;
        const unsigned bit = (unsigned)(value >> i) & 1u;
        word[at / 8] = (unsigned char)((word[at / 8] & ~(1u << at % 8)) | bit << at % 8);
    }
}

int rom_of_outputs(const struct table *table, const struct packed_table *packed, struct rom *rom, struct diag *diag)
{
    const int bits = table->in.bits;
    if (bits > ROM_MAX_BITS)
        return diag_set(diag, EXIT_USAGE,
                        "--rtl-style rom: %d-bit codes need 2^%d entries, at most 2^%d are written; use aligned, "
                        "barrel or tree",
                        bits, bits, ROM_MAX_BITS);
    if (rom_make(rom, 1 << bits, table->out.bits, diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; i < rom->entries; i++) {
        const int64_t code = table->in.is_signed && i >> (bits - 1) ? i - ((int64_t)1 << bits) : i;
        rom_put(rom, i, 0, rom->width, packed_eval(packed, code));
    }
    return EXIT_DONE;
}

/* The digits of a word from a lowest one on. */
static void add_digits(struct text *out, const struct rom *rom, int entry, int lowest, int count)
{
    const unsigned char *word = rom->words + (size_t)entry * (size_t)rom->stride;
    for (int digit = lowest + count - 1; digit >= lowest; digit--)
        text_add(out, "%x", word[digit / 2] >> (digit % 2 ? 4 : 0) & 15);
}

void rom_add_hex(struct text *out, const struct rom *rom, int entry)
{
    add_digits(out, rom, entry, 0, (rom->width + 3) / 4);
}

/* VHDL: an array has an entry for every address. */
static int entries_of(const struct rom *rom)
{
    return 1 << rom->address_bits;
}

static void add_array_type(struct text *out, const struct rom *rom, const char *name)
{
    text_add(out, "\n  type %s_rom_t is array (0 to %d) of unsigned(%d downto 0);\n", name, entries_of(rom) - 1,
             rom->width - 1);
}

static void add_array(struct text *out, const struct rom *rom, const char *name)
{
    add_array_type(out, rom, name);
    text_add(out, "  constant %s_rom : %s_rom_t := (\n", name, name);
    for (int i = 0; i < rom->entries; i++) {
        const bool is_last = i + 1 == rom->entries;
        if (is_last && entries_of(rom) > rom->entries)
            text_add(out, "    others => ");
        else
            text_add(out, "    %d => ", i);
        text_add(out, "%dx\"", rom->width);
        rom_add_hex(out, rom, i);
        text_add(out, is_last ? "\"\n  );\n" : "\",\n");
    }
}

static void add_array_of_file(struct text *out, const struct rom *rom, const char *name, const char *file)
{
    const int digits = (rom->width + 3) / 4;
    add_array_type(out, rom, name);
    text_add(out,
             "  impure function %s_rom_of_file return %s_rom_t is\n"
             "    file words : text open read_mode is \"%s\";\n"
             "    variable row : line;\n"
             "    variable word : std_logic_vector(%d downto 0);\n"
             "    variable rom : %s_rom_t;\n"
             "    variable at : natural := 0;\n"
             "  begin\n"
             "    while not endfile(words) loop\n"
             "      readline(words, row);\n"
             "      if row(row'low) /= '/' and at <= %d then -- else a comment\n"
             "        hread(row, word);\n"
             "        for i in at to %d loop\n"
             "          rom(i) := unsigned(word(%d downto 0));\n"
             "        end loop;\n"
             "        at := at + 1;\n"
             "      end if;\n"
             "    end loop;\n"
             "    return rom;\n"
             "  end function;\n"
             "  constant %s_rom : %s_rom_t := %s_rom_of_file;\n",
             name, name, file, 4 * digits - 1, name, rom->entries - 1, entries_of(rom) - 1, rom->width - 1, name, name,
             name);
}

/* C++: the bits of every word from a lowest one on, 64 at most, as a literal can have them. */
static void add_cpp_words(struct text *out, const struct rom *rom, const char *name, int lowest)
{
    const int bits = rom->width - lowest < 64 ? rom->width - lowest : 64;
    text_add(out, "    static const Bits<%d> %s[%d] = {", bits, name, rom->entries);
    for (int i = 0; i < rom->entries; i++) {
        text_add(out, "%s0x", i % 8 == 0 ? "\n        " : " ");
        add_digits(out, rom, i, lowest / 4, (bits + 3) / 4);
        text_add(out, "%s%s", bits > 31 ? "ULL" : "", i + 1 < rom->entries ? "," : "\n    };\n");
    }
    if (rom->entries <= MOST_PARTITIONED)
        text_add(out, "#ifdef __SYNTHESIS__\n#pragma HLS ARRAY_PARTITION variable=%s complete\n#endif\n", name);
}

static void add_cpp_function(struct text *out, const struct rom *rom, const char *name)
{
    text_add(out, "\ninline Bits<%d> %s_rom(unsigned index)\n{\n", rom->width, name);
    add_cpp_words(out, rom, "words", 0);
    if (rom->width > 64) {
        add_cpp_words(out, rom, "upper", 64);
        text_add(out, "    return shifted_left(as_bits<%d>(upper[index]), 64) | as_bits<%d>(words[index]);\n}\n",
                 rom->width, rom->width);
    } else {
        text_add(out, "    return words[index];\n}\n");
    }
}

void rom_add_function(struct text *out, const struct dialect *dialect, const struct rom *rom, const char *name)
{
    char word[CONSTANT_TEXT], address[CONSTANT_TEXT];
    if (dialect->roms == ROM_VHDL) {
        add_array(out, rom, name);
        return;
    }
    if (dialect->roms == ROM_CPP) {
        add_cpp_function(out, rom, name);
        return;
    }
    const int digits = (rom->address_bits + 3) / 4;
    text_add(out, "\n  function automatic %s%s%s_rom(input %s%sindex);\n    case (index)\n", dialect->in_function,
             bit_range(rom->width, word), name, dialect->in_function, bit_range(rom->address_bits, address));
    for (int i = 0; i < rom->entries; i++) {
        if (i + 1 < rom->entries)
            text_add(out, "      %d'h%0*x: %s_rom = %d'h", rom->address_bits, digits, (unsigned)i, name, rom->width);
        else
            text_add(out, "      default: %s_rom = %d'h", name, rom->width);
        rom_add_hex(out, rom, i);
        text_add(out, ";\n");
    }
    text_add(out, "    endcase\n  endfunction\n");
}

void rom_add_memory(struct text *out, const struct dialect *dialect, const struct rom *rom, const char *name,
                    const char *file)
{
    char word[CONSTANT_TEXT];
    if (dialect->roms == ROM_VHDL) {
        add_array_of_file(out, rom, name, file);
        return;
    }
    text_add(out, "\n  %s %s%s_rom [0:%d];\n  initial $readmemh(\"%s\", %s_rom);\n", dialect->variable,
             bit_range(rom->width, word), name, rom->entries - 1, file, name);
}
