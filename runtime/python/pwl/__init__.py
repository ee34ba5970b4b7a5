# SPDX-License-Identifier: Apache-2.0
"""pwl: activation functions as integer tables, fitted by pwlc and mapped over arrays by libpwl.

    import numpy as np
    import pwl

    table = pwl.fit("sigmoid", input="u16:2^-12:24576", output="u16:2^-16:-1")  # by the program pwlc
    table = pwl.load("sigmoid.json")        # as pwlc fit writes it; proven safe to run
    y = table(np.array([24986], np.uint16)) # codes to codes, in integers: the codes of `pwlc eval`
    table(x, out=x)                         # in place, where elements have one size
    table.real([0.1, 0.2])                  # real numbers in and out, by the same integers

Codes stand for real numbers: real = scale * (code - zero_point). Calls may come from any number of threads, and long
ones run without Python's lock. Tables can be pickled.
"""
from . import calibration, gguf, network, qgemm
from ._core import levels
from ._core import version as __version__
from .arguments import flags
from .certificate import OperatorCertificate
from .codes import Type
from .elements import ElementOperator, add, requantise
from .errors import Error, MissingError, ToolError
from .fit import emit, export, fit, import_table
from .jobs import explore, fit_many, sweep
from .operators import load_operator
from .program import pwlc
from .rows import RowOperator, l2norm, layernorm, log_softmax, rmsnorm, softmax
from .table import LEVELS_ALL, Certificate, Plan, Table, load
from .weighted import WeighOperator, weigh

__all__ = ["Certificate", "ElementOperator", "Error", "LEVELS_ALL", "MissingError", "OperatorCertificate", "Plan",
           "RowOperator", "Table", "ToolError", "Type", "WeighOperator", "__version__", "add", "calibration", "emit",
           "explore", "export", "fit", "fit_many", "flags", "gguf", "import_table", "l2norm", "layernorm", "levels",
           "load", "load_operator", "log_softmax", "network", "pwlc", "qgemm", "requantise", "rmsnorm", "softmax",
           "sweep", "weigh"]
