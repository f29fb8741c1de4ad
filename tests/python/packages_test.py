#!/usr/bin/env python3
"""What `./dev package` made, tried where it will be used.

    packages_test.py --packages FOLDER [--roots] [--filter TEXT]

The archive in a root in which there is nothing else, without root rights; the wheel in a fresh
environment of every CPython from 3.9 on that is here; the .deb's files. With --roots (debootstrap,
a network, root): the .deb in a fresh Debian 12, archive and wheel in other releases.
"""
import argparse
import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
TRACE = os.path.join(ROOT, "fixtures", "megatron", "rank0.pt.trace.json.gz")
WHEEL_BYTES_MAX = 15_000_000
COLD_START_S_MAX = 0.020


def output(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-3000:])
    return done.stdout


class Setting:
    def __init__(self, options, folder):
        self.folder = folder
        self.roots = options.roots

        def only(pattern):
            found = glob.glob(os.path.join(options.packages, pattern))
            assert len(found) == 1, (pattern, found)
            return os.path.abspath(found[0])

        self.deb, self.archive, self.wheel = only("*.deb"), only("*.tar.gz"), only("*.whl")
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            self.version = re.search(r"project\(tracedb VERSION ([0-9.]+)", file.read())[1]

    def unpacked(self, into):
        with tarfile.open(self.archive) as archive:
            archive.extractall(into)
        return os.path.join(into, os.listdir(into)[0])


def versions_agree(setting):
    assert f"_{setting.version}-1_amd64.deb" in setting.deb, setting.deb
    assert f"-{setting.version}-linux-" in setting.archive, setting.archive
    assert f"tracedb_profiler-{setting.version}-py3-none-manylinux_2_17_x86_64" in setting.wheel
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        assert re.search(r"^## ([0-9.]+)", file.read(), re.M)[1] == setting.version
    home = setting.unpacked(os.path.join(setting.folder, "versions"))
    said = output(os.path.join(home, "bin", "tracedb"), "--version")
    assert said.strip().endswith(setting.version), said


def the_deb_has_all(setting):
    listed = output("dpkg-deb", "--contents", setting.deb)
    for path in ("/usr/bin/tracedb", "/tracedb/tracedb.so", "/usr/share/man/man1/tracedb.1.gz",
                 "/usr/share/bash-completion/completions/tracedb",
                 "/usr/share/zsh/site-functions/_tracedb",
                 "/usr/share/fish/vendor_completions.d/tracedb.fish",
                 "/usr/share/tracedb/queries/overlap.sql", "/usr/share/doc/tracedb/copyright"):
        assert re.search(re.escape(path) + r"$", listed, re.M), path
    depends = output("dpkg-deb", "--field", setting.deb, "Depends")
    assert "libsimdjson14" in depends and "libc6" in depends, depends
    # Debian's policy: a package has no copies of what others have, which are mended without it.
    folder = os.path.join(setting.folder, "deb")
    output("dpkg-deb", "--extract", setting.deb, folder)
    needed, _, _ = needs(os.path.join(folder, "usr/bin/tracedb"))
    assert {"libsqlite3.so.0", "libz.so.1", "libzstd.so.1", "libedit.so.2"} <= needed, needed


def needs(file):
    """The libraries that it needs, and the newest versions of symbols of the C and C++ library."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "--dynamic", file))
    versions = output("readelf", "--version-info", file)

    def newest(name):
        found = re.findall(name + r"_([0-9.]+)", versions)
        return max((tuple(map(int, each.split("."))) for each in found), default=())

    return set(needed), newest("GLIBC"), newest("GLIBCXX")


def answers(run, program, trace, database):
    """`run` is a command that runs its arguments somewhere else; empty: here."""
    output(*run, program, "-q", "--db", database, "ingest", trace)
    rows = output(*run, program, "--db", database, "query", "overlap", "--format", "csv")
    assert rows.splitlines()[1].startswith("megatron,0,0,") or ",0,0," in rows, rows
    assert "problem" in output(*run, program, "--db", database, "query", "recommendations")
    assert "<html" in output(*run, program, "--db", database, "report", "-q", "-o", "-")


def the_archive_runs_in_an_empty_root(setting):
    """Without root rights: as the root of a user namespace, which is nobody outside of it."""
    root = os.path.join(setting.folder, "empty")
    home = setting.unpacked(root)
    program = os.path.join(home, "bin", "tracedb")
    assert needs(program) == (set(), (), ()), needs(program)
    # What manylinux_2_17 allows.
    libraries, c, cxx = needs(glob.glob(os.path.join(home, "lib*", "tracedb", "*.so"))[0])
    assert libraries <= {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}, libraries
    assert c <= (2, 17) and cxx <= (3, 4, 19), (c, cxx)
    os.makedirs(os.path.join(root, "tmp"))
    shutil.copy(TRACE, os.path.join(root, "tmp", "rank0.json.gz"))
    here = "/" + os.path.relpath(program, root)
    run = ["unshare", "--user", "--map-root-user", "chroot", root]
    answers(run, here, "/tmp/rank0.json.gz", "/tmp/trace.db")
    # Names of hosts without the libraries that a C library would load for them.
    done = subprocess.run([*run, here, "--db", "/tmp/trace.db", "serve-csv", "--host",
                           "nobody.here", "--token", "t" * 20],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1 and "nobody.here" in done.stderr, done
    for needed in ("LICENSE", "LICENCES-OF-LIBRARIES", "share/man/man1/tracedb.1"):
        assert os.path.exists(os.path.join(home, needed)), needed
    # The extension, in Python's own SQLite, where that loads any.
    code = ("import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n"
            "db.enable_load_extension(True)\ndb.load_extension(sys.argv[2])\n"
            "print(db.execute('SELECT busy_ns(ts_ns, dur_ns) FROM kernels').fetchone()[0])\n")
    extension = glob.glob(os.path.join(home, "lib*", "tracedb", "tracedb.so"))[0]
    got = output("/usr/bin/python3", "-c", code, os.path.join(root, "tmp", "trace.db"), extension)
    want = output(program, "--db", os.path.join(root, "tmp", "trace.db"), "query", "--no-header",
                  "-c", "SELECT busy_ns(ts_ns, dur_ns) FROM kernels", "--format", "csv")
    assert got == want and int(got) > 0, (got, want)


def a_cold_start_is_short(setting):
    """Its pages dropped from the cache before each; the middle of eleven, in processor time."""
    home = setting.unpacked(os.path.join(setting.folder, "start"))
    program = os.path.join(home, "bin", "tracedb")
    database = os.path.join(setting.folder, "start.db")
    output(program, "-q", "--db", database, "ingest", TRACE)
    times = []
    for _ in range(11):
        for file in (program, database):
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        output(program, "--db", database, "query", "overlap", "--format", "csv")
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        times.append((cpu, wall))
    cpu, wall = sorted(times)[5][0], sorted(wall for _, wall in times)[5]
    print(f"     tracedb query overlap, cold: {1000 * cpu:.1f} ms of a processor, "
          f"{1000 * wall:.1f} ms by the clock")
    assert cpu <= COLD_START_S_MAX, times


def pythons():
    """A program of each CPython from 3.9 on."""
    found = {}
    places = [os.path.join(folder, "python3*") for folder in os.get_exec_path()]
    places.append(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))
    for place in places:
        for program in sorted(glob.glob(place)):
            if not re.fullmatch(r"python3(\.\d+)?", os.path.basename(program)):
                continue
            done = subprocess.run([program, "-c", "import sys, venv, ensurepip\nprint(sys.version_"
                                   "info.minor, sys.implementation.name)"], capture_output=True,
                                  text=True, check=False)
            words = done.stdout.split()
            if done.returncode == 0 and words[1] == "cpython" and int(words[0]) >= 9:
                found.setdefault(int(words[0]), program)
    return found


def the_wheel_in_every_python(setting):
    size = os.path.getsize(setting.wheel)
    print(f"     the wheel has {size / 1e6:.1f} MB")
    assert size <= WHEEL_BYTES_MAX, size
    with zipfile.ZipFile(setting.wheel) as wheel:
        names = wheel.namelist()
    assert any(name.endswith(".data/scripts/tracedb") for name in names), names
    assert "tracedb_profiler/py.typed" in names and "tracedb_profiler/tracedb.so" in names, names
    assert any(name.endswith("LICENCES-OF-LIBRARIES") for name in names), names
    found = pythons()
    assert found, "there is no CPython"
    for minor, python in sorted(found.items()):
        venv = os.path.join(setting.folder, f"venv{minor}")
        output(python, "-m", "venv", venv)
        output(os.path.join(venv, "bin", "pip"), "install", "--quiet", "--no-index",
               "--disable-pip-version-check", setting.wheel)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("PYTHON", "TRACEDB"))}
        answers([], os.path.join(venv, "bin", "tracedb"), TRACE,
                os.path.join(setting.folder, f"venv{minor}.db"))
        for test in ("module_test.py", "hook_test.py"):
            output(os.path.join(venv, "bin", "python3"), "-B", os.path.join(HERE, test),
                   env=environment, cwd=setting.folder)
        print(f"     CPython 3.{minor}: the module's tests", flush=True)


def a_root(setting, release):
    root = os.path.join(setting.folder, release)
    mirror = re.search(r"^ .*?(http\S+) bookworm/main",
                       output("apt-cache", "policy"), re.M)[1]
    output("debootstrap", "--variant=minbase", release, root, mirror)
    shutil.copy(TRACE, os.path.join(root, "tmp", "rank0.json.gz"))
    return root


def the_deb_in_a_fresh_debian_12(setting):
    root = a_root(setting, "bookworm")
    shutil.copy(setting.deb, os.path.join(root, "tmp", "tracedb.deb"))
    shutil.copy("/etc/resolv.conf", os.path.join(root, "etc", "resolv.conf"))
    for name in ("sources.list", "apt.conf"):  # as this machine reaches them
        if os.path.exists("/etc/apt/" + name):
            shutil.copy("/etc/apt/" + name, os.path.join(root, "etc", "apt", name))
    output("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y",
           "-qq", "--no-install-recommends", "/tmp/tracedb.deb")
    answers(["chroot", root], "tracedb", "/tmp/rank0.json.gz", "/tmp/trace.db")
    output("chroot", root, "dpkg", "--purge", "tracedb")
    left = output("chroot", root, "find", "/usr", "-name", "*tracedb*")
    assert left == "", left


def the_archive_in_other_debians(setting):
    """Of older and newer C libraries: 2.31 and 2.41."""
    for release in ("bullseye", "trixie"):
        root = a_root(setting, release)
        home = setting.unpacked(os.path.join(root, "opt"))
        program = "/opt/" + os.path.basename(home) + "/bin/tracedb"
        answers(["unshare", "--user", "--map-root-user", "chroot", root], program,
                "/tmp/rank0.json.gz", "/tmp/trace.db")
        print(f"     {release}: " + output("chroot", root, "ldd", "--version").splitlines()[0])


CHECKS = (versions_agree, the_deb_has_all, the_archive_runs_in_an_empty_root,
          a_cold_start_is_short, the_wheel_in_every_python)
ROOT_CHECKS = (the_deb_in_a_fresh_debian_12, the_archive_in_other_debians)


def main():
    parser = argparse.ArgumentParser(description="Try the packages.")
    parser.add_argument("--packages", required=True)
    parser.add_argument("--roots", action="store_true")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracedb-packages-") as folder:
        setting = Setting(options, folder)
        for check in CHECKS + (ROOT_CHECKS if options.roots else ()):
            if options.filter in check.__name__:
                check(setting)
                print(f"ok   {check.__name__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
