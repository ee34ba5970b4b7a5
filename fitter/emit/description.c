/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "description.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "function/samples.h"

static void add_quality(struct text *out, const struct table *table, const char *lead)
{
    const struct certificate *certificate = &table->certificate;
    if (table->standing != CERTIFICATE_OWN) {
        text_add(out, "%s  certificate none\n", lead);
        return;
    }
    static const char *const objectives[] = {"RMS error", "max error", "number of segments"};
    text_add(out, "%s  optimised   %s%s\n", lead, objectives[certificate->objective],
             certificate->has_second_objective ? ", then RMS error" : "");
    text_add(out, "%s  max error   %.6g LSB, at q_x = %" PRId64 "\n", lead, certificate->max_err_lsb,
             certificate->max_err_at);
    text_add(out, "%s  RMS error   %.6g LSB%s\n", lead, certificate->rms_err_lsb,
             table->weights_sha256[0] != '\0' ? ", weighted" : "");
    if (certificate->exhaustive)
        text_add(out, "%s  checked     every one of %" PRId64 " codes\n", lead, certificate->checked);
    else
        text_add(out, "%s  checked     %" PRId64 " codes, not exhaustive\n", lead, certificate->checked);
    if (certificate->has_bound)
        text_add(out, "%s  proven      max error <= %.6g LSB\n", lead, certificate->bound_lsb);
    if (certificate->has_lower_bound)
        text_add(out, "%s  lower bound %.6g LSB\n", lead, certificate->lower_bound_lsb);
    if (certificate->optimal >= 0)
        text_add(out, "%s  optimal     %s\n", lead, certificate->optimal == 1 ? "yes" : "no");
    text_add(out, "%s  monotone    %s\n", lead, certificate->monotone ? "yes" : "no");
}

void add_description(struct text *out, const struct table *t, const char *name, const char *lead)
{
    char in[96], out_type[96], hash[65];
    tensor_format(&t->in, in, sizeof in);
    tensor_format(&t->out, out_type, sizeof out_type);
    sha256_hex(t->spec, strlen(t->spec), hash);

    text_add(out, "%s%s\n%s  function    ", lead, name, lead);
    escape_comment(out, t->function);
    for (int i = 0; i < t->parameter_count; i++) {
        text_add(out, "%s", i == 0 ? " with " : ", ");
        escape_comment(out, t->parameters[i].name);
        text_add(out, " = %.17g", t->parameters[i].value);
    }
    text_add(out, "\n%s  types       %s to %s, %s, %s, %s%s, %d segment%s\n", lead, in, out_type,
             storage_name(t->storage), form_name(t->form), rounding_name(t->rounding),
             t->has_fold        ? ", folded"
             : t->has_reduction ? ", reduced to an octave"
                                : "",
             t->segment_count, t->segment_count == 1 ? "" : "s");
    text_add(out, "%s  spec        ", lead);
    escape_comment(out, t->spec[0] ? t->spec : "none, the table was not made by fit");
    text_add(out, "\n%s  spec sha256 %s\n", lead, hash);
    if (t->samples_sha256[0] != '\0')
        text_add(out, "%s  samples     sha256 %s,\n%s              " SAMPLES_BETWEEN "\n", lead, t->samples_sha256,
                 lead);
    if (t->weights_sha256[0] != '\0')
        text_add(out, "%s  weights     sha256 %s\n", lead, t->weights_sha256);
    add_quality(out, t, lead);
}
