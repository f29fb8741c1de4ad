"""The graph of src/replay/MODEL.md from a database's public views, everything looked for in everything:
build(db, capture_id).
"""
import bisect
import collections
import math

AFTER_LAUNCH_NS = 100_000
AFTER_FINISH_NS = 20_000
STARTED_LAST = 64
FULL, BLOCKED_NS = 512, 50_000
HELD_NS, GOES_ON_NS = 250_000, 1_000_000
RECORDER = ("Activity Buffer Request", "Buffer Flush", "Instrumentation", "Resource", "UVM Activity Init")
# At one time the nodes come in this order.
PLACES = {"last": 0, "start": 2, "meet": 3, "finish": 4}
HOST_PLACES = {"hold-end": 0, "end": 1, "step-end": 2, "step-begin": 3, "launch": 4, "begin": 4, "hold-begin": 5}

Call = collections.namedtuple("Call", "slice_id trace name ts end thread")


class Activity:
    """A GPU activity. key: its stream; launch: its call, None where that is not recorded; parallelism: of
    the group of the collective it is a part of."""

    def __init__(self, slice_id, trace, key, name, kind, step, ts, end, launch_ts, launch):
        self.slice_id, self.trace, self.key, self.name, self.kind = slice_id, trace, key, name, kind
        self.step, self.ts, self.end, self.launch_ts, self.launch = step, ts, end, launch_ts, launch
        self.start = self.finish = self.meet = self.parallelism = None


class Node:
    """what: as in MODEL.md; of: the activity, the call, the step's slice, the parts of a collective;
    edges: [(from, weight, name)]."""

    def __init__(self, what, time, slice_id, trace, of, thread=None):
        self.what, self.time, self.slice_id, self.trace, self.of, self.thread = what, time, slice_id, trace, of, thread
        self.edges, self.lag, self.number = [], 0, None

    def place(self):
        what = "last" if self.what == "finish" and self.of.end > self.of.ts else self.what
        trace = self.trace if what in HOST_PLACES else 0
        return (self.time, PLACES.get(what, 1), HOST_PLACES.get(what, 0), trace, self.slice_id)


class Graph:
    """db: for the slices that a change names; clocks: {trace: its times aligned}."""

    def __init__(self, db, capture_id):
        self.db, self.capture_id = db, capture_id
        self.nodes, self.activities, self.calls, self.threads = [], [], [], {}
        rows = db.execute("SELECT t.trace_id, t.rank, c.offset_ns, c.drift_ppb, c.origin_ns FROM traces t "
                          "LEFT JOIN rank_clocks c USING (trace_id) WHERE t.capture_id = ?", (capture_id,)).fetchall()
        self.ranks = {trace: rank for trace, rank, *_ in rows}
        self.clocks = {trace: clock for trace, _, *clock in rows}
        self.impossible = {row[0] for row in db.execute("SELECT event_id FROM impossible_times")}

    def aligned(self, trace, ts):
        """A time by the aligned clocks; as integers of SQL, fractions go towards zero."""
        offset, drift, origin = self.clocks[trace]
        if ts is None or offset is None:
            return ts
        correction = abs((ts - origin) * drift) // 1_000_000_000
        return ts + offset + (correction if (ts - origin) * drift >= 0 else -correction)

    def slices(self, condition="1", values=()):
        """(slice_id, trace, name, start, end, thread) of the host's slices."""
        marks = ",".join(str(trace) for trace in self.ranks)
        for slice_id, trace, name, ts, dur, pid, tid in self.db.execute(
                "SELECT slice_id, trace_id, name, ts_ns, dur_ns, pid, tid FROM slices "
                f"WHERE trace_id IN ({marks}) AND {condition}", values):
            if slice_id not in self.impossible and (dur or 0) >= 0:
                yield Call(slice_id, trace, name, self.aligned(trace, ts), self.aligned(trace, ts + (dur or 0)),
                           (trace, pid, tid))


def waits_for_gpu(name):
    if not name.startswith(("cu", "hip")):
        return False
    return "Synchronize" in name or (("Memcpy" in name or "Memset" in name) and "Async" not in name)


def read(graph):
    graph.calls = list(graph.slices("(lower(category) LIKE '%runtime' OR lower(category) LIKE '%driver')"))
    calls = {call.slice_id: call for call in graph.calls}
    for slice_id, trace, device, stream, name, kind, step, ts, dur, launch_ts, launch in graph.db.execute(
            "SELECT slice_id, trace_id, device, stream, name, kind, step, ts_ns, dur_ns, launch_ts_ns, launch_slice_id "
            "FROM kernels WHERE dur_ns >= 0 ORDER BY slice_id"):
        if trace in graph.ranks and slice_id not in graph.impossible:
            graph.activities.append(Activity(
                slice_id, trace, (trace, device, stream), name, kind, step, graph.aligned(trace, ts),
                graph.aligned(trace, ts + dur), graph.aligned(trace, launch_ts), calls.get(launch)))


def make_host_nodes(graph):
    """Returns {slice_id of a call: the node from which what it launches comes}."""
    launching = {a.launch.slice_id for a in graph.activities if a.launch}
    launches = {}
    for call in graph.calls:
        if waits_for_gpu(call.name) and call.end > call.ts:
            launches[call.slice_id] = Node("begin", call.ts, call.slice_id, call.trace, call, call.thread)
            graph.nodes.append(Node("end", call.end, call.slice_id, call.trace, call, call.thread))
        elif waits_for_gpu(call.name) or call.slice_id in launching:
            launches[call.slice_id] = Node("launch", call.ts, call.slice_id, call.trace, call, call.thread)
    graph.nodes += launches.values()
    graph.step_numbers = dict(graph.db.execute("SELECT slice_id, step FROM steps"))
    marks = ",".join(map(str, graph.step_numbers))
    graph.step_slices = list(graph.slices(f"slice_id IN ({marks})"))
    for step in graph.step_slices:
        graph.nodes.append(Node("step-begin", step.ts, step.slice_id, step.trace, step, step.thread))
        graph.nodes.append(Node("step-end", step.end, step.slice_id, step.trace, step, step.thread))
    return launches


def make_holds(graph):
    """What the recorder held up: of each process the thread that did something last."""
    marks = ",".join(map(str, graph.ranks))
    words = ",".join("?" * len(RECORDER))
    threads = {node.thread for node in graph.nodes if node.thread}
    boundaries = collections.defaultdict(list)  # {thread: on its trace's own clock}
    for slice_id, trace, ts, dur, pid, tid in graph.db.execute(
            f"SELECT slice_id, trace_id, ts_ns, dur_ns, pid, tid FROM slices WHERE trace_id IN ({marks}) "
            "AND dur_ns >= 0 AND slice_id NOT IN (SELECT slice_id FROM kernels)"):
        if (trace, pid, tid) in threads and slice_id not in graph.impossible:
            boundaries[trace, pid, tid] += ts, ts + dur
    for moments in boundaries.values():
        moments.sort()
    held_until = {}
    for slice_id, trace, begin, dur in graph.db.execute(
            f"SELECT slice_id, trace_id, ts_ns, dur_ns FROM slices WHERE trace_id IN ({marks}) "
            f"AND category = 'overhead' AND name IN ({words}) AND dur_ns >= ? "
            "ORDER BY ts_ns + dur_ns, slice_id", (*RECORDER, HELD_NS)):
        if slice_id in graph.impossible:
            continue
        end, last_of = begin + dur, collections.defaultdict(list)
        for thread in sorted(threads):
            upto = bisect.bisect_right(boundaries[thread], end)
            if thread[0] == trace and upto:
                last_of[thread[:2]].append(
                    (boundaries[thread][upto - 1], thread, boundaries[thread][upto:upto + 1]))
        for found in last_of.values():
            latest = max(found)
            if [last for last, *_ in found].count(latest[0]) == 1:
                add_hold(graph, held_until, slice_id, begin, end, *latest)


def add_hold(graph, held_until, slice_id, begin, end, last, thread, following):
    if not following or following[0] - end > GOES_ON_NS or end - max(begin, last) < HELD_NS:
        return
    start = max(graph.aligned(thread[0], max(begin, last)), held_until.get(thread, -math.inf))
    end = graph.aligned(thread[0], end)
    waits = [call for call in graph.calls if call.thread == thread and waits_for_gpu(call.name)
             and call.ts <= start and call.end >= end]
    if start < end and not waits:
        held_until[thread] = end
        for what, time in (("hold-begin", start), ("hold-end", end)):
            graph.nodes.append(Node(what, time, slice_id, thread[0], (slice_id, start), thread))


def make_meets(graph):
    of = {a.slice_id: a for a in graph.activities}
    matched = collections.defaultdict(list)
    for slice_id, parallelism, *key in graph.db.execute(
            "SELECT slice_id, parallelism, group_id, pair, by_seq, match_no FROM collectives LEFT JOIN process_groups "
            "USING (group_id) WHERE capture_id = ? ORDER BY slice_id", (graph.capture_id,)):
        if slice_id in of:
            of[slice_id].parallelism = parallelism or "other"
            if key[0] is not None:
                matched[tuple(key)].append(of[slice_id])
    for parts in matched.values():
        if len({graph.ranks[part.trace] for part in parts}) > 1:
            meet = Node("meet", max(part.ts for part in parts), min(part.slice_id for part in parts), None, parts)
            graph.nodes.append(meet)
            for part in parts:
                part.meet = meet


def build(db, capture_id):
    graph = Graph(db, capture_id)
    read(graph)
    launches = make_host_nodes(graph)
    make_holds(graph)
    make_meets(graph)
    for a in graph.activities:
        a.start = Node("start", a.ts, a.slice_id, a.trace, a)
        a.finish = Node("finish", a.end, a.slice_id, a.trace, a)
        graph.nodes += a.start, a.finish
    graph.nodes.sort(key=Node.place)
    for number, node in enumerate(graph.nodes):
        node.number = number
    connect_host(graph, full_queues(graph))
    of_trace = collections.defaultdict(list)
    for a in graph.activities:
        of_trace[a.trace].append(a)
    for node in graph.nodes:
        if node.what == "end":
            connect_end(node, launches[node.slice_id], of_trace.get(node.trace, []))
    for activities in of_trace.values():
        connect_starts(graph, activities, launches)
    for a in graph.activities:
        connect_finish(a)
    for node in graph.nodes:
        if node.what == "meet":
            node.edges = [(part.start, 0, "meet") for part in node.of]
        assert all(source.number < node.number for source, *_ in node.edges), (node.what, node.slice_id)
        came = max((source.time + weight for source, weight, _ in node.edges), default=node.time)
        assert 0 <= node.time - came and (node.what == "start" or node.time == came), (node.what, node.slice_id)
        node.lag = node.time - came
    return graph


def full_queues(graph):
    """{slice_id of a launch that found its queue full: the activity that made room for it}"""
    launched, found = {}, {}
    for a in sorted(graph.activities, key=lambda a: a.slice_id):
        if a.launch:
            launched[a.launch.slice_id] = a
    for a in launched.values():
        call = a.launch
        if call.end - call.ts < BLOCKED_NS or waits_for_gpu(call.name):
            continue
        before = [b for b in launched.values() if b.trace == a.trace
                  and (b.launch.ts, b.launch.slice_id) < (call.ts, call.slice_id)]
        made = [b for b in before if b.key == a.key
                and max(call.ts, call.end - AFTER_FINISH_NS) <= b.end <= call.end]
        if sum(b.end > call.end for b in before) >= FULL and made:
            found[call.slice_id] = max(made, key=lambda b: (b.end, b.launch.ts, b.launch.slice_id))
    return found


def connect_host(graph, full):
    """Each node of a thread comes after the one before it there, or after another thread handed over; what
    launched into a full queue goes on when there was room."""
    on_thread, of_process = {}, collections.defaultdict(dict)  # the last node yet; {thread: its last node}
    for node in graph.nodes:
        if node.thread is None:
            continue
        process = of_process[node.thread[:2]]
        before = on_thread.get(node.thread)
        other = max((last for thread, last in process.items() if thread != node.thread),
                    key=lambda last: last.number, default=None)
        if node.what == "hold-end":
            assert before.what == "hold-begin" and before.of == node.of
            node.edges = [(before, node.time - before.time, "recorder")]
        elif node.what != "end":
            made = full.get(before.slice_id) if before is not None and before.what == "launch" else None
            room = made.finish if made and made.finish.number < node.number else None
            if room and other is not None and other.time <= before.of.end:
                other = None
            if before is not None and other is not None and other.number > before.number:
                node.edges = [(before, 0, "host"), (other, node.time - other.time, "handover")]
                node.edges += [(room, 0, "room")] if room else []
            elif room:
                node.edges = [(before, node.time - room.time, "host"), (room, node.time - room.time, "room")]
            elif before is not None:
                node.edges = [(before, node.time - before.time, "host")]
            elif other is not None:
                node.edges = [(other, node.time - other.time, "handover")]
        on_thread[node.thread] = process[node.thread] = node


def worked_since(node, edge):
    """When a host may have begun the work of an edge: not before there was room in the queue that it found full."""
    source, _, name = edge
    rooms = [room.time for room, _, other in node.edges[1:2] if other == "room" and name == "host"]
    return rooms[0] if rooms else source.time


def connect_end(end, begin, activities):
    call = end.of
    started = collections.defaultdict(list)
    for a in sorted(activities, key=lambda a: a.start.number):
        if a.start.number < end.number:
            started[a.key].append(a)
    candidates = [a for on_stream in started.values() for a in on_stream[-STARTED_LAST:]
                  if a.finish.number < end.number
                  and (a.launch is call or a.launch_ts is not None and a.launch_ts < call.ts)]
    last_of = {}
    for a in sorted(candidates, key=lambda a: a.finish.number):
        last_of[a.key] = a
    if "DeviceSynchronize" not in call.name and "CtxSynchronize" not in call.name:
        last = max(candidates, key=lambda a: a.finish.number, default=None)
        stream = None
        if last is not None and last.finish.number > begin.number:
            stream = last.key
        else:
            own = [a for a in activities if a.launch and a.launch.thread == call.thread and a.launch_ts < call.ts]
            if own:
                stream = max(own, key=lambda a: (a.launch_ts, a.slice_id)).key
        last_of = {stream: last_of[stream]} if stream in last_of else {}
    waited_for = sorted(last_of.values(), key=lambda a: a.slice_id)
    last = max(waited_for, key=lambda a: a.finish.number, default=None)
    if last is not None and last.finish.number < begin.number:
        last = None
    end.edges = [(begin, 0 if last else end.time - begin.time, "call")]
    end.edges += [(a.finish, end.time - a.finish.time if a is last else 0, "sync") for a in waited_for]


def event_waits(graph, trace):
    """{slice_id of a launching call: the starts of StreamWaitEvent calls since that of its thread before}"""
    launching = {a.launch.slice_id for a in graph.activities if a.launch}
    found, last = {}, collections.defaultdict(list)
    for call in sorted((c for c in graph.calls if c.trace == trace), key=lambda c: (c.ts, c.slice_id)):
        if "StreamWaitEvent" in call.name:
            last[call.thread].append(call.ts)
        if call.slice_id in launching:
            found[call.slice_id] = last.pop(call.thread, [])
    return found


def connect_starts(graph, activities, launches):
    """Of one trace."""
    node_of = {a: launches[a.launch.slice_id] for a in activities if a.launch}
    node_of = {a: node for a, node in node_of.items() if node.number < a.start.number}
    shortest = min((a.ts - node.time for a, node in node_of.items()), default=None)
    waits = event_waits(graph, activities[0].trace)
    streams = collections.defaultdict(list)
    for a in sorted(activities, key=lambda a: (a.ts, a.slice_id)):
        streams[a.key].append(a)
    starts = {key: [a.start.number for a in ran] for key, ran in streams.items()}
    finishes = sorted(activities, key=lambda a: a.finish.number)
    finish_numbers = [a.finish.number for a in finishes]
    for key, ran in streams.items():
        for place, a in enumerate(ran):
            edges = []  # (from, when it is ready, name)
            if a in node_of:
                edges.append((node_of[a], node_of[a].time + shortest, "launch"))
            if place and ran[place - 1].finish.number < a.start.number:
                edges.append((ran[place - 1].finish, ran[place - 1].end, "stream"))
            since = waits.get(a.launch.slice_id) if a.launch else None
            found = []
            if since:
                for other in streams:
                    if other == key:
                        continue
                    upto = bisect.bisect_left(starts[other], a.start.number)
                    fits = [b for b in streams[other][max(0, upto - STARTED_LAST):upto] if b.launch_ts is not None
                            and b.launch_ts < since[-1] and b.finish.number < a.start.number]
                    if fits:
                        found.append(max(fits, key=lambda b: b.finish.number))
                latest = sorted(found, key=lambda b: (b.launch_ts, b.slice_id))[-len(since):]
                found = [b for b in found if b in latest or b is max(found, key=lambda c: c.finish.number)]
            edges += [(b.finish, b.end, "wait") for b in sorted(found, key=lambda b: b.slice_id)]
            if edges:
                before = finishes[:bisect.bisect_left(finish_numbers, a.start.number)]
                bind(a, edges, before, shortest)


def bind(a, edges, before, shortest):
    """Gives the start its edges. before: the trace's activities that finished by then, in order."""
    latest = max(ready for _, ready, _ in edges)
    binding = next(n for n, (_, ready, _) in enumerate(edges) if ready == latest)
    rest = a.ts - latest
    most = AFTER_LAUNCH_NS if edges[binding][2] == "launch" else AFTER_FINISH_NS
    if rest > most:
        near = [b for b in before if b.key != a.key and b.end > latest and b.end >= a.ts - AFTER_FINISH_NS]
        if near:
            inferred = min(near, key=lambda b: (-b.end, b.slice_id))
            binding, rest = len(edges), a.ts - inferred.end
            edges.append((inferred.finish, inferred.end, "inferred"))
    for n, (source, _, name) in enumerate(edges):
        weight = shortest if name == "launch" else 0
        a.start.edges.append((source, weight + (min(rest, most) if n == binding else 0), name))


def connect_finish(a):
    if a.meet is not None and a.meet.number < a.finish.number:
        left = a.end - a.meet.time
        a.finish.edges = [(a.start, left, "activity"), (a.meet, left, "transfer")]
    else:
        a.finish.edges = [(a.start, a.end - a.ts, "activity")]
