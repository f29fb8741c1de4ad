"""The track of the critical path: the query's stretches, on the cut's time, above all else."""
import json
import os

from check_ranks import by_clock, with_clocks
from cut_program import nanoseconds, rows

ALIGNED = None


def of_query(program, database, name, *params):
    words = [word for param in params for word in ("-p", param)]
    text = program.run("-q", "--db", database, "query", name, *words, "--format", "json").stdout
    return json.loads(text)


def track(held):
    """(start, end, rank, step, kind, name, op) of its slices, in ns; and its process."""
    base = int(held.get("baseTimeNanoseconds", 0))
    slices = [event for event in held["traceEvents"] if event.get("cat") == "critical_path"]
    found = []
    for event in slices:
        start = nanoseconds(event["ts"]) + base
        args = event["args"]
        found.append((start, start + nanoseconds(event["dur"]), args["rank"], args.get("step"),
                      args["kind"], event["name"], args.get("op")))
    return found, {event["pid"] for event in slices}


def wanted(program, database, *params):
    zero = rows(database, "SELECT min(start_ns) FROM _trace")[0][0]
    for row in of_query(program, database, "critical_path", *params):
        start = zero + round(row["start_ms"] * 1e6)
        name = row["name"] or row["kind"]
        if name.startswith("ProfilerStep"):  # or it would be a step
            name = "in " + name
        yield (start, start + round(row["dur_ms"] * 1e6), row["rank"], row["step"], row["kind"],
               name, row["op"])


def same_times(found, want, clock):
    """Of one rank a time is the first of its own clock that is not before the aligned one."""
    if clock is ALIGNED:
        return found == want
    return by_clock(clock, found) >= want > by_clock(clock, found - 1)


def differences(what, found, want, clock=ALIGNED):
    if len(found) != len(want):
        return [f"{what}: {len(found)} slices, {len(want)} stretches"]
    for one, other in zip(found, want):
        if one[2:] != other[2:] or not all(same_times(one[i], other[i], clock) for i in (0, 1)):
            return [f"{what}: {one} in place of {other}"]
    return []


def process_is_first(what, held, pids):
    if len(pids) != 1:
        return [f"{what}: the track is in processes {pids}"]
    pid = next(iter(pids))
    others = [event for event in held["traceEvents"] if event.get("pid") != pid]
    ids = [event.get(key) for event in others for key in ("pid", "tid")]
    failures = []
    if not max(i for i in ids if isinstance(i, int) and i < 2**31 - 2) < pid < 2**31:
        failures.append(f"{what}: process {pid} is not above the others")
    order = {event["pid"]: event["args"]["sort_index"] for event in held["traceEvents"]
             if event["ph"] == "M" and event["name"] == "process_sort_index"}
    if min(order, key=order.get) != pid or list(order.values()).count(order[pid]) != 1:
        failures.append(f"{what}: process {pid} is not sorted first: {order}")
    names = [event["args"]["name"] for event in held["traceEvents"] if event.get("pid") == pid
             and event["ph"] == "M" and event["name"] in ("process_name", "thread_name")]
    if names != ["critical path"] * 2:
        failures.append(f"{what}: it is called {names}")
    return failures


def steps_add_up(program, what, database, found):
    lengths = {}
    for start, end, _, step, *_ in found:
        lengths[step] = lengths.get(step, 0) + end - start
    steps = {row["step"]: round(row["before_ms"] * 1e6)
             for row in of_query(program, database, "what_if")}
    return [] if lengths == steps else [f"{what}: {lengths} ns are not the steps' {steps}"]


def check_job(program, what, database, steps):
    found, pids = track(held := program.cut(database, "path.json", "--critical-path"))
    failures = differences(what, found, list(wanted(program, database)))
    failures += process_is_first(what, held, pids) + steps_add_up(program, what, database, found)
    without = program.cut(database, "without.json")["traceEvents"]
    if [event for event in held["traceEvents"] if event.get("pid") not in pids] != without:
        failures.append(f"{what}: other events are not those of a cut without the track")
    for step in steps:
        found, _ = track(program.cut(database, "step.json.gz", "--critical-path", "--step", step))
        found = [one for one in found if one[3] == step]
        failures += differences(f"{what}, step {step}", found,
                                list(wanted(program, database, f"step={step}")))
    return failures


def check_one_rank(program, what, database, rank):
    """By its own clock, and with it the path of all ranks."""
    clocks = rows(database, "SELECT offset_ns, drift_ppb, origin_ns FROM _clock "
                            "JOIN _trace USING (trace_id) WHERE rank = ?", rank)
    held = program.cut(database, "rank.json", "--critical-path", "--rank", rank)
    found, pids = track(held)
    return (differences(f"{what}, rank {rank}", found, list(wanted(program, database)),
                        clocks[0] if clocks else ALIGNED)
            + process_is_first(f"{what}, rank {rank}", held, pids))


def check_bounds(program, what, database):
    """--max-events counts its slices; --clip ends them at the window."""
    failures = []
    for most in (1, 50, 3000):
        held = program.cut(database, "few.json", "--critical-path", "--max-events", most)
        events = [event for event in held["traceEvents"] if event["ph"] != "M"]
        if not 0 < len(track(held)[0]) <= (most + 1) // 2 or not most - 1 <= len(events) <= most:
            failures.append(f"{what}: {len(events)} events, {len(track(held)[0])} of the path, "
                            f"of {most}")
    whole = list(wanted(program, database))
    start, end = whole[len(whole) // 2][0] + 1, whole[3 * len(whole) // 4][0] + 1
    window = ("--start", start, "--end", end)
    inside = [one for one in whole if one[0] < end and one[1] > start]
    found, _ = track(program.cut(database, "part.json", "--critical-path", *window))
    failures += differences(f"{what}, a window", found, inside)
    clipped = [(max(one[0], start), min(one[1], end), *one[2:]) for one in inside]
    found, _ = track(program.cut(database, "clip.json", "--critical-path", "--clip", *window))
    return failures + differences(f"{what}, clipped", found, clipped)


def check_again(program, what, trace):
    """Ingested again, a cut with the track has the path that it shows."""
    database = program.ingested(trace)
    program.cut(database, "again.json", "--critical-path")
    again = program.ingested(program.file("again.json"), name="again.db")
    same = of_query(program, database, "critical_path"), of_query(program, again, "critical_path")
    for one in same:
        for row in one:
            row.pop("run")
    return [] if same[0] == same[1] else [f"{what}: the path of the cut is another one"]


def check(program, random):
    failures = []
    for folder, count, steps in (("megatron", 8, (3, 4)), ("seqpar", 4, ())):
        paths = [os.path.join(program.fixtures, folder, f"rank{rank}.pt.trace.json.gz")
                 for rank in range(count)]
        database = program.ingested(*paths)
        failures += check_job(program, folder, database, steps)
        failures += check_one_rank(program, folder, database, count - 1)
        failures += check_one_rank(program, folder, with_clocks(program, database), 2)
        failures += check_bounds(program, folder, database)
        failures += check_again(program, folder, paths[0])
    return failures
