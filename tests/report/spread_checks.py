"""Spread of steps, runs side by side, the roofline, links' speed, and cuts from the server."""
import gzip
import itertools
import json
import math
import os
import subprocess
import urllib.error
import urllib.request

from page_checks import page_data, rows_of
from serve_server import Server

HARM = "<img src=x onerror=alert(7)>"


def run_of(folder, name, lengths, busy_us):
    """A run whose steps have these lengths; an operator with a hostile name holds memory."""
    def slice_(category, title, at, length, pid, tid, **args):
        return {"ph": "X", "cat": category, "name": title, "pid": pid, "tid": tid, "ts": at,
                "dur": length, "args": args}
    at, events = 0, []
    for step, length in enumerate(lengths):
        operator = {"Input Dims": [[512, 512], [512, 512]],
                    "Input type": ["c10::BFloat16", "c10::BFloat16"], "External id": step}
        events += [slice_("user_annotation", f"ProfilerStep#{step}", at, length, 9, 9),
                   slice_("cpu_op", "aten::mm", at + 1, 8, 9, 9, **operator),
                   slice_("cpu_op", HARM, at + 10, 20, 9, 9),
                   slice_("cuda_runtime", "cudaLaunchKernel", at + 2, 2, 9, 9, correlation=step,
                          **{"External id": step}),
                   slice_("kernel", "gemm " + HARM, at + 5, busy_us, 0, 7, device=0, stream=7,
                          correlation=step, **{"External id": step})]
        at += length
    events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9,
                   "tid": 9, "ts": 15, "args": {"Addr": 64, "Bytes": 4096, "Total Allocated": 8192,
                                                "Total Reserved": 8192, "Device Type": 1,
                                                "Device Id": 0}})
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    begin = 1790857026000000000 + (10**11 if name == "base" else 0)
    header = {"distributedInfo": {"rank": 0, "world_size": 1}, "baseTimeNanoseconds": begin,
              "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}]}
    with open(os.path.join(folder, name, "rank0.json"), "w", encoding="utf-8") as file:
        json.dump({**header, "traceEvents": events}, file)
    return os.path.join(folder, name)


def two_runs(setting):
    folder = os.path.join(setting.folder, "runs")
    return setting.database("two_runs", run_of(folder, HARM, [100, 200, 400, 300, 100, 100], 60),
                            run_of(folder, "base", [100, 150, 200, 250, 300, 350], 50))


def runs_stand_side_by_side(setting):
    database = two_runs(setting)
    path = setting.report(database)
    page = setting.open(path.replace("%", "%25"))
    assert page.troubles() == [], page.troubles()
    assert page.evaluate("document.querySelectorAll('img, [onerror]').length") == 0
    names = page.evaluate("[...document.querySelectorAll('#runs .row-name')]"
                          ".map((e) => e.textContent)")
    rows = rows_of(page_data(path)["results"]["report/run_parts"]["result"])
    assert [row["run"] for row in rows] == ["base", HARM] and "base" in names, (rows, names)
    # A bar's parts are as long as the means.
    widths = page.evaluate("""[...document.querySelectorAll('#runs svg.plot > rect')]
      .map((e) => [Number(e.getAttribute('y')), Number(e.getAttribute('width'))])""")
    lengths = [sum(width for y, width in widths if y == line)
               for line in sorted({y for y, _ in widths})]
    assert math.isclose(lengths[0] / lengths[1], rows[0]["span_ms"] / rows[1]["span_ms"],
                        rel_tol=1e-3), (lengths, rows)
    command = page.evaluate("document.querySelector('#runs .command code').textContent")
    typed = command.replace("tracedb", f"'{setting.program}' -q", 1)
    done = subprocess.run(["sh", "-c", typed], cwd=os.path.dirname(database), text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0 and HARM in done.stdout, (command, done)
    setting.picture(page, "two-runs")
    page.close()


def steps_are_spread(setting):
    """A box from the quarters, and a dot for each step."""
    path = setting.report(two_runs(setting))
    page = setting.open(path)
    row = rows_of(page_data(path)["results"]["report/step_spread"]["result"])[0]
    assert (row["class"], row["q1_ms"], row["median_ms"], row["q3_ms"]) == ("rank 0", .15, .225, .3)
    assert (row["first_ms"], row["last_ms"], row["drift_pct"]) == (.125, .325, 160.0)
    box = page.evaluate("""(() => { const e = document.querySelector('#step_spread rect.box');
      return [Number(e.getAttribute('x')), Number(e.getAttribute('width'))]; })()""")
    dots = sorted(page.evaluate("[...document.querySelectorAll('#step_spread .spread-dot')]"
                                ".map((e) => Number(e.getAttribute('cx')))"))
    assert len(dots) == 6, dots
    scale = (dots[5] - dots[0]) / 0.25
    assert math.isclose(box[0], dots[1], abs_tol=0.01), (box, dots)
    assert math.isclose(box[1], 0.15 * scale, rel_tol=1e-6), (box, dots)
    assert "+160.0 %" in page.evaluate("document.querySelector('#step_spread svg').textContent")
    memory = page.evaluate("document.querySelector('#memory_at_peak svg').textContent")
    assert HARM in memory and "allocated before the recording" in memory, memory
    page.close()


def is_log_linear(points):
    """Places of (value, pixel) on a logarithmic axis."""
    (value, pixel), *others = points
    ratios = [(other - pixel) / math.log(more / value) for more, other in others if more != value]
    return all(math.isclose(one, two, rel_tol=0.02) for one, two in itertools.pairwise(ratios))


def roofline_is_that_of_the_query(setting):
    path = setting.report(setting.megatron())
    page = setting.open(path)
    rows = rows_of(page_data(path)["results"]["roofline"]["result"])
    rows = sorted((row for row in rows if row["intensity"] and row["tflops"]),
                  key=lambda row: -row["share_pct"])
    drawn = page.evaluate("""[...document.querySelectorAll('#roofline path.dot')].map((e) =>
      e.getAttribute('transform').match(/[\\d.]+/g).map(Number))""")
    assert len(drawn) == len(rows) > 5, (len(drawn), len(rows))
    assert is_log_linear([(row["intensity"], x) for row, (x, _) in zip(rows, drawn)])
    assert is_log_linear([(row["tflops"], y) for row, (_, y) in zip(rows, drawn)])
    # The level of the roof is the peak, on the same axis.
    level = page.evaluate("document.querySelector('#roofline path.roof').getAttribute('d')")
    top = float(level.split(",")[-1])
    assert is_log_linear([(rows[0]["peak_tflops"], top)]
                         + [(row["tflops"], y) for row, (_, y) in zip(rows, drawn)])
    said = page.evaluate("document.querySelector('#roofline figcaption').textContent")
    assert f"{rows[0]['covered_pct']:.1f} % of the GPU time" in said, said
    line_is_the_links_speed(page, path)
    page.close()


def line_is_the_links_speed(page, path):
    rows = rows_of(page_data(path)["results"]["nccl_bandwidth"]["result"])
    # A dot for each row that has a size and a speed, in their order.
    speeds = [row["median_algbw_gbps"] if row["median_busbw_gbps"] is None
              else row["median_busbw_gbps"] for row in rows if row["bytes"]]
    drawn = page.evaluate("""[...document.querySelectorAll('#bandwidth path.dot')].map((e) =>
      Number(e.getAttribute('transform').match(/[\\d.]+/g)[1]))""")
    line = page.evaluate("Number(document.querySelector('#bandwidth line.roof')"
                         ".getAttribute('y1'))")
    assert len(drawn) == len(speeds) > 5
    assert is_log_linear([(450, line), *zip(speeds, drawn)])


NCU_HEADER = ("ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,"
              "Grid Size,Device,CC,dram__bytes_read.sum,gpu__time_duration.sum,"
              "device__attribute_l2_cache_size")


def kernels_under_nsight_compute_are_drawn(setting):
    csv = os.path.join(setting.folder, "ncu.csv")
    with open(csv, "w", encoding="utf-8") as file:
        file.write(NCU_HEADER + "\n,,,,,,,,,,,byte,ns,byte\n")
        for kernel in range(8):
            name = "void gemm_backward()" if kernel > 5 else f"void {HARM}()"
            ids = f"{kernel},1,p,h,{name},1,7,(1 1 1),(1 1 1),0,9.0"
            file.write(f"{ids},{1000 << kernel},500,16000\n")
    path = setting.report(setting.database("ncu", csv))
    page = setting.open(path)
    rows = rows_of(page_data(path)["results"]["ncu_overlay"]["result"])
    drawn = page.evaluate("""[...document.querySelectorAll('#ncu_overlay circle.dot')].map((e) =>
      [Number(e.getAttribute('cx')), Number(e.getAttribute('cy'))])""")
    assert len(drawn) == len(rows) == 8, (len(drawn), len(rows))
    assert is_log_linear([(row["mbyte"], y) for row, (_, y) in zip(rows, drawn)])
    lines = page.evaluate("""[...document.querySelectorAll('#ncu_overlay line.roof')].map((e) =>
      [Number(e.getAttribute('x1')), Number(e.getAttribute('y1'))])""")
    assert is_log_linear([(0.016, lines[1][1])]
                         + [(row["mbyte"], y) for row, (_, y) in zip(rows, drawn)])
    assert drawn[5][0] <= lines[0][0] <= drawn[6][0], (lines, drawn)
    assert page.troubles() == [], page.troubles()
    page.close()


def the_server_cuts_what_is_clicked(setting):
    database = two_runs(setting)
    with Server(setting.program, database, "--token", "geheim") as server:
        page = setting.browser.open(server.url + "report?token=geheim&run=base")
        page.wait("document.documentElement.dataset.ready === '1'")
        links = page.evaluate("[...document.querySelectorAll('a.cut')].map((e) => e.href)")
        assert links and all("token=geheim" in link and "run=base" in link for link in links), links
        page.evaluate("[...document.querySelectorAll('#overview button')]"
                      ".find((e) => e.textContent === 'step 2').click()")
        link = page.evaluate("document.querySelector('#overview a.cut').href")
        assert page.evaluate("document.querySelector('#timeline .command').textContent"
                             ".includes('ui.perfetto.dev')")
        page.close()
        with urllib.request.urlopen(link) as answer:
            assert answer.headers["Content-Disposition"] == 'attachment; filename="cut.json.gz"'
            events = json.loads(gzip.decompress(answer.read()))["traceEvents"]
        steps = {event["name"] for event in events if event["name"].startswith("ProfilerStep#")}
        assert steps == {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"}, steps
        try:
            urllib.request.urlopen(link.replace("token=geheim", "token=falsch"))
            raise AssertionError("no token was needed")
        except urllib.error.HTTPError as refused:
            assert refused.code == 401, refused
    page = setting.open(setting.report(database))
    assert page.evaluate("document.querySelectorAll('a.cut').length") == 0
    assert page.evaluate("document.querySelector('#timeline .command').textContent"
                         ".includes('--incoming --run base')")
    page.close()


CHECKS = [runs_stand_side_by_side, steps_are_spread, roofline_is_that_of_the_query,
          kernels_under_nsight_compute_are_drawn, the_server_cuts_what_is_clicked]
