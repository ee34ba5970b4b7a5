#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pwl.fit_many(), explore() and sweep() on executors: what one process gives. PYTHONPATH says where the package is.

usage: test_jobs.py PWLC [dask]
       PWLC=PWLC mpirun -n 3 python3 -m mpi4py.futures test_jobs.py PWLC mpi4py
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import end, np, refused, test

import pwl

pwlc = pathlib.Path(os.environ.get("PWLC") or sys.argv[1]).resolve()
kind = sys.argv[2] if len(sys.argv) > 2 else "processes"
os.environ.setdefault("PWLC", str(pwlc))  # ranks other than 0 have other arguments


@contextlib.contextmanager
def executor():
    if kind == "dask":
        from dask.distributed import Client, LocalCluster
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            yield client.get_executor()
    elif kind == "mpi4py":
        from mpi4py.futures import MPIPoolExecutor
        with MPIPoolExecutor() as ranks:
            yield ranks
    else:
        with concurrent.futures.ProcessPoolExecutor(2) as processes:
            yield processes


def printed(*words):
    """As one process prints it, which is no rank of MPI."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI"))}
    return subprocess.run([pwlc, *words], capture_output=True, text=True, check=True, env=alone).stdout


def main():
    @test(f"tables of many functions, in their order, by {kind}")
    def _():
        jobs = [dict(function=name, input="s8:2^-5", output="s8:2^-6", segments=count)
                for name in ("tanh", "gelu", "silu") for count in (4, 8)]
        jobs.append(dict(function=lambda x: x * np.tanh(x), input="s8:2^-5", output="s8:2^-5", segments=8, symmetry="off"))
        with executor() as workers:
            tables = pwl.fit_many(jobs, workers)
        assert [table.to_json() for table in tables] == [table.to_json() for table in pwl.fit_many(jobs)]
        assert tables[1].to_json() == printed("fit", "tanh", "--in", "s8:2^-5", "--out", "s8:2^-6", "--segments", "8")
        assert tables[0].notes == pwl.fit(**jobs[0]).notes

    @test(f"an exploration in shards, by {kind}")
    def _():
        rows = json.loads(printed("explore", "tanh", "--in", "s8:2^-5", "--out", "s8:2^-7", "--segments", "4,8", "--method",
                                  "minimax,lsq", "--format", "json"))
        with executor() as workers:
            for shards in (1, 2, 5):
                assert pwl.explore("tanh", input="s8:2^-5", output="s8:2^-7", segments="4,8", method="minimax,lsq",
                                   executor=workers, shards=shards) == rows
            weights = np.arange(256) % 7 + 1  # a file that the workers do not have
            assert pwl.explore("tanh", input="s8:2^-5", output="s8:2^-7", segments="4", weights=weights, executor=workers,
                               shards=2) == pwl.explore("tanh", input="s8:2^-5", output="s8:2^-7", segments="4",
                                                        weights=weights)

    @test(f"every code of tables, narrow and wide ones, by {kind}")
    def _():
        wide = pwl.fit("tanh", input="s22:2^-18", output="s16:2^-15", segments=16)
        narrow = pwl.fit("gelu", input="s8:2^-5", output="s8:2^-6", segments=8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "wide.json")
            wide.save(path)
            rows = json.loads(printed("sweep", str(path), "--exhaustive", "--format", "json"))
            rows[0]["table"] = "wide.json"
            with executor() as workers:
                assert pwl.sweep([path], exhaustive=True, executor=workers, shards=3) == rows
                both = pwl.sweep([wide, narrow], exhaustive=True, executor=workers, shards=4)
        assert [row["table"] for row in both] == ["table0.json", "table1.json"]
        assert both == pwl.sweep([wide, narrow], exhaustive=True)
        assert {**both[0], "table": "wide.json"} == rows[0]

    @test(f"what a worker refuses is raised here, by {kind}")
    def _():
        types = dict(input="s8:2^-5", output="s8:2^-7")
        with executor() as workers:
            refused("did you mean tanh?", lambda: pwl.fit_many([dict(function="tanh", **types),
                                                                dict(function="tahn", **types)], workers), pwl.ToolError)
            refused("--segments", lambda: pwl.explore("tanh", **types, segments="0", executor=workers, shards=1),
                    pwl.ToolError)
        refused("shards=0", lambda: pwl.explore("tanh", **types, executor=concurrent.futures.ThreadPoolExecutor(), shards=0))
        refused("shard: no keyword of explore()", lambda: pwl.explore("tanh", shard="1/2"))
        refused("shards=-1", lambda: pwl.sweep([], shards=-1))
        for one in (pwl.fit("tanh", **types), "tanh.json", pathlib.Path("tanh.json")):
            refused("of one, [table]", lambda: pwl.sweep(one))

    end()


if __name__ == "__main__":
    main()
