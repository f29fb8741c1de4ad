"""A headless Chromium that tests drive over its DevTools protocol, with the standard library alone.

    with Browser() as browser:
        page = browser.open("file:///tmp/report.html", width=1280, height=900)
        page.evaluate("document.title")
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS_MAX = 120


def high_pipe():
    """A pipe whose descriptors are none of those that the browser is given."""
    low = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in low)
    for end in low:
        os.close(end)
    return high


class Browser:
    def __init__(self):
        program = next((found for found in map(shutil.which, PROGRAMS) if found), None)
        assert program, f"none of {', '.join(PROGRAMS)} is installed (Debian's package: chromium)"
        self.folder = tempfile.mkdtemp(prefix="tracedb-browser-")
        to_browser, self.write_end = high_pipe()
        self.read_end, from_browser = high_pipe()
        # It reads commands from descriptor 3, and answers on 4.
        shell = 'exec "$@" 3<&{0} 4>&{1} {0}<&- {1}>&-'.format(to_browser, from_browser)
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--remote-debugging-pipe",
             "--no-first-run", f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.last_id = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_end)
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self.read_end, 1 << 20)
            assert piece, "the browser has ended"
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        """The result of a command; events that come meanwhile are kept."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        end = time.monotonic() + SECONDS_MAX
        while True:
            answer = self._read(end)
            if answer.get("id") == self.last_id:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def open(self, url, **more):
        return Page(self, url, **more)


class Page:
    """A tab; troubles is what its console and its network said that it should not."""

    def __init__(self, browser, url, width=1280, height=900, dark=False, media=""):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.url = url
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in answer, (expression, answer)
        return answer["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + SECONDS_MAX
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"never: {condition}"
            thrown = self.events("Runtime.exceptionThrown")
            assert thrown == [], (condition, thrown)
            time.sleep(0.05)

    def settle(self):
        """Until what a change of size sets off has been drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => "
                      "requestAnimationFrame(done)))")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def move_pointer(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000),
                "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def events(self, *methods):
        self.evaluate("0")  # what was said before has come by then
        return [event for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] in methods]

    def troubles(self):
        """Errors and warnings, dialogs, and addresses other than the page's own."""
        found = [event["params"] for event in self.events("Runtime.exceptionThrown",
                                                         "Page.javascriptDialogOpening")]
        found += [event["params"]["entry"] for event in self.events("Log.entryAdded")]
        found += [event["params"] for event in self.events("Runtime.consoleAPICalled")]
        for event in self.events("Network.requestWillBeSent"):
            address = event["params"]["request"]["url"]
            if address != self.url and not address.startswith("data:"):
                found.append(address)
        return found

    def close(self):
        self.call("Page.close")
