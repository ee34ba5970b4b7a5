/* SPDX-License-Identifier: Apache-2.0 */
/* Products on one core, to be called beside those of others in one process: bench_cpu_gemm.py loads it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/plan.h>
#include <pwl/qgemm_host.h>

#include "gemm/host/ways.h"

typedef struct product {
    pwl_qgemm_product product;
    pwl_qgemm_panels panels;
    const pwl_qgemm_way *way;
    void *memory, *workspace;
    int8_t *n_x;
    size_t bytes;
} product;

/* The way of a name, or the quickest for ""; null where the machine does not have it. */
static const pwl_qgemm_way *way_of(const char *name)
{
    for (size_t i = 0; i < pwl_qgemm_way_count; i++) {
        const pwl_qgemm_way *const way = &pwl_qgemm_ways[i];
        if ((way->level & pwl_levels()) == way->level && (!*name || strcmp(name, way->name) == 0))
            return way;
    }
    return NULL;
}

const char *cpu_gemm_way(const char *name)
{
    const pwl_qgemm_way *const way = way_of(name);
    return way ? way->name : "";
}

/* Blocks of the format, as pwl_quantise() makes them of w, float[n][k]; their bytes are those of GGUF files. */
int cpu_gemm_blocks(int format, const float *w, size_t n, size_t k, void *blocks)
{
    static const pwl_format formats[] = {PWL_Q4_0, PWL_Q8_0, PWL_MXFP4};
    return (int)pwl_quantise(formats[format], PWL_RULE_DEFAULT, w, n, k, k, blocks);
}

/* A product with w, float[n][k], or super-blocks, of m rows at most; x is float, or int8_t in INT8, and y float, or
 * int8_t. */
void *cpu_gemm_new(const char *way, int scheme, int format, const void *w, size_t n, size_t k, size_t m)
{
    product *const made = calloc(1, sizeof *made);
    const int int8 = scheme == PWL_QGEMM_INT8, super = format >= PWL_QGEMM_Q4_K;
    pwl_qgemm_weights packed;
    void *memory;
    size_t bytes;
    if (!made || !(made->way = way_of(way)) ||
        pwl_qgemm_weights_bytes((pwl_qgemm_format)format, n, k, &bytes) != PWL_QGEMM_OK ||
        !(memory = aligned_alloc(64, (bytes + 63) / 64 * 64)) || !(made->n_x = calloc(m, 1)) ||
        (super ? pwl_qgemm_pack(pwl_qgemm_of_blocks((pwl_qgemm_format)format, w, n, k), memory, bytes, &packed, NULL)
               : pwl_qgemm_pack(pwl_qgemm_of_floats((pwl_qgemm_format)format, PWL_RULE_DEFAULT, w, n, k), memory, bytes,
                                &packed, NULL)) != PWL_QGEMM_OK ||
        pwl_qgemm_panels_bytes(&packed, &bytes) != PWL_QGEMM_OK || !(made->memory = malloc(bytes)) ||
        pwl_qgemm_arrange(&packed, made->memory, bytes, &made->panels) != PWL_QGEMM_OK)
        return NULL;
    free(memory);
    made->product = (pwl_qgemm_product){(pwl_qgemm_scheme)scheme,
                                        PWL_QGEMM_SUMS_EXACT,
                                        m,
                                        NULL,
                                        {w, k, int8 ? PWL_QGEMM_S8 : PWL_QGEMM_F32, 0, made->n_x, NULL},
                                        NULL,
                                        {made->memory, n, int8 ? PWL_QGEMM_S8 : PWL_QGEMM_F32, 0, -6},
                                        NULL};
    made->bytes = m * (k * 4 + 64) + (1 << 20);
    made->workspace = malloc(made->bytes);
    return made->workspace ? made : NULL;
}

/* The status. */
int cpu_gemm_run(void *of, const void *x, size_t m, void *y)
{
    product *const made = of;
    made->product.m = m;
    made->product.x.data = x;
    made->product.y.data = y;
    return (int)pwl_qgemm_by(made->way, &made->product, &made->panels, made->workspace, made->bytes);
}

void cpu_gemm_free(void *of)
{
    product *const made = of;
    free(made->memory);
    free(made->workspace);
    free(made->n_x);
    free(made);
}
