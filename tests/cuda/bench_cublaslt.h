/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What products are compared with: cuBLASLt's Y[m][n] = X[m][k] W[n][k]^T of fp16 with sums in fp32, by the fastest of
 * all that its heuristics name with 64 MiB of workspace. The library is opened at run time; nothing is linked with it.
 */
#ifndef BENCH_CUBLASLT_H
#define BENCH_CUBLASLT_H

#include <string.h>

#include "bench.h"

#ifdef __has_include
#if __has_include(<cublasLt.h>)
#define BENCH_HAS_CUBLASLT
#include <cublasLt.h>
#include <dlfcn.h>
#endif
#endif

#ifdef BENCH_HAS_CUBLASLT

enum { CUBLASLT_MOST = 32, CUBLASLT_WORKSPACE = 64 << 20 };

#define CUBLASLT(call)                                                                                                 \
    do {                                                                                                               \
        const cublasStatus_t status_ = (call);                                                                         \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                                        \
            fprintf(stderr, "%s: status %d\n", #call, (int)status_);                                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* The functions of the library that are called here, under their own names. */
#define CUBLASLT_FUNCTIONS(X)                                                                                          \
    X(cublasLtCreate)                                                                                                  \
    X(cublasLtMatmul)                                                                                                  \
    X(cublasLtMatmulAlgoGetHeuristic)                                                                                  \
    X(cublasLtMatmulDescCreate)                                                                                        \
    X(cublasLtMatmulDescSetAttribute)                                                                                  \
    X(cublasLtMatrixLayoutCreate)                                                                                      \
    X(cublasLtMatmulPreferenceCreate)                                                                                  \
    X(cublasLtMatmulPreferenceSetAttribute)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    CUBLASLT_FUNCTIONS(MEMBER)
#undef MEMBER
} cublaslt;

struct cublaslt_product {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t w, x, y;
    cublasLtMatmulAlgo_t algorithm;
    void *workspace;
};

/* 0 where the library is missing. */
static inline int cublaslt_open(void)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library)
        return 0;
#define LOAD(name)                                                                                                     \
    *(void **)&cublaslt.name = dlsym(library, #name);                                                                  \
    if (!cublaslt.name)                                                                                                \
        return 0;
    CUBLASLT_FUNCTIONS(LOAD)
#undef LOAD
    return 1;
}

static inline void cublaslt_launch(const struct cublaslt_product *p, const void *w, const void *x, void *y)
{
    const float one = 1, zero = 0;
    CUBLASLT(cublaslt.cublasLtMatmul(p->handle, p->operation, &one, w, p->w, x, p->x, &zero, y, p->y, y, p->y,
                                     &p->algorithm, p->workspace, CUBLASLT_WORKSPACE, bench_stream));
}

static inline float cublaslt_time(const struct cublaslt_product *p, const void *w, const void *x, void *y)
{
    float least = 0;
    for (int i = 0; i < 6; i++) {
        CUDA(cudaEventRecord(bench_begin, bench_stream));
        cublaslt_launch(p, w, x, y);
        const float time = bench_elapsed_us();
        if (i == 1 || (i > 1 && time < least))
            least = time;
    }
    return least;
}

/* In column-major terms: y^T = w * x^T, w transposed. The arrays are only to measure with. */
static inline struct cublaslt_product cublaslt_plan(size_t m, size_t n, size_t k, const void *w, const void *x, void *y)
{
    struct cublaslt_product p;
    cublasLtMatmulHeuristicResult_t found[CUBLASLT_MOST];
    cublasLtMatmulPreference_t preference;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const size_t workspace = CUBLASLT_WORKSPACE;
    int count;
    float least = 0;
    memset(&p, 0, sizeof p);
    CUBLASLT(cublaslt.cublasLtCreate(&p.handle));
    CUBLASLT(cublaslt.cublasLtMatmulDescCreate(&p.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CUBLASLT(cublaslt.cublasLtMatmulDescSetAttribute(p.operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                                     sizeof transposed));
    CUBLASLT(cublaslt.cublasLtMatrixLayoutCreate(&p.w, CUDA_R_16F, k, n, (int64_t)k));
    CUBLASLT(cublaslt.cublasLtMatrixLayoutCreate(&p.x, CUDA_R_16F, k, m, (int64_t)k));
    CUBLASLT(cublaslt.cublasLtMatrixLayoutCreate(&p.y, CUDA_R_16F, n, m, (int64_t)n));
    CUBLASLT(cublaslt.cublasLtMatmulPreferenceCreate(&preference));
    CUBLASLT(cublaslt.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &workspace, sizeof workspace));
    CUBLASLT(cublaslt.cublasLtMatmulAlgoGetHeuristic(p.handle, p.operation, p.w, p.x, p.y, p.y, preference,
                                                     CUBLASLT_MOST, found, &count));
    p.workspace = bench_memory(CUBLASLT_WORKSPACE);
    for (int i = 0; i < count; i++) {
        struct cublaslt_product tried = p;
        tried.algorithm = found[i].algo;
        const float time = cublaslt_time(&tried, w, x, y);
        if (i == 0 || time < least) {
            least = time;
            p.algorithm = found[i].algo;
        }
    }
    if (count == 0) {
        fprintf(stderr, "cublasLtMatmulAlgoGetHeuristic: it names none\n");
        exit(1);
    }
    return p;
}

#endif
#endif
