"""tracedb serve-csv on a damaged database: a request or two, and an end when it is told."""
import http.client
import json
import select
import signal
import subprocess
import time

from damage_checks import SANITIZER, Fault, no_constants

PATHS = ("/query/overlap.csv", "/query/info_traces.json", "/query/kernels_top.csv",
         "/query/step_times.json", "/", "/report", "/query/nccl_stalls.json")


class Served:
    ok = True

    def __init__(self, ok):
        self.ok = ok


def ask(port, path, seconds):
    """Breaking the connection off is how an answer fails that has begun."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 200 and path.endswith(".json"):
            json.loads(body.decode("utf-8"), parse_constant=no_constants)
        return answer.status == 200
    except TimeoutError as error:
        raise Fault(f"serve-csv: no answer to {path}") from error
    except ValueError as error:
        raise Fault(f"serve-csv: broken JSON from {path}: {error}") from error
    except (http.client.HTTPException, ConnectionError):
        return False
    finally:
        connection.close()


def serve(damaged):
    seconds = 12 * damaged.told.cpu_s
    process = subprocess.Popen([damaged.told.program, "--db", damaged.path, "serve-csv", "--port",
                                "0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        ready, _, _ = select.select([process.stderr], [], [], seconds)
        line = process.stderr.readline().decode("utf-8", "replace") if ready else ""
        if " is at http://" in line:
            port = int(line.split(" is at ")[1].split()[0].split("?")[0].rstrip("/").split(":")[-1])
            for path in damaged.random.sample(PATHS, 2):
                yield Served(ask(port, path, seconds))
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired as error:
                raise Fault(f"serve-csv does not end: {time.monotonic() - begun:.0f} s") from error
        else:
            process.wait(seconds)
        errors = line + process.stderr.read().decode("utf-8", "replace")
        if process.returncode not in (0, 1) or SANITIZER.search(errors):
            raise Fault(f"serve-csv: exit {process.returncode}: {errors[-1500:]}")
        if process.returncode == 1 and "tracedb: " not in errors:
            raise Fault("serve-csv fails without a message")
        yield Served(process.returncode == 0)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()
