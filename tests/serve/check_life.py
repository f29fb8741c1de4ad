"""From the start-up line to the end, and what happens to the database meanwhile."""
import contextlib
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time

from serve_server import RANK1, Server, ingest, long_database, wait_until

# Takes milliseconds; an endless query, or a client's minutes, would take longer than this.
PROMPT_S = 40


def it_ends_at_once_whatever_runs(program, database):
    for number in (signal.SIGTERM, signal.SIGINT):
        with Server(program, long_database(database)) as server:
            clients = [server.connect(receive_bytes=4096) for _ in range(12)]
            for client, path in zip(clients, ["/tables/endless.csv", "/tables/ten_million.csv",
                                              "/healthz"] * 4):
                client.sendall(server.request_bytes(path)[:None if path != "/healthz" else 20])
            time.sleep(0.5)
            code, seconds, errors = server.end(number)
            assert code == 0 and seconds < PROMPT_S, (code, seconds, errors)
            for client in clients:
                client.close()


def an_ingest_shows_up(program, database):
    path = database + ".grows"
    shutil.copy(database, path)
    with Server(program, path) as server:
        def ranks():
            return [line.split(",")[1] for line in
                    server.text("/overlap.csv?header=0").split("\r\n")[:-1]]
        before, etag = ranks(), server.get("/overlap.csv")[1]["etag"]
        ingest(program, path, RANK1)
        assert ranks() == sorted(before + ["1"], key=int)
        status, headers, _ = server.get("/overlap.csv", {"If-None-Match": etag})
        assert status == 200 and headers["etag"] != etag
        assert RANK1.rsplit("/", 1)[1] in server.text("/tables/traces.csv")
        os.unlink(path)
        assert server.get("/overlap.csv")[0] == 503
        assert b"no such database" in server.get("/healthz")[2]
        ingest(program, path, RANK1)
        assert ranks() == ["1"], "another file of that name"


def a_slow_client_does_not_keep_an_ingest_out(program, database):
    path = database + ".waited"
    shutil.copy(database, path)
    link = database + ".link"
    os.symlink(path, link)
    with Server(program, link) as server:
        slow = server.connect(receive_bytes=4096)
        slow.sendall(server.request_bytes("/tables/brittle.csv?limit=100000"))
        assert slow.recv(100).startswith(b"HTTP/1.1 200")
        writer = subprocess.Popen([program, "--db", path, "-q", "ingest", RANK1])
        begin = time.monotonic()
        while writer.poll() is None and time.monotonic() - begin < 150:
            try:
                # A client that is slow, and not one that takes nothing; all would take it 200 s.
                slow.recv(5_000)
            except ConnectionResetError:
                pass
            time.sleep(0.1)
        assert writer.wait() == 0 and time.monotonic() - begin < 100, time.monotonic() - begin
        slow.close()
        assert server.text("/tables/traces.csv").count("\r\n") == 4
        assert "an ingest waits" in server.end()[2]


def answers_that_overlap_do_not_keep_an_ingest_out(program, database):
    """Each ends within seconds, but at every moment there is one."""
    path = database + ".overlapped"
    shutil.copy(database, path)
    done = threading.Event()
    answered = []

    def ask(number):
        while not done.is_set():
            end = b""
            with server.connect(receive_bytes=65536) as client:
                client.sendall(server.request_bytes(
                    f"/tables/brittle.csv?limit={99_000 + number}", "Connection: close"))
                try:
                    while piece := client.recv(100_000):
                        end = (end + piece)[-5:]
                        time.sleep(0.01)
                except ConnectionResetError:  # on a busy machine one may last longer than 5 s
                    pass
            answered.append(end == b"0\r\n\r\n")
            number += 10

    with Server(program, path) as server:
        clients = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for client in clients:
            client.start()
            time.sleep(0.3)
        try:
            begin = time.monotonic()
            ingest(program, path, RANK1)
            print(f"     the ingest took {time.monotonic() - begin:.1f} s; {sum(answered)} of "
                  f"{len(answered)} answers were whole", flush=True)
        finally:
            done.set()
            for client in clients:
                client.join()
        assert any(answered), "not one was short"


def leave_journal(path, mode):
    """A journal of a transaction that is done, as SQLite keeps it in that mode; or an empty one."""
    if mode == "empty":
        with open(path + "-journal", "wb"):
            return
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE more (i)")
        db.commit()
    assert os.path.exists(path + "-journal"), mode


def journals_that_lie_there_break_nothing_off(program, database):
    """Nor does one who has begun to write, as long as he waits for nobody."""
    modes = ("empty", "PERSIST", "TRUNCATE", "DELETE")
    with contextlib.ExitStack() as stack:
        clients = []
        for mode in modes:
            path = f"{database}.{mode}"
            shutil.copy(database, path)
            server = stack.enter_context(Server(program, path))
            if mode != "DELETE":
                leave_journal(path, mode)
            writer = stack.enter_context(contextlib.closing(sqlite3.connect(path)))
            writer.isolation_level = None
            writer.execute(f"PRAGMA journal_mode = {'DELETE' if mode == 'empty' else mode}")
            if mode != "empty":
                writer.execute("BEGIN IMMEDIATE")
                writer.execute("INSERT INTO brittle VALUES (1, 'begun')")
            assert os.path.exists(path + "-journal"), mode
            client = stack.enter_context(server.connect(receive_bytes=4096))
            client.sendall(server.request_bytes("/tables/brittle.csv", "Connection: close"))
            clients.append((mode, server, client, [client.recv(100)]))
        begin = time.monotonic()
        while time.monotonic() - begin < 7:  # an ingest that waits is let in after 5
            for _, _, client, got in clients:
                got.append(client.recv(5_000))
            time.sleep(0.1)
        for mode, server, client, got in clients:
            while piece := client.recv(1 << 16):
                got.append(piece)
            assert b"".join(got).endswith(b"0\r\n\r\n"), (mode, server.end()[2])
def a_client_that_reads_nothing_does_not_keep_an_ingest_out(program, database):
    path = database + ".unread"
    shutil.copy(database, path)
    with Server(program, path) as server:
        # The second answer begins when the first fills what the network holds.
        clients = [server.connect(receive_bytes=4096) for _ in range(2)]
        for client, before in zip(clients, ("", "/tables/brittle.csv?limit=2000")):
            client.sendall((server.request_bytes(before) if before else b"") +
                           server.request_bytes("/tables/brittle.csv?limit=100000"))
        wait_until("they are answered", lambda: all(
            client.recv(1, socket.MSG_PEEK) for client in clients))
        time.sleep(1)  # for what it holds to be full
        begin = time.monotonic()
        ingest(program, path, RANK1)
        print(f"     the ingest took {time.monotonic() - begin:.1f} s")
        for client in clients:
            client.close()
        # A client that is given up because it takes nothing for 30 s is another matter.
        assert "an ingest waits" in server.end()[2]


def what_is_wrong_at_the_start_is_said(program, database):
    def fails(*options, code=1):
        done = subprocess.run([program, *options], capture_output=True, text=True, timeout=300,
                              check=False)
        assert done.returncode == code and done.stderr.startswith("tracedb: "), (options, done)
        return done.stderr
    assert "no such database" in fails("--db", database + ".none", "serve-csv")
    with Server(program, database) as server:
        assert "cannot listen" in fails("--db", database, "serve-csv", "--port", str(server.port))
    for bad in (["--port", "70000"], ["--max-connections", "0"], ["--max-seconds", "x"], ["more"],
                ["--host", "::", "--port", "0"], ["--host", "192.0.2.1"]):
        fails("--db", database, "serve-csv", *bad, code=2)
    fails("--db", database, "serve-csv", "--host", "192.0.2.1", "--token", "x")


def open_starts_the_browser(program, database):
    folder = os.path.dirname(database)
    browser, opened = os.path.join(folder, "browser"), os.path.join(folder, "opened")
    with open(browser, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    os.chmod(browser, 0o755)
    with Server(program, database, "--open", "--token", "t&k", environment={
            "BROWSER": browser}) as server:
        wait_until("the browser is started", lambda: os.path.exists(opened))
        with open(opened, encoding="ascii") as file:
            assert file.read() == server.url + "?token=t%26k"
        assert server.get("/?token=t%26k")[0] == 200
    with Server(program, database, "--open", environment={"BROWSER": "/nonexistent"}) as server:
        assert server.get("/")[0] == 200
        said = iter(server.process.stderr.readline, b"")
        assert any(b"no browser" in line for line in said)


CHECKS = [it_ends_at_once_whatever_runs, an_ingest_shows_up,
          a_slow_client_does_not_keep_an_ingest_out,
          answers_that_overlap_do_not_keep_an_ingest_out, journals_that_lie_there_break_nothing_off,
          a_client_that_reads_nothing_does_not_keep_an_ingest_out,
          what_is_wrong_at_the_start_is_said, open_starts_the_browser]
