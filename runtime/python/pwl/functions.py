# SPDX-License-Identifier: Apache-2.0
"""The functions of pwlc that torch and ONNX have too: what each calls them, and their values in double."""
from __future__ import annotations

import dataclasses
import math
from typing import Callable, Optional

import numpy as np

from .codes import Array

__all__ = ["FUNCTIONS", "Function", "elu", "erf", "gelu", "gelu_tanh", "hard_sigmoid", "sigmoid", "softplus"]

Values = Callable[..., Array]
erf: Values = np.vectorize(math.erf, otypes=[np.float64])


def softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0, x))


def sigmoid(x: Array) -> Array:
    return np.asarray(np.exp(-softplus(-x)))


def elu(x: Array, alpha: float = 1.0) -> Array:
    return np.asarray(np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x))


def gelu(x: Array) -> Array:
    return np.asarray(x * (1 + erf(x / math.sqrt(2))) / 2)


def gelu_tanh(x: Array) -> Array:
    return np.asarray(x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2)


def hard_sigmoid(x: Array, alpha: float = 1 / 6, beta: float = 0.5) -> Array:
    return np.asarray(np.clip(alpha * x + beta, 0, 1))


@dataclasses.dataclass(frozen=True)
class Function:
    """A function by pwlc's name. torch is its name in torch.nn.functional, or in torch; onnx its operator: each empty where
    there is none of that kind, or only with an attribute, as gelu's approximate="tanh". values is given for activations:
    what a model's nodes are compared with."""

    name: str
    torch: str = ""
    onnx: str = ""
    values: Optional[Values] = None


FUNCTIONS = {function.name: function for function in [
    Function("gelu", "gelu", "Gelu", gelu),
    Function("gelu_tanh", values=gelu_tanh),
    Function("quick_gelu", values=lambda x: x * sigmoid(1.702 * x)),
    Function("silu", "silu", "Swish", lambda x: x * sigmoid(x)),
    Function("sigmoid", "sigmoid", "Sigmoid", sigmoid),
    Function("tanh", "tanh", "Tanh", np.tanh),
    Function("softplus", "softplus", "Softplus", softplus),
    Function("mish", "mish", "Mish", lambda x: x * np.tanh(softplus(x))),
    Function("elu", "elu", "Elu", elu),
    Function("selu", "selu", "Selu", lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772)),
    Function("logsigmoid", "logsigmoid", values=lambda x: -softplus(-x)),
    Function("softsign", "softsign", "Softsign", lambda x: x / (1 + np.abs(x))),
    Function("hard_sigmoid", "hardsigmoid", "HardSigmoid", hard_sigmoid),
    Function("hard_swish", "hardswish", "HardSwish", lambda x: x * hard_sigmoid(x)),
    Function("relu6", "relu6"),
    Function("leaky_relu", "leaky_relu", "LeakyRelu"),
    Function("exp", "exp", "Exp"),
    Function("log", "log", "Log"),
    Function("erf", "erf", "Erf"),
    Function("sqrt", "sqrt", "Sqrt"),
    Function("rsqrt", "rsqrt"),
    Function("reciprocal", "reciprocal", "Reciprocal"),
    Function("sin", "sin", "Sin"),
    Function("cos", "cos", "Cos"),
    Function("atan", "atan", "Atan"),
]}
