"""Parameters of a user's own SQL, written into it as literals: `:name` has the value's own type."""
from __future__ import annotations

import math
import re
from typing import Any, Dict

# What a parameter cannot be in: texts, quoted names, comments.
_TOKENS = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\] | --[^\n]* | /\*.*?(?:\*/|\Z)
        | (?<![\w:$@]) [:@$](?P<name>[A-Za-z_]\w*)""", re.X | re.S)


def literal(value: Any) -> str:
    """SQL for a value; a list is one in parentheses: `WHERE rank IN :ranks`."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()  # numpy's numbers
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        if not -2**63 <= value < 2**63:
            raise ValueError(f"{value} does not fit 64 bits")
        return str(value) if value > -2**63 else "(-9223372036854775807 - 1)"
    if isinstance(value, float):
        if math.isnan(value):
            return "NULL"  # as SQLite has it
        return repr(value) if math.isfinite(value) else ("9e999" if value > 0 else "-9e999")
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text with a zero byte cannot be in SQL")
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, (bytes, bytearray)):
        return "x'" + bytes(value).hex() + "'"
    if hasattr(value, "__iter__"):
        return "(" + ", ".join(literal(each) for each in value) + ")"
    raise TypeError(f"a {type(value).__name__} is no value of SQL")


def with_values(sql: str, params: Dict[str, Any]) -> str:
    """The SQL with each :name (@name, $name) replaced. All names must be there, and be used."""
    used = set()

    def replaced(token: "re.Match[str]") -> str:
        name = token["name"]
        if name is None:
            return token[0]
        if name not in params:
            raise TypeError(f"the SQL names :{name}, which is not given: sql(..., {name}=...)")
        used.add(name)
        return literal(params[name])

    text = _TOKENS.sub(replaced, sql)
    unused = sorted(set(params) - used)
    if unused:
        raise TypeError(f"the SQL does not name :{unused[0]}")
    return text
