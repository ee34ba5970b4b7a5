/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of pwl/attention.h on CUDA devices of compute capability 9.0, bit for bit: heads of 64 or 128 channels, in
 * one kernel that keeps no score in memory, behind one that turns the values.
 *
 *   pwl_cuda_attention attention;
 *   pwl_cuda_attention_upload(&of, &attention);                                                   (once)
 *   pwl_cuda_attention_run(&attention, &(pwl_attention_call){.q = q, .k = k, .v = v, .y = y, .heads = 32, .share = 1,
 *                          .queries = 4096, .keys = 4096, .channels = 128}, workspace, bytes, stream);
 */
#ifndef PWL_CUDA_ATTENTION_H
#define PWL_CUDA_ATTENTION_H

#include <pwl/attention.h>
#include <pwl/cuda_rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An operator on a device. To be passed around as one likes, by any number of threads and streams at a time. */
typedef struct pwl_cuda_attention {
    pwl_attention attention;  /* without arrays */
    pwl_cuda_softmax softmax; /* its own, uploaded */
} pwl_cuda_attention;

/* Checks an operator (PWL_CUDA_ERR_OPERATOR; pwl_attention_check() says why) and copies it to the current device, 66
 * KiB. Otherwise as pwl_cuda_softmax_upload() and its release. */
PWL_NODISCARD pwl_cuda_status pwl_cuda_attention_upload(const pwl_attention *attention, pwl_cuda_attention *uploaded);
PWL_NODISCARD pwl_cuda_status pwl_cuda_attention_release(pwl_cuda_attention *uploaded);

/* Bytes of workspace that a call needs: those of v, with its keys rounded up to 128. 0 where it has too many codes. */
size_t pwl_cuda_attention_workspace(const pwl_attention_call *call);

/*
 * As pwl_attention_run(), on device arrays, queued on `stream` (null: the default stream); *call itself is the host's,
 * and is not needed after the call. Arrays and workspace are aligned to 16 bytes; none overlaps another, and no two
 * launches that may run at a time have one workspace. PWL_CUDA_ERR_ROW: no key, or more than the softmax' longest row;
 * PWL_CUDA_ERR_SHAPE: channels other than 64 and 128, a share of 0, 2^31 rows and more; PWL_CUDA_ERR_ROOM: too little
 * workspace; CUDA's cudaErrorNotSupported: a device of another architecture. Can be captured into a graph, which then
 * needs the uploaded operator for as long as it is launched, though not *uploaded itself.
 */
PWL_NODISCARD pwl_cuda_status pwl_cuda_attention_run(const pwl_cuda_attention *uploaded, const pwl_attention_call *call,
                                                     void *workspace, size_t bytes, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
