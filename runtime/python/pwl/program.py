# SPDX-License-Identifier: Apache-2.0
"""The program pwlc: where it is, and what it replies."""
from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
from typing import Any, Mapping, Optional, Sequence

from .errors import MissingError, ToolError

__all__ = ["pwlc", "reply", "run", "type_fields"]

RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")  # by which pwlc knows that mpirun started it


@functools.lru_cache(maxsize=None)
def pwlc() -> str:
    """The path of pwlc: that in the environment's PWLC, else the one installed with this package, else that in PATH.
    MissingError where there is none."""
    named = os.environ.get("PWLC")
    if named:
        return named
    try:
        installed: Sequence[Any] = importlib.metadata.files("pwl") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.name in ("pwlc", "pwlc.exe"):
            path = pathlib.Path(str(file.locate())).resolve()
            if os.access(path, os.X_OK):
                return str(path)
    found = shutil.which("pwlc")
    if found is None:
        raise MissingError("pwlc is not here: install the package with it (its build leaves it out with "
                           "-Dfitter=disabled), put it in PATH, or name it in the environment's PWLC")
    return found


def run(arguments: Sequence[str], text: Optional[bytes] = None, folder: Optional[str] = None) -> bytes:
    """What pwlc prints, in a folder. ToolError when it refuses."""
    # A rank of MPI may run pwlc, which is no rank by that.
    environment = {name: value for name, value in os.environ.items() if name not in RANKS}
    try:
        done = subprocess.run([pwlc(), *arguments], input=text, stdin=subprocess.DEVNULL if text is None else None,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**environment, "NO_COLOR": "1"},
                              cwd=folder, check=False)
    except OSError as error:
        raise MissingError(f"pwlc cannot be run: {error}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise ToolError(said or f"pwlc {arguments[0]} ended with {done.returncode}, and said nothing", done.returncode)
    return done.stdout


def reply(arguments: Sequence[str]) -> tuple[bytes, tuple[str, ...]]:
    """What pwlc makes of a command with --reply, and what it notes on it."""
    answer = json.loads(run([*arguments, "--reply"]))
    return answer["result"].encode(), tuple(answer["notes"])


@functools.lru_cache(maxsize=1024)
def type_fields(text: str) -> Mapping[str, Any]:
    """What the text of a type says, as the side of a table's JSON."""
    fields: Mapping[str, Any] = json.loads(run(["--type", text]))
    return fields
