"""Long answers: bounded memory, failures half way, clients that go, limits."""
import http.client
import os
import shutil
import sqlite3
import time

from serve_server import BOUNDS_HOLD, Server, long_database, wait_until


def ten_million_rows_in_bounded_memory(program, database):
    with Server(program, long_database(database)) as server:
        before = server.memory_kib("VmHWM")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        connection.request("GET", "/tables/ten_million.csv")
        answer = connection.getresponse()
        assert answer.getheader("Transfer-Encoding") == "chunked"
        assert "1048576" in answer.getheader("X-Tracedb-Warning")
        lines, size, tail = 0, 0, b""
        while piece := answer.read(1 << 20):
            lines += piece.count(b"\n")
            size += len(piece)
            tail = (tail + piece)[-100:]
        connection.close()
        assert lines == 10_000_001 and tail.endswith(b"\r\n10000000,kernel 10000000\r\n"), lines
        grown = server.memory_kib("VmHWM") - before
        assert not BOUNDS_HOLD or grown < 16 << 10, f"{size} bytes took {grown} KiB more"
        for path in ("/tables/ten_million.csv?limit=1048575", "/tables/brittle.csv"):
            headers = server.get(path, method="HEAD")[1]
            assert "x-tracedb-warning" not in headers, path
        headers = server.get("/tables/ten_million.csv?limit=1048576", method="HEAD")[1]
        assert "x-tracedb-warning" in headers


def a_failure_half_way_breaks_the_connection(program, database):
    path = database + ".broken"
    shutil.copy(database, path)
    with sqlite3.connect(path) as db:
        page_size = db.execute("PRAGMA page_size").fetchone()[0]
    db.close()
    with open(path, "r+b") as file:
        # The table was made last: this is a third of it before its end.
        file.seek((os.path.getsize(path) - (4 << 20)) // page_size * page_size)
        file.write(b"\xff" * page_size)
    with Server(program, database) as server:
        whole = server.get("/tables/brittle.csv?limit=100000")[2]
    with Server(program, path) as server:
        for version in ("1.1", "1.0"):
            with server.connect() as client:
                client.sendall(f"GET /tables/brittle.csv?limit=100000 HTTP/{version}\r\n"
                               "Host: localhost\r\n\r\n".encode())
                got, was_reset = b"", False
                try:
                    while piece := client.recv(65536):
                        got += piece
                except ConnectionResetError:
                    was_reset = True
            head, _, body = got.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            if version == "1.1":
                assert not got.endswith(b"0\r\n\r\n"), "it looks whole"
                body = unchunked(body)
            else:
                assert was_reset, "without chunks only a reset tells that it is not whole"
            assert len(body) < len(whole) and whole.startswith(body), "text among the data"
        code, _, errors = server.end()
        assert code == 0 and "broken off after" in errors and "malformed" in errors, errors


def unchunked(body):
    data = b""
    while body:
        size, found, rest = body.partition(b"\r\n")
        if not found:
            break
        length = int(size, 16)
        data += rest[:length]
        body = rest[length + 2:]
    return data


def used_in_a_second(server):
    before = server.cpu_seconds()
    time.sleep(1)
    return server.cpu_seconds() - before


def a_client_that_goes_stops_its_query(program, database):
    with Server(program, long_database(database)) as server:
        for path in ("/tables/endless.csv", "/tables/ten_million.csv"):
            clients = [server.connect(receive_bytes=4096) for _ in range(3)]
            for client in clients:
                client.sendall(server.request_bytes(path))
            time.sleep(0.5)
            for client in clients:
                client.close()
            wait_until(f"{path} is stopped", lambda: used_in_a_second(server) < 0.2)
            assert server.get("/healthz")[0] == 200


def a_query_has_a_bounded_time(program, database):
    with Server(program, long_database(database), "--max-seconds", "1") as server:
        begin = time.monotonic()
        status, headers, body = server.get("/tables/endless.csv")
        assert status == 503 and headers["retry-after"] == "5", (status, headers)
        assert b"--max-seconds" in body and time.monotonic() - begin < 60
        broken = server.connect(receive_bytes=4096)
        broken.sendall(server.request_bytes("/tables/ten_million.csv?limit=1000000"))
        time.sleep(2)
        got = b""
        try:
            while piece := broken.recv(65536):
                got += piece
        except ConnectionResetError:
            pass
        broken.close()
        assert not got.endswith(b"0\r\n\r\n") and b"seconds" not in got


def a_result_has_a_bounded_number_of_rows(program, database):
    with Server(program, long_database(database), "--max-rows", "1000") as server:
        assert server.text("/tables/thousand.csv").count("\r\n") == 1001
        status, _, body = server.get("/tables/brittle.csv?limit=1001")
        assert status == 400 and b"--max-rows" in body
        assert server.get("/tables/brittle.csv?limit=1000")[0] == 200
    with Server(program, long_database(database), "--max-rows", "50000") as server:
        got = server.raw(server.request_bytes("/tables/brittle.csv", "Connection: close"))
        assert not got.endswith(b"0\r\n\r\n") and b"max-rows" not in got
        assert "more than 50000 rows" in server.end()[2]


CHECKS = [ten_million_rows_in_bounded_memory, a_failure_half_way_breaks_the_connection,
          a_client_that_goes_stops_its_query, a_query_has_a_bounded_time,
          a_result_has_a_bounded_number_of_rows]
