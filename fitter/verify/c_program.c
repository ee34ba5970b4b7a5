/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three headers, compiled by the system's compilers. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/c/c.h"
#include "emit/emit.h"
#include "tools/tool.h"

#define MOST_WORDS 40

static const struct tool cc = {"cc", "Debian's package gcc", "--version", "0.0"};
static const struct tool pkg_config = {"pkg-config", "Debian's package pkg-config", "--version", "0.0"};
static const struct tool nvcc = {"nvcc", "NVIDIA's CUDA Toolkit", "--version", "11.0"};

int c_program_bits(const struct table *table)
{
    return code_type_bits(table->in.bits);
}

void program_add_main(struct text *out, const struct program *program)
{
    const struct tensor *const in = &program->table->in, *const result = &program->table->out;
    size_t names = 0;
    while (program->names[names])
        names++;
    text_add(out,
             "#include <inttypes.h>\n"
             "#include <stdint.h>\n"
             "#include <stdio.h>\n"
             "\n"
             "typedef %s in_t;\n"
             "typedef %s out_t;\n"
             "enum { PIECE = 4096, NAMES = %zu };\n"
             "static int64_t x[PIECE], y[PIECE][NAMES];\n"
             "static size_t filled; /* of x */\n"
             "static void evaluate(void); /* sets y[0..filled) */\n"
             "\n"
             "static int flush(void)\n"
             "{\n"
             "    const size_t count = filled;\n"
             "    evaluate();\n"
             "    filled = 0;\n"
             "    return fwrite(y, sizeof y[0], count, stdout) == count;\n"
             "}\n"
             "\n"
             "int main(void)\n"
             "{\n"
             "    int64_t first, count;\n"
             "    while (scanf(\"%%\" SCNd64 \" %%\" SCNd64, &first, &count) == 2)\n"
             "        for (int64_t k = 0; k < count; k++) {\n"
             "            x[filled++] = first + k;\n"
             "            if (filled == PIECE && !flush())\n"
             "                return 1;\n"
             "        }\n"
             "    return flush() && fflush(stdout) == 0 ? 0 : 1;\n"
             "}\n"
             "\n",
             c_type(in->bits, in->is_signed), c_type(result->bits, result->is_signed), names);
}

int program_emit(const struct program *program, const char *format, const struct emit_options *options,
                 const char *file, struct diag *diag)
{
    struct text text = {0};
    if (emitter_find(format)->emit(&program->table, 1, options, &text, diag)) {
        text_free(&text);
        return diag->code;
    }
    return scratch_write(program->folder, file, &text, diag);
}

/* The flags by which pkg-config finds libpwl, an installed one or, by PKG_CONFIG_PATH, a build's. The program finds the
 * shared library where the linker did. */
static int find_libpwl(const struct verification *verification, struct text *flags, struct diag *diag)
{
    static const char *const argv[] = {"pkg-config", "--cflags", "--libs", "pwl", NULL};
    const char *words[MOST_WORDS];
    struct text said = {0};
    char version[TOOL_VERSION_SIZE];
    if (tool_version(&pkg_config, version, diag))
        return diag->code;
    int code = tool_run(argv, NULL, verification->limit_s, &said, diag); /* here: its paths may be relative */
    if (code != EXIT_DONE || !said.bytes)
        code = diag_set(diag, EXIT_MISSING,
                        "libpwl is missing: pkg-config does not find pwl; install it, or set PKG_CONFIG_PATH to "
                        "meson-uninstalled/ of a build");
    else
        for (int k = 0, count = tool_words(said.bytes, words, MOST_WORDS); k < count; k++) {
            text_add(flags, "%s ", words[k]);
            if (strncmp(words[k], "-L", 2) == 0)
                text_add(flags, "-Wl,-rpath,%s ", words[k] + 2);
        }
    text_free(&said);
    return code;
}

/* Compiles main.c of the folder; flags is cut into words. */
static int compile(const struct verification *verification, struct program *program, char *flags, struct diag *diag)
{
    const char *argv[2 * MOST_WORDS + 8] = {"cc", "-std=c11", "-O2", "-o", "program", "main.c"};
    char version[TOOL_VERSION_SIZE];
    if (tool_version(&cc, version, diag))
        return diag->code;
    snprintf(program->tools, sizeof program->tools, "cc %s", version);
    program->argv[0] = "./program";
    argv[6 + tool_words(flags, argv + 6, 2 * MOST_WORDS)] = NULL;
    return tool_run(argv, program->folder, verification->limit_s, NULL, diag);
}

/* evaluate() of C: arrays by the statement, and each code by the call. */
static int write_main(struct program *program, const char *map, const char *eval, struct diag *diag)
{
    struct text text = {0};
    program_add_main(&text, program);
    text_add(&text,
             "#include \"table.h\"\n"
             "\n"
             "static void evaluate(void)\n"
             "{\n"
             "    static in_t in[PIECE];\n"
             "    static out_t out[PIECE];\n"
             "    for (size_t k = 0; k < filled; k++)\n"
             "        in[k] = (in_t)x[k];\n"
             "    %s;\n"
             "    for (size_t k = 0; k < filled; k++) {\n"
             "        y[k][0] = %s;\n"
             "        y[k][1] = out[k];\n"
             "    }\n"
             "}\n",
             map, eval);
    return scratch_write(program->folder, "main.c", &text, diag);
}

int c_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    const struct table *const table = program->table;
    const struct emit_options options = {.name = PROGRAM_NAME};
    const int in = code_type_bits(table->in.bits), out = code_type_bits(table->out.bits);
    char map[120], eval[80];
    struct text flags = {0};
    program->names[0] = table->has_reduction ? "pwl_reduced_eval" : "pwl_eval";
    program->names[1] = table->has_reduction ? "pwl_reduced_map" : "pwl_map";
    if (table->has_reduction)
        snprintf(map, sizeof map, "pwl_reduced_map(&" PROGRAM_NAME ", PWL_%c%d, in, PWL_%c%d, out, filled)",
                 table->in.is_signed ? 'S' : 'U', in, table->out.is_signed ? 'S' : 'U', out);
    else
        snprintf(map, sizeof map, "pwl_map_%c%d_%c%d(&" PROGRAM_NAME ", in, out, filled)",
                 table->in.is_signed ? 's' : 'u', in, table->out.is_signed ? 's' : 'u', out);
    snprintf(eval, sizeof eval, "%s(&" PROGRAM_NAME ", x[k])", program->names[0]);
    int code = write_main(program, map, eval, diag);
    if (code == EXIT_DONE)
        code = program_emit(program, "c", &options, "table.h", diag);
    if (code == EXIT_DONE)
        code = find_libpwl(verification, &flags, diag);
    if (code == EXIT_DONE)
        code =
            flags.failed ? diag_set(diag, EXIT_IO, "out of memory") : compile(verification, program, flags.bytes, diag);
    text_free(&flags);
    return code;
}

int standalone_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    const struct emit_options options = {.name = PROGRAM_NAME, .standalone = true};
    char none[] = "";
    program->names[0] = "NAME_eval";
    program->names[1] = "NAME_map";
    if (write_main(program, PROGRAM_NAME "_map(in, out, filled)", PROGRAM_NAME "_eval(in[k])", diag) ||
        program_emit(program, "c", &options, "table.h", diag))
        return diag->code;
    return compile(verification, program, none, diag);
}

int cuda_program(const struct verification *verification, struct program *program, struct diag *diag)
{
    static const char *const argv[] = {"nvcc", "-O2", "-o", "program", "main.cu", NULL};
    const struct emit_options options = {.name = PROGRAM_NAME};
    struct text text = {0};
    char version[TOOL_VERSION_SIZE];
    program->names[0] = "the kernel";
    program->names[1] = "the host";
    program->argv[0] = "./program";
    program_add_main(&text, program);
    text_add(&text, "#include <stdlib.h>\n"
                    "#include \"table.cuh\"\n"
                    "\n"
                    "__global__ static void map(const in_t *in, out_t *out, unsigned count)\n"
                    "{\n"
                    "    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "    if (k < count)\n"
                    "        out[k] = " PROGRAM_NAME "_eval(in[k]);\n"
                    "}\n"
                    "\n"
                    "static void check(cudaError_t error)\n"
                    "{\n"
                    "    if (error == cudaSuccess)\n"
                    "        return;\n"
                    "    fprintf(stderr, \"%%s\\n\", cudaGetErrorString(error));\n"
                    "    exit(error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? 77 : 1);\n"
                    "}\n"
                    "\n"
                    "static void evaluate(void)\n"
                    "{\n"
                    "    static in_t in[PIECE], *in_device;\n"
                    "    static out_t out[PIECE], *out_device;\n"
                    "    if (!in_device) {\n"
                    "        check(cudaMalloc((void **)&in_device, sizeof in));\n"
                    "        check(cudaMalloc((void **)&out_device, sizeof out));\n"
                    "    }\n"
                    "    for (size_t k = 0; k < filled; k++)\n"
                    "        in[k] = (in_t)x[k];\n"
                    "    check(cudaMemcpy(in_device, in, sizeof in, cudaMemcpyHostToDevice));\n"
                    "    map<<<PIECE / 128, 128>>>(in_device, out_device, (unsigned)filled);\n"
                    "    check(cudaGetLastError());\n"
                    "    check(cudaMemcpy(out, out_device, sizeof out, cudaMemcpyDeviceToHost));\n"
                    "    for (size_t k = 0; k < filled; k++) {\n"
                    "        y[k][0] = out[k];\n"
                    "        y[k][1] = " PROGRAM_NAME "_eval(in[k]);\n"
                    "    }\n"
                    "}\n");
    if (tool_version(&nvcc, version, diag) || scratch_write(program->folder, "main.cu", &text, diag) ||
        program_emit(program, "cuda", &options, "table.cuh", diag)) {
        text_free(&text);
        return diag->code;
    }
    snprintf(program->tools, sizeof program->tools, "nvcc %s", version);
    return tool_run(argv, program->folder, verification->limit_s, NULL, diag);
}
