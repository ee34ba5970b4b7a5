/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The profiles, each in the file of its family. */
#ifndef PWLC_PROFILE_FAMILIES_H
#define PWLC_PROFILE_FAMILIES_H

#include "description.h"

/* outputs.c: a code for each input code. */
extern const struct profile profile_tosa8, profile_ethosu8, profile_tflm8, profile_executorch8, profile_xnnpack8;

/* points.c: points on an even grid, and straight lines between them. */
extern const struct profile profile_tosa16, profile_ethosu16, profile_tflm16;

/* A file each. */
extern const struct profile profile_quant_gru, profile_aimet_pe, profile_finn, profile_aie, profile_aie_v2,
    profile_nvdla, profile_gna, profile_k210, profile_mli, profile_tosa_softmax8, profile_hls4ml, profile_hls4ml_oneapi,
    profile_hls4ml_oneapi_stable, profile_hls4ml_legacy, profile_hls4ml_oneapi_legacy;

/* espdl.c: values on an even grid, the nearest of which is read. */
extern const struct profile profile_espdl16, profile_espdl16_p4, profile_espdl16_linear;

#endif
