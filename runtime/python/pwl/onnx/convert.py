# SPDX-License-Identifier: Apache-2.0
"""From a model with activations to one with tables: fit() runs the model on batches, replace() puts the tables in."""
from __future__ import annotations

import copy
import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

import numpy as np
import onnx
from onnx import TensorProto, helper, inliner

from .. import rows as pwl_rows
from ..calibration import LeastSquares, MinMax, Observer
from ..codes import Array, Type
from ..errors import Error, MissingError, ToolError, shown
from ..rows import LONGEST, RowOperator
from ..table import Table
from .branches import enter_branches
from .lookup import Nodes, add_quantisers, add_table
from .places import AnyPlace, Computed, find
from .row_integers import add_operator, add_row_quantisers
from .row_places import RowPlace

__all__ = ["Batch", "Model", "convert", "fit", "load_model", "replace", "run", "to_model"]

SEGMENTS = {8: 16, 16: 64}  # where neither segments nor max_err is given, of tables of up to so many bits
OLDEST = 13                 # opset: Gather, Clip and comparisons of integers as lookup.py takes them
FLOATS = {np.dtype(np.float16): TensorProto.FLOAT16, np.dtype(np.float32): TensorProto.FLOAT,
          np.dtype(np.float64): TensorProto.DOUBLE}
LARGEST = 2 ** 31 - 1       # bytes of a protobuf message

Model = Union[onnx.ModelProto, bytes, str, "os.PathLike[str]"]
Batch = Any                 # an array, a tuple of arrays, or a dict of arrays by the names of the model's inputs


def load_model(model: Model, oldest: int = OLDEST) -> onnx.ModelProto:
    """A copy of a model, from a file, from bytes or from onnx, with its functions put in where they are called, and the
    branches that it always takes."""
    if isinstance(model, onnx.ModelProto):
        made = copy.deepcopy(model)
    elif isinstance(model, bytes):
        try:
            made = onnx.load_model_from_string(model)
        except Exception as error:
            raise Error(f"these {len(model)} bytes are no model of ONNX: {error}") from None
    elif isinstance(model, (str, os.PathLike)):
        try:
            made = onnx.load(os.fspath(model))
        except OSError:
            raise
        except Exception as error:
            raise Error(f"{os.fspath(model)}: no model of ONNX: {error}") from None
    else:
        raise Error(f"{type(model).__name__}: a model is an onnx.ModelProto, a file's name, or bytes")
    if made.ByteSize() > LARGEST:
        raise Error("the model is larger than 2 GiB, which onnx cannot check: convert it in parts, which "
                    "onnx.utils.extract_model gives")
    if made.functions:
        made = inliner.inline_local_functions(made)
    enter_branches(made.graph)
    if _opset(made) < oldest:
        raise Error(f"the model is of opset {_opset(made)}, and {oldest} is the oldest that will do: "
                    f"onnx.version_converter.convert_version(model, {oldest}) makes one of it")
    return made


def _opset(model: onnx.ModelProto) -> int:
    versions: list[int] = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
    if not versions:
        raise Error("the model imports no opset of ONNX: opset_import must name one")
    return versions[0]


class _Session:
    """A model in ONNX Runtime, which gives the tensors of the names as well."""

    def __init__(self, model: onnx.ModelProto, names: Iterable[str]) -> None:
        try:
            import onnxruntime  # type: ignore[import-untyped, unused-ignore]
        except ImportError as error:
            raise MissingError(f"onnxruntime is not here, which runs the model: pip install onnxruntime ({error})") from None
        self.inputs = [value.name for value in model.graph.input
                       if value.name not in {tensor.name for tensor in model.graph.initializer}]
        self.names = list(dict.fromkeys(names))
        model = copy.deepcopy(model)
        have = {value.name for value in (*model.graph.output, *model.graph.input)}
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self.names if name not in have)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # Else it rounds the weights of layers between DequantizeLinear and QuantizeLinear to 8 bits.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        try:
            self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise Error(f"ONNX Runtime does not take the model: {error}") from None

    def __call__(self, batch: Batch, which: int) -> dict[str, Array]:
        if isinstance(batch, Mapping):
            feeds = dict(batch)
        else:
            arrays = batch if isinstance(batch, (tuple, list)) else (batch,)
            if len(arrays) != len(self.inputs):
                raise Error(f"batch {which} has {len(arrays)} arrays, and the model {len(self.inputs)} inputs: "
                            f"{', '.join(self.inputs)}")
            feeds = dict(zip(self.inputs, arrays))
        feeds = {name: np.asarray(value) for name, value in feeds.items()}
        asked = [name for name in self.names if name not in feeds] or [self.session.get_outputs()[0].name]
        try:
            got = self.session.run(asked, feeds)
        except Exception as error:
            raise Error(f"batch {which}: ONNX Runtime refuses it: {error}") from None
        return {**feeds, **dict(zip(asked, got))}


def run(model: onnx.ModelProto, names: Iterable[str], batches: Iterable[Batch]) -> Iterator[dict[str, Array]]:
    """The tensors of these names, for each batch."""
    if isinstance(batches, (Mapping, str, bytes, np.ndarray)) or not hasattr(batches, "__iter__"):
        raise Error(f"batches: {type(batches).__name__}; a list of batches is wanted, each an array, a tuple of arrays, or a "
                    "dict of arrays by the names of the model's inputs")
    session, count = _Session(model, names), 0
    for count, batch in enumerate(batches, 1):
        yield session(batch, count - 1)
    if count == 0:
        raise Error("there were no batches: calibration needs data as the model will see them, a few hundred rows or more")


ROWS = 4096  # the longest row of softmax, where neither the data nor the caller say more


def _observer(place: AnyPlace, bits: int) -> Observer:
    if isinstance(place, RowPlace):
        bits = operator_bits(bits)  # the largest numbers of softmax are those that count
        return LeastSquares(None, bits) if bits == 8 and place.is_norm else MinMax(bits)
    if bits <= 8:
        return LeastSquares(place.function, bits, param=dict(place.param) or None)
    return MinMax(bits)  # a code more or less is no matter, and what is clipped may be


def operator_bits(bits: int) -> int:
    return 8 if bits <= 8 else 16


class _Seen:
    """What the places of a model are given, and what softmaxes and norms give."""

    def __init__(self, places: list[AnyPlace], observer: Callable[[AnyPlace], Observer]) -> None:
        self.places = places
        self.inputs = [observer(place) for place in places]
        self.outputs = [observer(place) if isinstance(place, RowPlace) else None for place in places]
        self.longest = [0] * len(places)

    def names(self) -> list[str]:
        return [name for place in self.places for name in
                ([place.input, place.output] if isinstance(place, RowPlace) else [place.input])]

    def observe(self, tensors: Mapping[str, Array], which: int) -> None:
        for k, place in enumerate(self.places):
            x = tensors[place.input]
            if x.dtype not in FLOATS:
                raise Error(f"{place.input}: the input of {place} is of {x.dtype}; float16, float32 and float64 are replaced")
            y = None
            if isinstance(place, RowPlace):
                x, y = (place.rows(tensors[name]).astype(np.float32) for name in (place.input, place.output))
                self.longest[k] = max(self.longest[k], x.shape[-1])
                if x.size and not place.is_norm:
                    keep = pwl_rows.kept(x) | np.isnan(x)  # these for the observer to refuse
                    x, y = x[keep], y[keep]
            try:
                self.inputs[k].observe(x)
                of = self.outputs[k]
                if of is not None:
                    of.observe(y)
            except Error as error:
                raise Error(f"batch {which}, {place.input}: {error}") from None

    def operator(self, k: int, bits: int, rows: Optional[int]) -> RowOperator:
        place, of, output = self.places[k], self.inputs[k].with_bits(bits).type(), self.outputs[k]
        assert isinstance(place, RowPlace) and output is not None
        output = output.with_bits(bits)
        if place.is_norm:
            fit_norm = pwl_rows.layernorm if place.function == "layernorm" else pwl_rows.rmsnorm
            return fit_norm(of, output.type(), gamma=place.gamma, beta=place.beta, eps=place.eps, rows=self.longest[k])
        rows = max(ROWS, self.longest[k]) if rows is None else rows
        if not isinstance(rows, int) or not self.longest[k] <= rows <= LONGEST:
            raise Error(f"rows={shown(rows)}: must be an integer from {self.longest[k]}, the longest row observed, to {LONGEST}")
        if place.function == "softmax":
            return pwl_rows.softmax(of, Type(bits, False, 2.0 ** -bits), rows=rows)
        return pwl_rows.log_softmax(of, output.type(), rows=rows)


def fit(model: Model, batches: Iterable[Batch], bits: int = 8, *, segments: Optional[int] = None,
        max_err: Optional[float] = None, observer: Optional[Callable[[Any], Observer]] = None,
        operators: bool = True, rows: Optional[int] = None, **flags: Any) -> dict[str, Computed]:
    """A table for each activation of a model, and a row operator for each softmax and norm, by the name of the tensor that
    it makes: from what they are given when ONNX Runtime runs the model on the batches.

    batches     arrays, or tuples of arrays, or dicts of arrays by the names of the model's inputs
    bits        of the codes at both sides of the tables, 2 to 16; of row operators 8, and 16 where more are asked
    segments    of each table, of least squared error over the codes that the data have; by default 16, and 64 beyond 8 bits
    max_err     instead, or as well: as many segments as it takes for this error in output LSB at every code
    observer    gives an observer of pwl.calibration for a Place, by default
                LeastSquares for up to 8 bits, and MinMax beyond; of a RowPlace one for what it is given and one for
                what it gives, by default MinMax for softmax
    operators   False: softmax and norms stay in float
    rows        the longest row that softmax takes; by default 4096, or the longest observed where that is longer
    flags       more of pwl.fit(), for all tables: method="lut" rounds correctly, of up to 12 bits
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 16:
        raise Error(f"bits={shown(bits)}: must be an integer from 2 to 16")
    model = load_model(model)
    seen = _Seen(find(model, operators), observer or (lambda place: _observer(place, bits)))
    for which, tensors in enumerate(run(model, seen.names(), batches)):
        seen.observe(tensors, which)
    if max_err is not None:
        flags["max_err"] = max_err
    if max_err is not None or flags.get("method") in ("minimax", "lut"):
        flags = {"weights": None, **flags}  # the largest error is that of any code
    if segments is None and max_err is None and flags.get("method") != "lut":
        segments = next(count for most, count in SEGMENTS.items() if bits <= most)
    if segments is not None:
        flags["segments"] = segments
    tables: dict[str, Computed] = {}
    for k, place in enumerate(seen.places):
        try:
            if isinstance(place, RowPlace):
                tables[place.output] = seen.operator(k, operator_bits(bits), rows)
            else:
                given: dict[str, Any] = {"param": dict(place.param), **flags} if place.param else flags
                tables[place.output] = seen.inputs[k].fit(place.function, **given)
        except ToolError as error:
            raise ToolError(f"{place.output}: {error}", error.code) from None
        except Error as error:
            raise Error(f"{place.output}: {error}") from None
    return tables


def _prefix(graph: onnx.GraphProto) -> str:
    """One that no name of the graph begins with."""
    names = {name for node in graph.node for name in (node.name, *node.input, *node.output)}
    names |= {value.name for value in (*graph.input, *graph.output, *graph.initializer)}
    return next(prefix for prefix in ("pwl", *(f"pwl{k}" for k in range(1, len(names) + 2)))
                if not any(name.startswith(prefix + "/") for name in names))


def _add_function(nodes: Nodes, graph: onnx.GraphProto, place: AnyPlace, table: Computed, x: str, output: str) -> None:
    """The place's own nodes between two quantisers."""
    given = add_row_quantisers(nodes, x, table, _turn(place)) if isinstance(table, RowOperator) else None
    names = {place.input: given or add_quantisers(nodes, x, table.input)}
    for k in place.nodes:
        node = copy.deepcopy(graph.node[k])
        for made in node.output:
            names[made] = nodes.name("float")
        node.name = nodes.name("float_node")
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names[name] for name in node.output]
        nodes.nodes.append(node)
    add_quantisers(nodes, names[place.output], table.output, output)


def _turn(place: AnyPlace) -> Optional[list[int]]:
    """The order of dimensions that puts rows last, and back; None where they are last."""
    if not isinstance(place, RowPlace) or place.axis == -1:
        return None
    order = list(range(place.rank))
    order[place.axis], order[-1] = order[-1], order[place.axis]
    return order


def _add_rows(nodes: Nodes, place: AnyPlace, operator: RowOperator, x: str, output: str) -> None:
    order = _turn(place)
    if order is None:
        add_operator(nodes, x, operator, output)
    else:
        y = add_operator(nodes, nodes.add("Transpose", x, perm=order), operator)
        nodes.add("Transpose", y, output=output, perm=order)


def _check_computed(name: str, place: AnyPlace, of: Computed) -> None:
    """Whether what is to be put there is of the right kind."""
    if not isinstance(place, RowPlace):
        if not isinstance(of, Table):
            raise Error(f"{name}: {type(of).__name__}; a pwl.Table is wanted")
    elif not isinstance(of, RowOperator) or of.operator != place.function:
        raise Error(f"{name}: {of!r}; a pwl.RowOperator of {place} is wanted")
    elif place.gamma is not None and of.rows != place.gamma.size:
        raise Error(f"{name}: an operator of {of.rows} channels; {place.gamma.size} are wanted")


def _used(graph: onnx.GraphProto) -> set[str]:
    """Tensors that something takes, in this graph or those within it."""
    names = {value.name for value in graph.output}
    for node in graph.node:
        names.update(node.input)
        for attribute in node.attribute:
            for within in (attribute.g, *attribute.graphs):
                names |= _used(within)
    return names


def _checked(model: Model) -> onnx.ModelProto:
    """load_model() of what onnx's checker takes, which is asked of the model with tables too."""
    made = load_model(model)
    try:
        onnx.checker.check_model(made, full_check=True)
    except Exception as error:
        raise Error(f"onnx's checker refuses the model as it is: {error}") from None
    return made


def replace(model: Model, tables: Mapping[str, Computed], *, quantisers_only: bool = False) -> onnx.ModelProto:
    """A copy of a model with tables in the place of activations, and row operators in that of softmax and norms, by the names
    of the tensors that these make: QuantizeLinear, integers, DequantizeLinear. With quantisers_only these stay, in float,
    between the quantisers of what would take their place: what such a model loses, quantising costs, and no table gives it
    back.

    Real numbers half way between two codes may round to the other than Type.quantize has it, which multiplies by the
    scale's reciprocal where QuantizeLinear divides. From the code on, the bits are the table's.
    """
    model = _checked(model)
    graph, prefix = model.graph, _prefix(model.graph)
    places = {place.output: place for place in find(model)}
    for name, table in tables.items():
        if name not in places:
            raise Error(f"{shown(name)}: no activation of the model makes this tensor; they make {', '.join(places)}")
        _check_computed(name, places[name], table)
    inferred = {value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.value_info}
    types = {value.name: value.type.tensor_type.elem_type for value in (*inferred.values(), *graph.input, *graph.output)}
    # A look-up hides the shape, which nodes after it may want to know.
    told = {value.name for value in (*graph.value_info, *graph.output)}
    graph.value_info.extend(inferred[name] for name in tables if name in inferred and name not in told)
    new: dict[int, list[onnx.NodeProto]] = {}  # by the node in whose place they stand
    shared: dict[tuple[str, bytes], str] = {}
    for which, (name, table) in enumerate(tables.items()):
        place = places[name]
        nodes = Nodes(f"{prefix}/{which}", _opset(model), shared)
        element = types.get(place.input, TensorProto.FLOAT) or TensorProto.FLOAT
        x = place.input if element == TensorProto.FLOAT else nodes.cast(place.input, TensorProto.FLOAT)
        y = name if element == TensorProto.FLOAT else nodes.name("float")
        if quantisers_only:
            if element != TensorProto.FLOAT:
                raise Error(f"{place.input}: quantisers_only takes float32")
            _add_function(nodes, graph, place, table, x, y)
        elif isinstance(table, RowOperator):
            _add_rows(nodes, place, table, x, y)
        else:
            add_table(nodes, x, table, y)
        if y != name:
            nodes.add("Cast", y, output=name, to=element)
        root = next(k for k, node in enumerate(graph.node) if name in node.output)
        new[root] = nodes.nodes
        graph.initializer.extend(nodes.initializers)
    kept = [node for k, old in enumerate(graph.node) for node in new.get(k, [old])]
    parts = {out for name in tables for k in places[name].nodes for out in graph.node[k].output}
    del graph.node[:]
    graph.node.extend(kept)
    while True:  # what only served the activations that are gone
        used = _used(graph)
        left = [node for node in graph.node if not (set(node.output) <= parts and not set(node.output) & used)]
        if len(left) == len(graph.node):
            break
        del graph.node[:]
        graph.node.extend(left)
    constants = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(constants)
    onnx.checker.check_model(model, full_check=True)
    return model


def convert(model: Model, batches: Iterable[Batch], bits: int = 8, *, segments: Optional[int] = None,
            max_err: Optional[float] = None, observer: Optional[Callable[[Any], Observer]] = None, operators: bool = True,
            rows: Optional[int] = None, **flags: Any) -> onnx.ModelProto:
    """A copy of a model with tables for activations, and row operators for softmax and norms: replace() with what fit()
    gives. The arguments are those of fit()."""
    model = _checked(model)  # before batches run
    return replace(model, fit(model, batches, bits, segments=segments, max_err=max_err, observer=observer,
                              operators=operators, rows=rows, **flags))


def to_model(table: Computed, opset: int = 21) -> onnx.ModelProto:
    """A model of a table alone: from "x" to "y", arrays of real numbers in float32. Of a row operator, its arrays have two
    dimensions, and the last is the row."""
    if not isinstance(table, (Table, RowOperator)):
        raise Error(f"{type(table).__name__}; a pwl.Table is wanted, or a pwl.RowOperator")
    if not isinstance(opset, int) or opset < OLDEST:
        raise Error(f"opset={shown(opset)}: {OLDEST} is the oldest that will do")
    nodes = Nodes("pwl", opset)
    if isinstance(table, RowOperator):
        add_operator(nodes, "x", table, "y")
        name, shape = table.operator, ["count", "row"]
    else:
        add_table(nodes, "x", table, "y")
        name, shape = table.function or "table", ["count"]
    sides = [helper.make_tensor_value_info(side, TensorProto.FLOAT, shape) for side in ("x", "y")]
    graph = helper.make_graph(nodes.nodes, name, sides[:1], sides[1:], nodes.initializers)
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, producer_name="pwl")
    model.ir_version = helper.find_min_ir_version_for(imports)
    onnx.checker.check_model(model, full_check=True)
    return model
