/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_attention JSON: attention of codes, 4 x 32 heads of 4096 queries and keys, and the same of 1024, causal or not;
 * operations are counted as products of real numbers, 4 a key, channel and row that sees it. Rows of the first and the
 * last head are compared with the definition afterwards. bench_attention_torch.py measures PyTorch's in fp16.
 */
#include <string.h>

#include <pwl/cuda_attention.h>

#define BENCH_REPETITIONS 31
#include "../attention/made_attention.h"
#include "bench.h"

enum { HEADS = 128, LONGEST = 4096, MOST_CHANNELS = 128, CHECKED = 5 /* rows of a head */ };
#define CODES ((size_t)HEADS * LONGEST * MOST_CHANNELS)

static int8_t *codes[3]; /* the host's q, k and v */
static uint8_t *device_codes[3], *device_y, *workspace;

struct work {
    pwl_cuda_attention attention;
    pwl_attention_call call;
};

static void launch(const void *of, int turn)
{
    const struct work *const work = of;
    (void)turn;
    bench_need_ok(pwl_cuda_attention_run(&work->attention, &work->call, workspace,
                                         pwl_cuda_attention_workspace(&work->call), bench_stream),
                  "pwl_cuda_attention_run");
}

/* Some rows of a head, the last among them; exits where they are not as they are defined. */
static void check(const pwl_attention *attention, const pwl_attention_call *of, size_t head)
{
    const size_t bytes = of->channels * of->keys, at = head * bytes;
    for (size_t r = 0; r < CHECKED; r++) {
        const size_t row = (of->queries - 1) * (r + 1) / CHECKED;
        uint8_t expected[MOST_CHANNELS], y[MOST_CHANNELS];
        pwl_attention_call call = *of;
        call.heads = call.share = call.queries = 1;
        call.q = codes[0] + at + row * of->channels;
        call.k = codes[1] + at;
        call.v = codes[2] + at;
        call.y = expected;
        call.first = row;
        bench_need_ok(pwl_attention_run(attention, &call), "pwl_attention_run");
        CUDA(cudaMemcpy(y, (const uint8_t *)of->y + at + row * of->channels, of->channels, cudaMemcpyDeviceToHost));
        if (memcmp(y, expected, of->channels) != 0) {
            fprintf(stderr, "bench_attention: row %zu of head %zu is not as it is defined\n", row, head);
            exit(1);
        }
    }
}

static void bench(const pwl_attention *attention, size_t tokens, size_t channels, int is_causal)
{
    struct work work = {.call = {.q = (int8_t *)device_codes[0],
                                 .k = (int8_t *)device_codes[1],
                                 .v = (int8_t *)device_codes[2],
                                 .y = device_y,
                                 .heads = HEADS * (LONGEST / tokens),
                                 .share = 1,
                                 .queries = tokens,
                                 .keys = tokens,
                                 .channels = channels,
                                 .is_causal = is_causal}};
    const struct bench_work works[] = {{launch, &work}};
    const double seen = is_causal ? (double)tokens * (double)(tokens + 1) / 2 : (double)tokens * (double)tokens;
    const double operations = 4 * seen * (double)channels * (double)work.call.heads;
    pwl_timing time;
    bench_need_ok(pwl_cuda_attention_upload(attention, &work.attention), "pwl_cuda_attention_upload");
    bench_measure(works, 1, 1, &time);
    check(attention, &work.call, 0);
    check(attention, &work.call, work.call.heads - 1);
    printf("| %zu | %zu | %s | %.1f | %.1f to %.1f | %.0f |\n", channels, tokens, is_causal ? "yes" : "no",
           (double)time.median, (double)time.p10, (double)time.p90, operations / (double)time.median / 1e6);
    fprintf(bench_json,
            "{\"bench\": \"attention\", \"device\": \"%s\", \"channels\": %zu, \"tokens\": %zu, \"heads\": %zu, "
            "\"causal\": %d",
            bench_device.name, channels, tokens, work.call.heads, is_causal);
    bench_print_time("time", &time);
    fprintf(bench_json, ", \"tops\": %.1f}\n", operations / (double)time.median / 1e6);
    fflush(stdout);
    bench_need_ok(pwl_cuda_attention_release(&work.attention), "pwl_cuda_attention_release");
}

int main(int argc, char **argv)
{
    made_softmax made;
    uint64_t state = 1;
    bench_open(argc, argv);
    const pwl_attention attention =
        make_attention(&made, 16.0L / 255, 15, LONGEST, 0x1p-9L, 3, made_context(PWL_S8, 1, 0));
    for (int k = 0; k < 3; k++) {
        const size_t once = (size_t)1 << 22;
        codes[k] = malloc(CODES);
        if (!codes[k])
            return 1;
        draw_codes(codes[k], once, 20, &state);
        for (size_t at = once; at < CODES; at += once)
            memcpy(codes[k] + at, codes[k], once);
        device_codes[k] = bench_memory(CODES);
        CUDA(cudaMemcpy(device_codes[k], codes[k], CODES, cudaMemcpyHostToDevice));
    }
    device_y = bench_memory(CODES);
    workspace = bench_memory(CODES);
    printf("| channels | tokens | causal | us | percentiles | TOPS |\n|---:|---:|---|---:|---:|---:|\n");
    for (size_t channels = 64; channels <= MOST_CHANNELS; channels *= 2)
        for (size_t tokens = LONGEST; tokens >= 1024; tokens /= 4)
            for (int is_causal = 0; is_causal < 2; is_causal++)
                bench(&attention, tokens, channels, is_causal);
    return bench_close();
}
