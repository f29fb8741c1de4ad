"""Requests that a proxy in front may understand in another way than the server, and those of
clients who mean harm: each gets an answer of its own, or the connection ends."""
import random
import re
import threading
import time

from serve_server import Server

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
AFTER = b"GET /queries.csv HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
STATUSES = {200, 304, 400, 404, 405, 414, 431, 503}

# Each is one request that must be refused, with the connection closed behind it.
UNCLEAR = {
    "length twice": HEAD + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "list of lengths": HEAD + b"Content-Length: 5,5\r\n\r\nhello",
    "length with a sign": HEAD + b"Content-Length: +0\r\n\r\n",
    "negative length": HEAD + b"Content-Length: -1\r\n\r\n",
    "hexadecimal length": HEAD + b"Content-Length: 0x0\r\n\r\n",
    "no length": HEAD + b"Content-Length:\r\n\r\n",
    "huge length": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
    "space before a colon": HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "tab before a colon": HEAD + b"Content-Length\t: 5\r\n\r\nhello",
    "length and coding": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "coding twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "list of codings": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "unknown coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks for GET": HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "body for GET": HEAD + b"Content-Length: 5\r\n\r\nhello",
    "folded header": HEAD + b"X-A: b\r\n c\r\n\r\n",
    "space before the first header": b"GET /healthz HTTP/1.1\r\n X: y\r\nHost: localhost\r\n\r\n",
    "header without a colon": HEAD + b"nonsense\r\n\r\n",
    "header without a name": HEAD + b": x\r\n\r\n",
    "LF alone": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "LF alone in a header": HEAD + b"X: y\nContent-Length: 5\r\n\r\nhello",
    "CR alone": HEAD + b"X: y\rContent-Length: 5\r\n\r\nhello",
    "NUL in a header": HEAD + b"X: y\0z\r\n\r\n",
    "NUL in a name": HEAD + b"X\0: y\r\n\r\n",
    "control character": HEAD + b"X: \x08\r\n\r\n",
    "two hosts": HEAD + b"Host: localhost\r\n\r\n",
    "address with a host": b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "address without a /": b"GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "space in the address": b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "two spaces": b"GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "method that is no word": b"G(T /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "method in small letters": b"get /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "HTTP/1.2": b"GET /healthz HTTP/1.2\r\nHost: localhost\r\n\r\n",
    "empty line in front": b"\r\n" + HEAD + b"\r\n",
    "two Authorizations": HEAD + b"Authorization: Basic x\r\nAuthorization: Basic y\r\n\r\n",
    "hundreds of headers": HEAD + b"".join(b"X%d: y\r\n" % i for i in range(200)) + b"\r\n",
}


def answers_in(got, methods):
    """(status, body) of every answer; what is no answer is an AssertionError. `methods` are those
    of the requests: an answer to HEAD has no body."""
    answers = []
    while got:
        head, found, rest = got.partition(b"\r\n\r\n")
        assert found, f"an answer's head is cut off: {got[:200]}"
        lines = head.split(b"\r\n")
        status = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [\x20-\x7e]+", lines[0])
        assert status, f"no answer: {lines[0][:200]}"
        headers = [re.fullmatch(rb"([!-9;-~]+): ?([\x20-\x7e]*)", line) for line in lines[1:]]
        assert all(headers), f"no header: {lines[1:]}"
        length = [h[2] for h in headers if h[1].lower() == b"content-length"]
        assert len(length) == 1, f"without its length: {head}"
        method = methods[len(answers)] if len(answers) < len(methods) else "GET"
        size = 0 if method == "HEAD" or status[1] == b"304" else int(length[0])
        assert len(rest) >= size, f"an answer is cut off: {got[:200]}"
        answers.append((int(status[1]), rest[:size]))
        got = rest[size:]
    return answers


def unclear_requests_end_the_connection(program, database):
    with Server(program, database) as server:
        for what, request in UNCLEAR.items():
            answers = answers_in(server.raw(request + AFTER), [])
            assert len(answers) == 1 and answers[0][0] in (400, 431), (what, answers)
            assert answers[0][1], what
        head = server.raw(UNCLEAR["length twice"].replace(b"GET", b"HEAD"))
        assert head.startswith(b"HTTP/1.1 400 ") and head.endswith(b"\r\n\r\n"), head
        assert server.get("/healthz")[0] == 200


def clear_requests_keep_it(program, database):
    with Server(program, database) as server:
        for more in (b"", b"Content-Length: 0\r\n", b"Connection: keep-alive\r\n", b"X:y\r\n",
                     b"X-Empty:\r\n", b"X: \t y \t\r\n", b"Expect: 100-continue\r\n",
                     b"Range: bytes=9-1\r\n", b"X: \xc3\xa4\r\n"):
            answers = answers_in(server.raw(HEAD + more + b"\r\n" + AFTER), [])
            assert [status for status, _ in answers] == [200, 200], (more, answers)
            assert answers[0][1] == b"ok\n" and answers[1][1].startswith(b"query,"), more
        for last in (b"Connection: Close\r\n", b"Connection: te, close\r\n"):
            assert len(answers_in(server.raw(HEAD + last + b"\r\n" + AFTER), [])) == 1, last
        old = HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Connection: keep-alive\r\n\r\n"
        assert len(answers_in(server.raw(old + AFTER), [])) == 1
        post = HEAD.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        assert [status for status, _ in answers_in(server.raw(post + AFTER), [])] == [405]
        with server.connect() as client:  # a byte at a time is as good
            for at in range(len(HEAD + b"\r\n" + AFTER)):
                client.sendall((HEAD + b"\r\n" + AFTER)[at:at + 1])
            got = b""
            while piece := client.recv(65536):
                got += piece
        assert [status for status, _ in answers_in(got, [])] == [200, 200]


def hosts_with_a_strange_end_are_refused(program, database):
    with Server(program, database) as server:
        for host in ("localhost:80x", "localhost:-1", "localhost:99999999", "[::1]x", "[::1]80",
                     "localhost:80:80", "user@localhost", "localhost, evil.example"):
            answer = server.raw(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n"
                                "Connection: close\r\n\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 400 "), (host, answer)


# --- Random requests ---------------------------------------------------------------------------

THREADS = 4
# Each answer says by its text which request it is for.
MARKED = "/tables/thousand.csv?limit=1&offset={0}&header=0"
PIECES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"GET / HTTP/1.1", b"Content-Length: 7",
          b"Transfer-Encoding: chunked", b"Host: evil.example", b"0\r\n\r\n", b"\xff\xfe", b"%00",
          b"HTTP/1.0", b"Connection: close", b"x" * 9000, b"../", b"?", b"#", b"%", b";", b",",
          b"Transfer-Encoding:\x0bchunked", b"Expect: 100-continue", b"Upgrade: h2c", b"=&&="]


def mutated(random_of, request):
    """The request with one to four mistakes in it."""
    for _ in range(random_of.randint(1, 4)):
        at = random_of.randrange(len(request) + 1)
        kind = random_of.randrange(5)
        if kind == 0:
            request = request[:at] + random_of.choice(PIECES) + request[at:]
        elif kind == 1:
            request = request[:at] + bytes([random_of.randrange(256)]) + request[at + 1:]
        elif kind == 2:
            request = request[:at] + request[at + random_of.randint(1, 9):]
        elif kind == 3:
            lines = request.split(b"\r\n")
            line = random_of.randrange(len(lines))
            lines.insert(random_of.randrange(len(lines)), lines[line])
            request = b"\r\n".join(lines)
        else:
            request = request[:at] + request[at:at + 20] * 2 + request[at + 20:]
    return request


def all_that_comes(client, sent):
    got = b""
    try:
        client.sendall(sent)
        while piece := client.recv(65536):
            got += piece
    except (ConnectionResetError, BrokenPipeError):
        pass
    return got


def one_connection(server, random_of):
    """Sends a marked request, a broken one and a marked one, and looks at what comes back."""
    first, second = random_of.randrange(1, 500), random_of.randrange(500, 1000)
    before, after = (server.request_bytes(MARKED.format(number), *more) for number, more in
                     ((first, ()), (second, ("Connection: close",))))
    method = random_of.choice([b"GET", b"GET", b"GET", b"HEAD", b"POST"])
    broken = mutated(random_of, method + before[3:-2] + b"X-A: b\r\nAccept: */*\r\n\r\n")
    sent = before + broken + after
    with server.connect() as client:
        got = all_that_comes(client, sent)
    methods = [head.split(b" ")[0].decode("latin-1") for head in sent.split(b"\r\n\r\n")]
    answers = answers_in(got, methods)
    assert answers and answers[0] == (200, b"%d\r\n" % (first + 1)), (sent, got)
    assert all(status in STATUSES for status, _ in answers), (sent, answers)
    assert len(answers) <= sent.count(b"\r\n\r\n") + 1, (sent, answers)
    # Rows begin where this connection, and no other, said that they shall.
    asked = {1} | {int(number) + 1 for number in re.findall(rb"[0-9]+", sent)}
    rows = [body for status, body in answers if status == 200 and body[:1].isdigit()]
    assert all(int(body.split(b"\r\n")[0]) in asked for body in rows), (sent, answers)
    # Either the last request was answered, or none after the one that could not be read.
    last = re.search(rb"close|HTTP/1\.0", broken, re.IGNORECASE) or b"\r\n\r\n" not in broken
    ended = answers[-1][0] >= 400 or last
    assert answers[-1] == (200, b"%d\r\n" % (second + 1)) or ended, (sent, answers)


def random_requests(program, database, count=1200, seed=7):
    """In several threads, so that answers of one connection could get to another."""
    errors = []

    def ask(server, part):
        random_of = random.Random(f"{seed} {part}")
        for number in range(count // THREADS):
            try:
                one_connection(server, random_of)
            except Exception as error:
                errors.append(f"request {number} of seed {seed}, thread {part}: {error!r}")

    with Server(program, database) as server:
        server.get("/")
        begin, memory = server.cpu_seconds(), server.memory_kib()
        threads = [threading.Thread(target=ask, args=(server, part)) for part in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, f"{len(errors)}: {errors[:3]}"
        assert server.text("/healthz") == "ok\n"
        print(f"     {count} requests took the server {server.cpu_seconds() - begin:.1f} CPU s, "
              f"RSS {server.memory_kib() - memory:+} KiB")
        code, _, _ = server.end()
        assert code == 0, code


def a_slow_head_is_bounded_whatever_it_is(program, database):
    with Server(program, database) as server:
        clients = [server.connect() for _ in range(3)]
        begin = time.monotonic()
        for client, start in zip(clients, (b"G", HEAD, HEAD + b"X: ")):
            client.sendall(start)
        for client in clients:
            assert client.recv(1000) == b"", "an unfinished head is given up, without an answer"
            client.close()
        assert time.monotonic() - begin < 100


CHECKS = [unclear_requests_end_the_connection, clear_requests_keep_it,
          hosts_with_a_strange_end_are_refused, random_requests,
          a_slow_head_is_bounded_whatever_it_is]
