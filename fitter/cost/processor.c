/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A Cortex-M4: bytes of the code and arrays of one evaluation as the compiler makes them, and instructions as QEMU
 * counts them, of the average of evenly spaced codes, beyond those of a function that returns its argument.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/c/c.h"
#include "emit/emit.h"
#include "target.h"
#include "tools/tool.h"

#define NAME "measured"
#define PLAIN_BITS 16 /* of the input, at most, for an array of all outputs */

static const struct tool compiler = {"arm-none-eabi-gcc", "Debian's package gcc-arm-none-eabi", "--version", "0.0"};
static const struct tool sizer = {"arm-none-eabi-size", "Debian's package binutils-arm-none-eabi", "--version", "0.0"};
static const struct tool emulator = {"qemu-system-arm", "Debian's package qemu-system-arm", "--version", "0.0"};

#define COMPILE "arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O2", "-ffreestanding"

/* Source of what happens at the start, of semihosting and of the timer: Arm, "Semihosting for AArch32 and AArch64"; Arm
 * v7-M Architecture Reference Manual, "SysTick". */
static const char counting[] =
    "#include <stdint.h>\n"
    "in_t same(in_t x);\n"
    "out_t evaluate(in_t x);\n"
    "enum { CODES = 1024, LONGEST = 0xffffff };\n"
    "#define TIMER ((volatile uint32_t *)0xe000e010)\n"
    "static void call(uint32_t operation, const void *argument)\n"
    "{\n"
    "    register uint32_t r0 __asm__(\"r0\") = operation;\n"
    "    register const void *r1 __asm__(\"r1\") = argument;\n"
    "    __asm__ volatile(\"bkpt 0xab\" : \"+r\"(r0) : \"r\"(r1) : \"memory\");\n"
    "}\n"
    "static void say(uint32_t value)\n"
    "{\n"
    "    char text[12], *at = text + sizeof text - 1;\n"
    "    *at = 0;\n"
    "    *--at = '\\n';\n"
    "    do\n"
    "        *--at = (char)('0' + value % 10);\n"
    "    while (value /= 10);\n"
    "    call(4, at);\n"
    "}\n"
    "static uint32_t since(uint32_t then) { return (then - TIMER[2]) & LONGEST; }\n"
    "#define COUNT(function) \\\n"
    "    ({ const uint32_t then = TIMER[2]; \\\n"
    "       for (uint32_t k = 0; k < CODES; k++) \\\n"
    "           sink = (uint32_t)function((in_t)(LOWEST + (int64_t)(k * STEP))); \\\n"
    "       since(then); })\n"
    "static volatile uint32_t sink;\n"
    "static void start(void)\n"
    "{\n"
    "    static const uint32_t end[] = {0x20026, 0};\n"
    "    uint32_t turns = 1u << 15;\n"
    "    TIMER[1] = LONGEST;\n"
    "    TIMER[2] = 0;\n"
    "    TIMER[0] = 5;\n"
    "    const uint32_t then = TIMER[2];\n"
    "    __asm__ volatile(\"0: subs %0, %0, #1\\n\\tbne 0b\" : \"+r\"(turns) : : \"cc\");\n"
    "    say(since(then)); /* of 2^16 instructions */\n"
    "    say(COUNT(same));\n"
    "    say(COUNT(evaluate));\n"
    "    for (;;)\n"
    "        call(0x20, end);\n"
    "}\n"
    "static void fault(void) { call(4, \"fault\\n\"); for (;;) call(0x20, (const uint32_t[]){0x20026, 1}); }\n"
    "const struct { uint32_t stack; void (*handler[15])(void); } vectors\n"
    "    __attribute__((section(\".vectors\"), used)) = {0x20010000, {start, fault, fault, fault, fault, fault}};\n";

static const char layout[] = "ENTRY(vectors)\n"
                             "SECTIONS\n"
                             "{\n"
                             "    . = 0;\n"
                             "    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }\n"
                             "    /DISCARD/ : { *(.ARM.exidx*) }\n"
                             "    . = 0x20000000;\n"
                             "    .bss (NOLOAD) : { *(.data*) *(.bss*) *(COMMON) }\n"
                             "}\n";

/* The outputs of every code of the C type, at the code's two's complement. */
static void add_plain(struct text *out, const struct costing *costing)
{
    const struct tensor *const in = &costing->table->in;
    const int bits = code_type_bits(in->bits);
    const int64_t entries = INT64_C(1) << bits;
    char literal[C_LITERAL_SIZE];
    text_add(out, "static const out_t outputs[] = {\n");
    for (int64_t k = 0; k < entries; k++) {
        const int64_t q = in->is_signed && k >= entries / 2 ? k - entries : k;
        text_add(out, "%s,%s", c_literal(packed_eval(costing->packed, q), literal), k % 16 == 15 ? "\n" : "");
    }
    text_add(out, "};\nout_t evaluate(in_t x) { return outputs[(%s)x]; }\n", c_type(bits, false));
}

static int add_evaluation(struct text *out, const struct costing *costing, struct diag *diag)
{
    const struct emit_options options = {.name = NAME, .standalone = true};
    text_add(out, "#include \"types.h\"\n");
    if (costing->is_plain) {
        add_plain(out, costing);
        return EXIT_DONE;
    }
    if (emitter_find("c")->emit(&costing->table, 1, &options, out, diag))
        return diag->code;
    text_add(out, "out_t evaluate(in_t x) { return " NAME "_eval(x); }\n");
    return EXIT_DONE;
}

static int prepare(const struct cost_target *target, const struct costing *costing, struct sources *sources,
                   struct cost *cost, struct diag *diag)
{
    const struct tensor *const in = &costing->table->in, *const result = &costing->table->out;
    const struct tool *const tools[] = {&compiler, &sizer, &emulator};
    const int bits = code_type_bits(in->bits);
    char version[TOOL_VERSION_SIZE], lowest[C_LITERAL_SIZE];
    (void)target;
    (void)cost;
    if (costing->is_plain && in->bits > PLAIN_BITS)
        return diag_set(diag, EXIT_USAGE, "an array of all outputs of %d-bit codes is too large; %d bits at most",
                        in->bits, PLAIN_BITS);
    for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
        if (tool_version(tools[k], version, diag))
            return diag->code;
        text_add(&sources->versions, "%s %s ", tools[k]->name, version);
    }
    text_add(sources_add(sources, "types.h"),
             "#include <stdint.h>\ntypedef %s in_t;\ntypedef %s out_t;\n#define LOWEST %s\n#define STEP %" PRId64 "\n",
             c_type(bits, in->is_signed), c_type(result->bits, result->is_signed),
             c_literal(code_min(bits, in->is_signed), lowest), bits == 8 ? 1 : INT64_C(1) << (bits - 10));
    text_add(sources_add(sources, "count.c"), "#include \"types.h\"\n%s", counting);
    text_add(sources_add(sources, "same.c"), "#include \"types.h\"\nin_t same(in_t x) { return x; }\n");
    text_add(sources_add(sources, "layout.ld"), "%s", layout);
    return add_evaluation(sources_add(sources, "evaluate.c"), costing, diag);
}

static int count_bytes(const struct costing *costing, const char *folder, double *bytes, struct diag *diag)
{
    static const char *const argv[] = {"arm-none-eabi-size", "-B", "evaluate.o", NULL};
    struct text said = {0};
    long text, data;
    int code = tool_run(argv, folder, costing->limit_s, &said, diag);
    const char *const line = said.bytes ? strchr(said.bytes, '\n') : NULL;
    if (code == EXIT_DONE && (!line || sscanf(line, "%ld %ld", &text, &data) != 2))
        code = diag_set(diag, EXIT_IO, "arm-none-eabi-size: its answer has no sizes");
    else if (code == EXIT_DONE)
        *bytes = (double)(text + data);
    text_free(&said);
    return code;
}

/* The program says three numbers of ticks: of 2^16 instructions, and of 1024 calls of either function. */
static int count_instructions(const struct costing *costing, const char *folder, double *instructions,
                              struct diag *diag)
{
    static const char *const argv[] = {"qemu-system-arm",
                                       "-M",
                                       "mps2-an386",
                                       "-nographic",
                                       "-monitor",
                                       "none",
                                       "-serial",
                                       "none",
                                       "-icount",
                                       "shift=6",
                                       "-semihosting-config",
                                       "enable=on,target=native",
                                       "-kernel",
                                       "program",
                                       NULL};
    struct text said = {0};
    double per_65536, same, evaluated;
    int code = tool_run(argv, folder, costing->limit_s, &said, diag);
    if (code == EXIT_DONE &&
        (!said.bytes || sscanf(said.bytes, "%lf %lf %lf", &per_65536, &same, &evaluated) != 3 || per_65536 <= 0))
        code = diag_set(diag, EXIT_IO, "qemu-system-arm: the program did not say what it counted");
    else if (code == EXIT_DONE)
        *instructions = (double)(long)((evaluated - same) * 65536 / per_65536 / 1024 * 10 + 0.5) / 10;
    text_free(&said);
    return code;
}

static int measure(const struct cost_target *target, const struct costing *costing, const char *folder,
                   struct cost *cost, struct diag *diag)
{
    static const char *const compile[] = {COMPILE, "-c", "evaluate.c", NULL};
    static const char *const link[] = {COMPILE,   "-nostdlib", "-T",         "layout.ld", "-o", "program",
                                       "count.c", "same.c",    "evaluate.o", "-lgcc",     NULL};
    (void)target;
    if (tool_run(compile, folder, costing->limit_s, NULL, diag) ||
        count_bytes(costing, folder, &cost->figure[COST_BYTES], diag) ||
        tool_run(link, folder, costing->limit_s, NULL, diag))
        return diag->code;
    return count_instructions(costing, folder, &cost->figure[COST_INSTRUCTIONS], diag);
}

const struct cost_kind cost_of_processor = {prepare, measure};
