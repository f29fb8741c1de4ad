"""As check_breakdown.py: the queries of queries/report, and report_oracle.py."""
import check_breakdown
import report_oracle

QUESTIONS = (("headline", {}), ("stream_heat", {}),
             ("stream_heat", {"bins": 7, "streams": 2}), ("timeline", {}),
             ("timeline", {"per_stream": 20}), ("timeline", {"per_stream": 1, "streams": 3}),
             ("memory_line", {}), ("memory_line", {"bins": 5}))


def without_straggler(answer):
    header, rows = answer
    return header, [row for row in rows if row[header.index("figure")] != "straggler"]


def compare(options, database, jobs):
    differences, rows = [], 0
    for query, parameters in QUESTIONS:
        if options.query not in (None, query):
            continue
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
