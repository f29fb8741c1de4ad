#!/usr/bin/env python3
"""tracedb_profiler.spark on a cluster of processes: executors ingest, Spark answers as SQLite does
of a database of all traces. `./dev test-scale` has what this needs."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import engine_jobs
from engine_connections import spark_session
from engines_test import ask, differences, documented
from spark_cluster import Cluster

PROGRAM = ""
RANKS = 8


class SparkModule(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="tracedb-spark-")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.cluster = Cluster(cls.folder / "cluster").__enter__()
        cls.session = spark_session(cls.cluster.master)
        made = engine_jobs.make_traces(cls.folder, f"ranks{RANKS}")
        cls.traces = sorted(made.glob("*.json.gz"))
        cls.database = cls.folder / "all.db"
        subprocess.run([PROGRAM, "-q", "ingest", "--run", "job", made, "--db", cls.database],
                       check=True)
        cls.job = tracedb.ingest(cls.session, cls.traces, cls.folder / "out", run="job",
                                 database=cls.folder / "job.db")

    @classmethod
    def tearDownClass(cls):
        cls.session.stop()
        cls.cluster.__exit__()
        cls.scratch.cleanup()

    def assert_as_sqlite(self, job, name, database, **params):
        given = [f"{key}={value}" for key, value in params.items()]
        wanted, _ = ask(PROGRAM, database, name, given)
        frame = job.query(name, **params)
        columns = documented(PROGRAM, name)
        self.assertEqual(frame.columns, [column for column, _ in columns])
        self.assertEqual(list(differences(columns, wanted, [tuple(r) for r in frame.collect()])),
                         [])
        return len(wanted)

    def test_what_compares_ranks_is_as_of_all_traces_in_one_database(self):
        for name in ("nccl_stall_ranks", "nccl_stall_roots", "nccl_stalls", "straggler_steps",
                     "overlap", "clocks", "time_partition", "kernels_by_op"):
            with self.subTest(name):
                self.assertGreater(
                    self.assert_as_sqlite(self.job, name, self.database), 0)

    def test_the_straggler_that_was_planted_is_found(self):
        rows = self.job.straggler_steps().collect()
        self.assertEqual({row.slowest_rank for row in rows}, {RANKS - 3})

    def test_executors_on_both_workers_ingested(self):
        self.assertEqual(len(self.job.summaries), RANKS)
        self.assertEqual(self.job.failed, [])
        used = [worker for worker in (self.folder / "cluster").glob("work*/app-*/*")]
        self.assertEqual(len(used), 2)

    def test_parameters_are_those_of_the_query(self):
        self.assert_as_sqlite(self.job, "nccl_stalls", self.folder / "job.db", limit=5, rank=5)
        with self.assertRaisesRegex(UsageError, "no parameter"):
            self.job.overlap(rnak=1)
        with self.assertRaisesRegex(UsageError, "reads single events"):
            self.job.query("kernels_top")
        with self.assertRaises(AttributeError):
            self.job.kernels_top()
        self.assertIn("overlap", dir(self.job))

    def test_a_job_is_opened_where_it_is(self):
        again = tracedb.open(self.session, self.folder / "out")
        self.assertEqual(again.overlap().count(), RANKS)
        shutil.rmtree(self.folder / "out" / "gathered")
        self.assertEqual(tracedb.open(self.session, self.folder / "out").overlap().count(), RANKS)

    def test_two_jobs_in_one_session_do_not_mix(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TracedbWarning)  # six ranks of its world are missing
            two = tracedb.ingest(self.session, self.traces[:2], self.folder / "two", run="two")
        both = two.overlap()
        self.assertEqual(self.job.overlap().count(), RANKS)
        self.assertEqual([row.run for row in both.collect()], ["two", "two"])

    def test_a_broken_trace_is_named_and_the_others_are_answered(self):
        broken = self.folder / "rank2.pt.trace.json"
        broken.write_text("no trace")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            job = tracedb.ingest(self.session, [self.traces[0], self.traces[1], broken],
                                 self.folder / "broken", run="job")
        self.assertEqual([each.traces for each in job.failed], [(str(broken),)])
        self.assertTrue(any("1 of 3 ranks could not be read" in str(each.message)
                            for each in said if each.category is TracedbWarning))
        self.assertEqual(job.overlap().count(), 2)

    def test_captures_of_one_rank_go_to_one_executor(self):
        traces = sorted((engine_jobs.ROOT / "fixtures/parallel/repeat").glob("*.json.gz"))
        copy = self.folder / "copy" / traces[0].name  # what is there already is passed over
        copy.parent.mkdir()
        shutil.copy(traces[0], copy)
        job = tracedb.ingest(self.session, [*traces, copy], self.folder / "repeat", run="repeat",
                             database=self.folder / "repeat.db")
        self.assertEqual(sorted(len(each.traces) for each in job.summaries), [2, 3])
        self.assertEqual(job.info_captures().count(), 2)
        for name in ("overlap", "nccl_stalls"):
            self.assertGreater(self.assert_as_sqlite(job, name, self.folder / "repeat.db"), 0)

    def test_a_rank_that_replaced_its_own_summary_is_an_error(self):
        names = [self.folder / "a.json.gz", self.folder / "b.json.gz"]
        for name in names:
            shutil.copy(self.traces[0], name)
        with self.assertRaisesRegex(UsageError, "both of rank 0"):
            # One after the other: two at a time may also harm each other, which is named then.
            tracedb.ingest(self.session, names, self.folder / "twice", run="twice", tasks=1)

    def test_nothing_to_ingest_is_an_error_that_says_so(self):
        with self.assertRaisesRegex(UsageError, "no trace to ingest"):
            tracedb.ingest(self.session, [], self.folder / "none")
        with self.assertRaisesRegex(TracedbError, "no trace could be read; the first: /nowhere"):
            tracedb.ingest(self.session, ["/nowhere/rank0.json"], self.folder / "none")
        with self.assertRaisesRegex(TracedbError, "no such program|No such file"):
            tracedb.ingest(self.session, self.traces[:1], self.folder / "none",
                           program="/nowhere/tracedb")

    def test_a_folder_that_is_no_summaries_is_an_error(self):
        (self.folder / "empty").mkdir()
        with self.assertRaisesRegex(TracedbError, "no summary of a rank"):
            tracedb.open(self.session, self.folder / "empty")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    known, rest = parser.parse_known_args()
    PROGRAM = str(pathlib.Path(known.program).resolve())
    os.environ["TRACEDB_PROGRAM"] = PROGRAM  # of the driver, and of the workers it starts
    sys.path.insert(0, str(engine_jobs.ROOT / "src/python"))
    from tracedb_profiler import TracedbError, TracedbWarning, UsageError
    from tracedb_profiler import spark as tracedb
    unittest.main(argv=[sys.argv[0], *rest])
