#!/usr/bin/env python3
"""Style by numbers and the arrows between layers, checked on the source text.

    python3 tidy_test.py [--root DIR]

One line a check on stdout, and below it what breaks it. Exit 0: all pass; 1: something does not.
The lists called RATCHET hold what was there before its rule: it may shrink, never grow.
"""
import argparse
import ast
import os
import re
import sys

from tidy_includes import INCLUDE_CHECKS
from tidy_queries import QUERY_CHECKS
from tidy_rooms import ROOM_CHECKS
from tidy_source import read_tree
from tidy_views import VIEW_CHECKS
from tidy_words import WORD_CHECKS

LINES_MAX = 400
COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70

# Folders whose lines may be longer, and files with how many of their lines are too long.
WIDER_FOLDERS = {"tests/oracle/": 120}
RATCHET_COLUMNS = {"tests/oracle/make_cases.py": 2, "tests/oracle/test_trace_oracle.py": 2}
# Lines of a function, by "path:name".
RATCHET_FUNCTIONS = {
    "tests/oracle/check_database.py:check_nccl_stalls": 87,
    "tests/oracle/make_cases.py:make_trace": 195,
}

# A C interface, and the only places that may include it; a name that ends in / is a folder.
C_INTERFACES = {
    "sqlite3.h": ("src/base/declared_types.cc", "src/base/row_values.cc",
                  "src/base/safe_sum.cc", "src/base/sqlite_advice.cc", "src/base/sqlite_db.cc",
                  "src/base/sqlite_memory.cc", "src/base/sqlite_open.cc", "src/pages/page_check.cc",
                  "src/pages/staged_changes.cc", "src/pages/staged_vfs.h", "src/extension/",
                  "tests/"),
    "sqlite3ext.h": ("src/base/safe_sum.cc", "src/extension/"),
    "httplib.h": ("src/serve/http/",),
    "zlib.h": ("src/ingest/read/byte_inflater.cc", "src/text/gzip_text.cc", "bench/", "tests/"),
    "zstd.h": ("src/ingest/read/byte_inflater.cc", "src/parquet/page_compression.cc", "bench/",
               "tests/"),
    "isa-l/igzip_lib.h": ("src/ingest/read/byte_inflater.cc", "bench/", "tests/"),
}

# What is not called, and what is called instead.
BANNED_CALLS = {
    r"\bato[ifl]l?\s*\(": "std::from_chars",
    r"\bs?scanf\s*\(": "std::from_chars",
    r"\bsprintf\s*\(": "std::snprintf",
    r"\bstrc(at|py)\s*\(": "std::string",
    r"\bsystem\s*\(": "a function of the standard library",
    r"\busing namespace\b": "using a::name",
    r"(?<!thread_)\bmalloc\s*\(": "std::vector",
}

# --- Checks: each yields a line for everything that breaks it. ---------------------------------


def files_are_under_400_lines_or_say_why_not(tree):
    for source in tree.sources:
        if len(source.lines) <= LINES_MAX:
            continue
        # A query's first lines are what people read of it.
        top = source.lines[:50] if source.path.endswith(".sql") else source.lines[:10]
        reason = next((line for line in top
                       if re.match(r"(//|#|--)\s*long because:\s*\S", line)), None)
        if reason is None:
            yield (f"{source.path}: {len(source.lines)} lines; cut it up, or say why not at its "
                   f"top: long because: ...")
        else:
            tree.notes.append(f"{source.path}: {len(source.lines)} lines, {reason.strip('/#- ')}")


def lines_are_under_100_columns(tree):
    for source in tree.sources:
        columns = max([COLUMNS_MAX] + [wider for folder, wider in WIDER_FOLDERS.items()
                                       if source.path.startswith(folder)])
        long = [i for i, line in enumerate(source.lines, 1) if len(line) > columns]
        allowed = RATCHET_COLUMNS.get(source.path, 0)
        if len(long) > allowed:
            yield (f"{source.path}: {len(long)} lines over {columns} columns "
                   f"(allowed: {allowed}): {', '.join(map(str, long[:10]))}")
        elif len(long) < allowed:
            tree.notes.append(f"{source.path}: RATCHET_COLUMNS may go down to {len(long)}")


def cpp_functions(source):
    """(name, first line, lines) of every function that is not inside another one."""
    code = source.code()
    stack = []  # one entry an open brace: None, or (name, line) of the function it begins
    head_begin = 0
    line = 1
    for at, char in enumerate(code):
        if char == "\n":
            line += 1
        elif char == "{":
            head = code[head_begin:at].strip()
            name = re.search(r"([\w:~<>=!+*\[\]&-]+|operator\s*\(\))\s*\(", head)
            inside = any(entry is not None for entry in stack)
            is_function = (name is not None and not inside and "=" not in head.split("(")[0]
                           and not re.match(r"(namespace|struct|class|enum|union|extern)\b", head))
            first = line - code[head_begin:at].lstrip().count("\n")
            title = name[1] if name else ""
            if title.startswith("TEST") and name:
                title = "".join(head[name.start():].split())
            stack.append((title, first) if is_function else None)
            head_begin = at + 1
        elif char == "}" and stack:
            entry = stack.pop()
            if entry is not None:
                yield entry[0], entry[1], line - entry[1] + 1
            head_begin = at + 1
        elif char == ";":
            head_begin = at + 1


def python_functions(source):
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def functions_are_under_70_lines(tree):
    for source in tree.sources:
        functions = ()
        if source.is_cpp():
            functions = cpp_functions(source)
        elif source.kind == "py":
            functions = python_functions(source)
        for name, first, lines in functions:
            tree.functions += 1
            allowed = RATCHET_FUNCTIONS.get(f"{source.path}:{name}", FUNCTION_LINES_MAX)
            if lines > allowed:
                yield f"{source.path}:{first}: {name} has {lines} lines (allowed: {allowed})"
    if tree.functions == 0:
        yield "no function was found at all: the check itself is broken"


def only_the_program_sees_both_ingest_and_query(tree):
    for source in tree.sources:
        if not source.path.startswith("src/") or not source.is_cpp() or source.room:
            continue
        seen = {name.removeprefix("tracedb/").split("/")[0] for _, name in source.includes()}
        at_top = re.fullmatch(r"src/(main|cli_\w+)\.(cc|h)", source.path)
        if {"ingest", "query"} <= seen and not at_top:
            yield f"{source.path}: includes both ingest and query"


def c_interfaces_stay_in_their_files(tree):
    for source in tree.sources:
        for number, name in source.includes() if source.is_cpp() else ():
            places = C_INTERFACES.get(name)
            if places and not any(source.path == place or
                                  (place.endswith("/") and source.path.startswith(place))
                                  for place in places):
                yield f"{source.path}:{number}: {name} is for {', '.join(places)} only"


def no_two_headers_have_a_type_of_one_name(tree):
    """The linker takes one of two types of a name, and of the code that copies them."""
    homes = {}
    for source in tree.sources:
        if not source.path.startswith(("src/", "include/")) or not source.path.endswith(".h"):
            continue
        types = r"^(?:struct|class|enum class|union) (\w+)(?: final)?(?: :[^;{]*)? ?\{"
        for name in re.findall(types, source.code(), re.M):
            first = homes.setdefault(name, source.path)
            if first != source.path:
                yield f"{source.path}: {name} is in {first} as well"


def only_the_program_writes_to_stderr(tree):
    for source in tree.sources:
        if not source.path.startswith(("src/", "include/")) or not source.is_cpp():
            continue
        if re.fullmatch(r"src/(main|cli_\w+|cmake/\w+)\.cc", source.path):
            continue
        for number, line in enumerate(source.code().split("\n"), 1):
            if re.search(r"\bstd::(cerr|clog)\b|\bstderr\b|\bSTDERR_FILENO\b|\bperror\s*\(", line):
                yield f"{source.path}:{number}: return an Error or count an issue instead"


def banned_calls_are_not_made(tree):
    for source in tree.sources:
        if not source.path.startswith(("src/", "include/")) or not source.is_cpp():
            continue
        # What SQLite keeps for an aggregate is a plain pointer.
        may_allocate = source.room == "extension"
        for number, line in enumerate(source.code().split("\n"), 1):
            for banned, instead in BANNED_CALLS.items():
                if re.search(banned, line):
                    yield f"{source.path}:{number}: {line.strip()} (use {instead})"
            if (not may_allocate and re.search(r"\b(new|delete)\b", line)
                    and not re.search(r"=\s*delete\b|(unique|shared)_ptr|\.reset\(|^\s*#", line)):
                yield f"{source.path}:{number}: {line.strip()} (use std::make_unique)"


def every_source_file_is_named_in_a_cmake_file(tree):
    cmake = "\n".join(source.text for source in tree.sources if source.kind == "cmake")
    for kind in re.findall(r"[\w]+", "".join(re.findall(r"\bKINDS ([\w\s]+)\)", cmake))):
        cmake += f" tables_sources_{kind}.sql views_sources_{kind}.sql"  # as EmbedSchema.cmake
    folders = re.findall(r"tracedb_embed_queries\(\w+ \$\{\w+\}/([\w/]+)\b", cmake)
    for source in tree.sources:
        if any(source.path.startswith(f"src/{folder}/") for folder in folders):
            continue
        if source.kind == "cc" or (source.kind == "sql" and source.path.startswith("src/")):
            name = re.escape(os.path.basename(source.path))
            stem = re.escape(os.path.basename(source.path)[:-3])  # "${name}.cc" of a list
            named = re.search(rf"(?<![\w.-])({name}|{stem})(?![\w.-])", cmake)
            if not named:
                yield f"{source.path}: no CMakeLists.txt builds it"


def every_header_has_its_guard_and_says_what_it_is(tree):
    for source in tree.sources:
        if source.kind != "h":
            continue
        if "#pragma once" not in source.lines:
            yield f"{source.path}: no #pragma once"
        if not source.lines[0].startswith("//"):
            yield f"{source.path}: its first line does not say what it is"


def every_query_has_a_test(tree):
    for source in tree.sources:
        match = re.fullmatch(r"queries/(?:(\w+)/)?(\w+)\.sql", source.path)
        if not match:
            continue
        # queries/overlap.sql: tests/query/overlap.test; queries/doctor/x.sql: tests/doctor/x.test
        test = f"tests/{match[1] or 'query'}/{match[2]}.test"
        if not os.path.exists(os.path.join(tree.root, test)):
            yield f"{source.path}: there is no {test}"


def tests_named_in_the_load_tests_readme_exist(tree):
    folder = os.path.join(tree.root, "tests", "load")
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        cases = re.findall(r"^- (?:.+\n)(?:  .+\n)*", file.read(), re.M)
    for case in cases:
        what, _, tests = " ".join(case[2:].split()).rpartition(": ")
        names = re.findall(r"`([^`]+)`", tests)
        if not names:
            yield f"tests/load/README.md: no test for: {what or tests}"
        for name in names:
            path = os.path.join("..", name) if "/" in name else name
            path += "" if name.endswith(".py") else ".test"
            if not os.path.exists(os.path.join(folder, path)):
                yield f"tests/load/README.md: there is no {name}"


def nothing_is_left_for_later(tree):
    word = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    for source in tree.sources:
        for number, line in enumerate(source.lines, 1):
            if word.search(line):
                yield f"{source.path}:{number}: {line.strip()}"


def text_files_end_with_a_line_and_have_no_blanks_at_line_ends(tree):
    for source in tree.sources:
        if source.text and not source.text.endswith("\n"):
            yield f"{source.path}: its last line has no end"
        if "\t" in source.text and source.kind != "cmake":
            yield f"{source.path}: has a tab; write \\t"
        for number, line in enumerate(source.lines, 1):
            if line != line.rstrip():
                yield f"{source.path}:{number}: blanks at the end of the line"


CHECKS = (
    *ROOM_CHECKS,
    *WORD_CHECKS,
    *QUERY_CHECKS,
    *VIEW_CHECKS,
    *INCLUDE_CHECKS,
    files_are_under_400_lines_or_say_why_not,
    lines_are_under_100_columns,
    functions_are_under_70_lines,
    only_the_program_sees_both_ingest_and_query,
    c_interfaces_stay_in_their_files,
    no_two_headers_have_a_type_of_one_name,
    only_the_program_writes_to_stderr,
    banned_calls_are_not_made,
    every_source_file_is_named_in_a_cmake_file,
    every_header_has_its_guard_and_says_what_it_is,
    every_query_has_a_test,
    tests_named_in_the_load_tests_readme_exist,
    nothing_is_left_for_later,
    text_files_end_with_a_line_and_have_no_blanks_at_line_ends,
)


class Tree:
    def __init__(self, root):
        self.root = root
        self.sources = read_tree(root)
        self.notes = []
        self.functions = 0


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Check the style of the source text.")
    parser.add_argument("--root", default=os.path.join(here, "..", ".."))
    tree = Tree(os.path.abspath(parser.parse_args().root))
    if not tree.sources:
        print(f"no source files below {tree.root}")
        return 1
    failed = 0
    for check in CHECKS:
        broken = list(check(tree))
        failed += bool(broken)
        print(f"{'failed' if broken else 'passed'}: {check.__name__.replace('_', ' ')}")
        for line in broken:
            print(f"    {line}")
    for note in tree.notes:
        print(f"note: {note}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
