"""Many ranks on a report's page: who waits for whom at the ranks' places, and thin bands."""
import json
import os

from page_checks import page_data, rows_of

GRID = """[...document.querySelectorAll('#stalls rect.heat')].map((e) =>
  [Number(e.dataset.rank), ...['x', 'y', 'fill-opacity'].map((name) =>
    Number(e.getAttribute(name)))])"""


def strongest(page):
    return max(page.evaluate(GRID), key=lambda cell: cell[3])[0]


def interest_is_named(page, rows):
    names = page.evaluate("[...document.querySelectorAll('#overview text.interest')]"
                          ".map((e) => e.textContent)")
    latest = max(rows, key=lambda row: row["rooted_wait_ms"])
    assert names[0].startswith("latest: "), names
    for word in ("latest", "computes longest", "median"):
        assert any(word in name for name in names), (word, names)
    first = page.evaluate("""[...document.querySelectorAll('#overview .row-name')]
      .find((e) => e.getAttribute('text-anchor') === 'end' && e.textContent === 'rank %d')
      !== undefined""" % latest["rank"])
    assert first, latest


def ranks_stand_at_their_places(page, path):
    """64 ranks: 2 tensor x 2 pipeline x 16 data parallel; and who waited for the worst."""
    results = page_data(path)["results"]
    rows = rows_of(results["report/rank_grid"]["result"])
    waits = rows_of(results["report/root_waits"]["result"])
    interest_is_named(page, rows)
    places = {(row["tensor"], row["pipeline"], row["data"]) for row in rows}
    assert places == {(t, p, d) for t in range(2) for p in range(2) for d in range(16)}
    cells = page.evaluate(GRID)
    assert len(cells) == 64 and len({(x, y) for _, x, y, _ in cells}) == 64
    at = {rank: (x, y) for rank, x, y, _ in cells}
    place = {row["rank"]: row for row in rows}
    for one in rows:
        for other in rows:
            # Those of one stage and data place stand in one column, those of one tensor place in a
            # line.
            if one["pipeline"] == other["pipeline"] and one["data"] == other["data"]:
                assert at[one["rank"]][0] == at[other["rank"]][0]
            if one["pipeline"] == other["pipeline"] and one["tensor"] == other["tensor"]:
                assert at[one["rank"]][1] == at[other["rank"]][1]
    worst = max(rows, key=lambda row: row["rooted_wait_ms"])["rank"]
    assert strongest(page) == worst and worst % 8 == 5, (worst, place[worst])
    page.evaluate("""(() => { const s = document.querySelector('#stalls select');
      s.value = '%d'; s.dispatchEvent(new Event('change')); })()""" % worst)
    of_worst = {row["waiting_rank"]: row["wait_ms"] for row in waits if row["root_rank"] == worst}
    assert strongest(page) == max(of_worst, key=of_worst.get)
    assert page.evaluate("document.querySelectorAll('#stalls rect.late').length") == 1


def collective(rank, ranks, number, at_us, end_us):
    return {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": rank, "tid": 7,
            "ts": at_us, "dur": end_us - at_us,
            "args": {"device": 0, "stream": 7, "Collective name": "allreduce", "dtype": "Float",
                     "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": len(ranks),
                     "Process Group Name": "0", "Process Group Ranks": json.dumps(ranks),
                     "Seq": number}}


def launched(events):
    """The same kernels with the calls that launched them, all in one step."""
    calls = []
    for number, kernel in enumerate(events, 1):
        kernel["args"]["correlation"] = number
        calls.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 999,
                      "tid": 1, "ts": number, "dur": 0.5, "args": {"correlation": number}})
    end = max(kernel["ts"] + kernel["dur"] for kernel in events)
    return [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 999, "tid": 1,
             "ts": 0, "dur": end, "args": {}}, *calls, *events]


def job(folder, count, late_rank, late_us, collectives=3, has_step=False):
    """A job of `count` ranks in one group; `late_rank` starts each of its collectives later."""
    os.makedirs(folder)
    ranks = list(range(count))
    for rank in ranks:
        events = []
        for number in range(collectives):
            begin = 1000 * number + 100 + (late_us if rank == late_rank else 0)
            events += [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": rank, "tid": 7,
                        "ts": 1000 * number, "dur": begin - 1000 * number - 1,
                        "args": {"device": 0, "stream": 7}},
                       collective(rank, ranks, number, begin, 1000 * number + 150 + late_us)]
        trace = {"distributedInfo": {"rank": rank, "world_size": count},
                 "baseTimeNanoseconds": 1790857026000000000,
                 "traceEvents": launched(events) if has_step else events}
        with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="utf-8") as file:
            json.dump(trace, file)


def without_places_ranks_are_a_square(setting):
    """Of one group alone nobody's place is known; the straggler is seen all the same."""
    folder = os.path.join(setting.folder, "square")
    job(folder, 30, 17, 300)
    path = setting.report(setting.database("square", folder))
    page = setting.open(path)
    assert page.troubles() == [], page.troubles()
    rows = rows_of(page_data(path)["results"]["report/rank_grid"]["result"])
    found = {row["rank"]: row["rooted_wait_ms"] for row in rows}
    # 29 ranks wait 300 us in each of three collectives.
    assert found == {rank: 26.1 if rank == 17 else 0 for rank in range(30)}, found
    assert strongest(page) == 17
    cells = page.evaluate(GRID)
    assert len({x for _, x, _, _ in cells}) == 8 and len({y for _, _, y, _ in cells}) == 4, cells
    caption = page.evaluate("document.querySelector('#stalls figcaption').textContent")
    assert "do not tell" in caption, caption
    interest_is_named(page, rows)
    bands = page.evaluate("document.querySelector('#overview svg.plot')"
                          ".getBoundingClientRect().height")
    assert bands < 600, bands
    page.resize(400, 800)
    page.settle()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 400
    page.close()


def nobody_late_has_no_such_part(setting):
    folder = os.path.join(setting.folder, "together")
    job(folder, 30, 17, 0)
    page = setting.open(setting.report(setting.database("together", folder)))
    assert page.troubles() == [], page.troubles()
    assert page.evaluate("document.getElementById('stalls') === null")
    names = page.evaluate("[...document.querySelectorAll('#overview text.interest')]"
                          ".map((e) => e.textContent)")
    assert not any("latest" in name or "median" in name for name in names), names
    page.close()


CHECKS = [without_places_ranks_are_a_square, nobody_late_has_no_such_part]
