#!/usr/bin/env python3
"""`tracedb ingest --shard` under a launcher of MPI: each process takes the rank that it is given.
What is gathered answers as one database of all traces does. `./dev test-scale` has what this
needs."""
import argparse
import os
import pathlib
import subprocess
import tempfile

FIXTURE = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "megatron"
RANKS = 8
QUERIES = ("straggler_steps", "nccl_stall_roots", "nccl_stalls", "overlap", "clocks")


def launched(program, folder):
    """As a user would on a cluster; nothing of a launcher that this test may run under counts."""
    own = ("RANK", "WORLD_SIZE", "SLURM_", "OMPI_", "PMI_", "PMIX_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run(["mpirun", "--oversubscribe", "-n", str(RANKS), program, "-q", "ingest", "--run",
                    "job", "--shard", folder / "summaries", "--db", folder / "{rank}.db", FIXTURE],
                   env=environment, check=True, timeout=120)
    assert sorted(os.listdir(folder / "summaries" / "run=job")) == \
        [f"rank={rank}" for rank in range(RANKS)]
    subprocess.run([program, "-q", "gather", folder / "summaries", "-o", folder / "job.db"],
                   check=True)
    return folder / "job.db"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    with tempfile.TemporaryDirectory(prefix="tracedb-launchers-") as name:
        folder = pathlib.Path(name)
        gathered = launched(program, folder)
        whole = folder / "whole.db"
        subprocess.run([program, "-q", "ingest", "--run", "job", "--db", whole, FIXTURE],
                       check=True)
        for query in QUERIES:
            answers = []
            for database in (gathered, whole):
                done = subprocess.run([program, "query", query, "--db", database, "--format",
                                       "csv"], check=True, capture_output=True, text=True)
                answers.append([line for line in done.stdout.splitlines() if line])
            assert len(answers[0]) > 1, query
            assert answers[0] == answers[1], f"{query}: {answers[0][:3]} and {answers[1][:3]}"
            print(f"ok   mpirun -n {RANKS}: {query}, {len(answers[0]) - 1} rows")
    print("all passed")


if __name__ == "__main__":
    main()
