"""What every comparison with an oracle does: goes through its sets, and counts."""
import argparse
import os
import sys
import tempfile

QUERY_OPTION = ("--query", {"help": "this query only"})
HERE = os.path.dirname(os.path.abspath(__file__))


def show(options, name, what, differences):
    """One line a set, the first differences below it; True when there is none."""
    print(f"{'FAIL' if differences else 'ok  '} {name} ({what})")
    for line in differences[:options.show]:
        print("     " + line[:600])
    if len(differences) > options.show:
        print(f"     ... and {len(differences) - options.show} more")
    sys.stdout.flush()
    return not differences


def traces_in(path):
    """The traces in a folder and below it; a file is one."""
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
                  if name.endswith((".json", ".json.gz", ".json.zst")))


def run_sets(about, sets, check, seeds, more=()):
    """Returns the exit code. about: what --help says; sets(options, folder): what has a name, each;
    check(options, set): True when nothing differs; more: (flag, settings) of options of its
    own."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--program", required=True)
    parser.add_argument("--fixtures", default=os.path.join(HERE, "..", "..", "fixtures"))
    parser.add_argument("--only", default="", help="only sets with this in their name")
    parser.add_argument("--half", type=int, choices=(1, 2), help="every second set only")
    parser.add_argument("--seeds", type=int, default=seeds, help="how many random sets")
    parser.add_argument("--show", type=int, default=5, help="differences shown a set")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="more of them, a set each")
    for flag, settings in more:
        parser.add_argument(flag, **settings)
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tracedb-oracle-") as folder:
        for number, of in enumerate(sets(options, folder)):
            if options.only not in of.name or options.half not in (None, number % 2 + 1):
                continue
            if check(options, of):
                passed += 1
            else:
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
