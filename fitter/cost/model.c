/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model.h"

#include <math.h>
#include <string.h>

#include "emit/rtl/rtl.h"
#include "target.h"

/* What a target's cells are. */
struct fabric {
    const char *target;
    double lut[COST_TERMS]; /* LUTs for one of each, of `generic` cells */
    int dsp_a, dsp_b;       /* bits of the factors of a DSP; 0: there is none */
    int ram_bits, ram_wide; /* of a RAM, and of its widest words; 0: there is none */
    int least;              /* bits of each RAM from which on words lie in it */
    double clock[2];        /* nanoseconds of a period: of each module, and of each of the longest way; 0: unknown */
};

#include "coefficients.h"

const char *const cost_term_names[COST_TERMS] = {"one",   "words",  "compared",   "looked_up",
                                                 "added", "folded", "multiplied", "saturated"};

static int rounded_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* RAMs of words that a register addresses, where these are as many bits as one is worth; else 0. */
static int rams_of(const struct fabric *fabric, const struct hardware *hardware, bool is_addressed)
{
    if (!fabric->ram_bits || !is_addressed || hardware->words == 0)
        return 0;
    int depth = fabric->ram_bits / fabric->ram_wide;
    while (depth < hardware->words && depth < fabric->ram_bits)
        depth *= 2;
    const int rams = rounded_up(hardware->words, depth) * rounded_up(hardware->word_bits, fabric->ram_bits / depth);
    return hardware->words * hardware->word_bits >= rams * fabric->least ? rams : 0;
}

static int dsps_of(const struct fabric *fabric, const struct datapath *path)
{
    if (!fabric->dsp_a || !path->slope_bits)
        return 0;
    const int as_it_is = rounded_up(path->x_bits, fabric->dsp_a) * rounded_up(path->slope_bits, fabric->dsp_b);
    const int turned = rounded_up(path->x_bits, fabric->dsp_b) * rounded_up(path->slope_bits, fabric->dsp_a);
    return as_it_is < turned ? as_it_is : turned;
}

static void fill(const struct fabric *fabric, const struct hardware *hardware, bool is_generic,
                 struct estimate *estimate)
{
    const struct datapath *path = &hardware->datapath;
    const bool is_looked_up = path->longest == 0;
    const int rams = rams_of(fabric, hardware, path->addressed || is_looked_up), dsps = dsps_of(fabric, path);
    double *terms = estimate->terms, sum = 0;
    terms[TERM_ONE] = 1;
    terms[TERM_WORDS] = rams ? 0 : hardware->words * hardware->word_bits / 64.0;
    terms[TERM_COMPARED] = path->compared;
    terms[TERM_LOOKED_UP] = path->looked_up / 64.0;
    terms[TERM_ADDED] = path->added;
    terms[TERM_FOLDED] = path->folded;
    terms[TERM_MULTIPLIED] = dsps ? 0 : path->x_bits * path->slope_bits;
    terms[TERM_SATURATED] = path->saturated;
    for (int k = 0; k < COST_TERMS; k++)
        sum += fabric->lut[k] * terms[k];
    for (int k = 0; k < COST_FIGURES; k++)
        estimate->cost.figure[k] = NAN;
    estimate->cost.note[0] = '\0';
    estimate->cost.figure[is_generic ? COST_CELLS : COST_LUT] = round(fmax(sum, 0));
    if (!is_generic) {
        estimate->cost.figure[COST_DSP] = dsps;
        estimate->cost.figure[COST_RAM] = rams;
    }
    estimate->longest = path->longest;
    const double period = fabric->clock[0] + fabric->clock[1] * path->longest;
    if (period > 0 && path->longest > 0)
        estimate->cost.figure[COST_FMAX] = round(1e4 / period) / 10;
}

int cost_estimate(const struct cost_target *target, const struct costing *costing, struct estimate *estimate,
                  struct diag *diag)
{
    struct hardware hardware;
    const struct fabric *fabric = fabrics;
    if (!cost_target_is_hardware(target))
        return diag_set(diag, EXIT_USAGE, "%s: is a processor; only of hardware costs are estimated", target->name);
    if (hardware_of(costing->table, &costing->rtl, &hardware, diag))
        return diag->code;
    while (strcmp(fabric->target, target->name) != 0)
        fabric++;
    fill(fabric, &hardware, target->figures & 1u << COST_LUT ? false : true, estimate);
    return EXIT_DONE;
}

double cost_weight(const struct cost *cost)
{
    const double *figure = cost->figure;
    if (!isnan(figure[COST_BYTES]))
        return figure[COST_BYTES] + COST_INSTRUCTION_BYTES * figure[COST_INSTRUCTIONS];
    if (isnan(figure[COST_LUT]))
        return figure[COST_CELLS];
    return figure[COST_LUT] + COST_RAM_LUTS * figure[COST_RAM] + COST_DSP_LUTS * figure[COST_DSP];
}
