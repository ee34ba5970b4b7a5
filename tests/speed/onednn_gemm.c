/* SPDX-License-Identifier: Apache-2.0 */
/* INT8 products by oneDNN's inner product on one core: bench_cpu_gemm.py loads it, where libdnnl-dev is installed. */
#include <stdint.h>
#include <stdlib.h>

#include <oneapi/dnnl/dnnl.h>

typedef struct product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_memory_t x, w, y;
} product;

static dnnl_status_t describe(dnnl_memory_desc_t *to, int64_t rows, int64_t columns, dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {rows, columns};
    return dnnl_memory_desc_init_by_tag(to, 2, dims, dnnl_s8, tag);
}

/* The primitive of s8 by s8 to s8, its weights in whatever order it wants. */
static dnnl_status_t choose(product *to, int64_t m, int64_t n, int64_t k, float scale, dnnl_primitive_desc_t *chosen)
{
    dnnl_memory_desc_t x, w, y;
    dnnl_inner_product_desc_t inner;
    dnnl_primitive_attr_t attributes;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (status == dnnl_success && (status = describe(&x, m, k, dnnl_ab)) == dnnl_success &&
        (status = describe(&w, n, k, dnnl_format_tag_any)) == dnnl_success &&
        (status = describe(&y, m, n, dnnl_ab)) == dnnl_success &&
        (status = dnnl_inner_product_forward_desc_init(&inner, dnnl_forward_inference, &x, &w, NULL, &y)) ==
            dnnl_success &&
        (status = dnnl_primitive_attr_set_output_scales(attributes, 1, 0, &scale)) == dnnl_success)
        status = dnnl_primitive_desc_create(chosen, &inner, attributes, to->engine, NULL);
    return status;
}

static const dnnl_memory_desc_t *described(const_dnnl_primitive_desc_t of, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(of, what, 0);
}

/* Weights, int8_t[n][k], in the order of the primitive. */
static dnnl_status_t arrange(product *to, const_dnnl_primitive_desc_t chosen, const int8_t *w, int64_t n, int64_t k)
{
    const dnnl_memory_desc_t *const wanted = described(chosen, dnnl_query_weights_md);
    dnnl_memory_desc_t given;
    dnnl_memory_t from;
    dnnl_primitive_desc_t reorder;
    dnnl_primitive_t run;
    dnnl_status_t status = describe(&given, n, k, dnnl_ab);
    if (status == dnnl_success &&
        (status = dnnl_memory_create(&from, &given, to->engine, (void *)(uintptr_t)w)) == dnnl_success &&
        (status = dnnl_memory_create(&to->w, wanted, to->engine, DNNL_MEMORY_ALLOCATE)) == dnnl_success &&
        (status = dnnl_reorder_primitive_desc_create(&reorder, &given, to->engine, wanted, to->engine, NULL)) ==
            dnnl_success &&
        (status = dnnl_primitive_create(&run, reorder)) == dnnl_success) {
        const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to->w}};
        status = dnnl_primitive_execute(run, to->stream, 2, arguments);
        dnnl_stream_wait(to->stream);
    }
    return status;
}

/* y = sat(scale * x w^T), x int8_t[m][k]. Null where oneDNN does not make it; nothing is given back. */
void *onednn_gemm_new(const int8_t *w, int64_t m, int64_t n, int64_t k, float scale)
{
    product *const made = calloc(1, sizeof *made);
    dnnl_primitive_desc_t chosen;
    if (!made || dnnl_engine_create(&made->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&made->stream, made->engine, dnnl_stream_default_flags) != dnnl_success ||
        choose(made, m, n, k, scale, &chosen) != dnnl_success ||
        dnnl_primitive_create(&made->primitive, chosen) != dnnl_success ||
        arrange(made, chosen, w, n, k) != dnnl_success ||
        dnnl_memory_create(&made->x, described(chosen, dnnl_query_src_md), made->engine, DNNL_MEMORY_NONE) !=
            dnnl_success ||
        dnnl_memory_create(&made->y, described(chosen, dnnl_query_dst_md), made->engine, DNNL_MEMORY_NONE) !=
            dnnl_success)
        return NULL;
    return made;
}

/* The status. */
int onednn_gemm_run(void *of, const int8_t *x, int8_t *y)
{
    product *const made = of;
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, made->x}, {DNNL_ARG_WEIGHTS, made->w}, {DNNL_ARG_DST, made->y}};
    dnnl_status_t status = dnnl_memory_set_data_handle_v2(made->x, (void *)(uintptr_t)x, made->stream);
    if (status == dnnl_success)
        status = dnnl_memory_set_data_handle_v2(made->y, y, made->stream);
    if (status == dnnl_success)
        status = dnnl_primitive_execute(made->primitive, made->stream, 3, arguments);
    if (status == dnnl_success)
        status = dnnl_stream_wait(made->stream);
    return (int)status;
}
