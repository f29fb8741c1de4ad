#!/usr/bin/env python3
"""Captures of CUDA and HIP graphs in files of their own: which replay is of which, by kernels and batch size.

    python3 test_graph_files.py --program PROGRAM
"""
import argparse
import json
import os
import sys
import unittest

import graph_case
from graph_case import GraphTest
from graph_traces import Recorder

LAYER = (("aten::mm", "gemm"), ("aten::add", "add"), ("aten::relu", "relu"))


class CaptureFiles(GraphTest):
    def job(self, batch=8):
        recorder = Recorder("hip")
        recorder.within("user_annotation", f"step[DECODE bs={batch}]", lambda: recorder.replay(LAYER))
        recorder.write(self.folder, "job/rank0.json.gz")
        return recorder

    def captured(self, name, nodes=LAYER, batch=None):
        recorder = Recorder("hip", first=900_000_000)
        recorder.within("user_annotation", "ProfilerStep#3", lambda: recorder.capture(
            nodes, name="capture" if batch is None else f"capture_{batch}_FULL"))
        return recorder.write(self.folder, name)

    def refused(self, recorder):
        return {start: None for start in recorder.truth}

    def check_not_of_the_job(self):
        row, = self.ask("SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM ranks) AS ranks, "
                        "(SELECT count(*) FROM captures) AS captures, (SELECT count(*) FROM traces) AS traces, "
                        "(SELECT count(*) FROM steps) AS steps, "
                        "(SELECT count(*) FROM graph_captures WHERE is_own_file) AS own")
        self.assertEqual(tuple(row.values())[:5], (1, 1, 1, 1, 0))
        self.assertGreater(row["own"], 0)

    def test_a_file_of_captures_beside_the_trace(self):
        recorder = self.job()
        self.captured("job/capture_traces/bs_8_rank0.json.gz")
        with open(os.path.join(self.folder, "job", "capture_traces", "execution_details.json"), "w",
                  encoding="utf-8") as file:
            json.dump([{"file": "bs_8_rank0.json.gz", "batch_size": 8, "mode": "FULL"}], file)
        self.ingest()
        self.check(recorder.truth, "capture file")
        self.check_not_of_the_job()

    def details(self, text):
        path = os.path.join(self.folder, "job", "capture_traces", "execution_details.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))

    def of_two_sizes(self, details):
        """Two files of captures that do not say their batch size, of other operators; replayed with 8."""
        recorder = self.job(batch=8)
        other = (("aten::mm", "gemm"), ("aten::sub", "add"), ("aten::relu", "relu"))
        self.captured("job/capture_traces/graph_capture_rank_0.1.json.gz", other)
        self.captured("job/capture_traces/graph_capture_rank_0.2.json.gz", LAYER)
        if details is not None:
            self.details(details)
        self.ingest()
        return recorder

    def test_details_say_the_batch_size(self):
        recorder = self.of_two_sizes([{"file": "graph_capture_rank_0.1.json.gz", "batch_size": 4, "mode": "FULL"},
                                      {"file": "graph_capture_rank_0.2.json.gz", "batch_size": 8, "mode": "FULL"}])
        self.check(recorder.truth, "capture file")
        self.check_not_of_the_job()

    def test_details_of_another_batch_size_alone(self):
        recorder = self.job(batch=8)
        self.captured("job/capture_traces/graph_capture_rank_0.1.json.gz")
        self.details([{"file": "graph_capture_rank_0.1.json.gz", "batch_size": 16, "mode": "FULL"}])
        self.ingest()
        self.check(self.refused(recorder), None, "the capture is of batch size 16, the replay of 8")

    def test_details_are_believed_less_than_the_name(self):
        recorder = self.job()
        self.captured("job/capture_traces/bs_8_rank0.json.gz")
        self.details([{"file": "bs_8_rank0.json.gz", "batch_size": 16, "mode": "FULL"}])
        self.ingest()
        self.check(recorder.truth, "capture file")

    def test_details_that_say_nothing(self):
        first, second = ({"file": f"graph_capture_rank_0.{i}.json.gz", "batch_size": 4 * i} for i in (1, 2))
        several = [dict(first, batch_size=8), second]
        for details in (None, [], {}, "[", "[1, null, \"a\"]", [dict(first, file="x"), dict(second, file=2)],
                        [dict(first, batch_size="4"), dict(second, batch_size=-8)],
                        [dict(first, batch_size=True), second], several,
                        [first, dict(first, batch_size=8), second, dict(second, batch_size=4)],
                        json.dumps([first, second]) + " " * (1 << 20)):
            with self.subTest(details=str(details)[:200]):
                self.setUp()
                recorder = self.of_two_sizes(details)
                self.check(self.refused(recorder), None, "several captures of other operators fit")

    def test_it_comes_later_and_another_after_it(self):
        recorder = self.job()
        job = os.path.join(self.folder, "job")
        self.ingest(os.path.join(job, "rank0.json.gz"))
        self.check(self.refused(recorder), None, "no capture of it is in the database")
        self.ingest(self.captured("job/capture_traces/graph_capture_rank_0.1.json.gz"))
        self.check(recorder.truth, "capture file")
        self.check_not_of_the_job()
        other = (("aten::mm", "gemm"), ("aten::sub", "add"), ("aten::relu", "relu"))
        self.ingest(self.captured("job/capture_traces/graph_capture_rank_0.2.json.gz", other))
        self.check(self.refused(recorder), None, "several captures of other operators fit")

    def test_of_another_batch_size(self):
        recorder = self.job(batch=8)
        self.captured("job/capture_traces/bs_16_rank0.json.gz")
        self.ingest()
        self.check(self.refused(recorder), None, "the capture is of batch size 16, the replay of 8")

    def test_of_several_batch_sizes(self):
        recorder = self.job(batch=8)
        other = (("aten::mm", "gemm"), ("aten::sub", "add"), ("aten::relu", "relu"))
        self.captured("job/capture_traces/graph_capture_rank_0.1.json.gz", other, batch=4)
        self.captured("job/capture_traces/graph_capture_rank_0.2.json.gz", LAYER, batch=8)
        self.ingest()
        self.check(recorder.truth, "capture file")

    def in_pieces(self, replayed):
        """Three layers that are alike, each captured by itself."""
        layers = [tuple((f"layer{i}::{op}", kernel) for op, kernel in LAYER) for i in range(3)]
        capture = Recorder("hip", first=900_000_000)
        capture.within("user_annotation", "capture_8_PIECEWISE", lambda: [
            capture.capture(layer, name="piece") for layer in layers])
        capture.write(self.folder, "job/capture_traces/graph_capture_rank_0.1.json.gz")
        recorder = Recorder("hip")
        for _ in range(2):
            recorder.within("user_annotation", "step[DECODE bs=8]", lambda: [
                recorder.replay(layers[i]) for i in replayed])
        recorder.write(self.folder, "job/rank0.json.gz")
        self.ingest()
        return recorder

    def test_pieces_that_are_alike_in_turns(self):
        recorder = self.in_pieces(range(3))
        self.check(recorder.truth, "capture file")

    def test_a_piece_is_missing(self):
        recorder = self.in_pieces(range(2))
        found = self.check(self.refused(recorder))
        self.assertEqual({row["reason"] for row in found}, {"several captures of other operators fit"})

    def test_of_another_rank(self):
        recorder = self.job()
        other = Recorder("hip", rank=1)
        other.capture(LAYER)
        other.write(self.folder, "job/capture_traces/bs_8_rank1.json.gz")
        self.ingest()
        self.check(self.refused(recorder), None, "no capture of it is in the database")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options, rest = parser.parse_known_args()
    graph_case.PROGRAM = os.path.abspath(options.program)
    unittest.main(argv=[sys.argv[0], *rest])
