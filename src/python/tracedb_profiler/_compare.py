"""Two sides of runs: did a change help, and is it more than noise."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from ._database import Database, Path
from ._pages import Report
from ._program import option_texts, output

_MAY_EXIT = (0, 4)  # 4: they are not comparable, and the answer says why
Side = Union[Database, Path, Sequence[Union[Database, Path]]]


def _paths(side: Side) -> List[str]:
    if isinstance(side, Database):
        return [side.path]
    if isinstance(side, (str, os.PathLike)):
        return [os.fspath(side)]
    return [path for each in side for path in _paths(each)]


class Comparison:
    """What `tracedb compare` says. `verdict`: slower, faster, same or cannot tell, of the step."""

    def __init__(self, said: Dict[str, Any], sides: Sequence[str]) -> None:
        self.data = said  # all of it, as --format json has it
        self._sides = list(sides)
        self._page: Optional[str] = None

    @property
    def verdict(self) -> str:
        return str(self.data["verdict"])

    @property
    def step_change_pct(self) -> Optional[float]:
        """How much longer a step takes; None where it cannot be told."""
        return self.data.get("step_change_pct")

    @property
    def least_visible_pct(self) -> Optional[float]:
        """The least change that could have been seen."""
        return self.data.get("least_visible_pct")

    @property
    def comparable(self) -> bool:
        """False: the runs differ in what decides; `differences` says in what."""
        return bool(self.data["comparable"])

    @property
    def differences(self) -> List[Dict[str, Any]]:
        """What differs beside the times: fact, base, new, decides."""
        return list(self.data["differences"])

    @property
    def parts(self) -> List[Dict[str, Any]]:
        """The step's parts: name, base_ms, new_ms, delta_ms, verdict."""
        return list(self.data["parts"])

    def report(self) -> Report:
        """The page of `tracedb compare --format html`."""
        if self._page is None:
            self._page = output("compare", "--format=html", "-q", "-o", "-", *self._sides,
                                may_exit=_MAY_EXIT)
        return Report(self._page)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def __repr__(self) -> str:
        change = self.step_change_pct
        how_much = "" if change is None else f", {change:+.1f} %"
        return f"<comparison: {self.verdict}{how_much}>"


def compare(base: Side, new: Side, *, min_effect: Optional[str] = None,
            baseline: Optional[Path] = None, critical_path: bool = False,
            rows: Optional[int] = None) -> Comparison:
    """Compares two recordings, or several a side: databases, traces, folders, "FILE.db#RUN"."""
    sides: List[str] = []
    for option, side in (("--base", base), ("--new", new)):
        paths = _paths(side)
        if not paths:
            raise TypeError(f"compare() wants a run for {option[2:]}")
        sides += [option, *paths]
    sides += option_texts({"min_effect": min_effect, "baseline": baseline,
                           "critical_path": critical_path, "rows": rows})
    said = output("compare", "--format=json", "-q", *sides, may_exit=_MAY_EXIT)
    return Comparison(json.loads(said), sides)
