#!/usr/bin/env python3
"""A notebook over the module, run without a window; the Python needs nbclient and ipykernel.

    notebook_test.py
"""
import os
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.abspath(os.path.join(HERE, "..", "..", "fixtures"))

# Each cell, and a text that what it shows must have, of that kind.
CELLS = [
    (f"import tracedb_profiler as tracedb\n"
     f"db = tracedb.ingest({FIXTURES + '/megatron'!r})\ndb", "text/html", "megatron"),
    ("db.overlap(rank=[0, 3])", "text/html", "exposed_comm_ms"),
    ("db.overlap(frame='rows')", "text/html", "exposed_comm_ms"),
    ("db.plot('overlap')", None, "exposed_comm_ms"),
    ("db.report()", "text/html", "<iframe srcdoc="),
    ("db.cut(step=3)", "text/html", "Open in Perfetto"),
    ("get_ipython().Completer.all_completions('db.nccl_stall_r')", "text/plain",
     "nccl_stall_roots"),
    ("get_ipython().Completer.all_completions('db[\"kern')", "text/plain", "kernels"),
    ("help(db.nccl_stalls)", "stream", "Which collectives kept ranks waiting"),
    ("try:\n    db.sql('SELEC')\nexcept tracedb.TracedbError as error:\n    print(error)", "stream",
     "syntax error"),
]


def shown_by(cell, kind):
    texts = []
    for output in cell.outputs:
        assert output.output_type != "error", output
        if output.output_type == "stream":
            texts += [output.text] if kind in ("stream", None) else []
        else:
            texts += [str(value) for of, value in output.data.items() if kind in (of, None)]
    return "\n".join(texts)


def main():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)
                                           for text, _, _ in CELLS])
    with tempfile.TemporaryDirectory(prefix="tracedb-notebook-") as folder:
        NotebookClient(book, timeout=120, resources={"metadata": {"path": folder}}).execute()
    for cell, (text, kind, wanted) in zip(book.cells, CELLS):
        shown = shown_by(cell, kind)
        assert wanted in shown, (text, shown[:2000])
        print(f"ok   {text.splitlines()[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
