/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "small.h"

#include "fixture.h"
#include "function/samples.h"

static uint64_t state;

uint64_t draw(uint64_t choices)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * UINT64_C(0x2545f4914f6cdd1d) >> 16) % choices;
}

int64_t between(int64_t low, int64_t high)
{
    return low + (int64_t)draw((uint64_t)(high - low) + 1);
}

double uniform(double low, double high)
{
    return low + (high - low) * (double)draw(1 << 20) / (1 << 20);
}

/* A scale near `value`: a power of two, or three digits of a decimal. */
static void draw_scale(double value, char text[24])
{
    if (draw(2))
        snprintf(text, 24, "2^%d", (int)lrint(log2(value)));
    else
        snprintf(text, 24, "%.3g", value);
}

/* Types, form, rounding and slope width, but for the output's scale and zero point. */
struct format {
    int in_bits, out_bits, slope_bits;
    bool in_signed, out_signed;
    int64_t in_min, out_min;
    enum brute_form form;
    enum brute_rounding rounding;
};

static struct format draw_format(int number, bool tiny)
{
    static const int in_bits[] = {3, 3, 3, 4, 4, 4, 4, 5, 5, 5};
    struct format format = {.in_bits = draw(40) ? in_bits[draw(tiny ? 7 : 10)]
                                       : tiny   ? 4
                                                : 6,
                            .out_bits = (int)between(3, tiny ? 5 : 6),
                            .slope_bits = (int)between(3, 5),
                            .in_signed = draw(2),
                            .out_signed = draw(2),
                            .form = (enum brute_form)(number % 3),
                            .rounding = (enum brute_rounding)(number / 3 % 4)};
    if (!tiny && draw(8) == 0) { /* fields of 16 bits, sums of 32 */
        format.in_bits = 3;
        format.out_bits = (int)between(9, 10);
    }
    format.in_min = format.in_signed ? -(1 << (format.in_bits - 1)) : 0;
    format.out_min = format.out_signed ? -(1 << (format.out_bits - 1)) : 0;
    return format;
}

static const char *const form_flags[] = {"absolute", "biased", "anchored"};
static const char *const rounding_flags[] = {"floor", "half_up", "half_away", "half_even"};

static void parse(struct small *small, const struct format *format, const char *function, const char *in_scale,
                  int64_t zp_x, const char *out_scale, int64_t zp_y)
{
    struct diag diag;
    snprintf(small->text, FLAGS_SIZE,
             "%s--in %c%d:%s:%" PRId64 " --out %c%d:%s:%" PRId64
             " --form %s --rounding %s --slope-bits %d --outside clamp --method minimax",
             function, format->in_signed ? 's' : 'u', format->in_bits, in_scale, zp_x, format->out_signed ? 's' : 'u',
             format->out_bits, out_scale, zp_y, form_flags[format->form], rounding_flags[format->rounding],
             format->slope_bits);
    ck_assert_msg(spec_from(small->text, &small->spec, &diag) == EXIT_DONE, "%s: %s", small->text, diag.text);
}

/* A built-in function on about the range where it bends. */
static void draw_function(struct small *small, const struct format *format)
{
    const struct reference_function *function = &reference_functions[draw(REFERENCE_FUNCTIONS)];
    const int codes = 1 << format->in_bits;
    char name[40], in_scale[24], out_scale[24];
    draw_scale((function->x_max - function->x_min) / codes * uniform(0.4, 1.4), in_scale);
    const long double scale_x = reference_scale(in_scale);
    const int64_t zp_x = format->in_min - lrintl(function->x_min / scale_x) + between(-1, 1);
    struct reference_map map = {.function = function,
                                .parameter = function->parameter ? 0.25L : 0,
                                .qmin_x = format->in_min,
                                .qmax_x = format->in_min + codes - 1,
                                .zp_x = zp_x,
                                .scale_x = scale_x,
                                .scale_y = 1};
    long double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < codes; k++) {
        const long double y = reference_target(&map, map.qmin_x + k);
        low = fminl(low, y);
        high = fmaxl(high, y);
    }
    draw_scale(fmax((double)(high - low), 0.01) / (1 << format->out_bits) * uniform(0.5, 1.6), out_scale);
    map.scale_y = reference_scale(out_scale);
    const int64_t zp_y = format->out_min - lrintl(low / map.scale_y) + between(-3, 3);
    snprintf(name, sizeof name, function->parameter ? "%s --param %s=0.25 " : "%s ", function->name,
             function->parameter);
    parse(small, format, name, in_scale, zp_x, out_scale, zp_y);

    map = map_of(&small->spec);
    small->constant = true;
    for (int k = 0; k < codes; k++) {
        const long double t = reference_target(&map, map.qmin_x + k);
        small->target[k] = (double)reference_clip(&map, t);
        small->whole[k] = t;
        small->constant &= small->target[k] != (double)t;
    }
}

/* Targets of one of several shapes; half of them in quarters, so that ties and equal errors come about. */
static void draw_targets(double target[], int codes, int shape, double slope, double low, double high)
{
    const double range = high - low, start = uniform(low, high);
    const bool quarters = draw(2);
    double walk = start;
    for (int k = 0; k < codes; k++) {
        const double t = (double)k / codes;
        switch (shape) {
        case 0:
            target[k] = uniform(low - 1, high + 1);
            break;
        case 1:
            target[k] = walk += uniform(-1, 1) * 3 * range / codes;
            break;
        case 2:
            target[k] = start + slope * k + uniform(-1, 1);
            break;
        case 3:
            target[k] = (t < 0.6 ? start : low + high - start) + uniform(-0.7, 0.7);
            break;
        default:
            target[k] = start + slope * k * (t - 0.3) * 3;
            break;
        }
        target[k] = fmax(low - 2, fmin(high + 2, target[k]));
        if (quarters)
            target[k] = rint(4 * target[k]) / 4;
    }
}

/* A function given by a sample for each code, and one beyond each end. */
static void draw_samples(struct small *small, const struct format *format)
{
    static const char *const in_scales[] = {"2^0", "2^-3", "0.37", "1.9"}, *const out_scales[] = {"2^-4", "2^1",
                                                                                                  "0.11"};
    const int codes = 1 << format->in_bits;
    const int64_t out_max = format->out_min + (1 << format->out_bits) - 1;
    double target[BRUTE_CODES], limit, slope = uniform(-2, 2) * (1 << format->out_bits) / codes;
    int shape = (int)draw(5);
    int64_t zp_x = format->in_min + between(0, codes - 1),
            zp_y = format->out_min + between(0, (1 << format->out_bits) - 1);
    switch (draw(6)) {
    case 0: /* outside the codes */
        zp_x += between(-3 * codes, 3 * codes);
        zp_y += between(-100, 100);
        break;
    case 1: /* as far as the fields and sums allow, or farther than a slope is of use */
        zp_x = format->out_bits > 8 ? between(-150000000, 150000000) : between(-32767, 32767);
        break;
    case 2: /* where a slope needs the largest offset, or a little more */
        limit = format->out_bits > 8 ? 0x1p31 : 0x1p15;
        zp_x = (int64_t)fmin(limit / fmax(1, fabs(slope) * uniform(0.8, 1.2)), limit - 1) * (draw(2) ? 1 : -1);
        shape = 2;
        break;
    default:
        break;
    }
    const bool far = zp_x < -1000 || zp_x > 1000; /* x then has few bits to spare: exact ones */
    parse(small, format, "", in_scales[draw(far ? 2 : 4)], zp_x, out_scales[draw(3)], zp_y);
    draw_targets(target, codes, shape, slope, (double)format->out_min, (double)out_max);

    char csv[(BRUTE_CODES + 2) * 64];
    struct diag diag;
    size_t length = 0;
    const struct tensor *in = &small->spec.in, *out = &small->spec.out;
    small->constant = true;
    for (int k = -1; k <= codes; k++) {
        const double t = target[k < 0 ? 0 : k < codes ? k : codes - 1];
        const double y = (double)(reference_scale(out->scale.text) * ((long double)t - (long double)zp_y));
        const long double x = reference_scale(in->scale.text) * (long double)(in->qmin + k - zp_x);
        length += (size_t)snprintf(csv + length, sizeof csv - length, "%.17g,%.17g\n", (double)x, y);
        if (k < 0 || k == codes)
            continue;
        const long double whole = y / reference_scale(out->scale.text) + (long double)zp_y;
        small->target[k] = (double)fmaxl((long double)out->qmin, fminl((long double)out->qmax, whole));
        small->whole[k] = whole;
        small->constant &= whole < (long double)out->qmin || whole > (long double)out->qmax;
    }
    ck_assert_msg(samples_parse(csv, length, 0, &small->spec.function.samples, &diag) == EXIT_DONE, "%s", diag.text);
}

/* At most two codes that must have some value. */
static void draw_fixes(struct small *small, int codes)
{
    struct spec *spec = &small->spec;
    const int wanted = draw(6) == 0 ? (int)between(1, 2) : 0;
    for (int k = 0; k < codes; k++)
        small->fixed[k] = BRUTE_FREE;
    for (int k = 0; k < wanted; k++) {
        const int at = (int)draw((uint64_t)codes);
        if (small->fixed[at] != BRUTE_FREE)
            continue;
        const int64_t near = lrint(small->target[at]) + between(-1, 1);
        small->fixed[at] = near < spec->out.qmin ? spec->out.qmin : near > spec->out.qmax ? spec->out.qmax : near;
        struct fix *fix = &spec->fixes[spec->fix_count++];
        fix->x = (double)tensor_real(&spec->in, spec->in.qmin + at);
        fix->y = (double)tensor_real(&spec->out, small->fixed[at]);
    }
}

void small_draw(struct small *small, int number, bool tiny)
{
    state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(number + 1);
    for (int k = 0; k < 20; k++)
        draw(2);
    const struct format format = draw_format(number, tiny);
    const int codes = 1 << format.in_bits, field_bits = format.out_bits > 8 ? 16 : 8;
    if (draw(3) == 0)
        draw_function(small, &format);
    else
        draw_samples(small, &format);
    draw_fixes(small, codes);

    const struct spec *spec = &small->spec;
    small->problem = (struct brute_problem){.count = codes,
                                            .target = small->target,
                                            .fixed = small->fixed,
                                            .qmin_x = spec->in.qmin,
                                            .zp_x = spec->in.zero_point,
                                            .qmin_y = spec->out.qmin,
                                            .qmax_y = spec->out.qmax,
                                            .form = format.form,
                                            .rounding = format.rounding,
                                            .slope_bits = format.slope_bits,
                                            .offset_bits = format.form == BRUTE_BIASED ? 32 : 2 * field_bits,
                                            .accumulator_bits = 32};
    size_t length = strlen(small->text);
    length += (size_t)snprintf(small->text + length, sizeof small->text - length, "; case %d, targets", number);
    for (int k = 0; k < codes; k++) {
        length += (size_t)snprintf(small->text + length, sizeof small->text - length, " %.17g", small->target[k]);
        if (small->fixed[k] != BRUTE_FREE)
            length += (size_t)snprintf(small->text + length, sizeof small->text - length, "=%" PRId64, small->fixed[k]);
    }
}

bool small_is_exact(const struct small *small)
{
    if (!small->spec.in.scale.power_of_two)
        return false;
    for (int k = 0; k < small->problem.count; k++)
        if (4 * small->target[k] != rint(4 * small->target[k]))
            return false;
    return true;
}

void small_set(struct small *small, const char *flag, const char *value)
{
    struct diag diag;
    const size_t length = strlen(small->text);
    ck_assert_msg(spec_set(&small->spec, flag, value, &diag) == EXIT_DONE, "%s", diag.text);
    snprintf(small->text + length, sizeof small->text - length, "%s%s%s%s", "; ", flag, value ? " " : "",
             value ? value : "");
}
