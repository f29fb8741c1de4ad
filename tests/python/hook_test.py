#!/usr/bin/env python3
"""The Python module's hook for training code: each trace is ingested where it is written."""
import importlib
import os
import re
import shutil
import sys
import threading
import time
import types
import warnings

from module_test import FIXTURES, run


class Profiler:
    """What of torch.profiler.profile the hook uses."""

    def __init__(self, trace):
        self.trace = trace

    def export_chrome_trace(self, path):
        shutil.copy(self.trace, path)


def the_hook_ingests_each_ranks_trace(setting):
    """torch itself is not needed: its profiler is a stand-in that copies a recorded trace."""
    module = setting.module
    folder = os.path.join(setting.folder, "hook")
    stand_in = types.ModuleType("torch")
    stand_in.distributed = types.SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sys.modules["torch"] = stand_in
        try:
            module.handler(folder)(Profiler(f"{FIXTURES}/megatron/rank6.pt.trace.json.gz"))
        finally:
            del sys.modules["torch"]
        os.environ["RANK"] = "7"
        try:  # beside the first
            module.handler(folder)(Profiler(f"{FIXTURES}/megatron/rank7.pt.trace.json.gz"))
        finally:
            del os.environ["RANK"]
        module.wait_for_ingests()
    caught = [each for each in caught if issubclass(each.category, module.TracedbWarning)]
    assert not caught, [str(each.message) for each in caught]
    names = sorted(os.listdir(folder))
    assert [bool(re.match(r"rank[67]\..*\.\d+\.pt\.trace\.json\.gz$", name)) for name in names
            if name.startswith("rank")] == [True, True], names
    db = module.open(os.path.join(folder, "trace.db"), frame="rows")
    assert [row.rank for row in db.sql("SELECT rank FROM ranks ORDER BY rank")] == [6, 7]
    # A trace that cannot be read is a warning, and stays; one that was read goes when asked.
    broken = os.path.join(setting.folder, "broken.json")
    with open(broken, "w", encoding="utf-8") as file:
        file.write("no trace")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.handler(folder, use_gzip=False, keep_trace=False, wait=True)(Profiler(broken))
    assert len(caught) == 1 and issubclass(caught[0].category, module.TracedbWarning), caught
    left = [name for name in os.listdir(folder) if name.endswith(".json")]
    assert len(left) == 1, left
    module.handler(folder, keep_trace=False, wait=True)(
        Profiler(f"{FIXTURES}/megatron/rank0.pt.trace.json.gz"))
    assert len([name for name in os.listdir(folder) if name.endswith(".gz")]) == 2
    assert db.sql("SELECT count(*) AS n FROM traces")[0].n == 3


def the_environment_may_change_beside_the_hook(setting):
    """A process that is started while os.environ changes may find a torn list of variables."""
    module = setting.module
    empty = os.path.join(setting.folder, "empty.json")
    with open(empty, "w", encoding="utf-8"):
        pass
    before = os.environ.get("TRACEDB_PROGRAM")
    os.environ["TRACEDB_PROGRAM"] = shutil.which("true")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(200):
                module.handler(os.path.join(setting.folder, "beside"))(Profiler(empty))
                until = time.monotonic() + 0.004
                while time.monotonic() < until:
                    os.environ["TRACEDB_MODULE_TEST"] = "1"
                    del os.environ["TRACEDB_MODULE_TEST"]
            module.wait_for_ingests()
    finally:
        del os.environ["TRACEDB_PROGRAM"]
        if before is not None:
            os.environ["TRACEDB_PROGRAM"] = before
    caught = [each for each in caught if issubclass(each.category, module.TracedbWarning)]
    assert not caught, (len(caught), str(caught[0].message))


def a_copy_of_the_environment_is_never_an_error(setting):
    """Of the training: another of its threads may change the environment at any moment."""
    copy = importlib.import_module(f"{setting.module.__name__}._program").environment
    ended = threading.Event()

    def change():
        while not ended.is_set():
            os.environ["TRACEDB_MODULE_TEST"] = "1"
            del os.environ["TRACEDB_MODULE_TEST"]

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(20000):
            assert copy()["PATH"] == os.environ["PATH"]
    finally:
        ended.set()
        changing.join()


if __name__ == "__main__":
    sys.exit(run((the_hook_ingests_each_ranks_trace,
                  the_environment_may_change_beside_the_hook,
                  a_copy_of_the_environment_is_never_an_error)))
