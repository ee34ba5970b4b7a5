/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for Catapult's header. */
#pragma once
#include "sized_int.h"
template <int N, bool S = true> using ac_int = sized<N, S>;
