"""Changes of a job as src/replay/MODEL.md has them: what each edge of a graph then takes (changed_weight)."""
import collections
import math

import ideal_oracle
from late_hosts_oracle import (SHORT_NS, even_ends, even_host, lower_median, nearest, peers_of,
                               stages)
from replay_graph_oracle import Call, worked_since


# Changes are dicts: {"change": "activities", "factor": f, "name", "rank", "step", "kind"},
# {"change": "slices", "factor": f, "name", "rank", "step"}, {"change": "slice", "slice_id", "shorten_ns"},
# {"change": "held_by", "factor": f, "name", "rank", "step"}, {"change": "balance", "of": "ranks" or "stages"},
# {"change": "short_host", "factor": f}, {"change": "transfers", "factor": f, "parallelism", "caller", "pair", "rank"},
# {"change": "rank_late", "rank"}, {"change": "recorder", "factor": f, "rank"},
# {"change": "launches", "most_ns": n}, {"change": "waits", "parallelism"},
# {"change": "waits"} of calls, {"change": "ideal", "of": kind or "all", "rank", "step", "except_rank"}.
def open_time(slices, start, end):
    """ns of [start, end) in which one of these is open."""
    total, until = 0, start
    for s in sorted(slices, key=lambda s: s.ts):
        from_ns, to_ns = max(s.ts, until), min(s.end, end)
        if to_ns > from_ns:
            total, until = total + to_ns - from_ns, to_ns
    return total


def changed_slices(graph, change):
    """{thread: slices that the change names}"""
    gpu = {row[0] for row in graph.db.execute("SELECT slice_id FROM kernels")}
    found = collections.defaultdict(list)
    if change["change"] == "slice":
        named = graph.slices("slice_id = ?", (change["slice_id"],))
    else:
        named = graph.slices("name = ?", (change["name"],))
    for s in named:
        if s.slice_id in gpu or change.get("rank") not in (None, graph.ranks[s.trace]):
            continue
        if change.get("step") in (None, step_of(graph, s)):
            found[s.thread].append(s)
    return found


def step_of(graph, s):
    """The step in which a host slice starts."""
    return next((graph.step_numbers[step.slice_id] for step in graph.step_slices
                 if step.trace == s.trace and step.ts <= s.ts < step.end), None)


def of_one_slice(graph, change):
    """The same with the factor that this is."""
    length = next((s.end - s.ts for s in graph.slices("slice_id = ?", (change["slice_id"],))), 0)
    return {**change, "factor": max(0, 1 - change["shorten_ns"] / length) if length else 1}


def of_late_ranks(graph, ranks):
    """What held these ranks up, as changes of one slice each; those of the host all at once."""
    starts = collections.defaultdict(dict)  # {collective: {rank: its start}}
    key_of = {}
    for slice_id, *key in graph.db.execute("SELECT slice_id, group_id, pair, by_seq, match_no FROM collectives "
                                           "WHERE capture_id = ?", (graph.capture_id,)):
        key_of[slice_id] = tuple(key)
    for a in graph.activities:
        if a.slice_id in key_of:
            starts[key_of[a.slice_id]][graph.ranks[a.trace]] = a.ts
    met = collections.defaultdict(list)  # {(rank, step): (a part's start, when all had come)}
    for a in graph.activities:
        parts = starts[key_of[a.slice_id]] if a.slice_id in key_of and key_of[a.slice_id][0] is not None else ()
        if len(parts) > 1:
            met[graph.ranks[a.trace], a.step].append((a.ts, max(parts.values())))
    shorter, late_in, ended_late = {}, set(), set()
    for slice_id, rank, step, held_by, cause in graph.db.execute(
            "SELECT slice_id, rank, step, cause_slice_id, cause FROM collective_causes "
            "WHERE ifnull(cause, '') <> 'upstream' AND carried_id IS NULL"):
        if slice_id not in key_of or rank not in ranks:
            continue
        behind = late_steps(graph, starts[key_of[slice_id]], step)
        late_in |= behind
        if step is not None and starts[key_of[slice_id]][rank] == min(met[rank, step], default=(None,))[0]:
            before = [s for s in graph.step_numbers.values() if s < min(behind)]
            ended_late |= {max(before)} if before else set()
        if cause == "host" and held_by is not None and launches(graph, held_by):
            for one, ns in held_alike(graph, ranks, starts[key_of[slice_id]], rank, held_by):
                shorter[one] = max(shorter.get(one, 0), ns)
    for rank in ranks:
        for step in ended_late - late_in:
            since = max((all_came for _, all_came in met[rank, step]), default=math.inf)
            shorter.update(more_work(graph, [rank], {step}, since))
    shorter.update(more_work(graph, ranks, late_in))
    changes = [of_one_slice(graph, {"change": "slice", "slice_id": held_by, "shorten_ns": ns})
               for held_by, ns in sorted(shorter.items()) if ns > 0]
    gpu = {a.slice_id for a in graph.activities}
    return [c for c in changes if c["slice_id"] in gpu] + [
        {"change": "several", "of": [(c, changed_slices(graph, c)) for c in changes if c["slice_id"] not in gpu]},
        {"change": "even_host", "at_most": even_host(graph, ranks, late_in)},
        {"change": "even_host", "at_most": even_ends(graph, ranks, ended_late - late_in, met)}]


def late_steps(graph, parts, step):
    """The step, and those before it, back to the last one in which all of these ranks had been together."""
    found = {step}
    if step is None:
        return found
    for before in sorted({s for s in graph.step_numbers.values() if s < step}, reverse=True):
        if is_together(graph, set(parts), before):
            break
        found.add(before)
    return found


def is_together(graph, ranks, step):
    """Whether collectives of this step lead from any of these ranks to all others."""
    if not hasattr(graph, "met"):
        graph.met = collections.defaultdict(lambda: collections.defaultdict(set))  # {step: {collective: ranks}}
        for rank, of, *key in graph.db.execute("SELECT rank, step, group_id, pair, by_seq, match_no FROM collectives "
                                               "WHERE capture_id = ? AND group_id IS NOT NULL", (graph.capture_id,)):
            graph.met[of][tuple(key)].add(rank)
    reached = {min(ranks)}
    while True:
        more = set().union(*(met for met in graph.met[step].values() if met & reached)) - reached
        if not more:
            return ranks <= reached
        reached |= more


def launches(graph, slice_id):
    """Whether the thread of this slice launches anything."""
    launching = {node.thread for node in graph.nodes if node.thread is not None}
    return any(s.thread in launching for s in graph.slices("slice_id = ?", (slice_id,)))


def held_alike(graph, ranks, parts, rank, held_by):
    """(slice_id, by how much it is shorter) of what held the last rank, and of its like on other late ranks."""
    slices = list(graph.slices("name = (SELECT name FROM slices WHERE slice_id = ?)", (held_by,)))
    not_calls = {row[0] for row in graph.db.execute(
        "SELECT slice_id FROM slices WHERE category IN ('gpu_user_annotation', 'async')")}
    gpu = {a.slice_id: a.step for a in graph.activities}
    own = next((s for s in slices if s.slice_id == held_by), None)
    if own is None:
        return []
    step = step_of(graph, own)
    in_step = [s for s in slices if (gpu[s.slice_id] if s.slice_id in gpu else step_of(graph, s)) == step]
    alike = {rank: own}
    for other in sorted(set(parts) & set(ranks) - {rank}) if step is not None else ():
        long = [s for s in in_step if graph.ranks[s.trace] == other and s.end - s.ts >= SHORT_NS
                and s.slice_id not in gpu]
        longest = min(long, key=lambda s: (s.ts - s.end, s.slice_id), default=None)
        if longest and 2 * (longest.end - longest.ts) >= own.end - own.ts:
            alike[other] = longest
    if not set(parts) - set(alike):
        alike = {rank: own}
    usual = [s.end - s.ts for s in in_step if graph.ranks[s.trace] not in alike and s.slice_id not in not_calls]
    mean = sum(usual) // len(usual) if usual else 0
    if hasattr(graph, "mean_ns"):  # a gathered database has sums in place of short slices
        mean = graph.mean_ns(own.name, step, alike)
    others = max(ts for one, ts in parts.items() if one not in alike)
    return [(s.slice_id, min(parts[one] - others, s.end - s.ts - mean)) for one, s in alike.items()]


def more_work(graph, ranks, steps, since=-math.inf):
    """{slice_id: by how much it is longer than its like on the peers}, of these ranks' GPUs in these steps, from
    then on."""
    names = dict(graph.db.execute("SELECT slice_id, name FROM kernels WHERE kind <> 'communication'"))
    found = {}
    for step in steps:
        lists = collections.defaultdict(lambda: collections.defaultdict(list))  # {name: {rank: its kernels}}
        for a in graph.activities:
            if a.slice_id in names and a.step == step:
                lists[names[a.slice_id]][graph.ranks[a.trace]].append(a)
        for of_ranks in lists.values():
            for of_rank in of_ranks.values():
                of_rank.sort(key=lambda a: (a.launch.ts if a.launch else a.ts, a.end, a.slice_id))
        for rank in ranks:
            peers, same = peers_of(graph, rank)
            for of_ranks in lists.values():
                found.update(excesses(of_ranks.get(rank, []), [of_ranks.get(r, []) for r in peers], same, since))
    return found


def excesses(own, of_peers, do_the_same, since):
    excess = []
    for number, a in enumerate(own):
        like = [peer[number].end - peer[number].ts if number < len(peer) else 0 for peer in of_peers
                if number < len(peer) or do_the_same]
        excess.append(a.end - a.ts - lower_median(like) if like and a.ts >= since else 0)
    net, longer = sum(excess), sum(e for e in excess if e > 0)
    return {a.slice_id: e * net // longer for a, e in zip(own, excess) if e > 0 and net > 0}


def changed_weight(graph, change, slices, node, edge):
    """None: the edge goes."""
    source, weight, name = edge
    what = change["change"]
    begin = worked_since(node, edge) if name in ("host", "handover", "call") else None
    if what == "activities" and node.what == "finish":
        of = {"name": node.of.name, "rank": graph.ranks[node.trace], "step": node.of.step, "kind": node.of.kind}
        if all(change.get(key) in (None, of[key]) for key in of):
            return nearest(weight * change["factor"])
    if what == "slice" and node.what == "finish" and node.slice_id == change["slice_id"]:
        return nearest(weight * change["factor"])
    if what == "short_host" and name in ("host", "handover", "call") and node.time - begin < SHORT_NS:
        return nearest(weight * change["factor"])
    if what == "even_host":
        return min(weight, change["at_most"].get((node.number, source.number, name), weight))
    if what == "recorder" and name == "recorder" and change.get("rank") in (None, graph.ranks[node.trace]):
        return nearest(weight * change["factor"])
    if what in ("slice", "slices") and name in ("host", "handover", "call") and weight:
        threads = {source.thread, node.thread}
        open_ns = open_time([s for thread in threads for s in slices.get(thread, ())], begin, node.time)
        return max(0, weight - nearest((1 - change["factor"]) * open_ns))
    if what == "several" and name in ("host", "handover", "call"):
        saved = 0
        for one, of_one in change["of"]:
            for thread in {source.thread, node.thread}:
                saved += (1 - one["factor"]) * open_time(of_one.get(thread, ()), begin, node.time)
        return max(0, weight - nearest(saved))
    if what == "held_by" and name in ("host", "handover", "call") and node.time - begin >= SHORT_NS:
        if change.get("rank") not in (None, graph.ranks[node.trace]):
            return weight
        open_ns = open_time([s for thread in {source.thread, node.thread} for s in slices.get(thread, ())],
                            begin, node.time)
        return max(0, weight - nearest((1 - change["factor"]) * open_ns))
    if what == "balance" and node.what == "finish" and node.of.kind == "compute":
        return nearest(weight * slices.get((node.of.step, graph.ranks[node.trace]), 1))
    if what == "transfers" and is_transferred(graph, change, node):
        return nearest(weight * change["factor"])
    if what == "ideal":
        ideal, kind, step = graph.ideal.get((node.number, source.number, name), (None, None, None))
        rank = graph.ranks.get(node.trace)
        meant = (ideal is not None and change["of"] in ("all", kind) and change.get("rank") in (None, rank)
                 and change.get("step") in (None, step) and change.get("except_rank") != rank)
        return ideal if meant else weight
    if what == "launches" and name == "launch":
        return min(weight, change["most_ns"])
    if what == "waits" and change.get("parallelism"):
        if name == "transfer" and node.of.parallelism == change["parallelism"]:
            return None
    elif what == "waits" and node.what == "end":
        return None if name == "sync" else 0
    return weight


def is_transferred(graph, change, node):
    if node.what != "finish" or node.of.kind != "communication":
        return False
    if change.get("rank") not in (None, graph.ranks[node.trace]):
        return False
    if change["parallelism"] not in ("all", node.of.parallelism or "other"):
        return False
    if change.get("pair") is not None:
        if not hasattr(graph, "pairs"):
            graph.pairs = dict(graph.db.execute("SELECT slice_id, pair FROM collectives"))
        if graph.pairs.get(node.slice_id) != change["pair"]:
            return False
    if change.get("caller") is None:
        return True
    if not hasattr(graph, "callers"):
        graph.callers = dict(graph.db.execute("SELECT slice_id, caller FROM collective_callers"))
    caller = graph.callers.get(node.slice_id)
    return caller is None if change["caller"] == "-" else caller == change["caller"]


def balancing(graph, of):
    """{(step, rank): what its compute kernels are to be multiplied by}"""
    place = {rank: rank for rank in graph.ranks.values()} if of == "ranks" else stages(graph)
    took = collections.Counter()
    for a in graph.activities:
        if a.kind == "compute" and graph.ranks[a.trace] in place:
            took[a.step, graph.ranks[a.trace]] += a.end - a.ts
    factors = {}
    for step in {step for step, _ in took}:
        ranks = sorted(rank for s, rank in took if s == step)
        by_place = {p: [took[step, rank] for rank in ranks if place[rank] == p]
                    for p in sorted({place[rank] for rank in ranks})}
        means = {p: sum(times) / len(times) for p, times in by_place.items()}
        wanted = sum(means.values()) / len(means)
        for rank in ranks:
            own = means[place[rank]]
            factors[step, rank] = wanted / own if own > 0 else 1
    return factors


def held_stretches(graph, change):
    """{thread: stretches in which a slice of this name is the innermost of the long ones}"""
    if not hasattr(graph, "long_slices"):
        gpu = {row[0] for row in graph.db.execute("SELECT slice_id FROM kernels")}
        categories = dict(graph.db.execute("SELECT slice_id, category FROM slices WHERE dur_ns >= ?", (SHORT_NS,)))
        graph.long_slices = collections.defaultdict(list)
        for s in graph.slices("dur_ns >= ?", (SHORT_NS,)):
            is_annotation = categories[s.slice_id] == "user_annotation"
            if s.slice_id not in gpu and not (is_annotation and s.name.startswith("ProfilerStep#")):
                graph.long_slices[s.thread].append((s, is_annotation))
    found = collections.defaultdict(list)
    for thread, slices in graph.long_slices.items():
        for start, end, name in innermost(slices):
            if name == change["name"]:
                stretch = Call(0, thread[0], name, start, end, thread)
                if change.get("step") in (None, step_of(graph, stretch)) \
                        and change.get("rank") in (None, graph.ranks[thread[0]]):
                    found[thread].append(stretch)
    return found


def innermost(slices):
    """(start, end, name) of the stretches in which one of these is the innermost; what reaches beyond that
    around it ends with it. At most a quarter longer annotations stand for what is in them."""
    slices = sorted(slices, key=lambda s: (s[0].ts, -s[0].end, s[0].slice_id))
    ends, around, opened = [], [], []
    for number, (s, _) in enumerate(slices):
        opened = [n for n in opened if ends[n] > s.ts]
        around.append(opened[-1] if opened else None)
        ends.append(min(s.end, ends[opened[-1]]) if opened else s.end)
        opened.append(number)
    moments = sorted({s.ts for s, _ in slices} | set(ends))
    for start, end in zip(moments, moments[1:]):
        inner = max((n for n, (s, _) in enumerate(slices) if s.ts <= start and ends[n] >= end), default=None)
        if inner is None:
            continue
        length = ends[inner] - slices[inner][0].ts
        named, at = inner, inner
        while at is not None and not slices[inner][1]:
            at = around[at]
            if at is None or ends[at] - slices[at][0].ts > length + length // 4:
                break
            if slices[at][1]:
                named = at
                break
        yield start, end, slices[named][0].name
