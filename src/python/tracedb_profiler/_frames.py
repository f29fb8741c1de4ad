"""Results as what is installed: pandas, polars, Arrow, or lists of named rows.

The program writes Arrow's stream format, which keeps integers, reals, texts and NULLs apart; with
neither pyarrow nor polars it is JSON by the line, read with the standard library.
"""
from __future__ import annotations

import collections
import html
import importlib.util
import json
from typing import IO, Any, Dict, List, Optional, Sequence

FRAMES = ("pandas", "polars", "arrow", "rows")
_MODULES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
# A text column of that many values, half of them different or more, is no category.
_VARIED_FROM = 1000


def is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def chosen_frame(frame: Optional[str]) -> str:
    """`frame`, or the first of FRAMES that is installed."""
    if frame is None:
        return next((name for name in FRAMES[:3] if is_installed(_MODULES[name])), "rows")
    if frame not in FRAMES:
        raise ValueError(f"frame is {frame!r}; one of {', '.join(FRAMES)} is wanted")
    return frame


def stream_format(frame: str) -> str:
    """How the program is asked to write for it."""
    if frame == "rows":
        return "ndjson"
    wants = "polars" if frame == "polars" else "pyarrow"
    return "arrow" if is_installed(wants) else "ndjson"


class Rows(List[Any]):
    """A list of named tuples; `columns` has the names as the database has them."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Any] = ()) -> None:
        super().__init__(rows)
        self.columns = list(columns)

    def _repr_html_(self) -> str:
        def line(cells: Sequence[Any], tag: str) -> str:
            return "<tr>" + "".join(
                f"<{tag}>{html.escape('' if cell is None else str(cell))}</{tag}>"
                for cell in cells) + "</tr>"

        shown = "".join(line(row, "td") for row in self[:60])
        more = "" if len(self) <= 60 else f"<p>{len(self):,} rows, 60 shown</p>"
        return f"<table>{line(self.columns, 'th')}{shown}</table>{more}"


def read_frame(stream: IO[bytes], frame: str, columns: Optional[Sequence[Any]]) -> Any:
    """`columns`: what the query's header says of them, where it has one."""
    if stream_format(frame) == "ndjson":
        return from_ndjson(stream, frame, columns)
    if frame == "polars":
        return _polars_of_stream(stream)
    table = _arrow_of_stream(stream)
    return _pandas_of_arrow(table) if frame == "pandas" else table


def _is_category(values: int, distinct: int) -> bool:
    return values < _VARIED_FROM or distinct * 2 <= values


def _arrow_of_stream(stream: IO[bytes]) -> Any:
    import pyarrow

    table = pyarrow.ipc.open_stream(stream).read_all()
    for i, field in enumerate(table.schema):
        if pyarrow.types.is_string(field.type):
            encoded = table.column(i).dictionary_encode().unify_dictionaries()
            distinct = len(encoded.chunk(0).dictionary) if encoded.num_chunks else 0
            if _is_category(table.num_rows, distinct):
                table = table.set_column(i, pyarrow.field(field.name, encoded.type), encoded)
    return table


def _pandas_of_arrow(table: Any) -> Any:
    import pandas
    import pyarrow

    # Integers with NULLs would become floats, which hold no nanoseconds since 1970.
    frame = table.to_pandas(integer_object_nulls=True)
    for name, column in zip(table.column_names, table.columns):
        if pyarrow.types.is_integer(column.type) and column.null_count > 0:
            frame[name] = pandas.array(column.to_pylist(), dtype="Int64")
    return frame


def _polars_of_stream(stream: IO[bytes]) -> Any:
    import io

    import polars

    frame = polars.read_ipc_stream(io.BytesIO(stream.read()))
    texts = [name for name, kind in frame.schema.items() if kind == polars.String]
    named = [name for name in texts if _is_category(frame.height, frame[name].n_unique())]
    return frame.with_columns([polars.col(name).cast(polars.Categorical) for name in named])


def from_ndjson(stream: IO[bytes], frame: str, columns: Optional[Sequence[Any]]) -> Any:
    """Objects by the line. No row tells no names: then those of the header are taken."""
    objects = [json.loads(line) for line in stream]
    names = list(objects[0]) if objects else [column.name for column in columns or ()]
    _as_documented(objects, columns or ())
    if frame == "rows":
        row = collections.namedtuple("Row", names, rename=True)  # type: ignore[misc]
        return Rows(names, [row(*each.values()) for each in objects])
    values = {name: _of_one_type([each[name] for each in objects]) for name in names}
    if frame == "pandas":
        return _pandas_of_values(values)
    if frame == "polars":
        import polars

        made = polars.DataFrame(values, infer_schema_length=None)
        texts = [name for name, kind in made.schema.items() if kind == polars.String]
        return made.with_columns([polars.col(name).cast(polars.Categorical) for name in texts
                                  if _is_category(made.height, made[name].n_unique())])
    import pyarrow

    return pyarrow.table(values)


def _as_documented(objects: List[Dict[str, Any]], columns: Sequence[Any]) -> None:
    """JSON has 0 for 0.0, and a database an integer where the header promises a text."""
    kinds = {column.name: {"text": str, "real": float}.get(column.type) for column in columns}
    for name, kind in kinds.items():
        if kind is None or not objects or name not in objects[0]:
            continue
        wanted = (int, float) if kind is str else int
        for each in objects:
            if isinstance(each[name], wanted):
                each[name] = kind(each[name])


def _of_one_type(values: List[Any]) -> List[Any]:
    """SQLite has a type for each value, a frame for each column: what differs becomes text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int} or kinds <= {float} or kinds <= {str}:
        return values
    if kinds <= {int, float} and all(abs(v) <= 2**53 for v in values if isinstance(v, int)):
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]


def _pandas_of_values(values: Dict[str, List[Any]]) -> Any:
    import pandas

    frame = {}
    for name, column in values.items():
        kinds = {type(value) for value in column} - {type(None)}
        if kinds == {int}:
            frame[name] = pandas.array(column, dtype="Int64" if None in column else "int64")
        elif kinds == {str} and _is_category(len(column), len(set(column))):
            frame[name] = pandas.Categorical(column)
        else:
            frame[name] = pandas.Series(column, dtype="float64" if kinds == {float} else None)
    return pandas.DataFrame(frame)
