/* SPDX-License-Identifier: Apache-2.0 */
/* Weights from tensors as GGUF files have them: the bytes that their blocks or floats give, and every refusal. */
#include "../tap.h"
#include "cases.h"

enum { N = 130, K = 96, ROOM = 65536 };

static uint8_t got[ROOM] __attribute__((aligned(16))), expected[ROOM] __attribute__((aligned(16)));
static float w[N * K];

static int same(const pwl_qgemm_weights *a, const pwl_qgemm_weights *b)
{
    return a->n == b->n && a->k == b->k && a->bytes == b->bytes && a->format == b->format &&
           a->row_data == b->row_data && memcmp(a->memory, b->memory, a->bytes) == 0;
}

static void test_blocks(const struct tensor_kind *kind)
{
    const pwl_qgemm_format format = kind->blocks->format;
    uint64_t state = 61;
    pwl_qgemm_tensor tensor = draw_tensor(kind, N, K, w, &state);
    pwl_qgemm_weights a, b;
    int good =
        pwl_qgemm_pack(pwl_qgemm_of_tensor(format, (pwl_rule)99, &tensor), got, ROOM, &a, NULL) == PWL_QGEMM_OK &&
        pwl_qgemm_pack(pwl_qgemm_of_blocks(format, tensor.data, N, K), expected, ROOM, &b, NULL) == PWL_QGEMM_OK &&
        same(&a, &b);
    tap(good && a.row_data, "%s: as blocks", kind->name);
    for (int other = PWL_QGEMM_Q4_0; other <= PWL_QGEMM_ROWS4 + 1; other++) {
        const int taken = other == (int)format || (other == PWL_QGEMM_ROWS4 && format == PWL_QGEMM_Q4_0);
        good &= (pwl_qgemm_pack(pwl_qgemm_of_tensor((pwl_qgemm_format)other, PWL_RULE_DEFAULT, &tensor), got, ROOM, &a,
                                NULL) == PWL_QGEMM_ERR_FORMAT) == !taken;
    }
    tap(good, "%s: not in another format, but Q4_0 in rows of 4 bits", kind->name);
    free((void *)(uintptr_t)tensor.data);
}

static void test_floats(const struct tensor_kind *kind)
{
    uint64_t state = 62;
    pwl_qgemm_tensor tensor = draw_tensor(kind, N, K, w, &state);
    int good = 1;
    for (int format = PWL_QGEMM_Q4_0; format <= PWL_QGEMM_ROWS4; format++) {
        for (int rule = PWL_RULE_DEFAULT; rule <= PWL_RULE_DOCUMENT + 1; rule++) {
            pwl_qgemm_weights a = {0}, b = {0};
            const pwl_qgemm_status status = pwl_qgemm_pack(
                pwl_qgemm_of_floats((pwl_qgemm_format)format, (pwl_rule)rule, w, N, K), expected, ROOM, &b, NULL);
            good &= pwl_qgemm_pack(pwl_qgemm_of_tensor((pwl_qgemm_format)format, (pwl_rule)rule, &tensor), got, ROOM,
                                   &a, NULL) == status;
            good &= status == PWL_QGEMM_ERR_RULE || (status == PWL_QGEMM_OK && same(&a, &b));
        }
    }
    tap(good, "%s: as floats, in every format", kind->name);
    free((void *)(uintptr_t)tensor.data);
}

static void test_errors(const struct tensor_kind *kind)
{
    const pwl_qgemm_format format = kind->blocks ? kind->blocks->format : PWL_QGEMM_Q8_0;
    const size_t align = kind->type == 0 ? 4 : kind->type == 39 ? 1 : 2;
    uint64_t state = 63;
    pwl_qgemm_tensor tensor = draw_tensor(kind, N, K, w, &state);
    const pwl_qgemm_tensor whole = tensor;
    pwl_qgemm_weights made = {NULL, 1, 2, 3, PWL_QGEMM_Q8_0, 4};
    pwl_qgemm_place bad = {77, 77, 0};
    memset(got, 0xa5, sizeof got);
#define REFUSED(what, status, why)                                                                                     \
    do {                                                                                                               \
        tensor = whole;                                                                                                \
        what;                                                                                                          \
        tap(pwl_qgemm_pack(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, &tensor), got, ROOM, &made, &bad) == status,  \
            "%s: %s", kind->name, why);                                                                                \
    } while (0)
    REFUSED(tensor.type = 10, PWL_QGEMM_ERR_TYPE, "of a type that is not read");
    REFUSED(tensor.bytes--, PWL_QGEMM_ERR_DATA, "cut off by a byte");
    REFUSED(tensor.bytes++, PWL_QGEMM_ERR_DATA, "a byte too many");
    REFUSED(tensor.bytes = 0, PWL_QGEMM_ERR_DATA, "nothing of it there");
    REFUSED(tensor.shape[1]++, PWL_QGEMM_ERR_DATA, "of more rows than its data");
    REFUSED(tensor.shape[0] = 48, PWL_QGEMM_ERR_SHAPE, "rows of 48");
    REFUSED(tensor.shape[0] = 0, PWL_QGEMM_ERR_SHAPE, "rows of none");
    REFUSED(tensor.shape[1] = 0, PWL_QGEMM_ERR_SHAPE, "no rows");
    REFUSED(tensor.shape[2] = 2, PWL_QGEMM_ERR_SHAPE, "several matrices");
    REFUSED(tensor.shape[3] = 0, PWL_QGEMM_ERR_SHAPE, "no matrix");
    REFUSED((tensor.shape[0] = 32, tensor.shape[1] = UINT64_MAX), PWL_QGEMM_ERR_SHAPE, "more rows than memory has");
    REFUSED(tensor.data = NULL, PWL_QGEMM_ERR_NULL, "no data");
    if (align > 1)
        REFUSED(tensor.data = (const char *)whole.data + align / 2, PWL_QGEMM_ERR_ALIGN, "data between elements");
    tap(pwl_qgemm_pack(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, NULL), got, ROOM, &made, &bad) ==
                PWL_QGEMM_ERR_NULL &&
            pwl_qgemm_pack(pwl_qgemm_of_tensor(format, PWL_RULE_DEFAULT, &whole), got, 17, &made, &bad) ==
                PWL_QGEMM_ERR_SPACE,
        "%s: no tensor, no room", kind->name);
    memset((uint8_t *)(uintptr_t)whole.data + (K / PWL_BLOCK + 1) * kind->bytes, 0xff, 4); /* row 1, block 1 */
    REFUSED((void)0, PWL_QGEMM_ERR_SCALE, "a NaN");
    int good = bad.row == 1 && bad.block == 1 && !made.memory && made.bytes == 3;
    for (size_t i = 0; i < sizeof got; i++)
        good &= got[i] == 0xa5;
    tap(good, "%s: told where it is, nothing written", kind->name);
    free((void *)(uintptr_t)whole.data);
}

int main(void)
{
    for (size_t i = 0; i < TENSOR_KINDS; i++) {
        if (tensor_kinds[i].blocks)
            test_blocks(&tensor_kinds[i]);
        else
            test_floats(&tensor_kinds[i]);
        test_errors(&tensor_kinds[i]);
    }
    return tap_end();
}
