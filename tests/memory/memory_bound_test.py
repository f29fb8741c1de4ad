#!/usr/bin/env python3
"""Peak memory of an ingest against --memory, for traces with very many rows of one kind each: of a
first trace, and of another rank's with the same rows that goes into the same database. The same
for the files beside traces (logs, settings, samples, dumps), all of them in one database.

    memory_bound_test.py --program P                               what the suite runs
    memory_bound_test.py --program P --rows 1000000 [--memory 32M,64M,128M] [kind...]
                                                                   the table, by hand: see README.md
"""
import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "load")]
import many_rows  # noqa: E402
import many_source_rows  # noqa: E402
import nsys_exports  # noqa: E402

MIB = 1 << 20
PEAK = os.path.join(HERE, os.pardir, "text", "peak_memory.py")
# With so many rows the bound of 32 MiB was broken, before each of these kinds had a share in it.
SUITE = (("all_metadata", 60_000), ("steps_with_kernels", 70_000), ("collective_groups", 120_000),
         ("large_groups", 450), ("graphs", 250_000), ("everything", 6_000))
SOURCE_ROWS = 20_000
LATE_THREADS = 30_000
NAMED_THREADS = 150_000
COMPARED_NAMES = 100_000
# The first two are held as a whole, in a third of --memory; larger ones are refused by name.
LARGE = {"memory_snapshot": 40, "flight_recorder": 40, "log_long_fields": 20}
# Of `everything`: of so many threads and streams there are no rows by step (steps_with_kernels has
# them), two ranks with the same times do not wait, and there are no samples beside them. _step_last
# is filled by gather alone.
MAY_BE_EMPTY = {"_step_use", "_step_last", "_collective_cause", "_gpu_sample_run"}


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(program, *arguments):
    """(exit code, peak in bytes, CPU seconds, standard error)"""
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as peak:
        before = cpu_seconds()
        done = subprocess.run([sys.executable, "-S", "-E", PEAK, peak.name, program, "-q",
                               *arguments], capture_output=True, text=True, check=False)
        return done.returncode, int(peak.read() or 0), cpu_seconds() - before, done.stderr


def ingest(program, database, memory, trace):
    return run(program, "--db", database, "ingest", "--memory", memory, trace)


def make_traces(folder, kind, rows):
    traces = []
    for rank in range(2):
        path = os.path.join(folder, f"rank{rank}.json")
        with open(path, "w", encoding="utf-8") as out:
            many_rows.write(out, kind, rows, 1_000_000, f'"schemaVersion":{rank},')
        traces.append(path)
    return traces


def empty_tables(database, of_sources):
    with sqlite3.connect(database) as db:
        tables = [row[0] for row in db.execute(
            "SELECT name FROM sqlite_schema s WHERE type = 'table' AND substr(name, 1, 1) = '_' "
            "AND ? = EXISTS (SELECT 1 FROM pragma_table_info(s.name) WHERE name = 'source_id')",
            (of_sources,))]
        return {table for table in tables
                if db.execute(f"SELECT NOT EXISTS (SELECT 1 FROM {table})").fetchone()[0]}


def measure(options, kind, rows, memories):
    """Prints a line for each memory; yields what is wrong."""
    with tempfile.TemporaryDirectory(prefix="tracedb-bound-") as folder:
        traces = make_traces(folder, kind, rows)
        megabytes = os.path.getsize(traces[0]) / 1e6
        for memory in memories:
            database = os.path.join(folder, f"{memory}.db")
            bound = int(memory.rstrip("M")) * MIB
            fields = [kind, str(rows), f"{megabytes:.0f}", memory.rstrip("M")]
            for trace in traces:
                code, peak, seconds, stderr = ingest(options.program, database, memory, trace)
                fields += [f"{peak / MIB:.1f}", f"{seconds:.1f}"]
                if code != 0:
                    yield f"{kind}: exit {code}: {stderr}"
                elif peak >= bound and "TRACEDB_SANITIZED" not in os.environ:
                    yield f"{kind}, {rows} rows: {peak / MIB:.1f} MiB with --memory {memory}"
            print(",".join(fields), flush=True)
            if kind == "everything" and not empty_tables(database, False) <= MAY_BE_EMPTY:
                empty = empty_tables(database, False) - MAY_BE_EMPTY
                yield f"everything: no row in {sorted(empty)}"
            os.unlink(database)


def measure_late_threads(program, threads):
    """Why ranks were late is looked for on each thread that launched: what is kept of one look for
    the next is bounded, as threads are many: it once took 100 MiB. Each thread was once looked for
    among all of them: that took 900 CPU s, of which there are 0.8 now."""
    cpu_s_max = 60
    with tempfile.TemporaryDirectory(prefix="tracedb-bound-") as folder:
        database = os.path.join(folder, "late.db")
        fields = ["late_threads", str(threads), "", "32"]
        for rank in range(2):
            path = os.path.join(folder, f"rank{rank}.json")
            with open(path, "w", encoding="utf-8") as out:
                many_rows.write_late_threads(out, rank, threads)
            fields[2] = f"{os.path.getsize(path) / 1e6:.0f}"
            code, peak, seconds, stderr = ingest(program, database, "32M", path)
            fields += [f"{peak / MIB:.1f}", f"{seconds:.1f}"]
            if code != 0:
                yield f"late_threads: exit {code}: {stderr}"
            elif peak >= 32 * MIB and "TRACEDB_SANITIZED" not in os.environ:
                yield f"late_threads: {peak / MIB:.1f} MiB with --memory 32M"
            elif seconds > cpu_s_max and "TRACEDB_SANITIZED" not in os.environ:
                yield f"late_threads: {seconds:.0f} CPU s"
        print(",".join(fields), flush=True)
        with sqlite3.connect(database) as db:
            named, = db.execute("SELECT count(*) FROM _collective_cause WHERE cause = 'host' "
                                "AND cause_name = 'work'").fetchone()
        if named != threads:
            yield f"late_threads: {named} of {threads} waits are put down to their thread"


def measure_export_names(program, threads):
    """Named threads of an export of Nsight Systems: once all names were made before a first one
    was read."""
    with tempfile.TemporaryDirectory(prefix="tracedb-bound-") as folder:
        path = os.path.join(folder, "job.sqlite")
        export = nsys_exports.Export(path)
        export.launch(100, 0, 10_000, 20_000, "kernel", 1)
        export.table("ThreadNames", ["nameId", "priority", "globalTid"])
        export.db.executemany("INSERT INTO StringIds (id, value) VALUES (?, ?)",
                              ((1000 + i, f"thread number {i}") for i in range(threads)))
        export.db.executemany("INSERT INTO ThreadNames VALUES (?, 0, ?)",
                              ((1000 + i, nsys_exports.thread(100, 1 + i))
                               for i in range(threads)))
        megabytes = os.path.getsize(export.done()) / 1e6
        database = os.path.join(folder, "names.db")
        code, peak, seconds, stderr = ingest(program, database, "32M", path)
        print(f"export_names,{threads},{megabytes:.0f},32,{peak / MIB:.1f},{seconds:.1f}",
              flush=True)
        if code != 0:
            yield f"export_names: exit {code}: {stderr}"
        elif peak >= 32 * MIB and "TRACEDB_SANITIZED" not in os.environ:
            yield f"export_names: {peak / MIB:.1f} MiB with --memory 32M"
        with sqlite3.connect(database) as db:
            named, = db.execute("SELECT count(*) FROM _thread WHERE name IS NOT NULL").fetchone()
        if named != threads:
            yield f"export_names: {named} of {threads} threads have a name"


def measure_compared_names(program, names):
    """Two runs whose operators and kernels all have names of their own: a comparison once kept a
    row of each, 1.5 KB."""
    bound = 128 * MIB
    with tempfile.TemporaryDirectory(prefix="tracedb-bound-") as folder:
        sides = []
        for trace in make_traces(folder, "kernels_of_operators", names):
            sides.append(f"{trace}.db")
            code, _, _, stderr = ingest(program, sides[-1], "32M", trace)
            if code != 0:
                yield f"compared_names: exit {code}: {stderr}"
        code, peak, seconds, stderr = run(program, "compare", *sides)
        print(f"compared_names,{names},,128,{peak / MIB:.1f},{seconds:.1f}", flush=True)
        if code not in (0, 4, 5):
            yield f"compared_names: exit {code}: {stderr}"
        elif peak >= bound and "TRACEDB_SANITIZED" not in os.environ:
            yield f"compared_names: {peak / MIB:.1f} MiB"


def measure_sources(program, kinds, rows, memory):
    """As measure(), of the files beside traces: each twice into one database, of them all."""
    bound = int(memory.rstrip("M")) * MIB
    with tempfile.TemporaryDirectory(prefix="tracedb-bound-") as folder:
        database = os.path.join(folder, "sources.db")
        for kind in kinds:
            count = max(rows // LARGE.get(kind, 1), 1)
            fields = [kind, str(count), "", memory.rstrip("M")]
            for number in range(2):
                path = os.path.join(folder, kind + str(number), many_source_rows.file_name(kind))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as out:
                    many_source_rows.write(out, kind, count, 1_000_000 * (1 + number))
                fields[2] = f"{os.path.getsize(path) / 1e6:.0f}"
                code, peak, seconds, stderr = ingest(program, database, memory, path)
                os.unlink(path)
                fields += [f"{peak / MIB:.1f}", f"{seconds:.1f}"]
                if code != 0:
                    yield f"{kind}: exit {code}: {stderr}"
                elif peak >= bound and "TRACEDB_SANITIZED" not in os.environ:
                    yield f"{kind}, {count} rows: {peak / MIB:.1f} MiB with --memory {memory}"
            print(",".join(fields), flush=True)
        empty = empty_tables(database, True)
        if set(kinds) == set(many_source_rows.KINDS) and empty:
            yield f"sources: no row in {sorted(empty)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--memory", default="32M,64M,128M")
    parser.add_argument("kinds", nargs="*")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    kinds = options.kinds or [*many_rows.kinds(), *many_source_rows.KINDS]
    sources = [kind for kind in kinds if kind in many_source_rows.KINDS]
    if options.rows is None:
        runs, source_rows, memories = SUITE, SOURCE_ROWS, ["32M"]
    else:
        runs = [(kind, many_rows.rows_of(kind, options.rows)) for kind in kinds
                if kind not in sources]
        source_rows, memories = options.rows, options.memory.split(",")
    print("kind,rows,json_mb,memory_mib,first_peak_mib,first_cpu_s,second_peak_mib,second_cpu_s")
    faults = [fault for kind, rows in runs
              for fault in measure(options, kind, rows, memories)]
    faults += [fault for memory in memories if sources
               for fault in measure_sources(options.program, sources, source_rows, memory)]
    if options.rows is None:
        faults += measure_late_threads(options.program, LATE_THREADS)
        faults += measure_export_names(options.program, NAMED_THREADS)
        faults += measure_compared_names(options.program, COMPARED_NAMES)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
