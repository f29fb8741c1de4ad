#!/usr/bin/env python3
"""Real numbers of Nsight Compute, none lost and none changed.

    ncu_values_test.py --program P

Saved results of a Megatron-LM iteration (an .npz a metric: values, running sums of the GPU time,
kernel ids, unit) are written as the CSV that ncu prints, ingested, and asked for with ncu_series:
the same doubles must come back, bit for bit. Our own CSVs are ingested as they are: every numeric
cell, counted by Python's csv, must be a row with that number. These files lie outside the
repository: without them it says so, and has checked made up ones only.
"""
import argparse
import ast
import csv
import decimal
import glob
import io
import lzma
import os
import random
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("TRACEDB_SHARED") or os.path.join(HERE, "..", "..", "..", "shared")
TIME = "gpu__time_duration.sum"
IDENTITY = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
            "Block Size", "Grid Size", "Device", "CC"]
PREAMBLE = "iteration 1 | loss 10.5\n==PROF== Connected to process 7 (/usr/bin/python3)\n"
OPTIONS = None


def array_of(npy):
    """The values of a .npy file's bytes; of an array of texts without dimensions that text."""
    length = struct.unpack("<H", npy[8:10])[0]
    header, data = ast.literal_eval(npy[10:10 + length].decode()), npy[10 + length:]
    if header["descr"].startswith("<U"):
        return data.decode("utf-32-le").rstrip("\0")
    code = {"<f8": "d", "<i8": "q"}[header["descr"]]
    return list(struct.unpack(f"<{len(data) // 8}{code}", data))


def arrays_of(path):
    with zipfile.ZipFile(path) as archive:
        return [array_of(archive.read(f"arr_{number}.npy")) for number in range(4)]


def metric_of(name):
    """launch__grid_siz_launch__grid_size.npz: a metric is cut short, its part is whole."""
    stem = name.removesuffix(".npz")
    if stem.startswith("launch__"):
        return "launch__" + stem.split("launch__")[-1]
    for part in ("_sum_pct_of_peak_sustained_elapsed", "_sum_per_second", "_avg", "_min", "_max",
                 "_sum"):
        if stem.endswith(part):
            rest = part[1:].replace("_", ".", 1) if part.startswith("_sum_") else part[1:]
            return stem.removesuffix(part) + "." + rest
    raise ValueError(name)


def csv_of(columns, durations, unit, ids=None):
    """What ncu --csv --page raw prints of {metric: (values, unit)}."""
    out = io.StringIO()
    out.write(PREAMBLE)
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(IDENTITY + list(columns) + [TIME])
    writer.writerow([""] * len(IDENTITY) + [unit_of for _, unit_of in columns.values()] + [unit])
    for row, duration in enumerate(durations):
        kernel = row if ids is None else ids[row]
        name = f"kernel_{row % 50}<(int){row % 3}>(float *)"
        writer.writerow([kernel, 7, "python3", "node", name, 1, 7, "(128, 1, 1)", "(16, 1, 1)", 0,
                         "8.0"] + [repr(values[row]) for values, _ in columns.values()]
                        + [repr(duration)])
    return out.getvalue()


def run(*arguments):
    done = subprocess.run([OPTIONS.program, *arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


def bits(values):
    return [struct.pack("<d", value) for value in values]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tracedb_ncu.")
        self.db = os.path.join(self.folder.name, "t.db")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def series(self, metric):
        text = run("query", "ncu_series", "-p", f"metric={metric}", "--db", self.db)
        return list(csv.DictReader(io.StringIO(text)))

    def check_series(self, metric, values, sums, ids, unit):
        rows = self.series(metric)
        self.assertEqual([int(row["kernel"]) for row in rows], ids)
        self.assertEqual(bits(float(row["value"]) for row in rows), bits(values))
        self.assertEqual(bits(float(row["gpu_time"]) for row in rows), bits(sums))
        self.assertEqual({row["unit"] for row in rows}, {unit})


class SeriesComeBack(Folder):
    def test_made_up_numbers(self):
        chance = random.Random(1)
        durations = [chance.randrange(1, 10 ** 6) / 1e6 for _ in range(2000)]
        values = [chance.choice([0.0, chance.random(), chance.random() * 10 ** 9, 1e-6])
                  for _ in durations]
        path = self.write("made.csv", csv_of({"dram__bytes_read.sum": (values, "Mbyte")}, durations,
                                             "msecond"))
        run("ingest", path, "--db", self.db)
        total, sums = 0.0, []
        for duration in durations:
            total += duration
            sums.append(total)
        self.check_series("dram__bytes_read.sum", values, sums, list(range(2000)), "Mbyte")
        # And in base units: the double that is nearest to the decimal number.
        for row, value in zip(self.series("dram__bytes_read.sum"), values):
            exact = decimal.Decimal(repr(value)).scaleb(6)
            self.assertEqual(float(row["value_si"]), float(exact))

    def test_saved_results(self):
        paths = sorted(glob.glob(os.path.join(SHARED, "samples", "ncu", "saved_results", "*.npz")))
        if not paths:
            self.skipTest("NOT RUN: there are no saved results in " + SHARED)
        columns, expected = {}, {}
        for path in paths:
            values, sums, ids, unit = arrays_of(path)
            metric = metric_of(os.path.basename(path))
            expected[metric] = (values, sums, ids, unit)
            if metric == TIME:
                durations, time_unit = values, unit
            else:
                columns[metric] = (values, unit)
        self.write("job/extracted_data.csv", csv_of(columns, durations, time_unit))
        run("ingest", os.path.join(self.folder.name, "job"), "--db", self.db)
        for metric, arrays in expected.items():
            with self.subTest(metric):
                self.check_series(metric, *arrays)

    def test_batches_are_one_series(self):
        """As they come from --launch-skip: ids from 0 in each, names not in order as texts."""
        durations = [(i % 97 + 1) / 1000 for i in range(1150)]
        values = [i * 3.5 for i in range(1150)]
        for batch in range(12):
            part = slice(batch * 100, batch * 100 + 100)
            self.write(f"job/batch_{batch}.csv",
                       csv_of({"dram__bytes_write.sum": (values[part], "Kbyte")}, durations[part],
                              "msecond"))
        run("ingest", os.path.join(self.folder.name, "job"), "--db", self.db)
        total, sums = 0.0, []
        for duration in durations:
            total += duration
            sums.append(total)
        self.check_series("dram__bytes_write.sum", values, sums, list(range(1150)), "Kbyte")


class OwnFiles(Folder):
    def check_file(self, text):
        rows = list(csv.reader(io.StringIO(text[text.index('"ID"'):])))
        header, units, kernels = rows[0], rows[1], rows[2:]
        path = self.write("own.csv", text)
        run("ingest", path, "--db", self.db)
        db = sqlite3.connect(self.db)
        found = {}
        for kernel, metric, value, unit, written in db.execute(
                "SELECT kernel, metric, value, unit, value_text FROM ncu_metrics"):
            self.assertNotIn((kernel, metric), found)
            found[kernel, metric] = (value, unit, written)
        db.close()
        numbers = 0
        for kernel, cells in enumerate(kernels):
            for metric, unit, cell in list(zip(header, units, cells))[len(IDENTITY):]:
                if cell == "":
                    self.assertNotIn((kernel, metric), found)
                    continue
                value, stored_unit, written = found.pop((kernel, metric))
                self.assertEqual((stored_unit, written), (unit, cell))
                try:
                    number = decimal.Decimal(cell.replace(",", ""))
                except decimal.InvalidOperation:
                    number = None
                if number is None or not number.is_finite():
                    self.assertIsNone(value)
                    continue
                numbers += 1
                self.assertEqual(float(value), float(number), (metric, cell))
        self.assertEqual(found, {})
        return numbers

    def test_few_metrics(self):
        path = os.path.join(SHARED, "traces", "ncu", "ncu_few.csv")
        if not os.path.exists(path):
            self.skipTest("NOT RUN: there is no " + path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(self.check_file(file.read()), 6432)

    def test_all_metrics(self):
        path = os.path.join(SHARED, "traces", "ncu", "ncu_raw.csv.xz")
        if not os.path.exists(path):
            self.skipTest("NOT RUN: there is no " + path)
        with lzma.open(path, "rt", encoding="utf-8") as file:
            self.assertGreater(self.check_file(file.read()), 50000)

    def test_made_up(self):
        text = PREAMBLE + '"ID","Process ID","Kernel Name","m.sum","n","o"\n' \
            '"","","","byte","",""\n"0","7","a<""x"", 1>\n(int)","67,116,800","n/a","0.50"\n' \
            '"1","7","b","","nan","-2"\n'
        rows = list(csv.reader(io.StringIO(text[text.index('"ID"'):])))
        self.assertEqual(len(rows), 4)
        run("ingest", self.write("made.csv", text), "--db", self.db)
        db = sqlite3.connect(self.db)
        self.assertEqual(db.execute("SELECT kernel, name, metric, value, value_text "
                                    "FROM ncu_metrics ORDER BY 1, 3").fetchall(),
                         [(0, 'a<"x", 1>\n(int)', "m.sum", 67116800, "67,116,800"),
                          (0, 'a<"x", 1>\n(int)', "n", None, "n/a"),
                          (0, 'a<"x", 1>\n(int)', "o", 0.5, "0.50"),
                          (1, "b", "n", None, "nan"), (1, "b", "o", -2, "-2")])
        db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    OPTIONS, others = parser.parse_known_args()
    OPTIONS.program = os.path.abspath(OPTIONS.program)
    unittest.main(argv=[sys.argv[0], *others])
