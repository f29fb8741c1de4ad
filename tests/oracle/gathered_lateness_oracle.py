"""What late ranks' own work becomes in the graph of a gathered database (src/replay/MODEL.md, "Collectives alone"):
without_lateness(graph, ranks) of gathered_oracle.build; NothingToCompare where it is not told.
"""
import collections

import ideal_oracle
import replay_changes_oracle as changed
import replay_oracle

UNKNOWN_NS = 100_000
Late = collections.namedtuple("Late", "steps slow since")  # since: of ranks in the ends of other steps
Moment = collections.namedtuple("Moment", "key step number count")


class NothingToCompare(Exception):
    """A rank is alone in its stage, or what it does is like nothing that others do."""


def without_lateness(graph, ranks):
    """Changes that take what these ranks are late by from them."""
    found = changed.of_late_ranks(graph, ranks)
    late = late_steps(graph, ranks)
    if not late.steps:
        return found
    at_most, unlike = even_own(graph, ranks, late)
    found.append({"change": "even_host", "at_most": at_most})
    least = [*found, {"change": "even_host", "at_most": {edge: 0 for edge, _ in unlike}}]
    unknown, gain = end_with(graph, found) - end_with(graph, least), end_with(graph, []) - end_with(graph, least)
    if unknown > UNKNOWN_NS and unknown > gain // 10:
        raise NothingToCompare(unlike[0])
    return found


def end_with(graph, changes):
    return max(replay_oracle.replay(graph, changes).times, default=0)


def late_steps(graph, ranks):
    parts = {a.slice_id: a for a in graph.activities if a.meet is not None}
    key_of, starts = {}, collections.defaultdict(dict)
    for slice_id, *key in graph.db.execute("SELECT slice_id, group_id, pair, by_seq, match_no FROM collectives "
                                           "WHERE capture_id = ?", (graph.capture_id,)):
        if slice_id in parts:
            key_of[slice_id] = tuple(key)
            starts[tuple(key)][graph.ranks[parts[slice_id].trace]] = parts[slice_id].ts
    met = collections.defaultdict(list)  # {(rank, step): (a part's start, when all had come)}
    for slice_id, key in key_of.items():
        part = parts[slice_id]
        met[graph.ranks[part.trace], part.step].append((part.ts, max(starts[key].values())))
    steps, slow, carried, ended = set(), set(), set(), set()
    for slice_id, rank, step, held_by, cause, carried_id in graph.db.execute(
            "SELECT slice_id, rank, step, cause_slice_id, cause, carried_id FROM collective_causes "
            "WHERE ifnull(cause, '') <> 'upstream'"):
        if slice_id not in key_of or rank not in ranks:
            continue
        if carried_id is not None:
            carried.add(step)
            continue
        behind = changed.late_steps(graph, starts[key_of[slice_id]], step)
        steps |= behind
        if step is not None and parts[slice_id].ts == min(met[rank, step], default=(None,))[0]:
            before = [s for s in graph.step_numbers.values() if s < min(behind)]
            ended |= {max(before)} if before else set()
        if cause != "host":
            slow.add(rank)
        elif held_by is not None and changed.launches(graph, held_by):
            steps |= {changed.step_of(graph, s) for s in graph.slices("slice_id = ?", (held_by,)) if s.end > s.ts}
    if steps:
        steps |= carried
    since = {(rank, step): max(came for _, came in met[rank, step]) for rank in ranks for step in ended
             if met[rank, step]}
    return Late(steps, slow, since)


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

    def last_of(self, launch):
        """The part that a call launched; of several that with the highest number."""
        parts = [a for a in self.graph.activities if a.launch is launch.of]
        return max(parts, key=lambda a: a.slice_id, default=None)


def has(node, name):
    return any(edge[2] == name and (name == "meanwhile" or edge[1] == node.time - edge[0].time) for edge in node.edges)


def waits(graph, trace):
    """When its GPU had done its own work and waited in a part, as far as it is told what for."""
    parts = [a for a in graph.activities if a.trace == trace and a.slice_id != 0]
    followed = {source.of for a in parts for source, weight, name in a.start.edges
                if name == "stream" and weight == a.ts - source.time}
    found = []
    for part in parts:
        use = graph.uses[part]
        if use.is_exposed and (use.goes_on or part in followed):
            found.append((part.ts + use.computing, part.end))
    apart = []
    for begin, end in sorted(found):
        if apart and begin <= apart[-1][1]:
            apart[-1][1] = max(apart[-1][1], end)
        else:
            apart.append([begin, end])
    return apart


def own_ns(graph, trace, begin, end):
    if trace not in graph.waits:
        graph.waits[trace] = waits(graph, trace)
    return end - begin - sum(max(0, min(until, end) - max(since, begin)) for since, until in graph.waits[trace])


def taken(graph, moments, peer, node, edge):
    """What a peer took for the like of an edge, and whether it was bound alike; None where it says nothing."""
    source, _, name = edge
    to = moments.like(node, peer)
    if to is None:
        return None
    alike = has(to, name)
    if name == "launch":
        return (to.time - to.of.launch.ts, True) if alike and to.of.launch else None
    if name == "of step":
        return next(((weight, True) for _, weight, what in to.edges if what == name), None)
    for other, weight, what in to.edges:
        if what == "of step" and source.what == "step-begin" and moments.like(source, peer) is other:
            return weight, True
    begin = begin_of(moments, peer, source)
    if begin is None or begin > to.time:
        return None
    alike = any(what == name and (name == "meanwhile" or weight == to.time - other.time)
                and is_like(moments, peer, source, other) for other, weight, what in to.edges)
    if source.what in ("start", "finish"):
        alike = alike or has(to, "stream")
    return own_ns(graph, peer, begin, to.time), alike


def is_like(moments, peer, source, other):
    """A part's launch is like that of the part's like, and so are its start and its finish."""
    if source.what != other.what:
        return False
    if source.what in ("start", "finish"):
        return moments.like(source.of.start, peer) is other.of.start
    if source.what != "launch":
        return moments.like(source, peer) is other
    parts = moments.last_of(source), moments.last_of(other)
    return None not in parts and moments.like(parts[0].start, peer) is parts[1].start


def begin_of(moments, peer, source):
    """When the like of what an edge comes from was on a peer."""
    if source.what in ("step-begin", "end"):
        like = moments.like(source, peer)
        return like and like.time
    if source.what == "launch":
        last = moments.last_of(source)
        like = last and moments.like(last.start, peer)
        return like.of.launch.ts if like and like.of.launch else None
    if source.what not in ("start", "finish"):
        return None
    like = moments.like(source.of.start, peer)
    return like and (like.of.end if source.what == "finish" else like.time)


def even_own(graph, ranks, late):
    """{(node, source, name of the edge): at most what it takes}; [(such an edge, rank)] that nothing is like"""
    moments, found, unlike = Moments(graph), {}, []
    graph.waits = {}
    place, everybody = changed.stages(graph), sorted(graph.ranks.items())
    messages = graph.db.execute("SELECT count(*) FROM collectives WHERE capture_id = ? AND (pair <> '' "
                                "OR group_id IS NULL AND collective IN ('send', 'recv', 'sendrecv'))",
                                (graph.capture_id,)).fetchone()[0]
    for trace, rank in everybody:
        if rank not in ranks:
            continue
        mates = [(t, r) for t, r in everybody if r != rank and (
            (rank in place and place.get(r) == place[rank]) or (not place and not messages))]
        peers = [t for t, r in mates if r not in ranks] or [trace, *(t for t, _ in mates)] if mates else []
        if not mates and rank in late.slow:
            raise NothingToCompare(rank)
        at_most, others = even_trace(graph, moments, trace, peers, late)
        found.update(at_most)
        unlike += [(edge, rank) for edge in others]
    return found, unlike


def even_trace(graph, moments, trace, peers, late):
    excess, unlike = collections.defaultdict(list), []
    for node, moment in moments.of.items():
        since = late.since.get((graph.ranks[trace], moment.step))
        if node.trace != trace or (moment.step not in late.steps and since is None):
            continue
        for edge in node.edges:
            source, weight, name = edge
            if moment.step not in late.steps and source.time < since:
                continue
            if not is_own(node, edge):
                continue
            likes = likes_of(graph, moments, peers, node, edge)
            if not likes:
                unlike.append((node.number, source.number, name))
                continue
            ns = weight - changed.lower_median([took for took, _ in likes])
            if ns >= 0 or all(alike for _, alike in likes):
                excess[moment.step, name].append((ns, weight, (node.number, source.number, name)))
            else:
                unlike.append((node.number, source.number, name))
    found = {}
    for of_step in excess.values():
        net, longer = sum(ns for ns, *_ in of_step), sum(ns for ns, *_ in of_step if ns > 0)
        for ns, weight, edge in of_step if net > 0 else ():
            if ns > 0:
                found[edge] = max(0, weight - ns * net // longer)
    return found, unlike


def is_own(node, edge):
    source, weight, name = edge
    if name == "launch":
        return weight == node.time - source.time
    return name in ("own", "meanwhile", "of step")


def likes_of(graph, moments, peers, node, edge):
    # A wait that no peer has the like of ends when nothing of its step is left to do, at the latest.
    to = node
    if node.what == "end" and not any(moments.like(node, peer) for peer in peers):
        moment = moments.of[node]
        ends = [n for n, m in moments.of.items() if n.trace == node.trace and (m.key, m.step) == ("last", moment.step)]
        to = ends[-1] if ends else node
    return [one for peer in peers for one in [taken(graph, moments, peer, to, edge)] if one]
