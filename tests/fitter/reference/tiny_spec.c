/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tiny_spec.h"

#include <stdarg.h>

#include "draw.h"
#include "fixture.h"
#include "function/samples.h"
#include "function/target.h"

/* Numbers of one kind of spec, which are not those of another. */
static void seed(int number, int kind)
{
    draw_from((uint64_t)number * UINT64_C(0xd1342543de82ef95) + (uint64_t)kind);
}

__attribute__((format(printf, 2, 3))) static void add_text(struct tiny *tiny, const char *format, ...)
{
    const size_t length = strlen(tiny->text);
    va_list list;
    va_start(list, format);
    const int added = vsnprintf(tiny->text + length, sizeof tiny->text - length, format, list);
    va_end(list);
    ck_assert(added >= 0 && length + (size_t)added < sizeof tiny->text);
}

/* What is drawn before the scales. */
struct format {
    int in_bits, out_bits;
    bool in_signed, out_signed;
    int64_t in_min, out_min, zp_x, zp_y; /* zp_x: 0 until it is drawn */
    char in_scale[24], out_scale[24];
    double slope; /* of samples along a line, in output codes from code to code; 0: any, and any shape */
};

/* A power of two or five digits. */
static void draw_scale(double near, char text[24])
{
    if (one_in(2))
        snprintf(text, 24, "2^%d", (int)lrint(log2(near)));
    else
        snprintf(text, 24, "%.5g", near);
}

/* Many codes on both sides take the other search long. */
static struct format draw_format(bool tied)
{
    struct format format = {.in_bits = (int)between(2, 4), .in_signed = one_in(2), .out_signed = one_in(2)};
    const int most = tied ? 5 : 10 - format.in_bits;
    format.out_bits = (int)(one_in(3) ? between(2, most) : between(3, most < 6 ? most : 6));
    format.in_min = format.in_signed ? -(1 << (format.in_bits - 1)) : 0;
    format.out_min = format.out_signed ? -(1 << (format.out_bits - 1)) : 0;
    return format;
}

static const char *const odd[] = {"tanh", "erf", "sin", "atan", "softsign"}, *const complements[] = {"sigmoid",
                                                                                                     "hard_sigmoid"};
static const char *const roundings[] = {"floor", "half_up", "half_away", "half_even"};

static void parse(struct tiny *tiny, const struct format *format, const char *function)
{
    struct diag diag;
    add_text(tiny, "%s--in %c%d:%s:%" PRId64 " --out %c%d:%s:%" PRId64 " --outside clamp", function,
             format->in_signed ? 's' : 'u', format->in_bits, format->in_scale, format->zp_x,
             format->out_signed ? 's' : 'u', format->out_bits, format->out_scale, format->zp_y);
    ck_assert_msg(spec_from(tiny->text, &tiny->spec, &diag) == EXIT_DONE, "%s: %s", tiny->text, diag.text);
}

/* A function on about the range where it bends, in a part of the output range or in more than that. */
static void draw_function(struct tiny *tiny, struct format *format, const struct reference_function *function,
                          bool folded)
{
    const int codes = 1 << format->in_bits;
    char name[40];
    draw_scale((function->x_max - function->x_min) / codes * uniform(0.3, 2), format->in_scale);
    struct reference_map map = {.function = function,
                                .parameter = function->parameter ? 0.25L : 0,
                                .qmin_x = format->in_min,
                                .qmax_x = format->in_min + codes - 1,
                                .scale_x = reference_scale(format->in_scale),
                                .scale_y = 1};
    format->zp_x = folded ? format->in_min + between(0, codes - 1)
                          : format->in_min - lrintl(function->x_min / map.scale_x) + between(-1, 1);
    map.zp_x = format->zp_x;
    long double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < codes; k++) {
        const long double y = reference_target(&map, map.qmin_x + k);
        low = fminl(low, y);
        high = fmaxl(high, y);
    }
    draw_scale(fmax((double)(high - low), 0.01) / (1 << format->out_bits) * uniform(0.4, 3), format->out_scale);
    map.scale_y = reference_scale(format->out_scale);
    format->zp_y = format->out_min - lrintl(low / map.scale_y) + between(-3, 3);
    map.zp_y = format->zp_y;
    snprintf(name, sizeof name, function->parameter ? "%s --param %s=0.25 " : "%s ", function->name,
             function->parameter);
    parse(tiny, format, name);
    for (int k = 0; k < codes; k++)
        tiny->whole[k] = reference_target(&map, map.qmin_x + k);
}

/* Targets of several shapes, half of them in quarters: ties and equal errors. */
static void draw_targets(struct tiny *tiny, const struct format *format)
{
    enum { LINE = 2, SHAPES = 5 };
    const int codes = 1 << format->in_bits, shape = format->slope != 0 ? LINE : draw(SHAPES);
    const double low = (double)format->out_min, high = low + (1 << format->out_bits) - 1, range = high - low,
                 slope = format->slope != 0 ? format->slope : uniform(-2, 2) * range / codes,
                 start = uniform(low, high);
    const bool quarters = one_in(2);
    double walk = start;
    for (int k = 0; k < codes; k++) {
        const double t = (double)k / codes;
        const double at[SHAPES] = {uniform(low - 1, high + 1), walk += uniform(-3, 3) * range / codes,
                                   start + slope * k + uniform(-1, 1), start + slope * k * (t - 0.3) * 3,
                                   (t < 0.6 ? start : low + high - start) + uniform(-0.7, 0.7)};
        const double y = fmax(low - 2, fmin(high + 2, at[shape]));
        tiny->whole[k] = quarters ? rint(4 * y) / 4 : y;
    }
}

/* A function given by a sample for each code, and one beyond each end. The scale of codes is given. */
static void draw_samples(struct tiny *tiny, struct format *format)
{
    const int codes = 1 << format->in_bits;
    char csv[(EVERY_CODES + 2) * 64];
    struct diag diag;
    size_t length = 0;
    draw_scale(uniform(0.05, 4), format->out_scale);
    if (!format->zp_x)
        format->zp_x = format->in_min + (one_in(5) ? between(-3000, 3000) : between(-2, codes + 1));
    format->zp_y = format->out_min + (one_in(5) ? between(-3000, 3000) : between(-9, (1 << format->out_bits) + 8));
    parse(tiny, format, "");
    draw_targets(tiny, format);
    add_text(tiny, "; samples in codes");
    const long double scale_x = reference_scale(format->in_scale), scale_y = reference_scale(format->out_scale);
    for (int k = -1; k <= codes; k++) {
        const int at = k < 0 ? 0 : k < codes ? k : codes - 1;
        const double x = (double)(scale_x * (long double)(format->in_min + k - format->zp_x)),
                     y = (double)(scale_y * (tiny->whole[at] - (long double)format->zp_y));
        length += (size_t)snprintf(csv + length, sizeof csv - length, "%.17g,%.17g\n", x, y);
        if (k == at)
            add_text(tiny, " %.17g", (double)tiny->whole[at]);
    }
    ck_assert_msg(samples_parse(csv, length, 0, &tiny->spec.function.samples, &diag) == EXIT_DONE, "%s", diag.text);
}

void tiny_set(struct tiny *tiny, const char *flag, const char *value)
{
    struct diag diag;
    ck_assert_msg(spec_set(&tiny->spec, flag, value, &diag) == EXIT_DONE, "%s", diag.text);
    add_text(tiny, " %s%s%s", flag, value ? " " : "", value ? value : "");
}

static void set_number(struct tiny *tiny, const char *flag, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    tiny_set(tiny, flag, text);
}

static void draw_knots(struct tiny *tiny)
{
    char value[16];
    snprintf(value, sizeof value, "pow2:%d", (int)between(1, tiny->spec.in.bits));
    tiny_set(tiny, "--knots", one_in(3) ? "uniform" : one_in(3) ? "pow2" : value);
}

/* A code or two that must have some value near their own. */
static void draw_fixes(struct tiny *tiny)
{
    struct spec *spec = &tiny->spec;
    add_text(tiny, "; fixed");
    for (int64_t wanted = between(1, 2); wanted > 0; wanted--) {
        const int at = (int)between(0, tiny->count - 1);
        const long double near = rintl(tiny->whole[at]) + (long double)between(-1, 1);
        if (tiny->fixed[at] != EVERY_FREE)
            continue;
        tiny->fixed[at] = (int64_t)fmaxl((long double)spec->out.qmin, fminl((long double)spec->out.qmax, near));
        spec->fixes[spec->fix_count++] = (struct fix){.x = (double)tensor_real(&spec->in, spec->in.qmin + at),
                                                      .y = (double)tensor_real(&spec->out, tiny->fixed[at])};
        add_text(tiny, " %" PRId64 "=%" PRId64, spec->in.qmin + at, tiny->fixed[at]);
    }
}

static void draw_weights(struct tiny *tiny)
{
    char csv[EVERY_CODES * 8];
    size_t length = 0;
    struct diag diag;
    add_text(tiny, "; weights");
    for (int k = 0; k < tiny->count; k++) {
        const int weight = k == 0 ? 1 : (int)between(0, 9);
        tiny->weight[k] = weight;
        length += (size_t)snprintf(csv + length, sizeof csv - length, "%d\n", weight);
        add_text(tiny, " %d", weight);
    }
    ck_assert_msg(weights_parse(csv, length, 0, (uint64_t)1 << tiny->spec.in.bits, &tiny->spec.weights, &diag) ==
                      EXIT_DONE,
                  "%s", diag.text);
}

/* Every eighth number asks for an error, every 24th for a method that claims nothing or everything. */
static void draw_method(struct tiny *tiny, int number)
{
    static const char *const others[] = {"uniform", "document", "lut"};
    const int segments = (int)between(1, 4);
    if (number / 12 % 8 == 7) {
        char limit[24];
        snprintf(limit, sizeof limit, "%.4g", uniform(0.3, 3));
        tiny_set(tiny, "--max-err", limit);
        return;
    }
    tiny_set(tiny, "--method", number / 12 % 24 == 6 ? others[between(0, 2)] : number / 12 % 2 ? "lsq" : "minimax");
    if (tiny->spec.method != METHOD_LUT)
        set_number(tiny, "--segments", segments);
}

static void draw_constraints(struct tiny *tiny, bool tied, bool folded)
{
    const bool fixes = one_in(8), weights = one_in(4);
    if (tiny->spec.method != METHOD_LUT)
        set_number(tiny, "--slope-bits", one_in(6) ? 5 : between(2, 4));
    if (!one_in(4))
        tiny_set(tiny, "--zero", "free");
    if (folded)
        tiny_set(tiny, "--symmetry", "fold");
    if (one_in(3))
        tiny_set(tiny, "--shift", "one");
    if (one_in(5))
        tiny_set(tiny, "--slope-terms", one_in(2) ? "1" : "2");
    if (one_in(5))
        draw_knots(tiny);
    const bool monotone = tied && one_in(2);
    if (monotone)
        tiny_set(tiny, "--monotone", NULL);
    if (tied && (!monotone || (tiny->spec.out.bits <= 4 && one_in(4))))
        set_number(tiny, "--continuous", between(0, 2));
    if (fixes)
        draw_fixes(tiny);
    if (weights && (tiny->spec.method == METHOD_LSQ || tiny->spec.method == METHOD_UNIFORM))
        draw_weights(tiny);
}

/* The table's form and rounding, by the number. */
static void set_format(struct tiny *tiny, int number)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    add_text(tiny, ";");
    tiny_set(tiny, "--form", forms[number % 3]);
    tiny_set(tiny, "--rounding", roundings[number / 3 % 4]);
}

/* Wider or narrower than the outputs, or about as wide. */
static void draw_offset_type(struct tiny *tiny)
{
    char value[8];
    const int64_t bits = tiny->spec.out.bits + between(-2, one_in(2) ? 2 : 8);
    snprintf(value, sizeof value, "%c%d", one_in(2) ? 's' : 'u', (int)(bits < 2 ? 2 : bits));
    tiny_set(tiny, "--offset-type", value);
}

/* Slopes stored in so many bits, at least 3, with shifts of which some are left out. */
static void draw_multiple(struct tiny *tiny, int64_t bits)
{
    if (bits != tiny->spec.slope_bits)
        set_number(tiny, "--slope-bits", bits);
    set_number(tiny, "--shift-multiple", between(2, bits - 1));
}

/* The codes of a format, free and of one weight. */
static void begin(struct tiny *tiny, const struct format *format)
{
    memset(tiny, 0, sizeof *tiny);
    tiny->count = 1 << format->in_bits;
    for (int k = 0; k < tiny->count; k++) {
        tiny->fixed[k] = EVERY_FREE;
        tiny->weight[k] = 1;
    }
}

/* Whether f is the same at code k as at the one below, and not so nearly that a long double has rounded it. */
static bool is_flat(const struct tiny *tiny, int k)
{
    const struct spec *const spec = &tiny->spec;
    if (!spec->function.info)
        return spec->in.scale.power_of_two;
    const int64_t q = spec->in.qmin + k;
    const struct dd here = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, q),
                    below = target_unclipped(&spec->function, &spec->in, &spec->out, spec->outside, q - 1);
    return here.hi == below.hi && here.lo == below.lo;
}

static void end(struct tiny *tiny, int number)
{
    add_text(tiny, "; number %d", number);
    for (int k = 1; k < tiny->count; k++) {
        const long double step = tiny->whole[k] - tiny->whole[k - 1];
        tiny->is_level |= fabsl(step) < 1e-9L && !(step == 0 && is_flat(tiny, k));
    }
    tiny->is_constant = true;
    for (int k = 0; k < tiny->count; k++)
        tiny->is_constant &=
            tiny->whole[k] < (long double)tiny->spec.out.qmin || tiny->whole[k] > (long double)tiny->spec.out.qmax;
}

static void draw_spec(struct tiny *tiny, int number, bool folded, bool tied, bool offsets, bool multiples)
{
    struct format format = draw_format(tied);
    begin(tiny, &format);
    const char *const symmetric = one_in(2) ? odd[between(0, 4)] : complements[between(0, 1)];
    if (folded) {
        draw_function(tiny, &format, reference_find(symmetric), true);
    } else if (one_in(2)) {
        draw_function(tiny, &format, &reference_functions[between(0, REFERENCE_FUNCTIONS - 1)], false);
    } else {
        draw_scale(uniform(0.1, 9), format.in_scale);
        draw_samples(tiny, &format);
    }
    set_format(tiny, number);
    draw_method(tiny, number);
    draw_constraints(tiny, tied, folded);
    if (offsets && (tiny->spec.method == METHOD_MINIMAX || tiny->spec.method == METHOD_LSQ))
        draw_offset_type(tiny);
    if (multiples && (tiny->spec.method == METHOD_MINIMAX || tiny->spec.method == METHOD_LSQ))
        draw_multiple(tiny, one_in(8) ? between(7, 10) : between(3, 6));
    end(tiny, number);
}

void tiny_draw(struct tiny *tiny, int number)
{
    seed(number, 0);
    const bool folded = one_in(8), tied = one_in(5);
    draw_spec(tiny, number, folded, tied, false, false);
}

void tiny_draw_offsets(struct tiny *tiny, int number)
{
    seed(number, 3);
    const bool folded = one_in(8), tied = one_in(8);
    draw_spec(tiny, number, folded, tied, true, false);
}

void tiny_draw_multiples(struct tiny *tiny, int number)
{
    seed(number, 5);
    const bool folded = one_in(8), tied = one_in(5), offsets = one_in(4);
    draw_spec(tiny, number, folded, tied, offsets, true);
}

void tiny_draw_shifts(struct tiny *tiny, int number)
{
    seed(number, 6);
    const bool folded = one_in(8), tied = one_in(5), offsets = one_in(4), multiples = one_in(6);
    draw_spec(tiny, number, folded, tied, offsets, multiples);
    if (tiny->spec.method == METHOD_MINIMAX || tiny->spec.method == METHOD_LSQ)
        set_number(tiny, "--shift-bits", between(2, 4));
}

void tiny_draw_tied_fold(struct tiny *tiny, int number)
{
    seed(number, 2);
    draw_spec(tiny, number, true, true, false, false);
}

void tiny_draw_points(struct tiny *tiny, int number)
{
    char knots[24], limit[24];
    seed(number, 4);
    struct format format = draw_format(false);
    const bool wide = one_in(6), by_error = number / 4 % 4 == 3;
    if (wide) {
        format.out_bits = (int)between(9, 10);
        format.out_min = format.out_signed ? -(1 << (format.out_bits - 1)) : 0;
        format.zp_x = between(1, INT64_C(1) << between(20, 31)) * (one_in(2) ? 1 : -1);
    }
    begin(tiny, &format);
    if (!wide && one_in(2)) {
        draw_function(tiny, &format, &reference_functions[between(0, REFERENCE_FUNCTIONS - 1)], false);
    } else {
        if (wide)
            snprintf(format.in_scale, sizeof format.in_scale, "2^0"); /* samples so far away have no bits to spare */
        else
            draw_scale(uniform(0.1, 9), format.in_scale);
        draw_samples(tiny, &format);
    }
    add_text(tiny, ";");
    const bool otherwise = number % 4 == 0 && one_in(3);
    if (!otherwise)
        tiny_set(tiny, "--rounding", roundings[number % 4]);
    snprintf(knots, sizeof knots, "points:%d%s", (int)between(1, format.in_bits - 1),
             !otherwise        ? ""
             : number / 16 % 2 ? ":half_down"
                               : ":toward_left");
    snprintf(limit, sizeof limit, "%.4g", uniform(0.3, 3));
    tiny_set(tiny, "--knots", by_error ? "points" : knots);
    if (by_error || one_in(8))
        tiny_set(tiny, "--max-err", limit);
    if (!by_error || one_in(2))
        tiny_set(tiny, "--method", one_in(2) ? "lsq" : "minimax");
    if (wide || !one_in(4))
        set_number(tiny, "--slope-bits", between(2, wide ? 8 : 7));
    if (!one_in(3))
        draw_offset_type(tiny);
    if (one_in(4))
        tiny_set(tiny, "--zero", "keep");
    if (one_in(4))
        tiny_set(tiny, "--monotone", NULL);
    if (one_in(8))
        draw_fixes(tiny);
    if (one_in(4) && tiny->spec.method == METHOD_LSQ && isnan(tiny->spec.max_err))
        draw_weights(tiny);
    if (one_in(6))
        draw_multiple(tiny, one_in(4) ? between(9, 10) : between(3, 8));
    spec_settle_form(&tiny->spec);
    end(tiny, number);
}

void tiny_draw_steps(struct tiny *tiny, int number)
{
    static const char *const forms[] = {"absolute", "biased", "anchored"};
    char knots[16], limit[24];
    seed(number, 7);
    struct format format = draw_format(false);
    begin(tiny, &format);
    if (one_in(2)) {
        draw_function(tiny, &format, &reference_functions[between(0, REFERENCE_FUNCTIONS - 1)], false);
    } else {
        draw_scale(uniform(0.1, 9), format.in_scale);
        draw_samples(tiny, &format);
    }
    add_text(tiny, ";");
    tiny_set(tiny, "--rounding", roundings[number % 4]);
    tiny_set(tiny, "--form", forms[number / 4 % 3]);
    tiny_set(tiny, "--method", number / 12 % 2 ? "lsq" : "minimax");
    snprintf(knots, sizeof knots, "steps:%d", (int)between(1, format.in_bits - 1));
    tiny_set(tiny, "--knots", knots);
    snprintf(limit, sizeof limit, "%.4g", uniform(0.3, 6));
    if (one_in(6))
        tiny_set(tiny, "--max-err", limit);
    if (one_in(2))
        draw_offset_type(tiny);
    if (!one_in(4))
        tiny_set(tiny, "--zero", "free");
    if (one_in(6))
        draw_fixes(tiny);
    if (one_in(4) && tiny->spec.method == METHOD_LSQ && isnan(tiny->spec.max_err))
        draw_weights(tiny);
    end(tiny, number);
}

void tiny_draw_tied(struct tiny *tiny, int number)
{
    seed(number, 1);
    struct format format = draw_format(true);
    format.out_bits = (int)between(2, 5);
    format.out_min = format.out_signed ? -(1 << (format.out_bits - 1)) : 0;
    begin(tiny, &format);
    snprintf(format.in_scale, sizeof format.in_scale, "2^0"); /* that no step is a matter of rounding */
    draw_samples(tiny, &format);
    set_format(tiny, number);
    tiny_set(tiny, "--method", "minimax");
    set_number(tiny, "--segments", between(1, 4));
    set_number(tiny, "--slope-bits", between(2, 4));
    if (one_in(4))
        tiny_set(tiny, "--shift", "one");
    tiny_set(tiny, "--monotone", NULL);
    if (one_in(3))
        set_number(tiny, "--continuous", between(0, 1));
    if (tiny->spec.slope_bits > 2 && one_in(3))
        draw_multiple(tiny, tiny->spec.slope_bits);
    end(tiny, number);
}

/* Zero points in and around the codes; as far away as fields and sums allow, or farther than a slope is of use; and
 * where a slope needs the largest offset, or a little more. */
static void draw_distance(struct format *format)
{
    const int codes = 1 << format->in_bits, kind = draw(6);
    const bool wide = format->out_bits > 8;
    draw_scale(uniform(0.1, 4), format->in_scale);
    format->zp_x = format->in_min + (kind == 0 ? between(-3 * codes, 4 * codes) : between(0, codes - 1));
    if (kind > 2 || kind == 0)
        return;
    snprintf(format->in_scale, sizeof format->in_scale, "2^0"); /* samples so far away have no bits to spare */
    if (kind == 1) {
        format->zp_x = wide ? between(-150000000, 150000000) : between(-32767, 32767);
        return;
    }
    const double limit = wide ? 0x1p31 : 0x1p15;
    format->slope = uniform(-2, 2) * (1 << format->out_bits) / codes;
    format->zp_x = (int64_t)fmin(limit / fmax(1, fabs(format->slope) * uniform(0.8, 1.2)), limit - 1);
    format->zp_x *= one_in(2) ? 1 : -1;
}

void tiny_draw_free(struct tiny *tiny, int number, bool narrow)
{
    seed(number, 6);
    struct format format = {
        .in_bits = (int)between(3, narrow ? 4 : 5), .in_signed = one_in(2), .out_signed = one_in(2)};
    format.out_bits = (int)between(3, narrow ? 5 : 6);
    if (!narrow && one_in(40)) {
        format.in_bits = 6;
    } else if (!narrow && one_in(8)) { /* fields of 16 bits, sums of 32 */
        format.in_bits = 3;
        format.out_bits = (int)between(9, 10);
    }
    format.in_min = format.in_signed ? -(1 << (format.in_bits - 1)) : 0;
    format.out_min = format.out_signed ? -(1 << (format.out_bits - 1)) : 0;
    begin(tiny, &format);
    if (one_in(3)) {
        draw_function(tiny, &format, &reference_functions[draw(REFERENCE_FUNCTIONS)], false);
    } else {
        draw_distance(&format);
        draw_samples(tiny, &format);
    }
    set_format(tiny, number);
    tiny_set(tiny, "--method", "minimax");
    set_number(tiny, "--slope-bits", between(3, 5));
    if (one_in(6))
        draw_fixes(tiny);
    end(tiny, number);
}

bool tiny_is_exact(const struct tiny *tiny)
{
    bool is_exact = tiny->spec.in.scale.power_of_two;
    for (int k = 0; k < tiny->count; k++)
        is_exact &= 4 * tiny->whole[k] == rintl(4 * tiny->whole[k]);
    return is_exact;
}

void tiny_from_flags(struct tiny *tiny, const char *flags)
{
    struct diag diag;
    memset(tiny, 0, sizeof *tiny);
    add_text(tiny, "%s", flags);
    ck_assert_msg(spec_from(flags, &tiny->spec, &diag) == EXIT_DONE, "%s: %s", flags, diag.text);
    spec_settle_form(&tiny->spec);
    const struct reference_map map = map_of(&tiny->spec);
    tiny->count = (int)(map.qmax_x - map.qmin_x + 1);
    for (int k = 0; k < tiny->count; k++) {
        tiny->whole[k] = reference_target(&map, map.qmin_x + k);
        tiny->weight[k] = 1;
        tiny->fixed[k] = EVERY_FREE;
    }
    for (int f = 0; f < tiny->spec.fix_count; f++) {
        const struct fix *fix = &tiny->spec.fixes[f];
        const int64_t code = llrintl((long double)fix->x / map.scale_x) + map.zp_x;
        tiny->fixed[code - map.qmin_x] = llrintl((long double)fix->y / map.scale_y) + map.zp_y;
    }
}
