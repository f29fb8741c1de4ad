"""Jobs whose summaries are gathered, once each, in a folder that may be kept."""
import collections
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
Job = collections.namedtuple("Job", "folder shards database traces")


def make_traces(folder, name):
    if not name.startswith("ranks"):
        return ROOT / "fixtures" / name
    ranks = int(name[5:])
    subprocess.run([sys.executable, ROOT / "bench/simulate_ranks.py", folder / "traces", "--ranks",
                    str(ranks), "--straggler", str(ranks - 3), "--delay-ms", "20"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / "traces"


def make(program, under, name):
    folder = under / name
    job = Job(folder, folder / "shards", folder / "job.db", folder / "traces")
    if (folder / "made").exists():
        return job
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    traces = make_traces(folder, name)
    ranks = sorted(traces.glob("*rank*json*"))
    for number, _ in enumerate(ranks):
        environment = dict(os.environ, RANK=str(number), WORLD_SIZE=str(len(ranks)))
        database = folder / "one.db"
        subprocess.run([program, "-q", "ingest", "--shard", job.shards, "--run", "it's a run",
                        "--db", database, traces], env=environment, check=True)
        database.unlink()
    subprocess.run([program, "-q", "gather", job.shards, "-o", job.database], check=True)
    (folder / "made").touch()
    return job
