"""What a source uses of the common headers is among its includes, its own or those of the project's
headers that it includes: builds with precompiled headers (TRACEDB_PRECOMPILE) do not notice."""
import os
import re

ALGORITHMS = ("sort stable_sort min max clamp find find_if lower_bound upper_bound any_of all_of "
              "none_of copy copy_n fill fill_n reverse unique min_element max_element minmax equal "
              "equal_range count count_if transform nth_element partial_sort binary_search "
              "is_sorted remove_if rotate merge replace search mismatch push_heap pop_heap "
              "make_heap partition partition_point").split()

# A header, and what is used of it.
USES = {
    "algorithm": rf"std::(ranges::)?({'|'.join(ALGORITHMS)})\b(?=[(<])",
    "array": r"std::array\b",
    "atomic": r"std::atomic",
    "charconv": r"std::(from_chars|to_chars)\b",
    "chrono": r"std::chrono\b",
    "cstdint": r"\bu?int(8|16|32|64)_t\b",
    "filesystem": r"std::filesystem\b",
    "functional": r"std::function\b",
    "map": r"std::(multi)?map\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared)\b",
    "mutex": r"std::(mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once)\b",
    "optional": r"std::(optional|nullopt|make_optional)\b",
    "set": r"std::(multi)?set\b",
    "span": r"std::span\b",
    "string": r"std::(string|to_string)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::(thread|jthread|this_thread)\b",
    "unordered_map": r"std::unordered_map\b",
    "utility": r"std::(move|pair|make_pair|swap|exchange|forward|in_place)\b",
    "vector": r"std::vector\b",
    "fmt/format.h": r"\bfmt::\w",
}


def included_files(source, by_path):
    """Paths of the project's own headers that it includes."""
    for _, name in source.includes():
        for folder in (os.path.dirname(source.path), "src", "include", "tests"):
            path = os.path.normpath(os.path.join(folder, name))
            if path in by_path:
                yield path
                break


def reached_headers(path, by_path, known):
    """All headers that are read with it."""
    if path not in known:
        known[path] = set()  # it may include itself by way of others
        own = {name for _, name in by_path[path].includes()}
        for included in included_files(by_path[path], by_path):
            own |= reached_headers(included, by_path, known)
        known[path] = own
    return known[path]


def what_is_used_of_common_headers_is_included(tree):
    by_path = {source.path: source for source in tree.sources if source.is_cpp()}
    known = {}
    used = 0
    for path, source in by_path.items():
        code = source.code()
        for header, what in USES.items():
            match = re.search(what, code)
            used += match is not None
            if match and header not in reached_headers(path, by_path, known):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: {match[0]}, but nothing includes <{header}>"
    if used == 0:
        yield "no use was found at all: the check itself is broken"


def headers_that_are_precompiled_are_watched(tree):
    for source in tree.sources:
        if source.path != "src/cmake/Layers.cmake":
            continue
        listed = re.search(r"set\(TRACEDB_COMMON_HEADERS([^)]*)\)", source.text)
        headers = set(re.findall(r"<([^>]+)>", listed[1] if listed else ""))
        for header in headers ^ set(USES):
            yield f"<{header}> is in one of {source.path} and tests/tidy/tidy_includes.py only"
        return
    yield "src/cmake/Layers.cmake is not there"


INCLUDE_CHECKS = (what_is_used_of_common_headers_is_included,
                  headers_that_are_precompiled_are_watched)
