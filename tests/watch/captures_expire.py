"""Checks of watch_test.py about what --keep takes out by its age. No test by itself."""
import os
import pathlib
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "load"))
from nsys_exports import small  # noqa: E402
from watched_place import trace  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"
DAY_S = 86_400


def old_captures_expire_by_age(place):
    for day in (9, 8, 2, 1):
        for rank in range(2):
            path = place.write(f"day{day}/rank{rank}.json", trace(rank, begin_s=-day * DAY_S))
            if day == 9:  # older than the limit by its file's time: not even read
                os.utime(path, (time.time() - day * DAY_S,) * 2)
    said = place.once("--keep", "7d").stdout
    left = place.rows("SELECT DISTINCT run FROM traces ORDER BY 1")
    assert [row["run"] for row in left] == ["day1", "day2"], left
    assert said.count("expired: run day8, capture 1 (2 traces)") == 1, said
    assert "day9" not in said, said
    # They stay away, and their files stay.
    assert place.once("--keep", "7d").stdout == ""
    assert len(list(place.folder.rglob("*.json"))) == 8
    said = place.once().stdout  # what is old by its file's time has never been there
    assert "day8" not in said and said.count("day9") == 2, said


def an_expired_export_stays_away(place):
    """Its parts have marks of their own after the hash of the file."""
    made = place.root / "made.sqlite"
    small(str(made), "3.25.0", epoch=time.time_ns() - 9 * DAY_S * 10**9).done()
    place.write("old/report.sqlite", made.read_bytes())
    place.write("rank0.json", trace(0))
    said = place.once("--keep", "7d").stdout
    assert "expired: run old" in said, said
    assert place.once("--keep", "7d").stdout == ""
    assert [row["run"] for row in place.rows("SELECT run FROM traces")] == ["job"]


def captures_of_graphs_go_with_their_run(place):
    """They are no captures of the profiler, and shown by no view of traces."""
    graphs = (FIXTURES / "graphs" / "graph_bs4.pt.trace.json.gz").read_bytes()
    of_graphs = "SELECT count(*) AS n FROM graph_captures WHERE is_own_file"
    place.write("old/graph_capture_rank_0.pt.trace.json.gz", graphs)
    place.write("old/rank0.json", trace(0, begin_s=-9 * DAY_S))
    place.write("rank0.json", trace(0))
    place.once()
    assert place.rows(of_graphs)[0]["n"] > 0
    assert "expired: run old, capture 1 (1 trace)" in place.once("--keep", "7d").stdout
    assert place.rows(of_graphs)[0]["n"] == 0
    assert place.once("--keep", "7d").stdout == ""
