"""The same capture as that of many ranks: a made trace whose header says another rank.

A gzip file may be members one after the other. The ranks share one packed member, all that follows
the rank in the header; in front of it each has a small one of its own. So 64 ranks are packed once.

Tiny ranks are those of fixtures/seqpar, over and over: each four are groups of their own, in a job
of as many ranks as there are.
"""

import gzip
import hashlib
import json
import pathlib
import re
import shutil

import bench_base as base

HEAD_BYTES_MAX = 1 << 20
RANK = re.compile(rb'("distributedInfo"\s*:\s*\{[^{}\[\]]*?"rank"\s*:\s*)(\d+)')


def pack_tail(trace: base.Trace, tail: pathlib.Path):
    """Packs what follows the rank; returns what comes before it."""
    with gzip.open(trace.path) as file:
        start = file.read(HEAD_BYTES_MAX)
        found = RANK.search(start)
        if found is None:
            raise base.BenchError(f"{trace.path}: its first MB says no rank")
        with open(tail, "wb") as packed, gzip.GzipFile("", "wb", 9, packed, 0) as out:
            out.write(start[found.end():])
            shutil.copyfileobj(file, out, 1 << 20)
    return start[:found.end(1)]


def rank_path(folder: pathlib.Path, rank: int) -> pathlib.Path:
    return folder / f"rank{rank}.pt.trace.json.gz"


def make_ranks(trace: base.Trace, count: int, folder: pathlib.Path) -> None:
    base.need_space(folder.parent, (count + 1) * trace.gz_bytes + 10**8, f"traces of {count} ranks")
    base.say(f"making {count} ranks of {trace.path.name} (kept)")
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    tail = partial / "tail.gz"
    head = pack_tail(trace, tail)
    for rank in range(count):
        with open(rank_path(partial, rank), "wb") as file, open(tail, "rb") as shared:
            file.write(gzip.compress(head + str(rank).encode(), 9, mtime=0))
            shutil.copyfileobj(shared, file, 1 << 20)
    tail.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def ensure_ranks(trace: base.Trace, count: int, cache: pathlib.Path):
    """From the cache; made when they are not there."""
    name = hashlib.sha256(trace.path.name.encode()).hexdigest()[:8]
    folder = cache / f"ranks-{count}-{trace.json_bytes}-{name}"
    if not folder.is_dir():
        make_ranks(trace, count, folder)
    paths = [rank_path(folder, rank) for rank in range(count)]
    return [trace._replace(path=path, gz_bytes=path.stat().st_size) for path in paths]


# ---- tiny ranks ---------------------------------------------------------------------------------

TINY = base.ROOT / "fixtures" / "seqpar"
TINY_GROUP = 4  # ranks of the fixture


def tiny_rank(trace: dict, rank: int, count: int) -> dict:
    """The fixture's rank as another one; its groups are those four ranks further."""
    first = rank // TINY_GROUP * TINY_GROUP
    header = trace["distributedInfo"]
    header.update(rank=rank, world_size=count)
    for group in header.get("pg_config", []):
        if isinstance(group.get("ranks"), list):
            group["ranks"] = [first + other for other in group["ranks"]]
    for event in trace["traceEvents"]:
        args = event.get("args", {})
        if "Process Group Ranks" in args:
            args["Process Group Ranks"] = re.sub(r"\d+", lambda other: str(first + int(other[0])),
                                                 args["Process Group Ranks"])
    return trace


def ensure_tiny_ranks(count: int, cache: pathlib.Path):
    """From the cache; made when they are not there."""
    texts = [gzip.decompress(path.read_bytes()) for path in sorted(TINY.glob("*.json.gz"))]
    if len(texts) != TINY_GROUP:
        raise base.BenchError(f"{TINY}: not the {TINY_GROUP} ranks that it should have")
    name = hashlib.sha256(b"".join(texts)).hexdigest()[:8]
    folder = cache / f"tiny-ranks-{count}-{name}"
    if not folder.is_dir():
        base.say(f"making {count} tiny ranks (kept)")
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        for rank in range(count):
            trace = tiny_rank(json.loads(texts[rank % TINY_GROUP]), rank, count)
            rank_path(partial, rank).write_bytes(
                gzip.compress(json.dumps(trace).encode(), 1, mtime=0))
        partial.rename(folder)
    return [rank_path(folder, rank) for rank in range(count)]
