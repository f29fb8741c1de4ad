#!/usr/bin/env python3
"""What is gained without a rank's lateness, asked of summaries: of scenarios of known truth.

    gathered_test.py --program P [--only NAME]

Each rank leaves a summary, and of these one database is gathered. Its replay has collectives alone.
It must give the recorded times back as the replay of all events does, come to the truth without
what makes ranks late, gain nothing where nobody is late, and refuse what summaries do not tell. The
same is asked of random jobs.
One line a scenario; exit 1 if any failed.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import random_jobs
import truth
from kineto_writer import write_job
from program import Program
from scenarios import all_scenarios

# Host work of a few microseconds between causes is no cause; of a step.
OFF_PCT = 0.5
OFF_NS = 10_000
# Nobody is late here by more than chance, and no wait is on anybody's way.
NOBODY_GAINS = ("accumulates_even", "all_log", "evaluating", "halves_in_turn", "hidden_kernel",
                "loads_ahead", "most_are_slow", "nobody", "one_has_less", "small_and_hidden",
                "small_messages", "warming_up")
# Each stage of a pipeline is one rank: what it does is like nothing that another does.
NOT_TOLD = ("first_stage_loads", "slow_stage")
WITHOUT_STEPS = ("slow_gpu", "slow_stage", "hides_a_loader")  # marked
SEEDS = range(2, 40, 4)  # of random jobs
RANDOM_OFF_PCT, RANDOM_OFF_NS = 2, 30_000
# What is wrong, and why. What passes has to leave the list.
KNOWN_WRONG = {
    30: "a sixth of the gain is missing: waits of peers for less than 250 us count as none"}
# Two ways through the pipeline take as long: either is the critical path.
TIED = ("late_in_bubble",)
# Nothing that other ranks do is like what one of these does in a step.
MAY_BE_REFUSED = ("waits_for_more_1", "waits_for_more_5")
SAID = "cannot be told from summaries"
STAGE_SAID = "no other rank is of the pipeline stage"
RECORDED_ONLY = ("calls_not_recorded", "kernel_kinds", "no_gpu_activity", "rank_not_recorded")


def drop_steps(folder):
    """Of a job whose loop does not call the profiler's step()."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        trace["traceEvents"] = [event for event in trace["traceEvents"]
                                if not event["name"].startswith("ProfilerStep")]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)


class Gathered:
    """A program with two databases of a scenario: of all events, and of summaries."""

    def __init__(self, path, folder, job, has_steps=True):
        write_job(job, os.path.join(folder, job.folder))
        if not has_steps:
            drop_steps(os.path.join(folder, job.folder))
        self.all = Program(path, folder)
        self.all.must("-q", "ingest", job.folder)
        self.folder, self.path = folder, os.path.abspath(path)
        ranks = sorted(int(row["rank"]) for row in self.all.sql("SELECT DISTINCT rank FROM traces"))
        self.ranks = ranks
        for rank in ranks:
            self.run("-q", "ingest", "--shard", "out", "--db", "rank.{rank}.db", job.folder,
                     RANK=str(rank), WORLD_SIZE=str(ranks[-1] + 1))
        # Ranks that were not recorded are told, by exit 1.
        self.run("-q", "gather", "out", "-o", "job.db", may_miss=True)

    def run(self, *arguments, may_miss=False, **environment):
        done = subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True,
                              text=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
        if done.returncode not in ((0, 1) if may_miss else (0,)):
            raise SystemExit(f"{arguments}: exit {done.returncode}: {done.stderr}")
        return done

    def steps(self, database, *options):
        """(step, before, after) in ns, and what was said instead."""
        done = self.run("what-if" if options else "query", *(options or ["what_if"]), "--db",
                        database, "--format", "csv", may_miss=True)
        rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
        return [(row[1], row[2], round(float(row[3]) * 1e6), round(float(row[4]) * 1e6))
                for row in rows], done.stderr

    def bound(self, rank, untold):
        """What all steps take in ns if what is not told of a late rank stays, or goes."""
        changes = json.dumps([{"rank_late": rank}, {"untold": untold}])
        done = self.run("query", "what_if", "-p", f"changes={changes}", "--db", "job.db",
                        "--format", "json")
        return round(sum(row["after_ms"] for row in json.loads(done.stdout)) * 1e6)

    def recommended(self, database):
        """{rank: gain_ms; None: not told} of the ranks that make the others wait, and whether some
        are hidden by others."""
        done = self.run("query", "recommendations", "--db", database, "--format", "json")
        if done.returncode != 0:
            raise SystemExit(f"recommendations of {database}: {done.stderr}")
        rows = json.loads(done.stdout)
        hides = any("is late as well" in row["problem"] for row in rows)
        return {row["rank"]: row["gain_ms"] for row in rows if row["rank"] is not None
                and re.match("Rank [0-9]+ makes|Whether rank", row["problem"])}, hides


def on_path(job, database):
    """{step: {rank: ns}} of the critical path."""
    done = job.run("query", "critical_path_by", "-p", "by=rank", "-p", "limit=null", "--db",
                   database, "--format", "json", may_miss=True)
    found = {}
    for row in json.loads(done.stdout or "[]"):
        ns = round(row["dur_ms"] * 1e6)
        found.setdefault((row["capture"], row["step"]), {})[row["rank"]] = ns
    return found


def same_path(job, name):
    """What each rank has of the critical path, to the nanosecond as of all events."""
    of_all, found = on_path(job, "scenario.db"), on_path(job, "job.db")
    if not of_all.keys() == found.keys():
        yield f"critical path: steps {sorted(found)}, of all events {sorted(of_all)}"
    for step, ranks in of_all.items():
        here = found.get(step, {})
        if sum(here.values()) != sum(ranks.values()):
            yield f"critical path: step {step} lasts {here}, of all events {ranks}"
        if here != ranks and name not in TIED:
            yield f"critical path: step {step} is of {here}, of all events {ranks}"


def options_of(cause):
    return cause.split() if cause.startswith("--") else ["--without", cause]


def is_near(ns, want):
    return abs(ns - want) <= max(OFF_NS, want * OFF_PCT / 100)


def unchanged(job):
    of_all, _ = job.steps("scenario.db")
    found, said = job.steps("job.db")
    if found != of_all:
        yield f"recorded steps are {found}, and {of_all} of all events"
    if any(before != after for _, _, before, after in found):
        yield f"nothing changed, and yet {found}"
    if "a replay of collectives alone" not in said:
        yield f"it does not say what it is: {said!r}"


def without_cause(job, cause, jobs):
    wanted = [ns for other in jobs for capture in other.captures
              for ns in truth.step_lengths(capture).values()]
    found, said = job.steps("job.db", *options_of(cause))
    after = [row[3] for row in found]
    if len(after) != len(wanted) or not all(map(is_near, after, wanted)):
        yield f"without {cause} steps take {after or said}, the truth is {wanted}"


def nobody(job):
    for rank in job.ranks:
        found, said = job.steps("job.db", "--without", f"rank-late={rank}")
        before, after = (sum(row[i] for row in found) for i in (2, 3))
        if not found or not is_near(after, before):
            yield f"without the lateness of rank {rank} {before} become {after or said}"


def not_told(job, cause, jobs):
    found, said = job.steps("job.db", *options_of(cause))
    if found or STAGE_SAID not in said:
        yield f"without {cause}: {found or said}"
    wanted = sum(ns for other in jobs for capture in other.captures
                 for ns in truth.step_lengths(capture).values())
    rank = int(re.search("rank-late=([0-9]+)", cause)[1])
    # The most that steps may take, and the least.
    most, least = (job.bound(rank, untold) for untold in ("stays", "goes"))
    if not least - OFF_NS <= wanted <= most + OFF_NS or least == most:
        yield f"without {cause}: from {least} to {most}, the truth is {wanted}"


def late_by_truth(scenario):
    causes = [cause for without in scenario.without for cause in without.causes]
    return {int(rank) for cause in causes for rank in re.findall("rank-late=([0-9]+)", cause)}


def recommended(job, late):
    """Nobody is named that all events do not name, unless it is true; and all that they name."""
    of_all, hides = job.recommended("scenario.db")
    found, tells = job.recommended("job.db")
    if hides and not tells:
        yield "recommendations do not say that somebody is hidden, as those of all events do"
    told = {rank for rank, gain_ms in found.items() if gain_ms is not None}
    wrong = told - set(of_all) - late
    if wrong:
        yield f"recommendations name {wrong}, of all events {of_all}"
    if set(of_all) - set(found):
        yield f"recommendations name {found}, of all events {of_all}"
    # Of several each may gain what the ones before it hid.
    for rank in told if len(told) == 1 else ():
        rows, said = job.steps("job.db", "--without", f"rank-late={rank}")
        gains_ns = [before - after for _, _, before, after in rows]
        if SAID not in said and found[rank] * 1e6 * len(gains_ns) > sum(gains_ns) + 1000:
            yield f"recommendations: rank {rank} gains {found[rank]} ms, what-if {gains_ns} ns"


def differences(scenario, job):
    yield from unchanged(job)
    yield from same_path(job, scenario.name)
    if scenario.name not in RECORDED_ONLY:
        yield from recommended(job, late_by_truth(scenario))
    for without in scenario.without:
        for cause in without.causes:
            if "rank-late" not in cause:
                continue
            if scenario.name in NOT_TOLD:
                yield from not_told(job, cause, without.jobs)
            else:
                yield from without_cause(job, cause, without.jobs)
    if scenario.name in NOBODY_GAINS:
        yield from nobody(job)


def is_near_enough(ns, want):
    return abs(ns - want) <= max(RANDOM_OFF_NS, want * RANDOM_OFF_PCT / 100)


def random_differences(case, job):
    """A gain is right, or, of those that are named, it may be said that it is not told."""
    yield from unchanged(job)
    yield from same_path(job, case.job.folder)
    yield from recommended(job, set(case.late))
    asked = [([rank], without) for rank, without in case.without.items()]
    if len(case.late) > 1:
        asked.append((case.late, case.even))
    for ranks, without in asked:
        wanted = list(truth.step_lengths(without.captures[0]).values())
        options = [word for rank in ranks for word in ("--without", f"rank-late={rank}")]
        found, said = job.steps("job.db", *options)
        after = [row[3] for row in found]
        if not found and SAID in said and case.job.folder in MAY_BE_REFUSED:
            continue
        if len(after) != len(wanted) or not all(map(is_near_enough, after, wanted)):
            yield f"without the lateness of {ranks} steps take {after or said}, and not {wanted}"


def is_asked(scenario):
    is_late = any("rank-late" in cause for without in scenario.without for cause in without.causes)
    return len(scenario.jobs) == 1 and not scenario.other_files and (
        is_late or scenario.name in NOBODY_GAINS + RECORDED_ONLY)


def is_failed(program, name, recorded, differences_of, known, has_steps=True):
    with tempfile.TemporaryDirectory() as folder:
        found = list(differences_of(Gathered(program, folder, recorded, has_steps)))
    if known:
        found = [] if found else ["passes, and is in the list of what is known to be wrong"]
    why = f" (known to be wrong: {known})" if known else ""
    print(f"{'FAILED' if found else 'passed'} {name}{why}", *found, sep="\n  ", flush=True)
    return bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    scenarios = [s for s in all_scenarios() if is_asked(s) and re.search(given.only, s.name)]
    asked = [(s.name, s.jobs[0], lambda job, s=s: differences(s, job), None) for s in scenarios]
    asked += [(f"{s.name}, without steps", s.jobs[0],
               lambda job, s=s: recommended(job, late_by_truth(s)), None, False)
              for s in scenarios if s.name in WITHOUT_STEPS]
    cases = [(random_jobs.waits_for_more(launches), None) for launches in (1, 5)]
    cases += [(random_jobs.case(seed), KNOWN_WRONG.get(seed)) for seed in SEEDS]
    for case, known in cases:
        if re.search(given.only, case.job.folder):
            asked.append((f"{case.job.folder}: {case.name}", case.job,
                          lambda job, case=case: random_differences(case, job), known))
    failed = sum(is_failed(given.program, *one) for one in asked)
    print(f"{len(asked) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not asked else 0)


if __name__ == "__main__":
    main()
