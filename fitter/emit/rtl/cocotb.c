/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bench for cocotb, in Python: the definition of the table, held to the runtime by a hash of its outputs. */
#include <inttypes.h>
#include <stdlib.h>

#include "codes.h"
#include "rtl.h"
#include "verilog.h"

static void add_list(struct text *out, const struct module *m, const char *name, size_t field)
{
    text_add(out, "%s = (", name);
    for (int i = 0; i < m->table->segment_count; i++) {
        const struct segment *s = &m->table->segments[i];
        const int64_t values[] = {s->start, s->q_b, s->n, s->offset};
        text_add(out, "%s%" PRId64 ",", i % 12 ? " " : "\n    ", values[field]);
    }
    text_add(out, "\n)\n");
}

static void add_raw(struct text *out, const struct module *m)
{
    static const char *const addends[] = {"0", "half", "half - (v < 0)", "half - ((v >> n) & 1 == 0)"};
    const struct table *t = m->table;
    text_add(out, "\n\ndef shr(v, n):\n    if n <= 0:\n        return v << -n\n%s    return (v + %s) >> n\n",
             t->rounding == PWL_FLOOR ? "" : "    half = 1 << (n - 1)\n", addends[t->rounding]);
    text_add(out, "\n\ndef raw(code):\n    i = bisect.bisect_right(START, code) - 1\n    v = Q_B[i] * (code - ");
    if (t->form == PWL_ANCHORED)
        text_add(out, "START[i])");
    else
        text_add(out, "(%" PRId64 "))", table_segment_codes(t).zero_point);
    text_add(out, t->form == PWL_BIASED ? " + OFFSET[i]\n    return shr(v, N[i])\n"
                                        : "\n    return shr(v, N[i]) + OFFSET[i]\n");
}

static void add_reduced(struct text *out, const struct table *t)
{
    const pwl_reduction *r = &t->reduction;
    const int bits = storage_bits(t->storage), dropped = r->fraction - bits;
    text_add(out, "    d = code - (%" PRId64 ")\n", t->in.zero_point);
    if (r->kind == PWL_LEADING_ZEROS) {
        text_add(out,
                 "    if d <= 0:\n        return %" PRId64 "\n"
                 "    octave = (%d - d.bit_length()) >> %d\n"
                 "    up = octave << %d\n"
                 "    word = d << up if up >= 0 else d >> -up\n",
                 (int64_t)r->below, bits, r->log2_step, r->log2_step);
    } else {
        text_add(out, "    z = d * (%" PRId64 ")\n", (int64_t)r->factor);
        if (dropped > 0)
            text_add(out, "    z = (z + (1 << %d)) >> %d\n", dropped - 1, dropped);
        text_add(out, "    octave, word = z >> %d, z & ((1 << %d) - 1)\n", bits, bits);
    }
    text_add(out,
             "    down = max(0, min(62, %d + (%d) * octave))\n"
             "    y = raw(word) - octave * (%" PRId64 ")\n"
             "    y = ((y + (1 << down >> 1)) >> down) + (%" PRId64 ")\n",
             (int)r->shift, (int)r->direction, (int64_t)r->addend, t->out.zero_point);
}

static void add_model(struct text *out, const struct module *m)
{
    const struct table *t = m->table;
    text_add(out, "\n\ndef model(x):\n    code = max(%" PRId64 ", min(%" PRId64 ", x))\n", t->in.qmin, t->in.qmax);
    if (t->has_reduction)
        add_reduced(out, t);
    else if (t->has_fold)
        text_add(out, "    y = raw(code) if code >= %" PRId64 " else %" PRId64 " - raw(2 * (%" PRId64 ") - code)\n",
                 t->in.zero_point, t->fold_sum, t->in.zero_point);
    else
        text_add(out, "    y = raw(code)\n");
    text_add(out, "    return max(%" PRId64 ", min(%" PRId64 ", y))\n", t->out.qmin, t->out.qmax);
}

static void add_codes(struct text *out, const struct codes *codes)
{
    if (codes->has_all) {
        const int64_t half = (int64_t)1 << (codes->bits - 1);
        if (codes->is_signed)
            text_add(out, "CODES = (*range(%" PRId64 "), *range(-%" PRId64 ", 0))\n", half, half);
        else
            text_add(out, "CODES = range(%" PRId64 ")\n", 2 * half);
        return;
    }
    text_add(out, "CODES = (");
    for (int64_t k = 0; k < codes_first(codes); k++)
        text_add(out, "%s%" PRId64 ",", k % 8 ? " " : "\n    ", code_at(codes, k));
    text_add(out, "\n)\n");
}

static const char test[] =
    "\n\n@cocotb.test()\n"
    "async def every_code(dut):\n"
    "    random.seed(1)\n"
    "    cocotb.start_soon(Clock(dut.clk_i, 10, unit=\"ns\").start())\n"
    "    dut.rst_ni.value = 0\n"
    "    dut.valid_i.value = 0\n"
    "    dut.x_i.value = 0\n"
    "    if HAS_READY:\n"
    "        dut.ready_i.value = 1\n"
    "    await FallingEdge(dut.clk_i)\n"
    "    await FallingEdge(dut.clk_i)\n"
    "    dut.rst_ni.value = 1\n"
    "    sent = received = waited = 0\n"
    "    digest = 0xcbf29ce484222325\n"
    "    reset_at = len(CODES) // 2\n"
    "    while received < len(CODES):\n"
    "        # Between two rising edges: gaps before the module, waits behind it.\n"
    "        valid = sent < len(CODES) and random.random() < 0.9\n"
    "        ready = not HAS_READY or random.random() < 0.9\n"
    "        dut.valid_i.value = int(valid)\n"
    "        if valid:\n"
    "            dut.x_i.value = CODES[sent]\n"
    "        if HAS_READY:\n"
    "            dut.ready_i.value = int(ready)\n"
    "        await ReadOnly()\n"
    "        taken = valid and (not HAS_READY or dut.ready_o.value == 1)\n"
    "        waited += 1\n"
    "        assert waited < 1000, f\"{received} of {len(CODES)} codes came out\"\n"
    "        if dut.valid_o.value == 1 and ready:\n"
    "            waited = 0\n"
    "            y = dut.y_o.value.to_signed() if SIGNED_OUT else dut.y_o.value.to_unsigned()\n"
    "            expected = model(CODES[received])\n"
    "            assert y == expected, f\"code {CODES[received]} gives {y}, expected {expected}\"\n"
    "            digest = (digest ^ (y & (1 << 64) - 1)) * 0x100000001b3 & (1 << 64) - 1\n"
    "            received += 1\n"
    "        await FallingEdge(dut.clk_i)\n"
    "        sent += taken\n"
    "        if received == reset_at:  # what was inside is lost, and sent again\n"
    "            reset_at = -1\n"
    "            dut.rst_ni.value = 0\n"
    "            dut.valid_i.value = 0\n"
    "            await FallingEdge(dut.clk_i)\n"
    "            assert dut.valid_o.value == 0, \"valid_o during reset\"\n"
    "            dut.rst_ni.value = 1\n"
    "            sent = received\n"
    "    assert digest == HASH, \"the model is not the table\"\n"
    "\n\ndef main():\n"
    "    from cocotb_tools.check_results import get_results\n"
    "    from cocotb_tools.runner import get_runner\n"
    "    here = pathlib.Path(__file__).resolve().parent\n"
    "    runner = get_runner(\"icarus\")\n"
    "    runner.build(sources=[here / f\"{NAME}.sv\"], hdl_toplevel=NAME, build_dir=here / \"sim_build\",\n"
    "                 timescale=(\"1ns\", \"1ps\"), always=True)\n"
    "    results = runner.test(hdl_toplevel=NAME, test_module=pathlib.Path(__file__).stem, build_dir=here / "
    "\"sim_build\",\n"
    "                          test_dir=here, timescale=(\"1ns\", \"1ps\"))\n"
    "    tests, failures = get_results(results)\n"
    "    return 0 if tests == 1 and failures == 0 else 1\n"
    "\n\nif __name__ == \"__main__\":\n"
    "    sys.exit(main())\n";

static int write_cocotb(struct text *out, const struct module *m, const struct emit_options *options, struct diag *diag)
{
    static const char *const names[] = {"START", "Q_B", "N", "OFFSET"};
    struct codes codes;
    (void)options;
    if (codes_make(m, &codes, diag) != EXIT_DONE)
        return diag->code;
    text_add(out,
             "# SPDX-License-Identifier: 0BSD\n# DO NOT EDIT: generated by pwlc %s\n"
             "\"\"\"Checks the module %s in cocotb 2, by Icarus Verilog: python3 THIS_FILE, beside %s.sv.\"\"\"\n"
             "import bisect\nimport pathlib\nimport random\nimport sys\n\n"
             "import cocotb\nfrom cocotb.clock import Clock\nfrom cocotb.triggers import FallingEdge, ReadOnly\n\n"
             "NAME = \"%s\"\nHAS_READY = %s\nSIGNED_OUT = %s\n"
             "HASH = 0x%016" PRIx64 "  # of all outputs, by the runtime\n",
             PWLC_VERSION, m->name, m->name, m->name, m->has_ready ? "True" : "False",
             m->table->out.is_signed ? "True" : "False", codes_hash(m, &codes, codes_first(&codes)));
    add_codes(out, &codes);
    text_add(out, "\n# The table.\n");
    for (size_t i = 0; i < 4; i++)
        add_list(out, m, names[i], i);
    add_raw(out, m);
    add_model(out, m);
    text_add(out, "%s", test);
    free(codes.listed);
    return EXIT_DONE;
}

int emit_cocotb(const struct table *const *tables, int count, const struct emit_options *options, struct text *out,
                struct diag *diag)
{
    (void)count;
    return module_emit(tables[0], options, &system_verilog, write_cocotb, out, diag);
}
