#!/usr/bin/env python3
"""Instructions of ingests, of an append and of a query, against those that are recorded.

    instructions_test.py --program P --maker M --configuration C

Counted by callgrind, so neither the machine's speed nor its load matters: two runs differ by less
than 0.1 %. 10 % more than instructions.csv says is a failure; 10 % less passes, and asks to renew
it. Counts hold for one compiler and its options: one that has no line there is skipped (exit 77).
TRACEDB_RECORD_INSTRUCTIONS=1 in the environment writes what it counts into instructions.csv.
"""
import argparse
import collections
import csv
import ctypes
import gzip
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE / "instructions.csv"
FIXTURES = HERE.parent.parent / "fixtures" / "megatron"
LOG = HERE.parent.parent / "fixtures" / "megatron_dp.log.gz"
COLUMNS = ["configuration", "libraries", "case", "own", "all"]
SKIPPED = 77
MORE_MAX = 0.10
OWN_SHARE_MIN = 0.2
COUNTS_FROM = 100_000  # instructions; libraries that did less are of no account
TRACE_SIZE = "20M"  # so much that the events weigh more than starting and the schema
LOG_BYTES = 10_000_000


class Counted(NamedTuple):
    own: int  # in the program's own code
    all: int  # and in its libraries
    objects: frozenset  # files of what ran


# ---- counting -----------------------------------------------------------------------------------


def read_counts(path, program):
    """Sums callgrind's lines by the object that they are in, calls without what they called."""
    names, counts = {}, collections.Counter()
    here, inclusive = None, False
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            named = re.match(r"c?ob=\((\d+)\)(?: (.*))?", line)
            if named:
                if named[2]:
                    names[named[1]] = named[2].strip()
                if line.startswith("ob="):
                    here = named[1]
            elif line.startswith("calls="):
                inclusive = True
            elif re.match(r"[+*\d-]", line):
                if not inclusive:
                    counts[here] += int(line.split()[1])
                inclusive = False
    by_name = {names[number]: count for number, count in counts.items()}
    own = by_name.get(str(program), 0)
    if own == 0:
        sys.exit(f"{path}: no instructions of {program}; is it stripped, or callgrind another?")
    return Counted(own, sum(by_name.values()),
                   frozenset(name for name, number in by_name.items() if number > COUNTS_FROM))


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode != 0:
        words = " ".join(str(word) for word in command)
        sys.exit(f"exit code {done.returncode} from: {words}\n{done.stderr[-2000:]}")


def count(folder, program, *arguments):
    """Threads take turns under valgrind; --fair-sched makes the turns the same each time."""
    out = folder / "callgrind.out"
    run(["valgrind", "--tool=callgrind", "--fair-sched=try", f"--callgrind-out-file={out}",
         program, *arguments])
    return read_counts(out, program)


def write_log(path):
    """A log as it is, and then its iterations again and again, under numbers that rise."""
    text = gzip.decompress(LOG.read_bytes()).decode()
    head = re.compile(r"iteration +(\d+)/ +\d+ ")
    numbers = [int(number) for number in head.findall(text)]
    block = text[text.rindex("\n", 0, head.search(text).start()) + 1:]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        for turn in range(1, LOG_BYTES // len(block) + 1):
            first = turn * (max(numbers) + 1)
            file.write(head.sub(lambda one, first=first:
                                f"iteration {first + int(one[1]):8d}/ 9000000 ", block))


def count_cases(program, maker):
    ranks = [FIXTURES / f"rank{rank}.pt.trace.json.gz" for rank in range(8)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace, fresh, database = folder / "rank5.json.gz", folder / "fresh.db", folder / "all.db"
        log, of_log = folder / "log.txt", folder / "log.db"
        write_log(log)
        run([maker, "--from", ranks[5], "--size", TRACE_SIZE, "--cut", "--out", trace])
        run([program, "ingest", *ranks[:7], "--db", database, "-q"])
        one = ("--threads", "1", "-q")
        yield "ingest", count(folder, program, "ingest", trace, "--db", fresh, *one)
        yield "log", count(folder, program, "ingest", log, "--db", of_log, "-q")
        yield "append", count(folder, program, "ingest", ranks[7], "--db", database, *one)
        yield "nccl_stalls", count(folder, program, "query", "nccl_stalls", "--db", database,
                                   "--format", "csv")


def libraries(objects):
    """The versions of what did the work; the file names of SQLite and libc do not tell theirs."""
    versions = []
    for path in objects:
        name = pathlib.Path(path).name
        if name.startswith("libsqlite3."):
            version = ctypes.CDLL(path).sqlite3_libversion
            version.restype = ctypes.c_char_p
            versions.append("sqlite-" + version().decode())
        elif name.startswith("libc."):
            versions.append("-".join(platform.libc_ver()))
        elif re.match(r"lib\w+\.so", name):
            versions.append(name)
    return " ".join(sorted(versions))


# ---- judging ------------------------------------------------------------------------------------


def read_records():
    if not RECORDS.exists():
        return []
    with open(RECORDS, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_records(rows):
    rows = sorted(rows, key=lambda row: (row["configuration"], row["case"]))
    with open(RECORDS, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def judge(case, what, counted, recorded):
    """True when it is no more than allowed."""
    change = counted / recorded - 1
    verdict = "ok"
    if change > MORE_MAX:
        verdict = f"FAILED: more than {MORE_MAX:.0%} above the record"
    elif change < -MORE_MAX:
        verdict = "ok; so much faster that the record should be renewed: see tests/README.md"
    print(f"{case:<12} {what:<12} {counted:>13,}  recorded {recorded:>13,}  {change:+7.2%}  "
          f"{verdict}", flush=True)
    return change <= MORE_MAX


def compare(cases, records, used):
    """The exit code. Where libraries do nearly all the work, other ones leave nothing to judge."""
    passed, judged = True, True
    for case, counted in cases.items():
        record = next((row for row in records if row["case"] == case), None)
        if record is None:
            print(f"{case:<12} FAILED: has no record; see tests/README.md")
            passed = False
            continue
        passed &= judge(case, "own code", counted.own, int(record["own"]))
        if record["libraries"] == used:
            passed &= judge(case, "all", counted.all, int(record["all"]))
        else:
            print(f"{case:<12} all          {counted.all:>13,}  not judged: other libraries\n"
                  f"    here:     {used}\n    recorded: {record['libraries']}")
            if counted.own < OWN_SHARE_MIN * counted.all:
                judged = False
                print(f"{case:<12} SKIPPED: its own code is too little to tell")
    return 1 if not passed else 0 if judged else SKIPPED


def why_skipped(configuration, records, recording):
    if not shutil.which("valgrind"):
        return "there is no valgrind (./dev test installs it)"
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        return "this processor has no AVX2, and valgrind shows the program what there is"
    if not records and not recording:
        return (f"nothing is recorded for this build ({configuration}); "
                "TRACEDB_RECORD_INSTRUCTIONS=1 records it")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--maker", type=pathlib.Path, required=True)
    parser.add_argument("--configuration", required=True, help="compiler and options, in words")
    options = parser.parse_args()
    recording = os.environ.get("TRACEDB_RECORD_INSTRUCTIONS", "0") not in ("", "0")
    everything = read_records()
    records = [row for row in everything if row["configuration"] == options.configuration]
    skipped = why_skipped(options.configuration, records, recording)
    if skipped:
        print(f"SKIPPED, instructions were not counted: {skipped}")
        return SKIPPED
    program = options.program.resolve()
    cases = dict(count_cases(program, options.maker))
    used = libraries(frozenset().union(*(case.objects for case in cases.values())))
    print(f"{options.configuration}; {used}")
    if recording:
        write_records([row for row in everything if row not in records] +
                      [{"configuration": options.configuration, "libraries": used, "case": case,
                        "own": counted.own, "all": counted.all}
                       for case, counted in cases.items()])
        print(f"recorded in {RECORDS}")
        return 0
    return compare(cases, records, used)


if __name__ == "__main__":
    sys.exit(main())
