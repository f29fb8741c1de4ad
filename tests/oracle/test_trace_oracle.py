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
import make_cases  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from hand_traces import kernel, part, recorded, trace  # noqa: E402
from oracle_database import write_database  # noqa: E402


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
            "start": 0, "end": 100000, "span": 100000, "compute": 20000, "comm": 30000,
            "overlap": 10000, "exposed_comm": 20000,
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


class Collectives(unittest.TestCase):
    def test_ordinals_and_waits(self):
        named = {"Process Group Name": "3"}
        job = oracle.Job([
            recorded([part(50, 9, **named), part(10, 20, **named), part(90, 1, **named),
                      kernel(1, 1, "ncclWithoutMetadata", 9)], 0),
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
                  "UPDATE q_overlap SET run = 'other'", "UPDATE runs SET captures = 9",
                  "UPDATE captures SET capture = 2",
                  "UPDATE traces SET run = 'other'", "UPDATE traces SET capture = 2 WHERE rank = 1",
                  "UPDATE process_groups SET parallelism = 'pipeline'", "UPDATE process_groups SET name = name || 'x'",
                  "UPDATE rank_clocks SET offset_ns = 1", "UPDATE collectives SET capture_id = 101 + capture_id",
                  "UPDATE q_nccl_stalls SET ordinal = ordinal + 1 WHERE rowid = (SELECT max(rowid) FROM q_nccl_stalls)",
                  "UPDATE instants SET phase = 'I' WHERE rowid = 1",
                  "UPDATE collectives SET ordinal = ordinal + 1 WHERE rank = 1"]
        for name in ("slices", "instants", "counters", "flows", "memory_events", "kernels", "steps", "streams",
                     "collectives", "ranks", "runs", "captures", "process_groups", "stream_uses",
                     "device_uses",
                     "busy_segments", "step_uses", "q_overlap", "q_stream_utilization", "q_nccl_stalls",
                     "q_nccl_stall_ranks"):
            spoils.append(f"DELETE FROM {name} WHERE " + one.format(name))
            spoils.append(f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1")
        for name, columns in (
                ("slices", "ts_ns dur_ns rank"), ("kernels", "ts_ns dur_ns bytes launch_ts_ns step stream device"),
                ("steps", "step dur_ns"), ("streams", "busy_ns end_ns"), ("stream_uses", "busy_ns memory_ns"),
                ("device_uses", "compute_ns overlap_ns start_ns"),
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
