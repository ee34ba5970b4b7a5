/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "answers.h"

#include <string.h>

static size_t name_count(const struct answers *answers)
{
    size_t count = 0;
    while (answers->names[count])
        count++;
    return count;
}

static bool compare(struct answers *answers, const int64_t *values, size_t count)
{
    if (answers->run == answers->runs->count) {
        answers->has_surplus = true;
        return false;
    }
    const struct run *const run = &answers->runs->list[answers->run];
    const int64_t code = run->first + answers->at, expected = packed_eval(answers->packed, code);
    for (size_t k = 0; k < count; k++) {
        if (values[k] == expected)
            continue;
        if (answers->mismatches++ == 0) {
            answers->code = code;
            answers->expected = expected;
            answers->found = values[k];
            answers->name = answers->names[k];
        }
        break;
    }
    answers->compared++;
    if (++answers->at == run->count) {
        answers->run++;
        answers->at = 0;
    }
    return true;
}

bool answers_take(void *context, const unsigned char *bytes, size_t size)
{
    struct answers *const answers = context;
    const size_t count = name_count(answers), wanted = count * sizeof(int64_t);
    int64_t values[ANSWERS_MOST];
    while (size > 0) {
        const size_t missing = wanted - answers->pending_size, got = size < missing ? size : missing;
        memcpy(answers->pending + answers->pending_size, bytes, got);
        answers->pending_size += got;
        bytes += got;
        size -= got;
        if (answers->pending_size < wanted)
            return true;
        answers->pending_size = 0;
        memcpy(values, answers->pending, wanted);
        if (!compare(answers, values, count))
            return false;
    }
    return true;
}
