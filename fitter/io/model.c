/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"

#define MOST_CANDIDATES 10000 /* names that a mistyped one is compared with */

void model_free(struct model *model)
{
    free(model->tensors);
    free(model->names);
    *model = (struct model){0};
}

const char *model_name(const struct model *model, struct model_name name)
{
    return (const char *)model->names + name.at;
}

int model_add(struct model *model, const struct model_tensor *tensor, struct diag *diag)
{
    if (model->count == MODEL_MOST_TENSORS)
        return diag_set(diag, EXIT_USAGE, "more than %zu tensors, which are as many as can be read",
                        MODEL_MOST_TENSORS);
    if (model->count == model->capacity) {
        const size_t capacity = model->capacity ? 2 * model->capacity : 64;
        struct model_tensor *const tensors = realloc(model->tensors, capacity * sizeof *tensors);
        if (!tensors)
            return diag_set(diag, EXIT_IO, "out of memory for %zu tensors", capacity);
        model->tensors = tensors;
        model->capacity = capacity;
    }
    model->tensors[model->count++] = *tensor;
    return EXIT_DONE;
}

int model_take_name(struct model *model, struct window *window, uint64_t at, uint64_t size, struct model_name *name,
                    struct diag *diag)
{
    if (size > MODEL_MOST_NAME_BYTES)
        return diag_set(diag, EXIT_USAGE, "the name at byte %" PRIu64 " has %" PRIu64 " bytes; names of %d can be read",
                        at, size, MODEL_MOST_NAME_BYTES);
    const size_t needed = model->names_size + (size_t)size + 1;
    if (needed > MODEL_MOST_NAMES_BYTES)
        return diag_set(diag, EXIT_USAGE, "names of more than %zu bytes, which are as many as can be read",
                        MODEL_MOST_NAMES_BYTES);
    if (needed > model->names_capacity) {
        const size_t capacity = 2 * needed;
        unsigned char *const names = realloc(model->names, capacity);
        if (!names)
            return diag_set(diag, EXIT_IO, "out of memory for names of %zu bytes", capacity);
        model->names = names;
        model->names_capacity = capacity;
    }
    const unsigned char *const seen = window_see(window, at, (size_t)size);
    if (!seen) /* the readers have checked that it is there */
        return window->failed ? diag->code : diag_set(diag, EXIT_USAGE, "a name reaches beyond the end of the file");
    *name = (struct model_name){model->names_size, (size_t)size};
    memcpy(model->names + name->at, seen, (size_t)size);
    model->names[needed - 1] = '\0';
    model->names_size = needed;
    return EXIT_DONE;
}

static bool is_named(const struct model *model, size_t index, const char *name)
{
    const struct model_name own = model->tensors[index].name;
    return own.size == strlen(name) && memcmp(model_name(model, own), name, own.size) == 0;
}

bool model_tensor_is_same(const struct model_tensor *a, const struct model_tensor *b)
{
    return strcmp(a->codes.name, b->codes.name) == 0 && a->state == b->state && a->scales == b->scales &&
           memcmp(&a->scale, &b->scale, sizeof a->scale) == 0 && a->zero_point == b->zero_point;
}

static int refuse_missing(const struct model *model, const char *name, struct diag *diag)
{
    const size_t count = model->count < MOST_CANDIDATES ? model->count : MOST_CANDIDATES;
    const char **const names = calloc(count + 1, sizeof *names);
    char lists[80], meant[SUGGESTION_SIZE];
    for (size_t i = 0; names && i < count; i++)
        names[i] = model_name(model, model->tensors[i].name);
    snprintf(lists, sizeof lists, "; `pwlc tensors` lists the %zu that there are", model->count);
    diag_set(diag, EXIT_USAGE, "no tensor \"%.200s\"%s", name, names ? suggestion(name, names, lists, meant) : lists);
    free(names);
    return diag->code;
}

int model_find(const struct model *model, const char *name, size_t *index, struct diag *diag)
{
    size_t found = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (!is_named(model, i, name))
            continue;
        if (found++ == 0)
            *index = i;
        else if (!model_tensor_is_same(&model->tensors[*index], &model->tensors[i]))
            return diag_set(
                diag, EXIT_USAGE,
                "tensors %zu and %zu both have the name \"%.200s\"; give the index of the one that is meant", *index, i,
                name);
    }
    if (found > 0)
        return EXIT_DONE;
    int64_t number;
    if (name[0] == '\0' || name[strspn(name, "0123456789")] != '\0')
        return refuse_missing(model, name, diag);
    if (number_integer(name, strlen(name), &number) != NUMBER_OK || (uint64_t)number >= model->count)
        return diag_set(diag, EXIT_USAGE, "no tensor %.40s; there are %zu, counted from 0", name, model->count);
    *index = (size_t)number;
    return EXIT_DONE;
}
