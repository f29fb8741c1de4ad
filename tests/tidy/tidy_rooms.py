"""The rooms of src/ and include/: whom each may include, how large it may be, what lies where."""
import os
import re

# The folders of src/ (rooms) and whom each may include: nobody that comes after it. What is of one
# room's folders is given as a path.
SHARED = {"base", "schema"}
READING = SHARED | {"json", "memory"}
ROOMS = {
    "base": set(),
    "memory": {"base"},
    "schema": {"base"},
    "json": {"schema"},
    "pages": {"base"},
    "derive/busy": SHARED,
    "derive/gathered": SHARED | {"memory"},
    "derive/collectives": SHARED | {"memory", "pages", "derive/gathered"},
    "derive/graphs": SHARED | {"memory"},
    "derive": SHARED | {"memory", "pages", "derive/busy", "derive/collectives", "derive/graphs",
               "derive/gathered"},
    "ranks/runs": SHARED,
    "ingest/read": {"base"},
    "sources/read": {"base", "pages", "ingest/read"},
    "sources/logs": {"base", "json", "pages", "sources/read"},
    "sources/settings": {"base", "sources/read", "sources/logs"},
    "sources/inspector": SHARED | {"json", "sources/read"},
    "sources/ncu": SHARED | {"json", "ingest/read", "sources/read"},
    "sources/gpu_samples": SHARED | {"sources/read"},
    "sources/nsys": SHARED | {"json", "memory", "ingest/read", "sources/read"},
    "sources/values": SHARED | {"json", "sources/read"},
    "sources/torch_dumps": SHARED | {"json", "ingest/read", "sources/read", "sources/values"},
    "sources": {"base"},  # and all of its folders
    "ingest/frame": READING,
    "ingest/parse": READING | {"ingest/frame"},
    "ingest/build": READING | {"pages", "derive", "derive/collectives", "derive/gathered",
                               "ingest/read", "ingest/frame", "ingest/parse"},
    "ingest/load": READING | {"pages", "derive", "derive/collectives", "ranks/runs", "ingest/read",
                              "sources/read", "sources", "ingest/frame", "ingest/parse",
                              "ingest/build"},
    "parquet": {"base"},
    "shards": SHARED | {"json", "derive/collectives", "ranks/runs", "ingest/read", "parquet"},
    "watch": {"base", "ingest/read", "ingest/load"},
    "ranks/clocks": SHARED,
    "ranks/samples": SHARED,
    "ranks/stalls": SHARED,
    "ranks/graphs": SHARED | {"memory"},
    "replay/graph": SHARED,
    "replay/peers": SHARED | {"replay/graph"},
    "replay/changes": SHARED | {"replay/graph", "replay/peers"},
    "replay": SHARED | {"replay/graph", "replay/peers", "replay/changes"},
    "text": SHARED | {"parquet"},
    "query/doc": {"base", "text"},
    "query/plot": {"base", "text", "query/doc"},
    "query/run": SHARED | {"text", "query/doc", "query/plot"},
    "cut": SHARED | {"json", "text", "query/run"},
    "doctor": {"base", "text", "query/doc", "query/run"},
    "report": SHARED | {"text", "query/doc", "query/run", "doctor"},
    "compare": {"base", "json", "text", "query/doc", "query/run", "report", "schema"},
    "serve/http": {"base"},
    "serve": SHARED | {"text", "query/doc", "query/plot", "query/run", "report", "serve/http"},
    "cost": {"base"},
    "extension": {"base", "replay", "cost"},
    "engines": SHARED | {"shards", "parquet", "text", "query/doc", "query/run"},
    "export": SHARED | {"text", "query/doc", "query/run"},
    "shell": SHARED | {"text", "query/doc", "query/run"},
    "help": {"base", "text", "query/doc"},
}
ROOMS["sources"] |= {room for room in ROOMS if room.startswith("sources/")}
# Folders that hold no sources of rooms.
NO_ROOMS = {"cmake", "report/page"}
FOLDER_FILES_MAX = 40

# Source files that are one of several behind a header of another name, which is the list of them.
ONE_OF_SEVERAL = {
    "src/ingest/frame/event_scan.h": ("event_scan_avx2", "event_scan_avx512"),
    "src/ingest/parse/layout_pieces.h": ("layout_pieces_avx2", "layout_pieces_avx512"),
    "src/ingest/read/token_copy.h": ("token_copy_avx2", "token_copy_avx512"),
    "src/replay/graph/replay_graph.h": ("graph_builder", "collective_builder"),
    "src/serve/http/http_engine.h": ("httplib_engine",),
    "src/export/workbook.h": ("xlsx_workbook",),
    "include/tracedb/extension/interval_functions.h": ("older_library",),
    "include/tracedb/pages/tree_graft.h": ("tree_append",),
    "src/ingest/build/record_builder.h": ("record_builder_pairs",),
    "src/sources/ncu/ncu_rows.h": ("ncu_rows_end",),
    "src/sources/logs/log_lines.h": ("log_notes",),
    "src/cost/cost_models.h": ("cost_bytes", "cost_convolution", "cost_engines", "cost_grouped",
                               "cost_lists", "cost_norms", "cost_products", "cost_selects",
                               "cost_tensors",
                               "cost_transformer_engine", "op_models"),
    "include/tracedb/cost/op_cost.h": ("kernel_category",),
    "include/tracedb/text/result_sinks.h": ("result_arrow", "result_csv", "result_json",
                                            "result_markdown", "result_parquet",
                                            "result_table"),
}
# Headers whose one definition is generated at build time.
GENERATED = {"query/doc/query_builtin.h"}


def rooms_include_only_what_is_below_them(tree):
    for source in tree.sources:
        if source.room is None or not source.is_cpp():
            continue
        allowed = ROOMS[source.room] | {source.room}
        for number, name in source.includes():
            room = os.path.dirname(name.removeprefix("tracedb/"))
            if room in ROOMS and room not in allowed:
                yield f"{source.path}:{number}: {source.room} must not include {room} ({name})"


def arrows_between_rooms_go_one_way(tree):
    order = list(ROOMS)
    for room, below in ROOMS.items():
        for other in below:
            if order.index(other) > order.index(room):
                yield f"{room} may include {other}, which comes after it"


def every_folder_is_a_room_of_at_most_40_files(tree):
    for base in ("src", os.path.join("include", "tracedb")):
        for at, folders, names in os.walk(os.path.join(tree.root, base)):
            folders[:] = [folder for folder in folders if folder != "__pycache__"]
            room = os.path.relpath(at, os.path.join(tree.root, base))
            if len(names) > FOLDER_FILES_MAX:
                yield f"{base}/{room}: {len(names)} files (allowed: {FOLDER_FILES_MAX})"
            sources = [name for name in names if name.endswith((".cc", ".h"))]
            if sources and room not in ROOMS and room != "." and room not in NO_ROOMS:
                yield f"{base}/{room}: is no room that this test knows"


def every_public_header_is_used_by_another_room(tree):
    """include/ holds what another room may use; all else lies beside its source."""
    users = {}
    for source in tree.sources:
        if source.is_cpp() and not source.path.startswith(("tests/", "bench/")):
            for _, name in source.includes():
                users.setdefault(name, set()).add(source)
    top = lambda room: room.split("/")[0] if room else None
    for source in tree.sources:
        match = re.fullmatch(r"include/(tracedb/.+\.h)", source.path)
        if not match:
            continue
        used = users.get(match[1], set())
        in_contract = any(user.path.startswith("include/") for user in used)
        if not in_contract and all(top(user.room) == top(source.room) for user in used):
            yield f"{source.path}: only its own room uses it; it belongs beside its source"


def every_source_file_has_its_header(tree):
    """A file is named after the class or the functions that its header declares."""
    paths = {source.path for source in tree.sources}
    behind = {stem for stems in ONE_OF_SEVERAL.values() for stem in stems}
    for source in tree.sources:
        match = re.fullmatch(r"src/(.+/)([^/]+)\.cc", source.path)
        if not match or match[2] in behind or match[1] == "cmake/":  # programs of the build
            continue
        if not {f"{base}{match[1]}{match[2]}.h" for base in ("src/", "include/tracedb/")} & paths:
            yield f"{source.path}: there is no {match[2]}.h"
    for path in sorted(set(ONE_OF_SEVERAL) - paths):
        yield f"{path}: is listed here but not there"


ROOM_CHECKS = (
    rooms_include_only_what_is_below_them,
    arrows_between_rooms_go_one_way,
    every_folder_is_a_room_of_at_most_40_files,
    every_public_header_is_used_by_another_room,
    every_source_file_has_its_header,
)
