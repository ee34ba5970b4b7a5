/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define SHIFT_LIMIT 64 /* scales lie in 2^-64 .. 2^64 */
#define SHOWN 60       /* characters of the user's text that a message repeats */

static int scale_error(const char *text, const char *field, const char *why, struct diag *diag)
{
    return diag_set(diag, EXIT_USAGE, "%s: scale '%.*s' %s; write 2^-n or a positive decimal such as 0.0472", field,
                    SHOWN, text, why);
}

static void set_power_of_two(struct scale *scale, int shift_bits)
{
    scale->power_of_two = true;
    scale->shift_bits = shift_bits;
    scale->value = ldexp(1, -shift_bits);
    snprintf(scale->text, sizeof scale->text, "2^%d", -shift_bits);
}

bool scale_of_value(double value, struct scale *scale)
{
    int exponent;
    if (!(value >= 0x1p-64 && value <= 0x1p64))
        return false;
    if (frexp(value, &exponent) == 0.5) { /* value = 2^(exponent - 1) */
        set_power_of_two(scale, 1 - exponent);
        return true;
    }
    scale->power_of_two = false;
    scale->shift_bits = 0;
    scale->value = value;
    number_format(value, scale->text);
    return true;
}

/* Whether a decimal's digits before the exponent are all zero: "0.0e5", but not "1e-9999", which only rounds to 0. */
static bool is_written_zero(const char *text)
{
    const char first = text[strcspn(text, "123456789eE")];
    return first == '\0' || first == 'e' || first == 'E';
}

static int decimal_scale(const char *text, const char *field, struct scale *scale, struct diag *diag)
{
    static const char out_of_range[] = "is outside 2^-64 to 2^64";
    double value;
    const enum number_status status = number_real(text, strlen(text), &value);
    if (status == NUMBER_SYNTAX && strncmp(text, "auto", 4) == 0)
        return scale_error(text, field, "is found for the zero point 0 alone, as in s8:auto:0; s8 finds both", diag);
    if (status == NUMBER_SYNTAX)
        return scale_error(text, field, text[0] == '\0' ? "is missing" : "is not a number", diag);
    if (is_written_zero(text))
        return scale_error(text, field, "is zero", diag);
    if (text[0] == '-')
        return scale_error(text, field, "is negative", diag);
    if (status == NUMBER_RANGE || value < 0x1p-64 || value > 0x1p64)
        return scale_error(text, field, out_of_range, diag);
    scale_of_value(value, scale);
    return EXIT_DONE;
}

int scale_parse(const char *text, const char *field, struct scale *scale, struct diag *diag)
{
    if (strncmp(text, "2^", 2) != 0)
        return decimal_scale(text, field, scale, diag);
    int64_t exponent;
    const enum number_status status = number_integer(text + 2, strlen(text + 2), &exponent);
    if (status == NUMBER_SYNTAX)
        return scale_error(text, field, "has no whole exponent", diag);
    if (status == NUMBER_RANGE || exponent < -SHIFT_LIMIT || exponent > SHIFT_LIMIT)
        return scale_error(text, field, "is outside 2^-64 to 2^64", diag);
    set_power_of_two(scale, -(int)exponent);
    return EXIT_DONE;
}

static int type_error(const char *text, const char *field, const char *why, struct diag *diag)
{
    return diag_set(diag, EXIT_USAGE, "%s: type '%.*s' %s; write for example u16:2^-12:24576, s8:0.0472:-3 or q3.12",
                    field, SHOWN, text, why);
}

static void set_codes(struct tensor *tensor, int bits, bool is_signed)
{
    tensor->bits = bits;
    tensor->is_signed = is_signed;
    tensor->qmin = code_min(bits, is_signed);
    tensor->qmax = code_max(bits, is_signed);
}

/* A plain run of digits; false when empty, signed or too large to be a width. */
static bool parse_width(const char *text, size_t length, int *width)
{
    int64_t value;
    if (length == 0 || text[0] < '0' || text[0] > '9' || number_integer(text, length, &value) != NUMBER_OK ||
        value > 999)
        return false;
    *width = (int)value;
    return true;
}

/* Q formats are written in two ways: with the sign among the whole bits, as Arm has it, and beside them, as here. A
 * width that only the first makes one of whole bytes is a sign that it was meant. */
static int ambiguous_q_format(const char *text, int whole_bits, int fraction_bits, const char *field, struct diag *diag)
{
    const int bits = whole_bits + fraction_bits;
    char other[80] = "";
    if (bits < 32)
        snprintf(other, sizeof other, ", or s%d:2^-%d for %d bits", bits + 1, fraction_bits, bits + 1);
    return diag_set(
        diag, EXIT_USAGE,
        "%s: type '%.*s' would have %d bits, since the sign is not one of the %d; write q%d.%d or s%d:2^-%d "
        "for %d bits%s",
        field, SHOWN, text, bits + 1, whole_bits, whole_bits - 1, fraction_bits, bits, fraction_bits, bits, other);
}

/* q<whole>.<fraction>, uq<whole>.<fraction>; numbers starts behind the q. */
static int parse_q_format(const char *text, const char *numbers, const char *field, struct tensor *tensor,
                          struct diag *diag)
{
    const bool is_signed = text[0] == 'q';
    const size_t whole_length = strcspn(numbers, ".");
    const char *fraction = numbers + whole_length + (numbers[whole_length] == '.');
    int whole_bits, fraction_bits;
    if (strchr(text, ':') != NULL)
        return type_error(text, field, "is a Q format with more behind it, which has neither scale nor zero point",
                          diag);
    if (!parse_width(numbers, whole_length, &whole_bits) || !parse_width(fraction, strlen(fraction), &fraction_bits))
        return type_error(text, field, "is not a Q format of two bit counts", diag);
    const int bits = whole_bits + fraction_bits + (is_signed ? 1 : 0);
    if (is_signed && whole_bits > 0 && bits % 8 == 1 && bits > 8 && bits <= 33)
        return ambiguous_q_format(text, whole_bits, fraction_bits, field, diag);
    if (bits < 2 || bits > 32)
        return type_error(text, field, "is not 2 to 32 bits wide, the sign included", diag);
    set_codes(tensor, bits, is_signed);
    set_power_of_two(&tensor->scale, fraction_bits);
    tensor->zero_point = 0;
    return EXIT_DONE;
}

/* Length of "s", "i" or "int", "u" or "uint" at the start of a type; 0 when there is none. */
static size_t sign_length(const char *text)
{
    static const char *const signs[] = {"uint", "int", "s", "i", "u"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

bool tensor_is_written(const char *text)
{
    static const char digits[] = "0123456789";
    const bool is_q = text[0] == 'q' || (text[0] == 'u' && text[1] == 'q');
    const char *const width = is_q ? strchr(text, 'q') + 1 : text + sign_length(text);
    const char *rest = width + strspn(width, digits);
    if (width == text || rest == width)
        return false;
    if (is_q && *rest == '.')
        rest += 1 + strspn(rest + 1, digits);
    return *rest == '\0' || *rest == ':';
}

int tensor_parse(const char *text, const char *field, struct tensor *tensor, struct diag *diag)
{
    char scale_text[1280]; /* longer than any decimal that number_real takes */
    if (text[0] == 'q' || (text[0] == 'u' && text[1] == 'q'))
        return parse_q_format(text, strchr(text, 'q') + 1, field, tensor, diag);
    const char *width = text + sign_length(text);
    if (width == text)
        return type_error(
            text, field, text[0] == '\0' ? "is missing" : "does not start with s, u, q or uq, and names no file", diag);

    const size_t width_length = strcspn(width, ":");
    int bits;
    if (!parse_width(width, width_length, &bits))
        return type_error(text, field, "has no width in bits behind its first letter", diag);
    if (bits < 2 || bits > 32)
        return type_error(text, field, "is not 2 to 32 bits wide", diag);
    if (width[width_length] == '\0')
        return type_error(text, field, "has no scale", diag);

    const char *scale_start = width + width_length + 1;
    const size_t scale_length = strcspn(scale_start, ":");
    if (scale_length >= sizeof scale_text)
        return type_error(text, field, "has a scale that is not a number", diag);
    memcpy(scale_text, scale_start, scale_length);
    scale_text[scale_length] = '\0';
    struct scale scale;
    const int code = scale_parse(scale_text, field, &scale, diag);
    if (code != EXIT_DONE)
        return code;

    int64_t zero_point = 0;
    if (scale_start[scale_length] == ':') {
        const char *zero_text = scale_start + scale_length + 1;
        const enum number_status status = number_integer(zero_text, strlen(zero_text), &zero_point);
        if (status == NUMBER_RANGE)
            return type_error(text, field, "has a zero point outside the 64-bit integers", diag);
        if (status == NUMBER_SYNTAX)
            return type_error(text, field, "has a zero point that is not a whole number", diag);
    }
    set_codes(tensor, bits, text[0] != 'u');
    tensor->scale = scale;
    tensor->zero_point = zero_point;
    return EXIT_DONE;
}

bool tensor_is_codes(const char *text)
{
    const char *width = text + sign_length(text);
    return width > text && *width != '\0' && width[strspn(width, "0123456789")] == '\0';
}

int tensor_parse_codes(const char *text, const char *field, struct tensor *tensor, struct diag *diag)
{
    int bits;
    const char *width = text + sign_length(text);
    if (!parse_width(width, strlen(width), &bits) || bits < 2 || bits > 32)
        return type_error(text, field, "is not 2 to 32 bits wide", diag);
    memset(tensor, 0, sizeof *tensor);
    set_codes(tensor, bits, text[0] != 'u');
    return EXIT_DONE;
}

void tensor_format(const struct tensor *tensor, char *text, size_t size)
{
    snprintf(text, size, "%c%d:%s:%" PRId64, tensor->is_signed ? 's' : 'u', tensor->bits, tensor->scale.text,
             tensor->zero_point);
}

void tensor_type_name(const struct tensor *tensor, char *text, size_t size)
{
    snprintf(text, size, "%c%d", tensor->is_signed ? 's' : 'u', tensor->bits);
}

int code_type_bits(int bits)
{
    return bits <= 8 ? 8 : bits <= 16 ? 16 : 32;
}

int64_t code_min(int bits, bool is_signed)
{
    return is_signed ? -((int64_t)1 << (bits - 1)) : 0;
}

int64_t code_max(int bits, bool is_signed)
{
    return ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
}

struct dd tensor_at(const struct tensor *tensor, int64_t q)
{
    const int64_t exact = (int64_t)1 << 52; /* beyond, q - zero_point can leave a double, and int64 */
    if (tensor->zero_point > -exact && tensor->zero_point < exact)
        return dd_product((double)(q - tensor->zero_point), tensor->scale.value);
    return dd_times(dd_sub(dd_of_integer(q), dd_of_integer(tensor->zero_point)), tensor->scale.value);
}

long double tensor_real(const struct tensor *tensor, int64_t q)
{
    return dd_long(tensor_at(tensor, q));
}
