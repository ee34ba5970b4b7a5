/* SPDX-License-Identifier: 0BSD */
/*
 * The feed-forward block of a transformer, from a GGUF file, in W4A8 with the activation fused into the first product:
 * how far the output is from the same in floats, and which share of it weights, activations and the table have.
 *
 *   cc -std=c11 -O2 -Iluts examples/ffn.c examples/ffn_block.c examples/gguf.c \
 *       $(pkg-config --cflags --libs pwl-blocks pwl) -lm -o ffn
 *   ./ffn model.gguf --gate blk.0.ffn_gate.weight --up blk.0.ffn_up.weight --down blk.0.ffn_down.weight
 *
 * Without --gate the block is W_down gelu(W_up x), with it W_down (silu(W_gate x) * (W_up x)); --function gelu or silu
 * names another. x are --tokens N (16) of random numbers, of mean square 1 as behind a norm.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ffn.h"
#include "gguf.h"

enum { MAX_TOKENS = 4096 };

struct request {
    const char *path, *gate, *up, *down, *function;
    size_t tokens;
};

static int fail(const char *path, const char *what, const char *name)
{
    fprintf(stderr, "ffn: %s %s%s%s\n", path, what, name ? ": " : "", name ? name : "");
    return 0;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: ffn FILE.gguf [--gate TENSOR] --up TENSOR --down TENSOR [--function gelu|silu] "
            "[--tokens 1..%d]\n",
            MAX_TOKENS);
    return 0;
}

static int parse(int argc, char **argv, struct request *request)
{
    const char *tokens = "16";
    const struct {
        const char *name, **value;
    } options[] = {{"--gate", &request->gate},
                   {"--up", &request->up},
                   {"--down", &request->down},
                   {"--function", &request->function},
                   {"--tokens", &tokens}};
    char *end;
    for (int i = 1; i < argc; i++) {
        const char **value = &request->path;
        int named = 0;
        for (size_t j = 0; j < sizeof options / sizeof *options; j++) {
            if (strcmp(argv[i], options[j].name) == 0) {
                value = options[j].value;
                named = 1;
            }
        }
        if (named ? i + 1 == argc : argv[i][0] == '-' || request->path)
            return usage();
        *value = argv[i += named];
    }
    if (!request->path || !request->up || !request->down)
        return usage();
    if (request->function && strcmp(request->function, "gelu") != 0 && strcmp(request->function, "silu") != 0)
        return usage();
    const long count = strtol(tokens, &end, 10);
    request->tokens = (size_t)count;
    return *end || end == tokens || count < 1 || count > MAX_TOKENS ? usage() : 1;
}

/* Mapped, not read: models are larger than memory. Never unmapped. */
static const void *map(const char *path, size_t *size)
{
    struct stat status;
    errno = 0;
    const int fd = open(path, O_RDONLY);
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        *size = (size_t)status.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    if (bytes != MAP_FAILED)
        return bytes;
    fail(path, "cannot be read", errno ? strerror(errno) : "not a file of one byte or more");
    return NULL;
}

static int find(const struct request *request, ffn_block *block)
{
    const struct {
        const char *name;
        pwl_qgemm_tensor *tensor;
    } tensors[] = {{request->up, &block->up}, {request->down, &block->down}, {request->gate, &block->gate}};
    const char *what;
    size_t size = 0;
    const void *const bytes = map(request->path, &size);
    if (!bytes)
        return 0;
    for (int i = 0; i < 2 + (request->gate != NULL); i++) {
        what = gguf_find(bytes, size, tensors[i].name, tensors[i].tensor);
        if (what)
            return fail(request->path, what, tensors[i].name);
    }
    block->f = request->gate ? &ffn_silu : &ffn_gelu;
    if (request->function)
        block->f = strcmp(request->function, "gelu") == 0 ? &ffn_gelu : &ffn_silu;
    what = ffn_shape(block);
    return what ? fail(request->path, what, NULL) : 1;
}

/* x, of `count` numbers: Box and Muller's, the same each time. */
static void draw(float *x, size_t count)
{
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        double u[2];
        for (int j = 0; j < 2; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[j] = ((double)(state >> 33) + 0.5) * 0x1p-31;
        }
        x[i] = (float)(sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]));
    }
}

static void print_row(const ffn_block *block, const char *what, const ffn_table *table, const float *y,
                      const float *exact, size_t count)
{
    printf("| %s%s: %s%s%s | %.2e |\n", block->f->name, block->gate.data ? ", gated" : "", what, table ? ", " : "",
           table ? table->name : "", ffn_nmse(y, exact, count));
}

/* What is quantised alone is. */
static int measure_alone(const ffn_block *block, const char *what, ffn_choice choice, const float *x, size_t m,
                         const float *exact, float *y)
{
    if (!ffn_compute(block, choice, x, m, y))
        return fail("out of", "memory", NULL);
    print_row(block, what, choice.table, y, exact, m * block->d);
    return 1;
}

/* All of it; what is run is what the sources of error make together, but for the order of sums in double. */
static int measure_all(const ffn_block *block, const ffn_table *table, const float *x, size_t m, const float *exact,
                       float *y, float *parts)
{
    const ffn_choice all = {1, 1, table};
    const pwl_qgemm_status status = ffn_fused(block, table, x, m, y);
    if (status != PWL_QGEMM_OK)
        return fail("the products", "fail", pwl_qgemm_status_text(status));
    print_row(block, "all, fused", table, y, exact, m * block->d);
    if (!ffn_compute(block, all, x, m, parts))
        return fail("out of", "memory", NULL);
    return ffn_nmse(parts, y, m * block->d) <= 0x1p-40 || fail("the fused products", "differ from their parts", NULL);
}

/* In `room` of four arrays like x. */
static int measure(const ffn_block *block, size_t m, float *room)
{
    const size_t count = m * block->d;
    float *const x = room, *const exact = x + count, *const y = exact + count, *const parts = y + count;
    const ffn_choice nothing = {0, 0, NULL}, weights = {1, 0, NULL}, activations = {0, 1, NULL};
    draw(x, count);
    printf("| %zu tokens, d %zu, ff %zu | NMSE |\n|---|---|\n", m, block->d, block->ff);
    if (!ffn_compute(block, nothing, x, m, exact))
        return fail("out of", "memory", NULL);
    int done = measure_alone(block, "weights alone", weights, x, m, exact, y) &&
               measure_alone(block, "activations alone", activations, x, m, exact, y);
    for (int i = 0; i < FFN_TABLES && done; i++) {
        const ffn_choice table = {0, 0, &block->f->tables[i]};
        done = measure_alone(block, "table alone", table, x, m, exact, y);
    }
    for (int i = 0; i < FFN_TABLES && done; i++)
        done = measure_all(block, &block->f->tables[i], x, m, exact, y, parts);
    return done;
}

int main(int argc, char **argv)
{
    struct request request = {0};
    ffn_block block = {0};
    if (!parse(argc, argv, &request))
        return 2;
    if (!find(&request, &block))
        return 1;
    float *const room = malloc(4 * request.tokens * block.d * sizeof *room);
    const int done = room ? measure(&block, request.tokens, room) : fail("out of", "memory", NULL);
    free(room);
    return !done;
}
