#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks that every platform runs, and the hashes of what they give. They are kept in networks/, as tests/python/networks.py
once made them of operators that pwlc fitted: a better fit changes no hash. The headers are what pwlc emits of them; the hashes
come from pwl.network, which computes by numpy. PYTHONPATH says where the package is.

    make_networks.py PWLC SOURCE            TAP: the headers and the hashes that are checked in are these
    make_networks.py PWLC SOURCE --write    writes them
    make_networks.py PWLC SOURCE --fit      makes the networks anew, then writes them
"""
import os
import pathlib
import subprocess
import sys

PWLC, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
os.environ["PWLC"] = PWLC
sys.path.insert(0, str(ROOT / "tests/python"))
import networks  # noqa: E402
import numpy as np  # noqa: E402
from pwl.network import load  # noqa: E402
from pwl.network.kinds import sizes_of  # noqa: E402

KEPT = ROOT / "tests/golden/networks"
SMALL = dict(seed=5, hidden=4, inputs=3, longest=7)
NETWORKS = {"encoder": lambda: networks.encoder(5, width=8, layers=1, words=12, longest=6),
            "decoder": lambda: networks.decoder(5, width=8, heads=2, kept=1, words=12, capacity=6, places=6),
            "vision": lambda: networks.vision(3, 1, 3, 5), "gru": lambda: networks.gru(**SMALL),
            "gru_reverse": lambda: networks.gru(**SMALL, reverse=1)}
RUNS = 3
MASK = (1 << 64) - 1


def random_bits(state):
    """splitmix64, as tests/support/random.h has it."""
    state[0] = state[0] + 0x9E3779B97F4A7C15 & MASK
    z = state[0]
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def line(name, network):
    """As tests/platform/network_equivalence.c prints it: FNV-1a of the outputs' codes, as 32 bits each."""
    hashed, state = 0xCBF29CE484222325, [0]
    for _ in range(RUNS):
        sizes = {size: 1 + random_bits(state) % longest for size, longest in network.sizes.items()}
        codes = []
        for edge in (network.edges[name] for name in network.inputs):
            shape = sizes_of(edge.shape, sizes)
            drawn = [edge.type.qmin + random_bits(state) % (edge.type.qmax - edge.type.qmin + 1) for _ in range(int(np.prod(shape)))]
            codes.append(np.array(drawn, edge.type.dtype).reshape(shape))
        made = network(*codes, by="numpy")
        for array in made if isinstance(made, tuple) else (made,):
            for code in array.ravel():
                hashed = (hashed ^ int(code) & 0xFFFFFFFF) * 0x100000001B3 & MASK
    return f"few networks {name} {hashed:016x}"


def main():
    if "--fit" in sys.argv:
        for name, make in NETWORKS.items():
            make().save(KEPT / f"{name}.json")
    found = {name: load(KEPT / f"{name}.json") for name in NETWORKS}
    headers = {name: subprocess.run([PWLC, "emit", KEPT / f"{name}.json", "--name", "golden_" + name], check=True,
                                    capture_output=True, text=True).stdout for name in NETWORKS}
    hashes = [line(name, network) for name, network in found.items()]
    kept = (ROOT / "tests/platform/hashes.txt").read_text().splitlines()
    if len(sys.argv) > 3:
        for name, text in headers.items():
            (KEPT / f"{name}.h").write_text(text)
        others = [one for one in kept if " networks " not in one]
        (ROOT / "tests/platform/hashes.txt").write_text("\n".join(others + hashes) + "\n")
        return
    print(f"1..{len(headers) + 1}")
    for k, (name, text) in enumerate(headers.items()):
        print(f"{'ok' if (KEPT / f'{name}.h').read_text() == text else 'not ok'} {k + 1} - {name}.h is what pwlc emits")
    print(f"{'ok' if set(hashes) <= set(kept) else 'not ok'} {len(headers) + 1} - hashes.txt has what numpy gives")


main()
