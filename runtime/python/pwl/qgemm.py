# SPDX-License-Identifier: Apache-2.0
"""Products with quantised weights, y = x W^T + bias, with a table as activation in the same pass.

    weights = pwl.qgemm.pack(w, "q4_0")                             # floats of shape (n, k)
    weights = pwl.qgemm.pack(pwl.gguf.read("model.gguf", name))     # blocks as they are in the file
    product = pwl.qgemm.Product(weights, bias, table)
    y = product(x)                                                  # (..., k) to (..., n)

Arrays of numpy are multiplied as <pwl/qgemm_host.h> says, on all cores: with activations of 8 bits to the same bits on
every processor, with those of 16 in float32. Arrays on a CUDA device are multiplied by the kernels of libpwl-cuda. All
stay within pwl.qgemm.Product.bound() of the reference of <pwl/qgemm.h>. The table is applied to y in float32, as
Table.real() does.

Weights of "int8" and "int4" are multiplied by integers alone: x has a type of 8 bits, input=, whose scale is a power of
two, as are those of the table's input, or of output=. A pair that pack_pair() packs is multiplied with gated=True: the
table's value of the gate, times up.
"""
from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _core, cuda, gguf
from .codes import DTYPES, Array, Type
from .errors import Error, shown
from .qgemm_options import (INTEGERS, PAIR_ROWS, Options, checked_options, form_of, integer_bias, options_from, shift_of,
                            shifts_of)
from .table import Table

__all__ = ["FORMATS", "INTEGERS", "Product", "RULES", "Weights", "pack", "pack_pair"]

FORMATS = ["q4_0", "q8_0", "mxfp4"]            # that floats become
SUPER = ["q4_k", "q5_k", "q6_k"]               # super-blocks, which files have, and the host multiplies
NUMBERS = {**gguf.BLOCKS, "int8": 3, "int4": 4}  # of pwl_qgemm_format
RULES = ["default", "ggml", "document"]        # of pwl_rule
BLOCKS = {name: (elements, size) for name, elements, size in gguf.TYPES.values() if name in NUMBERS}
COLUMNS = 32  # of which K is a multiple, where there are no super-blocks
SCHEMES = {("q4_0", 16): 0, ("q8_0", 16): 1, ("mxfp4", 16): 2, ("q4_0", 8): 3, ("q8_0", 8): 4,  # of pwl_qgemm_scheme
           ("int8", 8): 5, ("int4", 8): 5, ("mxfp4", 8): 6, ("q4_k", 8): 9, ("q5_k", 8): 10, ("q6_k", 8): 11}
HOST_ALONE = [6, 9, 10, 11]  # that no device has
# Of pwl_qgemm_type.
TYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "int8": 4, "int32": 5, "uint8": 6, "int16": 7, "uint16": 8,
         "uint32": 9}
REALS = ["float32", "float16", "bfloat16"]
CODES = [dtype.name for dtype in DTYPES]
FLOATS = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}  # by the type of a GGUF file
ALIGNMENT = 16  # of packed weights
PANEL = 32      # rows of weights to which parts of a product are cut
PARTS_FROM = 1 << 27  # multiplications, a millisecond of them on one core, from which on threads pay
HALVES_FROM = 64  # rows from which on kernels with activations of 8 bits may multiply in halves


def aligned(size: int) -> Array:
    """Zeros at an address that packed weights may have."""
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    at = -memory.ctypes.data % ALIGNMENT
    return memory[at:at + size]


def format_index(format: object) -> int:
    if format not in NUMBERS:
        raise Error(f"format={shown(format)}: must be {', '.join(NUMBERS)}")
    return NUMBERS[str(format)]


class Packed(NamedTuple):
    """What there is to say of packed weights beside their memory, of which they take `size` bytes."""
    format: str
    n: int
    k: int
    size: int
    row_data: bool

    def at(self, address: int) -> tuple[int, ...]:
        """As _core.Product takes weights."""
        return NUMBERS[self.format], self.n, self.k, self.size, self.row_data, address


class Weights:
    """Packed weights, n rows of k. They never change.

    packed    their Packed
    memory    their bytes, as <pwl/qgemm.h> lays them out, and room for the most that these shapes take
    """

    def __init__(self, packed: Packed, memory: Array) -> None:
        most = _core.qgemm_bytes(format_index(packed.format), packed.n, packed.k)
        if memory.dtype != np.uint8 or memory.shape != (most,):
            raise Error(f"memory of packed weights is an array of {most} uint8, not {memory.shape} of {memory.dtype}")
        if memory.ctypes.data % ALIGNMENT or not memory.flags.c_contiguous:
            memory, given = aligned(most), memory
            memory[:] = given
        self.packed, self.memory = packed, memory

    def __repr__(self) -> str:
        return f"<pwl.qgemm.Weights {self.packed.n} x {self.packed.k}, {self.packed.format}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Weights, (self.packed, np.array(self.memory))

    @property
    def shape(self) -> tuple[int, int]:
        return self.packed.n, self.packed.k

    def blocks(self) -> Array:
        """The blocks that were packed, bit for bit: uint8 of shape (n, k / elements of a block, bytes of a block)."""
        format, n, k, size, row_data = self.packed
        if format in INTEGERS:
            raise Error(f"{self} have no blocks: codes() has their integers")
        elements, block_bytes = BLOCKS[format]
        blocks = np.empty((n, k // elements, block_bytes), np.uint8)
        _core.qgemm_unpack(NUMBERS[format], n, k, size, row_data, self.memory, blocks)
        return blocks

    def codes(self) -> tuple[Array, Array]:
        """Of "int8" and "int4", the integers, int8 of shape (n, k), in "int4" multiples of 16; and n_w, int8 of shape (n,):
        a row's scale is 2^-n_w."""
        format, n, k, size, _ = self.packed
        if format not in INTEGERS:
            raise Error(f"{self} are no integers: blocks() has their codes")
        q, n_w = np.empty((n, k), np.int8), np.empty(n, np.int8)
        _core.qgemm_unpack_s8(NUMBERS[format], n, k, size, self.memory, q, n_w)
        return q, n_w

    def rows_of_rank(self, rank: int, ranks: int) -> slice:
        """The rows that one of so many ranks has where they share the weights: as many pieces of 128 as the others, or one
        more. Of a pair, half as many of the gate's and of up's. Error where there are fewer pieces than ranks."""
        return self._share(False, rank, ranks)

    def columns_of_rank(self, rank: int, ranks: int) -> slice:
        """Columns likewise, pieces of 64, or of 256 in super-blocks."""
        return self._share(True, rank, ranks)

    def _share(self, of_columns: bool, rank: int, ranks: int) -> slice:
        format, n, k, *_ = self.packed
        if not 0 <= rank < ranks:
            raise Error(f"rank={rank}, ranks={ranks}: must be 0 to {ranks - 1}" if ranks > 0 else f"ranks={ranks}: must be at least 1")
        first, count = _core.qgemm_share(NUMBERS[format], n, k, of_columns, rank, ranks)
        if count == 0:
            raise Error(f"{self}: {ranks} ranks share their {'columns' if of_columns else 'rows'}, which have no piece for rank "
                        f"{rank}")
        return slice(first, first + count)

    def cut(self, rows: slice = slice(None), columns: slice = slice(None)) -> Weights:
        """Some rows and columns, without packing again: ranges that begin and end with a piece, as those of ranks do. Rows
        have their columns of the product; columns have addends of it: of "int8" and "int4", sums in int32 that add up to the
        whole's bits, of which Product.store_sums() makes the result."""
        format, n, k, size, row_data = self.packed
        ranges = [of.indices(whole) for of, whole in ((rows, n), (columns, k))]
        if any(step != 1 for _, _, step in ranges):
            raise Error(f"rows={rows}, columns={columns}: must be ranges without steps")
        (row, last_row, _), (column, last_column, _) = ranges
        shape = max(last_row - row, 0), max(last_column - column, 0)
        if 0 in shape:
            raise Error(f"rows={rows}, columns={columns}: must not be empty")
        to = aligned(_core.qgemm_bytes(NUMBERS[format], *shape))
        made = _core.qgemm_cut(NUMBERS[format], n, k, size, row_data, self.memory, row, shape[0], column, shape[1], to)
        return Weights(Packed(format, *shape, made, row_data), to)

    def dequantise(self) -> Array:
        """Their values, float32 of shape (n, k)."""
        format, n, k, _, _ = self.packed
        if format in INTEGERS:
            q, n_w = self.codes()
            return np.ldexp(q.astype(np.float32), -n_w.astype(np.int32)[:, None])
        return gguf.dequantised(format, self.blocks(), n, k)


def _tensor(of: Any) -> gguf.Tensor:
    """A tensor, or an array of floats as one."""
    if isinstance(of, gguf.Tensor):
        return of
    array = np.asarray(of)
    if array.dtype.kind not in "fiu":
        raise Error(f"an array of {array.dtype}: weights are real numbers, or a tensor of pwl.gguf")
    if array.dtype not in FLOATS:
        array = array.astype(np.float32)
    return gguf.Tensor("weights", FLOATS[array.dtype], array.shape, np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def pack(weights: Any, format: Optional[str] = None, rule: str = "default") -> Weights:
    """Weights from an array of shape (n, k), k a multiple of 32, or from a tensor of a GGUF file.

    format    "q4_0", "q8_0" or "mxfp4", 4.5, 8.5 and 4.25 bits a weight; or "int8" or "int4", 8 and 4, with a power of
              two for each row. By default that of the tensor's blocks, which are taken as they are, those of Q4_K, Q5_K
              and Q6_K too; else "q4_0"
    rule      of floats: "default"; "ggml", llama.cpp's codes; or "document", amax / 7 in Q4_0, see <pwl/blocks.h>
    """
    return _packed(_tensor(weights), None, format, rule)


def pack_pair(gate: Any, up: Any, format: Optional[str] = None, rule: str = "default") -> Weights:
    """The same of a gate and of up, for products with gated=True: of one shape, n a multiple of 8. The weights have 2 n
    rows, in turns 8 of the gate's and 8 of up's."""
    of_gate, of_up = _tensor(gate), _tensor(up)
    if of_gate.type != of_up.type or of_gate.shape != of_up.shape:
        raise Error(f"{of_gate!r} and {of_up!r}: gate and up must be of one type and shape")
    if len(of_gate.shape) == 2 and of_gate.shape[0] % PAIR_ROWS:
        raise Error(f"gate and up have {of_gate.shape[0]} rows: must be a multiple of {PAIR_ROWS}")
    return _packed(of_gate, of_up, format, rule)


def _packed(tensor: gguf.Tensor, up: Optional[gguf.Tensor], format: Optional[str], rule: str) -> Weights:
    if tensor.type not in gguf.TYPES:
        raise Error(f"{tensor.name} is of type {gguf.type_name(tensor.type)}; those that can be packed are "
                    f"{', '.join(map(gguf.type_name, gguf.TYPES))}")
    of_blocks = gguf.TYPES[tensor.type][0]
    format = format or (of_blocks if of_blocks in NUMBERS else "q4_0")
    number = format_index(format)
    if rule not in RULES:
        raise Error(f"rule={shown(rule)}: must be {', '.join(RULES)}")
    if of_blocks in NUMBERS and of_blocks != format and (of_blocks, format) != ("q4_0", "int4"):
        raise Error(f"{tensor.name} has blocks of {of_blocks}, which are packed as they are, not as {format}")
    if of_blocks not in NUMBERS and format in SUPER:
        raise Error(f"format={format}: floats become {', '.join(FORMATS + INTEGERS)}")
    columns = BLOCKS[format][0] if format in BLOCKS else COLUMNS
    if len(tensor.shape) != 2 or 0 in tensor.shape or tensor.shape[1] % columns:
        raise Error(f"{tensor.name} is of the shape {tensor.shape}: wanted are rows and columns, the latter a multiple of "
                    f"{columns}")
    n, k = tensor.shape
    all_n = n if up is None else 2 * n
    memory = aligned(_core.qgemm_bytes(number, all_n, k))
    data, *others = (_aligned_data(one) for one in (tensor, up) if one is not None)
    try:
        size, row_data = _core.qgemm_pack(number, RULES.index(rule), tensor.type, n, k, data, memory, *others)
    except Error as error:
        raise Error(f"{tensor.name}: {error}") from None
    return Weights(Packed(format, all_n, k, size, bool(row_data)), memory)


def _aligned_data(tensor: gguf.Tensor) -> Array:
    data = tensor.data
    if data.ctypes.data % ALIGNMENT:
        data = aligned(data.size)
        data[:] = tensor.data
    return data


def scheme_of(format: str, activations: int) -> int:
    """pwl_qgemm_scheme."""
    scheme = SCHEMES.get((format, activations))
    if scheme is None:
        bits = " or ".join(str(bits) for bits in (16, 8) if (format, bits) in SCHEMES)
        raise Error(f"activations={shown(activations)} beside {format}: must be {bits}")
    return scheme


def core(scheme: int, weights: tuple[int, ...], bias: int, table: Optional[Table], options: Options,
         device: Optional[int], keep: Any) -> _core.Product:
    """A product of what lies at addresses, on the host or on the current device; `keep` holds what lies there. Behind the
    bias of a gate is that of up."""
    functions, uploaded = None, None
    if device is not None and scheme in HOST_ALONE:
        format = next(name for (name, _), number in SCHEMES.items() if number == scheme)
        raise Error(f"activations=8 beside {format}: devices have " + ("no such product" if format in SUPER else "16 alone"))
    if device is not None:
        functions = cuda.product_functions()
        uploaded = None if table is None else cuda.upload(table, device)
    activation = None
    if table is not None:
        if table.reduced:
            raise Error("a table of one octave (reduce) cannot be the activation of a product; fit one without")
        of_up, of_out = ((1.0, 0) if of is None else (of.scale, of.zero_point) for of in (options.up, options.output))
        bias_up = bias + 4 * (weights[1] // 2) if bias and options.gated else 0
        activation = (table._address, cuda.address(uploaded), table.input.scale, table.input.zero_point,
                      table.output.scale, table.output.zero_point, options.gated, bias_up, options.up_limit,
                      options.up_plus, *of_up, *of_out)
    of_x, of_y = options.input, options.output if table is None else None
    integers = (of_x.zero_point if of_x else 0, shift_of(of_y) if of_y else 0, of_y.zero_point if of_y else 0)
    return _core.Product(functions, scheme, weights, bias, activation, integers, (table, uploaded, keep))


def arranged(product: _core.Product) -> Array:
    """What holds the weights of a product on the host as it then multiplies them; it must stay as long as the product."""
    panels = np.empty(product.panels_bytes(), np.uint8)
    product.arrange(panels)
    return panels


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads that share products; a process that was forked has its own."""
    return ThreadPoolExecutor(_cores(), f"pwl.qgemm-{process}")


def _cuts(count: int, parts: int, step: int) -> list[tuple[int, int]]:
    """At most so many parts of [0, count), cut at multiples of a step: where each begins, and its length."""
    length = -(-count // (parts * step)) * step
    return [(first, min(length, count - first)) for first in range(0, count, length)]


def on_all_cores(product: _core.Product, arrays: tuple[int, ...], n: int) -> None:
    """Multiplies on the host, in parts where that pays: rows of x, and then columns of the result."""
    m, _, k = arrays[:3]
    cores = _cores()
    if cores == 1 or m * n * k < PARTS_FROM:
        product.run(*arrays, 0, 0, 0)
        return
    space = np.empty(product.workspace(*arrays), np.uint8)
    work = *arrays, space.ctypes.data, space.nbytes
    pool = _pool(os.getpid())
    for compute, cuts in ((product.rows, _cuts(m, cores, 1)), (product.part, _cuts(n, 4 * cores, PANEL))):
        for done in [pool.submit(compute, *work, *cut) for cut in cuts]:
            done.result()


class _Memory:
    """What memory of a device is freed with."""


class _Resident:
    """A product on the current device: its weights there, and workspaces by stream."""

    def __init__(self, product: Product, device: int) -> None:
        weights, bias, self.memory = product.weights, product.bias, _Memory()
        memory = cuda.copied(weights.memory, weights.packed.size, self.memory)
        of_bias = 0 if bias is None else cuda.copied(bias, bias.nbytes, self.memory)
        self.core = core(product.scheme, weights.packed.at(memory), of_bias, product.table, product.options, device,
                         self.memory)
        self.sizes: dict[tuple[int, ...], int] = {}         # of workspaces
        self.spaces: dict[int, list[tuple[int, int]]] = {}  # by stream: addresses and sizes; the last is the largest
        self.exponents = 0, 0                               # of rows of x in INT8, which are all alike, likewise
        self.shift = shift_of(product.options.input) if product.options.input else None

    def exponents_of(self, m: int) -> int:
        """Where n_x of so many rows lie."""
        if self.shift is not None and self.exponents[1] < m:
            most = max(m, 2 * self.exponents[1])
            self.exponents = cuda.copied(np.full(most, self.shift, np.int8), most, self.memory), most
        return self.exponents[0]

    def space(self, arrays: tuple[int, ...], stream: int) -> tuple[int, int]:
        """The workspace for a call, and what it takes. Workspaces stay while the product does, as captured graphs may
        use them; each is twice the one before."""
        m, x, x_stride, x_type, _, _, y_type, _ = arrays
        key = m, x % ALIGNMENT, x_stride, x_type, y_type
        size = self.sizes.get(key)
        if size is None:
            size = self.sizes[key] = self.core.workspace(*arrays)
        if size == 0:
            return 0, 0
        spaces = self.spaces.setdefault(stream, [])
        if not spaces or spaces[-1][1] < size:
            most = max(size, 2 * spaces[-1][1] if spaces else 0)
            spaces.append((cuda.copied(None, most, self.memory), most))
        return spaces[-1]


class Product:
    """y = x W^T + bias, and a table's values of that where a table is given. It never changes; any number of threads may
    call it.

    weights        Weights
    bias           n numbers, or None; of a pair the gate's, then up's
    table          a Table that is applied to y: y is quantised as its input, and the result dequantised
    activations    16: x is float32, which is rounded to float16, float16 or bfloat16; 8: x becomes Q8_1, blocks of 32
                   int8, or beside weights of int8 and int4 codes of `input`
    codes          whether the result is codes instead of real numbers: the table's, or those of `output`; of int8 and int4
                   without either, sums in units of 2^-(n_w + n_x)
    gated          of weights of pack_pair(): the result is the table's real number of the gate, times up
    up_limit       gated, but of int8 and int4: up is clamped to -up_limit to up_limit, unless that is 0
    up_plus        likewise: added to up then
    input          of int8 and int4: the type of x, which is given in its codes, int8, or in real numbers
    up             of int8 and int4, gated: the type of up, of s16
    output         the type of codes that no table has one for: of gated products, and of int8 and int4 without a table,
                   s8 there
    """

    def __init__(self, weights: Weights, bias: Any = None, table: Optional[Table] = None, *, activations: int = 16,
                 codes: bool = False, **options: Any) -> None:
        if not isinstance(weights, Weights):
            raise Error(f"{type(weights).__name__}: Weights are wanted, as pwl.qgemm.pack() gives")
        if table is not None and not isinstance(table, Table):
            raise Error(f"{type(table).__name__}: a pwl.Table is wanted")
        self.activations, self.scheme = activations, scheme_of(weights.packed.format, activations)
        self.options = checked_options(weights.packed, table, bool(codes), options_from(options))
        n = weights.packed.n
        if bias is not None:
            of_sums = weights.packed.format in INTEGERS and np.asarray(bias).dtype == np.int32
            bias = np.array(bias, np.int32 if of_sums else np.float32)
            if bias.shape != (n,):
                raise Error(f"bias is of the shape {bias.shape}: must be of {n} numbers")
            if weights.packed.format in INTEGERS and not of_sums:
                bias = integer_bias(bias, weights.memory, weights.packed, self.options)
        self.weights, self.bias, self.table, self.codes = weights, bias, table, bool(codes)
        self.form = form_of(weights.packed.format, table, self.codes, self.options)
        self._core = core(self.scheme, weights.packed.at(weights.memory.ctypes.data),
                          0 if bias is None else bias.ctypes.data, table, self.options, None, (weights, bias))
        self._panels: Optional[Array] = None  # the weights as the host multiplies them, from the first call on
        self._residents: dict[int, _Resident] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<pwl.qgemm.Product by {self.weights}, activations of {self.activations} bits, {self.table or 'no table'}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _product, (self.weights, self.bias, self.table, self.activations, self.codes, self.options)

    def __call__(self, x: Any, out: Any = None, stream: Optional[int] = None) -> Any:
        """The product of an array of shape (..., k), float32, float16 or, on a device, bfloat16. The result is of its type,
        or of the table's; out= takes others. On a device it is queued on the caller's stream, as Table's call is; the
        first call there, and one of more rows than before, allocates."""
        if cuda.is_cuda(x) or cuda.is_cuda(out):
            core, arrays, space, out = self._on_device(x, out, stream)
            if arrays[0]:
                core.run(*arrays, *space)
            return out
        if self.options.input is not None:
            return self._by_integers(x, out, self.options.input)
        x, out, arrays = self._on_host(x, out)
        self._multiply(arrays)
        return out

    def _multiply(self, arrays: tuple[int, ...]) -> None:
        if arrays[0]:
            self._arrange()
            on_all_cores(self._core, arrays, self.weights.packed.n)

    def _by_integers(self, x: Any, out: Any, of_x: Type) -> Any:
        """The product of codes, or of real numbers that are made such; bias and sums are integers."""
        x = np.asarray(x)
        codes = np.ascontiguousarray(x if x.dtype == np.int8 else of_x.quantize(x))
        shape, form = self._shape(codes.shape), self.form
        y, n_x = np.empty(shape, form.dtype), np.full(codes.size // self.weights.packed.k, shift_of(of_x), np.int8)
        self._multiply(self._arrays(codes, y, n_x.ctypes.data))
        if not self.codes:
            y = form.of.dequantize(y) if form.of else np.ldexp(
                y.astype(np.float32), -shifts_of(self.weights.memory, self.weights.packed, self.options))
            y = y.astype(x.dtype) if x.dtype in FLOATS else y
        if out is None:
            return y
        if not isinstance(out, np.ndarray) or out.shape != y.shape or out.dtype != y.dtype:
            raise Error(f"out must be an array of {y.dtype} of shape {y.shape}")
        out[...] = y
        return out

    def store_sums(self, sums: Any) -> Array:
        """What a product of "int8" or "int4" in codes makes of sums, int32 of shape (..., n), complete but for the bias: those
        of products without bias and table by parts of the columns of one weights, added up. An array of numpy."""
        if self.options.input is None or not self.codes:
            raise Error(f"{self}: sums become codes of weights of {' and '.join(INTEGERS)}, with codes=True")
        n = self.weights.packed.n
        sums = np.ascontiguousarray(sums)
        if sums.dtype != np.int32 or sums.ndim == 0 or sums.shape[-1] != n:
            raise Error(f"sums are {sums.dtype} of the shape {sums.shape}: wanted are int32, {n} in the last dimension")
        y = np.empty((*sums.shape[:-1], n // 2 if self.options.gated else n), self.form.dtype)
        n_x = np.full(sums.size // n, shift_of(self.options.input), np.int8)
        if n_x.size:
            self._core.store_sums(n_x.size, sums.ctypes.data, n, TYPES["int32"], y.ctypes.data, y.shape[-1],
                                  TYPES[y.dtype.name], n_x.ctypes.data, 0)
        return y

    def prepare(self, x: Any, out: Any, stream: Optional[int] = None) -> Callable[[], None]:
        """What computes the product of these arrays on a device each time that it is called, and costs little beside the
        call in C: for loops whose arrays stay. It keeps neither array."""
        if not cuda.is_cuda(x):
            raise Error(f"{type(x).__name__}: no array on a CUDA device")
        core, arrays, space, _ = self._on_device(x, out, stream)
        call: Callable[[], None] = core.bind(*arrays, *space)
        return call

    def bound(self, x: Any) -> tuple[Array, Array]:
        """y as defined, before any rounding and without the table, and by how much a kernel's may differ from it, in
        float64."""
        x, out, arrays = self._on_host(x, None)
        value, bound = (np.empty((arrays[0], self.weights.packed.n)) for _ in range(2))
        halves = self.scheme in (3, 4) and arrays[0] >= HALVES_FROM  # which W4A8 and W8A8 have
        if arrays[0]:
            self._core.bound(*arrays, halves, value.ctypes.data, bound.ctypes.data)
        shape = *x.shape[:-1], value.shape[-1]
        return value.reshape(shape), bound.reshape(shape)

    def _arrange(self) -> None:
        with self._lock:
            if self._panels is None:
                self._panels = arranged(self._core)

    def _shape(self, shape: Any) -> tuple[int, ...]:
        """That of the result."""
        n, k = self.weights.shape
        if len(shape) == 0 or shape[-1] != k:
            raise Error(f"x is of the shape {tuple(shape)}: its last dimension must be {k}")
        return (*shape[:-1], n // 2 if self.options.gated else n)

    def _dtype(self, x: str) -> str:
        return self.form.dtype or x

    def _arrays(self, x: Array, y: Array, n_x: int = 0) -> tuple[int, ...]:
        """What run() takes of both."""
        k = self.weights.packed.k
        return x.size // k, x.ctypes.data, k, TYPES[x.dtype.name], y.ctypes.data, y.shape[-1], TYPES[y.dtype.name], n_x

    def _on_host(self, x: Any, out: Any) -> tuple[Array, Array, tuple[int, ...]]:
        """x as it is read, the result, and what run() takes of both."""
        x = np.asarray(x)
        if x.dtype.kind not in "fiu":
            raise Error(f"an array of {x.dtype}: real numbers are wanted, float32 or float16")
        x = np.ascontiguousarray(x, x.dtype if x.dtype in FLOATS else np.float32)
        shape = self._shape(x.shape)
        if out is None:
            out = np.empty(shape, self._dtype(x.dtype.name))
        elif not isinstance(out, np.ndarray) or out.dtype.name not in self._results() or not out.flags.c_contiguous:
            raise Error(f"out must be an array of numpy in the order of C, of {', '.join(self._results())}")
        elif out.shape != shape:
            raise Error(f"out has the shape {out.shape}, and must have {shape}")
        elif not out.flags.writeable:
            raise Error("out is read-only")
        return x, out, self._arrays(x, out)

    def _results(self) -> list[str]:
        return CODES if self.codes else REALS

    def _on_device(self, x: Any, out: Any, stream: Optional[int]) -> tuple[_core.Product, tuple[int, ...],
                                                                           tuple[int, int, int], Any]:
        """The product there, what run() takes of the arrays, the workspace and the stream, and the result."""
        if self.options.input is not None and not self.codes:
            raise Error("on devices, products of int8 and int4 take and give codes: codes=True")
        of_x, stream = cuda.viewed(x, REALS if self.options.input is None else ["int8"], stream)
        of_out, out = cuda.result(x, out, self._shape(of_x.shape), self._dtype(of_x.dtype), self._results(), stream)
        k, n = self.weights.packed.k, of_out.shape[-1]
        m = cuda.count(of_x) // k
        if m == 0:
            return self._core, (0, 0, k, 0, 0, n, 0, 0), (0, 0, 0), out
        device = cuda.current_device(cuda.device_of(of_x, of_out))
        with self._lock:
            if device not in self._residents:
                self._residents[device] = _Resident(self, device)
            resident = self._residents[device]
            arrays = (m, of_x.address, k, TYPES[of_x.dtype], of_out.address, n, TYPES[of_out.dtype],
                      resident.exponents_of(m))
            space = resident.space(arrays, stream)
        return resident.core, arrays, (*space, stream), out


def _product(weights: Weights, bias: Optional[Array], table: Optional[Table], activations: int, codes: bool,
             options: Options = Options()) -> Product:
    return Product(weights, bias, table, activations=activations, codes=codes, **options._asdict())
