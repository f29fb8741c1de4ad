"""Writes exports as Nsight Systems does (nsys export --type sqlite), in three of its layouts.

Tables and columns are those of the layouts, as far as anything reads them; all values are made up.
"""
import os
import sqlite3
import struct

EPOCH = 1_700_000_000_000_000_000
LAYOUTS = ("2.9.1", "3.13.2", "3.25.0")
VM = 1 << 48
KERNEL = ("start end deviceId contextId streamId correlationId globalPid demangledName shortName "
          "mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY "
          "blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal "
          "gridId "
          "sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig").split()
COPY = ("start end deviceId contextId streamId correlationId globalPid bytes copyKind "
        "deprecatedSrcId "
        "srcKind dstKind").split()
FILL = ("start end deviceId contextId streamId correlationId globalPid value bytes graphNodeId "
        "memKind").split()
CALL = "start end eventClass globalTid correlationId nameId returnValue callchainId".split()
RANGE = ("start end eventType rangeId category color text globalTid endGlobalTid textId domainId "
         "uint64Value int64Value doubleValue uint32Value int32Value floatValue jsonTextId "
         "jsonText").split()
SYNC = "start end deviceId contextId streamId correlationId globalPid syncType eventId".split()
COLLECTIVE_SCHEMA, P2P_SCHEMA, INIT_SCHEMA = 16777220, 16777226, 16777218


def process(pid):
    return VM + (pid << 24)


def thread(pid, tid=None):
    return process(pid) + (pid if tid is None else tid)


def blob(schema, payload):
    """A payload as NVTX has it: four numbers, then the fields."""
    return struct.pack("<QQQQ", 1, schema, len(payload), 32) + payload


class Export:
    """One export being written. Tables are made when a row comes, or by name."""

    def __init__(self, path, layout="3.25.0", epoch=EPOCH):
        if os.path.exists(path):
            os.unlink(path)
        self.path, self.layout = path, layout
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA journal_mode = OFF")
        self.db.execute("PRAGMA synchronous = OFF")
        self.strings, self.tables = {}, {}
        self.table("StringIds", ["id INTEGER PRIMARY KEY", "value"])
        if layout == "2.9.1":
            self.table("EXPORT_META_DATA", ["name", "value"])
            self.add("EXPORT_META_DATA", name="EXPORT_SCHEMA_VERSION", value=layout)
            self.table("TARGET_INFO_CUDA_NULL_STREAM", ["streamId", "hwId", "vmId", "processId"])
        else:
            self.table("META_DATA_EXPORT", ["name", "value"])
            self.add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value=layout)
            self.table("META_DATA_CAPTURE", ["name", "value"])
            self.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE",
                     value='SECRET_TOKEN="hunter2"')
        self.table("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs", "utcTime", "localTime"])
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=epoch)
        self.table("TARGET_INFO_SYSTEM_ENV", ["globalVid", "devStateName", "name", "nameEnum",
                                              "value"])
        self.add("TARGET_INFO_SYSTEM_ENV", name="Hostname", value="node007")
        self.add("TARGET_INFO_SYSTEM_ENV", name="DeviceEnvironment", value="API_KEY=hunter2")
        self.table("TARGET_INFO_GPU", ["id", "name", "totalMemory", "smCount", "threadsPerWarp"])

    def table(self, name, columns):
        self.tables[name] = [column.split()[0] for column in columns]
        self.db.execute(f"CREATE TABLE {name} ({', '.join(columns)})")

    def add(self, table, **values):
        if table not in self.tables:
            self.table(table, self.columns(table, values))
        names = ", ".join(f'"{name}"' for name in values)
        self.db.execute(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(values))})',
                        list(values.values()))

    def columns(self, table, values):
        """As the layout has them; of a table that is not known those of its first row."""
        newest, oldest = self.layout == "3.25.0", self.layout == "2.9.1"
        green = [] if oldest else ["greenContextId"]
        known = {
            "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL + green + (["graphId", "clusterX"] if newest
                                                            else []),
            "CUPTI_ACTIVITY_KIND_MEMCPY": COPY + green + (["copyCount"] if newest else []),
            "CUPTI_ACTIVITY_KIND_MEMSET": FILL + green,
            "CUPTI_ACTIVITY_KIND_RUNTIME": CALL,
            "NVTX_EVENTS": RANGE + (["binaryData"] if newest else []),
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": SYNC + green + (["eventSyncId"] if newest
                                                                   else []),
        }
        return [f'"{name}"' if name == "end" else name for name in known.get(table, values)]

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.add("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    def gpu(self, device, name="NVIDIA H100 80GB HBM3"):
        self.add("TARGET_INFO_GPU", id=device, name=name, totalMemory=85_000_000_000, smCount=132,
                 threadsPerWarp=32)

    def call(self, pid, start, end, name, correlation, tid=None, driver=False):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=int(driver),
                 globalTid=thread(pid, tid), correlationId=correlation, nameId=self.string(name),
                 returnValue=0)

    def kernel(self, pid, start, end, name, correlation, device=0, stream=7, **more):
        self.add("CUPTI_ACTIVITY_KIND_KERNEL", start=start, end=end, deviceId=device, contextId=1,
                 streamId=stream, correlationId=correlation, globalPid=process(pid),
                 demangledName=self.string(name),
                 shortName=self.string(name.split("(")[0].split("<")[0].removeprefix("void ")),
                 launchType=1, registersPerThread=32, gridX=10, gridY=2, gridZ=1, blockX=128,
                 blockY=1, blockZ=1, staticSharedMemory=1024, dynamicSharedMemory=4096, **more)

    def launch(self, pid, at, start, end, name, correlation, **more):
        """A kernel with its call."""
        self.call(pid, at, at + 5_000, "cudaLaunchKernel_v7000", correlation)
        self.kernel(pid, start, end, name, correlation, **more)

    def range(self, pid, start, end, text, kind=59, tid=None, **more):
        self.add("NVTX_EVENTS", start=start, end=end, eventType=kind, text=text,
                 globalTid=thread(pid, tid), **more)

    def schemas(self):
        self.table("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                   ["domainId", "schemaId", "idx", "type", "name", "offset"])
        entries = [(INIT_SCHEMA, "NCCL communicator ID", None), (INIT_SCHEMA, "No. of ranks", 8),
                   (INIT_SCHEMA, "Rank", 12), (INIT_SCHEMA, "CUDA device", 16),
                   (COLLECTIVE_SCHEMA, "NCCL communicator ID", None),
                   (COLLECTIVE_SCHEMA, "Message size [bytes]", 8),
                   (P2P_SCHEMA, "NCCL communicator ID", None),
                   (P2P_SCHEMA, "Message size [bytes]", 8), (P2P_SCHEMA, "Peer rank", 16)]
        for number, (schema, name, offset) in enumerate(entries):
            self.add("NVTX_PAYLOAD_SCHEMA_ENTRIES", domainId=1, schemaId=schema, idx=number,
                     name=name,
                     offset=offset)

    def nccl(self, pid, start, end, name, data=None):
        self.add("NVTX_EVENTS", start=start, end=end, eventType=59, globalTid=thread(pid),
                 textId=self.string(name), domainId=1, binaryData=data)

    def done(self):
        self.db.commit()
        self.db.close()
        return self.path


def small(path, layout, epoch=EPOCH, pid=100):
    """Two steps of one rank: an operator, its launch and its kernel; a copy and a wait."""
    export = Export(path, layout, epoch)
    export.gpu(0)
    for i in range(4):
        at = -10_000_000 + i * 5_000_000
        if layout != "3.13.2":
            export.range(pid, at, at + 900_000, f"step {i}")
            export.range(pid, at + 1_000, at + 200_000,
                         f"aten::mm, seq = {40 + i}, op_id = {9000 + i}, sizes = [[2, 3], [], [3, "
                         f"-1]]")
        export.launch(pid, at + 2_000, at + 100_001, at + 400_004, "void gemm<float>(int)", 500
                      + i,
                      gridId=3000 + i)
        export.call(pid, at + 500_000, at + 510_000, "cudaMemcpyAsync_v3020_ptsz", 600 + i)
        export.add("CUPTI_ACTIVITY_KIND_MEMCPY", start=at + 520_000, end=at + 530_000, deviceId=0,
                   contextId=1, streamId=14, correlationId=600 + i, globalPid=process(pid),
                   bytes=1 << 33, copyKind=1, srcKind=1, dstKind=2)
        export.add("CUPTI_ACTIVITY_KIND_MEMSET", start=at + 540_000, end=at + 541_000, deviceId=0,
                   contextId=1, streamId=14, correlationId=700 + i, globalPid=process(pid),
                   value=0,
                   bytes=4, memKind=2)
        export.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=at + 600_000, end=at + 700_000,
                   deviceId=0, contextId=1, streamId=4294967295 if i % 2 else 7, correlationId=800
                   + i,
                   globalPid=process(pid), syncType=1 if i % 2 else 2, eventId=77)
    return export
