#!/usr/bin/env python3
"""Kernels of CUDA and HIP graphs belong to the operators that were captured: small traces of known truth.

    python3 test_graph_oracle.py --program PROGRAM
"""
import argparse
import json
import os
import random
import sys
import unittest

import graph_case
from graph_case import GraphTest, KERNELS, input_dims
from graph_traces import Recorder

LAYER = (("aten::mm", "gemm"), ("aten::add", "add"), ("aten::relu", "relu"))


class MadeTraces(GraphTest):
    def one_file(self, recorder):
        recorder.write(self.folder, "job/rank0.json.gz")
        self.ingest()

    def test_cuda_says_no_names_and_one_stream_keeps_the_order(self):
        nodes = LAYER * 4
        recorder = Recorder()
        recorder.capture(nodes)
        for _ in range(5):
            recorder.replay(nodes)
        self.one_file(recorder)
        found = self.check(recorder.truth, "capture")
        self.assertEqual([(row["replays"], row["kernels"]) for row in found], [(5, 12)])

    def test_copies_and_fills_are_nodes(self):
        nodes = (("aten::copy_", "Memcpy DtoD"), *LAYER, ("aten::zero_", "Memset (Device)"), *LAYER)
        recorder = Recorder()
        recorder.capture(nodes)
        recorder.replay(nodes)
        other = (("aten::zero_", "Memset (Device)"), *LAYER, ("aten::copy_", "Memcpy DtoD"), *LAYER)
        recorder.replay(other, truth=[None] * len(other))
        self.one_file(recorder)
        self.assertEqual([row["reason"] for row in self.check(recorder.truth)],
                         [None, "its kernels differ from the capture's"])

    def test_hip_says_names_and_grids_and_copies_by_kernel(self):
        grid = {"call": {"grid": [256, 1, 1], "block": [64, 1, 1]}}  # in threads
        nodes = (("aten::mm", "Cijk_1", grid), ("aten::copy_", "Memcpy DtoD",
                                                {"runs_as": "__amd_rocclr_copyBuffer"}), ("aten::add", "add"))
        recorder = Recorder("hip")
        recorder.capture(nodes)
        recorder.replay(nodes)
        recorder.replay((nodes[0], nodes[1], ("aten::add", "sub")), truth=[None] * 3)
        self.one_file(recorder)
        self.check(recorder.truth)

    def test_two_streams_by_names(self):
        chance = random.Random(5)
        side = (("aten::sum", "reduce"), ("aten::exp", "exp"), ("aten::add", "add"))
        nodes = side + LAYER * 5
        streams = [14] * len(side) + [7] * (len(nodes) - len(side))
        recorder = Recorder("hip")
        recorder.capture(nodes)
        for _ in range(8):
            order, places = [], {14: 0, 7: len(side)}
            ends = {14: len(side), 7: len(nodes)}
            while any(places[s] < ends[s] for s in places):
                stream = chance.choice([s for s in places if places[s] < ends[s]])
                order.append(places[stream])
                places[stream] += 1
            recorder.replay(nodes, order=order, streams=streams)
        self.one_file(recorder)
        self.check(recorder.truth, "capture")

    def test_streams_that_could_be_either(self):
        nodes = (("aten::exp", "unary"), ("aten::log", "unary"), ("aten::add", "add"))
        recorder = Recorder("hip")
        recorder.capture(nodes)
        recorder.replay(nodes, streams=[7, 14, 7], truth=[None] * 3)
        self.one_file(recorder)
        self.check(recorder.truth, None, "its streams could have been captured in several orders")

    def test_streams_that_could_be_either_but_mean_the_same(self):
        nodes = (("aten::exp", "unary"), ("aten::exp", "unary"), ("aten::add", "add"))
        recorder = Recorder("hip")
        recorder.capture(nodes)
        recorder.replay(nodes, streams=[7, 14, 7])
        self.one_file(recorder)
        self.check(recorder.truth, "capture")

    def test_node_ids_tell_the_order(self):
        nodes = [(f"aten::op{i}", f"kernel{i}", {"node": 7 << 32 | i}) for i in range(6)]
        recorder = Recorder()
        recorder.capture(nodes)
        recorder.replay(nodes, order=[2, 0, 1, 5, 3, 4])
        recorder.replay(nodes, order=[0, 2, 1, 3, 4, 5], streams=[7, 7, 14, 14, 7, 7])
        self.one_file(recorder)
        self.check(recorder.truth, "capture")

    def test_a_kernel_is_missing(self):
        recorder = Recorder()
        recorder.capture(LAYER)
        recorder.replay(LAYER)
        recorder.replay(LAYER, order=[0, 2], truth=[None] * 3)
        recorder.replay(LAYER)
        self.one_file(recorder)
        self.assertEqual([(row["replays"], row["reason"]) for row in self.check(recorder.truth)],
                         [(2, None), (1, "it runs 2 kernels, the capture launched 3")])

    def test_no_capture(self):
        recorder = Recorder()
        recorder.replay(LAYER, truth=[None] * 3)
        self.one_file(recorder)
        self.check(recorder.truth, None, "no capture of it is in the database")

    def test_captured_after_it_was_replayed(self):
        recorder = Recorder()
        recorder.replay(LAYER, truth=[None] * 3)
        recorder.capture(LAYER)
        self.one_file(recorder)
        self.check(recorder.truth, None, "no capture of it is in the database")

    def test_launched_one_by_one(self):
        recorder = Recorder()
        recorder.eager((("aten::neg", "neg"), *LAYER, ("aten::neg", "neg")))
        recorder.eager(LAYER)
        recorder.replay(LAYER)
        self.one_file(recorder)
        self.check(recorder.truth, "eager")
        rows = self.ask("SELECT name, calls, graph_calls FROM host_uses WHERE kind = 'operator' ORDER BY name")
        self.assertEqual([tuple(row.values()) for row in rows],
                         [("aten::add", 2, 1), ("aten::mm", 2, 1), ("aten::neg", 2, 0), ("aten::relu", 2, 1)])

    def test_launched_one_by_one_by_several(self):
        recorder = Recorder()
        recorder.eager(LAYER)
        recorder.eager((("aten::mm", "gemm"), ("aten::sub", "add"), ("aten::relu", "relu")))
        recorder.replay(LAYER, truth=[None] * 3)
        self.one_file(recorder)
        self.check(recorder.truth, None, "its kernels ran one by one for several sets of operators")

    def test_two_captures_fit(self):
        recorder = Recorder()
        recorder.capture(LAYER)
        recorder.capture((("aten::mm", "gemm"), ("aten::sub", "sub"), ("aten::relu", "relu")))
        recorder.replay(LAYER, truth=[None] * 3)
        self.one_file(recorder)
        self.check(recorder.truth, None, "several captures of other operators fit")

    def test_what_ran_one_by_one_tells_the_size(self):
        def sized(size, grid):
            return [(op, kernel, {"op": {"Input_Dims": [[size, 8]]},
                                  "gpu": {"grid": [grid, 1, 1], "block": [64, 1, 1]}}) for op, kernel in LAYER]
        recorder = Recorder()
        recorder.eager(sized(4, 4))
        recorder.eager(sized(16, 9))
        recorder.capture(sized(16, 9))
        recorder.replay(sized(16, 9))
        recorder.replay(sized(4, 4))  # of another capture, which was not recorded
        self.one_file(recorder)
        self.check(recorder.truth)
        self.assertEqual([row["source"] for row in self.graphs()], ["capture", "eager"])
        dims = self.ask(KERNELS + " ORDER BY k.ts_ns")
        self.assertEqual([input_dims(row)[0][0] for row in dims], [4] * 3 + [16] * 6 + [4] * 3)

    def test_a_graph_within_a_graph(self):
        recorder = Recorder()
        recorder.capture(LAYER, between=lambda i: recorder.call("GraphLaunch") if i == 1 else None)
        recorder.replay(LAYER, truth=[None] * 3)
        self.one_file(recorder)
        self.check(recorder.truth, None, "a graph is launched within the capture")

    def test_a_graph_of_more_kernels_within_a_graph(self):
        recorder = Recorder()
        recorder.capture(LAYER, between=lambda i: recorder.call("GraphLaunch") if i == 1 else None)
        recorder.replay(LAYER + LAYER, truth=[None] * 6)
        self.one_file(recorder)
        self.check(recorder.truth, None, "a graph is launched within the capture")

    def refused(self, reason, graphs):
        self.assertEqual([row["op"] for row in self.ask(KERNELS) if row["op"] is not None], [])
        self.assertEqual([row["reason"] for row in self.graphs()], [reason] * graphs)

    def part(self, recorder, nodes):
        """The body of a conditional node, captured into the graph: a replay runs it once, often or never."""
        recorder.call("StreamBeginCaptureToGraph")
        for node in nodes:
            recorder.launch(node, runs=False)
        recorder.call("StreamEndCapture")

    def test_a_part_under_a_condition(self):
        recorder = Recorder()
        recorder.capture(LAYER, between=lambda i: self.part(recorder, [("loop", "body")]) if i == 1 else None)
        first, *rest = LAYER
        body = ("loop", "body")
        for nodes in ([first, body, *rest], [first, *rest], [first, body, body, *rest]):
            recorder.replay(nodes, truth=[None] * len(nodes))
        self.one_file(recorder)
        self.refused("a part of the capture runs under a condition", 3)
        self.assertEqual(self.ask("SELECT launches FROM graph_captures"), [{"launches": len(LAYER) + 2}])

    def test_a_part_under_a_condition_by_itself(self):
        # Its graph was made without a capture; as often as its body ran, another capture has launches.
        recorder = Recorder()
        self.part(recorder, [("loop", "body")])
        recorder.capture(LAYER)
        body = ("loop", "body")
        recorder.replay([body] * len(LAYER), truth=[None] * len(LAYER))
        recorder.replay(LAYER, truth=[None] * len(LAYER))
        self.one_file(recorder)
        self.refused("another capture runs under a condition, and nothing names the kernels of this", 2)

    def test_a_part_under_a_condition_beside_kernels_with_names(self):
        recorder = Recorder("hip")
        self.part(recorder, [("loop", "body")])
        recorder.capture(LAYER)
        recorder.replay(LAYER)
        self.one_file(recorder)
        self.check(recorder.truth, "capture")

    def test_the_driver_s_call_of_the_runtime_s(self):
        recorder = Recorder()
        recorder.capture(LAYER)
        for event in [event for event in recorder.events if event["name"] == "cudaLaunchKernel"]:
            recorder.event("cuda_driver", "cuLaunchKernel", event["ts"] + 0.2, event["ts"] + 0.6,
                           correlation=event["args"]["correlation"] + 900_000)
        recorder.replay(LAYER)
        self.one_file(recorder)
        self.check(recorder.truth, "capture")

    def test_modules_annotations_and_calls(self):
        recorder = Recorder()
        dims = {"op": {"Input_Dims": [[2, 3], [3, 5]], "Input_type": ["float", "float"]}}
        nodes = (("aten::mm", "gemm", dims), ("aten::add", "add"))

        def model(runs):
            def layer():
                for node in nodes:
                    recorder.launch(node, runs=runs)
            return lambda: recorder.within("python_function", "nn.Module: Linear_0", lambda: recorder.within(
                "user_annotation", "layer", layer))
        recorder.within("user_annotation", "warm", model(True))

        def captured():
            recorder.call("StreamBeginCapture")
            model(False)()
            recorder.call("StreamEndCapture")
        recorder.within("user_annotation", "capture", captured)
        for _ in range(3):
            recorder.replay(nodes)
        self.one_file(recorder)
        self.check(recorder.truth, "capture")
        rows = self.ask("SELECT name, activities, gpu_ns, self_gpu_ns FROM host_uses "
                        "WHERE kind IN ('module', 'annotation') ORDER BY name")
        # 2 us each one by one; 2 and 3 us of each replay.
        self.assertEqual([tuple(row.values()) for row in rows],
                         [("capture", 0, 0, 0), ("layer", 8, 19_000, 19_000),
                          ("nn.Module: Linear_0", 8, 19_000, 19_000),
                          ("replay", 6, 15_000, 0), ("warm", 2, 4_000, 0)])
        flops = json.loads(self.run_program("query", "flops", "--format", "json"))
        self.assertEqual([(row["op"], row["calls"], row["gflop_per_call"]) for row in flops],
                         [("aten::mm", 4, 2 * 2 * 3 * 5 / 1e9)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options, rest = parser.parse_known_args()
    graph_case.PROGRAM = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest])
