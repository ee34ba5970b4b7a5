# SPDX-License-Identifier: GPL-3.0-or-later
"""Row operators in numpy, written from docs/operators.md and docs/meaning.md alone. Integers: numpy's int64 where the
page says that nothing leaves it, which is asserted, and Python's own for what a row shares."""
import numpy as np

LIMIT = 1 << 63


def inside(value):
    assert -LIMIT <= value < LIMIT, value
    return value


def shr(p, n):
    """floor((p + 2^(n-1)) / 2^n); 0 beyond 62."""
    assert n >= 1
    if n > 62:
        return p * 0
    if isinstance(p, np.ndarray):
        inside(int(p.max(initial=0)) + (1 << n - 1))
        return (p + np.int64(1 << n - 1)) >> np.int64(n)
    return inside(inside(p) + (1 << n - 1)) >> n


class Core:
    """A table of absolute form: q_y = sat((q_b (q_x - zp_x) >> n) + term_c), of the last segment that starts by q_x."""

    def __init__(self, table):
        assert table["form"] == "absolute" and table["rounding"] == "floor"
        self.zero, self.low, self.high = table["in"]["zero_point"], table["out"]["qmin"], table["out"]["qmax"]
        self.segments = table["segments"]

    def __call__(self, code):
        s = [s for s in self.segments if s["start"] <= code][-1]
        product, n = s["q_b"] * (code - self.zero), s["n_BX_total"]
        value = (product >> n if n >= 0 else product << -n) + s["term_c"]
        return min(max(value, self.low), self.high)


def reciprocal(core, S):
    assert 1 <= S < 1 << 62
    up = 32 - S.bit_length()
    M = S << up if up >= 0 else S >> -up
    assert 1 << 31 <= M < 1 << 32
    r = core((M >> 16) - 32768)
    err = (1 << 47) - inside(M * r)
    return (r << 15) + (inside(r * (err >> 15)) >> 17), 62 - up, M


def rsqrt(core, V):
    assert 1 <= V < LIMIT
    up = 32 - V.bit_length()
    if up % 2:
        up -= 1
    M = V << up if up >= 0 else V >> -up
    assert 1 << 30 <= M < 1 << 32
    r = core((M >> 16) - 16384)
    err = (1 << 46) - (inside(r * r * ((M + 1) >> 1)) >> 15)
    return (r << 15) + (inside(r * (err >> 15)) >> 17), 46 - up // 2


class Softmax:
    def __init__(self, op):
        self.F, self.core = op["fraction"], Core(op["core"])
        self.zero, self.low, self.high = op["out"]["zero_point"], op["out"]["qmin"], op["out"]["qmax"]
        self.is_log, self.op = op["operator"] == "logsoftmax", op
        self.bits = op["in"]["bits"]
        if not self.is_log:
            self.b = -int(op["out"]["scale"].removeprefix("2^"))

    def E(self, d):
        if self.bits == 8:
            return np.array(self.op["exp"], np.int64)[d]
        products = np.array(self.op["exp_high"], np.uint64)[d >> 8] * np.array(self.op["exp"], np.uint64)[d & 255]
        shifts = np.array(self.op["exp_shift"], np.uint64)[d >> 8]
        kept = np.minimum(shifts, np.uint64(62))
        values = (products + (np.uint64(1) << (kept - np.uint64(1)))) >> kept
        return np.where(shifts > 62, np.uint64(0), values).astype(np.int64)

    def log(self, S, M):
        j = (M >> 24) - 128
        z = (inside(M * self.op["log_factor"][j]) >> 17) - (1 << 30)
        return self.op["log_value"][j] + z - ((z * z) >> 31) + (S.bit_length() - 1 - self.F) * 744261118

    def clip(self, v):
        return np.clip(v, self.low, self.high)

    def masked(self):
        return self.low if self.is_log else int(self.clip(self.zero))

    def __call__(self, q, mask=None):
        q = np.asarray(q, np.int64)
        kept = np.ones(q.shape, bool) if mask is None else np.asarray(mask) != 0
        if not kept.any():
            return np.full(q.shape, self.masked(), np.int64)
        d = np.where(kept, q[kept].max() - q, 0)
        E = np.where(kept, self.E(d), 0)
        S = int(E.sum())
        R, k, M = reciprocal(self.core, S)
        if self.is_log:
            op, L = self.op, self.log(S, M)
            y = shr(-(d * np.int64(op["step"])) - shr(L * op["log_unit"], op["log_shift"]), op["step_shift"])
        else:
            y = shr(E * np.int64(R), k - self.b)
        return np.where(kept, self.clip(self.zero + y), self.masked())


class Norm:
    def __init__(self, op):
        self.n, self.core = op["rows"], Core(op["core"])
        self.f, self.E0, self.g, self.T = op["variance_shift"], op["eps_code"], op["gamma_shift"], op["fraction"]
        self.drop, self.is_layer = op["drop"], op["operator"] == "layernorm"
        self.G = np.array(op["gamma_codes"], np.int64)
        self.B = np.array(op.get("beta_codes", [0] * self.n), np.int64)
        x, y = op["in"], op["out"]
        self.o = (0 if x["signed"] else 1 << x["bits"] - 1) if self.is_layer else x["zero_point"]
        self.zero, self.low, self.high = y["zero_point"], y["qmin"], y["qmax"]

    def __call__(self, q):
        u = np.asarray(q, np.int64) - self.o
        A = int(u.sum()) if self.is_layer else 0
        Q = int((u * u).sum())
        V = ((self.n * Q - A * A) << self.f) + self.E0
        t = np.zeros(u.shape, np.int64)
        if V != self.E0:
            R, k = rsqrt(self.core, V)
            t = shr((self.n * u - A) * np.int64(R >> self.drop), k - self.drop - self.T - self.f // 2)
        return np.clip(self.zero + shr(t * self.G + self.B, self.g + self.T), self.low, self.high)


def operator(op):
    return (Softmax if op["operator"] in ("softmax", "logsoftmax") else Norm)(op)


def splitmix(state):
    """The draws of tests/support/random.h: state is a list of one."""
    mask = (1 << 64) - 1
    z = state[0] = (state[0] + 0x9E3779B97F4A7C15) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


SHAPES = 6


def row(shape, part, length, low, top, state):
    """A structured (shape 0 to 3) or drawn row; the C programs of tests/platform/ make the same. Codes from low to
    low + top; part of them are what the shape is about."""
    if shape == 0:  # one against many
        v = [top if k == length // 2 else top - part for k in range(length)]
    elif shape == 1:  # two values
        v = [top if 2 * k < length else top - part for k in range(length)]
    elif shape == 2:  # all alike
        v = [top - part] * length
    elif shape == 3:  # ends
        v = [top if k & 1 else 0 for k in range(length)]
    elif shape == 4:  # drawn from the upper codes
        v = [top - splitmix(state) % (part + 1) for k in range(length)]
    else:  # drawn from all
        v = [splitmix(state) % (top + 1) for k in range(length)]
    return np.array([low + x for x in v], np.int64)
