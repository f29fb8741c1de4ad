"""The timeline of a report's page: what it shows is what the database has, and it obeys."""
import json
import os
import time

import page_checks
from serve_server import Server

AT = "document.querySelector('[data-chart=timeline]').timeline"
FRAME_MS_MAX = 33


def shown_range(page):
    return page.evaluate("document.querySelector('#timeline .controls output:last-child')"
                         ".textContent")


def obeys_keys_and_buttons(setting):
    page = setting.open(setting.report(setting.megatron()))
    details = "document.querySelector('#timeline .slice-details')"
    said = "document.querySelector('#timeline [role=status]').textContent"
    whole = shown_range(page)
    page.evaluate("document.querySelector('#timeline canvas').focus()")
    ways = [("+", "-"), ("w", "s"), ("ArrowRight", "ArrowLeft"), ("d", "a")]
    page.press("w")
    page.settle()
    for there, back in ways:
        before = shown_range(page)
        page.press(there)
        page.settle()
        assert shown_range(page) != before, there
        page.press(back)
        page.settle()
        assert shown_range(page) == before, back
    page.press("0")
    page.settle()
    assert shown_range(page) == whole
    page.press("ArrowDown")
    assert page.evaluate(details + ".hidden") is False
    first = page.evaluate(said)
    assert "rank 0, stream 7" in first and "from " in first, first
    page.press(".")
    assert page.evaluate(said) not in ("", first)
    page.press("Escape")
    assert page.evaluate(details + ".hidden") is True
    page.evaluate("document.querySelector('#timeline .controls button').click()")
    page.settle()
    assert shown_range(page) != whole
    names = ("[...document.querySelectorAll('#timeline .row-name')].map((e) => e.textContent)")
    lanes = page.evaluate(names)
    assert sum(", stream " in name for name in lanes) == 24, lanes
    # The host that slept is there at first.
    assert any(name.startswith("rank 5, thread") for name in lanes), lanes
    page.evaluate("""(() => { const s = document.querySelector('#timeline select');
      s.value = [...s.options].find((o) => o.textContent === 'rank 6').value;
      s.dispatchEvent(new Event('change')); })()""")
    lanes = page.evaluate(names)
    assert all(name.startswith("rank 6") for name in lanes) and len(lanes) > 4, lanes
    assert page.troubles() == []
    page.close()


def single_slices_are_those_of_the_database(setting):
    """At 1 ms: each mark as wide as a pixel has its own name, start and duration."""
    database = setting.megatron()
    page = setting.open(setting.report(database))
    page.evaluate(f"{AT}.setView(44.2, 45.2)")
    page.settle()
    drawn = page.evaluate(f"""(() => {{ const t = {AT};
      return t.painter.drawn.map(({{lane, place}}) => {{
        const s = t.store.lanes.get(lane.id);
        return [s.id[place], t.store.nameAt(lane.id, place), s.start[place], s.dur[place],
                lane.rank]; }}); }})()""")
    assert len(drawn) > 60, len(drawn)
    ids = ",".join(str(row[0]) for row in drawn)
    true = {row["slice_id"]: row for row in json.loads(setting.run(
        "-q", "--db", database, "query", "--format", "json", "-c",
        "SELECT s.slice_id, s.name, s.dur_ns, s.rank, s.ts_ns - t.run_start_ns"
        " + ifnull(c.offset_ns + (s.ts_ns - c.origin_ns) * c.drift_ppb / 1000000000, 0)"
        " AS start_ns "
        "FROM slices s JOIN traces t ON t.trace_id = s.trace_id "
        f"LEFT JOIN rank_clocks c ON c.trace_id = t.trace_id WHERE s.slice_id IN ({ids})"))}
    for slice_id, name, start, dur, rank in drawn:
        row = true[slice_id]
        assert (name, dur, rank) == (row["name"], row["dur_ns"], row["rank"]), (slice_id, row)
        assert start == row["start_ns"], (slice_id, start, row)
    kernels = {row[0] for row in drawn if row[1].startswith(("nvjet", "void ", "ncclDev"))}
    assert len(kernels) > 10, len(kernels)
    page.close()


def nothing_is_lost_at_any_zoom(setting):
    """Every pixel column in which a stream's activity lies has a mark, at the whole view."""
    page = setting.open(setting.report(setting.megatron()))
    lost = page.evaluate(f"""(() => {{ const t = {AT}; const p = t.painter; const out = [];
      const context = t.canvas.getContext("2d");
      const ratio = t.canvas.width / t.width;
      for (const lane of t.visible.slice(0, 6)) {{
        const s = t.store.lanes.get(lane.id);
        const y = Math.round((t.yOf(lane, 0) + 5) * ratio);
        const back = context.getImageData(Math.round(t.left * ratio) + 1, y, 1, 1).data.join();
        s.start.forEach((start, place) => {{
          if (s.depth[place] > 0) return;
          const x = t.xOf(start / 1e6);
          const seen = [-1, 0, 1].some((d) => context.getImageData(
            Math.floor((x + d) * ratio), y, 1, 1).data.join() !== back);
          if (!seen) out.push([lane.label, place, x]);
        }});
      }}
      return out.slice(0, 5); }})()""")
    assert lost == [], lost
    page.close()


def zooms_smoothly(setting):
    """85,000 slices are on the page: the median frame of a zoom takes less than two of a screen's
    frames to draw, in the page's own time."""
    page = setting.open(setting.report(setting.megatron()), width=1400, height=900)
    count = page.evaluate(f"[...{AT}.store.lanes.values()].reduce((n, l) => n + l.start.length, 0)")
    assert count > 20_000, count
    times = page.evaluate(f"""(async () => {{ const t = {AT}; const times = [];
      for (let i = 0; i < 60; i += 1) {{
        await new Promise((done) => requestAnimationFrame(done));
        const before = performance.now();
        const k = 1.2 ** (i < 30 ? i : 60 - i);
        t.view = {{ from: 60 - 60 / k, to: 60 + 100 / k }};
        t.drawNow();
        t.painter.context.getImageData(0, 0, 1, 1);
        times.push(performance.now() - before);
      }}
      return times.sort((a, b) => a - b); }})()""")
    assert times[len(times) // 2] < FRAME_MS_MAX, times
    print(f"     a frame: median {times[30]:.1f} ms, longest {times[-1]:.1f} ms")
    page.close()


def finds_names_and_keeps_its_state_in_the_address(setting):
    path = setting.report(setting.megatron())
    page = setting.open(path)
    page.evaluate("""(() => { const s = document.querySelector('#timeline input[type=search]');
      s.value = 'straggler_SLEEP'; s.dispatchEvent(new Event('input')); })()""")
    text = page.evaluate("document.querySelector('#timeline input[type=search] ~ output')"
                         ".textContent")
    assert text.startswith("1 on "), text
    page.evaluate(f"{AT}.nextMatch(1)")
    said = page.evaluate("document.querySelector('#timeline .slice-details').textContent")
    assert said.startswith("injected_straggler_sleep"), said
    page.evaluate(f"{AT}.setView(10, 12.5)")
    time.sleep(0.4)
    fragment = page.evaluate("location.hash")
    assert "t=10.000000,12.500000" in fragment, fragment
    assert "find=straggler_sleep" in fragment.lower(), fragment
    before = shown_range(page)
    assert page.troubles() == [], page.troubles()
    page.close()
    page = setting.browser.open("file://" + path + fragment)
    page.wait("document.documentElement.dataset.ready === '1'")
    page.settle()
    assert shown_range(page) == before
    assert page.evaluate("document.querySelector('#timeline input[type=search]').value") == (
        "straggler_SLEEP")
    page.close()


def a_click_leads_to_the_place(setting):
    """From the first chart, advice and tables; and from a kernel to its launch and partners."""
    path = setting.report(setting.megatron())
    page = setting.open(path, width=1400, height=900)
    box = page.evaluate("""(() => { const b = document.querySelector(
      "#overview svg.plot rect.late").getBoundingClientRect();
      return [b.x + b.width / 2, b.y + 6]; })()""")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                  clickCount=1)
    page.settle()
    late = page_checks.rows_of(page_checks.page_data(path)["results"]["report/late_ranks"]
                               ["result"])[0]
    view = page.evaluate(f"{AT}.view")
    assert view["from"] < late["start_ms"] and view["to"] > late["start_ms"] + late["dur_ms"], view
    assert view["to"] - view["from"] < 1.5 * late["dur_ms"], (view, late)
    assert page.evaluate("document.activeElement === document.querySelector('#timeline canvas')")
    for selector in ("#recommendations .go", "#late .go", "#gaps .go"):
        page.evaluate(f"{AT}.reset()")
        page.evaluate(f"document.querySelector('{selector}').click()")
        page.settle()
        assert page.evaluate(f"{AT}.view.to - {AT}.view.from") < 150, selector
    # A kernel knows the call that launched it, and its partners.
    links = page.evaluate(f"""(() => {{ const t = {AT};
      const id = [...t.links.collectiveOf.keys()][5];
      return t.links.of(id).map((link) =>
        [link.kind, t.store.nameAt(link.lane, link.place)]); }})()""")
    kinds = [kind for kind, _ in links]
    assert kinds.count("launched by") == 1 and "collective" in kinds, links
    assert all(name.startswith("ncclDevKernel") for kind, name in links if kind == "collective")
    assert page.troubles() == [], page.troubles()
    page.close()


def the_server_loads_what_is_looked_at(setting, database):
    """Of 64 ranks a file has one step; the server's page gets the rest when it is looked at."""
    with Server(setting.program, database) as server:
        page = setting.browser.open(server.url + "report")
        page.wait("document.documentElement.dataset.ready === '1'")
        drawn = (f"{AT}.painter.drawn.filter(({{lane}}) => lane.rank === 50)"
                 ".map(({lane, place}) =>"
                 f" [{AT}.store.lanes.get(lane.id).id[place], {AT}.store.nameAt(lane.id, place)])")
        page.evaluate(f"{AT}.show({{from: 140, to: 141, rank: 50}})")
        page.settle()
        page.wait(f"{AT}.loader.windows.length > 0")
        page.settle()
        found = dict(page.evaluate(drawn))
        assert len(found) > 20, len(found)
        ids = ",".join(str(one) for one in found)
        true = json.loads(setting.run(
            "-q", "--db", database, "query", "--format", "json", "-c",
            f"SELECT slice_id, name, rank FROM slices WHERE slice_id IN ({ids})"))
        assert {row["slice_id"]: row["name"] for row in true} == found
        assert {row["rank"] for row in true} == {50}
        others = [one for one in page.troubles() if "/report/slices.json?" not in str(one)]
        assert others == [], others
        page.close()


def long_job(folder):
    """15 s of 100,000 kernels of 20 us, and operators of 8 ms; the last step is the longest."""
    events = [{"ph": "X", "cat": "kernel", "name": f"short_{i % 7}", "pid": 0, "tid": 7,
               "ts": 150 * i, "dur": 20, "args": {"device": 0, "stream": 7}}
              for i in range(100_000)]
    events += [{"ph": "X", "cat": "cpu_op", "name": f"long_{i}", "pid": 9, "tid": 9,
                "ts": 500_000 * i + 1000, "dur": 8000} for i in range(30)]
    events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 9,
                "tid": 9, "ts": at, "dur": dur}
               for step, at, dur in ((1, 0, 4_500_000), (2, 4_500_000, 4_500_000),
                                     (3, 9_000_000, 6_000_000))]
    path = os.path.join(folder, "long.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": events}, file)
    return path


def the_server_loads_what_has_pixels(setting):
    """Seconds on a screen: slices of half a pixel and more. Milliseconds: all of them."""
    database = setting.database("long", long_job(setting.folder))
    with Server(setting.program, database) as server:
        page = setting.browser.open(server.url + "report", width=1400)
        page.wait("document.documentElement.dataset.ready === '1'")
        drawn = (f"{AT}.painter.drawn.map(({{lane, place}}) => {AT}.store.nameAt(lane.id, place))")
        page.evaluate(f"{AT}.show({{from: 4000, to: 6500, rank: 0}})")
        page.wait(f"{AT}.loader.windows.length > 0")
        page.settle()
        loaded = page.evaluate(f"{AT}.loader.windows[0]")
        assert 0.5 < loaded["shortest"] <= 2 and loaded["count"] < 40, loaded
        assert {f"long_{i}" for i in range(8, 14)} <= set(page.evaluate(drawn))
        assert page.evaluate(f"{AT}.painter.marks") > 200  # what is short, as pieces of time
        page.evaluate(f"{AT}.show({{from: 6000, to: 6003, rank: 0}})")
        page.wait(f"{AT}.loader.windows.some((one) => one.shortest === 0)")
        page.settle()
        short = [name for name in page.evaluate(drawn) if name.startswith("short_")]
        view = page.evaluate(f"{AT}.view")
        true = [f"short_{i % 7}" for i in range(100_000)
                if 150 * i + 20 >= 1000 * view["from"] and 150 * i <= 1000 * view["to"]]
        # Of one that begins in the last pixel nothing need be seen.
        assert short in (true, true[:-1]) and len(true) > 20, (short, true)
        others = [one for one in page.troubles() if "/report/slices.json?" not in str(one)]
        assert others == [], others
        page.close()


CHECKS = [obeys_keys_and_buttons, single_slices_are_those_of_the_database,
          nothing_is_lost_at_any_zoom, zooms_smoothly,
          finds_names_and_keeps_its_state_in_the_address, a_click_leads_to_the_place,
          the_server_loads_what_has_pixels]
