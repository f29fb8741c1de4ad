"""What the page of a report shows, held against `tracedb query` and `tracedb doctor`."""
import itertools
import json
import math
import re
import subprocess

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)
TEXT_BYTES_MAX = 600
TABLE_ROWS_MAX = 300


def page_data(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(DATA.search(file.read())[1])


def rows_of(result):
    """A result of the page as a list of {column: value}."""
    columns = {}
    for column in result["columns"]:
        values = column["values"]
        if "texts" in column:
            values = [None if place is None else column["texts"][place] for place in values]
        if column.get("delta"):
            values = list(itertools.accumulate(values))
        assert len(values) == result["rows"], column["name"]
        columns[column["name"]] = values
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def same_value(shown, true):
    if isinstance(true, str):
        whole = len(true.encode()) <= TEXT_BYTES_MAX or true.startswith("[")
        return shown == true if whole else shown.endswith("…") and true.startswith(shown[:-1])
    if isinstance(shown, str):  # a number in a column of texts
        return shown == str(true)
    return shown == true


def data_is_that_of_the_queries(setting, path, database):
    data = page_data(path)
    assert len(data["results"]) >= 15
    for name, written in data["results"].items():
        params = [word for param in written["params"].split() for word in ("-p", param)]
        true = json.loads(setting.run("-q", "--db", database, "query", name, *params, "--format",
                                      "json"))
        shown = rows_of(written["result"])
        if name == "time_partition":
            sums_are_those_of_the_steps(shown, true)
            continue
        assert written["result"]["rows_found"] == len(true), name
        assert len(shown) == len(true) or len(shown) >= 10, (name, len(shown), len(true))
        for row, (one, other) in enumerate(zip(shown, true)):
            assert list(one) == list(other), name
            for column, value in other.items():
                assert same_value(one[column], value), (name, row, column, one[column], value)


def sums_are_those_of_the_steps(shown, steps):
    of = {}
    for row in steps:
        sums = of.setdefault((row["rank"], str(row["device"])), dict.fromkeys(row, 0.0))
        for column, value in row.items():
            if column.endswith("_ms") and column != "start_ms":
                sums[column] += value
    assert len(shown) == len(of) > 0
    for row in shown:
        for column, value in of[row["rank"], str(row["device"])].items():
            if column.endswith("_ms") and column != "start_ms":
                assert math.isclose(row[column], value, rel_tol=1e-9, abs_tol=1e-9), (row, column)


def bytes_text(value):
    units = ["B", "kB", "MB", "GB", "TB"]
    place = 0
    while abs(value) >= 1000 and place < len(units) - 1:
        value, place = value / 1000, place + 1
    return f"{value:,.1f} {units[place]}" if place else f"{value:,.0f} B"


def cell_text(value, column):
    """As the page's tables have it."""
    if value is None:
        return "–"
    if isinstance(value, str) or column["unit"] == "id":
        return str(value)
    if column["unit"] == "bytes":
        return bytes_text(value)
    if column["unit"] == "pct":
        return f"{value:,.2f}"
    return f"{value:,.3f}" if column["type"] == "real" else f"{value:,.0f}"


def same_text(shown, wanted):
    """Rounding of halves may differ in the last digit."""
    if shown.replace("-0", "0") == wanted.replace("-0", "0"):
        return True
    if shown.split(" ")[1:] == wanted.split(" ")[1:] != []:
        shown, wanted = shown.split(" ")[0], wanted.split(" ")[0]
    try:
        return math.isclose(float(shown.replace(",", "")), float(wanted.replace(",", "")),
                            abs_tol=0.11 if "." in wanted[-2:] else 0.011)
    except ValueError:
        return False


def tables_show_the_data(page, path):
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.settle()
    tables = page.evaluate("""Object.fromEntries([...document.querySelectorAll("main > section")]
      .filter((s) => s.querySelector("details.table table"))
      .map((s) => [s.id, [...s.querySelector("details.table tbody").rows]
        .map((row) => [...row.cells].map((cell) => cell.textContent))]))""")
    data = page_data(path)
    seen = 0
    for section in data["sections"]:
        if section["id"] in ("headline", "timeline"):
            continue
        result = data["results"][section["query"]]["result"]
        rows = rows_of(result)[:TABLE_ROWS_MAX]
        if not rows:
            continue
        # The page is of one run: what all rows agree in is said at its top.
        columns = [column for column in result["columns"]
                   if column["name"] not in ("run", "capture")
                   or len({row[column["name"]] for row in rows_of(result)}) > 1]
        rows = [[row[column["name"]] for column in columns] for row in rows]
        shown = tables[section["id"]]
        assert len(shown) == len(rows), section["id"]
        for got, wanted in zip(shown, rows):
            assert len(got) == len(wanted), (section["id"], got, wanted)
            for text, value, column in zip(got, wanted, columns):
                wanted_text = cell_text(value, column)
                assert same_text(text, wanted_text), (section["id"], column, text, wanted_text)
                seen += 1
    assert seen > 1000, seen


def headline_shows_the_data(page, path):
    tiles = dict(page.evaluate("[...document.querySelectorAll('.tiles li')].map((e) => "
                               "[e.dataset.figure, e.textContent])"))
    rows = {row["figure"]: row for row in rows_of(page_data(path)["results"]["report/headline"]
                                                  ["result"])}
    assert set(tiles) == set(rows) == {"compute", "exposed_comm", "idle", "straggler", "step"}
    for figure, row in rows.items():
        assert f"tracedb query {row['query']}" in tiles[figure], tiles[figure]
        assert f"{row['share_pct']:.1f} %" in tiles[figure], (tiles[figure], row)
    assert tiles["straggler"].startswith("rank 5"), tiles["straggler"]
    assert f"{rows['straggler']['total_ms']:.2f} ms" in tiles["straggler"]
    assert tiles["step"].startswith(f"{rows['step']['total_ms']:.2f} ms"), tiles["step"]


def advice_is_that_of_the_query(page, path):
    rows = rows_of(page_data(path)["results"]["recommendations"]["result"])
    shown = page.evaluate("[...document.querySelectorAll('#recommendations ol > li')]"
                          ".map((e) => e.textContent)")
    assert len(shown) == len(rows) > 1
    for text, row in zip(shown, rows):
        assert text.startswith(row["problem"]), text
        assert row["evidence"][1:] in text and f"To do: {row['advice']}." in text, (text, row)
        assert f"{row['gain_pct']:.1f} %" in text, (text, row)


def advice_has_commands_that_work(setting, page, path, database):
    """Those of a shell: what the page says to type gives the row's gain, and a file."""
    rows = rows_of(page_data(path)["results"]["recommendations"]["result"])
    shown = page.evaluate("""[...document.querySelectorAll('#recommendations ol > li')]
      .map((e) => [...e.querySelectorAll('.command code')].map((code) => code.textContent))""")
    assert len(shown) == len(rows) and all(len(commands) == 2 for commands in shown), shown

    def typed(command):
        # What cuts names the database; what replays is of the page's, which its reader knows.
        where = "" if " --db " in command else f" --db '{database}'"
        words = {"tracedb": f"'{setting.program}' -q{where}", "cut.json.gz": "-"}
        for word, other in words.items():
            command = command.replace(word, other, 1)
        return json.loads(subprocess.run(["sh", "-c", command], check=True, text=True,
                                         stdout=subprocess.PIPE).stdout)

    for (what_if, see), row in zip(shown, rows):
        assert see == row["see"], (see, row)
        steps = typed(what_if + " --format json")
        alone = sum(step["gain_ms"] for step in steps) / len(steps)
        is_hidden = "; alone it gains " in row["evidence"]
        assert is_hidden or alone >= row["gain_ms"] - 1e-9, (alone, row)
        if row["number"] == 1:
            assert math.isclose(alone, row["together_ms"]), (alone, row)
    tracks = [event for event in typed(shown[0][1])["traceEvents"]
              if event.get("cat") == "critical_path"]
    assert len(tracks) > 100, len(tracks)
    page.evaluate("document.querySelector('#recommendations .command button').click()")
    assert page.evaluate("String(getSelection())") == shown[0][0]


def path_is_that_of_the_query(page, path):
    """A bar for each step, as long as the step, its parts as long as their rows."""
    drawn = page.evaluate("""[...document.querySelectorAll("#path svg.plot > rect")]
      .map((e) => [Number(e.getAttribute("y")), Number(e.getAttribute("width"))])""")
    rows = rows_of(page_data(path)["results"]["critical_path_by"]["result"])
    lines = sorted({y for y, _ in drawn})
    steps = sorted({row["step"] for row in rows})
    assert len(lines) == len(steps) == 2
    lengths = [100 * row["dur_ms"] / row["share_pct"] for row in
               (next(row for row in rows if row["step"] == step) for step in steps)]
    scale = sum(width for _, width in drawn) / sum(lengths)
    for line, step, length in zip(lines, steps, lengths):
        widths = sorted(width for y, width in drawn if y == line)
        values = [row["dur_ms"] for row in rows if row["step"] == step]
        values = sorted(values + [length - sum(values)])
        assert len(widths) == len(values) == 9
        for width, value in zip(widths, values):
            assert math.isclose(width, value * scale, rel_tol=1e-6, abs_tol=1e-3), (step, value)
    names = page.evaluate("[...document.querySelectorAll('#path .part-name')]"
                          ".map((e) => e.textContent)")
    assert names[0] == "rank 5: injected_straggler_sleep", names


SERIES = {"fill-compute": "compute_ms", "fill-comm": "exposed_comm_ms",
          "fill-memory": "exposed_memory_ms", "fill-idle": "idle_ms"}


def bars_are_as_long_as_their_numbers(page, path):
    """Where time_partition is there as well, its sums; else overlap's columns."""
    drawn = page.evaluate("""[...document.querySelectorAll("#partition svg.plot > rect")]
      .map((e) => [e.getAttribute("class"), Number(e.getAttribute("y")),
                   Number(e.getAttribute("x")), Number(e.getAttribute("width"))])""")
    overlap = rows_of(page_data(path)["results"]["overlap"]["result"])
    lines = sorted({y for _, y, _, _ in drawn})
    assert len(lines) == len(overlap)
    most = max(row["span_ms"] for row in overlap)
    ends = [max(x + width for _, y, x, width in drawn if y == line) for line in lines]
    begin = min(x for _, _, x, _ in drawn)
    scale = (max(ends) - begin) / most
    for line, row, end in zip(lines, overlap, ends):
        assert math.isclose(end - begin, row["span_ms"] * scale, rel_tol=1e-6, abs_tol=1e-3), row
        for class_name, column in SERIES.items():
            width = sum(w for name, y, _, w in drawn if y == line and name.startswith(class_name))
            wanted = row[column] * scale
            assert math.isclose(width, wanted, rel_tol=1e-6, abs_tol=1e-3), (row, column)


def matrix_cells_say_their_numbers(page, path):
    rows = rows_of(page_data(path)["results"]["report/root_waits"]["result"])
    cells = page.evaluate("document.querySelectorAll('#stalls rect.heat').length")
    assert cells == len(rows) > 10
    page.evaluate("document.querySelector('#stalls svg.plot').focus()")
    page.press("ArrowRight")
    said = page.evaluate("document.querySelector('#stalls [role=status]').textContent")
    first = rows[0]
    assert said.startswith(f"rank {first['waiting_rank']} waited for rank {first['root_rank']}; "
                           f"{first['wait_ms']:.2f} ms in {first['collectives']} collectives"), said


def checks_are_those_of_doctor(setting, page, database):
    report = json.loads(setting.run("doctor", database, "--format", "json"))
    shown = page.evaluate("[...document.querySelectorAll('.check h3')].map((e) => e.textContent)")
    wanted = [f"finding: {one['title']}" for one in report["findings"]]
    wanted += [f"note: {one['title']}" for one in report["notes"]]
    assert shown == wanted, (shown, wanted)
    verdict = page.evaluate("document.querySelector('.verdict').textContent")
    clean = len(report["checks"]) - len(wanted)
    assert f"{clean} of {len(report['checks'])} checks clean" in verdict, verdict


# --- Colours. ----------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXTS = {"ink": 7, "soft": 4.5, "link": 4.5, "warn": 4.5, "bad": 4.5}
MARKS = ["compute", "comm", "comm-2", "comm-4", "comm-5", "memory", "idle", "idle-2", "idle-4",
         "heat"] + [f"c{i}" for i in range(8)]


def colours_are_apart(page, dark):
    """As WCAG counts contrast: 4.5 and more for text, 2.9 and more for what charts draw."""
    def colour(name):
        return page.evaluate(f"getComputedStyle(document.documentElement)"
                             f".getPropertyValue('--{name}').trim()")

    card, back = colour("card"), colour("back")
    assert (luminance(card) < 0.1) == dark
    for name, least in TEXTS.items():
        for ground in (card, back):
            assert contrast(colour(name), ground) >= least, (name, dark)
    for name in MARKS:
        assert contrast(colour(name), card) >= 2.9, (name, dark, contrast(colour(name), card))


# --- Sections with rows made up. ---------------------------------------------------------------

EXPOSED = ("tensor", "pipeline", "data", "expert", "other", "memory")
IDLE = ("host", "sync", "dependency", "other")


def made_result(types, rows):
    columns = []
    for i, (name, kind) in enumerate(types.items()):
        values = [row[i] for row in rows]
        column = {"name": name, "type": kind, "unit": "", "about": f"What {name} is."}
        if kind == "text":
            column["texts"] = sorted({value for value in values if value is not None})
            values = [None if v is None else column["texts"].index(v) for v in values]
        columns.append({**column, "values": values})
    return {"params": "", "meaning": "Made up.", "empty": "Nothing.",
            "result": {"rows": len(rows), "rows_found": len(rows), "columns": columns}}


def more_results():
    parts = [f"exposed_{what}_ms" for what in EXPOSED] + [f"idle_{what}_ms" for what in IDLE]
    types = {"rank": "int", "device": "text", "step": "int", "start_ms": "real", "span_ms": "real",
             "compute_ms": "real", **dict.fromkeys(parts, "real")}
    rows = [[rank, str(rank), step, 0.0, 65.0, 10.0, *range(1, 11)]
            for rank in range(4) for step in (None, 3, 4)]
    modules = {"kind": "text", "name": "text", "calls": "int", "gpu_ms": "real",
               "backward_gpu_ms": "real", "share_pct": "real", "self_gpu_ms": "real",
               "self_backward_gpu_ms": "real", "host_ms": "real", "self_host_ms": "real",
               "ranks": "int"}
    called = [["module", f"Layer.{i}<b>", 10 + i, 50.0 - i, 30.0 - i, 5.0, 1.0, 1.0, 9.0, 2.0, 8]
              for i in range(6)] + [["function", "train", 1, 99.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 8]]
    advice = {"number": "int", "problem": "text", "rank": "int", "step": "int", "evidence": "text",
              "advice": "text", "gain_ms": "real", "gain_pct": "real"}
    told = [[1, "Rank 5 sleeps", 5, 3, "40 ms in <script>", "wake it up", 40.5, 24.26],
            [2, "No overlap", None, None, "0.6 % is hidden", "Use another stream.", None, None]]
    return {"time_partition": made_result(types, rows), "module_time": made_result(modules, called),
            "recommendations": made_result(advice, told)}


def write_with_more_sections(path, made):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    data = json.loads(DATA.search(text)[1])
    data["results"].update(more_results())
    sections = [one for one in data["sections"] if one["id"] not in
                ("partition", "modules", "recommendations")]
    for name, query, chart in (("recommendations", "recommendations", "advice"),
                               ("partition", "time_partition", "partition"),
                               ("modules", "module_time", "top_modules")):
        sections.insert(1, {"id": name, "query": query, "title": f"The {name}", "chart": chart,
                            "about": "", "thinned": ""})
    data["sections"] = sections
    begin, end = DATA.search(text).span(1)
    with open(made, "w", encoding="utf-8") as file:
        file.write(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[end:])


def more_sections_show_their_rows(page):
    lines = page.evaluate("[...document.querySelectorAll('#partition .row-name')]"
                          ".map((e) => e.textContent)")
    assert lines == [f"rank {i}" for i in range(4)], lines
    assert page.evaluate("document.querySelector('[data-chart=partition]').dataset.marks") == "44"
    assert page.evaluate("document.querySelectorAll('#partition .legend li').length") == 11
    page.evaluate("document.querySelector('#partition svg.plot').focus()")
    page.press("ArrowRight")
    said = page.evaluate("document.querySelector('#partition [role=status]').textContent")
    assert said == "rank 0; computing: 30.00 ms; 15.4 % of its time", said
    modules = page.evaluate("[...document.querySelectorAll('#modules .row-name')]"
                            ".map((e) => e.textContent)")
    assert "Layer.0<b>" in modules and "train" not in modules, modules
    advice = page.evaluate("document.querySelector('#recommendations ol').innerText")
    assert "Rank 5 sleeps (rank 5, step 3)" in advice and "40 ms in <script>" in advice, advice
    assert "To gain: up to 40.50 ms of a step (24.3 %)." in advice, advice
    assert "null" not in advice and "–" not in advice, advice
