"""The same capture as that of many ranks: a made trace whose header says another rank.

A gzip file may be members one after the other. The ranks share one packed member, all that follows
the rank in the header; in front of it each has a small one of its own. So 64 ranks are packed once.
"""

import gzip
import hashlib
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
