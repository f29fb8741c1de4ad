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

FOLDERS = ("src", "include", "tests", "bench", "queries")
SKIPPED_FOLDERS = {"build", "__pycache__", "corpus"}
LINES_MAX = 400
COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70

# Folders whose lines may be longer, and files with how many of their lines are too long.
WIDER_FOLDERS = {"tests/oracle/": 120}
RATCHET_COLUMNS = {"tests/oracle/make_cases.py": 2, "tests/oracle/test_trace_oracle.py": 3}
# Lines of a function, by "path:name".
RATCHET_FUNCTIONS = {
    "tests/oracle/check_database.py:check_nccl_stalls": 87,
    "tests/oracle/make_cases.py:make_trace": 195,
}

LAYERS = {"base": set(), "pages": {"base"}, "ingest": {"base", "pages"}, "query": {"base"},
          "align": {"base"}, "cut": {"base", "query"}, "doctor": {"base", "query"},
          "report": {"base", "query", "doctor"}, "serve": {"base", "query", "report"},
          "extension": {"base"}}

# A C interface, and the only places that may include it; a name that ends in / is a folder.
C_INTERFACES = {
    "sqlite3.h": ("src/base/sqlite_db.cc", "src/pages/record_batch.cc",
                  "src/pages/database_overlay.cc", "src/pages/overlay_vfs.h", "src/extension/",
                  "tests/"),
    "sqlite3ext.h": ("src/extension/",),
    "httplib.h": ("src/serve/",),
    "zlib.h": ("src/ingest/byte_inflater.cc", "src/query/gzip_text.cc", "bench/", "tests/"),
    "zstd.h": ("src/ingest/byte_inflater.cc", "bench/", "tests/"),
    "isa-l/igzip_lib.h": ("src/ingest/byte_inflater.cc", "bench/", "tests/"),
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

# Headers of include/ that need no source file.
HEADER_ONLY = {"base/bounded_queue.h", "base/database_id.h", "base/result.h", "base/slot_columns.h",
               "pages/page_bytes.h", "pages/record_pages.h"}
# Headers whose one definition is generated at build time.
GENERATED = {"query/query_builtin.h"}


class Source:
    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding="utf-8") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")[:-1] if self.text.endswith("\n") else \
            self.text.split("\n")

    @property
    def kind(self):
        name = os.path.basename(self.path)
        return "cmake" if name == "CMakeLists.txt" else os.path.splitext(name)[1][1:]

    @property
    def layer(self):
        """The layer that it belongs to; None when it is above them."""
        match = re.match(r"(?:src|include/tracedb)/(\w+)/", self.path)
        return match[1] if match and match[1] in LAYERS else None

    def is_cpp(self):
        return self.kind in ("cc", "h")

    def includes(self):
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if match:
                yield number, match[1]

    def code(self):
        """The text with comments and literals blanked out, line for line."""
        blank = lambda match: re.sub(r"[^\n]", " ", match[0])
        pattern = (r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<!\w)'(?:\\.|[^'\\\n])+'")
        return re.sub(pattern, blank, self.text, flags=re.S)


def read_tree(root):
    sources = []
    top = [name for name in os.listdir(root) if name == "CMakeLists.txt"]
    paths = sorted(top)
    for folder in FOLDERS:
        for at, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
            paths += [os.path.relpath(os.path.join(at, name), root) for name in sorted(names)]
    for path in paths:
        if path.endswith((".cc", ".h", ".py", ".sql", ".cmake", "CMakeLists.txt")):
            sources.append(Source(root, path))
    return sources


# --- Checks: each yields a line for everything that breaks it. ---------------------------------


def files_are_under_400_lines_or_say_why_not(tree):
    for source in tree.sources:
        if len(source.lines) <= LINES_MAX:
            continue
        reason = next((line for line in source.lines[:10]
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


def layers_include_only_what_is_below_them(tree):
    for source in tree.sources:
        if source.layer is None or not source.is_cpp():
            continue
        allowed = LAYERS[source.layer] | {source.layer}
        for number, name in source.includes():
            match = re.match(r"(?:tracedb/)?(\w+)/[\w.]+$", name)
            if match and match[1] in LAYERS and match[1] not in allowed:
                yield f"{source.path}:{number}: {source.layer} must not include {match[1]} ({name})"


def only_the_program_sees_both_ingest_and_query(tree):
    for source in tree.sources:
        if not source.path.startswith("src/") or not source.is_cpp() or source.layer:
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


def only_the_program_writes_to_stderr(tree):
    for source in tree.sources:
        if not source.path.startswith(("src/", "include/")) or not source.is_cpp():
            continue
        if re.fullmatch(r"src/(main|cli_\w+)\.cc", source.path):
            continue
        for number, line in enumerate(source.code().split("\n"), 1):
            if re.search(r"\bstd::(cerr|clog)\b|\bstderr\b|\bSTDERR_FILENO\b|\bperror\s*\(", line):
                yield f"{source.path}:{number}: return an Error or count an issue instead"


def banned_calls_are_not_made(tree):
    for source in tree.sources:
        if not source.path.startswith(("src/", "include/")) or not source.is_cpp():
            continue
        # What SQLite keeps for an aggregate is a plain pointer.
        may_allocate = source.layer == "extension"
        for number, line in enumerate(source.code().split("\n"), 1):
            for banned, instead in BANNED_CALLS.items():
                if re.search(banned, line):
                    yield f"{source.path}:{number}: {line.strip()} (use {instead})"
            if (not may_allocate and re.search(r"\b(new|delete)\b", line)
                    and not re.search(r"=\s*delete\b|(unique|shared)_ptr|\.reset\(|^\s*#", line)):
                yield f"{source.path}:{number}: {line.strip()} (use std::make_unique)"


def every_source_file_is_named_in_a_cmake_file(tree):
    cmake = "\n".join(source.text for source in tree.sources if source.kind == "cmake")
    for source in tree.sources:
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


def every_public_header_has_its_source_file(tree):
    paths = {source.path for source in tree.sources}
    for source in tree.sources:
        match = re.fullmatch(r"include/tracedb/(.+)\.h", source.path)
        if not match or f"{match[1]}.h" in GENERATED:
            continue
        has_source = f"src/{match[1]}.cc" in paths
        if not has_source and f"{match[1]}.h" not in HEADER_ONLY:
            yield (f"{source.path}: there is no src/{match[1]}.cc "
                   f"(header only? say so in HEADER_ONLY)")
        if has_source and f"{match[1]}.h" in HEADER_ONLY:
            yield f"{source.path}: has a source file; take it out of HEADER_ONLY"
    for name in sorted(HEADER_ONLY | GENERATED):
        if f"include/tracedb/{name}" not in paths:
            yield f"include/tracedb/{name}: is listed here but not there"


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
    files_are_under_400_lines_or_say_why_not,
    lines_are_under_100_columns,
    functions_are_under_70_lines,
    layers_include_only_what_is_below_them,
    only_the_program_sees_both_ingest_and_query,
    c_interfaces_stay_in_their_files,
    only_the_program_writes_to_stderr,
    banned_calls_are_not_made,
    every_source_file_is_named_in_a_cmake_file,
    every_header_has_its_guard_and_says_what_it_is,
    every_public_header_has_its_source_file,
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
