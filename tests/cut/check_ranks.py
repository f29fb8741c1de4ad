"""Several ranks in one file, and what the readers of such files rely on."""
import json
import os
import shutil
import sqlite3

from check_windows import category
from cut_program import load, nanoseconds, rows

REPLACED = ("process_name", "process_labels", "process_sort_index", "thread_name")
ASIDE = ("pid", "tid", "id")


def by_clock(clock, ts_ns):
    """The aligned time, as the schema says it: rounded towards 0."""
    if clock is None:
        return ts_ns
    offset, drift, origin = clock
    product = (ts_ns - origin) * drift
    return ts_ns + offset + (abs(product) // 10**9) * (1 if product >= 0 else -1)


def with_clocks(program, database):
    """A copy of the database in which some ranks' clocks are off, and drift."""
    copy = program.file("clocks.db")
    shutil.copyfile(database, copy)
    connection = sqlite3.connect(copy)
    origin = connection.execute("SELECT min(start_ns) FROM _trace").fetchone()[0]
    connection.execute("DELETE FROM _clock")
    for rank, offset, drift in ((1, 1_234_567, 0), (2, -40_000_000, 33_333), (3, 5, -20_001)):
        connection.execute("INSERT INTO _clock SELECT trace_id, 'host', ?, ?, ?, 0, 0, 0 "
                           "FROM _trace WHERE rank = ?", (offset, drift, origin + rank, rank))
    connection.commit()
    connection.close()
    return copy


def source_events(program, name, rank, clock):
    """(event as it should come out but for ids, its rank, pid and tid, id) of a trace's events."""
    held = load(os.path.join(program.fixtures, name))
    base = int(held.get("baseTimeNanoseconds", 0))
    for event in held["traceEvents"]:
        if event["ph"] == "M" and event["name"] in REPLACED:
            continue
        event = dict(event)
        if event["ph"] in "iI" and event.get("s") == "g":
            event["s"] = "p"  # of everything would be of all ranks
        if event["ph"] == "M":
            if "ts" in event:
                event["ts"] = nanoseconds(event["ts"]) + base
        else:
            start = nanoseconds(event["ts"]) + base
            event["ts"] = by_clock(clock, start)
            if "dur" in event:
                end = by_clock(clock, start + nanoseconds(event["dur"]))
                event["dur"] = end - event["ts"]
        yield (json.dumps({key: value for key, value in event.items() if key not in ASIDE},
                          sort_keys=True), (rank, event.get("pid"), event.get("tid")),
               event.get("id"))


def cut_events(held):
    base = int(held.get("baseTimeNanoseconds", 0))
    for event in held["traceEvents"]:
        if event["ph"] == "M" and event["name"] in REPLACED:
            continue
        event = dict(event)
        for key, add in (("ts", base), ("dur", 0)):
            if key in event:
                event[key] = nanoseconds(event[key]) + add
        yield (json.dumps({key: value for key, value in event.items() if key not in ASIDE},
                          sort_keys=True), (event.get("pid"), event.get("tid")), event.get("id"))


def check_names(held, pids):
    names = {event["pid"]: event["args"]["name"] for event in held["traceEvents"]
             if event["ph"] == "M" and event["name"] == "process_name"}
    wrong = [f"process {new} of rank {rank} is called {names.get(new)}"
             for (rank, _), new in pids.items()
             if not (names.get(new, "") + ":").startswith((f"rank {rank}:", f"rank {rank}, "))]
    order = {event["pid"]: event["args"]["sort_index"] for event in held["traceEvents"]
             if event["ph"] == "M" and event["name"] == "process_sort_index"}
    ranks = [key[0] for key, new in sorted(pids.items(), key=lambda item: order[item[1]])]
    if ranks != sorted(ranks):
        wrong.append(f"processes are not sorted by rank: {ranks}")
    return wrong


def is_number(tid):
    return isinstance(tid, int) or (isinstance(tid, str) and tid.lstrip("-").isdigit())


def check_as_perfetto(held, tids):
    """Its importer reads tid 0 as the process id, takes threads of one process and number for one,
    and names only those whose tid is a number."""
    wrong = []
    read = {}
    for old, (pid, tid) in tids.items():
        if is_number(old[2]) or old[2] in ("", None):
            if tid != old[2]:
                wrong.append(f"thread {old} has become {tid}")
            if tid in ("", None):
                continue
        elif not isinstance(tid, int):
            wrong.append(f"thread {old} has a tid that is a text: {tid}")
            continue
        key = (pid, pid if int(tid) == 0 else int(tid))
        if read.setdefault(key, old) != old:
            wrong.append(f"threads {old} and {read[key]} are one")
        if isinstance(pid, int) and pid <= int(tid) < 4 * 10**9:
            wrong.append(f"tid {tid} is not below the process id {pid}")
    named = {(event["pid"], event["tid"]): event["args"]["name"] for event in held["traceEvents"]
             if event["ph"] == "M" and event["name"] == "thread_name"}
    for old, (pid, tid) in tids.items():
        if isinstance(old[2], str) and old[2] and not is_number(old[2]):
            if old[2] not in named.get((pid, tid), ""):
                wrong.append(f"thread {old} is called {named.get((pid, tid))}")
    return wrong


def check_one(program, names, database):
    clocks = {row[0]: row[1:] for row in
              rows(database, "SELECT rank, offset_ns, drift_ppb, origin_ns FROM _clock "
                             "JOIN _trace USING (trace_id)")}
    held = program.cut(database, "ranks.json.gz")
    want = [event for rank, name in enumerate(names)
            for event in source_events(program, name, rank, clocks.get(rank))]
    found = list(cut_events(held))
    if [event[0] for event in found] != [event[0] for event in want]:
        at = next((i for i, (a, b) in enumerate(zip(found, want)) if a[0] != b[0]), -1)
        return [f"{names[0]}: {len(found)} events in place of {len(want)}; "
                f"{found[at]!r:.300} in place of {want[at]!r:.300}"]
    failures = []
    pids, ids, tids = {}, {}, {}
    for (_, (pid, tid), event_id), (text, (rank, *old), old_id) in zip(found, want):
        old_pid = (rank, old[0])
        if tids.setdefault((rank, *old), (pid, tid)) != (pid, tid):
            failures.append(f"thread {rank} {old} is {tids[(rank, *old)]} and {(pid, tid)}")
        if pids.setdefault(old_pid, pid) != pid:
            failures.append(f"process {old_pid} is {pids[old_pid]} and {pid}")
        key = (old_pid[0], json.loads(text).get("cat"), old_id)
        if old_id is not None and ids.setdefault(key, event_id) != event_id:
            failures.append(f"id {key} is {ids[key]} and {event_id}")
    failures += check_as_perfetto(held, tids)
    for what, mapping in (("processes", pids),
                          ("ids", {key: (key[1], new) for key, new in ids.items()})):
        if len(set(mapping.values())) != len(mapping):
            failures.append(f"{what} of two ranks have become one")
    return failures + check_names(held, pids)


def check(program, random):
    failures = []
    for folder, count in (("ddp", 2), ("seqpar", 4), ("megatron", 8), ("legacy", 2)):
        suffix = ".pt.trace.json" + ("" if folder == "legacy" else ".gz")
        names = [f"{folder}/rank{rank}{suffix}" for rank in range(count)]
        database = program.ingested(*(os.path.join(program.fixtures, name) for name in names))
        failures += check_one(program, names, database)
        failures += check_one(program, names, with_clocks(program, database))
    failures += check_windows_by_clock(program, random)
    return failures


def check_windows_by_clock(program, random):
    """A window of several ranks is one stretch of the aligned time."""
    names = [f"seqpar/rank{rank}.pt.trace.json.gz" for rank in range(4)]
    paths = [os.path.join(program.fixtures, name) for name in names]
    database = with_clocks(program, program.ingested(*paths))
    everything = [json.loads(event[0]) for event in cut_events(program.cut(database, "all.json"))]
    times = [event["ts"] for event in everything if event["ph"] != "M"]
    failures = []
    for _ in range(15):
        start = random.randrange(min(times), max(times))
        end = start + random.randrange(1, 20_000_000)
        held = program.cut(database, "part.json", "--start", start, "--end", end)
        found = sorted(event[0] for event in cut_events(held) if '"ph": "X"' in event[0])
        want = sorted(json.dumps(event, sort_keys=True) for event in everything
                      if event["ph"] == "X" and event["ts"] < end
                      and (event["ts"] >= start or event["ts"] + event["dur"] > start))
        if found != want:
            failures.append(f"{start} to {end}: {len(found)} slices in place of {len(want)}")
    return failures


def check_tools(program, random):
    """What PyTorch's tools and Perfetto look at is there, in the types they take."""
    failures = []
    for folder, count in (("ddp", 2), ("megatron", 1), ("seqpar", 4)):
        names = [f"{folder}/rank{rank}.pt.trace.json.gz" for rank in range(count)]
        database = program.ingested(*(os.path.join(program.fixtures, name) for name in names))
        held = program.cut(database, "tools.json.gz", "--start", "20ms", "--end", "120ms")
        # HTA: one dictionary, a row for each event, rank in distributedInfo, streams and
        # correlations as integers.
        if count == 1 and held.get("distributedInfo", {}).get("rank") != 0:
            failures.append(f"{folder}: distributedInfo has no rank")
        if "deviceProperties" not in held:
            failures.append(f"{folder}: no deviceProperties")
        starts, ends = set(), set()
        for event in held["traceEvents"]:
            failures += [f"{folder}: {problem}: {event!r:.200}" for problem in problems(event)]
            if event["ph"] in "sf":
                (starts if event["ph"] == "s" else ends).add((event["cat"], event["id"]))
        if starts != ends or not starts:
            failures.append(f"{folder}: {len(starts ^ ends)} arrows have one end")
    return failures[:5]


def problems(event):
    if not isinstance(event.get("name"), str) or len(event.get("ph", "")) != 1:
        yield "no name or phase"
    if event["ph"] in "Xsf" and not isinstance(event.get("cat"), str):
        yield "no category"
    if event["ph"] in "Xsfi" and not str(event.get("ts")).partition(".")[2].isdigit():
        yield "no time"
    if event["ph"] == "X" and nanoseconds(event.get("dur", "-1")) < 0:
        yield "no length"
    if event["ph"] == "X" and category(event) == "kernel":
        args = event["args"]
        if not isinstance(args.get("stream"), int) or not isinstance(args.get("correlation"), int):
            yield "no stream or correlation"
    if isinstance(event.get("pid"), int) and not -1 <= event["pid"] < 2**32:
        yield "a process id of more than 32 bits"
    if event["ph"] in "sf" and not isinstance(event["id"], int):
        yield "an arrow whose id is no number"
