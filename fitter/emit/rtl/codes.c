/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "table/runs.h"

#define FIRST_DRAWN_CODES (1 << 10)

static int64_t as_code(const struct codes *codes, uint64_t pattern)
{
    const uint64_t mask = UINT64_MAX >> (64 - codes->bits), low = pattern & mask;
    return codes->is_signed && low >> (codes->bits - 1) ? (int64_t)(low | ~mask) : (int64_t)low;
}

/* The finaliser of a 32-bit hash: multiplications by odd numbers and shifts, each of which can be undone. */
static uint32_t mixed(uint32_t v)
{
    v = (v ^ v >> 16) * UINT32_C(0x7feb352d);
    v = (v ^ v >> 15) * UINT32_C(0x846ca68b);
    return v ^ v >> 16;
}

int64_t code_at(const struct codes *codes, int64_t place)
{
    if (codes->has_all)
        return as_code(codes, (uint64_t)place);
    return place < codes->listed_count ? codes->listed[place] : as_code(codes, mixed((uint32_t)place));
}

static int list_edges(const struct module *m, struct codes *codes, struct diag *diag)
{
    struct runs runs;
    int code = runs_of_edges(m->table, &m->packed, codes->bits, &runs, diag);
    if (code == EXIT_DONE) {
        codes->listed = malloc((size_t)runs.codes * sizeof *codes->listed);
        if (!codes->listed)
            code = diag_set(diag, EXIT_IO, "out of memory for %" PRId64 " codes of a bench", runs.codes);
    }
    for (size_t i = 0; code == EXIT_DONE && i < runs.count; i++)
        for (int64_t k = 0; k < runs.list[i].count; k++)
            codes->listed[codes->listed_count++] = runs.list[i].first + k;
    runs_free(&runs);
    return code;
}

int codes_make(const struct module *m, struct codes *codes, struct diag *diag)
{
    const struct tensor *in = &m->table->in;
    *codes = (struct codes){.bits = in->bits, .is_signed = in->is_signed, .has_all = in->bits <= RUNS_ALWAYS_ALL_BITS};
    if (!codes->has_all && list_edges(m, codes, diag))
        return diag->code;
    codes->count = codes->has_all ? (int64_t)1 << in->bits : codes->listed_count + RUNS_DRAWN_CODES;
    return EXIT_DONE;
}

/* A simulator that is slow may stop at the listed codes and a few of the drawn ones. */
int64_t codes_first(const struct codes *codes)
{
    return codes->has_all ? codes->count : codes->listed_count + FIRST_DRAWN_CODES;
}

/* Of outputs in the order of their places: h = (h ^ y) * prime, modulo 2^64. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

uint64_t codes_hash(const struct module *m, const struct codes *codes, int64_t count)
{
    uint64_t hash = HASH_START;
    for (int64_t place = 0; place < count; place++)
        hash = (hash ^ (uint64_t)packed_eval(&m->packed, code_at(codes, place))) * HASH_PRIME;
    return hash;
}

struct code_bits code_bits(const struct codes *codes)
{
    const int gap = codes->bits > 9 ? 7 : codes->bits > 3 ? codes->bits - 3 : 0;
    return (struct code_bits){gap, codes->bits > 3 ? gap + 1 : 0};
}
