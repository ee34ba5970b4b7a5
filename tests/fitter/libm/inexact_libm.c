/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A libm that is off by a unit: loaded before the C library's (LD_PRELOAD), it moves what each function returns that
 * IEEE 754 does not define to the last bit by one unit up, by one down, or not at all, as a hash of the result says and
 * PWL_TEST_LIBM, another seed. Other libraries differ by about as much.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* -1, 0 or 1 */
static int direction_of(const void *bytes, size_t size)
{
    const char *seed = getenv("PWL_TEST_LIBM");
    uint64_t hash = seed ? strtoull(seed, NULL, 10) + 1 : 1;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211U + (hash >> 29);
    return (int)((hash >> 33) % 3) - 1;
}

static double moved(double value)
{
    const int direction = direction_of(&value, sizeof value);
    return direction == 0 || !isfinite(value) ? value : nextafter(value, direction * HUGE_VAL);
}

static float moved_float(float value)
{
    const int direction = direction_of(&value, sizeof value);
    return direction == 0 || !isfinite(value) ? value : nextafterf(value, (float)direction * HUGE_VALF);
}

/* Of 16 bytes of an x87 value 6 are not its own. */
static long double moved_long(long double value)
{
    const int direction = direction_of(&value, sizeof value == 16 && sizeof(double) == 8 ? 10 : sizeof value);
    return direction == 0 || !isfinite(value) ? value : nextafterl(value, direction * HUGE_VALL);
}

/* The next definition of a name, found once. */
static void *next_of(const char *name, void **known)
{
    if (!*known)
        *known = dlsym(RTLD_NEXT, name);
    if (!*known)
        abort();
    return *known;
}

#define ONE(name, suffix, type, move)                                                                                  \
    type name##suffix(type x)                                                                                          \
    {                                                                                                                  \
        static void *known;                                                                                            \
        type (*next)(type);                                                                                            \
        void *const found = next_of(#name #suffix, &known);                                                            \
        memcpy(&next, &found, sizeof next);                                                                            \
        return move(next(x));                                                                                          \
    }

#define TWO(name, suffix, type, move)                                                                                  \
    type name##suffix(type x, type y)                                                                                  \
    {                                                                                                                  \
        static void *known;                                                                                            \
        type (*next)(type, type);                                                                                      \
        void *const found = next_of(#name #suffix, &known);                                                            \
        memcpy(&next, &found, sizeof next);                                                                            \
        return move(next(x, y));                                                                                       \
    }

#define EACH_TYPE(KIND, name)                                                                                          \
    KIND(name, , double, moved) KIND(name, f, float, moved_float) KIND(name, l, long double, moved_long)

/* clang-format off */
EACH_TYPE(ONE, exp) EACH_TYPE(ONE, exp2) EACH_TYPE(ONE, expm1)
EACH_TYPE(ONE, log) EACH_TYPE(ONE, log2) EACH_TYPE(ONE, log10) EACH_TYPE(ONE, log1p)
EACH_TYPE(ONE, sin) EACH_TYPE(ONE, cos) EACH_TYPE(ONE, tan)
EACH_TYPE(ONE, asin) EACH_TYPE(ONE, acos) EACH_TYPE(ONE, atan)
EACH_TYPE(ONE, sinh) EACH_TYPE(ONE, cosh) EACH_TYPE(ONE, tanh)
EACH_TYPE(ONE, asinh) EACH_TYPE(ONE, acosh) EACH_TYPE(ONE, atanh)
EACH_TYPE(ONE, erf) EACH_TYPE(ONE, erfc) EACH_TYPE(ONE, tgamma) EACH_TYPE(ONE, lgamma) EACH_TYPE(ONE, cbrt)
EACH_TYPE(TWO, pow) EACH_TYPE(TWO, hypot) EACH_TYPE(TWO, atan2)
    /* clang-format on */
