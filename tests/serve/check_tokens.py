"""Where the token comes from, and what it costs to guess it."""
import http.client
import os
import subprocess
import threading
import time

from serve_server import Server, wait_until

GUESS_SECONDS = 3
GUESSES_A_SECOND = 16  # 8 wait at a time, half a second each


def the_token_is_in_a_file_or_the_environment(program, database):
    path = database + ".token"
    for text, token in (("from a file\n", "from+a+file"), ("dos\r\n", "dos"), ("bare", "bare"),
                        (" a b \n", "+a+b+")):
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w",
                  encoding="ascii", newline="") as file:
            file.write(text)
        with Server(program, database, "--token-file", path,
                    environment={"TRACEDB_TOKEN": "not this one"}) as server:
            assert server.get("/healthz")[0] == 401
            assert server.get(f"/healthz?token={token}")[0] == 200, text
            with open(f"/proc/{server.process.pid}/cmdline", "rb") as line:
                assert text.strip().encode() not in line.read()
            assert "other users" not in server.end()[2]
    with Server(program, database, environment={"TRACEDB_TOKEN": "env"}) as server:
        assert server.get("/healthz?token=env")[0] == 200


def what_is_wrong_with_a_token_is_said(program, database):
    path = database + ".token-file"

    def start(*options, environment=None, code=2):
        done = subprocess.run([program, "--db", database, "serve-csv", "--port", "0", *options],
                              env={**os.environ, **(environment or {})}, capture_output=True,
                              text=True, timeout=300, check=False)
        assert done.returncode == code, (options, environment, done)
        return done.stderr
    assert "cannot be read" in start("--token-file", path, code=1)
    assert "cannot be read" in start("--token-file", os.path.dirname(path), code=1)
    for text in ("", "\n", "two\nlines\n", "x" * 2000, "nul\0"):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        assert "--token-file" in start("--token-file", path), text
    assert "the token is empty" in start("--token", "")
    assert "the token is empty" in start(environment={"TRACEDB_TOKEN": ""})
    assert "only one of them" in start("--token", "a", "--token-file", path)
    with open(path, "w", encoding="ascii") as file:
        file.write("secret\n")
    os.chmod(path, 0o644)
    process = subprocess.Popen([program, "--db", database, "serve-csv", "--port", "0",
                                "--token-file", path], stderr=subprocess.PIPE, text=True)
    with process:
        said = process.stderr.readline()
        process.terminate()
    assert "other users" in said and "secret" not in said, said
    os.unlink(path)
    os.mkfifo(path)
    assert "empty" in start("--token-file", path), "nobody writes to this pipe"


def status_of(server, token, source="127.0.0.1"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300,
                                            source_address=(source, 0))
    try:
        connection.request("GET", f"/healthz?token={token}" if token else "/healthz")
        return connection.getresponse().status
    finally:
        connection.close()


def guesses_are_few_and_others_are_not_slowed(program, database):
    with Server(program, database, "--token", "right") as server:
        statuses, end = [], time.monotonic() + GUESS_SECONDS

        def guess(number):
            while time.monotonic() < end:
                statuses.append(status_of(server, f"wrong{number}"))

        begin = time.monotonic()
        threads = [threading.Thread(target=guess, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        wait_until("a wrong token was seen", lambda: 401 in statuses)
        others = [status_of(server, "right", "127.0.0.2") for _ in range(50)]
        assert set(others) == {200}, "another address is not slowed, and has threads"
        assert {status_of(server, None) for _ in range(50)} == {401}, "nothing was guessed"
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - begin
        compared = statuses.count(401)
        print(f"     {compared} of {len(statuses)} guesses were compared in {seconds:.1f} s")
        # The first ones may all be on their way before one of them is known to be wrong.
        assert compared <= len(threads) + GUESSES_A_SECOND * (seconds + 1), compared
        assert set(statuses) <= {401, 429}, set(statuses)
        assert status_of(server, "right") == 200, "after a while"
        assert server.end()[0] == 0


CHECKS = [the_token_is_in_a_file_or_the_environment, what_is_wrong_with_a_token_is_said,
          guesses_are_few_and_others_are_not_slowed]
