#!/usr/bin/env python3
"""`tracedb watch` over a folder in which files appear, grow, break off, are replaced and go.

    watch_test.py --program P [--filter TEXT]

One line a check. Exit 0: all passed; 1: some failed. What is waited for is waited for.
"""
import argparse
import fcntl
import gzip
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from captures_expire import (an_expired_export_stays_away,  # noqa: E402
                             captures_of_graphs_go_with_their_run, old_captures_expire_by_age)
from watched_place import (Place, Watch, check_no_rows_are_left, packed,  # noqa: E402
                           trace, wait_until)

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"
DAY_S = 86_400
PARTIAL_MARK = "tracedb: while an ingest works, it has this file locked; it can go when none does\n"


def files_are_taken_as_they_appear(place):
    place.write("rank0.json.gz", packed(trace(0)))
    with Watch(place, "--every", "1h") as watch:
        wait_until("what was there", lambda: place.ranks() == [0])
        place.write("rank1.json.gz", packed(trace(1)))
        wait_until("a file renamed into place", lambda: place.ranks() == [0, 1])
        place.write("later/node1/rank2.json.gz", packed(trace(2)))
        wait_until("a file in a folder that is new", lambda: 2 in place.ranks())
        (place.folder / "rank3.json").write_text(trace(3))
        wait_until("a file that was written and closed", lambda: 3 in place.ranks())
    lines = watch.said.splitlines()
    assert len(lines) == 4 and all("events" in line for line in lines), watch.said


def it_ends_on_both_signals_and_what_it_has_is_kept(place):
    for rank, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        place.write(f"rank{rank}.json", trace(rank))
        watch = Watch(place).__enter__()
        wait_until("it is there", lambda: len(place.ranks()) == rank + 1)
        assert watch.stop(number) == 0, watch.notes
    assert not list(place.root.glob("job.db.partial*"))


def a_file_that_grows_is_taken_when_it_ends(place):
    whole = packed(trace(0, events=5000))
    path = place.folder / "rank0.json.gz"
    with Watch(place, "--every", "1s") as watch:
        with open(path, "wb") as file:
            file.write(whole[:len(whole) // 2])
            file.flush()
            time.sleep(3.5)  # longer than a file must rest: it is tried, and breaks off
            assert place.ranks() == []
            file.write(whole[len(whole) // 2:])
        wait_until("the whole file", lambda: place.ranks("complete") == [0])
    assert "broke" not in watch.notes and watch.said.count("\n") == 1, (watch.said, watch.notes)


def plain_json_that_is_open_waits(place):
    text = trace(0)
    (place.folder / "rank0.json").write_text(text[:-40])
    (place.folder / "bare.json").write_text('[{"ph": "X", "name": "a", "ts": 1, "dur": 2, '
                                            '"pid": 1, "tid": 1},')
    said = place.once().stderr
    assert said.count("breaks off; left for later") == 2 and place.ranks() == [], said
    (place.folder / "rank0.json").write_text(text)
    (place.folder / "bare.json").unlink()
    place.once()
    assert place.ranks("complete") == [0]


def what_never_ends_is_taken_as_it_is_and_replaced_when_it_does(place):
    whole = packed(trace(0, events=5000))
    path = place.folder / "rank0.json.gz"
    path.write_bytes(whole[:len(whole) // 2])
    assert "left for later" in place.once().stderr
    time.sleep(1.1)
    said = place.once("--settle", "1s").stdout
    assert "incomplete" in said and place.ranks("NOT complete") == [0], said
    assert place.once("--settle", "1s").stdout == ""  # as it was
    path.write_bytes(whole)
    place.once()
    assert place.ranks() == [0] and place.ranks("complete") == [0]


def a_capture_over_another_is_another(place):
    place.write("rank0.json", trace(0, begin_s=-100))
    place.once()
    place.write("rank0.json", trace(0, begin_s=-50, name="other"))
    place.once()
    rows = place.rows("SELECT capture FROM traces ORDER BY 1")
    assert [row["capture"] for row in rows] == [1, 2], rows
    assert place.once().stdout == ""


def a_database_in_the_folder_is_none_of_its_files(place):
    place.database = place.folder / "rank"  # as its files begin
    place.write("rank0.json", trace(0))
    with Watch(place, "--every", "1s") as watch:
        wait_until("it is there", lambda: place.ranks() == [0])
        time.sleep(2.5)  # another look or two
    assert watch.notes == "", watch.notes


def other_files_links_and_leftovers(place):
    place.write("notes.txt", "nothing\n")
    place.write("events.json", '{"a": 1}')
    place.write("empty.json.gz", b"")
    place.write("rank7.json", "{" * 1000)
    (place.folder / "rank8.json.tmp").write_text(trace(8))
    (place.folder / ".rank9.json").write_text(trace(9))
    os.symlink(place.write("sub/rank1.json", trace(1)), place.folder / "link.json")
    os.symlink(place.folder, place.folder / "sub" / "round")
    os.symlink("/nowhere", place.folder / "dead.json")
    os.mkfifo(place.folder / "pipe.json")
    place.once()
    assert place.ranks() == [1]


def a_folder_that_goes_is_waited_for(place):
    place.write("rank0.json", trace(0))
    with Watch(place, "--every", "1s") as watch:
        wait_until("it is there", lambda: place.ranks() == [0])
        place.folder.rename(place.root / "away")
        time.sleep(2.5)
        assert watch.process.poll() is None
        (place.root / "away").rename(place.folder)
        place.write("rank1.json", trace(1))
        wait_until("it is back", lambda: place.ranks() == [0, 1])
    assert "looking again" in watch.notes and "is back" in watch.notes, watch.notes


def what_is_no_database_is_left_alone(place):
    place.write("rank0.json", trace(0))
    place.database.write_text("notes\n" * 1000)
    assert "job.db" in place.once(code=1).stderr
    assert place.database.read_text() == "notes\n" * 1000
    place.database.unlink()
    with sqlite3.connect(place.database) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    (place.folder / "rank0.json").unlink()  # it is said before there is anything to load
    assert "not a database of tracedb" in place.once("--keep", "1d", code=1).stderr


def no_folder_is_an_error(place):
    place.folder.rmdir()
    done = place.once(code=1)
    assert "there is no such folder\n  name the folder" in done.stderr, done.stderr
    for wrong in ("7x", "30s", "7D", "h"):
        assert "neither a size nor an age" in place.once("--keep", wrong, code=2).stderr
    for options in (("--keep", "0"), ("--every", "now"), ("--settle", "-1s"),
                    ("--memory", "1M")):
        place.once(*options, code=2)


def many_files(place):
    for rank in range(80):
        (place.folder / f"rank{rank}.json").write_text(trace(rank, events=1))
    begin = time.monotonic()
    place.once("-q")
    assert place.rows("SELECT count(*) AS n FROM traces")[0]["n"] == 80
    # Nothing has changed: the files are hashed, not read.
    first, begin = time.monotonic() - begin, time.monotonic()
    assert place.once().stdout == ""
    again = time.monotonic() - begin
    assert again < first / 4, (first, again)


def events_that_were_dropped_are_made_up_for(place):
    """More files at once than the system keeps events of: what is there counts."""
    limit = int(pathlib.Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with Watch(place, "--every", "1s") as watch:
        os.kill(watch.process.pid, signal.SIGSTOP)
        here, there = place.folder / "a.tmp", place.folder / "b.tmp"
        here.touch()
        for _ in range(limit // 2 + 10):  # an event each way
            os.rename(here, there)
            os.rename(there, here)
        place.write("rank0.json", trace(0))
        os.kill(watch.process.pid, signal.SIGCONT)
        wait_until("it is there", lambda: place.ranks() == [0])


def it_waits_for_another_ingest(place):
    place.write("rank0.json", trace(0))
    lock = pathlib.Path(str(place.database) + ".partial")
    lock.write_text(PARTIAL_MARK)
    with open(lock, "r+", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with Watch(place) as watch:
            assert "waiting for another ingest" in watch.process.stderr.readline()
            fcntl.flock(held, fcntl.LOCK_UN)
            wait_until("it is there", lambda: place.ranks() == [0])
        place.write("rank1.json", trace(1))
    lock.write_text(PARTIAL_MARK)
    with open(lock, "r+", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with Watch(place) as watch:
            assert "waiting for another ingest" in watch.process.stderr.readline()
    assert place.ranks() == [0]


def a_kill_loses_nothing(place):
    for rank in range(24):
        place.write(f"rank{rank}.json", trace(rank, events=300))
    for done in (2, 9):
        watch = Watch(place).__enter__()
        for _ in range(done):
            watch.process.stdout.readline()
        watch.process.kill()
        watch.process.communicate()
    place.once()
    assert place.ranks() == list(range(24))
    check = sqlite3.connect(place.database).execute("PRAGMA integrity_check").fetchall()
    assert check == [("ok",)], check


def answers_are_those_of_ingest(place):
    other = place.root / "other.db"
    traces = sorted((FIXTURES / "seqpar").glob("*.gz"))
    with Watch(place, "--every", "1s"):
        for path in reversed(traces):
            place.write(path.name, path.read_bytes())
        wait_until("all of them", lambda: len(place.ranks()) == len(traces))
        # The ranks are compared last: then every wait has its cause.
        wait_until("causes", lambda: place.rows("SELECT count(*) AS n FROM collective_causes "
                                                "WHERE root_cause IS NOT NULL")[0]["n"] > 0)
    place.once()
    subprocess.run([place.program, "--db", other, "-q", "ingest", place.folder], check=True)
    for query in ("straggler_steps", "nccl_stall_ranks", "clocks", "overlap", "step_times"):
        answers = [subprocess.run([place.program, "--db", path, "query", query, "--format", "csv"],
                                  check=True, capture_output=True).stdout
                   for path in (place.database, other)]
        assert answers[0] == answers[1], (query, answers)


def a_kill_while_captures_expire(place):
    """A capture goes whole or not at all, and what stays is sound."""
    for number in range(8):
        for rank in range(2):
            place.write(f"c{number}/rank{rank}.json",
                        trace(rank, begin_s=number * 10 - 10 * DAY_S, events=3000))
    place.once()
    for path in place.folder.rglob("*.json"):  # or they would not be looked at
        os.utime(path)
    for delay in (0.05, 0.08, 0.11, 0.14, 0.2):
        watch = subprocess.Popen(place.command("--keep", "7d"), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        time.sleep(delay)
        watch.kill()
        watch.wait()
        rows = place.rows("SELECT capture_id, count(*) AS n FROM traces GROUP BY 1")
        assert all(row["n"] == 2 for row in rows), rows
    place.once("--keep", "7d")
    assert place.ranks() == [0, 1]
    check = sqlite3.connect(place.database).execute("PRAGMA integrity_check").fetchall()
    assert check == [("ok",)], check
    check_no_rows_are_left(place)


def old_captures_expire_by_size(place):
    """Twelve captures of which a few may stay: the file stops growing."""
    sizes = []
    for number in range(12):
        for rank in range(2):
            place.write(f"rank{rank}.json",
                        trace(rank, begin_s=number * 10 - 1000, name=f"c{number}", events=9000))
        place.once("--keep", "8M")
        sizes.append(place.database.stat().st_size)
    rows = place.rows("SELECT run, capture, start_ns FROM captures ORDER BY start_ns")
    assert 2 <= len(rows) < 10, rows
    last = place.rows("SELECT max(name) AS name FROM kernels WHERE name LIKE 'c11%'")
    assert last[0]["name"] is not None
    assert max(sizes[6:]) <= max(sizes[:6]) * 1.1, sizes
    check = sqlite3.connect(place.database).execute("PRAGMA integrity_check").fetchall()
    assert check == [("ok",)], check


def the_last_capture_stays(place):
    for rank in range(2):
        place.write(f"rank{rank}.json", trace(rank, begin_s=-30 * DAY_S, events=5000))
    assert place.once("--keep", "1K").stderr.count("take more than --keep says") == 1
    assert place.ranks() == [0, 1]


def no_row_of_an_expired_trace_stays(place):
    source = FIXTURES / "megatron"
    for rank in range(4):
        place.write(f"old/rank{rank}.pt.trace.json.gz",
                    (source / f"rank{rank}.pt.trace.json.gz").read_bytes())
    place.once()
    for rank in range(2):
        place.write(f"new/rank{rank}.json", trace(rank, begin_s=400_000_000))
    said = place.once("--keep", "1K").stdout
    assert "expired: run old, capture 1 (4 traces)" in said, said
    check_no_rows_are_left(place)


def lines_of_json(place):
    place.write("old/rank0.json", trace(0, begin_s=-9 * DAY_S))
    place.write("rank0.json", trace(0))
    lines = [json.loads(line) for line in
             place.once("--keep", "7d", "--format", "json").stdout.splitlines()]
    assert [line.get("rank") for line in lines[:2]] == [0, 0], lines
    assert lines[2] == {"expired": {"run": "old", "capture": 1, "traces": 1}}, lines


def a_log_that_grows(place):
    log = place.folder / "train.log"
    with gzip.open(FIXTURES / "megatron_dp.log.gz", "rt") as file:
        lines = [line for line in file if "elapsed time per iteration" in line][:4]
    log.write_text("".join(lines[:3]))
    place.write("rank0.json", trace(0))
    place.once()
    assert len(place.rows("SELECT iteration FROM log_iterations")) == 3
    with open(log, "a", encoding="utf-8") as file:
        file.write(lines[3])
    place.once()
    assert len(place.rows("SELECT iteration FROM log_iterations")) == 4


CHECKS = [files_are_taken_as_they_appear, it_ends_on_both_signals_and_what_it_has_is_kept,
          a_file_that_grows_is_taken_when_it_ends, plain_json_that_is_open_waits,
          what_never_ends_is_taken_as_it_is_and_replaced_when_it_does,
          a_capture_over_another_is_another, a_database_in_the_folder_is_none_of_its_files,
          other_files_links_and_leftovers, a_folder_that_goes_is_waited_for,
          what_is_no_database_is_left_alone, no_folder_is_an_error, many_files,
          events_that_were_dropped_are_made_up_for, answers_are_those_of_ingest,
          a_kill_while_captures_expire,
          it_waits_for_another_ingest, a_kill_loses_nothing, old_captures_expire_by_age,
          an_expired_export_stays_away, captures_of_graphs_go_with_their_run,
          old_captures_expire_by_size, the_last_capture_stays, no_row_of_an_expired_trace_stays,
          lines_of_json, a_log_that_grows]


def main():
    parser = argparse.ArgumentParser(description="Test tracedb watch.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--filter", default="", help="only checks with this in their name")
    options = parser.parse_args()
    failed = 0
    for check in CHECKS:
        if options.filter not in check.__name__:
            continue
        begin, trouble = time.monotonic(), ""
        with tempfile.TemporaryDirectory(prefix="tracedb-watch-") as root:
            try:
                check(Place(os.path.abspath(options.program), root))
            except Exception:  # a check that fails must not hide the others
                trouble = traceback.format_exc()
        print(f"{'FAIL' if trouble else 'ok':4} {check.__name__} "
              f"({time.monotonic() - begin:.1f} s)", flush=True)
        if trouble:
            print("     " + trouble.rstrip().replace("\n", "\n     "), flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
