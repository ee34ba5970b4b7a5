/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for Vitis HLS's header. */
#pragma once
#include "sized_int.h"
template <int N> using ap_int = sized<N, true>;
template <int N> using ap_uint = sized<N, false>;
