# SPDX-License-Identifier: Apache-2.0
"""What is replaced in a model: activations, softmax and norms."""
from __future__ import annotations

from typing import Union

import onnx

from ..errors import Error
from ..rows import RowOperator
from ..table import Table
from .expressions import FUNCTIONS, Place, find_activations
from .row_places import RowPlace, find_rows

__all__ = ["AnyPlace", "Computed", "find"]

AnyPlace = Union[Place, RowPlace]
Computed = Union[Table, RowOperator]  # what takes a place


def find(model: onnx.ModelProto, operators: bool = True) -> list[AnyPlace]:
    """The activations of a model's graph, in its order, and before them, where operators is true, its softmaxes and norms;
    those within If, Loop and Scan are not looked for. Of an If whose condition is constant fit() and replace() have put the
    branch into the graph."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    rows = find_rows(graph) if operators else []
    places: list[AnyPlace] = [*rows, *find_activations(graph, {k for place in rows for k in place.nodes})]
    if not places:
        raise Error(f"the model has no activation to replace; looked for were {', '.join(FUNCTIONS)}, as nodes of their own and "
                    "spelled by elementwise operators of one tensor" + (", softmax, log-softmax, LayerNorm and RMSNorm over the "
                                                                        "last axis" if operators else "")
                    + ", in the model's main graph")
    return places
