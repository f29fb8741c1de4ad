#!/usr/bin/env python3
"""Tests of runs, captures and communicators on small cases by hand."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import identity_oracle  # noqa: E402
import trace_oracle as oracle  # noqa: E402
from hand_traces import part, recorded  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
