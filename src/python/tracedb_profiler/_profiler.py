"""For training code: each trace goes into the database where it is written."""
from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import warnings
from typing import Any, Callable, List, Optional, Union

from ._errors import TracedbWarning, plain_text
from ._program import environment, program

Path = Union[str, "os.PathLike[str]"]
_ingests: List["threading.Thread"] = []


def _rank() -> Optional[int]:
    """torch.distributed's rank, else that of the launcher's environment."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


def _ingest(trace: str, database: str, keep_trace: bool) -> None:
    try:
        done = subprocess.run([program(), "-q", "--db", database, "ingest", "--", trace],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False, env=environment())
        trouble = plain_text(done.stderr.decode("utf-8", "replace"))
        if done.returncode == 0 and not keep_trace:
            os.unlink(trace)
        if done.returncode != 0:
            trouble = trouble or f"exit code {done.returncode}"
    except Exception as error:  # a training job does not end for its profiler
        trouble = str(error)
    if trouble:
        warnings.warn(f"{trace}: {trouble}", TracedbWarning, stacklevel=2)


def handler(folder: Path, db: Optional[Path] = None, *, use_gzip: bool = True,
            keep_trace: bool = True, wait: bool = False) -> Callable[[Any], None]:
    """For `torch.profiler.profile(on_trace_ready=tracedb_profiler.handler("traces"))`.

    Each trace is written to `folder` as rankN.HOST_PID.TIME.pt.trace.json.gz, and ingested into
    `db` (folder/trace.db) by a process of its own, beside the training. Ranks that share the
    database take turns; hosts that share no folder have a database each. What goes wrong is a
    warning, never an error of the training.

    keep_trace=False: the file is deleted once it is in the database. wait=True: training goes on
    when the trace is in; else the process waits for it at its end, or in wait_for_ingests().
    """
    folder = os.fspath(folder)
    database = os.fspath(db) if db is not None else os.path.join(folder, "trace.db")
    ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"

    def on_trace_ready(profiler: Any) -> None:
        rank = _rank()
        os.makedirs(folder, exist_ok=True)
        whose = "" if rank is None else f"rank{rank}."
        name = f"{whose}{socket.gethostname()}_{os.getpid()}.{time.time_ns()}{ending}"
        trace = os.path.join(folder, name)
        profiler.export_chrome_trace(trace)
        if wait:
            _ingest(trace, database, keep_trace)
            return
        # No daemon: Python waits for it at its end.
        thread = threading.Thread(target=_ingest, args=(trace, database, keep_trace),
                                  name="tracedb ingest")
        _ingests[:] = [each for each in _ingests if each.is_alive()]
        _ingests.append(thread)
        thread.start()

    return on_trace_ready


def wait_for_ingests() -> None:
    """Returns when every trace that was handed over is in its database, or has failed to be."""
    while _ingests:
        _ingests.pop().join()
