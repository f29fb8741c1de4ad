#!/usr/bin/env python3
"""Every command with too little memory (ulimit -v): it works, or it ends with exit code 1 and a
message, and leaves the database as it was and nothing beside it.

    out_of_memory_test.py --program P [--steps N] [command...]

Each command is run with N limits, from what the program needs to start up to what the command
needs.
"""
import argparse
import hashlib
import http.client
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import many_rows  # noqa: E402

MIB = 1 << 20
TIMEOUT_S = 600


class Fault(Exception):
    pass


def limited(limit):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return set_limit


def run(command, folder, limit):
    done = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                          preexec_fn=limited(limit), timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def least_start(program, folder):
    """The smallest limit, to 256 KiB, with which the program starts at all."""
    low, high = 0, 1 << 30
    while high - low > MIB // 4:
        middle = (low + high) // 2
        try:
            works = run([program, "--version"], folder, middle)[0] == 0
        except (OSError, subprocess.SubprocessError):
            works = False
        low, high = (low, middle) if works else (middle, high)
    return high


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Case:
    """A command in a folder of its own, made anew for each run."""

    def __init__(self, options, name, arguments, fresh, changes, done):
        self.options, self.name, self.arguments = options, name, arguments
        self.done = done          # exit code when there is enough memory
        self.fresh = fresh        # without a database
        self.changes = changes    # the database may be another afterwards
        self.folder = os.path.join(options.folder, name)
        self.reference = None

    def prepare(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for rank in range(3):
            os.link(os.path.join(self.options.folder, f"rank{rank}.json"),
                    os.path.join(self.folder, f"rank{rank}.json"))
        if not self.fresh:
            shutil.copyfile(self.options.database, os.path.join(self.folder, "trace.db"))
            for name in ("other.db", "shards"):
                os.symlink(os.path.join(self.options.folder, name),
                           os.path.join(self.folder, name))

    def run(self, limit):
        self.prepare()
        return run([self.options.program, *self.arguments], self.folder, limit)

    def rows(self):
        """What there is in the database, whatever the time of day."""
        asked = subprocess.run([self.options.program, "query", "--format", "csv", "-c",
                                "SELECT (SELECT count(*) FROM slices) AS slices, "
                                "(SELECT sum(length(name)) FROM slices) AS names, "
                                "(SELECT count(*) FROM kernels) AS kernels, "
                                "(SELECT sum(length(args)) FROM slices) AS args, "
                                "(SELECT count(*) FROM traces) AS traces"],
                               cwd=self.folder, capture_output=True, check=True)
        return asked.stdout

    def outcome(self, stdout):
        if self.changes:
            return self.rows()
        produced = b"".join(self.read(name) for name in ("out.json", "out.html", "out.csv"))
        return re.sub(rb"in [0-9.]+ s|\d{4}-\d\d-\d\d.\d\d:\d\d(:\d\d)?", b"", stdout + produced)

    def read(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return b""
        with open(path, "rb") as file:
            return file.read()

    def check(self, limit):
        """True when the limit was enough."""
        code, stdout, stderr = self.run(limit)
        where = f"{self.name} with {limit / MIB:.2f} MiB: exit {code}"
        if code not in (self.done, 1):
            raise Fault(f"{where}: {stderr[-500:]}")
        if code == 1 and not stderr.startswith("tracedb:"):
            raise Fault(f"{where}, without a message: {stderr[-500:]!r}")
        if code == 1 and not re.search("memory|a thread cannot be started|segment from sh", stderr):
            raise Fault(f"{where}, with another reason: {stderr[-500:]!r}")
        if ".sql: out of memory" in stderr and "give the program more" not in stderr:
            raise Fault(f"{where}, as an error of the query: {stderr[-500:]!r}")
        database = os.path.join(self.folder, "trace.db")
        allowed = {"rank0.json", "rank1.json", "rank2.json", "other.db", "shards"}
        if not self.fresh or (code == self.done and self.changes):
            allowed.add("trace.db")
        if code == self.done or self.changes:
            allowed |= {"trace.db", "out.json", "out.html", "out.csv", "out.db", "out.xlsx", "out"}
        litter = set(os.listdir(self.folder)) - allowed
        if litter:
            raise Fault(f"{where}: left {sorted(litter)}: {stderr}")
        if not self.changes and digest(database) != digest(self.options.database):
            raise Fault(f"{where}: the database is another")
        if self.changes and os.path.exists(database):
            sound = subprocess.run([self.options.program, "query", "--db", database, "--format",
                                    "csv", "--no-header", "-c", "PRAGMA integrity_check"],
                                   capture_output=True, text=True, check=False)
            if sound.stdout.strip() != "ok":
                raise Fault(f"{where}: {sound.stdout}{sound.stderr}")
        if code == self.done and self.outcome(stdout) != self.reference:
            raise Fault(f"{where}: another result than with enough memory\n{stderr}")
        return code == self.done

    def sweep(self, least, steps):
        code, stdout, stderr = self.run(resource.RLIM_INFINITY)
        if code != self.done:
            raise Fault(f"{self.name}: exit {code} without a limit: {stderr}")
        self.reference = self.outcome(stdout)
        most = least
        while not self.check(most):
            most += most // 4
        enough = 0
        for step in range(steps):
            enough += self.check(least + (most - least) * step // steps)
        print(f"{self.name:14s} {steps} limits from {least / MIB:.1f} to {most / MIB:.1f} MiB: "
              f"{enough} were enough", flush=True)


def serve(options, limit):
    """One request after another while the memory lasts."""
    folder = os.path.join(options.folder, "serve")
    os.makedirs(folder, exist_ok=True)
    shutil.copyfile(options.database, os.path.join(folder, "trace.db"))
    with subprocess.Popen([options.program, "serve-csv", "--port", "0"], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=limited(limit)) as server:
        line = server.stderr.readline()
        while line and "http://" not in line:
            line += server.stderr.readline() or "\0"
            if line.endswith("\0"):
                break
        found = re.search(r":(\d+)", line.partition("http://")[2])
        answered = 0
        if found:
            for path in ("/", "/kernels_top.csv", "/overlap.csv", "/report") * 2:
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    answered += answer.status == 200
                except (OSError, http.client.HTTPException):
                    pass
                finally:
                    connection.close()
            if server.poll() is not None:
                raise Fault(f"serve-csv with {limit / MIB:.2f} MiB: ended with {server.returncode} "
                            f"by a request: {server.stderr.read()[-500:]}")
            server.send_signal(signal.SIGTERM)
        rest = server.communicate(timeout=TIMEOUT_S)[1]
    said = "tracedb:" in line + rest
    if server.returncode != 0 and not (server.returncode == 1 and said):
        raise Fault(f"serve-csv with {limit / MIB:.2f} MiB: exit {server.returncode}: {line}{rest}")
    if set(os.listdir(folder)) != {"trace.db"}:
        raise Fault(f"serve-csv with {limit / MIB:.2f} MiB: left {os.listdir(folder)}")
    return answered == 8


def serve_sweep(options, least, steps):
    most = least
    while not serve(options, most):
        most += most // 4
        if most > 4 << 30:
            raise Fault("serve-csv: not even 4 GiB are enough")
    enough = sum(serve(options, least + (most - least) * step // steps) for step in range(steps))
    print(f"{'serve-csv':14s} {steps} limits from {least / MIB:.1f} to {most / MIB:.1f} MiB: "
          f"{enough} were enough", flush=True)


def cases(options):
    def case(name, *arguments, fresh=False, changes=False, done=0):
        return Case(options, name, arguments, fresh, changes, done)
    return [
        case("ingest", "ingest", "-q", "--memory", "32M", "rank0.json", fresh=True, changes=True),
        case("ingest_more", "ingest", "-q", "--memory", "32M", "--threads", "3", "rank2.json",
             changes=True),
        case("ingest_both", "ingest", "-q", "--jobs", "2", "--memory", "64M", "rank0.json",
             "rank2.json", fresh=True, changes=True),
        case("query", "query", "kernels_top"),
        case("query_file", "query", "kernels_top", "-o", "out.csv", "--format", "csv"),
        case("query_own", "query", "-c", "SELECT name, count(*) FROM slices GROUP BY name"),
        case("replay", "query", "critical_path"),
        case("doctor", "doctor", done=4),
        case("report", "report", "-o", "out.html"),
        case("cut", "cut", "-o", "out.json"),
        case("info", "info"),
        case("compare", "compare", "trace.db", "other.db", done=4),
        case("what_if", "what-if", "--scale", "name LIKE %=0.5"),
        case("gather", "gather", "shards", "-o", "out.db"),
        case("xlsx", "export", "-o", "out.xlsx"),
        case("parquet", "export", "--format", "parquet", "-o", "out"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    if "TRACEDB_SANITIZED" in os.environ:
        print("a sanitizer's own memory has no such limit")
        return 77
    faults = []
    with tempfile.TemporaryDirectory(prefix="tracedb-memory-") as options.folder:
        for rank, kind in enumerate(("kernels_of_operators", "collective_groups", "args")):
            with open(os.path.join(options.folder, f"rank{rank}.json"), "w",
                      encoding="utf-8") as out:
                many_rows.write(out, kind, 3000)
        with open(os.path.join(options.folder, "rank3.json"), "w", encoding="utf-8") as out:
            many_rows.write(out, "kernels_of_operators", 2500)
        options.database = os.path.join(options.folder, "whole.db")
        subprocess.run([options.program, "-q", "--db", options.database, "ingest", "rank0.json",
                        "rank1.json"], cwd=options.folder, check=True)
        subprocess.run([options.program, "-q", "--db", "other.db", "ingest", "--shard", "shards",
                        "rank3.json"], cwd=options.folder, check=True)
        least = least_start(options.program, options.folder)
        for case in cases(options):
            if options.commands and case.name not in options.commands:
                continue
            try:
                case.sweep(least, options.steps)
            except Fault as fault:
                faults.append(str(fault))
        if not options.commands or "serve-csv" in options.commands:
            try:
                serve_sweep(options, least, max(options.steps // 2, 1))
            except Fault as fault:
                faults.append(str(fault))
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
