/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random_spec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "reference_function.h"

struct type {
    int bits, is_signed;
    char scale[32];
    long double scale_value;
    int64_t qmin, qmax, zero_point;
};

/* A scale with which `span` takes all codes, or the power of two nearest to it, and a zero point that puts `low` on
 * the first code. */
static void place_type(struct type *type, int power_of_two, double low, double span)
{
    const double codes = ldexp(1, type->bits) - 1, wanted = fmax(span / codes, 1e-15);
    type->is_signed = draw(2);
    type->qmin = type->is_signed ? -((int64_t)1 << (type->bits - 1)) : 0;
    type->qmax = type->qmin + ((int64_t)1 << type->bits) - 1;
    if (power_of_two)
        snprintf(type->scale, sizeof type->scale, "2^%d", (int)rint(log2(wanted)));
    else
        snprintf(type->scale, sizeof type->scale, "%.*g", (int)between(2, 7), wanted);
    type->scale_value = reference_scale(type->scale);
    type->zero_point = type->qmin - (int64_t)rintl(low / type->scale_value);
}

static void choose_widths(int storage, int *in, int *out)
{
    static const int least[] = {2, 9, 17}, most[] = {8, 16, 32};
    const int wide = (int)between(least[storage], most[storage]);
    const int kind = draw(1000);
    *out = (int)between(2, most[storage]);
    if (storage == 0) {
        *in = (int)between(2, 8);
        return;
    }
    if (kind < 780) { /* a narrow input to a wide output */
        *in = (int)between(2, 7);
        *out = wide;
    } else if (kind < 960) {
        *in = (int)between(7, 12);
        *out = wide;
    } else if (storage == 1) {
        *in = wide;
    } else if (kind < 990) {
        *in = (int)between(13, 16);
        *out = wide;
    } else {
        *in = wide;
    }
}

__attribute__((format(printf, 3, 4))) static void append(char *flags, size_t size, const char *format, ...)
{
    const size_t length = strlen(flags);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(flags + length, size - length, format, arguments);
    va_end(arguments);
}

/* Least and greatest value of f over the codes, by up to 256 of them; returns 0 when f is constant there. */
static int range_of(const struct reference_map *map, double *low, double *high)
{
    const int64_t step = (map->qmax_x - map->qmin_x) / 255 + 1;
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t q = map->qmin_x; q <= map->qmax_x; q += step) {
        const double y = (double)reference_target(map, q); /* scale 1, zero point 0 */
        *low = fmin(*low, y);
        *high = fmax(*high, y);
    }
    if (*high > *low)
        return 1;
    *high = *low + fmax(1e-3, fabs(*low));
    return 0;
}

/* The searches over integer lines take seconds for wider inputs and outputs, where few specs ask for them; what they
 * find is tested elsewhere. */
static const char *choose_method(int in_bits, int storage, int form, int may_document)
{
    const int quick = form == 1 ? 5 - storage : 6;
    if (may_document && one_in(4))
        return "document";
    if (in_bits <= 11 && one_in(5))
        return "lut";
    if (in_bits <= quick)
        return one_in(4) || (storage == 2 && !one_in(4)) ? "uniform" : storage == 0 && one_in(2) ? "minimax" : "lsq";
    if (in_bits <= 8)
        return storage == 0 && one_in(20) ? "lsq" : "uniform";
    return in_bits > 10 && one_in(6) ? "lsq" : "uniform";
}

void random_flags(int index, char *flags, size_t size)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};
    const int storage = index % 3, form = index / 3 % 3, rounding = index / 9 % 4;
    const struct reference_function *function = &reference_functions[draw(REFERENCE_FUNCTIONS)];
    struct type in = {0}, out = {0};
    choose_widths(storage, &in.bits, &out.bits);
    const int powers = one_in(3) ? 3 : draw(4); /* bit 0: of --in, bit 1: of --out */

    /* A narrow span lies far from 0, counted in codes. */
    const double full = function->x_max - function->x_min;
    const double share_x = one_in(8) ? pow(10, uniform(-4, -1)) : uniform(0.1, 1.2);
    const double span = full * share_x;
    double low = uniform(function->x_min - 0.1 * full, function->x_max - 0.5 * span);
    if (function->domain != REFERENCE_ALL && !one_in(4))
        low = fmax(low, function->x_min);
    place_type(&in, powers & 1, low, span);
    if (one_in(40)) /* far from anything */
        in.zero_point += between(-6, 6) * (in.qmax - in.qmin);
    if (function->domain != REFERENCE_ALL && function->domain != REFERENCE_NOT_ZERO && in.zero_point >= in.qmax)
        in.zero_point = in.qmax - 1; /* one code at least is in the domain */

    struct reference_map map = {.function = function,
                                .qmin_x = in.qmin,
                                .qmax_x = in.qmax,
                                .zp_x = in.zero_point,
                                .scale_x = in.scale_value,
                                .scale_y = 1};
    char parameter[32] = "";
    if (function->parameter) {
        snprintf(parameter, sizeof parameter, "%.4g", uniform(function->parameter_min, function->parameter_max));
        map.parameter = strtod(parameter, NULL);
    }
    double y_low, y_high;
    const int varies = range_of(&map, &y_low, &y_high);
    /* A part of f's range, so that codes saturate; exactly its range; or more. */
    const double share = varies && in.bits > 2 && one_in(3) ? uniform(0.4, 1) : one_in(2) ? 1 : uniform(1, 8);
    const double room = (y_high - y_low) * (1 - share);
    place_type(&out, powers & 2, y_low + room * uniform(0, 1), (y_high - y_low) * share);

    const int may_document = powers == 3 && form == 0 && rounding == 0;
    const char *method = choose_method(in.bits, storage, form, may_document);
    flags[0] = '\0';
    append(flags, size, "%s", function->name);
    if (function->parameter)
        append(flags, size, " --param %s=%s", function->parameter, parameter);
    append(flags, size, " --in %c%d:%s:%lld --out %c%d:%s:%lld", in.is_signed ? 's' : 'u', in.bits, in.scale,
           (long long)in.zero_point, out.is_signed ? 's' : 'u', out.bits, out.scale, (long long)out.zero_point);
    append(flags, size, " --method %s --form %s --rounding %s", method, forms[form], roundings[rounding]);
    if (function->domain != REFERENCE_ALL)
        append(flags, size, " --outside clamp");
    if (!strcmp(method, "lut"))
        return;
    if (!strcmp(method, "lsq") && in.bits <= 8 && one_in(5))
        append(flags, size, " --max-err %.3g", exp2(uniform(0, out.bits / 2)));
    else
        append(flags, size, " --segments %d", (int)(one_in(20) ? between(17, 80) : between(1, 16)));
    if (one_in(6))
        append(flags, size, " --slope-bits %d", (int)between(4, storage == 0 ? 8 : storage == 1 ? 16 : 32));
}
