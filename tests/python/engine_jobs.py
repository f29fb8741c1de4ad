"""Jobs whose summaries are gathered, once each, in a folder that may be kept."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
Job = collections.namedtuple("Job", "folder shards database traces")


def expert_trace(rank):
    """Three ranks send tokens to experts, in one step unevenly, and in another nobody any."""
    events = []
    for number, tokens in enumerate(([1, 2, 3], [0, 0, 0], [2, 2, 2])):
        at = 1000 * number
        gets = sum(tokens) if rank == 1 else tokens[rank]
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number // 2}",
                       "pid": 0, "tid": 1, "ts": at, "dur": 900, "args": {}})
        for name, ts, dur, stream, elements in (
                ("ncclDevKernel_SendRecv", 10 + rank, 5, 24, (tokens[rank], gets)),
                ("gemm", 40, 10 * gets, 7, None),
                ("ncclDevKernel_SendRecv", 50 + 10 * gets, 5, 24, (gets, tokens[rank]))):
            args = {"device": 0, "stream": stream}
            if elements is not None:
                args |= {"Collective name": "all_to_allv", "dtype": "Byte", "Group size": 3,
                         "Process Group Name": "2", "Process Group Ranks": "[0, 1, 2]",
                         "In msg nelems": elements[0], "Out msg nelems": elements[1]}
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream,
                           "ts": at + ts, "dur": dur, "args": args})
    return {"distributedInfo": {"rank": rank, "world_size": 3}, "traceEvents": events}


def make_traces(folder, name):
    if name == "experts":
        (folder / "traces").mkdir()
        for rank in range(3):
            (folder / "traces" / f"rank{rank}.json").write_text(json.dumps(expert_trace(rank)))
        return folder / "traces"
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
