/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascii.h"

static size_t skip_sign(const char *text, size_t length, size_t at)
{
    return at < length && (text[at] == '+' || text[at] == '-') ? at + 1 : at;
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && is_digit(text[at]))
        at++;
    return at;
}

static bool is_decimal(const char *text, size_t length)
{
    const size_t whole = skip_sign(text, length, 0);
    size_t at = skip_digits(text, length, whole);
    size_t digits = at - whole;
    if (at < length && text[at] == '.') {
        const size_t fraction = at + 1;
        at = skip_digits(text, length, fraction);
        digits += at - fraction;
    }
    if (digits == 0)
        return false;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        const size_t exponent = skip_sign(text, length, at + 1);
        at = skip_digits(text, length, exponent);
        if (at == exponent)
            return false;
    }
    return at == length;
}

/* strtod and printf take the decimal point from the thread's locale. The "C" locale always exists; should the handle
 * be refused all the same, the locale stays as it is. */
static locale_t enter_c_locale(locale_t *c_locale)
{
    *c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *c_locale != (locale_t)0 ? uselocale(*c_locale) : (locale_t)0;
}

static void leave_c_locale(locale_t c_locale, locale_t previous)
{
    if (c_locale == (locale_t)0)
        return;
    uselocale(previous);
    freelocale(c_locale);
}

enum number_status number_real(const char *text, size_t length, double *value)
{
    char copy[NUMBER_MAX_LENGTH + 1];
    if (length > NUMBER_MAX_LENGTH || !is_decimal(text, length))
        return NUMBER_SYNTAX;
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t c_locale;
    const locale_t previous = enter_c_locale(&c_locale);
    *value = strtod(copy, NULL);
    leave_c_locale(c_locale, previous);
    return isinf(*value) ? NUMBER_RANGE : NUMBER_OK;
}

enum number_status number_integer(const char *text, size_t length, int64_t *value)
{
    const size_t first = skip_sign(text, length, 0);
    if (first == length || skip_digits(text, length, first) != length)
        return NUMBER_SYNTAX;
    const bool negative = text[0] == '-';
    const uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t magnitude = 0;
    for (size_t i = first; i < length; i++) {
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (magnitude > (limit - digit) / 10)
            return NUMBER_RANGE;
        magnitude = magnitude * 10 + digit;
    }
    /* -(m - 1) - 1 reaches INT64_MIN without leaving the type */
    *value = !negative || magnitude == 0 ? (int64_t)magnitude : -(int64_t)(magnitude - 1) - 1;
    return NUMBER_OK;
}

/* "1e-09" and "1e+20" become "1e-9" and "1e20". */
static void tidy_exponent(char *text)
{
    char *to = strchr(text, 'e');
    if (to == NULL)
        return;
    const char *from = ++to;
    if (*from == '-')
        *to++ = *from++;
    else if (*from == '+')
        from++;
    while (*from == '0' && from[1] != '\0')
        from++;
    memmove(to, from, strlen(from) + 1);
}

void number_format(double value, char text[NUMBER_TEXT_SIZE])
{
    locale_t c_locale;
    const locale_t previous = enter_c_locale(&c_locale);
    int digits = 0;
    do {
        snprintf(text, NUMBER_TEXT_SIZE, "%.*e", digits++, value); /* one digit before the point */
    } while (digits < 17 && strtod(text, NULL) != value);          /* 17 always suffice for binary64 */
    const char *exponent = strchr(text, 'e');
    const int places = exponent == NULL ? 0 : atoi(exponent + 1) + 1; /* before the decimal point */
    /* %g with as many digits as the whole part has writes 1000, not 1e3 */
    snprintf(text, NUMBER_TEXT_SIZE, "%.*g", places > digits && places <= 16 ? places : digits, value);
    leave_c_locale(c_locale, previous);
    tidy_exponent(text);
}

/* 10^n units of the sixth significant digit in 1, or 10^-n where n < 0: of a number above 0. Either is exact. */
struct sixth_digit {
    real in_one, ones;
};

static struct sixth_digit sixth_digit(real value)
{
    struct sixth_digit digit = {1, 1};
    while (value * digit.in_one < 100000)
        digit.in_one *= 10;
    while (value >= 1000000 * digit.ones)
        digit.ones *= 10;
    return digit;
}

static real in_digits(real value, struct sixth_digit digit)
{
    return value * digit.in_one / digit.ones;
}

static double of_digits(real count, struct sixth_digit digit)
{
    return (double)(count * digit.ones / digit.in_one);
}

static bool has_digits(real value)
{
    return value > 0 && value <= DBL_MAX;
}

double number_rounded_up(real value)
{
    if (!has_digits(value))
        return value > 0 ? (double)value : 0;
    const struct sixth_digit digit = sixth_digit(value);
    return of_digits(real_ceil(in_digits(value, digit)), digit);
}

double number_rounded_down(real value)
{
    if (!has_digits(value))
        return value > 0 ? (double)value : 0;
    const struct sixth_digit digit = sixth_digit(value);
    return of_digits(real_floor(in_digits(value, digit)), digit);
}

bool number_written_within(double value, double limit)
{
    if (value <= limit || !has_digits(value))
        return value <= limit;
    const struct sixth_digit digit = sixth_digit(value);
    /* The limit is a double. */
    return real_nearest(in_digits(value, digit)) <= in_digits(limit, digit) * (1 + 0x1p-45);
}
