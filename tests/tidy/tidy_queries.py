"""The canned queries, and the C++ above the schema, ask by the public names."""
import re

# Canned queries that still name physical tables, and how many. It may shrink, never grow.
RATCHET = {}
# Queries that may: each has a line "-- physical: why, with the figures that were measured".
EXCEPTIONS_MAX = 0

REASON = re.compile(r"--\s*physical:\s*\S.*\d")
CLOCK = re.compile(r"\bdrift_ppb\b[^,]*\*|\*[^,]*\bdrift_ppb\b")

# Rooms of src/ that use the schema as everybody else does.
ASKING = ("src/serve/", "src/report/", "src/doctor/", "src/cli_")


def code_of(text):
    """SQL without its comments and texts."""
    return re.sub(r"--[^\n]*", "", re.sub(r"'[^'\n]*'", "''", text))


def physical_names(tree):
    """A pattern of all names in the schema that begin with _."""
    schema = "\n".join(source.text for source in tree.sources
                       if source.path.startswith("src/schema/") and source.kind == "sql")
    names = set(re.findall(r"CREATE (?:TABLE|VIEW) (_\w+)", schema))
    return re.compile(rf"(?<![\w:.])({'|'.join(sorted(names)) or '(?!)'})\b"), len(names)


def canned_queries_read_public_names(tree):
    physical, names = physical_names(tree)
    seen = 0
    exceptions = 0
    for source in tree.sources:
        if not re.fullmatch(r"queries/.+\.sql", source.path):
            continue
        seen += 1
        tables = sorted(set(physical.findall(code_of(source.text))))
        allowed = RATCHET.get(source.path, 0)
        if tables and REASON.search(source.text):
            exceptions += 1
        elif len(tables) > allowed:
            yield f"{source.path}: names {', '.join(tables)}; ask a view, or say -- physical: why"
        elif len(tables) < allowed:
            yield f"{source.path}: its entry in RATCHET may go down to {len(tables)}"
    if exceptions > EXCEPTIONS_MAX:
        yield f"{exceptions} queries name tables and say why (allowed: {EXCEPTIONS_MAX})"
    if seen == 0 or names == 0:
        yield "no query, or no table, was found at all: the check itself is broken"


def code_above_the_schema_asks_by_public_names(tree):
    physical, _ = physical_names(tree)
    for source in tree.sources:
        if not source.path.startswith(ASKING) or not source.is_cpp():
            continue
        for number, line in enumerate(source.lines, 1):
            for text in re.findall(r'"[^"]*"', line):
                for table in physical.findall(text):
                    yield f"{source.path}:{number}: {table} is how rows are stored; ask a view"


def the_clock_formula_stands_in_views_only(tree):
    for source in tree.sources:
        if source.path.startswith("queries/") and CLOCK.search(code_of(source.text)):
            yield f"{source.path}: take aligned_ts_ns of collectives"


QUERY_CHECKS = (
    canned_queries_read_public_names,
    code_above_the_schema_asks_by_public_names,
    the_clock_formula_stands_in_views_only,
)
