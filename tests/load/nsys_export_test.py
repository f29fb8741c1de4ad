#!/usr/bin/env python3
"""Made-up exports of Nsight Systems, of three layouts (nsys_exports.py), through the program.

    nsys_export_test.py --program P [NAME...]

One line for each check; exit 1 if any fails.
"""
import argparse
import contextlib
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from nsys_checks import (must, nothing_is_lost, queries_answer, run_checks, same,  # noqa: E402
                         views_give_back)
from nsys_exports import EPOCH, LAYOUTS, Export, process, small, thread  # noqa: E402


def layouts(program):
    for layout in LAYOUTS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(program.folder, "t.db"))
        path = os.path.join(program.folder, f"layout {layout}.sqlite")
        export = small(path, layout)
        if layout == "2.9.1":
            export.add("CUDNN_EVENTS", start=5, end=10, eventClass=28, globalTid=thread(100),
                       nameId=export.string("cudnnConvolutionForward"))
            export.add("CUBLAS_EVENTS", start=15, end=20, eventClass=29, globalTid=thread(100,
                                                                                          101),
                       nameId=export.string("cublasGemmEx"))
        if layout == "3.25.0":
            export.add("PROFILER_OVERHEAD", start=1, end=2, globalTid=thread(100),
                       nameId=export.string("Buffer flush"), overheadType=3)
        export.done()
        program.ingest(path)
        nothing_is_lost(program, path)
        views_give_back(program, path)
        queries_answer(program)
        same(program.one("SELECT count(*) FROM kernels WHERE launch_slice_id IS NULL AND kind <> "
                         "'memory'"), 0, "kernels without a launch")
        if layout != "3.13.2":
            same(program.ask("SELECT DISTINCT k.op FROM kernels k WHERE k.kind = 'compute'"),
                 [("aten::mm",)], "operators")
            same(program.ask("SELECT name, json_extract(args, '$.\"Sequence number\"'), "
                             "json_extract(args, '$.\"Input Dims\"') FROM slices WHERE category = "
                             "'cpu_op' ORDER BY ts_ns LIMIT 1"),
                 [("aten::mm", 40, "[[2,3],[],[3,-1]]")], "the operator")
        if layout == "2.9.1":
            same(program.ask("SELECT category, name, tid FROM slices WHERE category IN ('cudnn', "
                             "'cublas') ORDER BY 1"),
                 [("cublas", "cublasGemmEx", "101"), ("cudnn", "cudnnConvolutionForward", "100")],
                 "calls of libraries")
        content = open(os.path.join(program.folder, "t.db"), "rb").read()
        must(b"hunter2" not in content, "the environment was copied")


def epochs_apart(program):
    for number in (0, 1):
        small(os.path.join(program.folder, f"rank{number}.sqlite"), LAYOUTS[2 * number],
              EPOCH + number * 7_000_000_000, 100 + number).done()
    program.ingest(program.folder)
    starts = program.ask("SELECT rank, rank_source, start_ns FROM _trace ORDER BY rank")
    same([row[:2] for row in starts], [(0, "file name"), (1, "file name")], "ranks")
    same(starts[1][2] - starts[0][2], 7_000_000_000, "ns between the exports")
    same(starts[0][2], EPOCH - 10_000_000, "the first event")


def several_ranks(program):
    """Correlations are per process; what is there of one part does not hide the other."""
    path = os.path.join(program.folder, "both.sqlite")
    export = Export(path)
    for pid, device in ((300, 1), (200, 0)):
        export.gpu(device, f"GPU of {pid}")
        for i in range(3):
            export.launch(pid, i * 1000 + pid, i * 100_000 + 50_000, i * 100_000 + 60_000 + pid,
                          "k()",
                          i, device=device)
    export.call(999, 5, 6, "cudaLaunchKernel_v7000", 1)  # of a process without a GPU
    export.done()
    program.ingest(path)
    same(program.ask("SELECT path, rank, gpu_name, gpu_activities FROM _trace ORDER BY 2"),
         [(path + "#200", 0, "GPU of 200", 3), (path + "#300", 1, "GPU of 300", 3)], "parts")
    same(program.ask("SELECT k.rank, k.dur_ns - 10000, s.pid FROM kernels k JOIN slices s ON "
                     "s.slice_id "
                     "= k.launch_slice_id GROUP BY 1, 2, 3"),
         [(0, 200, "200"), (1, 300, "300")], "each kernel's launch is of its process")
    nothing_is_lost(program, path)
    views_give_back(program, path)
    again = program.ingest(path)
    same(again.stdout.count("skipped"), 2, "parts that are there already")
    program.ingest("--replace", path)
    same(program.one("SELECT count(*) FROM traces"), 2, "traces after --replace")
    export = sqlite3.connect(path)
    export.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = \"end\" + 1 WHERE "
                   "deviceId = 1")
    export.commit()
    export.close()
    program.ingest("--replace", path)
    same(program.ask("SELECT rank, max(dur_ns) - 10000 FROM kernels GROUP BY 1"),
         [(0, 200), (1, 301)], "after a change of one part")
    same(program.ask("SELECT rank, rank_source FROM _trace ORDER BY 1"),
         [(0, "device order"), (1, "device order")], "ranks")
    said = program.ingest("--rank", "3", path, status=2).stderr
    must("there are 2" in said, said)


def journals(program):
    """What lies in the write-ahead log is read, and no damage."""
    path = os.path.join(program.folder, "wal.sqlite")
    export = Export(path)
    export.gpu(0)
    export.launch(100, 10_000, 20_000, 30_000, "gemm", 5)
    export.done()
    rows = os.path.getsize(path) // 4 + 5000
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = wal")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.executemany('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, "end", globalTid, '
                   "correlationId, nameId) VALUES (?, ?, ?, ?, 1)",
                   [(100_000 + i * 10, 100_005 + i * 10, thread(100), 100 + i)
                    for i in range(rows)])
    db.commit()
    must(os.path.getsize(path) // 4 < rows, "the rows are not in the log alone")
    program.ingest(path)
    db.close()
    same(program.one("SELECT count(*) FROM slices"), rows + 2, "slices")


def graphs(program):
    for of_nodes in (False, True):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(program.folder, "t.db"))
        path = os.path.join(program.folder, f"graph{of_nodes}.sqlite")
        export = Export(path)
        export.call(5, 100, 200, "cudaGraphLaunch_v10000", 9)
        export.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1000, end=9000, deviceId=0,
                   contextId=1,
                   streamId=7, correlationId=9, globalPid=process(5), graphId=3, graphExecId=4)
        if of_nodes:
            for i in range(2):
                export.kernel(5, 1000 + 4000 * i, 4000 + 4000 * i, "k()", 9, graphNodeId=i + 1)
        export.done()
        program.ingest(path)
        kernels = program.ask("SELECT name, dur_ns, launch_slice_id IS NOT NULL FROM kernels")
        same(kernels, [("k()", 3000, 1)] * 2 if of_nodes else [("CUDA graph 3", 8000, 1)],
             "kernels")
        nothing_is_lost(program, path)


def counters_marks_and_samples(program):
    path = os.path.join(program.folder, "counters.sqlite")
    export = small(path, "3.25.0")
    export.table("TARGET_INFO_GPU_METRICS", ["typeId", "typeName", "sourceId", "metricId",
                                             "metricName"])
    export.add("TARGET_INFO_GPU_METRICS", typeId=72057594037927936, metricId=2, metricName="SM "
               "\"Active\"")
    for i in range(5):
        export.add("GPU_METRICS", timestamp=i * 1000, typeId=72057594037927936, metricId=2,
                   value=10 * i)
    export.range(100, 50, None, "a \"mark\"\n", kind=34)
    export.range(100, 60, 90, "over threads", kind=60, endGlobalTid=thread(100, 7), rangeId=5)
    export.range(100, 70, None, "never ended")
    export.add("DIAGNOSTIC_EVENT", timestamp=3, timestampType=1, text="lost events")
    export.done()
    program.ingest(path)
    nothing_is_lost(program, path)
    same(program.ask("SELECT name, value, ts_ns FROM counters ORDER BY ts_ns DESC LIMIT 1"),
         [("SM \"Active\"", 40, EPOCH + 4000)], "counters")
    same(program.ask("SELECT name FROM instants ORDER BY 1"), [("a \"mark\"\n",), ("lost "
                                                                                   "events",)],
         "instants")
    same(program.ask("SELECT name, dur_ns FROM slices WHERE name LIKE 'over%' OR name LIKE "
                     "'never%' "
                     "ORDER BY 1"), [("never ended", None), ("over threads", 30)], "ranges")
    same(program.one("SELECT sum(count) FROM issues WHERE kind = 'missing_duration'"), 1, "open "
         "ranges")


def osrt(program):
    path = os.path.join(program.folder, "osrt.sqlite")
    export = small(path, "3.13.2")
    for i in range(7):
        export.add("OSRT_API", start=i, end=i + 2, globalTid=thread(100),
                   nameId=export.string("poll"),
                   nestingLevel=0)
    export.done()
    program.ingest(path)
    same(program.one("SELECT count(*) FROM slices WHERE name = 'poll'"), 0, "calls kept")
    same(program.ask("SELECT kind, count, first_excerpt FROM issues"), [("row_left_out", 7,
                                                                         "OSRT_API")],
         "issues")
    program.ingest("--keep", "osrt", path, "--replace")
    same(program.one("SELECT count(*) FROM slices WHERE name = 'poll'"), 7, "calls kept")
    nothing_is_lost(program, path)


def hostile(program):
    """Views, triggers, texts for numbers, missing tables: an error or counted rows."""
    path = os.path.join(program.folder, "hostile.sqlite")
    small(path, "3.25.0").done()
    db = sqlite3.connect(path)
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", globalPid) VALUES ('x', "
               "3, 4)")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", demangledName) VALUES "
               "(-9223372036854775807, 9223372036854775807, 'a')")
    db.execute("INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text) VALUES (NULL, 3, 59, "
               "x'00ff22')")
    db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\") VALUES (1.5, 'y')")
    db.execute("CREATE VIEW OSRT_API AS SELECT load_extension('x') AS start, 1 AS \"end\"")
    db.commit()
    db.close()
    program.ingest(path)
    same(program.ask("SELECT kind, sum(count) FROM issues GROUP BY 1 ORDER BY 1"),
         [("bad_time", 1), ("unusable_row", 3)], "issues")
    other = os.path.join(program.folder, "view.sqlite")
    db = sqlite3.connect(other)
    db.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS \"end\"")
    db.commit()
    db.close()
    must("nor an export of Nsight Systems" in program.ingest(other, status=1).stderr, "a view was "
         "taken")
    must("database of tracedb" in program.ingest("t.db", status=1).stderr, "a database was taken")
    content = open(path, "rb").read()
    for cut in (100, 4096, len(content) // 2, len(content) - 5000):
        damaged = os.path.join(program.folder, "damaged.sqlite")
        with open(damaged, "wb") as file:
            file.write(content[:cut])
        done = subprocess.run([program.path, "ingest", "--db", "d.db", damaged],
                              cwd=program.folder,
                              capture_output=True, text=True, check=False, timeout=600)
        must(done.returncode == 1 and "damaged.sqlite" in done.stderr, f"cut at {cut}: {done}")
        must(not os.path.exists(os.path.join(program.folder, "d.db")), "half an export landed")


def in_a_folder(program):
    """Exports beside traces, other databases and texts of a folder."""
    folder = os.path.join(program.folder, "job")
    os.mkdir(folder)
    small(os.path.join(folder, "rank1.sqlite"), "3.25.0").done()
    small(os.path.join(folder, "rank2.sqlite3"), "2.9.1").done()
    sqlite3.connect(os.path.join(folder, "other.sqlite")).execute("CREATE TABLE t "
                                                                  "(a)").connection.commit()
    with open(os.path.join(folder, "rank0.json"), "w", encoding="ascii") as file:
        file.write('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": '
                   '1}]}')
    done = program.ingest("job")
    same(program.ask("SELECT path, rank FROM _trace ORDER BY rank"),
         [("job/rank0.json", 0), ("job/rank1.sqlite", 1), ("job/rank2.sqlite3", 2)], "traces")
    must("*.sqlite" in done.stderr, f"the other database is not told of: {done.stderr}")


def reports(program):
    """.nsys-rep: by nsys where it is, else one line that says how."""
    path = os.path.join(program.folder, "rank4.nsys-rep")
    with open(path, "wb") as file:
        file.write(b"a report")
    nowhere = os.path.join(program.folder, "empty")
    os.mkdir(nowhere)
    said = program.ingest(path, status=1, path=nowhere).stderr
    must("nsys export --type sqlite" in said and said.count("\n") <= 2, said)
    export = os.path.join(program.folder, "made.sqlite")
    small(export, "3.25.0").done()
    tools = os.path.join(program.folder, "tools")
    os.mkdir(tools)
    nsys = os.path.join(tools, "nsys")
    with open(nsys, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nfor last; do case "$last" in --output=*) out="${last#--output=}";; '
                   'esac\n'
                   f'done\nprintf "%s\\n" "$@" > {program.folder}/arguments\ncp {export} "$out"\n')
    os.chmod(nsys, os.stat(nsys).st_mode | stat.S_IXUSR)
    found = tools + ":" + os.environ["PATH"]
    program.ingest(path, path=found)
    same(program.ask("SELECT path, rank FROM _trace"), [(path, 4)], "traces")
    arguments = open(os.path.join(program.folder, "arguments"),
                     encoding="utf-8").read().split("\n")
    must({"export", "--type=sqlite", "--include-blobs=true"} <= set(arguments), f"called with "
         f"{arguments}")
    must("skipped" in program.ingest(path, path=found).stdout, "it was read again")
    # Where a parent has ignored SIGCHLD the system keeps no exit status.
    ignored = shutil.copy(path, os.path.join(program.folder, "rank5.nsys-rep"))
    with open(ignored, "ab") as file:
        file.write(b" of another")
    done = subprocess.run([program.path, "ingest", "--db", "ignored.db", ignored],
                          cwd=program.folder, env={**os.environ, "PATH": found}, timeout=120,
                          capture_output=True, text=True, check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    same(done.returncode, 0, f"with SIGCHLD ignored: {done.stderr}")
    with open(nsys, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    other = shutil.copy(path, os.path.join(program.folder, "other.nsys-rep"))
    said = program.ingest(other, status=1, path=found).stderr
    must("nsys" in said and "3" in said, said)
    with open(nsys, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexec sleep 600\n")
    started = subprocess.Popen([program.path, "ingest", "--db", "t.db", other], cwd=program.folder,
                               env={**os.environ, "PATH": found}, stderr=subprocess.PIPE,
                               text=True)
    time.sleep(1)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=120)
    must(started.returncode != 0, "an interrupted conversion was no error")
    left = [name for name in os.listdir(program.folder) if "partial" in name or "db.nsys-" in name]
    same(left, [], "files left behind")


CHECKS = [layouts, epochs_apart, several_ranks, journals, graphs, counters_marks_and_samples,
          osrt, hostile, in_a_folder, reports]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("names", nargs="*")
    told = parser.parse_args()
    run_checks(told.program, [c for c in CHECKS if not told.names or c.__name__ in told.names])


if __name__ == "__main__":
    main()
