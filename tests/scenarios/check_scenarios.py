#!/usr/bin/env python3
"""Holds the program's answers about traces of known truth against that truth.

    python3 check_scenarios.py --program build/release/src/tracedb [--only NAME] [--keep FOLDER]

One line a scenario, below it what differs. Exit 0: all as it should be, or known to be wrong.
    --only NAME     scenarios whose name has this in it
    --keep FOLDER   writes traces and databases there, and leaves them
    --all           shows the differences of known wrong checks too
    --truth         prints what each scenario is and its truth, and runs nothing
    --measure       prints the lines of KNOWN_WRONG as they would have to be now
"""
import argparse
import os
import sys
import tempfile

from kineto_writer import write_job
from known_wrong import KNOWN_WRONG
from program import Program, ProgramFailed
from scenarios import all_scenarios

DIFFERENCES_SHOWN = 6


def outcome_of(check, program):
    """The differences of one check; what stops it is one too."""
    try:
        return list(check.compare(program))
    except (ProgramFailed, KeyError) as error:
        return [str(error.args[0])]


def check_scenario(scenario, path, folder):
    """(check, its differences) of each check."""
    program = Program(path, folder)
    for job in scenario.jobs:
        write_job(job, os.path.join(folder, job.folder))
    for place, text in scenario.other_files.items():
        with open(os.path.join(folder, place), "w", encoding="utf-8") as file:
            file.write(text)
    for inputs in scenario.commands():
        done = program.run("-q", "ingest", *inputs)
        # Files that are no traces may be refused; what can be read lands all the same.
        if done.returncode not in ((0, 1) if scenario.other_files else (0,)):
            said = f"ingest {' '.join(inputs)}: exit {done.returncode}: {done.stderr.strip()[:200]}"
            return [(check, [said]) for check in scenario.checks]
    return [(check, outcome_of(check, program)) for check in scenario.checks]


def report(scenario, results, show_known):
    """Prints a scenario's line and what differs; whether all is as expected."""
    wrong, lines = [], []
    for check, found in results:
        known = KNOWN_WRONG.get((scenario.name, check.name))
        if known is not None and not found:
            wrong.append(check.name)
            lines.append(f"  {check.name}: passes now, take it out of KNOWN_WRONG ({known})")
        if found and known is None:
            wrong.append(check.name)
        if found and (known is None or show_known):
            lines.append(f"  {check.name}: {'known: ' + known if known else check.contract}")
            lines += [f"    {line}" for line in found[:DIFFERENCES_SHOWN]]
            if len(found) > DIFFERENCES_SHOWN:
                lines.append(f"    and {len(found) - DIFFERENCES_SHOWN} more")
    known = sum(bool(found) and (scenario.name, check.name) in KNOWN_WRONG
                for check, found in results)
    passed = sum(not found for _, found in results)
    print(f"{'FAILED' if wrong else 'passed'} {scenario.name}: {scenario.says} "
          f"({passed} of {len(results)} checks pass, {known} known wrong)")
    print("\n".join(lines), end="\n" if lines else "", flush=True)
    return not wrong


def unknown_entries(scenarios):
    """Entries of KNOWN_WRONG that name no check."""
    names = {(scenario.name, check.name) for scenario in scenarios for check in scenario.checks}
    return [f"KNOWN_WRONG names no check: {entry}" for entry in KNOWN_WRONG if entry not in names]


def show_truth(scenarios):
    for scenario in scenarios:
        print(f"{scenario.name}: {scenario.says}")
        for name, value in scenario.truth.items():
            print(f"  {name}: {value}")
        for check in scenario.checks:
            print(f"  - {check.name}: {check.contract}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--program")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--truth", action="store_true")
    parser.add_argument("--measure", action="store_true")
    given = parser.parse_args()
    if not given.truth and not given.program:
        parser.error("--program is needed")
    return given


def main():
    given = arguments()
    scenarios = all_scenarios()
    stale = unknown_entries(scenarios)
    chosen = [scenario for scenario in scenarios if given.only in scenario.name]
    if not chosen:
        sys.exit(f"no scenario has {given.only} in its name")
    if given.truth:
        show_truth(chosen)
        return
    passed, measured = 0, []
    for scenario in chosen:
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(given.keep, scenario.name) if given.keep else temporary
            os.makedirs(folder, exist_ok=True)
            results = check_scenario(scenario, given.program, folder)
        passed += report(scenario, results, given.all)
        measured += [(scenario.name, check.name, found[0]) for check, found in results if found]
    if given.measure:
        for scenario, check, why in measured:
            print(f"    ({scenario!r}, {check!r}):\n        {why!r},")
    print("\n".join(stale), end="\n" if stale else "")
    failed = len(chosen) - passed + len(stale)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
