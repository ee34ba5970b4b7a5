/* SPDX-License-Identifier: Apache-2.0 */
/* write_model FILE: a GGUF file for examples/ffn.c, d 256 and ff 704. */
#include <stdio.h>

#include "gguf_model.h"

int main(int argc, char **argv)
{
    const model_file model = make_model(256, 704);
    FILE *const file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    const int done = file && fwrite(model.bytes, 1, model.size, file) == model.size && fclose(file) == 0;
    free(model.bytes);
    return !done;
}
