/* SPDX-License-Identifier: Apache-2.0 */
/* What every test on a device starts with. */
#ifndef DEVICE_H
#define DEVICE_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call of CUDA that the tests themselves need. */
#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        if (error_ != cudaSuccess) {                                                                                   \
            printf("Bail out! %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* As CUDA, for calls of the project, whose statuses pwl/cuda.h, pwl/qgemm.h and pwl/blocks.h name. */
#define PWL(call)                                                                                                      \
    do {                                                                                                               \
        const int status_ = (int)(call);                                                                               \
        if (status_ != 0) {                                                                                            \
            printf("Bail out! %s:%d: status %d of %s\n", __FILE__, __LINE__, status_, #call);                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* The command line is the program, or the program and "small": 1 for the latter. Exits where it is another, and, with
 * 77, where there is no device. */
static inline int test_is_small(int argc, char **argv)
{
    const int small = argc == 2 && strcmp(argv[1], "small") == 0;
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        printf("1..0 # SKIP no CUDA device: %s\n", cudaGetErrorString(error));
        exit(77);
    }
    if (argc > 1 && !small) {
        fprintf(stderr, "usage: %s [small]\n", argv[0]);
        exit(2);
    }
    return small;
}

#endif
