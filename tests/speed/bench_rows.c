/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_rows MACHINE JSON: row operators by plain C, by each level that this machine has, and the same in float with
 * expf(), over 16 rows at a time. Nanoseconds an element of processor time, the least of REPEATS; works take turns, so
 * that they see the same machine. Codes are near to normal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../support/made_rows.h"
#include "../support/random.h"

enum { ROWS = 16, MOST = 8192, REPEATS = 31, WORKS = 8 };

static uint16_t x[ROWS * MOST], y[ROWS * MOST];
static float real[MOST];
static double gamma_values[MOST], beta_values[MOST];
static int32_t gamma_codes[MOST];
static int64_t beta_codes[MOST];

static double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

struct work {
    const pwl_softmax *softmax;
    const pwl_norm *norm;
    float scale;
    uint32_t level;
    int is_float;
    char name[24];
    double ns;
};

static void softmax_float(const struct work *work, size_t length)
{
    const int is_byte = type_bits((pwl_type)work->softmax->in) == 8;
    for (size_t r = 0; r < ROWS; r++) {
        float sum = 0;
        int largest = INT32_MIN;
        for (size_t k = 0; k < length; k++) {
            const int q = is_byte ? ((const int8_t *)x)[r * length + k] : ((const int16_t *)x)[r * length + k];
            largest = q > largest ? q : largest;
        }
        for (size_t k = 0; k < length; k++) {
            const int q = is_byte ? ((const int8_t *)x)[r * length + k] : ((const int16_t *)x)[r * length + k];
            sum += real[k] = expf(work->scale * (float)(q - largest));
        }
        for (size_t k = 0; k < length; k++) {
            const float v = nearbyintf(real[k] * (256 / sum));
            ((uint8_t *)y)[r * length + k] = (uint8_t)(v > 255 ? 255 : v);
        }
    }
}

static void norm_float(size_t length)
{
    const int16_t *const from = (const int16_t *)x;
    for (size_t r = 0; r < ROWS; r++) {
        float mean = 0, variance = 0;
        for (size_t k = 0; k < length; k++)
            mean += from[r * length + k];
        mean /= (float)length;
        for (size_t k = 0; k < length; k++)
            variance += (from[r * length + k] - mean) * (from[r * length + k] - mean);
        const float root = 1 / sqrtf(variance / (float)length + 10);
        for (size_t k = 0; k < length; k++) {
            const float v = nearbyintf((from[r * length + k] - mean) * root * 4096 * (float)gamma_values[k]);
            ((int16_t *)y)[r * length + k] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
        }
    }
}

static void run(const struct work *work, size_t length)
{
    if (work->is_float && work->softmax)
        softmax_float(work, length);
    else if (work->is_float)
        norm_float(length);
    else if (work->softmax)
        pwl_softmax_run(work->softmax, &(pwl_rows){.x = x, .y = y, .count = ROWS, .length = length}, work->level);
    else
        pwl_norm_run(work->norm, x, y, ROWS, work->level);
}

static void measure(struct work *works, int count, size_t length)
{
    const int rounds = (int)(400000 / (ROWS * length)) + 1;
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int w = 0; w < count; w++) {
            const double begin = processor_ns();
            for (int k = 0; k < rounds; k++)
                run(&works[w], length);
            const double ns = (processor_ns() - begin) / (double)(rounds * ROWS * (int)length);
            works[w].ns = repeat == 0 || ns < works[w].ns ? ns : works[w].ns;
        }
}

static void draw(pwl_type type, size_t count)
{
    uint64_t state = 1;
    const int32_t part = 1 << (type_bits(type) - 4);
    for (size_t k = 0; k < count; k++) {
        int64_t v = 0;
        for (int j = 0; j < 4; j++)
            v += random_in(&state, -part, part);
        set_code_at(type, x, k, (int32_t)v);
    }
}

static const struct {
    const char *name;
    uint32_t level;
} levels[] = {{"AVX2", PWL_LEVEL_AVX2}, {"AVX-512", PWL_LEVEL_AVX512 | PWL_LEVEL_AVX512VBMI}, {"NEON", PWL_LEVEL_NEON}};
enum { LEVELS = sizeof levels / sizeof *levels };

static void print_head(void)
{
    printf("| operator | places | plain C |");
    for (int k = 0; k < LEVELS; k++)
        if (levels[k].level & pwl_levels())
            printf(" %s |", levels[k].name);
    printf(" float |\n|---|---:|---:|");
    for (int k = 0; k < LEVELS; k++)
        if (levels[k].level & pwl_levels())
            printf("---:|");
    printf("---:|\n");
}

static void bench(const char *what, const pwl_softmax *softmax, const pwl_norm *norm, float scale, size_t length,
                  const char *machine, FILE *json)
{
    struct work works[WORKS] = {{softmax, norm, scale, 0, 0, "plain C", 0}};
    int count = 1;
    for (int k = 0; k < LEVELS; k++)
        if (levels[k].level & pwl_levels()) {
            works[count] = (struct work){softmax, norm, scale, levels[k].level, 0, "", 0};
            strcpy(works[count++].name, levels[k].name);
        }
    works[count++] = (struct work){softmax, norm, scale, 0, 1, "float", 0};
    draw((pwl_type)(softmax ? softmax->in : norm->in), ROWS * length);
    measure(works, count, length);
    printf("| %s | %zu |", what, length);
    for (int w = 0; w < count; w++) {
        printf(" %.3f |", works[w].ns);
        if (json)
            fprintf(json,
                    "{\"machine\": \"%s\", \"operator\": \"%s\", \"length\": %zu, \"way\": \"%s\", \"ns\": %.4f}\n",
                    machine, what, length, works[w].name, works[w].ns);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {64, 128, 1024, 4096};
    const char *const machine = argc > 1 ? argv[1] : "unknown processor";
    FILE *const json = argc > 2 ? fopen(argv[2], "w") : NULL;
    made_softmax softmax;
    if (argc > 2 && !json)
        return 1;
    for (size_t c = 0; c < MOST; c++) {
        gamma_values[c] = 0.5 + (double)(c % 7) / 4;
        beta_values[c] = (double)(c % 5) / 8;
    }
    print_head();
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        make_softmax(&softmax, PWL_S8, 0.0472L, PWL_U8, 8, 0, MOST);
        bench("softmax s8 to u8", &softmax.softmax, NULL, 0.0472f, lengths[l], machine, json);
        make_softmax(&softmax, PWL_S8, 0.0472L, PWL_U16, 16, 0, MOST);
        bench("softmax s8 to u16", &softmax.softmax, NULL, 0.0472f, lengths[l], machine, json);
        make_softmax(&softmax, PWL_S16, 0.0003L, PWL_U8, 8, 0, MOST);
        bench("softmax s16 to u8", &softmax.softmax, NULL, 0.0003f, lengths[l], machine, json);
        make_softmax(&softmax, PWL_S16, 0.0003L, PWL_S16, 15, 0, MOST);
        bench("softmax s16 to s16", &softmax.softmax, NULL, 0.0003f, lengths[l], machine, json);
        made_norm norm = {
            .gamma = gamma_values, .beta = beta_values, .gamma_codes = gamma_codes, .beta_codes = beta_codes};
        make_norm(&norm, PWL_LAYER_NORM, PWL_S16, 0.001L, 0, PWL_S16, 0x1p-12L, 0, (uint32_t)lengths[l], 1e-5L);
        bench("LayerNorm s16 to s16", NULL, &norm.norm, 0, lengths[l], machine, json);
        norm.beta = NULL;
        make_norm(&norm, PWL_RMS_NORM, PWL_S16, 0.001L, 0, PWL_S16, 0x1p-12L, 0, (uint32_t)lengths[l], 1e-5L);
        bench("RMSNorm s16 to s16", NULL, &norm.norm, 0, lengths[l], machine, json);
    }
    return json && fclose(json) ? 1 : 0;
}
