/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/suggest.h"
#include "target.h"
#include "tools/cache.h"

const struct cost_name cost_names[COST_FIGURES] = {
    [COST_LUT] = {"lut", "LUT"},       [COST_FF] = {"ff", "FF"},
    [COST_DSP] = {"dsp", "DSP"},       [COST_RAM] = {"ram", "RAM"},
    [COST_CELLS] = {"cells", "cells"}, [COST_FMAX] = {"fmax_mhz", "fmax, MHz"},
    [COST_BYTES] = {"bytes", "bytes"}, [COST_INSTRUCTIONS] = {"instructions", "instructions"},
};

/* -- Targets ----------------------------------------------------------------------------------------------------------
 */

#define FABRIC (1u << COST_LUT | 1u << COST_FF | 1u << COST_DSP | 1u << COST_RAM | 1u << COST_CELLS)
#define CLOCKED (1u << COST_FMAX)
#define PROCESSOR(as, of)                                                                                              \
    {                                                                                                                  \
        .name = as, .kind = &cost_of_processor, .figures = 1u << COST_BYTES | 1u << COST_INSTRUCTIONS,                 \
        .processor = &(of)                                                                                             \
    }

/* An iCE40 LUT has four inputs, a DSP is an SB_MAC16, a RAM holds 4 kbit. */
static const struct cell_kind ice40_cells[] = {{"SB_LUT4", COST_LUT, 1},
                                               {"SB_DFF", COST_FF, 1},
                                               {"SB_MAC16", COST_DSP, 1},
                                               {"SB_RAM40_4K", COST_RAM, 1},
                                               {.begin = NULL}};
/* An XC7 LUT has up to six inputs, a DSP is a DSP48E1, a RAM holds 18 kbit. */
static const struct cell_kind xc7_cells[] = {{"LUT", COST_LUT, 1},      {"FD", COST_FF, 1},
                                             {"DSP48E1", COST_DSP, 1},  {"RAMB18E1", COST_RAM, 1},
                                             {"RAMB36E1", COST_RAM, 2}, {.begin = NULL}};
/* An ECP5 LUT has four inputs, and a carry cell is two; a DSP is a MULT18X18D, a RAM holds 18 kbit. */
static const struct cell_kind ecp5_cells[] = {{"LUT4", COST_LUT, 1},      {"CCU2C", COST_LUT, 2},
                                              {"TRELLIS_FF", COST_FF, 1}, {"MULT18X18D", COST_DSP, 1},
                                              {"DP16KD", COST_RAM, 1},    {.begin = NULL}};
/* Inverters, NAND and NOR of two inputs, and registers. */
static const struct cell_kind generic_cells[] = {{"$_DFF", COST_FF, 1}, {"$_SDFF", COST_FF, 1}, {.begin = NULL}};

static const char *const hx8k[] = {"nextpnr-ice40", "--hx8k", "--package", "ct256", "--pcf-allow-unconstrained", NULL};
static const char *const up5k[] = {"nextpnr-ice40", "--up5k", "--package", "sg48", "--pcf-allow-unconstrained", NULL};
static const char *const lfe5u[] = {
    "nextpnr-ecp5", "--25k", "--package", "CABGA381", "--lpf-allow-unconstrained", NULL};

static const struct cost_target cost_targets[] = {
    {"ice40", &cost_of_hardware, FABRIC | CLOCKED, NULL, "synth_ice40 -top %s", ice40_cells, hx8k},
    {"ice40-dsp", &cost_of_hardware, FABRIC | CLOCKED, NULL, "synth_ice40 -dsp -top %s", ice40_cells, up5k},
    {"xc7", &cost_of_hardware, FABRIC, NULL, "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -top %s", xc7_cells,
     NULL},
    {"xc7-nodsp", &cost_of_hardware, FABRIC, NULL,
     "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -nodsp -top %s", xc7_cells, NULL},
    {"ecp5", &cost_of_hardware, FABRIC | CLOCKED, NULL, "synth_ecp5 -top %s", ecp5_cells, lfe5u},
    {"ecp5-nodsp", &cost_of_hardware, FABRIC | CLOCKED, NULL, "synth_ecp5 -nodsp -top %s", ecp5_cells, lfe5u},
    {"generic", &cost_of_hardware, 1u << COST_FF | 1u << COST_CELLS, NULL,
     "synth -flatten -top %s\nabc -g cmos2\nopt_clean", generic_cells, NULL},
    PROCESSOR("cortex-m0", cortex_m0),
    PROCESSOR("cortex-m4", cortex_m4),
    PROCESSOR("cortex-m33", cortex_m33),
    PROCESSOR("cortex-m55", cortex_m55),
    PROCESSOR("rv32imc", rv32imc),
    {.name = NULL},
};

const struct cost_target *cost_target_find(const char *name)
{
    const struct cost_target *target = cost_targets;
    while (strcmp(target->name, name) != 0)
        target++;
    return target;
}

const char *cost_target_name(const struct cost_target *target)
{
    return target->name;
}

bool cost_target_is_hardware(const struct cost_target *target)
{
    return target->kind == &cost_of_hardware;
}

bool cost_target_has(const struct cost_target *target, enum cost_figure figure)
{
    return target->figures & 1u << figure;
}

/* The names of figures that a target has, "lut|ff". */
static void list_figures(const struct cost_target *target, char *text, size_t size)
{
    size_t length = 0;
    for (int k = 0; k < COST_FIGURES && length < size; k++)
        if (target->figures & 1u << k)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? "|" : "", cost_names[k].key);
}

int cost_figure_parse(const char *flag, const char *text, const struct cost_target **target, enum cost_figure *figure,
                      struct diag *diag)
{
    char name[16], figures[80];
    const size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)(length < 15 ? length : 15), text);
    if (choice_check(flag, COST_TARGETS, name, diag))
        return diag->code;
    *target = cost_target_find(name);
    list_figures(*target, figures, sizeof figures);
    if (!text[length])
        return diag_set(diag, EXIT_USAGE, "%s %s: must name a figure too, %s:%.*s", flag, text, name,
                        (int)strcspn(figures, "|"), figures);
    const char *const asked = text + length + 1;
    /* LUTs are known by their inputs, and MHz need not be said */
    const char *const key = strcmp(asked, "lut4") == 0 || strcmp(asked, "lut6") == 0 ? "lut"
                            : strcmp(asked, "fmax") == 0                             ? "fmax_mhz"
                                                                                     : asked;
    if (choice_check(flag, figures, key, diag))
        return diag->code;
    for (int k = 0; k < COST_FIGURES; k++)
        if (strcmp(cost_names[k].key, key) == 0)
            *figure = (enum cost_figure)k;
    return EXIT_DONE;
}

/* -- Measuring --------------------------------------------------------------------------------------------------------
 */

struct text *sources_add(struct sources *sources, const char *name)
{
    sources->file[sources->count].name = name;
    return &sources->file[sources->count++].text;
}

/* False, and *cost as it was, where nothing whole is kept. */
static bool read_kept(const struct cost_target *target, const char *name, struct cost *cost)
{
    json_t *const kept = cache_read(name);
    const char *const note = json_string_value(json_object_get(kept, "note"));
    struct cost read;
    bool is_whole = note != NULL;
    for (int k = 0; k < COST_FIGURES && is_whole; k++) {
        const json_t *const value = json_object_get(kept, cost_names[k].key);
        is_whole = json_is_number(value) || json_is_null(value);
        is_whole = is_whole && (json_is_null(value) || (target->figures & 1u << k));
        read.figure[k] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    if (is_whole) {
        snprintf(read.note, sizeof read.note, "%s", note);
        *cost = read;
    }
    json_decref(kept);
    return is_whole;
}

static void keep(const char *name, const struct cost *cost)
{
    json_t *const object = json_object();
    for (int k = 0; k < COST_FIGURES; k++)
        json_object_set_new(object, cost_names[k].key,
                            isnan(cost->figure[k]) ? json_null() : json_real(cost->figure[k]));
    json_object_set_new(object, "note", json_string(cost->note));
    cache_write(name, object);
    json_decref(object);
}

static int measure(const struct cost_target *target, const struct costing *costing, struct sources *sources,
                   struct cost *cost, struct diag *diag)
{
    char folder[SCRATCH_PATH_SIZE];
    if (scratch_folder(folder, diag))
        return diag->code;
    for (int k = 0; k < sources->count; k++)
        if (scratch_write(folder, sources->file[k].name, &sources->file[k].text, diag))
            return diag->code;
    return target->kind->measure(target, costing, folder, cost, diag);
}

int cost_measure(const struct cost_target *target, const struct costing *costing, struct cost *cost, struct diag *diag)
{
    struct sources sources = {0};
    struct text made_from = {0};
    char name[CACHE_NAME_SIZE], note[sizeof cost->note];
    for (int k = 0; k < COST_FIGURES; k++)
        cost->figure[k] = NAN;
    cost->note[0] = '\0';
    int code = target->kind->prepare(target, costing, &sources, cost, diag);
    memcpy(note, cost->note, sizeof note);
    if (code == EXIT_DONE) {
        text_add(&made_from, "%s %s", target->name, sources.versions.bytes ? sources.versions.bytes : "");
        for (int k = 0; k < sources.count; k++)
            text_add(&made_from, "\n%s %zu\n%s", sources.file[k].name, sources.file[k].text.size,
                     sources.file[k].text.bytes ? sources.file[k].text.bytes : "");
        cache_name(&made_from, name);
        if (costing->anew || made_from.failed || !read_kept(target, name, cost)) {
            code = measure(target, costing, &sources, cost, diag);
            if (code == EXIT_DONE && strcmp(cost->note, note) == 0) /* else another run may get further */
                keep(name, cost);
        }
    }
    for (int k = 0; k < sources.count; k++)
        text_free(&sources.file[k].text);
    text_free(&sources.versions);
    text_free(&made_from);
    return code;
}
