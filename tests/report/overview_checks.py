"""The first screen of a report's page: the verdict, and one chart of all ranks."""
import math
import re

from page_checks import page_data, rows_of


def overview_is_that_of_the_queries(page, path):
    """The areas of each GPU are what overlap has; the sleep is marked on its rank, and the path is
    drawn over it."""
    data = page_data(path)
    lanes = data["lanes"]
    overlap = {(row["rank"], str(row["device"])): row
               for row in rows_of(data["results"]["overlap"]["result"])}
    groups = {"compute": "compute_ms", "comm": "exposed_comm_ms", "wait": "exposed_comm_ms",
              "schedule": "exposed_comm_ms", "memory": "exposed_memory_ms"}
    assert len(lanes["lanes"]) == len(overlap) > 0
    for lane in lanes["lanes"]:
        sums, cells, at, bins = {}, lane["cells"], 0, 0
        while at < len(cells):
            repeat, parts = cells[at:at + 2]
            bins += repeat
            for part in range(parts):
                state, share = cells[at + 2 + 2 * part:at + 4 + 2 * part]
                kind = groups.get(lanes["states"][state]["kind"], "idle_ms")
                if lanes["states"][state]["kind"] != "before":
                    sums[kind] = sums.get(kind, 0) + repeat * share / 1000 * lanes["bin_ms"]
            at += 2 + 2 * parts
        row = overlap[lane["rank"], lane["device"]]
        assert bins == lanes["bins"]
        for name in ("compute_ms", "exposed_comm_ms", "exposed_memory_ms", "idle_ms"):
            assert math.isclose(sums.get(name, 0), row[name], rel_tol=0.01, abs_tol=0.1), (
                lane["rank"], name, sums.get(name), row[name])
    text = page.evaluate("document.querySelector('#overview .late-name').textContent")
    assert text.startswith("injected_straggler_sleep 40."), text
    late = page.evaluate("document.querySelector('#overview svg.plot rect.late').getBBox().y")
    names = page.evaluate("[...document.querySelectorAll('#overview .row-name')]"
                          ".map((e) => [e.textContent, e.getBBox().y + e.getBBox().height / 2])")
    row_of = min(names, key=lambda one: abs(one[1] - late - 14))
    assert row_of[0] == "rank 5", (late, names)
    path_length = page.evaluate("document.querySelector('#overview svg.plot .path-line')"
                                ".getTotalLength()")
    assert path_length > 500, path_length


def verdict_names_who_is_at_fault(page):
    sentence = page.evaluate("document.getElementById('verdict').textContent")
    assert re.fullmatch(r"Step 3 took 1\d\d ms; [\d.]+ ms would do: rank 5's host was held up for "
                        r"40\.2 ms \(injected_straggler_sleep\), and everyone else waited\.",
                        sentence), sentence
    bottom = page.evaluate("document.querySelector('#overview svg.plot')"
                           ".getBoundingClientRect().bottom")
    assert bottom < 900, bottom
