/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to bytes. */
#include "../ways.h"
#include "lookup_avx512vbmi.h"
#include "store_avx512.h"

/* At most 64 bytes. */
static inline void map_some(const table_256 *values, const uint8_t *from, uint8_t *to, size_t count)
{
    const __mmask64 lanes = count < 64 ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
    _mm512_mask_storeu_epi8(to, lanes, look_up(values, _mm512_maskz_loadu_epi8(lanes, from)));
}

void pwl_bytes_avx512vbmi(const pwl_plan *plan, const void *x, void *y, size_t count)
{
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    const size_t head = elements_before_line(y, 1);
    const int streamed = is_streamed(x, y, count);
    table_256 values;
    int k;
    for (k = 0; k < 4; k++)
        values.part[k] = _mm512_load_si512((const uint8_t *)plan->memory + 64 * k);
    map_some(&values, from, to, count < head ? count : head);
    if (count <= head)
        return;
    from += head;
    to += head;
    for (count -= head; count >= 128; count -= 128, from += 128, to += 128) {
        const __m512i a = look_up(&values, _mm512_loadu_si512(from));
        const __m512i b = look_up(&values, _mm512_loadu_si512(from + 64));
        store_line(to, a, streamed);
        store_line(to + 64, b, streamed);
    }
    end_stores(streamed);
    map_some(&values, from, to, count < 64 ? count : 64);
    if (count > 64)
        map_some(&values, from + 64, to + 64, count - 64);
}
