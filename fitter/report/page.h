/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pages of pwlc report share: the frame, tiles, facts, plots and heads of tables. */
#ifndef PWLC_REPORT_PAGE_PARTS_H
#define PWLC_REPORT_PAGE_PARTS_H

#include <stddef.h>

#include "base/file.h"
#include "function/tensor.h"
#include "svg.h"

/* The head, up to words below the heading; title is escaped, the others are HTML. */
void page_begin(struct text *page, const char *title, const char *heading, const char *words);
void page_end(struct text *page);

/* An entry of a <dl>; "&" and "<" in a value are written as such. */
void page_fact(struct text *page, const char *name, const char *value);

/* A type with its codes and real range, for a fact. */
void page_tensor_text(const struct tensor *tensor, char *text, size_t size);

/* A figure in large type, of a <div class="tiles">. */
void page_tile(struct text *page, const char *value, const char *name);

/* The plot, which is freed. */
void page_svg(struct svg *svg, struct text *page);

/* A table's head, up to its body; titles end with null, and those that begin with "<" are of text. */
void page_titles(const char *const *titles, struct text *page);

#endif
