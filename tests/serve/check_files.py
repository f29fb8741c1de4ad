"""What stands in the database's place and is no file: nothing waits for it, and a signal ends what
reads from a pipe."""
import os
import shutil
import signal
import socket
import subprocess
import time

from serve_server import RANK0, Server, wait_until

PROMPT_S = 60  # takes milliseconds; who waits for a pipe waits for ever


def strange_files(folder):
    """(name, path): a pipe, a socket, a device, a folder, and a pipe in a journal's place."""
    os.makedirs(folder)
    pipe, unix = os.path.join(folder, "pipe.db"), os.path.join(folder, "socket.db")
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(unix)
    return {"pipe": pipe, "socket": unix, "device": "/dev/zero", "folder": folder}


def no_command_waits_for_a_pipe(program, database):
    folder = database + ".strange"
    places = strange_files(folder)
    journal = os.path.join(folder, "journal.db")
    shutil.copy(database, journal)
    os.mkfifo(journal + "-journal")
    for place, path in {**places, "journal": journal}.items():
        for command in (["query", "overlap"], ["info"], ["doctor"], ["align"], ["ingest", RANK0],
                        ["report", "-o", folder + "/r.html"], ["cut", "-o", folder + "/c.json"],
                        ["serve-csv", "--port", "0"]):
            if place != "pipe" and command[0] in ("info", "report", "cut", "align"):
                continue  # they open a database as the others do
            done = subprocess.run([program, "--db", path, *command], capture_output=True,
                                  text=True, timeout=PROMPT_S, check=False)
            assert done.returncode == 1 and done.stderr.startswith("tracedb: "), (place, done)
    done = subprocess.run([program, "--db", places["pipe"], "info"], capture_output=True,
                          text=True, check=False)
    assert "this is a pipe" in done.stderr, done.stderr


def a_pipe_that_takes_the_place_while_serving(program, database):
    path = database + ".exchanged"
    for kind, make in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        shutil.copy(database, path)
        with Server(program, path) as server:
            assert server.get("/overlap.csv")[0] == 200
            os.unlink(path)
            make(path)
            for address in ("/overlap.csv", "/tables/kernels.csv?limit=1", "/healthz", "/report"):
                assert server.get(address, seconds=PROMPT_S)[0] == 503, (kind, address)
            (os.unlink if kind == "pipe" else os.rmdir)(path)
            shutil.copy(database, path)
            assert server.get("/overlap.csv")[0] == 200, "a database is there again"
            os.unlink(path)
            make(path)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=PROMPT_S) == 0
            (os.unlink if kind == "pipe" else os.rmdir)(path)


def what_reads_from_a_pipe_ends_by_a_signal(program, database):
    folder = database + ".pipes"
    os.makedirs(folder)
    pipe = os.path.join(folder, "rank0.json.gz")
    os.mkfifo(pipe)
    for command, reads_pipe in ((["query", "-"], False), (["query", pipe], True),
                                (["ingest", "-"], False), (["ingest", pipe], True)):
        path = database if command[0] == "query" else os.path.join(folder, "new.db")
        with subprocess.Popen([program, "--db", path, "-q", *command], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            where = f"/proc/{process.pid}/"
            wait_until("it waits", lambda: open(where + "stat", encoding="ascii").read()
                       .rsplit(")", 1)[1].split()[0] == "S")
            time.sleep(0.5)  # it may have waited for something else
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=PROMPT_S) != 0, (command, reads_pipe)
    with open(RANK0, "rb") as trace:
        done = subprocess.run([program, "--db", folder + "/piped.db", "-q", "ingest", "-"],
                              stdin=trace, timeout=300, check=False)
    assert done.returncode == 0, "traces may come through a pipe"


CHECKS = [no_command_waits_for_a_pipe, a_pipe_that_takes_the_place_while_serving,
          what_reads_from_a_pipe_ends_by_a_signal]
