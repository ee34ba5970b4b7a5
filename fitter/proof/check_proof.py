#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks proofs of what tables' certificates say, and shares no code with what wrote them.

    check_proof.py FILE...

Of each file it prints "accepted", what is proven and what is not, or the first thing that fails. Exit status 0: all are
accepted; 1: something does not hold; 2: a file is not of the format.

docs/proofs.md has the format and the theorems, docs/meaning.md and docs/table-json.md what a table is. It reads well
from its end: check_proof says what is checked, what stands before it how. Trusted are Python's integers and fractions,
and mpmath's functions at 200 bits, with a margin of 2^-100.
"""
import hashlib
import json
import re
import struct
import sys
from bisect import bisect_left, bisect_right
from fractions import Fraction
from math import inf, isqrt

from mpmath import atan, cos, erf, exp, libmp, log, mp, mpf, pi, sin, sqrt, tanh

mp.prec = 200
POINT, MARGIN = 128, 100
ONE = 1 << POINT  # Targets and errors are integers in units of 2^-128 of an output step, pairs of a low and a high one.
STEP = []         # The step that is being checked, for messages.


class Bad(Exception):
    """What is wrong; of status 1: what is stated does not hold; 2: the file is not of the format."""


def require(holds, *words, status=1):
    if not holds:
        raise Bad(status, " ".join(map(str, STEP + list(words))))


def ceil_div(a, b):
    return -(-a // b)


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


def fits(value, bits):
    return -2**(bits - 1) <= value < 2**(bits - 1)


def shr(p, n, rounding):
    """p * 2^-n, rounded to an integer."""
    if n <= 0 or rounding == "floor":
        return p << -n if n <= 0 else p >> n
    half = 1 << (n - 1)
    return (p + half - (not {"half_up": True, "half_away": p >= 0, "half_even": p >> n & 1}[rounding])) >> n


class Side:
    def __init__(self, value, name):
        vars(self).update(read(value, name, "int bits zero_point qmin qmax", "bool signed", "str scale"))
        power = re.fullmatch(r"2\^(-?[0-9]{1,3})", self.scale, re.ASCII)
        self.scale = Fraction(2)**int(power[1]) if power else Fraction(float(decimal(self.scale)))
        require(2 <= self.bits <= 32 and self.scale > 0, name, "is no type")
        low, high = codes_of(self.signed, self.bits)
        require(low <= self.qmin <= self.qmax <= high, name, "has no such codes")

    def nearest(self, real):
        """The codes nearest to a real number: one, or two in a tie."""
        twice = 2 * (real / self.scale + self.zero_point)
        return {min(max(code, self.qmin), self.qmax) for code in (ceil_div(twice - 1, 2), (twice + 1) // 2)}


class Table:
    def __init__(self, value):
        vars(self).update(read(
            value, "table", "int pwl_table", "str spec function method form rounding case hash outside?",
            "list segments", "str samples_sha256? expression? weights_sha256?",
            "object parameters in out certificate fold? reduction?"))
        require(self.pwl_table == 1, "the table's version is", self.pwl_table)
        require(self.hash == hash_of(value), "the table's hash is not that of its content")
        constant = {"absolute": "term_c", "biased": "bias", "anchored": "y"}.get(self.form)
        require(self.reduction is None and self.function in FUNCTIONS and self.samples_sha256 is None,
                "nothing is proven of reduced tables, samples and expressions")
        require(constant and self.rounding in ("floor", "half_up", "half_away", "half_even") and
                self.outside in (None, "clamp") and self.expression is None, "the table is of no known kind")
        self.x, self.y = Side(value["in"], "in"), Side(value["out"], "out")
        require(self.x.qmax - self.x.qmin < 2**20, "nothing is proven of more than 2^20 codes")
        self.bits = next(bits for bits in (8, 16, 32) if max(self.x.bits, self.y.bits) <= bits)
        require(self.case == f"int{self.bits}", "case is not the smallest one that holds both sides")
        self.wide = 64 if self.bits == 32 else 32  # bits of products and sums
        self.offset_bits = self.wide if self.form == "biased" else {8: 16, 16: 32, 32: 48}[self.bits]
        # Of the stored codes d0 to d1 - 1 segments make values; a fold mirrors all other codes to these.
        self.d0, self.d1 = self.x.qmin, self.x.qmax + 1
        if self.fold is not None:
            self.fold, self.d0 = read(self.fold, "fold", "int sum")["sum"], self.x.zero_point
            self.d1 = max(self.x.qmax, 2 * self.d0 - self.x.qmin) + 1
            require(self.x.qmin <= self.d0 <= self.x.qmax, "a folded table's zero point is no code")
        rows = [read(row, "segment", f"int start q_b n_BX_total {constant}", "object unfused?")
                for row in self.segments]
        self.segments = [(row["start"], row["q_b"], row["n_BX_total"], row[constant]) for row in rows]
        self.starts = [start for start, *_ in self.segments]
        require(1 <= len(self.starts) <= 4096 and self.starts[0] == self.d0 and self.starts[-1] <= self.x.qmax and
                all(a < b for a, b in zip(self.starts, self.starts[1:])), "segments do not start as they must")
        require(all(fits(q_b, self.bits) and abs(n) < self.wide and fits(c, self.offset_bits)
                    for _, q_b, n, c in self.segments), "a segment does not fit its types")

    def ranges(self):
        """Each segment, the code behind its last one, and the code from which X counts."""
        for segment, end in zip(self.segments, self.starts[1:] + [self.d1]):
            yield *segment, end, segment[0] if self.form == "anchored" else self.x.zero_point

    def outputs(self):
        values = []
        for start, q_b, n, c, end, origin in self.ranges():
            before, behind = (c, 0) if self.form == "biased" else (0, c)
            values += [shr(q_b * (q - origin) + before, n, self.rounding) + behind for q in range(start, end)]
        mirrored = [self.fold - values[self.d0 - q] for q in range(self.x.qmin, self.d0)]
        return [min(max(v, self.y.qmin), self.y.qmax) for v in mirrored + values[:self.x.qmax + 1 - self.d0]]

    def integers(self, with_mirrored=True):
        """What the arithmetic makes where it can be largest: as p, and what is made of it, is monotone in the code, or
        convex, these are the ends of each segment, and of the codes in it whose image is a code."""
        biased = self.form == "biased"
        for start, q_b, n, c, end, origin in self.ranges():
            first, last = max(start, self.d0 + 1), min(end - 1, 2 * self.d0 - self.x.qmin)
            mirrored = {first, last} if self.fold is not None and first <= last else set()
            for q in {start, end - 1} | mirrored:
                product = q_b * (q - origin)
                p = product + c if biased else product
                v = shr(p, n, self.rounding)
                yield from (product, p, v, v if biased else v + c)
                if n > 0 and self.rounding != "floor":
                    yield (abs(p) if self.rounding == "half_away" else p) + 2**(n - 1)
                if with_mirrored and q in mirrored:
                    yield self.fold - (v if biased else v + c)


def hash_of(table):
    """The SHA-256 of the canonical text, in which numbers of the parameters and the certificate are doubles in hex."""
    def bits(value):
        return struct.pack(">d", value).hex() if KINDS["real"](value) else value
    content = {name: value for name, value in table.items() if name != "hash"}
    for name in ("parameters", "certificate"):
        content[name] = {key: bits(part) for key, part in table[name].items()}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# ---- The function, and enclosures of its targets ----

def sixth(x):
    return min(max(x / 6 + mpf(1) / 2, mpf(0)), mpf(1))


SELU_S, SELU_A = mpf("1.0507009873554804934193349852946"), mpf("1.6732632423543772848170429916717")
FUNCTIONS = {  # f of x and alpha
    "sigmoid": lambda x, a: 1 / (1 + exp(-x)), "tanh": lambda x, a: tanh(x),
    "gelu": lambda x, a: x * (1 + erf(x / sqrt(mpf(2)))) / 2,
    "gelu_tanh": lambda x, a: x * (1 + tanh(sqrt(2 / pi) * (x + mpf("0.044715") * x**3))) / 2,
    "quick_gelu": lambda x, a: x / (1 + exp(mpf("-1.702") * x)), "silu": lambda x, a: x / (1 + exp(-x)),
    "softplus": lambda x, a: log(1 + exp(x)), "mish": lambda x, a: x * tanh(log(1 + exp(x))),
    "elu": lambda x, a: a * (exp(x) - 1) if x < 0 else x,
    "selu": lambda x, a: SELU_S * x if x >= 0 else SELU_S * SELU_A * (exp(x) - 1),
    "exp": lambda x, a: exp(x), "erf": lambda x, a: erf(x), "log": lambda x, a: log(x), "sqrt": lambda x, a: sqrt(x),
    "rsqrt": lambda x, a: 1 / sqrt(x), "reciprocal": lambda x, a: 1 / x, "sin": lambda x, a: sin(x),
    "cos": lambda x, a: cos(x), "atan": lambda x, a: atan(x), "softsign": lambda x, a: x / (1 + abs(x)),
    "logsigmoid": lambda x, a: -log(1 + exp(-x)), "hard_sigmoid": lambda x, a: sixth(x),
    "hard_swish": lambda x, a: x * sixth(x), "relu": lambda x, a: max(x, mpf(0)),
    "relu6": lambda x, a: min(max(x, mpf(0)), mpf(6)), "leaky_relu": lambda x, a: a * x if x < 0 else x}
DOMAIN = {"log": lambda x: x > 0, "sqrt": lambda x: x >= 0, "rsqrt": lambda x: x > 0, "reciprocal": lambda x: x != 0}


def enclose(table):
    """f / scale_y at every code. x is exact, and each f above good to 2^-190 of the largest of 1, |x|, |f|, alpha."""
    schema = ["real alpha"] if table.function in ("elu", "leaky_relu") else []
    alpha = mpf(read(table.parameters, "parameters", *schema).get("alpha", 0))
    scale, steps = mpf(table.x.scale.numerator) / table.x.scale.denominator, 1 / table.y.scale
    inside, values, known = DOMAIN.get(table.function, lambda x: True), [], []
    margin, steps = ceil_div(steps * 2**(POINT - MARGIN), 1), mpf(steps.numerator) / steps.denominator
    for q in range(table.x.qmin, table.x.qmax + 1):
        x = (q - table.x.zero_point) * scale
        if not inside(x):
            values.append(None)
            continue
        f = FUNCTIONS[table.function](x, alpha)
        wide = (margin << max([0, *(mp.mag(v) for v in (x, f, alpha) if v)])) + 2
        if f and mp.mag(f * steps) > 150:  # far beyond all codes
            f, wide = (mpf(2) ** 150 if f > 0 else -mpf(2) ** 150) / steps, 0
        middle = libmp.to_fixed((f * steps)._mpf_, POINT)
        known.append(len(values))
        values.append((middle - wide, middle + wide))
    require(known and (table.outside or len(known) == len(values)), "codes lie outside the function's domain")
    # A code outside takes the value of the nearest code inside, of two the next one's.
    return [values[min(known, key=lambda k: (abs(k - q), -k))] if value is None else value
            for q, value in enumerate(values)]


# ---- The first claim: every figure of the certificate ----

def agrees(printed, low, high):
    """Whether a printed number shows six digits of some number from low to high (in units)."""
    printed, low, high = Fraction(printed), Fraction(low, ONE), Fraction(high, ONE)
    real = min(max(printed, low), high)
    largest, digit = max(printed, real), 0
    if largest <= 0:
        return printed == real
    while Fraction(10)**(digit + 1) <= largest:
        digit += 1
    while Fraction(10)**digit > largest:
        digit -= 1
    return abs(printed - real) * 1000000 <= 500001 * Fraction(10)**(digit - 5)


def show(error):
    return f"{error / ONE:.10g}"


def check_certificate(table, values):
    """Returns the lower end of the largest error, the targets, and the outputs."""
    certificate = read(
        table.certificate, "certificate", "int checked max_err_at saturated_codes acc_bits", "bool exhaustive monotone",
        "real max_err_lsb rms_err_lsb mean_abs_err_lsb correctly_rounded lower_bound_lsb~", "bool optimal~",
        "str objective second_objective? proof?")
    require(certificate["objective"] in ("max", "rms", "segments"), "objective: unknown", status=2)
    count, outputs = len(values), table.outputs()
    require(certificate["checked"] == count and certificate["exhaustive"], "checked: there are", count, "codes")
    bottom, top = table.y.qmin << POINT, table.y.qmax << POINT
    raw = [[end + (table.y.zero_point << POINT) for end in value] for value in values]
    targets = [[min(max(end, bottom), top) for end in pair] for pair in raw]
    least = sum(low > top or high < bottom for low, high in raw)
    most = sum(high > top or low < bottom for low, high in raw)
    require(least <= certificate["saturated_codes"] <= most, "saturated_codes: it is", least)

    moved = [((y << POINT) - high, (y << POINT) - low) for y, (low, high) in zip(outputs, targets)]
    errors = [(max(low, -high, 0), max(high, -low)) for low, high in moved]
    e_low, e_high = (max(error[end] for error in errors) for end in (0, 1))
    require(agrees(certificate["max_err_lsb"], e_low, e_high), "max_err_lsb: it is", show(e_low))
    tie = max(ONE // 10**12, (table.y.qmax - table.y.qmin) << (POINT - 59))
    at = certificate["max_err_at"] - table.x.qmin
    require(0 <= at < count and errors[at][1] >= e_low - 2 * tie - (e_low >> 50), "max_err_at: the error is less there")
    require(all(low <= e_high - tie // 2 + (e_high >> 50) for low, _ in errors[:at]), "max_err_at: a lower code has it")
    if not table.weights_sha256:
        rms = [isqrt(sum(error[end]**2 for error in errors) // count) + end for end in (0, 1)]
        require(agrees(certificate["rms_err_lsb"], *rms), "rms_err_lsb: it is", show(rms[0]))
        mean = [Fraction(sum(error[end] for error in errors), count) for end in (0, 1)]
        require(agrees(certificate["mean_abs_err_lsb"], *mean), "mean_abs_err_lsb: it is", show(int(mean[0])))
        least, most = (sum(2 * error[end] <= ONE for error in errors) for end in (1, 0))
        share = Fraction(min(max(round(Fraction(certificate["correctly_rounded"]) * count), least), most), count) * ONE
        require(agrees(certificate["correctly_rounded"], share, share), "correctly_rounded: it is", show(int(share)))

    surely = perhaps = False  # whether some step of the outputs goes against f, by more than 2^-60 of f
    for (a, b), (c, d), y, z in zip(values, values[1:], outputs, outputs[1:]):
        low, high = (a - d, b - c) if z > y else (c - b, d - a)
        size = max(map(abs, (a, b, c, d)))
        surely |= z != y and low > size >> 60
        perhaps |= z != y and high > size - 2 * (b - a + d - c) >> 60
    require(perhaps if not certificate["monotone"] else not surely, "monotone: it is", not certificate["monotone"])
    needed = max((v if v >= 0 else ~v).bit_length() + 1 for v in table.integers())
    require(certificate["acc_bits"] == needed <= table.wide, "acc_bits: it is", needed)
    return e_low, targets, outputs


# ---- Rules: which tables, and which lines, the second claim is about ----

class Rules:
    def __init__(self, value, table):
        rules = read(value, "rules", "pair slopes shifts offsets", "bool one_shift", "any places", "pairs fixed",
                     "int shift_multiple stored_bits slope_terms accumulator_bits")
        vars(self).update(rules)
        self.table, self.form, self.rounding, self.half = table, table.form, table.rounding, 2**(table.wide - 1)
        places = read({} if self.places == "any" else self.places, "places", "int shift?", "ints equal?")
        self.grid, self.equal = places["shift"], places["equal"]
        require(self.equal is None or self.equal and min(self.equal) > 0, "places: equal has no numbers of segments")
        require(self.grid is None or 0 <= self.grid <= 32, "places: shift is out of range")
        # Narrower rules would make the claim worth little: they are those of the table's storage, and of its spec.
        words = table.spec.split()
        self.flags = flags = {word: after for word, after in zip(words, words[1:] + [""]) if word.startswith("--")}
        require(len(flags) == sum(word[:2] == "--" and word != "--fix" for word in words) + ("--fix" in words),
                "spec: a flag stands twice")
        multiple, stored, terms = (int(decimal(flags.get(name, "0").replace("any", "0")))
                                   for name in ("--shift-multiple", "--slope-bits", "--slope-terms"))
        stored, reach, offsets = stored or table.bits, table.wide - 1, codes_of(True, table.offset_bits)
        if "--offset-type" in flags:
            kind = re.match(r"([su])([0-9]{1,2})(?![0-9])", flags["--offset-type"], re.ASCII)
            require(kind, "spec: --offset-type is unknown")
            low, high = codes_of(kind[1] == "s", int(kind[2]))
            offsets = [max(low, offsets[0]), min(high, offsets[1])]
        due = {"slopes": codes_of(True, min(stored, table.bits)), "offsets": offsets, "slope_terms": terms,
               "shifts": [-reach, reach] if not multiple else
                         [multiple - stored + 1, min(reach, 32 // multiple * multiple)],
               "one_shift": flags.get("--shift") == "one", "shift_multiple": multiple, "accumulator_bits": table.wide,
               "stored_bits": stored if multiple else 0}
        for name, want in due.items():
            require(rules[name] == want, "rules:", name, "is", rules[name], "and not", want, "as of the table")
        asked = [after.split(":") for word, after in zip(words, words[1:]) if word == "--fix"]
        require(len(asked) == len(self.fixed) and all(
            q_x in table.x.nearest(decimal(x)) and q_y in table.y.nearest(decimal(y))
            for (q_x, q_y), (x, y) in zip(self.fixed, asked)), "rules: fixed is not what --fix asks for")
        knots, *top = flags.get("--knots", "free").split(":")
        require((self.grid is not None, self.equal is not None) == (knots == "pow2", knots == "uniform") and
                (self.grid is None or not top or self.grid == table.x.bits - decimal(top[0])),
                "rules: places are not those of --knots", knots)
        powers = {0} | {sign << k for k in range(33) for sign in (1, -1)}
        self.of_terms = sorted(powers if terms == 1 else {a + b for a in powers for b in powers})

    def slope_range(self, n):
        """The integers that q_b may be beside the shift n, whatever its terms."""
        low, high = self.slopes
        if self.shift_multiple:
            m = 2**(self.stored_bits - 1) >> (max(1, ceil_div(n, self.shift_multiple)) * self.shift_multiple - n)
            low, high = max(low, -m), min(high, m - 1)
        return low, high

    def last_place(self, b):
        """The last place before the code b."""
        q = min(b - 1, self.table.x.qmax)
        return max(self.table.d0, q if self.grid is None else q >> self.grid << self.grid)

    def equal_starts(self, count):
        return [self.table.d0 + (self.table.x.qmax + 1 - self.table.d0) * m // count for m in range(count)]

    def check_table(self, outputs):
        """The table itself is allowed."""
        for start, q_b, n, c in self.table.segments:
            low, high = self.slope_range(n)
            require(low <= q_b <= high and (not self.slope_terms or q_b in self.of_terms) and
                    self.shifts[0] <= n <= self.shifts[1] and self.offsets[0] <= c <= self.offsets[1] and
                    start == self.last_place(start + 1) and (not self.one_shift or n == self.table.segments[0][2]),
                    "the rules do not allow the segment at", start)
        require(not self.equal or self.table.starts == self.equal_starts(len(self.table.starts)), "other starts")
        require(all(fits(v, self.table.wide) for v in self.table.integers(False)), "a sum leaves its type")
        for q_x, q_y in self.fixed:
            require(outputs[q_x - self.table.x.qmin] == q_y, "the fixed code", q_x, "has another output")

    def bands(self, targets, error):
        """The least and the largest value of each stored code that keep within the error, and give fixed codes their
        output; without an end where all beyond is clipped to what is good. Wide enclosures make wide bands."""
        y, reach, table, bands = self.table.y, ceil_div(error * ONE, 1), self.table, []
        asked = [(ceil_div(low - reach, ONE), (high + reach) >> POINT) for low, high in targets]
        for q_x, q_y in self.fixed:
            low, high = asked[q_x - table.x.qmin]
            asked[q_x - table.x.qmin] = max(low, q_y), min(high, q_y)
        asked = [(-inf if low <= y.qmin else low, inf if high >= y.qmax else high) for low, high in asked]
        for q in range(table.d0, table.d1):
            low, high = asked[q - table.x.qmin] if q <= table.x.qmax else (-inf, inf)
            image = 2 * table.d0 - q
            if table.fold is not None and table.x.qmin <= image < q:  # A value v gives its image the output fold - v.
                a, b = asked[image - table.x.qmin]
                low, high = max(low, table.fold - b), min(high, table.fold - a)
            bands.append((low, high))
        return bands


# ---- Exclusions: no allowed line serves a range ----

class Exclusion:
    """No allowed line, if anchored none that starts at a, has values in the bands of all codes from a to b - 1."""

    def __init__(self, value, rules, bands, shifts):
        fields = read(value, "exclusion", "int from upto none?", "pairs window?", "ints runs?")
        self.a, self.b, none, window, runs = (fields[name] for name in ("from", "upto", "none", "window", "runs"))
        self.rules, self.n, d0 = rules, None, rules.table.d0
        require(d0 <= self.a < self.b <= rules.table.d1, "its range is not one of stored codes")
        self.bands = bands[self.a - d0:self.b - d0]
        self.origin = self.a if rules.form == "anchored" else rules.table.x.zero_point
        require((none is None) != (window is None) == (runs is None), "is of no known kind", status=2)
        require(none is None or self.end(none, 0) > self.end(none, 1), "the band is not empty")
        # With no slope left, or an empty band, it excludes lines from anywhere.
        self.any_start = none is not None or self.check_runs(self.slopes(*self.window(window), shifts), runs)

    def end(self, i, which):
        require(0 <= i < len(self.bands), "it names a code outside its range")
        return self.bands[i][which]

    def window(self, pairs):
        """The slopes s = q_b * 2^-n that all pairs leave. A line that serves has a value of at least low at a + i, of
        at most high at a + j; rounding moves their difference by at most 1: s (i - j) >= low - high - 1."""
        bottom, top = -inf, inf
        for i, j in pairs:
            low, high = self.end(i, 0), self.end(j, 1)
            require(i != j and low != -inf and high != inf, "a pair of its window bounds nothing")
            bound = Fraction(low - high - 1, i - j)
            bottom, top = (max(bottom, bound), top) if i > j else (bottom, min(top, bound))
        return bottom, top

    def slopes(self, bottom, top, shifts):
        """The list of slopes that the window leaves: pairs of a shift, and the ascending q_b. An even q_b is left out
        where its half is allowed at n - 1, and makes the same values there."""
        rules, found = self.rules, []
        for n in range(shifts[0], shifts[1] + 1):
            low, high = rules.slope_range(n)
            low = low if bottom == -inf else max(low, ceil_div(bottom * Fraction(2)**n, 1))
            high = high if top == inf else min(high, top * Fraction(2)**n // 1)
            halved = n > shifts[0] and (rules.form != "biased" or n > 0 and rules.rounding in ("floor", "half_up"))
            allowed = range(low | 1, high + 1, 2) if halved else range(low, high + 1)
            if rules.slope_terms:
                some = rules.of_terms[bisect_left(rules.of_terms, low):bisect_right(rules.of_terms, high)]
                allowed = [q for q in some if q % 2 or not halved]
            if halved and low <= 0 <= high and rules.slope_range(n - 1)[1] < 0:
                allowed = sorted([*allowed, 0])  # No slope is stored at n - 1, not even 0.
            found += [(n, allowed)] if allowed else []
        return found

    def check_runs(self, slopes, runs):
        """Each run excludes the next slopes of the list, by two codes. Returns whether there are no slopes."""
        require(len(runs) % 3 == 0 and all(count >= 1 for count in runs[::3]), "its runs are not of three integers")
        require(sum(runs[::3]) == sum(len(part) for _, part in slopes), "its runs are not of all slopes that are left")
        turn = done = 0
        for count, i, j in zip(runs[::3], runs[1::3], runs[2::3]):
            while count:
                self.n, part = slopes[turn]
                taken = min(count, len(part) - done)
                self.exclude(part[done:done + taken], i, j)
                count, done = count - taken, done + taken
                turn, done = (turn + 1, 0) if done == len(part) else (turn, done)
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
            return self.of_types(q_b)[side]
        value = self.end(i, side) + side  # What is at most high has less than the least constant that gives high + 1.
        require(abs(value) != inf, "a run names a code without such an end")
        p, n, rounding = q_b * (self.a + i - self.origin), self.n, self.rules.rounding
        if self.rules.form != "biased":
            return [value - shr(p, n, rounding) - side]
        if n <= 0:
            return [ceil_div(value, 1 << -n) - p - side]
        tie = (value << n) - (1 << (n - 1))  # The least sum that gives value is above a tie that is rounded down.
        return [{"floor": value << n, "half_up": tie, "half_away": tie + (value <= 0),
                 "half_even": tie + value % 2}[rounding] - p - side]

    def of_types(self, q_b):
        """Bounds on the constant from below, and from above, by what fits in its type at both ends of the range."""
        n, half, rounding, biased = self.n, self.rules.half, self.rules.rounding, self.rules.form == "biased"
        low, high = (-half, half - 1) if n >= 0 else (-(half >> -n), (half - 1) >> -n)
        if n > 0 and rounding != "floor":
            high -= 1 << (n - 1)
            low += (1 << (n - 1)) + 1 if rounding == "half_away" else 0
        least, most = [self.rules.offsets[0]], [self.rules.offsets[1]]
        for x in (self.a - self.origin, self.b - 1 - self.origin):
            p, (bottom, top) = q_b * x, (-half, half - 1) if biased else (low, high)
            for none_is in (not -half <= x < half, p < bottom, p > top):
                least.append(inf if none_is else -inf)
                most.append(-inf if none_is else inf)
            least.append(low - p if biased else -half - shr(p, n, rounding))
            most.append(high - p if biased else half - 1 - shr(p, n, rounding))
        return least, most


# ---- The second claim: no allowed table of so many segments is within the error ----

def check_chain(value, rules, bands, segments):
    """So for tables of the chain's shifts. F(m), here `place`, is the last place where segment m of one can start: it
    cannot hold the range of an exclusion that begins there or later. Returns the shifts, and C of equal segments."""
    chain = read(value, "chain", "pair shifts", "int equal?", "list groups")
    shifts, groups, anchored = chain["shifts"], [], rules.form == "anchored"
    require(rules.shifts[0] <= shifts[0] <= shifts[1] <= rules.shifts[1], "its shifts are not among those of the rules")
    require(rules.one_shift or shifts == rules.shifts, "it has not all shifts")
    for m, rows in enumerate(chain["groups"]):
        STEP[1:] = [f"group {m}:"]
        require(KINDS["list"](rows) and rows, "is no list of exclusions", status=2)
        groups.append([Exclusion(row, rules, bands, shifts) for row in rows])
        require(len({one.b for one in groups[-1]}) == 1, "its exclusions do not end together")
    STEP[1:] = []
    if rules.equal:
        require(chain["equal"] in rules.equal and [len(group) for group in groups] == [1], "it has not one exclusion")
        starts, one = rules.equal_starts(chain["equal"]) + [rules.table.d1], groups[0][0]
        require(any(start <= one.a and one.b <= end and (not anchored or one.a == start or one.any_start)
                    for start, end in zip(starts, starts[1:])), "its exclusion is not one of a segment")
        return shifts, chain["equal"]
    before, place = rules.table.d0 - 1, rules.table.d0
    for m, group in enumerate(groups):
        if anchored:  # Starts up to `before` are excluded by the groups before, up to a b that is not larger.
            require(m == 0 or group[0].b >= groups[m - 1][0].b, "group", m, "ends before the one before it")
            starts, reach = {one.a for one in group}, max((one.a for one in group if one.any_start), default=-inf)
            for p in range(before + 1, place + 1):
                require(p in starts or p <= reach or p != rules.last_place(p + 1), "group", m, "leaves out", p)
        else:
            require(any(one.a >= place for one in group), "group", m, "has no exclusion from", place, "on")
        before, place = place, rules.last_place(group[0].b)
    require(len(groups) == segments or 0 < len(groups) < segments and place <= before, "it does not go on to the end")
    return shifts, chain["equal"]


def check_claim(rules, chains, bands, segments):
    shown = []
    for k, chain in enumerate(chains):
        STEP[:] = [f"chain {k}:"]
        shown.append(check_chain(chain, rules, bands, segments))
    STEP[:] = []
    require(not rules.equal or segments == max(rules.equal), "segments are not the largest number of equal ones")
    for equal in rules.equal or [None]:
        for n in range(rules.shifts[0], rules.shifts[1] + 1):
            require(any(of == equal and low <= n <= high for (low, high), of in shown), "no chain has the shift", n)


def check_consequence(table, rules, segments, error, largest):
    """What the certificate says of other tables follows from the claim. Returns what is left open."""
    bound, optimal, number = table.certificate["lower_bound_lsb"], table.certificate["optimal"], len(table.segments)
    if table.certificate["objective"] == "max":
        asked = int(decimal(rules.flags.get("--segments", "16")))
        require(segments >= max(asked, number) and (not rules.equal or asked in rules.equal), "S is too small")
        require(not optimal or Fraction(largest, ONE) - error <= slack(table, largest), "optimal: L is too far below E")
        require(not bound or bound <= error * Fraction(1000001, 1000000) or optimal and agrees(bound, largest, largest),
                "lower_bound_lsb is above the error of impossible")
        return []
    require(table.certificate["objective"] == "segments" and bound is None, "a claim that the certificate has not")
    require(error >= decimal(rules.flags.get("--max-err", "none")), "impossible: --max-err allows a larger error")
    require(agrees(min(error, Fraction(largest, ONE)), largest, largest), "the table is not within L")
    if not rules.equal:
        require(not optimal or segments == number - 1, "optimal: S is not one less than the table's segments")
        return []
    codes = table.x.qmax + 1 - table.d0
    require(not optimal or all(codes % 2**k or codes >> k >= number or codes >> k in rules.equal for k in range(21)),
            "optimal: some equal segments of 2^k codes are left out")
    unknown = len(set(range(1, number)) - set(rules.equal))
    return [f"that {unknown} smaller numbers of equal segments, of no 2^k codes, do not do"] if unknown else []


def slack(table, largest):
    """How far L may be below E."""
    return max(Fraction(1, 10**8), Fraction(largest, ONE * 10**11),
               Fraction(max(abs(table.y.qmin), abs(table.y.qmax)), 2**48))


def check_proof(text):
    """Checks one proof, and returns what it proves."""
    STEP[:] = []
    try:
        proof = json.loads(text.decode(), object_pairs_hook=once, parse_constant=decimal)
    except (ValueError, RecursionError) as reason:
        raise Bad(2, f"no JSON: {reason}") from None
    proof = read(proof, "proof", "int pwl_proof", "object table impossible? rules?", "list chains?")
    require(proof["pwl_proof"] == 1, "the proof's version is", proof["pwl_proof"])
    table = Table(proof["table"])
    beside = json.dumps({name: part for name, part in proof.items() if name != "table" and part is not None},
                        sort_keys=True, separators=(",", ":"))
    require(table.certificate.get("proof") in (None, hashlib.sha256(beside.encode()).hexdigest()),
            "proof: the certificate names another proof")
    largest, targets, outputs = check_certificate(table, enclose(table))
    said = f"accepted: largest error {show(largest)} LSB, {len(table.segments)} segments"
    certificate = table.certificate
    left = ["the averages (their weights are needed)"] if table.weights_sha256 else []
    if proof["impossible"] is None:
        require(proof["rules"] is None and proof["chains"] is None, "there are rules or chains, and no claim")
        small = 0 if certificate["objective"] != "max" else slack(table, largest)  # What needs no proof.
        if certificate["optimal"] and (certificate["objective"] == "rms" or Fraction(largest, ONE) > small and
                                       (certificate["objective"] != "segments" or len(table.segments) > 1)):
            left += ["optimal"]
        left += ["lower_bound_lsb"] * ((certificate["lower_bound_lsb"] or 0) > small)
    else:
        claim = read(proof["impossible"], "impossible", "int segments", "str error")
        error, segments = decimal(claim["error"]), claim["segments"]
        require(1 <= segments <= 4096, "impossible: segments are 1 to 4096")
        rules = Rules(proof["rules"], table)
        rules.check_table(outputs)
        left += check_consequence(table, rules, segments, error, largest)
        check_claim(rules, proof["chains"] or [], rules.bands(targets, error), segments)
        count = f"{' or '.join(map(str, rules.equal))} equal" if rules.equal else f"at most {segments}"
        said += f"; no allowed table of {count} segments is within {claim['error']} LSB"
    return said + "".join(f"; not proven: {part}" for part in left)


def main(paths):
    worst = 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                print(f"{path}: {check_proof(file.read())}")
        except (Bad, OSError) as reason:
            status, words = reason.args if isinstance(reason, Bad) else (2, reason)
            print(f"{path}: {'refused' if status == 1 else 'cannot be read'}: {words}")
            worst = max(worst, status)
    return worst


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
