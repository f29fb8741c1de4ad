"""/cut.json.gz: a window of the database for Perfetto, the same as `tracedb cut` writes."""
import gzip
import json
import os
import shutil
import subprocess

from serve_server import Server

REFUSED = ("", "from=1", "to=1", "from=2&to=1", "from=1&to=1", "from=a&to=2", "from=nan&to=2",
           "from=1&to=inf", "from=1e99&to=2e99", "from=1&to=2&incoming=2", "from=1&to=2&steps=3",
           "from=1&to=2&run=none%20such", "from=1&to=2&capture=x", "from=1&to=2&capture=99",
           "from=0&to=1",  # of two runs none is named
           "from=0x1&to=2", "from=1ms&to=2", "from=1%00&to=2", "from=%F0%9F&to=2")


def typed(program, database, *options):
    done = subprocess.run([program, "-q", "--db", database, "cut", "-o", "-", *options],
                          capture_output=True, check=True)
    return json.loads(done.stdout)["traceEvents"]


def windows_are_those_of_the_command(program, database):
    with Server(program, database) as server:
        for start, end in ((0, 1), (1, 3), (2.5, 50), (0.000001, 1e6)):
            for incoming in (0, 1):
                status, headers, body = server.get(
                    f"/cut.json.gz?run=megatron&from={start:f}&to={end:f}&incoming={incoming}")
                assert status == 200, (status, body[:300])
                assert headers["content-type"] == "application/gzip", headers
                assert headers["content-disposition"] == 'attachment; filename="cut.json.gz"'
                got = json.loads(gzip.decompress(body))["traceEvents"]
                wanted = typed(program, database, "--run", "megatron", "--start", f"{start:f}ms",
                               "--end", f"{end:f}ms", *(["--incoming"] if incoming else []))
                assert got == wanted and (len(got) > 20 or end < 4), (start, end, len(got))
        # What is there already is not sent again.
        address = "/cut.json.gz?from=1&to=3&run=megatron"
        headers = server.get(address)[1]
        assert server.get(address, {"If-None-Match": headers["etag"]})[0] == 304


def what_cannot_be_is_refused(program, database):
    with Server(program, database) as server:
        for query in REFUSED:
            status, _, body = server.get("/cut.json.gz?" + query)
            assert status == 400 and 5 < len(body) < 400, (query, status, body)
        assert server.get("/cut.json.gz?from=0&to=1", method="POST")[0] == 405
        assert server.get("/cut.json?from=0&to=1")[0] == 404


def a_token_is_asked_for(program, database):
    with Server(program, database, "--token", "geheim") as server:
        assert server.get("/cut.json.gz?from=0&to=1")[0] == 401
        assert server.get("/cut.json.gz?from=0&to=1&token=falsch")[0] == 401
        assert server.get("/cut.json.gz?from=0&to=1&token=geheim&run=megatron")[0] == 200


def a_database_that_is_gone_is_no_fault_of_the_request(program, database):
    copy = database + ".copy"
    shutil.copyfile(database, copy)
    with Server(program, copy) as server:
        assert server.get("/cut.json.gz?from=1&to=3&run=megatron")[0] == 200
        os.unlink(copy)
        status, _, body = server.get("/cut.json.gz?from=1&to=4&run=megatron")
        assert status == 503 and b"no such database" in body, (status, body)
        shutil.copyfile(database, copy)
        assert server.get("/cut.json.gz?from=1&to=5&run=megatron")[0] == 200
    os.unlink(copy)


CHECKS = [windows_are_those_of_the_command, what_cannot_be_is_refused, a_token_is_asked_for,
          a_database_that_is_gone_is_no_fault_of_the_request]
