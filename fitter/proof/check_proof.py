#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks proofs of what tables' certificates say, and shares no code with what wrote them.

    check_proof.py FILE...

Of each file it prints "accepted", what is proven and what is not, or the first thing that fails. Exit status 0: all are
accepted; 1: something does not hold; 2: a file is not of the format. docs/proofs.md has the format and the theorems.
It reads well from its end: check_proof says what is checked, what stands before it how. Trusted are Python's integers
and fractions, and mpmath's functions at 200 bits, with a margin of 2^-140. The hash, which tells edits, claims nothing.
"""
import hashlib
import json
import re
import sys
from decimal import Decimal
from fractions import Fraction
from math import inf, isqrt

from mpmath import atan, cos, erf, exp, floor, ldexp, log, mp, mpf, pi, sin, sqrt, tanh

mp.prec = 200
POINT, MARGIN = 160, 140
ONE = 1 << POINT  # Targets and errors are integers in units of 2^-160 of an output step, good to `wide` of them.
STEP = []  # The step that is being checked, for messages.
ROUNDINGS = ("floor", "half_up", "half_away", "half_even")


class Bad(Exception):
    """What is wrong; of status 1: what is stated does not hold; 2: the file is not of the format."""


def require(holds, *words, status=1):
    if not holds:
        raise Bad(status, " ".join(map(str, STEP + list(words))))


# ---- Reading: each field known and there once, integers of 64 bits ----

def is_ints(value, count=None):
    return (type(value) is list and count in (None, len(value)) and
            all(type(v) is int and -2**63 <= v < 2**63 for v in value))


KINDS = {
    "int": lambda v: is_ints([v]), "ints": is_ints, "pair": lambda v: is_ints(v, 2), "any": lambda v: True,
    "pairs": lambda v: type(v) is list and all(is_ints(pair, 2) for pair in v), "str": lambda v: type(v) is str,
    "bool": lambda v: type(v) is bool, "list": lambda v: type(v) is list, "object": lambda v: type(v) is dict,
    "real": lambda v: type(v) in (int, float) and abs(v) < 1e300}


def read(value, where, *schema):
    """The fields of an object: a schema has a kind and its fields' names. Behind a name "?" says that it may be absent:
    None; "~" that it may be null."""
    kinds = {name.rstrip("?~"): (kind, name[-1]) for kind, *names in map(str.split, schema) for name in names}
    require(type(value) is dict and value.keys() <= kinds.keys(), where, "has unknown fields", status=2)
    for name, (kind, mark) in kinds.items():
        good = KINDS[kind](value[name]) or mark == "~" and value[name] is None if name in value else mark == "?"
        require(good, f"{where}: {name} is missing, or of the wrong kind", status=2)
    return {**dict.fromkeys(kinds), **value}


def once(pairs):
    require(len(dict(pairs)) == len(pairs), "a field stands twice in one object", status=2)
    return dict(pairs)


def decimal(text):
    good = re.fullmatch(r"-?[0-9]{1,30}(\.[0-9]{1,60})?(e[+-]?[0-9]{1,3})?", text, re.ASCII)
    require(good, repr(text), "is no decimal number", status=2)
    return Fraction(text)


# ---- The table, and its outputs (docs/meaning.md) ----

def codes_of(signed, bits):
    return [-2**(bits - 1), 2**(bits - 1) - 1] if signed else [0, 2**bits - 1]


def fits(value, ends):
    return ends[0] <= value <= ends[1]


def ceil_div(a, b):
    return -(-a // b)


def shr(p, n, rounding):
    """p * 2^-n, rounded to an integer."""
    if n <= 0 or rounding == "floor":
        return p << -n if n <= 0 else p >> n
    up = {"half_up": True, "half_away": p >= 0, "half_even": p >> n & 1}[rounding]
    return (p + (1 << n - 1) - (not up)) >> n


class Side:
    def __init__(self, value, name):
        vars(self).update(read(value, name, "int bits zero_point qmin qmax", "bool signed", "str scale"))
        power = re.fullmatch(r"2\^(-?[0-9]{1,3})", self.scale, re.ASCII)
        self.scale = Fraction(2)**int(power[1]) if power else Fraction(float(decimal(self.scale)))
        require(2 <= self.bits <= 32 and self.scale > 0, name, "is no type")
        low, high = codes_of(self.signed, self.bits)
        require(low <= self.qmin <= self.qmax <= high, name, "has no such codes")

    def clip(self, code):
        return min(max(code, self.qmin), self.qmax)

    def is_nearest(self, code, text):
        """Whether it is a code nearest to a real number: of two in a tie both are."""
        twice = 2 * (decimal(text) / self.scale + self.zero_point)
        return code in (self.clip(ceil_div(twice - 1, 2)), self.clip((twice + 1) // 2))


class Table:
    def __init__(self, value):
        vars(self).update(read(
            value, "table", "int pwl_table", "str spec function method form rounding case hash outside?",
            "list segments", "str samples_sha256? expression? weights_sha256?",
            "object parameters in out certificate fold? reduction?"))
        self.x, self.y, self.biased = Side(value["in"], "in"), Side(value["out"], "out"), self.form == "biased"
        constant = {"absolute": "term_c", "biased": "bias", "anchored": "y"}.get(self.form)
        require(self.pwl_table == 1 and self.rounding in ROUNDINGS and self.outside in (None, "clamp"),
                "the table is of no known kind")
        require(self.function in FUNCTIONS and self.reduction is self.samples_sha256 is self.expression is None,
                "nothing is proven of reduced tables, samples and expressions")
        self.count = self.x.qmax - self.x.qmin + 1
        bits = next(bits for bits in (8, 16, 32) if max(self.x.bits, self.y.bits) <= bits)
        require(self.case == f"int{bits}", "case is not the smallest one that holds both sides")
        self.bits, self.wide = bits, 64 if bits == 32 else 32  # of slopes; of products and sums
        self.sums, self.slopes = codes_of(True, self.wide), codes_of(True, bits)
        self.offsets = codes_of(True, self.wide if self.biased else {8: 16, 16: 32, 32: 48}[bits])
        # Of the stored codes d0 to d1 - 1 segments make values; a fold mirrors all other codes to these.
        self.d0, self.d1 = self.x.qmin, self.x.qmax + 1
        if self.fold is not None:
            self.fold, self.d0 = read(self.fold, "fold", "int sum")["sum"], self.x.zero_point
            self.d1 = max(self.x.qmax, 2 * self.d0 - self.x.qmin) + 1
            require(self.x.qmin <= self.d0 <= self.x.qmax, "a folded table's zero point is no code")
        rows = [read(row, "segment", f"int start q_b n_BX_total {constant}", "object unfused?")
                for row in self.segments]
        self.starts = [row["start"] for row in rows]
        require(1 <= len(rows) <= 4096 and self.starts[0] == self.d0 and self.starts[-1] <= self.x.qmax and
                self.starts == sorted(set(self.starts)), "segments do not start as they must")
        self.segments = [(row["start"], end, row["q_b"], row["n_BX_total"], row[constant])
                         for row, end in zip(rows, self.starts[1:] + [self.d1])]
        require(all(fits(q_b, self.slopes) and abs(n) < self.wide and fits(c, self.offsets)
                    for _, _, q_b, n, c in self.segments), "a segment does not fit its types")

    def steps(self, segment, q):
        """What a segment makes of a code, one after the other; the last one is its value."""
        start, _, q_b, n, c = segment
        product = q_b * (q - (start if self.form == "anchored" else self.x.zero_point))
        p = product + c if self.biased else product
        v = shr(p, n, self.rounding)
        return product, p, v, v if self.biased else v + c

    def least_sum(self, n, value):
        """The least integer that the shift makes this value of, or a larger one."""
        if n <= 0:
            return ceil_div(value, 1 << -n)
        half = 1 << n - 1  # A tie is rounded down in the rows of half_away and half_even.
        return (value << n) - {"floor": 0, "half_up": half, "half_away": half - (value <= 0),
                               "half_even": half - value % 2}[self.rounding]

    def outputs(self):
        values = [self.steps(segment, q)[-1] for segment in self.segments for q in range(*segment[:2])]
        mirrored = [self.fold - values[self.d0 - q] for q in range(self.x.qmin, self.d0)]
        return [self.y.clip(value) for value in mirrored + values[:self.x.qmax + 1 - self.d0]]

    def acc_bits(self):
        """The bits of what the arithmetic makes where it can be largest: as p, and what is made of it, is monotone in
        the code, or convex, these are the ends of each segment, and of the codes in it whose image is a code."""
        made = []
        for segment in self.segments:
            start, end, _, n, _ = segment
            first, last = max(start, self.d0 + 1), min(end - 1, 2 * self.d0 - self.x.qmin)
            mirrored = {first, last} if self.fold is not None and first <= last else set()
            for q in {start, end - 1} | mirrored:
                _, p, _, value = steps = self.steps(segment, q)
                made += steps
                if n > 0 and self.rounding != "floor":
                    made.append((abs(p) if self.rounding == "half_away" else p) + 2**(n - 1))
                if q in mirrored:
                    made.append(self.fold - value)
        return max((v if v >= 0 else ~v).bit_length() + 1 for v in made)


# ---- The function, and enclosures of its targets ----

FUNCTIONS = {  # f of x, and of alpha where there is one; None outside the domain
    "sigmoid": lambda x: 1 / (1 + exp(-x)), "tanh": tanh, "gelu": lambda x: x * (1 + erf(x / sqrt(mpf(2)))) / 2,
    "gelu_tanh": lambda x: x * (1 + tanh(sqrt(2 / pi) * (x + mpf("0.044715") * x**3))) / 2,
    "quick_gelu": lambda x: x / (1 + exp(mpf("-1.702") * x)), "silu": lambda x: x / (1 + exp(-x)),
    "softplus": lambda x: log(1 + exp(x)), "mish": lambda x: x * tanh(log(1 + exp(x))), "exp": exp, "erf": erf,
    "elu": lambda x, alpha: alpha * (exp(x) - 1) if x < 0 else x, "sin": sin, "cos": cos, "atan": atan,
    "selu": lambda x: mpf("1.0507009873554804934193349852946") * (
        x if x >= 0 else mpf("1.6732632423543772848170429916717") * (exp(x) - 1)),
    "log": lambda x: log(x) if x > 0 else None, "sqrt": lambda x: sqrt(x) if x >= 0 else None,
    "rsqrt": lambda x: 1 / sqrt(x) if x > 0 else None, "reciprocal": lambda x: 1 / x if x else None,
    "softsign": lambda x: x / (1 + abs(x)), "logsigmoid": lambda x: -log(1 + exp(-x)),
    "hard_sigmoid": lambda x: min(max(x / 6 + mpf("0.5"), 0), 1), "relu": lambda x: max(x, 0),
    "hard_swish": lambda x: x * min(max(x / 6 + mpf("0.5"), 0), 1), "relu6": lambda x: min(max(x, 0), 6),
    "leaky_relu": lambda x, alpha: alpha * x if x < 0 else x}


def function_of(table):
    """What finds f / scale_y at a code, and how wide an error this may have: x is exact, and each f above good to
    2^-190 of the largest of 1, |x|, |f|, alpha. None at a code outside the domain."""
    schema = ["real alpha"] if table.function in ("elu", "leaky_relu") else []
    alpha = [mpf(value) for value in read(table.parameters, "parameters", *schema).values()]
    scale, steps = (mpf(s.numerator) / s.denominator for s in (table.x.scale, 1 / table.y.scale))

    def at(q):
        x = (q - table.x.zero_point) * scale
        f = FUNCTIONS[table.function](x, *alpha)
        return f is not None and (f * steps, ldexp((1 + abs(x) + abs(f) + sum(map(abs, alpha))) * steps, -MARGIN))
    return at


def enclose(table):
    """f / scale_y at every code, and how wide an error all of these may have."""
    at, far, values, wide = function_of(table), 2**40 + abs(table.y.zero_point), {}, 0
    for k in range(table.count):
        found = at(table.x.qmin + k)
        if found:  # Where f is far beyond all codes, any value there does.
            values[k] = int(ldexp(max(min(found[0], far), -far), POINT))
            wide = max(wide, found[1] if abs(found[0]) < far else 0)
    require(values and (table.outside or len(values) == table.count), "codes lie outside the function's domain")
    # A code outside takes the value of the nearest code inside, of two the next one's.
    return [values[k] if k in values else values[min(values, key=lambda other: (abs(other - k), -other))]
            for k in range(table.count)], int(ldexp(wide, POINT)) + 2


# ---- The first claim: every figure of the certificate ----

def half_digit(real):
    """Half a unit of the sixth digit of a positive number, and next to nothing."""
    first_digit = (Decimal(real.numerator) / real.denominator).adjusted()
    return Fraction(500001, 10**6) * Fraction(10)**(first_digit - 5)


def agrees(printed, real, wide):
    """Whether a printed number shows six digits of a real one (in units), or of one that differs by no more."""
    printed, real = Fraction(printed), Fraction(real, ONE)
    largest, off = max(printed, real), abs(printed - real) - Fraction(wide, ONE)
    return off <= 0 or largest > 0 and off <= half_digit(largest)


def read_certificate(table):
    return read(
        table.certificate, "certificate", "int checked max_err_at saturated_codes acc_bits", "bool exhaustive monotone",
        "real max_err_lsb rms_err_lsb mean_abs_err_lsb correctly_rounded lower_bound_lsb~ bound_lsb?",
        "bool optimal~", "str objective second_objective? proof?")


def check_name(proof, certificate):
    """The certificate may name the proof: by the SHA-256 of all but the table."""
    require(certificate["objective"] in ("max", "rms", "segments"), "objective: unknown", status=2)
    beside = json.dumps({name: part for name, part in proof.items() if name != "table" and part is not None},
                        sort_keys=True, separators=(",", ":"))
    require(certificate["proof"] in (None, hashlib.sha256(beside.encode()).hexdigest()),
            "proof: the certificate names another proof")


def check_certificate(table, said, values, wide):
    """Returns the largest error, at least, and what the outputs and the targets are."""
    require(said["bound_lsb"] is None, "bound_lsb: all codes are looked at")
    count, outputs, bottom, top = table.count, table.outputs(), table.y.qmin << POINT, table.y.qmax << POINT
    raw = [value + (table.y.zero_point << POINT) for value in values]
    targets = [min(max(value, bottom), top) for value in raw]
    errors = [abs((y << POINT) - target) for y, target in zip(outputs, targets)]
    largest = max(errors)
    # How far a step of the outputs goes against f, beyond 2^-60 of f.
    against = max(((f - g if z > y else g - f) - (max(abs(f), abs(g)) >> 60)
                   for f, g, y, z in zip(values, values[1:], outputs, outputs[1:]) if y != z), default=-ONE)
    rounded, saturated = ([sum(part <= limit for part in parts) for limit in limits] for parts, limits in (
        (errors, (ONE // 2 - wide, ONE // 2 + wide)),
        ([min(value - bottom, top - value) for value in raw], (-wide - 1, wide))))
    bits = table.acc_bits()
    for name, low, high in (  # the least and the largest that is true
            ("checked", count, count), ("exhaustive", True, True), ("acc_bits", bits, min(bits, table.wide)),
            ("saturated_codes", *saturated), ("monotone", against <= -3 * wide, against <= 3 * wide)):
        require(low <= said[name] <= high, f"{name}: it is {low}")
    share = min(max(round(Fraction(said["correctly_rounded"]) * count), rounded[0]), rounded[1])
    for name, real in (("max_err_lsb", largest), ("correctly_rounded", Fraction(share * ONE, count)),
                       ("mean_abs_err_lsb", Fraction(sum(errors), count)),
                       ("rms_err_lsb", isqrt(sum(error**2 for error in errors) // count))):
        require(agrees(said[name], real, wide) or table.weights_sha256 and name != "max_err_lsb",
                f"{name}: it is {float(real / ONE):.10g}")
    tie = max(ONE // 10**12, (table.y.qmax - table.y.qmin) << (POINT - 59))
    at = said["max_err_at"] - table.x.qmin
    require(0 <= at < count and errors[at] >= largest - 2 * (tie + wide) - (largest >> 50), "max_err_at: it has less")
    require(all(error <= largest - tie // 2 + 2 * wide + (largest >> 50) for error in errors[:at]),
            "max_err_at: a lower code has it")
    return largest - wide, outputs, targets


# ---- Wide inputs: of more than 2^20 codes some are looked at, and the others are bounded by how f bends ----

BENDS = {  # where regions meet, and whether f is convex (1), concave (-1) or straight (0) on each, from the left
    "exp": ([], [1]), "softplus": ([], [1]), "rsqrt": ([], [1]), "log": ([], [-1]), "sqrt": ([], [-1]),
    "logsigmoid": ([], [-1]), "reciprocal": ([0], [-1, 1]), "relu": ([0], [0, 0]), "leaky_relu": ([0], [0, 0]),
    **{name: ([0], [1, -1]) for name in ("sigmoid", "tanh", "erf", "atan", "softsign")},
    "elu": ([0], [1, 0]), "selu": ([0], [1, 0]), "relu6": ([0, 6], [0, 0, 0]), "hard_sigmoid": ([-3, 3], [0, 0, 0]),
    "hard_swish": ([-3, 3], [0, 1, 0]),
    "mish": ([mpf("-2.256376396360793120005748543950163906264"), mpf("1.490571179485428459294418908197909821128")],
             [-1, 1, -1]),
    **{name: ([-r, r], [-1, 1, -1]) for name, r in (
        ("gelu", sqrt(mpf(2))), ("silu", mpf("2.399357280515467667832739697282283888523")),
        ("quick_gelu", mpf("2.399357280515467667832739697282283888523") / mpf("1.702")),
        ("gelu_tanh", mpf("1.418504008790828355548033545599642697924")))}}


def regions(table):
    """Ranges of codes on which f is continuous and of one curvature. Two share the code where they meet."""
    zero, low, high, found = table.x.zero_point, table.x.qmin, table.x.qmax, []
    scale = mpf(table.x.scale.numerator) / table.x.scale.denominator
    if table.function in ("sin", "cos"):
        shift, sign = (mpf(0), -1) if table.function == "sin" else (mpf(1) / 2, 1)
        turns = range(int(floor((low - zero) * scale / pi)) - 1, int(floor((high - zero) * scale / pi)) + 3)
        places, signs = [(k + shift) * pi for k in turns], [0] + [-sign if k % 2 else sign for k in turns]
    else:
        places, signs = BENDS[table.function]
    if table.function in ("log", "rsqrt", "sqrt"):  # Codes outside have the target of the first one inside.
        first = zero if table.function == "sqrt" else zero + 1
        found, low = [(low, first - 1, 0)], max(low, first)
    for place, sign in zip(places, signs):
        code = place / scale + zero if place else mpf(zero)  # of an integer place as exact as mpmath's division
        near = int(floor(code + mpf(1) / 2))
        own = table.function == "reciprocal" or place and abs(code - near) < ldexp(abs(place / scale), -MARGIN + 40)
        found.append((low, near - 1 if own else int(floor(code)), sign))
        found += [(near, near, 0)] if own else []
        low = max(low, near + 1 if own else int(floor(code)) + (code != floor(code)))
    found.append((low, high, signs[-1]))
    cut = [(max(a, table.x.qmin), min(b, high), sign) for a, b, sign in found]
    return [(a, b, sign) for a, b, sign in cut if a <= b]


def meet(*functions):
    """Whether straight functions, by their values at both ends of a range, are all positive somewhere in it."""
    after, before = Fraction(-1), Fraction(2)
    for first, last in functions:
        if first <= 0 and last <= 0:
            return False
        if first <= 0:
            after = max(after, first / (first - last))
        elif last <= 0:
            before = min(before, first / (first - last))
    return after < before


class Wide:
    def __init__(self, table, said):
        self.table, self.at, self.known = table, function_of(table), {}
        require(said["exhaustive"] == (said["bound_lsb"] is None), "bound_lsb: it is there without need, or missing")
        largest = Fraction(said["max_err_lsb"])
        self.most = Fraction(said["bound_lsb"]) if said["bound_lsb"] is not None else largest + half_digit(largest)
        require(largest <= self.most, "max_err_lsb is more than bound_lsb")
        require(table.acc_bits() == said["acc_bits"] <= table.wide, f"acc_bits: it is {table.acc_bits()}")
        require(said["checked"] == table.count if said["exhaustive"] else said["checked"] < table.count,
                "checked: there are", table.count, "codes")
        require(table.x.qmin <= said["max_err_at"] <= table.x.qmax, "max_err_at is no code")
        curved, place = regions(table), said["max_err_at"]
        zero, ends = table.x.zero_point, [table.x.qmin, table.x.qmax]
        inside = [bool(self.at(q)) for q in ends + [zero] * (ends[0] <= zero <= ends[1])]
        require(any(inside[:2]) and (table.outside or all(inside)), "codes lie outside the function's domain")
        for self.segment in table.segments:
            for self.image in (False, True) if table.fold is not None else (False,):
                low, high = self.segment[0], self.segment[1] - 1
                if self.image:
                    low, high = 2 * table.d0 - high, min(2 * table.d0 - low, table.d0 - 1)
                low, high = max(low, table.x.qmin), min(high, table.x.qmax)
                for a, b, sign in curved:
                    self.check_stretch(max(a, low), min(b, high), sign)
                if low <= place <= high:
                    error, off = self.error(place)
                    require(agrees(said["max_err_lsb"], error * ONE, off * ONE),
                            f"max_err_lsb: it is {float(error):.10g}")

    def target(self, q):
        """The least and the largest that the target may be, before it is clipped, in steps."""
        if q not in self.known:
            require(len(self.known) < 2**20, "f is needed at more than 2^20 codes")
            zero = self.table.x.zero_point  # Outside the domain are codes up to it, or before it.
            near = zero - 1 if q == zero == self.table.x.qmax else zero + 1
            found = self.at(q) or q != zero and self.at(zero) or self.at(near)
            middle, wide = (int(ldexp(part, POINT)) for part in found)
            middle += self.table.y.zero_point << POINT
            self.known[q] = Fraction(middle - wide - 2, ONE), Fraction(middle + wide + 2, ONE)
        return self.known[q]

    def output(self, q):
        value = self.table.steps(self.segment, 2 * self.table.d0 - q if self.image else q)[-1]
        return self.table.y.clip(self.table.fold - value if self.image else value)

    def error(self, q):
        """The error of a code, and by how much it may be more or less."""
        low, high = map(self.table.y.clip, self.target(q))
        return abs(self.output(q) - Fraction(low + high, 2)), Fraction(high - low, 2)

    def check_stretch(self, first, last, sign):
        """No code from first to last, of one segment and one region, has an error of more than bound_lsb."""
        left = [(first, last)] if first <= last else []
        while left:
            first, last = left.pop()
            for q in {first, last}:
                error, off = self.error(q)
                require(error + off <= self.most, f"the code {q} has an error of {float(error):.10g}")
            a, b = first + 1, last - 1
            if a < b and not self.is_good(a, b, sign):
                left += [(first, (a + b) // 2), ((a + b) // 2, last)]
            elif a == b:
                left.append((a, a))

    def is_good(self, a, b, sign):
        """No code of a piece has a larger error, as far as lines tell, or, where it is short, lines and values."""
        before, at_a, at_b, behind = map(self.target, (a - 1, a, b, b + 1))
        inner, outer = (1, 0) if sign < 0 else (0, 1)  # The chord is on the outer side of f, its other lines inside.
        middle, y, most = Fraction(a + b, 2), self.table.y, self.most
        rises = at_a[inner] - before[outer], behind[outer] - at_b[inner]
        halves = [((a, middle), [at_a[inner] + (q - a) * rises[0] for q in (a, middle)]),
                  ((middle, b), [at_b[inner] - (b - q) * rises[1] for q in (middle, b)])]
        slope, value, below, above = self.line()
        good = True
        for ends, tangent in halves:
            chord = [at_a[outer] + (q - a) * (at_b[outer] - at_a[outer]) / (b - a) for q in ends]
            low, high = (chord, tangent) if sign < 0 else (tangent, chord)
            least, largest = ([slope * q + value + more for q in ends] for more in (-below, above))
            good = good and not meet(
                [v - t - most for v, t in zip(largest, low)], [v - y.qmin - most for v in largest],
                [y.qmax - most - t for t in low]) and not meet(
                [t - v - most for v, t in zip(least, high)], [t - y.qmin - most for t in high],
                [y.qmax - most - v for v in least])
        return good

    def line(self):
        """The slope of the real line of the segment, its value at code 0, and how far below and above it values are."""
        start, _, q_b, n, c = self.segment
        table = self.table
        origin, slope = start if table.form == "anchored" else table.x.zero_point, Fraction(q_b) / Fraction(2)**n
        value = (Fraction(c) / Fraction(2)**n if table.biased else c) - slope * origin
        low_bits = q_b | (c if table.biased else 0)
        digits = n - ((low_bits & -low_bits).bit_length() - 1 if low_bits else n)  # n' of the page
        half = Fraction(1, 2)
        below, above = {"floor": (1 - Fraction(1, 2**max(digits, 0)), 0),
                        "half_up": (half - Fraction(1, 2**max(digits, 1)), half)}.get(table.rounding, (half, half))
        if q_b == 0:
            value, below, above = self.table.steps(self.segment, start)[-1], 0, 0
        elif digits <= 0:
            below = above = 0
        if self.image:  # F - l(2 zp - q)
            return slope, table.fold - value - 2 * slope * table.d0, above, below
        return slope, value, below, above


# ---- Rules: which tables, and which lines, the second claim is about ----

class Rules:
    """Narrower rules would make the claim worth little: they are those of the table's storage, and of its spec."""

    def __init__(self, value, table):
        rules = read(value, "rules", "pair slopes shifts offsets", "bool one_shift", "any places", "pairs fixed",
                     "int shift_multiple stored_bits slope_terms accumulator_bits")
        vars(self).update(rules, table=table)
        words = table.spec.split()
        pairs = [(flag, word) for flag, word in zip(words, words[1:] + [""]) if flag.startswith("--")]
        self.flags = flags = {"--segments": "16", "--offset-type": "s64", "--knots": "free", **dict(pairs)}
        require(all(words.count(flag) == 1 or flag == "--fix" for flag, _ in pairs), "spec: a flag stands twice")
        multiple, stored, terms, width = (int(decimal(flags.get(name, "0").replace("any", "0"))) for name in (
            "--shift-multiple", "--slope-bits", "--slope-terms", "--shift-bits"))
        stored, reach = stored or table.bits, table.wide - 1
        shifts = codes_of(True, width) if width else [-reach, reach]
        kind = re.match("([su])([0-9]{1,2})(?![0-9])", flags["--offset-type"])
        require(kind, "spec: --offset-type is unknown")
        low, high = codes_of(kind[1] == "s", int(kind[2]))
        for name, want in (
                ("slopes", codes_of(True, min(stored, table.bits))), ("slope_terms", terms),
                ("offsets", [max(low, table.offsets[0]), min(high, table.offsets[1])]),
                ("shifts", [max(shifts[0], multiple - stored + 1 if multiple else -reach),
                            min(shifts[1], 32 // multiple * multiple if multiple else reach, reach)]),
                ("one_shift", flags.get("--shift") == "one"), ("accumulator_bits", table.wide),
                ("shift_multiple", multiple), ("stored_bits", stored if multiple else 0)):
            require(rules[name] == want, "rules:", name, "is", rules[name], "and not", want, "as of the table")
        asked = [word.split(":") for flag, word in pairs if flag == "--fix"]
        require(len(asked) == len(self.fixed) and all(
            table.x.is_nearest(q_x, x) and table.y.is_nearest(q_y, y)
            for (q_x, q_y), (x, y) in zip(self.fixed, asked)), "rules: fixed is not what --fix asks for")
        places = read({} if self.places == "any" else self.places, "places", "int shift?", "ints equal?")
        knots, *top = flags["--knots"].split(":")
        self.grid, self.equal = places["shift"], places["equal"]
        require((self.grid is not None, self.equal is not None) == (knots == "pow2", knots == "uniform") and
                (self.grid is None or 0 <= self.grid <= 32 and top in ([], [str(table.x.bits - self.grid)])) and
                self.equal != [], "rules: places are not those of --knots")
        powers = [0] + [sign << k for k in range(33) for sign in (1, -1)]
        self.of_terms = sorted({a + b for a in powers for b in (powers if terms == 2 else [0])})

    def slope_range(self, n):
        """The integers that q_b may be beside the shift n, whatever its terms."""
        if not self.shift_multiple:
            return self.slopes
        m = 2**(self.stored_bits - 1) >> (max(1, ceil_div(n, self.shift_multiple)) * self.shift_multiple - n)
        return max(self.slopes[0], -m), min(self.slopes[1], m - 1)

    def last_place(self, b):
        """The last place before the code b."""
        q = min(b - 1, self.table.x.qmax)
        return max(self.table.d0, q if self.grid is None else q >> self.grid << self.grid)

    def equal_starts(self, count):
        return [self.table.d0 + (self.table.x.qmax + 1 - self.table.d0) * m // count for m in range(count)]

    def of_types(self, n, q_b, ends):
        """Bounds on the constant from below, and from above, by what fits in its type where X is one of both ends."""
        rounding, biased, (bottom, top) = self.table.rounding, self.table.biased, self.table.sums
        low, high = (bottom, top) if n > 0 else (self.table.least_sum(n, bottom), self.table.least_sum(n, top + 1) - 1)
        if n > 0 and rounding != "floor":  # What rounding adds has to fit, too.
            low, high = low + ((1 << n - 1) + 1 if rounding == "half_away" else 0), high - (1 << n - 1)
        least, most = [self.offsets[0]], [self.offsets[1]]
        for x in ends:
            p, v = q_b * x, shr(q_b * x, n, rounding)
            for none in (not bottom <= x <= top, p < (bottom if biased else low), p > (top if biased else high)):
                least.append(inf if none else -inf)
                most.append(-inf if none else inf)
            least.append(low - p if biased else bottom - v)
            most.append(high - p if biased else top - v)
        return least, most

    def stored_slopes(self, n, shifts, low=-inf, high=inf):
        """Of a chain's slopes at the shift n those from low to high, ascending. An even q_b is left out where its half
        makes the same values at n - 1; nothing is stored there, not even half of 0, where slopes end below 0."""
        low, high = max(low, self.slope_range(n)[0]), min(high, self.slope_range(n)[1])
        halved = n > shifts[0] and self.slope_range(n - 1)[1] >= 0 and (
            not self.table.biased or n > 0 and self.table.rounding in ("floor", "half_up"))
        if self.slope_terms:
            return [q for q in self.of_terms if low <= q <= high and (q % 2 or not halved)]
        return range(low | 1, high + 1, 2) if halved else range(low, high + 1)

    def check_table(self, outputs):
        """The table itself is allowed; that its sums stay in their types is a part of acc_bits."""
        table = self.table
        for start, end, q_b, n, c in table.segments:
            origin = start if table.form == "anchored" else table.x.zero_point
            require(fits(q_b, self.slope_range(n)) and (not self.slope_terms or q_b in self.of_terms) and
                    fits(n, self.shifts) and fits(c, self.offsets) and start == self.last_place(start + 1) and
                    fits(start - origin, table.sums) and fits(end - 1 - origin, table.sums) and
                    (not self.one_shift or n == table.segments[0][3]), "the rules do not allow the segment at", start)
        require(not self.equal or table.starts == self.equal_starts(len(table.starts)), "segments are not equal")
        require(all(outputs[q_x - table.x.qmin] == q_y for q_x, q_y in self.fixed), "a fixed code has another output")

    def read_chain(self, value, steps):
        """The shifts of a chain, its number of equal segments, and the list of its steps."""
        shifts, equal, listed = read(value, "chain", "pair shifts", "int equal?", "list " + steps).values()
        require(shifts == self.shifts or self.one_shift and self.shifts[0] <= shifts[0] <= shifts[1] <= self.shifts[1],
                "a chain's shifts are not those of the rules")
        require(equal in (self.equal or [None]), "a chain is not of the rules' equal segments")
        return shifts, equal, listed

    def bands(self, targets, wide, error):
        """The least and the largest value of each stored code that keep within the error, and give fixed codes their
        output; without an end where all beyond is clipped to what is good. Wide enclosures make wide bands."""
        y, d0, fold, reach = self.table.y, self.table.d0, self.table.fold, wide + ceil_div(error * ONE, 1)
        bands, fixed = [(-inf, inf)] * (self.table.d1 - d0), dict(self.fixed)
        for q, target in enumerate(targets, self.table.x.qmin):
            low, high = ceil_div(target - reach, ONE), (target + reach) >> POINT
            low, high = max(low, fixed.get(q, low)), min(high, fixed.get(q, high))
            low, high = -inf if low <= y.qmin else low, inf if high >= y.qmax else high
            if q < d0:  # The value v of its image gives it the output fold - v.
                q, low, high = 2 * d0 - q, fold - high, fold - low
            bands[q - d0] = max(low, bands[q - d0][0]), min(high, bands[q - d0][1])
        return bands


# ---- Exclusions: no allowed line serves a range ----

class Exclusion:
    """No allowed line, if anchored none that starts at a, has values in the bands of all codes from a to b - 1."""

    def __init__(self, value, rules, bands, shifts):
        fields = read(value, "exclusion", "int from upto none?", "pairs window?", "ints runs?")
        self.a, self.b, none, window, runs = (fields[name] for name in ("from", "upto", "none", "window", "runs"))
        STEP[:] = [f"exclusion of {self.a} to {self.b - 1}:"]
        self.rules, self.table, self.n, d0 = rules, rules.table, None, rules.table.d0
        require(d0 <= self.a < self.b <= self.table.d1, "these are no stored codes")
        self.bands = bands[self.a - d0:self.b - d0]
        self.origin = self.a if self.table.form == "anchored" else self.table.x.zero_point
        require((none is None) != (window is None) == (runs is None), "it is of no known kind", status=2)
        require(none is None or self.end(none, 0) > self.end(none, 1), "the band is not empty")
        # With no slope left, or an empty band, it excludes lines from anywhere.
        self.any_start = (none is not None or self.check_runs(self.slopes(window, shifts), runs) or
                          self.table.form != "anchored")
        STEP.clear()

    def end(self, i, which):
        """The low (0) or the high (1) end of the band of code a + i, which has to have one."""
        require(0 <= i < len(self.bands) and abs(self.bands[i][which]) != inf, "there is no such end of a band at", i)
        return self.bands[i][which]

    def slopes(self, window, shifts):
        """The list of slopes q_b * 2^-n that the window leaves: pairs of n, and of ascending q_b. A line that serves
        has a value of at least low at a + i, of at most high at a + j; rounding moves their difference by at most 1,
        so that slope (i - j) >= low - high - 1."""
        require(all(i != j for i, j in window), "a pair of its window is of one code")
        bounds = [(i > j, Fraction(self.end(i, 0) - self.end(j, 1) - 1, i - j)) for i, j in window]
        found = []
        for n in range(shifts[0], shifts[1] + 1):
            low = max([ceil_div(bound * Fraction(2)**n, 1) for is_lower, bound in bounds if is_lower], default=-inf)
            high = min([bound * Fraction(2)**n // 1 for is_lower, bound in bounds if not is_lower], default=inf)
            found.append((n, self.rules.stored_slopes(n, shifts, low, high)))
        return [(n, part) for n, part in found if part]

    def check_runs(self, slopes, runs):
        """Each run excludes the next slopes of the list, by two codes. Returns whether there are no slopes."""
        require(len(runs) % 3 == 0 and all(count >= 1 for count in runs[::3]), "its runs are not of three integers")
        require(sum(runs[::3]) == sum(len(part) for _, part in slopes), "its runs are not of all slopes that are left")
        lists, part = iter(slopes), ()
        for count, i, j in zip(runs[::3], runs[1::3], runs[2::3]):
            while count:
                self.n, part = (self.n, part) if part else next(lists)
                self.exclude(part[:count], i, j)
                count, part = count - len(part[:count]), part[count:]
        return not slopes

    def exclude(self, part, i, j):
        """Code a + i asks of each slope for a larger constant than a + j allows. Both are made of bounds that are
        monotone in q_b, so that those of the first and the last slope hold for all between; else the part is halved."""
        first, last = part[0], part[-1]
        least = max(map(min, self.limits(first, i, 0), self.limits(last, i, 0)))
        most = min(map(max, self.limits(first, j, 1), self.limits(last, j, 1)))
        if least <= most:
            require(len(part) > 1, f"the slope {first} * 2^-{self.n} is not excluded by the codes {i} and {j}")
            self.exclude(part[:len(part) // 2], i, j)
            self.exclude(part[len(part) // 2:], i, j)

    def limits(self, q_b, i, side):
        """Bounds on the constant, from below (side 0) by low(a + i), from above (1) by high(a + i), or by the types."""
        if i == -1:
            return self.rules.of_types(self.n, q_b, [self.a - self.origin, self.b - 1 - self.origin])[side]
        value, p = self.end(i, side), q_b * (self.a + i - self.origin)
        # What is at most high has less than the least sum that gives high + 1.
        return [self.table.least_sum(self.n, value + side) - side - p if self.table.biased else
                value - shr(p, self.n, self.table.rounding)]

# ---- Squares: what lines cost at least ----

class Costs:
    """Sums of squared errors, in units of 2^-k, each square rounded down, of the least error that may be."""

    def __init__(self, rules, targets, wide, unit):
        self.rules, self.table, self.fixed, self.wide, self.unit = rules, rules.table, dict(rules.fixed), wide, unit
        self.targets, self.known = targets, {}
        self.floor = [0]  # of the stored codes before d0 + i, what their outputs cost at least
        for q in range(self.table.d0, self.table.d1):
            self.floor.append(self.floor[-1] + self.least(q, -inf, inf))

    def least(self, q, low, high):
        """The least cost at a stored code of values from low to high: its own, and that of its image."""
        table, cost = self.table, 0
        if q <= table.x.qmax:
            cost += self.of_code(q, table.y.clip(low), table.y.clip(high))
        if table.fold is not None and table.x.qmin <= 2 * table.d0 - q < q:
            cost += self.of_code(2 * table.d0 - q, table.y.clip(table.fold - high), table.y.clip(table.fold - low))
        return cost

    def of_code(self, q, low, high):
        """The least cost at a code of outputs from low to high: that of the nearest one, or of the fixed one."""
        target = self.targets[q - self.table.x.qmin]
        output = self.fixed.get(q, min(max((target + ONE // 2) >> POINT, low), high))
        error = max(abs((output << POINT) - target) - self.wide, 0)
        return error * error >> (2 * POINT - self.unit) if low <= output <= high else inf

    def check_lines(self, a, needs, rests, shifts):
        """Every allowed line from a on, of these shifts, costs before each code b at least needs[b]; none needs more
        behind b if it costs rests[b] before it. A box is a part of the slopes of a shift, and constants: each is looked
        at from code to code, until it costs enough for all that follows; else it is halved."""
        table, rules, biased = self.table, self.rules, self.table.biased
        origin = a if table.form == "anchored" else table.x.zero_point
        boxes = [(n, rules.stored_slopes(n, shifts), *rules.offsets) for n in range(shifts[0], shifts[1] + 1)]
        while boxes:
            n, part, c1, c2 = boxes.pop()
            before1, before2, behind1, behind2 = (c1, c2, 0, 0) if biased else (0, 0, c1, c2)
            cost, b = 0, a
            while part:
                p, w = part[0] * (b - origin), part[-1] * (b - origin)
                cost += self.least(b, shr(min(p, w) + before1, n, table.rounding) + behind1,
                                   shr(max(p, w) + before2, n, table.rounding) + behind2)
                b += 1
                if cost < needs.get(b, -inf):
                    break
                if cost >= rests.get(b, inf):
                    part = ()
            if part:  # Constants that types do not allow are left out, as far as both ends of the slopes tell.
                limits = [rules.of_types(n, q_b, [a - origin, b - 1 - origin]) for q_b in (part[0], part[-1])]
                c1 = max(c1, *map(min, limits[0][0], limits[1][0]))
                c2 = min(c2, *map(max, limits[0][1], limits[1][1]))
            if part and c1 <= c2:
                require(len(part) > 1 or c1 < c2, f"the line of {part[0]} * 2^-{n} and {c1} costs less before {b}")
                moved, right = (part[-1] - part[0]) * max(abs(a - origin), abs(b - 1 - origin)), 0 if biased else n
                if len(part) > 1 and (c1 == c2 or moved << max(-right, 0) >= (c2 - c1) << max(right, 0)):
                    half = len(part) // 2
                    boxes += [(n, part[:half], c1, c2), (n, part[half:], c1, c2)]
                else:
                    middle = (c1 + c2) // 2
                    boxes += [(n, part, c1, middle), (n, part, middle + 1, c2)]

    def check_chain(self, value, segments, squares):
        """least[m] has for each place what m segments cost at least that end there; no line costs less than what this
        grows by. Returns the chain's shifts, and C of equal segments."""
        rules, d0, d1 = self.rules, self.table.d0, self.table.d1
        shifts, equal, rows = rules.read_chain(value, "least")
        places = [q for q in range(d0, self.table.x.qmax + 1) if q == rules.last_place(q + 1)]
        places = rules.equal_starts(equal) if equal else places
        require(all(is_ints(row, len(places)) for row in rows) and len(rows) == (1 if equal else segments),
                "least has not its rows, or they are of other lengths", status=2)
        require(all(row[-1] >= squares for row in rows), "least ends below squares")
        ends = places[1:] + [d1]
        if equal:
            for a, b, before, behind in zip(places, ends, [0] + rows[0], rows[0]):
                self.check_lines(a, {b: behind - before}, {b: -inf}, shifts)
            return shifts, equal
        at_end = [dict(zip(ends, row)) for row in rows]
        for a in reversed(places):
            numbers = [0] if a == d0 else range(1, segments)
            before = {m: at_end[m - 1][a] if m else 0 for m in numbers}
            needs = {b: max(at_end[m][b] - before[m] for m in numbers) for b in ends if b > a and before}
            rests, rest = {d1: -inf}, -inf
            for b in range(d1 - 1, a, -1):
                rest = max(rest, needs.get(b + 1, -inf)) - (self.floor[b + 1 - d0] - self.floor[b - d0])
                rests[b] = rest
                if b in needs and a > d0 and self.table.form != "anchored":
                    rests[b] = min(rest, max(at_end[m - 1][b] - before[m] for m in numbers))
            if needs:
                self.check_lines(a, needs, rests, shifts)
        return shifts, None


# ---- The second claim: no allowed table of so many segments is within the error ----

def check_chain(value, rules, bands, segments):
    """So for tables of the chain's shifts. F(m), here `place`, is the last place where segment m of one can start: it
    cannot hold the range of an exclusion that begins there or later. Returns the shifts, and C of equal segments."""
    shifts, equal, chain = rules.read_chain(value, "groups")
    groups, anchored = [], rules.table.form == "anchored"
    for rows in chain:
        require(KINDS["list"](rows), "a group is no list of exclusions", status=2)
        groups.append([Exclusion(row, rules, bands, shifts) for row in rows])
        require(len({one.b for one in groups[-1]}) == 1, "a group's exclusions do not end together")
    if rules.equal:
        require(list(map(len, groups)) == [1], "a chain of equal segments has one exclusion")
        starts, one = rules.equal_starts(equal) + [rules.table.d1], groups[0][0]
        require(any(start <= one.a and one.b <= end and (one.a == start or one.any_start)
                    for start, end in zip(starts, starts[1:])), "its exclusion is not one of a segment")
        return shifts, equal
    before, place = rules.table.d0 - 1, rules.table.d0
    # In the anchored form starts up to `before` are excluded by the groups before.
    for m, group in enumerate(groups):
        starts, reach = {one.a for one in group}, max((one.a for one in group if one.any_start), default=-inf)
        for p in range(before + 1 if anchored else place, place + 1):
            require(p in starts or p <= reach or p != rules.last_place(p + 1), "group", m, "does not exclude", p)
        before, place = place, rules.last_place(group[0].b)
    require(len(groups) == segments or 0 < len(groups) < segments and place <= before, "a chain ends too early")
    return shifts, equal


def check_claim(table, rules, claim, largest):
    """The claim is one of the table: of its error and its segments. Returns what is left open of equal segments."""
    equal, segments, number = rules.equal or [], claim["segments"], len(table.segments)
    require(not equal or segments == max(equal), "segments are not the largest number of equal ones")
    if table.certificate["objective"] != "segments":
        asked = int(decimal(rules.flags["--segments"]))
        require(segments >= max(asked, number) and (not equal or asked in equal), "S is too small")
        return []
    error = decimal(claim["error"])
    require(error >= decimal(rules.flags.get("--max-err", "none")), "impossible: --max-err allows a larger error")
    require(agrees(min(error, Fraction(largest, ONE)), largest, 0), "the table is not within L")
    codes, open_ = table.x.qmax + 1 - table.d0, set(range(1, number)) - set(equal) if equal else set()
    require(not table.certificate["optimal"] or all(codes % 2**k or codes >> k not in open_ for k in range(21)),
            "optimal: some equal segments of 2^k codes are left out")
    return [f"that {len(open_)} smaller numbers of equal segments, of no 2^k codes, do not do"] if open_ else []


def not_following(table, segments, error, squares, largest, costs):
    """What the certificate says of other tables and does not follow: no table of so many segments has a smaller error,
    or costs less than `squares`. `costs` is what the table costs."""
    objective, bound, optimal = (table.certificate[name] for name in ("objective", "lower_bound_lsb", "optimal"))
    exact, bound = Fraction(largest, ONE), Fraction(bound or 0)
    if objective == "rms":
        best = costs - squares <= max(costs / 10**9, Fraction(table.count, 2**30)) and not table.weights_sha256
        best = best and (bound == 0 or agrees(bound, Fraction(table.certificate["rms_err_lsb"]) * ONE, 0))
        low = best and optimal or bound**2 * table.count <= squares * Fraction(1000002, 1000000)
    elif objective == "max":
        slack = max(Fraction(1, 10**8), exact / 10**11, Fraction(max(abs(table.y.qmin), abs(table.y.qmax)), 2**48))
        best = exact - error <= slack
        low = bound <= max(error * Fraction(1000001, 1000000), slack) or best and optimal and agrees(bound, largest, 0)
    else:
        best, low = segments in (None, len(table.segments) - 1), not bound
    return ["optimal"] * bool(optimal and not best) + ["lower_bound_lsb"] * (not low)


def check_proof(text):
    """Checks one proof, and returns what it proves."""
    STEP.clear()
    try:
        proof = json.loads(text.decode(), object_pairs_hook=once, parse_constant=decimal)
    except (ValueError, RecursionError) as reason:
        raise Bad(2, f"no JSON: {reason}") from None
    proof = read(proof, "proof", "int pwl_proof", "object table impossible? rules?", "list chains?")
    require(proof["pwl_proof"] == 1, "the proof's version is", proof["pwl_proof"])
    table = Table(proof["table"])
    certificate = read_certificate(table)
    check_name(proof, certificate)
    if table.count > 2**20:
        bound = Wide(table, certificate).most
        require(proof["impossible"] is proof["rules"] is proof["chains"] is None,
                "impossible: nothing is proven of more than 2^20 codes")
        return (f"accepted: no error is above {float(bound):.10g} LSB, {len(table.segments)} segments; not checked: "
                "counts and averages" + "; not proven: optimal" * bool(certificate["optimal"]) +
                "; not proven: lower_bound_lsb" * bool(certificate["lower_bound_lsb"]))
    values, wide = enclose(table)
    largest, outputs, targets = check_certificate(table, certificate, values, wide)
    said = [f"accepted: largest error {max(largest, 0) / ONE:.10g} LSB, {len(table.segments)} segments"]
    objective, claim = certificate["objective"], proof["impossible"]
    left = ["the averages (their weights are needed)"] if table.weights_sha256 else []
    # The largest that the sum of squares may be, and the least that the nearest outputs may have.
    costs = Fraction(sum((abs((y << POINT) - t) + wide)**2 for y, t in zip(outputs, targets)), ONE**2)
    nearest = Fraction(sum(max(abs(((t + ONE // 2) & -ONE) - t) - wide, 0)**2 for t in targets), ONE**2)
    if claim is None:  # No table has less than no segments, an error of less than 0, or outputs nearer than these.
        require(proof["rules"] is None and proof["chains"] is None, "there are rules or chains, and no claim")
        missing = not_following(table, 0, 0, nearest, largest, costs)
        if certificate["optimal"] and "optimal" not in missing:
            said += [{"rms": "no table has a smaller RMS error, for each output is the nearest code",
                      "max": "no table has a smaller error", "segments": "no table has fewer segments"}[objective]]
        return "; ".join(said + [f"not proven: {part}" for part in left + missing])
    claim = read(claim, "impossible", "int segments", "int squares unit" if objective == "rms" else "str error")
    rules, segments, squares = Rules(proof["rules"], table), claim["segments"], claim.get("squares", 0)
    require(1 <= segments <= 4096 and 0 <= claim.get("unit", 0) <= 60, "impossible: is out of range")
    rules.check_table(outputs)
    left += check_claim(table, rules, claim, largest)
    count = f"{' or '.join(map(str, rules.equal))} equal" if rules.equal else f"at most {segments}"
    if objective == "rms":
        require(table.count <= 2**12 and not table.weights_sha256, "squares are of 2^12 codes, without weights")
        error, least = 0, Fraction(squares, 2**claim["unit"])
        rms = (least / table.count)**0.5
        said += [f"no allowed table of {count} segments has an RMS error of less than {rms:.10g} LSB"]
    else:
        error, least = decimal(claim["error"]), 0
        said += [f"no allowed table of {count} segments is within {claim['error']} LSB"]
    missing = not_following(table, None if rules.equal else segments, error, least, largest, costs)
    require(not missing, " and ".join(missing) + ": the claim does not bear it out")
    if objective == "rms":
        lines = Costs(rules, targets, wide, claim["unit"])
        shown = [lines.check_chain(chain, segments, squares) for chain in proof["chains"] or []]
    else:
        bands = rules.bands(targets, wide, error)
        shown = [check_chain(chain, rules, bands, segments) for chain in proof["chains"] or []]
    for equal in rules.equal or [None]:
        for n in range(rules.shifts[0], rules.shifts[1] + 1):
            require(any(of == equal and fits(n, shifts) for shifts, of in shown), "no chain has the shift", n)
    return "; ".join(said + [f"not proven: {part}" for part in left])


def main(path):
    try:
        with open(path, "rb") as file:
            print(f"{path}: {check_proof(file.read())}")
    except (Bad, OSError) as reason:
        status, words = reason.args if isinstance(reason, Bad) else (2, reason)
        print(f"{path}: {'refused' if status == 1 else 'cannot be read'}: {words}")
        return status
    return 0


if __name__ == "__main__":
    sys.exit(max(map(main, sys.argv[1:])) if len(sys.argv) > 1 else __doc__)
