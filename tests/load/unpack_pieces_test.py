#!/usr/bin/env python3
"""A file that is unpacked in pieces, side by side, makes the database of one that is unpacked from
front to end: whole, cut off, with damage in its middle, in several members.

    unpack_pieces_test.py --program P

One line for each; exit 1 if any fails. Pieces want eight cores or --threads 7, and 4 MiB.
"""
import argparse
import os
import random
import subprocess
import sys
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "text"))
from side_by_side_test import all_rows  # noqa: E402
from test_check import temporary_folder  # noqa: E402

TIMEOUT_S = 300
EVENTS = 220_000


def trace_text(chance):
    lines = ['{"schemaVersion": 1, "distributedInfo": {"rank": 3}, "traceEvents": [']
    ts = 1_000_000
    for i in range(EVENTS):
        ts += chance.randrange(1, 90)
        if i % 3 == 0:
            lines.append(
                f'{{"ph": "X", "cat": "kernel", "name": "kernel{chance.randrange(200)}", "pid": 0, '
                f'"tid": {i % 4}, "ts": {ts}.{chance.randrange(1000):03d}, "dur": '
                f'{chance.randrange(90)}.{chance.randrange(1000):03d}, "args": {{"device": 0, '
                f'"stream": {i % 4}, "correlation": {i}, "addr": {chance.randrange(1 << 62)}}}}},')
        else:
            lines.append(
                f'{{"ph": "X", "cat": "cpu_op", "name": "aten::op{i % 90}", "pid": 1, "tid": 1, '
                f'"ts": {ts}.{chance.randrange(1000):03d}, "dur": {chance.randrange(40)}.5, '
                f'"args": {{"External id": {i}, "Record function id": '
                f'{chance.randrange(1 << 40)}}}}},')
    lines.append('{"ph": "i", "name": "end", "pid": 1, "tid": 1, "ts": 1}]}')
    return "\n".join(lines).encode()


def packed(text, level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(text) + packer.flush()


def has_pieces(process):
    """Whether the program has threads for pieces, while it runs."""
    while process.poll() is None:
        try:
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/comm", encoding="utf-8") as name:
                    if name.read().strip() == "trace-inflate":
                        return True
        except OSError:
            pass
        time.sleep(0.001)
    return False


def ingest(program, trace, database, threads):
    """(whether pieces were seen, exit code, what was said)"""
    with subprocess.Popen([program, "ingest", "--threads", str(threads), "--memory", "256M",
                           "--db", database, trace],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        seen = has_pieces(process)
        _, said = process.communicate(timeout=TIMEOUT_S)
    return seen, process.returncode, said


def check(program, folder, name, data):
    trace = os.path.join(folder, "rank3.pt.trace.json.gz")
    with open(trace, "wb") as file:
        file.write(data)
    found = {}
    for threads in (1, 7):
        database = os.path.join(folder, f"{name.replace(' ', '_')}{threads}.db")
        found[threads] = ingest(program, trace, database, threads), all_rows(database)
    (alone, code, said), rows = found[1]
    (seen, piece_code, piece_said), piece_rows = found[7]
    problems = [f"other rows in {table}" for table in sorted(rows)
                if piece_rows.get(table) != rows[table]]
    if alone or not seen:
        problems.append(f"pieces with one thread: {alone}, with seven: {seen}")
    if (code, piece_code) != (0, 0):
        problems.append(f"exit {code} and {piece_code}: {said} {piece_said}")
    print(f"{'FAILED' if problems else 'ok'} {name}" + "".join(f"\n  {text}" for text in problems),
          flush=True)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    chance = random.Random(17)
    text = trace_text(chance)
    whole = packed(text)
    damaged = bytearray(whole)
    damaged[len(whole) * 3 // 4] ^= 0x10
    middle = text.index(b"\n", len(text) // 2)
    cases = {
        "whole": whole,
        "packed quickly": packed(text, 1),
        "cut off": whole[:len(whole) * 4 // 5],
        "damaged": bytes(damaged),
        "two members": packed(text[:middle]) + packed(text[middle:]),
        "bytes after it": whole + b"and something else",
    }
    assert min(map(len, cases.values())) > 4 << 20, "too small for pieces"
    with temporary_folder() as folder:
        passed = [check(program, folder, name, data) for name, data in cases.items()]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
