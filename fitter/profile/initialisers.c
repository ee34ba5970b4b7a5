/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "initialisers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
static const char digits[] = "0123456789";

struct scanner {
    const char *at, *end;
    int line;
    char name[INITIALISER_NAME_SIZE]; /* the last one */
    char set[INITIALISER_NAME_SIZE];  /* the one before the last "=" */
    bool in_value;                    /* behind "=" and before ";" */
    bool expects_value;               /* the last token was "=", "{", "," or "(" */
    int parentheses;                  /* open ones */
    bool after_point;                 /* the last token was "." */
    bool has_cast;                    /* names in parentheses, and no number yet behind them */
    struct initialiser *list;
    size_t count, capacity;
};

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static int refuse(const struct scanner *scanner, const char *what, struct diag *diag)
{
    return diag_set(diag, EXIT_USAGE, "line %d: %s; write the numbers themselves", scanner->line, what);
}

/* Behind the end of what begins at `from` and ends with `close`; null where it does not end. Lines are counted. */
static const char *find_end(struct scanner *scanner, const char *from, const char *close)
{
    const size_t length = strlen(close);
    for (const char *at = from; (size_t)(scanner->end - at) >= length; at++) {
        if (memcmp(at, close, length) == 0)
            return at + length;
        scanner->line += *at == '\n';
        at += *close == '"' && *at == '\\' && at + 1 < scanner->end;
    }
    return NULL;
}

/* A comment, a preprocessor line or a string: *skipped. */
static int skip_text(struct scanner *scanner, bool *skipped, struct diag *diag)
{
    const char *at = scanner->at;
    const size_t left = (size_t)(scanner->end - at);
    const int line = scanner->line;
    *skipped = true;
    if (left >= 2 && at[0] == '/' && at[1] == '*') {
        scanner->at = find_end(scanner, at + 2, "*/");
    } else if ((left >= 2 && at[0] == '/' && at[1] == '/') || *at == '#') {
        const char *close = memchr(at, '\n', left);
        scanner->at = close ? close : scanner->end;
    } else if (*at == '"') {
        scanner->at = find_end(scanner, at + 1, "\"");
    } else {
        *skipped = false;
    }
    return scanner->at ? EXIT_DONE
                       : diag_set(diag, EXIT_USAGE, "line %d: a %s begins that does not end", line,
                                  *at == '"' ? "string" : "comment");
}

static void take_name(struct scanner *scanner)
{
    const char *start = scanner->at;
    while (scanner->at < scanner->end && (is_one_of(*scanner->at, letters) || is_one_of(*scanner->at, digits)))
        scanner->at++;
    size_t length = (size_t)(scanner->at - start);
    if (length >= sizeof scanner->name)
        length = sizeof scanner->name - 1;
    memcpy(scanner->name, start, length);
    scanner->name[length] = '\0';
}

/* The value of a hexadecimal digit, or 16. */
static int hex_digit(char c)
{
    const char *all = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(all, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - all) : 16;
}

/* "0x1f", "0x1.8p-3"; false for what is none, or lies beyond int64. */
static bool read_hexadecimal(const char *text, size_t length, struct initialiser *number)
{
    uint64_t digits_value = 0;
    double real = 0;
    int digit_count = 0, after_point = -1; /* digits behind the point; -1: there is none */
    size_t k = 2;
    for (; k < length && (hex_digit(text[k]) < 16 || (text[k] == '.' && after_point < 0)); k++) {
        if (text[k] == '.') {
            after_point = 0;
            continue;
        }
        number->is_integer &= digits_value >> 59 == 0;
        digits_value = digits_value * 16 + (uint64_t)hex_digit(text[k]);
        real = real * 16 + hex_digit(text[k]);
        digit_count++;
        after_point += after_point >= 0;
    }
    number->real = real;
    number->integer = number->is_integer ? (int64_t)digits_value : 0;
    if (k == length && after_point < 0)
        return digit_count > 0 && number->is_integer;
    int64_t exponent;
    if (digit_count == 0 || k == length || !is_one_of(text[k], "pP") ||
        number_integer(text + k + 1, length - k - 1, &exponent) != NUMBER_OK || exponent < -2000 || exponent > 2000)
        return false;
    number->is_integer = false;
    number->real = ldexp(real, (int)exponent - 4 * (after_point > 0 ? after_point : 0));
    return true;
}

/* Without its sign and suffix. */
static bool read_number(const char *text, size_t length, struct initialiser *number)
{
    number->is_integer = true;
    if (length > 2 && text[0] == '0' && is_one_of(text[1], "xX"))
        return read_hexadecimal(text, length, number);
    size_t leading = 0;
    while (leading < length && is_one_of(text[leading], digits))
        leading++;
    if (leading == length && length > 1 && text[0] == '0') /* octal */
        return false;
    if (number_integer(text, length, &number->integer) == NUMBER_OK) {
        number->real = (double)number->integer;
        return true;
    }
    number->is_integer = false;
    return number_real(text, length, &number->real) == NUMBER_OK;
}

/* "-12", "0x1f", "12u", "0.5f", "1e-3" */
static int take_number(struct scanner *scanner, struct diag *diag)
{
    const bool negative = *scanner->at == '-';
    const char *start = scanner->at + (negative || *scanner->at == '+'), *end = start;
    while (end < scanner->end && (is_one_of(*end, letters) || is_one_of(*end, digits) || *end == '.' ||
                                  (is_one_of(*end, "+-") && is_one_of(end[-1], "eEpP"))))
        end++;
    scanner->at = end;
    const bool is_hexadecimal = end - start > 2 && start[0] == '0' && is_one_of(start[1], "xX");
    const char *suffixes = is_hexadecimal && !memchr(start, 'p', (size_t)(end - start)) ? "uUlL" : "uUlLfF";
    while (end > start + 1 && is_one_of(end[-1], suffixes))
        end--;
    struct initialiser number = {0};
    if (!read_number(start, (size_t)(end - start), &number))
        return refuse(scanner, "is no number in decimal or hexadecimal", diag);
    number.integer = negative ? -number.integer : number.integer;
    number.real = negative ? -number.real : number.real;
    if (!scanner->in_value)
        return EXIT_DONE;
    if (!scanner->expects_value)
        return refuse(scanner, "is an expression", diag);
    if (scanner->count == scanner->capacity) {
        const size_t capacity = scanner->capacity ? 2 * scanner->capacity : 64;
        struct initialiser *list =
            capacity <= INITIALISERS_MAX ? realloc(scanner->list, capacity * sizeof *list) : NULL;
        if (!list)
            return capacity > INITIALISERS_MAX ? refuse(scanner, "has more numbers than any table", diag)
                                               : diag_set(diag, EXIT_IO, "out of memory for numbers");
        scanner->list = list;
        scanner->capacity = capacity;
    }
    memcpy(number.name, scanner->set, sizeof number.name);
    scanner->list[scanner->count++] = number;
    scanner->expects_value = scanner->has_cast = false;
    return EXIT_DONE;
}

/* At the end of a value: a name in parentheses was no cast if no number came behind it. */
static int finish_value(struct scanner *scanner, struct diag *diag)
{
    const bool is_name = scanner->has_cast;
    scanner->has_cast = false;
    return is_name ? refuse(scanner, "is a name", diag) : EXIT_DONE;
}

static int take_sign(struct scanner *scanner, struct diag *diag)
{
    const char c = *scanner->at++;
    switch (c) {
    case '=':
        memcpy(scanner->set, scanner->name, sizeof scanner->set);
        scanner->in_value = scanner->expects_value = true;
        return EXIT_DONE;
    case ';':
        scanner->in_value = false;
        return finish_value(scanner, diag);
    case '(': /* of a cast, behind which the value still comes */
        scanner->parentheses++;
        return EXIT_DONE;
    case ')':
        scanner->parentheses -= scanner->parentheses > 0;
        return EXIT_DONE;
    case '}':
        return finish_value(scanner, diag);
    case '{':
    case ',':
        scanner->expects_value = true;
        return finish_value(scanner, diag);
    case '[':
        return scanner->in_value ? refuse(scanner, "is an array designator", diag) : EXIT_DONE;
    case '\n':
        scanner->line++;
        return EXIT_DONE;
    default:
        if (scanner->in_value && is_one_of(c, "+-*/%<>&|^~!?'"))
            return refuse(scanner, "is an expression", diag);
        return EXIT_DONE;
    }
}

static int take_token(struct scanner *scanner, struct diag *diag)
{
    const char *at = scanner->at;
    bool skipped;
    if (skip_text(scanner, &skipped, diag))
        return diag->code;
    if (skipped)
        return EXIT_DONE;
    const bool after_point = scanner->after_point;
    scanner->after_point = *at == '.';
    if (is_one_of(*at, letters)) {
        take_name(scanner);
        scanner->has_cast |= scanner->in_value && scanner->parentheses > 0;
        return scanner->in_value && !after_point && scanner->parentheses == 0 ? refuse(scanner, "is a name", diag)
                                                                              : EXIT_DONE;
    }
    const bool begins_number =
        is_one_of(*at, digits) || (is_one_of(*at, "+-.") && at + 1 < scanner->end && is_one_of(at[1], digits)) ||
        (is_one_of(*at, "+-") && at + 2 < scanner->end && at[1] == '.' && is_one_of(at[2], digits));
    return begins_number ? take_number(scanner, diag) : take_sign(scanner, diag);
}

int initialisers_read(const char *text, size_t size, struct initialiser **list, size_t *count, struct diag *diag)
{
    struct scanner scanner = {.at = text, .end = text + size, .line = 1};
    *list = NULL;
    *count = 0;
    while (scanner.at < scanner.end)
        if (take_token(&scanner, diag)) {
            free(scanner.list);
            return diag->code;
        }
    if (scanner.count == 0) {
        free(scanner.list);
        return diag_set(diag, EXIT_USAGE,
                        "has no numbers behind a \"=\"; must be C or C++ with the table's initialiser");
    }
    *list = scanner.list;
    *count = scanner.count;
    return EXIT_DONE;
}

const struct initialiser *initialisers_find(const struct initialiser *list, size_t count, const char *name, size_t k)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0 && k-- == 0)
            return &list[i];
    return NULL;
}
