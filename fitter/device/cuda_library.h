/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libpwlc-cuda.so, what pwlc runs on CUDA devices. pwlc itself is not linked with CUDA, and finds the library when a
 * command asks for one, as base/library.h says. */
#ifndef PWLC_CUDA_LIBRARY_H
#define PWLC_CUDA_LIBRARY_H

#include "base/diag.h"
#include "base/library.h"

#define CUDA_LIBRARY_NAME "libpwlc-cuda.so"
#define CUDA_LIBRARY_VARIABLE "PWL_CUDA_LIBRARY"

/* The value of --device: cpu, cuda or, where its command has that, auto. */
enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };
enum device device_parse(const char *value);

/* library_open() of it. */
int cuda_library_open(struct library *library, struct diag *diag);

#endif
