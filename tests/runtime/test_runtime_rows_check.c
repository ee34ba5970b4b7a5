/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of row operators refuse, and that all they let through can run: with the sanitizers no value may
 * leave its type. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../support/made_rows.h"
#include "../support/random.h"
#include "../support/suite.h"

enum { LENGTH = 64 };

/* An operator with its own copies of all that it points to. */
typedef struct own_softmax {
    made_softmax made;
    pwl_table core;
    uint16_t start[16];
    int16_t slope[16];
    int8_t n[16];
    int32_t offset[16];
} own_softmax;

static void own_core(pwl_table *core, const pwl_table *from, uint16_t *start, int16_t *slope, int8_t *n,
                     int32_t *offset)
{
    *core = *from;
    core->start = memcpy(start, from->start, 16 * sizeof *start);
    core->q_b = memcpy(slope, from->q_b, 16 * sizeof *slope);
    core->n = memcpy(n, from->n, 16);
    core->offset = memcpy(offset, from->offset, 16 * sizeof *offset);
}

static void make_own_softmax(own_softmax *own, pwl_type in, pwl_softmax_kind kind)
{
    const long double scale = type_bits(in) == 8 ? 0.05L : 0.0003L;
    if (kind == PWL_LOG_SOFTMAX)
        make_log_softmax(&own->made, in, scale, PWL_S16, 0.001L, 0, PWL_LONGEST_ROW);
    else
        make_softmax(&own->made, in, scale, PWL_U16, 16, 0, PWL_LONGEST_ROW);
    own_core(&own->core, &core_reciprocal, own->start, own->slope, own->n, own->offset);
    own->made.softmax.reciprocal = &own->core;
}

#define SOFTMAX_REFUSED(in_, kind_, what, expected)                                                                    \
    do {                                                                                                               \
        own_softmax own;                                                                                               \
        pwl_softmax *const s = &own.made.softmax;                                                                      \
        made_softmax *const m = &own.made;                                                                             \
        (void)m;                                                                                                       \
        make_own_softmax(&own, in_, kind_);                                                                            \
        ck_assert_int_eq(pwl_softmax_check(s), PWL_OK);                                                                \
        what;                                                                                                          \
        ck_assert_int_eq(pwl_softmax_check(s), expected);                                                              \
    } while (0)

START_TEST(softmax_refused)
{
    ck_assert_int_eq(pwl_softmax_check(NULL), PWL_ERR_NULL);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->exp = NULL, PWL_ERR_NULL);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->reciprocal = NULL, PWL_ERR_NULL);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->log_factor = NULL, PWL_ERR_NULL);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->log_value = NULL, PWL_ERR_NULL);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->version = 2, PWL_ERR_VERSION);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->in = PWL_S32, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->out = PWL_U32, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->kind = 2, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->in = PWL_S16, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, s->in = PWL_S8, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, s->exp_shift = NULL, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->step = 1, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->log_unit = 1, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->step_shift = 1, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->log_shift = 1, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->log_value = m->log_value, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->out_bits = 1, PWL_ERR_FIELD);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->qmin_y = -1, PWL_ERR_RANGE_Y);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->qmax_y = 65536, PWL_ERR_RANGE_Y);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, (s->qmin_y = 9, s->qmax_y = 8), PWL_ERR_RANGE_Y);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->zp_y = INT64_MAX, PWL_ERR_ZERO_POINT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->zp_y = -((int64_t)1 << 32) - 1, PWL_ERR_ZERO_POINT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->longest = 0, PWL_ERR_ROW);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->longest = PWL_LONGEST_ROW + 1, PWL_ERR_ROW);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->fraction = 7, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->fraction = 31, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->fraction = 29, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->out_bits = 0, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, s->out_bits = 17, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->step_shift = 0, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->step_shift = 41, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->log_shift = 0, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->log_shift = 63, PWL_ERR_SHIFT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->step = -1, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->log_unit = 0, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, s->log_unit = 1 << 28, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, m->log_factor[5] -= 1100, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, m->log_factor[127] += 1100, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, m->log_value[0] = -1, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_LOG_SOFTMAX, m->log_value[127] = INT32_MAX, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, m->exp[0]++, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, m->exp[0]--, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, m->exp[255] = m->exp[254] + 1, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp[0]++, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp[9] = m->exp[8] + 1, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp[255] -= 1 << 20, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp_high[0]++, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp_high[77] += 1 << 25, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp_shift[0]++, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp_shift[40]--, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S16, PWL_SOFTMAX, m->exp_shift[1] = 31, PWL_ERR_CONSTANT);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, own.core.segments = 0, PWL_ERR_SEGMENTS);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, own.core.qmin_y = -1, PWL_ERR_RANGE_Y);
    SOFTMAX_REFUSED(PWL_S8, PWL_SOFTMAX, (own.core.qmin_y = -1, own.core.qmax_y = 32767), PWL_ERR_CORE);
}
END_TEST

typedef struct own_norm {
    made_norm made;
    double gamma[LENGTH], beta[LENGTH];
    int32_t gamma_codes[LENGTH];
    int64_t beta_codes[LENGTH];
    pwl_table core;
    uint16_t start[16];
    int16_t slope[16];
    int8_t n[16];
    int32_t offset[16];
} own_norm;

static void make_own_norm(own_norm *own, pwl_type in, pwl_norm_kind kind)
{
    for (int c = 0; c < LENGTH; c++) {
        own->gamma[c] = 1 + c / 100.0;
        own->beta[c] = c / 50.0;
    }
    own->made = (made_norm){
        .gamma = own->gamma, .beta = own->beta, .gamma_codes = own->gamma_codes, .beta_codes = own->beta_codes};
    make_norm(&own->made, kind, in, 0.001L, 3, PWL_S16, 0.001L, 0, LENGTH, 1e-5L);
    own_core(&own->core, &core_rsqrt, own->start, own->slope, own->n, own->offset);
    own->made.norm.rsqrt = &own->core;
}

#define NORM_REFUSED(in_, kind_, what, expected)                                                                       \
    do {                                                                                                               \
        own_norm own;                                                                                                  \
        pwl_norm *const s = &own.made.norm;                                                                            \
        make_own_norm(&own, in_, kind_);                                                                               \
        ck_assert_int_eq(pwl_norm_check(s), PWL_OK);                                                                   \
        what;                                                                                                          \
        ck_assert_int_eq(pwl_norm_check(s), expected);                                                                 \
    } while (0)

START_TEST(norms_refused)
{
    static int32_t many[PWL_LONGEST_ROW];
    ck_assert_int_eq(pwl_norm_check(NULL), PWL_ERR_NULL);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->gamma = NULL, PWL_ERR_NULL);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->rsqrt = NULL, PWL_ERR_NULL);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->version = 0, PWL_ERR_VERSION);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->kind = 2, PWL_ERR_FIELD);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->in = PWL_U32, PWL_ERR_FIELD);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->out = PWL_S32, PWL_ERR_FIELD);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->qmax_y = 32768, PWL_ERR_RANGE_Y);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->zp_y = INT64_MIN, PWL_ERR_ZERO_POINT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->zp_x = 1, PWL_ERR_ZERO_POINT);
    NORM_REFUSED(PWL_U8, PWL_LAYER_NORM, s->zp_x = 0, PWL_ERR_ZERO_POINT);
    NORM_REFUSED(PWL_U8, PWL_RMS_NORM, s->zp_x = 256, PWL_ERR_ZERO_POINT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->length = 0, PWL_ERR_ROW);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->length = PWL_LONGEST_ROW + 1, PWL_ERR_ROW);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, (s->length = PWL_LONGEST_ROW, s->gamma = many), PWL_ERR_ROW);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->eps = INT64_MAX, PWL_ERR_ROW);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->eps = -1, PWL_ERR_CONSTANT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->variance_shift = 26, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->variance_shift = 3, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->variance_shift = 24, PWL_ERR_ROW);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->fraction = 0, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->fraction = 31, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, (s->fraction = 30, s->drop = 8, s->eps = 0), PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->drop = 9, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->gamma_shift = -24, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, s->gamma_shift = 39, PWL_ERR_SHIFT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, own.beta_codes[LENGTH - 1] = INT64_MIN, PWL_ERR_CONSTANT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, own.beta_codes[0] = (int64_t)1 << 62, PWL_ERR_CONSTANT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, (s->fraction = 28, own.gamma_codes[3] = INT32_MIN), PWL_ERR_CONSTANT);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, own.core.version = 9, PWL_ERR_VERSION);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, own.core.qmin_y = 60000, PWL_ERR_CORE);
    NORM_REFUSED(PWL_S16, PWL_LAYER_NORM, (own.core.qmin_y = -1, own.core.qmax_y = 32767), PWL_ERR_CORE);
    NORM_REFUSED(PWL_S16, PWL_RMS_NORM, own.offset[13] += 40000, PWL_ERR_CORE);
}
END_TEST

/* Constants anywhere in their fields, some of them at the ends. */
static int64_t any_in(uint64_t *state, int64_t min, int64_t max)
{
    const uint64_t choice = random_bits(state) % 8;
    return choice == 0 ? min : choice == 1 ? max : random_in(state, min, max);
}

static void spoil_core(uint64_t *state, int16_t *slope, int32_t *offset)
{
    if (random_bits(state) % 2) {
        const size_t k = random_bits(state) % 16;
        slope[k] = (int16_t)(slope[k] + random_in(state, -40, 40));
        offset[k] += (int32_t)random_in(state, -300, 300);
    }
}

/* Rows of every length up to 64, of codes from all of the type and at its ends. */
static void draw_row(uint64_t *state, pwl_type in, uint16_t *x)
{
    const int is_drawn = random_bits(state) % 2;
    for (size_t k = 0; k < LENGTH; k++)
        set_code_at(in, x, k,
                    (int32_t)(is_drawn ? random_in(state, type_lowest(in), type_highest(in))
                                       : any_in(state, type_lowest(in), type_highest(in))));
}

START_TEST(checked_softmax_runs)
{
    uint64_t state = 0x4a5d + (uint64_t)_i;
    int passed = 0;
    for (int k = 0; k < 2000 / quick_step(8); k++) {
        own_softmax own;
        pwl_softmax *const s = &own.made.softmax;
        const pwl_type in = (pwl_type)(_i % 4), out = (pwl_type)(random_bits(&state) % 4);
        uint16_t x[LENGTH], y[LENGTH], plain[LENGTH];
        make_own_softmax(&own, in, (pwl_softmax_kind)(_i / 4));
        spoil_core(&state, own.slope, own.offset);
        s->out = (uint8_t)out;
        s->qmin_y = (int32_t)any_in(&state, type_lowest(out), type_highest(out));
        s->qmax_y = (int32_t)any_in(&state, s->qmin_y, type_highest(out));
        s->zp_y = any_in(&state, -((int64_t)1 << 32), (int64_t)1 << 32);
        if (s->kind == PWL_SOFTMAX) {
            s->out_bits = (uint8_t)any_in(&state, 1, 16);
        } else {
            s->step = (int32_t)any_in(&state, 0, INT32_MAX);
            s->log_unit = (int32_t)any_in(&state, 1, (1 << 28) - 1);
            s->step_shift = (uint8_t)any_in(&state, 1, 40);
            s->log_shift = (uint8_t)any_in(&state, 1, 62);
            for (int j = 0; j < 10; j++) {
                own.made.log_factor[random_bits(&state) % 128] += (uint16_t)random_in(&state, -200, 200);
                own.made.log_value[random_bits(&state) % 128] = (int32_t)any_in(&state, 0, 1 << 30);
            }
        }
        for (int d = 255; d > 0 && type_bits(in) == 8 && k % 2; d--)
            own.made.exp[d] = (uint32_t)any_in(&state, 0, own.made.exp[d - 1]);
        for (int d = 1; d < 256 && k % 2; d++)
            if (own.made.exp[d] > own.made.exp[d - 1])
                own.made.exp[d] = own.made.exp[d - 1];
        if (pwl_softmax_check(s) != PWL_OK)
            continue;
        passed++;
        for (size_t length = 1; length <= LENGTH; length++) {
            draw_row(&state, in, x);
            pwl_softmax_run(s, &(pwl_rows){.x = x, .y = plain, .count = 1, .length = length}, 0);
            for (uint32_t level = 1; level; level <<= 1)
                if (level & pwl_levels()) {
                    pwl_softmax_run(s, &(pwl_rows){.x = x, .y = y, .count = 1, .length = length}, level);
                    ck_assert_mem_eq(y, plain, length * (size_t)type_bits(out) / 8);
                }
            pwl_softmax_run(s, &(pwl_rows){.x = x, .y = y, .count = 1, .length = length}, PWL_LEVELS_ALL);
            for (size_t j = 0; j < length; j++) {
                ck_assert_int_ge(code_at(out, y, j), s->qmin_y);
                ck_assert_int_le(code_at(out, y, j), s->qmax_y);
            }
        }
    }
    ck_assert_int_gt(passed, 20);
}
END_TEST

START_TEST(checked_norms_run)
{
    uint64_t state = 0x40a3 + (uint64_t)_i;
    int passed = 0;
    for (int k = 0; k < 8000 / quick_step(8); k++) {
        own_norm own;
        pwl_norm *const s = &own.made.norm;
        const pwl_type in = (pwl_type)(_i % 4), out = (pwl_type)(random_bits(&state) % 4);
        uint16_t x[LENGTH], y[LENGTH], plain[LENGTH];
        make_own_norm(&own, in, (pwl_norm_kind)(_i / 4));
        spoil_core(&state, own.slope, own.offset);
        s->out = (uint8_t)out;
        s->qmin_y = (int32_t)any_in(&state, type_lowest(out), type_highest(out));
        s->qmax_y = (int32_t)any_in(&state, s->qmin_y, type_highest(out));
        s->zp_y = any_in(&state, -((int64_t)1 << 32), (int64_t)1 << 32);
        s->length = (uint32_t)any_in(&state, 1, LENGTH);
        s->variance_shift = (uint8_t)(2 * any_in(&state, 0, 12));
        s->fraction = (uint8_t)any_in(&state, 1, 30);
        s->drop = (uint8_t)any_in(&state, 0, 8);
        s->gamma_shift = (int8_t)any_in(&state, 1 - s->fraction, 62 - s->fraction);
        s->eps = any_in(&state, 0, (int64_t)(UINT64_MAX >> (1 + random_bits(&state) % 62)));
        if (s->kind == PWL_RMS_NORM)
            s->zp_x = any_in(&state, type_lowest(in), type_highest(in));
        for (int c = 0; c < LENGTH; c++) {
            own.gamma_codes[c] = (int32_t)any_in(&state, INT32_MIN, INT32_MAX) >> random_bits(&state) % 16;
            own.beta_codes[c] = any_in(&state, INT64_MIN / 4, INT64_MAX / 4) >> random_bits(&state) % 16;
        }
        if (pwl_norm_check(s) != PWL_OK)
            continue;
        passed++;
        for (int row = 0; row < 20; row++) {
            draw_row(&state, in, x);
            pwl_norm_run(s, x, plain, 1, 0);
            for (uint32_t level = 1; level; level <<= 1)
                if (level & pwl_levels()) {
                    pwl_norm_run(s, x, y, 1, level);
                    ck_assert_mem_eq(y, plain, s->length * (size_t)type_bits(out) / 8);
                }
            pwl_norm_run(s, x, y, 1, PWL_LEVELS_ALL);
            for (size_t j = 0; j < s->length; j++) {
                ck_assert_int_ge(code_at(out, y, j), s->qmin_y);
                ck_assert_int_le(code_at(out, y, j), s->qmax_y);
            }
        }
    }
    ck_assert_int_gt(passed, 20);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("runtime_rows_check");
    TCase *const refused = tcase_create("refused"), *const hostile = tcase_create("hostile");
    tcase_set_timeout(refused, 0);
    tcase_set_timeout(hostile, 0);
    tcase_add_test(refused, softmax_refused);
    tcase_add_test(refused, norms_refused);
    tcase_add_loop_test(hostile, checked_softmax_runs, 0, 8);
    tcase_add_loop_test(hostile, checked_norms_run, 0, 8);
    suite_add_tcase(suite, refused);
    suite_add_tcase(suite, hostile);
    return run_suite(suite);
}
