"""As check_breakdown.py: expert_imbalance, and the view collective_splits, with experts_oracle.py."""
import csv
import io
import subprocess

import check_breakdown
import experts_oracle

SPLITS = ("SELECT s.rank, c.ts_ns, s.peer, s.in_rows, s.out_rows, s.in_bytes, s.out_bytes "
          "FROM collective_splits s JOIN collectives c ON c.slice_id = s.slice_id "
          "WHERE s.group_id IS NOT NULL ORDER BY s.rank, c.ts_ns, s.peer")


def compare(options, database, jobs):
    differences, rows = check_breakdown.compare(options, database, jobs, (experts_oracle,),
                                                (("expert_imbalance", {"step": 1}),))
    done = subprocess.run([options.program, "-q", "--db", database, "query", "-c", SPLITS],
                          check=True, stdout=subprocess.PIPE, text=True)
    header, *found = csv.reader(io.StringIO(done.stdout))
    expected = sorted((row for job in jobs for row in experts_oracle.collective_splits(job)),
                      key=lambda row: row[:3])
    differences += check_breakdown.differences_of("collective_splits", (header, found), expected)
    return differences, rows + len(expected)
