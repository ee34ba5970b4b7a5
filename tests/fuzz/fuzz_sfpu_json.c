/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the SFPU as JSON: what is accepted is written back to bytes that read back the same, has a result at every
 * code, is measured where its demand can be met, and goes through both emitters. */
#include "fuzz.h"

#include <string.h>

#include "sfpu/emit.h"

static void require_emitted(const struct sfpu_document *of)
{
    struct diag diag = {0};
    char *text;
    REQUIRE(sfpu_emit_llk(of, &text, &diag) == EXIT_DONE);
    free(text);
    REQUIRE(sfpu_emit_c(of, &text, &diag) == EXIT_DONE);
    free(text);
}

static void require_measured(const struct sfpu_document *of)
{
    struct sfpu_document anew = *of;
    struct diag diag = {0};
    const int code = sfpu_document_certify(&anew, &diag);
    if (code != EXIT_DONE)
        REQUIRE_REFUSAL(code, diag);
    else
        REQUIRE(anew.errors.codes > 0 && anew.errors.abs.largest >= anew.errors.abs.mean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sfpu_document first, second;
    struct diag diag = {0};
    char *text = NULL, *other = NULL;
    const int code = sfpu_document_parse((const char *)data, size, &first, &diag);
    if (code != EXIT_DONE) {
        REQUIRE_REFUSAL(code, diag);
        return 0;
    }
    REQUIRE(sfpu_document_write(&first, &text, &diag) == EXIT_DONE);
    REQUIRE(sfpu_document_parse(text, strlen(text), &second, &diag) == EXIT_DONE);
    REQUIRE(sfpu_document_write(&second, &other, &diag) == EXIT_DONE);
    REQUIRE(strcmp(text, other) == 0);
    require_emitted(&first);
    if (takes_long(data, size))
        require_measured(&first);
    free(other);
    free(text);
    return 0;
}
