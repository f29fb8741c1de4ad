"""What goes wrong, in the program's own words."""
from __future__ import annotations

from typing import Sequence


class TracedbError(RuntimeError):
    """The program failed: its text, its exit code, and what was asked of it."""

    def __init__(self, text: str, exit_code: int = 1, command: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.exit_code = exit_code
        self.command = list(command)


class UsageError(TracedbError, ValueError):
    """A name, a parameter or an option that there is not (exit code 2)."""


class TracedbWarning(UserWarning):
    """What the program noted beside its answer: why there is no row, what it left out."""


def plain_text(stderr: str) -> str:
    """Without the program's name in front of each line, nor an option that nobody gave here."""
    lines = []
    for line in stderr.splitlines():
        for own, instead in (("tracedb: ", ""), ("--command:", "SQL:")):
            if line.startswith(own):
                line = instead + line[len(own):]
        lines.append(line)
    return "\n".join(lines).strip()
