/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights packed on a device against the host's, byte for byte; test_qgemm_pack.c proves the host's.
 *
 * test_qgemm_pack_cuda        everything, on one device; exits 77 where there is none
 * test_qgemm_pack_cuda small  some of it, for compute-sanitizer
 */
#include <pwl/cuda_qgemm.h>

#include "../device.h"
#include "../tap.h"
#include "cases.h"
#include "gemm/layout.h"

enum { GUARD = 64 };

#define POISON 0xa5

static int small;
static const size_t shapes[][2] = {{1, 32},    {1, 96},     {16, 64},    {127, 32},  {128, 128},  {129, 96},
                                   {17, 2080}, {130, 4064}, {300, 1024}, {1000, 96}, {1025, 4096}};

static size_t shapes_count(void)
{
    return small ? 7 : sizeof shapes / sizeof shapes[0];
}

/* What is packed: on the host, and, `offset` bytes from an aligned address, on the device. */
struct matrix {
    pwl_qgemm_format format;
    pwl_rule rule;
    enum { BLOCKS, FLOATS, BYTES, TENSOR } from;
    size_t n, k, bytes, offset;
    uint8_t *data;
    int8_t *n_w;
    uint32_t type; /* of a tensor */
};

static pwl_qgemm_tensor tensor_of(const struct matrix *m, const void *data)
{
    const pwl_qgemm_tensor tensor = {m->type, {m->k, m->n, 1, 1}, data, m->bytes};
    return tensor;
}

/* Packed weights, and all of the memory that they are in. */
struct packed {
    pwl_qgemm_status status;
    pwl_qgemm_weights weights;
    pwl_qgemm_place bad;
    uint8_t *memory;
};

static const pwl_qgemm_weights untouched = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0, 4};

static struct packed pack_host(const struct matrix *m, size_t room)
{
    struct packed p = {PWL_QGEMM_OK, untouched, {77, 77, 0}, need(room + GUARD)};
    const pwl_qgemm_tensor tensor = tensor_of(m, m->data);
    memset(p.memory, POISON, room + GUARD);
    if (m->from == BLOCKS)
        p.status =
            pwl_qgemm_pack(pwl_qgemm_of_blocks(m->format, m->data, m->n, m->k), p.memory, room, &p.weights, &p.bad);
    else if (m->from == FLOATS)
        p.status = pwl_qgemm_pack(pwl_qgemm_of_floats(m->format, m->rule, (float *)(void *)m->data, m->n, m->k),
                                  p.memory, room, &p.weights, &p.bad);
    else if (m->from == TENSOR)
        p.status = pwl_qgemm_pack(pwl_qgemm_of_tensor(m->format, m->rule, &tensor), p.memory, room, &p.weights, &p.bad);
    else
        p.status = pack_codes(m->format, m->data, m->n_w, m->n, m->k, p.memory, room, &p.weights);
    return p;
}

static struct packed pack_device(const struct matrix *m, size_t room)
{
    struct packed p = {PWL_QGEMM_OK, untouched, {77, 77, 0}, need(room + GUARD)};
    char *data, *n_w, *memory;
    CUDA(cudaMalloc((void **)&data, m->bytes + m->offset));
    CUDA(cudaMalloc((void **)&n_w, m->n));
    CUDA(cudaMalloc((void **)&memory, room + GUARD));
    CUDA(cudaMemcpy(data + m->offset, m->data, m->bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(memory, POISON, room + GUARD));
    const void *const from = data + m->offset;
    const pwl_qgemm_tensor tensor = tensor_of(m, from);
    if (m->from == BLOCKS) {
        p.status = pwl_cuda_qgemm_pack(pwl_qgemm_of_blocks(m->format, from, m->n, m->k), memory, room, &p.weights,
                                       &p.bad, NULL);
    } else if (m->from == FLOATS) {
        p.status = pwl_cuda_qgemm_pack(pwl_qgemm_of_floats(m->format, m->rule, from, m->n, m->k), memory, room,
                                       &p.weights, &p.bad, NULL);
    } else if (m->from == TENSOR) {
        p.status = pwl_cuda_qgemm_pack(pwl_qgemm_of_tensor(m->format, m->rule, &tensor), memory, room, &p.weights,
                                       &p.bad, NULL);
    } else {
        CUDA(cudaMemcpy(n_w, m->n_w, m->n, cudaMemcpyHostToDevice));
        p.status = m->format == PWL_QGEMM_ROWS8
                       ? pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, from, (int8_t *)n_w, m->n, m->k),
                                             memory, room, &p.weights, NULL, NULL)
                       : pwl_cuda_qgemm_pack(pwl_qgemm_of_codes(PWL_QGEMM_ROWS4, from, (int8_t *)n_w, m->n, m->k),
                                             memory, room, &p.weights, NULL, NULL);
    }
    CUDA(cudaMemcpy(p.memory, memory, room + GUARD, cudaMemcpyDeviceToHost));
    if (p.weights.memory == memory)
        p.weights.memory = p.memory;
    CUDA(cudaFree(data));
    CUDA(cudaFree(n_w));
    CUDA(cudaFree(memory));
    return p;
}

/* Bytes that may have been written to when weights were refused: none where the description alone told. */
static size_t written_when_refused(const struct matrix *m, size_t room)
{
    const size_t pieces = pwl_qgemm_pieces_bytes(m->format, m->n, m->k);
    const size_t bytes = pieces + (is_rows(m->format) ? pwl_qgemm_row_bytes(m->format, m->n) : 0);
    return room < bytes ? 0 : bytes;
}

/* The device does what the host does; *row_data gathers whether weights have row data. */
static int agrees(const struct matrix *m, size_t room, int *row_data)
{
    struct packed host = pack_host(m, room), device = pack_device(m, room);
    const pwl_qgemm_weights *const a = &host.weights, *const b = &device.weights;
    const size_t from = host.status == PWL_QGEMM_OK ? 0 : written_when_refused(m, room);
    int good = host.status == device.status && host.bad.row == device.bad.row && host.bad.block == device.bad.block &&
               a->n == b->n && a->k == b->k && a->bytes == b->bytes && a->format == b->format &&
               a->row_data == b->row_data && (b->memory == device.memory) == (host.status == PWL_QGEMM_OK);
    if (!good)
        printf("# status %d and %d, %zu bytes and %zu\n", host.status, device.status, a->bytes, b->bytes);
    for (size_t i = from; i < room + GUARD && good; i++) {
        good = host.memory[i] == device.memory[i];
        if (!good)
            printf("# byte %zu of %zu is %02x, not %02x\n", i, a->bytes, device.memory[i], host.memory[i]);
    }
    if (!good)
        printf("# format %d, rule %d, from %d, %zu rows of %zu\n", m->format, m->rule, m->from, m->n, m->k);
    if (host.status == PWL_QGEMM_OK) /* else it is what it was before */
        *row_data |= a->row_data;
    free(host.memory);
    free(device.memory);
    return good;
}

/* With all the room that weights may take, with what they take, and with a byte less. */
static int agrees_in_any_room(const struct matrix *m, int *row_data)
{
    size_t most;
    PWL(pwl_qgemm_weights_bytes(m->format, m->n, m->k, &most));
    struct packed host = pack_host(m, most);
    const size_t least = host.weights.bytes;
    free(host.memory);
    return host.status == PWL_QGEMM_OK && agrees(m, most, row_data) && agrees(m, least, row_data) &&
           agrees(m, least - 1, row_data);
}

static void test_blocks(const struct qgemm_kind *kind)
{
    uint64_t state = 51;
    int good = 1, some = 0;
    for (size_t i = 0; i < shapes_count() && good; i++) {
        const size_t n = shapes[i][0], k = shapes[i][1], bytes = blocks_bytes(kind, n, k);
        const struct matrix m = {kind->format,
                                 PWL_RULE_DEFAULT,
                                 BLOCKS,
                                 n,
                                 k,
                                 bytes,
                                 kind->blocks == PWL_MXFP4 ? i % 4 : i % 4 * 2,
                                 need(bytes),
                                 NULL,
                                 0};
        draw_blocks(kind, m.data, n * k / PWL_BLOCK, -14, i % 2 ? 15 : 1, &state);
        if (i % 2)
            draw_blocks(kind, m.data, 1, 15, 15, &state);
        good &= agrees_in_any_room(&m, &some);
        free(m.data);
    }
    tap(good && some, "%s: blocks, with row exponents and without", kind->name);
}

/* Blocks that call for an exponent in a row that has 0 for all that: of 2 and of 2^-27. */
static void test_no_exponent(void)
{
    enum { N = 130, K = 64, COUNT = N * K / PWL_BLOCK };
    const struct qgemm_kind *const kind = &qgemm_kinds[2];
    const size_t bytes = blocks_bytes(kind, N, K), block = bytes / COUNT;
    const struct matrix m = {kind->format, PWL_RULE_DEFAULT, BLOCKS, N, K, bytes, 1, need(bytes), NULL, 0};
    uint64_t state = 58;
    int some = 0;
    draw_blocks(kind, m.data, COUNT, -3, 0, &state);
    m.data[10 * block] = 128;
    m.data[11 * block] = 100;
    const int good = agrees_in_any_room(&m, &some);
    tap(good && !some, "%s: a row that has no exponent after all", kind->name);
    free(m.data);
}

static void test_floats(pwl_qgemm_format format, const char *name, pwl_rule rule)
{
    uint64_t state = 52;
    int good = 1, some = 0;
    for (size_t i = 0; i < shapes_count() && good; i++) {
        const size_t n = shapes[i][0], k = shapes[i][1];
        const struct matrix m = {
            format, rule, FLOATS, n, k, n * k * sizeof(float), i % 4 * 4, need(n * k * sizeof(float)), NULL, 0};
        for (size_t j = 0; j < n * k; j++) {
            /* Rows of every size; the odd shapes have some that need an exponent, and ones of zeros. */
            const int exponent = i % 2 ? (int)(j / k % 30) - 23 : -20;
            ((float *)(void *)m.data)[j] = j / k % 7 == 6 ? 0 : ldexpf((float)random_in(&state, -4095, 4095), exponent);
        }
        good &= agrees_in_any_room(&m, &some);
        free(m.data);
    }
    tap(good && some, "%s: floats by rule %d", name, rule);
}

static void test_rows(pwl_qgemm_format format, const char *name)
{
    uint64_t state = 53;
    int good = 1, some = 0;
    for (size_t i = 0; i < shapes_count() && good; i++) {
        const size_t n = shapes[i][0], k = shapes[i][1];
        const size_t bytes = format == PWL_QGEMM_ROWS8 ? n * k : n * k / 2;
        const struct matrix m = {format, PWL_RULE_DEFAULT, BYTES, n, k, bytes, i % 4, need(bytes), need(n), 0};
        for (size_t j = 0; j < bytes; j++)
            m.data[j] = (uint8_t)random_bits(&state);
        for (size_t j = 0; j < n; j++)
            m.n_w[j] = (int8_t)random_bits(&state);
        good &= agrees_in_any_room(&m, &some);
        free(m.data);
        free(m.n_w);
    }
    tap(good && some, "%s: rows of codes", name);
}

/* Each type of tensor, floats in every format. */
static void test_tensors(const struct tensor_kind *kind)
{
    enum { N = 130, K = 1056 };
    static float w[N * K];
    uint64_t state = 55;
    const pwl_qgemm_tensor tensor = draw_tensor(kind, N, K, w, &state);
    int good = 1, some = 0;
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        const struct matrix m = {(pwl_qgemm_format)format,
                                 PWL_RULE_DEFAULT,
                                 TENSOR,
                                 N,
                                 K,
                                 tensor.bytes,
                                 0,
                                 (uint8_t *)(uintptr_t)tensor.data,
                                 NULL,
                                 kind->type};
        if (!kind->blocks || kind->blocks->format == m.format || (kind->type == 2 && format == PWL_QGEMM_ROWS4))
            good &= agrees_in_any_room(&m, &some);
    }
    tap(good && some, "%s: a tensor", kind->name);
    free((void *)(uintptr_t)tensor.data);
}

static void *copy_of(const void *host, size_t bytes)
{
    void *memory;
    CUDA(cudaMalloc(&memory, bytes));
    CUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

/* Whether both sides packed the same bytes. */
static int same_bytes(const pwl_qgemm_weights *host, const pwl_qgemm_weights *device)
{
    uint8_t *const got = need(host->bytes);
    int good = host->n == device->n && host->k == device->k && host->bytes == device->bytes &&
               host->row_data == device->row_data;
    if (good)
        CUDA(cudaMemcpy(got, device->memory, host->bytes, cudaMemcpyDeviceToHost));
    good = good && memcmp(got, host->memory, host->bytes) == 0;
    free(got);
    return good;
}

/* Gate and up, of each type of tensor, floats in every format; with a NaN in up, its place. */
static void test_pairs(const struct tensor_kind *kind)
{
    enum { N = 136, K = 1056 };
    static float w[N * K];
    uint64_t state = 56;
    const pwl_qgemm_tensor gate = draw_tensor(kind, N, K, w, &state), up = draw_tensor(kind, N, K, w, &state);
    pwl_qgemm_tensor device_gate = gate, device_up = up;
    pwl_qgemm_place bad[2] = {{0, 0, 0}, {1, 1, 0}};
    int good = 1;
    device_gate.data = copy_of(gate.data, gate.bytes);
    device_up.data = copy_of(up.data, up.bytes);
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        pwl_qgemm_weights host, device;
        size_t bytes;
        void *memory;
        if (kind->blocks && kind->blocks->format != (pwl_qgemm_format)format &&
            (kind->type != 2 || format != PWL_QGEMM_ROWS4))
            continue;
        PWL(pwl_qgemm_weights_bytes((pwl_qgemm_format)format, 2 * N, K, &bytes));
        CUDA(cudaMalloc(&memory, bytes));
        PWL(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &gate),
                                             pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &up)),
                           need(bytes), bytes, &host, NULL));
        PWL(pwl_cuda_qgemm_pack(
            pwl_qgemm_of_pair(pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &device_gate),
                              pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &device_up)),
            memory, bytes, &device, NULL, NULL));
        good &= same_bytes(&host, &device);
        if (kind->type == 0) { /* floats as they are */
            ((float *)(uintptr_t)up.data)[9 * K + 40] = NAN;
            CUDA(cudaMemcpy((void *)(uintptr_t)device_up.data, up.data, up.bytes, cudaMemcpyHostToDevice));
            good &=
                pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &gate),
                                                 pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &up)),
                               (void *)(uintptr_t)host.memory, bytes, &host, &bad[0]) == PWL_QGEMM_ERR_SCALE;
            good &= pwl_cuda_qgemm_pack(
                        pwl_qgemm_of_pair(pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &device_gate),
                                          pwl_qgemm_of_tensor((pwl_qgemm_format)format, PWL_RULE_DEFAULT, &device_up)),
                        memory, bytes, &device, &bad[1], NULL) == PWL_QGEMM_ERR_SCALE;
            good &= bad[0].row == N + 9 && bad[0].block == 1 && bad[1].row == N + 9 && bad[1].block == 1;
            ((float *)(uintptr_t)up.data)[9 * K + 40] = 0;
            CUDA(cudaMemcpy((void *)(uintptr_t)device_up.data, up.data, up.bytes, cudaMemcpyHostToDevice));
        }
        free_weights(&host);
        CUDA(cudaFree(memory));
    }
    tap(good, "%s: a pair", kind->name);
    CUDA(cudaFree((void *)(uintptr_t)device_gate.data));
    CUDA(cudaFree((void *)(uintptr_t)device_up.data));
    free((void *)(uintptr_t)gate.data);
    free((void *)(uintptr_t)up.data);
}

static void test_integer_pair(void)
{
    enum { N = 72, K = 160 };
    static int8_t q[2][N * K], n_w[2][N];
    uint64_t state = 57;
    pwl_qgemm_weights host, device;
    int8_t *there[4];
    size_t bytes;
    void *memory;
    for (size_t i = 0; i < sizeof q; i++)
        q[i / (N * K)][i % (N * K)] = (int8_t)random_bits(&state);
    for (size_t i = 0; i < sizeof n_w; i++)
        n_w[i / N][i % N] = (int8_t)random_bits(&state);
    for (int i = 0; i < 2; i++) {
        there[i] = copy_of(q[i], sizeof q[i]);
        there[2 + i] = copy_of(n_w[i], sizeof n_w[i]);
    }
    PWL(pwl_qgemm_weights_bytes(PWL_QGEMM_ROWS8, 2 * N, K, &bytes));
    CUDA(cudaMalloc(&memory, bytes));
    PWL(pwl_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q[0], n_w[0], N, K),
                                         pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, q[1], n_w[1], N, K)),
                       need(bytes), bytes, &host, NULL));
    PWL(pwl_cuda_qgemm_pack(pwl_qgemm_of_pair(pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, there[0], there[2], N, K),
                                              pwl_qgemm_of_codes(PWL_QGEMM_ROWS8, there[1], there[3], N, K)),
                            memory, bytes, &device, NULL, NULL));
    tap(same_bytes(&host, &device), "integers: a pair");
    for (int i = 0; i < 4; i++)
        CUDA(cudaFree(there[i]));
    CUDA(cudaFree(memory));
    free_weights(&host);
}

/* A NaN or an infinity, or two, of which the first is told. */
static void test_bad_scales(const struct qgemm_kind *kind)
{
    enum { N = 130, K = 1056, COUNT = N * K / PWL_BLOCK };
    const size_t bytes = blocks_bytes(kind, N, K), block = pwl_format_bytes(kind->blocks);
    const struct matrix m = {kind->format, PWL_RULE_DEFAULT, BLOCKS, N, K, bytes, 0, need(bytes), NULL, 0};
    uint64_t state = 54;
    size_t room;
    int good = 1, some = 0;
    PWL(pwl_qgemm_weights_bytes(kind->format, N, K, &room));
    for (size_t i = 0; i < (small ? 2 : 20); i++) {
        const size_t places[] = {random_bits(&state) % COUNT, random_bits(&state) % COUNT, i < 1 ? COUNT - 1 : 0};
        draw_blocks(kind, m.data, COUNT, -3, 15, &state);
        for (size_t j = i % 3; j < 3; j++) {
            const uint16_t scale = kind->blocks == PWL_MXFP4 ? 0xff : i % 2 ? 0xfc00 : 0x7e00;
            memcpy(m.data + places[j] * block, &scale, kind->blocks == PWL_MXFP4 ? 1 : 2);
        }
        struct packed device = pack_device(&m, room);
        good &= device.status == PWL_QGEMM_ERR_SCALE;
        free(device.memory);
        good &= agrees(&m, room, &some);
    }
    tap(good, "%s: an infinite scale or a NaN is refused by its place", kind->name);
    free(m.data);
}

static void test_bad_floats(void)
{
    enum { N = 19, K = 96 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    float w[N][K];
    int good = 1, some = 0;
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        for (size_t i = 0; i < 3; i++) {
            const struct matrix m = {
                (pwl_qgemm_format)format, PWL_RULE_DEFAULT, FLOATS, N, K, sizeof w, 0, (uint8_t *)w, NULL, 0};
            size_t room;
            memset(w, 0, sizeof w);
            w[7 + i][40] = w[18][0] = bad[i];
            PWL(pwl_qgemm_weights_bytes(m.format, N, K, &room));
            struct packed device = pack_device(&m, room);
            good &= device.status == PWL_QGEMM_ERR_SCALE && device.bad.row == 7 + i && device.bad.block == 1;
            free(device.memory);
            good &= agrees(&m, room, &some);
        }
    }
    tap(good, "floats that are infinite or NaN are refused by their block");
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"Q4_0", "Q8_0", "MXFP4", "int8", "4 bits"};
    small = test_is_small(argc, argv);
    for (size_t i = 0; i < QGEMM_KINDS; i++) {
        test_blocks(&qgemm_kinds[i]);
        test_bad_scales(&qgemm_kinds[i]);
    }
    test_no_exponent();
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        for (int rule = PWL_RULE_DEFAULT; rule <= PWL_RULE_DOCUMENT; rule++) {
            if ((format == PWL_QGEMM_MXFP4 && rule == PWL_RULE_DOCUMENT) || (is_rows((pwl_qgemm_format)format) && rule))
                continue;
            test_floats((pwl_qgemm_format)format, names[format], (pwl_rule)rule);
        }
    }
    for (size_t i = 0; i < TENSOR_KINDS; i++)
        test_tensors(&tensor_kinds[i]);
    for (size_t i = 0; i < TENSOR_KINDS; i++)
        test_pairs(&tensor_kinds[i]);
    test_integer_pair();
    test_rows(PWL_QGEMM_ROWS8, "int8");
    test_rows(PWL_QGEMM_ROWS4, "4 bits");
    test_bad_floats();
    return tap_end();
}
