"""Many who ask the same at once: it is made once, and whoever makes it may fail or go."""
import os
import shutil
import sqlite3
import threading
import time

from serve_server import BOUNDS_HOLD, NUMBERS, Server, wait_until

MANY = 50


def heavy_database(database):
    """As that of make_database, with views that take long; one of them fails in the end."""
    path = database + ".heavy"
    if not os.path.exists(path):
        shutil.copy(database, path)
        with sqlite3.connect(path) as db:
            count = NUMBERS.format(1_000_000) + "SELECT count(*) AS rows FROM n"
            db.execute("CREATE VIEW heavy AS " + count)
            db.execute("CREATE VIEW failing AS SELECT abs(-9223372036854775807 - (rows > 0)) AS x "
                       "FROM (" + count + ")")
            db.execute("CREATE VIEW endless AS " + NUMBERS.format(10**15) +
                       "SELECT count(*) AS rows FROM n")
        db.close()
    return path


def ask_at_once(server, paths):
    """The answer of each, (status, headers, body)."""
    answers = [None] * len(paths)

    def ask(number):
        answers[number] = server.get(paths[number])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(paths))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def cpu_of(server, ask):
    before = server.cpu_seconds()
    answers = ask()
    return server.cpu_seconds() - before, answers


def many_first_requests_are_one_computation(program, database):
    for path in ("/tables/heavy.csv", "/report"):
        with Server(program, heavy_database(database)) as server:
            one, alone = cpu_of(server, lambda: server.get(path))
            memory = server.memory_kib("VmHWM")
        with Server(program, heavy_database(database)) as server:
            many, answers = cpu_of(server, lambda: ask_at_once(server, [path] * MANY))
            grown = server.memory_kib("VmHWM") - memory
        print(f"     {path}: one {one:.2f} CPU s, {MANY} at once {many:.2f}, {grown:+} KiB")
        assert {(status, body) for status, _, body in answers} == {(200, alone[2])}
        assert {headers["etag"] for _, headers, _ in answers} == {answers[0][1]["etag"]}
        assert many < 4 * one + 1 or not BOUNDS_HOLD, (one, many)


def what_differs_is_not_shared(program, database):
    with Server(program, heavy_database(database)) as server:
        paths = [f"/tables/thousand.csv?limit=1&header=0&offset={i % 10}" for i in range(MANY)]
        for path, (status, _, body) in zip(paths, ask_at_once(server, paths)):
            assert (status, body) == (200, b"%d\r\n" % (int(path[-1]) + 1)), path


def who_makes_it_may_go(program, database):
    with Server(program, heavy_database(database)) as server:
        first = server.connect()
        first.sendall(server.request_bytes("/tables/heavy.csv"))
        wait_until("it computes", lambda: server.cpu_seconds() > 0.1)
        goes = threading.Timer(0.3, first.close)
        goes.start()
        for status, _, body in ask_at_once(server, ["/tables/heavy.csv"] * 8):
            assert (status, body) == (200, b"rows\r\n1000000\r\n"), (status, body)
        goes.join()


def who_makes_it_may_fail(program, database):
    with Server(program, heavy_database(database)) as server:
        for status, _, body in ask_at_once(server, ["/tables/failing.csv"] * 4):
            assert status == 503 and b"overflow" in body, (status, body)
        for status, _, _ in ask_at_once(server, ["/overlap.csv?rank=x"] * 8):
            assert status == 400, status
    with Server(program, heavy_database(database), "--max-seconds", "1") as server:
        begin = time.monotonic()
        for status, _, body in ask_at_once(server, ["/tables/endless.csv"] * 12):
            assert status == 503 and b"--max-seconds" in body, (status, body)
        assert time.monotonic() - begin < 60, "each has its own second, at the same time"


CHECKS = [many_first_requests_are_one_computation, what_differs_is_not_shared,
          who_makes_it_may_go, who_makes_it_may_fail]
