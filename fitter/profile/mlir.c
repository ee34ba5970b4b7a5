/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mlir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "notation.h"

#define CODES 65536 /* of the tensor that the function takes */

/* The constant of a field. */
static void add_dense(const struct image *image, int field, const char *name, const char *type, struct text *out)
{
    text_add(out, "    %%%s = \"tosa.const\"() <{values = dense<[", name);
    for (int k = 0; k < image_count(image, field); k++)
        text_add(out, "%s%" PRId64, k == 0 ? "" : k % 16 ? ", " : ",\n      ", image->values[field][k]);
    text_add(out, "]> : %s}> : () -> %s\n", type, type);
}

static void add_constant(const char *name, int value, const char *type, struct text *out)
{
    text_add(out, "    %%%s = \"tosa.const\"() <{values = dense<%d> : tensor<1x%s>}> : () -> tensor<1x%s>\n", name,
             value, type, type);
}

static int write_table(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    add_banner(table, "// ", "", out);
    text_add(out, "module {\n  func.func @main(%%x: tensor<256xi8>) -> tensor<256xi8> {\n");
    add_dense(image, 0, "table", "tensor<256xi8>", out);
    text_add(out, "    %%y = tosa.table %%x, %%table : (tensor<256xi8>, tensor<256xi8>) -> tensor<256xi8>\n"
                  "    return %%y : tensor<256xi8>\n  }\n}\n");
    return EXIT_DONE;
}

/* The table's outputs have 7 bits of fraction, which the rescale by 2^14 / 2^21 rounds away. */
static int write_points(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    (void)diag;
    add_banner(table, "// ", "", out);
    text_add(out, "module {\n  func.func @main(%%x: tensor<%dxi16>) -> tensor<%dxi16> {\n", CODES, CODES);
    add_dense(image, 0, "table", "tensor<513xi16>", out);
    add_constant("multiplier", 1 << 14, "i16", out);
    add_constant("shift", 21, "i8", out);
    add_constant("input_zp", 0, "i32", out);
    add_constant("output_zp", 0, "i16", out);
    text_add(out,
             "    %%wide = tosa.table %%x, %%table : (tensor<%dxi16>, tensor<513xi16>) -> tensor<%dxi32>\n"
             "    %%y = tosa.rescale %%wide, %%multiplier, %%shift, %%input_zp, %%output_zp {input_unsigned = false, "
             "output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = false} : "
             "(tensor<%dxi32>, tensor<1xi16>, tensor<1xi8>, tensor<1xi32>, tensor<1xi16>) -> tensor<%dxi16>\n"
             "    return %%y : tensor<%dxi16>\n  }\n}\n",
             CODES, CODES, CODES, CODES, CODES);
    return EXIT_DONE;
}

/* Entries come out with 7 bits of fraction, which are 0: to the places of their bytes it is by 7 bits less. */
static int write_sum_of_bytes(const struct image *image, const struct table *table, struct text *out, struct diag *diag)
{
    static const int shifts[] = {17, 9, 1, 7};
    (void)diag;
    add_banner(table, "// ", "", out);
    text_add(out, "module {\n  func.func @main(%%x: tensor<%dxi16>) -> tensor<%dxi32> {\n", CODES, CODES);
    for (int f = 0; image->layout->fields[f].name; f++) {
        const char *const name = image->layout->fields[f].name;
        char shift[16];
        snprintf(shift, sizeof shift, "by_%d", f);
        add_dense(image, f, name, "tensor<513xi16>", out);
        add_constant(shift, shifts[f], "i32", out);
        text_add(out,
                 "    %%wide_%d = tosa.table %%x, %%%s : (tensor<%dxi16>, tensor<513xi16>) -> tensor<%dxi32>\n"
                 "    %%part_%d = tosa.%s %%wide_%d, %%%s%s : (tensor<%dxi32>, tensor<1xi32>) -> tensor<%dxi32>\n",
                 f, name, CODES, CODES, f, f < 3 ? "logical_left_shift" : "arithmetic_right_shift", f, shift,
                 f < 3 ? "" : " {round = true}", CODES, CODES);
    }
    for (int f = 1; f < 4; f++)
        text_add(out, "    %%%s%d = tosa.add %%%s%d, %%part_%d : (tensor<%dxi32>, tensor<%dxi32>) -> tensor<%dxi32>\n",
                 f == 3 ? "y" : "sum_", f, f == 1 ? "part_" : "sum_", f - 1, f, CODES, CODES, CODES);
    text_add(out, "    return %%y3 : tensor<%dxi32>\n  }\n}\n", CODES);
    return EXIT_DONE;
}

static const char blanks[] = " \t\r\n";
static const char name_letters[] = "%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-";

/* The first place of a word, of no comment, in a text that ends with a zero byte; null without one. */
static const char *find_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++) {
        const char *line = at;
        while (line > text && line[-1] != '\n' && !(line[-1] == '/' && line[0] == '/'))
            line--;
        if (line == text || line[-1] == '\n')
            return at;
    }
    return NULL;
}

/* An operation of the text: its operands' names, and what stands behind them. */
#define MOST_OPERANDS 5
struct operation {
    const char *names[MOST_OPERANDS];
    size_t lengths[MOST_OPERANDS];
    int count;
    const char *rest, *end; /* up to the line's end */
};

static void take_operation(const char *at, const char *name, struct operation *operation)
{
    at += strlen(name);
    for (operation->count = 0; operation->count < MOST_OPERANDS; operation->count++) {
        at += strspn(at, " \t\r\n,(\"");
        if (*at != '%')
            break;
        operation->names[operation->count] = at;
        operation->lengths[operation->count] = strspn(at, name_letters);
        at += operation->lengths[operation->count];
    }
    operation->rest = at;
    operation->end = at + strcspn(at, "\n");
}

/* Whether "name = word" stands there, or the word as "word" or #tosa.kind<word>. */
static bool has_attribute(const struct operation *operation, const char *name, const char *word)
{
    const char *at = strstr(operation->rest, name);
    if (!at || at >= operation->end)
        return false;
    at += strlen(name);
    at += strspn(at, blanks);
    if (*at != '=')
        return false;
    at++;
    at += strspn(at, " \t\"");
    if (strncmp(at, "#tosa.", 6) == 0)
        at += strcspn(at, "<\n") + (at[strcspn(at, "<\n")] == '<');
    const size_t length = strspn(at, name_letters);
    return length == strlen(word) && strncmp(at, word, length) == 0;
}

/* Behind "dense<" of the constant that an operand names; null without one. */
static const char *find_constant(const char *text, const struct operation *operation, int operand)
{
    char name[64];
    const size_t length = operand < operation->count ? operation->lengths[operand] : sizeof name;
    if (length >= sizeof name)
        return NULL;
    memcpy(name, operation->names[operand], length);
    name[length] = '\0';
    for (const char *at = text; (at = find_word(at, name)); at++) {
        const char *behind = at + length;
        behind += strspn(behind, blanks);
        if (*behind != '=' || strspn(at, name_letters) != length)
            continue;
        const char *dense = strstr(behind, "dense<"), *constant = strstr(behind, "tosa.const");
        const char *end = behind + strcspn(behind, "%");
        return dense && constant && constant < dense && dense < end ? dense + strlen("dense<") : NULL;
    }
    return NULL;
}

/* Two hexadecimal digits a byte, lowest byte first. */
static int read_bytes(const char *at, const char *name, int bits, int wanted, int64_t *values, struct diag *diag)
{
    const size_t digits = strspn(at, "0123456789abcdefABCDEF"), each = (size_t)bits / 4;
    if (digits != (size_t)wanted * each || at[digits] != '"')
        return diag_set(diag, EXIT_USAGE, "dense<\"0x...\"> of %s has %zu digits; must have %zu", name, digits,
                        (size_t)wanted * each);
    for (int k = 0; k < wanted; k++) {
        uint64_t value = 0;
        for (size_t d = 0; d < each; d++) {
            const char c = at[(size_t)k * each + d];
            const uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
            value |= digit << (8 * (d / 2) + (d % 2 ? 0 : 4));
        }
        values[k] = (int64_t)value - (value >> (bits - 1) ? (int64_t)1 << bits : 0);
    }
    return EXIT_DONE;
}

/* The numbers of dense<[1, 2]>, dense<1> or dense<"0x0100">. */
static int read_dense(const char *at, const char *name, int bits, int wanted, int64_t *values, struct diag *diag)
{
    int count = 0;
    if (!at)
        return diag_set(diag, EXIT_USAGE, "has no tosa.const with dense<...> for %s; must have %d integers", name,
                        wanted);
    if (strncmp(at, "\"0x", 3) == 0 || strncmp(at, "\"0X", 3) == 0)
        return read_bytes(at + 3, name, bits, wanted, values, diag);
    const bool is_list = *at == '[';
    const char close = is_list ? ']' : '>';
    at += is_list;
    for (bool more = true; more;) {
        at += strspn(at, blanks);
        const size_t length = strcspn(at, " \t\r\n,]>");
        int64_t value;
        if (number_integer(at, length, &value) != NUMBER_OK)
            return diag_set(diag, EXIT_USAGE, "dense<...> of %s: number %d is \"%.*s\"; must be an integer", name,
                            count, length < 40 ? (int)length : 40, at);
        if (count++ < wanted)
            values[count - 1] = value;
        at += length;
        at += strspn(at, blanks);
        more = *at == ',';
        if (!more && *at != close)
            return diag_set(diag, EXIT_USAGE, "dense<...> of %s: number %d is not followed by a comma or %c", name,
                            count - 1, close);
        at++;
    }
    return count == wanted
               ? EXIT_DONE
               : diag_set(diag, EXIT_USAGE, "dense<...> of %s has %d numbers; must have %d", name, count, wanted);
}

/* The rescale by 2^-7 that rounds once. */
static int check_rescale(const char *text, struct diag *diag)
{
    static const struct {
        const char *name, *word;
    } attributes[] = {{"rounding_mode", "SINGLE_ROUND"}, {"scale32", "false"}};
    static const struct {
        const char *name;
        int bits, value;
    } operands[] = {{"multiplier", 16, 1 << 14}, {"shift", 8, 21}, {"input_zp", 32, 0}, {"output_zp", 16, 0}};
    const char *at = find_word(text, "tosa.rescale");
    struct operation rescale;
    int64_t value;
    if (!at)
        return diag_set(diag, EXIT_USAGE, "has no tosa.rescale; must have one, by 2^-7, behind tosa.table");
    take_operation(at, "tosa.rescale", &rescale);
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
        if (!has_attribute(&rescale, attributes[k].name, attributes[k].word))
            return diag_set(diag, EXIT_USAGE, "tosa.rescale: %s must be %s", attributes[k].name, attributes[k].word);
    for (size_t k = 0; k < sizeof operands / sizeof *operands; k++) {
        if (read_dense(find_constant(text, &rescale, (int)k + 1), operands[k].name, operands[k].bits, 1, &value, diag))
            return diag->code;
        if (value != operands[k].value)
            return diag_set(diag, EXIT_USAGE, "tosa.rescale: %s is %" PRId64 "; must be %d", operands[k].name, value,
                            operands[k].value);
    }
    return EXIT_DONE;
}

/* The constant that the only tosa.table looks up. */
static int read_function(const struct layout *layout, const char *text, size_t size, bool rescaled, struct image *image,
                         struct diag *diag)
{
    const char *at = strlen(text) == size ? find_word(text, "tosa.table") : NULL;
    struct operation lookup;
    if (!at)
        return diag_set(diag, EXIT_USAGE, "has no tosa.table; must be the text of a function with one");
    if (find_word(at + 1, "tosa.table"))
        return diag_set(diag, EXIT_USAGE, "has more than one tosa.table; must have one");
    take_operation(at, "tosa.table", &lookup);
    if (rescaled ? check_rescale(text, diag) : find_word(text, "tosa.rescale") != NULL)
        return rescaled ? diag->code
                        : diag_set(diag, EXIT_USAGE, "has a tosa.rescale; outputs of 8 bits must be the table's");
    if (image_make(layout, 0, image, diag) ||
        read_dense(find_constant(text, &lookup, 1), "tosa.table", layout->fields[0].bits, image_count(image, 0),
                   image->values[0], diag))
        return diag->code;
    return EXIT_DONE;
}

static int read_table(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                      struct origin *origin, struct diag *diag)
{
    (void)origin;
    return read_function(layout, bytes, size, false, image, diag);
}

static int read_points(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                       struct origin *origin, struct diag *diag)
{
    (void)origin;
    return read_function(layout, bytes, size, true, image, diag);
}

/* The constants of as many tosa.table as the layout has fields, in the order of both. */
static int read_sum_of_bytes(const struct layout *layout, const char *bytes, size_t size, struct image *image,
                             struct origin *origin, struct diag *diag)
{
    const char *at = strlen(bytes) == size ? bytes : "";
    (void)origin;
    if (image_make(layout, 0, image, diag))
        return diag->code;
    for (int f = 0; layout->fields[f].name; f++, at++) {
        struct operation lookup;
        at = find_word(at, "tosa.table");
        if (!at)
            return diag_set(diag, EXIT_USAGE, "has %d tosa.table; must have one for each of four bytes", f);
        take_operation(at, "tosa.table", &lookup);
        if (read_dense(find_constant(bytes, &lookup, 1), layout->fields[f].name, layout->fields[f].bits,
                       image_count(image, f), image->values[f], diag))
            return diag->code;
    }
    return find_word(at, "tosa.table") ? diag_set(diag, EXIT_USAGE, "has more than four tosa.table; must have four")
                                       : EXIT_DONE;
}

const struct notation notation_mlir_table = {"mlir", "text for tosa-opt", write_table, read_table, NULL};
const struct notation notation_mlir_points = {"mlir", "text for tosa-opt", write_points, read_points, NULL};
const struct notation notation_mlir_bytes = {"mlir", "text for tosa-opt", write_sum_of_bytes, read_sum_of_bytes, NULL};
