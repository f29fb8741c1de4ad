"""The views are also read by DuckDB, whose parser is not SQLite's, and whose SQLite is 3.38: it
must open each. What can be told from their text is checked here, the rest by ./dev test-clients.
"""
import re

# What DuckDB refuses wherever it stands in code without comments and texts, and what does instead.
REFUSED = (
    (r"\bIS\s+(?:NOT\s+)?DISTINCT\b", "IS DISTINCT FROM: SQLite before 3.39 cannot read the "
                                      "database then; compare what coalesce makes of both"),
    (r"\bIS\s+(?!NULL\b|NOT\s)\S+", "IS of two values; use =, coalesce or IS NULL"),
    (r"\bIS\s+NOT\s+(?!NULL\b|DISTINCT\b)\S+", "IS NOT of two values; use <>, coalesce, IS NULL"),
    (r"\bat\b", "at is a keyword; another name"),
    (r"\biif\s*\(", "iif; use CASE"),
    (r"\bNOT\s+MATERIALIZED\b", "NOT MATERIALIZED: a subquery on it ends DuckDB; name the view"),
)
CLASS_OF_OTHERS = re.compile(r"\bGLOB\s+'[^'\n]*\[\^")
WORDS_AFTER_A_TABLE = ("ON", "USING", "JOIN", "LEFT", "CROSS", "INNER", "WHERE", "GROUP", "ORDER",
                       "WINDOW", "LIMIT", "UNION", "HAVING")


def without_comments(text):
    return re.sub(r"--[^\n]*", "", text)


def code_of(text):
    """SQL without comments, texts, quoted names and calls of macros, line for line."""
    text = re.sub(r"'[^'\n]*'", "''", re.sub(r'"[^"\n]*"', "quoted", without_comments(text)))
    return re.sub(r"@[^@]*@", lambda match: "macro" + "\n" * match[0].count("\n"), text)


def after_brackets(tokens, at):
    """The place behind the brackets that open at a token."""
    depth = 0
    while at < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[at], 0)
        at += 1
        if depth == 0:
            return at
    return at


def commas_within(tokens, at):
    """How many commas stand in the brackets that open at a token, and in none within them."""
    depth = commas = 0
    for token in tokens[at:after_brackets(tokens, at)]:
        depth += {"(": 1, ")": -1}.get(token, 0)
        commas += token == "," and depth == 1
    return commas


def joins(tokens):
    """Of each JOIN: its place, and whether it is a CROSS JOIN, and has a condition."""
    for place, token in enumerate(tokens):
        if token != "JOIN":
            continue
        at = place + 1
        if tokens[at] != "(":
            at += 1
        if at < len(tokens) and tokens[at] == "(":
            at = after_brackets(tokens, at)
        if at < len(tokens) and tokens[at] == "AS":
            at += 1
        if at < len(tokens) and re.match(r"\w", tokens[at]) \
                and tokens[at] not in WORDS_AFTER_A_TABLE:
            at += 1
        yield place, tokens[place - 1] == "CROSS", tokens[at:at + 1] in (["ON"], ["USING"])


def views_are_sql_of_duckdb_too(tree):
    seen = 0
    for source in tree.sources:
        if not re.fullmatch(r"src/schema/views\w*\.sql", source.path):
            continue
        code = code_of(source.text)
        seen += code.count("CREATE VIEW")
        for pattern, what in REFUSED:
            for match in re.finditer(pattern, code):
                yield f"{source.path}:{code.count(chr(10), 0, match.start()) + 1}: {what}"
        for match in CLASS_OF_OTHERS.finditer(without_comments(source.text)):
            yield f"{source.path}: {match[0]}: DuckDB's GLOB has no [^...]; use trim"
        spans = list(re.finditer(r"\w+|\S", code))
        tokens = [span[0] for span in spans]
        line = lambda place: code.count("\n", 0, spans[place].start()) + 1
        for place, is_cross, has_condition in joins(tokens):
            if is_cross and has_condition:
                yield f"{source.path}:{line(place)}: CROSS JOIN with ON; say it in WHERE"
            elif not is_cross and not has_condition:
                yield f"{source.path}:{line(place)}: JOIN without ON; CROSS JOIN"
        for place, token in enumerate(tokens[:-1]):
            if token in ("max", "min") and tokens[place + 1] == "(" \
                    and commas_within(tokens, place + 1):
                yield f"{source.path}:{line(place)}: {token} of two values; use CASE"
    if seen < 50:
        yield "hardly a view was found: the check itself is broken"


def queries_know_how_long_a_long_slice_is(tree):
    """Conditions on the indexes of long slices must have the number itself: kept to one here."""
    texts = {source.path: source.text for source in tree.sources}
    said = re.search(r"kLongSliceNs = ([\d']+);", texts["include/tracedb/schema/event_tables.h"])
    length = said[1].replace("'", "")
    found = 0
    for path, text in texts.items():
        if not (path.startswith("queries/") and path.endswith(".sql")):
            continue
        for match in re.finditer(r"\bdur_ns (?:>=|<) (\d{5,})\b", text):
            found += match[1] == length
            if match[1] != length:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: {match[1]}; a long slice has {length} ns (event_tables.h)"
    if found < 5:
        yield "hardly a query has the length of long slices: the check itself is broken"


VIEW_CHECKS = (views_are_sql_of_duckdb_too, queries_know_how_long_a_long_slice_is)
