"""What is shown as a page: the report, a comparison's page, a cut for Perfetto."""
from __future__ import annotations

import base64
import functools
import html
import http.server
import json
import os
import shutil
import tempfile
import threading
import webbrowser
import weakref
from typing import Any, Optional

from ._errors import TracedbError

PERFETTO = "https://ui.perfetto.dev"
# The one address of this machine from which Perfetto's page may load a trace.
PERFETTO_PORT = 9001
# A notebook keeps what it shows: a larger trace is opened from its file.
EMBEDDED_BYTES_MAX = 32_000_000


def framed(page: str, height: int) -> str:
    """A page within a page: its scripts run, and reach nothing of the notebook."""
    return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {height}px; border: 1px solid #8884"></iframe>')


class Report:
    """One HTML page that loads nothing from elsewhere."""

    def __init__(self, page: str, height: int = 800) -> None:
        self.html = page
        self.height = height

    def save(self, path: Any) -> str:
        """Writes the page; the path."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)
        return str(os.fspath(path))

    def _repr_html_(self) -> str:
        return framed(self.html, self.height)

    def __repr__(self) -> str:
        return f"<report, {len(self.html) / 1e6:.1f} MB of HTML: save(path), or show it inline>"


class _OneFile(http.server.BaseHTTPRequestHandler):
    """Answers Perfetto's page with the trace, and nobody else with anything."""

    def __init__(self, trace: str, served: threading.Event, *args: Any) -> None:
        self.trace = trace
        self.served = served
        super().__init__(*args)

    def do_GET(self) -> None:  # noqa: N802
        if self.path.lstrip("/") != os.path.basename(self.trace):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", PERFETTO)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(os.path.getsize(self.trace)))
        self.end_headers()
        with open(self.trace, "rb") as file:
            shutil.copyfileobj(file, self.wfile)
        self.served.set()

    def log_message(self, *_: Any) -> None:
        pass


_BUTTON = """
<button type="button" id="{name}">Open in Perfetto</button> <code>{path}</code> ({size})
<script>
document.getElementById("{name}").onclick = () => {{
  const page = window.open("{perfetto}");
  const bytes = Uint8Array.from(atob("{data}"), c => c.charCodeAt(0));
  const ask = setInterval(() => page && page.postMessage("PING", "{perfetto}"), 100);
  window.addEventListener("message", function answered(message) {{
    if (message.origin !== "{perfetto}" || message.data !== "PONG") return;
    clearInterval(ask);
    window.removeEventListener("message", answered);
    page.postMessage({{perfetto: {{buffer: bytes.buffer, title: {title}}}}}, "{perfetto}");
  }});
}};
</script>
"""


class Cut:
    """A trace that `tracedb cut` wrote. Without a path of the user's it goes with this object."""

    def __init__(self, path: Optional[str] = None) -> None:
        if path is None:
            folder = tempfile.mkdtemp(prefix="tracedb-cut-")
            path = os.path.join(folder, "cut.json.gz")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = path

    def open(self, timeout_s: float = 60, browser: Any = webbrowser) -> bool:
        """Opens the trace in Perfetto's page, in this machine's browser: it is read from a port of
        this machine, and goes nowhere else. True: the page has fetched it."""
        served = threading.Event()
        handler = functools.partial(_OneFile, self.path, served)
        try:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", PERFETTO_PORT), handler)
        except OSError as error:
            raise TracedbError(f"port {PERFETTO_PORT} of this machine, the only one that "
                               f"Perfetto's page may read from: {error.strerror}") from error
        with server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            name = os.path.basename(self.path)
            browser.open(f"{PERFETTO}/#!/?url=http://127.0.0.1:{PERFETTO_PORT}/{name}")
            fetched = served.wait(timeout_s)
            server.shutdown()
        return fetched

    def _repr_html_(self) -> str:
        size = os.path.getsize(self.path)
        shown = f"{size / 1e6:.1f} MB"
        if size > EMBEDDED_BYTES_MAX:
            return (f"<p><code>{html.escape(self.path)}</code> ({shown}): too large to keep in a "
                    f"notebook; <code>.open()</code> shows it in Perfetto</p>")
        with open(self.path, "rb") as file:
            data = base64.b64encode(file.read()).decode()
        title = json.dumps(os.path.basename(self.path)).replace("<", "\\u003c")
        return _BUTTON.format(name=f"tracedb-{id(self):x}", path=html.escape(self.path), size=shown,
                              perfetto=PERFETTO, data=data, title=title)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<trace {self.path}: .open() shows it in Perfetto>"
