/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_file.h"

#include "onnx.h"
#include "tflite.h"

int model_parse(struct window *window, struct model *model, struct diag *diag)
{
    *model = (struct model){0};
    const int code = tflite_recognise(window) ? tflite_parse(window, model, diag) : onnx_parse(window, model, diag);
    if (code != EXIT_DONE)
        model_free(model);
    return code;
}

int model_read(const char *path, struct model *model, struct diag *diag)
{
    struct window window;
    int code = window_open(path, &window, diag);
    if (code != EXIT_DONE)
        return code;
    code = model_parse(&window, model, diag);
    if (code != EXIT_DONE && !window.failed)
        diag_prefix(diag, path);
    window_close(&window);
    return code;
}
