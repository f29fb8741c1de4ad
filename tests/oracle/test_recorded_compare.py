#!/usr/bin/env python3
"""compare on recorded jobs: one that sleeps against itself without the sleep, and jobs that are alike against one that
computes its activations twice.

    python3 test_recorded_compare.py --program PROGRAM [--samples FOLDER]

The runs stand in compare/ of a folder, --samples or the environment's TRACEDB_SAMPLES; without it they are skipped.
"""
import argparse
import bisect
import contextlib
import gzip
import itertools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
PROGRAM = None
SAMPLES = os.environ.get("TRACEDB_SAMPLES", os.path.join(HERE, "..", "..", "..", "shared", "samples"))
ALIKE = ("a1", "a2", "a3")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class Tests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compare(self, *arguments):
        done = run("compare", "--format", "json", *arguments)
        self.assertIn(done.returncode, (0, 3, 5), done.stderr)
        found = json.loads(done.stdout)
        if found["unit"] == "iteration":  # of a log: no parts
            return found
        for name in ("base_ms", "new_ms", "delta_ms"):  # to the nanosecond
            self.assertEqual(sum(round(part[name] * 1e6) for part in found["parts"]), round(found[name] * 1e6))
        return found

    def without_sleep(self, source, target):
        """All that comes after the sleep's end comes earlier by its length, and what lasts over it is shorter."""
        events = {}
        for name in sorted(os.listdir(source)):
            with gzip.open(os.path.join(source, name), "rt") as trace:
                events[name] = json.load(trace)
        base_ns = {name: trace.get("baseTimeNanoseconds", 0) for name, trace in events.items()}
        (sleep_ns, slept_ns), = [
            (base_ns[name] + round(event["ts"] * 1e3), round(event["dur"] * 1e3))
            for name, trace in events.items() for event in trace["traceEvents"]
            if event.get("name") == "injected_straggler_sleep" and event["ph"] == "X"]
        os.mkdir(target)

        def earlier(ns):
            return ns - min(max(0, ns - sleep_ns), slept_ns)
        for name, trace in events.items():
            kept = []
            for event in trace["traceEvents"]:
                if event.get("name") == "injected_straggler_sleep":
                    continue
                if "ts" in event:
                    start = base_ns[name] + round(event["ts"] * 1e3)
                    if "dur" in event:
                        end = earlier(start + round(event["dur"] * 1e3))
                        event["dur"] = (end - earlier(start)) / 1e3
                    event["ts"] = (earlier(start) - base_ns[name]) / 1e3
                kept.append(event)
            trace["traceEvents"] = kept
            with open(os.path.join(target, name.removesuffix(".gz")), "w", encoding="utf-8") as out:
                json.dump(trace, out)

    def test_injected_sleep(self):
        slept = os.path.join(FIXTURES, "megatron")
        self.without_sleep(slept, self.path("awake"))
        for base, now, where in ((self.path("awake"), slept, "new"), (slept, self.path("awake"), "base")):
            found = self.compare(base, now)
            self.assertEqual(found["verdict"], "cannot tell")  # of two steps
            first = found["rows"][0]
            self.assertEqual((first["kind"], first["name"], first["in"], first["ranks"]),
                             ("annotation", "injected_straggler_sleep", f"only in {where}", [5]))

    def databases(self):
        if not os.path.isdir(os.path.join(SAMPLES, "compare")):
            self.skipTest(f"{SAMPLES}/compare is not there; --samples says where it is")
        for name in (*ALIKE, "b1"):
            done = run("-q", "--db", self.path(name + ".db"), "ingest", os.path.join(SAMPLES, "compare", name))
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_recorded(self):
        self.databases()
        for base, now in itertools.permutations(ALIKE, 2):
            found = self.compare(self.path(base + ".db"), self.path(now + ".db"))
            told = [entry["verdict"] for entry in [found, *found["parts"], *found["rows"]]]
            self.assertLessEqual(set(told), {"same", "cannot tell"}, (base, now))
        for base in ALIKE:
            found = self.compare(self.path(base + ".db"), self.path("b1.db"))
            self.assertEqual(found["verdict"], "slower")
            self.assertGreater(found["step_change_pct"], 13)
            self.assertLess(found["step_change_pct"], 21)  # the steps of b1 alone differ by that
            first = found["rows"][0]
            self.assertEqual((first["kind"], first["in"]), ("recomputation", "only in new"))
            # 4 of 4 softmaxes, 16 of 18 linear layers: the last of the model is not checkpointed.
            self.assertIn("aten::_softmax 4 -> 8", first["text"])
            self.assertIn("LinearWithGradAccumulationAndAsyncCommunication 18 -> 34", first["text"])
            first = self.compare(self.path("b1.db"), self.path(base + ".db"))["rows"][0]
            self.assertEqual((first["kind"], first["in"]), ("recomputation", "only in base"))
            self.assertIn("aten::_softmax 8 -> 4", first["text"])
        mixed = self.compare("--base", self.path("a1.db"), self.path("b1.db"),
                             "--new", self.path("a2.db"), self.path("a3.db"))
        self.assertEqual([row for row in mixed["rows"] if row["kind"] == "recomputation"], [])
        self.assertEqual({(entry["side"], entry["fact"]) for entry in mixed["unlike"]},
                         {("base", f"argument recompute_{name}") for name in ("granularity", "method", "num_layers")})
        self.assertGreater(mixed["rows_left_out"], 100)
        told = run("compare", self.path("a1.db"), self.path("a2.db"), "--rows", "100").stdout
        self.assertRegex(told, r"\n[0-9]+ smaller changes are not judged, and have no row\.\n$")
        sides = ["--base", *(self.path(name + ".db") for name in ALIKE), "--new", self.path("b1.db")]
        found = self.compare(*sides)
        self.assertEqual((found["verdict"], found["unit"]), ("slower", "run"))
        self.assertTrue(13 < found["step_change_pct"] < 18, found["step_change_pct"])
        self.assertEqual(run("compare", *sides, "--gate", "3%").returncode, 3)

    def test_cut_short(self):
        """A file that breaks off lacks activities of all its steps."""
        source = os.path.join(SAMPLES, "compare", "a2")
        if not os.path.isdir(source):
            self.skipTest(f"{source} is not there; --samples says where it is")
        shutil.copytree(source, self.path("cut"))
        path = os.path.join(self.path("cut"), "torch_profile", "rank-1.json.gz")
        with gzip.open(path, "rt") as file:
            text = file.read()
        with gzip.open(path, "wt") as file:
            file.write(text[:len(text) * 6 // 10])
        done = run("compare", "--format", "json", os.path.join(SAMPLES, "compare", "a1"), self.path("cut"))
        self.assertEqual(done.returncode, 4, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual({entry["verdict"] for entry in [found, *found["parts"], *found["rows"]]}, {"cannot tell"})

    def rewritten(self, source, target, change):
        """The traces of a folder, each as `change` leaves it, named as it returns."""
        os.mkdir(target)
        for name in sorted(os.listdir(source)):
            opened = gzip.open if name.endswith(".gz") else open
            with opened(os.path.join(source, name), "rt") as file:
                trace = json.load(file)
            with open(os.path.join(target, change(name.removesuffix(".gz"), trace)), "w", encoding="utf-8") as out:
                json.dump(trace, out)

    def test_ranks_placed_otherwise(self):
        """The job without the sleep, all ranks but one on other places: the one that slept is known by its role."""
        slept = os.path.join(FIXTURES, "megatron")
        self.without_sleep(slept, self.path("awake"))
        moved = [3, 5, 0, 7, 4, 2, 1, 6]

        def place(_, trace):
            told = trace["distributedInfo"]
            told["rank"] = moved[told["rank"]]
            for group in told["pg_config"]:
                group["ranks"] = [moved[rank] for rank in group["ranks"]]
            for event in trace["traceEvents"]:
                ranks = json.loads(event.get("args", {}).get("Process Group Ranks", "[]"))
                if ranks:
                    event["args"]["Process Group Ranks"] = str([moved[rank] for rank in ranks])
            return f"rank{told['rank']}.json"
        self.rewritten(self.path("awake"), self.path("moved"), place)
        found = self.compare(self.path("moved"), slept)
        self.assertTrue(found["comparable"], found["differences"])
        self.assertEqual((found["ranks_by"], found["ranks_moved"], len(found["ranks"])), ("role", 7, 8))
        first = found["rows"][0]  # rank 5 is t + 2 * (d + 2 * p): fixtures/README.md
        self.assertEqual((first["name"], first["ranks"], first["roles"], first["other_ranks"]),
                         ("injected_straggler_sleep", [5], ["tensor 1, stage 1, data 0"], [2]))
        first = found["ranks"][0]
        self.assertEqual((first["role"], first["base_rank"], first["new_rank"]), ("tensor 1, stage 1, data 0", 2, 5))
        self.assertGreater(first["delta_ms"], 15)  # 40 ms in one of two steps
        for rank in found["ranks"][1:]:
            self.assertLess(abs(rank["delta_ms"]), first["delta_ms"] / 4, rank)

    def test_every_kernel_named_anew(self):
        for fixture in ("megatron", "ddp", "seqpar", "moe", "parallel/fsdp2", "parallel/compile"):
            target = self.path(fixture.replace("/", "_"))

            def rename(name, trace):
                for event in trace["traceEvents"]:
                    if event.get("cat") == "kernel":
                        event["name"] += "_v2"
                return name
            self.rewritten(os.path.join(FIXTURES, fixture), target, rename)
            found = self.compare(os.path.join(FIXTURES, fixture), target)
            kernels = [row for row in found["rows"] if row["kind"] == "kernel"]
            self.assertEqual([row["name"] for row in found["rows"] if "only" in row["in"]], [], fixture)
            for row in kernels:
                self.assertEqual(row["base_name"] + "_v2", row["name"], fixture)

    def with_more_work(self, name):
        """a2, whose rank 1 does 3 ms more on the host in each step: all else of both ranks comes later."""
        os.mkdir(self.path(name))
        for rank in (0, 1):
            source = os.path.join(SAMPLES, "compare", "a2", "torch_profile", f"rank-{rank}.json.gz")
            with gzip.open(source, "rt") as file:
                trace = json.load(file)
            starts = sorted(event["ts"] for event in trace["traceEvents"]
                            if event.get("name", "").startswith("ProfilerStep#") and event["ph"] == "X"
                            and event["cat"] == "user_annotation")
            work = [dict(ph="X", cat="user_annotation", name="check_batch", pid=0, tid=0, ts=start + 3000 * i + 1,
                         dur=3000) for i, start in enumerate(starts)]
            for event in trace["traceEvents"]:
                if event.get("name", "").startswith("ProfilerStep#") and event.get("cat") == "user_annotation":
                    work[0].update(pid=event["pid"], tid=event["tid"])
                if "ts" in event:
                    before = bisect.bisect_left(starts, event["ts"])
                    if "dur" in event:
                        end = event["ts"] + event["dur"]
                        event["dur"] += 3000 * (bisect.bisect_left(starts, end) - before)
                    event["ts"] += 3000 * before
            for event in work:
                event.update(pid=work[0]["pid"], tid=work[0]["tid"])
            trace["traceEvents"] += work if rank == 1 else []
            with open(os.path.join(self.path(name), f"rank-{rank}.json"), "w", encoding="utf-8") as out:
                json.dump(trace, out)

    def test_hidden_work(self):
        self.databases()
        self.with_more_work("more")
        for base in ALIKE:
            found = self.compare(self.path(base + ".db"), self.path("more"))
            self.assertEqual(found["verdict"], "cannot tell", base)
            first = next(row for row in found["rows"] if row["in"] == "only in new")
            self.assertEqual((first["name"], first["ranks"]), ("check_batch", [1]))


    def test_logs(self):
        """Of jobs with a log alone: iterations that grow by design, and stretches of a steady log."""
        logs = {name: os.path.join(SAMPLES, "logs", f"megatron_deepspeed_{name}.log.gz")
                for name in ("baseline", "growing")}
        if not all(os.path.exists(path) for path in logs.values()):
            self.skipTest(f"{SAMPLES}/logs is not there; --samples says where it is")
        found = self.compare(logs["baseline"], logs["growing"])
        self.assertEqual((found["verdict"], found["unit"], found["parts"]), ("cannot tell", "iteration", []))
        self.assertIn("not steady", found["reason"])
        with gzip.open(logs["baseline"], "rt") as log:
            lines = [line for line in log if "elapsed time per iteration" in line]
        longer = [re.sub(r"(per iteration \(ms\): )([0-9.]+)",
                         lambda at: f"{at[1]}{1.2 * float(at[2]):.1f}", line) for line in lines]
        for name, part in (("first", lines[1:17]), ("second", lines[17:33]), ("longer", longer[17:33])):
            with open(self.path(name + ".log"), "w", encoding="utf-8") as log:
                log.writelines(part)
        alike = ("same", "cannot tell")
        for base, now, verdicts in (("first", "second", alike), ("second", "first", alike),
                                    ("first", "longer", ("slower",)), ("longer", "first", ("faster",))):
            found = self.compare(self.path(base + ".log"), self.path(now + ".log"))
            self.assertIn(found["verdict"], verdicts, (base, now))

    def test_nsys(self):
        """Exports of Nsight Systems have no steps: recordings as a whole. GPU time as a second reader of the exports
        has it."""
        exports = [os.path.join(SAMPLES, "nsys", f"mfu_2gpu_{name}.sqlite") for name in ("before", "after")]
        if not all(os.path.exists(path) for path in exports):
            self.skipTest(f"{SAMPLES}/nsys is not there; --samples says where it is")
        found = self.compare(*exports)
        self.assertEqual((found["verdict"], found["unit"]), ("cannot tell", "recording"))
        self.assertIn("no steps", found["reason"])
        for side, path, ms in (("base_ms", exports[0], 535.20), ("new_ms", exports[1], 488.84)):
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as export:
                ns, = export.execute('SELECT sum("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL').fetchone()
            self.assertEqual(round(found["kernels_all_gpus"][side] * 1e6), ns)
            self.assertAlmostEqual(ns / 1e6, ms, delta=0.0051)
        # The host's wait for the GPU has the largest change, of what it waits for.
        self.assertEqual(found["rows"][0]["kind"], "kernel")
        self.assertIn("flash_fwd_kernel", found["rows"][0]["name"])
        wait = [row["name"] for row in found["rows"]].index("cudaStreamSynchronize")
        self.assertGreater(wait, max(i for i, row in enumerate(found["rows"]) if row["kind"] == "kernel"))
        operators = [row for row in found["rows"] if row["kind"] == "operator"]
        deltas = [abs(row["delta_ms"]) for row in operators]
        self.assertEqual(deltas, sorted(deltas, reverse=True))
        first = operators[0]  # 256.6 to 240.8 ms on two GPUs
        self.assertEqual(first["name"], "flash_attn::_flash_attn_forward")
        self.assertAlmostEqual(2 * first["delta_ms"], -15.83, delta=0.02)


def main():
    global PROGRAM, SAMPLES
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--samples", default=SAMPLES)
    arguments, rest = parser.parse_known_args()
    PROGRAM, SAMPLES = os.path.abspath(arguments.program), arguments.samples
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
