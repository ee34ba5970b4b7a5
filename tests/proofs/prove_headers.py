#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves that NAME_eval() of headers that `pwlc emit --standalone` writes gives what pwl_eval() does, for every table
that pwl_table_check() accepts and every code, and that nothing in it is undefined. TAP.

    prove_headers.py SOURCE PWLC     with PWL_TEST_LONG=1, for every count of shifts; else for some

What is emitted depends on the case, form and rounding, on a fold, on the number of segments, and on which shifts there
are: a header of each such shape is emitted, and executed as prove_runtime.py does, with limits, zero point and elements
that are not known in place of those of the table from which it was made. Lemmas:

    search          ends at the segment of the code, by halves, and where bytes count by a scan or by halving
    header          what the line is given is what checked_line is asked for, and where that passes, nothing overflows,
                    and the output is the clipped value, or fold_sum less it
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import prove_runtime as runtime
from prove_runtime import (FOLD, FORMS, OFFSET, OK, ROUNDINGS, SHIFT, SLOPE, START, UNSIGNED_X, Case, accumulator_of,
                           problems_of, report)
from c_formulas import INT, LONG, Cell, Run, Source, Type, Value, c_ast, choose, cut, in_type

import z3

PWLC = sys.argv[2]
OFFSETS = "term_c", "bias", "y"
ZERO, SUM = 3, 5  # of the tables that are emitted, to be found in what is


def emitted(case, shifts, folder, *flags, fault=None):
    """The Source of a header of so many segments, one a shift; with flags of any number of segments."""
    bits, low = 8 << case.storage, 0 if case.flags & UNSIGNED_X else -(1 << (8 << case.storage) - 1)
    codes = {"bits": bits, "signed": low < 0, "scale": "2^0", "zero_point": ZERO, "qmin": low + 1,
             "qmax": low + (1 << bits) - 2}
    first = ZERO if case.flags & FOLD else low + 1
    table = {"pwl_table": 1, "spec": "relu", "function": "relu", "parameters": {}, "method": "lsq",
             "form": FORMS[case.form], "rounding": ROUNDINGS[case.rounding], "case": f"int{bits}",
             "in": codes, "out": codes}
    if case.flags & FOLD:
        table["fold"] = {"sum": SUM}
    table["segments"] = [{"start": first + i, "q_b": 0, "n_BX_total": n, OFFSETS[case.form]: 0}
                         for i, n in enumerate(shifts)]
    path = pathlib.Path(folder) / "table.json"
    path.write_text(json.dumps(table))
    done = subprocess.run([PWLC, "emit", "--standalone", "--name", "t", str(path)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pwlc emit, {case}: {done.stderr}")
    text = re.sub(r"#define T_(ZP_X|QMIN_X|QMAX_X|QMIN_Y|QMAX_Y) .*\n", "", done.stdout)
    if flags:
        text = re.sub(r"#define T_SEGMENTS .*\n", "", text)
    if case.flags & FOLD:
        text, twice = re.subn(rf"\bq = {2 * ZERO} - q;", "q = T_TWICE_ZP_X - q;", text)
        text, sums = re.subn(rf"\bv = {SUM} - v;", "v = T_FOLD_SUM - v;", text)
        assert twice == sums == 1, f"{case}: where is the fold?\n{text}"
    text = re.sub(r"[^\n]*T_(ASSERT|COUNT)\([^\n]*;\n", "", text)  # of arrays, which compilers check
    if fault:
        assert fault[0] in text, f"{fault[0]} is not in what is emitted"
        text = text.replace(*fault)
    return Source(text, *flags)


class Header(Run):
    """t_eval() of a header. The number of its segments is that of the header, or any where bytes count."""

    def __init__(self, source, case, segments=None):
        super().__init__(source)
        self.left, self.read_at = segments, []
        self.table = case.table(self)
        cells = self.table.cells
        cells["segments"].term = segments or self.symbol("segments", 1, 4096)
        self.fields = {name: cell.term for name, cell in cells.items()}
        known = {name.upper(): self.fields[name] for name in runtime.FIELDS}
        known["TWICE_ZP_X"] = 2 * self.fields["zp_x"]
        self.globals = {"T_" + name: Value(case.accumulator, term) for name, term in known.items()}
        self.globals["T_SEGMENTS"] = Value(INT, cells["segments"].term)
        j = z3.Int("j")
        first, *_ = case.span(self.table)
        start_type = Type(8 << case.storage, not case.flags & UNSIGNED_X)
        ascending = z3.Implies(z3.And(0 < j, j < self.fields["segments"]), case.ascending(self.table, j))
        self.assumptions += [case.constants(self.table), START(0) == first, in_type(START(0), start_type),
                             z3.ForAll(j, ascending, patterns=[START(j)])]
        self.arrays = {"t_start": self.element(START, start_type),
                       "t_q_b": self.element(SLOPE, Type(8 << case.storage, True))}
        self.loops = {"t_eval": self.searched_for_size}

    def element(self, array, type):
        def read(run, index):
            run.demand(z3.And(index >= 0, index < self.fields["segments"]), None, f"{array} is read within")
            run.assumptions.append(in_type(array(index), type))
            if array is not START:
                self.read_at.append(index)
            return array(index)
        return read

    # The search. `left` candidates are left, from i on.

    def candidates(self, i, left):
        q, end = self.frames[-1][1]["q"].term, i + left
        segments = self.fields["segments"]
        return z3.And(0 <= i, end <= segments, START(i) <= q, z3.Or(end == segments, q < START(end)))

    def value_Assignment(self, node):
        made = super().value_Assignment(node)
        if node.op == "+=" and isinstance(node.lvalue, c_ast.ID) and node.lvalue.name == "i":
            self.left -= self.left // 2
            self.replaced_index(self.left, node)
        return made

    def replaced_index(self, left, node):
        cell = self.frames[-1][1]["i"]
        self.demand(self.candidates(cell.term, left), node, f"{left} candidates are left")
        cell.term = self.symbol("i", 0, 4095)
        self.assumptions.append(self.candidates(cell.term, left))

    def searched_for_size(self, run, node, frame):
        def i():
            return frame["i"].term

        def until(run, frame):
            last = frame["end"].term if "end" in frame else i() + 1
            q, segments = frame["q"].term, self.fields["segments"]
            below = START(i()) <= q if "end" in frame else True
            return z3.And(0 <= i(), i() < last, last <= segments, below, z3.Or(last == segments, q < START(last)))

        names = ["i", "end"] if "end" in frame else ["i"]
        cut(names, until, lambda run, frame: frame["end"].term - i() if "end" in frame else i())(run, node, frame)


def checked_value(run, case, n, p, offset):
    """The value of a line of shift n that checked_line passes, and checked_fold, as is then assumed."""
    raw = Cell(LONG, run.symbol("raw", LONG.low, LONG.high))
    checked = runtime.SOURCE.run(assumptions=run.assumptions)
    checked.symbols = run.symbols

    def multiply(_, arguments):
        arguments[2].term = choose(checked.active, p, arguments[2].term)
        return Value(INT, in_type(p, LONG))

    checked.calls = {"hold": runtime.holding, "multiply": multiply,
                     "pwl_element_shift": lambda run, arguments: Value(INT, n),
                     "pwl_element_offset": lambda run, arguments: Value(LONG, offset),
                     "pwl_element_start": lambda run, arguments: Value(LONG, 0)}
    table = case.table(checked)
    table.cells["zp_x"].term, table.cells["segments"].term = 0, 1
    accumulator = accumulator_of(checked, case.accumulator)
    status = checked.call("checked_line", table, accumulator, Value(INT, 0), Value(LONG, 0), raw).term
    run.symbols, run.assumptions = checked.symbols, checked.assumptions + [status == OK]
    if case.flags & FOLD:
        run.assumptions.append(in_type(run.fields["fold_sum"] - raw.term, case.accumulator))
    return raw.term


def header(case, n, source, segments):
    """The problems of a header whose segment of the code has shift n."""
    run = Header(source, case, segments)
    acc, fields = case.accumulator, run.fields
    code = Type(8 << case.storage, not case.flags & UNSIGNED_X)
    out = source.type_of(source.functions["t_eval"].decl.type.type)
    low, high = fields["qmin_y"], fields["qmax_y"]
    run.assumptions += [out.low <= low, high <= out.high]
    q_x, p, offset = run.symbol("q_x", code.low, code.high), run.symbol("p"), run.symbol("offset", acc.low, acc.high)
    raw, given = checked_value(run, case, n, p, offset), []

    def product(_, slope, X):
        given.append((slope, X))
        return p

    run.product = product
    known = run.element(SHIFT, Type(8, True)), run.element(OFFSET, acc)
    run.arrays["t_n"] = lambda run, index: (known[0](run, index), n)[1]
    run.arrays["t_" + OFFSETS[case.form]] = lambda run, index: (known[1](run, index), offset)[1]
    got = run.call("t_eval", Value(code, q_x)).term

    slope, X = given[0]
    i = run.read_at[0]
    clamped = z3.If(q_x < fields["qmin_x"], fields["qmin_x"], z3.If(q_x > fields["qmax_x"], fields["qmax_x"], q_x))
    mirrored = clamped < fields["zp_x"] if case.flags & FOLD else z3.BoolVal(False)
    q = z3.If(mirrored, 2 * fields["zp_x"] - clamped, clamped)
    value = z3.If(mirrored, fields["fold_sum"] - raw, raw)
    base = START(i) if case.form == 2 else fields["zp_x"]
    return problems_of(
        run, (z3.And(*(index == i for index in run.read_at)), "elements of one segment"),
        (z3.And(0 <= i, i < fields["segments"], START(i) <= q, q <= case.end(run.table, i)), "the segment"),
        (z3.And(slope == SLOPE(i), X == q - base), "what is multiplied"),
        (got == z3.If(value < low, low, z3.If(value > high, high, value)), f"the output, n = {n}"))


# Which shifts the segments of a header have, so that one of its signs is that of n; equal ones are written as a number.

def shapes(n, width):
    most = width - 1
    kinds = [(-1, 0, 1), (-1, 0), (-1, 1), (0, 1), (1, most), (-1, -most)]
    return [kind for kind in kinds if any((n > 0) - (n < 0) == (one > 0) - (one < 0) for one in kind)] + [(n, n)]


def headers(folder):
    """Each case; where WHOLE, each rounding and shifts of each sign, the kinds in turn; else one of these."""
    for turn, (storage, form, flags) in enumerate(itertools.product(range(3), range(3), range(4))):
        problems = []
        for rounding in range(4) if runtime.WHOLE else [turn * 3 // 4 % 4]:
            case = Case(storage, form, rounding, flags)
            signs = 1, case.width - 1, 0, -1
            for n in signs if runtime.WHOLE else [signs[turn // 3 % 4]]:
                kinds = shapes(n, case.width)
                shifts = kinds[(turn + rounding) % len(kinds)]
                problems += header(case, n, emitted(case, shifts, folder), len(shifts))
        report(problems, f"header: {case}")


def counts(folder):
    """Every count of a shift, where WHOLE."""
    for storage, form, rounding in itertools.product((1, 2), (0, 1), range(4)):
        case, problems = Case(storage, form, rounding, 0), []
        source = emitted(case, (-1, 0, 1), folder)
        for n in range(1 if rounding else 1 - case.width, case.width) if runtime.WHOLE else []:
            problems += header(case, n, source, 3)
            problems += header(case, n, emitted(case, (n, n), folder), 2) if n % 4 == rounding else []
        if runtime.WHOLE:
            report(problems, f"counts of shifts: int{8 << storage}, {FORMS[form]}, {ROUNDINGS[rounding]}")


def searches(folder):
    numbers = [*range(1, 131), 250] if runtime.WHOLE else [1, 2, 5, 17]
    problems = []
    for segments in numbers:
        case = Case(0, 0, 0, 0)
        problems += header(case, 1, emitted(case, (1,) * segments, folder), segments)
    report(problems, f"search by halves of {'1 to 130, and 250' if runtime.WHOLE else 'up to 17'} segments")
    for segments, flags in itertools.product((2, 17), (0, FOLD)):
        case = Case(1, 2, 0, flags)
        problems = header(case, 1, emitted(case, (1,) * segments, folder, "-D__OPTIMIZE_SIZE__"), None)
        report(problems, f"search where bytes count, {'by halving' if segments > 16 else 'a scan'}: {case}")


FAULTS = [("<= q)", "< q)"), ("i + 1]", "i + 2]"), ("q - T_ZP_X", "T_ZP_X - q"), ("<< (n - 1)", "<< n"),
          ("- (v < 0)", "- (v > 0)"), (">> n;", ">> 1;"), ("(uint32_t)v << -n", "v << -n"),
          ("v += t_term_c[i]", "v -= t_term_c[i]"), ("v < T_QMIN_Y", "v <= T_QMAX_Y"),
          ("return (int8_t)v", "return (int8_t)(v + 1)"), ("q = T_QMAX_X", "q = T_QMIN_X"),
          ("unsigned i = 0", "unsigned i = 1")]


def faults(folder):
    """That what is wrong in a header is found."""
    case, missed = Case(0, 0, 2, 0), []
    for old, new in FAULTS:
        source = emitted(case, (-1, 0, 1), folder, fault=(old, new))
        missed += [] if any(header(case, n, source, 3) for n in (3, -2)) else [f"{new} for {old}"]
    report(missed, f"{len(FAULTS)} faults are found")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for lemma in (searches, headers, counts, faults):
            lemma(made)
    print(f"1..{runtime.count}")
    sys.exit(runtime.failures > 0)
