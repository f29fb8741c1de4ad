#!/usr/bin/env python3
"""replay_oracle.py against replays worked out by hand, and, with --program P, on real jobs: without a change it
must give back every recorded time, and the pieces of each step must be the step.
"""
import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import replay_oracle as oracle  # noqa: E402

FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
REAL = ("megatron", "seqpar", "ddp", "legacy", "rocm", "mtia", "megatron_dp", "moe",
        *(f"parallel/{name}" for name in ("compile", "context", "ddp_hook", "fsdp2", "fsdp2_again", "pipeline",
                                          "repeat", "tensor")))
# Ranks that sleep, and before which step; fixtures/*.truth has it from who recorded them.
SLEEPS = {"megatron": (5, 3), "seqpar": (2, 4)}
PROGRAM = None
MS = 1_000_000


class Job:
    """A database of one capture, in memory. Every event gets the next slice_id, and is returned as it."""

    def __init__(self, ranks=1):
        self.db = sqlite3.connect(":memory:")
        self.last = 0
        for name, columns in (
                ("captures", "capture_id"), ("traces", "trace_id rank capture_id"), ("impossible_times", "event_id"),
                ("rank_clocks", "trace_id offset_ns drift_ppb origin_ns"), ("process_groups", "group_id parallelism"),
                ("slices", "slice_id trace_id category name ts_ns dur_ns pid tid"),
                ("kernels", "slice_id trace_id device stream name kind step ts_ns dur_ns launch_ts_ns launch_slice_id"),
                ("collectives", "slice_id group_id pair by_seq match_no capture_id"), ("steps", "slice_id step")):
            self.db.execute(f"CREATE TABLE {name} ({', '.join(columns.split())})")
        self.row("captures", 1)
        for rank in range(ranks):
            self.row("traces", rank + 1, rank, 1)
        self.row("process_groups", 1, "data")

    def row(self, table, *values):
        self.db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)

    def host(self, name, ts, dur, rank=0, tid="1", category="cuda_runtime"):
        self.last += 1
        self.row("slices", self.last, rank + 1, category, name, ts, dur, "7", tid)
        return self.last

    def step(self, number, ts, end, rank=0):
        self.row("steps", self.host(f"ProfilerStep#{number}", ts, end - ts, rank, category="user_annotation"), number)

    def gpu(self, ts, dur, launch=None, stream=1, rank=0, step=None, kind="compute", match=None, name="k"):
        self.last += 1
        launch_ts = self.db.execute("SELECT ts_ns FROM slices WHERE slice_id = ?", (launch,)).fetchone()
        self.row("slices", self.last, rank + 1, "kernel", name, ts, dur, "0", str(stream))
        self.row("kernels", self.last, rank + 1, 0, stream, name, kind, step, ts, dur,
                 launch_ts and launch_ts[0], launch)
        if match is not None:
            self.row("collectives", self.last, 1, "", 1, match, 1)
        return self.last

    def launched(self, call_ts, ts, dur, name="cudaLaunchKernel", **of):
        call = self.host(name, call_ts, 5, of.get("rank", 0), of.pop("tid", "1"))
        return self.gpu(ts, dur, call, **of)

    def graph(self):
        return oracle.build(self.db, 1)


def check_exact(test, graph):
    """Replay without a change; returns it."""
    replayed = oracle.replay(graph)
    test.assertEqual(replayed.times, [node.time for node in graph.nodes])
    for step, start, end, _ in oracle.bounds(graph, replayed):
        pieces = oracle.critical_path(graph, replayed, step)
        test.assertEqual(sum(piece.dur_ns for piece in pieces), end - start)
        for piece, at in zip(pieces, [start, *(p.start_ns + p.dur_ns for p in pieces)]):
            test.assertEqual(piece.start_ns, at)
            test.assertGreater(piece.dur_ns, 0)
    return replayed


def path(graph, replayed, step=None):
    return [(p.start_ns, p.dur_ns, p.kind, p.rank) for p in oracle.critical_path(graph, replayed, step)]


def without(name):
    return {"change": "slices", "name": name, "factor": 0}


class Hand(unittest.TestCase):
    def at(self, graph, replayed, slice_id, what="start"):
        return next(replayed.times[n.number] for n in graph.nodes if n.slice_id == slice_id and n.what == what)

    def edges(self, graph, slice_id, what="start"):
        node = next(n for n in graph.nodes if n.slice_id == slice_id and n.what == what)
        return [(source.what, source.slice_id, weight, name) for source, weight, name in node.edges], node.lag

    def sleeper(self):
        """Rank 1 sleeps from 100 to 40,100 and is the last to come to an all-reduce of 50; both then wait."""
        job = Job(2)
        for rank, late in ((0, 0), (1, 40_000)):
            job.step(3, 0, 40_400, rank)
            if rank:
                job.host("sleep", 100, 40_000, rank, category="cpu_op")
            call = job.host("cudaLaunchKernel", 200 + late, 5, rank)
            job.gpu(210 + late, 90 + 40_000 - late, call, rank=rank, step=3, kind="communication", match=1)
            job.host("cudaStreamSynchronize", 250 + late, 40_060 - late, rank)
        return job

    def test_a_sleep_goes_and_all_ranks_are_earlier(self):
        graph = self.sleeper().graph()
        replayed = check_exact(self, graph)
        # Parts: 210 to 40,300 and 40,210 to 40,300; meeting 40,210. sync of 10, then 90 of the host to the step's end.
        self.assertEqual(path(graph, replayed, 3), [
            (0, 40_200, "host", 1), (40_200, 10, "launch", 1), (40_210, 90, "transfer", 0), (40_300, 10, "gap", 0),
            (40_310, 90, "host", 0)])
        replayed = oracle.replay(graph, [without("sleep")])
        # Launched at 200 on rank 1 too: nobody waits.
        self.assertEqual(path(graph, replayed, 3), [
            (0, 200, "host", 0), (200, 10, "launch", 0), (210, 90, "communication", 0), (300, 10, "gap", 0),
            (310, 90, "host", 0)])
        self.assertEqual(oracle.steps(graph, replayed), [(3, 400)])
        half = dict(without("sleep"), factor=0.5)
        self.assertEqual(oracle.steps(graph, oracle.replay(graph, [half])), [(3, 20_400)])

    def test_transfers_and_their_waits(self):
        graph = self.sleeper().graph()
        transfers = {"change": "transfers", "parallelism": "data", "factor": 0}
        # Rank 1 then waits for nothing: its call begins at 40,250.
        self.assertEqual(oracle.steps(graph, oracle.replay(graph, [transfers])), [(3, 40_340)])
        replayed = oracle.replay(graph, [dict(transfers, parallelism="tensor")])
        self.assertEqual(oracle.steps(graph, replayed), [(3, 40_400)])
        # Rank 0 no longer waits for rank 1, whose own way takes as long as it did.
        replayed = oracle.replay(graph, [{"change": "waits", "parallelism": "data"}])
        self.assertEqual(oracle.steps(graph, replayed), [(3, 40_400)])
        self.assertEqual(min(replayed.times[n.number] for n in graph.nodes if n.what == "step-end"), 400)

    def test_a_call_waits_for_its_stream_only(self):
        job = Job()
        first = job.launched(0, 10, 100)
        other = job.launched(20, 30, 400, stream=2)
        last = job.launched(40, 110, 40)
        late = job.launched(45, 170, 10, stream=3)
        call = job.host("cudaStreamSynchronize", 60, 100)
        graph = job.graph()
        check_exact(self, graph)
        # At 160 stream 1 has finished last, at 150; stream 2 runs on, stream 3 has not begun.
        self.assertEqual(self.edges(graph, call, "end"),
                         ([("begin", call, 0, "call"), ("finish", last, 10, "sync")], 0))
        replayed = oracle.replay(graph, [{"change": "activities", "name": "k", "factor": 0.5}])
        self.assertEqual(self.at(graph, replayed, last, "finish"), 80)
        self.assertEqual(self.at(graph, replayed, call, "end"), 90)
        self.assertEqual(self.at(graph, replayed, other, "finish"), 230)
        self.assertLess(first, late)

    def test_a_call_that_found_its_work_done_waits_for_it_all_the_same(self):
        job = Job()
        ours = job.launched(0, 10, 20)
        job.launched(5, 15, 30, stream=2, tid="2")
        call = job.host("cudaEventSynchronize", 60, 4)
        every = job.host("cudaDeviceSynchronize", 70, 4)
        graph = job.graph()
        check_exact(self, graph)
        # The stream of what this thread launched last, not that which finished last.
        self.assertEqual(self.edges(graph, call, "end"), ([("begin", call, 4, "call"), ("finish", ours, 0, "sync")], 0))
        self.assertEqual([edge[2:] for edge in self.edges(graph, every, "end")[0]],
                         [(4, "call"), (0, "sync"), (0, "sync")])
        replayed = oracle.replay(graph, [{"change": "activities", "name": "k", "factor": 5}])
        self.assertEqual(self.at(graph, replayed, call, "end"), 110)   # 10 + 5 x 20
        self.assertEqual(self.at(graph, replayed, every, "end"), 165)  # 15 + 5 x 30

    def test_threads_hand_over(self):
        job = Job()
        one = job.launched(0, 10, 10)
        two = job.launched(100, 110, 10, tid="2")
        three = job.launched(250, 260, 10)
        graph = job.graph()
        check_exact(self, graph)
        launches = [n for n in graph.nodes if n.what == "launch"]
        self.assertEqual([[(e[0].time, e[1], e[2]) for e in n.edges] for n in launches],
                         [[], [(0, 100, "handover")], [(0, 0, "host"), (100, 150, "handover")]])
        job.host("work", 120, 30, tid="2", category="cpu_op")
        job.host("work", 140, 40, tid="1", category="cpu_op")   # 140 to 150 on both: it counts once
        replayed = oracle.replay(graph, [without("work")])
        self.assertEqual([self.at(graph, replayed, k) for k in (one, two, three)], [10, 110, 200])

    def test_the_latest_ready_binds_and_what_is_more_is_lag(self):
        job = Job()
        first = job.launched(0, 10, 1_000)                  # L is 10
        after = job.launched(20, 1_012, 100)               # 2 after its stream was ready
        slow = job.launched(2_000, 152_010, 50)             # 150,000 after launch + L: 50,000 are lag
        graph = job.graph()
        replayed = check_exact(self, graph)
        self.assertEqual(self.edges(graph, after),
                         ([("launch", after - 1, 10, "launch"), ("finish", first, 2, "stream")], 0))
        self.assertEqual(self.edges(graph, slow),
                         ([("launch", slow - 1, 100_010, "launch"), ("finish", after, 0, "stream")], 50_000))
        self.assertEqual(path(graph, replayed),
                         [(0, 20, "host", 0), (20, 1_980, "host", 0), (2_000, 100_010, "launch", 0),
                          (102_010, 50_000, "lag", 0), (152_010, 50, "compute", 0)])
        replayed = oracle.replay(graph, [{"change": "launches", "most_ns": 10}])
        self.assertEqual(self.at(graph, replayed, slow), 52_010)

    def test_a_finish_near_by_explains_a_lag(self):
        job = Job()
        job.launched(0, 10, 10)
        copy = job.launched(5, 100, 150_000, stream=2)
        job.launched(6, 50, 150_050, stream=3)              # finishes with it; the lower slice_id counts
        slow = job.launched(50, 160_000, 50)
        graph = job.graph()
        replayed = check_exact(self, graph)
        edges, lag = self.edges(graph, slow)
        self.assertEqual((edges[0][2:], edges[1][2:], edges[2:], lag),
                         ((10, "launch"), (0, "stream"), [("finish", copy, 9_900, "inferred")], 0))
        self.assertEqual(path(graph, replayed)[-2:], [(150_100, 9_900, "gap", 0), (160_000, 50, "compute", 0)])

    def test_streams_wait_for_events_that_were_recorded_by_then(self):
        job = Job()
        seen = job.launched(0, 10, 500, stream=2)
        job.host("cudaStreamWaitEvent", 20, 2)
        job.launched(30, 40, 600, stream=3)                 # launched after the event
        waited = job.launched(50, 520, 10)
        job.host("cudaStreamWaitEvent", 60, 2)
        job.host("cudaStreamWaitEvent", 63, 2)
        held = job.launched(70, 645, 10)
        job.host("cudaStreamWaitEvent", 80, 2)
        by_one = job.launched(85, 660, 10)                  # one call means one stream
        graph = job.graph()
        check_exact(self, graph)
        # The call at 20 belongs to the launch at 30, the next one of its thread.
        self.assertEqual([e[3] for e in self.edges(graph, waited)[0]], ["launch"])
        self.assertEqual([(e[1], e[3]) for e in self.edges(graph, held)[0]],
                         [(held - 1, "launch"), (waited, "stream"), (seen, "wait"), (seen + 3, "wait")])
        self.assertEqual(self.edges(graph, held)[0][3][2], 5)
        self.assertEqual([(e[1], e[3]) for e in self.edges(graph, by_one)[0]],
                         [(by_one - 1, "launch"), (held, "stream"), (seen + 3, "wait")])

    def test_what_takes_no_time_comes_in_order(self):
        job = Job(2)
        for rank in (0, 1):
            call = job.host("cudaLaunchKernel", 0, 5, rank)
            job.gpu(20, 0, call, rank=rank, match=1, kind="communication")
        job.host("cudaStreamSynchronize", 20, 0)
        graph = job.graph()
        check_exact(self, graph)
        self.assertEqual([n.what for n in graph.nodes if n.time == 20],
                         ["launch", "start", "start", "meet", "finish", "finish"])
        self.assertEqual(self.edges(graph, 2, "finish"), ([("start", 2, 0, "activity"), ("meet", 2, 0, "transfer")], 0))

    def test_steps_last_from_end_to_end(self):
        job = Job(2)
        for rank, begin in ((0, 100), (1, 130)):
            job.step(1, begin, 1_000 + rank, rank)
            job.step(2, 1_050, 1_500, rank)
        job.launched(900, 1_200, 100, step=1)               # finishes in the step after
        graph = job.graph()
        replayed = check_exact(self, graph)
        self.assertEqual(oracle.steps(graph, replayed), [(1, 1_170), (2, 200)])

    def test_clocks_and_times_that_cannot_be(self):
        job = Job()
        job.row("rank_clocks", 1, 500, -2_000_000, 1_000)   # 2 ns of 1,000
        launched = job.launched(0, 2_000, 3_999)
        job.row("impossible_times", job.launched(50, 1, 10**18))
        graph = job.graph()
        # 0 + 500 + 2; 2,000 + 500 - 2; 5,999 + 500 - 9.998, towards zero.
        self.assertEqual([(n.what, n.time) for n in graph.nodes],
                         [("launch", 502), ("start", 2_498), ("finish", 6_490)])
        check_exact(self, graph)
        self.assertEqual(self.edges(graph, launched)[0][0][2], 1_996)


class Fixtures(unittest.TestCase):
    def test_replays_are_exact_and_a_sleep_that_goes_is_gone(self):
        if PROGRAM is None:
            self.skipTest("no --program given")
        for name in REAL:
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="tracedb-oracle-") as folder:
                database = os.path.join(folder, "trace.db")
                subprocess.run([PROGRAM, "-q", "--db", database, "ingest", os.path.join(FIXTURES, name)], check=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                db = sqlite3.connect(database)
                for capture_id in oracle.captures(db):
                    graph = oracle.build(db, capture_id)
                    replayed = check_exact(self, graph)
                    if name in SLEEPS:
                        self.check_sleep(graph, replayed, *SLEEPS[name])
                db.close()

    def check_sleep(self, graph, replayed, rank, step):
        """The path goes through the sleep; without it the step is shorter, by no more than it lasted."""
        sleep = next(s for s in graph.slices("name = 'injected_straggler_sleep'"))
        self.assertEqual(graph.ranks[sleep.trace], rank)
        through = [p for p in oracle.critical_path(graph, replayed, step) if p.kind == "host" and p.rank == rank
                   and p.start_ns < sleep.end and sleep.ts < p.start_ns + p.dur_ns]
        self.assertGreater(sum(p.dur_ns for p in through), 0.99 * (sleep.end - sleep.ts))
        gain = dict(oracle.steps(graph, replayed))[step] - dict(oracle.steps(graph, oracle.replay(graph, [
            without("injected_straggler_sleep")])))[step]
        self.assertGreater(gain, 30 * MS)
        self.assertLessEqual(gain, sleep.end - sleep.ts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--program")
    options, rest = parser.parse_known_args()
    PROGRAM = options.program and os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest])
