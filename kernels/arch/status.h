/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's errors as statuses of pwl/cuda.h. */
#ifndef PWL_STATUS_H
#define PWL_STATUS_H

#include <pwl/cuda.h>

static inline pwl_cuda_status pwl_cuda_status_of(int error)
{
    return error == 0 ? PWL_CUDA_OK : (pwl_cuda_status)(PWL_CUDA_ERR_CUDA + error);
}

#endif
