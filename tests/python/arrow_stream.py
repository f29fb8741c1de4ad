"""Reads an Arrow IPC stream with the standard library alone: what the program writes, by the
format's published rules, and none of the program's code."""
import struct


class Table:
    """A FlatBuffers table: fields by their number."""

    def __init__(self, data, at):
        self.data = data
        self.at = at
        assert at % 4 == 0, at
        self.head = at - struct.unpack_from("<i", data, at)[0]
        self.head_bytes, self.bytes = struct.unpack_from("<HH", data, self.head)

    def place(self, number):
        slot = 4 + 2 * number
        if slot >= self.head_bytes:
            return None
        offset = struct.unpack_from("<H", self.data, self.head + slot)[0]
        assert offset < self.bytes
        return self.at + offset if offset else None

    def number(self, number, kind, otherwise=0):
        place = self.place(number)
        if place is None:
            return otherwise
        assert place % struct.calcsize(kind) == 0, "a number lies askew"
        return struct.unpack_from("<" + kind, self.data, place)[0]

    def target(self, number):
        place = self.place(number)
        return None if place is None else place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, number):
        return Table(self.data, self.target(number))

    def text(self, number):
        at = self.target(number)
        length = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + length] == 0
        return self.data[at + 4:at + 4 + length].decode()

    def tables(self, number):
        at = self.target(number)
        count = struct.unpack_from("<I", self.data, at)[0]
        places = [at + 4 + 4 * i for i in range(count)]
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]

    def pairs(self, number):
        at = self.target(number)
        count = struct.unpack_from("<I", self.data, at)[0]
        assert (at + 4) % 8 == 0
        return [struct.unpack_from("<qq", self.data, at + 4 + 16 * i) for i in range(count)]


def messages(data):
    """(message, body) of each; the stream must end as it says, and nothing follow."""
    at = 0
    while True:
        mark, length = struct.unpack_from("<Ii", data, at)
        assert mark == 0xFFFFFFFF and at % 8 == 0, at
        if length == 0:
            assert at + 8 == len(data), "something follows the end"
            return
        assert length % 8 == 0
        meta = data[at + 8:at + 8 + length]
        message = Table(meta, struct.unpack_from("<I", meta, 0)[0])
        assert message.number(0, "h") == 4, "metadata version 5"
        body = message.number(3, "q")
        begin = at + 8 + length
        yield message, data[begin:begin + body]
        at = begin + body


INT, REAL, BINARY, TEXT = 2, 3, 4, 5


def read_schema(schema):
    fields = []
    for field in schema.tables(1):
        kind = field.number(2, "B")
        assert field.number(1, "B") == 1 and field.tables(5) == []
        if kind == INT:
            assert field.table(3).number(0, "i") == 64 and field.table(3).number(1, "B") == 1
        elif kind == REAL:
            assert field.table(3).number(0, "h") == 2
        else:
            assert kind in (BINARY, TEXT) and field.table(3) is not None
        fields.append((field.text(0), kind))
    return fields


def read_column(kind, node, buffers, body):
    rows, nulls = node

    def bytes_of(buffer):
        begin, size = buffer
        assert begin % 8 == 0 and begin + size <= len(body)
        return body[begin:begin + size]

    validity = bytes_of(next(buffers))
    valid = [not validity or bool(validity[i // 8] >> i % 8 & 1) for i in range(rows)]
    assert valid.count(False) == nulls
    if kind in (INT, REAL):
        values = struct.unpack(f"<{rows}{'q' if kind == INT else 'd'}", bytes_of(next(buffers)))
    else:
        ends = struct.unpack(f"<{rows + 1}i", bytes_of(next(buffers)))
        data = bytes_of(next(buffers))
        assert ends[0] == 0 and ends[-1] == len(data) and sorted(ends) == list(ends)
        values = [data[ends[i]:ends[i + 1]] for i in range(rows)]
        if kind == TEXT:
            values = [value.decode() for value in values]
    return [value if here else None for value, here in zip(values, valid)]


def read_stream(data):
    """([(name, kind)...], columns, rows of each batch)"""
    fields, columns, batches = None, None, []
    for message, body in messages(data):
        if fields is None:
            assert message.number(1, "B") == 1 and body == b""
            fields = read_schema(message.table(2))
            columns = [[] for _ in fields]
            continue
        assert message.number(1, "B") == 3
        batch = message.table(2)
        buffers = iter(batch.pairs(2))
        nodes = batch.pairs(1)
        assert len(nodes) == len(fields)
        batches.append(batch.number(0, "q"))
        for (_, kind), node, column in zip(fields, nodes, columns):
            assert node[0] == batches[-1]
            column.extend(read_column(kind, node, buffers, body))
        assert next(buffers, None) is None
    return fields, columns, batches
