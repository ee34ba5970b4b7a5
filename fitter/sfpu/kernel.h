/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel of tt-metal computes around a table of SFPLUT or SFPLUTFP32, bf16 in and out. */
#ifndef PWLC_SFPU_KERNEL_H
#define PWLC_SFPU_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "unit.h"

#define SFPU_MAX_SEGMENTS 6
#define SFPU_MAX_WORDS 6
#define SFPU_CODES 65536
#define SFPU_LARGEST 0x7f7f /* the code of the largest finite bf16 */

/* One mode of an instruction: where its segments begin, and how registers hold their coefficients. */
struct sfpu_layout {
    const char *name;                   /* "fp16x6-4" */
    const char *instruction, *modifier; /* as tt-isa-documentation names them */
    int number;                         /* of the modifier, without the sign's bit */
    int bits;                           /* of a coefficient, 8 or 16 */
    int segments, words;                /* 3 or 6; registers that are loaded */
    uint16_t start[SFPU_MAX_SEGMENTS];  /* the bf16 code of the least |x| of each segment */
};

/* Ends with a null name. */
extern const struct sfpu_layout sfpu_layouts[];
#define SFPU_LAYOUTS "fp8x3|fp16x3|fp16x6-3|fp16x6-4"

enum sfpu_sign {
    SFPU_RETAIN, /* the sign of a|x| + b is replaced by that of x */
    SFPU_UPDATE  /* it stays */
};

/* What is added to the line: nothing, a bf16 constant by SFPADDI, or x/2 by SFPMUL and SFPADD. */
enum sfpu_add { SFPU_ADD_NOTHING, SFPU_ADD_CONSTANT, SFPU_ADD_HALF_X };

struct sfpu_kernel {
    const struct sfpu_layout *layout;
    enum sfpu_chip chip;
    enum sfpu_sign sign;
    enum sfpu_add add;
    uint16_t constant; /* bf16; 0 unless it is added */
    enum sfpu_store store;
};

/* Slope and offset of a segment, as codes of the layout's coefficients. */
struct sfpu_pair {
    uint16_t a, b;
};

struct sfpu_table {
    struct sfpu_kernel kernel;
    struct sfpu_pair pairs[SFPU_MAX_SEGMENTS];
};

const struct sfpu_layout *sfpu_layout_find(const char *name); /* null when unknown */

/* The segment of a code of x. */
int sfpu_segment(const struct sfpu_layout *layout, uint16_t x);

/* The code of the coefficient 0, and a coefficient's bits in fp32. */
uint16_t sfpu_zero(const struct sfpu_layout *layout);
uint32_t sfpu_coefficient(const struct sfpu_layout *layout, uint16_t code);

/* a|x| + b, before its sign is replaced; a and b are bits of fp32. */
uint32_t sfpu_line(const struct sfpu_kernel *kernel, uint32_t a, uint32_t b, uint16_t x);

/* The code of bf16 that is kept when the line at x has this value. */
uint16_t sfpu_finish(const struct sfpu_kernel *kernel, uint32_t line, uint16_t x);

/* The table's code at a code. */
uint16_t sfpu_result(const struct sfpu_table *table, uint16_t x);

/* The register that word k is loaded into, and the words: the codes of two coefficients in each. */
int sfpu_register(int word);
void sfpu_words(const struct sfpu_table *table, uint32_t words[SFPU_MAX_WORDS]);

/* The number that an instruction has as its Mod0 (SFPLUT) or Mod1 (SFPLUTFP32). */
int sfpu_modifier(const struct sfpu_kernel *kernel);

/* Conversions of codes. NaN and infinities as they are. */
double sfpu_real(uint16_t bf16);
double sfpu_real_of_bits(uint32_t fp32);

/* The code of a value that bf16 has, neither subnormal nor -0; false for others. */
bool sfpu_code_of(double value, uint16_t *code);

/* How words of the command line and of the JSON call them; null ends the lists. */
extern const char *const sfpu_chips[], *const sfpu_signs[], *const sfpu_stores[];
#define SFPU_CHIPS "wormhole|blackhole"
#define SFPU_SIGNS "retain|update"
#define SFPU_STORES "truncate|nearest"

/* "none", "x/2" or the constant's shortest decimal. */
#define SFPU_ADD_SIZE 32
void sfpu_add_text(const struct sfpu_kernel *kernel, char text[SFPU_ADD_SIZE]);

/* The same back; false for other text, and for numbers that bf16 does not have. */
bool sfpu_add_parse(const char *text, struct sfpu_kernel *kernel);

#endif
