"""The graph of a gathered database, and what late ranks' own work becomes (src/replay/MODEL.md, "Collectives
alone"), everything looked for in everything: build(db, capture_id); without_lateness(graph, ranks);
uses(db, capture_id) of a database of all events: what _part_use of a gathered one has to be.
"""
import collections

import ideal_oracle
import replay_changes_oracle as changed
from replay_graph_oracle import (AFTER_FINISH_NS, AFTER_LAUNCH_NS, HELD_NS, Activity, Call, Graph, Node,
                                 connect_finish, connect_host, make_meets, waits_for_gpu)

Use = collections.namedtuple("Use", "computing is_exposed goes_on")
Moment = collections.namedtuple("Moment", "key step number count")


class NothingToCompare(Exception):
    """A rank is alone in its stage."""


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
        graph.uses[part] = Use(computing, computing < dur, idle is not None and idle <= AFTER_FINISH_NS)
    graph.calls = list(calls.values())
    graph.nodes += [Node("launch", call.ts, call.slice_id, call.trace, call, call.thread) for call in graph.calls]
    for trace, step, begin, end in graph.db.execute(
            f"SELECT trace_id, step, begin_ns, end_ns FROM _step_last WHERE trace_id IN ({traces})").fetchall():
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
    waits = graph.slices("dur_ns >= ? AND (lower(category) LIKE '%runtime' OR lower(category) LIKE '%driver')",
                         (HELD_NS,))
    for call in list(waits):
        if waits_for_gpu(call.name) and call.end > call.ts:
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
    connect_host(graph)
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
        self.graph = graph
        self.parts = [a for a in graph.activities if a.trace == trace and a.slice_id != 0]
        self.nodes = [node for node in graph.nodes if node.trace == trace]
        ways = [a.ts - a.launch.ts for a in self.parts if a.launch and a.ts >= a.launch.ts]
        self.least = min([AFTER_LAUNCH_NS, *ways])
        self.launches = {node.of: node for node in self.nodes if node.what == "launch"}
        self.marks = []      # nodes, as they become the mark
        self.queued = set()  # parts that waited for their stream

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
        use = self.graph.uses.get(mark.of)
        if mark.what == "finish" and use.computing > 0 and mark.of not in self.queued:
            node.edges.append((mark.of.start, use.computing + node.time - mark.time, "meanwhile"))


def connect_trace(graph, trace):
    of = Trace(graph, trace)
    for node in of.nodes:
        if node.what == "end":
            connect_wait(of, node)
        elif node.what == "start" and node.slice_id == 0:
            connect_last(of, node)
        elif node.what == "start":
            connect_part(of, node)
        elif node.what == "finish" and node.slice_id != 0:
            if graph.uses[node.of].is_exposed and graph.uses[node.of].goes_on:
                of.marks.append(node)


def connect_wait(of, node):
    begin = next(n for n in of.nodes if n.what == "begin" and n.of is node.of)
    last = of.exposed_before(node)
    mark = last.finish if last and last.finish.number > begin.number else of.mark()
    node.edges = [(begin, 0 if mark else node.time - begin.time, "call")]
    if mark:
        of.add_own(node, mark)


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
    if binds == "stream":
        of.queued.add(part)
    is_own = own is not None or (not is_explained and binds == "launch")
    if is_own and not of.graph.uses[part].is_exposed:
        of.marks.append(node)


# --- Lateness.


def without_lateness(graph, ranks):
    """Changes that take what these ranks are late by from them."""
    found = changed.of_late_ranks(graph, ranks)
    steps, slow = late_steps(graph, ranks)
    return found + ([{"change": "even_host", "at_most": even_own(graph, ranks, steps, slow)}] if steps else [])


def late_steps(graph, ranks):
    parts = {a.slice_id: a for a in graph.activities if a.meet is not None}
    key_of, starts = {}, collections.defaultdict(dict)
    for slice_id, *key in graph.db.execute("SELECT slice_id, group_id, pair, by_seq, match_no FROM collectives "
                                           "WHERE capture_id = ?", (graph.capture_id,)):
        if slice_id in parts:
            key_of[slice_id] = tuple(key)
            starts[tuple(key)][graph.ranks[parts[slice_id].trace]] = parts[slice_id].ts
    steps, slow = set(), set()
    for slice_id, rank, step, held_by, cause in graph.db.execute(
            "SELECT slice_id, rank, step, cause_slice_id, cause FROM collective_causes "
            "WHERE ifnull(cause, '') <> 'upstream' AND carried_id IS NULL"):
        if slice_id not in key_of or rank not in ranks:
            continue
        steps |= changed.late_steps(graph, starts[key_of[slice_id]], step)
        if cause != "host":
            slow.add(rank)
        elif held_by is not None and changed.launches(graph, held_by):
            steps |= {changed.step_of(graph, s) for s in graph.slices("slice_id = ?", (held_by,)) if s.end > s.ts}
    return steps, slow


class Moments:
    """What own work leads to or goes on from, by what tells it from others of its rank."""

    def __init__(self, graph):
        self.graph, self.steps = graph, ideal_oracle.host_steps(graph)
        alike = collections.defaultdict(list)
        for node in graph.nodes:
            key, step = self.named(node)
            if key is not None:
                alike[node.trace, step, key].append(node)
        self.of, self.node = {}, {}
        for (trace, step, key), nodes in alike.items():
            is_wait = key == "end"  # counted from the last, however many there are
            for number, node in enumerate(reversed(nodes) if is_wait else nodes):
                self.of[node] = Moment(key, step, number, 0 if is_wait else len(nodes))
                self.node[trace, self.of[node]] = node

    def named(self, node):
        if node.what == "start":
            return ("part " + node.of.name if node.slice_id else "last"), node.of.step
        if node.what in ("end", "step-begin"):
            return node.what, self.steps[node.number]
        return None, None

    def like(self, node, trace):
        return self.node.get((trace, self.of[node]))


def has(node, name):
    return any(edge[2] == name and (name == "meanwhile" or edge[1] == node.time - edge[0].time) for edge in node.edges)


def taken(graph, moments, peer, node, edge):
    """What a peer took for the like of an edge, and whether it was bound alike; None where it says nothing."""
    source, _, name = edge
    to = moments.like(node, peer)
    if to is None:
        return None
    alike = has(to, name)
    if name == "launch":
        return (to.time - to.of.launch.ts, True) if alike and to.of.launch else None
    if has(to, "stream"):
        return None
    if source.what == "step-begin":
        begin = moments.like(source, peer)
        return (to.time - begin.time, alike) if begin and begin.time <= to.time else None
    if source.what not in ("start", "finish"):
        return None
    like = moments.like(source.of.start, peer)
    if like is None or (name == "own" and source.what == "start" and has(like, "stream")):
        return None
    part = like.of
    after = to.time - part.end
    if source.what == "finish":
        return (after, alike) if after >= 0 else None
    if after >= 0:
        return graph.uses[part].computing + after, alike
    return (to.time - part.ts, alike) if to.time >= part.ts else None


def even_own(graph, ranks, steps, slow):
    """{(node, source, name of the edge): at most what it takes}"""
    moments, found = Moments(graph), {}
    place, everybody = changed.stages(graph), sorted(graph.ranks.items())
    messages = graph.db.execute("SELECT count(*) FROM collectives WHERE capture_id = ? AND pair <> ''",
                                (graph.capture_id,)).fetchone()[0]
    for trace, rank in everybody:
        if rank not in ranks:
            continue
        mates = [(t, r) for t, r in everybody if r != rank and (
            (rank in place and place.get(r) == place[rank]) or (not place and not messages))]
        peers = [t for t, r in mates if r not in ranks] or [trace, *(t for t, _ in mates)]
        if mates:
            found.update(even_trace(graph, moments, trace, peers, steps))
        elif rank in slow:
            raise NothingToCompare(rank)
    return found


def even_trace(graph, moments, trace, peers, steps):
    excess = collections.defaultdict(list)
    for node, moment in moments.of.items():
        if node.trace != trace or moment.step not in steps:
            continue
        for edge in node.edges:
            source, weight, name = edge
            if name not in ("own", "meanwhile") and not (name == "launch" and weight == node.time - source.time):
                continue
            likes = [one for peer in peers for one in [taken(graph, moments, peer, node, edge)] if one]
            if not likes:
                continue
            ns = weight - changed.lower_median([took for took, _ in likes])
            if ns >= 0 or all(alike for _, alike in likes):
                excess[moment.step, name == "meanwhile"].append((ns, weight, (node.number, source.number, name)))
    found = {}
    for of_step in excess.values():
        net, longer = sum(ns for ns, *_ in of_step), sum(ns for ns, *_ in of_step if ns > 0)
        for ns, weight, edge in of_step if net > 0 else ():
            if ns > 0:
                found[edge] = max(0, weight - ns * net // longer)
    return found
