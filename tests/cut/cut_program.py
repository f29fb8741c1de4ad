"""Runs the program, and reads what it makes with Python's own modules."""
import glob
import gzip
import json
import os
import sqlite3
import subprocess


class Program:
    def __init__(self, path, folder, fixtures):
        self.path = path
        self.folder = folder
        self.fixtures = os.path.abspath(fixtures)
        self.made = {}

    def run(self, *arguments, ok=True):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True,
                              check=False, timeout=1200)
        if ok and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.returncode} {done.stderr}")
        return done

    def file(self, name):
        return os.path.join(self.folder, name)

    def ingested(self, *traces, name=None, options=()):
        """A database of these traces; the same ones are ingested once."""
        key = (traces, tuple(options))
        if name is None and key in self.made:
            return self.made[key]
        database = self.file(name or f"{len(self.made)}.db")
        if os.path.exists(database):
            os.remove(database)
        self.run("--db", database, "ingest", "-q", *options, *traces)
        if name is None:
            self.made[key] = database
        return database

    def fixture_files(self):
        """Every trace of the fixtures, by folder and name."""
        found = sorted(glob.glob(os.path.join(self.fixtures, "*", "*.json*")))
        return [path for path in found if not path.endswith(".md")]

    def cut(self, database, name, *options):
        """What the cut holds, as json.load gives it."""
        path = self.file(name)
        self.run("--db", database, "cut", "-q", "-o", path, *options)
        return load(path)


def load(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else \
        open(path, encoding="utf-8")
    with opened as file:
        return json.load(file, parse_float=str)


CONNECTED = {}  # database: (the file it was, connection): opening one reads all views


def rows(database, sql, *values):
    status = os.stat(database)
    file = (status.st_ino, status.st_size, status.st_mtime_ns)
    connected, connection = CONNECTED.get(database, (None, None))
    if connected != file:
        if connection is not None:
            connection.close()
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        CONNECTED[database] = (file, connection)
    return connection.execute(sql, values).fetchall()


def nanoseconds(text):
    """1.005 microseconds as 1005, without a float on the way."""
    text = str(text)
    sign = -1 if text.startswith("-") else 1
    whole, _, rest = text.lstrip("-").partition(".")
    return sign * (int(whole) * 1000 + int((rest + "000")[:3]))
