/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/cublaslt.h>

#ifdef __has_include
#if __has_include(<cublasLt.h>)
#define HAS_CUBLASLT
#endif
#endif

#ifdef HAS_CUBLASLT

#include <dlfcn.h>
#include <stdlib.h>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <pwl/timing.h>

enum { MOST = 32, WORKSPACE = 64 << 20, TRIES = 5 };

/* The functions of the library that are called here. */
#define FUNCTIONS(X)                                                                                                   \
    X(cublasLtCreate)                                                                                                  \
    X(cublasLtDestroy)                                                                                                 \
    X(cublasLtGetStatusString)                                                                                         \
    X(cublasLtMatmul)                                                                                                  \
    X(cublasLtMatmulAlgoGetHeuristic)                                                                                  \
    X(cublasLtMatmulDescCreate)                                                                                        \
    X(cublasLtMatmulDescDestroy)                                                                                       \
    X(cublasLtMatmulDescSetAttribute)                                                                                  \
    X(cublasLtMatrixLayoutCreate)                                                                                      \
    X(cublasLtMatrixLayoutDestroy)                                                                                     \
    X(cublasLtMatmulPreferenceCreate)                                                                                  \
    X(cublasLtMatmulPreferenceDestroy)                                                                                 \
    X(cublasLtMatmulPreferenceSetAttribute)

struct pwl_cublaslt {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t w, x, y;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulAlgo_t algorithm;
    void *workspace;
    float alpha;
    int scales_integers; /* alpha and beta are int32_t, else float */
};

/* 0 where the library is missing, or one of its functions. */
static int load(pwl_cublaslt *p)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    if (!library)
        return 0;
#define LOAD(name)                                                                                                     \
    *(void **)&p->name = dlsym(library, #name);                                                                        \
    if (!p->name)                                                                                                      \
        return 0;
    FUNCTIONS(LOAD)
#undef LOAD
    return 1;
}

const char *pwl_cublaslt_launch(const pwl_cublaslt *p, const void *w, const void *x, void *y,
                                struct CUstream_st *stream)
{
    const float zero = 0;
    const int32_t one_integer = 1, zero_integer = 0;
    const void *const alpha = p->scales_integers ? (const void *)&one_integer : &p->alpha;
    const void *const beta = p->scales_integers ? (const void *)&zero_integer : &zero;
    const cublasStatus_t status = p->cublasLtMatmul(p->handle, p->operation, alpha, w, p->w, x, p->x, beta, y, p->y, y,
                                                    p->y, &p->algorithm, p->workspace, WORKSPACE, stream);
    return status == CUBLAS_STATUS_SUCCESS ? NULL : p->cublasLtGetStatusString(status);
}

/* In column-major terms: y^T = w * x^T, w transposed. */
static cublasStatus_t describe(pwl_cublaslt *p, pwl_cublaslt_kind kind, size_t m, size_t n, size_t k)
{
    const int halves = kind == PWL_CUBLASLT_F16, sums = kind == PWL_CUBLASLT_S8_TO_S32;
    const int e4m3 = kind == PWL_CUBLASLT_E4M3_TO_F16;
    const cudaDataType_t in = halves ? CUDA_R_16F : e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_8I;
    const cudaDataType_t out = sums ? CUDA_R_32I : e4m3 ? CUDA_R_16F : in;
    const int8_t fast = 1;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const size_t workspace = WORKSPACE;
    p->alpha = kind == PWL_CUBLASLT_S8_TO_S8 ? 1e-4f : 1;
    p->scales_integers = sums;
    cublasStatus_t status = p->cublasLtCreate(&p->handle);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatmulDescCreate(&p->operation, halves || e4m3 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32I,
                                             sums ? CUDA_R_32I : CUDA_R_32F);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                                   sizeof transposed);
    if (status == CUBLAS_STATUS_SUCCESS && e4m3)
        status = p->cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatrixLayoutCreate(&p->w, in, k, n, (int64_t)k);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatrixLayoutCreate(&p->x, in, k, m, (int64_t)k);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatrixLayoutCreate(&p->y, out, n, m, (int64_t)n);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatmulPreferenceCreate(&p->preference);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = p->cublasLtMatmulPreferenceSetAttribute(p->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                         &workspace, sizeof workspace);
    return status;
}

typedef struct operands {
    const pwl_cublaslt *plan;
    const void *w, *x;
    void *y;
} operands;

static const char *launch(const void *of, int turn, struct CUstream_st *stream)
{
    const operands *const o = of;
    (void)turn;
    return pwl_cublaslt_launch(o->plan, o->w, o->x, o->y, stream);
}

static const char *choose(pwl_cublaslt *p, const operands *o, struct CUstream_st *stream)
{
    cublasLtMatmulHeuristicResult_t found[MOST];
    const pwl_timing_work work = {launch, o};
    const char *failed = NULL;
    float least = 0;
    int count = 0, best = -1;
    const cublasStatus_t status = p->cublasLtMatmulAlgoGetHeuristic(p->handle, p->operation, p->w, p->x, p->y, p->y,
                                                                    p->preference, MOST, found, &count);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0)
        return status == CUBLAS_STATUS_SUCCESS ? "cuBLASLt names no algorithm" : p->cublasLtGetStatusString(status);
    for (int i = 0; i < count && !failed; i++) {
        pwl_timing time;
        p->algorithm = found[i].algo;
        failed = pwl_timing_measure(&work, 1, 0, TRIES, &time, stream);
        if (!failed && (best < 0 || time.median < least)) {
            least = time.median;
            best = i;
        }
    }
    if (!failed)
        p->algorithm = found[best].algo;
    return failed;
}

const char *pwl_cublaslt_plan(pwl_cublaslt_kind kind, size_t m, size_t n, size_t k, const void *w, const void *x,
                              void *y, struct CUstream_st *stream, pwl_cublaslt **made)
{
    pwl_cublaslt *const p = calloc(1, sizeof *p);
    const operands o = {p, w, x, y};
    const char *failed = p ? NULL : "out of host memory";
    *made = NULL;
    if (!failed && !load(p)) {
        free(p);
        return NULL;
    }
    if (!failed) {
        const cublasStatus_t status = describe(p, kind, m, n, k);
        failed = status == CUBLAS_STATUS_SUCCESS ? NULL : p->cublasLtGetStatusString(status);
    }
    if (!failed) {
        const cudaError_t error = cudaMalloc(&p->workspace, WORKSPACE);
        failed = error == cudaSuccess ? NULL : cudaGetErrorString(error);
    }
    if (!failed)
        failed = choose(p, &o, stream);
    if (failed)
        pwl_cublaslt_free(p);
    else
        *made = p;
    return failed;
}

void pwl_cublaslt_free(pwl_cublaslt *p)
{
    if (!p)
        return;
    (void)cudaFree(p->workspace);
    if (p->preference)
        (void)p->cublasLtMatmulPreferenceDestroy(p->preference);
    if (p->y)
        (void)p->cublasLtMatrixLayoutDestroy(p->y);
    if (p->x)
        (void)p->cublasLtMatrixLayoutDestroy(p->x);
    if (p->w)
        (void)p->cublasLtMatrixLayoutDestroy(p->w);
    if (p->operation)
        (void)p->cublasLtMatmulDescDestroy(p->operation);
    if (p->handle)
        (void)p->cublasLtDestroy(p->handle);
    free(p);
}

#else

const char *pwl_cublaslt_plan(pwl_cublaslt_kind kind, size_t m, size_t n, size_t k, const void *w, const void *x,
                              void *y, struct CUstream_st *stream, pwl_cublaslt **made)
{
    (void)kind, (void)m, (void)n, (void)k, (void)w, (void)x, (void)y, (void)stream;
    *made = NULL;
    return NULL;
}

void pwl_cublaslt_free(pwl_cublaslt *plan)
{
    (void)plan;
}

const char *pwl_cublaslt_launch(const pwl_cublaslt *plan, const void *w, const void *x, void *y,
                                struct CUstream_st *stream)
{
    (void)plan, (void)w, (void)x, (void)y, (void)stream;
    return "compiled without the header of cuBLASLt";
}

#endif
