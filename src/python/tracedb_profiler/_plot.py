"""A result drawn as its query's header says, with altair or matplotlib."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from ._errors import UsageError
from ._frames import Rows, is_installed
from ._queries import QueryDoc

BACKENDS = ("altair", "matplotlib")
# Of computing, exposed communication, exposed copies, nothing; told apart by the colour-blind too.
COLORS = ("#0072b2", "#d55e00", "#e69f00", "#bbbbbb", "#009e73", "#cc79a7", "#56b4e9", "#f0e442",
          "#000000")
_BARS_MAX = 60
_NAME_MAX = 60


def draw(doc: QueryDoc, ask: Callable[[], Rows], backend: Optional[str]) -> Any:
    if doc.plot is None:
        raise UsageError(f"{doc.name} says nothing of how to draw it: take its rows", 2)
    backend = backend or next((name for name in BACKENDS if is_installed(name)), None)
    if backend is None:
        raise ImportError("plot() wants altair or matplotlib: pip install altair")
    if backend not in BACKENDS:
        raise ValueError(f"backend is {backend!r}; altair or matplotlib is wanted")
    items = named_values(doc, ask())
    return (_altair if backend == "altair" else _matplotlib)(doc, items)


def named_values(doc: QueryDoc, rows: Rows) -> List[Dict[str, Any]]:
    """One item a value that is drawn: its name (the columns of `by` that differ), column, value,
    and where a line has it. Bars: the first 60 rows, as queries have the most first."""
    plot = doc.plot
    assert plot is not None
    records = [dict(zip(rows.columns, row)) for row in rows]
    if plot.kind != "line":
        records = records[:_BARS_MAX]
    differing = [name for name in plot.by if len({record[name] for record in records}) > 1]
    items: List[Dict[str, Any]] = []
    seen: Dict[str, int] = {}
    for record in records:
        words = [f"{key} {record[key]}" if str(record[key]).isdigit() else str(record[key])
                 for key in differing if record[key] is not None]
        whole = ", ".join(words) or doc.name
        name = _shortened(whole)
        seen[name] = seen.get(name, 0) + 1
        if plot.kind != "line" and seen[name] > 1:  # each row has a bar of its own
            name = f"{name} ({seen[name]})"
        items += [{"name": name, "whole": whole, "column": value, "value": record[value],
                   "over": record[plot.over] if plot.over else None}
                  for value in plot.values if record[value] is not None]
    return items


def _shortened(name: str) -> str:
    """Names of kernels begin alike and end alike: a part of both."""
    return name if len(name) <= _NAME_MAX else name[:_NAME_MAX - 15] + "…" + name[-14:]


def _altair(doc: QueryDoc, items: List[Dict[str, Any]]) -> Any:
    import altair

    plot = doc.plot
    assert plot is not None
    chart = altair.Chart(altair.InlineData(values=items), title=doc.title)
    if plot.kind == "line":
        return chart.mark_line(point=True).encode(
            x=altair.X("over:Q", title=plot.over), y=altair.Y("value:Q", title=plot.values[0]),
            color=altair.Color("name:N", title=None),
            tooltip=["whole:N", "over:Q", "value:Q"])
    colors = altair.Scale(domain=list(plot.values), range=list(COLORS[:len(plot.values)]))
    legend = altair.Undefined if len(plot.values) > 1 else None
    names = list(dict.fromkeys(item["name"] for item in items))
    return chart.mark_bar().encode(
        y=altair.Y("name:N", title=None, sort=names, axis=altair.Axis(labelLimit=400)),
        x=altair.X("value:Q", title=plot.values[0] if len(plot.values) == 1 else "ms"),
        color=altair.Color("column:N", title=None, scale=colors, legend=legend),
        order=altair.Order("order:Q"),
        tooltip=["whole:N", "column:N", "value:Q"]).transform_calculate(
            order=f"indexof({list(plot.values)!r}, datum.column)")


def _matplotlib(doc: QueryDoc, items: List[Dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    plot = doc.plot
    assert plot is not None
    names = list(dict.fromkeys(item["name"] for item in items))
    lines = plot.kind == "line"
    figure = Figure(figsize=(9, 4 if lines else 1.2 + 0.25 * max(len(names), 1)),
                    layout="constrained")
    axes = figure.subplots()
    axes.set_title(doc.title)
    if lines:
        for name in names:
            points = [(item["over"], item["value"]) for item in items if item["name"] == name]
            axes.plot([x for x, _ in points], [y for _, y in points], marker=".", label=name)
        axes.set_xlabel(plot.over)
        axes.set_ylabel(plot.values[0])
    else:
        ends = {name: 0.0 for name in names}
        for color, column in zip(COLORS, plot.values):
            mine = [item for item in items if item["column"] == column]
            axes.barh([item["name"] for item in mine], [item["value"] for item in mine],
                      left=[ends[item["name"]] for item in mine], color=color, label=column)
            for item in mine:
                ends[item["name"]] += item["value"]
        axes.invert_yaxis()
        axes.set_xlabel(plot.values[0] if len(plot.values) == 1 else "ms")
    if len(plot.values) > 1 or (lines and len(names) > 1):
        figure.legend(loc="outside right upper", fontsize="small")
    return figure
