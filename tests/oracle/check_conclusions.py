#!/usr/bin/env python3
"""What a person concludes from recordings of Megatron-LM jobs, of which it is known how they share out
the work, must be what the program says.

    python3 check_conclusions.py --program P [--fixtures DIR] [--samples DIR]

The fixtures are cut from recordings; --samples, or the environment's TRACEDB_SAMPLES, is a folder with
the whole ones (megatron_lm/moe_ep2, megatron_lm/dp2). Recordings that are not there are said to be so.
"""
import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("pipeline", "data", "tensor", "expert", "context", "other")


class Answers:
    def __init__(self, program, database):
        self.program, self.database = program, database

    def __call__(self, *what):
        done = subprocess.run([self.program, "-q", "--db", self.database, "query", *what], check=True,
                              stdout=subprocess.PIPE, text=True, encoding="utf-8")
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def exposed_ms(self):
        """{parallelism: communication without compute, of all ranks}"""
        rows = self("time_partition")
        return {kind: sum(float(row[f"exposed_{kind}_ms"]) for row in rows) for kind in KINDS}

    def exposed_groups(self):
        """{description: exposed communication} of the communicators"""
        found = {}
        for row in self("overlap_by_group"):
            name = row["group_description"]
            found[name] = found.get(name, 0) + float(row["exposed_comm_ms"])
        return found

    def advice(self):
        """What is advised, of communication, the dearest first: only what makes a step shorter."""
        return [row["problem"] for row in self("recommendations", "-p", "min_pct=0")
                if row["problem"].endswith("is not hidden") and "opies" not in row["problem"]]


def expert_parallel(ask, differs):
    exposed = ask.exposed_ms()
    if exposed["expert"] <= sum(exposed.values()) / 2:
        differs(f"expert communication is most of what is exposed: {exposed}")
    for kind in ("pipeline", "tensor", "context"):
        if exposed[kind]:
            differs(f"there is no {kind} parallelism: {exposed}")
    groups = ask.exposed_groups()
    if not max(groups, key=groups.get).startswith("EXPERT"):
        differs(f"what is exposed most is of an expert parallel communicator: {groups}")
    advice = ask.advice()
    if advice and "Expert parallel" not in advice[0]:
        differs(f"the first advice on communication is on expert parallelism: {advice}")
    differs_about_pipelines(ask, differs)


def data_parallel(ask, differs):
    exposed = ask.exposed_ms()
    if not exposed["data"]:
        differs(f"gradients are added up: {exposed}")
    for kind in ("pipeline", "tensor", "expert", "context"):
        if exposed[kind]:
            differs(f"there is no {kind} parallelism: {exposed}")
    # Barriers of its timers are of the group of all ranks, which is for nothing in particular.
    strange = {name for name, ms in ask.exposed_groups().items() if ms} - {
        "DATA_PARALLEL_GROUP_WITH_CP", "default_pg"}
    if strange:
        differs(f"nothing else communicates than data parallelism and barriers: {strange}")
    advice = ask.advice()
    if advice and "Data parallel" not in advice[0]:
        differs(f"the first advice on communication is on data parallelism: {advice}")
    differs_about_pipelines(ask, differs)


def differs_about_pipelines(ask, differs):
    if ask("pipeline_bubbles"):
        differs("there are no pipeline bubbles")
    rows = [row for row in ask("recommendations") if re.search(r"pipeline", str(row), re.IGNORECASE)]
    if rows:
        differs(f"there is no pipeline to advise on: {rows}")


RECORDINGS = (("fixtures", "moe", expert_parallel), ("fixtures", "megatron_dp", data_parallel),
              ("samples", os.path.join("megatron_lm", "moe_ep2"), expert_parallel),
              ("samples", os.path.join("megatron_lm", "dp2"), data_parallel))


def check(program, folder, conclusions):
    differences = []
    with tempfile.TemporaryDirectory(prefix="tracedb-conclusions-") as made:
        database = os.path.join(made, "trace.db")
        subprocess.run([program, "-q", "--db", database, "ingest", folder], check=True,
                       stdout=subprocess.DEVNULL)
        conclusions(Answers(program, database), differences.append)
    return differences


def main():
    parser = argparse.ArgumentParser(description="Compare conclusions with what is known of jobs.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--samples", default=os.environ.get("TRACEDB_SAMPLES"))
    options = parser.parse_args()
    failed = 0
    for place, name, conclusions in RECORDINGS:
        folder = os.path.join(getattr(options, place) or "", name)
        if not os.path.isdir(folder) and place == "samples":
            print(f"--   {name} is not there: not checked")
            continue
        differences = check(os.path.abspath(options.program), folder, conclusions)
        failed += bool(differences)
        print("\n     ".join([f"{'FAIL' if differences else 'ok  '} {name}", *differences]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
