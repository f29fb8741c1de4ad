#!/usr/bin/env python3
"""Kernels of recorded graphs: of our own recording, whose eager part tells the truth, and what others made of theirs.

    python3 test_graph_recordings.py --program PROGRAM [--samples FOLDER]

Others' recordings stand in inference/ of a folder, --samples or the environment's TRACEDB_SAMPLES; without it they are
skipped.
"""
import argparse
import csv
import glob
import gzip
import json
import os
import re
import sys
import unittest

import graph_case
from graph_case import GraphTest, KERNELS, input_dims
from graph_traces import recorded_truth

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.environ.get("TRACEDB_SAMPLES", os.path.join(HERE, "..", "..", "..", "shared", "samples"))
RECORDED = os.path.join(HERE, "..", "..", "fixtures", "graphs", "graph_bs4.pt.trace.json.gz")


class OwnRecording(GraphTest):
    def test_no_kernel_of_a_replay_is_wrong(self):
        truth = recorded_truth(RECORDED)
        self.ingest(RECORDED)
        base = self.ask("SELECT base_time_ns FROM traces")[0]["base_time_ns"]
        rows = {row["ts_ns"] - base: row for row in self.ask(KERNELS)}
        wrong = [start for start, (op, dims) in truth.items()
                 if (rows[start]["op"], json.dumps(input_dims(rows[start]))) != (op, dims)]
        self.assertEqual(len(truth), 6 * 50)
        self.assertEqual(wrong, [])
        found = self.graphs()
        self.assertEqual([(row["replays"], row["kernels"], row["source"]) for row in found], [(6, 50, "capture")])


class OthersRecordings(GraphTest):
    def compare(self, name, activities):
        folder = os.path.join(SAMPLES, "inference", name)
        if not os.path.isdir(folder):
            self.skipTest(f"{folder} is not there")
        self.ingest(folder)
        found = self.graphs()
        self.assertEqual([(row["replays"], row["kernels"], row["attributed_pct"]) for row in found],
                         [(1, activities, 100.0)])
        trace, = (path for path in glob.glob(os.path.join(folder, "*.json.gz")))
        with gzip.open(trace, "rt") as file:
            events = json.load(file)["traceEvents"]
        base = self.ask("SELECT base_time_ns FROM traces")[0]["base_time_ns"]
        # Their sums are of ends less starts as doubles: to compare to 0.01 us that is done here too.
        lengths = {}
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                lengths[round(event["ts"] * 1000)] = (event["ts"] + event["dur"]) - event["ts"]
        rows = self.ask(KERNELS.replace("k.op,", "coalesce(k.op, (SELECT name FROM slices s WHERE s.slice_id = "
                                        "k.launch_slice_id)) AS op,"))
        sums = {}
        for row in rows:
            modules = [piece for piece in (row["path"] or "").split(" > ") if piece.startswith("nn.Module: ")]
            module = modules[-1].rpartition("_")[0] if modules else "NA"
            # They leave out the number that an operator of SGLang's profiler ends in.
            op = re.sub(r"(sglang_profiler::.*)_\d+$", r"\1", row["op"])
            sums.setdefault((op, module), []).append(lengths[row["ts_ns"] - base])
        with open(os.path.join(folder, "perf_csvs", "ops_summary.csv"), encoding="utf-8") as file:
            theirs = {(row["name"], row["parent_module"]): float(row["total_direct_kernel_time_sum"])
                      for row in csv.DictReader(file)}
        self.assertEqual(sorted(sums), sorted(theirs))
        for key, microseconds in theirs.items():
            self.assertAlmostEqual(sum(sums[key]), microseconds, delta=0.01, msg=str(key))

        self.one_decode_step(folder)

    def one_decode_step(self, folder):
        """Busy time and span of the step are those of their gpu_timeline.csv, which are of the whole trace."""
        step, = json.loads(self.run_program("query", "inference_steps", "--format", "json"))
        self.assertEqual((step["kind"], step["requests"], step["tokens"], step["prefill_tokens"]),
                         ("decode", 32, 32, 0))
        with open(os.path.join(folder, "perf_csvs", "gpu_timeline.csv"), encoding="utf-8") as file:
            theirs = {row["type"]: float(row["time ms"]) for row in csv.DictReader(file)}
        self.assertAlmostEqual(step["gpu_ms"], theirs["busy_time"], delta=0.0001)  # theirs are sums of doubles
        self.assertAlmostEqual(step["gpu_span_ms"], theirs["total_time"], delta=0.0001)

    def rows(self, query):
        return json.loads(self.run_program("query", query, "--format", "json"))

    def test_sglang_decode(self):
        self.compare("sglang_decode", 544)
        layers = self.rows("kernels_by_layer")
        self.assertEqual([(row["class"], row["layer"], row["kernels"]) for row in layers],
                         [("Qwen3DecoderLayer", layer, 15) for layer in range(36)] + [(None, None, 18)])
        self.assertEqual([(row["use"], row["kernels"]) for row in self.rows("kv_cache_kernels")],
                         [("fill", 36), ("indices", 1)])

    def test_vllm_decode_full(self):
        self.compare("vllm_decode_full", 421)
        # The model was compiled as a whole: its modules do not show.
        self.assertEqual([(row["class"], row["reason"]) for row in self.rows("kernels_by_layer")],
                         [(None, "no class of modules on their paths is a layer's")])
        self.assertEqual([(row["use"], row["kernels"]) for row in self.rows("kv_cache_kernels")], [("fill", 24)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--samples", default=SAMPLES)
    options, rest = parser.parse_known_args()
    SAMPLES = os.path.abspath(options.samples)
    graph_case.PROGRAM = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest])
