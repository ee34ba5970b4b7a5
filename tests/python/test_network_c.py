#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Networks run by libpwl, as the package, pwlc eval and emitted headers have it, against numpy: every code.
Files that are hostile, which both refuse. Nothing on the path is float. PWL_TEST_LONG=1 draws more of each.

usage: test_network_c.py PWLC SOURCE LIBPWL_A CC...
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import end, equal, np, remember_runs, test

import pwl
from pwl.network import load
from pwl.network.arrays import pack, unpack

import networks

PWLC, SOURCE, LIBRARY, COMPILER = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3], sys.argv[4:]
os.environ["PWLC"] = str(PWLC)
remember_runs()
LONG = os.environ.get("PWL_TEST_LONG") == "1"
rng = np.random.default_rng(51)
work = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(work.name)


def pwlc(*arguments):
    return subprocess.run([PWLC, *map(str, arguments)], capture_output=True, text=True)


def outputs_of(network, codes, by="numpy"):
    made = network(*codes, by=by)
    return made if isinstance(made, tuple) else (made,)


def evaluated(network, codes):
    network.save(FOLDER / "n.json")
    for k, x in enumerate(codes):
        np.save(FOLDER / f"x{k}.npy", x)
    result = pwlc("eval", FOLDER / "n.json", *(FOLDER / f"x{k}.npy" for k in range(len(codes))), "-o", FOLDER / "y.npy")
    assert result.returncode == 0, result.stderr
    count = len(network.outputs)
    return [np.load(FOLDER / ("y.npy" if count == 1 else f"y.{k}.npy")) for k in range(count)]


def check(network, what, sizes=None):
    codes = networks.inputs_of(network, rng, sizes)
    for by, found in (("pwlc", evaluated(network, codes)), ("package", outputs_of(network, codes, "libpwl"))):
        for name, wanted, got in zip(network.outputs, outputs_of(network, codes), found):
            assert wanted.dtype == got.dtype
            equal(got, wanted, f"{what}, {name} by the {by}")


@test("an encoder gives numpy's codes at any sizes, causal too, of 8 and of 16 bits")
def _():
    for of in ({}, {"causal": 1, "longest": 40, "heads": 3}, {"bits": 8, "width": 30, "heads": 5}):
        network = networks.encoder(**of)
        longest = network.sizes["length"]
        for sizes in ({"batch": 1, "length": 1}, {"batch": 2, "length": longest}, {"batch": 1, "length": longest - 1}, None):
            check(network, f"{of} at {sizes}", sizes)


@test("drawn networks of all kinds give numpy's codes")
def _():
    for seed in range(40 if LONG else 16):
        check(networks.drawn(seed), f"seed {seed}")


@test("edges of scales as pwlc writes them")
def _():
    for scale in (7.281306898221374e-05, 1e-9, 3.0, 1.5e17, 0.1, 2.0 ** -40):
        maker = networks.Maker(rng, {"batch": 2})
        check(maker.network([maker.reshape(maker.input(pwl.Type(8, True, scale), ("batch", 3)), (3, "batch"))]), str(scale))


@test("convolutions, pools and loops give numpy's codes")
def _():
    for seed in range(10 if LONG else 4):
        check(networks.vision(seed), f"vision {seed}")
        check(networks.gru(seed, reverse=seed % 2), f"gru {seed}")
    check(networks.lstm(), "lstm and its last states")


@test("a channel that reads one alone gives numpy's codes: every type, windows beyond the ends, along rows of any length")
def _():
    for seed in range(30):
        maker = networks.Maker(np.random.default_rng(seed), {"batch": 2})
        type = [*networks.TYPES, pwl.Type(16, True, 0.01, 300)][seed % 6]
        x = maker.input(type, ("batch", 3, *((7, 70) if seed % 2 else (71,))))
        draw = lambda low, high: [int(k) for k in maker.rng.integers(low, high, len(x.shape) - 2)]  # noqa: E731
        y = maker.convolution(x, 3, draw(1, 5), networks.S16, draw(1, 4), draw(0, 5), draw(1, 3), 3)
        check(maker.network([y]), f"seed {seed}")


@test("scales of any size are written as pwlc reads them")
def _():
    for scale in (1 / 32767, 1e-9, 0.00012, 0.3, 3.0, 1234567.0, 1e16 / 3, 1e17 / 3, 1e19):
        maker = networks.Maker(rng, {"batch": 2})
        maker.network([maker.product(maker.input(pwl.Type(8, True, scale), ("batch", 3)), 2, networks.S16)]).save(FOLDER / "s.json")
        result = pwlc("show", FOLDER / "s.json")
        assert result.returncode == 0, result.stderr


@test("decoders give numpy's codes, of any tokens and places, masked or not")
def _():
    for seed, of in enumerate(({}, {"heads": 8}, {"kept": 4, "masked": True}, {"places": 10}, {"kept": 1, "width": 24})):
        network = networks.decoder(seed, **of)
        for _ in range(4):
            sizes = {name: int(rng.integers(1, longest + 1)) for name, longest in network.sizes.items()}
            codes = networks.inputs_of(network, rng, sizes)
            codes[1] %= sizes.get("places", 10)
            for name, wanted, got in zip(network.outputs, outputs_of(network, codes), evaluated(network, codes)):
                equal(got, wanted, f"{of} at {sizes}, {name}")


@test("sums beyond 32 bits, and codes that no vector of 16 bits holds, give numpy's codes")
def _():
    for type in (networks.S16, networks.U16, pwl.Type(32, True, 0.01), pwl.Type(32, False, 0.01, 7), pwl.Type(16, True, 0.1, 9)):
        maker = networks.Maker(rng, {"batch": 9})
        length = 1400 if type.bits == 16 else 300
        x = maker.input(type, ("batch", length))
        outputs = [maker.product(x, 40, networks.S16)]
        if type.bits == 16:
            outputs += [maker.matmul(x, maker.constant(type, (length, 33)), networks.S16, False),
                        maker.matmul(x, maker.constant(networks.S8, (5, length)), networks.S16, True)]
        network = maker.network(outputs)
        assert network.nodes[0].largest > 1 << 31
        check(network, str(type))


def emitted(network, name, main, sizes={}):
    """A program of the emitted header, at these sizes, and a main function, and its object."""
    network.save(FOLDER / f"{name}.json")
    flags = [part for size, places in sizes.items() for part in ("--size", f"{size}={places}")]
    result = pwlc("emit", FOLDER / f"{name}.json", *flags, "-o", FOLDER / f"{name}.h")
    assert result.returncode == 0, result.stderr
    (FOLDER / f"{name}.c").write_text(f'#include "{name}.h"\n{main}')
    subprocess.run([*COMPILER, "-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{SOURCE}/runtime/include",
                    "-c", FOLDER / f"{name}.c", "-o", FOLDER / f"{name}.o"], check=True)
    return FOLDER / f"{name}.o"


def arrays_of(network, sizes):
    """Arrays of C for what a network reads and writes, and their names."""
    names = [f"{edge}_{k}" for edge, of in (("given", network.inputs), ("made", network.outputs)) for k in range(len(of))]
    text = ""
    for name, edge in zip(names, (*network.inputs, *network.outputs)):
        text += f"static {network.edges[edge].type.dtype.name}_t {name}[{int(np.prod(network.shape_at(edge, sizes)))}];\n"
    return text, names


@test("emitted programs give numpy's codes of 200 inputs, as libpwl does")
def _():
    for name, network in (("encoder", networks.encoder(layers=1)), ("vision", networks.vision(1)), ("gru", networks.gru(longest=4)),
                          ("lstm", networks.lstm()), ("decoder", networks.decoder())):
        sizes = dict.fromkeys(network.sizes, 2)
        text, names = arrays_of(network, sizes)
        reads = "".join(f"if (fread({one}, sizeof {one}, 1, stdin) != 1) return 2; " for one in names if one.startswith("given"))
        writes = "".join(f"fwrite({one}, sizeof {one}, 1, stdout); " for one in names if one.startswith("made"))
        path = emitted(network, name, f"#include <stdio.h>\n{text}int main(void) {{ int k; if (pwl_network_check(&pwl_{name}, 0) != "
                       f"PWL_OK) return 1; for (k = 0; k < 200; k++) {{ {reads}if (pwl_{name}_run({', '.join(names)}) != PWL_OK) "
                       f"return 3; {writes}}} return 0; }}\n", sizes)
        subprocess.run([*COMPILER, path, LIBRARY, "-o", FOLDER / name], check=True)
        inputs = [networks.inputs_of(network, rng, sizes) for _ in range(200)]
        for codes in inputs:
            if name == "decoder":
                codes[1] %= 2  # places that the cache has
        found = subprocess.run([FOLDER / name], check=True, input=b"".join(x.tobytes() for codes in inputs for x in codes),
                               capture_output=True).stdout
        for codes in inputs:
            for wanted, other in zip(outputs_of(network, codes), outputs_of(network, codes, "libpwl")):
                equal(other, wanted, f"{name} by libpwl")
                equal(np.frombuffer(found[:wanted.nbytes], wanted.dtype).reshape(wanted.shape), wanted, name)
                found = found[wanted.nbytes:]
        assert not found


@test("C decodes token by token, in caches that it changes in place, to the codes of a run over all tokens")
def _():
    network = networks.decoder(3)
    capacity, batch = 10, 2
    ids = rng.integers(0, 20, (batch, capacity)).astype(np.int32)
    caches = [np.full(networks.sizes_of(network.edges[name].shape, {"batch": batch, "places": capacity}), 9, np.int8) for name in
              network.inputs[2:]]
    wanted = np.zeros((batch, capacity, 16), np.int16)
    given = caches
    for at in range(0, capacity, 2):
        made = network(ids[:, at:at + 2], np.arange(at, at + 2, dtype=np.int32), *given)
        wanted[:, at:at + 2], given = made[0], made[1:]
    arrays = "".join(f"static int8_t cache_{k}[] = {{{', '.join(map(str, cache.ravel()))}}};\n" for k, cache in enumerate(caches))
    path = emitted(network, "decoder", f"""#include <stdio.h>
static const int32_t ids[2][10] = {{{{{', '.join(map(str, ids[0]))}}}, {{{', '.join(map(str, ids[1]))}}}}};
{arrays}static int64_t memory[4096];
static int16_t y[2 * 16];
int main(void)
{{
    int32_t at;
    for (at = 0; at <= 10; at++) {{
        const uint32_t sizes[] = {{2, 1, 10}};
        const int32_t now[2] = {{ids[0][at % 10], ids[1][at % 10]}};
        const void *inputs[] = {{now, &at, cache_0, cache_1}};
        void *outputs[] = {{y, cache_0, cache_1}};
        const pwl_network_call call = {{sizes, inputs, outputs, memory, sizeof memory, 0}};
        const pwl_status status = pwl_network_run(&pwl_decoder, &call);
        if (status != (at < 10 ? PWL_OK : PWL_ERR_CODE))
            return 1 + at;
        if (status == PWL_OK)
            fwrite(y, sizeof y, 1, stdout);
    }}
    {{
        const uint32_t sizes[] = {{2, 1, 3}};
        const int32_t now[2] = {{0, 0}}, beyond = 3;
        const void *inputs[] = {{now, &beyond, cache_0, cache_1}};
        void *outputs[] = {{y, cache_0, cache_1}};
        const pwl_network_call call = {{sizes, inputs, outputs, memory, sizeof memory, 0}};
        return pwl_network_check(&pwl_decoder, 0) == PWL_OK && pwl_network_run(&pwl_decoder, &call) == PWL_ERR_CODE ? 0 : 99;
    }}
}}
""")
    subprocess.run([*COMPILER, path, LIBRARY, "-o", FOLDER / "decoder"], check=True)
    found = subprocess.run([FOLDER / "decoder"], check=True, capture_output=True).stdout
    equal(np.frombuffer(found, np.int16).reshape(capacity, batch, 16).swapaxes(0, 1), wanted, "codes")


def instructions(path):
    return subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout


FLOATS = {"ss", "sd", "ps", "pd"}  # how instructions of x86 on floats end
INTEGER = ("mov", "unpck", "shuf", "and", "or", "xor", "perm", "broadcast", "insert", "extract", "blend")
# What is beyond the path: real numbers to codes and back. And the highest bit of an integer, by the exponent of its float.
BEYOND, HIGHEST_BIT = re.compile("reals"), {"x86_octaves_avx2.c.o": {"vcvtdq2ps"}}


def tool(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def float_instructions(path):
    """Instructions that compute with floats, of each object of a file; those that only move bits are not."""
    found = {}
    for row in tool("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        head = re.match(r"(\S+): +file format", row)
        if head:
            name = os.path.basename(head[1])
            found[name] = set()
        parts = row.split("\t")
        word = parts[1].split()[0] if len(parts) > 1 and parts[1].split() else ""
        bare = word[1:] if word.startswith("v") else word
        if (bare[-2:] in FLOATS and not bare.startswith(INTEGER) and not bare.startswith("p")) or (word.startswith("f") and
                                                                                                   word not in ("fs", "fnop")):
            found[name].add(word)
    return found


@test("objects of the path, of every way, have no instruction on floats and need nothing of a C library but its copies")
def _():
    if os.uname().machine != "x86_64" or not shutil.which("objdump") or not shutil.which("nm"):
        return "SKIP: for x86-64 with objdump and nm"
    text = emitted(networks.encoder(), "bare", "pwl_status run(const int32_t *ids, const uint8_t *mask, int16_t *y);\n"
                   "pwl_status run(const int32_t *ids, const uint8_t *mask, int16_t *y) { return pwl_bare_run(ids, mask, y); }\n")
    (FOLDER / "floating.c").write_text("double twice(double x);\ndouble twice(double x) { return x * 1.5; }\n")
    subprocess.run([*COMPILER, "-O2", "-c", FOLDER / "floating.c", "-o", FOLDER / "floating.o"], check=True)
    assert float_instructions(FOLDER / "floating.o")["floating.o"], "what is looked for is not found where it is"
    found = {**float_instructions(text), **float_instructions(LIBRARY)}
    assert {"network_sums.c.o", "x86_sums_avx2.c.o", "map.c.o", "bare.o"} <= set(found), f"of {LIBRARY}: {', '.join(found)}"
    for name, words in found.items():
        assert BEYOND.search(name) or words <= HIGHEST_BIT.get(name, set()), f"{name}: {words}"
    for row in (row for row in tool("nm", "-uA", text, LIBRARY).splitlines() if " U " in row):
        name = row.split()[-1]
        assert (name.startswith(("pwl_", "_GLOBAL_OFFSET_TABLE_", "__stack_chk", "__asan", "__ubsan"))
                or name in ("memcpy", "memset", "memmove")), row
    return f"{len(found)} objects"


def document_of(network):
    network.save(FOLDER / "h.json")
    return json.loads((FOLDER / "h.json").read_text()), unpack((FOLDER / "h.safetensors").read_bytes())


def refused_by_both(document, arrays, what, wanted=None, data=None):
    """Neither reader takes it; pwlc's message is one line that begins with the file, and has `wanted`."""
    data = pack(arrays) if data is None else data
    (FOLDER / "h.safetensors").write_bytes(data)
    if isinstance(document, dict) and isinstance(document.get("arrays"), dict) and isinstance(document["arrays"].get("sha256"), str):
        document = {**document, "arrays": {**document["arrays"], "sha256": hashlib.sha256(data).hexdigest()}}
    (FOLDER / "h.json").write_text(json.dumps(document))
    result = pwlc("show", FOLDER / "h.json")
    assert result.returncode == 2, f"{what}: pwlc gives {result.returncode}: {result.stderr or result.stdout}"
    assert result.stderr.count("\n") == 1 and "h.json: " in result.stderr, f"{what}: {result.stderr}"
    assert wanted is None or wanted in result.stderr, f"{what}: the message is: {result.stderr}"
    try:
        load(FOLDER / "h.json")
    except pwl.Error:
        return
    raise AssertionError(f"{what}: pwl.network.load() takes it")


def places(value, path=()):
    """Every place of a JSON value, but for the insides of operators, which have tests of their own."""
    yield path
    if isinstance(value, dict) and (not path or path[-1] != "operator"):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from places(inner, (*path, k))


def replaced(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@test("every field of a value that it cannot have is refused by both")
def _():
    count, few = 0, 1 if LONG else 2
    for network in (networks.drawn(3, 8), networks.gru(hidden=4), networks.vision(1), networks.decoder(masked=True)):
        document, arrays = document_of(network)
        for path in places(document):
            if path and path[-1] in ("scale", "zero_point", "name") or "body" in path[:-4]:
                continue
            values = [None, 1.5, -(1 << 41), 0 if "shape" in path else 1 << 62, *([] if path[-1:] == ("kind",) else [{"a": 1}])]
            for new in (values[k] for k in rng.permutation(len(values))[:2 if LONG else 1]):
                refused_by_both(replaced(document, path, new), arrays, f"{path} = {new}")
                count += 1
        for path in places(document):
            inner = document
            for key in path:
                inner = inner[key]
            if isinstance(inner, dict) and path[-1:] != ("operator",):
                refused_by_both(replaced(document, path, {**inner, "unknown": 1}), arrays, f"{path} with a field more")
                for key in list(inner)[len(path) % few::few]:
                    refused_by_both(replaced(document, path, {k: v for k, v in inner.items() if k != key}), arrays,
                                    f"{path} without {key}")
    return f"{count} values"


@test("a scale that is not that of the codes which a node moves, or of a loop's places and states, is refused by both")
def _():
    for network in (networks.encoder(layers=1), networks.gru(hidden=4), networks.vision(1), networks.decoder(), networks.lstm()):
        document, arrays = document_of(network)
        for at, node in enumerate(document["nodes"]):
            if node["kind"] in ("reshape", "transpose", "slice", "concat", "max_pool", "append", "loop"):
                k = next(k for k, edge in enumerate(document["edges"]) if edge["name"] == node["output"])
                refused_by_both(replaced(document, ("edges", k, "type", "scale"), "0.123"), arrays, node["kind"], f"nodes[{at}]")
            for k in range(len(node["body"]["inputs"]) if node["kind"] == "loop" else 0):
                name = node["body"]["inputs"][k]
                edge = next(k for k, edge in enumerate(node["body"]["edges"]) if edge["name"] == name)
                refused_by_both(replaced(document, ("nodes", at, "body", "edges", edge, "type", "scale"), "0.123"), arrays, name)


@test("a batch of zero, and more places than the longest, are refused by pwlc with the file")
def _():
    network = networks.gru()
    network.save(FOLDER / "sizes.json")
    for shape in ((0, 9, 5), (3, 0, 5), (3, 10, 5), (4, 9, 5)):
        np.save(FOLDER / "sizes.npy", np.zeros(shape, np.int16))
        result = pwlc("eval", FOLDER / "sizes.json", FOLDER / "sizes.npy", "-o", FOLDER / "y.npy")
        assert result.returncode == 2 and f"sizes.npy: shape ({', '.join(map(str, shape))}), must be" in result.stderr, result.stderr


@test("wrong arrays are refused by both: cut, of another shape or type, missing, not those of the hash")
def _():
    document, arrays = document_of(networks.encoder(layers=1))
    data = pack(arrays)
    for cut in (0, 7, 8, 100, len(data) // 2, len(data) - 1):
        refused_by_both(document, arrays, f"cut to {cut}", data=data[:cut])
    for name, array in arrays.items():
        refused_by_both(document, {key: value for key, value in arrays.items() if key != name}, f"without {name}", name)
        refused_by_both(document, {**arrays, name: array.astype(np.int64 if array.dtype != np.int64 else np.int8)},
                        f"{name} of another type", name)
        if array.ndim and not name.endswith(".table"):  # whose rows may be more than are asked for
            refused_by_both(document, {**arrays, name: np.concatenate([array, array])}, f"{name} twice as long")
            refused_by_both(document, {**arrays, name: array[..., None]}, f"{name} with an axis more")
    changed = bytearray(data)
    changed[-1] ^= 1
    (FOLDER / "h.safetensors").write_bytes(changed)
    (FOLDER / "h.json").write_text(json.dumps(document))
    assert "sha256" in pwlc("show", FOLDER / "h.json").stderr
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    for name in list(header)[:4]:
        for field, value in (("data_offsets", [0, 1 << 40]), ("data_offsets", [-8, 8]), ("data_offsets", [8]), ("shape", [-1]),
                             ("shape", [1 << 62, 4]), ("shape", 3), ("dtype", "F32"), ("dtype", 7)):
            text = json.dumps({**header, name: {**header[name], field: value}}).encode()
            body = data[8 + int.from_bytes(data[:8], "little"):]
            refused_by_both(document, arrays, f"{name}.{field} = {value}", data=len(text).to_bytes(8, "little") + text + body)


@test("sums and constants beyond what is proven are refused by both, with the node")
def _():
    document, arrays = document_of(networks.encoder(layers=1))
    kinds = [node["kind"] for node in document["nodes"]]
    at = {kind: kinds.index(kind) for kind in set(kinds)}

    def wrong(name, change, wanted):
        copy = {key: value.copy() for key, value in arrays.items()}
        array = copy[name]
        array[(0,) * array.ndim] = change
        refused_by_both(document, copy, f"{name} with {change}", wanted)
    product, matmul, gather = f"nodes[{at['product']}]", f"nodes[{at['matmul']}]", f"nodes[{at['gather']}]"
    wrong(f"{at['product']}.bias", 1 << 48, product)
    wrong(f"{at['product']}.factor", -1, product)
    wrong(f"{at['product']}.shift", 0, product)
    wrong(f"{at['product']}.shift", 63, product)
    wrong(f"{at['matmul']}.factor", -1, matmul)
    wrong(f"{at['matmul']}.shift", 63, matmul)
    wrong(f"{at['multiply']}.shift", 0, f"nodes[{at['multiply']}]")
    wrong(f"{at['mean']}.factor", -5, f"nodes[{at['mean']}]")
    maker = networks.Maker(rng, {"batch": 2})
    x = maker.input(pwl.Type(16, True, 1.0), ("batch", 8))
    network = maker.network([maker.product(x, 4, networks.S16)])
    document, arrays = document_of(network)
    for side, codes in ({"bits": 32, "qmin": -(1 << 31), "qmax": (1 << 31) - 1}, 1 << 18),:
        del codes
        document["edges"][0]["type"].update(side)
    arrays["0.weights"] = np.full((4, 1 << 10), 127, np.int8)
    document["edges"][0]["shape"] = ["batch", 1 << 10]
    refused_by_both(document, arrays, "a sum of 48 bits", "bits")


@test("a cache that is read elsewhere, or whose places no input numbers, is refused by both")
def _():
    network = networks.decoder(places=10)
    document, arrays = document_of(network)
    at = next(k for k, node in enumerate(document["nodes"]) if node["kind"] == "append")
    cache, numbers = document["nodes"][at]["inputs"][1:]
    more = {"kind": "reshape", "name": "", "inputs": [cache], "output": "more"}
    edge = {**next(edge for edge in document["edges"] if edge["name"] == cache), "name": "more"}
    refused_by_both({**document, "nodes": [*document["nodes"], more], "edges": [*document["edges"], edge]}, arrays, "read by another", f"nodes[{at}]")
    refused_by_both({**document, "outputs": [*document["outputs"], cache]}, arrays, "an output", f"nodes[{at}]")
    moved = {"kind": "reshape", "name": "", "inputs": [numbers], "output": "moved"}
    edge = {**next(edge for edge in document["edges"] if edge["name"] == numbers), "name": "moved"}
    nodes = replaced(document["nodes"][at], ("inputs",), [document["nodes"][at]["inputs"][0], cache, "moved"])
    nodes = [*document["nodes"][:at], moved, nodes, *document["nodes"][at + 1:]]
    changed = {**document, "nodes": nodes, "edges": [*document["edges"], edge]}
    with_numbers = {name if not name[0].isdigit() or int(name.split(".")[0]) < at else f"{int(name.split('.')[0]) + 1}.{name.split('.', 1)[1]}": array
                    for name, array in arrays.items()}
    refused_by_both(changed, with_numbers, "numbers that are computed", f"nodes[{at + 1}]")


@test("runs refuse shapes, sizes and codes that are not the network's, and say what would be right")
def _():
    network = networks.encoder()
    network.save(FOLDER / "n.json")
    ids, mask = networks.inputs_of(network, rng, {"batch": 2, "length": 5})
    for x, wanted in (((ids[:1], mask), "batch"), ((ids[:, :3], mask), "length"), ((ids + 30, mask), "must be a code"),
                      ((ids.astype(np.float32), mask), "reals"), ((np.tile(ids, 9), np.tile(mask, 9)), "from 1 to 12"),
                      ((ids[0], mask), "shape (5,)"), ((ids,), "must be 2")):
        for k, array in enumerate(x):
            np.save(FOLDER / f"x{k}.npy", array)
        result = pwlc("eval", FOLDER / "n.json", *(FOLDER / f"x{k}.npy" for k in range(len(x))), "-o", FOLDER / "y.npy")
        assert result.returncode == 2 and wanted in result.stderr, result.stderr
    for flag, wanted in (("length=13", "1 to 12"), ("length=", "number"), ("depth=2", "must be one of"), ("length", "number")):
        result = pwlc("emit", FOLDER / "n.json", "--size", flag)
        assert result.returncode == 2 and wanted in result.stderr, result.stderr


@test("an emitted network has less memory at smaller sizes, and edges share places")
def _():
    network = networks.encoder(layers=2, longest=40)
    network.save(FOLDER / "m.json")
    sizes = []
    for length in (4, 40):
        text = pwlc("emit", FOLDER / "m.json", "--size", f"length={length}", "--size", "batch=1").stdout
        sizes.append(int(text.split("_MEMORY ")[1].split()[0]))
    whole = sum(int(np.prod(networks.sizes_of(edge.shape, {"batch": 1, "length": 40}))) * edge.type.bits // 8
                for edge in network.edges.values())
    assert sizes[0] < sizes[1] < whole / 3, f"{sizes} of {whole}"
    return f"{sizes[1]} of {whole} bytes"


end()
