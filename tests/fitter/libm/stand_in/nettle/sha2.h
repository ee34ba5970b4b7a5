/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of nettle, which nothing here calls. */
#include <stddef.h>
#include <stdint.h>

#define SHA256_DIGEST_SIZE 32

struct sha256_ctx {
    int unused;
};

void sha256_init(struct sha256_ctx *context);
void sha256_update(struct sha256_ctx *context, size_t length, const uint8_t *bytes);
void sha256_digest(struct sha256_ctx *context, size_t length, uint8_t *digest);
