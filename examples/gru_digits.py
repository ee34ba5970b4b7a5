#!/usr/bin/python3
# SPDX-License-Identifier: 0BSD
"""gru_digits.py: trains gated recurrent units (GRU) on scikit-learn's handwritten digits in float, and runs them by integers
alone: INT8 weights, inputs and products' states, gates by tables of 16 or of 8 bits. Needs numpy and scikit-learn.

An image is a sequence of its 8 rows. A step is, with rows of r, z and n in W_x, W_h and b,

    r, z = sigmoid(x W_x + h W_h + b)       n = tanh(x W_x + b + r * (h W_h))       h = n + z * (h - n)

Every scale is a power of two, so that shifts bring numbers from one to the next: pixels 2^-4, which they have by nature,
weights 2^-n_w, a column each its own, h 2^-15, and 2^-7 in the product.
"""
import numpy as np
from sklearn.datasets import load_digits

import pwl

UNITS, CLASSES, PIXELS = 32, 10, 8
EPOCHS, BATCH, RATE = 40, 64, 0.004
N_X, N_H, N_H8 = 4, 15, 7
# bits of the gates, n of the scale 2^-n of sigmoid's input, of tanh's, and of both outputs; flags of fit
GATES = {"16 bits, 16 segments": (16, 12, 13, 15, {"segments": 16}),
         "16 bits, within 1 LSB": (16, 12, 13, 15, {"max_err": 1.0}),
         "8 bits, 8 segments": (8, 4, 5, 7, {"segments": 8}),
         "8 bits, 4 segments": (8, 4, 5, 7, {"segments": 4})}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def forward(weights, images):
    """The classes' scores, and what each step has had."""
    h, steps = np.zeros((len(images), UNITS)), []
    for t in range(images.shape[1]):
        x = images[:, t]
        v, u = x @ weights["x"] + weights["b"], h @ weights["h"]
        r, z = np.split(sigmoid(v[:, :2 * UNITS] + u[:, :2 * UNITS]), 2, axis=1)
        n = np.tanh(v[:, 2 * UNITS:] + r * u[:, 2 * UNITS:])
        steps.append((x, h, r, z, n, u[:, 2 * UNITS:]))
        h = n + z * (h - n)
    return h @ weights["out"] + weights["c"], h, steps


def gradients(weights, images, labels):
    """Of the mean cross entropy, by going back through the steps."""
    scores, h, steps = forward(weights, images)
    share = np.exp(scores - scores.max(1, keepdims=True))
    d_scores = (share / share.sum(1, keepdims=True) - np.eye(CLASSES)[labels]) / len(labels)
    of = {name: np.zeros_like(weight) for name, weight in weights.items()}
    of["out"], of["c"] = h.T @ d_scores, d_scores.sum(0)
    d_h = d_scores @ weights["out"].T
    for x, before, r, z, n, u_n in reversed(steps):
        d_n = d_h * (1 - z) * (1 - n * n)
        d_z = d_h * (before - n) * z * (1 - z)
        d_r = d_n * u_n * r * (1 - r)
        d_v, d_u = np.hstack([d_r, d_z, d_n]), np.hstack([d_r, d_z, d_n * r])
        of["x"] += x.T @ d_v
        of["b"] += d_v.sum(0)
        of["h"] += before.T @ d_u
        d_h = d_h * z + d_u @ weights["h"].T
    return of


def train(images, labels, random):
    """Weights by Adam."""
    shapes = {"x": (PIXELS, 3 * UNITS), "h": (UNITS, 3 * UNITS), "b": (3 * UNITS,), "out": (UNITS, CLASSES), "c": (CLASSES,)}
    weights = {name: random.normal(size=shape) / np.sqrt(shape[0]) * (len(shape) == 2) for name, shape in shapes.items()}
    mean, square = ({name: np.zeros_like(weight) for name, weight in weights.items()} for _ in range(2))
    count = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for rows in np.array_split(order, len(order) // BATCH):
            count += 1
            for name, gradient in gradients(weights, images[rows], labels[rows]).items():
                mean[name] += 0.1 * (gradient - mean[name])
                square[name] += 0.001 * (gradient ** 2 - square[name])
                weights[name] -= (RATE * mean[name] / (1 - 0.9 ** count)
                                  / (np.sqrt(square[name] / (1 - 0.999 ** count)) + 1e-8))
    return weights


def quantised(weight):
    """Codes of 8 bits, and n of each column's scale 2^-n."""
    n = np.floor(np.log2(127 / np.abs(weight).max(0))).astype(np.int64)
    return np.rint(weight * 2.0 ** n).astype(np.int64), n


def shifted(v, n):
    """v * 2^-n, half up; n is one number, or one for each column."""
    n = np.broadcast_to(n, v.shape)
    right = np.maximum(n, 1)
    return np.where(n > 0, (v + (1 << (right - 1))) >> right, v << np.maximum(-n, 0))


class IntegerGru:
    """The network with tables for gates; classes() has no float."""

    def __init__(self, weights, bits, n_sigmoid, n_tanh, n_gate, flags):
        self.sigmoid = pwl.fit("sigmoid", input=f"s{bits}:2^-{n_sigmoid}", output=f"s{bits}:2^-{n_gate}", **flags)
        self.tanh = pwl.fit("tanh", input=f"s{bits}:2^-{n_tanh}", output=f"s{bits}:2^-{n_gate}", **flags)
        self.n_gate = n_gate
        (self.x, n_x), (self.h, n_h) = quantised(weights["x"]), quantised(weights["h"])
        n_in = np.repeat([n_sigmoid, n_sigmoid, n_tanh], UNITS)
        self.bias = np.rint(weights["b"] * 2.0 ** (n_x + N_X)).astype(np.int64)
        self.shift_x, self.shift_h = n_x + N_X - n_in, n_h + N_H8 - n_in
        self.out = np.rint(weights["out"] * 127 / np.abs(weights["out"]).max()).astype(np.int64)
        self.c = np.rint(weights["c"] * 127 / np.abs(weights["out"]).max() * 2 ** N_H8).astype(np.int64)

    def state8(self, h):
        return np.clip(shifted(h, N_H - N_H8), -128, 127)

    def classes(self, pixels):
        h = np.zeros((len(pixels), UNITS), np.int64)
        for t in range(pixels.shape[1]):
            v = shifted(pixels[:, t] @ self.x + self.bias, self.shift_x)
            u = shifted(self.state8(h) @ self.h, self.shift_h)
            r, z = (self.sigmoid(v[:, k:k + UNITS] + u[:, k:k + UNITS]).astype(np.int64) for k in (0, UNITS))
            n = self.tanh(v[:, 2 * UNITS:] + shifted(r * u[:, 2 * UNITS:], self.n_gate)).astype(np.int64)
            n = n << (N_H - self.n_gate)
            h = np.clip(n + shifted(z * (h - n), self.n_gate), -2 ** 15, 2 ** 15 - 1)
        return (self.state8(h) @ self.out + self.c).argmax(1)


def main():
    digits = load_digits()
    pixels, labels = digits.images.astype(np.int64), digits.target
    random = np.random.default_rng(1)
    order = random.permutation(len(labels))
    learnt, asked = order[:len(order) * 2 // 3], order[len(order) * 2 // 3:]
    weights = train(pixels[learnt] / 2 ** N_X, labels[learnt], random)
    exact = forward(weights, pixels[asked] / 2 ** N_X)[0].argmax(1)
    print(f"{len(learnt)} images train, {len(asked)} are asked\n")
    print("| gates | segments | right | same class as float |")
    print("|---|--:|--:|--:|")
    print(f"| float | | {np.mean(exact == labels[asked]):.2%} | |")
    for name, gates in GATES.items():
        network = IntegerGru(weights, *gates)
        got = network.classes(pixels[asked])
        print(f"| {name} | {len(network.sigmoid.segments)}, {len(network.tanh.segments)} "
              f"| {np.mean(got == labels[asked]):.2%} | {np.mean(got == exact):.2%} |")


if __name__ == "__main__":
    main()
