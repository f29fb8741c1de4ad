"""Ways to damage a database of tracedb: bytes, pages, trees, lists of pages, and rows by SQL.

Each is a function of (random, bytearray) that changes the bytes in place, or gives others, and says
in a word or two what it did.
"""
import os
import sqlite3
import struct
import tempfile

from damage_base import EVENT_TABLES

INTERIOR = (0x02, 0x05)
LEAF = (0x0a, 0x0d)
NUMBERS = (0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff)


def page_size(data):
    size = struct.unpack(">H", data[16:18])[0]
    return 65536 if size == 1 else max(size, 512)


def pages_of(data, kinds):
    size = page_size(data)
    found = []
    for number in range(1, len(data) // size + 1):
        at = (number - 1) * size + (100 if number == 1 else 0)
        if data[at] in kinds:
            found.append((number, at))
    return found


def children_places(data, at):
    """Where an interior page has the numbers of its children."""
    size = page_size(data)
    start = at // size * size
    cells = struct.unpack(">H", data[at + 3:at + 5])[0]
    places = [at + 8]
    for i in range(min(cells, 2000)):
        pointer = at + 12 + 2 * i
        if pointer + 2 > start + size:
            break
        cell = start + struct.unpack(">H", data[pointer:pointer + 2])[0]
        if cell + 4 <= len(data):
            places.append(cell)
    return places


def put32(data, at, value):
    data[at:at + 4] = struct.pack(">I", value & 0xffffffff)


def header_bytes(random, data):
    at = random.choice([16, 17, 18, 19, 20, 21, 22, 23, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64,
                        68, 92, 96])
    if at >= 24:
        put32(data, at, random.choice(NUMBERS + (len(data) // page_size(data) - 1,)))
    else:
        data[at] = random.choice((0, 1, 2, 8, 32, 64, 128, 200, 255))
    return f"header byte {at}"


def random_bytes(random, data):
    count = random.choice((1, 1, 4, 30, 300))
    for _ in range(count):
        data[random.randrange(100, len(data))] = random.randrange(256)
    return f"{count} bytes"


def page_heads(random, data):
    size = page_size(data)
    count = random.choice((1, 2, 10))
    for _ in range(count):
        page = random.randrange(1, len(data) // size)
        data[page * size + random.randrange(0, 40)] = random.choice(
            (0, 1, 2, 5, 0x0a, 0x0d, 0x7f, 0x80, 0xff, random.randrange(256)))
    return f"{count} heads of pages"


def cell_pointers(random, data):
    number, at = random.choice(pages_of(data, INTERIOR + LEAF))
    head = 12 if data[at] in INTERIOR else 8
    cells = max(1, struct.unpack(">H", data[at + 3:at + 5])[0])
    for _ in range(random.choice((1, 5))):
        place = at + head + 2 * random.randrange(min(cells, 500))
        data[place:place + 2] = struct.pack(">H", random.choice(
            (0, 1, 7, 8, 99, 0x3fff, 0x3ffe, 0x4000, 0xffff, random.randrange(65536))))
    return f"cell pointers of page {number}"


def swapped_pages(random, data):
    size = page_size(data)
    a, b = (random.randrange(1, len(data) // size) * size for _ in range(2))
    data[a:a + size], data[b:b + size] = data[b:b + size], data[a:a + size]
    return "two pages swapped"


def doubled_page(random, data):
    size = page_size(data)
    a, b = (random.randrange(1, len(data) // size) * size for _ in range(2))
    data[a:a + size] = data[b:b + size]
    return "a page over another"


def zeroed_page(random, data):
    size = page_size(data)
    a = random.randrange(1, len(data) // size) * size
    data[a:a + size] = bytes(size)
    return f"page {a // size + 1} zeroed"


def cut_short(random, data):
    size = page_size(data)
    keep = random.choice((random.randrange(100, len(data)), len(data) - 1, len(data) - size,
                          random.randrange(1, len(data) // size) * size))
    del data[keep:]
    return f"cut to {keep} bytes"


def lengthened(random, data):
    data += bytes(random.choice((1, 100, page_size(data), 3 * page_size(data))))
    return "bytes at the end"


def child_is_itself(random, data):
    number, at = random.choice(pages_of(data, INTERIOR))
    put32(data, random.choice(children_places(data, at)[:40] + [at + 8] * 20), number)
    return f"page {number}: child is itself"


def child_elsewhere(random, data):
    number, at = random.choice(pages_of(data, INTERIOR))
    pages = len(data) // page_size(data)
    other = random.choice((0, 1, pages, pages + 1, 0xffffffff, random.randrange(1, pages + 1)))
    put32(data, random.choice(children_places(data, at)), other)
    return f"page {number}: child is {other}"


def cycle(random, data):
    pages = pages_of(data, INTERIOR)
    chosen = [random.choice(pages) for _ in range(random.choice((2, 3)))]
    for (_, at), (following, _) in zip(chosen, chosen[1:] + chosen[:1]):
        put32(data, at + 8, following)
    return "a cycle of pages"


def leaf_as_interior(random, data):
    number, at = random.choice(pages_of(data, LEAF))
    data[at] = 0x05 if data[at] == 0x0d else 0x02
    put32(data, at + 8, random.choice((number, 0, random.randrange(1, 60))))
    return f"leaf {number} as an interior page"


def freelist(random, data):
    size = page_size(data)
    pages = len(data) // size
    trunk = random.randrange(2, pages + 1)
    at = (trunk - 1) * size
    following = random.choice((trunk, 0, 2, pages + 1))
    put32(data, 32, trunk)
    put32(data, 36, random.choice((1, 2, pages, 0xffffffff)))
    if random.random() < 0.7:
        put32(data, at, following)
        leaves = random.choice((0, 1, 3, 0xffff, 0xffffffff))
        put32(data, at + 4, leaves)
        for i in range(min(leaves, 3)):
            put32(data, at + 8 + 4 * i, random.choice((trunk, 1, random.randrange(1, pages + 2))))
    return f"freelist at page {trunk}"


def overflow(random, data):
    """Long texts are in the schema's rows, whose pages end in the number of the next."""
    size = page_size(data)
    number, at = random.choice(pages_of(data, (0x0d,)))
    start = at // size * size
    cells = struct.unpack(">H", data[at + 3:at + 5])[0]
    place = at + 8 + 2 * random.randrange(max(1, min(cells, 500)))
    cell = start + struct.unpack(">H", data[place:place + 2])[0]
    if cell + 16 < len(data):  # its length as a varint of many bytes: the rest overflows
        data[cell:cell + 4] = random.choice((b"\xff\xff\xff\x7f", b"\x81\x80\x80\x00",
                                             b"\x83\xff\x00\x01"))
    return f"a long row in page {number}"


def overflow_loop(random, data):
    """Pages that are in no tree begin with the number of the next page of a row."""
    size = page_size(data)
    pages = len(data) // size
    chains = [n for n in range(2, pages + 1)
              if 0 < struct.unpack(">I", data[(n - 1) * size:(n - 1) * size + 4])[0] <= pages]
    number = random.choice(chains) if chains else pages
    put32(data, (number - 1) * size, random.choice((number, 1, 2, 0, pages + 1)))
    return f"overflow page {number}"


def by_sql(random, data, statements):
    """Runs the statements on the bytes as a database; what SQLite refuses is left out."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(by_sql.place)) as folder:
        path = os.path.join(folder, "x.db")
        with open(path, "wb") as file:
            file.write(data)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA writable_schema = ON")
        for statement, values in statements:
            try:
                connection.execute(statement, values)
            except sqlite3.Error:
                pass
        connection.commit()
        connection.close()
        with open(path, "rb") as file:
            data[:] = file.read()


by_sql.place = ""


def roots(random, data):
    kind = random.choice(("swap", "same", "number", "index"))
    tables = EVENT_TABLES + ("_launch", "_call_path", "_trace", "_args_text", "_track")
    a, b = random.sample(tables, 2)
    root = "(SELECT rootpage FROM sqlite_schema WHERE name = ?)"
    if kind == "swap":
        change = [("UPDATE sqlite_schema SET rootpage = CASE name WHEN ?1 THEN "
                   "(SELECT rootpage FROM sqlite_schema WHERE name = ?2) ELSE "
                   "(SELECT rootpage FROM sqlite_schema WHERE name = ?1) END "
                   "WHERE name IN (?1, ?2)", (a, b))]
    elif kind == "same":
        change = [(f"UPDATE sqlite_schema SET rootpage = {root} WHERE name = ?", (a, b))]
    elif kind == "index":
        change = [(f"UPDATE sqlite_schema SET rootpage = {root} WHERE type = 'index' "
                   "AND tbl_name = ?", (a, b))]
    else:
        change = [("UPDATE sqlite_schema SET rootpage = ? WHERE name = ?",
                   (random.choice((0, 1, 2, -1, 1 << 31, 1 << 40, 10 ** 6)), a))]
    by_sql(random, data, change)
    return f"roots: {kind} of {a}, {b}"


def schema_rows(random, data):
    name = random.choice(EVENT_TABLES + ("slices", "kernels", "traces", "runs", "_trace",
                                         "_launch"))
    change = random.choice((
        ("DELETE FROM sqlite_schema WHERE name = ?", (name,)),
        ("DELETE FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?", (name,)),
        ("UPDATE sqlite_schema SET sql = replace(sql, 'track', 'trakc') WHERE name = ?", (name,)),
        ("UPDATE sqlite_schema SET sql = substr(sql, 1, length(sql) / 2) WHERE name = ?", (name,)),
        ("UPDATE sqlite_schema SET sql = NULL WHERE name = ?", (name,)),
        ("UPDATE sqlite_schema SET type = 'view' WHERE name = ?", (name,)),
        ("UPDATE sqlite_schema SET name = 'other', tbl_name = 'other' WHERE name = ?", (name,)),
        ("UPDATE sqlite_schema SET sql = 'CREATE VIEW x AS SELECT * FROM x' WHERE name = ?",
         (name,))))
    by_sql(random, data, [change])
    return f"schema: {change[0][:50]} {name}"


VALUES = (None, 0, -1, 1, 2 ** 31, 2 ** 62, 2 ** 63 - 1, -2 ** 63, 1.5, float("inf"), -1e308, "",
          "text", "12", "\0", "a\0b", b"\xff\xfe", b"", "\x02\x03\x1f", "\x0f", '"', "\\", "}", "{",
          '{"a":1', "\u202e=1+1", "x" * 5000)


def any_value(random):
    if random.random() < 0.2:  # as text that is no UTF-8
        return "CAST(? AS TEXT)", random.choice((b"\xff\xc0", b"a\x80", b"\xed\xa0\x80", b"\xf5x"))
    return "?", random.choice(VALUES)


def rows(random, data):
    """Values of a wrong type or size, or that point nowhere, in any column of some rows."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(by_sql.place)) as file:
        file.write(data)
        file.flush()
        connection = sqlite3.connect(f"file:{file.name}?immutable=1", uri=True)
        tables = [name for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'")]
        table = random.choice(tables + list(EVENT_TABLES) * 2 + ["_trace", "_args_text"] * 4)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.close()
    changes = []
    said = []
    for _ in range(random.choice((1, 1, 3))):
        column = random.choice(columns)
        holder, value = any_value(random)
        where = random.choice(("", "LIMIT 1", "LIMIT 1 OFFSET 17", "LIMIT 30 OFFSET 5"))
        key = "rowid" if table not in ("_busy_segment", "_trace_group") else "trace_id"
        only = f" WHERE {key} IN (SELECT {key} FROM {table} {where})" if where else ""
        changes.append((f"UPDATE {table} SET {column} = {holder}{only}", (value,)))
        said.append(f"{column}{only and ' of some'} = {value!r:.20}")
    if random.random() < 0.1:
        changes.append((f"DELETE FROM {table}", ()))
    by_sql(random, data, changes)
    return f"rows of {table}: {', '.join(said)}"


def texts_of_args(random, data):
    """Args that are no JSON, or whose marks stand for columns that hold no number."""
    piece = random.choice(("'\x02'", "'\x1f'", "'\x0e'", "'{'", "'}'", "'\"'", "'\\'", "''",
                           "x'ff'", "CAST(x'c328' AS TEXT)", "char(0)", "', '", "'\n'"))
    column = random.choice(("args", "others"))
    form = random.choice((f"substr({column}, 1, length({column}) / 2)", f"{column} || {piece}",
                          f"{piece} || {column}", f"replace({column}, ':', {piece})",
                          f"replace({column}, '\"', {piece})", piece))
    only = random.choice(("", " WHERE id % 3 = 0", " WHERE id = (SELECT max(id) FROM _args_text)"))
    by_sql(random, data, [(f"UPDATE _args_text SET {column} = {form}{only}", ())])
    return f"args text: {form!r}{only}"


def texts_gone(random, data):
    table = random.choice(("_args_text", "_event_name", "_track"))
    only = random.choice(("", " WHERE id % 2", " WHERE id = (SELECT max(id) FROM {0})"))
    by_sql(random, data, [(f"DELETE FROM {table}{only.format(table)}", ())])
    return f"gone: {table}{only}"


KINDS = {kind.__name__: kind for kind in (
    header_bytes, random_bytes, page_heads, cell_pointers, swapped_pages, doubled_page, zeroed_page,
    cut_short, lengthened, child_is_itself, child_elsewhere, cycle, leaf_as_interior, freelist,
    overflow, overflow_loop, roots, schema_rows, rows, texts_of_args, texts_gone)}
WEIGHTS = {"rows": 6, "texts_of_args": 2, "roots": 2, "schema_rows": 2, "child_is_itself": 2}


def damage(random, data, kind=None):
    """Damages the bytes one way, now and then two; gives what was done."""
    if kind is None:
        names = [name for name in KINDS for _ in range(WEIGHTS.get(name, 1))]
        chosen = [random.choice(names) for _ in range(random.choice((1, 1, 1, 2)))]
    else:
        chosen = [kind]
    said = []
    for name in chosen:
        try:
            said.append(KINDS[name](random, data))
        except (sqlite3.Error, struct.error, IndexError, ValueError, OverflowError):
            said.append(f"{name}: not possible")  # after the damage before it
    return "; ".join(said)
