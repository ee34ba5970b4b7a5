# SPDX-License-Identifier: Apache-2.0
"""bench_cpu_gemm.py WORK PROCESSOR RESULTS: products with quantised weights on one core beside those of others, which
take turns in one process: y = x W^T, N = K = 4096, by the CPU time of the thread. Prints the table of
kernels/RESULTS.md, and writes RESULTS, a line of JSON for each number."""
import ctypes
import json
import statistics
import sys
import time

import numpy as np

N = K = 4096
BLOCK = 32
ROWS = [1, 8, 64, 512]
MOST = max(ROWS)
COLD = 8        # copies of the weights that take turns, so that no cache holds the next
# Format, scheme of A8, bytes of a block, and where a super-block has its scales.
FORMATS = {"Q4_0": (0, 3, 18, []), "Q8_0": (1, 4, 34, []), "MXFP4": (2, 6, 17, []), "Q4_K": (7, 9, 144, [0, 2]),
           "Q5_K": (8, 10, 176, [0, 2]), "Q6_K": (9, 11, 210, [208])}
A16 = {"Q4_0": 0, "Q8_0": 1}  # schemes of fp32
work, processor, results = sys.argv[1:]

library = ctypes.CDLL(work + "/cpu_gemm.so")
library.cpu_gemm_new.restype = ctypes.c_void_p
library.cpu_gemm_new.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p] + [ctypes.c_size_t] * 3
library.cpu_gemm_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
library.cpu_gemm_free.argtypes = [ctypes.c_void_p]
library.cpu_gemm_way.restype = ctypes.c_char_p
library.cpu_gemm_blocks.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]

random = np.random.default_rng(1)
w = random.standard_normal((N, K), np.float32)
x = random.standard_normal((MOST, K), np.float32)
x8 = random.integers(-127, 128, (MOST, K), np.int8)


class Ours:
    """A product of the library, with weights that a cache may hold, or with copies in turn."""

    def __init__(self, way, scheme, format, of_x, of_y, copies=1, weights=w):
        self.x, self.y, self.turn = of_x, np.zeros((MOST, N), of_y), 0
        self.products = [library.cpu_gemm_new(way.encode(), scheme, format, weights.ctypes.data, N, K, MOST)
                         for _ in range(copies)]
        if not all(self.products):
            sys.exit("bench_cpu_gemm: no product")

    def __call__(self, m):
        self.turn = (self.turn + 1) % len(self.products)
        if library.cpu_gemm_run(self.products[self.turn], self.x.ctypes.data, m, self.y.ctypes.data):
            sys.exit("bench_cpu_gemm: a product failed")
        return self.y[:m]


def super_blocks_of(format):
    """Any codes, and scales that are finite."""
    _, _, size, places = FORMATS[format]
    blocks = random.integers(0, 256, (N * K // 256, size), np.uint8)
    for at in places:
        blocks[:, at:at + 2] = random.normal(0, 0.01, len(blocks)).astype(np.float16)[:, None].view(np.uint8)
    return blocks


SUPER = {format: super_blocks_of(format) for format, (_, _, _, places) in FORMATS.items() if places}


def blocks_of(format):
    number, _, size, _ = FORMATS[format]
    if format in SUPER:
        return SUPER[format]
    blocks = np.empty((N, K // BLOCK, size), np.uint8)
    if library.cpu_gemm_blocks(number, w.ctypes.data, N, K, blocks.ctypes.data):
        sys.exit("bench_cpu_gemm: no blocks")
    return blocks


def with_onnxruntime():
    """MatMulNBits of Q4_0's codes and scales, with activations of 8 bits (accuracy level 4)."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    blocks = blocks_of("Q4_0")
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32).reshape(-1)
    low, high = blocks[..., 2:] & 15, blocks[..., 2:] >> 4  # elements j and j + 16 of a block
    codes = np.concatenate([low, high], axis=-1)
    packed = codes[..., 0::2] | codes[..., 1::2] << 4
    node = helper.make_node("MatMulNBits", ["x", "w", "scales"], ["y"], domain="com.microsoft", K=K, N=N, bits=4,
                            block_size=BLOCK, accuracy_level=4)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", K])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", N])],
                              [numpy_helper.from_array(packed, "w"), numpy_helper.from_array(scales, "scales")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
                              ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return lambda m: session.run(None, {"x": x[:m]})[0]


def with_ggml(format):
    """mul_mat of blocks, in ggml's own arrangement of them where it has one for this processor."""
    import ggml
    number = getattr(ggml, "GGML_TYPE_" + format)
    library_of = ggml.__file__.replace("__init__.py", "lib/")
    # The package takes the addresses that these return for integers of 32 bits.
    functions = [getattr(ctypes.CDLL(library_of + file), name, None)
                 for file, name in (("libggml-cpu.so", "_Z35ggml_backend_cpu_repack_buffer_typev"),
                                    ("libggml-base.so", "ggml_backend_cpu_buffer_type"))]
    places = []
    for function in filter(None, functions):
        function.restype = ctypes.c_void_p
        places.append(function())
    for place in places:
        weights = ggml.ggml_init(ggml.ggml_init_params(mem_size=1 << 20, mem_buffer=None, no_alloc=True))
        of_w = ggml.ggml_new_tensor_2d(weights, number, K, N)
        if not ggml.ggml_backend_alloc_ctx_tensors_from_buft(weights, place):
            sys.exit("bench_cpu_gemm: ggml has no memory")
        if of_w.contents.extra or place == places[-1]:  # an arrangement of its own for this type, or the last place
            break
    blocks = blocks_of(format)
    ggml.ggml_backend_tensor_set(of_w, blocks.ctypes.data, 0, blocks.nbytes)
    graphs = {}
    for m in ROWS:
        context = ggml.ggml_init(ggml.ggml_init_params(mem_size=(64 << 20) + 8 * m * (N + K), mem_buffer=None,
                                                       no_alloc=False))
        of_x = ggml.ggml_new_tensor_2d(context, ggml.GGML_TYPE_F32, K, m)
        ctypes.memmove(ggml.ggml_get_data(of_x), x.ctypes.data, 4 * m * K)
        y = ggml.ggml_mul_mat(context, of_w, of_x)
        graph = ggml.ggml_new_graph(context)
        ggml.ggml_build_forward_expand(graph, y)
        graphs[m] = context, graph, y

    def run(m):
        context, graph, y = graphs[m]
        ggml.ggml_graph_compute_with_ctx(context, graph, 1)
        at = ctypes.cast(ggml.ggml_get_data(y), ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(at, (m, N))
    return run


def with_torch():
    """quantized::linear of int8 weights and activations to int8, by oneDNN or fbgemm, whichever torch takes."""
    import torch
    torch.set_num_threads(1)
    q_w = torch.quantize_per_tensor(torch.from_numpy(w), 0.04, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(q_w, None)
    q_x = {m: torch.quantize_per_tensor(torch.from_numpy(x[:m]), 0.04, 128, torch.quint8) for m in ROWS}
    return lambda m: torch.ops.quantized.linear(q_x[m], packed, 2.0, 128)


def with_onednn():
    """An inner product of int8 by int8 to int8, as bench_cpu_gemm.sh built it."""
    onednn = ctypes.CDLL(work + "/onednn_gemm.so")
    onednn.onednn_gemm_new.restype = ctypes.c_void_p
    onednn.onednn_gemm_new.argtypes = [ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_float]
    onednn.onednn_gemm_run.argtypes = [ctypes.c_void_p] * 3
    q_w, scale = np.clip(np.rint(w * 32), -127, 127).astype(np.int8), 2**-11
    products = {m: onednn.onednn_gemm_new(q_w.ctypes.data, m, N, K, scale) for m in ROWS}
    y = np.empty((MOST, N), np.int8)

    def run(m):
        if not products[m] or onednn.onednn_gemm_run(products[m], x8.ctypes.data, y.ctypes.data):
            sys.exit("bench_cpu_gemm: oneDNN failed")
        return y[:m]
    exact = x8[:8].astype(np.int32) @ q_w.T.astype(np.int32) * scale
    if np.abs(run(8) - np.clip(np.rint(exact), -128, 127)).max() > 1:
        sys.exit("bench_cpu_gemm: oneDNN multiplies something else")
    return run


def optional(make, *arguments):
    try:
        made = make(*arguments)
        made(1)
        return made
    except (ImportError, AttributeError, OSError, RuntimeError) as error:
        print(f"bench_cpu_gemm: left out: {make.__name__}: {error}", file=sys.stderr)
        return None


def measure(runs, m):
    """Medians and the 10th and 90th percentiles in ms, of what takes turns."""
    count = 41 if m == 1 else 15 if m <= 8 else 7 if m <= 64 else 3
    times = {name: [] for name in runs}
    for _ in range(count):
        for name, run in runs.items():
            run(m)  # others have had the cache
            run(m)
            start = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
            run(m)
            times[name].append((time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - start) * 1e-6)
    return {name: [statistics.median(taken), *np.percentile(taken, [10, 90])] for name, taken in times.items()}


def groups():
    """What is compared: a name, and what runs."""
    for format, (number, scheme, _, _) in FORMATS.items():
        of = SUPER.get(format, w)
        runs = {"pwl": Ours("", scheme, number, x, np.float32, weights=of),
                "pwl by AVX2": Ours("avx2", scheme, number, x, np.float32, weights=of)
                if library.cpu_gemm_way(b"avx2") else None,
                "ggml": optional(with_ggml, format),
                "ONNX Runtime": optional(with_onnxruntime) if format == "Q4_0" else None}
        yield f"{format} x A8", {name: run for name, run in runs.items() if run}
    for format, scheme in A16.items():
        runs = {"pwl": Ours("", scheme, FORMATS[format][0], x, np.float32),
                "pwl by AVX2": Ours("avx2", scheme, FORMATS[format][0], x, np.float32)
                if library.cpu_gemm_way(b"avx2") else None}
        yield f"{format} x fp32", {name: run for name, run in runs.items() if run}
    runs = {"pwl": Ours("", 5, 3, x8, np.int8), "torch": optional(with_torch), "oneDNN": optional(with_onednn)}
    yield "INT8 to s8", {name: run for name, run in runs.items() if run}
    yield "fp32", {"numpy": lambda m: x[:m] @ w.T}


def check(name, runs):
    """Peers multiply the same numbers: all within what 8 bits of activations come to."""
    if not name.endswith("A8"):
        return
    expected = np.array(runs["pwl"](8))
    for peer, run in runs.items():
        off = np.abs(np.array(run(8)) - expected).max() / np.abs(expected).max()
        if off > 0.02:
            sys.exit(f"bench_cpu_gemm: {name}: {peer} differs by {off}")


def main():
    way = library.cpu_gemm_way(b"").decode()
    print(f"{processor}, {way}; N = K = {N}, one core, ms\n")
    print("| product | by |" + "".join(f" M = {m} |" for m in ROWS))
    print("|---|---|" + "---:|" * len(ROWS))
    with open(results, "w", encoding="utf-8") as file:
        for name, runs in groups():
            check(name, runs)
            rows = {by: [] for by in runs}
            for m in ROWS:
                for by, (median, low, high) in measure(runs, m).items():
                    rows[by].append(median)
                    json.dump({"product": name, "by": by, "n": N, "k": K, "m": m, "ms": median, "p10": low, "p90": high,
                               "processor": processor, "way": way}, file)
                    file.write("\n")
            for by, medians in rows.items():
                print(f"| {name} | {by} |" + "".join(f" {median:.3g} |" for median in medians), flush=True)
        for format, (number, scheme, _, _) in FORMATS.items():
            cold = Ours("", scheme, number, x, np.float32, COLD, SUPER.get(format, w))
            median = measure({"cold": cold}, 1)["cold"][0]
            json.dump({"product": f"{format} x A8", "by": "pwl, cold", "n": N, "k": K, "m": 1, "ms": median,
                       "processor": processor, "way": way}, file)
            file.write("\n")
            print(f"| {format} x A8 | pwl, weights from memory | {median:.3g} |" + " |" * (len(ROWS) - 1), flush=True)


main()
