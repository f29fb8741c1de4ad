"""A running `tracedb serve-csv` and its database, for the checks of serve_test.py."""
import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
RANK0 = os.path.join(HERE, "..", "..", "fixtures", "megatron", "rank0.pt.trace.json.gz")
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
RANK1 = RANK0.replace("rank0", "rank1")

# Names as somebody who means harm would choose them; each is a kernel of the trace.
HOSTILE_NAMES = ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "-17", "+5e3",
                 "<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "a,b\"c\nd", "ä€😀",
                 "\u202egnp.exe"]


def hostile_trace():
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1000 + 10 * i,
               "dur": 2, "args": {"device": 0, "stream": 7}}
              for i, name in enumerate(HOSTILE_NAMES)]
    return json.dumps({"traceEvents": events, "distributedInfo": {"rank": 9}})


class Server:
    """Until it is left: with Server(program, database, "--token", "x") as server."""

    def __init__(self, program, database, *options, environment=None):
        command = [program, "--db", database, "serve-csv", "--port", "0", *options]
        options = os.environ.get("TSAN_OPTIONS", "") + f" suppressions={HERE}/thread_sanitizer.txt"
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "TSAN_OPTIONS": options, **(environment or {})})
        self.line = self.process.stderr.readline().decode()
        if " is at http://" not in self.line:
            rest = self.process.stderr.read().decode()
            raise AssertionError(f"the start-up line says no address: {self.line}{rest}")
        self.url = self.line.split(" is at ")[1].split()[0].split("?")[0]
        self.port = urllib.parse.urlsplit(self.url).port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.process.stdout.close()

    def get(self, path, headers=None, method="GET", seconds=300):
        """(status, headers in small letters, body), on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            body = answer.read()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body
        finally:
            connection.close()

    def text(self, path, **more):
        status, headers, body = self.get(path, **more)
        assert status == 200, (path, status, body)
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return body.decode("utf-8")

    def connect(self, seconds=300, receive_bytes=None):
        client = socket.socket()
        client.settimeout(seconds)
        if receive_bytes is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.connect(("127.0.0.1", self.port))
        return client

    def raw(self, request, seconds=300):
        """All that comes back for these bytes until the server closes; b"" when it is reset."""
        with self.connect(seconds) as client:
            got = b""
            try:
                client.sendall(request)
                while piece := client.recv(65536):
                    got += piece
            except (ConnectionResetError, BrokenPipeError):
                pass
            return got

    def request_bytes(self, path, *headers):
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_kib(self, what="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(what + ":"))

    def end(self, number=signal.SIGTERM):
        """(exit code, seconds it took, what it wrote to standard error)."""
        begin = time.monotonic()
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=300)
        return self.process.returncode, time.monotonic() - begin, errors.decode()


# Sanitizers take memory and time of their own, so bounds on them are not looked at there.
BOUNDS_HOLD = "TRACEDB_SANITIZED" not in os.environ


def wait_until(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def ingest(program, database, *inputs):
    subprocess.run([program, "--db", database, "-q", "ingest", *inputs], check=True)


def make_database(program, folder):
    """Two traces, one of them hostile, a small view and a table that fills many pages."""
    database = os.path.join(folder, "trace.db")
    hostile = os.path.join(folder, "hostile.json")
    with open(hostile, "w", encoding="utf-8") as file:
        file.write(hostile_trace())
    ingest(program, database, RANK0, hostile)
    with sqlite3.connect(database) as db:
        db.execute("CREATE VIEW thousand AS " + NUMBERS.format(1000) + "SELECT i FROM n")
        db.execute("CREATE TABLE brittle (i INTEGER, filler TEXT)")
        db.executemany("INSERT INTO brittle VALUES (?, ?)",
                       ((i, "x" * 100) for i in range(100_000)))
    db.close()
    return database


def long_database(database):
    """Beside that of make_database: a view of ten million rows, and one that never ends."""
    path = os.path.join(os.path.dirname(database), "long.db")
    if not os.path.exists(path):
        shutil.copy(database, path)
        with sqlite3.connect(path) as db:
            db.execute("CREATE VIEW ten_million AS " + NUMBERS.format(10_000_000) +
                       "SELECT i, 'kernel ' || i AS name FROM n")
            db.execute("CREATE VIEW endless AS " + NUMBERS.format(10**15) +
                       "SELECT count(*) AS rows FROM n")
        db.close()
    return path
