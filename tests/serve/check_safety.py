"""What must not get in, out, or through."""
import csv
import io
import os
import re
import signal
import sqlite3
import subprocess

from serve_server import BOUNDS_HOLD, HOSTILE_NAMES, Server, long_database


def basic(text):
    import base64
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def hosts_of_others_are_refused(program, database):
    with Server(program, database, "--allow-host", "My.Box.example") as server:
        def status(*hosts):
            lines = "".join(f"Host: {host}\r\n" for host in hosts)
            answer = server.raw(f"GET /overlap.csv HTTP/1.1\r\n{lines}Connection: close\r\n\r\n"
                                .encode())
            return int(answer.split()[1])
        for good in ("localhost", "127.0.0.1:1", "LOCALHOST:9999", "[::1]:80", "my.box.example",
                     "localhost."):
            assert status(good) == 200, good
        for bad in ("evil.example", "evil.example:8642", "127.0.0.1.evil.example", "8.8.8.8", "",
                    "localhost.evil.example", "[::1", "[", "x]", "localhost@evil.example"):
            assert status(bad) == 400, bad
        assert status() == 400 and status("localhost", "evil.example") == 400


def other_addresses_want_a_token(program, database):
    done = subprocess.run([program, "--db", database, "serve-csv", "--host", "0.0.0.0"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--token" in done.stderr, done
    with Server(program, database, "--host", "0.0.0.0", "--token", "geheim") as server:
        status, headers, body = server.get("/overlap.csv")
        assert status == 401 and headers["www-authenticate"].startswith("Basic realm=")
        assert b"rank" not in body
        assert server.get("/overlap.csv", basic("anyone:geheim"))[0] == 200
        assert server.get("/overlap.csv?token=geheim")[0] == 200
        for wrong in ("geheim2", "geheiM", "gehei", "", "geheimgeheim"):
            assert server.get("/overlap.csv?token=" + wrong)[0] == 401, wrong
            assert server.get("/overlap.csv", basic("geheim:" + wrong))[0] == 401, wrong
        for odd in ("Basic", "Basic !!", "Bearer geheim", "Basic Z2VoZWlt", "basic " + "A" * 4000):
            assert server.get("/overlap.csv", {"Authorization": odd})[0] == 401, odd
        for path in ("/", "/report", "/healthz", "/queries.csv", "/tables/kernels.csv", "/nothing"):
            assert server.get(path)[0] == 401, path
        page = server.text("/?token=geheim")
        assert "/overlap.csv?token=geheim" in page and "/report?token=geheim" in page
        assert "geheim" not in server.text("/report?token=geheim")
        assert "geheim" not in server.text("/", headers=basic("x:geheim"))
        assert "geheim" not in server.line
        assert server.get("/healthz", {**basic("x:geheim"), "Host": "10.1.2.3:80"})[0] == 200
        assert server.get("/healthz", {**basic("x:geheim"), "Host": "evil.example"})[0] == 400
    with Server(program, database, environment={"TRACEDB_TOKEN": "aus der Umgebung"}) as server:
        assert server.get("/healthz")[0] == 401
        assert server.get("/healthz?token=aus+der%20Umgebung")[0] == 200


def only_get_and_head(program, database):
    before = os.stat(database)
    with Server(program, database) as server:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
            answer = server.raw(f"{method} /overlap.csv HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Length: 5\r\nConnection: close\r\n\r\nhello".encode())
            assert answer.startswith(b"HTTP/1.1 405 "), (method, answer)
            assert b"Allow: GET, HEAD" in answer, method
        assert server.raw(b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(
            b"HTTP/1.1 400 ")
        smuggled = server.raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 44\r\n\r\n"
                              b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert smuggled.count(b"HTTP/1.1 ") == 1, "a body is no further request"
    after = os.stat(database)
    assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def no_path_leads_out(program, database):
    with Server(program, database) as server:
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/tables/../../etc/passwd",
                     "/tables/..%2f..%2fetc%2fpasswd.csv", "/..%5c..%5cx.csv", "//etc/passwd",
                     "/etc/passwd%00.csv", "/tables/sqlite_schema.csv", "/tables/%22.csv",
                     "/tables/kernels%22;ATTACH 'x' AS y;--.csv".replace(" ", "%20"),
                     "/tables/pragma_database_list.csv", "/" + database.strip("/"),
                     "/tables/.csv", "/.csv", "/%", "/%zz.csv", "/overlap.csv/", "/OVERLAP.csv"):
            status, _, body = server.get(path)
            assert status in (400, 404) and b"root:" not in body, (path, status)
            assert database.encode() not in body, path


def oversized_and_broken_requests(program, database):
    with Server(program, database) as server:
        before = server.memory_kib()
        assert server.raw(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
                          ).startswith(b"HTTP/1.1 414 ")
        for head in (b"X: " + b"a" * 9000, b"X: " + b"a" * (8 << 20),
                     b"\r\n".join(b"X%d: y" % i for i in range(20_000))):
            answer = server.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
            assert answer == b"" or answer.startswith(b"HTTP/1.1 431 "), answer[:100]
        for odd in (b"\x00" * 1000 + b"\r\n\r\n", b"\r\n\r\n", b"GET\r\n\r\n",
                    b"GET / HTTP/9.9\r\n\r\n",
                    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
                    b"GET / HTTP/1.1\r\n:\r\n\r\n"):
            answer = server.raw(odd)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), (odd, answer[:100])
        many = "&".join(f"p{i}=1" for i in range(900))
        assert server.get("/overlap.csv?" + many)[0] == 400
        assert server.get("/healthz")[0] == 200
        assert not BOUNDS_HOLD or server.memory_kib() - before < 16 << 10


def formulas_are_defused(program, database):
    def names(server, query):
        rows = list(csv.reader(io.StringIO(server.text(query), newline="")))
        column = rows[0].index("name")
        return [row[column] for row in rows[1:]]
    query = "/tables/kernels.csv?order=ts_ns&limit=13"
    safe = [name if name in ("-17", "+5e3") or name[0] not in "=+-@\t\r" else "'" + name
            for name in HOSTILE_NAMES]
    with Server(program, database) as server:
        assert names(server, query) == safe
        assert names(server, query + "&safe=0") == HOSTILE_NAMES
    with Server(program, database, "--raw-text") as server:
        assert names(server, query) == HOSTILE_NAMES
        assert names(server, query + "&safe=1") == safe
    sql = "SELECT name, -5 AS n, -0.5 AS r FROM kernels WHERE name LIKE '=%'"
    for option, want in (("--safe-csv", "name,n,r\n'=1+1,-5,-0.5\n"),
                         ("--quiet", "name,n,r\n=1+1,-5,-0.5\n")):
        got = subprocess.run([program, "--db", database, "query", "-c", sql, "--format", "csv",
                              option], capture_output=True, text=True, check=True).stdout
        assert got == want, got


def names_are_escaped_on_the_page(program, database):
    with Server(program, database) as server:
        page = server.text("/?show=tables/kernels&order=ts_ns")
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "<script" not in page.lower() and 'onmouseover="' not in page.lower()
        assert "\u202e" not in page and "\\u202e" in page
        hostile = '"><script>alert(2)</script>'.replace("<", "%3C").replace('"', "%22")
        for query in (f"/?show={hostile}", f"/?show=overlap&rank={hostile}",
                      f"/?show=tables/kernels&order={hostile}", f"/?token={hostile}",
                      f"/?show=overlap&{hostile}=1", f"/?sql={hostile}", f"/?find={hostile}",
                      f"/?sql=SELECT+'{hostile}'+AS+a,1+AS+b"):
            assert "<script" not in server.text(query).lower(), query
        headers = server.get("/")[1]
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def a_hostile_database_runs_nothing(program, database):
    path = long_database(database) + ".hostile"
    with open(path, "wb") as copy, open(database, "rb") as original:
        copy.write(original.read())
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE \"<b>\"\"';--\" (\"<i>,\" TEXT)")
        db.execute("CREATE VIEW loads AS SELECT load_extension('x') AS a")
    db.close()
    with Server(program, path) as server:
        page = server.text("/")
        assert "<b>\"" not in page and "<i>," not in page
        links = [link for link in re.findall(r'class="csv" href="([^"]+)"', page) if "%3C" in link]
        assert server.text(links[0]) == "\"<i>,\"\r\n", links
        status, _, body = server.get("/tables/loads.csv")
        assert status == 503 and body, (status, body)
        code, _, _ = server.end(signal.SIGTERM)
        assert code == 0


CHECKS = [hosts_of_others_are_refused, other_addresses_want_a_token, only_get_and_head,
          no_path_leads_out, oversized_and_broken_requests, formulas_are_defused,
          names_are_escaped_on_the_page, a_hostile_database_runs_nothing]
