"""Runs the program on the files of a scenario, and reads its answers."""
import json
import os
import subprocess

TIMEOUT_S = 120


class ProgramFailed(Exception):
    """A command that should have worked did not; what it said."""


class Program:
    """The program with a database of its own in a folder."""

    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder
        self.answers = {}

    def run(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "TRACEDB_DB"}
        environment.update({"LC_ALL": "C.UTF-8", "TZ": "UTC"})
        return subprocess.run([self.path, "--db", "scenario.db", *arguments], cwd=self.folder,
                              env=environment, capture_output=True, text=True,
                              timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)

    def must(self, *arguments):
        """The standard output of a command that has to work."""
        key = tuple(arguments)
        if key not in self.answers:
            done = self.run(*arguments)
            if done.returncode != 0:
                said = (done.stderr or done.stdout).strip().split("\n")[0][:200]
                raise ProgramFailed(f"tracedb {' '.join(arguments)}: exit {done.returncode}: "
                                    f"{said}")
            self.answers[key] = done.stdout
        return self.answers[key]

    def rows(self, *arguments):
        text = self.must("query", *arguments, "--format", "json")
        try:
            return json.loads(text) if text.strip() else []
        except json.JSONDecodeError as error:
            raise ProgramFailed(f"tracedb query {' '.join(arguments)}: no JSON: {error}") from error

    def sql(self, text):
        return self.rows("-c", text)

    def run_names(self, jobs):
        """folder of a job -> the name of its run; a job of several runs is no name."""
        names = {}
        for row in self.sql("SELECT run, path FROM traces"):
            for job in jobs:
                if f"{job.folder}/" in row["path"]:
                    names.setdefault(job.folder, set()).add(row["run"])
        for job in jobs:
            if len(names.get(job.folder, ())) != 1:
                raise ProgramFailed(f"the files of {job.folder} belong to "
                                    f"{len(names.get(job.folder, ()))} runs, not to one")
        found = {folder: min(of_folder) for folder, of_folder in names.items()}
        if len(set(found.values())) < len(found):
            raise ProgramFailed(f"{' and '.join(found)} are one run, {min(found.values())}")
        return found

    def rows_of(self, query, job, jobs):
        """The rows of a canned query, or of SQL, that belong to the run of a job."""
        rows = self.sql(query) if " " in query else self.rows(query)
        if rows and "run" not in rows[0]:
            if len(jobs) > 1:
                raise ProgramFailed(f"{query.split(' FROM')[0]}: no column run")
            return rows
        return [row for row in rows if row["run"] == self.run_names(jobs)[job.folder]] \
            if rows else []
