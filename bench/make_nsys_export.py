#!/usr/bin/env python3
"""Writes an export of Nsight Systems such as a long training job leaves: operators as NVTX ranges,
nested, with the launches in them and the kernels that these cause.

    make_nsys_export.py --kernels N --ranges M [--processes P] OUT.sqlite

Each kernel has a launch. Ranges are those of emit_nvtx: texts of their own, three levels deep, in
the order in which they end, as nsys writes them. The same arguments give the same file.
"""
import argparse
import os
import sqlite3

VM = 1 << 48
NAMES = ["aten::linear", "aten::addmm", "aten::copy_", "aten::mul", "aten::_softmax", "aten::add"]
KERNEL = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId "
          "INTEGER, "
          "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
          "shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
          "registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX "
          "INTEGER, "
          "blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory "
          "INTEGER, "
          "localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER, "
          "sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER")
CALL = ("start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId "
        "INTEGER, "
        "nameId INTEGER, returnValue INTEGER, callchainId INTEGER")
RANGE = ("start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, "
         "color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, "
         "domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, "
         "uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, "
         "jsonText TEXT, binaryData TEXT")


def kernels(pid, device, count):
    for i in range(count):
        start = i * 20_000 + 9_000
        yield (start, start + 5_000 + i % 7 * 1000, device, 1, 0, 7 + i % 3, i, VM + (pid << 24),
               i % 40 + 1, i % 40 + 41, None, 1, 0, 32 + i % 4 * 8, 128 << i % 5, 1, 1, 256, 1, 1,
               0,
               1024 * (i % 3), 0, 250871808, 100_000 + i, 32768, None, 0)


def calls(pid, count):
    for i in range(count):
        yield i * 20_000 + 2_000, i * 20_000 + 6_000, 0, VM + (pid << 24) + pid, i, 81, 0, None


def ranges(pid, count, span):
    """Families of one, two and three levels, each ended before the one around it."""
    thread = VM + (pid << 24) + pid
    each = max(span * 3 // count, 100)
    nothing = (None,) * 7
    for i in range(0, count, 3):
        at = i // 3 * each
        for depth in (2, 1, 0)[max(0, 3 - (count - i)):]:
            inset = depth * each // 8
            name = NAMES[(i + depth) % len(NAMES)]
            yield (at + inset, at + each - 1 - inset, 59, None, None, None,
                   f"{name}, seq = {i // 3}, op_id = {i + depth}", thread, None, None, 0, *nothing,
                   None, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernels", type=int, required=True)
    parser.add_argument("--ranges", type=int, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("out")
    told = parser.parse_args()
    if os.path.exists(told.out):
        os.unlink(told.out)
    db = sqlite3.connect(told.out)
    db.executescript(f"""PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
        INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({KERNEL});
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME ({CALL});
        CREATE TABLE NVTX_EVENTS ({RANGE});""")
    for i in range(40):
        db.execute("INSERT INTO StringIds VALUES (?, ?)",
                   (i + 1, f"void at::native::kernel_{i}<float, (int){i}>(int, float *)"))
        db.execute("INSERT INTO StringIds VALUES (?, ?)", (i + 41, f"kernel_{i}"))
    db.execute("INSERT INTO StringIds VALUES (81, 'cudaLaunchKernel_v7000')")
    for number in range(told.processes):
        pid, each = 1000 + number, told.kernels // told.processes
        db.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * 28)})",
                       kernels(pid, number, each))
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,?,?,?)",
                       calls(pid, each))
        db.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * 20)})",
                       ranges(pid, told.ranges // told.processes, each * 20_000))
    db.commit()
    db.close()


if __name__ == "__main__":
    main()
