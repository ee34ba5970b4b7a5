/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hls.h"

#include <stdlib.h>

#include "emit/c/c.h"
#include "emit/description.h"
#include "emit/rtl/statements.h"
#include "emit/rtl/verilog.h"

#define MOST_WORD_BITS 126 /* plain integers have 128, and a sign */

static int widest_of(const struct module *m, const struct declarations *all)
{
    int widest = m->rom.width + 1; /* a pattern is a number without a sign */
    for (int i = 0; i < all->count; i++)
        widest = all->list[i].bits > widest ? all->list[i].bits : widest;
    return widest;
}

/* The types by macro. Plain integers hold every number of the body with bits to spare, so that sums do not wrap. */
static void add_types(struct text *out, const struct module *m, int widest)
{
    const struct tensor *in = &m->table->in, *y = &m->table->out;
    const bool is_long = widest > 62;
    text_add(out,
             "#if defined(PWL_HLS_AP_INT)\n#include <ap_int.h>\n"
             "#elif defined(PWL_HLS_AC_INT)\n#include <ac_int.h>\n"
             "#else\n#include <cstdint>\n#endif\n\n"
             "namespace %s_hls {\n\n"
             "#if defined(PWL_HLS_AP_INT) || defined(PWL_HLS_AC_INT)\n"
             "#ifdef PWL_HLS_AP_INT\n"
             "template <int N> using Signed = ap_int<N>;\n"
             "template <int N> using Bits = ap_uint<N>;\n"
             "#else\n"
             "template <int N> using Signed = ac_int<N, true>;\n"
             "template <int N> using Bits = ac_int<N, false>;\n"
             "#endif\n"
             "typedef %s<%d> in_t;\n"
             "typedef %s<%d> out_t;\n"
             "template <int N, class T> inline Signed<N> as_signed(T v) { return Signed<N>(v); }\n"
             "template <int N, class T> inline Bits<N> as_bits(T v) { return Bits<N>(v); }\n"
             "template <class T> inline T shifted_left(T v, unsigned n) { return T(v << n); }\n"
             "template <class T> inline unsigned as_index(T v) { return v.to_uint(); }\n"
             "inline unsigned as_index(int v) { return unsigned(v); }\n",
             m->name, in->is_signed ? "Signed" : "Bits", in->bits, y->is_signed ? "Signed" : "Bits", y->bits);
    text_add(out,
             "#else\n"
             "%stypedef %s number;\n"
             "%stypedef %s pattern;\n"
             "template <int N> using Signed = number;\n"
             "template <int N> using Bits = number;\n"
             "typedef std::%s in_t;\n"
             "typedef std::%s out_t;\n"
             "template <int N> inline number as_signed(number v)\n"
             "{\n    return number(pattern(v) << (8 * sizeof v - N)) >> (8 * sizeof v - N);\n}\n"
             "template <int N> inline number as_bits(number v)\n"
             "{\n    return number(pattern(v) & (~pattern(0) >> (8 * sizeof v - N)));\n}\n"
             "inline number shifted_left(number v, unsigned n) { return number(pattern(v) << n); }\n"
             "inline unsigned as_index(number v) { return unsigned(v); }\n"
             "#endif\n",
             is_long ? "__extension__ " : "", is_long ? "__int128" : "std::int64_t", is_long ? "__extension__ " : "",
             is_long ? "unsigned __int128" : "std::uint64_t", c_type(in->bits, in->is_signed),
             c_type(y->bits, y->is_signed));
}

/* The bits of a vector that are assigned one by one are put into it, from the lowest on. */
static bool add_assignment(struct text *out, const struct statement *s)
{
    const struct declared *target = s->target;
    bool is_written;
    if (s->bit >= 0) {
        if (s->bit == 0)
            text_add(out, "    Bits<%d> %s = 0;\n", target->bits, target->name);
        text_add(out, "    %s |= shifted_left(", target->name);
        is_written = hls_add_formula(out, s->right, false, target->bits);
        text_add(out, ", %d);\n", s->bit);
        return is_written;
    }
    if (target->is_port)
        text_add(out, "    return out_t(");
    else
        text_add(out, "    const %s<%d> %s = ", target->is_signed ? "Signed" : "Bits", target->bits, target->name);
    is_written = hls_add_formula(out, s->right, target->is_signed, target->bits);
    text_add(out, target->is_port ? ");\n" : ";\n");
    return is_written;
}

static int add_eval(struct text *out, const struct module *m, const struct declarations *all, struct formulas *formulas,
                    struct diag *diag)
{
    struct statement s;
    const char *rest = m->pipeline.parts[0].bytes;
    text_add(out,
             "\n} // namespace\n\n"
             "/* The output code of an input code of %d bits; a new one can enter in each cycle. */\n"
             "inline %s_hls::out_t %s_eval(%s_hls::in_t x_i)\n{\n"
             "#ifdef __SYNTHESIS__\n#pragma HLS PIPELINE II=1\n#endif\n"
             "    using namespace %s_hls;\n",
             m->table->in.bits, m->name, m->name, m->name, m->name);
    while (statement_next(&rest, all, formulas, &s)) {
        if (s.kind == STATEMENT_COMMENT)
            text_add(out, "    //%.*s\n", s.length, s.text);
        else if (s.kind == STATEMENT_BLANK)
            text_add(out, "\n");
        else if (s.kind == STATEMENT_UNUSED)
            text_add(out, "    static_cast<void>(%s);\n", s.right->first->signal->name);
        else if (s.kind == STATEMENT_UNKNOWN || !add_assignment(out, &s))
            return statement_refuse("hls", &s, diag);
    }
    text_add(out, "}\n");
    return EXIT_DONE;
}

static void add_map(struct text *out, const struct module *m)
{
    text_add(out,
             "\n/* y[k] = %s_eval(x[k]) for k in [0, n), one in each cycle */\n"
             "inline void %s_map(const %s_hls::in_t x[], %s_hls::out_t y[], unsigned n)\n{\n"
             "#ifdef __SYNTHESIS__\n#pragma hls_pipeline_init_interval 1\n#endif\n"
             "    for (unsigned k = 0; k < n; ++k) {\n"
             "#ifdef __SYNTHESIS__\n#pragma HLS PIPELINE II=1\n#endif\n"
             "        y[k] = %s_eval(x[k]);\n"
             "    }\n}\n",
             m->name, m->name, m->name, m->name, m->name);
}

static int write_hls(struct text *out, const struct module *m, const struct emit_options *options, struct diag *diag)
{
    struct declarations all = {0};
    struct formulas *formulas = malloc(sizeof *formulas);
    (void)options;
    if (m->rom.width > MOST_WORD_BITS)
        diag_set(diag, EXIT_USAGE, "--format hls: words of %d bits, at most %d; try another --rtl-style", m->rom.width,
                 MOST_WORD_BITS);
    else if (!formulas)
        diag_set(diag, EXIT_IO, "out of memory while writing %s", m->name);
    else
        statements_declare(m, &all, diag);
    if (diag->code == EXIT_DONE) {
        text_add(out, "// SPDX-License-Identifier: 0BSD\n// DO NOT EDIT: generated by pwlc %s\n//\n", PWLC_VERSION);
        add_description(out, m->table, m->name, "// ");
        text_add(out,
                 "//   style       %s, ROM of %d words of %d bits\n//\n"
                 "// C++11. PWL_HLS_AP_INT takes Vitis HLS's ap_int, PWL_HLS_AC_INT Catapult's ac_int, neither plain "
                 "integers.\n"
                 "#ifndef %s_HLS\n#define %s_HLS\n\n",
                 rtl_style_name(m->style), m->rom.entries, m->rom.width, m->name, m->name);
        add_types(out, m, widest_of(m, &all));
        module_add_roms(out, m, options);
        add_eval(out, m, &all, formulas, diag);
        add_map(out, m);
        text_add(out, "\n#endif\n");
    }
    free(all.list);
    free(formulas);
    return diag->code;
}

int emit_hls(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
             struct diag *diag)
{
    /* The tool places the registers. */
    struct emit_options without_registers = *options;
    without_registers.rtl = (struct rtl_options){.style = options->rtl.style};
    (void)count;
    return module_emit(tables[0], &without_registers, &hls_cpp, write_hls, out, diag);
}
