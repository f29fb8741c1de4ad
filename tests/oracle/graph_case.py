"""What tests of CUDA and HIP graphs share: a database of their own, and what must hold in any."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("TRACEDB")
KERNELS = ("SELECT k.ts_ns, k.dur_ns, k.op, k.launch_slice_id, k.trace_id, p.path, "
           "p.args "
           "FROM kernels k LEFT JOIN call_paths p ON p.path_id = k.path_id "
           "WHERE k.trace_id IN (SELECT trace_id FROM traces)")


def input_dims(row):
    """Of a kernel's operator; a control character stands where a number differs from call to call."""
    return json.loads(re.sub("[\x01-\x1f]", "null", row["args"]))["Input Dims"]


class GraphTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_program(self, *arguments, codes=(0,)):
        done = subprocess.run([PROGRAM, "--db", os.path.join(self.folder, "trace.db"), *arguments],
                              capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, codes, done.stderr)
        return done.stdout

    def ingest(self, *inputs):
        self.run_program("-q", "ingest", *(inputs or (os.path.join(self.folder, "job"),)))

    def ask(self, sql):
        return json.loads(self.run_program("query", "--format", "json", "-c", sql))

    def graphs(self):
        return json.loads(self.run_program("query", "graphs", "--format", "json"))

    def check(self, truth, source=None, reason=None):
        """Every kernel has its operator; sums over calls are those of the kernels."""
        kernels = self.ask(KERNELS)
        wrong = [(row["ts_ns"], row["op"], truth[row["ts_ns"]]) for row in kernels
                 if row["op"] != truth[row["ts_ns"]]]
        self.assertEqual(wrong, [])
        self.assertEqual(len(kernels), len(truth))
        by_op = {}
        for row in kernels:
            count, length = by_op.get(row["op"], (0, 0))
            by_op[row["op"]] = (count + 1, length + row["dur_ns"])
        uses = self.ask("SELECT op, sum(activities) AS n, sum(gpu_ns) AS ns FROM kernel_uses GROUP BY op")
        self.assertEqual({row["op"]: (row["n"], row["ns"]) for row in uses}, by_op)
        own = self.ask("SELECT name, sum(self_gpu_ns) AS ns, min(self_gpu_ns) AS least FROM host_uses "
                       "WHERE kind = 'operator' GROUP BY name HAVING ns <> 0")
        self.assertEqual({row["name"]: row["ns"] for row in own},
                         {op: length for op, (_, length) in by_op.items() if op is not None})
        self.assertTrue(all(row["least"] >= 0 for row in own))
        found = self.graphs()
        if source is not None:
            self.assertEqual({row["source"] for row in found}, {source})
        if reason is not None:
            self.assertEqual([row["reason"] for row in found], [reason])
            checks = json.loads(self.run_program("doctor", "--format", "json", codes=(0, 4)))
            self.assertIn("graph_kernels_unattributed", json.dumps(checks))
        return found
