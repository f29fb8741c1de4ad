#!/usr/bin/env python3
"""The checks of causes and gains, by answers written by hand: right ones pass, wrong ones not."""
import types
import unittest

import cause_checks
import idle_checks


class Answers:
    """A program that says what it is told to."""

    def __init__(self, rows=(), text="", code=0):
        self.said, self.text, self.code = list(rows), text, code

    def rows(self, *_):
        return self.said

    def rows_of(self, *_):
        return self.said

    def must(self, *_):
        return self.text

    def run(self, *_):
        return types.SimpleNamespace(returncode=self.code, stdout=self.text, stderr="")


def row(problem, rank=None, step=None, gain_ms=None, gain_pct=None, evidence=""):
    return {"run": "r", "number": 1, "problem": problem, "rank": rank, "step": step,
            "evidence": evidence, "advice": "", "gain_ms": gain_ms, "gain_pct": gain_pct}


def path(step, name, dur_ms, kind="host"):
    return {"run": "r", "step": step, "rank": 0, "start_ms": 0.0, "dur_ms": dur_ms, "kind": kind,
            "name": name, "op": None}


LATE = row("Rank 2 is late", 2, 2, 38.0)
OTHER = row("Communication is not hidden", None, None, 9.0)


class CauseChecks(unittest.TestCase):
    def held(self, check, right, wrong):
        self.assertEqual(list(check.compare(right)), [])
        for answers in wrong:
            with self.subTest(said=answers.said, text=answers.text, code=answers.code):
                self.assertNotEqual(list(check.compare(answers)), [])

    def test_blames(self):
        check = cause_checks.blames("b", 2, 38_000_000, step=2, words="late")
        self.held(check, Answers([LATE, OTHER]), [
            Answers(), Answers([OTHER, LATE]), Answers([{**LATE, "rank": 1}]),
            Answers([{**LATE, "step": 1}]), Answers([{**LATE, "gain_ms": 38.1}]),
            Answers([{**LATE, "gain_ms": 0}]), Answers([{**LATE, "problem": "slow"}])])

    def test_blames_no_rank(self):
        self.held(cause_checks.blames_no_rank(), Answers([OTHER]), [Answers([OTHER, LATE])])

    def test_gains_nothing(self):
        check = cause_checks.gains_nothing("commun", 2)
        self.held(check, Answers([{**LATE, "gain_ms": 0}, {**OTHER, "gain_ms": None}]),
                  [Answers([LATE]), Answers([OTHER])])

    def test_gains_at_most(self):
        check = cause_checks.gains_at_most("g", "commun", 9_000_000, but="loader")
        more = {**OTHER, "gain_ms": 9.000001}
        self.held(check, Answers([OTHER, LATE, {**more, "evidence": "the loader"}]),
                  [Answers([more])])

    def test_says(self):
        check = cause_checks.says("s", "DataLoader", "", (80, 90))
        loader = row("Waits", gain_pct=85, evidence="50 ms in DataLoader")
        self.held(check, Answers([OTHER, loader]),
                  [Answers([OTHER]), Answers([{**loader, "gain_pct": 95}]),
                   Answers([{**loader, "gain_pct": None}])])

    def test_first_of(self):
        check = cause_checks.first_of("f", "parallel", "expert", "")
        expert, data = row("Expert parallel"), row("Data parallel")
        self.held(check, Answers([LATE, expert, data]), [Answers([LATE]), Answers([data, expert])])

    def test_no_words(self):
        self.held(cause_checks.no_words("n", "pipeline", ""), Answers([OTHER]),
                  [Answers([row("Pipeline parallel communication")])])

    def test_what_if(self):
        check = cause_checks.what_if("sleep", {1: 0, 2: 38_000_000})
        head = "run,step,before_ms,after_ms,gain_ms,gain_pct\n"
        self.held(check, Answers(text=f"{head}r,1,6,6,0,0\nr,2,46.005,8,38.005,80\n"), [
            Answers(text=head), Answers(text=f"{head}r,1,6,6,0,0\nr,2,46,6,40,80\n"),
            Answers(text=f"{head}r,1,6,5,1,0\nr,2,46,8,38,80\n"),
            Answers(text=f"{head}r,1,6,6,0,0\nr,2,50,8,38,80\n")])

    def test_critical_path(self):
        check = cause_checks.on_critical_path("load", 49_000_000, 51_000_000, (1, 2))
        right = [path(1, "load", 20.0), path(1, "load", 30.0), path(2, "load", 50.0)]
        self.held(check, Answers(right + [path(2, "gemm", 5.0)]),
                  [Answers(), Answers(right[:2]), Answers(right + [path(2, "load", 2.0)])])
        hidden = cause_checks.not_waiting_path(10_000)
        self.held(hidden, Answers([path(1, "gemm", 40.0)]),
                  [Answers(), Answers([path(1, "ncclDevKernel_AllReduce", 0.5)])])

    def test_roots(self):
        job = types.SimpleNamespace(folder="r")
        said = lambda *shares: Answers([{"root_rank": rank, "root_name": name, "share_pct": share}
                                        for rank, name, share in shares])
        share = cause_checks.root_share([job], 2, "loader", 90, 99)
        blamed = cause_checks.not_to_blame([job], (0, 1), 5)
        right = said((2, "loader", 60.0), (2, "a loader", 35.0), (1, "gemm", 5.0), (None, "x", 6.0))
        self.held(share, right, [said((2, "gemm", 95.0)), said((1, "loader", 95.0)), said(),
                                 said((2, "loader", 99.5)), said((2, None, 95.0))])
        self.held(blamed, right, [said((0, "gemm", 6.0)), said((1, None, 3.0), (1, "gemm", 3.0))])

    def test_stalled(self):
        check = idle_checks.stalled([None], 3_500_000, 3_530_000)
        calls = lambda *ms: Answers([{"stalled_ms": one} for one in ms])
        for answers in (calls(3.5), calls(3.5, 0.03), calls(), calls(3.4), calls(570.0)):
            answers.rows_of = lambda *_, said=answers: said.said
            with self.subTest(said=answers.said):
                wrong = sum(row["stalled_ms"] for row in answers.said) not in (3.5, 3.53)
                self.assertEqual(bool(list(check.compare(answers))), wrong)

    def test_doctor(self):
        self.held(cause_checks.doctor(True, "apart"), Answers(text="captures far apart", code=4),
                  [Answers(text="nothing suspicious"), Answers(text="negative times", code=4)])
        self.held(cause_checks.doctor(False), Answers(text="nothing suspicious"),
                  [Answers(text="captures far apart", code=4)])


if __name__ == "__main__":
    unittest.main()
