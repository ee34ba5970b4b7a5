/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions and the largest codes of windows. Edges are [batch, channels, columns] or [batch, channels, rows,
 * columns]. A convolution is a product of a group's weights by its windows, some of which are copied side by side:
 *
 *                 channel 0, channel 1, ... of the group, each the kernel's rows and columns
 *   weights      | . . . . . . |  rows: output channels
 *   windows      | . . . . . . |  columns: places of the output
 */
#include "step.h"
#include "sum_codes.h"

/* An edge's rows and columns. */
typedef struct plane {
    size_t rows, columns;
} plane;

static plane plane_of(const pwl_network_shape *shape)
{
    const plane of = {shape->axes > 3 ? shape->at[2] : 1, shape->at[shape->axes - 1]};
    return of;
}

/* Whether a window makes so many places of `from`: the last lies within what is padded, and one more would not. */
static int makes(const pwl_network_window *window, uint64_t from, uint64_t to)
{
    const uint64_t reach = (uint64_t)window->dilation * (window->kernel - 1) + 1,
                   padded = from + 2 * (uint64_t)window->padding;
    return window->kernel >= 1 && window->stride >= 1 && window->dilation >= 1 && padded >= reach &&
           (to - 1) * window->stride <= padded - reach && padded - reach < to * window->stride;
}

/* The places that both edges have, by windows of rows and of columns. */
static int fits_window(const pwl_network_step *step, const pwl_network_window *window)
{
    const pwl_network_shape *const x = &step->x_shape[0], *const y = &step->y_shape;
    plane from, to;
    if ((x->axes != 3 && x->axes != 4) || y->axes != x->axes || x->at[0] != y->at[0])
        return 0;
    from = plane_of(x);
    to = plane_of(y);
    return makes(&window[0], from.rows, to.rows) && makes(&window[1], from.columns, to.columns);
}

static size_t length_of(const pwl_network_convolution *of)
{
    return (size_t)of->inputs * of->window[0].kernel * of->window[1].kernel;
}

/* One tap of the windows of some places of a row: what a row of the input has there, at columns `at` less padding and
 * each `stride` on, of which [0, columns) are. Codes go to each `length`. */
typedef struct tap {
    const void *row; /* null: beyond the ends */
    size_t columns, at, padding, stride, count, length;
    int64_t zero;
    void *to;
} tap;

#define COPY_TAP(type)                                                                                                 \
    for (k = 0; k < first; k++)                                                                                        \
        ((type *)of->to)[k * of->length] = (type)of->zero;                                                             \
    for (; k < last; k++)                                                                                              \
        ((type *)of->to)[k * of->length] = ((const type *)of->row)[of->at + k * of->stride - of->padding];             \
    for (; k < of->count; k++)                                                                                         \
        ((type *)of->to)[k * of->length] = (type)of->zero;

static void copy_tap(int bytes_log2, const tap *of)
{
    size_t first = 0, last = of->row ? of->count : 0, k; /* places [first, last) lie within */
    while (first < last && of->at + first * of->stride < of->padding)
        first++;
    while (last > first && of->at + (last - 1) * of->stride - of->padding >= of->columns)
        last--;
    if (bytes_log2 == 0) {
        COPY_TAP(uint8_t)
    } else if (bytes_log2 == 1) {
        COPY_TAP(uint16_t)
    } else {
        COPY_TAP(uint32_t)
    }
}

/* Windows of one tap that read place after place: TOGETHER channels at once, as codes of a window lie beside each
 * other. */
enum { TOGETHER = 8 };

#define COPY_PLACES(type)                                                                                              \
    for (c = 0; c < channels; c += together) {                                                                         \
        together = channels - c < TOGETHER ? 1 : TOGETHER;                                                             \
        for (k = 0; k < count; k++)                                                                                    \
            for (i = 0; i < together; i++)                                                                             \
                ((type *)to)[k * channels + c + i] = ((const type *)x)[(c + i) * plane_size + k];                      \
    }

static void copy_places(int bytes_log2, const void *x, size_t plane_size, size_t channels, size_t count, void *to)
{
    size_t c, k, i, together;
    if (bytes_log2 == 0)
        COPY_PLACES(uint8_t)
    else if (bytes_log2 == 1)
        COPY_PLACES(uint16_t)
    else
        COPY_PLACES(uint32_t)
}

static int is_of_places(const pwl_network_window *window)
{
    return window->kernel == 1 && window->stride == 1 && !window->padding;
}

/* Windows side by side of `count` places of a row of the output, from a column on, of the channels from code x_at on.
 */
static void copy_row(const pwl_network_step *step, size_t row, size_t column, size_t count, size_t x_at, char *to)
{
    const pwl_network_convolution *const of = step->node->of;
    const pwl_network_window *const rows = &of->window[0], *const columns = &of->window[1];
    const plane from = plane_of(&step->x_shape[0]);
    const int bytes_log2 = pwl_type_bytes_log2((pwl_type)step->in[0]->type);
    tap tap = {NULL, from.columns, 0, columns->padding, columns->stride, count, length_of(of), step->in[0]->zero_point,
               to};
    uint32_t c, i, j;
    for (c = 0; c < of->inputs; c++, x_at += from.rows * from.columns)
        for (i = 0; i < rows->kernel; i++) {
            const size_t y = row * rows->stride + (size_t)i * rows->dilation - rows->padding;
            tap.row = y < from.rows ? (const char *)step->x[0] + ((x_at + y * from.columns) << bytes_log2) : NULL;
            for (j = 0; j < columns->kernel; j++, to += (size_t)1 << bytes_log2) {
                tap.at = column * columns->stride + (size_t)j * columns->dilation;
                tap.to = to;
                copy_tap(bytes_log2, &tap);
            }
        }
}

/* Of places [at, at + count) of the output. */
static void copy_windows(const pwl_network_step *step, size_t at, size_t count, size_t x_at, char *to)
{
    const size_t columns = plane_of(&step->y_shape).columns, bytes = pwl_network_bytes_of(step->in[0]);
    size_t row = 0, piece;
    for (; at >= columns; at -= columns)
        row++;
    for (; count > 0; count -= piece, at = 0, row++) {
        piece = columns - at < count ? columns - at : count;
        copy_row(step, row, at, piece, x_at, to);
        to += piece * length_of(step->node->of) * bytes;
    }
}

/* Sums of channel `first + i` of the output, places [at, at + count). */
static void finish(const pwl_network_step *step, const pwl_network_sums *sums, size_t first, size_t y_at, size_t stride)
{
    const pwl_network_convolution *const of = step->node->of;
    size_t i;
    for (i = 0; i < sums->rows; i++) {
        const size_t c = first + i, which = of->factors.count > 1 ? c : 0;
        const pwl_network_rounding by = {of->bias + c, of->factors.factor + which, of->factors.shift + which, 0, 0};
        step->round(step->out, step->y, y_at + c * stride, sums->sums + i * sums->columns, sums->columns, &by);
    }
}

/* All places of one group's channels, from `first` on, `each` of them. */
static void run_group(const pwl_network_step *step, pwl_network_sums *sums, size_t first, size_t each, size_t x_at,
                      size_t y_at)
{
    const pwl_network_convolution *const of = step->node->of;
    const plane to = plane_of(&step->y_shape);
    const size_t places = to.rows * to.columns, length = length_of(of);
    const int bytes_log2 = pwl_type_bytes_log2((pwl_type)step->in[0]->type);
    char *const windows = (char *)step->scratch + PWL_NETWORK_TILE * sizeof(int64_t);
    size_t at, k;
    sums->b = windows;
    for (at = 0; at < places; at += sums->columns) {
        sums->columns = places - at < PWL_NETWORK_COLUMNS ? places - at : PWL_NETWORK_COLUMNS;
        if (is_of_places(&of->window[0]) && is_of_places(&of->window[1]))
            copy_places(bytes_log2, (const char *)step->x[0] + ((x_at + at) << bytes_log2), places, length,
                        sums->columns, windows);
        else
            copy_windows(step, at, sums->columns, x_at, windows);
        for (k = 0; k < each; k += PWL_NETWORK_ROWS) {
            sums->rows = each - k < PWL_NETWORK_ROWS ? each - k : PWL_NETWORK_ROWS;
            sums->a = of->weights + (first + k) * length;
            step->way.sum(sums);
            finish(step, sums, first + k, y_at + at, places);
        }
    }
}

/* Of a channel that reads one alone, sums go row by row of the window over places of a row, without windows: codes as
 * int16_t, of which SPAN are read for PWL_NETWORK_COLUMNS places, and so few taps that 32 bits hold any sum. */
enum { TAPS = 256, SPAN = 192 };

/* What `count` places of a row read of one, if it is not beyond 64 bits. */
static uint64_t span_of(const pwl_network_window *columns, uint64_t count)
{
    return (count - 1) * columns->stride + (uint64_t)(columns->kernel - 1) * columns->dilation + 1;
}

static int goes_by_taps(const pwl_network_step *step, size_t each)
{
    const pwl_network_convolution *const of = step->node->of;
    return each == 1 && of->inputs == 1 && step->in[0]->type <= PWL_S16 && length_of(of) <= TAPS &&
           span_of(&of->window[1], PWL_NETWORK_COLUMNS) <= SPAN;
}

/* `count` codes of a row of so many columns, which begins at x_at, from column `at` less `padding` on, and what stands
 * for those beyond. */
static void widen_row(const pwl_network_step *step, size_t x_at, size_t columns, size_t at, size_t padding,
                      size_t count, int16_t *codes)
{
    const size_t end = columns + padding;
    const size_t before = at < padding ? padding - at : 0, first = before < count ? before : count;
    const size_t inside = at < end ? end - at : 0, last = inside < count ? inside : count;
    size_t k;
    for (k = 0; k < first; k++)
        codes[k] = (int16_t)step->in[0]->zero_point;
    if (first < last)
        pwl_sum_widen(step->in[0]->type, step->x[0], x_at + at + first - padding, 1, last - first, 0, codes + first);
    for (k = first < last ? last : first; k < count; k++)
        codes[k] = (int16_t)step->in[0]->zero_point;
}

/* Adds all taps of places of a row of the output, from column `at` on. */
static void add_rows(const pwl_network_step *step, const int8_t *weights, size_t x_at, size_t row, size_t at,
                     int16_t *codes, pwl_network_taps *taps)
{
    const pwl_network_window *const rows = ((const pwl_network_convolution *)step->node->of)->window;
    const pwl_network_window *const columns = rows + 1;
    const plane from = plane_of(&step->x_shape[0]);
    const size_t count = (size_t)span_of(columns, taps->columns);
    uint32_t i;
    for (i = 0; i < rows->kernel; i++) {
        const size_t y = row * rows->stride + (size_t)i * rows->dilation - rows->padding;
        /* A row beyond the ends has no columns. */
        widen_row(step, x_at + y * from.columns, y < from.rows ? from.columns : 0, at * columns->stride,
                  columns->padding, count, codes);
        taps->weights = weights + i * columns->kernel;
        step->taps(taps);
    }
}

static void run_taps(const pwl_network_step *step, pwl_network_sums *sums, size_t channel, size_t x_at, size_t y_at)
{
    const pwl_network_convolution *const of = step->node->of;
    const pwl_network_window *const columns = &of->window[1];
    const plane to = plane_of(&step->y_shape);
    int16_t codes[SPAN];
    int32_t found[PWL_NETWORK_COLUMNS];
    pwl_network_taps taps = {codes, NULL, columns->kernel, 0, columns->stride, columns->dilation, found};
    size_t row, at, k;
    sums->rows = 1;
    for (k = 0; k < SPAN; k++) /* places that are left out read some of those beyond */
        codes[k] = (int16_t)step->in[0]->zero_point;
    for (row = 0; row < to.rows; row++)
        for (at = 0; at < to.columns; at += sums->columns) {
            sums->columns = to.columns - at < PWL_NETWORK_COLUMNS ? to.columns - at : PWL_NETWORK_COLUMNS;
            taps.columns = sums->columns;
            for (k = 0; k < PWL_NETWORK_COLUMNS; k++)
                found[k] = 0;
            add_rows(step, of->weights + channel * length_of(of), x_at, row, at, codes, &taps);
            for (k = 0; k < sums->columns; k++)
                sums->sums[k] = found[k];
            finish(step, sums, channel, y_at + row * to.columns + at, to.rows * to.columns);
        }
}

void pwl_network_run_convolution(const pwl_network_step *step)
{
    const pwl_network_convolution *const of = step->node->of;
    const plane from = plane_of(&step->x_shape[0]), to = plane_of(&step->y_shape);
    const size_t x_plane = from.rows * from.columns, y_plane = to.rows * to.columns;
    pwl_network_sums sums;
    size_t batch, first, each, x_at = 0;
    uint32_t group;
    for (each = 0; each * of->groups < of->channels;)
        each++;
    sums.a_type = PWL_S8;
    sums.b_type = step->in[0]->type;
    sums.is_narrow = of->is_narrow;
    sums.length = sums.a_stride = sums.b_stride = length_of(of);
    sums.b_step = 1;
    sums.a_zero = sums.b_zero = 0; /* the bias has what the zero point adds */
    sums.sums = step->scratch;
    for (batch = 0; batch < step->y_shape.at[0]; batch++)
        for (group = 0, first = 0; group < of->groups; group++, first += each, x_at += of->inputs * x_plane)
            if (goes_by_taps(step, each))
                run_taps(step, &sums, first, x_at, batch * of->channels * y_plane);
            else
                run_group(step, &sums, first, each, x_at, batch * of->channels * y_plane);
}

int pwl_network_fits_convolution(const pwl_network_step *step)
{
    const pwl_network_convolution *const of = step->node->of;
    return fits_window(step, of->window) && step->x_shape[0].at[1] == (uint64_t)of->inputs * of->groups &&
           step->y_shape.at[1] == of->channels;
}

static int divides(uint32_t part, uint32_t whole)
{
    uint64_t sum = 0;
    while (part && sum < whole)
        sum += part;
    return part && sum == whole;
}

pwl_status pwl_network_check_convolution(const pwl_network_step *step)
{
    const pwl_network_convolution *const of = step->node->of;
    const uint64_t length = (uint64_t)of->window[0].kernel * of->window[1].kernel;
    pwl_network_product product;
    if (!divides(of->groups, of->channels))
        return PWL_ERR_FIELD;
    if (length > PWL_NETWORK_EDGE || length * of->inputs > PWL_NETWORK_EDGE)
        return PWL_ERR_SIZE;
    product.weights = of->weights;
    product.bias = of->bias;
    product.factors.factor = of->factors.factor;
    product.factors.shift = of->factors.shift;
    product.factors.count = of->factors.count;
    product.channels = of->channels;
    product.length = (uint32_t)(length * of->inputs);
    product.is_narrow = of->is_narrow;
    /* What lies beyond the ends is a code as well. */
    if (!is_within(step->in[0]->zero_point, step->in[0]->qmin, step->in[0]->qmax) &&
        (of->window[0].padding || of->window[1].padding))
        return PWL_ERR_ZERO_POINT;
    return pwl_network_check_weights(step->in[0], &product);
}

uint64_t pwl_network_scratch_convolution(const pwl_network_step *step)
{
    const plane to = plane_of(&step->y_shape);
    const uint64_t places = (uint64_t)to.rows * to.columns;
    const uint64_t windows = places < PWL_NETWORK_COLUMNS ? places : PWL_NETWORK_COLUMNS;
    return PWL_NETWORK_TILE * sizeof(int64_t) + windows * length_of(step->node->of) * pwl_network_bytes_of(step->in[0]);
}

static int64_t largest_of(const pwl_network_step *step, size_t at, plane from, size_t row, size_t column)
{
    const pwl_network_max_pool *const of = step->node->of;
    int64_t largest = step->in[0]->qmin;
    uint32_t i, j;
    for (i = 0; i < of->window[0].kernel; i++)
        for (j = 0; j < of->window[1].kernel; j++) {
            const size_t y = row * of->window[0].stride + i - of->window[0].padding;
            const size_t k = column * of->window[1].stride + j - of->window[1].padding;
            const int64_t code =
                y < from.rows && k < from.columns
                    ? pwl_element_of((pwl_type)step->in[0]->type, step->x[0], at + y * from.columns + k)
                    : largest;
            largest = code > largest ? code : largest;
        }
    return largest;
}

void pwl_network_run_max_pool(const pwl_network_step *step)
{
    const plane from = plane_of(&step->x_shape[0]), to = plane_of(&step->y_shape);
    const size_t planes = step->y_shape.at[0] * step->y_shape.at[1];
    size_t k, row, column, at = 0;
    for (k = 0; k < planes; k++)
        for (row = 0; row < to.rows; row++)
            for (column = 0; column < to.columns; column++, at++)
                pwl_set_element_of((pwl_type)step->out->type, step->y, at,
                                   largest_of(step, k * from.rows * from.columns, from, row, column));
}

int pwl_network_fits_max_pool(const pwl_network_step *step)
{
    const pwl_network_max_pool *const of = step->node->of;
    int k;
    for (k = 0; k < 2; k++)
        if (of->window[k].dilation != 1 || 2 * (uint64_t)of->window[k].padding > of->window[k].kernel)
            return 0;
    return fits_window(step, of->window) && step->x_shape[0].at[1] == step->y_shape.at[1];
}
