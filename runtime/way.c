/* SPDX-License-Identifier: Apache-2.0 */
#include "ways.h"

#include "convert.h"
#include "span.h"

const pwl_way pwl_ways[] = {
#define COST(...)                                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define WAY(name, level, kind, lines, cost, even) {#name, level, &pwl_kind_##kind, lines, COST cost, even, pwl_##name},
    PWL_WAYS(WAY)
#undef WAY
#undef COST
};
const size_t pwl_way_count = sizeof pwl_ways / sizeof *pwl_ways;

/* Kinds of the list: "values"; "bytes", whose ways all need instructions of a level; those that evaluate lines. The
 * compiler drops what serves none. */
#if defined(PWL_HAVE_AVX512) || defined(PWL_HAVE_AVX2) || defined(PWL_HAVE_SSE41) || defined(PWL_HAVE_NEON) ||         \
    defined(PWL_HAVE_HELIUM) || defined(PWL_HAVE_RVV)
enum { HAS_BYTES = 1 };
#else
enum { HAS_BYTES = 0 };
#endif
enum { HAS_LINES = PWL_MOST_BITS > 8 };

pwl_source pwl_source_of(const pwl_table *table)
{
    pwl_source source;
    source.table = table;
    source.reduced = NULL;
    source.qmin_x = table->qmin_x;
    source.lines = HAS_LINES ? pwl_span_count(table) : table->segments;
    return source;
}

pwl_source pwl_source_of_reduced(const pwl_reduced *reduced)
{
    pwl_source source = pwl_source_of(&reduced->core);
    source.reduced = reduced;
    source.qmin_x = reduced->reduction.qmin_x;
    return source;
}

/* The type of so many bytes that holds codes from `min` on. */
static pwl_type type_of(int log2_bytes, int64_t min)
{
    return (pwl_type)(2 * log2_bytes + (min >= 0));
}

/* `wanted` where it has so many bytes, or any number will do. */
static pwl_type wanted_or(pwl_type wanted, int bytes, int64_t min)
{
    if (bytes == 0 || bytes == 1 << pwl_type_bytes_log2(wanted))
        return wanted;
    return type_of(bytes == 1 ? 0 : bytes == 2 ? 1 : 2, min);
}

/* The narrowest type that holds the values, where it is narrower than `wanted`. */
static pwl_type narrowest(const pwl_table *table, pwl_type wanted)
{
    int log2_bytes;
    for (log2_bytes = 0; log2_bytes < pwl_type_bytes_log2(wanted); log2_bytes++)
        if (pwl_fits(table, type_of(log2_bytes, table->qmin_y)))
            return type_of(log2_bytes, table->qmin_y);
    return wanted;
}

/* The codes of an array of so many bits, of which each has its value: those of the array's type, or of the narrower
 * type that holds all codes of the table, to which they are clipped. */
static pwl_type tabulated(const pwl_kind *kind, const pwl_source *source, pwl_type in)
{
    const pwl_type type = type_of(kind->out_bytes == PWL_JOINED ? 0 : 1, source->qmin_x);
    const int holds = !source->reduced && pwl_type_lowest(type) <= source->table->qmin_x &&
                      source->table->qmax_x <= pwl_type_highest(type);
    return pwl_type_bytes_log2(in) > pwl_type_bytes_log2(type) && holds ? type : in;
}

static pwl_job job_of(const pwl_kind *kind, const pwl_source *source, pwl_type in, pwl_type out)
{
    pwl_job job;
    job.table = source->table;
    job.reduced = source->reduced;
    job.lines = source->lines;
    job.counted = 0;
    job.in = in;
    job.out = out;
    if (HAS_LINES)
        job.in = kind->in_bytes ? wanted_or(in, kind->in_bytes, source->qmin_x) : tabulated(kind, source, in);
    if ((HAS_BYTES && kind->out_bytes == PWL_JOINED) || (HAS_LINES && kind->in_bytes == 0 && job.in != in))
        job.out = narrowest(source->table, out);
    else if (HAS_LINES)
        job.out = wanted_or(out, kind->out_bytes, source->table->qmin_y);
    return job;
}

#if PWL_MOST_BITS > 8
/* log2(v), rounded up. */
static int log2_of(size_t v)
{
    int log2 = 0;
    while (((size_t)1 << log2) < v)
        log2++;
    return log2;
}

/* Of lines, by powers of two: between two sizes the cost is on the line from one to the other. */
static uint32_t cost_of_lines(const pwl_way *way, uint32_t lines)
{
    /* log2 of the sizes, and of how many powers of two each lies beyond the one before it */
    static const uint8_t size[PWL_SIZES] = {4, 5, 6, 7, 9, 13}, distance[PWL_SIZES] = {0, 0, 0, 0, 1, 2};
    const int log2 = log2_of(lines);
    int k = 0;
    while (k + 1 < PWL_SIZES && log2 > size[k])
        k++;
    if (log2 >= size[k] || k == 0)
        return way->cost[k];
    return way->cost[k] - ((uint32_t)((way->cost[k] - way->cost[k - 1]) * (size[k] - log2)) >> distance[k]);
}

/* Whether the values of all codes that a table has are at most 16 KiB, which the nearest cache holds. */
static int reads_little(const pwl_job *job)
{
    const int64_t codes = job->reduced ? INT64_MAX : job->table->qmax_x - job->table->qmin_x;
    return job->in < PWL_S16 || codes < (int64_t)1 << (14 - pwl_type_bytes_log2(job->out));
}

/*
 * The sizes are: of kind "bytes", values of 1, 2 and 4 bytes; of kind "values", up to 16 KiB that are read, 64, 128
 * and 256 KiB; of all others, up to 16, 32, 64, 128, 512 and 8192 lines.
 */
static uint32_t cost_of(const pwl_way *way, const pwl_job *job, pwl_type in, pwl_type out)
{
    /* Of a conversion, by the bytes of the array's and of the kernel's elements, log2. */
    static const uint16_t codes[3][3] = {{0, 80, 100}, {20, 0, 80}, {40, 240, 0}};
    static const uint16_t values[3][3] = {{0, 80, 70}, {60, 0, 70}, {90, 50, 0}};
    uint32_t cost = codes[pwl_type_bytes_log2(in)][pwl_type_bytes_log2(job->in)] +
                    (uint32_t)values[pwl_type_bytes_log2(out)][pwl_type_bytes_log2(job->out)];
    if (way->kind == &pwl_kind_bytes)
        return cost + way->cost[pwl_type_bytes_log2(job->out)];
    if (way->kind == &pwl_kind_values)
        return cost + way->cost[reads_little(job) ? 0 : 1 + pwl_type_bytes_log2(job->out)];
    if (pwl_is_even(job->table))
        cost += way->even;
    return cost + cost_of_lines(way, way->kind->count ? job->counted : job->lines);
}
#else
/* The list has no other kinds than "bytes" and "values", which come in the order of their costs. */
static uint32_t cost_of(const pwl_way *way, const pwl_job *job, pwl_type in, pwl_type out)
{
    (void)job, (void)in, (void)out;
    return way->cost[0];
}
#endif

uint32_t pwl_way_look(const pwl_way *way, const pwl_source *source, pwl_type in, pwl_type out, uint32_t below,
                      size_t *bytes)
{
    const int serves = way->kind->serves & (PWL_SERVES_REDUCED && source->reduced ? PWL_REDUCED : PWL_TABLES);
    pwl_job job = job_of(way->kind, source, in, out);
    uint32_t cost;
    *bytes = 0;
    if (!serves || job.lines > way->lines)
        return UINT32_MAX;
    if (way->kind->count)
        job.counted = way->kind->count(&job);
    cost = cost_of(way, &job, in, out);
    if (cost < below)
        *bytes = way->kind->size(&job);
    if (*bytes)
        *bytes += PWL_KIND_ALIGNMENT - 1;
    return cost;
}

size_t pwl_way_bytes(const pwl_way *way, const pwl_source *source, pwl_type in, pwl_type out)
{
    size_t bytes;
    (void)pwl_way_look(way, source, in, out, UINT32_MAX, &bytes);
    return bytes;
}

uint32_t pwl_way_cost(const pwl_way *way, const pwl_source *source, pwl_type in, pwl_type out)
{
    size_t bytes;
    return pwl_way_look(way, source, in, out, 0, &bytes);
}

/* What runs the way's kernel for arrays of other types: as wide as the way's own instructions. */
static void (*converted(const pwl_way *way))(const pwl_plan *, const void *, void *, size_t)
{
    const int joins = way->kind->out_bytes == PWL_JOINED;
#ifdef PWL_HAVE_AVX2
    /* Every processor with AVX-512 has AVX2. */
    if (way->level & (PWL_LEVEL_AVX2 | PWL_LEVEL_AVX512 | PWL_LEVEL_AVX512VBMI))
        return joins ? pwl_run_joined_avx2 : pwl_run_converted_avx2;
#endif
    return HAS_BYTES && joins ? pwl_run_joined : pwl_run_converted;
}

void pwl_way_prepare(const pwl_way *way, pwl_plan *plan, void *memory, const pwl_source *source, pwl_type in,
                     pwl_type out)
{
    const pwl_job job = job_of(way->kind, source, in, out);
    char *const aligned = (char *)memory + (-(uintptr_t)memory & (PWL_KIND_ALIGNMENT - 1));
    way->kind->prepare(&job, aligned);
    plan->run = plan->kernel = way->kernel;
    /* Of kind "bytes", job.out may be the array's own, of more bytes than one. */
    if ((HAS_BYTES || HAS_LINES) &&
        (job.in != in || job.out != out || (way->kind->out_bytes == PWL_JOINED && pwl_type_bytes_log2(out) > 0)))
        plan->run = converted(way);
    plan->memory = aligned;
    plan->table = source->table;
    plan->way = way->name;
    plan->in = (uint8_t)in;
    plan->out = (uint8_t)out;
    plan->kernel_in = (uint8_t)job.in;
    plan->kernel_out = (uint8_t)job.out;
}
