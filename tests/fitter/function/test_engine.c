/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parsers of muParser are made one at a time, whatever engines and threads they are for. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <muParserDLL.h>

#include "function/engine.h"

#include "../../support/suite.h"

#define THREADS 4
#define ENGINES 20 /* of each */

static atomic_int inside, most, made;

/* In place of the library's: counts, and waits for others that might come in. */
muParserHandle_t mupCreate(int type)
{
    muParserHandle_t (*create)(int);
    void *const symbol = dlsym(RTLD_NEXT, "mupCreate");
    memcpy(&create, &symbol, sizeof create);
    const int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most))
        atomic_store(&most, now);
    usleep(500);
    muParserHandle_t const handle = create(type);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&made, 1);
    return handle;
}

static struct engine *shared;

static void *make_and_use(void *context)
{
    for (int i = 0; i < ENGINES; i++) {
        struct engine *engine;
        struct diag diag = {0};
        if (engine_create("x*x+1", "--expr", &engine, &diag) != EXIT_DONE || engine_value(engine, 3) != 10 ||
            engine_value(shared, 2) != 5)
            *(int *)context = 1;
        engine_free(engine);
    }
    return NULL;
}

START_TEST(parsers_are_made_one_at_a_time)
{
    pthread_t threads[THREADS];
    int failed[THREADS] = {0};
    struct diag diag = {0};
    ck_assert_int_eq(engine_create("x*x+1", "--expr", &shared, &diag), EXIT_DONE);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_and_use, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(failed[i], 0);
    }
    engine_free(shared);
    ck_assert_int_gt(atomic_load(&made), THREADS * ENGINES);
    ck_assert_int_eq(atomic_load(&most), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine");
    TCase *cases = tcase_create("engine");
    tcase_add_test(cases, parsers_are_made_one_at_a_time);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
