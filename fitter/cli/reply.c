/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/note.h"
#include "function/tensor.h"

/* As text that is the caller's to free; takes the document. */
static char *dump(json_t *document, struct diag *diag)
{
    char *text = document ? json_dumps(document, 0) : NULL;
    if (!text)
        diag_set(diag, EXIT_IO, "out of memory");
    json_decref(document);
    return text;
}

int reply_write(bool is_reply, const char *output, const char *text, struct diag *diag)
{
    if (!is_reply)
        return file_write(output, text, strlen(text), diag);
    json_t *notes = json_array();
    const char *one;
    for (int k = 0; (one = notes_kept(k)); k++)
        json_array_append_new(notes, json_string(one));
    char *reply = dump(json_pack("{s:s, s:o}", "result", text, "notes", notes), diag);
    if (reply)
        file_write(output, reply, strlen(reply), diag);
    free(reply);
    return diag->code;
}

int reply_print_type(const char *text, struct diag *diag)
{
    struct tensor type;
    if (tensor_parse(text, "--type", &type, diag))
        return diag->code;
    char *reply = dump(json_pack("{s:i, s:b, s:s, s:I, s:I, s:I}", "bits", type.bits, "signed", type.is_signed, "scale",
                                 type.scale.text, "zero_point", (json_int_t)type.zero_point, "qmin",
                                 (json_int_t)type.qmin, "qmax", (json_int_t)type.qmax),
                       diag);
    if (!reply)
        return diag->code;
    printf("%s\n", reply);
    free(reply);
    return EXIT_DONE;
}
