"""The page of a report where no GPU activity was recorded."""
import json
import os


def host_trace(rank, more=(), **header):
    """Two steps of a job with an operator, a module and an annotation, and no GPU activity."""
    def slice_(category, name, at, length, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": 9, "tid": 9, "ts": at,
                "dur": length, "args": args}
    events = list(more)
    for step in (3, 4):
        at = 1000 * step
        events += [slice_("user_annotation", f"ProfilerStep#{step}", at, 900),
                   slice_("user_annotation", "forward", at + 1, 600),
                   slice_("python_function", "nn.Module: Linear_0", at + 2, 500,
                          **{"Python module id": 0}),
                   slice_("cpu_op", "aten::addmm", at + 3, 400)]
    return {"distributedInfo": {"rank": rank}, **header, "traceEvents": events}


def without_gpu_activity_the_host_is_shown(setting):
    """What should be there is said at the top; of a job of the CPU that it is one."""
    named = {"deviceProperties": [{"id": 0, "name": "NVIDIA <b>H200</b>"}]}
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3100, "dur": 5}
    jobs = {"silent": [host_trace(rank, **named) for rank in (0, 1)], "cpu": [host_trace(0)],
            "one_silent": [host_trace(0, [kernel], **named), host_trace(1, **named)]}
    said = {"silent": "What is missing: ranks 0, 1: no GPU activity was recorded, but the header "
                      "names NVIDIA <b>H200</b>. What to do",
            "cpu": "There is no GPU activity in these traces; all figures are of the host.",
            "one_silent": "What is missing: rank 1: no GPU activity was recorded, but the header "
                          "names NVIDIA <b>H200</b>. What to do"}
    for name, traces in jobs.items():
        folder = os.path.join(setting.folder, name)
        os.makedirs(folder)
        for rank, trace in enumerate(traces):
            with open(os.path.join(folder, f"rank{rank}.json"), "w", encoding="utf-8") as file:
                json.dump(trace, file)
        page = setting.open(setting.report(setting.database(name, folder)))
        assert page.troubles() == [], (name, page.troubles())
        assert page.evaluate("[...document.querySelectorAll('header .missing')]"
                             ".map((e) => e.textContent)") == [said[name]], name
        ids = page.evaluate("[...document.querySelectorAll('main > section')].map((e) => e.id)")
        if name == "one_silent":
            assert {"partition", "overlap", "kernels", "timeline"} <= set(ids), ids
            assert not {"ops", "annotations"} & set(ids), ids
            page.close()
            continue
        assert ids == ["headline", "timeline", "steps", "ops", "modules", "annotations", "traces",
                       "quality"], (name, ids)
        assert page.evaluate("[...document.querySelectorAll('.tiles li')]"
                             ".map((e) => e.dataset.figure)") == ["step"], name
        rows = page.evaluate("""Object.fromEntries(["ops", "modules", "annotations"].map((id) =>
          [id, [...document.querySelectorAll(`#${id} details.table[open] tbody tr`)]
            .map((row) => row.cells[id === "modules" ? 1 : 0].textContent)]))""")
        assert rows == {"ops": ["aten::addmm"], "modules": ["Linear_0"],
                        "annotations": ["forward"]}, (name, rows)
        setting.picture(page, name)
        page.close()
