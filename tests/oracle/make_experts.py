"""Random traces of small mixtures of experts: all-to-alls whose sizes are told, cut short, missing
or unclear, and ranks that are late for their tokens or for something else."""
import json
import os
import random

TOKEN_BYTES = 2 * 16


def matrix(r, size, kind):
    """Tokens from each rank (row) to each rank."""
    if kind == "balanced":
        return [[8] * size for _ in range(size)]
    rows = []
    for _ in range(size):
        left = r.randrange(size, 90) if kind == "unclear" else 24
        row = []
        for _ in range(size - 1):
            row.append(r.randrange(left + 1) if r.random() < 0.8 else 0)
            left -= row[-1]
        row.append(left)
        r.shuffle(row)
        rows.append(row)
    if kind == "symmetric":
        return [[min(rows[a][b], rows[b][a]) for b in range(size)] for a in range(size)]
    return rows


def written(r, numbers):
    """Split sizes as writers write them; a cut list ends in three dots."""
    pick = r.random()
    if pick < 0.1:
        return "[" + ", ".join(map(str, numbers[:1])) + ", ...]"
    return numbers if pick < 0.3 else str(numbers)


class Writer:
    def __init__(self, r, rank, ranks):
        self.r, self.rank, self.ranks, self.events = r, rank, ranks, []

    def add(self, category, name, start, dur, args=None, tid=1):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid,
                            "ts": start / 1000, "dur": dur / 1000, "args": args or {}})

    def kernel(self, name, start, dur, args=None, stream=7):
        self.add("kernel", name, start, dur, {"device": self.rank % 8, "stream": stream,
                                              **(args or {})}, stream)

    def exchange(self, start, dur, sends, gets, sized):
        args = {"Collective name": "all_to_allv", "dtype": "BFloat16", "Group size": len(self.ranks),
                "In split size": written(self.r, sends), "Out split size": written(self.r, gets),
                "Process Group Name": "9", "Process Group Description": "EXPERT_MODEL_PARALLEL_GROUP",
                "Process Group Ranks": str(self.ranks)}
        if sized:
            args["In msg nelems"] = sum(sends) * 16
            args["Out msg nelems"] = sum(gets) * 16
        self.kernel("ncclDevKernel_SendRecv", start, dur, args, 24)


def steps_of(r, writers, size, sized):
    """Writes two steps; each exchange starts on all ranks before the next does."""
    at = 0
    for step in (1, 2):
        begin = at
        for _ in range(r.randrange(1, 5)):
            kind = r.choice(["balanced", "there", "there", "there", "symmetric", "unclear"])
            tokens = matrix(r, size, kind)
            back = [list(column) for column in zip(*tokens)]
            for rows, columns in ((tokens, back), (back, tokens)):
                for writer in writers:
                    start = at + r.randrange(0, 40_000)
                    writer.exchange(start, r.randrange(1000, 9000), rows[writer.rank],
                                    columns[writer.rank], sized)
                    length = 700 * sum(columns[writer.rank]) if r.random() < 0.9 else 0
                    if length:
                        writer.kernel("grouped_gemm", start + r.randrange(0, 12_000), length)
                at += 150_000
        for writer in writers:
            writer.add("user_annotation", f"ProfilerStep#{step}", begin, at - begin)


def write(folder, seed):
    """Paths of the traces."""
    r = random.Random(seed)
    size = r.choice([2, 3, 4])
    ranks = list(range(size))
    writers = [Writer(r, rank, ranks) for rank in ranks]
    steps_of(r, writers, size, sized=r.random() < 0.9)
    if r.random() < 0.15:
        writers.pop()
    paths = []
    os.makedirs(folder, exist_ok=True)
    for writer in writers:
        paths.append(os.path.join(folder, f"rank{writer.rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump({"distributedInfo": {"rank": writer.rank, "world_size": size},
                       "traceEvents": writer.events}, file)
    return paths
