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

/* Words that a language keeps for itself; only --name or an empty prefix can produce one. */
const struct identifiers identifiers_c = {
    "C", /* C11 and C++17 */
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl "
    "const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast restrict return short signed sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool "
    "_Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local "};

const struct identifiers identifiers_verilog = {
    "Verilog", /* IEEE 1800-2017, table B.1 */
    " accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind "
    "bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config "
    "const constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist "
    "do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface "
    "endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event "
    "eventually expect export extends extern final first_match for force foreach forever fork forkjoin function "
    "generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir "
    "include initial inout input inside instance int integer interconnect interface intersect join join_any join_none "
    "large let liblist library local localparam logic longint macromodule matches medium modport module nand negedge "
    "nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos "
    "posedge primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect "
    "pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg reject_on release repeat "
    "restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with "
    "scalared "
    "sequence shortint shortreal showcancelled signed small soft solve specify specparam static string strong strong0 "
    "strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time "
    "timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 "
    "unsigned until until_with untyped use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while "
    "wildcard wire with within wor xnor xor "};

static bool is_keyword(const struct identifiers *identifiers, const char *text)
{
    char padded[32];
    const int length = snprintf(padded, sizeof padded, " %s ", text);
    return length > 0 && (size_t)length < sizeof padded && strstr(identifiers->keywords, padded) != NULL;
}

static const char *const style_names[] = {"auto", "rom", "aligned", "barrel", "tree", "residual"};

const char *rtl_style_name(enum rtl_style style)
{
    return style_names[style];
}

enum rtl_style rtl_style_parse(const char *name)
{
    enum rtl_style style = RTL_AUTO;
    while (strcmp(style_names[style], name) != 0)
        style++;
    return style;
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

bool emit_is_address_space(const char *attribute)
{
    return strncmp(attribute, "__flash", 7) == 0 || strcmp(attribute, "__memx") == 0;
}

int emit_table_name(const struct table *table, const struct emit_options *options,
                    const struct identifiers *identifiers, char *name, size_t size, struct diag *diag)
{
    return emit_name(table->function, &table->in, &table->out, options, identifiers, name, size, diag);
}

int emit_name(const char *function, const struct tensor *x, const struct tensor *y, const struct emit_options *options,
              const struct identifiers *identifiers, char *name, size_t size, struct diag *diag)
{
    char in[8], out[8];
    int length;

    if (options->name) {
        if (!is_identifier(options->name) || is_keyword(identifiers, options->name))
            return diag_set(diag, EXIT_USAGE,
                            "--name %s: not a %s identifier; use letters, digits and _, no digit first, no keyword",
                            options->name, identifiers->language);
        length = snprintf(name, size, "%s", options->name);
    } else {
        if (options->prefix[0] != '\0' && !is_identifier(options->prefix))
            return diag_set(diag, EXIT_USAGE,
                            "--prefix %s: cannot begin a %s identifier; use letters, digits and _, no digit first",
                            options->prefix, identifiers->language);
        tensor_type_name(x, in, sizeof in);
        tensor_type_name(y, out, sizeof out);
        length = snprintf(name, size, "%s%s_%s%s%s", options->prefix, function, in, strcmp(in, out) == 0 ? "" : "_",
                          strcmp(in, out) == 0 ? "" : out);
    }
    if (length < 0 || (size_t)length >= size)
        return diag_set(diag, EXIT_USAGE, "%s: the identifier is longer than %zu characters; shorten it",
                        options->name ? "--name" : "--prefix", size - 1);
    if (!is_identifier(name))
        return diag_set(diag, EXIT_USAGE, "function: \"%s\" does not make a %s identifier; give one with --name",
                        function, identifiers->language);
    return EXIT_DONE;
}
