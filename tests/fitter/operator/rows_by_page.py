# SPDX-License-Identifier: GPL-3.0-or-later
"""Row operators in plain Python, written from docs/operators.md alone; all but tiles() and weighted sums by someone who
had not seen the runtime.

load(json) reads an operator's file, as json.load() gives it; run() maps rows of codes. Every intermediate value is held
to the 64 bits that the page says it has.
"""

from collections import Counter
from fractions import Fraction


def signed64(value):
    """A signed 64-bit integer, as every value is that the page does not call unsigned."""
    assert -2**63 <= value < 2**63, f"{value} is beyond signed 64 bits"
    return value


def shr(p, n):
    """p 2^-n to the nearest integer, halves up; 0 for n > 62."""
    assert n >= 1, f"a shift by {n}"
    return 0 if n > 62 else signed64(signed64(p) + 2**(n - 1)) >> n


def shr_unsigned(p, n):
    """The product of two exponentials, which takes all of 64 unsigned bits with half of its divisor."""
    assert n >= 1 and 0 <= p < 2**63, f"{p} by {n}"
    if n > 62:
        return 0
    assert p + 2**(n - 1) < 2**64
    return p + 2**(n - 1) >> n


def shift(value, up):
    """value 2^up, rounded down."""
    return signed64(signed64(value) << up if up >= 0 else value >> -up)


class Table:
    """A table of docs/meaning.md, neither folded nor reduced."""

    def __init__(self, json):
        assert "fold" not in json and "reduction" not in json
        self.segments, self.form, self.rounding = json["segments"], json["form"], json["rounding"]
        self.x, self.y = json["in"], json["out"]

    def rounded(self, p, n):
        """p 2^-n, rounded as the table says."""
        if n <= 0:
            return p << -n
        half = 2**(n - 1)
        return p + {"floor": 0, "half_up": half, "half_away": half - (p < 0),
                    "half_even": half - 1 + (p >> n) % 2}[self.rounding] >> n

    def __getitem__(self, code):
        assert self.x["qmin"] <= code <= self.x["qmax"], f"{code} is outside the table"
        line = [segment for segment in self.segments if segment["start"] <= code][-1]
        slope, n = line["q_b"], line["n_BX_total"]
        if self.form == "absolute":
            value = self.rounded(slope * (code - self.x["zero_point"]), n) + line["term_c"]
        elif self.form == "biased":
            value = self.rounded(slope * (code - self.x["zero_point"]) + line["bias"], n)
        else:
            value = self.rounded(slope * (code - line["start"]), n) + line["y"]
        return min(max(signed64(value), self.y["qmin"]), self.y["qmax"])


class Operator:
    """What all five have in common: the types, the clipping and the core."""

    def __init__(self, json):
        assert json["pwl_operator"] == 1
        self.kind, self.x, self.y, self.places = json["operator"], json["in"], json["out"], json["rows"]
        self.core = Table(json["core"])

    def clip(self, value):
        return min(max(signed64(value), self.y["qmin"]), self.y["qmax"])

    def run(self, rows, mask=None, causal=False, first=0):
        """Output codes of rows of input codes; mask, of the shape of rows, is true where a place takes part."""
        assert self.kind in ("softmax", "logsoftmax") or (mask is None and not causal), "a mask of a norm"
        outputs = []
        for r, row in enumerate(rows):
            row = [int(q) for q in row]
            assert all(self.x["qmin"] <= q <= self.x["qmax"] for q in row), "codes of the input type"
            end = min(max(first + r + 1, 0), len(row)) if causal else len(row)
            outputs.append(self.row(row, [i < end and (mask is None or bool(mask[r][i])) for i in range(len(row))]))
            assert len(outputs[-1]) == len(row)
        return outputs


class Softmax(Operator):
    """Softmax and log-softmax."""

    def __init__(self, json):
        super().__init__(json)
        self.fraction, exp = json["fraction"], json["exp"]
        if self.x["bits"] == 16:
            high, shifts = json["exp_high"], json["exp_shift"]
            exp = [shr_unsigned(high[d >> 8] * exp[d & 255], shifts[d >> 8]) for d in range(65536)]
        self.exp = exp
        if self.kind == "weigh":
            return
        if self.kind == "softmax":
            self.b = (1 / real(self.y["scale"])).numerator.bit_length() - 1
            assert real(self.y["scale"]) == Fraction(1, 2**self.b)
        else:
            self.step, self.g, self.unit, self.h, self.factor, self.value = (
                json[name] for name in ("step", "step_shift", "log_unit", "log_shift", "log_factor", "log_value"))

    def reciprocal(self, total):
        """(R, k) with 1/S ~ R 2^-k."""
        up = 32 - total.bit_length()
        m = shift(total, up)
        r = self.core[(m >> 16) - 32768]
        err = signed64(2**47 - signed64(m * r))
        return signed64(signed64(r << 15) + (signed64(r * (err >> 15)) >> 17)), 62 - up

    def logarithm(self, total):
        """ln(S 2^-F) of 30 fraction bits."""
        m = shift(total, 32 - total.bit_length())
        j = (m >> 24) - 128
        z = (signed64(m * self.factor[j]) >> 17) - 2**30
        octaves = total.bit_length() - 1 - self.fraction
        return signed64(self.value[j] + z - (signed64(z * z) >> 31) + octaves * 744261118)

    def row(self, row, taken):
        assert len(row) <= self.places, "a row is too long"
        used = Counter(q for q, here in zip(row, taken) if here)
        largest = max(used, default=None)
        return self.places_of(row, taken, largest, self.total(used, largest))

    def total(self, used, largest):
        """S of so many places of each code."""
        return signed64(sum(self.exp[largest - q] * times for q, times in used.items()))

    def places_of(self, row, taken, largest, total):
        softmax, zero_point = self.kind == "softmax", self.y["zero_point"]
        masked = self.clip(zero_point) if softmax else self.y["qmin"]
        used = {q for q, here in zip(row, taken) if here}
        if not used:
            return [masked] * len(row)
        if softmax:
            r, k = self.reciprocal(total)
            values = {q: shr(signed64(self.exp[largest - q] * r), k - self.b) for q in used}
        else:
            log = shr(signed64(self.logarithm(total) * self.unit), self.h)
            values = {q: shr(signed64(-signed64((largest - q) * self.step) - log), self.g) for q in used}
        codes = {q: self.clip(zero_point + value) for q, value in values.items()}
        return [codes[q] if here else masked for q, here in zip(row, taken)]


    def tiles(self, tiles, taken):
        """The codes of a row that comes in tiles, in tiles, and how often it was rescaled."""
        largest, total, rescalings = None, 0, 0
        for row, here in zip(tiles, taken):
            used = Counter(q for q, takes_part in zip(row, here) if takes_part)
            if not used:
                continue
            if total and max(used) > largest:
                total = (total * self.exp[max(used) - largest] + 2**(self.fraction - 1)) >> self.fraction
                rescalings += 1
            largest = max(used) if largest is None else max(largest, max(used))
            total = signed64(total + self.total(used, largest))
        return [self.places_of(row, here, largest, total) for row, here in zip(tiles, taken)], rescalings

    def weigh(self, row, taken, values, zero_point, bits):
        """Weighted sums of values, a list of channels for each place."""
        used = Counter(q for q, here in zip(row, taken) if here)
        if not used:
            return [0] * len(values[0])
        largest = max(used)
        total = self.total(used, largest)
        r, k = self.reciprocal(total)
        cut = max(0, total.bit_length() + bits - 31)
        outputs = []
        for channel in zip(*values):
            weighted = sum(self.exp[largest - q] * (v - zero_point) for q, v, here in zip(row, channel, taken) if here)
            assert abs(weighted) < 2**62
            weighted = shr(weighted, cut) if cut else weighted
            outputs.append(shr(signed64(weighted * r), k - cut - (30 - bits)))
        return outputs


class Weigh(Softmax):
    """Weighted sums as codes."""

    def __init__(self, json):
        super().__init__(json)
        self.v, self.multiplier, self.n = json["in_b"], json["multiplier"], json["shift"]

    def run_values(self, rows, values, mask=None):
        """Codes of each row and channel; values has a list of channels for each place, which all rows share."""
        outputs = []
        for r, row in enumerate(rows):
            assert len(row) <= self.places, "a row is too long"
            taken = [True] * len(row) if mask is None else [bool(m) for m in mask[r]]
            sums = self.weigh([int(q) for q in row], taken, values, self.v["zero_point"], self.v["bits"])
            assert all(abs(o) <= 2**30 for o in sums)
            outputs.append([self.clip(self.y["zero_point"] + shr(signed64(self.multiplier * o), self.n)) for o in sums])
        return outputs


class Norm(Operator):
    """LayerNorm, RMSNorm and the L2 norm."""

    def __init__(self, json):
        super().__init__(json)
        self.fraction, self.f, self.g, self.drop, self.e0, self.gamma = (json[name] for name in (
            "fraction", "variance_shift", "gamma_shift", "drop", "eps_code", "gamma_codes"))
        self.beta = json.get("beta_codes", [0] * self.places)
        middle = 0 if self.x["signed"] else 2**(self.x["bits"] - 1)
        self.origin = middle if self.kind == "layernorm" else self.x["zero_point"]
        assert len(self.gamma) == len(self.beta) == self.places and self.f % 2 == 0

    def rsqrt(self, v):
        """(R, k) with 1/sqrt(V) ~ R 2^-k."""
        up = 32 - v.bit_length()
        up -= up % 2
        m = shift(v, up)
        r = self.core[(m >> 16) - 16384]
        err = signed64(2**46 - (signed64(r * r * ((m + 1) >> 1)) >> 15))
        return signed64(signed64(r << 15) + (signed64(r * (err >> 15)) >> 17)), 46 - up // 2

    def row(self, row, _):
        n, zero_point = self.places, self.y["zero_point"]
        assert len(row) == n, f"a row of {len(row)} places, not {n}"
        u = [q - self.origin for q in row]
        a = signed64(sum(u)) if self.kind == "layernorm" else 0
        squares = signed64(sum(each * each for each in u))
        v = signed64(signed64(signed64(signed64(n * squares) - signed64(a * a)) << self.f) + self.e0)
        if v == self.e0:
            t = [0] * n
        else:
            r, k = self.rsqrt(v)
            r >>= self.drop
            by = k - self.drop - self.fraction - self.f // 2
            normal = {each: shr(signed64((n * each - a) * r), by) for each in set(u)}
            t = [normal[each] for each in u]
        return [self.clip(zero_point + shr(signed64(signed64(each * gamma) + beta), self.g + self.fraction))
                for each, gamma, beta in zip(t, self.gamma, self.beta)]


def real(scale):
    """A scale, "2^-n" or a decimal, as it is."""
    return Fraction(2)**int(scale[2:]) if scale.startswith("2^") else Fraction(scale)


def load(json):
    """An operator of its file's fields."""
    return {"softmax": Softmax, "logsoftmax": Softmax, "weigh": Weigh}.get(json["operator"], Norm)(json)
