/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs are of unlike kinds, and what is said of them. */
#include <string.h>

#include "../../examples/gpus.h"
#include "../kernels/tap.h"

#define H100 "NVIDIA H100 80GB HBM3"

static char message[GPUS_MESSAGE];

static void alike(int ranks, const gpu_kind *kinds)
{
    tap(!gpus_unlike(kinds, ranks, message, sizeof message), "%d of one kind", ranks);
}

static void unlike(int ranks, const gpu_kind *kinds, const char *text)
{
    const char *const said = gpus_unlike(kinds, ranks, message, sizeof message);
    tap(said == message && strcmp(said, text) == 0, "%s", text);
}

int main(void)
{
    const gpu_kind same[] = {{H100, 9, 0}, {H100, 9, 0}, {H100, 9, 0}};
    const gpu_kind names[] = {{H100, 9, 0}, {H100, 9, 0}, {"NVIDIA H200", 9, 0}};
    const gpu_kind capabilities[] = {{"Graphics Device", 8, 0}, {"Graphics Device", 8, 6}, {H100, 9, 0}};
    const gpu_kind majors[] = {{H100, 9, 0}, {H100, 10, 0}};
    gpu_kind full[2];
    memset(full, 'x', sizeof full); /* names without an end */
    full[0].major = full[1].major = full[0].minor = full[1].minor = 8;
    alike(1, names);
    alike(2, names);
    alike(3, same);
    alike(2, full);
    unlike(3, names,
           "GPUs of unlike kinds: rank 0 has NVIDIA H100 80GB HBM3 (9.0), rank 2 has NVIDIA H200 (9.0); every rank "
           "waits for "
           "the slowest");
    unlike(3, capabilities,
           "GPUs of unlike kinds: rank 0 has Graphics Device (8.0), rank 1 has Graphics Device (8.6); every rank waits "
           "for the "
           "slowest");
    unlike(2, majors,
           "GPUs of unlike kinds: rank 0 has NVIDIA H100 80GB HBM3 (9.0), rank 1 has NVIDIA H100 80GB HBM3 (10.0); "
           "every rank "
           "waits for the slowest");
    full[1].name[sizeof full[1].name - 1] = 'y';
    tap(gpus_unlike(full, 2, message, sizeof message) && strcmp(message + strlen(message) - 7, "slowest") == 0,
        "the longest names");
    tap(gpus_unlike(full, 2, message, 20) && strcmp(message, "GPUs of unlike kind") == 0, "a message without room");
    return tap_end();
}
