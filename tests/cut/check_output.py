"""Where the file goes: whole or not at all, whatever comes between."""
import os
import resource
import signal
import subprocess
import time

OLD = "what was there before"


def leftovers(program, before):
    return sorted(set(os.listdir(program.folder)) - before)


def written(program, process):
    """Bytes of the file that has no name yet. A sanitizer has such files of its own elsewhere."""
    folder = f"/proc/{process.pid}/fd"
    place = os.path.realpath(program.folder) + "/"
    try:
        names = [os.path.join(folder, name) for name in os.listdir(folder)]
        return max((os.stat(name).st_size for name in names
                    if os.readlink(name).startswith(place)
                    and os.readlink(name).endswith("(deleted)")), default=0)
    except FileNotFoundError:  # closed meanwhile
        return 0


def database_of(program):
    names = (f"megatron/rank{rank}.pt.trace.json.gz" for rank in range(8))
    return program.ingested(*(os.path.join(program.fixtures, name) for name in names))


def stopped(program, database, number, exists):
    """Sends the signal once the file has begun to be written."""
    path = program.file("stopped.json")
    if exists:
        with open(path, "w", encoding="utf-8") as file:
            file.write(OLD)
    before = set(os.listdir(program.folder))
    with subprocess.Popen([program.path, "--db", database, "cut", "-o", path],
                          stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            named = leftovers(program, before)  # where file systems have no files without names
            if written(program, process) > 0 or any(os.path.getsize(program.file(name))
                                                    for name in named):
                process.send_signal(number)
                break
            time.sleep(0.0005)
        errors = process.communicate()[1]
        code = process.returncode
    failures = []
    if code != 1 or "interrupted" not in errors:
        failures.append(f"signal {number}: exit {code}, {errors!r}")
    if leftovers(program, before):
        failures.append(f"signal {number}: left behind {leftovers(program, before)}")
    if exists:
        with open(path, encoding="utf-8") as file:
            if file.read() != OLD:
                failures.append(f"signal {number}: the old file is another one")
        os.remove(path)
    elif os.path.exists(path):
        failures.append(f"signal {number}: there is a file")
    return failures


def full_disk(program, database):
    failures = []
    before = set(os.listdir(program.folder))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    for name in ("full.json", "full.json.gz"):
        done = subprocess.run([program.path, "--db", database, "cut", "-o", program.file(name)],
                              capture_output=True, text=True, preexec_fn=limit, check=False)
        if done.returncode != 1 or name not in done.stderr or done.stdout:
            failures.append(f"{name}: exit {done.returncode}, {done.stderr!r}")
    done = program.run("--db", database, "cut", "-o", "/dev/full", ok=False)
    if done.returncode != 1 or "No space left" not in done.stderr:
        failures.append(f"/dev/full: exit {done.returncode}, {done.stderr!r}")
    if leftovers(program, before):
        failures.append(f"full disk: left behind {leftovers(program, before)}")
    return failures


def closed_pipe(program, database):
    with subprocess.Popen([program.path, "--db", database, "cut", "-o", "-"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        head = process.stdout.read(1000)
        process.stdout.close()
        errors = process.stderr.read()
        process.wait()
    if process.returncode == 0 and errors == b"" and head.startswith(b"{"):
        return []
    return [f"closed pipe: exit {process.returncode}, {errors!r}"]


def check(program, _):
    database = database_of(program)
    failures = []
    for number in (signal.SIGINT, signal.SIGTERM):
        for exists in (False, True):
            failures += stopped(program, database, number, exists)
    return failures + full_disk(program, database) + closed_pipe(program, database)
