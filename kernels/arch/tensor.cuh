/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices as the copies of 9.0 take them. */
#ifndef PWL_TENSOR_CUH
#define PWL_TENSOR_CUH

#include <cuda.h>
#include <cuda_runtime.h>
#include <stddef.h>

namespace pwl
{

/* The driver's function, or null. */
static inline decltype(&cuTensorMapEncodeTiled) tensor_encoder()
{
    static void *const function = [] {
        void *found = nullptr;
        cudaDriverEntryPointQueryResult result;
        const cudaError_t error =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
        return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? found : nullptr;
    }();
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

/* A matrix of elements of 1 or 2 bytes, its rows `stride` of them apart and aligned to 16 bytes, in boxes of `box_rows`
 * rows of `row_bytes`, 128 or 64. They lie in shared memory as matrix_at() has them, or, with 64 bytes a row, chunk c
 * of row r at c ^ r / 2 % 4. What is beyond its edges is read as zeros and not written. False where there can be none.
 */
template <class element>
static inline bool describe_matrix(CUtensorMap *tensor, const void *data, size_t rows, size_t columns, size_t stride,
                                   unsigned row_bytes, unsigned box_rows)
{
    constexpr unsigned bytes = sizeof(element);
    const cuuint64_t shape[2] = {columns, rows}, apart[1] = {stride * bytes};
    const cuuint32_t box[2] = {row_bytes / bytes, box_rows}, steps[2] = {1, 1};
    const auto encode = tensor_encoder();
    return encode && columns <= INT32_MAX && rows <= INT32_MAX &&
           encode(tensor, bytes == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_UINT16, 2,
                  const_cast<void *>(data), shape, apart, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  row_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

} // namespace pwl

#endif
