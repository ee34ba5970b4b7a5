/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/note.h"
#include "command.h"
#include "device/cuda_library.h"
#include "device/gemm.h"
#include "device/gemm_device.h"
#include "io/gguf_file.h"

static const struct option_info options[] = {
    {"--weights", "FILE.gguf:TENSOR", "W, a matrix of a GGUF file: its rows are the N columns of Y"},
    {"--act", "FILE.npy", "X, floats: (M, K), one row (K,), or (..., K)"},
    {"--scheme", GEMM_SCHEMES, "the numbers that are multiplied; by default the tensor's own, with a16"},
    {"--bias", "FILE.npy", "floats (N,), added to each row of Y"},
    {"--table", "TABLE.json", "what becomes of Y in the same pass: codes by the table's input, and its values"},
    {"--out", "f32|f16", "the elements of Y, f32 by default; with --table real numbers instead of codes"},
    {"--device", "auto|cpu|cuda", "where: auto (default) is cuda where " CUDA_LIBRARY_NAME " finds a device, else cpu"},
    {"-o", "FILE.npy", "write Y in the shape of X, rows of N; without it Y is printed, a row a line"},
    {NULL, NULL, NULL},
};

struct request {
    const char *file, *tensor; /* of --weights; file is the request's own */
    const char *input, *bias, *table, *output;
    const struct gemm_scheme *scheme; /* null when not given */
    enum gemm_out out;                /* GEMM_CODES when not given */
    enum device device;
};

/* -- Computing --------------------------------------------------------------------------------------------------------
 */

static int multiply_on_cuda(struct gemm *gemm, struct gemm_ran *ran, struct diag *diag)
{
    struct library library;
    library_entry *function;
    char message[400] = "";
    int code = cuda_library_open(&library, diag);
    if (code == EXIT_DONE)
        code = library_function(&library, "pwlc_cuda_gemm", &function, diag);
    if (code == EXIT_DONE) {
        code = ((pwlc_cuda_gemm_function *)function)(&gemm->product, ran, message, sizeof message);
        if (code != EXIT_DONE)
            diag_set(diag, code, "--device cuda: %s", message);
    }
    library_close(&library);
    return code;
}

/* Says where on standard error. */
static int multiply(struct gemm *gemm, enum device device, struct diag *diag)
{
    const pwl_qgemm_product *const product = &gemm->product;
    struct gemm_ran ran = {"", ""};
    const bool on_cpu = device == DEVICE_CPU || !gemm_has_kernels(gemm->scheme);
    const int code = on_cpu ? EXIT_MISSING : multiply_on_cuda(gemm, &ran, diag);
    if (code != EXIT_DONE && !(code == EXIT_MISSING && device != DEVICE_CUDA))
        return code;
    if (code != EXIT_DONE) {
        struct diag of_memory = {0};
        if (gemm_arrange(gemm, &of_memory) != EXIT_DONE) {
            *diag = of_memory;
            return diag->code;
        }
        gemm_multiply(gemm);
    }
    char where[sizeof diag->text + 40];
    if (code == EXIT_DONE)
        snprintf(where, sizeof where, "on %s by the kernel %s", ran.device, ran.kernel);
    else
        snprintf(where, sizeof where, "on the CPU%s%s", on_cpu ? "" : ": ", on_cpu ? "" : diag->text);
    note("gemm", "%s, M %zu, N %zu, K %zu, %s", gemm->scheme->name, product->m, gemm->weights.n, gemm->weights.k,
         where);
    return EXIT_DONE;
}

/* -- The result -------------------------------------------------------------------------------------------------------
 */

static void print_rows(const struct npy *npy, size_t columns)
{
    for (size_t i = 0; i < npy->count; i++) {
        if (npy->kind == 'f')
            printf("%.9g", npy_real(npy, i));
        else
            printf("%" PRId64, npy_integer(npy, i));
        putchar((i + 1) % columns == 0 ? '\n' : ' ');
    }
}

static int write_array(const struct npy *npy, const char *path, struct diag *diag)
{
    unsigned char *bytes = NULL;
    size_t size;
    int code = npy_build(npy, &bytes, &size, diag);
    if (code == EXIT_DONE)
        code = file_write(path, bytes, size, diag);
    free(bytes);
    return code;
}

static int compute(const struct request *request, const struct gguf_tensor *tensor, const unsigned char *data,
                   struct gemm *gemm, struct diag *diag)
{
    pwl_qgemm_tensor from = {tensor->type, {0}, data, (size_t)tensor->bytes};
    struct npy npy;
    memcpy(from.shape, tensor->shape, sizeof from.shape);
    int code = gemm_take_weights(gemm, request->file, tensor, request->scheme, diag);
    if (code == EXIT_DONE)
        code = gemm_need_kernels(gemm->scheme, request->device, diag);
    if (code == EXIT_DONE && request->table)
        code = gemm_read_table(gemm, request->table, diag);
    if (code == EXIT_DONE && request->bias)
        code = gemm_read_bias(gemm, request->bias, diag);
    if (code == EXIT_DONE)
        code = gemm_read_input(gemm, request->input, diag);
    if (code == EXIT_DONE)
        code = gemm_prepare(gemm, &from, diag);
    if (code == EXIT_DONE)
        code = multiply(gemm, request->device, diag);
    if (code != EXIT_DONE)
        return code;
    gemm_finish(gemm, &npy);
    if (request->output)
        return write_array(&npy, request->output, diag);
    print_rows(&npy, gemm->weights.n);
    return EXIT_DONE;
}

static int perform(const struct request *request, struct diag *diag)
{
    struct gguf_file file;
    struct gguf_tensor tensor;
    struct gemm gemm = {.out = request->out};
    unsigned char *data = NULL;
    int code = gguf_open(request->file, &file, diag);
    if (code != EXIT_DONE)
        return code;
    if (gguf_need(&file.gguf, request->tensor, &tensor, diag) != EXIT_DONE)
        code = diag_prefix(diag, request->file);
    if (code == EXIT_DONE)
        code = gguf_load(&file, &tensor, &data, diag);
    if (code == EXIT_DONE)
        code = compute(request, &tensor, data, &gemm, diag);
    gemm_free(&gemm);
    free(data);
    gguf_close(&file);
    return code;
}

/* -- The command line -------------------------------------------------------------------------------------------------
 */

/* Tensors' names have no colons, files' may. */
static int set_weights(struct request *request, const char *value, struct diag *diag)
{
    const char *const colon = strrchr(value, ':');
    if (!colon || colon == value || !colon[1])
        return diag_set(diag, EXIT_USAGE, "--weights is FILE.gguf:TENSOR, not \"%s\"", value);
    char *const file = malloc((size_t)(colon - value) + 1);
    if (!file)
        return diag_set(diag, EXIT_IO, "out of memory");
    memcpy(file, value, (size_t)(colon - value));
    file[colon - value] = '\0';
    request->file = file;
    request->tensor = colon + 1;
    return EXIT_DONE;
}

static int set_option(struct request *request, const char *name, const char *value, struct diag *diag)
{
    if (strcmp(name, "--weights") == 0)
        return set_weights(request, value, diag);
    if (strcmp(name, "--device") == 0)
        request->device = device_parse(value);
    else if (strcmp(name, "--scheme") == 0)
        return gemm_scheme_parse(value, strlen(value), &request->scheme, diag);
    else if (strcmp(name, "--out") == 0)
        request->out = strcmp(value, "f16") == 0 ? GEMM_F16 : GEMM_F32;
    else if (strcmp(name, "--act") == 0)
        request->input = value;
    else if (strcmp(name, "--bias") == 0)
        request->bias = value;
    else if (strcmp(name, "--table") == 0)
        request->table = value;
    else
        request->output = value;
    return EXIT_DONE;
}

static int is_standard_input(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    struct argument_walk walk = {.command = &command_gemm, .argc = argc, .argv = argv};
    const struct option_info *option;
    const char *value;
    int next;
    while ((next = argument_next(&walk, &option, &value, diag)) > 0) {
        if (!option)
            return diag_set(diag, EXIT_USAGE, "\"%s\" belongs to no flag; files are named by --weights and --act",
                            value);
        if (set_option(request, option->name, value, diag) != EXIT_DONE)
            return diag->code;
    }
    if (next < 0)
        return diag->code;
    if (!request->file)
        return diag_set(diag, EXIT_USAGE, "--weights is needed: pwlc gemm --weights FILE.gguf:TENSOR --act X.npy");
    if (!request->input)
        return diag_set(diag, EXIT_USAGE, "--act is needed: pwlc gemm --weights FILE.gguf:TENSOR --act X.npy");
    if (is_standard_input(request->input) + is_standard_input(request->bias) + is_standard_input(request->table) > 1)
        return diag_set(diag, EXIT_USAGE, "- is given more than once; standard input can be read once");
    if (request->out == GEMM_CODES && !request->table)
        request->out = GEMM_F32;
    return EXIT_DONE;
}

static int run(int argc, char **argv, struct diag *diag);

const struct command command_gemm = {
    .name = "gemm",
    .synopsis = "pwlc gemm --weights FILE.gguf:TENSOR --act X.npy [flags]",
    .summary = "Multiply activations with the quantised weights of a GGUF file: Y = X W^T + bias.",
    .details =
        "Schemes name the bits of weights and activations; pwl/qgemm.h has their formulas. Tensors of blocks are taken "
        "as they are, by the schemes of their type: Q4_0 by w4a16 (default) and w4a8, Q8_0 by w8a16 (default) and "
        "w8a8, MXFP4 by mxfp4a16 (default) and mxfp4a8, and Q4_K, Q5_K and Q6_K by q4ka8, q5ka8 and q6ka8, which run "
        "on the CPU alone, as does mxfp4a8. F32, F16 and BF16 become what the scheme says, w8a16 by default. int8 has "
        "a power of "
        "two for each row of W and of X, and is exact in between; its sums are scaled, and the bias added, in "
        "double. w4int8 has weights of 4 bits, likewise, and makes Q4_0 such too.\n\n"
        "--table quantises Y by the scale and zero point of the table's input, and stores the table's values: codes, "
        "or with --out the real numbers that they stand for. With int8 all of that is in integers, from a scale that "
        "is a power of two, and with --bias as well all rows of X have one exponent.\n\n"
        "What ran is told on standard error. --device cuda exits with 77 where there is no library or no device; "
        "`pwlc sweep --help` says where " CUDA_LIBRARY_NAME
        " is searched. PWL_QGEMM_KERNEL in the environment names the kernel, as pwl/cuda_qgemm.h does.",
    .example = "{ printf 'GGUF\\003000\\0010000000%08d\\0010000000w\\001000 0000000%019d' 0 0; "
               "printf '00\\200?%.0s' $(seq 32); } | tr 0 '\\0' >small.gguf\n"
               "pwlc gguf extract small.gguf w -o x.npy\n"
               "pwlc gemm --weights small.gguf:w --act x.npy",
    .options = options,
    .run = run,
};

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.device = DEVICE_AUTO, .out = GEMM_CODES};
    int code = parse(argc, argv, &request, diag);
    if (code == EXIT_DONE)
        code = perform(&request, diag);
    free((char *)(uintptr_t)request.file);
    return code;
}
