"""What all the benches share: measuring a child, naming the machine, making traces, keeping rows.

No bench by itself. Standard library only.
"""

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
import subprocess
import sys
import tempfile
from typing import NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "bench" / "runs"
CACHE = ROOT / "build" / "bench-data"
FIXTURE_NAME = "megatron32-stack.pt.trace.json"


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


def use_cores(count: Optional[int]) -> None:
    """This process and its children stay on the first so many of the cores that it may use."""
    if count:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def shown(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def runs_path(suffix: str) -> pathlib.Path:
    return RUNS / f"{datetime.date.today().isoformat()}-{machine_tag()}{suffix}"


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


def where_line(program: Program) -> str:
    return (f"{cpu_model()}, {machine()['cores']} cores, load {os.getloadavg()[0]:.2f}, "
            f"commit {program.commit}, {program.version or 'no --version'}, {now()}")


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


# ---- small things -------------------------------------------------------------------------------


def folder_path(text: str) -> pathlib.Path:
    return pathlib.Path(text).resolve()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run_main(name: str, work) -> int:
    """Runs it; errors are told in words, and what is stopped removes its databases."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return work()
    except (BenchError, OSError) as error:
        say(f"{name}: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


def remove_database(db: pathlib.Path) -> None:
    for path in db.parent.glob(db.name + "*"):
        path.unlink()
