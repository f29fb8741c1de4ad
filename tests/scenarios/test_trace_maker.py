#!/usr/bin/env python3
"""The simulation and its truth by figures worked out by hand, and the checks by a program that
knows the truth: they accept what it says, and notice each figure that is changed."""
import decimal
import json
import os
import random
import tempfile
import unittest

import checks
import communicators
import filter_checks
import kineto_writer
import make_scenarios
import truth
from perfect_program import PerfectProgram
from program import ProgramFailed
from scenarios import all_scenarios
from trace_maker import Group, Job

PARALLELISM = {**communicators.DESCRIPTIONS, **communicators.MEGATRON_PARALLELISM}
JUDGED = {"blames_no_rank", "gains_nothing", "what_if", "critical_path", "doctor", "no_pipeline",
          "expert_first", "blames_the_full_expert", "names_the_loader", "names_compiling",
          "names_no_gpu", "sync_gains_little", "blames_rank_3",
          "names_the_group", "names_the_one", "no_advice_for_all", "names_all_in_turn",
          "names_what_they_do", "not_in_turn",
          "names_the_late_ranks", "adds_the_hidden", "hides_nobody",
          "doubts_the_gain", "says_chance", "names_nobody", "names_rank_3", "steps_get_slower",
          "all_are_recorded", "overlaps_the_large_one", "no_latency",
          "blames_rank_0", "is_not_longer_there",
          "names_where_it_was", "names_rank_1", "once", "loader_gains", "names_what_all_do",
          "advises_on_copies", "no_slow_kernels", "names_latency",
          "blames_rank_2", "blames_rank_1", "columns", "no_such_rank", "nothing_of_the_gpu",
          "runs_of_recommendations", "starts_are_busy", "names_what_follows", "blames_rank_5",
          "nobody_waits", "no_cause", "sync_points", "pipeline_bubbles",
          "step_times", "nobody_is_late", "is_late", "recorder_path",
          "waits_are_doubted", "some_are_sure", "says_what_is_left_out", "is_no_waiting",
          "leaves_nothing_out", "may_be_chance", "blames_the_slow", "is_no_chance",
          "names_the_link", "names_no_other", "names_no_link", "cannot_tell",
          "names_what_else_is_exposed",
          "blames_the_profiler", "blames_rank_0", "first_sentence", "not_to_blame",
          *(f"root_share_{rank}" for rank in range(4))}


def one_rank():
    job = Job("hand", 1)
    return job, job.capture(0)


def times(capture, rank=0):
    """name -> (start, end) after the capture's begin, in us."""
    return {a.name: ((a.start - capture.begin) / 1000, (a.end - capture.begin) / 1000)
            for a in capture.activities(rank)}


class Simulation(unittest.TestCase):
    def test_a_kernel_starts_after_launch_and_latency_and_after_the_one_before(self):
        _, capture = one_rank()
        host = capture.host(0)
        host.kernel("first", 100)
        host.kernel("second", 30)
        host.kernel("beside", 30, stream=8)
        capture.simulate()
        self.assertEqual(times(capture), {"first": (6, 106), "second": (106, 136),
                                          "beside": (14, 44)})

    def test_a_stream_waits_for_another(self):
        _, capture = one_rank()
        host = capture.host(0)
        host.kernel("first", 100)
        host.wait(8, on=7)
        host.kernel("behind", 30, stream=8)
        capture.simulate()
        self.assertEqual(times(capture)["behind"], (106, 136))

    def test_item_holds_the_host_until_the_copy_has_ended(self):
        _, capture = one_rank()
        host = capture.host(0)
        host.kernel("first", 100)
        host.item(copy_us=2)
        host.kernel("next", 10)
        capture.simulate()
        # The copy ends at 108, the call 3 us later, and then comes the launch.
        self.assertEqual(times(capture)["next"], (117, 127))

    def test_parts_of_a_collective_end_together(self):
        job = Job("hand", 2, [Group("3", "DATA_PARALLEL_GROUP", (0, 1))])
        capture = job.capture(0)
        capture.host(1).work(250)
        for host in capture.every_host():
            host.collective("allreduce", job.groups[1], 40, 20, joined=False)
        capture.simulate()
        [name] = times(capture)
        self.assertEqual([times(capture, rank)[name] for rank in (0, 1)], [(6, 296), (256, 296)])
        self.assertEqual(truth.stalls(job), [{"culprits": {1}, "total_wait": 250_000,
                                              "max_wait": 250_000, "transfer": 40_000}])

    def test_a_collective_that_a_rank_never_joins_is_noticed(self):
        job = Job("hand", 2, [Group("3", "DATA_PARALLEL_GROUP", (0, 1))])
        capture = job.capture(0)
        capture.host(0).collective("allreduce", job.groups[1], 40, 20)
        with self.assertRaisesRegex(AssertionError, "deadlock"):
            capture.simulate()


class Truth(unittest.TestCase):
    def test_intervals_against_sets_of_nanoseconds(self):
        chance = random.Random(5)
        some = lambda: [(start, start + chance.randrange(9)) for start in
                        (chance.randrange(60) for _ in range(chance.randrange(7)))]
        for _ in range(500):
            one, other = some(), some()
            set_of = lambda intervals: {n for start, end in intervals for n in range(start, end)}
            self.assertEqual(truth.length(one), len(set_of(one)))
            self.assertEqual(truth.without(one, other), len(set_of(one) - set_of(other)))

    def test_overlap_by_hand(self):
        job, capture = one_rank()
        host = capture.host(0)
        host.kernel("gemm", 100)  # 6 to 106
        host.kernel("ncclAllReduce", 150, stream=20, kind="communication")  # 10 to 160
        host.until(200)
        host.copy(10)  # 206 to 216
        capture.simulate()
        self.assertEqual(truth.overlap_of_rank(job, 0), {
            "span": 210_000, "compute": 100_000, "comm": 150_000, "overlap": 96_000,
            "exposed_comm": 54_000, "exposed_memory": 10_000, "idle": 46_000})


    def test_idle_pieces_by_hand(self):
        _, capture = one_rank()
        host = capture.host(0)
        host.kernel("first", 100)  # 6 to 106
        host.item(copy_us=2, latency_us=142)  # 150 to 152; the host is held until 155
        host.work(40, "load", "user_annotation")
        host.kernel("second", 10)  # launched at 195, 201 to 211
        host.kernel("third", 10, latency_us=32)  # launched at 199, 235 to 245
        capture.simulate()
        found = [((start - capture.begin) / 1000, (end - capture.begin) / 1000, cause,
                  names[0] if names else None)
                 for start, end, cause, names in truth.idle_pieces(capture, 0)]
        self.assertEqual(found, [
            (106, 150, "sync", "aten::item"), (152, 155, "host", "aten::item"),
            (155, 195, "host", "load"), (195, 199, "host", "cudaLaunchKernel"),
            (199, 201, "host", "cudaLaunchKernel"), (211, 235, "dependency", None)])

    def test_bubbles_by_hand(self):
        groups = [Group("9", "PIPELINE_MODEL_PARALLEL_GROUP", (0, 1))]
        job = Job("hand", 2, groups)
        capture = job.capture(0)
        for host in capture.every_host():
            with host.step(1):
                host.collective("send" if host.rank == 0 else "recv", groups[0], 10, 21,
                                peer=1 - host.rank)  # 8 to 18
                host.kernel("stage", 100 + 200 * host.rank)  # 18 to 118, and to 318
                host.collective("allreduce", job.groups[0], 40, 20)  # until 358
        capture.simulate()
        self.assertEqual([truth.bubbles_of_step(capture, rank, 1) for rank in (0, 1)],
                         [210_000, 10_000])

    def test_facts_of_every_scenario_can_be_written(self):
        for scenario in all_scenarios():
            with self.subTest(scenario=scenario.name):
                found = json.loads(json.dumps(make_scenarios.facts(scenario)))
                for without in found["without"]:
                    for job in without["jobs"]:
                        self.assertTrue(all(gain >= 0 for capture in job["captures"]
                                            for gain in capture["gain_ns"].values()))


class Files(unittest.TestCase):
    def test_files_hold_what_was_simulated_and_are_the_same_each_time(self):
        texts = []
        for _ in range(2):
            job = communicators.expert_imbalance().jobs[0]
            with tempfile.TemporaryDirectory() as folder:
                kineto_writer.write_job(job, folder)
                found = {}
                for name in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        found[name] = file.read()
            texts.append(found)
        self.assertEqual(texts[0], texts[1])
        for rank, text in enumerate(texts[0].values()):
            trace = json.loads(text, parse_float=decimal.Decimal)
            self.assertEqual(trace["distributedInfo"]["rank"], rank)
            base = trace["baseTimeNanoseconds"]
            have = sorted((base + int(e["ts"] * 1000), int(e["dur"] * 1000))
                          for e in trace["traceEvents"] if e.get("cat") == "kernel")
            want = sorted((a.start, a.end - a.start)
                          for a in job.captures[0].activities(rank))
            self.assertEqual(have, want)


class Checks(unittest.TestCase):
    def test_the_truth_is_accepted(self):
        for scenario in all_scenarios():
            program = PerfectProgram(scenario, PARALLELISM)
            for check in scenario.checks:
                if check.name not in JUDGED and not check.name.startswith("without "):
                    with self.subTest(scenario=scenario.name, check=check.name):
                        self.assertEqual(list(check.compare(program)), [])

    def test_each_changed_figure_is_noticed(self):
        scenario = communicators.scenarios()[0]
        by_name = {check.name: check for check in scenario.checks}
        compared = {"overlap": "span_ms compute_ms comm_ms exposed_comm_ms idle_ms overlap_pct",
                    "stream_utilization": "activities busy_ms utilization_pct comm_ms",
                    "nccl_stalls": "culprit_rank total_wait_ms max_wait_ms transfer_ms",
                    "nccl_stall_ranks": "collectives times_last caused_wait_ms suffered_wait_ms"}
        for query, names in compared.items():
            for name in names.split():
                with self.subTest(query=query, column=name):
                    program = PerfectProgram(scenario, PARALLELISM)
                    rows = program.rows(query)
                    rows[-1][name] += 1 if isinstance(rows[-1][name], int) else 0.000001
                    program.rows = lambda *_, rows=rows: rows
                    self.assertNotEqual(list(by_name[query].compare(program)), [])

    def test_changed_idle_times_are_noticed(self):
        scenario = next(s for s in all_scenarios() if s.name == "item_then_loading")
        compared = {"time_partition": ("idle_host_ms", "idle_sync_ms", "idle_dependency_ms"),
                    "gpu_gaps": ("gap_ms", "sync_ms"), "named_gaps": ("host_name_ms",)}
        for check in scenario.checks:
            for name in compared.get(check.name, ()):
                with self.subTest(check=check.name, column=name):
                    program = PerfectProgram(scenario, PARALLELISM)
                    rows = program.rows("gpu_gaps" if check.name == "named_gaps" else check.name)
                    longest = max(rows, key=lambda row: row[name])
                    longest[name] -= 0.001 if name == "host_name_ms" else -0.000001
                    program.rows = lambda *_, rows=rows: rows
                    self.assertNotEqual(list(check.compare(program)), [])

    def test_each_changed_table_is_noticed(self):
        scenario = next(s for s in all_scenarios() if s.name == "two_runs_in_turn")
        last = "(SELECT max(trace_id) FROM traces)"
        changes = {"runs": "UPDATE runs SET captures = 2",
                   "captures": f"UPDATE traces SET capture = 3 WHERE trace_id = {last}",
                   "steps": "UPDATE steps SET dur_ns = dur_ns + 1 WHERE rank = 1"}
        for name, change in changes.items():
            with self.subTest(check=name):
                program = PerfectProgram(scenario, PARALLELISM)
                program.database.execute(change)
                check = next(check for check in scenario.checks if check.name == name)
                self.assertNotEqual(list(check.compare(program)), [])

    def test_one_run_for_two_folders_is_noticed(self):
        scenario = next(s for s in all_scenarios() if s.name == "two_runs_in_turn")
        program = PerfectProgram(scenario, PARALLELISM)
        program.database.execute("UPDATE traces SET run = 'one'")
        with self.assertRaises(ProgramFailed):
            list(filter_checks.by_run(scenario.jobs).compare(program))
        program.database.execute("DELETE FROM runs WHERE run_id = (SELECT max(run_id) FROM runs)")
        self.assertNotEqual(list(checks.runs(scenario.jobs).compare(program)), [])


if __name__ == "__main__":
    unittest.main()
