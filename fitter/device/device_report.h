/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the functions of libpwlc-cuda.so begin with, and how they tell of failures, see cuda_interface.h. */
#ifndef PWLC_DEVICE_REPORT_H
#define PWLC_DEVICE_REPORT_H

#include <stdarg.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

#include <pwl/qgemm.h>

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

/* Null where nothing is wrong. */
static inline const char *device_status_text(pwl_qgemm_status status)
{
    if (status > PWL_QGEMM_ERR_CUDA)
        return cudaGetErrorString((cudaError_t)(status - PWL_QGEMM_ERR_CUDA));
    return status == PWL_QGEMM_OK ? NULL : pwl_qgemm_status_text(status);
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

/* Of the current device. */
static inline int device_name(const struct device_report *to, char *name, size_t size)
{
    struct cudaDeviceProp properties;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        snprintf(name, size, "%s", properties.name);
    return device_check(to, error, "the device's name");
}

#endif
