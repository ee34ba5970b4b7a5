/* SPDX-License-Identifier: Apache-2.0 */
/* Row operators alone, for row_faults.sh. */
#include "row_equivalence.h"

int main(void)
{
    return check_rows();
}
