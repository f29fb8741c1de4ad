"""/metrics: Prometheus's text format, read here by its grammar."""
import base64
import json
import os
import re
import subprocess
import tempfile

from serve_server import Server, ingest

ODD_RUN = 'odd "run" \\ of\nüber'
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)')
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def read(text):
    """Samples as (metric, labels, value), and (help, type) of each metric; what breaks the format
    is an error."""
    samples, about, done = [], {}, set()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            _, _, name, shown = line.split(" ", 3)
            assert name not in about, f"{name} comes twice"
            about[name] = [shown, None]
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert about[name][1] is None and kind == "gauge", line
            about[name][1] = kind
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        name, text_of_labels, value = match.groups()
        labels, at = {}, 0
        while at < len(text_of_labels or ""):
            label = LABEL.match(text_of_labels, at)
            assert label and label.group(1) not in labels, line
            labels[label.group(1)] = re.sub(r'\\[\\"n]', lambda m: ESCAPED[m.group()],
                                            label.group(2))
            at = label.end()
        assert list(about)[-1] == name and about[name][1], f"{name} is not with its type"
        key = (name, tuple(sorted(labels.items())))
        assert key not in done, f"{line} comes twice"
        done.add(key)
        samples.append((name, labels, float(value)))
    return samples, about


def figures_are_those_of_the_query(program, _database):
    fixture = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "seqpar")
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "job.db")
        ingest(program, database, fixture, "--run", ODD_RUN)
        rows = json.loads(subprocess.run(
            [program, "--db", database, "query", "metrics", "--format", "json"], check=True,
            capture_output=True, text=True).stdout)
        with Server(program, database) as server:
            status, headers, body = server.get("/metrics")
            again = server.get("/metrics", headers={"If-None-Match": headers["etag"]})
            packed = server.text("/metrics", headers={"Accept-Encoding": "gzip"})
    assert status == 200 and again[0] == 304 and packed == body.decode()
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8", headers
    samples, about = read(body.decode())
    assert samples[0][0] == "tracedb_build_info" and samples[0][2] == 1, samples[0]
    want = [(row["metric"], {name: str(row[name]) for name in ("run", "rank", "device", "kind")
                             if row[name] is not None}, float(row["value"])) for row in rows]
    assert samples[1:] == want, (samples[1:3], want[:2])
    assert {row["metric"]: row["help"] for row in rows} == {
        name: shown for name, (shown, _) in about.items() if name != "tracedb_build_info"}
    assert {labels["run"] for _, labels, _ in samples[1:]} == {ODD_RUN}
    names = {name for name, _, _ in samples}
    assert {"tracedb_step_seconds", "tracedb_exposed_communication_seconds",
            "tracedb_caused_wait_seconds", "tracedb_events"} <= names, names


def a_database_without_runs_has_no_figures(program, _database):
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "job.db")
        log = os.path.join(folder, "trace.json")
        with open(log, "w", encoding="ascii") as file:
            file.write('{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1}]}')
        ingest(program, database, log)
        with Server(program, database) as server:
            samples, _ = read(server.text("/metrics"))
    assert not [name for name, _, _ in samples if "step" in name or "wait" in name], samples


def who_has_no_token_gets_none(program, database):
    with Server(program, database, "--token", "secret") as server:
        assert server.get("/metrics")[0] == 401
        for name, status in (("secret", 200), ("wrong", 401)):
            word = base64.b64encode(f":{name}".encode()).decode()
            got = server.get("/metrics", headers={"Authorization": f"Basic {word}"})
            assert got[0] == status, (name, got)
        assert server.get("/metrics?token=secret")[0] == 200
        assert server.get("/metrics", headers={"Host": "evil.example"})[0] in (400, 403, 421)


CHECKS = [figures_are_those_of_the_query, a_database_without_runs_has_no_figures,
          who_has_no_token_gets_none]
