"""A query's rows with every digit, as text: CSV rounds what has a unit to nine digits after the point."""
import csv
import io
import json
import subprocess

_names = {}  # of the columns, by query: where no row came, JSON has none


def _run(program, database, arguments):
    done = subprocess.run([program, "-q", "--db", database, "query", *arguments], check=True,
                          stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return done.stdout


def _text(value):
    return "" if value is None else str(value)


def exact_rows(program, database, *arguments):
    """The names of the columns, and the rows."""
    found = json.loads(_run(program, database, [*arguments, "--format", "json"]))
    if found:
        _names[arguments[0]] = list(found[0])
    elif arguments[0] not in _names:
        _names[arguments[0]] = next(csv.reader(io.StringIO(_run(program, database, arguments))))
    return _names[arguments[0]], [[_text(value) for value in row.values()] for row in found]
