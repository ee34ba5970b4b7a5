/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "evaluation.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/input.h"
#include "base/note.h"
#include "base/progress.h"
#include "function/quantise.h"
#include "io/npy_pieces.h"
#include "table/array_plan.h"
#include "table/trace.h"
#include "words.h"

#define STEP 8192 /* results that are worked out at a time; arrays of any size take no more memory */

/* An argument: an array, the code of a word, or standard input, which is read when its turn comes, piece by piece or
 * line by line. Only where an array is written, which begins with its size, are the answers to it held before. */
struct source {
    const char *path;
    bool is_array, is_stream, is_lines;
    struct npy_pieces array;
    int64_t code;
    size_t count;          /* of codes; of a stream when its answers are held */
    struct text held;      /* elements of the array that is written */
    size_t clamped;        /* codes beyond the range, */
    int64_t first_clamped; /* and the first of these */
};

struct evaluation {
    const struct evaluation_request *request;
    const struct table *table;
    const struct packed_table *packed;
    struct codes codes;
    struct source *sources; /* request->input_count, of which */
    int source_count;       /* are set */
    struct source *now;     /* the one that is answered */
    char kind;              /* of the output's elements, */
    int item_size;          /* and their bytes */
    struct function function;
    bool has_function;       /* of a trace */
    struct array_plan plan;  /* of the table's own codes */
    struct file_output file; /* of -o */
    size_t done;             /* results */
};

bool evaluation_takes_array(const char *input)
{
    const size_t length = strlen(input);
    return length > 4 && strcmp(input + length - 4, ".npy") == 0;
}

/* An unsigned element whose highest bit is set. */
static bool beyond_int64(const struct npy *npy, size_t i)
{
    return npy->kind == 'u' && npy->item_size == 8 && npy->data[8 * i + 7] > INT8_MAX;
}

/* The codes of elements [from, from + count) of a piece, which `before` elements of the array precede. */
static int array_codes(const struct npy *piece, size_t before, size_t from, size_t count, int64_t *codes,
                       struct diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        if (beyond_int64(piece, from + i))
            return diag_set(diag, EXIT_USAGE, "element %zu is above %" PRId64 ", the largest code", before + from + i,
                            INT64_MAX);
        codes[i] = npy_integer(piece, from + i);
    }
    return EXIT_DONE;
}

/* The same of real values. */
static int array_reals(const struct npy *piece, size_t before, size_t from, size_t count, double *reals,
                       struct diag *diag)
{
    npy_reals(piece, from, count, reals);
    for (size_t i = 0; i < count; i++)
        if (isnan(reals[i]))
            return diag_set(diag, EXIT_USAGE, "element %zu is not a number; every element must be", before + from + i);
    return EXIT_DONE;
}

/* Whether some element may be refused, which its value tells. */
static bool needs_check(const struct npy *npy)
{
    return npy->kind == 'f' || (npy->kind == 'u' && npy->item_size == 8);
}

static void print_results(const struct evaluation *all, const void *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t q_y = element_of(all->plan.out, y, i);
        if (all->codes.real)
            printf("%.9Lg\n", tensor_real(&all->table->out, q_y));
        else
            printf("%" PRId64 "\n", q_y);
    }
}

/* Results into the array that is written, or to be held for it. */
static int write_results(struct evaluation *all, void *y, size_t count, struct diag *diag)
{
    double real[STEP];
    void *const bytes = all->codes.real ? real : y;
    for (size_t i = 0; all->codes.real && i < count; i++)
        real[i] = (double)tensor_real(&all->table->out, element_of(all->plan.out, y, i));
    npy_swap_order(bytes, count, all->item_size);
    if (!all->now->is_stream)
        return file_add(&all->file, bytes, count * (size_t)all->item_size, diag);
    text_add_bytes(&all->now->held, bytes, count * (size_t)all->item_size);
    all->now->count += count;
    return all->now->held.failed ? diag_set(diag, EXIT_IO, "out of memory for %zu results", all->now->count)
                                 : EXIT_DONE;
}

/* At most STEP results, which it may change. */
static int give(struct evaluation *all, void *y, size_t count, struct diag *diag)
{
    all->done += count;
    if (all->request->output)
        return write_results(all, y, count, diag);
    print_results(all, y, count);
    return EXIT_DONE;
}

static void note_outside(struct evaluation *all, size_t outside, int64_t first)
{
    if (all->now->clamped == 0)
        all->now->first_clamped = first;
    all->now->clamped += outside;
}

static int trace_codes(struct evaluation *all, const int64_t *codes, size_t count, struct diag *diag)
{
    const struct function *function = all->has_function ? &all->function : NULL;
    for (size_t i = 0; i < count; i++, all->done++) {
        if (all->done > 0)
            printf("\n");
        if (trace_print(all->table, all->packed, function, codes[i], diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

/* At most STEP codes, whatever they are. */
static int answer_codes(struct evaluation *all, const int64_t *codes, size_t count, struct diag *diag)
{
    const struct tensor *in = &all->table->in;
    uint32_t x[STEP], y[STEP]; /* or int32_t, as the plan has it */
    for (size_t i = 0; i < count; i++) {
        const int64_t q = codes[i] < in->qmin ? in->qmin : codes[i] > in->qmax ? in->qmax : codes[i];
        x[i] = (uint32_t)q;
        if (q != codes[i])
            note_outside(all, 1, codes[i]);
    }
    if (all->request->trace)
        return trace_codes(all, codes, count, diag);
    array_plan_run(&all->plan, x, y, count);
    return give(all, y, count, diag);
}

/* At most STEP real values, without a trace. */
static int answer_reals(struct evaluation *all, const double *reals, size_t count, struct diag *diag)
{
    uint32_t x[STEP], y[STEP]; /* or int32_t, as the plan has it */
    int64_t first = 0;
    const size_t outside = quantise_all(&all->table->in, reals, count, x, &first);
    if (outside > 0)
        note_outside(all, outside, first);
    array_plan_run(&all->plan, x, y, count);
    return give(all, y, count, diag);
}

/* Any number of codes; a codes_take of an evaluation. */
static int answer_words(void *context, const int64_t *codes, size_t count, struct diag *diag)
{
    for (size_t done = 0; done < count; done += STEP) {
        const size_t left = count - done, step = left < STEP ? left : STEP;
        if (answer_codes(context, codes + done, step, diag) != EXIT_DONE)
            return diag->code;
    }
    return EXIT_DONE;
}

static int answer_none(void *context, const int64_t *codes, size_t count, struct diag *diag)
{
    (void)context;
    (void)codes;
    (void)count;
    return diag->code;
}

/* What can be read again is looked at beforehand, so that nothing is printed when a word of it is refused. */
static int check_stream(struct evaluation *all, struct diag *diag)
{
    struct stat status;
    const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (begin < 0 || fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode))
        return EXIT_DONE;
    if (codes_read(&all->codes, answer_none, NULL, diag) == EXIT_DONE && lseek(STDIN_FILENO, begin, SEEK_SET) < 0)
        diag_set(diag, EXIT_IO, "standard input: cannot read: %s", strerror(errno));
    return diag->code;
}

/* The answers to a stream that go into an array are its content from here on. */
static int open_stream(struct evaluation *all, struct source *source, struct diag *diag)
{
    if (inputs_know(STDIN_FILENO, diag) != EXIT_DONE)
        return diag_prefix(diag, "standard input");
    if (source->is_lines)
        return EXIT_DONE;
    all->now = source;
    return all->request->output ? codes_read(&all->codes, answer_words, all, diag) : check_stream(all, diag);
}

/* Elements that a plan takes as they are. */
static bool is_direct(const struct evaluation *all, const struct npy *npy)
{
    return npy->kind != 'f' && npy->item_size <= 4 && !all->codes.real && !all->request->trace;
}

/* Where answers are printed on a terminal, they are the progress. */
static void begin_progress(struct progress *progress, const struct npy_pieces *array)
{
    memset(progress, 0, sizeof *progress);
    if (!isatty(STDOUT_FILENO))
        progress_begin(progress, "codes", array->npy.count);
}

static int answer_directly(struct evaluation *all, struct npy_pieces *array, struct diag *diag)
{
    const struct tensor *in = &all->table->in;
    const pwl_type type = element_type(8 * array->npy.item_size, array->npy.kind == 'i');
    struct array_plan plan;
    struct npy piece;
    struct progress progress;
    uint32_t y[STEP];
    begin_progress(&progress, array);
    int code = array_plan_make(&plan, all->packed, type, all->plan.out, diag);
    while (code == EXIT_DONE && (code = npy_next(array, &piece, diag)) == EXIT_DONE && piece.count > 0) {
        int64_t first = 0;
        npy_swap_order(array->buffer, piece.count, piece.item_size);
        const size_t outside = elements_outside(type, array->buffer, piece.count, in->qmin, in->qmax, &first);
        if (outside > 0)
            note_outside(all, outside, first);
        for (size_t from = 0; code == EXIT_DONE && from < piece.count; from += STEP) {
            const size_t left = piece.count - from, step = left < STEP ? left : STEP;
            array_plan_run(&plan, array->buffer + from * (size_t)piece.item_size, y, step);
            code = give(all, y, step, diag);
            progress_add(&progress, step);
        }
    }
    progress_end(&progress);
    array_plan_free(&plan);
    return code;
}

/* Elements [from, from + count) of a piece, at most STEP. */
static int walk_elements(struct evaluation *all, const struct npy *piece, size_t before, size_t from, size_t count,
                         bool answers, struct diag *diag)
{
    int64_t codes[STEP];
    double reals[STEP];
    const int code = all->codes.real ? array_reals(piece, before, from, count, reals, diag)
                                     : array_codes(piece, before, from, count, codes, diag);
    if (code != EXIT_DONE || !answers)
        return code;
    if (all->codes.real && !all->request->trace)
        return answer_reals(all, reals, count, diag);
    for (size_t i = 0; all->codes.real && i < count; i++)
        codes[i] = quantise(all->codes.in, reals[i]);
    return answer_codes(all, codes, count, diag);
}

/* Without answers: only whether every element can be given one. */
static int walk_array(struct evaluation *all, struct npy_pieces *array, bool answers, struct diag *diag)
{
    struct npy piece;
    struct progress progress;
    size_t before = 0;
    int code;
    begin_progress(&progress, array);
    while ((code = npy_next(array, &piece, diag)) == EXIT_DONE && piece.count > 0) {
        for (size_t from = 0; code == EXIT_DONE && from < piece.count; from += STEP) {
            const size_t left = piece.count - from, step = left < STEP ? left : STEP;
            code = walk_elements(all, &piece, before, from, step, answers, diag);
            progress_add(&progress, step);
        }
        if (code != EXIT_DONE)
            break;
        before += piece.count;
    }
    progress_end(&progress);
    return code;
}

/* Results are printed as they come, but those of an array that is refused further on are not: what can be read again is
 * looked at beforehand. */
static int check_array(struct evaluation *all, struct npy_pieces *array, struct diag *diag)
{
    if (array->npy.kind == 'f' && !all->codes.real)
        return diag_set(diag, EXIT_USAGE, "the elements are real, integer codes are needed; real values need --real");
    if (!array->regular || !needs_check(&array->npy))
        return EXIT_DONE;
    const int code = walk_array(all, array, false, diag);
    return code == EXIT_DONE ? npy_rewind(array, diag) : code;
}

static int open_array(struct evaluation *all, const char *path, struct npy_pieces *array, struct diag *diag)
{
    if (npy_open(path, array, diag) != EXIT_DONE || check_array(all, array, diag) != EXIT_DONE)
        return diag_prefix(diag, path);
    return EXIT_DONE;
}

static int open_source(struct evaluation *all, const char *input, struct source *source, struct diag *diag)
{
    const bool stream = strcmp(input, "-") == 0;
    int code = EXIT_DONE;
    source->path = input;
    source->is_array = !stream && evaluation_takes_array(input);
    source->is_stream = stream;
    source->is_lines = stream && all->request->line_buffered;
    if (stream)
        return open_stream(all, source, diag);
    if (source->is_array) {
        code = open_array(all, input, &source->array, diag);
        source->count = source->array.npy.count;
        return code;
    }
    all->codes.count = 0;
    code = codes_add_word(&all->codes, input, strlen(input), diag);
    if (code == EXIT_DONE)
        source->code = all->codes.values[0];
    source->count = 1;
    return code;
}

/* Nothing that is known waits for the next line. */
static int answer_lines(struct evaluation *all, struct diag *diag)
{
    char *line = NULL;
    size_t capacity = 0, number = 1;
    ssize_t length;
    int code = EXIT_DONE;
    for (;;) {
        all->codes.count = 0;
        if (fflush(stdout) != 0)
            code = diag_set(diag, EXIT_IO, "standard output: %s", strerror(errno));
        if (code != EXIT_DONE || (length = getline(&line, &capacity, stdin)) < 0)
            break;
        code = codes_add_words(&all->codes, line, (size_t)length, &number, diag);
        if (code == EXIT_DONE)
            code = answer_words(all, all->codes.values, all->codes.count, diag);
    }
    if (code == EXIT_DONE && ferror(stdin))
        code = diag_set(diag, EXIT_IO, "standard input: cannot read: %s", strerror(errno));
    free(line);
    return code;
}

static int answer_source(struct evaluation *all, struct source *source, struct diag *diag)
{
    all->now = source;
    if (source->is_lines)
        return answer_lines(all, diag);
    if (source->is_stream)
        return all->request->output ? file_add(&all->file, source->held.bytes, source->held.size, diag)
                                    : codes_read(&all->codes, answer_words, all, diag);
    if (!source->is_array)
        return answer_codes(all, &source->code, 1, diag);
    const int code = is_direct(all, &source->array.npy) ? answer_directly(all, &source->array, diag)
                                                        : walk_array(all, &source->array, true, diag);
    return code == EXIT_DONE ? code : diag_prefix(diag, source->path);
}

static void note_clamped(const struct evaluation *all)
{
    const struct source *first = NULL;
    size_t clamped = 0;
    for (int i = 0; i < all->source_count; i++) {
        clamped += all->sources[i].clamped;
        if (!first && all->sources[i].clamped)
            first = &all->sources[i];
    }
    if (first)
        note("eval", "%zu of %zu codes outside [%" PRId64 ", %" PRId64 "] clamped; the first is %" PRId64, clamped,
             all->done, all->table->in.qmin, all->table->in.qmax, first->first_clamped);
}

/* The smallest element type that holds the output codes; double for real values. */
static int begin_answers(struct evaluation *all, struct diag *diag)
{
    const struct tensor *in = &all->table->in, *out = &all->table->out;
    const pwl_type type = element_type(out->bits, out->is_signed);
    all->kind = all->codes.real ? 'f' : out->is_signed ? 'i' : 'u';
    all->item_size = all->codes.real ? 8 : 1 << (type >> 1);
    return array_plan_make(&all->plan, all->packed, element_type(32, in->is_signed), type, diag);
}

/* In the shape of the input when one .npy is all there is. */
static int begin_output(struct evaluation *all, struct diag *diag)
{
    const bool alone = all->source_count == 1 && all->sources[0].is_array;
    unsigned char header[NPY_HEADER_SIZE];
    size_t size, count = 0;
    for (int i = 0; i < all->source_count; i++)
        count += all->sources[i].count;
    struct npy shape =
        alone ? all->sources[0].array.npy : (struct npy){.dimensions = 1, .shape = {count}, .count = count};
    shape.kind = all->kind;
    shape.item_size = all->item_size;
    if (npy_build_header(&shape, header, &size, diag) != EXIT_DONE ||
        file_begin(all->request->output, &all->file, diag) != EXIT_DONE)
        return diag->code;
    return file_add(&all->file, header, size, diag);
}

static int answer_all(struct evaluation *all, struct diag *diag)
{
    const struct evaluation_request *request = all->request;
    if (begin_answers(all, diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; i < request->input_count; i++) {
        all->source_count++;
        if (open_source(all, request->inputs[i], &all->sources[i], diag) != EXIT_DONE)
            return diag->code;
    }
    /* A table made from samples is traced without its reference when the samples are not at hand. */
    all->has_function = request->trace && (!all->table->samples_sha256[0] || request->samples);
    if (all->has_function && table_function(all->table, request->samples, &all->function, diag) != EXIT_DONE)
        return diag->code;
    if (request->output && begin_output(all, diag) != EXIT_DONE)
        return diag->code;
    for (int i = 0; i < all->source_count; i++)
        if (answer_source(all, &all->sources[i], diag) != EXIT_DONE)
            return diag->code;
    return EXIT_DONE;
}

int evaluate(const struct evaluation_request *request, const struct table *table, const struct packed_table *packed,
             struct diag *diag)
{
    struct evaluation all = {.request = request,
                             .table = table,
                             .packed = packed,
                             .codes = {.in = &table->in, .real = request->real},
                             .file = {.fd = -1},
                             .sources = calloc((size_t)request->input_count, sizeof *all.sources)};
    int code = all.sources ? answer_all(&all, diag) : diag_set(diag, EXIT_IO, "out of memory");
    code = file_end(&all.file, code, diag);
    if (code == EXIT_DONE)
        note_clamped(&all);
    for (int i = 0; i < all.source_count; i++) {
        if (all.sources[i].is_array)
            npy_close(&all.sources[i].array);
        text_free(&all.sources[i].held);
    }
    free(all.sources);
    free(all.codes.values);
    array_plan_free(&all.plan);
    if (all.has_function)
        function_free(&all.function);
    return code;
}
