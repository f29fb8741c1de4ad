"""As check_breakdown.py: the queries of queries/report, and report_oracle.py."""
import check_breakdown
import report_oracle

QUESTIONS = (("headline", {}), ("stall_matrix", {}), ("stall_matrix", {"limit": 3}),
             ("stream_heat", {}), ("stream_heat", {"bins": 7, "streams": 2}), ("timeline", {}),
             ("timeline", {"per_stream": 20}), ("timeline", {"per_stream": 1, "streams": 3}),
             ("memory_line", {}), ("memory_line", {"bins": 5}))


def without_straggler(answer):
    header, rows = answer
    return header, [row for row in rows if row[header.index("figure")] != "straggler"]


def clocks_are_as_they_are(program, database):
    """The oracle knows no alignment; these sets are of one host each."""
    header, rows = check_breakdown.ask(program, database, "clocks", {})
    return all(float(row[header.index("offset_ms")] or 0) == 0 for row in rows)


def compare(options, database, jobs):
    differences, rows = [], 0
    for query, parameters in QUESTIONS:
        if options.query not in (None, query):
            continue
        if query == "stall_matrix" and not clocks_are_as_they_are(options.program, database):
            differences.append("its clocks were aligned")
        for job, ours in check_breakdown.answers(options.program, database, "report/" + query,
                                                 parameters, jobs):
            function = getattr(report_oracle, query)
            expected = list(function(job, **parameters))
            if query == "headline":
                ours = without_straggler(ours)
            differences += check_breakdown.differences_of(query, ours, expected, job,
                                                          hasattr(function, "has_capture"))
            rows += len(expected)
    return differences, rows
