#!/usr/bin/env python3
"""slowdown_oracle.py on a job worked out by hand, and on those whose slowdown ByteDance published; and the same of the
program's replay.

    python3 test_slowdown_oracle.py [--samples FOLDER] [--replay PROGRAM]

Needs pyarrow for these, and a folder in which stragglers/ has trace-*.parquet, ms-*.json and mw-*.json: --samples,
else the environment's TRACEDB_SAMPLES. PROGRAM is slowdown_replay of the build; without it the oracle alone is tried.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import slowdown_oracle as oracle  # noqa: E402

REPLAY = None
SAMPLES = os.environ.get("TRACEDB_SAMPLES", os.path.join(HERE, "..", "..", "..", "shared", "samples"))
# ByteDance-Seed/StragglerAnalysis (Apache-2.0), data/result-*.json: by operation type, data parallel rank, stage.
PUBLISHED = {
    "AR": (1.9730450967262543, {
        "backward-compute": 1.580506213380076, "forward-compute": 1.3688857250958648, "grads-reduce-scatter":
        1.0107821191609507, "params-all-gather": 1.0054763177085824, "embedding-grads-all-reduce": 1.005152269714213,
        "optimizer": 1.001104904015529, "forward-pp-comm": 1.0010706985685933, "backward-pp-comm": 1.0009216699417134,
        "optimizer-clip-main-grad": 1.0002862628429134, "layernorm-grads-all-reduce": 1.0000522769451718, "gc": 1.0},
        {0: 1.9730444100764113, 2: 1.0111514645495234, 3: 1.0111429488597723, 1: 1.0108912860378452},
        {0: 1.9791886375936654, 3: 1.0023690791892135, 1: 0.9971124940932459, 2: 0.9956041132082933}),
    "ST": (1.1787021836556841, {
        "forward-compute": 1.0874989663025318, "backward-compute": 1.074156472437866, "embedding-grads-all-reduce":
        1.0095504024370303, "grads-reduce-scatter": 1.00266695254219, "optimizer-clip-main-grad": 1.0023506224771044,
        "optimizer": 1.0014767395023902, "params-all-gather": 1.0011307740825817, "layernorm-grads-all-reduce":
        1.0000026919173086, "gc": 1.0, "backward-pp-comm": 0.999992994223364, "forward-pp-comm": 0.9998586213458615},
        {1: 1.1778704237064905, 0: 1.1730828198099532},
        {3: 1.2322559543157936, 0: 0.9980450635272368, 1: 0.9830562530894704, 2: 0.9824931309511952}),
}


def slow_worker():
    """2 data parallel ranks of 2 stages and 1 microbatch. A forward pass takes 2 s, of rank 1 (data parallel rank 1,
    stage 0) 6; a backward pass 4; transfers and all else 1 each, from the last of its group on. The optimizer begins
    half a second late, for which nothing is to blame."""
    found = []
    for dp, late in ((0, 0), (1, 4)):
        rows = {
            0: [("params-all-gather", 0, 1), ("forward-compute", 1, 3 + late), ("forward-send", 3 + late, 4 + late),
                ("backward-recv", 3 + late, 11 + late), ("backward-compute", 11 + late, 15 + late),
                ("gc", 15 + late, 15 + late), ("layernorm-grads-all-reduce", 15 + late, 16 + late),
                ("embedding-grads-all-reduce", 16 + late, 17 + late), ("grads-reduce-scatter", 17 + late, 22),
                ("optimizer-clip-main-grad", 22, 23), ("optimizer", 23.5, 24.5)],
            1: [("params-all-gather", 0, 1), ("forward-recv", 0, 4 + late), ("forward-compute", 4 + late, 6 + late),
                ("backward-compute", 6 + late, 10 + late), ("backward-send", 10 + late, 11 + late),
                ("gc", 10 + late, 10 + late), ("layernorm-grads-all-reduce", 10 + late, 11 + late),
                ("embedding-grads-all-reduce", 11 + late, 17 + late), ("grads-reduce-scatter", 17 + late, 22),
                ("optimizer-clip-main-grad", 22, 23), ("optimizer", 23.5, 24.5)]}
        found += [oracle.Operation(dp, stage, dp + 2 * stage, 7, kind, 0, start, end)
                  for stage, of in rows.items() for kind, start, end in of]
    return found


def as_lines(job):
    """The operations of all steps as slowdown_replay reads them: of a group together, after what they wait for."""
    of = {(o.step, *oracle.name_of(o)): o for o in job.operations}
    lines, number = [], {}
    for step in job.steps:
        for unit, (members, is_group) in enumerate(job.order):
            for name, before in members:
                o = of[step, *name]
                waits = [number[step, *other] for other in before]
                lines.append([step, o.dp, o.stage, o.rank, o.type, oracle.NAMES.get(o.type, o.type),
                              unit if is_group else -1, round(o.start * 1e9), round(o.end * 1e9),
                              int(o.type in oracle.COMMUNICATION), int(o.type == oracle.OPTIMIZER),
                              len(waits), *waits])
            for name, _ in members:
                number[step, *name] = len(number)
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def replayed(job):
    """{what: {which: value}} as slowdown_replay prints it."""
    said = subprocess.run([REPLAY], input=as_lines(job), stdout=subprocess.PIPE, text=True, check=False)
    assert said.returncode == 0, said.stdout
    found = {}
    for line in said.stdout.splitlines():
        what, which, value = line.split()
        found.setdefault(what, {})[which if what not in ("dp", "stage", "rank") else int(which)] = float(value)
    return found


class Hand(unittest.TestCase):
    def test_the_programs_replay(self):
        if REPLAY is None:
            self.skipTest("--replay does not say which program")
        others = {"params-all-gather", "forward-pp-comm", "backward-pp-comm", "backward-compute", "gc",
                  "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "grads-reduce-scatter",
                  "optimizer-clip-main-grad", "optimizer"}
        found = replayed(oracle.Job(slow_worker()))
        expected = {"taken": {"s": 24}, "ideal": {"s": 22}, "slowdown": {"S": 24 / 22},
                    "type": {**dict.fromkeys(others, 1), "forward-compute": 24 / 22},
                    "dp": {0: 1, 1: 24 / 22}, "stage": {0: 25 / 22, 1: 21 / 22},
                    "rank": {0: 1, 1: 24 / 22, 2: 21 / 22, 3: 21 / 22}}
        self.assertEqual(found.keys(), expected.keys())
        for what, values in expected.items():
            self.assertEqual(found[what].keys(), values.keys())
            for which, value in values.items():
                self.assertAlmostEqual(found[what][which], value, places=9, msg=f"{what} {which}")

    def test_operations_that_cannot_be_read_are_an_error(self):
        if REPLAY is None:
            self.skipTest("--replay does not say which program")
        line = as_lines(oracle.Job(slow_worker())).splitlines()[0]
        for text in ("", "x\n", line + "\n" + line.rsplit(" ", 1)[0] + " 2 0 5\n"):
            said = subprocess.run([REPLAY], input=text, stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual((said.returncode, said.stdout), (1, "an operation is not understood, or there is none\n"))

    def test_a_slow_worker(self):
        found = oracle.Slowdown(oracle.Job(slow_worker()))
        # As it was without the half second; ideally each forward pass takes (2 + 6 + 2 + 2) / 4 = 3.
        self.assertEqual((found.t_was, found.t_ideal, found.s), (24, 22, 24 / 22))
        others = dict.fromkeys(found.by_type, 1)
        self.assertEqual(found.by_type, {**others, "forward-compute": 24 / 22})
        self.assertEqual(found.by_dp, {0: 1, 1: 24 / 22})
        self.assertEqual(found.by_stage, {0: 25 / 22, 1: 21 / 22})
        self.assertEqual(found.by_rank, {0: 1, 1: 24 / 22, 2: 21 / 22, 3: 21 / 22})
        self.assertEqual(found.worst, {"trem": 21, "tadd": 25, "tori": 24, "tideal": 22, "rem": 1.5, "add": 1.5})
        self.assertEqual(found.last_stage, {"trem": 25, "tadd": 21, "tori": 24, "tideal": 22, "rem": -0.5, "add": -0.5})

    def test_a_transfer_that_ends_before_it_could_begin_takes_no_time(self):
        operations = [o._replace(start=3.5, end=4.98) if (o.type, o.dp) == ("forward-send", 0) else
                      o._replace(start=5.0) if (o.type, o.dp) == ("forward-recv", 0) else o for o in slow_worker()]
        values = {(o.type, o.dp): value for o, value in oracle.Job(operations).values.items()}
        self.assertEqual(values["forward-send", 0], 0)
        operations = [o._replace(end=4.995) if (o.type, o.dp) == ("forward-send", 0) else o for o in operations]
        values = {(o.type, o.dp): value for o, value in oracle.Job(operations).values.items()}
        self.assertAlmostEqual(values["forward-send", 0], -0.005)   # as near as clocks agree

    def test_unknown_operations_are_refused(self):
        with self.assertRaises(AssertionError):
            oracle.Job([o._replace(type="data-loading") if o.type == "gc" else o for o in slow_worker()])


class Published(unittest.TestCase):
    def near(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for which, value in expected.items():
            self.assertAlmostEqual(found[which], value, delta=1e-5 * max(1, abs(value)), msg=str(which))

    def test_what_was_published_comes_out(self):
        if importlib.util.find_spec("pyarrow") is None:
            self.skipTest("pyarrow, which reads Parquet, is not installed")
        folder = os.path.join(SAMPLES, "stragglers")
        if not os.path.isdir(folder):
            self.skipTest(f"the published data is not there: {folder}; --samples says where it is")
        for name, (slowdown, by_type, by_dp, by_stage) in PUBLISHED.items():
            with self.subTest(name):
                job = oracle.Job(oracle.read(os.path.join(folder, f"trace-{name}.parquet")))
                found = oracle.Slowdown(job)
                self.near({"S": found.s}, {"S": slowdown})
                self.near(found.by_type, by_type)
                self.near(found.by_dp, by_dp)
                self.near(found.by_stage, by_stage)
                for file, key, mine in (("mw", "Mw", found.worst), ("ms", "Ms", found.last_stage)):
                    with open(os.path.join(folder, f"{file}-{name}.json"), encoding="utf-8") as text:
                        expected = json.load(text)
                    self.near({**mine, key: mine["rem"]}, expected)
                if REPLAY is not None:
                    again = replayed(job)
                    self.near(again["slowdown"], {"S": slowdown})
                    self.near(again["type"], by_type)
                    self.near(again["dp"], by_dp)
                    self.near(again["stage"], by_stage)
                    self.near(again["rank"], found.by_rank)
                    self.near(again["ideal"], {"s": found.t_ideal})
                    self.near(again["taken"], {"s": found.t_was})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--samples", default=SAMPLES)
    parser.add_argument("--replay")
    options, rest = parser.parse_known_args()
    SAMPLES, REPLAY = options.samples, options.replay
    unittest.main(argv=[sys.argv[0], *rest])
