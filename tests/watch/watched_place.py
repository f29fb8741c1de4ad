"""A folder that is watched, the files in it, and who watches. No test by itself."""
import gzip
import json
import pathlib
import signal
import sqlite3
import subprocess
import time

NOW_NS = time.time_ns()


def trace(rank, begin_s=0, name="gemm", events=20):
    """A rank's capture of a tenth of a second, which ended `begin_s` from now."""
    rows = [{"ph": "X", "cat": "kernel", "name": f"{name}_{number}", "pid": 0, "tid": 7,
             "ts": number * 1000, "dur": 500,
             "args": {"device": 0, "stream": 7, "correlation": number}} for number in range(events)]
    return json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": NOW_NS + begin_s * 10**9,
                       "distributedInfo": {"rank": rank, "world_size": 4},
                       "traceEvents": rows})


def packed(text):
    return gzip.compress(text.encode(), mtime=0)


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


class Place:
    """A folder to watch, with a database beside it."""

    def __init__(self, program, root):
        self.program, self.root = program, pathlib.Path(root)
        self.folder = self.root / "job"
        self.folder.mkdir()
        self.database = self.root / "job.db"

    def write(self, name, content):
        """As the profiler does: under another name, then renamed."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".tmp")
        part.write_bytes(content if isinstance(content, bytes) else content.encode())
        part.rename(path)
        return path

    def command(self, *options):
        return [self.program, "--db", str(self.database), "watch", str(self.folder), *options]

    def once(self, *options, code=0):
        done = subprocess.run(self.command("--once", *options), capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == code, done
        return done

    def rows(self, sql):
        if not self.database.exists():
            return []
        done = subprocess.run([self.program, "--db", str(self.database), "query", "-c", sql,
                               "--format", "json"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else []

    def ranks(self, where="1"):
        return [row["rank"] for row in
                self.rows(f"SELECT rank FROM traces WHERE {where} ORDER BY rank, start_ns")]


class Watch:
    """Until it is left: then it is asked to end, and has to."""

    def __init__(self, place, *options):
        self.process = subprocess.Popen(place.command(*options), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.said = ""

    def __enter__(self):
        line = self.process.stderr.readline()
        assert "watching" in line, line + self.process.stderr.read()
        return self

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.said, self.notes = self.process.communicate(timeout=60)
        return self.process.returncode

    def __exit__(self, kind, _value, _trace):
        if self.process.poll() is None:
            code = self.stop()
            assert kind is not None or code == 0, (code, self.notes)


def check_no_rows_are_left(place):
    """Of a trace that is gone: all that a database with just the others has not."""
    other = place.root / "other.db"
    kept = [row["path"] for row in place.rows("SELECT path FROM traces")]
    subprocess.run([place.program, "--db", other, "-q", "ingest", *kept], check=True)
    counts = []
    for path in (place.database, other):
        with sqlite3.connect(path) as db:
            names = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = "
                                                  "'table' AND name NOT LIKE 'sqlite%' AND name "
                                                  "<> '_expired_file' ORDER BY 1")]
            counts.append({name: db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                           for name in names})
    differ = {name: (count, counts[1].get(name)) for name, count in counts[0].items()
              if count != counts[1].get(name)}
    assert not differ, differ
