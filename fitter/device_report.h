/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the functions of libpwlc-cuda.so begin with, and how they tell of failures, see cuda_interface.h. */
#ifndef PWLC_DEVICE_REPORT_H
#define PWLC_DEVICE_REPORT_H

#include <stdarg.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

enum device_code { DEVICE_DONE = 0, DEVICE_FAILED = 1, DEVICE_MISSING = 77 };

struct device_report {
    char *message;
    size_t size;
};

__attribute__((format(printf, 3, 4))) static inline int device_fail(const struct device_report *to, int code,
                                                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to->message, to->size, format, arguments);
    va_end(arguments);
    return code;
}

static inline int device_check(const struct device_report *to, cudaError_t error, const char *what)
{
    return error == cudaSuccess ? DEVICE_DONE
                                : device_fail(to, DEVICE_FAILED, "%s: %s", what, cudaGetErrorString(error));
}

/* Whether there is a device. */
static inline int device_find(const struct device_report *to)
{
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaSuccess && devices > 0)
        return DEVICE_DONE;
    return device_fail(to, DEVICE_MISSING, "no CUDA device: %s",
                       error == cudaSuccess ? "the driver finds none" : cudaGetErrorString(error));
}

#endif
