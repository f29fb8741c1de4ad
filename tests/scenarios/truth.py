"""What a perfect analysis says of simulated captures, in integer nanoseconds.

Worked out from what the simulation did, by the definitions of the contract ("What the numbers
mean") and in the plainest way: sets of intervals, nothing shared with the program.
"""


def union(intervals):
    merged = []
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in union(intervals))


def without(intervals, cut):
    """The part of a set of intervals that is outside another."""
    return length(list(intervals) + list(cut)) - length(cut)


def of_kind(activities, *kinds):
    return [(a.start, a.end) for a in activities if a.kind in kinds]


def overlap_of(activities):
    """The times of `overlap` for the activities of a rank in one capture."""
    compute = of_kind(activities, "compute")
    comm = of_kind(activities, "communication")
    memory = of_kind(activities, "memory")
    span = max(a.end for a in activities) - min(a.start for a in activities)
    times = {"span": span, "compute": length(compute), "comm": length(comm),
             "exposed_comm": without(comm, compute),
             "exposed_memory": without(memory, compute + comm)}
    times["overlap"] = times["comm"] - times["exposed_comm"]
    times["idle"] = span - times["compute"] - times["exposed_comm"] - times["exposed_memory"]
    return times


def overlap_of_rank(job, rank):
    """Figures over captures sum those of the captures."""
    total = {}
    for capture in job.captures:
        if rank in capture.recorded_ranks() and capture.activities(rank):
            for name, value in overlap_of(capture.activities(rank)).items():
                total[name] = total.get(name, 0) + value
    return total


def streams_of_rank(job, rank):
    """stream -> activities, busy time, times by kind."""
    found = {}
    for capture in job.captures:
        if rank not in capture.recorded_ranks():
            continue
        for stream, queue in capture.streams[rank].items():
            row = found.setdefault(stream, {"activities": 0, "busy": 0, "compute": 0, "comm": 0,
                                            "memory": 0})
            row["activities"] += len(queue.queue)
            row["busy"] += length([(a.start, a.end) for a in queue.queue])
            for name, kind in (("compute", "compute"), ("comm", "communication"),
                               ("memory", "memory")):
                row[name] += length(of_kind(queue.queue, kind))
    return found


def matched(job):
    """The collectives whose parts are all recorded."""
    return [meeting for capture in job.captures for meeting in capture.meetings.values()
            if set(meeting.ranks) <= set(capture.recorded_ranks())]


def step_of(job, meeting):
    """The ProfilerStep in which its first rank launched it."""
    part = meeting.parts[meeting.ranks[0]]
    capture = next(c for c in job.captures if meeting in c.meetings.values())
    slices = capture.slices[part.rank]
    launch = next(s for s in slices if s.correlation == part.correlation)
    return next(int(s.name.split("#")[1]) for s in slices
                if s.name.startswith("ProfilerStep#") and s.start <= launch.start < s.end)


def lone_parts(job):
    """How many parts have no partner in any file."""
    return sum(len(set(meeting.ranks) & set(capture.recorded_ranks()))
               for capture in job.captures for meeting in capture.meetings.values()
               if not set(meeting.ranks) <= set(capture.recorded_ranks()))


def stall_of(meeting):
    """One row of nccl_stalls."""
    waits = meeting.waits()
    return {"culprits": {rank for rank, wait in waits.items() if wait == 0},
            "total_wait": sum(waits.values()), "max_wait": max(waits.values()),
            "transfer": min(part.end - part.start for part in meeting.parts.values())}


def stalls(job):
    return [stall_of(meeting) for meeting in matched(job)]


def stall_ranks(job):
    """rank -> the row of nccl_stall_ranks. Where nobody waits nobody is last."""
    rows = {}
    for meeting in matched(job):
        waits = meeting.waits()
        for rank, wait in waits.items():
            row = rows.setdefault(rank, {"collectives": 0, "times_last": 0, "caused_wait": 0,
                                         "suffered_wait": 0})
            row["collectives"] += 1
            row["suffered_wait"] += wait
            if wait == 0 and max(waits.values()) > 0:
                row["times_last"] += 1
                row["caused_wait"] += sum(waits.values())
    return rows


def ties_of_rank(job, rank):
    """In how many collectives with it nobody waited."""
    return sum(rank in meeting.ranks and not any(meeting.waits().values())
               for meeting in matched(job))


def steps_of_rank(job, rank):
    """Number, begin and length of each ProfilerStep, in order of time."""
    return [(int(s.name.split("#")[1]), s.start, s.end - s.start) for capture in job.captures
            if rank in capture.recorded_ranks() for s in capture.slices[rank]
            if s.name.startswith("ProfilerStep#")]


def exposed_by_parallelism(job, rank, parallelism):
    """parallelism -> communication that no computation hides; `parallelism`: by description."""
    totals = {}
    for capture in job.captures:
        activities = capture.activities(rank)
        compute = of_kind(activities, "compute")
        parts = {}
        for activity in activities:
            if activity.meeting is not None:
                kind = parallelism[activity.meeting.group.description]
                parts.setdefault(kind, []).append((activity.start, activity.end))
        for kind, intervals in parts.items():
            totals[kind] = totals.get(kind, 0) + without(intervals, compute)
    return totals


def expert_loads(job):
    """step -> load of each rank, waits and how many, of its all-to-alls of uneven sizes: the bytes
    that a rank gets on the way to the experts, and sends on the way back."""
    steps = {}
    for meeting in matched(job):
        if meeting.collective == "all_to_allv":
            sides = [{rank: part.args[f"{side} msg nelems"] * 2
                      for rank, part in meeting.parts.items()} for side in ("In", "Out")]
            even = [len(set(side.values())) == 1 for side in sides]
            assert any(even), "the direction is not told"
            found = steps.setdefault(step_of(job, meeting), {"load": {}, "wait": 0, "count": 0})
            for rank, size in sides[even[0]].items():
                found["load"][rank] = found["load"].get(rank, 0) + size
            found["wait"] += stall_of(meeting)["total_wait"]
            found["count"] += 1
    return steps


def last_end(capture):
    """When the last GPU of the capture is done."""
    return max(a.end for rank in capture.recorded_ranks() for a in capture.activities(rank))


def gain_of(job, even):
    """By how much sooner the only capture of the same job without a cause is done."""
    return last_end(job.captures[0]) - last_end(even.captures[0])


# --- Where time is lost. ------------------------------------------------------------------------


def launches(capture, rank):
    """activity -> the host's call that launched it."""
    calls = {s.correlation: s for s in capture.slices[rank] if s.correlation is not None}
    return {activity: calls[activity.correlation] for activity in capture.activities(rank)}


def launch_steps(capture, rank):
    """activity -> the ProfilerStep in which it was launched; None: in none."""
    steps = [(int(s.name.split("#")[1]), s) for s in capture.slices[rank]
             if s.name.startswith("ProfilerStep#")]
    return {activity: next((number for number, s in steps if s.start <= call.start < s.end), None)
            for activity, call in launches(capture, rank).items()}


def step_ends(capture):
    """step -> when the last GPU has done what was launched in it."""
    ends = {}
    for rank in capture.recorded_ranks():
        for activity, step in launch_steps(capture, rank).items():
            if step is not None:
                ends[step] = max(activity.end, ends.get(step, 0))
    return ends


def step_lengths(capture):
    """step -> from the end of the one before (the first: from the capture's begin) to its end."""
    lengths, before = {}, capture.begin
    for step, end in sorted(step_ends(capture).items()):
        lengths[step], before = end - before, end
    return lengths


def idle_pieces(capture, rank):
    """(start, end, cause, names of the host's slices then, outermost first) of the times in which
    the GPU does nothing between two activities.

    sync: the host is in a call that waits for the GPU, and what it waits for has not ended.
    dependency: it is not, and the activity that ends the gap had been launched before the gap
    began. host: all else, so the latency of a launch that came late as well."""
    working = [a for a in capture.activities(rank) if a.kind != "waiting" and a.end > a.start]
    busy = union((a.start, a.end) for a in working)
    calls = launches(capture, rank)
    slices, pieces = capture.slices[rank], []
    for (_, start), (end, _) in zip(busy, busy[1:]):
        launched = min(calls[a].start for a in working if a.start == end)
        cuts = {start, end, *(t for s in slices for t in (s.start, s.end)),
                *(s.work_end for s in slices if s.work_end is not None)}
        cuts = sorted(t for t in cuts if start <= t <= end)
        for at, until in zip(cuts, cuts[1:]):
            open_then = [s for s in slices if s.start <= at and s.end >= until and s.end > s.start]
            if any(s.work_end is not None and at < s.work_end for s in open_then):
                cause = "sync"
            else:
                cause = "dependency" if launched < start else "host"
            pieces.append((at, until, cause, tuple(s.name for s in open_then)))
    return pieces


def idle_sums(capture, rank):
    """cause -> how long the GPU does nothing because of it."""
    sums = dict.fromkeys(("host", "sync", "dependency"), 0)
    for start, end, cause, _ in idle_pieces(capture, rank):
        sums[cause] += end - start
    return sums


def bubbles_of_step(capture, rank, step):
    """How long a stage had nothing to do in a step, from its first activity to its last: nothing
    runs, or nothing but messages between stages, or it waits for another stage in a collective."""
    mine = [a for a, of in launch_steps(capture, rank).items() if of == step]
    span = max(a.end for a in mine) - min(a.start for a in mine)
    stages = {r for m in capture.meetings.values() if "PIPELINE" in m.group.description
              and rank in m.group.ranks for r in m.group.ranks}
    work = of_kind(mine, "compute", "memory")
    for activity in mine:
        meeting = activity.meeting
        if meeting is not None and meeting.collective not in ("send", "recv"):
            met_all = max(meeting.starts().values()) if stages & set(meeting.ranks) - {rank} \
                else activity.start
            work.append((met_all, activity.end))
    return span - length(work)
