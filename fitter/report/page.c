/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"

/* page.css, from page_style.c.in */
extern const char page_style[];

void page_begin(struct text *page, const char *title, const char *heading, const char *words)
{
    text_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    escape_xml(page, title);
    text_add(page,
             " - pwlc report</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n<p class=\"soft\">%s pwlc "
             "%s.</p>\n",
             page_style, heading, words, PWLC_VERSION);
}

void page_end(struct text *page)
{
    text_add(page, "</body>\n</html>\n");
}

void page_fact(struct text *page, const char *name, const char *value)
{
    text_add(page, "<dt>%s</dt><dd>", name);
    escape_xml(page, value);
    text_add(page, "</dd>\n");
}

void page_tensor_text(const struct tensor *tensor, char *text, size_t size)
{
    char type[80];
    tensor_format(tensor, type, sizeof type);
    snprintf(text, size, "%s, codes %" PRId64 " to %" PRId64 ", real %.6Lg to %.6Lg", type, tensor->qmin, tensor->qmax,
             tensor_real(tensor, tensor->qmin), tensor_real(tensor, tensor->qmax));
}

void page_tile(struct text *page, const char *value, const char *name)
{
    text_add(page, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", value, name);
}

void page_svg(struct svg *svg, struct text *page)
{
    page->failed |= svg->text.failed;
    if (!page->failed)
        text_add(page, "<div class=\"plot\">%s</div>\n", svg->text.bytes);
    svg_free(svg);
}

void page_titles(const char *const *titles, struct text *page)
{
    text_add(page, "<table><thead><tr>");
    for (; *titles; titles++)
        text_add(page, "<th%s>%s</th>", **titles == '<' ? " class=\"text\"" : "", *titles + (**titles == '<'));
    text_add(page, "</tr></thead><tbody>\n");
}
