# SPDX-License-Identifier: Apache-2.0
"""Networks of integers for tests: drawn ones of every kind of node, and an encoder. Their numbers mean nothing; their codes are what
is compared."""
import functools

from harness import np

import pwl
from pwl.network import Edge, FloatNetwork, Input, Network, Node, Op, Ranges, Widths, quantise
from pwl.network.arithmetic import largest_offset, multipliers
from pwl.network.kinds import Product, sizes_of
from pwl.network.recurrent import RecurrentLayer, last_states

SIZES = {"batch": 3, "length": 11}
S8, U8, S16 = pwl.Type(8, True, 2.0 ** -4), pwl.Type(8, False, 2.0 ** -8), pwl.Type(16, True, 2.0 ** -9)
U16 = pwl.Type(16, False, 2.0 ** -8, 700)
MASK = pwl.Type(8, False, 1.0, 0, 0, 1)
TURN = pwl.Type(16, True, 2.0 ** -14)  # cosines and sines
TYPES = [S8, pwl.Type(8, False, 2.0 ** -5, 90), S16, U16, pwl.Type(8, True, 2.0 ** -4, -20, -100, 90)]


@functools.lru_cache(maxsize=None)
def operator(kind, *arguments):
    """A fitted operator or table, once for all networks."""
    if kind == "softmax":
        return pwl.softmax(*arguments[:2], rows=arguments[2])
    if kind in ("layernorm", "rmsnorm"):
        channels = np.arange(arguments[2])
        gamma = 0.5 + channels % 7 / 8
        return (pwl.layernorm(*arguments[:2], gamma, channels % 5 / 4 - 0.5) if kind == "layernorm"
                else pwl.rmsnorm(*arguments[:2], gamma))
    if kind == "l2norm":
        return pwl.l2norm(*arguments[:2], rows=arguments[2])
    if kind in ("add", "requantise"):
        return getattr(pwl, kind)(*arguments)
    return pwl.fit(kind, input=arguments[0], output=arguments[1], segments=8)


class Maker:
    """Nodes one after another; `edges` are those that further nodes may read."""

    def __init__(self, rng, sizes=None):
        self.rng, self.sizes = rng, dict(SIZES if sizes is None else sizes)
        self.edges, self.inputs, self.nodes = [], [], []

    def edge(self, type, shape):
        self.edges.append(Edge(f"e{len(self.edges)}", type, tuple(shape)))
        return self.edges[-1]

    def input(self, type, shape):
        self.inputs.append(self.edge(type, shape))
        return self.inputs[-1]

    def node(self, kind, inputs, type, shape, arrays=None, operator=None, **fields):
        output = self.edge(type, shape)
        self.nodes.append(Node(kind, tuple(edge.name for edge in inputs), output.name, f"model.{kind}", fields, arrays or {},
                               operator))
        return output

    def by(self, ratios, largest):
        by = multipliers(ratios, int(largest).bit_length())
        return {"factor": by.factor.astype(np.int32), "shift": by.shift.astype(np.uint8)}

    def length(self, edge, axis=-1):
        return sizes_of(edge.shape, self.sizes)[axis]

    def gather(self, x, columns, type):
        table = self.rng.integers(max(type.qmin, -32768), min(type.qmax, 32767) + 1, (x.type.qmax + 1, columns))
        return self.node("gather", [x], type, (*x.shape, columns), {"table": table.astype(np.int16)})

    def constant(self, type, shape):
        codes = self.rng.integers(max(type.qmin, -32768), min(type.qmax, 32767) + 1, sizes_of(shape, self.sizes))
        return self.node("constant", [], type, shape, {"codes": codes.astype(np.int16)})

    def product(self, x, channels, type, per_channel=True):
        weights = self.rng.integers(-128, 128, (channels, x.shape[-1])).astype(np.int8)
        bias = self.rng.integers(-50000, 50000, channels) - x.type.zero_point * weights.astype(np.int64).sum(1)
        node = Node("product", (x.name,), "", arrays={"weights": weights, "bias": bias})
        ratio = (type.qmax - type.qmin) / (x.type.qmax - x.type.qmin) / 60 / np.sqrt(x.shape[-1])
        ratios = ratio * self.rng.uniform(0.5, 2, channels if per_channel else ())
        arrays = {"weights": weights, "bias": bias, **self.by(ratios, Product.largest(node, x.type))}
        return self.node("product", [x], type, (*x.shape[:-1], channels), arrays)

    def convolution(self, x, channels, kernel, type, stride, padding, dilation, groups=1):
        weights = self.rng.integers(-128, 128, (channels, x.shape[1] // groups, *kernel)).astype(np.int8)
        sums = weights.astype(np.int64).reshape(channels, -1).sum(1)
        bias = self.rng.integers(-20000, 20000, channels) - x.type.zero_point * sums
        node = Node("convolution", (x.name,), "", arrays={"weights": weights, "bias": bias})
        ratios = (type.qmax - type.qmin) / (x.type.qmax - x.type.qmin) / 60 / np.sqrt(weights[0].size) * self.rng.uniform(0.5, 2, channels)
        places = [(size + 2 * p - d * (k - 1) - 1) // s + 1
                  for size, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation)]
        return self.node("convolution", [x], type, (x.shape[0], channels, *places),
                         {"weights": weights, "bias": bias, **self.by(ratios, Product.largest(node, x.type))},
                         stride=list(stride), padding=list(padding), dilation=list(dilation), groups=groups)

    def max_pool(self, x, kernel, stride, padding):
        places = [(size + 2 * p - k) // s + 1 for size, k, s, p in zip(x.shape[2:], kernel, stride, padding)]
        return self.node("max_pool", [x], x.type, (*x.shape[:2], *places), kernel=list(kernel), stride=list(stride),
                         padding=list(padding))

    def loop(self, inputs, body, axis, reverse):
        made = body.edges[body.outputs[0]]
        shape = list(made.shape)
        shape.insert(axis, inputs[0].shape[axis])
        output = self.edge(made.type, shape)
        self.nodes.append(Node("loop", tuple(edge.name for edge in inputs), output.name, "model.loop", {"axis": axis,
                               "reverse": reverse}, body=body))
        return output

    def matmul(self, a, b, type, transposed):
        largest = largest_offset(a.type) * largest_offset(b.type) * self.length(a)
        ratio = (type.qmax - type.qmin) / largest * 2
        columns = b.shape[-2] if transposed else b.shape[-1]
        return self.node("matmul", [a, b], type, (*a.shape[:-1], columns), self.by(ratio, largest), transposed=int(transposed))

    def multiply(self, inputs, type, shape):
        pairs = len(inputs) // 2
        factor = self.rng.integers(-(1 << 20), 1 << 20, pairs).astype(np.int32)
        bits = max(largest_offset(inputs[2 * k].type).bit_length() + largest_offset(inputs[2 * k + 1].type).bit_length()
                   for k in range(pairs))
        shift = np.array(max(1, 20 + bits - type.bits), np.uint8)
        return self.node("multiply", inputs, type, shape, {"factor": factor, "shift": shift})

    def mean(self, x, axis, type, mask=None):
        count = self.length(x, axis)
        arrays = self.by(type.qmax / largest_offset(x.type) / np.arange(1, count + 1), largest_offset(x.type) * count)
        return self.node("mean", [x] + ([mask] if mask else []), type, (*x.shape[:axis], *x.shape[axis + 1:]), arrays, axis=axis)

    def operate(self, operator, inputs, causal=0, shape=None):
        return self.node("operator", inputs, operator.output, shape or inputs[0].shape, operator=operator, causal=causal)

    def rotate(self, x, numbers, rows):
        """Half of the last axis against the other, by angles of a table's rows."""
        half = x.shape[-1] // 2
        angles = np.outer(np.arange(rows), 1000.0 ** -(np.arange(2 * half) % half / half))
        sign = np.where(np.arange(2 * half) < half, -1, 1)
        cos, sin = (self.node("gather", [numbers], TURN, (*numbers.shape, 2 * half), {"table": table}) for table in (
            np.rint(2 ** 14 * values).astype(np.int16) for values in (np.cos(angles), sign * np.sin(angles))))
        turned = self.concat(*(self.slice(x, len(x.shape) - 1, k * half, (k + 1) * half, 1, True) for k in (1, 0)), len(x.shape) - 1)
        arrays = {"factor": np.full(2, 1 << 20, np.int32), "shift": np.array(34, np.uint8)}
        return self.node("multiply", [x, cos, turned, sin], x.type, x.shape, arrays)

    def reshape(self, x, shape):
        return self.node("reshape", [x], x.type, shape)

    def transpose(self, x, order):
        return self.node("transpose", [x], x.type, [x.shape[k] for k in order], order=list(order))

    def append(self, x, cache, numbers, axis):
        return self.node("append", [x, cache, numbers], x.type, cache.shape, axis=axis)

    def concat(self, a, b, axis):
        shape = list(a.shape)
        shape[axis] += b.shape[axis]
        return self.node("concat", [a, b], a.type, shape, axis=axis)

    def slice(self, x, axis, start, stop, step, keep):
        count = len(range(*slice(start, stop, step).indices(x.shape[axis])))
        return self.node("slice", [x], x.type, [*x.shape[:axis], *([count] if keep else []), *x.shape[axis + 1:]], axis=axis,
                         start=start, stop=stop, step=step, keep=int(keep))

    def network(self, outputs, is_body=False):
        return Network(self.sizes, self.edges, [edge.name for edge in self.inputs], [edge.name for edge in outputs], self.nodes,
                       is_body=is_body)


def grow(maker, kind, mask):
    """One more node of a kind, of edges that there are; None where none fits."""
    rng, pick = maker.rng, lambda test: (lambda all: all[rng.integers(len(all))] if all else None)(
        [edge for edge in maker.edges if edge is not mask and test(edge)])
    type = TYPES[rng.integers(len(TYPES))]
    x = pick(lambda edge: len(edge.shape) >= 2 and isinstance(edge.shape[-1], int) and edge.type.bits <= 16)
    if x is None:
        return None
    axis = int(rng.integers(len(x.shape)))
    if kind == "constant":
        return maker.constant(type, ("length", int(rng.integers(1, 9))))
    if kind == "product":
        return maker.product(x, int(rng.integers(1, 40)), type, bool(rng.integers(2)))
    if kind == "matmul":
        b = pick(lambda edge: edge is not None and len(edge.shape) == len(x.shape) and edge.shape[:-2] == x.shape[:-2]
                 and x.shape[-1] in edge.shape[-2:] and edge.type.bits <= 16)
        return b and maker.matmul(x, b, type, b.shape[-1] == x.shape[-1])
    if kind == "multiply":
        row = maker.constant(type, (x.shape[-1],))
        pair = pick(lambda edge: edge.shape == x.shape and edge.type.bits <= 16)
        return maker.multiply([x, row] if rng.integers(2) else [pair, x, row, x], S16, x.shape)
    if kind == "mean":
        masked = mask.shape == x.shape[:2] and bool(rng.integers(2))
        return maker.mean(x, 1 if masked else axis, type, mask if masked else None)
    if kind == "table":
        return maker.operate(operator("tanh", x.type, pwl.Type(16, True, 2.0 ** -15)), [x])
    if kind == "add" and rng.integers(2):  # of one place for many, on some axes
        b = maker.constant(rng.choice([S8, U8, S16]), [1 if rng.integers(2) else size for size in x.shape][rng.integers(len(x.shape)):])
        if (x.type.qmin, x.type.qmax) != pwl.codes.code_range(x.type.bits, x.type.signed):
            return None
        pair = [x, b] if rng.integers(2) else [b, x]
        return maker.operate(operator("add", pair[0].type, pair[1].type, S16), pair, shape=x.shape)
    if kind == "add":
        b = pick(lambda edge: edge.shape == x.shape and edge.type.bits <= 16)
        if (x.type.qmin, x.type.qmax, b.type.qmin, b.type.qmax) != (*pwl.codes.code_range(x.type.bits, x.type.signed),
                                                                    *pwl.codes.code_range(b.type.bits, b.type.signed)):
            return None
        return maker.operate(operator("add", x.type, b.type, S16), [x, b])
    if kind == "reshape":
        return len(x.shape) == 3 and x.shape[:2] == ("batch", "length") and maker.reshape(x, ("batch*length", x.shape[2]))
    if kind == "transpose":
        return maker.transpose(x, [int(k) for k in rng.permutation(len(x.shape))])
    if kind == "slice":
        if x.shape[-1] < 2:
            return None
        start = int(rng.integers(-x.shape[-1], x.shape[-1] - 1))
        return maker.slice(x, len(x.shape) - 1, start, 1 << 30, int(rng.integers(1, 4)), bool(rng.integers(4)))
    b = pick(lambda edge: edge.type == x.type and len(edge.shape) == len(x.shape) and edge.shape[:-1] == x.shape[:-1]
             and isinstance(edge.shape[-1], int))
    return maker.concat(x, b, len(x.shape) - 1)


def drawn(seed, nodes=14):
    """A network of all kinds, in some order; each edge that nothing reads is an output."""
    rng = np.random.default_rng(seed)
    maker = Maker(rng)
    mask = maker.input(MASK, ("batch", "length"))
    maker.input(TYPES[seed % len(TYPES)], ("batch", "length", int(rng.integers(2, 30))))
    ids = maker.input(pwl.Type(32, True, 1.0, 0, 0, 19), ("batch", "length"))
    maker.gather(ids, int(rng.integers(2, 12)), S16)
    kinds = ["constant", "product", "matmul", "multiply", "mean", "table", "add", "reshape", "transpose", "slice", "concat"]
    while len(maker.nodes) < nodes:
        grow(maker, kinds[rng.integers(len(kinds))], mask)
    read = {name for node in maker.nodes for name in node.inputs}
    outputs = [edge for edge in maker.edges if edge.name not in read and edge not in maker.inputs]
    return maker.network(outputs + [maker.edges[-1], maker.inputs[1]][:rng.integers(3)])


def encoder(seed=0, width=24, heads=2, layers=2, words=30, longest=12, bits=16, causal=0):
    """A sentence encoder as MiniLM is: embeddings, attention, norms, gelu, a masked mean and its L2 norm."""
    maker = Maker(np.random.default_rng(seed), {"batch": 2, "length": longest})
    wide, narrow = (S16, S8) if bits == 16 else (S8, S8)
    ids = maker.input(pwl.Type(32, True, 1.0, 0, 0, words - 1), ("batch", "length"))
    mask = maker.input(MASK, ("batch", "length"))
    h = maker.gather(ids, width, wide)
    places = maker.constant(wide, ("length", width))
    one = maker.constant(MASK, (1,))
    h = maker.multiply([h, one, places, one], wide, h.shape)
    h = maker.operate(operator("layernorm", h.type, wide, width), [h])
    for _ in range(layers):
        q, k, v = (maker.transpose(maker.reshape(maker.product(h, width, narrow), ("batch", "length", heads, width // heads)),
                                   (0, 2, 1, 3)) for _ in range(3))
        scores = maker.matmul(q, k, S8, True)
        p = maker.operate(operator("softmax", S8, U8, longest), [scores, mask], causal)
        context = maker.reshape(maker.transpose(maker.matmul(p, v, narrow, False), (0, 2, 1, 3)), h.shape)
        attended = maker.product(context, width, wide)
        h = maker.operate(operator("layernorm", wide, wide, width),
                          [maker.operate(operator("add", h.type, attended.type, wide), [h, attended])])
        inner = maker.operate(operator("gelu", S16, S16), [maker.product(h, 3 * width, S16)])
        outer = maker.product(inner, width, wide)
        h = maker.operate(operator("layernorm", wide, wide, width),
                          [maker.operate(operator("add", h.type, outer.type, wide), [h, outer])])
    pooled = maker.mean(h, 1, wide, mask)
    return maker.network([maker.operate(operator("l2norm", wide, pwl.Type(16, True, 2.0 ** -15), width), [pooled])])


def decoder(seed=0, width=16, heads=4, kept=2, words=20, capacity=10, places="places", masked=False):
    """Attention of a few tokens to all that a cache has, with heads that share keys and values, and angles of places."""
    sizes = {"batch": 2, "length": 4, **({} if isinstance(places, int) else {places: capacity})}
    maker, size = Maker(np.random.default_rng(seed), sizes), width // heads
    ids = maker.input(pwl.Type(32, True, 1.0, 0, 0, words - 1), ("batch", "length"))
    numbers = maker.input(pwl.Type(32, True, 1.0, 0, 0, capacity - 1), ("length",))
    cache = ("batch", kept, places, size)
    caches = [maker.input(S8, cache) for _ in range(2)]
    mask = [maker.input(MASK, ("batch", places))] if masked else []
    h = maker.operate(operator("rmsnorm", S16, S16, width), [maker.gather(ids, width, S16)])
    q, k, v = (maker.transpose(maker.reshape(maker.product(h, size * count, S8), ("batch", "length", count, size)), (0, 2, 1, 3))
               for count in (heads, kept, kept))
    q, k = (maker.rotate(x, numbers, capacity) for x in (q, k))
    keys, values = (maker.append(x, of, numbers, 2) for x, of in zip((k, v), caches))
    rows = f"{heads // kept}*length"
    scores = maker.reshape(maker.matmul(maker.reshape(q, ("batch", kept, rows, size)), keys, S8, True), ("batch", heads, "length", places))
    p = maker.operate(operator("softmax", S8, U8, capacity), [scores, *mask, numbers], 2)
    context = maker.reshape(maker.matmul(maker.reshape(p, ("batch", kept, rows, places)), values, S8, False), ("batch", heads, "length", size))
    y = maker.product(maker.reshape(maker.transpose(context, (0, 2, 1, 3)), ("batch", "length", width)), width, S16)
    return maker.network([y, keys, values])


def vision(seed=0, batch=2, rows=9, columns=13):
    """Convolutions of one and of two axes, dense, dilated, strided, in groups and a channel each, and pools."""
    rng = np.random.default_rng(seed)
    maker = Maker(rng, {"batch": batch})
    x = maker.input(TYPES[seed % len(TYPES)], ("batch", 4, rows, columns))
    x = maker.convolution(x, 12, (3, 3), S8, (1, 2), (1, 1), (1, 1))
    x = maker.max_pool(x, (3, 2), (1, 2), (1, 1))
    x = maker.convolution(x, 12, (3, 2), TYPES[seed % 3], (1, 1), (2, 1), (2, 1), 12)
    x = maker.convolution(x, 20, (1, 1), S16, (1, 1), (0, 0), (1, 1), 4)
    places = x.shape[2] * x.shape[3]
    x = maker.reshape(x, ("batch", 20, places))
    x = maker.convolution(x, 9, (5,), U16 if seed % 2 else S16, (3,), (4,), (2,))
    x = maker.max_pool(x, (4,), (3,), (int(rng.integers(3)),))
    return maker.network([maker.product(maker.mean(x, 2, S16), 10, S16)])


def gru(seed=0, inputs=5, hidden=8, longest=9, reverse=0):
    """A gated recurrent unit over the places of its input, as the nodes of a loop."""
    rng = np.random.default_rng(seed)
    maker = Maker(rng, {"batch": 3, "length": longest})
    x = maker.input(S16, ("batch", "length", inputs))
    all = maker.product(x, 3 * hidden, S16)
    body = Maker(rng, maker.sizes)
    unit, gate = pwl.Type(16, True, 2.0 ** -15), pwl.Type(16, False, 2.0 ** -16)
    given, h = body.input(S16, ("batch", 3 * hidden)), body.input(unit, ("batch", hidden))
    own = body.product(h, 3 * hidden, S16)
    part = lambda edge, k: body.slice(edge, 1, k * hidden, (k + 1) * hidden, 1, True)
    add = operator("add", S16, S16, S16)
    sigmoid = operator("sigmoid", S16, gate)
    z, r = (body.operate(sigmoid, [body.operate(add, [part(given, k), part(own, k)])]) for k in range(2))
    gated = body.multiply([r, part(own, 2)], S16, h.shape)
    n = body.operate(operator("tanh", S16, unit), [body.operate(add, [part(given, 2), gated])])
    h = body.multiply([z, h, z, n], unit, h.shape)
    y = maker.loop([all], body.network([h, h], is_body=True), 1, reverse)
    return maker.network([y, maker.slice(maker.transpose(y, (1, 0, 2)), 2, 0, 3, 2, True)])


def lstm(seed=0, inputs=4, hidden=6, longest=7):
    """Two layers of an LSTM, the second in both directions, with the last states h and c of all three: made of real weights."""
    rng = np.random.default_rng(seed)
    layers, ops, shape, edge = [], [], ("batch", "length", inputs), "x"
    for k, reverse in enumerate((False, False, True)):
        weights = rng.normal(0, 0.5, (4 * hidden, shape[2])), rng.normal(0, 0.5, (4 * hidden, hidden))
        layers.append(RecurrentLayer("lstm", f"layer{k}", 1, reverse, f"layer{k}", edge, shape, weights, rng.normal(0, 0.3, (2, 4 * hidden))))
        ops += layers[-1].ops()
        shape, edge = (*shape[:2], hidden), "layer0"
    both = Op("concat", ("layer1", "layer2"), "y", (*shape[:2], 2 * hidden), "y", {"axis": 2})
    ops += [both, *last_states(layers, "h"), *last_states(layers, "c", cells=True)]
    network = FloatNetwork([Input("x", ("batch", "length", inputs), "real")], ["y", "h", "c"], ops)
    ranges = Ranges(network)
    ranges.observe(rng.normal(0, 1, (2, longest, inputs)))
    return quantise(network, ranges, Widths(segments=(8, 8)))


def inputs_of(network, rng, sizes=None):
    """Codes for each input, at drawn sizes or these."""
    sizes = sizes or {name: int(rng.integers(1, longest + 1)) for name, longest in network.sizes.items()}
    edges = [network.edges[name] for name in network.inputs]
    return [rng.integers(edge.type.qmin, edge.type.qmax + 1, sizes_of(edge.shape, sizes)).astype(edge.type.dtype)
            for edge in edges]
