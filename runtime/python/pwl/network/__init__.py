# SPDX-License-Identifier: Apache-2.0
"""Whole networks by integers: products, softmax, norms, activations and what lies between them.

    network = pwl.torch.quantize(model, batches)     # or pwl.network.load("encoder.json")
    y = network(ids, mask)                           # codes to codes, by libpwl
    network(ids, mask, by="numpy")                   # the same codes: the reference
    network.real(ids, mask)                          # real numbers of the output
    print(network.report(ids, mask))                 # what each node loses
    network.save("encoder.json")

docs/networks.md has the nodes' formulas, the file, and what a check proves.
"""
from . import llama
from .decoding import Decoding
from .floats import FloatNetwork, Input, Op, without_scales
from .graph import Network, load
from .kinds import Edge, Node
from .quantise import Ranges, Widths, cheapest, quantise
from .report import Loss, Report, relative_loss

__all__ = ["Decoding", "Edge", "FloatNetwork", "Input", "Loss", "Network", "Node", "Op", "Ranges", "Report", "Widths", "cheapest", "llama", "load", "quantise",
           "relative_loss", "without_scales"]
