/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of others as table JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "command.h"
#include "measure/claim.h"
#include "profile/profile.h"
#include "spec/spec.h"
#include "table/table.h"

static const struct option_info options[] = {
    {"--profile", "P[:NOTATION]", "what the file is, as tosa16 or quant-gru:bytes; `pwlc list profiles` has all"},
    {"--function", "NAME", "what the table approximates, from `pwlc list`; needed where the file does not say"},
    {"--param", "NAME=VALUE...", "parameter of the function; may be repeated"},
    {"--expr", "EXPRESSION", "instead of --function, as in fit"},
    {"--samples", "FILE", "instead of --function, as in fit"},
    {"--in", "TYPE", "input type, as s16:2^-12:0; needed where the file does not say"},
    {"--out", "TYPE", "output type"},
    {"--outside", SPEC_OUTSIDES, "as in fit"},
    {"--shift", "N", "aie: the bits that the kernel drops, where the file does not say"},
    {"-o", "FILE", "write the table there instead of standard output"},
    {NULL, NULL, NULL},
};

#define MOST_FLAGS 16

struct request {
    const char *path, *output;
    const struct profile *profile;
    const struct notation *notation;
    int shift; /* -1: not given */
    struct {
        const char *flag, *value;
    } given[MOST_FLAGS]; /* of the spec */
    int given_count;
};

static int take_flag(void *to, const char *flag, const char *value, struct diag *diag)
{
    struct request *request = to;
    if (strcmp(flag, "--profile") == 0)
        return profile_find(flag, value, &request->profile, &request->notation, diag);
    if (strcmp(flag, "-o") == 0) {
        request->output = value;
        return EXIT_DONE;
    }
    if (strcmp(flag, "--shift") == 0) {
        int64_t shift;
        if (number_integer(value, strlen(value), &shift) != NUMBER_OK || shift < 0 || shift > 31)
            return diag_set(diag, EXIT_USAGE, "--shift %s: must be an integer from 0 to 31", value);
        request->shift = (int)shift;
        return EXIT_DONE;
    }
    if (request->given_count == MOST_FLAGS)
        return diag_set(diag, EXIT_USAGE, "%s %s: is one flag too many", flag, value);
    request->given[request->given_count].flag = flag;
    request->given[request->given_count++].value = value;
    return EXIT_DONE;
}

static int parse(int argc, char **argv, struct request *request, struct diag *diag)
{
    if (argument_take(&command_import, argc, argv, "file", &request->path, take_flag, request, diag))
        return diag->code;
    if (!request->path)
        return diag_set(diag, EXIT_USAGE, "a file is needed: pwlc import FILE --profile P");
    if (!request->profile)
        return diag_set(diag, EXIT_USAGE, "--profile: missing; `pwlc list profiles` shows what can be read");
    return file_expect(request->output, diag);
}

/* What the command line says, and the file where that is silent. Parameters last, which need their function. */
static int make_spec(const struct request *request, const struct origin *origin, struct spec *spec, struct diag *diag)
{
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < request->given_count; k++) {
            const char *flag = request->given[k].flag;
            if ((strcmp(flag, "--param") == 0) == (round == 1) &&
                spec_set(spec, strcmp(flag, "--function") ? flag : "FUNCTION", request->given[k].value, diag))
                return diag->code;
        }
        if (round == 0 && !spec->function.info && !spec->function.samples && origin->function[0] &&
            spec_set(spec, "FUNCTION", origin->function, diag))
            return diag->code;
    }
    if ((!spec->has_in && origin->in[0] && spec_set(spec, "--in", origin->in, diag)) ||
        (!spec->has_out && origin->out[0] && spec_set(spec, "--out", origin->out, diag)))
        return diag->code;
    if (!spec->function.info && !spec->function.samples)
        return diag_set(diag, EXIT_USAGE,
                        "--function: missing, and the file does not say; give a name from `pwlc list`, --expr or "
                        "--samples");
    return spec_check_given(spec, diag) || spec_check_scales(spec, diag) ? diag->code : EXIT_DONE;
}

static int make_table(const struct request *request, const struct spec *spec, struct image *image, struct table *table,
                      struct diag *diag)
{
    struct packed_table packed;
    pwl_proof proof;
    if (request->shift >= 0)
        image->shift = request->shift;
    if (table_set_function(table, &spec->function, diag))
        return diag->code;
    table->spec = strdup("");
    if (!table->spec)
        return diag_set(diag, EXIT_IO, "out of memory for a table");
    strcpy(table->method, "imported");
    table->in = spec->in;
    table->out = spec->out;
    table->outside = spec->outside;
    if (profile_unpack(request->profile, image, table, diag) || table_prove(table, EXIT_USAGE, &packed, &proof, diag))
        return diag->code;
    packed_table_free(&packed);
    return certificate_make(table, &spec->function, NULL, false, diag);
}

/* The numbers of the file, or of the files in a folder, and the spec. */
static int read_numbers(const struct request *request, struct image *image, struct spec *spec, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    struct origin origin = {0};
    if (request->notation->folder)
        return make_spec(request, &origin, spec, diag)
                   ? diag->code
                   : profile_read_folder(request->profile, request->notation, request->path, &spec->in, image, diag);
    if (file_read(request->path, TABLE_MAX_BYTES, &bytes, &size, diag))
        return diag->code;
    if (profile_read(request->profile, request->notation, (const char *)bytes, size, image, &origin, diag))
        diag_prefix(diag, request->path);
    else
        make_spec(request, &origin, spec, diag);
    free(bytes);
    return diag->code;
}

static int import_file(const struct request *request, struct diag *diag)
{
    char *text = NULL;
    struct image image = {0};
    struct table table = {0};
    struct spec spec;
    spec_init(&spec);
    if (!read_numbers(request, &image, &spec, diag) && make_table(request, &spec, &image, &table, diag))
        diag_prefix(diag, request->path);
    if (!diag->code && !table_to_json(&table, &text, diag))
        file_write(request->output, text, strlen(text), diag);
    free(text);
    table_free(&table);
    image_free(&image);
    spec_free(&spec);
    return diag->code;
}

static int run(int argc, char **argv, struct diag *diag)
{
    struct request request = {.shift = -1};
    diag->code = EXIT_DONE;
    if (!parse(argc, argv, &request, diag))
        import_file(&request, diag);
    return diag->code;
}

const struct command command_import = {
    .name = "import",
    .synopsis = "pwlc import FILE --profile P[:NOTATION] [--function NAME --in TYPE --out TYPE] [flags]",
    .summary = "Read the table of a chip or library, and measure it.",
    .details =
        "The table gives, at every code, what its consumer computes. Sweep, diff, report, verify and emit take it "
        "like any other; its certificate says nothing of other tables. Types and function are those of the file, "
        "where it has them.",
    .example = "pwlc fit tanh --profile tflm8 -o tanh8.json\n"
               "pwlc emit tanh8.json --profile tflm8 -o tanh8.h\n"
               "pwlc import tanh8.h --profile tflm8 --function tanh --in s8:2^-4 --out s8:2^-7 -o again.json\n"
               "pwlc sweep again.json",
    .options = options,
    .run = run,
};
