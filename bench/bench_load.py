#!/usr/bin/env python3
"""Measures tracedb from .json.gz to the finished database, on traces made for it.

Speed, CPU, peak memory and database size of `tracedb ingest`, then the time of every canned query.
One line a run goes to bench/runs. Method and columns: bench/README.md. Standard library only.
"""
# long because: making traces, measuring a child and naming the machine serve bench_peers.py too.

import argparse
import contextlib
import csv
import datetime
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "bench" / "runs"
CACHE = ROOT / "build" / "bench-data"
FIXTURE_NAME = "megatron32-stack.pt.trace.json"

MB_PER_S_MIN = 600.0
PEAK_RSS_MIB_MAX = 128.0
DB_OVER_JSON_MAX = 0.20
# Below this, starting and fsync weigh more than the load: speed is shown but not judged.
JUDGED_BYTES_MIN = 10**9

RUN_COLUMNS = ("date commit version program cpu_model cores fixture run json_bytes gz_bytes "
               "events wall_s cpu_s mb_per_s cpu_s_per_gb peak_rss_mib db_bytes db_over_json"
               ).split()
QUERY_COLUMNS = ("date commit version program cpu_model cores fixture json_bytes query "
                 "wall_s").split()


class BenchError(Exception):
    """What stops the bench, in words for a person."""


class Trace(NamedTuple):
    path: pathlib.Path
    fixture: str
    json_bytes: int
    gz_bytes: int
    events: int


class Measure(NamedTuple):
    """What the kernel said of a child that has ended."""
    exit_code: int
    wall_s: float
    cpu_s: float
    peak_rss_mib: float
    stderr: str


class Program(NamedTuple):
    path: pathlib.Path
    version: str
    commit: str


# ---- measuring a child --------------------------------------------------------------------------

# Starts the command, waits, writes what the kernel said of it to descriptor argv[1]. A process of
# its own, and small: a child's peak RSS is never below what its parent had when it started it.
LAUNCHER = """
import posix, sys, time
start = time.monotonic()
pid = posix.posix_spawn(sys.argv[2], sys.argv[2:], posix.environ)
_, status, usage = posix.wait4(pid, 0)
wall_s = time.monotonic() - start
cpu_s = usage.ru_utime + usage.ru_stime
said = (posix.waitstatus_to_exitcode(status), wall_s, cpu_s, usage.ru_maxrss)
posix.write(int(sys.argv[1]), ' '.join(map(repr, said)).encode())
"""


def run_measured(command, timeout_s=None) -> Measure:
    """Runs it to its end, output thrown away. Killed by a signal: the exit code is negative."""
    program = shutil.which(str(command[0]))
    if program is None:
        raise BenchError(f"{command[0]}: there is no such program")
    read_end, write_end = os.pipe()
    with tempfile.TemporaryFile() as trouble, open(read_end, encoding="ascii") as said:
        launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, str(write_end), program,
             *map(str, command[1:])],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=trouble,
            pass_fds=[write_end], start_new_session=True)
        os.close(write_end)
        try:
            launcher.wait(timeout_s)
            values = said.read().split()
        except BaseException as error:
            os.killpg(launcher.pid, signal.SIGKILL)  # its own group: it and the command, no others
            launcher.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return Measure(-signal.SIGKILL, timeout_s, 0.0, 0.0, f"stopped after {timeout_s} s")
        trouble.seek(0)
        text = trouble.read().decode("utf-8", "replace").strip()
    if not values:
        raise BenchError(f"{program}: cannot be started\n{text[-2000:]}")
    exit_code, wall_s, cpu_s, peak_rss_kib = map(float, values)
    return Measure(int(exit_code), wall_s, cpu_s, peak_rss_kib / 1024, text)


def checked(command) -> Measure:
    measure = run_measured(command)
    if measure.exit_code != 0:
        words = " ".join(str(word) for word in command)
        raise BenchError(f"exit code {measure.exit_code} from: {words}\n{measure.stderr[-2000:]}")
    return measure


def output_of(command) -> str:
    try:
        done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True,
                              text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def warm(path: pathlib.Path) -> None:
    """Reads the file once, so that every run finds it in the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


# ---- where it runs ------------------------------------------------------------------------------


def cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown cpu"


def machine() -> dict:
    return {"cpu_model": cpu_model(), "cores": len(os.sched_getaffinity(0))}


def machine_tag() -> str:
    plain = re.sub(r"\((r|tm)\)|\b(cpu|processor)\b|@.*", " ", cpu_model().lower())
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "unknown"
    return f"{slug}-{len(os.sched_getaffinity(0))}c"


def commit() -> str:
    """Results are written into the tree, so they alone do not make it dirty."""
    name = output_of(["git", "rev-parse", "--short", "HEAD"]) or "none"
    changed = output_of(["git", "status", "--porcelain", "--", ".", ":!bench/runs"])
    return name + ("-dirty" if changed else "")


def shown(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def append_csv(path: pathlib.Path, columns, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists() or path.stat().st_size == 0
    if not fresh:
        with open(path, newline="", encoding="utf-8") as file:
            if next(csv.reader(file)) != list(columns):
                raise BenchError(f"{path}: has other columns; move it away")
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerows(rows)


def find_program(given: Optional[str], label: Optional[str] = None) -> Program:
    tried = [pathlib.Path(given)] if given else [ROOT / "build/release/src/tracedb",
                                                 ROOT / "build/release/tracedb"]
    for path in tried:
        if path.is_file() and os.access(path, os.X_OK):
            version = " ".join(output_of([path.resolve(), "--version"]).split())
            return Program(path.resolve(), version, label or commit())
    raise BenchError("no program at " + " or ".join(map(str, tried)) +
                     "; build it first, or name it with --program")


# ---- traces -------------------------------------------------------------------------------------


def parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d{1,6})?)([KMGT]?)", text.strip())
    if not match:
        raise BenchError(f"{text!r} is no size; write 12M, 0.1G, 2.5G (powers of 1000)")
    whole, _, decimals = match[1].partition(".")
    size = int(whole + decimals) * 1000**" KMGT".index(match[2] or " ") // 10**len(decimals)
    if size == 0:
        raise BenchError(f"{text!r}: a size must be more than 0")
    return size


def find_fixture(given: Optional[str]) -> pathlib.Path:
    if given:
        if not pathlib.Path(given).is_file():
            raise BenchError(f"{given}: there is no such fixture")
        return pathlib.Path(given)
    folders = [ROOT / "fixtures", ROOT.parent / "shared" / "traces"]
    for folder in folders:
        for found in sorted(folder.rglob(FIXTURE_NAME + "*")):
            if found.suffix in (".xz", ".gz", ".json"):
                return found
    raise BenchError(f"no {FIXTURE_NAME}.xz in {' or '.join(map(str, folders))}; "
                     "name a trace with --fixture")


def find_maker(given: Optional[str], cache: pathlib.Path) -> pathlib.Path:
    if given:
        return pathlib.Path(given).resolve()
    built = ROOT / "build/release/bench/make_trace"
    source = ROOT / "bench" / "make_trace.cc"
    own = cache / "make_trace"
    for path in (built, own):
        if path.is_file() and path.stat().st_mtime >= source.stat().st_mtime:
            return path
    say(f"building {own}")
    checked([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", source, "-lz", "-pthread",
             "-o", own])
    return own


def need_space(folder: pathlib.Path, size: int, why: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise BenchError(f"{folder}: {why} needs {size / 1e9:.1f} GB, {free / 1e9:.1f} GB are free;"
                         " make room, or name another folder with --cache")


def unpacked(fixture: pathlib.Path, stem: str, cache: pathlib.Path) -> pathlib.Path:
    """The maker reads plain and gzip; xz is unpacked here, once."""
    if fixture.suffix != ".xz":
        return fixture
    plain = cache / f"{stem}.json"
    if not plain.exists():
        need_space(cache, fixture.stat().st_size * 40, "unpacking the fixture")
        partial = plain.with_suffix(".partial")
        with lzma.open(fixture) as packed, open(partial, "wb") as file:
            shutil.copyfileobj(packed, file, 1 << 18)
        partial.rename(plain)
    return plain


def ensure_trace(fixture: pathlib.Path, size: int, cache: pathlib.Path,
                 maker_given: Optional[str] = None) -> Trace:
    """From the cache; made when it is not there. The name says fixture, size and maker."""
    cache.mkdir(parents=True, exist_ok=True)
    maker = find_maker(maker_given, cache)
    version = output_of([maker, "--version"]).split()[-1:]
    if not version:
        raise BenchError(f"{maker}: does not tell its version")
    digest = hashlib.sha256(fixture.read_bytes()).hexdigest()[:8]
    name = fixture.name.split(".")[0]
    stem = f"{name}-{digest}"
    path = cache / f"{stem}-{size}-v{version[0]}.pt.trace.json.gz"
    facts_path = path.with_suffix(".txt")
    if not (path.exists() and facts_path.exists()):
        need_space(cache, size // 8 + 10**8, "making the trace")
        say(f"making {path.name} (kept)")
        command = [maker, "--from", unpacked(fixture, stem, cache), "--size", size, "--cut",
                   "--out", path]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            raise BenchError(f"{maker}: exit code {done.returncode}")
        facts_path.write_text(done.stdout, encoding="utf-8")
    facts = dict(line.split() for line in facts_path.read_text(encoding="utf-8").splitlines())
    return Trace(path, name, int(facts["json_bytes"]), path.stat().st_size, int(facts["events"]))


# ---- the bench ----------------------------------------------------------------------------------


def folder_path(text: str) -> pathlib.Path:
    return pathlib.Path(text).resolve()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def remove_database(db: pathlib.Path) -> None:
    for path in db.parent.glob(db.name + "*"):
        path.unlink()


def ingest(program: Program, trace: Trace, db: pathlib.Path, run: int) -> dict:
    remove_database(db)
    os.sync()  # what an earlier run left to write is not this run's
    date = now()
    measure = checked([program.path, "ingest", trace.path, "--db", db, "-q"])
    if not db.is_file():
        raise BenchError(f"{program.path}: exit code 0, but there is no {db}")
    gigabytes = trace.json_bytes / 1e9
    size = db.stat().st_size
    return {
        "date": date, "commit": program.commit, "version": program.version,
        "program": shown(program.path), **machine(), "fixture": trace.fixture, "run": run,
        "json_bytes": trace.json_bytes, "gz_bytes": trace.gz_bytes, "events": trace.events,
        "wall_s": f"{measure.wall_s:.3f}", "cpu_s": f"{measure.cpu_s:.3f}",
        "mb_per_s": f"{gigabytes * 1000 / measure.wall_s:.1f}",
        "cpu_s_per_gb": f"{measure.cpu_s / gigabytes:.3f}",
        "peak_rss_mib": f"{measure.peak_rss_mib:.1f}",
        "db_bytes": size, "db_over_json": f"{size / trace.json_bytes:.4f}",
    }


SHOWN = ("mb_per_s", "cpu_s_per_gb", "peak_rss_mib", "db_over_json", "wall_s")


def print_run(name: str, row: dict) -> None:
    print(f"  {name:<8}" + "".join(f"{row[column]:>14}" for column in SHOWN), flush=True)


def print_summary(rows) -> None:
    for name, of in (("min", min), ("median", statistics.median), ("max", max)):
        values = [of([float(row[column]) for row in rows]) for column in SHOWN]
        print(f"  {name:<8}" + "".join(f"{value:>14.4g}" for value in values))


def print_pairs(first, second) -> None:
    print("  B over A, pair by pair")
    for number, (a, b) in enumerate(zip(first, second), 1):
        ratios = [float(b[column]) / float(a[column]) for column in SHOWN]
        print(f"  pair {number:<3}" + "".join(f"{ratio:>14.3f}" for ratio in ratios), flush=True)


def query_names(program: Program):
    listed = output_of([program.path, "query", "--format", "csv"])
    names = [row[0] for row in csv.reader(listed.splitlines())][1:]
    if not names:
        raise BenchError(f"{program.path} query: lists no canned queries")
    return names


def time_queries(program: Program, trace: Trace, db: pathlib.Path, runs: int):
    """The best of `runs`, after one that warms the page cache."""
    rows = []
    for name in query_names(program):
        if "must be given" in output_of([program.path, "query", name, "--explain"]):
            print(f"  {name:<28} needs a parameter: not timed")
            continue
        command = [program.path, "query", name, "--db", db, "--format", "csv"]
        checked(command)
        wall_s = min(checked(command).wall_s for _ in range(runs))
        print(f"  {name:<28}{wall_s:>10.3f} s", flush=True)
        rows.append({"date": now(), "commit": program.commit, "version": program.version,
                     "program": shown(program.path), **machine(), "fixture": trace.fixture,
                     "json_bytes": trace.json_bytes, "query": name, "wall_s": f"{wall_s:.4f}"})
    return rows


def verify(db: pathlib.Path) -> None:
    """In a child: the pages it reads must not count as this process's memory."""
    code = ("import sqlite3, sys; d = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True); "
            "r = d.execute('PRAGMA integrity_check').fetchall(); "
            "sys.exit(0 if r == [('ok',)] else str(r[:10]))")
    checked([sys.executable, "-c", code, db])
    print("  integrity_check: ok")


def missed_targets(trace: Trace, rows):
    def median(column):
        return statistics.median(float(row[column]) for row in rows)

    peak = max(float(row["peak_rss_mib"]) for row in rows)
    if trace.json_bytes >= JUDGED_BYTES_MIN and median("mb_per_s") < MB_PER_S_MIN:
        yield f"{median('mb_per_s'):.0f} MB/s, wanted at least {MB_PER_S_MIN:.0f}"
    if peak > PEAK_RSS_MIB_MAX:
        yield f"{peak:.0f} MiB peak RSS, wanted at most {PEAK_RSS_MIB_MAX:.0f}"
    if median("db_over_json") > DB_OVER_JSON_MAX:
        yield f"database {median('db_over_json'):.1%} of the JSON, wanted {DB_OVER_JSON_MAX:.0%}"


def bench_size(options, programs, trace: Trace, save):
    """All runs on one trace; returns the rows of the first program."""
    print(f"\n{trace.path.name}: {trace.json_bytes / 1e6:.1f} MB of JSON, "
          f"{trace.gz_bytes / 1e6:.1f} MB gzipped, {trace.events} events")
    print(f"  {'run':<8}" + "".join(f"{column:>14}" for column in SHOWN))
    db = options.cache / f"bench-{os.getpid()}.db"
    need_space(options.cache, trace.json_bytes // 2 + 10**8, "the database")
    warm(trace.path)
    rows = [[] for _ in programs]
    try:
        for run in range(1, options.runs + 1):
            for which, program in enumerate(programs):
                row = ingest(program, trace, db, run)
                save("", RUN_COLUMNS, [row])
                rows[which].append(row)
                print_run(f"{'AB'[which]} {run}" if len(programs) > 1 else str(run), row)
        for which, own in enumerate(rows):
            if len(programs) > 1:
                print(f"  {'AB'[which]}: {programs[which].path}")
            print_summary(own)
        if len(programs) > 1:
            print_pairs(*rows)
            if options.queries or options.verify:  # the database there is B's
                ingest(programs[0], trace, db, 0)
        if options.verify:
            verify(db)
        if options.queries:
            save("-queries", QUERY_COLUMNS,
                 time_queries(programs[0], trace, db, options.query_runs))
    finally:
        remove_database(db)
    return rows[0]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", help="tracedb to measure (default: that of build/release)")
    parser.add_argument("--vs", metavar="PROGRAM_B", help="a second one, in turn: A B A B")
    parser.add_argument("--label", help="what to write as commit of the program")
    parser.add_argument("--vs-label", default="b", help="the same for --vs (default: b)")
    parser.add_argument("--sizes", default="0.1G,2.5G", help="of JSON (default: 0.1G,2.5G)")
    parser.add_argument("--runs", type=int, default=3, help="for each size (default: 3)")
    parser.add_argument("--query-runs", type=int, default=3, help="best of (default: 3)")
    parser.add_argument("--no-queries", dest="queries", action="store_false")
    parser.add_argument("--verify", action="store_true", help="PRAGMA integrity_check afterwards")
    parser.add_argument("--cpus", type=int, help="use the first N cores only")
    parser.add_argument("--fixture", help="a trace as Kineto prints it: .json, .json.gz, .json.xz")
    parser.add_argument("--maker", help="make_trace (default: built where needed)")
    parser.add_argument("--cache", type=folder_path, default=CACHE,
                        help="folder of made traces and of the database (default: %(default)s)")
    parser.add_argument("--no-save", dest="save", action="store_false",
                        help="write nothing to bench/runs")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    options = parser.parse_args()
    if options.runs < 1 or options.query_runs < 1:
        parser.error("--runs and --query-runs are at least 1")
    return options


def bench(options) -> int:
    sizes = [parse_size(size) for size in options.sizes.split(",")]
    programs = [find_program(options.program, options.label)]
    if options.vs:
        programs.append(find_program(options.vs, options.vs_label))
    fixture = find_fixture(options.fixture)
    options.cache.mkdir(parents=True, exist_ok=True)
    traces = [ensure_trace(fixture, size, options.cache, options.maker) for size in sizes]
    if options.cpus:  # after the traces are made
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cpus])
    stem = f"{datetime.date.today().isoformat()}-{machine_tag()}"

    def save(suffix, columns, rows):
        if options.save:
            append_csv(RUNS / f"{stem}{suffix}.csv", columns, rows)

    print(f"{cpu_model()}, {machine()['cores']} cores, load {os.getloadavg()[0]:.2f}, "
          f"commit {programs[0].commit}, {programs[0].version or 'no --version'}")
    print(f"floor of peak RSS (that of the launcher): {checked(['true']).peak_rss_mib:.1f} MiB")
    missed = []
    for trace in traces:
        rows = bench_size(options, programs, trace, save)
        missed += [f"{trace.path.name}: {what}" for what in missed_targets(trace, rows)]
    for what in missed:
        print(f"target missed: {what}")
    if all(trace.json_bytes < JUDGED_BYTES_MIN for trace in traces):
        print("speed not judged: no trace of 1 GB or more")
    return 1 if missed and options.check else 0


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop the child, remove its database
    try:
        return bench(parse_options())
    except (BenchError, OSError) as error:
        say(f"bench_load: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
