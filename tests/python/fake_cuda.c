/* SPDX-License-Identifier: Apache-2.0 */
/* libpwl-cuda as cuda.py sees it, on memory of the host, for tests where there is no device. */
#include <pwl/cuda.h>
#include <pwl/eval.h>

const void *fake_elsewhere = NULL; /* lies on the next device */
int fake_device = 0, fake_current = 0, fake_uploads = 0, fake_stream = 0;

int pwl_device_of(const void *pointer);
int pwl_device_current(void);
size_t pwl_device_table_size(void);

int pwl_device_of(const void *pointer)
{
    return fake_device + (pointer == fake_elsewhere);
}

int pwl_device_current(void)
{
    return fake_current;
}

size_t pwl_device_table_size(void)
{
    return sizeof(pwl_cuda_table);
}

pwl_cuda_status pwl_cuda_upload(const pwl_table *table, pwl_cuda_table *uploaded)
{
    uploaded->memory = (void *)(uintptr_t)table;
    fake_uploads++;
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_release(pwl_cuda_table *uploaded)
{
    fake_uploads -= uploaded->memory != NULL;
    uploaded->memory = NULL;
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_map(const pwl_cuda_table *uploaded, pwl_type in, const void *x, pwl_type out, void *y,
                             size_t count, struct CUstream_st *stream)
{
    const pwl_table *const table = uploaded->memory;
    fake_stream = (int)(uintptr_t)stream;
    if (in != PWL_S8 || out != PWL_S8)
        return PWL_CUDA_ERR_FIT;
    for (size_t k = 0; k < count; k++)
        ((int8_t *)y)[k] = (int8_t)pwl_eval_inline(table, ((const int8_t *)x)[k]);
    return PWL_CUDA_OK;
}

pwl_cuda_status pwl_cuda_map_real(const pwl_cuda_table *uploaded, pwl_affine of_x, pwl_real in, const void *x,
                                  pwl_affine of_y, pwl_real out, void *y, size_t count, struct CUstream_st *stream)
{
    const pwl_table *const table = uploaded->memory;
    fake_stream = (int)(uintptr_t)stream;
    if (in != PWL_F32 || out != PWL_F32)
        return PWL_CUDA_ERR_TYPE;
    for (size_t k = 0; k < count; k++) {
        const int64_t q =
            pwl_code_of_real(((const float *)x)[k], 1 / of_x.scale, of_x.zero_point, table->qmin_x, table->qmax_x);
        ((float *)y)[k] = pwl_real_of_code(pwl_eval_inline(table, q), of_y);
    }
    return PWL_CUDA_OK;
}

const char *pwl_cuda_status_text(pwl_cuda_status status)
{
    return status == PWL_CUDA_ERR_FIT ? "the fake one's words" : "other words";
}
