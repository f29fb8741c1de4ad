#!/usr/bin/env python3
"""Whose rank a process of an export is (made-up exports, nsys_exports.py), through the program.

    nsys_ranks_test.py --program P [NAME...]

One line for each check; exit 1 if any fails.
"""
import argparse
import os
import resource
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from nsys_checks import must, nothing_is_lost, run_checks, same  # noqa: E402
from nsys_exports import (COLLECTIVE_SCHEMA, INIT_SCHEMA, P2P_SCHEMA, Export, blob,  # noqa: E402
                          thread)


def nccl_payloads(program):
    """Communicators, sizes and ranks come from NCCL's own payloads."""
    world, pair = 0xfeedface12345678, 0xabcdef
    path = os.path.join(program.folder, "nccl.sqlite")
    export = Export(path)
    export.schemas()
    for rank, pid in enumerate((71, 70, 72, 73)):
        export.gpu(rank)
        export.nccl(pid, -200, -100, "ncclCommInitRank",
                    blob(INIT_SCHEMA, struct.pack("<QiiiI", world, 4, rank, rank, 0)))
        export.nccl(pid, -90, -80, "ncclCommInitRank",
                    blob(INIT_SCHEMA, struct.pack("<QiiiI", pair + rank // 2, 2, rank % 2, rank,
                                                  0)))
        at = rank * 10

        def launch(number, name):
            export.launch(pid, at + number * 1000 + 100, at + number * 100_000 + 50_000,
                          number * 100_000 + 90_000, name, number, device=3 - rank)
        export.nccl(pid, at + 1000, at + 1900, "ncclAllReduce",
                    blob(COLLECTIVE_SCHEMA, struct.pack("<QQ", world, 1 << 20)))
        launch(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)")
        export.nccl(pid, at + 2000, at + 2900, "AllGather",
                    blob(COLLECTIVE_SCHEMA, struct.pack("<QQ", pair + rank // 2, 4096)))
        launch(2, "ncclDevKernel_AllGather_RING_LL(x)")
        # A group: nothing is launched before its end.
        export.nccl(pid, at + 3000, at + 3010, "ncclGroupStart")
        kind = "ncclSend" if rank % 2 == 0 else "ncclRecv"
        export.nccl(pid, at + 3020, at + 3030, kind,
                    blob(P2P_SCHEMA, struct.pack("<QQiI", pair + rank // 2, 512, 1 - rank % 2, 0)))
        export.nccl(pid, at + 3040, at + 3990, "ncclGroupEnd")
        launch(3, "ncclDevKernel_SendRecv(x)")
        # Cut off: a range as any other.
        export.nccl(pid, at + 4000, at + 4900, "ncclAllReduce", b"\x01\x02")
    export.done()
    program.ingest(path)
    same(program.ask("SELECT path, rank, rank_source, world_size FROM _trace ORDER BY rank"),
         [(f"{path}#{pid}", rank, "header", 4) for rank, pid in enumerate((71, 70, 72, 73))],
         "ranks")
    same(program.ask("SELECT collective, g.ranks, in_bytes, out_bytes, peer, count(*) FROM "
                     "collectives JOIN process_groups g USING (group_id) GROUP BY 1, 2, 3, 4, 5 "
                     "ORDER BY 1, 2, 5"),
         [("_allgather_base", "[0,1]", 4096, 8192, None, 2), ("_allgather_base", "[2,3]", 4096,
                                                              8192, None, 2),
          ("allreduce", "[0,1,2,3]", 1 << 20, 1 << 20, None, 4),
          ("recv", "[0,1]", 512, 512, 0, 1), ("recv", "[2,3]", 512, 512, 2, 1),
          ("send", "[0,1]", 512, 512, 1, 1), ("send", "[2,3]", 512, 512, 3, 1)], "collectives")
    same(program.ask("SELECT name, size, ranks FROM process_groups WHERE size = 4"),
         [(f"{world:x}", 4, "[0,1,2,3]")], "the world")
    rows = program.run("query", "nccl_stalls", "--db", "t.db", "--format",
                       "csv").stdout.splitlines()
    must(len(rows) > 1, "nccl_stalls has no row")
    nothing_is_lost(program, path)


def ranks_by_mpi(program):
    path = os.path.join(program.folder, "mpi.sqlite")
    export = Export(path)
    for pid, rank in ((10, 6), (11, 2)):
        export.launch(pid, 100, 1000, 2000, "k()", 1, device=rank % 2)
        export.add("MPI_RANKS", globalTid=thread(pid), rank=rank)
        export.add("MPI_COLLECTIVES_EVENTS", start=10, end=20, globalTid=thread(pid),
                   textId=export.string("MPI_Barrier"))
    export.done()
    program.ingest(path)
    same(program.ask("SELECT rank, rank_source FROM _trace ORDER BY 1"),
         [(2, "header"), (6, "header")], "ranks")
    same(program.ask("SELECT category, name, count(*) FROM slices WHERE category = 'mpi'"),
         [("mpi", "MPI_Barrier", 2)], "MPI calls")
    nothing_is_lost(program, path)


def several_communicators(path, sizes, mpi=()):
    """Four processes; `sizes` has the members of each communicator in their order."""
    export = Export(path)
    export.schemas()
    for i in range(4):
        pid = 100 + i
        export.gpu(i)
        for number, (communicator, members) in enumerate(sizes.items()):
            if i in members:
                export.nccl(pid, 10 * number, 10 * number + 5, "ncclCommInitRank",
                            blob(INIT_SCHEMA, struct.pack("<Qiii", communicator, len(members),
                                                          members.index(i), i)))
                at = 1000 + number * 1000
                export.nccl(pid, at, at + 900, "ncclAllReduce",
                            blob(COLLECTIVE_SCHEMA, struct.pack("<QQ", communicator, 64)))
                export.launch(pid, at + 100, 50_000 + at * 10 + i, 55_000 + at * 10,
                              "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", number + 1, device=i)
        export.launch(pid, 10_000, 90_000, 95_000, "gemm", 50, device=i)
    for i, rank in enumerate(mpi):
        export.add("MPI_RANKS", globalTid=thread(100 + i), rank=rank)
    return export.done()


def ranks_of_some_communicators(program):
    """The rank in a communicator of some of the ranks is none in the job."""
    path = os.path.join(program.folder, "tp.sqlite")
    pairs = {0xa0: [0, 1], 0xa1: [2, 3]}
    several_communicators(path, pairs, mpi=(0, 1, 2, 3))
    program.ingest(path)
    same(program.ask("SELECT rank, rank_source, world_size FROM _trace ORDER BY 1"),
         [(rank, "header", None) for rank in range(4)], "ranks by MPI")
    same(program.one("SELECT count(*) FROM captures"), 1, "captures")
    same(program.ask("SELECT ranks FROM process_groups ORDER BY 1"), [("[0,1]",), ("[2,3]",)],
         "groups by MPI's ranks")
    os.unlink(os.path.join(program.folder, "t.db"))
    # MPI counts in another order: members are told by it.
    several_communicators(path, {0xb0: [0, 1, 2, 3], **pairs}, mpi=(3, 2, 1, 0))
    program.ingest(path)
    same(program.ask("SELECT path, rank FROM _trace ORDER BY 2"),
         [(f"{path}#{103 - rank}", rank) for rank in range(4)], "MPI comes first")
    same(program.ask("SELECT ranks FROM process_groups ORDER BY 1"),
         [("[0,1,2,3]",), ("[0,1]",), ("[2,3]",)], "groups by MPI's ranks")
    os.unlink(os.path.join(program.folder, "t.db"))
    several_communicators(path, pairs)
    said = program.ingest(path).stderr
    same(program.ask("SELECT rank, rank_source, world_size FROM _trace ORDER BY 1"),
         [(rank, "device order", None) for rank in range(4)], "ranks of pairs alone")
    must(said.count("a guess") == 4, f"the guess is not said: {said}")
    same(program.ask("SELECT ranks FROM process_groups"), [], "ranks that nobody knows")
    os.unlink(os.path.join(program.folder, "t.db"))
    several_communicators(path, {**pairs, 0xb0: [0, 1, 2, 3]})
    program.ingest(path)
    same(program.ask("SELECT rank, rank_source, world_size FROM _trace ORDER BY 1"),
         [(rank, "header", 4) for rank in range(4)], "ranks of what all are in")


def one_process(program):
    """It is in all communicators of its export: the largest one's rank is a guess."""
    def write(name, size, rank):
        export = Export(os.path.join(program.folder, name))
        export.gpu(0)
        export.schemas()
        export.nccl(100, 10, 20, "ncclCommInitRank",
                    blob(INIT_SCHEMA, struct.pack("<Qiii", 0xa0, size, rank, 0)))
        export.nccl(100, 1000, 1900, "ncclAllReduce",
                    blob(COLLECTIVE_SCHEMA, struct.pack("<QQ", 0xa0, 64)))
        export.launch(100, 1100, 20_000, 30_000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 5)
        return export.done()

    for name, rank, wanted, groups in (("job.sqlite", 1, (1, "communicator", 4), ["[0,1,2,3]"]),
                                       ("rank1.sqlite", 1, (1, "header", 4), ["[0,1,2,3]"]),
                                       ("rank7.sqlite", 1, (7, "file name", None), [])):
        write(name, 4, rank)
        said = program.ingest(os.path.join(program.folder, name)).stderr
        same(program.ask("SELECT rank, rank_source, world_size FROM _trace"), [wanted], name)
        same("a guess" in said, wanted[1] == "communicator", f"what is said of {name}")
        same([row[0] for row in program.ask("SELECT ranks FROM process_groups")], groups,
             f"groups of {name}")
        os.unlink(os.path.join(program.folder, "t.db"))
    program.ingest("--rank", "3", os.path.join(program.folder, "job.sqlite"))
    same(program.ask("SELECT rank, rank_source FROM _trace"), [(3, "option")], "--rank")


def many_ranks(program):
    """Two hundred communicators of a million ranks are no millions of numbers."""
    path = os.path.join(program.folder, "bomb.sqlite")
    export = Export(path)
    export.gpu(0)
    export.schemas()
    for i in range(200):
        export.nccl(100, 1000 + i, 2000 + i, "ncclCommInitRank",
                    blob(INIT_SCHEMA, struct.pack("<Qiii", 0xa0 + i, 1 << 20, 0, 0)))
    export.launch(100, 10_000, 20_000, 30_000, "ncclDevKernel", 5)
    export.done()
    program.ingest("--memory", "64M", path)
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    must(peak_kib < 1 << 20, f"{peak_kib} KiB for an export of 64 KB")
    same(program.ask("SELECT rank, world_size FROM _trace"), [(0, 1 << 20)], "the header")
    same(program.ask("SELECT kind FROM issues"), [], "issues")


def many_calls(program):
    """What is looked up takes a share of --memory; what is beyond is counted."""
    path = os.path.join(program.folder, "calls.sqlite")
    calls = 40_000
    export = Export(path)
    export.gpu(0)
    export.schemas()
    for i in range(calls):
        at = 1000 + i * 1000
        export.nccl(100, at, at + 900, "ncclAllReduce",
                    blob(COLLECTIVE_SCHEMA, struct.pack("<QQ", 0xa0, 64)))
        export.launch(100, at + 100, at + 500_000, at + 500_800,
                      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", i + 1)
    export.done()
    wholes = []
    for memory, fits in (("128M", True), ("32M", False)):
        program.ingest("--memory", memory, path)
        wholes.append(program.ask("SELECT count(*), sum(dur_ns) FROM kernels"))
        sized = program.one("SELECT count(in_bytes) FROM collectives")
        left = program.ask("SELECT kind, count > 0, first_excerpt LIKE '%more than fits%' FROM "
                           "issues")
        same(left, [] if fits else [("row_left_out", 1, 1)], f"issues with {memory}")
        must(sized == calls if fits else 0 < sized < calls, f"{sized} with a size, {memory}")
        os.unlink(os.path.join(program.folder, "t.db"))
    same(wholes[0], wholes[1], "kernels")


CHECKS = [nccl_payloads, ranks_by_mpi, ranks_of_some_communicators, one_process,
          many_ranks, many_calls]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("names", nargs="*")
    told = parser.parse_args()
    run_checks(told.program, [c for c in CHECKS if not told.names or c.__name__ in told.names])


if __name__ == "__main__":
    main()
