/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds for the tensors of a model, of whichever format: names lie in the model's, each tensor has a type that
 * fits into its text or one line instead of it, and an index finds it. */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include <math.h>
#include <string.h>

#include "function/model_type.h"
#include "fuzz.h"

#define MOST_LOOKED_UP 64 /* more are only slow */

static inline void require_type(const struct model_tensor *tensor)
{
    struct tensor type;
    struct text instead = {0};
    if (model_type_of(tensor, &type, &instead)) {
        char text[80];
        struct tensor again;
        struct diag diag = {0};
        tensor_format(&type, text, sizeof text);
        REQUIRE(tensor_is_written(text) && !model_type_is_meant(text));
        REQUIRE(tensor_parse(text, "--in", &again, &diag) == EXIT_DONE);
        REQUIRE(again.bits == type.bits && again.is_signed == type.is_signed && again.zero_point == type.zero_point);
        REQUIRE(again.qmin == type.qmin && again.qmax == type.qmax);
        REQUIRE((double)again.scale.value == tensor->scale); /* to the last bit */
        REQUIRE(tensor->state == MODEL_ONE_SCALE && tensor->codes.bits > 0);
    } else {
        REQUIRE(instead.failed || one_line(instead.bytes));
    }
    text_free(&instead);
}

static inline void require_found(const struct model *model, size_t index)
{
    const char *const name = model_name(model, model->tensors[index].name);
    char digits[24];
    size_t found = model->count;
    struct diag diag = {0};
    if (strlen(name) == model->tensors[index].name.size && model_find(model, name, &found, &diag) == EXIT_DONE)
        REQUIRE(found <= index && model_tensor_is_same(&model->tensors[found], &model->tensors[index]));
    snprintf(digits, sizeof digits, "%zu", index);
    const int code = model_find(model, digits, &found, &diag);
    if (code == EXIT_DONE)
        REQUIRE(found == index || strcmp(model_name(model, model->tensors[found].name), digits) == 0);
    else
        REQUIRE_REFUSAL(code, diag);
}

/* Reads the bytes by a reader, and looks at all that it finds. */
static inline void require_model(const uint8_t *data, size_t size,
                                 int parse(struct window *window, struct model *model, struct diag *diag))
{
    struct window window = window_of_bytes(data, size);
    struct model model = {0};
    struct diag diag = {0};
    const int code = parse(&window, &model, &diag);
    if (code != EXIT_DONE)
        REQUIRE_REFUSAL(code, diag);
    for (size_t i = 0; code == EXIT_DONE && i < model.count; i++) {
        const struct model_name name = model.tensors[i].name;
        REQUIRE(name.at <= model.names_size && name.size < model.names_size - name.at);
        REQUIRE(model.names[name.at + name.size] == '\0');
        require_type(&model.tensors[i]);
        if (i < MOST_LOOKED_UP)
            require_found(&model, i);
    }
    model_free(&model);
}

#endif
