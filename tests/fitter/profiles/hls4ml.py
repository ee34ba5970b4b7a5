#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pwlc's profiles hls4ml, hls4ml-oneapi and those of softmax alone against stand-ins of hls4ml's lookups, in exact
fractions. TAP.

    fitted     fit --profile, emit: the stand-in gives eval's outputs at all codes; imported and emitted again, the same file
    own        the tables that hls4ml makes itself, imported: the stand-in's outputs, also where codes are finer than entries
    worse      what these lose to the fitted ones, by truncation or by their place in a step
    softmax    both tables of Vivado's softmax, hls4ml's own and the fitted ones: rows by its arithmetic, as PAGE has them
    refusals   exit code, words, and no file

usage: hls4ml.py PWLC PAGE
"""
import math
import random
import re
import sys
import tempfile
from fractions import Fraction

from command import Pwlc
from harness import end, same, tap

FUNCTIONS = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh, "softsign": lambda x: x / (1 + abs(x)),
    "softplus": lambda x: math.log(math.exp(x) + 1), "elu": lambda x: math.exp(x) - 1,
    "selu": lambda x: SELU * (1.6732632423543772 * (math.exp(x) - 1)), "exp": math.exp,
    "reciprocal": lambda x: 1 / x if x else 0.0,
}
SELU = 1.0507009873554805
RANGE = {"tanh": 4}  # 8 for others
ARRAYS = {"exp": "exp_table", "reciprocal": "invert_table"}
SOFTMAX_ALONE = ("hls4ml-oneapi-stable", "hls4ml-legacy", "hls4ml-oneapi-legacy")


class Fixed:
    """ap_fixed<W, I> as pwlc's type."""

    def __init__(self, text):
        self.text = text
        kind, scale = text.split(":")[:2]
        self.is_signed, self.bits, self.fraction = kind[0] == "s", int(kind[1:]), -int(scale.partition("^")[2])
        self.low = -1 << self.bits - 1 if self.is_signed else 0
        self.high = self.low + (1 << self.bits) - 1
        self.codes = range(self.low, self.high + 1)

    def real(self, code):
        return Fraction(code, 2 ** self.fraction) if self.fraction >= 0 else Fraction(code * 2 ** -self.fraction)

    def code(self, real):
        """Rounded down, as both kinds of types do by default; None where it would wrap."""
        code = math.floor(real * Fraction(2) ** self.fraction)
        return code if self.low <= code <= self.high else None


def whole_index(profile, scaled):
    return int(scaled) if profile == "hls4ml" else math.floor(scaled)  # int() of a fraction goes towards 0


def lookup(profile, function, table, of_in, of_out, code):
    """The output code; None where hls4ml reads beyond its array, or the output wraps."""
    x, size, limit = of_in.real(code), len(table), RANGE.get(function, 8)
    if profile in SOFTMAX_ALONE:
        index = softmax_index(profile, function, size, of_in, code)
        return None if index is None else of_out.code(table[index])
    if function in ("exp", "reciprocal"):
        return of_out.code(table[(code % 2 ** of_in.bits) >> of_in.bits - (size - 1).bit_length()])
    if function in ("elu", "selu"):
        if x >= 0:
            slope = Fraction(math.floor(SELU * 2 ** 15), 2 ** 15) if profile == "hls4ml" else of_out.real(
                of_out.code(Fraction(SELU)))
            return of_out.code(x * (slope if function == "selu" else 1))
        return of_out.code(table[min(int(-x * size / 8), size - 1)])
    if profile == "hls4ml-oneapi" and function != "softplus":
        if -code > of_in.high:
            return None  # -x wraps
        index = size - 1 if abs(x) > limit else math.floor(abs(x) * size / limit)
        if index >= size:
            return None
        value = of_out.code(table[index])
        if x >= 0 or value is None:
            return value
        return of_out.code((1 if function == "sigmoid" else 0) - of_out.real(value))
    index = whole_index(profile, x * size / (2 * limit)) + size // 2
    return of_out.code(table[min(max(index, 0), size - 1)])


def softmax_index(profile, function, size, of_in, code):
    """By the strategies that Vivado's and oneAPI's default tables do not serve; None at codes that do not occur, and at
    the lowest one of oneAPI's stable strategy, which has the next one's entry."""
    x, below = of_in.real(code), of_in.bits - size.bit_length()
    if x < 0 and function == "reciprocal":
        return None
    if profile == "hls4ml-oneapi-stable":
        if code == of_in.low or (x > 0 and function == "exp"):
            return None
        index = (code % 2 ** of_in.bits >> below) % size  # the bits behind the sign
        return 1 if index == 0 and x != 0 else index
    scaled = x * size / (16 if function == "exp" else 64)
    index = int(scaled) if profile == "hls4ml-legacy" else math.floor(scaled)
    return min(max(index + (size // 2 if function == "exp" else 0), 0), size - 1)


def own_softmax(profile, function, size, of_in):
    f = FUNCTIONS[function]
    if profile != "hls4ml-oneapi-stable":
        return [f(16.0 * (i - size / 2) / size) if function == "exp" else f(64.0 * i / size) for i in range(size)]
    sign = of_in.low if function == "exp" else 0
    return [f(float(of_in.real(sign + (i << of_in.bits - size.bit_length()) if i else 0))) for i in range(size)]


def own_table(profile, function, size, of_in):
    """As hls4ml's own writers and init functions make it."""
    limit, f = RANGE.get(function, 8), FUNCTIONS[function]
    if profile in SOFTMAX_ALONE:
        return own_softmax(profile, function, size, of_in)
    if function in ("exp", "reciprocal"):
        codes = [i - size if of_in.is_signed and i >= size // 2 else i for i in range(size)]
        return [f(code * 2.0 ** (of_in.bits - of_in.fraction) / size) for code in codes]
    if function in ("elu", "selu"):
        return [f(-8.0 * i / size) for i in range(size)]
    if profile == "hls4ml-oneapi" and function != "softplus":
        return [f(i * limit / size + limit / (2.0 * size)) for i in range(size)]
    return [f(2.0 * limit * (i - size / 2) / size) for i in range(size)]


def name_of(profile, function):
    name = ARRAYS.get(function, f"{function}_table")
    if profile in SOFTMAX_ALONE:
        return f"{name}_legacy" if profile == "hls4ml-oneapi-legacy" else name
    return f"{name}_latency" if profile == "hls4ml-oneapi" and function in ARRAYS else name


def parse(text):
    """Type, name and exact values of the one array."""
    found = re.findall(r"static const typename CONFIG_T::(\w+) (\w+)\[(\d+)\] = \{([^}]*)\};", text)
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} arrays")
    kind, name, size, body = found[0]
    values = [Fraction(item.strip()) for item in body.split(",")]
    if len(values) != int(size):
        raise RuntimeError(f"{len(values)} values in an array of {size}")
    return kind, name, values


def compare(name, pwlc, table, profile, function, values, of_in, of_out):
    """At every code for which hls4ml has an output."""
    wanted = {code: lookup(profile, function, values, of_in, of_out, code) for code in of_in.codes}
    codes = [code for code in wanted if wanted[code] is not None]
    least = len(wanted) // (2 if profile in SOFTMAX_ALONE else 1) - 3
    tap(len(codes) >= least, f"{name}: hls4ml has outputs", f"at {len(codes)} of {len(wanted)} codes")
    same(name, zip(codes, pwlc.evaluate(table, codes)), [(code, wanted[code]) for code in codes])


# function, --in, --out, entries of Vivado's and oneAPI's array
FITTED = [
    ("sigmoid", "s10:2^-6", "s16:2^-15", 1024, 512), ("sigmoid", "s8:2^-4", "u9:2^-8", 256, 128),
    ("tanh", "s9:2^-6", "s16:2^-15", 512, 256), ("tanh", "s6:2^-3", "s8:2^-6", 64, 32),
    ("softsign", "s10:2^-6", "s12:2^-10", 1024, 512), ("softplus", "s9:2^-5", "s14:2^-8", 512, 512),
    ("softplus", "u6:2^-3", "u12:2^-8", 128, 128), ("elu", "s10:2^-6", "s16:2^-12", 512, 512),
    ("exp", "s8:2^-5", "u16:2^-8", 256, 256), ("exp", "u7:2^-6", "u16:2^-12", 128, 128),
    ("reciprocal", "u8:2^-4", "u16:2^-10", 256, 256),
]


# The same of the others' softmax: profile, function, --in, --out, entries
FITTED_SOFTMAX = [
    ("hls4ml-oneapi-stable", "exp", "s8:2^-5", "u16:2^-15", 128),
    ("hls4ml-oneapi-stable", "exp", "s10:2^-6", "s16:2^-14", 512),
    ("hls4ml-oneapi-stable", "reciprocal", "s9:2^-3", "u16:2^-13", 256),
    *((f"hls4ml{kind}-legacy", *case) for kind in ("", "-oneapi") for case in (
        ("exp", "s8:2^-4", "u24:2^-12", 256), ("exp", "s7:2^-4", "s18:2^-10", 256),
        ("reciprocal", "u10:2^-4", "s18:2^-10", 1024))),
]


def check_fitted(pwlc, profile, function, of_in, of_out, size):
    name, table = f"{profile}, {function} {of_in} to {of_out}", "fitted.json"
    outside = ["--outside", "clamp"] if function == "reciprocal" else []
    pwlc.must("fit", function, "--profile", profile, "--in", of_in, "--out", of_out, *outside, "-o", table)
    text = pwlc.must("emit", table, "--profile", profile)
    kind, array, values = parse(text)
    expected_kind = {"exp": "exp_table_t", "reciprocal": "inv_table_t"}.get(function, "table_t")
    expected_kind = "table_t" if profile == "hls4ml-legacy" else expected_kind
    tap((kind, array, len(values)) == (expected_kind, name_of(profile, function), size), f"{name}: the array",
        f"{kind} {array}[{len(values)}]")
    types = Fixed(of_in), Fixed(of_out)
    compare(f"{name}: all codes", pwlc, table, profile, function, values, *types)
    pwlc.write("fitted.tb", text)
    pwlc.must("import", "fitted.tb", "--profile", profile, "--function", function, "--in", of_in, "--out", of_out, *outside,
              "-o", "again.json")
    compare(f"{name}: imported", pwlc, "again.json", profile, function, values, *types)
    without_spec = [line for line in text.splitlines() if not line.startswith("//")]
    again = pwlc.must("emit", "again.json", "--profile", profile)
    tap([line for line in again.splitlines() if not line.startswith("//")] == without_spec, f"{name}: emitted again")


def check_stable(pwlc):
    """The exponentials of softmax's default strategy: of x_max - x, which is not below 0, by its highest bits."""
    of_in, of_out = Fixed("u9:2^-6"), Fixed("u16:2^-16")
    pwlc.must("fit", "--expr", "exp(-x)", "--profile", "hls4ml", "--in", of_in.text, "--out", of_out.text, "-o", "stable.json")
    text = pwlc.must("emit", "stable.json", "--profile", "hls4ml")
    kind, array, values = parse(text)
    tap((kind, array, len(values)) == ("exp_table_t", "exp_table", 512), "hls4ml, stable softmax: the array",
        f"{kind} {array}[{len(values)}]")
    same("hls4ml, stable softmax: nearest values", values, [
        Fraction(min(round(math.exp(-code / 64) * 65536), 65535), 65536) for code in of_in.codes])
    compare("hls4ml, stable softmax: all codes", pwlc, "stable.json", "hls4ml", "exp", values, of_in, of_out)
    pwlc.write("stable.tb", text)
    pwlc.must("import", "stable.tb", "--profile", "hls4ml", "--expr", "exp(-x)", "--in", of_in.text, "--out", of_out.text,
              "-o", "again.json")
    compare("hls4ml, stable softmax: imported", pwlc, "again.json", "hls4ml", "exp", values, of_in, of_out)


# function, size, --in, --out: finer than entries, as fine, coarser; codes beyond the range, and not up to it.
OWN = [
    ("sigmoid", 1024, "s16:2^-10", "s18:2^-10"), ("sigmoid", 1024, "s10:2^-6", "u16:2^-15"),
    ("sigmoid", 256, "s8:2^-6", "s10:2^-8"), ("tanh", 1024, "s13:2^-9", "s18:2^-10"), ("tanh", 512, "s9:2^2", "s9:2^-6"),
    ("softsign", 512, "s12:2^-7", "s16:2^-12"), ("softplus", 1024, "s16:2^-10", "s16:2^-10"),
    ("softplus", 256, "u10:2^-6", "s16:2^-8"), ("elu", 1024, "s14:2^-9", "s16:2^-10"),
    ("elu", 256, "s12:2^-8", "s12:2^-6"), ("selu", 512, "s12:2^-8", "s16:2^-10"), ("selu", 1024, "s9:2^-4", "s16:2^-8"),
    ("exp", 1024, "s12:2^-9", "u16:2^-8"), ("exp", 64, "u8:2^-6", "u18:2^-10"),
    ("reciprocal", 256, "u12:2^-6", "u18:2^-10"), ("reciprocal", 128, "s8:2^-3", "s18:2^-6"),
]


OWN_SOFTMAX = [
    ("hls4ml-oneapi-stable", "exp", 64, "s12:2^-8", "u18:2^-16"),
    ("hls4ml-oneapi-stable", "reciprocal", 256, "s14:2^-6", "s18:2^-10"),
    *((f"hls4ml{kind}-legacy", *case) for kind in ("", "-oneapi") for case in (
        ("exp", 1024, "s13:2^-7", "s24:2^-10"), ("reciprocal", 1024, "u14:2^-7", "s18:2^-10"))),
]


def check_own(pwlc, profile, function, size, of_in, of_out):
    types = Fixed(of_in), Fixed(of_out)
    values = own_table(profile, function, size, types[0])
    name = f"{profile}, hls4ml's own {function} {size}, {of_in} to {of_out}"
    pwlc.write("own.h", f"#ifndef T_H_\n#define T_H_\nstatic const typename CONFIG_T::table_t x[{size}] = "
                        f"{{{', '.join(map(str, values))}}};\n#endif")
    pwlc.must("import", "own.h", "--profile", profile, "--function", function, "--in", of_in, "--out", of_out,
              *(["--outside", "clamp"] if function == "reciprocal" else []), "-o", "own.json")
    compare(name, pwlc, "own.json", profile, function, list(map(Fraction, values)), *types)
    if profile == "hls4ml-oneapi-stable" and function == "exp":
        same(f"{name}: the lowest code", pwlc.evaluate("own.json", [types[0].low]),
             [types[1].code(Fraction(values[1]))])


def check_worse(pwlc):
    """Largest errors of sigmoid, ap_fixed<10, 4> to ap_fixed<16, 1>, in steps of the output."""
    of_in, of_out = Fixed("s10:2^-6"), Fixed("s16:2^-15")
    for profile, size, at_least in (("hls4ml", 1024, 0.9), ("hls4ml-oneapi", 512, 60)):
        found = []
        pwlc.must("fit", "sigmoid", "--profile", profile, "-o", "ours.json")
        ours = parse(pwlc.must("emit", "ours.json", "--profile", profile))[2]
        for values in (ours, list(map(Fraction, own_table(profile, "sigmoid", size, of_in)))):
            outputs = {code: lookup(profile, "sigmoid", values, of_in, of_out, code) for code in of_in.codes}
            found.append(max(abs(y - FUNCTIONS["sigmoid"](float(of_in.real(x))) * 2 ** 15)
                             for x, y in outputs.items() if y is not None))
        print(f"# {profile}: sigmoid of {size}: ours {found[0]:.4g}, hls4ml's {found[1]:.4g}")
        tap(found[0] <= 0.5 and found[1] >= at_least, f"{profile}: fitted entries are nearer than hls4ml's own",
            f"{found}")


ENTRIES = 1024


class Softmax:
    """A strategy of softmax: profile, and the types on both sides of its two tables, of 1024 entries each. Table types
    round to nearest and saturate, as they do by default, but legacy's, which round down; the sum is cut."""

    def __init__(self, name, profile, data, exp, inverse):
        self.name, self.profile, self.data = name, profile, Fixed(data)
        self.exp_in, self.exp_out, self.sum, self.inverse = map(Fixed, (*exp, *inverse))
        self.is_legacy, self.is_negated = profile.endswith("legacy"), name == "stable"

    def own(self):
        """Tables of output codes as hls4ml makes them."""
        tables = []
        for function, of_in, of_out in (("exp", self.exp_in, self.exp_out), ("reciprocal", self.sum, self.inverse)):
            values = own_table(self.profile, function, ENTRIES, of_in)
            if self.is_negated and function == "exp":
                values = [1 / value for value in values]
            half = 0 if self.is_legacy else 0.5
            tables.append([min(max(math.floor(value * 2 ** of_out.fraction + half), of_out.low), of_out.high)
                           for value in values])
        return tables

    def step(self, of_in, function):
        """Bits of a code that its index has not."""
        if self.is_legacy:
            return of_in.fraction - (6 if function == "exp" else 4)
        return of_in.bits - 10

    def fitted(self, pwlc):
        """The tables that pwlc finds, of the steps that the entries tell apart."""
        tables = []
        for function, of_in, of_out in (("exp", self.exp_in, self.exp_out), ("reciprocal", self.sum, self.inverse)):
            flags = ["--expr", "exp(-x)"] if self.is_negated and function == "exp" else [function, "--outside", "clamp"]
            step = self.step(of_in, function)
            flags += ["--method", "lsq", "--rounding", "floor", "--knots", f"steps:{step}"] if step else []
            pwlc.must("fit", *flags, "--profile", self.profile, "--in", of_in.text, "--out", of_out.text, "-o",
                      "softmax.json")
            values = parse(pwlc.must("emit", "softmax.json", "--profile", self.profile))[2]
            tap(len(values) == ENTRIES, f"softmax, {self.name}: {len(values)} entries")
            compare(f"softmax, {self.name}: all codes of {of_in.text}", pwlc, "softmax.json", self.profile, function,
                    values, of_in, of_out)
            tables.append([of_out.code(value) for value in values])
        return tables

    def entry(self, function, of_in, code):
        if self.profile in SOFTMAX_ALONE:
            return softmax_index(self.profile, function, ENTRIES, of_in, code)
        return (code % 2 ** of_in.bits) >> of_in.bits - 10

    def row(self, tables, codes):
        """Results of a row, not cut to the type of the output."""
        exp, inverse = tables

        def power(code):
            return exp[self.entry("exp", self.exp_in, code)]

        def factor(powers):
            total = math.floor(Fraction(sum(powers), 2 ** self.exp_out.fraction) * 2 ** self.sum.fraction)
            return inverse[self.entry("reciprocal", self.sum, total)]

        if self.is_legacy:
            one = 2 ** self.exp_out.fraction
            return [factor([one if i == j else power(codes[j] - codes[i]) for j in range(len(codes))]) /
                    2 ** self.inverse.fraction for i in range(len(codes))]
        high = max(codes)
        powers = [power(high - code if self.is_negated else code) for code in codes]
        inverse_of_sum = factor(powers)
        return [p * inverse_of_sum / 2 ** (self.exp_out.fraction + self.inverse.fraction) for p in powers]

    def errors(self, tables, rows):
        """Largest and mean error of all results."""
        found = []
        for codes in rows:
            wanted = [math.exp(float(self.data.real(code - max(codes)))) for code in codes]
            found += [abs(y - w / sum(wanted)) for y, w in zip(self.row(tables, codes), wanted)]
        return max(found), sum(found) / len(found)


# Types as hls4ml has them by default, but that all inputs of a second table have 16 bits; logits from -4 to 4.
SOFTMAX = [
    Softmax("stable", "hls4ml", "s16:2^-10", ("u15:2^-10", "s18:2^-10"), ("u16:2^-10", "s18:2^-10")),
    Softmax("latency", "hls4ml", "s13:2^-10", ("s13:2^-10", "s18:2^-10"), ("u16:2^-6", "s18:2^-10")),
    Softmax("legacy", "hls4ml-legacy", "s10:2^-6", ("s10:2^-6", "s24:2^-10"), ("u16:2^-10", "s18:2^-10")),
]


def check_softmax(pwlc, page):
    draw = random.Random(37)
    logits = [[draw.uniform(-4, 4) for _ in range(10)] for _ in range(1000)]
    for softmax in SOFTMAX:
        types = (softmax.exp_in, softmax.exp_out, softmax.sum, softmax.inverse)
        rows = [[math.floor(x * 2 ** softmax.data.fraction) for x in row] for row in logits]
        theirs, ours = (softmax.errors(tables, rows) for tables in (softmax.own(), softmax.fitted(pwlc)))
        figures = [f"{error:.{digits}f}" for errors in (theirs, ours) for error, digits in zip(errors, (4, 5))]
        line = f"| {' | '.join([softmax.name, *(of.text for of in types), *figures])} |"
        tap(ours[0] < theirs[0] and ours[1] < theirs[1], f"softmax, {softmax.name}: ours is nearer", line)
        tap(line in page, f"softmax, {softmax.name}: the page has the row", line)


def check_refusals(pwlc):
    def emit(what, says, profile, *fit):
        pwlc.must("fit", *fit, "-o", "refused.json")
        done = pwlc.run("emit", "refused.json", "--profile", profile, "-o", "refused.tb")
        tap(done.returncode == 3 and says in done.stderr and f"{profile} holds" in done.stderr
            and not (pwlc.folder / "refused.tb").exists(), f"{profile}: emit refuses {what}",
            f"exit {done.returncode}: {done.stderr}")

    def read(what, says, function, values, of_in, of_out):
        pwlc.write("refused.tb", f"static const typename CONFIG_T::table_t t[{len(values)}] = {{{', '.join(values)}}};")
        done = pwlc.run("import", "refused.tb", "--profile", "hls4ml", "--function", function, "--in", of_in, "--out", of_out,
                        "-o", "refused.import.json")
        tap(done.returncode == 2 and says in done.stderr and not (pwlc.folder / "refused.import.json").exists(),
            f"import refuses {what}", f"exit {done.returncode}: {done.stderr}")

    for profile in ("hls4ml", "hls4ml-oneapi"):
        emit("a function without a table", "the function is gelu", profile, "gelu", "--in", "s8:2^-4", "--out", "s8:2^-4")
        emit("a zero point", "zero point 3", profile, "sigmoid", "--in", "s8:2^-4:3", "--out", "s8:2^-7")
        emit("a scale that is no power of two", "scale 0.1 and", profile, "sigmoid", "--in", "s8:2^-4", "--out", "s8:0.1")
        emit("steps that are finer than entries", "the layout can give", profile, "softplus", "--in", "s14:2^-10", "--out",
             "s16:2^-12", "--segments", "8")
        emit("codes beyond the last entry", "the layout can give", profile, "tanh", "--in", "s10:2^-5", "--out", "s16:2^-15",
             "--method", "lut")
        emit("lines of selu that are rounded otherwise", "at code 1 the layout can give 33, the table gives 34", profile,
             "selu", "--in", "s10:2^-6", "--out", "s16:2^-11", "--method", "lut")
    emit("sides that are no mirror of each other", "the layout can give", "hls4ml-oneapi", "tanh", "--in", "s6:2^-4", "--out",
         "s8:2^-7", "--method", "uniform", "--segments", "1")
    read("three numbers", "a power of two", "sigmoid", ["0", "1", "0"], "s8:2^-4", "s8:2^-4")
    read("8192 numbers", "a power of two", "sigmoid", ["0"] * 8192, "s8:2^-4", "s8:2^-4")
    read("an output that wraps", "nothing clips that", "sigmoid", ["0", "1"], "s8:2^-4", "s8:2^-7")
    read("more entries than codes", "has 512 entries", "exp", ["0"] * 512, "s8:2^-4", "s8:2^-7")
    read("a value beyond all types", "must be below", "sigmoid", ["0", "1e9"], "s8:2^-4", "s8:2^-7")
    read("a name", "is a name", "sigmoid", ["0", "ONE"], "s8:2^-4", "s8:2^-7")


def main(program, page):
    with open(page) as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        pwlc = Pwlc(program, folder)
        for profile in ("hls4ml", "hls4ml-oneapi"):
            for function, of_in, of_out, *sizes in FITTED:
                check_fitted(pwlc, profile, function, of_in, of_out, sizes[profile != "hls4ml"])
            for case in OWN:
                check_own(pwlc, profile, *case)
        for profile, *case in FITTED_SOFTMAX:
            check_fitted(pwlc, profile, *case)
        for case in OWN_SOFTMAX:
            check_own(pwlc, *case)
        check_stable(pwlc)
        check_worse(pwlc)
        check_softmax(pwlc, text)
        check_refusals(pwlc)
    return end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
