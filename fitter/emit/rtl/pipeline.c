/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct dialect system_verilog = {"logic", "logic", "always_ff", "logic ", true};
const struct dialect verilog_2005 = {"wire", "reg", "always", "", false};

void pipeline_free(struct pipeline *pipeline)
{
    for (int i = 0; i <= RTL_MAX_STAGES; i++) {
        text_free(&pipeline->parts[i]);
        text_free(&pipeline->declarations[i]);
        text_free(&pipeline->moves[i]);
    }
}

struct text *pipeline_part(struct pipeline *pipeline)
{
    return &pipeline->parts[pipeline->stages];
}

void pipeline_cut(struct pipeline *pipeline)
{
    pipeline->stages++;
}

int unsigned_bits(wide high)
{
    int bits = 1;
    while (bits < 127 && high >> bits != 0)
        bits++;
    return bits;
}

int signed_bits(wide low, wide high)
{
    int bits = 1;
    while (bits < 128 && (high >> (bits - 1) > 0 || low >> (bits - 1) < -1))
        bits++;
    return bits;
}

const char *bit_range(int bits, char text[CONSTANT_TEXT])
{
    if (bits == 1)
        text[0] = '\0';
    else
        snprintf(text, CONSTANT_TEXT, "[%d:0] ", bits - 1);
    return text;
}

static void declare(struct text *out, const char *type, const struct signal *signal, const char *suffix)
{
    char range[CONSTANT_TEXT];
    text_add(out, "  %s %s%s%s%s;\n", type, signal->is_signed ? "signed " : "", bit_range(signal->bits, range),
             signal->name, suffix);
}

static struct signal new_signal(struct pipeline *pipeline, const char *name, int bits, bool is_signed)
{
    struct signal signal = {
        .bits = bits, .is_signed = is_signed, .stage = pipeline->stages, .copied = pipeline->stages};
    snprintf(signal.name, sizeof signal.name, "%s", name);
    declare(pipeline_part(pipeline), pipeline->dialect->net, &signal, "");
    return signal;
}

struct signal pipeline_value(struct pipeline *pipeline, const char *name, wide low, wide high)
{
    struct signal signal = new_signal(pipeline, name, signed_bits(low, high), true);
    signal.low = low;
    signal.high = high;
    return signal;
}

struct signal pipeline_bits(struct pipeline *pipeline, const char *name, int bits)
{
    struct signal signal = new_signal(pipeline, name, bits, false);
    signal.high = ((wide)1 << bits) - 1;
    return signal;
}

/* Of the copy that lies 0, 1, 2... registers behind where the signal is assigned. */
static const char *const suffixes[RTL_MAX_STAGES + 1] = {"", "_q", "_q2", "_q3", "_q4"};

const char *signal_use(struct pipeline *pipeline, struct signal *signal, char text[SIGNAL_TEXT])
{
    while (signal->copied < pipeline->stages) {
        const char *from = suffixes[signal->copied - signal->stage];
        signal->copied++;
        const char *to = suffixes[signal->copied - signal->stage];
        declare(&pipeline->declarations[signal->copied], pipeline->dialect->variable, signal, to);
        text_add(&pipeline->moves[signal->copied], "%s%s <= %s%s;\n", signal->name, to, signal->name, from);
    }
    snprintf(text, SIGNAL_TEXT, "%s%s", signal->name, suffixes[signal->copied - signal->stage]);
    return text;
}

const char *signal_extend(struct pipeline *pipeline, struct signal *signal, int bits, char text[SIGNAL_TEXT])
{
    char name[SIGNAL_TEXT];
    signal_use(pipeline, signal, name);
    const int more = bits - signal->bits;
    if (!signal->is_signed)
        snprintf(text, SIGNAL_TEXT, "$signed({%d'd0, %.40s})", more, name);
    else if (more == 0)
        snprintf(text, SIGNAL_TEXT, "%s", name);
    else if (pipeline->dialect->has_casts)
        snprintf(text, SIGNAL_TEXT, "%d'(%.40s)", bits, name);
    else if (signal->bits == 1)
        snprintf(text, SIGNAL_TEXT, "$signed({%d{%.40s}})", bits, name);
    else
        snprintf(text, SIGNAL_TEXT, "$signed({{%d{%.30s[%d]}}, %.30s})", more, name, signal->bits - 1, name);
    return text;
}

/* In decimal up to 63 bits, beyond in hexadecimal, as is the lowest value, whose magnitude no signed literal has. */
const char *signed_constant(int bits, wide value, char text[CONSTANT_TEXT])
{
    const wide lowest = -((wide)1 << (bits - 1));
    if (bits <= 64 && value > lowest) {
        snprintf(text, CONSTANT_TEXT, "%s%d'sd%" PRIu64, value < 0 ? "-" : "", bits,
                 (uint64_t)(value < 0 ? -value : value));
        return text;
    }
    __extension__ const unsigned __int128 pattern = (unsigned __int128)value;
    const int digits = (bits + 3) / 4;
    int length = snprintf(text, CONSTANT_TEXT, "%d'sh", bits);
    for (int i = digits - 1; i >= 0; i--) {
        unsigned digit = (unsigned)(pattern >> (4 * i)) & 15u;
        if (i == digits - 1 && bits % 4 != 0)
            digit &= (1u << (bits % 4)) - 1;
        length += snprintf(text + length, (size_t)(CONSTANT_TEXT - length), "%x", digit);
    }
    return text;
}

static void write_registers(const struct pipeline *pipeline, int stage, struct text *out)
{
    const char *moves = pipeline->moves[stage].bytes;
    if (!moves)
        return;
    text_add(out, "\n%s\n  %s @(posedge clk_i) begin\n", pipeline->declarations[stage].bytes,
             pipeline->dialect->clocked);
    if (pipeline->has_enables)
        text_add(out, "    if (advance_%d) begin\n", stage);
    while (*moves) {
        const int length = (int)strcspn(moves, "\n");
        text_add(out, "    %s%.*s\n", pipeline->has_enables ? "  " : "", length, moves);
        moves += length + 1;
    }
    if (pipeline->has_enables)
        text_add(out, "    end\n");
    text_add(out, "  end\n");
}

void pipeline_write(const struct pipeline *pipeline, struct text *out)
{
    for (int i = 0; i <= pipeline->stages; i++) {
        if (i > 0)
            write_registers(pipeline, i, out);
        if (pipeline->parts[i].bytes)
            text_add(out, "\n%s", pipeline->parts[i].bytes);
        out->failed |= pipeline->parts[i].failed || pipeline->declarations[i].failed || pipeline->moves[i].failed;
    }
}
