#!/usr/bin/env python3
"""Files and folders that go while the folder they are in is searched, or before they are read: they
are passed over, and the ingest says so.

    vanishing_paths_test.py --program P --shim S
"""
import argparse
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile


def trace(rank, more=""):
    events = [{"ph": "X", "cat": "cpu_op", "name": f"op{rank}{more}", "pid": 1, "tid": 1, "ts": 1,
               "dur": 1}]
    return json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events})


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def names(program, database):
    asked = subprocess.run([program, "query", "--db", database, "--no-header", "--format", "csv",
                            "-c", "SELECT name FROM slices ORDER BY name"],
                           capture_output=True, text=True, check=True)
    return asked.stdout.split()


def expect(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def folder_goes(program, shim, folder):
    """Of three folders each in turn is gone when it is to be opened."""
    for at in (2, 3, 4):
        inputs = os.path.join(folder, f"in{at}")
        for rank in range(3):
            write(os.path.join(inputs, f"node{rank}", f"rank{rank}.json"), trace(rank))
        database = os.path.join(folder, f"{at}.db")
        told = {"LD_PRELOAD": shim, "FAULT_UNDER": inputs, "FAULT_CALLS": "opendir",
                "FAULT_HOW": "once", "FAULT_ERRNO": str(errno.ENOENT), "FAULT_AT": str(at)}
        done = subprocess.run([program, "--db", database, "ingest", inputs], capture_output=True,
                              text=True, env={**os.environ, **told}, check=False)
        expect(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
        expect("is gone since its folder was listed; passed over" in done.stderr, done.stderr)
        expect(len(names(program, database)) == 2, names(program, database))


def file_goes(program, folder):
    """Standard input is read first: by then the folder has been searched."""
    inputs = os.path.join(folder, "files")
    for rank in (1, 2):
        write(os.path.join(inputs, f"rank{rank}.json"), trace(rank))
    database = os.path.join(folder, "files.db")
    with subprocess.Popen([program, "--db", database, "ingest", "-", inputs], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        child.stdin.write(trace(0)[:-1] + ',"more":"' + "x" * 1_000_000)  # more than a pipe holds
        child.stdin.flush()
        os.unlink(os.path.join(inputs, "rank1.json"))
        child.stdin.write('"}')
        child.stdin.close()
        child.stdin = None
        _, stderr = child.communicate()
    expect(child.returncode == 0, f"exit {child.returncode}: {stderr}")
    expect("rank1.json" in stderr and "passed over" in stderr, stderr)
    expect(names(program, database) == ["op0", "op2"], names(program, database))


def all_files_go(program, folder):
    """Nothing is left to load: that is a failure."""
    inputs = os.path.join(folder, "all")
    write(os.path.join(inputs, "rank1.json"), trace(1))
    database = os.path.join(folder, "all.db")
    with subprocess.Popen([program, "--db", database, "ingest", "-", inputs], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as child:
        child.stdin.write(trace(0)[:-1] + ',"more":"' + "x" * 1_000_000)
        child.stdin.flush()
        shutil.rmtree(inputs)
        child.stdin.write('"}')
        child.stdin.close()
        child.stdin = None
        _, stderr = child.communicate()
    expect(child.returncode == 0 and "passed over" in stderr, f"{child.returncode}: {stderr}")
    expect(names(program, database) == ["op0"], names(program, database))
    done = subprocess.run([program, "--db", database, "ingest", inputs], capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 1 and "there is no such file or folder" in done.stderr, done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--shim", required=True)
    options = parser.parse_args()
    program, shim = os.path.abspath(options.program), os.path.abspath(options.shim)
    with tempfile.TemporaryDirectory(prefix="tracedb-vanish-") as folder:
        file_goes(program, folder)
        all_files_go(program, folder)
        if "TRACEDB_SANITIZED" not in os.environ:  # nothing goes in front of a sanitizer
            folder_goes(program, shim, os.path.realpath(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
