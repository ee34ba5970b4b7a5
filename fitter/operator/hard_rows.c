/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hard_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "hard_elements.h"

/* Code k of a row of `length`, from 0 to `top`; `part` codes of these are what the shape is about. */
typedef uint32_t code_of(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state);

static uint32_t one_against_many(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)length, (void)state;
    return k == 0 ? top : top - part;
}

static uint32_t half_and_half(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)state;
    return k < (length + 1) / 2 ? top : top - part;
}

static uint32_t one_in_sixteen(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)length, (void)state;
    return k % 16 == 0 ? top : top - part;
}

static uint32_t alike(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)k, (void)length, (void)state;
    return top - part;
}

static uint32_t around_the_middle(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)length, (void)state;
    return k & 1 ? top / 2 + part / 2 : top / 2 - part / 2;
}

static uint32_t one_beside_the_middle(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)length, (void)state;
    return k ? top / 2 : top / 2 + (part < top / 2 ? part : top / 2);
}

static uint32_t uniform(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    (void)k, (void)length;
    return top - (uint32_t)(draw(state) % (part + 1));
}

/* The sum of four: near to normal. */
static uint32_t bell(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    int64_t v = top / 2;
    (void)k, (void)length;
    for (int j = 0; j < 4; j++)
        v += (int64_t)(draw(state) % (part / 2 + 1)) - part / 4;
    return (uint32_t)(v < 0 ? 0 : v > top ? top : v);
}

static uint32_t outliers(uint32_t k, uint32_t length, uint32_t top, uint32_t part, uint64_t *state)
{
    return draw(state) % 100 == 0 ? (uint32_t)(draw(state) % (top + 1)) : bell(k, length, top, part / 16, state);
}

static const struct shape {
    const char *name;
    code_of *code;
} structured[] = {{"one against many", one_against_many},   {"half and half", half_and_half},
                  {"one in sixteen", one_in_sixteen},       {"all alike", alike},
                  {"around the middle", around_the_middle}, {"one beside the middle", one_beside_the_middle}},
  drawn_shapes[] = {{"uniform", uniform}, {"bell", bell}, {"outliers", outliers}};

enum { PARTS = 112 };

/* Of 8 bits evenly spaced; of 16 bits half of them near to 0. */
static uint32_t part_of(int k, uint32_t top)
{
    if (top < 256 || k >= PARTS / 2)
        return (uint32_t)((uint64_t)top * (unsigned)k / (PARTS - 1));
    return (uint32_t)k * (uint32_t)k / 2;
}

struct measurement {
    const struct row_operator *of;
    struct packed_operator packed;
    long double *exp; /* softmax: exp(-s_x d) of each difference */
    void *x, *b, *y;  /* b: of add and weigh, else null */
    double *errors;
    take_row *take;
    void *context;
    const char *only; /* rows of these words alone are measured; null: all */
    int64_t rows;     /* so far, those too that were not measured */
};

/* What measured_row_text() begins with, without the place. */
static int row_text(const struct measured_row *row, char *text, size_t size)
{
    return snprintf(text, size, "%s, %" PRIu32 " codes apart, %" PRIu32 " places, %s ", row->shape, row->part,
                    row->length, row->is_of_channels ? "channel" : "place");
}

static bool is_wanted(const struct measurement *of, const struct measured_row *row)
{
    char text[160];
    return !of->only || strncmp(of->only, text, (size_t)row_text(row, text, sizeof text)) == 0;
}

/* Of a real output in LSB, less the zero point. */
static double error_at(const struct measurement *of, uint32_t k, long double real)
{
    const struct tensor *const out = &of->of->out;
    const long double target = real + (long double)out->zero_point;
    const long double low = (long double)out->qmin, high = (long double)out->qmax;
    return (double)((long double)operator_code(out, of->y, k) - (target < low ? low : target > high ? high : target));
}

static int64_t largest_code(const struct measurement *of, uint32_t length)
{
    const struct tensor *const in = &of->of->in;
    int64_t largest = in->qmin;
    for (uint32_t k = 0; k < length; k++)
        largest = operator_code(in, of->x, k) > largest ? operator_code(in, of->x, k) : largest;
    return largest;
}

static void softmax_errors(struct measurement *of, uint32_t length)
{
    const struct tensor *const in = &of->of->in;
    const long double scale = (long double)of->of->out.scale.value, step = (long double)in->scale.value / scale;
    const int64_t largest = largest_code(of, length);
    long double sum = 0;
    for (uint32_t k = 0; k < length; k++)
        sum += of->exp[largest - operator_code(in, of->x, k)];
    const long double log = logl(sum) / scale, share = 1 / (sum * scale);
    for (uint32_t k = 0; k < length; k++) {
        const int64_t d = largest - operator_code(in, of->x, k);
        of->errors[k] =
            error_at(of, k, of->of->kind == OPERATOR_SOFTMAX ? of->exp[d] * share : -(long double)d * step - log);
    }
}

static void weigh_errors(struct measurement *of, uint32_t length)
{
    const struct tensor *const in = &of->of->in, *const values = &of->of->in_b;
    const int64_t largest = largest_code(of, length);
    long double sum = 0, weighted[HARD_CHANNELS] = {0};
    for (uint32_t k = 0; k < length; k++) {
        const long double e = of->exp[largest - operator_code(in, of->x, k)];
        sum += e;
        for (uint32_t c = 0; c < HARD_CHANNELS; c++)
            weighted[c] += e * (operator_code(values, of->b, k * HARD_CHANNELS + c) - values->zero_point);
    }
    for (uint32_t c = 0; c < HARD_CHANNELS; c++)
        of->errors[c] = error_at(of, c, weighted[c] / sum * element_ratio(of->of, values));
}

static void norm_errors(struct measurement *of)
{
    const struct tensor *const in = &of->of->in;
    const long double n = of->of->length, scale = (long double)of->of->out.scale.value;
    const int64_t zero = of->of->kind == OPERATOR_LAYER_NORM ? 0 : in->zero_point;
    int64_t sum = 0, squares = 0;
    for (uint32_t c = 0; c < of->of->length; c++) {
        const int64_t u = operator_code(in, of->x, c) - zero;
        sum += u;
        squares += u * u;
    }
    const long double mean = of->of->kind == OPERATOR_LAYER_NORM ? sum / n : 0;
    const long double variance = (squares - mean * sum) / n;
    const long double root =
        sqrtl(variance + operator_eps(of->of) / (long double)in->scale.value / (long double)in->scale.value);
    for (uint32_t c = 0; c < of->of->length; c++) {
        const long double u = (long double)(operator_code(in, of->x, c) - zero) - mean;
        const long double t = u != 0 ? u / root : 0;
        of->errors[c] = error_at(of, c, (t * operator_gamma(of->of, c) + operator_beta(of->of, c)) / scale);
    }
}

/* Exact where the ratios of scales are. */
static void element_errors(struct measurement *of, uint32_t length)
{
    const struct tensor *const in = &of->of->in, *const in_b = &of->of->in_b;
    const long double ratio = element_ratio(of->of, in), ratio_b = of->b ? element_ratio(of->of, in_b) : 0;
    for (uint32_t k = 0; k < length; k++) {
        long double real = ratio * (operator_code(in, of->x, k) - in->zero_point);
        if (of->b)
            real += ratio_b * (operator_code(in_b, of->b, k) - in_b->zero_point);
        of->errors[k] = error_at(of, k, real);
    }
}

/* The row whose codes are in x and b. */
static void measure_filled(struct measurement *of, const char *shape, uint32_t part, uint32_t length)
{
    const bool is_weigh = of->of->kind == OPERATOR_WEIGH;
    struct measured_row row = {shape,    part,       length, of->x, of->y, of->b, is_weigh ? HARD_CHANNELS : length,
                               is_weigh, of->errors, 0};
    of->rows++;
    if (!is_wanted(of, &row))
        return;
    measured_row_run(&of->packed, &row, of->y);
    switch (operator_family(of->of->kind)) {
    case FAMILY_SOFTMAX:
        softmax_errors(of, length);
        break;
    case FAMILY_NORM:
        norm_errors(of);
        break;
    case FAMILY_ELEMENT:
        element_errors(of, length);
        break;
    case FAMILY_WEIGH:
        weigh_errors(of, length);
    }
    for (uint32_t k = 1; k < row.results; k++)
        if (fabs(of->errors[k]) > fabs(of->errors[row.worst]))
            row.worst = k;
    of->take(of->context, &row);
}

/* Weigh's values, which are ends of their type: of two channels each one end where an exponential is above what it
 * stands for, so that their errors add up; at the largest places; everywhere; at every other place, of which the last
 * channel's are drawn instead. */
static void draw_values(const struct measurement *of, uint32_t length, uint64_t *state)
{
    const struct tensor *const in = &of->of->in, *const values = &of->of->in_b;
    const uint64_t span = (uint64_t)(values->qmax - values->qmin + 1);
    const int64_t largest = largest_code(of, length);
    for (uint32_t k = 0; k < length; k++) {
        const uint32_t d = (uint32_t)(largest - operator_code(in, of->x, k));
        const bool is_above = ldexpl(pwl_softmax_exp(&of->packed.softmax, d), -of->of->fraction) > of->exp[d];
        const bool is_high[] = {is_above, d == 0, true, k & 1};
        for (uint32_t c = 0; c < HARD_CHANNELS; c++) {
            const int64_t end = is_high[c / 2] != (c & 1) ? values->qmax : values->qmin;
            const int64_t drawn = values->qmin + (int64_t)(draw(state) % span);
            operator_set_code(values, of->b, (size_t)k * HARD_CHANNELS + c, c < HARD_CHANNELS - 1 ? end : drawn);
        }
    }
}

static void measure_row(struct measurement *of, const struct shape *shape, uint32_t part, uint32_t length,
                        uint64_t *state)
{
    const struct tensor *const in = &of->of->in;
    const uint32_t top = (uint32_t)(in->qmax - in->qmin);
    for (uint32_t k = 0; k < length; k++)
        operator_set_code(in, of->x, k, in->qmin + shape->code(k, length, top, part, state));
    if (of->of->kind == OPERATOR_WEIGH)
        draw_values(of, length, state);
    measure_filled(of, shape->name, part, length);
}

static void measure_elements(struct measurement *of, int64_t drawn)
{
    struct element_row row;
    for (int64_t k = 0; hard_elements_row(of->of, k, drawn, of->x, of->b, &row); k++)
        measure_filled(of, row.shape, row.part, row.length);
}

/* Softmax takes shorter rows too. */
static void measure_structured(struct measurement *of)
{
    const uint32_t top = (uint32_t)(of->of->in.qmax - of->of->in.qmin), n = of->of->length;
    const uint32_t lengths[] = {n, 1, 2, 16, 256};
    uint64_t state = 0;
    for (size_t l = 0; l < (operator_is_norm(of->of->kind) ? 1 : sizeof lengths / sizeof *lengths); l++)
        for (size_t s = 0; lengths[l] <= n && s < sizeof structured / sizeof *structured; s++)
            /* All parts of the shapes that bounds are about; few of those of very long rows. */
            for (int k = 0; k<PARTS; k += s> 2 || n > 16384 ? 8 : 1)
                measure_row(of, &structured[s], part_of(k, top), lengths[l], &state);
}

static void measure_drawn(struct measurement *of, int64_t rows)
{
    const uint32_t top = (uint32_t)(of->of->in.qmax - of->of->in.qmin);
    uint64_t state = 0x7077c;
    for (int64_t k = 0; k < rows; k++) {
        /* One after the other: of two draws in an expression either may come first. */
        const uint64_t any_part = draw(&state), narrower = draw(&state) % 8;
        const uint32_t part = (uint32_t)(any_part % (top >> narrower)) + 1;
        const uint32_t shortest = operator_is_norm(of->of->kind) ? of->of->length : 1;
        const uint32_t length =
            k % 4 ? of->of->length : shortest + (uint32_t)(draw(&state) % (of->of->length - shortest + 1));
        measure_row(of, &drawn_shapes[k % 3], part, length, &state);
    }
}

void measured_row_run(const struct packed_operator *packed, const struct measured_row *row, void *y)
{
    packed_operator_run(packed, &(struct operator_row){row->x, row->b, y, row->length, row->results});
}

void measured_row_text(const struct measured_row *row, char *text, size_t size)
{
    const int length = row_text(row, text, size);
    snprintf(text + length, size - (size_t)length, "%" PRIu32, row->worst);
}

/* Fills what is not set, and measures. */
static int measure(struct measurement *work, int64_t drawn, struct diag *diag)
{
    const struct row_operator *const of = work->of;
    const bool is_element = operator_is_element(of->kind), has_exp = operator_has_exp(of->kind),
               has_in_b = operator_has_in_b(of->kind);
    const size_t length = is_element ? HARD_ELEMENTS : of->length, codes = has_exp ? (size_t)1 << of->in.bits : 0;
    const size_t results = length > HARD_CHANNELS ? length : HARD_CHANNELS;
    work->exp = has_exp ? malloc(codes * sizeof *work->exp) : NULL;
    work->x = malloc(4 * length);
    work->b = has_in_b ? malloc(2 * length * (is_element ? 1 : HARD_CHANNELS)) : NULL;
    work->y = malloc(2 * results);
    work->errors = malloc(results * sizeof *work->errors);
    if (!work->x || !work->y || !work->errors || (has_exp && !work->exp) || (has_in_b && !work->b)) {
        diag_set(diag, EXIT_IO, "out of memory for rows of %zu places", length);
    } else if (operator_pack(of, EXIT_USAGE, &work->packed, diag) == EXIT_DONE && is_element) {
        measure_elements(work, drawn);
    } else if (diag->code == EXIT_DONE) {
        for (size_t d = 0; d < codes; d++)
            work->exp[d] = expl(-(long double)of->in.scale.value * d);
        measure_structured(work);
        measure_drawn(work, drawn);
    }
    packed_operator_free(&work->packed);
    free(work->exp);
    free(work->x);
    free(work->b);
    free(work->y);
    free(work->errors);
    return diag->code;
}

int hard_rows_measure(const struct row_operator *of, int64_t drawn, take_row *take, void *context, struct diag *diag)
{
    struct measurement work = {.of = of, .take = take, .context = context};
    return measure(&work, drawn, diag);
}

struct claim {
    const struct operator_certificate *says;
    bool is_true;
};

static void compare_claim(void *context, const struct measured_row *row)
{
    struct claim *const claim = context;
    const double says = claim->says->max_err_lsb, error = fabs(row->errors[row->worst]);
    char text[sizeof claim->says->worst_row];
    measured_row_text(row, text, sizeof text);
    /* Written to six digits, by perhaps another processor's long double. */
    if (strcmp(text, claim->says->worst_row) == 0 && fabs(error - says) <= 1e-5 * error)
        claim->is_true = true;
}

int operator_check_measured(const struct row_operator *of, struct diag *diag)
{
    const struct operator_certificate *const says = &of->certificate;
    struct claim claim = {says, false};
    struct measurement work = {.of = of, .take = compare_claim, .context = &claim, .only = says->worst_row};
    if (of->standing != CERTIFICATE_OWN || measure(&work, hard_rows_default(of), diag))
        return diag->code;
    if (says->rows != work.rows)
        return diag_set(diag, EXIT_USAGE, "certificate: rows %" PRId64 ", must be %" PRId64 "; pwlc certify measures",
                        says->rows, work.rows);
    if (!claim.is_true)
        return diag_set(diag, EXIT_USAGE,
                        "certificate: worst_row \"%s\" has no error of max_err_lsb %.6g; pwlc certify gives a true one",
                        says->worst_row, says->max_err_lsb);
    return EXIT_DONE;
}

int64_t hard_rows_default(const struct row_operator *of)
{
    const int64_t places = (int64_t)1 << 20,
                  rows = places / (operator_is_element(of->kind) ? HARD_ELEMENTS : of->length);
    return rows < 32 ? 32 : rows > 1024 ? 1024 : rows;
}

static void take_worst(void *context, const struct measured_row *row)
{
    struct operator_certificate *const certificate = context;
    const double error = fabs(row->errors[row->worst]);
    if (certificate->rows++ == 0 || error > certificate->max_err_lsb) {
        certificate->max_err_lsb = error;
        measured_row_text(row, certificate->worst_row, sizeof certificate->worst_row);
    }
}

int operator_certify(struct row_operator *of, int64_t drawn, struct diag *diag)
{
    struct operator_certificate certificate = {0};
    if (operator_bound(of, &certificate, diag))
        return diag->code;
    if (!isfinite(certificate.bound_lsb) || !isfinite(certificate.root) || !isfinite(certificate.gamma) ||
        !isfinite(certificate.beta))
        return diag_set(diag, EXIT_REQUIREMENT,
                        "%s: no double holds the bound; must be smaller gamma and beta beside the scale %s of out",
                        operator_name(of->kind), of->out.scale.text);
    if (hard_rows_measure(of, drawn, take_worst, &certificate, diag))
        return diag->code;
    if (certificate.max_err_lsb > certificate.bound_lsb)
        return diag_set(diag, EXIT_IO, "%s: a row is off by %.9g LSB, beyond the bound %.9g; the proof is wrong (%s)",
                        operator_name(of->kind), certificate.max_err_lsb, certificate.bound_lsb, certificate.worst_row);
    of->certificate = certificate;
    of->standing = CERTIFICATE_OWN;
    return EXIT_DONE;
}
