/* SPDX-License-Identifier: Apache-2.0 */
/* _core.Network: a proven network that runs over arrays. */
#ifndef PWL_CORE_NETWORK_H
#define PWL_CORE_NETWORK_H

#include "python.h"

/* Makes the type; 0 or -1. */
int network_add_type(PyObject *module);

#endif
