#!/usr/bin/env python3
"""One rank's `ingest --shard` is killed at random moments: the others are not affected, gather
names the rank, nothing is half there, and a second run completes it."""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FIXTURE = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "seqpar"
RANKS = 4
KILLED = 2


class Failed(Exception):
    pass


def ingest(program, folder, rank, wait=True):
    environment = dict(os.environ, OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE=str(RANKS))
    for name in ("RANK", "WORLD_SIZE", "TRACEDB_DB"):
        environment.pop(name, None)
    command = [program, "-q", "ingest", "--shard", folder / "out", "--db", folder / "{rank}.db",
               "--run", "job", FIXTURE]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    if not wait:
        return child
    said = child.communicate()[1]
    if child.returncode != 0:
        raise Failed(f"rank {rank}: exit {child.returncode}: {said}")
    return child


def gather(program, folder):
    job = folder / "job.db"
    run = subprocess.run([program, "gather", folder / "out", "-o", job], capture_output=True,
                         text=True, check=False)
    return run.returncode, run.stderr


def rows_of(program, database, rank):
    """What the database says of one rank alone."""
    answer = subprocess.run([program, "-q", "query", "stream_utilization", "-p", f"rank={rank}",
                             "--db", database, "--format", "csv"], capture_output=True, text=True,
                            check=True).stdout
    return answer


def check_after(program, folder, whole, before):
    """`before`: an older summary of the rank was there when it was killed."""
    code, said = gather(program, folder)
    there = (folder / "out" / "run=job" / f"rank={KILLED}" / "manifest.json").exists()
    if there != (code == 0):
        raise Failed(f"manifest {there}, and gather: exit {code}: {said}")
    if before and not there:
        raise Failed("the summary from before is gone")
    if not there and f"rank {KILLED} of run job" not in said:
        raise Failed(f"the rank is not named: {said}")
    for rank in range(RANKS):
        if rank != KILLED and rows_of(program, folder / "job.db", rank) != whole[rank]:
            raise Failed(f"rank {rank} is not as it was")
    if not there:
        run = subprocess.run([program, "query", "overlap", "--db", folder / "job.db"],
                             capture_output=True, text=True, check=True)
        if f"rank {KILLED} of run job" not in run.stderr:
            raise Failed(f"an answer does not name the rank: {run.stderr}")


def check(program, folder, kills, chance):
    for rank in range(RANKS):
        start = time.monotonic()
        ingest(program, folder, rank)
        seconds = time.monotonic() - start
    code, said = gather(program, folder)
    if code != 0:
        raise Failed(f"gather of all: exit {code}: {said}")
    whole = [rows_of(program, folder / "job.db", rank) for rank in range(RANKS)]
    was_killed = 0
    before = False
    for number in range(kills):
        before = number % 3 == 0
        summary = folder / "out" / "run=job" / f"rank={KILLED}"
        if not before:
            shutil.rmtree(summary, ignore_errors=True)
        if number % 2 == 0:  # else the trace is in the database, and the summary alone is made
            for path in folder.glob(f"{KILLED}.db*"):
                path.unlink()
        elif not (folder / f"{KILLED}.db").exists():
            ingest(program, folder, KILLED)
            if not before:
                shutil.rmtree(summary)
        if before and not summary.exists():
            ingest(program, folder, KILLED)
        child = ingest(program, folder, KILLED, wait=False)
        time.sleep(chance.random() * seconds * (1 if number % 2 == 0 else 0.5))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        was_killed += child.returncode == -signal.SIGKILL
        check_after(program, folder, whole, before)
    if was_killed == 0:
        raise Failed("nothing was killed while it worked")
    ingest(program, folder, KILLED)
    code, said = gather(program, folder)
    if code != 0:
        raise Failed(f"gather at the end: exit {code}: {said}")
    if rows_of(program, folder / "job.db", KILLED) != whole[KILLED]:
        raise Failed("the rank is not as it was")
    left = [path.name for path in (folder / "out" / "run=job").iterdir()
            if not path.name.startswith("rank=")]
    left += [path.name for path in folder.iterdir() if ".partial" in path.name]
    if left:
        raise Failed(f"litter: {left}")
    print(f"{kills} kills, {was_killed} of them while it worked")


def check_signal(program, shim, folder):
    """A signal while the summary is written: exit 1, no summary, and the same command writes it."""
    told = {"LD_PRELOAD": shim, "FAULT_UNDER": str(folder / "out"), "FAULT_CALLS": "write",
            "FAULT_AT": "1", "FAULT_HOW": "signal", "FAULT_ERRNO": str(int(signal.SIGINT))}
    command = [program, "-q", "--db", folder / "0.db", "ingest", "--shard", folder / "out",
               "--run", "job", FIXTURE]
    done = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True,
                          check=False)
    if done.returncode != 1 or "the same command writes their summaries" not in done.stderr:
        raise Failed(f"after a signal: exit {done.returncode}: {done.stderr}")
    left = [path for path in (folder / "out").rglob("*") if path.is_file()]
    if left:
        raise Failed(f"after a signal: {left}")
    subprocess.run(command, check=True)
    code, said = gather(program, folder)
    if code != 0:
        raise Failed(f"after a signal and another run: exit {code}: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    with tempfile.TemporaryDirectory(prefix="tracedb-shard-") as folder:
        try:
            if "TRACEDB_SANITIZED" not in os.environ:  # nothing goes in front of a sanitizer
                signalled = pathlib.Path(folder).resolve() / "signalled"
                (signalled / "out").mkdir(parents=True)
                check_signal(str(pathlib.Path(options.program).resolve()),
                             os.path.abspath(options.shim), signalled)
            check(str(pathlib.Path(options.program).resolve()), pathlib.Path(folder),
                  options.kills, random.Random(seed))
        except Failed as failed:
            print(f"--seed {seed}: {failed}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
