#!/usr/bin/env python3
"""Real exports of Nsight Systems, whose figures are known, through the program.

    nsys_samples_test.py --program P [--samples DIR]

They are in DIR/nsys; TRACEDB_SAMPLES names DIR as well. Where they are not, nothing is looked at,
which is said. One line for each check; exit 1 if any fails.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from nsys_checks import (must, nothing_is_lost, queries_answer, run_checks, same,  # noqa: E402
                         views_give_back)

SAMPLES = os.environ.get("TRACEDB_SAMPLES",
                         os.path.join(HERE, "..", "..", "..", "shared", "samples"))


def sample(name):
    path = os.path.join(SAMPLES, "nsys", name)
    return path


def sample_before(program):
    path = sample("mfu_2gpu_before.sqlite")
    program.ingest(path)
    same(program.ask("SELECT path, rank, rank_source FROM _trace ORDER BY trace_id"),
         [(f"{path}#144", 0, "device order"), (f"{path}#145", 1, "device order")], "traces")
    same(program.ask("SELECT count(*), sum(launch_slice_id IS NOT NULL), sum(dur_ns) FROM kernels "
                     "WHERE "
                     "slice_id IN (SELECT id FROM _gpu_slice WHERE kind <> 2)"),
         [(4010, 3986, 535_200_650)], "kernels, launches, GPU time")
    same(program.one("SELECT count(*) FROM (SELECT count(*) AS n FROM _runtime_slice s JOIN "
                     "_track t ON "
                     "t.id = s.track GROUP BY t.trace_id, s.correlation HAVING count(*) > 1 AND "
                     "EXISTS "
                     "(SELECT 1 FROM _gpu_slice g JOIN _track u ON u.id = g.track WHERE "
                     "g.correlation = "
                     "s.correlation AND u.trace_id = t.trace_id))"), 0, "launches that are "
         "ambiguous")
    nothing_is_lost(program, path)
    views_give_back(program, path)
    queries_answer(program)
    must(b"WANDB_API_KEY" not in open(os.path.join(program.folder, "t.db"), "rb").read(),
         "the environment was copied")


def sample_after(program):
    path = sample("mfu_2gpu_after.sqlite")
    program.ingest(path)
    same(round(program.one("SELECT sum(dur) FROM _gpu_slice WHERE kind <> 2") / 1e6, 2), 488.84,
         "GPU time")
    nothing_is_lost(program, path)
    views_give_back(program, path)
    queries_answer(program)


def sample_healthy(program):
    path = sample("healthy_1pct.sqlite")
    program.ingest(path)
    asked = program.run("query", "overlap", "--db", "t.db", "--format", "csv").stdout.splitlines()
    row = dict(zip(asked[0].split(","), asked[1].split(",")))
    same((program.one("SELECT count(*) FROM kernels"), float(row["compute_ms"]),
          float(row["idle_ms"])), (400, 400.0, 3.99), "kernels, compute_ms, idle_ms")
    same(program.one("SELECT count(*) FROM kernels WHERE launch_slice_id IS NULL"), 0, "launches "
         "missing")
    nothing_is_lost(program, path)
    views_give_back(program, path)
    queries_answer(program)


def main():
    global SAMPLES
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--samples", default=SAMPLES)
    told = parser.parse_args()
    SAMPLES = told.samples
    if not os.path.isdir(os.path.join(SAMPLES, "nsys")):
        print(f"not looked at: there is no {SAMPLES}/nsys (--samples, TRACEDB_SAMPLES)")
        return
    run_checks(told.program, [sample_before, sample_after, sample_healthy])


if __name__ == "__main__":
    main()
