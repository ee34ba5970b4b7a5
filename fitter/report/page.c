/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"

static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#1f2328;--soft:#59636e;--rule:#d8dee4;--tile:#f6f8fa;"
    "--accent:#0b62c4}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9ba5b0;--rule:#30363d;"
    "--tile:#161b22;--accent:#6cb6ff}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1.5rem 1.25rem 4rem;max-width:63rem;background:var(--back);color:var(--text);"
    "font:16px/1.5 system-ui,'Segoe UI','Helvetica Neue',Arial,sans-serif}\n"
    "h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.35rem;margin:0;overflow-wrap:anywhere}"
    "h3{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.4rem 0;max-width:46rem}.soft{color:var(--soft)}"
    "a{color:var(--accent)}\n"
    "section{border-top:2px solid var(--rule);margin-top:2.5rem;padding-top:1.5rem}\n"
    "code,td,dd{font-variant-numeric:tabular-nums}"
    "code{font:.875em/1.5 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
    "pre{background:var(--tile);border:1px solid var(--rule);border-radius:6px;padding:.6rem .8rem;margin:.5rem 0;"
    "white-space:pre-wrap;overflow-wrap:anywhere}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0}"
    ".tile{background:var(--tile);border:1px solid var(--rule);border-radius:8px;padding:.6rem .8rem}"
    ".tile b{display:block;font-size:1.35rem;line-height:1.3;font-variant-numeric:tabular-nums}"
    ".tile span{color:var(--soft);font-size:.85rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.25rem;margin:.5rem 0}dt{color:var(--soft)}"
    "dd{margin:0;overflow-wrap:anywhere}\n"
    ".plot{overflow-x:auto;margin:.75rem 0}svg{display:block;width:100%;min-width:38rem;height:auto}\n"
    "details{margin:.3rem 0}summary{cursor:pointer;font-variant-numeric:tabular-nums}\n"
    ".wide{overflow:auto;border:1px solid var(--rule);border-radius:6px}.tall{max-height:42rem}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th,td{padding:.3rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}"
    "tbody tr:last-child "
    "td{border-bottom:0}th{background:var(--tile);position:sticky;top:0;font-weight:600;white-space:normal;vertical-"
    "align:bottom}"
    "td.text,th.text{text-align:left}td.reason{text-align:left;white-space:normal;color:var(--soft)}"
    "tr.own td{font-weight:600}\n"
    "@media(max-width:40rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}\n"
    "@media "
    "print{body{max-width:none;padding:0;font-size:11pt}.tall{max-height:none}.wide,.plot{overflow:visible}svg{min-"
    "width:0;max-height:11.5cm}"
    "section{break-before:page;border-top:0;margin-top:0;padding-top:0}section.first{break-before:auto;margin-top:1."
    "5rem}"
    "th{position:static}svg,.tiles,tr{break-inside:avoid}h3{break-after:avoid}}\n";

void page_begin(struct text *page, const char *title, const char *heading, const char *words)
{
    text_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    escape_xml(page, title);
    text_add(page,
             " - pwlc report</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>%s</h1>\n<p class=\"soft\">%s pwlc "
             "%s.</p>\n",
             style, heading, words, PWLC_VERSION);
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
