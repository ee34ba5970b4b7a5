/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .npy files: an accepted array lies inside the file and reads back the same when built anew; as sample points or
 * weights it has the properties of fuzz_samples.h and fuzz_weights.h. */
#include "fuzz.h"
#include "fuzz_samples.h"
#include "fuzz_weights.h"

#include <string.h>

#include "io/npy.h"

static void require_inside(const struct npy *npy, const uint8_t *data, size_t size)
{
    REQUIRE(npy->kind == 'i' || npy->kind == 'u' || npy->kind == 'f');
    REQUIRE(npy->item_size == 1 || npy->item_size == 2 || npy->item_size == 4 || npy->item_size == 8);
    REQUIRE(npy->dimensions >= 0 && npy->dimensions <= NPY_MAX_DIMENSIONS);
    size_t count = 1;
    for (int d = 0; d < npy->dimensions; d++)
        count = npy->shape[d] == 0 ? 0 : count;
    for (int d = 0; d < npy->dimensions && count > 0; d++)
        REQUIRE(!__builtin_mul_overflow(count, npy->shape[d], &count));
    REQUIRE(count == npy->count);
    REQUIRE(npy->data >= data && npy->data <= data + size);
    REQUIRE(npy->count <= (size_t)(data + size - npy->data) / (size_t)npy->item_size);
}

static void require_round_trip(const struct npy *npy)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    struct diag diag = {0};
    REQUIRE(npy_build(npy, &bytes, &size, &diag) == EXIT_DONE);
    struct npy again;
    REQUIRE(npy_parse(bytes, size, &again, &diag) == EXIT_DONE);
    REQUIRE(again.kind == npy->kind && again.item_size == npy->item_size && again.dimensions == npy->dimensions);
    REQUIRE(again.count == npy->count);
    for (int d = 0; d < npy->dimensions; d++)
        REQUIRE(again.shape[d] == npy->shape[d]);
    REQUIRE(npy->count == 0 || memcmp(again.data, npy->data, npy->count * (size_t)npy->item_size) == 0);
    for (size_t i = 0; i < npy->count; i++) {
        if (npy->kind == 'f') {
            const double a = npy_real(npy, i), b = npy_real(&again, i);
            REQUIRE(memcmp(&a, &b, sizeof a) == 0);
        } else {
            REQUIRE(npy_integer(npy, i) == npy_integer(&again, i));
        }
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy npy;
    struct diag diag = {0};
    int code = npy_parse(data, size, &npy, &diag);
    if (code == EXIT_DONE) {
        require_inside(&npy, data, size);
        require_round_trip(&npy);
    } else {
        REQUIRE_REFUSAL(code, diag);
    }

    struct samples *samples = NULL;
    struct diag samples_diag = {0};
    code = samples_parse(data, size, 1, &samples, &samples_diag);
    if (code == EXIT_DONE) {
        samples_require(samples);
        samples_require_round_trip(samples);
        samples_free(samples);
    } else {
        REQUIRE_REFUSAL(code, samples_diag);
    }

    struct weights *weights = NULL;
    struct diag weights_diag = {0};
    code = weights_parse(data, size, 1, MOST_WEIGHTS, &weights, &weights_diag);
    if (code == EXIT_DONE) {
        weights_require(weights);
        weights_free(weights);
    } else {
        REQUIRE_REFUSAL(code, weights_diag);
    }
    return 0;
}
