# SPDX-License-Identifier: Apache-2.0
"""python -m pwl: versions, and what this machine has."""
import platform

import numpy

import pwl

# Bits of <pwl/plan.h>.
LEVELS = ["SSE4.1", "AVX2", "AVX-512", "AVX-512 VBMI", "NEON", "DSP", "Helium", "RVV", "SVE2"]


def main() -> None:
    levels = [name for bit, name in enumerate(LEVELS) if pwl.levels() >> bit & 1]
    print(f"pwl {pwl.__version__}, Python {platform.python_version()}, numpy {numpy.__version__}")
    print(f"levels: {', '.join(levels) or 'plain C'}")


if __name__ == "__main__":
    main()
