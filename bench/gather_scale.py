#!/usr/bin/env python3
"""Time and memory of `tracedb gather` by the number of ranks, on made ranks of known truth.

Ranks are eight a host, each host with a clock of its own; eight are a tensor group, all of them the
data group. One rank's host reads data for 5 ms longer at the start of each step: it is what
nccl_stall_roots has to name. Hosts wait for their GPUs at the end of a step, so without that rank's
lateness what-if has to find those 5 ms in each step.

    bench/gather_scale.py --ranks 64 256 1024

Asked of what is gathered: every canned query that summaries can answer, doctor and report. The rank
that was held must be named: a figure of a wrong answer is worth nothing.
"""

import argparse
import concurrent.futures
import csv
import gzip
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import bench_base as base
import bench_growth
import bench_ranks

HOST_RANKS = 8
BASE_NS = 1790857026000000000
US = 1000
HELD_NS = 5000 * US
HELD_NAME = "slow_data_loader"
GAIN_OFF_MS = 0.3  # chance lets kernels of others be longer
RANKS = [8, 64, 512, 1024]
STEPS = 2
LAYERS = 150  # of each step, with a collective
NOT_IN_SUMMARIES = "this database was gathered from summaries"


def simulate(ranks, steps, layers, held):
    """What each rank does: (name, kind, start, end, launch) of its kernels, in ns."""
    chance = random.Random(7)
    free = [0] * ranks
    rows = [[] for _ in range(ranks)]
    starts = []

    def work(rank, launch):
        begin = max(free[rank], launch + 4 * US)
        free[rank] = begin + 100 * US + chance.randrange(3 * US)
        rows[rank].append(("gemm_kernel", None, begin, free[rank], launch))

    def together(members, kind, launches, length):
        begins = [max(free[rank], launches[rank] + 4 * US) for rank in members]
        end = max(begins) + length
        for rank, begin in zip(members, begins):
            rows[rank].append(("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", kind, begin, end,
                               launches[rank]))
            free[rank] = end

    now = 1000 * US
    waits = [[] for _ in range(ranks)]
    for step in range(steps):
        starts.append(now)
        host = [now + (HELD_NS if rank == held else 0) + 50 * US for rank in range(ranks)]
        for layer in range(layers):
            launches = [host[rank] + layer * 30 * US for rank in range(ranks)]
            for rank in range(ranks):
                work(rank, launches[rank])
            for first in range(0, ranks, HOST_RANKS):
                together(range(first, min(first + HOST_RANKS, ranks)), "tensor",
                         [at + 10 * US for at in launches], 20 * US)
        launches = [at + layers * 30 * US for at in host]
        together(range(ranks), "data", launches, 200 * US)
        for rank, launch in enumerate(launches):
            waits[rank].append((launch + 6 * US, free[rank] + 5 * US))
        now = max(free) + 100 * US
    return rows, waits, starts + [now]


def time_text(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def trace_of(rank, ranks, rows, waits, starts, held, clock_ns):
    first = rank // HOST_RANKS * HOST_RANKS
    group = list(range(first, min(first + HOST_RANKS, ranks)))
    header = {
        "schemaVersion": 1, "host_name": f"node{rank // HOST_RANKS}",
        "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],
        "distributedInfo": {
            "backend": "nccl", "rank": rank, "world_size": ranks,
            "pg_config": [
                {"pg_name": "0", "pg_desc": "DATA_PARALLEL_GROUP", "pg_size": ranks,
                 "ranks": list(range(ranks))},
                {"pg_name": f"t{first}", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP",
                 "pg_size": len(group), "ranks": group}]},
        "baseTimeNanoseconds": BASE_NS}
    events = []

    def slice_of(cat, name, start, end, pid, tid, args):
        events.append(f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},'
                      f'"ts":{time_text(start + clock_ns)},"dur":{time_text(end - start)},'
                      f'"args":{args}}}')

    for step, (start, end) in enumerate(zip(starts, starts[1:])):
        slice_of("user_annotation", f"ProfilerStep#{step + 3}", start, end, 1, 1,
                 f'{{"External id":{step + 1}}}')
        if rank == held:
            slice_of("user_annotation", HELD_NAME, start + 20 * US, start + 20 * US + HELD_NS, 1, 1,
                     "{}")
    for start, end in waits:
        slice_of("cuda_runtime", "cudaDeviceSynchronize", start, end, 1, 1, "{}")
    for number, (name, kind, begin, end, launch) in enumerate(rows):
        slice_of("cpu_op", "aten::mm" if kind is None else "c10d::allreduce_", launch - 3 * US,
                 launch + 5 * US, 1, 1, f'{{"External id":{number + 10}}}')
        slice_of("cuda_runtime", "cudaLaunchKernel", launch, launch + 3 * US, 1, 1,
                 f'{{"External id":{number + 10},"correlation":{number + 10}}}')
        args = f'"External id":{number + 10},"device":0,"stream":{7 if kind is None else 20},' \
               f'"correlation":{number + 10}'
        if kind is not None:
            name_of = "0" if kind == "data" else f"t{first}"
            args += (f',"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":4096,'
                     f'"Out msg nelems":4096,"Process Group Name":"{name_of}",'
                     f'"Group size":{ranks if kind == "data" else len(group)}')
        slice_of("kernel", name, begin, end, 0, 7 if kind is None else 20, "{" + args + "}")
    head = json.dumps(header, separators=(",", ":"))[:-1]
    return head + ',"traceEvents":[\n' + ",\n".join(events) + "\n]}\n"


def make_shards(program, folder, ranks, steps, layers, held):
    """A summary of each rank; the databases are not kept."""
    rows, waits, starts = simulate(ranks, steps, layers, held)
    chance = random.Random(11)
    clocks = [chance.randrange(-2_000_000, 2_000_000) for _ in range(0, ranks, HOST_RANKS)]
    out = folder / "out"
    json_bytes = 0

    def ingest(rank, text):
        trace = folder / f"rank{rank}.pt.trace.json.gz"
        trace.write_bytes(gzip.compress(text.encode(), 1))
        database = folder / f"{rank}.db"
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks))
        subprocess.run([program, "-q", "ingest", "--shard", out, "--db", database, "--run", "job",
                        trace], env=environment, check=True, stdout=subprocess.DEVNULL)
        database.unlink()
        trace.unlink()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = []
        for rank in range(ranks):
            text = trace_of(rank, ranks, rows[rank], waits[rank], starts, held,
                            clocks[rank // HOST_RANKS])
            json_bytes += len(text)
            waiting.append(pool.submit(ingest, rank, text))
            if len(waiting) >= 8:
                waiting.pop(0).result()
        for left in waiting:
            left.result()
    return out, json_bytes


def check_found(program, job, held):
    text = base.output_of([program, "query", "nccl_stall_roots", "--db", job, "--format", "csv"])
    first = next(csv.DictReader(io.StringIO(text)), None)
    found = first and (first["root_rank"], first["root_cause"], first["root_name"])
    if found != (str(held), "host", HELD_NAME):
        raise base.BenchError(f"rank {held} with {HELD_NAME} is not named:\n{text[:500]}")


def check_gains(program, job, held):
    """What it takes to ask what is gained without the lateness of the rank that was held."""
    def command(rank):
        return [program, "-q", "what-if", "--without", f"rank-late={rank}", "--db", job,
                "--format", "csv"]

    for rank, gains_ms in ((0, 0), (held, HELD_NS / 1e6)):
        steps = list(csv.DictReader(io.StringIO(base.output_of(command(rank)))))
        gains = [float(row["gain_ms"]) for row in steps]
        if len(gains) != STEPS or any(abs(gain - gains_ms) > GAIN_OFF_MS for gain in gains):
            raise base.BenchError(f"without the lateness of rank {rank} steps gain {gains} ms, "
                                  f"and not {gains_ms}")
    return base.checked(command(held))


def job_rows(program, ranks, keep):
    """A row for each thing that was measured: what, CPU s, s, peak MiB, bytes."""
    held = ranks * 5 // 8 + 1
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tracedb-scale-", dir=keep))
    try:
        out, json_bytes = make_shards(program.path, folder, ranks, STEPS, LAYERS, held)
        yield "json", "", "", "", json_bytes
        summary_bytes = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        yield "summaries", "", "", "", summary_bytes
        job = folder / "job.db"
        ran = base.checked([program.path, "-q", "gather", out, "-o", job])
        yield "gather", ran.cpu_s, ran.wall_s, ran.peak_rss_mib, job.stat().st_size
        check_found(program.path, job, held)
        ran = check_gains(program.path, job, held)
        yield "what-if rank-late", ran.cpu_s, ran.wall_s, ran.peak_rss_mib, ""
        for what, arguments in bench_growth.commands(program):
            ran = base.run_measured([program.path, *arguments, "--db", job])
            if ran.exit_code in (0, bench_growth.FINDINGS_EXIT if what == "doctor" else 0):
                yield what, ran.cpu_s, ran.wall_s, ran.peak_rss_mib, ""
            elif NOT_IN_SUMMARIES not in ran.stderr:
                raise base.BenchError(f"{what}, {ranks} ranks: {ran.stderr}")
    finally:
        if keep is None:
            shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="tracedb to measure (default: build/release)")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS,
                        help=f"of the jobs, rising (default: {' '.join(map(str, RANKS))})")
    parser.add_argument("--output", type=pathlib.Path, help="rows are added to this CSV file")
    parser.add_argument("--keep", type=base.folder_path,
                        help="keep summaries and databases in this folder")
    options = parser.parse_args()
    program = base.find_program(options.program)
    print(base.where_line(program))
    for ranks in options.ranks:
        print(f"\n{ranks} ranks", flush=True)
        for what, cpu_s, wall_s, rss_mib, size in job_rows(program, ranks, options.keep):
            figures = [f"{cpu_s:.2f} CPU s, {wall_s:.2f} s, {rss_mib:.0f} MiB"] if cpu_s else []
            figures += [f"{size / 1e6:.1f} MB"] if size else []
            print(f"  {what}: {', '.join(figures)}", flush=True)
            if options.output is not None:  # at once: a large job takes long
                values = [base.now(), program.commit, what, ranks, cpu_s and f"{cpu_s:.4f}",
                          wall_s and f"{wall_s:.4f}", rss_mib and f"{rss_mib:.1f}", size]
                base.append_csv(options.output, bench_ranks.COLUMNS,
                                [dict(zip(bench_ranks.COLUMNS, values))])
    return 0


if __name__ == "__main__":
    sys.exit(base.run_main("gather_scale", main))
