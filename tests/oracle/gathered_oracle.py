"""The graph of a gathered database (src/replay/MODEL.md, "Collectives alone"), everything looked for in everything:
build(db, capture_id); uses(db, capture_id) of a database of all events: what _part_use of a gathered one has to be.
"""
import collections

import replay_graph_oracle
from replay_graph_oracle import (AFTER_FINISH_NS, AFTER_LAUNCH_NS, HELD_NS, Activity, Call, Graph, Node,
                                 connect_finish, connect_host, make_meets, waits_for_gpu)

Use = collections.namedtuple("Use", "computing is_exposed goes_on idle")


# --- What summaries say of parts.


def uses(db, capture_id):
    """(rank, start, duration, computing, idle) of each part, from when the GPU was busy."""
    parts = db.execute("SELECT c.slice_id, c.trace_id, c.rank, c.ts_ns, c.dur_ns, k.device FROM collectives c "
                       "JOIN kernels k USING (slice_id) WHERE c.capture_id = ?", (capture_id,)).fetchall()
    busy = collections.defaultdict(list)
    for trace, device, ts, dur in db.execute("SELECT trace_id, device, ts_ns, dur_ns FROM busy_segments "
                                             "WHERE kinds & 5"):
        busy[trace, device].append((ts, ts + dur))
    for _, trace, rank, ts, dur, device in parts:
        end = ts + dur
        before = [work for work in busy[trace, device] if work[0] < end]
        after = [work[0] for work in busy[trace, device] if work[0] >= end]
        last = max((work[1] for work in before), default=ts)
        idle = 0 if last > end else min(after) - end if after else None
        yield rank, ts, dur, min(max(last - ts, 0), dur), idle


def launches_into_full_queues(db, capture_id):
    """(rank, start) of launches that waited for 0.25 ms or more as their queue was full."""
    graph = Graph(db, capture_id)
    replay_graph_oracle.read(graph)
    starts = dict(db.execute("SELECT slice_id, ts_ns FROM slices"))
    for slice_id in replay_graph_oracle.full_queues(graph):
        [call] = [call for call in graph.calls if call.slice_id == slice_id]
        if call.end - call.ts >= HELD_NS:
            yield graph.ranks[call.trace], starts[slice_id]


# --- The graph.


def read(graph):
    traces = ",".join(map(str, graph.ranks))
    graph.uses, calls = {}, {}
    parts = graph.db.execute(
        "SELECT g.id, t.trace_id, t.device, t.stream, n.name, k.launch_slice_id, k.launch_ts_ns, k.step, "
        "g.ts + t.base_ns, g.dur, u.computing_ns, u.idle_ns FROM _gpu_slice g JOIN _collective_part p USING (id) "
        "JOIN _track t ON t.id = g.track JOIN _event_name n ON n.id = g.event_name "
        "LEFT JOIN _launch k ON k.id = g.id LEFT JOIN _part_use u ON u.id = g.id "
        f"WHERE t.trace_id IN ({traces}) AND g.dur >= 0 ORDER BY g.id").fetchall()
    for slice_id, trace, device, stream, name, launch_id, launch_ts, step, ts, dur, computing, idle in parts:
        if slice_id in graph.impossible:
            continue
        launch = None
        if launch_ts is not None:
            launch_ts = graph.aligned(trace, launch_ts)
            own = Call(launch_id, trace, "", launch_ts, launch_ts, graph.threads[trace])
            launch = calls.setdefault((trace, launch_id or -slice_id), own)
        part = Activity(slice_id, trace, (trace, device, stream), name, "communication", step,
                        graph.aligned(trace, ts), graph.aligned(trace, ts + dur), launch_ts, launch)
        graph.activities.append(part)
        computing = min(max(computing, 0), part.end - part.ts)
        graph.uses[part] = Use(computing, computing < dur, idle is not None and idle <= AFTER_FINISH_NS,
                               2**61 if idle is None else idle)
    graph.calls = list(calls.values())
    graph.nodes += [Node("launch", call.ts, call.slice_id, call.trace, call, call.thread) for call in graph.calls]
    graph.first = {}  # (trace, step): the first launch in a step, the first start of what was launched
    for trace, step, begin, start, end in graph.db.execute(
            "SELECT trace_id, step, begin_ns, start_ns, end_ns FROM _step_last "
            f"WHERE trace_id IN ({traces})").fetchall():
        if begin is not None and start is not None:
            here = (graph.aligned(trace, begin), graph.aligned(trace, start))
            graph.first[trace, step] = tuple(map(min, here, graph.first.get((trace, step), here)))
        has_steps = any(s.trace == trace for s in graph.step_slices)
        for ts in ([] if has_steps else [begin]) + [end]:
            at = graph.aligned(trace, ts)
            graph.activities.append(Activity(0, trace, (trace, "", ""), "", "compute", step, at, at, None, None))


def read_host(graph):
    """A rank's host is one thread: that of its last step."""
    graph.step_numbers, graph.step_slices = {}, []
    for slice_id, trace, pid, tid, ts, dur, step in graph.db.execute(
            "SELECT s.id, t.trace_id, t.pid, t.tid, s.ts + t.base_ns, s.dur, s.step FROM _step s "
            "JOIN _track t ON t.id = s.track WHERE s.dur >= 0 AND s.step IS NOT NULL ORDER BY s.id").fetchall():
        if trace in graph.ranks and slice_id not in graph.impossible:
            graph.step_numbers[slice_id] = step
            graph.step_slices.append(Call(slice_id, trace, "", graph.aligned(trace, ts),
                                          graph.aligned(trace, ts + dur), (trace, pid, tid)))
    graph.threads = {trace: (trace, None, None) for trace in graph.ranks}
    graph.threads.update({step.trace: step.thread for step in graph.step_slices})
    for step in graph.step_slices:
        for what, at in (("step-begin", step.ts), ("step-end", step.end)):
            graph.nodes.append(Node(what, at, step.slice_id, step.trace, step, graph.threads[step.trace]))
    waits = graph.slices("dur_ns > 0 AND (lower(category) LIKE '%runtime' OR lower(category) LIKE '%driver')", ())
    full = {slice_id for slice_id, in graph.db.execute("SELECT id FROM _full_queue")}
    for call in list(waits):
        if (waits_for_gpu(call.name) or call.slice_id in full) and call.end > call.ts:
            for what, at in (("begin", call.ts), ("end", call.end)):
                graph.nodes.append(Node(what, at, call.slice_id, call.trace, call, graph.threads[call.trace]))


def build(db, capture_id):
    graph = Graph(db, capture_id)
    graph.mean_ns = lambda *of: mean_ns(graph, *of)
    read_host(graph)
    read(graph)
    make_meets(graph)
    for a in graph.activities:
        a.start, a.finish = Node("start", a.ts, a.slice_id, a.trace, a), Node("finish", a.end, a.slice_id, a.trace, a)
        graph.nodes += a.start, a.finish
    graph.nodes.sort(key=Node.place)
    for number, node in enumerate(graph.nodes):
        node.number = number
    connect_host(graph, {})
    for trace in graph.ranks:
        connect_trace(graph, trace)
    for a in graph.activities:
        connect_finish(a)
    for node in graph.nodes:
        if node.what == "meet":
            node.edges = [(part.start, 0, "meet") for part in node.of]
        assert all(source.number < node.number for source, *_ in node.edges), (node.what, node.slice_id)
        came = max((source.time + weight for source, weight, _ in node.edges), default=node.time)
        assert node.time == came, (node.what, node.slice_id)
    return graph


def mean_ns(graph, name, step, but):
    total = calls = 0
    for trace, ns, count in graph.db.execute(
            "SELECT u.trace_id, u.total_ns, u.calls FROM _host_use u JOIN _event_name n ON n.id = u.event_name "
            "WHERE n.name = ? AND u.step IS ?", (name, step)):
        if trace in graph.ranks and graph.ranks[trace] not in but:
            total, calls = total + ns, calls + count
    return total // calls if calls else 0


class Trace:
    """What is known of one rank, up to a node."""

    def __init__(self, graph, trace):
        self.graph, self.trace = graph, trace
        self.parts = [a for a in graph.activities if a.trace == trace and a.slice_id != 0]
        self.nodes = [node for node in graph.nodes if node.trace == trace]
        ways = [a.ts - a.launch.ts for a in self.parts if a.launch and a.ts >= a.launch.ts]
        self.least = min([AFTER_LAUNCH_NS, *ways])
        self.launches = {node.of: node for node in self.nodes if node.what == "launch"}
        self.marks = []      # nodes, as they become the mark
        self.resumes = None  # nodes of the host until then become the mark
        self.meanwhile = {}  # part: start of the first of those that waited for another, what was computed since

    def exposed_before(self, node):
        ended = [a for a in self.parts if self.graph.uses[a].is_exposed and a.finish.number < node.number]
        return max(ended, key=lambda a: a.finish.number, default=None)

    def mark(self):
        return self.marks[-1] if self.marks else None

    def own_before(self, node):
        last = self.exposed_before(node)
        return last.finish if last and node.time - last.end <= AFTER_FINISH_NS else self.mark()

    def add_own(self, node, mark):
        node.edges.append((mark, node.time - mark.time, "own"))
        start, computing = self.meanwhile[mark.of] if mark.what == "finish" else (None, 0)
        if computing > 0:
            node.edges.append((start, computing + node.time - mark.time, "meanwhile"))

    def set_mark(self, node):
        self.marks.append(node)
        self.resumes = None

    def is_followed(self, part):
        after = [a for a in self.parts if a.key == part.key and a.start.number > part.start.number]
        following = min(after, key=lambda a: a.start.number, default=None)
        return following is not None and following.ts - part.end <= AFTER_FINISH_NS


def connect_trace(graph, trace):
    of = Trace(graph, trace)
    for node in of.nodes:
        if node.thread is not None and node.what != "end" and of.resumes is not None and node.time <= of.resumes:
            of.marks.append(node)
        if node.what == "end":
            connect_wait(of, node)
        elif node.what == "start" and node.slice_id == 0:
            connect_last(of, node)
        elif node.what == "start":
            connect_part(of, node)
        elif node.what == "finish" and node.slice_id != 0:
            use = graph.uses[node.of]
            if use.is_exposed and use.goes_on:
                of.set_mark(node)
            elif use.is_exposed:
                host = [n for n in of.nodes if n.number < node.number and n.thread is not None]
                of.marks.append(host[-1] if host else None)
                of.resumes = node.time + use.idle


def connect_wait(of, node):
    begin = next(n for n in of.nodes if n.what == "begin" and n.of is node.of)
    last = of.exposed_before(node)
    mark = None if node.time - begin.time < HELD_NS else of.mark()
    if last and last.finish.number > begin.number:
        mark = last.finish
    node.edges = [(begin, 0 if mark else node.time - begin.time, "call")]
    if mark:
        of.add_own(node, mark)
    if of.resumes is not None and node.time <= of.resumes:
        of.marks.append(node)


def connect_last(of, node):
    own = of.own_before(node)
    if own is not None:
        of.add_own(node, own)
        return
    before = [n for n in of.nodes if n.number < node.number]
    begins = [n for n in before if n.what == "step-begin"][-64:]
    begin = next((n for n in begins if of.graph.step_numbers[n.slice_id] == node.of.step), None)
    parts = [n for n in before if n.what == "start" and n.slice_id != 0 and of.graph.uses[n.of].is_exposed]
    if begin is None or (parts and parts[-1].number > begin.number):
        begin = max((n for n in before if n.thread is not None), key=lambda n: n.number, default=None)
    if begin is not None:
        node.edges = [(begin, node.time - begin.time, "own")]


def connect_part(of, node):
    part = node.of
    ready = []
    launch = of.launches.get(part.launch) if part.launch else None
    if launch is not None and launch.number < node.number:
        ready.append((launch, of.least, "launch", AFTER_LAUNCH_NS))
    on_stream = [a for a in of.parts if a.key == part.key and a.start.number < node.number]
    before = max(on_stream, key=lambda a: a.start.number, default=None)
    if before is not None and before.finish.number < node.number:
        ready.append((before.finish, 0, "stream", AFTER_FINISH_NS))
    last = max(ready, key=lambda r: r[0].time + r[1], default=None)
    is_explained = last is not None and node.time - last[0].time - last[1] <= last[3]
    own = None if is_explained else of.own_before(node)
    binds = last[2] if is_explained else None
    if not is_explained and own is None and ready:
        binds = ready[0][2]  # the launch, if there is one
    for source, base, name, _ in ready:
        node.edges.append((source, node.time - source.time if name == binds else base, name))
    if own is not None:
        of.add_own(node, own)
    if ready or own is not None:
        connect_first(of, node)
    computing = of.graph.uses[part].computing
    of.meanwhile[part] = (node, computing)
    if binds == "stream":
        start, since = of.meanwhile[before]
        if not of.is_followed(part) and 0 < since < node.time - start.time:
            node.edges.append((start, since, "own"))
        of.meanwhile[part] = (start, since + computing)
    is_own = own is not None or (not is_explained and binds == "launch")
    if is_own and not of.graph.uses[part].is_exposed:
        of.set_mark(node)


def connect_first(of, node):
    """What a rank does from the begin of a step to its first part."""
    earlier = [a for a in of.parts if a.start.number < node.number]
    step = node.of.step
    if step is None or (earlier and max(earlier, key=lambda a: a.start.number).step == step):
        return
    begins = [n for n in of.nodes if n.what == "step-begin" and n.number < node.number][-64:]
    begin = next((n for n in begins if of.graph.step_numbers[n.slice_id] == step), None)
    if begin is None or (of.trace, step) not in of.graph.first:
        return
    launch, start = of.graph.first[of.trace, step]
    exposed = of.exposed_before(node)
    if not begin.time <= launch <= start <= node.time or (exposed and exposed.end > start):
        return
    node.edges.append((begin, launch - begin.time + node.time - start, "of step"))
