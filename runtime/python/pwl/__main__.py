# SPDX-License-Identifier: Apache-2.0
"""python -m pwl: versions, and what this machine has."""
import platform
import subprocess

import numpy

import pwl
from pwl import cuda

# Bits of <pwl/plan.h>.
LEVELS = ["SSE4.1", "AVX2", "AVX-512", "AVX-512 VBMI", "NEON", "DSP", "Helium", "RVV", "SVE2"]


def compiler() -> str:
    try:
        path = pwl.pwlc()
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        return f"{version}, {path}"
    except (pwl.MissingError, OSError, subprocess.SubprocessError) as error:
        return f"pwlc: {error}"


def device() -> str:
    try:
        current = cuda.library().pwl_device_current()
        return f"CUDA: device {current}" if current >= 0 else "CUDA: no device"
    except pwl.MissingError:
        return "CUDA: the package was built without"


def main() -> None:
    levels = [name for bit, name in enumerate(LEVELS) if pwl.levels() >> bit & 1]
    print(f"pwl {pwl.__version__}, Python {platform.python_version()}, numpy {numpy.__version__}")
    print(f"levels: {', '.join(levels) or 'plain C'}")
    print(compiler())
    print(device())


if __name__ == "__main__":
    main()
