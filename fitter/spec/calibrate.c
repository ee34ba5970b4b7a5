/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/suggest.h"
#include "function/elementary.h"
#include "io/npy.h"

#define ZERO_POINT_LIMIT 0x1p40L /* no table is provable with a zero point as large */

int calibrate_by_parse(const char *text, const char *flag, enum calibrate_by *by, double *percent, struct diag *diag)
{
    static const char prefix[] = "percentile=";
    static const char *const names[] = {"minmax", "percentile=P", "mse", NULL};
    const size_t length = sizeof prefix - 1;
    if (strcmp(text, "minmax") == 0) {
        *by = CALIBRATE_MINMAX;
    } else if (strcmp(text, "mse") == 0) {
        *by = CALIBRATE_MSE;
    } else if (strncmp(text, prefix, length) == 0) {
        *by = CALIBRATE_PERCENTILE;
        if (number_real(text + length, strlen(text + length), percent) != NUMBER_OK ||
            !(*percent > 0 && *percent <= 100))
            return diag_set(diag, EXIT_USAGE, "%s %s: the percentage must be above 0 and at most 100, such as 99.9",
                            flag, text);
    } else {
        char meant[SUGGESTION_SIZE];
        return diag_set(diag, EXIT_USAGE, "%s %.60s: must be minmax, percentile=P or mse%s", flag, text,
                        suggestion(text, names, "", meant));
    }
    return EXIT_DONE;
}

int range_parse(const char *text, const char *flag, double *low, double *high, struct diag *diag)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL || number_real(text, (size_t)(colon - text), low) != NUMBER_OK ||
        number_real(colon + 1, strlen(colon + 1), high) != NUMBER_OK)
        return diag_set(diag, EXIT_USAGE, "%s %s: must be LO:HI, two real numbers such as -8:8", flag, text);
    if (!(*low < *high))
        return diag_set(diag, EXIT_USAGE, "%s %s: LO must be below HI", flag, text);
    return EXIT_DONE;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int calibration_parse(const void *bytes, size_t size, double **values, size_t *count, struct diag *diag)
{
    struct npy npy;
    *values = NULL;
    *count = 0;
    const int code = npy_parse(bytes, size, &npy, diag);
    if (code != EXIT_DONE)
        return code;
    if (npy.kind != 'f')
        return diag_set(diag, EXIT_USAGE, "elements are integers; must be float16, float32 or float64");
    if (npy.count == 0)
        return diag_set(diag, EXIT_USAGE, "no elements; at least 2 different values are needed");
    /* count is at most the bytes of a file, which FILE_MAX_BYTES keeps far below SIZE_MAX / sizeof(double) */
    double *result = malloc(npy.count * sizeof *result);
    if (result == NULL)
        return diag_set(diag, EXIT_IO, "out of memory for %zu values", npy.count);
    for (size_t i = 0; i < npy.count; i++) {
        result[i] = npy_real(&npy, i) + 0.0; /* -0 is 0 */
        if (!isfinite(result[i])) {
            diag_set(diag, EXIT_USAGE, "element %zu is %s; all must be finite", i,
                     isnan(result[i]) ? "not a number" : "infinite");
            free(result);
            return diag->code;
        }
    }
    qsort(result, npy.count, sizeof *result, compare_doubles);
    *values = result;
    *count = npy.count;
    return EXIT_DONE;
}

int calibration_read(const char *path, double **values, size_t *count, struct diag *diag)
{
    unsigned char *bytes;
    size_t size;
    *values = NULL;
    *count = 0;
    int code = file_read(path, FILE_MAX_BYTES, &bytes, &size, diag);
    if (code != EXIT_DONE)
        return code;
    code = calibration_parse(bytes, size, values, count, diag);
    free(bytes);
    return code == EXIT_DONE ? code : diag_prefix(diag, path);
}

static double scale_for_range(const struct tensor *codes, real low, real high, bool powers_of_two)
{
    const bool symmetric = codes->is_signed && low == -high;
    const real exact = symmetric ? high / (real)codes->qmax : (high - low) / (real)(codes->qmax - codes->qmin);
    const double scale = (double)exact;
    if (!powers_of_two)
        return scale;
    int exponent;
    const double mantissa = frexp(scale, &exponent); /* in [0.5, 1) */
    return ldexp(1, mantissa == 0.5 ? exponent - 1 : exponent);
}

int tensor_set_range(struct tensor *tensor, real low, real high, bool powers_of_two, const char *flag,
                     struct diag *diag)
{
    const double scale = scale_for_range(tensor, low, high, powers_of_two);
    if (!scale_of_value(scale, &tensor->scale))
        return diag_set(diag, EXIT_USAGE, "%s: the range %.6Lg to %.6Lg needs the scale %.6g, outside 2^-64 to 2^64",
                        flag, (long double)low, (long double)high, scale);
    const bool symmetric = tensor->is_signed && low == -high;
    const real zero_point = symmetric ? 0 : real_nearest((real)tensor->qmin - low / tensor->scale.value);
    if (!(real_abs(zero_point) <= ZERO_POINT_LIMIT))
        return diag_set(diag, EXIT_USAGE, "%s: the range %.9Lg to %.9Lg is too far from 0 for its width", flag,
                        (long double)low, (long double)high);
    tensor->zero_point = (int64_t)zero_point;
    return EXIT_DONE;
}

/* The nearest value of a type. */
struct rounding {
    double scale, inverse, first, last;
};

static struct rounding rounding_of(const struct tensor *tensor)
{
    const double scale = (double)tensor->scale.value;
    return (struct rounding){scale, 1 / scale, (double)(tensor->qmin - tensor->zero_point),
                             (double)(tensor->qmax - tensor->zero_point)};
}

static double rounded(const struct rounding *rounding, double value)
{
    return rounding->scale * fmin(fmax(rint(value * rounding->inverse), rounding->first), rounding->last);
}

static double squared_errors(const double *values, size_t count, const struct rounding *rounding)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double error = values[i] - rounded(rounding, values[i]);
        sum += error * error;
    }
    return sum;
}

double calibration_mse(const double *values, size_t count, const struct tensor *tensor)
{
    const struct rounding rounding = rounding_of(tensor);
    return squared_errors(values, count, &rounding) / (double)count;
}

/* numpy's default: the quantile's place between two sorted values, and a straight line there. */
static double quantile(const double *values, size_t count, double share)
{
    const double place = share * (double)(count - 1);
    const size_t below = (size_t)place;
    if (below + 1 >= count)
        return values[count - 1];
    const double part = place - (double)below;
    return values[below] * (1 - part) + values[below + 1] * part;
}

/* The search for the least squared error. An end is median + (extreme - median) * 2^(-shrink / UNIT), shrink counted in
 * the finest steps. */
#define UNIT 256               /* steps that halve an end's distance */
#define COARSEST (UNIT / 4)    /* first step */
#define SHRINK_MAX (16 * UNIT) /* nothing is gained by clipping all but 2^-16 of the range */

#define RUN 256 /* values; of many, most runs lie between two neighbouring codes */

/* Neighbours among the sorted values. */
struct run {
    double mean, squares; /* the sum of squares about the mean */
};

struct search {
    const double *values;
    size_t count;
    struct run *runs;
    const struct tensor *codes;
    bool powers_of_two;
    double median;
    int shrink[2]; /* of the lower and the upper end */
    double best;   /* sum of squared errors there */
};

static size_t run_length(const struct search *search, size_t run)
{
    const size_t left = search->count - run * RUN;
    return left < RUN ? left : RUN;
}

static bool find_runs(struct search *search)
{
    const size_t runs = (search->count + RUN - 1) / RUN;
    search->runs = malloc(runs * sizeof *search->runs);
    for (size_t r = 0; search->runs && r < runs; r++) {
        const double *values = search->values + r * RUN;
        const size_t length = run_length(search, r);
        struct run *run = &search->runs[r];
        *run = (struct run){values[0], 0};
        for (size_t i = 1; i < length; i++) { /* Welford's update */
            const double step = values[i] - run->mean;
            run->mean += step / (double)(i + 1);
            run->squares += step * (values[i] - run->mean);
        }
    }
    return search->runs != NULL;
}

/* Sum of squared errors; when it exceeds the best so far, any value above that. Values of a run that share a code are
 * off by the run's squares about its mean, and by what the mean is off. */
static double search_errors(const struct search *search, const struct tensor *tensor)
{
    const struct rounding rounding = rounding_of(tensor);
    double sum = 0;
    for (size_t r = 0; r * RUN < search->count && sum <= search->best; r++) {
        const double *values = search->values + r * RUN;
        const size_t length = run_length(search, r);
        const double low = rounded(&rounding, values[0]), error = search->runs[r].mean - low;
        sum += low == rounded(&rounding, values[length - 1]) ? search->runs[r].squares + (double)length * error * error
                                                             : squared_errors(values, length, &rounding);
    }
    return sum;
}

static double search_end(const struct search *search, int end, int shrink)
{
    const double extreme = search->values[end ? search->count - 1 : 0];
    return search->median + (extreme - search->median) * dd_exp2(dd_of(-(double)shrink / UNIT)).hi;
}

/* Whether another place of one end is better; then it is taken. */
static bool search_try(struct search *search, int end, int shrink)
{
    struct tensor tensor = *search->codes;
    struct diag ignored;
    int shrinks[2] = {search->shrink[0], search->shrink[1]};
    shrinks[end] = shrink;
    const double low = search_end(search, 0, shrinks[0]), high = search_end(search, 1, shrinks[1]);
    if (shrink < 0 || shrink > SHRINK_MAX || !(low < high) ||
        tensor_set_range(&tensor, low, high, search->powers_of_two, "", &ignored) != EXIT_DONE)
        return false;
    const double sum = search_errors(search, &tensor);
    if (!(sum < search->best))
        return false;
    search->best = sum;
    search->shrink[end] = shrink;
    return true;
}

static void search_range(struct search *search)
{
    search->best = INFINITY;
    search_try(search, 0, 0);
    for (bool better = true; better;) {
        better = false;
        for (int end = 0; end < 2; end++)
            for (int shrink = 0; shrink <= SHRINK_MAX; shrink += COARSEST)
                better |= search_try(search, end, shrink);
    }
    for (int step = COARSEST / 4; step >= 1; step /= 4) {
        for (bool better = true; better;) {
            better = false;
            for (int end = 0; end < 2; end++) {
                const int centre = search->shrink[end];
                for (int k = -4; k <= 4; k++)
                    better |= k != 0 && search_try(search, end, centre + k * step);
            }
        }
    }
}

int calibrate(const double *values, size_t count, enum calibrate_by by, double percent, const struct tensor *codes,
              bool powers_of_two, const char *flag, double *low, double *high, struct diag *diag)
{
    *low = values[0];
    *high = values[count - 1];
    if (!(*low < *high))
        return diag_set(diag, EXIT_USAGE, "%s: every value is %.9g; at least 2 different values are needed", flag,
                        *low);
    if (by == CALIBRATE_PERCENTILE) {
        const double cut = (100 - percent) / 200;
        *low = quantile(values, count, cut);
        *high = quantile(values, count, 1 - cut);
        if (!(*low < *high))
            return diag_set(diag, EXIT_USAGE, "%s: the middle %.9g %% of the values are all %.9g; take more of them",
                            flag, percent, *low);
    } else if (by == CALIBRATE_MSE) {
        struct search search = {.values = values,
                                .count = count,
                                .codes = codes,
                                .powers_of_two = powers_of_two,
                                .median = quantile(values, count, 0.5)};
        if (!find_runs(&search))
            return diag_set(diag, EXIT_IO, "out of memory for %zu values", count);
        search_range(&search);
        free(search.runs);
        *low = search_end(&search, 0, search.shrink[0]);
        *high = search_end(&search, 1, search.shrink[1]);
    }
    return EXIT_DONE;
}
