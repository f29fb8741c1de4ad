"""Times opening a database, `info`, the report and all canned queries, cold and warm."""

import csv
import ctypes
import mmap
import os
import pathlib
import statistics

import bench_base as base
import bench_figures as figures

PAGE = mmap.PAGESIZE
COLD_SHARE_MAX = 0.01


# ---- a cold cache -------------------------------------------------------------------------------


def cached_share(path: pathlib.Path) -> float:
    """How much of the file the kernel has in memory."""
    size = path.stat().st_size
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        address = ctypes.addressof(anchor := ctypes.c_char.from_buffer(mapped))
        pages = (size + PAGE - 1) // PAGE
        resident = (ctypes.c_ubyte * pages)()
        libc = ctypes.CDLL(None, use_errno=True)
        code = libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), resident)
        del anchor
        if code != 0:
            raise base.BenchError(f"{path}: mincore: {os.strerror(ctypes.get_errno())}")
        return sum(page & 1 for page in resident) / pages


def forget(path: pathlib.Path) -> None:
    """Takes the file out of the kernel's page cache; needs no rights, but that it is synced."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def forget_surely(path: pathlib.Path) -> None:
    forget(path)
    share = cached_share(path)
    if share > COLD_SHARE_MAX:
        raise base.BenchError(f"{path}: {share:.0%} of it stay in the page cache: not cold")


# ---- timing -------------------------------------------------------------------------------------


def query_names(program: base.Program):
    listed = base.output_of([program.path, "query", "--format", "csv"])
    names = [row[0] for row in csv.reader(listed.splitlines())][1:]
    if not names:
        raise base.BenchError(f"{program.path} query: lists no canned queries")
    return names


def commands(program: base.Program, db: pathlib.Path):
    """(what, its command, the most seconds it may take)"""
    own = ["--db", db, "--format", "csv"]
    yield "opening (SELECT 1)", ["query", "-c", "SELECT 1", *own], figures.OPENING_S_MAX
    yield "info", ["info", *own], figures.OPENING_S_MAX
    yield "report", ["-q", "report", "--db", db, "-o", os.devnull], figures.REPORT_S_MAX
    for name in query_names(program):
        if "must be given" in base.output_of([program.path, "query", name, "--explain"]):
            print(f"  {name:<28} needs a parameter: not timed")
            continue
        yield f"query {name}", ["query", name, *own], figures.QUERY_S_MAX


def time_one(program: base.Program, arguments, db: pathlib.Path, runs: int):
    """Medians: (cold, warm). Each cold run has the database read anew; warm ones follow."""
    command = [program.path, *arguments]
    cold = []
    for _ in range(runs):
        forget_surely(db)
        cold.append(base.checked(command).wall_s)
    warm = [base.checked(command).wall_s for _ in range(runs)]
    return statistics.median(cold), statistics.median(warm)


def query_figures(program: base.Program, json_bytes: int, db: pathlib.Path, runs: int):
    """The program itself stays in the cache: what is cold is the database."""
    os.sync()
    base.checked([program.path, "--version"])
    of = figures.size_name(json_bytes)
    print(f"\n  {'':<28}{'s cold':>10}{'s warm':>10}")
    for what, arguments, most in commands(program, db):
        cold, warm = time_one(program, arguments, db, runs)
        print(f"  {what:<28}{cold:>10.4f}{warm:>10.4f}", flush=True)
        yield figures.Figure(what, of, "s cold", cold, at_most=most)
        yield figures.Figure(what, of, "s warm", warm, at_most=most)
