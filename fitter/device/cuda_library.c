/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cuda_library.h"

#include <string.h>

#include "cuda_interface.h"

enum device device_parse(const char *value)
{
    return strcmp(value, "cuda") == 0 ? DEVICE_CUDA : strcmp(value, "cpu") == 0 ? DEVICE_CPU : DEVICE_AUTO;
}

int cuda_library_open(struct library *library, struct diag *diag)
{
    static const struct library_kind cuda = {CUDA_LIBRARY_NAME, CUDA_LIBRARY_VARIABLE, "-Dcuda=enabled",
                                             "pwlc_cuda_abi", PWLC_CUDA_ABI};
    return library_open(library, &cuda, diag);
}
