#!/usr/bin/env python3
"""Writes the traces of scenarios, and beside them what is true of them, for other tests to use.

    python3 make_scenarios.py FOLDER [--only NAME]

FOLDER/<scenario>/ is what to ingest: a folder for each job. FOLDER/<scenario>.truth.json:
    says, told          what happens, and the truth as a person would write it down
    late                {rank, step, cause}: who makes the others wait; null: nobody
    cannot_tell         what was recorded does not tell what or who it was
    jobs                for each job its folder and, for each of its captures:
      step_ns           {step: time}, from the end of the step before (the first: from the
                        capture's begin) to the step's end, when the last GPU has done what was
                        launched in it; step_end_ns has these
      idle_ns           {rank: {cause: time}}, host, sync and dependency by the contract
      idle_pieces       {rank: [[start, end, cause, [names of the host's slices, outermost
                        first]]]}
      bubble_ns         {rank: {step: time}} where there are pipeline stages
    without             for each cause: what to give to `what-if --without` (any one of `causes`),
                        and step_ns, step_end_ns and gain_ns of each job's captures without it
"""
import argparse
import json
import os

import truth
from kineto_writer import write_job
from scenarios import all_scenarios


def steps_of(capture):
    return {"step_ns": truth.step_lengths(capture), "step_end_ns": truth.step_ends(capture)}


def bubbles_of(capture):
    stages = {rank for meeting in capture.meetings.values()
              if "PIPELINE" in meeting.group.description for rank in meeting.group.ranks}
    return {rank: {step: truth.bubbles_of_step(capture, rank, step)
                   for step in truth.step_ends(capture)}
            for rank in sorted(stages & set(capture.recorded_ranks()))}


def capture_facts(capture):
    ranks = [rank for rank in capture.recorded_ranks() if capture.activities(rank)]
    return {**steps_of(capture), "begin_ns": capture.begin,
            "idle_ns": {rank: truth.idle_sums(capture, rank) for rank in ranks},
            "idle_pieces": {rank: truth.idle_pieces(capture, rank) for rank in ranks},
            "bubble_ns": bubbles_of(capture)}


def without_facts(jobs, without):
    found = []
    for job, other in zip(jobs, without.jobs):
        captures = []
        for capture, changed in zip(job.captures, other.captures):
            before, after = truth.step_lengths(capture), steps_of(changed)
            gains = {step: ns - after["step_ns"][step] for step, ns in before.items()}
            captures.append({**after, "gain_ns": gains})
        found.append({"folder": job.folder, "captures": captures})
    return {"causes": without.causes, "jobs": found}


def facts(scenario):
    """All that truth.json has."""
    return {"scenario": scenario.name, "says": scenario.says,
            "told": {str(what): str(value) for what, value in scenario.truth.items()},
            "late": scenario.late, "cannot_tell": scenario.cannot_tell,
            "jobs": [{"folder": job.folder, "captures": list(map(capture_facts, job.captures))}
                     for job in scenario.jobs],
            "without": [without_facts(scenario.jobs, without) for without in scenario.without]}


def write_scenario(scenario, folder):
    for job in scenario.jobs:
        write_job(job, os.path.join(folder, scenario.name, job.folder))
    with open(os.path.join(folder, f"{scenario.name}.truth.json"), "w", encoding="utf-8") as file:
        json.dump(facts(scenario), file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    for scenario in all_scenarios():
        if given.only in scenario.name:
            write_scenario(scenario, given.folder)
            print(os.path.join(given.folder, f"{scenario.name}.truth.json"))


if __name__ == "__main__":
    main()
