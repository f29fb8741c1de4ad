#!/usr/bin/env python3
"""The page of `tracedb report` in a headless Chromium: drawn, right, operable, readable and small.

    report_page_test.py --program P [--screenshots DIR] [--filter TEXT]

One line a check; pictures of the pages go to DIR. Exit 0: all passed; 1: some failed.
"""
import argparse
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
import host_pages  # noqa: E402
import overview_checks  # noqa: E402
import page_checks  # noqa: E402
import ranks_checks  # noqa: E402
import spread_checks  # noqa: E402
import summaries_checks  # noqa: E402
import timeline_checks  # noqa: E402
from browser import Browser  # noqa: E402
from serve_server import HOSTILE_NAMES, Server, make_database  # noqa: E402

FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
MAKE_RANKS = os.path.join(HERE, "..", "oracle", "make_ranks.py")
BYTES_MAX = 5_000_000
CHARTS = {"overview", "path", "partition", "overlap", "stalls", "stall_ranks", "heat", "timeline",
          "steps", "kernels", "roofline", "flame", "bandwidth", "memory", "memory_at_peak"}


class Setting:
    def __init__(self, options, folder, browser):
        self.program = os.path.abspath(options.program)
        self.folder, self.browser = folder, browser
        self.pictures = os.path.abspath(options.screenshots)
        os.makedirs(self.pictures, exist_ok=True)
        self.made = {}

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], check=True, capture_output=True,
                              text=True, encoding="utf-8").stdout

    def database(self, name, *inputs):
        """The database of these traces, made once."""
        path = os.path.join(self.folder, name + ".db")
        if not os.path.exists(path):
            self.run("-q", "--db", path, "ingest", *inputs)
        return path

    def report(self, database):
        """The path of its report, made once."""
        path = os.path.splitext(database)[0] + ".html"
        if not os.path.exists(path):
            self.run("-q", "--db", database, "report", "-o", path)
        return path

    def megatron(self):
        return self.database("megatron", os.path.join(FIXTURES, "megatron"))

    def open(self, path, **more):
        page = self.browser.open("file://" + path, **more)
        page.wait("document.documentElement.dataset.ready === '1'")
        page.settle()
        return page

    def picture(self, page, name):
        page.screenshot(os.path.join(self.pictures, name + ".png"))


def figures_of(page):
    """{chart: [marks, marks that are seen, width, height]}"""
    return page.evaluate("""Object.fromEntries([...document.querySelectorAll("figure")].map((f) => {
      const svg = f.querySelector("svg.plot");
      if (!svg) {
        const box = f.querySelector("canvas").getBoundingClientRect();
        const marks = Number(f.dataset.marks);
        return [f.dataset.chart, [marks, marks, box.width, box.height]];
      }
      const seen = [...svg.querySelectorAll("path, rect, circle")].filter((mark) => {
        const box = mark.getBBox();
        return box.width > 0 || box.height > 0;
      });
      const box = svg.getBoundingClientRect();
      return [f.dataset.chart, [Number(f.dataset.marks), seen.length, box.width, box.height]];
    }))""")


def all_is_drawn(page, charts):
    figures = figures_of(page)
    assert set(figures) == charts, sorted(figures)
    for chart, (marks, seen, width, height) in figures.items():
        assert marks > 0 and seen > 2 and width > 300 and height > 60, (chart, figures[chart])
    assert page.troubles() == [], page.troubles()


def every_chart_is_drawn_and_nothing_complains(setting):
    page = setting.open(setting.report(setting.megatron()))
    all_is_drawn(page, CHARTS)
    setting.picture(page, "megatron")
    page.close()


def numbers_are_those_of_the_queries(setting):
    database = setting.megatron()
    path = setting.report(database)
    page = setting.open(path)
    page_checks.data_is_that_of_the_queries(setting, path, database)
    page_checks.tables_show_the_data(page, path)
    page_checks.headline_shows_the_data(page, path)
    page_checks.advice_is_that_of_the_query(page, path)
    page_checks.advice_has_commands_that_work(setting, page, path, database)
    page_checks.path_is_that_of_the_query(page, path)
    overview_checks.verdict_names_who_is_at_fault(page)
    overview_checks.overview_is_that_of_the_queries(page, path)
    page_checks.bars_are_as_long_as_their_numbers(page, path)
    page_checks.matrix_cells_say_their_numbers(page, path)
    page_checks.checks_are_those_of_doctor(setting, page, database)
    page.close()


def charts_are_reached_by_keyboard_and_have_words(setting):
    page = setting.open(setting.report(setting.megatron()))
    for chart in sorted(CHARTS):
        at = f"document.querySelector('[data-chart={chart}]')"
        plot = f"{at}.querySelector('svg.plot, canvas')"
        assert page.evaluate(f"{plot}.tabIndex") == 0
        assert len(page.evaluate(f"{plot}.getAttribute('aria-label')")) > 20
        assert page.evaluate(f"{at}.querySelector('figcaption').textContent.length") > 20
        assert page.evaluate(f"{at}.closest('section').querySelector('details.table') !== null")
        page.evaluate(f"{plot}.focus()")
        page.press("ArrowDown" if chart == "timeline" else "ArrowRight")
        shown = ".slice-details" if chart == "timeline" else ".tip"
        assert page.evaluate(f"{at}.querySelector('{shown}').hidden") is False, chart
        assert len(page.evaluate(f"{at}.querySelector('[role=status]').textContent")) > 10, chart
    unnamed = page.evaluate("""[...document.querySelectorAll("button, select, a, summary")]
      .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label"))).length""")
    assert unnamed == 0
    headings = page.evaluate("[...document.querySelectorAll('h1,h2,h3')].map((e) => e.tagName)")
    assert headings[0] == "H1" and headings.count("H1") == 1
    page.close()


def a_pointer_gets_what_it_points_at(setting):
    path = setting.report(setting.megatron())
    page = setting.open(path)
    page.evaluate("document.querySelector('#partition svg').scrollIntoView({block: 'center', "
                  "behavior: 'instant'})")
    box = page.evaluate("""(() => { const box = document.querySelector(
      "#partition svg.plot rect.fill-comm").getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2]; })()""")
    page.move_pointer(*box)
    page.settle()
    told = page.evaluate("document.querySelector('#partition .tip').textContent")
    first = page_checks.rows_of(page_checks.page_data(path)["results"]["time_partition"]
                                ["result"])[0]
    wanted = f"rank 0exposed: tensor parallel: {first['exposed_tensor_ms']:.2f} ms"
    assert first["exposed_tensor_ms"] > 1 and told.startswith(wanted), (told, wanted)
    page.close()


def dark_narrow_and_printed(setting):
    path = setting.report(setting.megatron())
    for name, dark in (("light", False), ("dark", True)):
        page = setting.open(path, dark=dark)
        page_checks.colours_are_apart(page, dark)
        if dark:
            setting.picture(page, "megatron-dark")
        page.close()
    page = setting.open(path, width=400, height=800)
    page.settle()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 400
    assert page.evaluate("Math.max(...[...document.querySelectorAll('svg.plot, canvas')]"
                         ".map((e) => e.getBoundingClientRect().right))") <= 400
    setting.picture(page, "megatron-narrow")
    page.close()
    page = setting.open(path, width=800, media="print", dark=True)
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page_checks.colours_are_apart(page, False)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 800
    setting.picture(page, "megatron-print")
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3
    with open(os.path.join(setting.pictures, "megatron.pdf"), "wb") as file:
        file.write(pdf)
    assert page.troubles() == []
    page.close()


HARM = ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(2)>",
        "]]></style><svg onload=alert(3)>", "javascript:alert(4)", "\u2028\u2029", "${alert(5)}"]


def hostile_names_stay_names(setting):
    names = HARM + HOSTILE_NAMES
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1000 + 10 * i,
               "dur": 2 + i, "args": {"device": name, "stream": name}}
              for i, name in enumerate(names)]
    trace = os.path.join(setting.folder, "<b>&\"'x</title><script>alert(6)<", "rank0.json")
    os.makedirs(os.path.dirname(trace), exist_ok=True)
    with open(trace, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events, "distributedInfo": {"rank": 0}}, file)
    database = setting.database("<i>&'\"x", trace)
    path = setting.report(database)
    page = setting.browser.open("file://" + path.replace("%", "%25").replace("?", "%3F"))
    page.wait("document.documentElement.dataset.ready === '1'")
    dialogs = page.events("Page.javascriptDialogOpening")
    assert dialogs == [] and page.events("Runtime.exceptionThrown") == []
    assert page.evaluate("document.scripts.length") == 3
    added = "document.querySelectorAll('img, b, i, iframe, [onerror], [onload]').length"
    assert page.evaluate(added) == 0
    seen = page.evaluate("document.querySelector('#kernels table').textContent")
    for name in HARM[:5] + ["=1+1", "ä€😀"]:
        assert name in seen, name
    assert "\u202e" not in seen and "\\u202e" in seen
    assert page.evaluate("document.title") == "<i>&'\"x.db: tracedb report"
    page.close()


def sixty_four_ranks_stay_small(setting):
    folder = os.path.join(setting.folder, "ranks64")
    os.makedirs(folder, exist_ok=True)
    traces = sorted(glob.glob(os.path.join(FIXTURES, "megatron", "*.json.gz")))
    subprocess.run([sys.executable, MAKE_RANKS, folder, "--copies", "8", *traces], check=True,
                   stdout=subprocess.DEVNULL)
    database = setting.database("ranks64", folder)
    path = setting.report(database)
    assert os.path.getsize(path) <= BYTES_MAX, os.path.getsize(path)
    begin = time.monotonic()
    page = setting.open(path)
    seconds = time.monotonic() - begin
    all_is_drawn(page, CHARTS)
    page_checks.data_is_that_of_the_queries(setting, path, database)
    for query, written in page_checks.page_data(path)["results"].items():
        if query.startswith("report/") or query in ("time_partition", "overlap", "step_times"):
            assert written["result"]["rows"] == written["result"]["rows_found"], query
    ranks_checks.ranks_stand_at_their_places(page, path)
    setting.picture(page, "ranks64")
    page.close()
    timeline_checks.the_server_loads_what_is_looked_at(setting, database)
    print(f"     64 ranks: {os.path.getsize(path):,} bytes, drawn in {seconds:.1f} s")


def other_jobs_have_no_trouble(setting):
    """What a trace does not have is said in words, not drawn as nothing."""
    for name in sorted(os.listdir(FIXTURES)):
        inputs = os.path.join(FIXTURES, name)
        if name == "megatron" or not os.path.isdir(inputs):
            continue
        page = setting.open(setting.report(setting.database(name, inputs)))
        assert page.troubles() == [], (name, page.troubles())
        for chart, (marks, seen, *_) in figures_of(page).items():
            assert marks > 0 and seen > 0, (name, chart)
        empty = page.evaluate("[...document.querySelectorAll('p.nothing')]"
                              ".map((p) => p.textContent)")
        assert all(len(text) > 15 for text in empty), (name, empty)
        page.close()


def rows_made_up_are_drawn(setting):
    """Of what no fixture has: modules, every kind of exposed communication and of idle time."""
    path = setting.report(setting.megatron())
    made = os.path.join(setting.folder, "more.html")
    page_checks.write_with_more_sections(path, made)
    page = setting.open(made)
    figures = figures_of(page)
    assert {"partition", "modules"} <= set(figures), sorted(figures)
    assert page.troubles() == [], page.troubles()
    page_checks.more_sections_show_their_rows(page)
    setting.picture(page, "more-sections")
    page.close()


def the_server_gives_the_same_page(setting):
    database = make_database(setting.program, setting.folder)
    with Server(setting.program, database, "--token", "geheim") as server:
        page = setting.browser.open(server.url + "report?token=geheim")
        page.wait("document.documentElement.dataset.ready === '1'")
        assert page.troubles() == [], page.troubles()
        assert page.events("Page.javascriptDialogOpening") == []
        page.close()


def the_server_s_list_is_folded(setting):
    """As a whole it once took 12,500 pixels, 8,500 of them the tables' columns."""
    with Server(setting.program, setting.megatron()) as server:
        page = setting.browser.open(server.url, width=1280, height=900)
        assert page.evaluate("document.documentElement.scrollHeight") < 7000
        page.evaluate("document.querySelectorAll('details.query').forEach(d => d.open = true)")
        words = page.evaluate("document.body.innerText")
        assert "dur_ns" in words
        assert page.troubles() == [], page.troubles()
        setting.picture(page, "server-list")
        page.close()


def the_page_needs_nothing_else(setting):
    with open(setting.report(setting.megatron()), encoding="utf-8") as file:
        text = file.read()
    head = text[:text.index("<script")]
    assert re.findall(r'(?:src|href)="([^"]*)"', head) == ["data:,", "#main"]
    assert "Mike Bostock" in html.unescape(head)
    assert "THIS SOFTWARE IS PROVIDED" in html.unescape(head)
    assert text.count("</script>") == 3


CHECKS = [every_chart_is_drawn_and_nothing_complains, numbers_are_those_of_the_queries,
          *timeline_checks.CHECKS, charts_are_reached_by_keyboard_and_have_words,
          a_pointer_gets_what_it_points_at, dark_narrow_and_printed, hostile_names_stay_names,
          sixty_four_ranks_stay_small, other_jobs_have_no_trouble,
          host_pages.without_gpu_activity_the_host_is_shown, rows_made_up_are_drawn,
          *ranks_checks.CHECKS, *summaries_checks.CHECKS, *spread_checks.CHECKS,
          the_server_gives_the_same_page, the_server_s_list_is_folded,
          the_page_needs_nothing_else]


def main():
    parser = argparse.ArgumentParser(description="Test the page of tracedb report.")
    parser.add_argument("--program", required=True)
    parser.add_argument("--screenshots", default=os.path.join(tempfile.gettempdir(),
                                                              "tracedb-report-pages"))
    parser.add_argument("--filter", default="", help="only checks with this in their name")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tracedb-report-") as folder, Browser() as browser:
        setting = Setting(options, folder, browser)
        for check in CHECKS:
            if options.filter not in check.__name__:
                continue
            begin = time.monotonic()
            try:
                check(setting)
                verdict, trouble = "ok", ""
            except Exception:  # a check that fails must not hide the others
                verdict, trouble = "FAIL", traceback.format_exc()
                failed += 1
            print(f"{verdict:4} {check.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
            if trouble:
                print("     " + trouble.rstrip().replace("\n", "\n     "))
    print(f"{failed} failed" if failed else "all passed")
    print(f"pictures: {os.path.abspath(options.screenshots)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
