# SPDX-License-Identifier: Apache-2.0
"""Many fits, explorations and sweeps, on the workers of any concurrent.futures.Executor: processes of this machine, a
cluster of Dask, ranks of mpi4py. What is returned does not depend on the workers."""
from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import tempfile
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from .arguments import Arguments, flags
from .codes import Type
from .errors import Error
from .fit import fitted, prepared
from .program import run
from .table import Table

__all__ = ["explore", "fit_many", "sweep"]

Executor = Optional[concurrent.futures.Executor]
EVERY_CODE = 1 << 20  # codes that a sweep visits in any case; beyond, exhaustive=True has jobs

# Flags that say what these functions say themselves.
NOT_HERE = {"o": "the rows are returned", "format": "the rows are returned", "resume": "give an executor",
            "shard": "give an executor", "jobs": "give an executor", "svg": "pwlc draws", "plot": "pwlc draws",
            "codes": "pwlc writes them", "anchors": "pwlc fits them", "baseline": "give both tables"}


class _Here(concurrent.futures.Executor):
    """Where there is no executor: each call at once."""

    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        future.set_result(function(*arguments, **keywords))
        return future


def fit_many(jobs: Iterable[Mapping[str, Any]], executor: Executor = None) -> list[Table]:
    """A table of each job, in their order: a job is a dict of the arguments of fit().

        with concurrent.futures.ProcessPoolExecutor() as executor:
            tables = pwl.fit_many([dict(function=name, input="s8:2^-4", output="s8:2^-4") for name in names], executor)

    Functions of Python are sampled here, so that workers need to know pwl alone."""
    executor = executor or _Here()
    futures = [executor.submit(fitted, *prepared(**job)) for job in jobs]
    return [future.result() for future in futures]


def _run_in_folder(files: Mapping[str, bytes], words: Sequence[str], result: Optional[str] = None) -> bytes:
    """What a command prints, or one of its files, in a folder that has the files."""
    with tempfile.TemporaryDirectory(prefix="pwl-") as folder:
        for name, content in files.items():
            pathlib.Path(folder, name).write_bytes(content)
        printed = run(words, folder=folder)
        return pathlib.Path(folder, result).read_bytes() if result else printed


class _Command:
    """A command line and the files that it reads, by names that are the same wherever it runs."""

    def __init__(self, words: Sequence[str], files: Mapping[str, bytes], keywords: Mapping[str, Any]) -> None:
        for keyword, why in NOT_HERE.items():
            if keyword in keywords:
                raise Error(f"{keyword}: no keyword of {words[0]}(); {why}")
        arguments = Arguments(words[0], {keyword: self._found(words[0], keyword, value)
                                         for keyword, value in keywords.items()})
        with arguments as given:
            folder = arguments.folder.name + os.sep
            self.files = {**files, **{path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}}
            self.words = [*words, *(word.replace(folder, "") for word in given), "--format", "json"]

    @staticmethod
    def _found(command: str, keyword: str, value: Any) -> Any:
        """A file's name that holds in other folders."""
        is_file = flags(command).get(keyword, {}).get("argument") == "FILE"
        return os.path.abspath(value) if is_file and isinstance(value, (str, os.PathLike)) else value

    def shards(self, executor: concurrent.futures.Executor, count: int) -> list[Any]:
        """The futures of the journals of so many shards; of what is printed, where that is one."""
        if count == 1:
            return [executor.submit(_run_in_folder, self.files, self.words)]
        return [executor.submit(_run_in_folder, self.files,
                                [*self.words, "--shard", f"{shard + 1}/{count}", "--resume", "journal"], "journal")
                for shard in range(count)]

    def rows(self, futures: Sequence[Any]) -> list[dict[str, Any]]:
        """What the command prints, from its shards."""
        results = [future.result() for future in futures]
        if len(results) == 1:
            printed = results[0]
        else:
            journals = {f"journal{shard}": journal for shard, journal in enumerate(results)}
            printed = _run_in_folder({**self.files, **journals}, ["merge", *journals])
        rows: list[dict[str, Any]] = json.loads(printed)
        return rows


def _checked(shards: int) -> int:
    if not isinstance(shards, int) or shards < 1:
        raise Error(f"shards={shards!r}: a number of parts, 1 or more")
    return shards


def explore(function: Optional[str] = None, *, input: Union[str, Type, None] = None,
            output: Union[str, Type, None] = None, executor: Executor = None, shards: int = 16,
            **keywords: Any) -> list[dict[str, Any]]:
    """`pwlc explore`, whose flags are keywords: a dict for each combination, with the fields of `--format json`. With an
    executor, in so many parts, which take what comes: more than there are workers keep them all busy to the end."""
    words = ["explore", *([function] if function else [])]
    count = _checked(shards) if executor else 1
    command = _Command(words, {}, {"input": input, "output": output, **keywords})
    return command.rows(command.shards(executor or _Here(), count))


def sweep(tables: Iterable[Union[Table, str, "os.PathLike[str]"]], *, executor: Executor = None, shards: int = 16,
          **keywords: Any) -> list[dict[str, Any]]:
    """`pwlc sweep` of tables, or of their files, whose flags are keywords: a dict for each, with the fields of `--format
    json`. With an executor, each table is a part, and with exhaustive=True a wide one has as many as `shards` says."""
    _checked(shards)
    if isinstance(tables, (Table, str, os.PathLike)):
        raise Error("sweep: of a list of tables or files; of one, [table]")
    commands = []
    for number, of in enumerate(tables):
        text = of.to_json() if isinstance(of, Table) else pathlib.Path(of).read_text(encoding="utf-8")
        name = f"table{number}.json" if isinstance(of, Table) else os.path.basename(of)
        table = json.loads(text)
        wide = "in" in table and table["in"]["qmax"] - table["in"]["qmin"] >= EVERY_CODE
        command = _Command(["sweep", name], {name: text.encode()}, keywords)
        commands.append((command, command.shards(executor or _Here(),
                                                 shards if executor and wide and keywords.get("exhaustive") else 1)))
    return [row for command, futures in commands for row in command.rows(futures)]
