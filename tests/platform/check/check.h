/* SPDX-License-Identifier: Apache-2.0 */
/* As much of Check as a test needs that runs on another platform, where no Check is built: each test runs as it is
 * added, and the first assertion that fails ends the program with status 1. */
#ifndef PLATFORM_CHECK_H
#define PLATFORM_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Suite, TCase, SRunner;
typedef void platform_test(int _i);

#define START_TEST(name)                                                                                               \
    static void name(int _i)                                                                                           \
    {                                                                                                                  \
        (void)_i;
#define END_TEST }

#define ck_abort_msg(...) (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), puts(""), exit(1))
#define ck_assert_msg(condition, ...) ((condition) ? (void)0 : ck_abort_msg(__VA_ARGS__))
#define ck_assert(condition) ((condition) ? (void)0 : ck_abort_msg("%s fails", #condition))
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_mem_eq(a, b, bytes) ck_assert(memcmp(a, b, bytes) == 0)

enum { CK_NOFORK, CK_ENV };

static inline Suite *suite_create(const char *name)
{
    static Suite suite;
    printf("%s\n", name);
    return &suite;
}

static inline TCase *tcase_create(const char *name)
{
    static TCase tcase;
    (void)name;
    return &tcase;
}

static inline void platform_run(const char *name, platform_test *test, int from, int to)
{
    for (int i = from; i < to; i++)
        test(i);
    printf("%s: %d passed\n", name, to - from);
    fflush(stdout);
}
#define tcase_add_loop_test(tcase, test, from, to) platform_run(#test, test, from, to)
#define tcase_add_test(tcase, test) platform_run(#test, test, 0, 1)
#define tcase_set_timeout(tcase, seconds) ((void)(tcase))
#define suite_add_tcase(suite, tcase) ((void)(tcase))

static inline SRunner *srunner_create(Suite *suite)
{
    return suite;
}
#define srunner_set_fork_status(runner, status) ((void)(runner))
#define srunner_run_all(runner, mode) ((void)(runner))
#define srunner_ntests_failed(runner) (0)
#define srunner_free(runner) ((void)(runner))

#endif
