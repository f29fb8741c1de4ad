"""What an address answers: CSV, its forms, states, errors."""
import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import time
import urllib.parse

from serve_server import BOUNDS_HOLD, Server

WHOLE_S = 120
# Pages leave out what takes more CPU time than a person waits for: with sanitizers none is whole.
PAGES = ("/", "/report") if BOUNDS_HOLD else ()


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def csv_is_that_of_the_program(program, database):
    with Server(program, database) as server:
        for query in ("overlap", "nccl_stalls", "doctor/event_cap"):
            want = subprocess.run([program, "--db", database, "query", query, "--format", "csv"],
                                  check=True, capture_output=True, text=True).stdout
            got = server.text(f"/{query}.csv")
            assert rows_of(got) == rows_of(want), query
            assert "\n" not in got.replace("\r\n", ""), "RFC 4180 ends lines in CR LF"
        one = rows_of(server.text("/stream_utilization.csv?rank=0"))
        assert len(one) > 1 and {row[1] for row in one[1:]} == {"0"}
        assert rows_of(server.text("/stream_utilization.csv?rank=")) == rows_of(
            server.text("/stream_utilization.csv")), "an empty field of a form is not given"


def tables_have_limit_offset_and_order(program, database):
    with Server(program, database) as server:
        rows = rows_of(server.text("/tables/thousand.csv"))
        assert rows == [["i"]] + [[str(i)] for i in range(1, 1001)]
        rows = rows_of(server.text("/tables/thousand.csv?limit=3&offset=5&order=-i"))
        assert rows == [["i"], ["995"], ["994"], ["993"]]
        rows = rows_of(server.text("/tables/kernels.csv?order=rank,-dur_ns&limit=2&header=0"))
        assert len(rows) == 2 and rows[0][2] == "0"
        [names] = rows_of(server.text("/tables/kernels.csv?limit=0"))
        assert names.index("start_ms") + 1 == names.index("ts_ns"), "15 digits before 19"
        for bad in ("order=nothing", "order=i;DROP", "limit=x", "offset=1.5", "where=1"):
            status, _, body = server.get("/tables/thousand.csv?" + bad)
            assert status == 400 and body, bad


def forms_of_an_answer(program, database):
    with Server(program, database) as server:
        plain = server.text("/overlap.csv")
        assert server.get("/overlap.csv?bom=1")[2] == b"\xef\xbb\xbf" + plain.encode()
        assert server.text("/overlap.csv?header=0") == plain.split("\r\n", 1)[1]
        objects = json.loads(server.text("/overlap.csv?format=json&bom=1"))
        assert [str(o["rank"]) for o in objects] == [row[1] for row in rows_of(plain)[1:]]
        assert server.get("/overlap.csv?format=json")[1]["content-type"] == "application/json"
        for bad in ("format=pdf", "bom=maybe", "header=2", "safe=x"):
            assert server.get("/overlap.csv?" + bad)[0] == 400, bad
        headers = server.get("/overlap.csv")[1]
        assert headers["content-type"] == "text/csv; charset=utf-8"
        assert headers["content-disposition"] == 'attachment; filename="overlap.csv"'
        assert headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control") for name in headers)


def get_whole(server, path, headers=None):
    """The answer once nothing was left out of it for taking too long: then it may be kept. A page
    that is not whole is not wrong, but two of them need not be the same."""
    end = time.monotonic() + WHOLE_S
    while True:
        status, answer_headers, body = server.get(path, headers or {})
        if status != 200 or answer_headers.get("cache-control") != "no-store":
            return status, answer_headers, body
        assert time.monotonic() < end, f"{path} is not whole after {WHOLE_S} s"


def gzip_only_when_asked_for(program, database):
    with Server(program, database) as server:
        for path in ("/overlap.csv", "/tables/brittle.csv", *PAGES[:1]):
            _, headers, plain = get_whole(server, path)
            assert "content-encoding" not in headers
            for accepted in ("gzip", "br;q=1.0, gzip;q=0.5", "deflate, GZIP"):
                _, headers, body = get_whole(server, path, {"Accept-Encoding": accepted})
                assert headers["content-encoding"] == "gzip", (path, accepted)
                assert gzip.decompress(body) == plain, (path, accepted)
            for refused in ("br", "gzip;q=0", "identity"):
                _, headers, body = get_whole(server, path, {"Accept-Encoding": refused})
                assert "content-encoding" not in headers
                assert body == plain, (path, refused)


def head_and_etags(program, database):
    with Server(program, database) as server:
        for path in ("/overlap.csv", "/tables/brittle.csv", *PAGES, "/queries.csv",
                     "/nothing.csv"):
            status, headers, body = get_whole(server, path)
            head_status, head, nothing = server.get(path, method="HEAD")
            assert (head_status, nothing) == (status, b"")
            changing = {"keep-alive", "connection"}
            assert {k: v for k, v in head.items() if k not in changing} == \
                {k: v for k, v in headers.items() if k not in changing}, path
        for path in ("/overlap.csv", "/tables/brittle.csv", *PAGES):
            etag = get_whole(server, path)[1]["etag"]
            for known in (etag, f'"x", W/{etag}', "*"):
                status, headers, body = server.get(path, {"If-None-Match": known})
                assert (status, body, headers["etag"]) == (304, b"", etag), (path, known)
            assert server.get(path, {"If-None-Match": '"other"'})[0] == 200
            assert get_whole(server, path + "?header=0")[1]["etag"] != etag
            assert get_whole(server, path, {"Accept-Encoding": "gzip"})[1]["etag"] != etag


def errors_say_why_in_plain_text(program, database):
    with Server(program, database) as server:
        for path, want in (("/nothing.csv", 404), ("/tables/nothing.csv", 404), ("/x/y", 404),
                           ("/overlap.sql.csv", 404), ("/overlap.csv?rank=x", 400),
                           ("/overlap.csv?nothing=1", 400), ("/overlap.csv?rank=1&rank=2", 400)):
            status, headers, body = server.get(path)
            assert status == want, (path, status)
            assert headers["content-type"] == "text/plain; charset=utf-8" and len(body) > 10, path
            assert headers["cache-control"] == "no-store"
        for path, near in (("/overlp.csv", "/overlap.csv"), ("/overlap", "/overlap.csv"),
                           ("/overlp.json", "/overlap.json"),
                           ("/tables/kernel.csv", "/tables/kernels.csv"),
                           ("/overlap.csv?rnk=1", "rank"), ("/reprt", "/report"),
                           ("/overlap.xlsx", "/overlap.csv"), ("/querys.csv", "/queries.csv"),
                           ("/overlap.csv?frmat=json", "did you mean format?"),
                           ("/tables/kernels.csv?frmat=json", "did you mean format?"),
                           ("/report?rnk=1", "did you mean rank"),
                           ("/cut.json.gz?form=1&to=2", "did you mean from?"),
                           ("/tables/kernels.csv?order=dur_n", "dur_ns"),
                           ("/overlap.csv?capture=1,2", "not a list")):
            assert near in server.get(path)[2].decode(), (path, server.get(path)[2])
        assert b"_trace" not in server.get("/tables/_trac.csv")[2], "what is not public"
        assert b"rank int (id)" in server.get("/overlap.csv?nothing=1")[2], "what there is"
        assert server.get("/healthz")[::2] == (200, b"ok\n")


def endings_are_formats(program, database):
    with Server(program, database) as server:
        for name in ("overlap", "tables/kernels", "queries"):
            for ending in ("csv", "tsv", "json", "ndjson"):
                status, headers, body = get_whole(server, f"/{name}.{ending}")
                _, asked, same = get_whole(server, f"/{name}.csv?format={ending}")
                assert (status, body) == (200, same), (name, ending)
                assert headers["content-type"] == asked["content-type"], (name, ending)
        assert json.loads(server.text("/overlap.json")), "rows"
        ranks = {row["rank"] for row in json.loads(server.text("/overlap.json"))}
        chosen = f"/overlap.json?rank={min(ranks)},{max(ranks)}..{max(ranks)}"
        assert {row["rank"] for row in json.loads(server.text(chosen))} == {min(ranks), max(ranks)}


def the_list_has_every_query(program, database):
    with Server(program, database) as server:
        rows = rows_of(server.text("/queries.csv"))
        assert rows[0] == ["query", "title", "parameters", "path"]
        names = [row[0] for row in rows[1:]]
        assert "overlap" in names and "doctor/event_cap" in names
        for row in rows[1:]:
            assert server.get(row[3], method="HEAD")[0] == 200, row
        listed = subprocess.run([program, "query", "--format", "csv", "--no-header"], check=True,
                                capture_output=True, text=True).stdout
        assert [n for n in names if "/" not in n] == [row[0] for row in rows_of(listed)]


def the_page_has_everything(program, database):
    with Server(program, database) as server:
        page = server.text("/")
        assert "/tables/kernels.csv" in page and "/tables/_" not in page
        for link in re.findall(r'class="csv" href="([^"]+)"', page):
            assert server.get(link, method="HEAD")[0] == 200, link
        for text in ("overlap", "=IMPORTDATA(", "Csv.Document(Web.Contents(", "External Links",
                     'name="rank"', "trace.db", "rel=\"icon\" href=\"data:,\""):
            assert text in page, text
        assert not re.search(r'(src|href)="(https?:)?//', page), "no external assets"
        shown = server.text("/?show=overlap&rank=0")
        assert '<input name="rank" value="0"' in shown
        assert f"http://127.0.0.1:{server.port}/overlap.csv?rank=0" in shown
        assert "is no integer" in server.text("/?show=overlap&rank=x")
        assert "<td class=\"n\">3</td>" in server.text("/?show=tables/thousand&limit=3")
        assert "&gt; 1048576" not in page and "> 1048576" not in page.replace("&gt;", "")


def sql_is_answered_and_only_reads(program, database):
    with Server(program, database) as server:
        sql = "SELECT kind, count(*) AS n FROM kernels GROUP BY kind -- each once"
        asked = urllib.parse.quote(sql)
        want = subprocess.run([program, "--db", database, "query", "-c", sql, "--format", "csv"],
                              check=True, capture_output=True, text=True).stdout
        assert rows_of(server.text(f"/sql.csv?sql={asked}")) == rows_of(want)
        assert json.loads(server.text(f"/sql.json?sql={asked}"))
        page = server.text(f"/?sql={asked}")
        assert "<td>compute</td>" in page and 'class="chart"' in page
        assert f"/sql.csv?sql={asked.replace('%2A', '*')}"[:20] in page
        link = re.search(r'class="csv" href="(/sql.csv[^"]+)"', page)[1].replace("&amp;", "&")
        assert rows_of(server.text(link)) == rows_of(want), link
        for bad, why in (("", "no SQL"), ("DELETE FROM kernels", "only reads"),
                         ("ATTACH 'x.db' AS x", "only reads"), ("SELECT nam FROM kernels", "name"),
                         ("SELECT load_extension('x')", "not authorized"),
                         ("PRAGMA user_version = 3", "only reads"),
                         ("SELECT abs(-9223372036854775807 - 1)", "overflow"),
                         ("SELECT hex(zeroblob(100000000))", "too big")):
            status, _, body = server.get("/sql.csv?sql=" + urllib.parse.quote(bad))
            assert status == 400 and why in body.decode(), (bad, status, body)
            assert bad == "" or why in server.text("/?sql=" + urllib.parse.quote(bad)), bad


def the_page_is_folded_and_searched(program, database):
    with Server(program, database) as server:
        page = server.text("/")
        groups = re.findall('<h3 class="about">([^<]+)</h3>', page)
        assert groups[0] == "what to do" and "others" not in groups and len(groups) > 8
        assert page.count('<details class="query">') > 50
        assert '<details class="query" open>' not in page
        shown = server.text("/?show=overlap")
        assert shown.count('<details class="query" open>') == 1 and 'class="chart"' in shown
        found = server.text("/?find=exposed+step")
        names = re.findall('<details class="query"><summary>[^<]+<small>([^<]+)', found)
        assert "overlap_by_step" in names and "memcpy_summary" not in names, names
        assert "No query has these words" in server.text("/?find=zzzz")
        assert "<dt>dur_ns</dt><dd>" in page, "what a table's columns mean"


def the_report_is_that_of_the_program(program, database):
    written = subprocess.run([program, "--db", database, "report", "-o", "-"], check=True,
                             capture_output=True).stdout.decode("utf-8")
    # But for one thing: it may ask its server for more of the timeline, and nobody else.
    written = written.replace("form-action 'none'\"", "form-action 'none'; connect-src 'self'\"")
    written = written.replace('"served":false', '"served":true', 1)
    with Server(program, database) as server:
        status, headers, body = server.get("/report")
        assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
        assert body.decode("utf-8") == written
        policy = re.search('http-equiv="Content-Security-Policy" content="([^"]+)"', written)[1]
        assert headers["content-security-policy"] == policy + "; frame-ancestors 'none'"
        assert server.text("/report", headers={"Accept-Encoding": "gzip"}) == written
        before = server.cpu_seconds()
        for _ in range(20):
            assert server.get("/report")[2] == body, "the kept one"
        assert server.get("/report", {"If-None-Match": headers["etag"]})[0] == 304
        assert server.cpu_seconds() - before < 1 or not BOUNDS_HOLD
        assert server.get("/report?rank=x")[0] == server.get("/report?step=99999")[0] == 400
        assert server.get("/report?theme=blue")[0] == 400
        assert '<html lang="en" data-theme="dark">' in server.text("/report?theme=dark")
        assert 'href="/report"' in server.text("/")


def http_of_old_and_many_requests_on_one_connection(program, database):
    with Server(program, database) as server:
        old = server.raw(b"GET /tables/brittle.csv HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert b"chunked" not in old.lower() and old.count(b"\r\n") > 100_000
        two = server.raw(server.request_bytes("/healthz") +
                         server.request_bytes("/healthz", "Connection: close"))
        assert two.count(b"HTTP/1.1 200") == 2


def curl_reads_it(program, database):
    if shutil.which("curl") is None:
        print("     (there is no curl here)")
        return
    with Server(program, database, "--token", "secret") as server:
        def curl(*options):
            return subprocess.run(["curl", "-sS", "--max-time", "60", *options],
                                  capture_output=True, text=True, check=False)
        url = server.url + "tables/brittle.csv"
        assert curl(url).stdout.startswith("the token")
        assert curl("-f", url).returncode == 22
        plain = curl("-u", "me:secret", url)
        assert plain.returncode == 0 and plain.stdout.count("\n") == 100_001
        assert curl("--compressed", "-u", ":secret", url).stdout == plain.stdout
        assert curl("--http1.0", url + "?token=secret").stdout == plain.stdout


CHECKS = [csv_is_that_of_the_program, tables_have_limit_offset_and_order, forms_of_an_answer,
          gzip_only_when_asked_for, head_and_etags, errors_say_why_in_plain_text,
          endings_are_formats, the_list_has_every_query, the_page_has_everything,
          the_report_is_that_of_the_program,
          http_of_old_and_many_requests_on_one_connection, curl_reads_it]
