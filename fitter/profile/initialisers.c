/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "initialisers.h"

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
    int brackets, parentheses;        /* open ones */
    bool after_point;                 /* the last token was "." */
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

/* A comment, a preprocessor line or a string. */
static bool skip_text(struct scanner *scanner)
{
    const char *at = scanner->at;
    const size_t left = (size_t)(scanner->end - at);
    const char *close = NULL;
    if (left >= 2 && at[0] == '/' && at[1] == '*') {
        for (close = at + 2; close + 1 < scanner->end && !(close[0] == '*' && close[1] == '/'); close++)
            scanner->line += *close == '\n';
        close = close + 2 < scanner->end ? close + 2 : scanner->end;
    } else if ((left >= 2 && at[0] == '/' && at[1] == '/') || *at == '#') {
        close = memchr(at, '\n', left);
        close = close ? close : scanner->end;
    } else if (*at == '"') {
        close = memchr(at + 1, '"', left - 1);
        close = close ? close + 1 : scanner->end;
    }
    if (close)
        scanner->at = close;
    return close != NULL;
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

/* "-12", "0x1f", "12u", "0.5f", "1e-3" */
static int take_number(struct scanner *scanner, struct diag *diag)
{
    const char *start = scanner->at;
    const bool negative = *start == '-';
    const char *at = start + (negative || *start == '+');
    const char *digits_end = at;
    while (digits_end < scanner->end &&
           (is_one_of(*digits_end, letters) || is_one_of(*digits_end, digits) || *digits_end == '.' ||
            (is_one_of(*digits_end, "+-") && is_one_of(digits_end[-1], "eE"))))
        digits_end++;
    size_t length = (size_t)(digits_end - at);
    struct initialiser number = {.is_integer = true};
    scanner->at = digits_end;
    if (length > 2 && length <= 16 && at[0] == '0' && is_one_of(at[1], "xX")) {
        while (length > 3 && is_one_of(at[length - 1], "uUlL"))
            length--;
        for (size_t k = 2; k < length; k++) {
            if (!is_one_of(at[k], "0123456789abcdefABCDEF"))
                return refuse(scanner, "is not a number", diag);
            number.integer = number.integer * 16 + (at[k] <= '9' ? at[k] - '0' : (at[k] | 32) - 'a' + 10);
        }
        number.integer = negative ? -number.integer : number.integer;
        number.real = (double)number.integer;
    } else {
        while (length > 0 && is_one_of(at[length - 1], "uUlLfF"))
            length--;
        length += (size_t)(at - start);
        if (number_integer(start, length, &number.integer) == NUMBER_OK) {
            number.real = (double)number.integer;
        } else {
            number.is_integer = false;
            if (number_real(start, length, &number.real) != NUMBER_OK)
                return refuse(scanner, "is not a number", diag);
        }
    }
    if (!scanner->in_value || scanner->brackets > 0)
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
    scanner->expects_value = false;
    return EXIT_DONE;
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
        return EXIT_DONE;
    case '(': /* of a cast, behind which the value still comes */
        scanner->parentheses++;
        return EXIT_DONE;
    case ')':
        scanner->parentheses -= scanner->parentheses > 0;
        return EXIT_DONE;
    case '{':
    case ',':
        scanner->expects_value = true;
        return EXIT_DONE;
    case '[':
        scanner->brackets++;
        return EXIT_DONE;
    case ']':
        scanner->brackets -= scanner->brackets > 0;
        return EXIT_DONE;
    case '\n':
        scanner->line++;
        return EXIT_DONE;
    default:
        if (scanner->in_value && scanner->brackets == 0 && is_one_of(c, "+-*/%<>&|^~!?"))
            return refuse(scanner, "is an expression", diag);
        return EXIT_DONE;
    }
}

static int take_token(struct scanner *scanner, struct diag *diag)
{
    const char *at = scanner->at;
    if (skip_text(scanner))
        return EXIT_DONE;
    const bool after_point = scanner->after_point;
    scanner->after_point = *at == '.';
    if (is_one_of(*at, letters)) {
        take_name(scanner);
        return scanner->in_value && !after_point && scanner->brackets == 0 && scanner->parentheses == 0
                   ? refuse(scanner, "is a name", diag)
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
