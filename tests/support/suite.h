/* SPDX-License-Identifier: Apache-2.0 */
/* How a program of Check runs, and how much of its test it does. */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Check writes to a file where each assertion that holds stands, for the parent of a test that dies: millions of
 * writes, and no test here has a parent. */
#define _mark_point(file, line) ((void)0)

/* The program's exit status. Tests are not forked: memory would be searched for leaks as often as there are tests. */
static inline int run_suite(Suite *suite)
{
    SRunner *const runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The whole test, as `./dev test long` runs it, instead of its quick part. cli/lib.sh asks the same. */
static inline int test_is_long(void)
{
    const char *const value = getenv("PWL_TEST_LONG");
    return value && strcmp(value, "1") == 0;
}

/* The step of a loop over cases: each of them in the whole test, one in `few` in the quick part. Where numbers of cases
 * say what kind they are, a step would miss some: then as small a part of them, one after the other. */
static inline int quick_step(int few)
{
    return test_is_long() ? 1 : few;
}

#endif
