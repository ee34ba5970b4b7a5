/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes table JSON files that no fitter would: each storage case x form x rounding x fold, and reduced ones of each
 * law, with widths, signs, zero points, narrowed ranges, left shifts and segment counts drawn from a fixed seed, then
 * the edges by hand. Only tables that pass pwl_table_check are kept. usage: random_tables DIRECTORY [SEED]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/fixed.h>

#include "base/file.h"
#include "base/output.h"
#include "table/reduction.h"
#include "table/table.h"

#define MAX_TRIES 4000

static uint64_t random_state;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform enough in [min, max]; max - min fits 63 bits. */
static int64_t between(int64_t min, int64_t max)
{
    return min + (int64_t)(next_random() % ((uint64_t)(max - min) + 1));
}

static bool one_in(int n)
{
    return between(1, n) == 1;
}

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "random_tables: %s: %s\n", what, detail);
    exit(EXIT_IO);
}

static void set_tensor(struct tensor *tensor, int bits, bool is_signed, const char *scale, int64_t zero_point)
{
    struct diag diag = {0};
    tensor->bits = bits;
    tensor->is_signed = is_signed;
    if (scale_parse(scale, "scale", &tensor->scale, &diag) != EXIT_DONE)
        fail(scale, diag.text);
    tensor->zero_point = zero_point;
    tensor->qmin = code_min(bits, is_signed);
    tensor->qmax = code_max(bits, is_signed);
}

static void draw_tensor(struct tensor *tensor, int bits)
{
    static const char *const scales[] = {"2^-12", "2^-4", "2^3", "0.0472", "1.7e-05"};
    set_tensor(tensor, bits, one_in(2), scales[between(0, 4)], 0);
    const int64_t min = tensor->qmin, max = tensor->qmax;
    if (one_in(4)) {
        tensor->qmin = between(min, max);
        tensor->qmax = between(tensor->qmin, max);
    }
    if (!one_in(3))
        tensor->zero_point = between(min, max);
    else if (one_in(2))
        tensor->zero_point = one_in(2) ? min - between(1, max - min) : max + between(1, max - min);
}

static int64_t last_code(const struct table *t)
{
    const struct tensor in = table_segment_codes(t);
    const int64_t mirrored = t->has_fold ? 2 * in.zero_point - in.qmin : in.qmax;
    return mirrored > in.qmax ? mirrored : in.qmax;
}

/* Ascending starts from the first code, drawn from what the storage type and the range hold. */
static void draw_starts(struct table *t)
{
    static const int most[] = {1, 5, 16, 17, 60};
    const struct tensor in = table_segment_codes(t);
    const int64_t first = t->has_fold ? in.zero_point : in.qmin;
    const int64_t type_max = code_max(storage_bits(t->storage), in.is_signed);
    const int64_t last = last_code(t) < type_max ? last_code(t) : type_max;
    int64_t room = last - first; /* codes after the current start */
    const int limit = most[between(0, 4)];

    t->segment_count = 1;
    t->segments[0].start = first;
    while (t->segment_count < limit && room > 0) {
        const int64_t share = 2 * room / (limit - t->segment_count + 1);
        const int64_t step = between(1, share > 1 ? share : 1);
        t->segments[t->segment_count].start = t->segments[t->segment_count - 1].start + step;
        t->segment_count++;
        room -= step;
    }
}

/* A line that passes near an output code somewhere in its segment. ease shortens slopes and shifts. */
static void draw_line(struct table *t, int index, int n, int ease)
{
    struct segment *s = &t->segments[index];
    const int64_t span = t->out.qmax - t->out.qmin + 1;
    const int64_t end = index + 1 < t->segment_count ? s[1].start - 1 : last_code(t);
    const int64_t target = between(t->out.qmin - span / 4, t->out.qmax + span / 4);
    int bits = storage_bits(t->storage) - (n < 0 ? storage_bits(t->storage) / 2 : 0) - ease;
    bits = (int)between(2, bits < 2 ? 2 : bits);
    const int64_t x = between(s->start, end) - (t->form == PWL_ANCHORED ? s->start : table_segment_codes(t).zero_point);

    s->n = n;
    s->q_b = one_in(8) ? 0 : between(-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
    /* |q_b * x| < 2^31 * 2^34, so that the 64-bit product may wrap only for a table that the proof refuses; it is
     * formed where it cannot. */
    const int64_t product = llabs(x) > (INT64_C(1) << 31) ? 0 : s->q_b * x;
    if (t->form == PWL_BIASED)
        s->offset = (n >= 0 ? (n < 24 ? target * (INT64_C(1) << n) : target) : target / (INT64_C(1) << -n)) - product;
    else if (n >= 0)
        s->offset = target - pwl_shr64(product, n, (int)t->rounding);
    else
        s->offset = target - (llabs(product) < (INT64_C(1) << 40) ? product * (INT64_C(1) << -n) : 0);
}

static void draw_lines(struct table *t, int ease)
{
    const bool lefts = one_in(2), zeros = one_in(2), same = one_in(4);
    const int most = t->storage == PWL_INT8 ? 12 : t->storage == PWL_INT16 ? 20 : 34;
    const int shared = (int)between(lefts ? -4 : 0, most);
    for (int i = 0; i < t->segment_count; i++) {
        int n = (int)between(1, most);
        if (lefts && one_in(4))
            n = (int)between(-5, -1);
        else if (zeros && one_in(4))
            n = 0;
        draw_line(t, i, same ? shared : n, ease);
    }
}

static bool is_safe(const struct table *t)
{
    struct packed_table packed;
    struct diag diag = {0};
    pwl_proof proof;
    if (table_pack(t, &packed, &diag) != EXIT_DONE)
        return false;
    const bool safe = (packed.is_reduced ? pwl_reduced_check(&packed.reduced, &proof)
                                         : pwl_table_check(&packed.table, &proof)) == PWL_OK;
    packed_table_free(&packed);
    return safe;
}

static void write_table(const char *directory, struct table *t, int *number)
{
    char path[512], in[96], out[96], spec[512];
    char *text = NULL;
    struct diag diag = {0};
    struct table again = {0};

    /* The text of a spec goes into a comment: it must not be able to leave it. */
    tensor_format(&t->in, in, sizeof in);
    tensor_format(&t->out, out, sizeof out);
    snprintf(spec, sizeof spec, "%s --in %s --out %s /* */ \"\\n\" ?\?/ //*/ */", t->function, in, out);
    t->spec = spec;
    t->certificate.max_err_at = t->in.qmin;
    t->certificate.acc_bits = accumulator_bits(t->storage);
    t->certificate.optimal = -1;
    if (table_to_json(t, &text, &diag) != EXIT_DONE)
        fail("table_to_json", diag.text);
    snprintf(path, sizeof path, "%s/%03d_%s_%s_%s%s.json", directory, ++*number, storage_name(t->storage),
             form_name(t->form), rounding_name(t->rounding),
             t->has_fold        ? "_fold"
             : t->has_reduction ? "_reduced"
                                : "");
    if (table_from_json(text, strlen(text), &again, &diag) != EXIT_DONE ||
        file_write(path, text, strlen(text), &diag) != EXIT_DONE || outputs_commit(&diag) != EXIT_DONE)
        fail(path, diag.text);
    t->spec = NULL;
    table_free(&again);
    free(text);
}

/* The integers of t->function's law, of every size that the proof may still accept. */
static void draw_reduction(struct table *t)
{
    pwl_reduction *r = &t->reduction;
    if (!reduction_law(t->function, r))
        fail(t->function, "has no law");
    r->shift = (int16_t)(one_in(8) ? between(INT16_MIN, INT16_MAX) : between(-3, 12));
    if (r->direction == 0)
        r->addend = between(0, one_in(4) ? INT64_C(1) << 50 : 5000);
    if (r->kind == PWL_LEADING_ZEROS) {
        r->below = between(t->out.qmin, t->out.qmax);
    } else {
        r->fraction = (uint8_t)(one_in(4) ? storage_bits(t->storage) : between(storage_bits(t->storage), 45));
        r->factor = between(1, INT64_C(1) << (62 - 2 - t->in.bits));
    }
}

/* One table of a kind; draws until one is safe, with ever shorter slopes. */
static void write_random(const char *directory, struct table *t, int *number)
{
    static const char *const functions[] = {"sigmoid", "tanh", "gelu", "silu", "exp", "sqrt", "samples"};
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        const int most = storage_bits(t->storage);
        int in_bits = (int)between(t->storage == PWL_INT8 ? 2 : most / 2 + 1, most), out_bits = in_bits;
        if (one_in(2)) {
            in_bits = t->storage == PWL_INT8 ? in_bits : one_in(2) ? most / 2 : most;
            out_bits = in_bits == most ? (int)between(2, most) : most;
        }
        draw_tensor(&t->in, in_bits);
        draw_tensor(&t->out, out_bits);
        if (t->has_fold) {
            t->in.zero_point = between(t->in.qmin, t->in.qmax);
            t->fold_sum = one_in(2) ? 2 * t->out.qmin : t->out.qmin + t->out.qmax;
        }
        if (t->has_reduction)
            draw_reduction(t);
        draw_starts(t);
        draw_lines(t, 16 * tries / MAX_TRIES);
        if (!t->has_reduction)
            snprintf(t->function, sizeof t->function, "%s", functions[between(0, 6)]);
        memset(t->samples_sha256, strcmp(t->function, "samples") == 0 ? 'a' : '\0', sizeof t->samples_sha256 - 1);
        if (is_safe(t)) {
            write_table(directory, t, number);
            return;
        }
    }
    fail(form_name(t->form), "no safe table was drawn");
}

/* A table without slopes: every code its own segment when count covers the range. */
static void write_full(const char *directory, struct table *t, pwl_form form, int *number)
{
    t->form = form;
    t->rounding = PWL_HALF_EVEN;
    t->segment_count = (int)(t->in.qmax - t->in.qmin + 1);
    for (int i = 0; i < t->segment_count; i++) {
        const int64_t value = between(t->out.qmin - 9, t->out.qmax + 9);
        t->segments[i] = (struct segment){.start = t->in.qmin + i, .n = form == PWL_BIASED ? 2 : 0, .offset = value};
    }
    if (!is_safe(t))
        fail("full table", form_name(form));
    write_table(directory, t, number);
}

/* The smallest values of each type, and shifts at their limits. */
static void write_edges(const char *directory, struct table *t, int *number)
{
    strcpy(t->function, "leaky_relu");
    t->parameter_count = 1;
    strcpy(t->parameters[0].name, "alpha");
    t->parameters[0].value = -0.125;

    t->storage = PWL_INT32;
    t->form = PWL_ABSOLUTE;
    t->rounding = PWL_HALF_AWAY;
    set_tensor(&t->in, 32, true, "2^-16", -INT64_C(2147483649));
    set_tensor(&t->out, 32, false, "0.001", INT64_C(4294967296));
    t->segment_count = 4;
    t->segments[0] = (struct segment){INT32_MIN, INT32_MIN, 33, INT64_C(0x7fffffffffff), {0}};
    t->segments[1] = (struct segment){-1, INT32_MAX, 62, -INT64_C(0x800000000000), {0}};
    t->segments[2] = (struct segment){7, 0, -63, INT32_MIN, {0}};
    t->segments[3] = (struct segment){INT32_MAX, -1, 0, INT64_C(4294967295), {0}};
    if (!is_safe(t))
        fail("edges", "int32 absolute");
    write_table(directory, t, number);

    t->form = PWL_BIASED;
    t->rounding = PWL_FLOOR;
    set_tensor(&t->in, 32, false, "2^-16", 0);
    set_tensor(&t->out, 8, true, "2^-7", 0);
    t->segment_count = 3;
    t->segments[0] = (struct segment){0, 0, 63, INT64_MIN, {0}};
    t->segments[1] = (struct segment){INT64_C(2147483648), 1, 25, -INT64_C(2147483649), {0}};
    t->segments[2] = (struct segment){INT64_C(4294967295), -1, -20, INT64_C(4294967300), {0}};
    if (!is_safe(t))
        fail("edges", "int32 biased");
    write_table(directory, t, number);

    t->storage = PWL_INT16;
    set_tensor(&t->in, 16, true, "2^-12", INT16_MIN);
    set_tensor(&t->out, 16, true, "2^-15", 0);
    t->segments[0] = (struct segment){INT16_MIN, 0, 31, INT32_MIN, {0}};
    t->segments[1] = (struct segment){-1, INT16_MIN, 16, 1 << 30, {0}};
    t->segments[2] = (struct segment){0, 1, -14, -32768, {0}};
    if (!is_safe(t))
        fail("edges", "int16 biased");
    write_table(directory, t, number);

    t->storage = PWL_INT8;
    t->parameter_count = 0;
    strcpy(t->function, "gelu_tanh");
    set_tensor(&t->in, 8, true, "0.0472", -3);
    set_tensor(&t->out, 8, true, "0.0238", -121);
    write_full(directory, t, PWL_ABSOLUTE, number);
    set_tensor(&t->in, 7, false, "0.0472", -3);
    t->in.qmin = 3;
    t->in.qmax = 99;
    write_full(directory, t, PWL_BIASED, number);
    t->storage = PWL_INT16;
    set_tensor(&t->in, 12, true, "2^-9", 0);
    write_full(directory, t, PWL_ANCHORED, number);
}

int main(int argc, char **argv)
{
    struct table t = {.method = "lsq", .segments = calloc(PWL_MAX_SEGMENTS, sizeof(struct segment))};
    int number = 0;
    if (argc < 2 || !t.segments)
        fail("usage", "random_tables DIRECTORY [SEED]");
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (int kind = 0; kind < 3 * 3 * 4 * 2; kind++) {
        t.storage = (pwl_storage)(kind / 24);
        t.form = (pwl_form)(kind / 8 % 3);
        t.rounding = (pwl_rounding)(kind / 2 % 4);
        t.has_fold = kind % 2 == 1;
        t.fold_sum = 0;
        write_random(argv[1], &t, &number);
    }
    t.has_fold = false;
    t.has_reduction = true;
    for (int kind = 0; kind < 5 * 6; kind++) {
        static const char *const laws[] = {"sqrt", "rsqrt", "reciprocal", "log", "exp"};
        t.storage = kind % 2 ? PWL_INT16 : PWL_INT32;
        t.form = (pwl_form)(kind / 2 % 3);
        t.rounding = (pwl_rounding)(kind % 4);
        snprintf(t.function, sizeof t.function, "%s", laws[kind / 6]);
        write_random(argv[1], &t, &number);
    }
    t.has_reduction = false;
    t.fold_sum = 0;
    memset(t.samples_sha256, '\0', sizeof t.samples_sha256);
    write_edges(argv[1], &t, &number);
    free(t.segments);
    printf("%d tables\n", number);
    return EXIT_DONE;
}
