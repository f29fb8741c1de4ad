"""What hosts of late ranks take longer than those of others: MODEL.md, "Lateness of ranks"."""
import collections
import json
import math

import ideal_oracle
from replay_graph_oracle import worked_since

SHORT_NS = 250_000


def nearest(value):
    return math.floor(value + 0.5)


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


def stages(graph):
    """{rank: its place in the largest of its groups that are of a pipeline}"""
    found = {}
    for ranks, size in graph.db.execute(
            "SELECT ranks, size FROM process_groups WHERE parallelism = 'pipeline' AND run_id = "
            "(SELECT run_id FROM captures WHERE capture_id = ?)", (graph.capture_id,)):
        members = sorted(json.loads(ranks))
        for place, rank in enumerate(members):
            found[rank] = max(found.get(rank, (0, 0)), (size, place))
    return {rank: place for rank, (_, place) in found.items() if rank in graph.ranks.values()}


def peers_of(graph, rank):
    """(the rank's peers, whether they do the same as it): the ranks of its stage, if there are others of it."""
    place, everybody = stages(graph), sorted(set(graph.ranks.values()))
    messages = graph.db.execute("SELECT count(*) FROM collectives WHERE capture_id = ? AND (pair <> '' "
                                "OR group_id IS NULL AND collective IN ('send', 'recv', 'sendrecv'))",
                                (graph.capture_id,)).fetchone()[0]
    mates = [r for r in everybody if r != rank and rank in place and place.get(r) == place[rank]]
    return mates or [r for r in everybody if r != rank], bool(mates) if place else messages == 0


def even_host(graph, ranks, steps):
    """{(node, source, kind of edge): at most what it takes}, of these ranks' host work in these steps."""
    compared, excess, found = set(), collections.defaultdict(list), {}
    stretches = [s for s in ideal_oracle.host_stretches(graph) if s.step in steps]
    for alike in ideal_oracle.by(stretches, lambda s: (s.key, s.step, s.place)).values():
        usual = [s.weight for s in alike if graph.ranks[s.node.trace] not in ranks]
        if not usual and hasattr(graph, "mean_ns") and len(alike) > 1:
            usual = [s.weight for s in alike]
        for s in alike if usual else ():
            rank = graph.ranks[s.node.trace]
            if rank in ranks:
                compared.add((rank, s.step))
                excess[rank, s.step].append((s.weight - lower_median(usual), s))
    for of_rank in excess.values():
        net, longer = sum(ns for ns, _ in of_rank), sum(ns for ns, _ in of_rank if ns > 0)
        for ns, s in of_rank if net > 0 else ():
            if ns > 0:
                [own] = [w for source, w, name in s.node.edges if (source, name) == (s.source, s.name)]
                found[s.edge()] = max(0, own - ns * net // longer)
    nets = {key: sum(ns for ns, _ in of_rank) for key, of_rank in excess.items()}
    for edge, most in [*even_sums(graph, ranks, steps, compared).items(),
                       *even_unlike(graph, ranks, steps, stretches, nets).items()]:
        found[edge] = min(most, found.get(edge, most))
    return found


def even_unlike(graph, ranks, steps, stretches, nets):
    """The same of stretches that no rank that is not late has the like of: all of a rank's in a step, with all that
    its peers have and it has not, less what the rest of it takes less than others."""
    found = {}
    if hasattr(graph, "mean_ns"):
        return found
    at = ideal_oracle.by(stretches, lambda s: s.step)
    for rank in ranks:
        peers, same = peers_of(graph, rank)
        peers = [r for r in peers if r not in ranks]
        for step in steps if same and peers else ():
            groups = ideal_oracle.by(at.get(step, ()), lambda s: (s.key, s.place))
            has = {key: {graph.ranks[s.node.trace] for s in alike} for key, alike in groups.items()}
            own = [s for key, alike in groups.items() if has[key] <= set(ranks)
                   for s in alike if graph.ranks[s.node.trace] == rank]
            beside = [sum(s.weight for key, alike in groups.items() if rank not in has[key]
                          for s in alike if graph.ranks[s.node.trace] == peer) for peer in peers]
            whole = sum(s.weight for s in own)
            less = whole - lower_median(beside) + min(0, nets.get((rank, step), 0))
            for s in own if less > 0 else ():
                [weight] = [w for source, w, name in s.node.edges if (source, name) == (s.source, s.name)]
                found[s.edge()] = max(0, weight - s.weight * min(less, whole) // whole)
    return found


def even_sums(graph, ranks, steps, compared):
    """The same of ranks none of whose stretches in a step have their like: short and long work, all together."""
    step_of_node = ideal_oracle.host_steps(graph)
    work = [(node, source, weight, name,
             (step_of_node[node.number], node.time - worked_since(node, (source, weight, name)) >= SHORT_NS))
            for node in graph.nodes for source, weight, name in node.edges
            if name in ("host", "handover", "call") and weight > 0 and step_of_node[node.number] in steps]
    took = collections.Counter()
    for node, _, weight, _, of in work:
        took[of, graph.ranks[node.trace]] += weight
    found = {}
    for node, source, weight, name, of in work:
        rank = graph.ranks[node.trace]
        others = [ns for (at, other), ns in took.items() if at == of and other not in ranks]
        if rank in ranks and (rank, of[0]) not in compared and others and lower_median(others) < took[of, rank]:
            found[node.number, source.number, name] = nearest(weight * (lower_median(others) / took[of, rank]))
    return found


def even_ends(graph, ranks, steps, met):
    """The same of all host work after all had come to a rank's last collective of a step, compared in sum."""
    found, step_of_node = {}, ideal_oracle.host_steps(graph)
    if hasattr(graph, "mean_ns"):
        return found
    since = {key: max(all_came for _, all_came in parts) for key, parts in met.items() if key[1] in steps}
    pieces = collections.defaultdict(list)
    for node in graph.nodes:
        of = (graph.ranks[node.trace], step_of_node.get(node.number)) if node.thread is not None else None
        for source, weight, name in node.edges if of in since else ():
            if name in ("host", "handover", "call") and min(weight, node.time - since[of]) > 0:
                pieces[of].append((min(weight, node.time - since[of]), weight, (node.number, source.number, name)))
    took = {of: sum(ns for ns, _, _ in its) for of, its in pieces.items()}
    for rank, step in took:
        peers, same = peers_of(graph, rank)
        others = [took.get((peer, step), 0) for peer in peers if peer not in ranks and (peer, step) in since]
        if rank in ranks and same and others and took[rank, step] > lower_median(others):
            whole, longer = took[rank, step], took[rank, step] - lower_median(others)
            for ns, weight, edge in pieces[rank, step]:
                found[edge] = weight - ns * longer // whole
    return found
