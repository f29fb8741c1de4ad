"""Random windows against the events of the traces themselves, picked by hand."""
import collections
import gzip
import json
import os
import shutil
import sqlite3

from cut_program import load, nanoseconds, rows

# Traces of complete events; a slice of two events has no place in the file to be picked from.
FIXTURES = ("megatron/rank0.pt.trace.json.gz", "ddp/rank1.pt.trace.json.gz",
            "seqpar/rank2.pt.trace.json.gz", "legacy/rank0.pt.trace.json",
            "kineto2026/rank0.pt.trace.json", "rocm/rank0_trace.json", "xpu/rank0.pt.trace.json")
GPU_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events")


class Trace:
    def __init__(self, program, name):
        path = os.path.join(program.fixtures, name)
        opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else \
            open(path, encoding="utf-8")
        with opened as file:
            header = json.load(file, parse_float=str)
        events = header.pop("traceEvents")
        self.name = name
        self.base_ns = int(header.get("baseTimeNanoseconds", 0))
        self.metadata = [canonical(event) for event in events if event.get("ph") == "M"]
        self.events = [event for event in events if event.get("ph") not in ("M", None)]
        self.database = program.ingested(path)
        self.start_ns, self.end_ns = rows(self.database, "SELECT start_ns, end_ns FROM _trace")[0]
        self.streams = stream_threads(self.events)
        self.slices = collections.defaultdict(list)  # of a thread: (start, -dur, place, event)
        self.begins = collections.defaultdict(list)  # of arrows, by category and id
        for place, event in enumerate(self.events):
            if event["ph"] == "X" and nanoseconds(event["dur"]) >= 0:
                self.slices[(event.get("pid"), event.get("tid"))].append(
                    (nanoseconds(event["ts"]), -nanoseconds(event["dur"]), place, event))
            if event["ph"] == "s":
                self.begins[(event.get("cat"), event["id"])].append(event)

    def innermost(self, event):
        """The slice of its thread that is open at its time and began last."""
        at = nanoseconds(event["ts"])
        return max((slice_ for slice_ in self.slices[(event.get("pid"), event.get("tid"))]
                    if slice_[0] <= at and (at < slice_[0] - slice_[1] or at == slice_[0])),
                   default=None)


def canonical(event):
    """The event as text that is the same when it says the same; times in ns."""
    event = dict(event)
    for key in ("ts", "dur"):
        if key in event:
            event[key] = nanoseconds(event[key])
    # Only how an id is written may differ; a name that is not there is an empty one.
    event.setdefault("name", "")
    return json.dumps(event, sort_keys=True)


def category(event):
    return event.get("cat", "").lower()


def stream_threads(events):
    threads = {}
    for event in events:
        if event["ph"] != "X":
            continue
        args = event.get("args", {})
        sync = category(event) == "cuda_sync" and int(event.get("tid", 0)) >= 1_000_000
        if category(event) in GPU_CATEGORIES or sync:
            other = int(event["tid"]) - 1_000_000 if sync else event.get("tid")
            threads[(event.get("pid"), event.get("tid"))] = str(args.get("stream", other))
    return threads


def is_in(event, base_ns, start, end):
    begin = nanoseconds(event["ts"]) + base_ns
    if begin >= end:
        return False
    last = begin + nanoseconds(event["dur"]) if "dur" in event and event["ph"] == "X" else begin
    return begin >= start or last > start


def incoming_events(trace, inside, ends, start, wanted):
    """Arrows that end in the window: their last begins before it, and slices that hold those."""
    picked = {}
    for key in [key for key, phases in ends.items() if "f" in phases and "s" not in phases]:
        before = [event for event in trace.begins[key]
                  if nanoseconds(event["ts"]) + trace.base_ns < start]
        if not before:
            continue
        begin = max(before, key=lambda event: nanoseconds(event["ts"]))
        held = trace.innermost(begin)
        if held is None or not wanted(held[3]):
            continue
        ends[key].add("s")
        picked[id(begin)] = begin
        picked[id(held[3])] = held[3]
    known = {id(event) for event in inside}
    return [event for key, event in picked.items() if key not in known]


def expected(trace, start, end, categories, streams, clip, incoming=False):
    def wanted(event):
        stream = trace.streams.get((event.get("pid"), event.get("tid")))
        return ((not categories or category(event) in categories)
                and (not streams or stream is None or stream in streams))

    inside = [event for event in trace.events
              if wanted(event) and is_in(event, trace.base_ns, start, end)]
    ends = {}
    for event in inside:
        if event["ph"] in "stf":
            ends.setdefault((event.get("cat"), event["id"]), set()).add(event["ph"])
    if incoming:
        inside += incoming_events(trace, inside, ends, start, wanted)
    whole = {key for key, phases in ends.items() if {"s", "f"} <= phases}
    picked = [event for event in inside
              if event["ph"] not in "stf" or (event.get("cat"), event["id"]) in whole]
    return sorted(canonical(clipped(event, trace.base_ns, start, end) if clip else event)
                  for event in picked)


def clipped(event, base_ns, start, end):
    if event["ph"] != "X" or nanoseconds(event["dur"]) <= 0:
        return event
    begin = nanoseconds(event["ts"]) + base_ns
    last = min(begin + nanoseconds(event["dur"]), end)
    begin = max(begin, start)
    return dict(event, ts=micros(begin - base_ns), dur=micros(last - begin))


def micros(ns):
    return f"{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03}"


def window_options(trace, random):
    """Options that name a random window, and the window in absolute ns."""
    length = trace.end_ns - trace.start_ns
    start = trace.start_ns + random.randrange(length)
    end = start + 1 + random.randrange(1, max(2, length // random.choice((1, 3, 30, 300))))
    if random.random() < 0.5:
        return ["--start", str(start), "--end", str(end)], start, end
    first, last = start - trace.start_ns, end - trace.start_ns
    texts = (f"{first // 10**9}.{first % 10**9:09}s", f"{last // 10**6}.{last % 10**6:06}ms")
    return ["--start", texts[0], "--end", texts[1]], start, end


def difference(name, options, found, want):
    extra = [event for event in found if event not in set(want)][:1]
    missing = [event for event in want if event not in set(found)][:1]
    return (f"{name} {' '.join(options)}: {len(found)} events in place of {len(want)}; "
            f"too many: {extra!r:.300}; missing: {missing!r:.300}")


def check_window(program, trace, random):
    options, start, end = window_options(trace, random)
    categories = random.sample(sorted({category(event) for event in trace.events} - {""}),
                               1) if random.random() < 0.2 else []
    streams = random.sample(sorted(set(trace.streams.values())), 1) \
        if trace.streams and random.random() < 0.2 else []
    clip, incoming = random.choice(((False, False), (True, False), (False, True)))
    options += [*(["--category", categories[0].upper()] if categories else []),
                *(["--stream", streams[0]] if streams else []), *(["--clip"] if clip else []),
                *(["--incoming"] if incoming else [])]
    held = program.cut(trace.database, random.choice(("w.json", "w.json.gz")), *options)
    found = sorted(canonical(event) for event in held["traceEvents"] if event["ph"] != "M")
    want = expected(trace, start, end, categories, streams, clip, incoming)
    failures = [] if found == want else [difference(trace.name, options, found, want)]
    metadata = [canonical(event) for event in held["traceEvents"] if event["ph"] == "M"]
    if metadata != trace.metadata:
        failures.append(f"{trace.name} {' '.join(options)}: metadata differ")
    if incoming and not categories and not streams:
        failures += [f"{trace.name} {' '.join(options)}: {text}" for text in loose_arrows(held)]
    return failures


def loose_arrows(held):
    """As Perfetto's importer takes arrows: one begins in the slice that is open on its thread, and
    is dropped where there is none; it ends in what was begun."""
    open_at = collections.defaultdict(list)
    for event in held["traceEvents"]:
        if event["ph"] == "X":
            begin = nanoseconds(event["ts"])
            open_at[(event.get("pid"), event.get("tid"))].append(
                (begin, begin + nanoseconds(event["dur"])))
    begun = set()
    for event in held["traceEvents"]:
        if event["ph"] != "s":
            continue
        at = nanoseconds(event["ts"])
        if any(begin <= at < end or at == begin
               for begin, end in open_at[(event.get("pid"), event.get("tid"))]):
            begun.add((event.get("cat"), event["id"]))
        else:
            yield f"the arrow {event['id']} begins in no slice"
    for event in held["traceEvents"]:
        if event["ph"] == "f" and (event.get("cat"), event["id"]) not in begun:
            yield f"the arrow {event['id']} begins nowhere"


def check_budget(program, trace, random):
    """--max-events keeps the longest slices, and says how many events it left out."""
    options, start, end = window_options(trace, random)
    want = expected(trace, start, end, [], [], False)
    events_max = random.randrange(1, len(want) + 2)
    path = program.file("few.json")
    done = program.run("--db", trace.database, "cut", "-o", path, "--max-events", events_max,
                       *options)
    found = [event for event in load(path)["traceEvents"] if event["ph"] != "M"]
    texts = [canonical(event) for event in found]
    told = next((line for line in done.stderr.splitlines() if "left out" in line), "")
    numbers = [int(word) for part in told.partition("left out: ")[2].split(", ")
               for word in part.split()[:1] if word.isdigit()]
    failures = []
    if len(found) > events_max or set(texts) - set(want):
        failures.append("more than wanted")
    if sum(numbers) != len(want) - len(found):
        failures.append(f"said '{told}', and {len(want) - len(found)} of {len(want)} are left out")
    kept = sorted(nanoseconds(event["dur"]) for event in found if event["ph"] == "X")
    all_lengths = sorted(json.loads(text)["dur"] for text in want if '"ph": "X"' in text)
    # Lengths within a thousandth of each other count as the same.
    longest = all_lengths[len(all_lengths) - len(kept):]
    if any(abs(a - b) * 1000 > b for a, b in zip(kept, longest)):
        failures.append("the longest slices are not those kept")
    if len(want) <= events_max and sorted(texts) != want:
        failures.append("something is left out though there is room")
    return [f"{trace.name} --max-events {events_max}: {failure}" for failure in failures]


# What may have become of the table that says which thousand rows a window may have.
WRONG_ROW_TIMES = (
    "DROP TABLE _row_times", "DELETE FROM _row_times",
    "DELETE FROM _row_times WHERE id = (SELECT max(id) FROM _row_times)",
    "DELETE FROM _row_times WHERE id = (SELECT min(id) FROM _row_times)",
    "DELETE FROM _row_times WHERE id IN (SELECT id FROM _row_times ORDER BY id LIMIT 2 OFFSET 3)",
    "UPDATE _row_times SET last_id = last_id - 1", "UPDATE _row_times SET last_id = id",
    "UPDATE _row_times SET start_ts = 'then' WHERE id % 2", "UPDATE _row_times SET end_ts = NULL",
    "UPDATE _row_times SET start_ts = end_ts + 1, end_ts = start_ts",
    "UPDATE _row_times SET start_ts = start_ts + 1, end_ts = end_ts - 1",
    "UPDATE _row_times SET start_ts = NULL, end_ts = NULL",
    "UPDATE _row_times SET id = id + 5000000 WHERE id = (SELECT max(id) FROM _row_times)")


def check_wrong_row_times(program, trace, random):
    """The cut is the same: from a window's few thousand rows, and where it reads all of them."""
    length = trace.end_ns - trace.start_ns
    start = trace.start_ns + random.randrange(length * 9 // 10)
    options = ["--start", str(start), "--end", str(start + length // 20)]
    want = program.cut(trace.database, "w.json", *options)["traceEvents"]
    failures = [] if len(want) > len(trace.metadata) else [f"{trace.name}: an empty window"]
    for sql in WRONG_ROW_TIMES:
        wrong = program.file("wrong.db")
        shutil.copyfile(trace.database, wrong)
        changed = sqlite3.connect(wrong)
        changed.execute(sql)
        changed.commit()
        changed.close()
        if program.cut(wrong, "w.json", *options)["traceEvents"] != want:
            failures.append(f"{trace.name} {' '.join(options)}: another cut after {sql}")
    return failures


def check(program, random):
    failures = check_wrong_row_times(program, Trace(program, FIXTURES[0]), random)
    for name in FIXTURES:
        trace = Trace(program, name)
        for _ in range(40 if len(trace.events) < 10000 else 12):
            failures += check_window(program, trace, random)
        for _ in range(6):
            failures += check_budget(program, trace, random)
    return failures
