#!/usr/bin/env python3
"""The noise rule of compare: its tests against noise_oracle.py, and how often it is wrong on recorded step times, where
every stretch of a run is compared with every other one of it, as it is and with 2 % planted.

    python3 test_noise_oracle.py --noise PROGRAM [--samples FOLDER]

PROGRAM is series_noise of the build. The recorded ones want pyarrow, and stragglers/ and logs/ in a folder: --samples,
else the environment's TRACEDB_SAMPLES; without they are skipped.
"""
import argparse
import collections
import gzip
import importlib.util
import os
import random
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import noise_oracle as oracle  # noqa: E402

NOISE = None
SAMPLES = os.environ.get("TRACEDB_SAMPLES", os.path.join(HERE, "..", "..", "..", "shared", "samples"))
Pair = collections.namedtuple("Pair", "p base_trend new_trend base_first base_count new_first new_count block drift "
                                      "verdict base change low high least")


def ask(lines):
    done = subprocess.run([NOISE], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def text(series):
    return " ".join(repr(float(value)) for value in series)


def judge(pairs):
    """[Pair] of [(base, new)]."""
    answers = ask([text(series) for pair in pairs for series in pair])
    return [Pair(*(field if i == 9 or field == "-" else float(field) for i, field in enumerate(answer)))
            for answer in answers]


def stretches(steps, n):
    """All pairs of n steps that follow each other and n later ones."""
    return [(steps[i:i + n], steps[j:j + n]) for i in range(len(steps) - 2 * n + 1)
            for j in range(i + n, len(steps) - n + 1)]


def wandering(draw, n, noise, together):
    """Noise that hangs together from step to step, around 100."""
    steps, at = [], draw.gauss(0, noise)
    for _ in range(n):
        at = together * at + (1 - together ** 2) ** 0.5 * draw.gauss(0, noise)
        steps.append(100 + at)
    return steps


class Tests(unittest.TestCase):
    def test_rank_test(self):
        draw = random.Random(1)
        pairs = [([draw.gauss(0, 1) for _ in range(a)], [draw.gauss(move, 1) for _ in range(b)])
                 for a in (1, 2, 4, 6) for b in (1, 3, 6) for move in (0, 1, 3)]
        for (base, now), found in zip(pairs, judge(pairs)):
            self.assertAlmostEqual(found.p, oracle.rank_sum_p(base, now), delta=1e-12)

    def test_rank_test_with_ties(self):
        draw = random.Random(2)
        pairs = [([draw.randrange(5) for _ in range(a)], [draw.randrange(5) + move for _ in range(b)])
                 for a in (5, 12, 30) for b in (5, 20) for move in (0, 1, 2)]
        pairs.append(([7] * 12, [7] * 12))
        for (base, now), found in zip(pairs, judge(pairs)):
            self.assertAlmostEqual(found.p, oracle.normal_p(base, now), delta=1e-12)

    def test_trend(self):
        draw = random.Random(3)
        pairs = [([draw.gauss(rise * i, 3) for i in range(n)], [draw.randrange(4) for _ in range(n)])
                 for n in (5, 12, 20, 40) for rise in (0, 0.3, 2)]
        for (base, now), found in zip(pairs, judge(pairs)):
            self.assertAlmostEqual(found.base_trend, oracle.trend_p(base), delta=1e-9)
            self.assertAlmostEqual(found.new_trend, oracle.trend_p(now), delta=1e-9)

    def test_student(self):
        for degrees in (1, 2, 4, 10, 60):
            for t in (0.3, 1.9, 4.2):
                p, quantile = map(float, ask([f"student {t} {degrees}"])[0])
                self.assertAlmostEqual(p, oracle.student_p(t, degrees), delta=1e-9)
                self.assertAlmostEqual(oracle.student_p(quantile, degrees), 0.05, delta=1e-6)

    def test_holm(self):
        draw = random.Random(4)
        for n in (1, 3, 8):
            ps = [draw.random() ** 3 for _ in range(n)]
            for found, p in zip(ask(["holm " + text(ps)])[0], oracle.holm(ps)):
                self.assertAlmostEqual(float(found), p, delta=1e-12)

    def test_values(self):
        draw = random.Random(5)
        base, now = ([draw.gauss(100, 0.2) for _ in range(20)] for _ in range(2))
        found, = judge([(base, now)])
        self.assertAlmostEqual(found.base, oracle.middle_mean(base), delta=1e-9)
        self.assertAlmostEqual(found.base + found.change, oracle.middle_mean(now), delta=1e-9)
        self.assertLessEqual(found.low, found.change)
        self.assertGreaterEqual(found.high, found.change)
        quarters = [sorted(base[i:i + 5])[2] for i in range(0, 20, 5)]
        self.assertAlmostEqual(found.drift, max(quarters) - min(quarters), delta=1e-9)
        self.assertEqual(judge([(base, now)]), [found])  # the draws are the same ones each time

    def test_few_steps(self):
        found, = judge([([100.0] * 11, [200.0] * 20)])
        self.assertEqual((found.verdict, found.least), ("cannot", "-"))

    def test_steady_part(self):
        draw = random.Random(6)
        flat = [draw.gauss(100, 1) for _ in range(30)]
        grown = flat + [110 + 3 * i for i in range(8)]
        grows = [draw.gauss(100 + 2 * i, 1) for i in range(24)]
        found = judge([(grown, flat), (grows, grows)])
        self.assertEqual(found[0].new_count, 30)
        self.assertGreaterEqual(found[0].base_count, 30)
        self.assertLess(found[0].base_count, 38)
        self.assertEqual((found[1].base_count, found[1].verdict), (0, "cannot"))

    def test_a_large_drift_hides_a_change(self):
        """One run is at 100 and at 104 by turns: another at 103 throughout may be the same."""
        draw = random.Random(7)
        base = [draw.gauss(100 + 4 * (i // 5 % 2), 0.1) for i in range(20)]
        found = judge([(base, [draw.gauss(104.5, 0.1) for _ in range(20)]),
                       (base, [draw.gauss(112, 0.1) for _ in range(20)])])
        self.assertEqual([pair.verdict for pair in found], ["cannot", "slower"])

    def test_runs(self):
        cases = [("80 80.4 83.9", "95.8", "slower"), ("80 80.4", "83.9", "cannot"), ("80 80.4 83.9", "81", "cannot"),
                 ("80 80.1 80.2 79.9", "80 80.05 80.1 79.95", "same"), ("80 81 82 83", "70 71 72 73", "faster")]
        lines = [line for base, now, _ in cases for line in ("runs " + base, now)]
        self.assertEqual([answer[1] for answer in ask(lines)], [verdict for _, _, verdict in cases])
        p = float(ask(["runs 80 81 82 83", "70 71 72 73"])[0][0])
        self.assertAlmostEqual(p, 2 / 70, delta=1e-12)  # 4 against 4: Mann-Whitney
        base, now = [80, 80.4, 83.9], [95.8]
        mean = sum(base) / 3
        error = (sum((value - mean) ** 2 for value in base) / 2 * (1 / 3 + 1)) ** 0.5
        p = float(ask(["runs " + text(base), text(now)])[0][0])
        self.assertAlmostEqual(p, oracle.student_p((now[0] - mean) / error, 2), delta=1e-9)


class ErrorRates(unittest.TestCase):
    """Of verdicts, on pairs of which the truth is known."""

    def rates(self, pairs, planted_pct):
        found = judge(pairs)
        wrong = [pair for pair in found if pair.verdict in ("slower", "faster")]
        planted = judge([(base, [value * (1 + planted_pct / 100) for value in now]) for base, now in pairs])
        visible = [pair for pair in planted if pair.least != "-" and pair.least <= planted_pct / 100 * pair.base]
        seen = [pair for pair in visible if pair.verdict == "slower"]
        self.assertFalse([pair for pair in planted if pair.verdict in ("faster", "same")])
        return len(wrong) / len(pairs), len(visible) / len(pairs), len(seen) / max(1, len(visible))

    def check(self, name, pairs, visible_min):
        false_rate, visible, seen_rate = self.rates(pairs, 2)
        self.assertLessEqual(false_rate, 0.05, name)
        self.assertGreaterEqual(visible, visible_min, name)
        if visible_min > 0:  # else so few are quiet by chance that a rate says nothing
            self.assertGreaterEqual(seen_rate, 0.95, name)
        print(f"{name}: {false_rate:.1%} false, {visible:.0%} could show {2} %, of these seen: {seen_rate:.1%}")

    def test_simulated(self):
        draw = random.Random(8)
        for noise, together, visible_min in ((0.3, 0, 0.9), (0.5, 0.5, 0.5), (2, 0.8, 0), (5, 0.3, 0)):
            pairs = [(wandering(draw, n, noise, together), wandering(draw, n, noise, together))
                     for n in (12, 20) for _ in range(100)]
            self.check(f"noise of {noise} %", pairs, visible_min)

    def test_recorded_steps(self):
        if importlib.util.find_spec("pyarrow") is None:
            self.skipTest("pyarrow, which reads Parquet, is not installed")
        import slowdown_oracle  # pylint: disable=import-outside-toplevel
        for name, visible_min in (("AR", 0.9), ("ST", 0)):
            path = os.path.join(SAMPLES, "stragglers", f"trace-{name}.parquet")
            if not os.path.exists(path):
                self.skipTest(f"{path} is not there; --samples says where it is")
            times = collections.defaultdict(list)
            for operation in slowdown_oracle.read(path):
                times[operation.step].append(operation)
            steps = [1e3 * (max(o.end for o in times[step]) - min(o.start for o in times[step]))
                     for step in sorted(times)]
            for n in (12, 16):
                self.check(f"{name}, {n} steps", stretches(steps, n), visible_min)

    def read_log(self, name):
        path = os.path.join(SAMPLES, "logs", f"megatron_deepspeed_{name}.log.gz")
        if not os.path.exists(path):
            self.skipTest(f"{path} is not there; --samples says where it is")
        with gzip.open(path, "rt") as log:
            return [float(ms) for ms in re.findall(r"elapsed time per iteration \(ms\): ([0-9.]+)", log.read())]

    def test_recorded_log(self):
        steps = self.read_log("baseline")
        for n in (12, 16):
            self.check(f"steady log, {n} steps", stretches(steps, n), 0)

    def test_growing_log(self):
        """Its sequences grow, by design."""
        steps = self.read_log("growing")
        found, = judge([(steps, steps)])
        self.assertEqual((found.base_count, found.verdict), (0, "cannot"))


def main():
    global NOISE, SAMPLES
    parser = argparse.ArgumentParser()
    parser.add_argument("--noise", required=True)
    parser.add_argument("--samples", default=SAMPLES)
    arguments, rest = parser.parse_known_args()
    NOISE, SAMPLES = arguments.noise, arguments.samples
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
