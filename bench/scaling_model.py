"""What more cores would give: arithmetic on the stages' costs, and which stage limits.

An ingest is a pipeline: one thread reads, hashes and finds the events' ends, some parse, one builds
rows and pages; from three cores on unpacking has a thread of its own, from four on gathering,
writing rows and writing pages have, and from eight on hashing has, and three threads (four from
sixteen) decode pieces of the file. It goes at the speed of its slowest part, or of the cores that
there are. When it is over, derived rows are made and the database lands. Files of one command are
read and derived side by side from four cores on, and land one after the other while the next are
read.
The model has no cost for handing on, waiting, memory, or numbering the rows of files that are read
side by side: what it says is the most that is possible.
"""

import pathlib
import re
import statistics
from typing import NamedTuple

import bench_base as base
import bench_figures as figures

CORES = (1, 2, 8, 32)
RANKS = (8, 64)
PARSERS_MAX = 6  # as src/memory/load_limits.cc
CORES_MIN, FILES_MAX = 4, 16  # of files read at a time, as src/ingest/load/trace_loads.cc
STAGE = re.compile(r"^(\S.*?) +\d+ MB/s +([\d.]+) CPU s/GB$", re.M)
PARSERS = re.compile(r"^parsers at most +(\d+)", re.M)
STAGES = ("read and unpack", "decode pieces", "text of pieces", "hash", "find event ends", "parse",
          "build rows and pages", "build beside a writer", "gather from rows", "write rows",
          "write pages")
WRITER_CORES_MIN = 4  # as has_cores_to_spare in include/tracedb/memory/load_limits.h
# As src/memory/load_limits.cc; with pieces a thread hashes beside the reader.
PIECES_CORES_MIN, PIECES_THREADS = 8, 3
MANY_CORES_MIN, MANY_PIECES_THREADS = 16, 4


class Costs(NamedTuple):
    """Seconds a GB of JSON: CPU for the stages, wall for what comes after them."""
    unpack: float
    decode: float  # pieces of the file
    copy: float  # their text
    digest: float
    ends: float
    parse: float
    build: float
    build_beside: float  # while other threads gather and write
    gather: float
    write: float  # rows
    flush: float  # pages
    derive: float  # of one file
    land: float  # as a new database
    add_derive: float  # of a file that is added
    add: float  # its landing in the database that is there
    all_cpu: float  # CPU of the whole ingest of one file into a new database
    db_over_json: float
    parsers_max: int  # with no memory for pieces


class Speed(NamedTuple):
    mb_per_s: float
    limit: str


# ---- the model ----------------------------------------------------------------------------------


def parsers(costs: Costs, cores: int) -> int:
    # The memory of one is for pieces, from many cores on that of two.
    most = costs.parsers_max - sum(cores >= least for least in (PIECES_CORES_MIN, MANY_CORES_MIN))
    return min(max(cores - 1, 1), PARSERS_MAX, most)


def streaming(costs: Costs, cores: int):
    """(seconds a GB, what limits) while events come."""
    framing = costs.digest + costs.ends
    count = parsers(costs, cores)
    if cores >= PIECES_CORES_MIN:
        unpack = costs.decode + costs.copy
        decoders = MANY_PIECES_THREADS if cores >= MANY_CORES_MIN else PIECES_THREADS
        reading = [(costs.decode / decoders, "decoding of pieces"),
                   (costs.copy, "text of pieces"), (costs.ends, "reader")]
    elif count > 1:
        unpack, reading = costs.unpack, [(costs.unpack, "unpacking"), (framing, "reader")]
    else:
        unpack, reading = costs.unpack, [(costs.unpack + framing, "reader")]
    if cores >= WRITER_CORES_MIN:
        build = costs.build_beside + costs.gather + costs.write + costs.flush
        building = [(costs.build_beside, "builder"), (costs.gather, "gatherer"),
                    (costs.write, "writer"), (costs.flush, "writer of pages")]
    else:
        build, building = costs.build, [(costs.build, "builder")]
    return max(*reading, (costs.parse / count, f"{count} parsers"), *building,
               ((unpack + framing + costs.parse + build) / cores, "cores"))


def in_turn(*parts) -> Speed:
    """(seconds a GB, name) of what comes one after the other; the longest limits."""
    return Speed(1e3 / sum(seconds for seconds, _ in parts), max(parts)[1])


def one_file(costs: Costs, cores: int) -> Speed:
    return in_turn(streaming(costs, cores), (costs.derive, "deriving"), (costs.land, "landing"))


def rank_files(costs: Costs, cores: int, ranks: int) -> Speed:
    """One command: the first file becomes the database, the others are added."""
    added = (ranks - 1) / ranks
    derive = (costs.derive * (1 - added) + costs.add_derive * added, "deriving")
    land = (costs.land * (1 - added) + costs.add * added, "landing")
    files = 1 if cores < CORES_MIN else min(cores, FILES_MAX, ranks)
    if files == 1:
        return in_turn(streaming(costs, cores), derive, land)
    each, limit = streaming(costs, cores // files)
    cpu = costs.unpack + costs.digest + costs.ends + costs.parse + costs.build + derive[0] + land[0]
    seconds, what = max(((each + derive[0]) / files, f"{limit} and deriving of {files} files"),
                        land, (cpu / cores, "cores"))
    return Speed(1e3 / seconds, what)


def own_databases(costs: Costs, cores: int, ranks: int) -> Speed:
    """As many ingests at a time as there are cores, each into its own database."""
    each = one_file(costs, cores).mb_per_s * ranks
    together = cores / costs.all_cpu * 1e3
    return Speed(together, "cores") if together < each else Speed(each, "files")


# ---- measuring its costs ------------------------------------------------------------------------


def find_stages(program: base.Program) -> pathlib.Path:
    path = program.path.parent.parent / "bench" / "bench_stages"
    if not path.is_file():
        raise base.BenchError(f"{path}: is not built; it gives the model its costs")
    return path


def measure_stages(program: base.Program, trace: base.Trace, runs: int):
    """({stage: median CPU s/GB}, parsers at most)"""
    command = [find_stages(program), trace.path]
    base.warm(trace.path)
    found, parsers_max = [], None
    for _ in range(runs):
        said = base.output_of(command)
        found.append({stage: float(cost) for stage, cost in STAGE.findall(said)})
        parsers_max = PARSERS.search(said)
        if parsers_max is None or set(STAGES) - set(found[-1]):
            raise base.BenchError(f"{command[0]} {trace.path}: does not name its stages:\n{said}")
    stages = {stage: statistics.median(run[stage] for run in found) for stage in STAGES}
    return stages, int(parsers_max[1])


# ---- showing ------------------------------------------------------------------------------------


def cost_lines(costs: Costs):
    yield "| stage | runs on | s/GB | GB/s alone |"
    yield "|---|---|---:|---:|"
    for stage, where, cost in (
            ("read and unpack", "reader; from three cores on a thread of its own", costs.unpack),
            ("decode pieces", f"{PIECES_THREADS} threads from eight cores on, "
                              f"{MANY_PIECES_THREADS} from sixteen", costs.decode),
            ("text of pieces", "in place of unpacking, from eight cores on", costs.copy),
            ("hash", "reader; from eight cores on a thread of its own", costs.digest),
            ("find event ends", "reader", costs.ends),
            ("parse", f"1 to {min(PARSERS_MAX, costs.parsers_max)} threads", costs.parse),
            ("build rows and pages", "one thread", costs.build),
            ("build beside a writer", "in place of that, from four cores on", costs.build_beside),
            ("gather from rows", "a thread beside it", costs.gather),
            ("write rows", "another", costs.write), ("write pages", "another", costs.flush),
            ("derive (wall)", "one file, after its events", costs.derive),
            ("land as a new database (wall)", "one file", costs.land),
            ("derive (wall)", "a rank's file that is added", costs.add_derive),
            ("land in the database that is there (wall)", "the same", costs.add)):
        yield f"| {stage} | {where} | {cost:.3f} | {1 / cost if cost else float('inf'):.1f} |"


def model_lines(costs: Costs, measured):
    """measured: {(cores, files): MB/s}; files is 1 or the number of ranks."""
    heads = ["one file", *(f"{ranks} ranks, one command" for ranks in RANKS),
             f"{RANKS[-1]} ranks, each its own database"]
    yield "| cores | " + " | ".join(heads) + " |"
    yield "|---:|" + "---|" * len(heads)
    for cores in CORES:
        speeds = [(one_file(costs, cores), 1),
                  *((rank_files(costs, cores, ranks), ranks) for ranks in RANKS),
                  (own_databases(costs, cores, RANKS[-1]), None)]
        cells = []
        for speed, files in speeds:
            was = measured.get((cores, files))
            cells.append(f"{figures.number(speed.mb_per_s)} MB/s: {speed.limit}"
                         + (f" (measured {figures.number(was)})" if was else ""))
        yield f"| {cores} | " + " | ".join(cells) + " |"
    disk = own_databases(costs, CORES[-1], RANKS[-1]).mb_per_s * costs.db_over_json
    yield ""
    yield (f"The disk is not in the model; the last figure of the last line writes "
           f"{figures.number(disk)} MB/s.")
