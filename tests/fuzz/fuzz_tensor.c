/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Type strings: what is accepted is in range, and its canonical text means the same tensor. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "function/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';

    struct tensor tensor;
    struct diag diag = {0};
    const int code = tensor_parse(text, "--in", &tensor, &diag);
    free(text);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }

    REQUIRE(tensor.bits >= 2 && tensor.bits <= 32);
    REQUIRE(tensor.qmin == code_min(tensor.bits, tensor.is_signed));
    REQUIRE(tensor.qmax == code_max(tensor.bits, tensor.is_signed));
    REQUIRE(isfinite(tensor.scale.value) && tensor.scale.value > 0);
    if (tensor.scale.power_of_two) {
        REQUIRE(tensor.scale.shift_bits >= -64 && tensor.scale.shift_bits <= 64);
        REQUIRE(tensor.scale.value == ldexpl(1.0L, -tensor.scale.shift_bits));
    }
    REQUIRE(tensor_real(&tensor, tensor.zero_point) == 0);
    REQUIRE(isfinite(tensor_real(&tensor, tensor.qmin)) && isfinite(tensor_real(&tensor, tensor.qmax)));

    char canonical[128], again[128];
    tensor_format(&tensor, canonical, sizeof canonical);
    struct tensor second;
    REQUIRE(tensor_parse(canonical, "--in", &second, &diag) == EXIT_DONE);
    REQUIRE(second.bits == tensor.bits && second.is_signed == tensor.is_signed);
    REQUIRE(second.zero_point == tensor.zero_point && second.qmin == tensor.qmin && second.qmax == tensor.qmax);
    REQUIRE(second.scale.value == tensor.scale.value && second.scale.power_of_two == tensor.scale.power_of_two);
    REQUIRE(!tensor.scale.power_of_two || second.scale.shift_bits == tensor.scale.shift_bits);
    tensor_format(&second, again, sizeof again);
    REQUIRE(strcmp(canonical, again) == 0);
    return 0;
}
