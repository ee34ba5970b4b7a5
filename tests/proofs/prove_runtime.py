#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that pwl_eval() gives what docs/meaning.md says for every table that pwl_table_check() accepts, at every code, and
that neither has undefined behaviour or reads beyond the table's arrays, whatever the table holds. TAP.

    prove_runtime.py SOURCE     with PWL_TEST_LONG=1, for every count of shifts and every kind of table; else for some

c_formulas.py makes formulas over the integers of the C source as it stands; z3 shows that their negations have no solution.
Each lemma is about one function; what it calls is executed in it, or replaced by what another lemma says of that:

    multiply        is 1 where the exact product fits int64, and gives it
    hold            is 1 where the accumulator holds the value, and keeps the fewest bits that held all
    check           accepts only tables with legal constants, ascending starts and segments that check_segment passes
    check_segment   passes only what checked_line passes at both ends, and checked_fold at both ends of the images
    difference      checked_line multiplies the exact X of docs/meaning.md
    between         what checked_line passes at two codes it passes at each code between, whose value lies between theirs;
                    likewise checked_fold
    shift           pwl_shr32 and pwl_shr64 are shr of docs/meaning.md, which ascends
    line            where checked_line passes, pwl_line32 and pwl_line64 give the value of docs/meaning.md
    locate          pwl_locate finds the segment of the clamped, mirrored code
    eval            pwl_eval gives them what the lemmas ask for, and clips

A product slope * X is one number here, the same in the check and in the evaluation: X grows with the code, so that a
product lies between those of codes on both sides. Each lemma shows for its function that nothing signed overflows, that
shifts are by less than the width, that elements are within the arrays and that loops end.
"""
import itertools
import os
import sys

try:
    import pycparser  # noqa: F401, which c_formulas needs
    import z3
except ImportError as error:
    print(f"1..0 # SKIP {error}: install python3-z3 and python3-pycparser")
    sys.exit(0)

from c_formulas import INT, LONG, Cell, Source, Struct, Type, Value, both, choose, cut, in_type, inverse, is_known, number, truth

OK = 0
FORMS, ROUNDINGS = ("absolute", "biased", "anchored"), ("floor", "half_up", "half_away", "half_even")
UNSIGNED_X, FOLD = 1, 2
FIELDS = {"zp_x": LONG, "qmin_x": LONG, "qmax_x": LONG, "qmin_y": LONG, "qmax_y": LONG, "fold_sum": LONG}
SOURCE = Source('#include "proof.c"\n', f"-I{sys.argv[1]}/runtime/include", f"-I{sys.argv[1]}/runtime")
WHOLE = os.environ.get("PWL_TEST_LONG") == "1"
count = failures = 0


def report(problems, name):
    global count, failures
    count += 1
    failures += bool(problems)
    print(f"{'not ok' if problems else 'ok'} {count} - {name}", flush=True)
    for problem in problems[:8]:
        print(f"# {problem}")


def example(solver):
    model = solver.model()
    return ", ".join(f"{name} = {model[name]}" for name in model if name.arity() == 0)


def refuted(assumptions, claim, what):
    """What is wrong with a claim, as a list: empty where it is proven."""
    if claim is True:
        return []
    solver = z3.Solver()
    solver.set("rlimit", 200000000)
    solver.add(*assumptions, inverse(claim))
    answer = solver.check()
    return [] if answer == z3.unsat else [f"{what}: {example(solver) if answer == z3.sat else answer}"]


def problems_of(run, *claims):
    """Of the obligations, and of (claim, what)."""
    found = []
    for one in run.obligations:
        found += refuted(one.known, z3.Implies(one.reached, one.holds), one.where)
    for claim, what in claims:
        found += refuted(run.assumptions, claim, what)
    return found


# Tables. START is the first code, an element read as signed or unsigned as the table says.

START, SLOPE, SHIFT, OFFSET = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in ("start", "q_b", "n", "offset"))
ARRAYS = {"start": START, "q_b": SLOPE, "n": SHIFT, "offset": OFFSET}


class Case:
    """Tables of one storage, form, rounding and flags; the other fields are symbols of their types."""

    def __init__(self, storage, form, rounding, flags):
        self.storage, self.form, self.rounding, self.flags = storage, form, rounding, flags
        self.width = 64 if storage == 2 else 32  # of the accumulator
        self.accumulator = Type(self.width, True)
        wide = storage + 1 + (storage == 0 and form == 1)
        self.log2_bytes = {"start": storage, "q_b": storage, "n": 0, "offset": wide}

    def table(self, run):
        """A pwl_table, and the hook that reads its arrays."""
        known = {"storage": self.storage, "form": self.form, "rounding": self.rounding, "flags": self.flags}
        cells = {name: Cell(INT, term) for name, term in known.items()}
        cells |= {name: Cell(type, run.symbol(name, type.low, type.high)) for name, type in FIELDS.items()}
        cells["version"] = Cell(INT, run.symbol("version", 0, 255))
        cells["segments"] = Cell(INT, run.symbol("segments", 0, 65535))
        cells |= {name: Cell(None, name) for name in ARRAYS}
        table = Struct(**cells)

        def element(run, arguments):
            array, log2_bytes, index = arguments
            assert log2_bytes.term == self.log2_bytes[array], f"{array} is read by {1 << log2_bytes.term} bytes"
            index = number(index.term)
            run.demand(z3.And(index >= 0, index < table.cells["segments"].term), None, f"{array}[i] is in the array")
            term, type = ARRAYS[array](index), Type(8 << log2_bytes.term, array != "start" or not self.flags & UNSIGNED_X)
            run.assumptions.append(in_type(term, type))
            return Value(LONG, term if type.signed else z3.If(term < (1 << type.bits - 1), term, term - (1 << type.bits)))

        run.calls["pwl_element"] = element
        return table

    # What an accepted table has, as lemma "check" shows and the others ask for.

    def span(self, table):
        """First and last of the codes that segments serve, and the first and last image of a folded code."""
        t = {name: cell.term for name, cell in table.cells.items()}
        if not self.flags & FOLD:
            return t["qmin_x"], t["qmax_x"], 2**63 - 1, -2**63
        image = 2 * t["zp_x"] - t["qmin_x"]
        return t["zp_x"], z3.If(image > t["qmax_x"], image, t["qmax_x"]), t["zp_x"] + 1, image

    def constants(self, table):
        t = {name: cell.term for name, cell in table.cells.items()}
        half = 1 << (8 << self.storage) - 1
        low, high = (0, 2 * half - 1) if self.flags & UNSIGNED_X else (-half, half - 1)
        facts = [t["segments"] >= 1, t["segments"] <= 4096, low <= t["qmin_x"], t["qmin_x"] <= t["qmax_x"],
                 t["qmax_x"] <= high, t["qmin_y"] <= t["qmax_y"], -half <= t["qmin_y"],
                 t["qmax_y"] <= z3.If(t["qmin_y"] < 0, half - 1, 2 * half - 1),
                 in_type(t["qmin_x"] - t["zp_x"], self.accumulator), in_type(t["qmax_x"] - t["zp_x"], self.accumulator)]
        if self.flags & FOLD:
            facts += [t["qmin_x"] <= t["zp_x"], t["zp_x"] <= t["qmax_x"], in_type(t["fold_sum"], self.accumulator)]
        return z3.And(*facts)

    def ascending(self, table, j):
        """Of segment j, which has one before it."""
        first, last, *_ = self.span(table)
        return z3.And(START(j) > START(j - 1), START(j) <= last)

    def end(self, table, j):
        """The last code of segment j."""
        return z3.If(j + 1 < table.cells["segments"].term, START(j + 1) - 1, self.span(table)[1])

    def __str__(self):
        return (f"int{8 << self.storage}, {FORMS[self.form]}{', unsigned' if self.flags & UNSIGNED_X else ''}"
                f"{', fold' if self.flags & FOLD else ''}")


def cases():
    return [Case(storage, form, 0, flags) for storage, form, flags in itertools.product(range(3), range(3), range(4))]


def some(counts):
    """Of the counts of a shift."""
    return counts if WHOLE else [*counts[:2], *counts[-2:]]


# The lemmas.

def multiply():
    """By the magnitudes' digits: |slope| * |X| = 2^32 |slope| (|X| >> 32) + |slope| (|X| & (2^32 - 1))."""
    problems = []
    for slope_sign, X_sign in itertools.product((1, -1), repeat=2):
        products = []

        def product(run, a, b):
            most = 1 << 31 if not refuted(run.assumptions, b <= 1 << 31, "") else (1 << 32) - 1
            problems.extend(refuted(run.assumptions, z3.And(0 <= a, a <= 1 << 31, 0 <= b, b <= most), "limits of factors"))
            products.append((a, b, run.symbol("product", 0, most << 31)))
            return products[-1][2]

        run = SOURCE.run(product=product)
        a = run.symbol("slope", *((0, INT.high) if slope_sign > 0 else (1, -INT.low)))
        b = run.symbol("X", *((0, LONG.high) if X_sign > 0 else (1, -LONG.low)))
        out = Cell(LONG, run.symbol("product", LONG.low, LONG.high))
        fits = truth(run.call("multiply", Value(INT, slope_sign * a), Value(LONG, X_sign * b), out).term)
        (left, low, lower), (right, high, upper) = products
        exact = slope_sign * X_sign * ((upper << 32 if is_known(upper) else upper * (1 << 32)) + lower)
        run.assumptions += [z3.Implies(z3.Or(a == 0, b == 0), exact == 0)]
        problems += problems_of(run, (z3.And(left == a, right == a, b == high * (1 << 32) + low), "digits"),
                                (fits == in_type(exact, LONG), "1 where it fits"),
                                (z3.Implies(fits, out.term == exact), "the product"))
    generic = z3.Ints("a b A B")
    a, b, A, B = generic
    problems += refuted([0 <= a, a <= A, 0 <= b, b <= B], z3.And(0 <= a * b, a * b <= A * B), "limits of a product")
    low, high = z3.Ints("low high")
    problems += refuted([], a * (high * 2**32 + low) == 2**32 * (a * high) + a * low, "products of digits")
    report(problems, "multiply is 1 where the exact product fits, and gives it")


def hold_bits(run, node, frame):
    """The loop of hold(): rest is v' >> k, bits k + 1."""
    rest, bits = frame["rest"], frame["bits"]
    whole, entered = rest.term, run.active
    after = run.symbol("bits", 1, 64)
    for k in range(64):
        at = whole / (1 << k) if k else whole
        rest.term, bits.term = at, k + 1
        run.active = both(entered, run.condition(node.cond))
        run.execute(node.stmt)
        run.execute(node.next)
        if k < 63:
            run.demand(z3.And(rest.term == whole / (2 << k), bits.term == k + 2), node, "one digit less")
        else:
            run.demand(False, node, "a 65th round")
        run.assumptions.append(z3.Implies(after == k + 1, z3.And(whole < 1 << k, whole >= (1 << k) // 2)))
    run.active, rest.term, bits.term = entered, 0, after


def accumulator_of(run, type):
    return Struct(min=Cell(LONG, type.low), max=Cell(LONG, type.high), bits=Cell(INT, run.symbol("bits", 1, 64)))


def hold():
    problems = []
    for type in (INT, LONG):
        run = SOURCE.run(loops={"hold": hold_bits})
        acc = accumulator_of(run, type)
        before, v = acc.cells["bits"].term, run.symbol("v", LONG.low, LONG.high)
        held = truth(run.call("hold", acc, Value(LONG, v)).term)
        after = acc.cells["bits"].term
        needed = z3.And(*(z3.Implies(after == k, z3.And(before <= k, in_type(v, Type(k, True)), z3.Or(
            before == k, z3.Not(in_type(v, Type(k - 1, True))) if k > 1 else True))) for k in range(1, 65)))
        problems += problems_of(run, (held == in_type(v, type), "what is held"), (needed, "the fewest bits"))
    report(problems, "hold is 1 where the accumulator holds the value, and keeps the fewest bits")


def holding(run, arguments):
    """hold(), by its lemma."""
    acc, v = arguments
    bits = acc.cells["bits"]
    bits.term = choose(run.active, run.symbol("bits", 1, 64), bits.term)
    return Value(INT, z3.And(acc.cells["min"].term <= number(v.term), number(v.term) <= acc.cells["max"].term))


def status(run, passed):
    """A status of which only whether it is PWL_OK is known."""
    term = run.symbol("status", 0, 64)
    run.assumptions.append((term == OK) == passed)
    return Value(INT, term)


def check():
    passes = z3.Function("passes", *[z3.IntSort()] * 5, z3.BoolSort())
    j = z3.Int("j")
    for case in cases() if WHOLE else cases()[::5]:
        run = SOURCE.run()
        table = case.table(run)
        most = case.width - 1
        first, last, mirrored_first, mirrored_last = case.span(table)
        segments = table.cells["segments"].term

        def segment(run, arguments):
            _, _, *numbers = arguments
            return status(run, passes(*(number(one.term) for one in numbers)))

        def legal(j):
            offset = in_type(OFFSET(j), Type(48, True)) if case.storage == 2 and case.form != 1 else True
            return z3.And(in_type(SHIFT(j), Type(8, True)), SHIFT(j) >= -most, SHIFT(j) <= most, offset,
                          passes(j, START(j), case.end(table, j), mirrored_first, mirrored_last))

        def starts(i):
            return z3.And(z3.Implies(i > 0, START(0) == first),
                          z3.ForAll(j, z3.Implies(z3.And(0 < j, j < i), case.ascending(table, j)), patterns=[START(j)]))

        def segments_until(i):
            return z3.ForAll(j, z3.Implies(z3.And(0 <= j, j < i), legal(j)), patterns=[SHIFT(j)])

        def index(run, frame):
            return frame["i"].term

        def counted(keeps):
            return cut(["i"], lambda run, frame: z3.And(0 <= index(run, frame), index(run, frame) <= segments,
                                                        keeps(index(run, frame))),
                       lambda run, frame: segments - index(run, frame))

        loops = iter([counted(starts), counted(segments_until)])
        run.calls["check_segment"] = segment
        run.loops["check_arrays"] = lambda *arguments: next(loops)(*arguments)
        proof = Struct(status=Cell(INT, 0), segment=Cell(INT, 0), acc_bits=Cell(INT, 0))
        accepted = run.call("pwl_table_check", table, proof).term == OK
        report(problems_of(run, (z3.Implies(accepted, case.constants(table)), "the constants"),
                           (z3.Implies(accepted, starts(segments)), "the starts"),
                           (z3.Implies(accepted, segments_until(segments)), "the segments"),
                           (accepted == (proof.cells["status"].term == OK), "the proof's status")), f"check: {case}")
    problems = []
    for name, low, high in (("storage", 3, 255), ("form", 3, 255), ("rounding", 4, 255), ("flags", 4, 65535)):
        run = SOURCE.run()
        table = Case(0, 0, 0, 0).table(run)
        table.cells[name].term = run.symbol(name, low, high)
        problems += problems_of(run, (run.call("pwl_table_check", table, None).term != OK, name))
    report(problems, "check: storage, form, rounding and flags that are not legal are refused, and nothing else is read")


def segment():
    line, fold = (z3.Function(name, z3.IntSort(), z3.BoolSort()) for name in ("line", "fold"))
    run = SOURCE.run()
    table = Case(0, 0, 0, 0).table(run)
    run.calls["checked_line"] = lambda run, arguments: status(run, line(number(arguments[3].term)))
    run.calls["checked_fold"] = lambda run, arguments: status(run, fold(number(arguments[3].term)))
    first, last, mirrored_first, mirrored_last = (run.symbol(name, LONG.low, LONG.high) for name in "abcd")
    passed = run.call("check_segment", table, accumulator_of(run, INT), Value(INT, run.symbol("i", 0, 4095)),
                      *(Value(LONG, one) for one in (first, last, mirrored_first, mirrored_last))).term == OK
    left = z3.If(mirrored_first < first, first, mirrored_first)
    right = z3.If(mirrored_last > last, last, mirrored_last)
    report(problems_of(run, (z3.Implies(passed, z3.And(line(first), line(last))), "the ends"),
                       (z3.Implies(z3.And(passed, left <= right), z3.And(fold(left), fold(right))), "the images' ends")),
           "check_segment passes what passes at its ends, and at the ends of the images in it")


def shifted(p, n, rounding):
    """shr(p, n) of docs/meaning.md."""
    if n <= 0:
        return p * 2**-n
    half = 2 ** (n - 1)
    addend = (0, half, z3.If(p >= 0, half, half - 1), z3.If((p / 2**n) % 2 == 1, half, half - 1))[rounding]
    return (p + addend) / 2**n


def may_round(p, half, rounding, type):
    """What pwl_shr32 and pwl_shr64 ask for before a right shift: that the sum with half fits."""
    sums = p, p + half, z3.If(p < 0, -p, p) + half, p + half
    return True if rounding == 0 else in_type(sums[rounding], type)


def shift():
    problems = []
    for type, rounding in itertools.product((INT, LONG), range(4)):
        for n in some(range(1, type.bits)):
            run = SOURCE.run()
            p = run.symbol("p", type.low, type.high)
            run.assumptions.append(may_round(p, 2 ** (n - 1), rounding, type))
            got = run.call(f"pwl_shr{type.bits}", Value(type, p), Value(INT, n), Value(INT, rounding)).term
            after = shifted(p + 1, n, rounding)
            problems += problems_of(run, (z3.And(got == shifted(p, n, rounding), got <= after), f"n = {n}, {ROUNDINGS[rounding]}"))
    for type in (INT, LONG):
        for n in some(range(1 - type.bits, 1)):
            run = SOURCE.run()
            p, rounding = run.symbol("p", type.low, type.high), run.symbol("rounding", 0, 3)
            run.assumptions.append(in_type(shifted(p, n, 0), type))
            got = run.call(f"pwl_shr{type.bits}", Value(type, p), Value(INT, n), Value(INT, rounding)).term
            problems += problems_of(run, (got == shifted(p, n, 0), f"n = {n}"))
    report(problems, "shift: every count and rounding of both")


SHR = z3.Function("shr", z3.IntSort(), z3.IntSort())


class Line:
    """checked_line and a line of one accumulator, form, rounding and shift; shr() is one function, by lemma "shift". The
    rounding of left shifts is any, the half of right shifts any power of two."""

    def __init__(self, case, n, rounding):
        self.case, self.n, self.asked = case, n, []
        self.run = run = SOURCE.run(product=lambda run, a, b: self.products[0])
        self.products = [run.symbol(name) for name in ("p", "low", "high")]
        self.offset = run.symbol("offset", case.accumulator.low, case.accumulator.high)
        self.is_right = n is None
        if self.is_right:
            self.n, self.half = run.symbol("n", 1, case.width - 1), run.symbol("half", 1, 1 << case.width - 2)
            run.calls["pwl_shl64"] = run.calls["pwl_shl32"] = self.half_of
        self.rounding = rounding if self.is_right else run.symbol("rounding", 0, 3)

    def half_of(self, run, arguments):
        one, count = (value.term for value in arguments)
        run.demand(both(one == 1, count == self.n - 1), None, "half is 2^(n-1)")
        return Value(LONG, self.half)

    def shr(self, type):
        def call(run, arguments):
            p = number(arguments[0].term)
            holds = may_round(p, self.half, self.rounding, type) if self.is_right else in_type(shifted(p, self.n, 0), type)
            run.demand(holds, None, "shr is asked for what it takes")
            run.assumptions.append(in_type(SHR(p), type) if self.is_right else SHR(p) == shifted(p, self.n, 0))
            self.asked.append(p)
            return Value(type, SHR(p))
        return call

    def checked(self, p):
        """Whether checked_line passes a product, and its value."""
        run = self.run
        table = self.case.table(run)
        table.cells["zp_x"].term, table.cells["segments"].term, table.cells["rounding"].term = 0, 1, self.rounding

        def multiply(run, arguments):
            arguments[2].term = choose(run.active, p, arguments[2].term)
            return Value(INT, in_type(p, LONG))

        run.calls |= {"hold": holding, "multiply": multiply, "pwl_element_shift": lambda run, arguments: Value(INT, self.n),
                      "pwl_element_offset": lambda run, arguments: Value(LONG, self.offset),
                      "pwl_element_start": lambda run, arguments: Value(LONG, 0), "pwl_shr64": self.shr(LONG),
                      "pwl_shr32": self.shr(INT)}
        raw = Cell(LONG, run.symbol("raw", LONG.low, LONG.high))
        passed = run.call("checked_line", table, accumulator_of(run, self.case.accumulator), Value(INT, 0), Value(LONG, 0), raw)
        return passed.term == OK, raw.term

    def problems(self):
        run, acc = self.run, self.case.accumulator
        (passed, raw), (low_passed, low), (high_passed, high) = (self.checked(p) for p in self.products)
        p, p_low, p_high = self.products
        middle, left, right = self.asked
        ends = z3.And(p_low <= p, p <= p_high, low_passed, high_passed, z3.Implies(left <= middle, SHR(left) <= SHR(middle)),
                      z3.Implies(middle <= right, SHR(middle) <= SHR(right)))
        found = problems_of(run, (z3.Implies(ends, z3.And(passed, low <= raw, raw <= high)), f"between, n = {self.n}"))
        run.obligations = []
        run.assumptions.append(passed)
        slope, X = (Value(one, run.symbol("x", one.low, one.high)) for one in (INT, acc))
        got = run.call(f"pwl_line{self.case.width}", Value(INT, self.case.form), Value(INT, self.rounding), slope, X,
                       Value(INT, self.n), Value(acc, self.offset)).term
        meant = SHR(p + self.offset) if self.case.form == 1 else SHR(p) + self.offset
        return found + problems_of(run, (z3.And(got == meant, got == raw, in_type(got, acc)), f"line, n = {self.n}"))


def line():
    for storage, form in itertools.product((1, 2), (0, 1)):
        case = Case(storage, form, 0, 0)
        problems = []
        for rounding in range(4):
            problems += Line(case, None, rounding).problems()
        for n in some(range(1 - case.width, 1)):
            problems += Line(case, n, 0).problems()
        report(problems, f"between, and line: int{8 << storage}, {FORMS[form]}")


def difference():
    """What checked_line gives multiply: an exact difference, which a segment's codes have and a hostile table's too."""
    for case in cases():
        run = SOURCE.run()
        table = case.table(run)
        q, i = run.symbol("q", LONG.low, LONG.high), run.symbol("i", 0, 4095)
        first, last, *_ = case.span(table)
        run.assumptions += [case.constants(table), i < table.cells["segments"].term, first <= q, q <= last]
        given = []

        def multiply(run, arguments):
            slope, X, _ = arguments
            base = START(i) if case.form == 2 else table.cells["zp_x"].term
            given.append(z3.And(slope.term == SLOPE(i), X.term == q - base))
            return Value(INT, 0)

        run.calls |= {"multiply": multiply, "hold": holding}
        run.call("checked_line", table, accumulator_of(run, case.accumulator), Value(INT, i), Value(LONG, q), Cell(LONG, 0))
        report(problems_of(run, (given[0], "what is multiplied")), f"difference: {case}")


def fold():
    """checked_fold passes values of which fold_sum less is held; so it is for a value between two."""
    problems = []
    for storage in (1, 2):
        case = Case(storage, 0, 0, FOLD)
        run = SOURCE.run(calls={"hold": holding})
        table = case.table(run)
        raws = [run.symbol(name, case.accumulator.low, case.accumulator.high) for name in ("raw", "low", "high")]
        sums = []
        for raw in raws:
            def line(run, arguments, raw=raw):
                arguments[4].term = raw
                return Value(INT, OK)

            run.calls["checked_line"] = line
            passed = run.call("checked_fold", table, accumulator_of(run, case.accumulator), Value(INT, 0), Value(LONG, 0)).term == OK
            sums.append((passed, in_type(table.cells["fold_sum"].term - raw, case.accumulator)))
        raw, low, high = raws
        (passed, held), *ends = sums
        problems += problems_of(run, (z3.Implies(passed, held), "held"),
                                (z3.Implies(z3.And(low <= raw, raw <= high, *(end for end, _ in ends)), passed), "between"))
    report(problems, "checked_fold: held, and between")


def located(case, table, q, segment, mirrored):
    """What lemma "locate" says of pwl_locate's result."""
    first, last, mirrored_first, mirrored_last = case.span(table)
    folded = z3.And(mirrored_first <= q, q <= mirrored_last) if case.flags & FOLD else False
    return z3.And(0 <= segment, segment < table.cells["segments"].term, first <= q, q <= last,
                  START(segment) <= q, q <= case.end(table, segment), z3.Implies(mirrored != 0, folded))


def locate():
    j = z3.Int("j")
    for case in cases():
        if case.form:
            continue
        run = SOURCE.run()
        table = case.table(run)
        first, last, *_ = case.span(table)
        segments = table.cells["segments"].term
        run.assumptions += [case.constants(table), START(0) == first, in_type(START(0), Type(8 << case.storage, not case.flags & UNSIGNED_X)),
                            z3.ForAll(j, z3.Implies(z3.And(0 < j, j < segments), case.ascending(table, j)), patterns=[START(j)])]

        def invariant(run, frame):
            q, low, high = frame["at"].cells["q"].term, frame["at"].cells["segment"].term, frame["end"].term
            return z3.And(0 <= low, low < high, high <= segments, START(low) <= q,
                          z3.Or(high == segments, q < START(high)))

        def shrinks(run, frame):
            return frame["end"].term - frame["at"].cells["segment"].term

        run.loops["pwl_locate"] = cut([("at", "segment"), "end"], invariant, shrinks)
        q_x = run.symbol("q_x", LONG.low, LONG.high)
        at = run.call("pwl_locate", table, Value(LONG, q_x)).cells
        q, mirrored = at["q"].term, number(at["mirrored"].term)
        t = {name: cell.term for name, cell in table.cells.items()}
        clamped = z3.If(q_x < t["qmin_x"], t["qmin_x"], z3.If(q_x > t["qmax_x"], t["qmax_x"], q_x))
        is_folded = clamped < t["zp_x"] if case.flags & FOLD else False
        image = z3.If(is_folded, 2 * t["zp_x"] - clamped, clamped)
        report(problems_of(run, (located(case, table, q, at["segment"].term, mirrored), "where it is"),
                           (z3.And(q == image, (mirrored != 0) == is_folded), "clamped and mirrored")),
               f"locate: int{8 << case.storage}{', unsigned' if case.flags & UNSIGNED_X else ''}{', fold' if case.flags & FOLD else ''}")


def evaluate():
    """pwl_eval_unclamped() gives the line the exact X and offset, for which checked_line has been asked; pwl_eval() clips."""
    for case in cases():
        run = SOURCE.run()
        table = case.table(run)
        acc = case.accumulator
        run.assumptions.append(case.constants(table))
        q, segment, mirrored = run.symbol("q", LONG.low, LONG.high), run.symbol("segment", 0, 4095), run.symbol("mirrored", 0, 1)
        run.assumptions.append(located(case, table, q, segment, mirrored))
        base = START(segment) if case.form == 2 else table.cells["zp_x"].term
        raw = run.symbol("raw", acc.low, acc.high)
        if case.flags & FOLD:  # lemma "between" of folds
            run.assumptions.append(z3.Implies(mirrored != 0, in_type(table.cells["fold_sum"].term - raw, acc)))
        given = []

        def line(run, arguments):
            form, rounding, slope, X, n, offset = (one.term for one in arguments)
            given.append(z3.And(X == q - base, slope == SLOPE(segment), n == SHIFT(segment), offset == OFFSET(segment)))
            assert (form, rounding) == (case.form, case.rounding)
            return Value(acc, raw)

        run.calls |= {f"pwl_line{case.width}": line,
                      "pwl_locate": lambda run, arguments: Struct(q=Cell(LONG, q), segment=Cell(INT, segment), mirrored=Cell(INT, mirrored))}
        value = run.call("pwl_eval_unclamped_inline", table, Value(LONG, run.symbol("q_x", LONG.low, LONG.high))).term
        plain = table.cells["fold_sum"].term - raw if case.flags & FOLD else raw
        problems = problems_of(run, (given[0], "what the line is given"), (value == z3.If(mirrored != 0, plain, raw), "the fold"))
        run = SOURCE.run()
        table = case.table(run)
        unclamped = run.symbol("value", LONG.low, LONG.high)
        run.calls["pwl_eval_unclamped_inline"] = lambda run, arguments: Value(LONG, unclamped)
        clipped = run.call("pwl_eval_inline", table, Value(LONG, 0)).term
        low, high = (table.cells[name].term for name in ("qmin_y", "qmax_y"))
        problems += problems_of(run, (z3.Implies(low <= high, clipped == z3.If(unclamped < low, low, z3.If(unclamped > high, high, unclamped))), "clipped"))
        report(problems, f"eval: {case}")


if __name__ == "__main__":
    for lemma in (multiply, hold, segment, difference, fold, locate, evaluate, shift, line, check):
        lemma()
    print(f"1..{count}")
    sys.exit(failures > 0)
