"""The sound database that damaged ones are made of, and the trace that is added to them."""
import json
import os
import sqlite3
import subprocess

EVENT_TABLES = ("_cpu_slice", "_runtime_slice", "_python_slice", "_gpu_slice", "_instant", "_flow",
                "_counter_event", "_metadata_event")


def mixed_events(rank, repeats):
    """Events of every table: calls, kernels, arrows, counters, memory, asynchronous ones."""
    for i in range(repeats):
        at = 100 * i + rank
        common = {"pid": 10 + rank, "tid": 20}
        if i % 100 == 0:
            yield {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i // 100}",
                   "ts": at, "dur": 9900, **common}
        yield {"ph": "X", "cat": "cpu_op", "name": f"aten::op{i % 7}", "ts": at + 1, "dur": 60,
               "args": {"External id": i + 1, "Sequence number": i % 50, "Input Dims": [[i % 5]]},
               **common}
        yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 5, "dur": 9,
               "args": {"correlation": i + 1, "External id": i + 1}, **common}
        yield {"ph": "X", "cat": "kernel", "name": f"kernel{i % 9}", "ts": at + 20.125, "dur": 30,
               "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7, "correlation": i + 1, "grid": [i % 4 + 1, 1, 1]}}
        arrow = {"cat": "ac2g", "name": "ac2g", "id": i + 1}
        yield {"ph": "s", "ts": at + 5, **arrow, **common}
        yield {"ph": "f", "bp": "e", "ts": at + 20.125, **arrow, "pid": 0, "tid": 7}
        if i % 5 == 0:
            yield {"ph": "i", "s": "t", "name": "[memory]", "ts": at + 2,
                   "args": {"Addr": 1 << 40 | i, "Bytes": 512 * (i % 3 - 1), "Device Id": 0,
                            "Device Type": 1, "Total Allocated": 4096 * i,
                            "Total Reserved": 8192 * i}, **common}
        if i % 11 == 0:
            yield {"ph": "C", "name": "queue", "ts": at, "args": {"depth": i}, **common}
            yield {"ph": "b", "cat": "a", "name": "wait", "id": f"0x{i:x}", "ts": at, **common}
            yield {"ph": "e", "cat": "a", "name": "wait", "id": f"0x{i:x}", "ts": at + 3, **common}
    yield {"ph": "M", "name": "process_name", "pid": 10 + rank, "args": {"name": "python"}}


def write_trace(path, rank, repeats):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank},
                   "traceEvents": list(mixed_events(rank, repeats))}, file)


def rows_of(database, path):
    """How many rows the events of the file's trace are; None: nobody can say."""
    connection = sqlite3.connect(f"file:{database}?immutable=1", uri=True)
    try:
        ids = connection.execute("SELECT first_row, last_row FROM _trace WHERE path = ?",
                                 (path,)).fetchone()
        return ids and sum(connection.execute(
            f"SELECT count(*) FROM {table} WHERE id BETWEEN ? AND ?", ids).fetchone()[0]
            for table in EVENT_TABLES)
    except sqlite3.Error:
        return None
    finally:
        connection.close()


class Base:
    """A database of two recorded ranks and a made one, small, but with pages above leaves; and
    traces that are added to copies of it, one as pages and one row by row."""

    def __init__(self, program, fixtures, folder):
        moe = os.path.join(folder, "moe")
        self.small = os.path.join(moe, "rank8.json")
        self.large = os.path.join(moe, "rank9.json")
        self.database = os.path.join(folder, "base.db")
        made = os.path.join(moe, "rank5.json")
        write_trace(made, 5, 1000)
        write_trace(self.small, 8, 30)
        write_trace(self.large, 9, 9000)
        recorded = [os.path.join(fixtures, "moe", f"rank{rank}.pt.trace.json.gz")
                    for rank in (0, 1)]
        odd = os.path.join(fixtures, "phases")
        subprocess.run([program, "--db", self.database, "ingest", "-q", "--run", "job", made,
                        *recorded, odd], check=True)
        with open(self.database, "rb") as file:
            self.bytes = file.read()
        self.events = {}
        copy = os.path.join(folder, "sound.db")
        for path in (self.small, self.large):
            with open(copy, "wb") as file:
                file.write(self.bytes)
            subprocess.run([program, "--db", copy, "ingest", "-q", path], check=True)
            self.events[path] = rows_of(copy, path)
            assert self.events[path]
