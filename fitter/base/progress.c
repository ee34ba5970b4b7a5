/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_LINE 1.0  /* seconds until a run counts as long */
#define LINE_EVERY 0.25 /* seconds between lines */
#define NAME_SIZE 40

static char program[NAME_SIZE] = "pwlc";
static atomic_flag taken = ATOMIC_FLAG_INIT; /* a progress has the terminal */

/* The last progress_step(). Parts of two may be seen together, for a quarter of a second. */
static _Atomic(const char *) step_words;
static atomic_uint_fast64_t step_done, step_total;

void progress_name(const char *name)
{
    snprintf(program, sizeof program, "%s", name);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* "14 s", "3 min 20 s", "2 h 5 min" */
static void time_text(double seconds, char *text, size_t size)
{
    const long long whole = seconds < 1e9 ? (long long)seconds : 1000000000;
    if (whole < 60)
        snprintf(text, size, "%lld s", whole);
    else if (whole < 3600)
        snprintf(text, size, "%lld min %lld s", whole / 60, whole % 60);
    else
        snprintf(text, size, "%lld h %lld min", whole / 3600, whole % 3600 / 60);
}

/* "12.3 M", "850" */
static void rate_text(double rate, char *text, size_t size)
{
    static const char *const prefixes[] = {"", " k", " M", " G"};
    int i = 0;
    for (; i < 3 && rate >= 1000; i++)
        rate /= 1000;
    snprintf(text, size, "%.3g%s", rate, prefixes[i]);
}

/* "pwlc fit: measuring, 45 %, 12 s": where nothing is counted. */
static void draw_step(const char *spent)
{
    const char *words = atomic_load(&step_words);
    const uint64_t done = atomic_load(&step_done), total = atomic_load(&step_total);
    fprintf(stderr, "\r%s: ", program);
    if (words && done < total)
        fprintf(stderr, "%s, %.0f %%, ", words, 100 * (double)done / (double)total);
    else if (words)
        fprintf(stderr, "%s, ", words);
    fprintf(stderr, "%s\033[K", spent);
}

static void draw(struct progress *progress)
{
    const double elapsed = seconds_since(&progress->start);
    const uint64_t done = atomic_load(&progress->done), total = atomic_load(&progress->total);
    char spent[32], left[32], rate[32];
    time_text(elapsed, spent, sizeof spent);
    rate_text((double)done / elapsed, rate, sizeof rate);
    if (done == 0 && total == 0) {
        draw_step(spent);
    } else if (done == 0) {
        fprintf(stderr, "\r%s: %s\033[K", program, spent);
    } else if (total == 0) {
        fprintf(stderr, "\r%s: %" PRIu64 " %s, %s/s, %s\033[K", program, done, progress->unit, rate, spent);
    } else {
        const double share = done < total ? (double)done / (double)total : 1;
        time_text(elapsed * (1 - share) / share + 1, left, sizeof left); /* never 0 s */
        fprintf(stderr, "\r%s: %.0f %% of %" PRIu64 " %s, %s/s, %s left\033[K", program, 100 * share, total,
                progress->unit, rate, left);
    }
    fflush(stderr);
    progress->drawn = true;
}

static void *draw_until_the_end(void *argument)
{
    struct progress *progress = argument;
    double next = FIRST_LINE;
    pthread_mutex_lock(&progress->lock);
    while (!progress->ended) {
        struct timespec until = progress->start;
        until.tv_sec += (time_t)next;
        until.tv_nsec += (long)(1e9 * (next - (double)(time_t)next));
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        if (pthread_cond_timedwait(&progress->end, &progress->lock, &until) == 0 || progress->ended)
            continue;
        draw(progress);
        next = seconds_since(&progress->start) + LINE_EVERY;
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void progress_begin(struct progress *progress, const char *unit, uint64_t total)
{
    progress->unit = unit;
    atomic_init(&progress->total, total);
    atomic_init(&progress->done, 0);
    progress->drawn = progress->ended = progress->shown = false;
    if (!isatty(STDERR_FILENO) || atomic_flag_test_and_set(&taken))
        return;
    atomic_store(&step_words, NULL);
    pthread_condattr_t clock;
    clock_gettime(CLOCK_MONOTONIC, &progress->start);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->end, &clock);
    pthread_condattr_destroy(&clock);
    progress->shown = pthread_create(&progress->drawer, NULL, draw_until_the_end, progress) == 0;
    if (!progress->shown)
        atomic_flag_clear(&taken);
}

void progress_add(struct progress *progress, uint64_t count)
{
    atomic_fetch_add_explicit(&progress->done, count, memory_order_relaxed);
}

void progress_set(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    atomic_store_explicit(&progress->total, total, memory_order_relaxed);
    atomic_store_explicit(&progress->done, done, memory_order_relaxed);
}

void progress_step(const char *what, uint64_t done, uint64_t total)
{
    atomic_store_explicit(&step_words, what, memory_order_relaxed);
    atomic_store_explicit(&step_done, done, memory_order_relaxed);
    atomic_store_explicit(&step_total, total, memory_order_relaxed);
}

void progress_end(struct progress *progress)
{
    if (!progress->shown)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->ended = true;
    pthread_cond_signal(&progress->end);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->drawer, NULL);
    pthread_cond_destroy(&progress->end);
    pthread_mutex_destroy(&progress->lock);
    if (progress->drawn)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
    atomic_flag_clear(&taken);
}
