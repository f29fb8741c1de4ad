#!/usr/bin/env python3
"""Makes sql/*.sql, canned queries, and sql/views/*.sql, what they read, in words that Spark, DuckDB
and ClickHouse share. Wants sqlglot (PyPI) and a program; run after a change of a query or view:

    python3 src/engines/make_engine_sql.py --program build/release/src/tracedb [--check]

What no words are shared for is left as calls in capitals, which engine_dialect.cc writes out:
INT_DIV, LARGER, SMALLER, TEXT_INT, SUB_TEXT, NO_TEXT, ALL_OF, ONE_OF, GIVEN and others.
"""
import argparse
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import textwrap

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.sqlite import SQLite

from engine_edits import Between, EDITS, EMPTY, QUERIES, VIEWS, WHOLE

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS_MAX = 100
TEST = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between, exp.Like,
        exp.Not, exp.And, exp.Or, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Exists)


class Shared(Dialect):
    NULL_ORDERING = "nulls_are_last"


def call(name, *args):
    return exp.Anonymous(this=name, expressions=list(args))


def is_test(node):
    """Whether the node stands where a condition is asked for."""
    parent = node.parent
    if isinstance(parent, exp.Paren):
        return is_test(parent)
    if isinstance(parent, (exp.Where, exp.Having, exp.And, exp.Or, exp.Not)):
        return True
    if isinstance(parent, exp.Join):
        return node.arg_key == "on"
    if isinstance(parent, exp.If):
        return node.arg_key == "this" and not (
            isinstance(parent.parent, exp.Case) and parent.parent.args.get("this"))
    return False


def is_real(node):
    """A division of these is one of fractions."""
    if isinstance(node, exp.Literal):
        return not node.is_string and bool(re.search("[.e]", node.this))
    if isinstance(node, exp.Column):
        return node.name in ("factor", "flop", "exec_us")
    if isinstance(node, (exp.Binary, exp.Paren)):
        return any(is_real(one) for one in node.args.values() if isinstance(one, exp.Expression))
    return isinstance(node, exp.Avg)


def params(tree):
    for one in list(tree.find_all(exp.In)):
        query = one.args.get("query")
        if query is not None and "JSON_EACH" in query.sql().upper():
            name = query.find(exp.Placeholder).name
            one.replace(call("ONE_OF", exp.column(name), one.this.copy()))
    lists = {call_.expressions[0].name for call_ in tree.find_all(exp.Anonymous)
             if call_.name == "ONE_OF"}
    # ":name IS NULL": nobody asked for less than all.
    for one in list(tree.find_all(exp.Placeholder)):
        if isinstance(one.parent, exp.Is):
            one.parent.replace(call("ALL_OF", exp.column(one.name)))
        else:
            assert one.name not in lists, one.parent.sql()
            one.replace(call("GIVEN", exp.column(one.name)))


def rewrite(tree):
    """SQLite's words become shared ones, leaves first."""
    for node in reversed(list(tree.walk())):
        new = None
        if isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
            new = exp.Case(ifs=[exp.If(this=node.this.copy(), true=node.args["true"].copy())],
                           default=node.args["false"].copy() if node.args.get("false") else None)
        elif isinstance(node, exp.Div) and not (is_real(node.this) or is_real(node.expression)):
            sides = [side.unnest().copy() for side in (node.this, node.expression)]
            new = call("INT_DIV", *sides)
        elif isinstance(node, exp.Div):
            node.args["typed"] = node.args["safe"] = False
        elif isinstance(node, exp.Literal) and not node.is_string and "." in node.this:
            new = exp.Literal.number(node.this + "e0") if "e" not in node.this else None
        elif isinstance(node, (exp.Greatest, exp.Max, exp.Least, exp.Min)):
            rest = node.expressions
            if rest:  # of two values: NULL where one is
                assert len(rest) == 1, node.sql()
                is_least = isinstance(node, (exp.Least, exp.Min))
                new = call("SMALLER" if is_least else "LARGER", node.this.copy(), rest[0].copy())
        elif isinstance(node, exp.Is) and not isinstance(node.expression, (exp.Null, exp.Boolean)):
            new = exp.NullSafeEQ(this=node.this.copy(), expression=node.expression.copy())
        elif isinstance(node, exp.Cast) and node.to.this in (exp.DataType.Type.INT,
                                                             exp.DataType.Type.BIGINT):
            new = call("TEXT_INT", node.this.copy())
        elif isinstance(node, exp.Substring):
            new = call("SUB_TEXT", *(node.args[key].copy() for key in ("this", "start", "length")
                                     if node.args.get(key)))
        elif isinstance(node, exp.Length):
            new = call("TEXT_LENGTH", node.this.copy())
        elif isinstance(node, exp.Ordered):
            node.set("nulls_first", not node.args.get("desc"))
        elif isinstance(node, exp.Join) and node.args.get("on") and node.kind == "CROSS":
            node.set("kind", None)
        elif isinstance(node, exp.CTE):
            node.set("materialized", None)
        elif isinstance(node, exp.DPipe):
            node.args["safe"] = False
        elif isinstance(node, (exp.Column, exp.Literal, exp.Case, exp.Coalesce)) and is_test(node):
            # a number asked for its truth
            zero = exp.Literal.number(0)
            new = exp.NEQ(this=node.copy(), expression=zero)
        if new is not None:
            if node.parent is None:
                tree = new
            else:
                node.replace(new)
    for node in list(tree.find_all(exp.Not)):
        inner = node.this.unnest()
        if isinstance(inner, exp.NEQ) and inner.expression.sql() == "0":
            node.replace(exp.EQ(this=inner.this.copy(), expression=exp.Literal.number(0)))
    for node in list(tree.find_all(*TEST)):  # a condition asked for its number
        if is_test(node) or isinstance(node.parent, (exp.Paren, exp.Not)) and is_test(node.parent):
            continue
        outer = node.parent if isinstance(node.parent, exp.Paren) else node
        no = exp.Not(this=exp.Paren(this=node.copy()))
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        outer.replace(exp.Case(ifs=[exp.If(this=node.copy(), true=one),
                                    exp.If(this=no, true=zero)]))
    return tree


def relations(tree):
    """Names that are read from, but for its own."""
    own = {cte.alias for cte in tree.find_all(exp.CTE)}
    return sorted({table.name for table in tree.find_all(exp.Table)} - own)


def remove_empty(tree):
    """What reads files that no summary has goes: branches of unions, joins, columns are NULL."""
    empty = set(EMPTY)
    for cte in list(tree.find_all(exp.CTE)):
        body = keep(cte.this, empty)
        if body is None:
            empty.add(cte.alias)
            cte.pop()
        elif body is not cte.this:
            cte.this.replace(body)
    for union in list(tree.find_all(exp.Union)):
        body = keep(union, empty)
        if body is union:
            continue
        body = body.copy()
        if union.args.get("with_"):
            body.set("with_", union.args["with_"].copy())
        if union.parent is None:
            tree = body
        else:
            union.replace(body)
    gone = set()
    for join in list(tree.find_all(exp.Join)):
        if isinstance(join.this, exp.Table) and join.this.name in empty:
            assert join.side == "LEFT", join.sql()
            gone.add(join.this.alias_or_name)
            join.pop()
    for column in list(tree.find_all(exp.Column)):
        if column.table not in gone:
            continue
        case = column.find_ancestor(exp.If)
        if case is not None and case.parent is None:
            continue  # gone with its branch
        if case is not None and isinstance(case.parent, exp.Case):
            whole = case.parent
            case.pop()
            if not whole.args["ifs"]:
                whole.replace(whole.args["default"].copy())
        elif column.parent is not None:
            column.replace(call("NO_REAL"))
    return tree


def keep(body, empty):
    """What is left of it; None: nothing."""
    if isinstance(body, exp.Union):
        left, right = keep(body.left, empty), keep(body.right, empty)
        if left is None or right is None:
            return left if right is None else right
        return body
    source = body.args.get("from_") or body.args.get("from")
    tables = [source.this] if source else []
    tables += [join.this for join in body.args.get("joins") or [] if join.side != "LEFT"]
    is_empty = any(isinstance(table, exp.Table) and table.name in empty for table in tables)
    return None if is_empty else body


def cut(line):
    """In lines of at most 100 characters, at places that are within no text."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    done = []
    while len(line) > COLUMNS_MAX:
        ends = re.finditer(r"(?<=,) | (?=THEN |ELSE |AND |WHEN )", line)
        places = [match.start() for match in ends
                  if line.count("'", 0, match.start()) % 2 == 0
                  and len(indent) < match.start() <= COLUMNS_MAX]
        if not places:
            break
        done.append(line[:places[-1]])
        line = indent + line[places[-1] + 1:]
    return "\n".join([*done, line])


def compact(lines):
    """Columns that stand in lines of their own, as many to a line as fit."""
    is_column = re.compile(r"( *)[\w.]+( AS \w+)?( DESC)?( NULLS FIRST)?,?")
    done, indent = [], None  # that of the last line, where it has columns alone
    for line in lines:
        column = is_column.fullmatch(line)
        here = column and column[1]
        if (column and here == indent and done[-1].endswith(",")
                and len(done[-1]) + len(line) - len(here) < COLUMNS_MAX):
            done[-1] += " " + line.strip()
        else:
            done.append(line)
        indent = here
    return done


def shared(name, text):
    for old, new in EDITS.get(name, ()):
        if isinstance(old, Between):
            old = old.of(text)
        if old not in text:
            sys.exit(f"engine_edits.py: {name} has no longer: {old}")
        text = text.replace(old, new)
    tree = sqlglot.parse_one(text, read=SQLite)
    params(tree)
    tree = rewrite(remove_empty(tree))
    for select in tree.find_all(exp.Select):  # ClickHouse calls t.run of a join so
        for one in select.expressions:
            if isinstance(one, exp.Column) and one.table and not isinstance(one.this, exp.Star):
                one.replace(exp.alias_(one.copy(), one.name))
    body = tree.sql(dialect=Shared, pretty=True, max_text_width=100, normalize_functions=False)
    lines = "\n".join(cut(line) for line in compact(body.split("\n")))
    reads = textwrap.wrap(" ".join(relations(tree)), COLUMNS_MAX - len("-- reads: "))
    return "".join(f"-- reads: {names}\n" for names in reads or [""]) + f"{lines}\n"


def sources(program):
    """The texts of the views, and of the queries below their headers."""
    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / "one.db"
        trace = next((ROOT / "fixtures/megatron").glob("*.json.gz"))
        subprocess.run([program, "-q", "ingest", trace, "--db", database], check=True)
        with sqlite3.connect(database) as db:
            views = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'"))
    texts = {}
    for name in VIEWS:
        text = re.sub(r"(?m)^--.*\n", "", views[name].split(" AS\n", 1)[1])
        # Marks are replaced where the table is read.
        text = re.sub(r"(?:replace\()+(a\.args)(?:,m_\w+,'null'\))+", r"\1", text)
        text = text.replace("LEFT JOIN _args_mark m ON m.id = 1", "")
        # No query asks a view for it.
        text = re.sub(r"\([^()]* - \(SELECT z.run_start_ns FROM _trace z WHERE [^()]*\)\)"
                      r" / 1000000\.0 AS start_ms", "NO_REAL() AS start_ms", text)
        texts["views/" + name] = WHOLE.get("views/" + name, text)
    for name in QUERIES:
        lines = (ROOT / "queries" / f"{name}.sql").read_text().split("\n\n", 1)
        texts[name] = lines[1].strip().rstrip(";")
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--check", action="store_true", help="only say what is not as it would be")
    arguments = parser.parse_args()
    made = {name + ".sql": shared(name, text) for name, text in sources(arguments.program).items()}
    folder = HERE / "sql"
    there = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.sql")}
    differs = sorted(name for name in made.keys() | there.keys()
                     if made.get(name) != there.get(name))
    if arguments.check:
        if differs:
            sys.exit(f"src/engines/sql is not up to date, run make_engine_sql.py: {differs}")
        return
    for name in differs:
        (folder / name).unlink(missing_ok=True)
        if name in made:
            (folder / name).write_text(made[name])
    print(f"{len(differs)} of {len(made)} written")


if __name__ == "__main__":
    main()
