/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include <stdio.h>
#include <string.h>

/* Spelled out because isalpha() depends on the locale. */
static bool is_identifier(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return text[0] != '\0' && strchr(letters, text[0]) != NULL && strspn(text, all) == strlen(text);
}

/* Words that C11 or C++17 keep for themselves; only --name or an empty prefix can produce one. */
static bool is_keyword(const char *text)
{
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl "
        "const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export "
        "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
        "operator or or_eq private protected public register reinterpret_cast restrict return short signed sizeof "
        "static static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
        "typename union unsigned using virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool "
        "_Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local ";
    char padded[32];
    const int length = snprintf(padded, sizeof padded, " %s ", text);
    return length > 0 && (size_t)length < sizeof padded && strstr(words, padded) != NULL;
}

int emit_check_attribute(const char *attribute, struct diag *diag)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ ()[],.:-\"$";
    int depth = 0, quotes = 0;
    const char *c = attribute;
    for (; *c != '\0' && strchr(allowed, *c) != NULL && depth >= 0; c++) {
        quotes += *c == '"';
        if (quotes % 2 == 0)
            depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
    }
    if (c == attribute || *c != '\0' || depth != 0 || quotes % 2 != 0)
        return diag_set(diag, EXIT_USAGE,
                        "--attribute %.80s: must be what stands behind an array's name, as PROGMEM or "
                        "__attribute__((section(\".tables\")))",
                        attribute);
    return EXIT_DONE;
}

int emit_table_name(const struct table *table, const struct emit_options *options, char *name, size_t size,
                    struct diag *diag)
{
    char in[8], out[8];
    int length;

    if (options->name) {
        if (!is_identifier(options->name) || is_keyword(options->name))
            return diag_set(diag, EXIT_USAGE,
                            "--name %s: not a C identifier; use letters, digits and _, no digit first, no keyword",
                            options->name);
        length = snprintf(name, size, "%s", options->name);
    } else {
        if (options->prefix[0] != '\0' && !is_identifier(options->prefix))
            return diag_set(diag, EXIT_USAGE,
                            "--prefix %s: cannot begin a C identifier; use letters, digits and _, no digit first",
                            options->prefix);
        tensor_type_name(&table->in, in, sizeof in);
        tensor_type_name(&table->out, out, sizeof out);
        length = snprintf(name, size, "%s%s_%s%s%s", options->prefix, table->function, in,
                          strcmp(in, out) == 0 ? "" : "_", strcmp(in, out) == 0 ? "" : out);
    }
    if (length < 0 || (size_t)length >= size)
        return diag_set(diag, EXIT_USAGE, "%s: the identifier is longer than %zu characters; shorten it",
                        options->name ? "--name" : "--prefix", size - 1);
    if (!is_identifier(name))
        return diag_set(diag, EXIT_USAGE, "function: \"%s\" does not make a C identifier; give one with --name",
                        table->function);
    return EXIT_DONE;
}
