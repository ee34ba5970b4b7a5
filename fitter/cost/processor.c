/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processors: bytes of the code and arrays of one evaluation as the compiler makes them, and instructions as QEMU
 * counts them, of the average of evenly spaced codes, beyond those of a function that returns its argument. A Cortex-M
 * counts by its timer, of which an instruction takes the same time each; of RV32IMC QEMU writes down what it executes.
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
static const struct tool clang = {"clang", "Debian's package clang", "--version", "0.0"};
static const struct tool linker = {"ld.lld", "Debian's package lld", "--version", "0.0"};
static const struct tool sizer_of_clang = {"llvm-size", "Debian's package llvm", "--version", "0.0"};
static const struct tool emulator_of_programs = {"qemu-riscv32", "Debian's package qemu-user", "--version", "0.0"};

/* Arguments that come from a list end with null. */
struct processor {
    const struct tool *tools[5];
    const char *compile[8]; /* and link, by the first of the tools */
    const char *libraries[2];
    const char *machine;          /* of a Cortex-M, in QEMU; null: programs run by themselves */
    uint32_t rom, rom_bytes, ram; /* a Cortex-M's; of the RAM 16 KiB are used */
};

#define CORTEX_M(cpu, machine, rom, rom_bytes, ram)                                                                    \
    {                                                                                                                  \
        {&compiler, &sizer, &emulator, NULL}, {"arm-none-eabi-gcc", "-mcpu=" cpu, "-mthumb", "-O2", "-ffreestanding"}, \
            {"-lgcc"}, machine, rom, rom_bytes, ram                                                                    \
    }

const struct processor cortex_m0 = CORTEX_M("cortex-m0", "microbit", 0, 0x40000, 0x20000000);
const struct processor cortex_m4 = CORTEX_M("cortex-m4", "mps2-an386", 0, 0x400000, 0x20000000);
const struct processor cortex_m33 = CORTEX_M("cortex-m33", "mps2-an505", 0x10000000, 0x400000, 0x38000000);
const struct processor cortex_m55 = CORTEX_M("cortex-m55", "mps3-an547", 0, 0x80000, 0x20000000);
const struct processor rv32imc = {.tools = {&clang, &linker, &sizer_of_clang, &emulator_of_programs, NULL},
                                  .compile = {"clang", "--target=riscv32", "-march=rv32imc", "-mabi=ilp32", "-O2",
                                              "-ffreestanding", "-fuse-ld=lld", NULL}};

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
    "    __asm__ volatile(\".syntax unified\\n0: subs %0, %0, #1\\n\\tbne 0b\" : \"+l\"(turns) : : \"cc\");\n"
    "    say(since(then)); /* of 2^16 instructions */\n"
    "    say(COUNT(same));\n"
    "    say(COUNT(evaluate));\n"
    "    for (;;)\n"
    "        call(0x20, end);\n"
    "}\n"
    "static void fault(void) { call(4, \"fault\\n\"); for (;;) call(0x20, (const uint32_t[]){0x20026, 1}); }\n"
    "const struct { uint32_t stack; void (*handler[15])(void); } vectors\n"
    "    __attribute__((section(\".vectors\"), used)) = {STACK, {start, fault, fault, fault, fault, fault}};\n";

static const char layout[] = "ENTRY(vectors)\n"
                             "SECTIONS\n"
                             "{\n"
                             "    . = 0x%" PRIx32 ";\n"
                             "    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }\n"
                             "    /DISCARD/ : { *(.ARM.exidx*) }\n"
                             "    . = 0x%" PRIx32 ";\n"
                             "    .bss (NOLOAD) : { *(.data*) *(.bss*) *(COMMON) }\n"
                             "}\n";

/* What QEMU writes down is what lies from `counted` on. Source of the system call: RISC-V Linux, exit. */
static const char calling[] = "out_t evaluate(in_t x);\n"
                              "enum { CODES = 1024 };\n"
                              "static volatile uint32_t sink;\n"
                              "void _start(void)\n"
                              "{\n"
                              "    for (uint32_t k = 0; k < CODES; k++)\n"
                              "        sink = (uint32_t)evaluate((in_t)(LOWEST + (int64_t)(k * STEP)));\n"
                              "    register uint32_t a0 __asm__(\"a0\") = 0, a7 __asm__(\"a7\") = 93;\n"
                              "    __asm__ volatile(\"ecall\" : : \"r\"(a0), \"r\"(a7));\n"
                              "    for (;;) {}\n"
                              "}\n";

/* The compiler's shifts of 64 bits, which its library would have. */
static const char shifts[] =
    "#include <stdint.h>\n"
    "#define HIGH(x) ((uint32_t)((x) >> 32))\n"
    "#define BOTH(high, low) ((uint64_t)(uint32_t)(high) << 32 | (uint32_t)(low))\n"
    "uint64_t __ashldi3(uint64_t x, int n)\n"
    "{\n"
    "    const uint32_t low = (uint32_t)x;\n"
    "    return n == 0 ? x : n < 32 ? BOTH(HIGH(x) << n | low >> (32 - n), low << n) : BOTH(low << (n - 32), 0);\n"
    "}\n"
    "uint64_t __lshrdi3(uint64_t x, int n)\n"
    "{\n"
    "    const uint32_t low = (uint32_t)x, high = HIGH(x);\n"
    "    return n == 0 ? x : n < 32 ? BOTH(high >> n, low >> n | high << (32 - n)) : BOTH(0, high >> (n - 32));\n"
    "}\n"
    "int64_t __ashrdi3(int64_t x, int n)\n"
    "{\n"
    "    const uint32_t low = (uint32_t)x;\n"
    "    const int32_t high = (int32_t)HIGH(x);\n"
    "    const int32_t far = n < 32 ? 0 : high >> (n - 32);\n"
    "    return (int64_t)(n == 0 ? (uint64_t)x\n"
    "                     : n < 32 ? BOTH(high >> n, low >> n | (uint32_t)high << (32 - n)) : BOTH(high >> 31, far));\n"
    "}\n";

#define COUNTED_AT 0x20000
#define COUNTED_RANGE "0x20000+0x100000"
static const char layout_of_program[] = "ENTRY(_start)\n"
                                        "SECTIONS\n"
                                        "{\n"
                                        "    . = 0x10000;\n"
                                        "    .called : { *count*.o(.text*) }\n"
                                        "    . = 0x%x;\n"
                                        "    .text : { *(.text*) }\n"
                                        "    . = ALIGN(0x1000);\n"
                                        "    .rodata : { *(.rodata*) }\n"
                                        "    . = ALIGN(0x1000);\n"
                                        "    .data : { *(.data*) *(.sdata*) *(.bss*) *(.sbss*) *(COMMON) }\n"
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
    const struct processor *const processor = target->processor;
    const int bits = code_type_bits(in->bits);
    char version[TOOL_VERSION_SIZE], lowest[C_LITERAL_SIZE];
    (void)cost;
    if (costing->is_plain && in->bits > PLAIN_BITS)
        return diag_set(diag, EXIT_USAGE, "an array of all outputs of %d-bit codes is too large; %d bits at most",
                        in->bits, PLAIN_BITS);
    for (const struct tool *const *tool = processor->tools; *tool; tool++) {
        if (tool_version(*tool, version, diag))
            return diag->code;
        text_add(&sources->versions, "%s %s ", (*tool)->name, version);
    }
    text_add(sources_add(sources, "types.h"),
             "#include <stdint.h>\ntypedef %s in_t;\ntypedef %s out_t;\n#define LOWEST %s\n#define STEP %" PRId64
             "\n#define STACK 0x%" PRIx32 "\n",
             c_type(bits, in->is_signed), c_type(result->bits, result->is_signed),
             c_literal(code_min(bits, in->is_signed), lowest), bits == 8 ? 1 : INT64_C(1) << (bits - 10),
             processor->ram + 0x4000);
    struct text *const count = sources_add(sources, "count.c"), *const beside = sources_add(sources, "beside.c");
    struct text *const map = sources_add(sources, "layout.ld");
    if (processor->machine) {
        text_add(count, "#include \"types.h\"\n%s", counting);
        text_add(beside, "#include \"types.h\"\nin_t same(in_t x) { return x; }\n");
        text_add(map, layout, processor->rom, processor->ram);
    } else {
        text_add(count, "#include \"types.h\"\n%s", calling);
        text_add(beside, "%s", shifts);
        text_add(map, layout_of_program, COUNTED_AT);
    }
    return add_evaluation(sources_add(sources, "evaluate.c"), costing, diag);
}

/* The compiler with these arguments. */
static int compile(const struct processor *processor, const struct costing *costing, const char *folder,
                   const char *const *arguments, struct diag *diag)
{
    const char *argv[24];
    int count = 0;
    for (const char *const *word = processor->compile; *word; word++)
        argv[count++] = *word;
    for (const char *const *word = arguments; *word; word++)
        argv[count++] = *word;
    argv[count] = NULL;
    return tool_run(argv, folder, costing->limit_s, NULL, diag);
}

static int count_bytes(const struct processor *processor, const struct costing *costing, const char *folder,
                       double *bytes, struct diag *diag)
{
    const char *const size = processor->machine ? sizer.name : sizer_of_clang.name;
    const char *const argv[] = {size, "-B", "evaluate.o", NULL};
    struct text said = {0};
    long text, data;
    int code = tool_run(argv, folder, costing->limit_s, &said, diag);
    const char *const line = said.bytes ? strchr(said.bytes, '\n') : NULL;
    if (code == EXIT_DONE && (!line || sscanf(line, "%ld %ld", &text, &data) != 2))
        code = diag_set(diag, EXIT_IO, "%s: its answer has no sizes", size);
    else if (code == EXIT_DONE)
        *bytes = (double)(text + data);
    text_free(&said);
    return code;
}

static double tenths(double v)
{
    return (double)(long)(v * 10 + 0.5) / 10;
}

/* The program says three numbers of ticks: of 2^16 instructions, and of 1024 calls of either function. */
static int count_by_timer(const struct processor *processor, const struct costing *costing, const char *folder,
                          double *instructions, struct diag *diag)
{
    const char *const argv[] = {"qemu-system-arm",
                                "-M",
                                processor->machine,
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
        *instructions = tenths((evaluated - same) * 65536 / per_65536 / 1024);
    text_free(&said);
    return code;
}

/* A line for each instruction of 1024 calls, which return by one. */
static int count_by_log(const struct costing *costing, const char *folder, double *instructions, struct diag *diag)
{
    static const char *const argv[] = {"qemu-riscv32", "-singlestep", "-d",       "exec,nochain", "-dfilter",
                                       COUNTED_RANGE,  "-D",          "executed", "./program",    NULL};
    char path[SCRATCH_PATH_SIZE + 16], line[256];
    long count = 0;
    if (tool_run(argv, folder, costing->limit_s, NULL, diag))
        return diag->code;
    snprintf(path, sizeof path, "%s/executed", folder);
    FILE *const log = fopen(path, "r");
    if (!log)
        return diag_set(diag, EXIT_IO, "qemu-riscv32: no log of what it executed");
    while (fgets(line, sizeof line, log))
        count += strncmp(line, "Trace ", 6) == 0;
    fclose(log);
    *instructions = tenths((double)count / 1024 - 1);
    return EXIT_DONE;
}

/* An array of 16-bit codes may be more than a board has. */
static bool fits(const struct processor *processor, const struct costing *costing)
{
    const struct table *const table = costing->table;
    const uint64_t bytes =
        (UINT64_C(1) << code_type_bits(table->in.bits)) * (uint64_t)(code_type_bits(table->out.bits) / 8);
    return !costing->is_plain || !processor->machine || bytes <= processor->rom_bytes - 0x1000;
}

static int measure(const struct cost_target *target, const struct costing *costing, const char *folder,
                   struct cost *cost, struct diag *diag)
{
    static const char *const alone[] = {"-c", "evaluate.c", NULL};
    const struct processor *const processor = target->processor;
    const char *const whole[] = {
        "-nostdlib", "-T", "layout.ld", "-o", "program", "count.c", "beside.c", "evaluate.o", processor->libraries[0],
        NULL};
    if (compile(processor, costing, folder, alone, diag) ||
        count_bytes(processor, costing, folder, &cost->figure[COST_BYTES], diag))
        return diag->code;
    if (!fits(processor, costing)) {
        snprintf(cost->note, sizeof cost->note, "no instructions: the flash of QEMU's %s does not hold the array",
                 processor->machine);
        return EXIT_DONE;
    }
    if (compile(processor, costing, folder, whole, diag))
        return diag->code;
    double *const instructions = &cost->figure[COST_INSTRUCTIONS];
    return processor->machine ? count_by_timer(processor, costing, folder, instructions, diag)
                              : count_by_log(costing, folder, instructions, diag);
}

const struct cost_kind cost_of_processor = {prepare, measure};
