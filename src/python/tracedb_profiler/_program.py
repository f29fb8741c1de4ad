"""The program: where it is, and how it is run. Nothing else of the package starts a process."""
from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import IO, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar

from ._errors import TracedbError, TracedbWarning, UsageError, plain_text

DISTRIBUTION = "tracedb-profiler"
T = TypeVar("T")


def _installed_program() -> Optional[str]:
    """That of this package's own wheel, wherever pip has put its scripts."""
    from importlib import metadata

    try:
        files = metadata.files(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "tracedb":
            path = str(file.locate())
            if os.access(path, os.X_OK):
                return os.path.normpath(path)
    return None


@functools.lru_cache(maxsize=1)
def _found_program() -> str:
    found = _installed_program() or shutil.which("tracedb")
    if found is None:
        raise TracedbError("there is no program `tracedb`: neither in this package nor in PATH\n"
                           "  install the wheel of tracedb-profiler, or say where it is with "
                           "$TRACEDB_PROGRAM")
    return found


def program() -> str:
    """The path of the program that is used: $TRACEDB_PROGRAM, else the wheel's, else PATH's."""
    return os.environ.get("TRACEDB_PROGRAM") or _found_program()


def version() -> str:
    """The version of this package; that of the program where it is not installed as one."""
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return output("--version").strip().split(" ")[-1]


def _callers_level() -> int:
    """For warnings: how far up the first line is that is not this package's."""
    here = os.path.dirname(__file__)
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        level, frame = level + 1, frame.f_back
    return level


def _failed(command: Sequence[str], code: int, text: str) -> TracedbError:
    if not text:
        text = (f"tracedb was ended by signal {-code}" if code < 0
                else f"tracedb failed with exit code {code}")
    return (UsageError if code == 2 else TracedbError)(text, code, command)


def environment() -> Dict[str, str]:
    """A copy: a process that starts while another thread changes os.environ may get a torn one.

    dict(os.environ) raises KeyError beside such a thread.
    """
    return {name: value for name in list(os.environ)
            if (value := os.environ.get(name)) is not None}


def run(arguments: Sequence[str], read: Callable[[IO[bytes]], T], text_in: Optional[str] = None,
        may_exit: Tuple[int, ...] = (0,)) -> T:
    """What `read` makes of the standard output, once the program has ended well.

    Raises TracedbError with what it wrote to standard error; notes become TracedbWarnings. The
    program is ended where `read` fails or is interrupted.
    """
    command = [program(), *arguments]
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        if text_in is not None:
            given.write(text_in.encode())
            given.seek(0)
        try:
            process = subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=errors,
                                       env=environment())
        except OSError as error:
            raise TracedbError(f"{command[0]}: {error.strerror}", 127, command) from error
        assert process.stdout is not None
        trouble: Optional[Exception] = None
        result: Optional[T] = None
        try:
            try:
                result = read(process.stdout)
                process.stdout.read()  # what a reader of a stream leaves behind its end
            except Exception as error:  # the program's own words come first
                trouble = error
            process.stdout.close()
            code = process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        errors.seek(0)
        text = plain_text(errors.read().decode("utf-8", "replace"))
    if code not in may_exit:
        # A reader that stopped early has closed the pipe: then its trouble is what happened.
        raise _failed(command, code, text) from trouble
    if trouble is not None:
        raise trouble
    if text:
        warnings.warn(text, TracedbWarning, stacklevel=_callers_level())
    return result  # type: ignore[return-value]


def output(*arguments: str, may_exit: Tuple[int, ...] = (0,)) -> str:
    """Standard output as text."""
    return run(arguments, lambda out: out.read().decode("utf-8"), may_exit=may_exit)


def option_texts(options: "dict[str, object]") -> List[str]:
    """Keyword arguments as the program's options: True alone, None not at all."""
    texts: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            texts.append(option)
        else:
            texts.append(f"{option}={value_text(value)}")
    return texts


def value_text(value: object) -> str:
    """A value as the command line takes it: ranks may be a list or a range."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (str, bytes)):
        return value if isinstance(value, str) else os.fsdecode(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if hasattr(value, "__iter__"):
        return ",".join(value_text(each) for each in value)
    return str(value)
