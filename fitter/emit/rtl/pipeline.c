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

struct signal pipeline_value(struct pipeline *pipeline, const char *name, int bits, wide low, wide high)
{
    const int needed = signed_bits(low, high);
    struct signal signal = new_signal(pipeline, name, needed > bits ? needed : bits, true);
    signal.low = low;
    signal.high = high;
    return signal;
}

struct signal pipeline_bits(struct pipeline *pipeline, const char *name, int bits)
{
    return new_signal(pipeline, name, bits, false);
}

struct signal pipeline_sum(struct pipeline *pipeline, const char *name, struct signal *a, wide constant)
{
    char text[SIGNAL_TEXT], literal[CONSTANT_TEXT];
    struct signal sum = pipeline_value(pipeline, name, a->bits, a->low + constant, a->high + constant);
    signal_extend(pipeline, a, sum.bits, text);
    if (constant == 0)
        text_add(pipeline_part(pipeline), "  assign %s = %s;\n", name, text);
    else
        text_add(pipeline_part(pipeline), "  assign %s = %s %c %s;\n", name, text, constant < 0 ? '-' : '+',
                 signed_constant(sum.bits, constant < 0 ? -constant : constant, literal));
    return sum;
}

struct signal pipeline_difference(struct pipeline *pipeline, const char *name, wide constant, struct signal *a)
{
    char text[SIGNAL_TEXT], literal[CONSTANT_TEXT];
    struct signal difference = pipeline_value(pipeline, name, a->bits, constant - a->high, constant - a->low);
    signal_extend(pipeline, a, difference.bits, text);
    text_add(pipeline_part(pipeline), "  assign %s = %s - %s;\n", name,
             signed_constant(difference.bits, constant, literal), text);
    return difference;
}

/* "_q", "_q2", "_q3"...: of the copy so many registers behind where the signal is assigned. */
static const char *suffix_of(int registers, char text[8])
{
    text[0] = '\0';
    if (registers > 0)
        snprintf(text, 8, registers == 1 ? "_q" : "_q%d", registers);
    return text;
}

const char *signal_use(struct pipeline *pipeline, struct signal *signal, char text[SIGNAL_TEXT])
{
    char from[8], to[8];
    while (signal->copied < pipeline->stages) {
        suffix_of(signal->copied - signal->stage, from);
        signal->copied++;
        suffix_of(signal->copied - signal->stage, to);
        declare(&pipeline->declarations[signal->copied], pipeline->dialect->variable, signal, to);
        text_add(&pipeline->moves[signal->copied], "%s%s <= %s%s;\n", signal->name, to, signal->name, from);
    }
    snprintf(text, SIGNAL_TEXT, "%s%s", signal->name, suffix_of(signal->copied - signal->stage, to));
    return text;
}

void pipeline_drop(struct pipeline *pipeline, struct signal *signal, int high, int low)
{
    char name[SIGNAL_TEXT], range[CONSTANT_TEXT] = "";
    signal_use(pipeline, signal, name);
    if (signal->bits > 1)
        snprintf(range, sizeof range, high == low ? "[%d]" : "[%d:%d]", high, low);
    text_add(pipeline_part(pipeline), "  %s unused_%s;\n  assign unused_%s = ^%s%s;\n", pipeline->dialect->net, name,
             name, name, range);
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

/* In decimal, but beyond 64 bits and for the lowest value, whose magnitude has no literal of its width. */
const char *signed_constant(int bits, wide value, char text[CONSTANT_TEXT])
{
    __extension__ typedef unsigned __int128 pattern;
    const pattern low_bits = (pattern)value << (128 - bits);
    value = (wide)low_bits >> (128 - bits);
    if (bits <= 64 && low_bits << 1 != 0) {
        snprintf(text, CONSTANT_TEXT, "%s%d'sd%" PRIu64, value < 0 ? "-" : "", bits,
                 (uint64_t)(value < 0 ? -value : value));
        return text;
    }
    if (value == 0 && bits > 1) {
        snprintf(text, CONSTANT_TEXT, "%d'sd0", bits);
        return text;
    }
    int length = snprintf(text, CONSTANT_TEXT, "%d'sh", bits);
    for (int digit = (bits + 3) / 4 - 1; digit >= 0; digit--) {
        unsigned nibble = (unsigned)((pattern)value >> (4 * digit)) & 15u;
        if (4 * digit + 4 > bits)
            nibble &= (1u << bits % 4) - 1;
        length += snprintf(text + length, (size_t)(CONSTANT_TEXT - length), "%x", nibble);
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
