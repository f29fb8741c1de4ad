"""What each edge of a graph takes on its peers (src/replay/MODEL.md, "Ideal"): weights(graph)."""
import collections
import fractions
import math

from replay_graph_oracle import worked_since


def rounded_mean(values):
    return math.floor(fractions.Fraction(sum(values), len(values)) + fractions.Fraction(1, 2))


def rounded_median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2


class Stretch:
    """An edge into a node; key: what it is alike in; place: its number there on its rank and in its step, and of how
    many."""

    def __init__(self, node, edge, key, step, order):
        self.node, (self.source, self.weight, self.name) = node, edge
        self.key, self.step, self.order, self.place = key, step, order, None
        self.held = []  # edges into the hold-begins that it is cut at

    def edge(self):
        return (self.node.number, self.source.number, self.name)


def numbered(stretches):
    of = collections.defaultdict(list)
    for stretch in sorted(stretches, key=lambda s: s.order):
        of[stretch.key, stretch.node.trace, stretch.step].append(stretch)
    for alike in of.values():
        for number, stretch in enumerate(alike):
            stretch.place = (number, len(alike))


def by(stretches, key):
    found = collections.defaultdict(list)
    for stretch in stretches:
        found[key(stretch)].append(stretch)
    return found


def are_shared(graph, stretches):
    return len({graph.ranks[s.node.trace] for s in stretches}) > 1


def host_steps(graph):
    """{number of a host's node: the last step that has begun in its trace}"""
    found, now = {}, {}
    for node in graph.nodes:
        if node.thread is not None:
            if node.what == "step-begin":
                now[node.trace] = graph.step_numbers[node.slice_id]
            found[node.number] = now.get(node.trace)
    return found


def of_activities(graph):
    stretches = []
    for a in graph.activities:
        if a.kind in ("compute", "memory"):
            order = (a.launch.ts if a.launch else a.ts, a.finish.number)
            stretches.append(Stretch(a.finish, a.finish.edges[0], a.name, a.step, order))
    numbered(stretches)
    for named in by(stretches, lambda s: s.key).values():
        for alike in by(named, lambda s: s.place).values():
            peers = named if are_shared(graph, named) and not are_shared(graph, alike) else alike
            yield from ((s, rounded_mean([p.weight for p in peers])) for s in alike)


def host_stretches(graph):
    """Stretches of work of the hosts, numbered."""
    last = {}  # {call: the activity that it launched last}
    for a in sorted(graph.activities, key=lambda a: a.slice_id):
        if a.launch:
            last[a.launch.slice_id] = a.name
    steps, stretches = host_steps(graph), []
    for node in graph.nodes:
        for edge in node.edges if node.what not in ("hold-begin", "hold-end") else ():
            if not is_work(node, edge):
                continue
            source, weight, _ = edge
            held = []
            while source is not None and source.what == "hold-end":
                begin = source.edges[0][0]
                before = next((e for e in begin.edges if is_work(begin, e)), None)
                source = before and before[0]
                if before:
                    held.append((begin.number, source.number, before[2]))
                    weight += before[1]
            if source is not None:
                key = (source.thread != node.thread, *((n.what, last.get(n.slice_id)) for n in (source, node)))
                stretches.append(Stretch(node, edge, key, steps[node.number], node.number))
                stretches[-1].weight, stretches[-1].held = weight, held
    numbered(stretches)
    return stretches


def of_host(graph):
    for alike in by(host_stretches(graph), lambda s: (s.key, s.place)).values():
        if are_shared(graph, alike):
            yield from ((s, rounded_median([p.weight for p in alike])) for s in alike)


def is_work(node, edge):
    return edge[2] in ("host", "handover", "call") and edge[1] == node.time - worked_since(node, edge)


def of_transfers(graph):
    like = {slice_id: key for slice_id, *key in graph.db.execute(
        "SELECT slice_id, collective, in_bytes, out_bytes FROM collectives WHERE capture_id = ?", (graph.capture_id,))}
    met = by([Stretch(a.finish, a.finish.edges[1], (*like[a.slice_id], a.parallelism), a.step, 0)
              for a in graph.activities if a.slice_id in like and len(a.finish.edges) > 1], lambda s: s.key)
    for alike in met.values():
        yield from ((s, rounded_median([p.weight for p in alike])) for s in alike)


def weights(graph):
    """{(number of the node, of that which it waits for, name of the edge): (ns, kind, step)}"""
    found, steps = {}, host_steps(graph)
    for s, ns in of_activities(graph):
        found[s.edge()] = (ns, s.node.of.kind, s.step)
    for s, ns in of_host(graph):
        found[s.edge()] = (ns, "host", s.step)
        for held in s.held:
            found[held] = (0, "host", steps[held[0]])
    for node in graph.nodes:
        if node.what == "hold-end":
            found[node.number, node.edges[0][0].number, "recorder"] = (0, "host", steps[node.number])
    for s, ns in of_transfers(graph):
        for source, _, name in s.node.edges:
            found[s.node.number, source.number, name] = (ns, "communication", s.step)
    return found
