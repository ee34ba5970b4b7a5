/* SPDX-License-Identifier: Apache-2.0 */
/* The example's feed-forward block on a device, from a GGUF file in memory, against the same by the reference. */
#include "../../examples/ffn.h"
#include "../../examples/gguf.h"
#include "../kernels/device.h"
#include "../kernels/tap.h"
#include "gguf_model.h"

enum { MOST_TOKENS = 128, D = 256, FF = 704 };

static float x[MOST_TOKENS * D], exact[MOST_TOKENS * D], host[MOST_TOKENS * D], device[MOST_TOKENS * D];

/*
 * Sums that are off by e flip the code of a hidden element, of the table or of Q8_1, that lies within e of the edge of
 * a step: on average a square of e * step, where those of hidden elements are about 0.3. e is near 3e-7 in fp32, and
 * 3e-4 in products of halves, which there may be from M = 64 on. Ten times that is allowed, and, since elements are
 * few, four flips where up is 4. A wrong row or scale brings 0.1 and more.
 */
static void test_block(const ffn_block *block, const ffn_table *table, size_t m)
{
    const double e = m < PWL_QGEMM_HALVES_FROM ? 3e-7 : 3e-4, step = (double)table->of_y.scale + 0x1p-6;
    const double flip = 16 * step * step / (double)(m * block->ff), most = (10 * e * step + 4 * flip) / 0.3;
    const ffn_choice nothing = {0, 0, NULL};
    const size_t count = m * block->d;
    const int done = ffn_compute(block, nothing, x, m, exact) && ffn_fused(block, table, x, m, host) == PWL_QGEMM_OK;
    memset(device, 0, sizeof device);
    const pwl_qgemm_status status = ffn_fused_cuda(block, table, x, m, device);
    const double apart = ffn_nmse(device, host, count);
    printf("# NMSE against floats %.3e, the reference's %.3e\n", ffn_nmse(device, exact, count),
           ffn_nmse(host, exact, count));
    tap(done && status == PWL_QGEMM_OK && apart <= most, "%zu tokens, %s%s: %.1e from the reference%s%s", m,
        table->name, block->gate.data ? ", gated" : "", apart, status ? ": " : "",
        status ? pwl_qgemm_status_text(status) : "");
}

int main(int argc, char **argv)
{
    const int small = test_is_small(argc, argv);
    const model_file model = small ? make_model(64, 96) : make_model(D, FF);
    uint64_t state = 2;
    draw_matrix(x, sizeof x / sizeof *x, 1, &state);
    for (int gated = 0; gated < 2; gated++) {
        ffn_block block = {.f = gated ? &ffn_silu : &ffn_gelu};
        if (gguf_find(model.bytes, model.size, MODEL_UP, &block.up) ||
            gguf_find(model.bytes, model.size, MODEL_DOWN, &block.down) ||
            (gated && gguf_find(model.bytes, model.size, MODEL_GATE, &block.gate)) || ffn_shape(&block))
            exit(1);
        for (int i = 0; i < FFN_TABLES; i++) {
            test_block(&block, &block.f->tables[i], 1);
            test_block(&block, &block.f->tables[i], 16);
            test_block(&block, &block.f->tables[i], MOST_TOKENS);
        }
    }
    free(model.bytes);
    return tap_end();
}
