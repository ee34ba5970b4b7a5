/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the functions of libpwlc-cuda.so (cuda_library.h) have in common. Each is declared as a type, in a header that
 * pwlc and the library share, is exported by C's rules, and returns 0 when done, 77 without a device, and 1 when it
 * fails: then `message`, of `size` bytes, says why in one line.
 */
#ifndef PWLC_CUDA_INTERFACE_H
#define PWLC_CUDA_INTERFACE_H

#include <stdint.h>

/* Changes when a function of the library does, or a struct that one takes. */
#define PWLC_CUDA_ABI 4
typedef int pwlc_cuda_abi_function(void);

/* Called now and then by functions that take long, with done <= total. */
typedef void pwlc_cuda_progress(void *context, uint64_t done, uint64_t total);

#endif
