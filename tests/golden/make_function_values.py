#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes function_values.h: values and derivatives of the built-in functions from mpmath (pip install mpmath).

    python3 make_function_values.py > function_values.h

Functions are written plainly and evaluated to thousands of digits, so that neither tails nor cancellation matter;
derivatives are numerical, from the function alone, so that nothing here repeats the formulas under test. Arguments are
exact doubles. Results below 1e-4950, which a long double holds as 0, are written as 0. It runs for some minutes.
"""
from mpmath import mp, mpf, atan, cos, erf, erfc, exp, log, nstr, pi, sin, sqrt, tanh

ALPHA_LEAKY = mpf(0.01)  # the double, as the parameter is one
mp.dps = 60
SELU_SCALE = mpf("1.0507009873554804934193349852946")
SELU_ALPHA = mpf("1.6732632423543772848170429916717")
CUBIC = mpf("0.044715")
QUICK = mpf("1.702")

WIDE = [0, 1e-30, 1e-5, 0.1, 0.5, 1, 1.7, 2.75, 4.5, 9.9, 20, 37.5, 98.7, 1e5]
BOTH = sorted({-x for x in WIDE} | set(WIDE))
FAR = [-11300.5, -700.3, 700.3, 11300.5]
POSITIVE = [1e-300, 1e-30, 1e-9, 2.0**-20, 0.001, 0.1, 0.4, 0.75, 0.9999, 1.0001, 1.5, 2, 3.3, 7, 64, 1000.7, 65535.5,
            1e5, 1e9, 1e20, 1e38, 1e300]
KINKS = [-1e5, -7, -6, -3.5, -3, -2.9999, -2.5, -1, -0.5, -1e-9, 0, 1e-9, 0.5, 1, 2.75, 2.9999, 3, 3.5, 5.75, 6, 6.5,
         1e5]


def piecewise(*branches):
    """branches: (lower end, function), ascending; the one that holds at x and just right of it is differentiated."""
    def pick(x):
        return [f for low, f in branches if low is None or x >= low][-1]
    return pick


def smooth(f):
    return lambda x: f


def gate(x):
    return 1 / (1 + exp(-x))


FUNCTIONS = [
    ("sigmoid", smooth(gate), BOTH + FAR),
    ("tanh", smooth(tanh), BOTH + [-5600.5, 5600.5]),
    ("gelu", smooth(lambda x: x * erfc(-x / sqrt(2)) / 2), BOTH + [-140.7, -30.1, 140.7]),
    ("gelu_tanh", smooth(lambda x: x * (1 + tanh(sqrt(2 / pi) * (x + CUBIC * x**3))) / 2), BOTH + [-52.3, -30.1, 52.3]),
    ("quick_gelu", smooth(lambda x: x * gate(QUICK * x)), BOTH + [-6600.5, -415.3, 415.3, 6600.5]),
    ("silu", smooth(lambda x: x * gate(x)), BOTH + FAR),
    ("softplus", smooth(lambda x: log(1 + exp(x))), BOTH + FAR),
    ("mish", smooth(lambda x: x * tanh(log(1 + exp(x)))), BOTH + FAR),
    ("elu", piecewise((None, lambda x: exp(x) - 1), (0, lambda x: x)), BOTH + FAR),
    ("selu", piecewise((None, lambda x: SELU_SCALE * SELU_ALPHA * (exp(x) - 1)), (0, lambda x: SELU_SCALE * x)),
     BOTH + FAR),
    ("exp", smooth(exp), [x for x in BOTH if x != 1e5] + FAR),
    ("erf", smooth(erf), BOTH),
    ("log", smooth(log), POSITIVE),
    ("sqrt", smooth(sqrt), POSITIVE),
    ("rsqrt", smooth(lambda x: 1 / sqrt(x)), POSITIVE),
    ("reciprocal", smooth(lambda x: 1 / x), [-1e300, -1e20, -1000.7, -3.3, -1, -0.1, -1e-9, -1e-300] + POSITIVE),
    ("sin", smooth(sin), BOTH + [1e9, 1e20, 1e38, -1e300]),
    ("cos", smooth(cos), BOTH + [1e9, 1e20, 1e38, -1e300]),
    ("atan", smooth(atan), BOTH + [1e9, 1e20, 1e38, -1e300]),
    ("softsign", piecewise((None, lambda x: x / (1 - x)), (0, lambda x: x / (1 + x))), BOTH + [1e9, 1e38, -1e300]),
    ("logsigmoid", smooth(lambda x: -log(1 + exp(-x))), BOTH + FAR),
    ("hard_sigmoid", piecewise((None, lambda x: mpf(0)), (-3, lambda x: x / 6 + mpf(1) / 2), (3, lambda x: mpf(1))),
     KINKS),
    ("hard_swish", piecewise((None, lambda x: mpf(0)), (-3, lambda x: x * (x + 3) / 6), (3, lambda x: x)), KINKS),
    ("relu", piecewise((None, lambda x: mpf(0)), (0, lambda x: x)), KINKS),
    ("relu6", piecewise((None, lambda x: mpf(0)), (0, lambda x: x), (6, lambda x: mpf(6))), KINKS),
    ("leaky_relu", piecewise((None, lambda x: ALPHA_LEAKY * x), (0, lambda x: x)), KINKS),
]

def literal(value, zero):
    return "0" if abs(value) < zero else nstr(value, 40, min_fixed=0, max_fixed=0) + "L"


def main():
    print("/* SPDX-License-Identifier: GPL-3.0-or-later */")
    print("/* Made by make_function_values.py. DO NOT EDIT. */")
    print("static const struct {")
    print("    const char *name;")
    print("    long double x, value, derivative, second_derivative;")
    print("} function_values[] = {")
    for name, pick, points in FUNCTIONS:
        for point in sorted(set(points)):
            # Differences over 1e-400 leave noise of 1e-800 times the working precision where the result is exactly 0;
            # no result up to |x| = 10 is below 1e-400.
            mp.dps, zero = (6000, mpf(10)**-4950) if abs(point) > 10 else (1400, mpf(10)**-500)
            x, h = mpf(point), mpf(10)**-400
            f = pick(x)
            left, middle, right = f(x - h), f(x), f(x + h)
            first, second = (right - left) / (2 * h), (right - 2 * middle + left) / h**2
            results = ", ".join(literal(v, zero) for v in (middle, first, second))
            print('    {"%s", %sL, %s},' % (name, float(point).hex(), results))
    print("};")


if __name__ == "__main__":
    main()
