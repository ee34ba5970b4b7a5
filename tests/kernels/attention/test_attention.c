/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention without a device: the definition against the operators that it is composed of, and against attention of
 * real numbers within its bound; what kernels do in fewer instructions (attention/finish.h) against the same; errors.
 */
#include <stdlib.h>
#include <string.h>

#include "../../support/row_shapes.h"
#include "../need.h"
#include "../tap.h"
#include "attention/finish.h"
#include "made_attention.h"

enum { KEYS = 600, QUERIES = 12, CHANNELS = 64, HEADS = 4 };

static int8_t q[HEADS * QUERIES * CHANNELS], k[HEADS * KEYS * CHANNELS], v[HEADS * KEYS * CHANNELS];
static uint8_t y[HEADS * QUERIES * CHANNELS];

static int64_t product(const int8_t *a, const int8_t *b, size_t count)
{
    int64_t sum = 0;
    for (size_t c = 0; c < count; c++)
        sum += a[c] * b[c];
    return sum;
}

static size_t reach_of(const pwl_attention_call *call, size_t row)
{
    const size_t seen = call->first + row + 1;
    return call->is_causal && seen < call->keys ? seen : call->keys;
}

static pwl_attention_call call_of(size_t keys, size_t share, int is_causal, size_t first)
{
    return (pwl_attention_call){.q = q,
                                .k = k,
                                .v = v,
                                .y = y,
                                .heads = HEADS / share,
                                .share = share,
                                .queries = QUERIES,
                                .keys = keys,
                                .channels = CHANNELS,
                                .is_causal = is_causal,
                                .first = first};
}

/* Row r of all heads by pwl_softmax_weigh() and pwl_requantise. */
static int is_composed(const pwl_attention *attention, const pwl_attention_call *call, size_t r)
{
    const size_t head = r / call->queries / call->share * call->keys, reach = reach_of(call, r % call->queries);
    const pwl_row_values values = {call->v + head * CHANNELS, PWL_S8, attention->zp_v, CHANNELS, CHANNELS};
    uint8_t codes[KEYS], expected[CHANNELS];
    const pwl_rows rows = {.x = codes, .count = 1, .length = reach};
    int64_t largest = INT64_MIN;
    int32_t sums[CHANNELS];
    for (size_t j = 0; j < reach; j++) {
        const int64_t a = product(call->q + r * CHANNELS, call->k + (head + j) * CHANNELS, CHANNELS);
        largest = a > largest ? a : largest;
    }
    for (size_t j = 0; j < reach; j++) {
        const int64_t a = product(call->q + r * CHANNELS, call->k + (head + j) * CHANNELS, CHANNELS);
        const int64_t d = ((largest - a) * attention->step + (1 << 23)) >> 24;
        codes[j] = (uint8_t)(255 - (d < 255 ? d : 255));
    }
    pwl_softmax_weigh(&attention->softmax, &rows, &values, sums);
    pwl_requantise_run(&attention->requantise, sums, expected, CHANNELS);
    return memcmp(expected, (uint8_t *)call->y + r * CHANNELS, CHANNELS) == 0;
}

static void test_composed(void)
{
    uint64_t state = 51;
    int good = 1;
    for (int i = 0; i < 60; i++) {
        made_softmax made;
        const pwl_attention attention =
            make_attention(&made, 0.02L + i / 500.0L, 8 + i % 8, KEYS, ldexpl(1 + i / 70.0L, -3 - i % 10),
                           (int8_t)random_in(&state, -128, 127),
                           made_context(i % 2 ? PWL_S8 : PWL_U8, 0.5L + i / 40.0L, random_in(&state, -9, 9)));
        const pwl_attention_call call = call_of(1 + random_bits(&state) % KEYS, i % 3 ? 2 : 1, i % 4 < 2, i % 7);
        draw_codes(q, sizeof q, 1 + i % 30, &state);
        draw_codes(k, sizeof k, 1 + i % 30, &state);
        draw_codes(v, sizeof v, 30, &state);
        good &= pwl_attention_check(&attention) == PWL_OK && pwl_attention_run(&attention, &call) == PWL_OK;
        for (size_t r = 0; r < HEADS * QUERIES; r++)
            good &= is_composed(&attention, &call, r);
    }
    tap(good, "the codes are those of the operators, one after the other");
}

/* What a row may be off by, of scores that count of_product steps of in_scale: docs/operators.md. */
static long double bound_of(const made_softmax *made, const pwl_attention *attention, long double of_product,
                            size_t keys, long double steps)
{
    long double largest;
    const long double rho = softmax_rho(made, (uint32_t)keys, &largest), zp = attention->zp_v;
    const long double v_most = 128 + fabsl(zp), most = CHANNELS * 128.0L * 255;
    const long double off = fabsl(ldexpl(attention->step, -24) - of_product) * most + 0.5L;
    const long double of_d = tanhl(made->in_scale * off / 2), beyond = expl(made->in_scale * (off - 255)) * (keys - 1);
    const long double factor =
        fabsl(ldexpl(attention->requantise.multiplier, 22 - attention->requantise.shift) - steps);
    return 0.5L + factor * 256 +
           steps * (255 * (rho + of_d + beyond) + v_most * reciprocal_delta() + 0x1p-22L * (1 + reciprocal_delta()));
}

static long double row_error(const made_softmax *made, const pwl_attention *attention, const pwl_attention_call *call,
                             size_t r, long double of_product, long double steps)
{
    static long double score[KEYS];
    const size_t head = r / call->queries / call->share * call->keys, reach = reach_of(call, r % call->queries);
    const pwl_requantise *const context = &attention->requantise;
    long double largest = -INFINITY, sum = 0, worst = 0;
    for (size_t j = 0; j < reach; j++) {
        score[j] =
            made->in_scale * of_product * product(call->q + r * CHANNELS, call->k + (head + j) * CHANNELS, CHANNELS);
        largest = fmaxl(largest, score[j]);
    }
    for (size_t j = 0; j < reach; j++) {
        score[j] = expl(score[j] - largest);
        sum += score[j];
    }
    for (size_t c = 0; c < CHANNELS; c++) {
        long double mean = 0;
        for (size_t j = 0; j < reach; j++)
            mean += score[j] * (call->v[(head + j) * CHANNELS + c] - attention->zp_v) / sum;
        const long double real = clipped(context->zp_y + steps * mean, context->qmin_y, context->qmax_y);
        worst = fmaxl(worst, fabsl(code_at((pwl_type)context->out, call->y, r * CHANNELS + c) - real));
    }
    return worst;
}

static void test_bound(void)
{
    uint64_t state = 52;
    int good = 1;
    long double tightest = 0;
    for (int i = 0; i < 40; i++) {
        made_softmax made;
        const long double of_product = ldexpl(1 + (random_bits(&state) % 64) / 70.0L, -9 - i % 5),
                          steps = 0.3L + i / 40.0L;
        const pwl_attention attention = make_attention(&made, 16.0L / 255 / (1 + i % 4), 15, KEYS, of_product,
                                                       (int8_t)(i % 5 - 2), made_context(PWL_S8, steps, 0));
        const pwl_attention_call call = call_of(16 + random_bits(&state) % (KEYS - 15), 1, i % 2, 3);
        const long double bound = bound_of(&made, &attention, of_product, call.keys, steps);
        draw_codes(q, sizeof q, 1 + i % 30, &state);
        draw_codes(k, sizeof k, 1 + i % 30, &state);
        draw_codes(v, sizeof v, 30 + 60 * (i % 2), &state);
        good &= pwl_attention_run(&attention, &call) == PWL_OK;
        for (size_t r = 0; r < HEADS * QUERIES; r++) {
            const long double error = row_error(&made, &attention, &call, r, of_product, steps);
            tightest = fmaxl(tightest, error / bound);
            good &= error <= bound;
        }
    }
    tap(good, "codes are within the bound of real attention, the nearest at %.3Lf of it", tightest);
}

/* Sums that rows can have: S of 2^F to 2^F 65536, and |W| of 255 S at most. */
static void test_finish(void)
{
    uint64_t state = 53;
    int good = 1;
    for (int i = 0; i < 400000; i++) {
        const int fraction = 8 + (int)(random_bits(&state) % 8), length = (int)(random_bits(&state) % 17);
        const uint32_t least = (uint32_t)1 << fraction;
        const uint32_t sum = i % 5
                                 ? least + (uint32_t)(random_bits(&state) % ((((uint64_t)least << length)) - least + 1))
                                 : least << length;
        const int8_t zp = (int8_t)random_in(&state, -128, 127);
        const int64_t high = random_in(&state, -128, 127),
                      weighted = i % 3 ? random_in(&state, -128 * (int64_t)sum, 127 * (int64_t)sum) : high * sum;
        const pwl_requantise context =
            made_context(i % 2 ? PWL_S8 : PWL_U8, 0.01L + (random_bits(&state) % 500) / 100.0L,
                         random_in(&state, -(1 << 20), 1 << 20) >> random_bits(&state) % 20);
        const pwl_row_factor reciprocal = pwl_row_reciprocal(&core_reciprocal, sum);
        const pwl_attention_finish finish = pwl_attention_finish_of(zp, sum, reciprocal);
        const int64_t expected =
            pwl_requantise_element(&context, pwl_row_mean(PWL_S8, weighted - (int64_t)zp * sum, sum, reciprocal));
        if (pwl_attention_code(&context, &finish, (int32_t)(weighted >> 8), (int32_t)(weighted & 255)) != expected) {
            if (good)
                printf("# W %lld, S %u, zero point %d\n", (long long)weighted, sum, zp);
            good = 0;
        }
    }
    tap(good, "what kernels make of sums");
}

static pwl_attention whole(made_softmax *made)
{
    return make_attention(made, 0.05L, 15, KEYS, 0x1p-8L, 3, made_context(PWL_S8, 1, 0));
}

static void test_check(void)
{
    made_softmax made;
    pwl_attention bad = whole(&made);
    tap(pwl_attention_check(NULL) == PWL_ERR_NULL && pwl_attention_check(&bad) == PWL_OK,
        "check: none, and a whole one");
    bad.step = 0;
    tap(pwl_attention_check(&bad) == PWL_ERR_CONSTANT, "check: a step of 0");
    bad.step = (1 << 24) + 1;
    tap(pwl_attention_check(&bad) == PWL_ERR_CONSTANT, "check: a step beyond 2^24");
    bad = whole(&made);
    bad.requantise.shift = 31;
    tap(pwl_attention_check(&bad) == PWL_ERR_SHIFT, "check: a shift of the context below 32");
    bad = whole(&made);
    bad.requantise.zp_x = 1;
    tap(pwl_attention_check(&bad) == PWL_ERR_ZERO_POINT, "check: a zero point of what is brought to codes");
    bad = whole(&made);
    bad.requantise.zp_y = (1 << 20) + 1;
    tap(pwl_attention_check(&bad) == PWL_ERR_ZERO_POINT, "check: a zero point of the context beyond 2^20");
    bad = whole(&made);
    bad.requantise.in = PWL_S16;
    tap(pwl_attention_check(&bad) == PWL_ERR_FIELD, "check: a context of other sums");
    make_exp(&made, 16);
    bad = whole(&made);
    make_exp(&made, 16);
    bad.softmax = made.softmax;
    tap(pwl_attention_check(&bad) == PWL_ERR_SHIFT, "check: exponentials of more than 16 bits");
    bad.softmax.fraction = 31;
    tap(pwl_attention_check(&bad) == pwl_softmax_check(&bad.softmax), "check: an unsafe softmax");
}

static void test_calls(void)
{
    made_softmax made;
    const pwl_attention attention = whole(&made);
    pwl_attention_call call = call_of(KEYS, 1, 0, 0);
    call.q = NULL;
    tap(pwl_attention_run(&attention, &call) == PWL_ERR_NULL, "run: no queries");
    call.queries = 0;
    tap(pwl_attention_run(&attention, &call) == PWL_OK, "run: no row");
    call = call_of(0, 1, 0, 0);
    tap(pwl_attention_run(&attention, &call) == PWL_ERR_ROW, "run: no key");
    call = call_of(KEYS + 1, 1, 0, 0);
    tap(pwl_attention_run(&attention, &call) == PWL_ERR_ROW, "run: more keys than the longest row");
    call = call_of(KEYS, 1, 0, 0);
    call.channels = PWL_ATTENTION_CHANNELS + 1;
    tap(pwl_attention_run(&attention, &call) == PWL_ERR_SIZE, "run: too many channels");
    call = call_of(KEYS, 1, 0, 0);
    call.share = 0;
    tap(pwl_attention_run(&attention, &call) == PWL_ERR_SIZE, "run: heads that no queries share");
    call = call_of(KEYS, 1, 0, 0);
    call.heads = (size_t)1 << 60;
    tap(pwl_attention_run(&attention, &call) == PWL_ERR_SIZE, "run: too many codes");
}

int main(void)
{
    test_composed();
    test_bound();
    test_finish();
    test_check();
    test_calls();
    return tap_end();
}
