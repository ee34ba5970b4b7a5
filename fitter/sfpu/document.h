/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of the SFPU as a file: what it approximates, what was asked, and what it attains. */
#ifndef PWLC_SFPU_DOCUMENT_H
#define PWLC_SFPU_DOCUMENT_H

#include "base/file.h"
#include "fit.h"
#include "measure.h"
#include "table/json_parts.h"

struct sfpu_document {
    struct function function; /* a built-in one */
    struct sfpu_demand demand;
    struct sfpu_table table;
    /* The certificate: valid unless standing is CERTIFICATE_ABSENT. */
    struct sfpu_errors errors; /* without those of segments, when it was read */
    bool is_optimal;           /* no table of the kernel has a smaller largest error, in the demand's measure */
    bool is_least_mean;        /* struct sfpu_optimum */
    enum standing standing;
};

/* The targets of the document's demand. */
int sfpu_document_targets(const struct sfpu_document *of, struct sfpu_target targets[SFPU_CODES], struct diag *diag);

/* Measures the table; nothing is then known of optimality. */
int sfpu_document_certify(struct sfpu_document *of, struct diag *diag);

/* Finds the best table and its certificate. */
int sfpu_document_fit(struct sfpu_document *of, struct diag *diag);

/* The JSON, to be freed. */
int sfpu_document_write(const struct sfpu_document *of, char **text, struct diag *diag);

/* Exit 2 with the field where the text is not such a document. */
int sfpu_document_parse(const char *bytes, size_t size, struct sfpu_document *of, struct diag *diag);

/* The same of a file, "-" for standard input. */
int sfpu_document_read(const char *path, struct sfpu_document *of, struct diag *diag);

/* "LO:HI", either end may be left out; false for other text, and where LO > HI. */
bool sfpu_range_parse(const char *text, struct sfpu_demand *demand);

/* Codes of words as sfpu_words() makes them. Those that the layout leaves unused must be 0: false. */
bool sfpu_words_take(const uint32_t *words, struct sfpu_table *table);

/* "0x" and hexadecimal digits, or a decimal, up to `most`; false for other text. */
bool sfpu_number_parse(const char *text, uint32_t most, uint32_t *value);

#endif
