# SPDX-License-Identifier: Apache-2.0
"""bench_operators.py MACHINE RESULTS PICTURE: row operators beside what users would take instead, in one process,
one core.

Errors first: all see the same rows, structured and drawn, and are held against the real function in double; in units of
an output code (LSB), the real value clipped. Then times: works of a row take turns, least nanoseconds of processor time
an element. Prints the tables of runtime/RESULTS.md and writes RESULTS, a line of JSON for each number, and PICTURE, the
worst errors over the length of a row.

Rules from papers stand here as their texts give them, with an exact division in the end, which is kind to them:
I-BERT's softmax and LayerNorm (Kim and others, 2021), and an exponential of 32 bytes as IntAttention has it (Zhong and
others, 2025)."""
import importlib.metadata
import json
import sys
import time

import numpy as np
import torch

import pwl
from peers import litert, onnx_runtime, softmax_options

_, machine, results, picture = sys.argv
LENGTHS = [16, 128, 1024, 4096]
REPETITIONS = 25
LEAST = 1 << 18  # elements that one time is taken over
PARTS = 112
random = np.random.default_rng(1)
torch.set_num_threads(1)


def rows_of(length, kind):
    """Rows of each shape that a softmax or a norm may find hard; codes of a signed type."""
    limits = np.iinfo(kind)
    top, part, rows = limits.max, np.linspace(0, limits.max - limits.min, PARTS).astype(np.int64), []
    places = np.arange(length)
    for gap in part:
        rows += [np.where(places == 0, top, top - gap), np.where(places < (length + 1) // 2, top, top - gap),
                 np.where(places % 16 == 0, top, top - gap), random.integers(top - gap, top + 1, length),
                 random.normal(0, gap / 8 + 0.5, length)]
    return np.clip(np.rint(rows), limits.min, limits.max).astype(kind)


def softmax(x, scale):
    e = np.exp((x.astype(np.float64) - x.max(1, keepdims=True).astype(np.float64)) * scale)
    return e / e.sum(1, keepdims=True)


def softmax_ibert(x, scale):
    """exp(p) by a square, p in (-ln 2, 0], of x's scale, and a shift by the multiples of ln 2, of 30 bits more."""
    a, b, c = 0.3585, 1.353, 0.344
    d = x.astype(np.int64) - x.max(1, keepdims=True)
    log2, q_b, q_c = int(np.floor(np.log(2) / scale)), int(np.floor(b / scale)), int(np.floor(c / (a * scale * scale)))
    z = -d // log2
    e = (((d + z * log2 + q_b) ** 2 + q_c) << 30) >> np.minimum(z, 62)
    return e / e.sum(1, keepdims=True)


def softmax_32(x, scale):
    """32 bytes of exp for distances of up to 6.6 from the largest, and 0 beyond."""
    reach = 6.6
    values = np.append(np.rint(255 * np.exp(-np.arange(32) * reach / 31)), 0)
    d = (x.max(1, keepdims=True).astype(np.float64) - x) * scale
    e = values[np.where(d > reach, 32, np.rint(d * 31 / reach)).astype(np.int64)]
    return e / e.sum(1, keepdims=True)


def layernorm(x, scale, eps=1e-5):
    x = x.astype(np.float64) * scale
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(1, keepdims=True) + eps)


def layernorm_ibert(x, scale):
    """A mean, a variance and a root that are rounded to integers."""
    x = x.astype(np.int64)
    centred = x - np.rint(x.mean(1, keepdims=True)).astype(np.int64)
    root = np.floor(np.sqrt((centred ** 2).sum(1, keepdims=True))).astype(np.int64)
    return centred * ((1 << 31) // np.maximum(root, 1)) / 2.0 ** 31 * np.sqrt(x.shape[1])


def codes(real, out):
    """The nearest codes of real values; out: a Type."""
    limits = np.iinfo(out.dtype)
    return np.clip(np.rint(real / out.scale + out.zero_point), limits.min, limits.max)


def errors(y, exact, out):
    limits = np.iinfo(out.dtype)
    return y.astype(np.float64) - np.clip(exact / out.scale + out.zero_point, limits.min, limits.max)


def finished(work):
    run, result = work
    run()
    return np.array(result())  # the memory is the model's


class Table:
    """Rows, printed and kept."""

    def __init__(self, lines, heads):
        self.lines, self.heads = lines, heads
        print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))

    def row(self, *values):
        print("| " + " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in values) + " |", flush=True)
        print(json.dumps({"bench": "operators", "machine": machine, **dict(zip(self.heads, values))}), file=self.lines)


def softmax_errors(table, kind, out, scale):
    """The worst error by name, at each of LENGTHS. LiteRT's and ONNX Runtime's operators are those that a quantised model
    of theirs runs."""
    worst = {}
    for length in LENGTHS:
        x = rows_of(length, f"int{kind[1:]}")
        exact = softmax(x, scale)
        op = pwl.softmax(f"{kind}:{scale}", out, rows=length)
        of = op.output
        answers = {"pwl": op(x),
                   "LiteRT": finished(litert("SOFTMAX", x, (scale, 0), (of.scale, of.zero_point), softmax_options()))}
        if kind == "s8":
            constants = [("x_scale", np.float32(scale)), ("x_zero", np.int8(0)), ("y_scale", np.float32(of.scale)),
                         ("y_zero", np.int8(of.zero_point))]
            answers["ONNX Runtime"] = finished(onnx_runtime("QLinearSoftmax", x, constants, [("axis", 1), ("opset", 13)],
                                                            "com.microsoft"))
            answers["I-BERT's rule"] = codes(softmax_ibert(x, scale), of)
            answers["exp of 32 bytes"] = codes(softmax_32(x, scale), of)
        for name, y in answers.items():
            error = errors(y, exact, of)
            worst.setdefault(name, []).append(float(np.abs(error).max()))
            table.row(f"softmax {kind} to {out}, scale {scale:.6g}", length, name, worst[name][-1],
                      float(np.sqrt((error ** 2).mean())), op.certificate.bound_lsb if name == "pwl" else "none")
    return worst


def norm_errors(table, kind, scale, out):
    for length in LENGTHS[1:]:
        x = rows_of(length, f"int{kind[1:]}")
        exact = layernorm(x, scale)
        op = pwl.layernorm(f"{kind}:{scale}", out, np.ones(length), np.zeros(length), 1e-5)
        real = (x * np.float32(scale)).astype(np.float32)
        ones = [("scale", np.ones(length, np.float32)), ("bias", np.zeros(length, np.float32))]
        answers = {"pwl": op(x), "ONNX Runtime, float": codes(finished(onnx_runtime("LayerNormalization", real, ones)),
                                                              op.output),
                   "I-BERT's rule": codes(layernorm_ibert(x, scale), op.output)}
        for name, y in answers.items():
            error = errors(y, exact, op.output)
            table.row(f"LayerNorm {kind} to {out}, scale {scale:.6g}", length, name, float(np.abs(error).max()),
                      float(np.sqrt((error ** 2).mean())), op.certificate.bound_lsb if name == "pwl" else "none")


COLOURS = {"pwl": "#0b6e4f", "LiteRT": "#c8553d", "ONNX Runtime": "#8d6a9f", "I-BERT's rule": "#3c6997",
           "exp of 32 bytes": "#b8860b"}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 340, 260, 56, 40, 34
DECADES = (-1, 4)  # of LSB


def place(length, worst):
    """Where a point of a panel lies; both axes are logarithmic."""
    x = LEFT + (WIDTH - LEFT - 20) * (np.log2(length / LENGTHS[0]) / np.log2(LENGTHS[-1] / LENGTHS[0]))
    y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (np.log10(worst) - DECADES[0]) / (DECADES[1] - DECADES[0])
    return f"{x:.1f}", f"{y:.1f}"


def panel(title, worst):
    """One diagram: a line for each name of `worst`, and a point at each of LENGTHS."""
    shapes = [f'<text x="{LEFT}" y="18" font-weight="bold">{title}</text>']
    for decade in range(DECADES[0], DECADES[1] + 1):
        y = place(LENGTHS[0], 10.0 ** decade)[1]
        shapes.append(f'<path d="M{LEFT} {y}H{WIDTH - 20}" stroke="#ccc"/>')
        shapes.append(f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{10.0 ** decade:g}</text>')
    for length in LENGTHS:
        shapes.append(f'<text x="{place(length, 1)[0]}" y="{HEIGHT - 22}" text-anchor="middle">{length}</text>')
    for name, values in reversed(worst.items()):  # the first lies on top
        points = [place(length, value) for length, value in zip(LENGTHS, values)]
        line = " ".join(",".join(point) for point in points)
        shapes.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        shapes += [f'<circle cx="{x}" cy="{y}" r="3" fill="{COLOURS[name]}"/>' for x, y in points]
    return shapes


def draw(panels):
    """The worst errors over the length of a row, a panel for each case, as SVG."""
    width, names = WIDTH * len(panels), [name for name in COLOURS if any(name in worst for worst in panels.values())]
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 24}" font-family="sans-serif" '
             'font-size="11">', "<!-- SPDX-License-Identifier: Apache-2.0 -->", f'<rect width="{width}" height="{HEIGHT + 24}" fill="#fff"/>']
    for k, (title, worst) in enumerate(panels.items()):
        lines += [f'<g transform="translate({k * WIDTH} 0)">', *panel(title, worst), "</g>"]
    lines.append(f'<text x="{width / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">places of a row; worst error in LSB</text>')
    for k, name in enumerate(names):
        x = LEFT + k * 150
        lines.append(f'<circle cx="{x}" cy="{HEIGHT + 11}" r="4" fill="{COLOURS[name]}"/>')
        lines.append(f'<text x="{x + 9}" y="{HEIGHT + 15}">{name.replace(chr(39), "&#39;")}</text>')
    with open(picture, "w") as file:
        file.write("\n".join(lines) + "\n</svg>\n")


def measure(works, count):
    rounds, times = max(1, LEAST // count), {name: [] for name in works}
    for _ in range(REPETITIONS):
        for name, run in works.items():
            begin = time.process_time_ns()
            for _ in range(rounds):
                run()
            times[name].append((time.process_time_ns() - begin) / (rounds * count))
    return {name: min(taken) for name, taken in times.items()}


def softmax_times(table):
    for length in LENGTHS[1:]:
        x = np.clip(np.rint(random.normal(0, 32, (64, length))), -128, 127).astype(np.int8)
        op, scale, y = pwl.softmax("s8:0.0472", "s8:2^-8:-128", rows=length), 0.0472, np.empty_like(x)
        real = (x * np.float32(scale)).astype(np.float32)
        of_torch = torch.from_numpy(real)
        constants = [("x_scale", np.float32(scale)), ("x_zero", np.int8(0)), ("y_scale", np.float32(2 ** -8)),
                     ("y_zero", np.int8(-128))]
        works = {"pwl s8": lambda: op(x, out=y),
                 "LiteRT s8": litert("SOFTMAX", x, (scale, 0), (2 ** -8, -128), softmax_options())[0],
                 "ONNX Runtime s8": onnx_runtime("QLinearSoftmax", x, constants, [("axis", 1), ("opset", 13)],
                                                 "com.microsoft")[0],
                 "LiteRT float (XNNPACK)": litert("SOFTMAX", real, None, None, softmax_options())[0],
                 "ONNX Runtime float": onnx_runtime("Softmax", real, attributes=[("axis", 1)])[0],
                 "PyTorch float": lambda: torch.softmax(of_torch, 1)}
        for name, ns in measure(works, x.size).items():
            table.row("softmax", length, name, ns)


def norm_times(table):
    for length in LENGTHS[1:]:
        x = np.rint(random.normal(0, 8000, (64, length))).clip(-32768, 32767).astype(np.int16)
        op = pwl.layernorm("s16:2^-10", "s16:2^-12", np.ones(length), np.zeros(length), 1e-5)
        y, real = np.empty_like(x), (x * np.float32(2 ** -10)).astype(np.float32)
        ones = [("scale", np.ones(length, np.float32)), ("bias", np.zeros(length, np.float32))]
        of_torch, weight, bias = torch.from_numpy(real), torch.ones(length), torch.zeros(length)
        works = {"pwl s16": lambda: op(x, out=y),
                 "ONNX Runtime float": onnx_runtime("LayerNormalization", real, ones)[0],
                 "PyTorch float": lambda: torch.nn.functional.layer_norm(of_torch, (length,), weight, bias)}
        for name, ns in measure(works, x.size).items():
            table.row("LayerNorm", length, name, ns)


def main():
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in
                         ("ai-edge-litert", "onnxruntime", "torch", "numpy"))
    print(f"{machine}, one core; {versions}; least of {REPETITIONS}")
    with open(results, "w") as lines, torch.no_grad():
        table = Table(lines, ["operator", "places", "by", "worst, LSB", "RMS, LSB", "proven, LSB"])
        panels = {f"softmax, s8, scale {scale}": softmax_errors(table, "s8", "s8:2^-8:-128", scale)
                  for scale in (0.0472, 0.3)}
        panels["softmax, s16, 2^-15 out"] = softmax_errors(table, "s16", "s16:2^-15", 10 / 32768)
        draw(panels)
        norm_errors(table, "s8", 2 ** -4, "s8:2^-4")
        norm_errors(table, "s16", 2 ** -10, "s16:2^-12")
        table = Table(lines, ["operator", "places", "by", "ns"])
        softmax_times(table)
        norm_times(table)


if __name__ == "__main__":
    main()
