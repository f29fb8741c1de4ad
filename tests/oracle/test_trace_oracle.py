#!/usr/bin/env python3
"""Tests of the oracle on small cases with numbers worked out by hand, and of the comparison on a
database made from the oracle's own output and then spoilt in one place at a time."""
import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_database  # noqa: E402
import identity_oracle  # noqa: E402
import make_cases  # noqa: E402
import partition_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402


def trace(events, rank=0, **header):
    """A trace of events given as JSON-like objects; ts and dur in us."""
    document = {"distributedInfo": {"rank": rank, "world_size": 2, "pg_config": [
        {"pg_name": "3", "ranks": [1, 0]}]}, **header, "traceEvents": events}
    return oracle.Trace(f"rank{rank}.json", oracle.parse_json(json.dumps(document)))


def kernel(ts, dur, name="gemm", stream=7, cat="kernel", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
            "args": {"device": 0, "stream": stream, **args}}


def part(ts, dur, **args):
    return kernel(ts, dur, "ncclDevKernel", 9, **{
        "Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 10, "Out msg nelems": 20,
        "Process Group Ranks": "[0, 1]", **args})


class Numbers(unittest.TestCase):
    def test_microseconds(self):
        for text, ns in (("0", 0), ("1", 1000), ("12.5", 12500), ("0.001", 1), ("0.0004", 0), ("0.0005", 1),
                         ("0.00049", 0), ("1.9995", 2000), (".5", 500), ("5.", 5000), ("1e3", 1000000),
                         ("-0.5", -500), ("4329287746947.823", 4329287746947823)):
            self.assertEqual(oracle.microseconds_to_ns(text), ns, text)
            self.assertEqual(oracle.microseconds_to_ns(oracle.NUMBER_MARK + text), ns, text)
        self.assertEqual(oracle.microseconds_to_ns(7), 7000)
        for bad in (None, "", ".", "abc", "nan"):
            self.assertIsNone(oracle.microseconds_to_ns(bad), bad)

    def test_canonical(self):
        same = lambda a, b: oracle.canonical(oracle.parse_json(a)) == oracle.canonical(oracle.parse_json(b))
        self.assertTrue(same('{"a": 1, "b": [0.10]}', '{"b":[0.10],"a":1}'))
        for a, b in (("1", "1.0"), ("1.0", "1.00"), ("1.0", '"1.0"'), ("1", "true"), ("0", "false"), ("1", '"1"'),
                     ("null", "{}"), ("18446744073709551615", "18446744073709551616")):
            self.assertFalse(same(a, b), (a, b))

    def test_ranks(self):
        self.assertEqual(oracle.ranks_from("[4, 0]"), (0, 4))
        self.assertEqual(oracle.ranks_from([2, 1]), (1, 2))
        for bad in ("[0, 1, ...]", "[0, ..., 7]", "[]", "", None, []):
            self.assertIsNone(oracle.ranks_from(bad))

    def test_kinds(self):
        self.assertEqual(oracle.kind_of("Kernel", "x_NCCL_y", {}), "communication")
        self.assertEqual(oracle.kind_of("kernel", "x", {"Collective name": "send"}), "communication")
        self.assertEqual(oracle.kind_of("kernel", "gemm", {}), "compute")
        self.assertEqual(oracle.kind_of("Memset", "nccl", {}), "memory")
        self.assertEqual(oracle.dtype_bytes("Float8_e5m2"), 1)
        self.assertIsNone(oracle.dtype_bytes("Quaternion"))


class Intervals(unittest.TestCase):
    def test_unions(self):
        self.assertEqual(oracle.union_length([]), 0)
        self.assertEqual(oracle.union_length([(5, 5)]), 0)
        self.assertEqual(oracle.union_length([(0, 10), (2, 3), (10, 12), (10, 10), (11, 15), (20, 21)]), 16)

    def test_against_points(self):
        """Every single point of a short axis, asked of every interval."""
        import random
        r = random.Random(5)
        for _ in range(200):
            sets = {name: [(a, a + r.randrange(0, 8)) for a in (r.randrange(0, 30) for _ in range(r.randrange(0, 7)))]
                    for name in "abc"}
            want = {}
            starts = [a for pairs in sets.values() for a, _ in pairs]
            ends = [b for pairs in sets.values() for _, b in pairs]
            for point in range(min(starts, default=0), max(ends, default=0)):
                held = frozenset(n for n in sets if any(a <= point < b for a, b in sets[n]))
                want[held] = want.get(held, 0) + 1
            self.assertEqual(dict(oracle.measure(sets)), want)


class Devices(unittest.TestCase):
    def test_by_hand(self):
        # us:       0    10   20   30   40   50   60   70   80   90   100
        # compute   |---------|                         (0-20), nested 5-10, one of no length at 95
        # comm           |---------|          |----|    (10-30), (60-70)
        # memory              |---------|                (25-45), (65-68) hidden, (80-100 on its own)
        job = oracle.Job([trace([
            kernel(0, 20), kernel(5, 5, stream=8), kernel(95, 0),
            kernel(10, 20, "ncclKernel", 9), kernel(60, 10, "RcclKernel", 9),
            kernel(25, 20, "Memcpy", cat="gpu_memcpy"), kernel(65, 3, "Memset", cat="gpu_memset"),
            kernel(80, 20, "Memset", cat="gpu_memset"),
            kernel(0, 500, "annotation", cat="gpu_user_annotation"), kernel(0, 500, "triton", 0, cat="cpu_op"),
            kernel(0, 500, "sync", -1, cat="cuda_sync")])])
        self.assertEqual(job.devices, {(0, "0"): {
            "start": 0, "end": 100000, "span": 100000, "compute": 20000, "comm": 30000, "overlap": 10000, "exposed_comm": 20000,
            "exposed_memory": 35000, "idle": 25000}})
        seven = job.streams[(0, "0", "7")]
        self.assertEqual((seven["activities"], seven["busy"], seven["compute"], seven["comm"], seven["memory"]),
                         (5, 63000, 20000, 0, 43000))
        self.assertEqual((seven["start"], seven["end"]), (0, 100000))
        self.assertEqual(job.streams[(0, "0", "8")]["busy"], 5000)

    def test_overlap_on_one_stream(self):
        job = oracle.Job([trace([kernel(0, 10), kernel(5, 10), kernel(5, 10, "nccl"), kernel(15, 0)])])
        self.assertEqual(job.streams[(0, "0", "7")]["busy"], 15000)
        self.assertEqual(job.devices[(0, "0")]["overlap"], 10000)

    def test_device_and_stream_fall_back(self):
        event = {"ph": "X", "cat": "Kernel", "name": "k", "pid": 3, "tid": "0x0", "ts": 1, "dur": 1}
        self.assertEqual(list(oracle.Job([trace([event])]).streams), [(0, "3", "0x0")])

    def test_negative_adds_nothing(self):
        job = oracle.Job([trace([kernel(10, 5), kernel(2, -1)])])
        self.assertEqual(job.devices[(0, "0")]["span"], 5000)
        self.assertEqual(len(job.traces[0].negative), 1)


class Slices(unittest.TestCase):
    def test_pairs(self):
        t = trace([
            {"ph": "B", "name": "outer", "cat": "c", "pid": 1, "tid": "2", "ts": 0, "args": {"a": 1, "b": 1}},
            {"ph": "B", "name": "inner", "cat": "c", "pid": 1, "tid": 2, "ts": 5},
            {"ph": "B", "name": "other thread", "pid": 1, "tid": 3, "ts": 6},
            {"ph": "E", "pid": 1, "tid": 2, "ts": 5},
            {"ph": "E", "pid": 1, "tid": 2, "ts": 9, "args": {"b": 2}},
            {"ph": "E", "pid": 1, "tid": 2, "ts": 10},
            {"ph": "b", "name": "r", "cat": "q", "id": 1, "pid": 1, "tid": 2, "ts": 1},
            {"ph": "b", "name": "r", "cat": "q", "id": 2, "pid": 1, "tid": 2, "ts": 2},
            {"ph": "e", "name": "r", "cat": "q", "id": "1", "pid": 1, "tid": 2, "ts": 8},
        ])
        found = {(s.name, s.ts, s.dur, oracle.canonical(s.args)) for s in t.slices}
        self.assertEqual(found, {("inner", 5000, 0, "{}"), ("outer", 0, 9000, '{"a": 1, "b": 2}'),
                                 ("r", 1000, 7000, "{}")})
        self.assertEqual((t.pairs, t.unmatched), (3, 3))
        self.assertEqual(sorted(t.points), [("B", "other thread", 6000), ("E", "", 10000), ("b", "r", 2000)])

    def test_base_time(self):
        t = trace([kernel("4329287746947.823", "0.0005")], baseTimeNanoseconds=1790857026000000000)
        self.assertEqual((t.slices[0].ts, t.slices[0].dur), (1795186313746947823, 1))

    def test_other_phases(self):
        t = trace([{}, {"ph": "i", "name": "[memory]", "ts": 1}, {"ph": "I", "name": "x", "ts": 1},
                   {"ph": "C", "name": "c", "ts": 1, "args": {"a": 1, "b": 2}}, {"ph": "M", "name": "process_name",
                    "pid": 1, "args": {"name": "p"}}, {"ph": "s", "ts": 1}, {"ph": "f", "ts": 1}, {"ph": "Q"}])
        self.assertEqual((t.events, t.empty, len(t.memory), len(t.instants), len(t.counters), t.counter_series,
                          t.metadata, len(t.flows), dict(t.other)), (8, 1, 1, 1, 1, 2, 1, 2, {"Q": 1}))


class Steps(unittest.TestCase):
    def test_rule(self):
        def step(number, ts, dur, cat="user_annotation"):
            return {"ph": "X", "cat": cat, "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": ts, "dur": dur}

        def call(ts, correlation, cat="cuda_runtime"):
            return {"ph": "X", "cat": cat, "name": "launch", "pid": 1, "tid": 1, "ts": ts, "dur": 1,
                    "args": {"correlation": correlation}}
        t = trace([
            step(1, 100, 100), step(2, 200, 100), step(9, 0, 5000, "gpu_user_annotation"),
            call(150, 1), call(99, 2), call(199, 3, "cuda_driver"), call(150, 5, "cpu_op"), call(300, 6),
            kernel(250, 1, "launched in 1", correlation=1), kernel(250, 1, "launched before", correlation=2),
            kernel(400, 1, "launched in 1, runs after", correlation=3), kernel(200, 1, "no launch, at the border"),
            kernel(400, 1, "nowhere", correlation=5), kernel(300, 1, "launched after, at the end", correlation=6)])
        self.assertEqual([(a.name, a.launch_ts, a.step) for a in t.activities], [
            ("launched in 1", 150000, 1), ("launched before", 99000, 2), ("launched in 1, runs after", 199000, 1),
            ("no launch, at the border", None, 2), ("nowhere", None, None), ("launched after, at the end", 300000, None)])
        self.assertEqual(t.steps, [(1, 100000, 100000), (2, 200000, 100000)])


def recorded(events, rank=0, begin=0, end=100, path=None, **header):
    """A trace from begin to end, in us."""
    made = trace([*events, *({"ph": "i", "name": "edge", "ts": at} for at in (begin, end))], rank, **header)
    made.path = path or made.path
    return made


class Collectives(unittest.TestCase):
    def test_ordinals_and_waits(self):
        named = {"Process Group Name": "3"}
        job = oracle.Job([
            recorded([part(50, 9, **named), part(10, 20, **named), part(90, 1, **named), kernel(1, 1, "ncclWithoutMetadata", 9)], 0),
            recorded([part(14, 16, **named), part(50, 5, **{"Process Group Ranks": "[0, ...]", **named})], 1)])
        self.assertEqual(len(job.parts), 5)
        rows = [(c.key[1], sorted(c.waits.items()), c.culprits, c.total_wait, c.max_wait, c.transfer, c.matched)
                for c in job.collectives]
        self.assertEqual(rows, [
            (0, [(0, 4000), (1, 0)], [1], 4000, 4000, 16000, True),
            (1, [(0, 0), (1, 0)], [], 0, 0, 5000, True),              # nobody waited, nobody was last
            (2, [(0, 0)], [], 0, 0, 1000, False)])                    # without a partner
        self.assertEqual((job.parts[0].in_bytes, job.parts[0].out_bytes), (20, 40))
        ranks = job.stall_ranks(lambda c: c.matched)
        self.assertEqual(ranks[1]["caused_wait"], 4000)
        self.assertEqual((ranks[1]["times_last_least"], ranks[1]["times_last_most"], ranks[1]["times_last"]), (1, 1, 1))
        self.assertEqual((ranks[0]["suffered_wait"], ranks[0]["collectives"]), (4000, 2))

    def test_seq_goes_before_ordinal(self):
        job = oracle.Job([recorded([part(10, 1, Seq=4), part(20, 1, Seq=5)], 0), recorded([part(23, 2, Seq=5)], 1)])
        self.assertEqual([(c.key, c.matched, c.total_wait, c.complete) for c in job.collectives],
                         [(("seq", 4, None, 0), False, 0, False), (("seq", 5, None, 0), True, 3000, True)])

    def test_three_ranks(self):
        args = {"Process Group Ranks": "[2, 0, 1]"}
        job = oracle.Job([recorded([part(ts, dur, **args)], rank) for rank, (ts, dur) in
                          enumerate([(5, 30), (20, 15), (20, 14)])])
        only = job.collectives[0]
        self.assertEqual((only.group, only.culprits, only.total_wait, only.max_wait, only.transfer, only.complete),
                         (("", (0, 1, 2)), [1, 2], 15000, 15000, 14000, True))

    def test_unknown_group(self):
        job = oracle.Job([recorded([part(1, 1, **{"Process Group Ranks": "[0, ...]"})])])
        self.assertEqual((job.parts[0].group, job.parts[0].ordinal, job.collectives), (None, None, []))

    def test_point_to_point(self):
        send = {"Collective name": "send", "Dst Rank": 1}
        receive = {"Collective name": "recv", "Src Rank": 0}
        job = oracle.Job([recorded([part(1, 5, **send)], 0), recorded([part(3, 3, **receive)], 1)])
        self.assertEqual([p.peer for p in job.parts], [1, 0])
        self.assertEqual((job.collectives[0].culprit, job.collectives[0].max_wait), (1, 2000))

    def test_point_to_point_of_three(self):
        group = {"Process Group Ranks": "[0, 1, 2]"}
        job = oracle.Job([
            recorded([part(1, 5, **{"Collective name": "send", "Dst Rank": 2, "Seq": 1}, **group),
                   part(9, 5, Seq=1, **group)], 0),
            recorded([part(11, 3, Seq=1, **group)], 1),
            recorded([part(4, 3, **{"Collective name": "recv", "Src Rank": 0, "Seq": 9}, **group),
                   part(12, 2, Seq=1, **group)], 2)])
        self.assertEqual(sorted((sorted(c.waits), c.max_wait) for c in job.collectives),
                         [([0, 1, 2], 3000), ([0, 2], 3000)])


class Identity(unittest.TestCase):
    def test_runs_are_folders(self):
        def runs(paths, inputs=()):
            traces = [recorded([], rank, path=path) for path, rank in paths]
            found = identity_oracle.runs(traces, inputs)
            return sorted((os.path.basename(folder), sorted(os.path.basename(t.path) for t in of))
                          for folder, of in found.items())
        with tempfile.TemporaryDirectory() as top:
            of = lambda *names: os.path.join(top, *names)
            os.makedirs(of("job"))
            # Files are of the run of their folder; so are they when the folder is given.
            files = [(of("job", "a"), 0), (of("job", "b"), 1)]
            self.assertEqual(runs(files), [("job", ["a", "b"])])
            self.assertEqual(runs(files, [of("job")]), [("job", ["a", "b"])])
            # A folder a node: one run, unless a rank is in two of them.
            nodes = [(of("job", "node0", "a"), 0), (of("job", "node1", "b"), 1)]
            self.assertEqual(runs(nodes, [of("job")]), [("job", ["a", "b"])])
            again = [(of("job", "x", "a"), 0), (of("job", "x", "b"), 1), (of("job", "y", "c"), 0)]
            self.assertEqual(runs(again, [of("job")]), [("x", ["a", "b"]), ("y", ["c"])])
            # Two captures of a rank in one folder are no two runs.
            self.assertEqual(runs([(of("job", "a"), 0), (of("job", "c"), 0)], [of("job")]),
                             [("job", ["a", "c"])])

    def test_captures(self):
        def captures(*traces):
            made = [recorded([], rank, begin, end) for rank, begin, end in traces]
            return [sorted(made.index(t) for t in of) for of in identity_oracle.captures(made)]
        self.assertEqual(captures((0, 0, 10), (1, 5, 20)), [[0, 1]])
        self.assertEqual(captures((0, 50, 60), (1, 5, 20), (0, 0, 10), (1, 55, 70)), [[1, 2], [0, 3]])
        # The first capture of rank 1 goes on when the second of rank 0 begins.
        self.assertEqual(captures((0, 0, 10), (1, 1, 30), (0, 25, 60), (1, 35, 60)), [[0, 1], [2, 3]])
        # Rank 1 was not recorded in the first.
        self.assertEqual(captures((0, 0, 10), (0, 25, 60), (1, 26, 61)), [[0], [1, 2]])

    def test_nothing_is_matched_over_captures(self):
        job = oracle.Job([
            recorded([part(10, 5)], 0), recorded([part(12, 3)], 1),
            recorded([part(1010, 5)], 0, 1000, 1100), recorded([part(1040, 3)], 1, 1000, 1100)])
        self.assertEqual([(c.capture, c.key[1], c.max_wait) for c in job.collectives],
                         [(1, 0, 2000), (2, 0, 30000)])
        self.assertEqual([p.ordinal for p in job.parts], [0, 0, 0, 0])
        # What is between the captures is of nobody.
        self.assertEqual((job.devices[0, "0"]["span"], job.devices[0, "0"]["idle"]), (10000, 0))

    def test_estimates_need_all_ranks(self):
        job = oracle.Job([recorded([part(10, 5)], 0), recorded([part(1010, 5)], 0, 1000, 1100),
                          recorded([], 1, 1000, 1100)])
        self.assertEqual([(c.capture, job.is_estimate(c)) for c in job.collectives], [(1, False), (2, True)])

    def test_communicators(self):
        def named(name, ts):
            return part(ts, 5, **{"Process Group Name": name, "Process Group Description": "D" + name})
        job = oracle.Job([recorded([named("3", 10), named("4", 20), part(30, 5)], 0),
                          recorded([named("4", 10), named("3", 20), part(40, 5)], 1)])
        self.assertEqual(sorted((c.group, c.culprit, c.max_wait) for c in job.collectives),
                         [(("", (0, 1)), 1, 10000), (("3", (0, 1)), 1, 10000), (("4", (0, 1)), 0, 10000)])
        self.assertEqual(job.groups[("3", (0, 1))] - {None}, {"D3"})

    def test_parallelism(self):
        for kind, names in {
                "data": "DATA_PARALLEL_GROUP DATA_PARALLEL_GROUP_WITH_CP EXPERT_DATA_PARALLEL_GROUP "
                        "INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP mesh_dp mesh_dp_shard mesh_fsdp "
                        "mesh_dp_replicate mesh_dp_shard_cp",
                "tensor": "TENSOR_MODEL_PARALLEL_GROUP EXPERT_TENSOR_PARALLEL_GROUP mesh_tp TENSOR",
                "expert": "EXPERT_MODEL_PARALLEL_GROUP EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP mesh_ep",
                "pipeline": "PIPELINE_MODEL_PARALLEL_GROUP mesh_pp PIPELINE",
                "context": "CONTEXT_PARALLEL_GROUP mesh_cp",
                "other": "MODEL_PARALLEL_GROUP TENSOR_AND_DATA_PARALLEL_GROUP default_pg EMBEDDING_GROUP "
                         "TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP POSITION_EMBEDDING_GROUP undefined "
                         "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP"}.items():
            for name in names.split():
                self.assertEqual(identity_oracle.parallelism(name), kind, name)
        self.assertEqual(identity_oracle.parallelism(None), "other")


# ---------------------------------------------------------------------------------------------

def write_database(job, path, folder):
    """A database and canned queries that say what the oracle says, under the public names."""
    db = sqlite3.connect(path)

    def table(name, columns, rows):
        db.execute(f"CREATE TABLE {name} ({', '.join(columns.split())})")
        marks = ", ".join("?" for _ in columns.split())
        db.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)

    def plain(value):                  # JSON text with every number as it was
        if isinstance(value, dict):
            return "{" + ",".join(json.dumps(k) + ":" + plain(v) for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(plain, value)) + "]"
        return oracle.text_of(value) if oracle.is_number(value) else json.dumps(value)

    text = oracle.text_of
    table("traces", "trace_id path rank events skipped_events complete base_time_ns header run capture",
          [(n, t.path, t.rank, t.events, 0, 1, t.base_ns, plain(t.header), t.run, t.capture)
           for n, t in enumerate(job.traces)])
    times = {t: identity_oracle.time_of(t) for t in job.traces}
    size = max(t.world_size for t in job.traces)
    captures = {n: [t for t in job.traces if t.capture == n] for n in {t.capture for t in job.traces}}
    table("runs", "run world_size ranks captures start_ns end_ns",
          [(job.run, size, len(job.ranks), len(captures), job.start, max(end for _, end in times.values()))])
    table("captures", "capture_id run capture ranks start_ns end_ns",
          [(100 + n, job.run, n, len(of), min(times[t][0] for t in of), max(times[t][1] for t in of))
           for n, of in captures.items()])
    table("ranks", "run rank world_size traces slices",
          [(job.run, rank, size, len(mine), sum(len(t.slices) for t in mine))
           for rank in job.ranks for mine in [[t for t in job.traces if t.rank == rank]]])
    groups = list(job.groups)
    words = {g: min((d for d in job.groups[g] if d), default=None) for g in groups}
    table("process_groups", "group_id run name description size ranks parallelism",
          [(n, job.run, g.name, words[g], len(g.ranks), str(list(g.ranks)),
            identity_oracle.parallelism(words[g])) for n, g in enumerate(groups)])
    number = {t: n for n, t in enumerate(job.traces)}
    table("device_uses", "trace_id rank device start_ns end_ns compute_ns communication_ns overlap_ns "
          "exposed_communication_ns exposed_memory_ns idle_ns",
          [(number[t], t.rank, device, *(row[part] for part in (
              "start", "end", "compute", "comm", "overlap", "exposed_comm", "exposed_memory", "idle")))
           for (t, device), row in job.trace_devices.items()])
    table("busy_segments", "trace_id device ts_ns dur_ns kinds",
          [(number[t], device, start, end - start, ("compute" in held) + 2 * ("communication" in held)
            + 4 * ("memory" in held)) for t, device in job.trace_devices
           for start, end, held in oracle.elementary(
               job.by_kind([a for a in t.activities if a.device == device])) if held])
    table("step_uses", "trace_id device step start_ns end_ns compute_ns exposed_pipeline_ns "
          "exposed_data_ns exposed_tensor_ns exposed_expert_ns exposed_context_ns exposed_other_ns "
          "exposed_memory_ns idle_host_ns idle_sync_ns idle_dependency_ns idle_unknown_ns",
          [(number[t], device, step, start, end, *parts)
           for t, device, step, start, end, parts in partition_oracle.partition(job)])
    table("rank_clocks", "trace_id rank reference_rank offset_ns drift_ppb",
          [(number[t], t.rank, min(o.rank for o in captures[t.capture]), 0, 0) for t in job.traces])
    table("processes", "rank pid name", [(t.rank, pid, name) for t in job.traces
                                         for pid, names in t.process_names.items() for name in names])
    table("threads", "rank pid tid name", [(t.rank, *key, name) for t in job.traces
                                           for key, names in t.thread_names.items() for name in names])
    table("slices", "rank category name ts_ns dur_ns pid tid correlation external_id args",
          [(t.rank, s.category, s.name, s.ts, s.dur, text(s.pid), text(s.tid), text(s.args.get("correlation")),
            text(s.args.get("External id")), plain(s.args)) for t in job.traces for s in t.slices])
    table("instants", "rank phase name ts_ns", [(t.rank, *point) for t in job.traces for point in t.points])
    for name, which in (("counters", "counters"), ("flows", "flows"), ("memory_events", "memory")):
        table(name, "rank name ts_ns", [(t.rank, *row) for t in job.traces for row in getattr(t, which)])
    table("issues", "trace_id kind count", [(n, "unmatched", t.unmatched + len(t.negative))
                                            for n, t in enumerate(job.traces) if t.unmatched + len(t.negative)])
    table("kernels", "rank device stream name kind ts_ns dur_ns correlation launch_ts_ns step bytes",
          [(a.rank, a.device, a.stream, a.name, a.kind, a.ts, a.dur, a.correlation, a.launch_ts, a.step, a.bytes)
           for a in job.activities])
    table("steps", "rank step ts_ns dur_ns", [(t.rank, *step) for t in job.traces for step in t.steps])
    table("streams", "trace_id rank device stream activities start_ns end_ns busy_ns",
          [(number[key[0]], key[0].rank, *key[1:], row["activities"], row["start"], row["end"], row["busy"])
           for key, row in job.trace_streams.items()])
    table("collectives", "trace_id rank group_id ordinal collective dtype in_bytes out_bytes ts_ns dur_ns "
          "peer capture_id",
          [(number[p.activity.trace], p.rank, groups.index(p.group) if p.group else None,
            None if p.ordinal is None else p.ordinal + 1, p.collective, p.dtype, p.in_bytes, p.out_bytes,
            p.ts, p.dur, p.peer, 100 + p.activity.trace.capture) for p in job.parts])
    parts = "span compute comm overlap exposed_comm exposed_memory idle".split()
    table("q_overlap", "run rank device " + " ".join(p + "_ms" for p in parts) + " overlap_pct",
          [(job.run, *key, *(row[p] / 1e6 for p in parts), 100.0 * row["overlap"] / row["comm"] if row["comm"] else None)
           for key, row in job.devices.items()])
    table("q_stream_utilization", "run rank device stream activities busy_ms utilization_pct compute_ms "
          "comm_ms memory_ms",
          [(job.run, *key, row["activities"], row["busy"] / 1e6,
            100.0 * row["busy"] / job.devices[key[:2]]["span"] if job.devices[key[:2]]["span"] else None,
            row["compute"] / 1e6, row["comm"] / 1e6, row["memory"] / 1e6) for key, row in job.streams.items()])
    matched = [c for c in job.collectives if c.matched]
    table("q_nccl_stalls", "run capture collective group_name group_ranks ordinal step bytes start_ms "
          "culprit_rank total_wait_ms max_wait_ms transfer_ms cause",
          [(job.run, c.capture, c.parts[0].collective, c.group.name, str(list(c.group.ranks)),
            c.parts[0].ordinal, c.parts[0].activity.step,
            c.parts[0].in_bytes, (c.first_start - job.start) / 1e6, c.culprit, c.total_wait / 1e6, c.max_wait / 1e6,
            c.transfer / 1e6, "") for c in matched])
    table("q_nccl_stall_ranks", "run rank collectives times_last caused_wait_ms suffered_wait_ms",
          [(job.run, rank, row["collectives"], row["times_last"], row["caused_wait"] / 1e6, row["suffered_wait"] / 1e6)
           for rank, row in job.stall_ranks(lambda c: c.matched).items()])
    db.commit()
    db.close()
    for name in ("overlap", "stream_utilization", "nccl_stalls", "nccl_stall_ranks"):
        with open(os.path.join(folder, name + ".sql"), "w") as handle:
            handle.write(f"-- {name}\nSELECT * FROM q_{name} WHERE :rank IS NULL OR 0;\n-- end\n")


class Comparison(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.database = os.path.join(self.folder, "trace.db")

    def job(self, seed, dirty=False):
        self.paths = make_cases.write(os.path.join(self.folder, f"case{seed}"), seed, dirty=dirty)
        return oracle.load(self.paths)[0]

    def compare(self, job):
        out = io.StringIO()
        report = check_database.run(self.database, [job], check_database.Report(out=out), self.folder)
        return report.failed, out.getvalue()

    def test_agrees(self):
        for seed in range(24):
            with self.subTest(seed=seed):
                job = self.job(seed, seed % 3 == 2)
                if os.path.exists(self.database):
                    os.remove(self.database)
                write_database(job, self.database, self.folder)
                failed, said = self.compare(job)
                self.assertEqual(failed, 0, said)

    def test_cases_are_the_same_each_time(self):
        self.assertEqual(make_cases.make_job(3, 60, True), make_cases.make_job(3, 60, True))

    def test_each_spoilt_place_is_found(self):
        # Two ranks with collectives that have waits.
        job = next(job for job in map(self.job, range(1, 50)) if len(job.traces) == 2
                   and sum(c.total_wait > 0 for c in job.collectives) > 3 and job.traces[0].counters)
        whole = os.path.join(self.folder, "whole.db")
        write_database(job, whole, self.folder)
        one = "rowid = (SELECT min(rowid) FROM {})"
        spoils = ["DROP TABLE steps", "ALTER TABLE kernels DROP COLUMN step",
                  "UPDATE slices SET args = replace(args, '2383.1272727272726', '2383.12727272727')",
                  "UPDATE slices SET args = replace(args, '\"cbid\":211', '\"cbid\":211.0')",
                  "UPDATE slices SET args = replace(args, '18446744073709551615', '-1')",
                  "UPDATE traces SET header = replace(header, '2.50', '2.5')",
                  "UPDATE traces SET events = events - 1", "UPDATE q_nccl_stalls SET total_wait_ms = total_wait_ms + 1e-6",
                  "UPDATE q_nccl_stalls SET start_ms = start_ms + 1e-6 WHERE rowid = 2",
                  "UPDATE q_nccl_stalls SET culprit_rank = 1 - culprit_rank WHERE total_wait_ms > 0",
                  "UPDATE q_nccl_stalls SET capture = 2 WHERE rowid = 1", "UPDATE q_nccl_stalls SET run = 'other'",
                  "UPDATE q_overlap SET run = 'other'", "UPDATE runs SET captures = 9", "UPDATE captures SET capture = 2",
                  "UPDATE traces SET run = 'other'", "UPDATE traces SET capture = 2 WHERE rank = 1",
                  "UPDATE process_groups SET parallelism = 'pipeline'", "UPDATE process_groups SET name = name || 'x'",
                  "UPDATE rank_clocks SET offset_ns = 1", "UPDATE collectives SET capture_id = 101 + capture_id",
                  "UPDATE q_nccl_stalls SET ordinal = ordinal + 1 WHERE rowid = (SELECT max(rowid) FROM q_nccl_stalls)",
                  "UPDATE instants SET phase = 'I' WHERE rowid = 1",
                  "UPDATE collectives SET ordinal = ordinal + 1 WHERE rank = 1"]
        for name in ("slices", "instants", "counters", "flows", "memory_events", "kernels", "steps", "streams",
                     "collectives", "ranks", "runs", "captures", "process_groups", "device_uses",
                     "busy_segments", "step_uses", "q_overlap", "q_stream_utilization", "q_nccl_stalls", "q_nccl_stall_ranks"):
            spoils.append(f"DELETE FROM {name} WHERE " + one.format(name))
            spoils.append(f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1")
        for name, columns in (
                ("slices", "ts_ns dur_ns rank"), ("kernels", "ts_ns dur_ns bytes launch_ts_ns step stream device"),
                ("steps", "step dur_ns"), ("streams", "busy_ns end_ns"), ("device_uses", "compute_ns overlap_ns start_ns"),
                ("busy_segments", "ts_ns kinds"), ("step_uses", "step exposed_context_ns idle_host_ns"),
                ("runs", "world_size start_ns"), ("captures", "ranks end_ns"), ("collectives", "in_bytes ts_ns"),
                ("q_nccl_stalls", "bytes step"), ("q_nccl_stall_ranks", "collectives times_last")):
            for column in columns.split():
                spoils.append(f"UPDATE {name} SET {column} = {column} + 7 WHERE {column} IS NOT NULL AND rowid = "
                              f"(SELECT min(rowid) FROM {name} WHERE {column} IS NOT NULL)")
        for name, columns in (
                ("q_overlap", "span compute comm overlap exposed_comm exposed_memory idle"),
                ("q_stream_utilization", "busy compute comm memory"), ("q_nccl_stalls", "max_wait transfer"),
                ("q_nccl_stall_ranks", "caused_wait suffered_wait")):
            for column in columns.split():
                spoils.append(f"UPDATE {name} SET {column}_ms = {column}_ms + 1e-6 WHERE " + one.format(name))
        for spoil in spoils:
            with self.subTest(spoil=spoil):
                shutil.copy(whole, self.database)
                db = sqlite3.connect(self.database)
                changed = db.execute(spoil).rowcount
                db.commit()
                db.close()
                self.assertNotEqual(changed, 0, "nothing was spoilt")
                failed, said = self.compare(job)
                self.assertGreater(failed, 0)
                self.assertNotIn("comparison broke", said)

    def test_empty_and_absent_databases(self):
        job = self.job(1)
        self.assertEqual(self.compare(job)[0], 1)
        sqlite3.connect(self.database).close()
        open(self.database, "ab").close()
        failed, said = self.compare(job)
        self.assertGreater(failed, 10)
        self.assertNotIn("comparison broke", said)


if __name__ == "__main__":
    unittest.main()
