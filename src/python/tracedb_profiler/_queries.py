"""The canned queries: what their headers say, and each as something to call."""
from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from ._errors import UsageError
from ._program import output, program

if TYPE_CHECKING:
    from ._database import Database


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter: `default` None means null, unless it is `required`."""
    name: str
    type: str  # text, int, real, bool
    unit: str
    list: bool  # takes several values as well
    required: bool
    default: Optional[str]
    text: str


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    type: str
    unit: str
    text: str


@dataclasses.dataclass(frozen=True)
class Plot:
    """How `--plot` draws a result: a bar a row, shares of a sum, or lines over a column."""
    kind: str  # bar, stacked, line
    values: Tuple[str, ...]
    over: str
    by: Tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class QueryDoc:
    """A query's header."""
    name: str
    title: str
    description: str
    params: Tuple[Param, ...]
    columns: Tuple[Column, ...]
    plot: Optional[Plot]
    sql: str

    def docstring(self) -> str:
        parts = [self.title + "."]
        if self.description:
            parts.append(self.description)
        if self.params:
            parts.append("Parameters:\n" + _aligned(
                [(param.name, _type_of(param), param.text) for param in self.params]))
        if self.columns:
            parts.append("Columns:\n" + _aligned(
                [(column.name, _type_of(column), column.text) for column in self.columns]))
        return "\n\n".join(parts) + "\n"

    def signature(self) -> inspect.Signature:
        """As help() and completion show it; `frame` is of every query."""
        kind = inspect.Parameter.KEYWORD_ONLY
        known = [inspect.Parameter(param.name, kind, default=inspect.Parameter.empty
                                   if param.required else _default_of(param))
                 for param in self.params if param.name.isidentifier()]
        return inspect.Signature([*known, inspect.Parameter("frame", kind, default=None)])


def _type_of(item: Any) -> str:
    listed = " or list" if getattr(item, "list", False) else ""
    return f"{item.type} ({item.unit}){listed}" if item.unit else f"{item.type}{listed}"


def _default_of(param: Param) -> Any:
    if param.default is None or param.type == "text":
        return param.default
    if param.type == "bool":
        return param.default in ("1", "true", "yes")
    return float(param.default) if param.type == "real" else int(param.default)


def _aligned(rows: List[Tuple[str, str, str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    return "\n".join(f"  {row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows)


def _read(text: str) -> QueryDoc:
    item = json.loads(text)
    plot = item["plot"] and Plot(item["plot"]["kind"], tuple(item["plot"]["values"]),
                                 item["plot"]["over"], tuple(item["plot"]["by"]))
    return QueryDoc(item["query"], item["title"], item["description"],
                    tuple(Param(**param) for param in item["params"]),
                    tuple(Column(**column) for column in item["columns"]), plot, item["sql"])


@functools.lru_cache(maxsize=4)
def _catalog(of_program: str) -> Dict[str, QueryDoc]:
    docs = [_read(line) for line in
            output("query", "--explain", "--format", "ndjson").splitlines()]
    return {doc.name: doc for doc in docs}


def queries(checks: bool = False) -> Dict[str, QueryDoc]:
    """The canned queries by name; with `checks` those of `tracedb doctor` too."""
    return {name: doc for name, doc in _catalog(program()).items() if checks or "/" not in name}


def find(name: str) -> QueryDoc:
    name = name[:-len(".sql")] if name.endswith(".sql") else name
    doc = _catalog(program()).get(name)
    if doc is None:
        # The program says which one may be meant.
        output("query", name, "--explain", "--format", "json")
        raise UsageError(f"no query is called {name!r}", 2)
    return doc


class CannedQuery:
    """One query of one database: call it with its parameters."""

    def __init__(self, database: "Database", doc: QueryDoc) -> None:
        self._database = database
        self.doc = doc
        self.__name__ = self.__qualname__ = doc.name
        self.__doc__ = doc.docstring()
        self.__signature__ = doc.signature()

    def __call__(self, *, frame: Optional[str] = None, **params: Any) -> Any:
        return self._database.query(self.doc.name, frame=frame, **params)

    def plot(self, **options: Any) -> Any:
        """As Database.plot of this query."""
        return self._database.plot(self.doc.name, **options)

    @property
    def sql(self) -> str:
        return self.doc.sql

    def __repr__(self) -> str:
        return f"<query {self.doc.name} of {self._database.path}: {self.doc.title}>"
