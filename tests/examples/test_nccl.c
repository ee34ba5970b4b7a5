/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl WORDS: without NCCL, as PWL_NCCL names it, ranks cannot meet, and are told why, each time. */
#include <string.h>

#include "../../examples/nccl.h"
#include "../kernels/tap.h"

int main(int argc, char **argv)
{
    nccl_id id;
    for (int again = 0; again < 2 && argc == 2; again++) {
        const char *const failed = nccl_make_id(&id);
        tap(failed && strncmp(failed, "NCCL is missing: ", 17) == 0 && strstr(failed, argv[1]), "%s",
            failed ? failed : "NCCL is there");
    }
    return tap_end();
}
