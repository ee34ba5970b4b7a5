/* SPDX-License-Identifier: Apache-2.0 */
#include <pwl/pwl.h>

int pwl_abi_version(void)
{
    return PWL_ABI_VERSION;
}
