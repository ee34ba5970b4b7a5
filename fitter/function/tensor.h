/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantised tensor types: real = scale * (q - zero_point), q signed or unsigned in 2 to 32 bits. */
#ifndef PWLC_TENSOR_H
#define PWLC_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/dd.h"

/* A scale is 2^-shift_bits or any positive finite decimal; the text is canonical ("2^-12", "0.0472"). */
struct scale {
    char text[40];
    double value;
    bool power_of_two;
    int shift_bits; /* value = 2^-shift_bits when power_of_two; -64..64 */
};

struct tensor {
    int bits; /* 2..32 */
    bool is_signed;
    struct scale scale;
    int64_t zero_point; /* inside or outside [qmin, qmax] */
    int64_t qmin, qmax; /* the type's full range, unless a table file narrows it */
};

/* Parses "2^-12", "2^3" or a decimal such as "0.0472" (a decimal that is a power of two becomes one).
 * field names the flag or JSON field in messages. Exit code 2 with a message on bad text. */
int scale_parse(const char *text, const char *field, struct scale *scale, struct diag *diag);

/* The scale of any value in 2^-64 to 2^64; false for others. */
bool scale_of_value(double value, struct scale *scale);

/* Parses "u16:2^-12:24576", "s8:0.0472:-3", "s16:2^-8" (zero point 0), "q3.12" = s16:2^-12:0, "uq0.16" = u16:2^-16:0;
 * "int8" and "i8" are s8, "uint8" is u8. "q8.8", 17 bits here and 16 where the sign is counted, is refused. */
int tensor_parse(const char *text, const char *field, struct tensor *tensor, struct diag *diag);

/* Whether the text has the shape of a type, with or without a scale, whatever the numbers in it: "s8:x" and "q3.12:5",
 * but not "s8.tflite:x". */
bool tensor_is_written(const char *text);

/* Whether the text is a type's codes alone, "s8", which have neither scale nor zero point; and the type with these
 * codes, its scale unset. Exit 2 when the width is not 2 to 32 bits. */
bool tensor_is_codes(const char *text);
int tensor_parse_codes(const char *text, const char *field, struct tensor *tensor, struct diag *diag);

/* Canonical text, "u16:2^-12:24576". */
void tensor_format(const struct tensor *tensor, char *text, size_t size);

/* Short name of the code type: "u16", "s8". */
void tensor_type_name(const struct tensor *tensor, char *text, size_t size);

/* Smallest and largest code of a width. */
int64_t code_min(int bits, bool is_signed);
int64_t code_max(int bits, bool is_signed);

/* Bits of the C type that holds codes of a width of up to 32 bits: 8, 16 or 32. */
int code_type_bits(int bits);

/* scale * (q - zero_point), which two doubles hold exactly; and for display, in a long double */
struct dd tensor_at(const struct tensor *tensor, int64_t q);
long double tensor_real(const struct tensor *tensor, int64_t q);

#endif
