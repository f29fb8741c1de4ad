"""Everything cut and ingested again gives the same tables: row for row, ids and args included."""
import gzip
import os

import hostile_traces
from cut_program import rows

# Every view that is made of events, and what in it may differ: nothing, but where a file lay, how
# many bytes it had and when it was read, and what was wrong in it.
VIEWS = ("slices", "kernels", "collectives", "steps", "instants", "counters", "flows",
         "memory_events", "metadata", "processes", "threads", "streams", "process_groups",
         "matched_collectives")
TRACE_COLUMNS = ("trace_id, rank, host, base_time_ns, header, world_size, gpu_name, slices, "
                 "gpu_activities, first_row, last_row, end_ns")
# Of traces with complete events alone the tables are the same to the number, texts' too.
TABLES = ("_event_name", "_track", "_args_text", "_cpu_slice", "_runtime_slice",
          "_python_slice", "_gpu_slice", "_instant", "_flow", "_counter_event",
          "_metadata_event", "_step", "_row_times", "_launch", "_busy_segment", "_device_use",
          "_stream_use", "_collective_part", "_collective_cause")


def first_difference(name, before, after):
    for at, (a, b) in enumerate(zip(before, after)):
        if a != b:
            return f"{name}: row {at}: {a!r:.300} became {b!r:.300}"
    return f"{name}: {len(before)} rows became {len(after)}"


def read(database, name, backwards):
    order = " ORDER BY 1, 2, 3, 4" if name in ("processes", "threads") else ""
    columns = [row[1] for row in rows(database, f"PRAGMA table_info({name})")
               if row[1] != "run"  # named by the folder in which the file lies
               and not (backwards and row[1] == "start_ms")]  # counts from the trace's start
    found = rows(database, f"SELECT {', '.join(columns)} FROM {name}{order}")
    if name != "instants":
        return found
    # Begins that never ended get their ids when the file is over, in no order: without it.
    phase = 5
    open_ones = [row[1:] for row in found if row[phase] in ("B", "b", "S")]
    return [row for row in found if row[phase] not in ("B", "b", "S")] + sorted(open_ones, key=repr)


def compare(before, after, what, names):
    failures = []
    # An end before its begin counts as the trace's start, a negative length does not; a row does
    # not tell which of the two it was.
    backwards = rows(before, "SELECT count(*) FROM slices WHERE dur_ns < 0")[0][0] > 0
    for name in names:
        a, b = (read(database, name, backwards) for database in (before, after))
        if a != b:
            failures.append(f"{what}: {first_difference(name, a, b)}")
    columns = TRACE_COLUMNS + ("" if backwards else ", start_ns")
    a = rows(before, f"SELECT {columns} FROM _trace")
    b = rows(after, f"SELECT {columns} FROM _trace")
    if a != b:
        failures.append(f"{what}: {first_difference('trace', a, b)}")
    return failures


def check_one(program, trace, options=(), suffix=".json", strict=True):
    name = os.path.relpath(trace, program.fixtures)
    before = program.ingested(trace, options=options)
    rank = rows(before, "SELECT rank FROM _trace")[0][0]
    copy = program.file(f"whole{suffix}")
    program.run("--db", before, "cut", "-q", "-o", copy)
    ingest = [option for option in options if option != "--rank"]
    after = program.ingested(copy, name="again.db", options=[*ingest, "--rank", rank])
    failures = compare(before, after, name, VIEWS)
    if strict:
        failures += compare(before, after, f"{name}: tables", TABLES)
    # A second time nothing may change at all, line by line.
    twice = program.file(f"twice{suffix}")
    program.run("--db", after, "cut", "-q", "-o", twice)
    with open(copy, "rb") as one, open(twice, "rb") as two:
        if lines(one.read()) != lines(two.read()):
            failures.append(f"{name}: cut again it is another file")
    return failures


def lines(data):
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return sorted(line.rstrip(b",") for line in text.splitlines())


def check(program, random):
    failures = []
    for at, trace in enumerate(program.fixture_files()):
        suffix = (".json", ".json.gz")[at % 2]
        # The fixture of all phases has begins and ends, whose texts are numbered otherwise.
        failures += check_one(program, trace, suffix=suffix, strict="phases" not in trace)
    failures += check_one(program, program.fixture_files()[0], options=("--args", "none"))
    for name, events, header in hostile_traces.traces(random):
        path = program.file(f"{name}.json")
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(hostile_traces.text(events, header))
        failures += check_one(program, path, strict=False)
    return failures


