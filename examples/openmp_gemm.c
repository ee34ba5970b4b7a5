/* SPDX-License-Identifier: 0BSD */
/*
 * y = x W^T with Q4_0 weights on all cores, by OpenMP: threads prepare rows of X, then each computes columns of Y. The
 * bits are those of one thread.
 *
 *   cc -O2 -fopenmp openmp_gemm.c $(pkg-config --cflags --libs pwl-qgemm) -lm -o openmp_gemm
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pwl/qgemm_host.h>

enum { M = 70, N = 500, K = 256, ROWS = 8, COLUMNS = 2 * PWL_QGEMM_PANEL };

/* The product in parts; the first status that is not PWL_QGEMM_OK. */
static pwl_qgemm_status multiply(const pwl_qgemm_product *product, const pwl_qgemm_panels *panels, void *workspace,
                                 size_t bytes)
{
    int failed = PWL_QGEMM_OK;
#pragma omp parallel reduction(max : failed)
    {
        /* The loops end when all of their parts are done. */
#pragma omp for
        for (size_t m = 0; m < product->m; m += ROWS) {
            const size_t count = product->m - m < ROWS ? product->m - m : ROWS;
            failed |= (int)pwl_qgemm_rows(product, panels, m, count, workspace, bytes);
        }
#pragma omp for
        for (size_t n = 0; n < panels->n; n += COLUMNS) {
            const size_t count = panels->n - n < COLUMNS ? panels->n - n : COLUMNS;
            failed |= (int)pwl_qgemm_part(product, panels, n, count, workspace, bytes);
        }
    }
    return (pwl_qgemm_status)failed;
}

/* Memory, or the end. */
static void *need(size_t bytes)
{
    void *const memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) {
        fputs("openmp_gemm: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void must(pwl_qgemm_status status)
{
    if (status != PWL_QGEMM_OK) {
        fprintf(stderr, "openmp_gemm: %s\n", pwl_qgemm_status_text(status));
        exit(1);
    }
}

int main(void)
{
    float *const w = need(sizeof *w * N * K), *const x = need(sizeof *x * M * K);
    float *const y = need(sizeof *y * M * N), *const alone = need(sizeof *alone * M * N);
    pwl_qgemm_product product = {
        PWL_QGEMM_W4A8, PWL_QGEMM_SUMS_EXACT,        M,   NULL, {x, K, PWL_QGEMM_F32, 0, NULL, NULL},
        NULL,           {y, N, PWL_QGEMM_F32, 0, 0, NULL, 0}, NULL};
    pwl_qgemm_weights packed;
    pwl_qgemm_panels panels;
    void *memory, *arranged, *workspace;
    size_t bytes;
    for (size_t i = 0; i < (size_t)N * K; i++)
        w[i] = (float)(i * 7919 % 2003) / 1000 - 1;
    for (size_t i = 0; i < (size_t)M * K; i++)
        x[i] = (float)(i * 104729 % 1999) / 1000 - 1;

    must(pwl_qgemm_weights_bytes(PWL_QGEMM_Q4_0, N, K, &bytes));
    memory = need(bytes);
    must(pwl_qgemm_pack(pwl_qgemm_of_floats(PWL_QGEMM_Q4_0, PWL_RULE_DEFAULT, w, N, K), memory, bytes, &packed, NULL));
    must(pwl_qgemm_panels_bytes(&packed, &bytes));
    arranged = need(bytes);
    must(pwl_qgemm_arrange(&packed, arranged, bytes, &panels));
    free(memory); /* the packed weights */

    must(pwl_qgemm_workspace(&product, &panels, &bytes));
    workspace = need(bytes);
    must(multiply(&product, &panels, workspace, bytes));
    product.y.data = alone;
    must(pwl_qgemm(&product, &panels, workspace, bytes));
    const int differs = memcmp(y, alone, sizeof *y * M * N) != 0;
    printf("y[0][0] = %g, y[%d][%d] = %g; %s\n", (double)y[0], M - 1, N - 1, (double)y[M * N - 1],
           differs ? "one thread gives other bits" : "one thread gives the same bits");
    void *const all[] = {w, x, y, alone, arranged, workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return differs;
}
