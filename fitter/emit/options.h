/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every emitter is given beside its tables, and the identifiers made of that. */
#ifndef PWLC_OPTIONS_H
#define PWLC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/file.h"
#include "table/table.h"

/* How a module finds a code's output. */
enum rtl_style {
    RTL_AUTO,
    RTL_ROM,     /* all outputs in a ROM */
    RTL_ALIGNED, /* a comparison with every start, then one shift for all segments */
    RTL_BARREL,  /* the same comparisons, then a shift by the segment's own n */
    RTL_TREE,    /* a comparison for each bit of the segment's number, then one shift for all */
    RTL_RESIDUAL /* a ramp less a ROM of half as many words */
};

#define RTL_STYLES "auto|rom|aligned|barrel|tree|residual"
const char *rtl_style_name(enum rtl_style style);
enum rtl_style rtl_style_parse(const char *name); /* one of RTL_STYLES */

#define EMIT_NAME_SIZE 128
#define ROM_FILE_SIZE (EMIT_NAME_SIZE + 8)

#define RTL_MAX_STAGES 24
#define RTL_DEFAULT_STAGES 1

struct rtl_options {
    enum rtl_style style;
    int stages;       /* registers from input to output, 0..RTL_MAX_STAGES */
    bool has_ready;   /* valid and ready instead of valid alone */
    bool rom_in_file; /* a .mem file instead of a case */
    double clock_ns;  /* sdc: the clock's period; 0: not given */
};

/* The words of a module's ROM, as a file beside it. */
struct rom_file {
    char name[ROM_FILE_SIZE]; /* without a folder; "": the module has no ROM */
    struct text words;
};

struct emit_options {
    const char *prefix;       /* of identifiers; "pwl_" by default */
    const char *name;         /* identifier of a single table instead of the derived one; null by default */
    const char *attribute;    /* c: of the arrays, as __attribute__((section(".tables"))) or __flash; null by default */
    bool standalone;          /* c: with its own evaluation, including only stdint.h and stddef.h */
    struct rtl_options rtl;   /* sv and its kin */
    struct rom_file *rom;     /* sv, v: takes the words where they are not in the module; null: nobody wants them */
    const char *const *paths; /* of the tables, for messages alone; may be null */
};

/* Exit 2 when --attribute is more than names, strings and parentheses that match. */
int emit_check_attribute(const char *attribute, struct diag *diag);

/* __flash and its like, which qualify the elements' type: what reads the arrays is compiled to read that memory. */
bool emit_is_address_space(const char *attribute);

/* What a language takes as a name. */
struct identifiers {
    const char *language;
    const char *keywords; /* each with a space before and behind it */
};

extern const struct identifiers identifiers_c, identifiers_verilog;

/* Identifier of what maps codes: prefix + function + "_" + input type [+ "_" + output type when it differs],
 * for example pwl_gelu_s8, pwl_sigmoid_s16_u8; and of a table. */
int emit_name(const char *function, const struct tensor *x, const struct tensor *y, const struct emit_options *options,
              const struct identifiers *identifiers, char *name, size_t size, struct diag *diag);
int emit_table_name(const struct table *table, const struct emit_options *options,
                    const struct identifiers *identifiers, char *name, size_t size, struct diag *diag);

#endif
