/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every flag of fit, and --grid of sweep: what is accepted resolves to types and checks, or is refused; canonical flags
 * mean the same spec.
 *
 * An input: lines "FLAG VALUE", or "FLAG" for a switch, up to an empty line, and then the file that --samples,
 * --calibrate and --weights name. */
#include "fuzz.h"
#include "fuzz_spec.h"

#include <math.h>

#include "function/model_type.h"
#include "function/samples.h"
#include "measure/grid.h"

#define MOST_SAMPLES 4096 /* bytes: what is derived from more is only slow */

struct file {
    const uint8_t *bytes;
    size_t size;
};

/* Through what the flag does once its file is read. */
static int set_file(struct spec *spec, const char *flag, const struct file *file, struct diag *diag)
{
    const int npy = file->size > 0 && file->bytes[0] == 0x93;
    if (strcmp(flag, "--calibrate") == 0) {
        free(spec->calibration.values);
        return calibration_parse(file->bytes, file->size, &spec->calibration.values, &spec->calibration.count, diag);
    }
    if (strcmp(flag, "--weights") == 0) {
        weights_free(spec->weights);
        return weights_parse(file->bytes, file->size, npy, (uint64_t)1 << spec->in.bits, &spec->weights, diag);
    }
    if (spec->function.info || spec->function.samples)
        return diag_set(diag, EXIT_USAGE, "the function is there already");
    return samples_parse(file->bytes, file->size, npy, &spec->function.samples, diag);
}

static int check_grid(const char *text, struct diag *diag)
{
    struct grid grid;
    char shown[200];
    const int code = grid_parse(text, &grid, diag);
    if (code != EXIT_DONE)
        return code;
    grid_format(&grid, shown, sizeof shown);
    const double last = grid.low + grid.step * (double)(grid.count - 1);
    REQUIRE(grid.count >= 1 && grid.count <= GRID_MAX_POINTS + 1 && one_line(shown));
    REQUIRE(grid.closed ? fabs(last - grid.high) <= grid.step : last < grid.high + grid.step);
    return EXIT_DONE;
}

static int set_line(struct spec *spec, char *line, const struct file *file, struct diag *diag)
{
    char *const blank = strchr(line, ' ');
    if (blank)
        *blank = 0;
    char *const value = blank ? blank + 1 : NULL;
    /* as the option table of the command line has it */
    const int is_switch =
        strcmp(line, "--pow2-scales") == 0 || strcmp(line, "--monotone") == 0 || strcmp(line, "--no-saturate") == 0;
    if (is_switch != !value)
        return diag_set(diag, EXIT_USAGE, "a switch takes no value, and all others one");
    if (strcmp(line, "--grid") == 0)
        return check_grid(value, diag);
    if (strcmp(line, "--samples") == 0 || strcmp(line, "--calibrate") == 0 || strcmp(line, "--weights") == 0)
        return set_file(spec, line, file, diag);
    if ((strcmp(line, "--in") == 0 || strcmp(line, "--out") == 0) && model_type_is_meant(value))
        return diag_set(diag, EXIT_USAGE, "a model is another target's"); /* which may read files */
    return spec_set(spec, line, value, diag);
}

static int set_lines(struct spec *spec, char *lines, const struct file *file, struct diag *diag)
{
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const int code = set_line(spec, line, file, diag);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static void require_types(const struct spec *spec)
{
    const struct tensor *const types[] = {&spec->in, &spec->out};
    REQUIRE(!spec->in_lacks_scale && !spec->out_lacks_scale);
    for (int i = 0; i < 2; i++)
        REQUIRE(types[i]->bits >= 2 && types[i]->bits <= 32 && types[i]->scale.value > 0 &&
                isfinite((double)types[i]->scale.value) && types[i]->qmin < types[i]->qmax);
}

/* --expr has blanks and quotes, which a shell would read. */
static int is_words(const struct spec *spec)
{
    return spec->function.info && !spec->function.expression && !spec->weights;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spec spec;
    struct diag diag = {0};
    size_t length = 0;
    while (length < size && !(data[length] == '\n' && length + 1 < size && data[length + 1] == '\n'))
        length++;
    const size_t skip = length < size ? length + 2 : size;
    const struct file file = {data + skip, size - skip};
    if (file.size > MOST_SAMPLES)
        return 0;
    char *const lines = malloc(length + 1);
    REQUIRE(lines != NULL);
    memcpy(lines, data, length);
    lines[length] = 0;

    spec_init(&spec);
    int code = set_lines(&spec, lines, &file, &diag);
    if (code == EXIT_DONE)
        code = spec_resolve(&spec, &diag);
    if (code == EXIT_DONE) {
        require_types(&spec);
        code = spec_check(&spec, &diag);
    }
    if (code == EXIT_DONE && is_words(&spec))
        spec_require_round_trip(&spec);
    if (code == EXIT_REQUIREMENT) /* --no-saturate */
        REQUIRE(one_line(diag.text));
    else if (code != EXIT_DONE)
        REQUIRE_REFUSAL(code, diag);
    spec_free(&spec);
    free(lines);
    return 0;
}
