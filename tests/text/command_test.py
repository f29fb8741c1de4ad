"""Tests of the command line: shell text in a fresh folder, and what it prints and returns."""
import os
import sys

import program_run
from test_check import Check, temporary_folder, write_inputs
from test_file import BadTest

HOW = ("", "exact", "contains")


def compare(check, test, name, got, folder):
    """Exact where the section says nothing; `contains`: each line stands somewhere in it, and a
    line that begins with `!` does not."""
    section = test.one(name)
    got = got.replace(folder, "$FOLDER")
    if section is None:
        if name == "stdout" and not check.update:
            check.text("stdout", "", got)
        elif name == "stdout" and got:
            check.section("stdout", None, got, "stdout")
        return
    if section.rest not in HOW:
        raise BadTest(f"=== {section.head}: one of {', '.join(HOW[1:])}")
    if section.rest != "contains":
        check.section(name, section, got, section.head)
        return
    for line in filter(None, section.text.splitlines()):
        if line.startswith("!") and line[1:] in got:
            check.fail(f"{name} contains {line[1:]!r}:\n{got}")
        elif not line.startswith("!") and line not in got:
            check.fail(f"{name} does not contain {line!r}:\n{got}")


def run(test, options):
    check = Check(test, options.update)
    with temporary_folder() as folder:
        folder = os.path.realpath(folder)
        write_inputs(test, folder)
        environment = {"TRACEDB": options.program, "SQLITE3": options.sqlite3,
                       "PYTHON": sys.executable, "FIXTURES": options.fixtures,
                       "QUERIES": options.queries,
                       "TESTS": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
        shell = ["/bin/sh", "-c", test.one("command").text]
        outcome = program_run.run(shell, folder, None, environment)
        exit_section = test.one("exit")
        wanted = int(exit_section.text) if exit_section else 0
        if outcome.crashed():
            check.fail(f"{outcome.crashed()}\n{outcome.stderr}")
        elif outcome.code != wanted:
            if check.update and exit_section:
                check.section("exit", exit_section, f"{outcome.code}\n", "exit")
            else:
                check.fail(f"exit {outcome.code} instead of {wanted}\n{outcome.stderr}")
        compare(check, test, "stdout", outcome.stdout, folder)
        compare(check, test, "stderr", outcome.stderr, folder)
    return check
