/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sample points as text: what is accepted is ordered and finite, interpolates its points, and reads back the same
 * when written out. */
#include "fuzz.h"
#include "fuzz_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct samples *samples = NULL;
    struct diag diag = {0};
    const int code = samples_parse(data, size, 0, &samples, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }
    samples_require(samples);
    samples_require_round_trip(samples);
    samples_free(samples);
    return 0;
}
