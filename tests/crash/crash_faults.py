"""Calls that fail or end the process, one after the other through a whole ingest.

fault_shim.cc hits the N-th call of a kind; here it is each N in turn. An ingest that says it failed
left the database from before or after a file, one that says it is done left all of it.
"""
import errno
import os
import signal

from crash_check import in_parallel, own_place, tally
from crash_states import Database, Sequence, bad_message, ended

CHANGES = "write,sync,open,close,unlink,rename,truncate"
NOT_WRITES = "sync,open,close,unlink,rename,truncate"
ALWAYS_HIT = 8  # so many first calls of those that are many: where files get what tells them apart
# Kind of call, how it is hit, with what, and whether every call is hit even where there are many.
FAULTS = (
    ("write", "short", errno.ENOSPC, False),  # half of it fits, then the disk is full and stays so
    ("write", "once", errno.EIO, False),
    ("sync", "once", errno.EIO, True),
    ("sync", "always", errno.EIO, True),
    ("rename", "once", errno.EIO, True),
    ("unlink", "once", errno.EIO, True),
    ("truncate", "once", errno.EIO, True),
    ("open", "once", errno.EMFILE, True),
    ("close", "once", errno.EIO, True),
    ("pread", "once", errno.EIO, False),
    ("lock", "once", errno.ENOLCK, False),
    ("stat", "once", errno.EIO, False),
    ("write", "torn", 0, False),
    ("write", "kill", 0, False),
    (NOT_WRITES, "kill", 0, True),
    (CHANGES, "signal", signal.SIGINT, False),
)
# Where a failure may go unnoticed, since nothing is lost by it: SQLite itself ignores that a folder
# cannot be synced or opened for that, a descriptor is gone whatever close says, what cannot be
# looked at or removed was not needed.
# The first ingest renames and removes nothing; a further one is the other way round. Adding pages
# alone sets a file's length.
NOT_MADE = {("first ingest", "unlink"), ("first ingest", "truncate"), ("into a database", "rename"),
            ("into a database", "truncate"), ("as pages", "rename")}
# Of files read side by side: calls of several threads come in another order each time, so only what
# means the same wherever it comes.
BESIDE = {("write", "short"), ("pread", "once"), ("write", "kill")}
# Files that cannot be added together are added one by one, and a failure that came once is gone.
TRIED_AGAIN = ("pread",)
# What is ready when it is a file's turn lands together, in fewer calls than one by one: of calls
# counted in one ingest some are never made in the next.
NOT_REACHED_MAX = 0.1  # of those that are to be hit
MAY_PASS = ("close", "stat", "unlink", "open", "lock", "truncate")


def shim(options, folder, calls, how, error, at, log=""):
    return {"LD_PRELOAD": options.shim, "FAULT_UNDER": folder, "FAULT_CALLS": calls,
            "FAULT_HOW": how, "FAULT_ERRNO": str(int(error)), "FAULT_AT": str(at),
            "FAULT_LOG": log}


def hit_name(how, error):
    if how == "signal":
        return signal.Signals(error).name
    return f"{how} {errno.errorcode[error]}" if error else how


def calls_of(options, database, sequence, calls, under=None):
    """'kind path' of each call that an undisturbed ingest makes, in their order."""
    log = options.place("calls.log")
    if os.path.exists(log):
        os.unlink(log)
    database.reset(sequence.before)
    database.ingest(sequence.all_at_once(), shim(options, under or database.folder, calls, "", 0, 0,
                                                     log))
    return lines_of(log)


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file]


def verdict(case, status, said, state, litter):
    """What is wrong with how the program took it."""
    options, sequence, (_, how, _, _), _, call, names = case
    names = [*names, own_place(options, "faults") + ": "]  # the folder itself
    if how in ("torn", "kill"):
        return [] if status == -signal.SIGKILL else [f"exit {status}, not killed: {said.strip()}"]
    kind, path = call.split(" ", 1)
    problems = []
    if status == 0:
        again = "--jobs" in sequence.arguments and kind in TRIED_AGAIN and how == "once"
        folder = kind == "sync" and os.path.isdir(path)
        passes = again or kind in MAY_PASS or folder or how == "signal"
        if state != sequence.last():
            problems.append(f"exit 0, but {state}")
        elif not passes:
            problems.append("exit 0: the failure went unnoticed")
    elif status == 1:
        wrong = bad_message(said, ["interrupted"] if how == "signal" else names)
        problems += [wrong] if wrong else []
    elif not (how == "signal" and status == -signal.SIGINT):
        problems.append(f"exit {status}: {said.strip()}")
    # One that cannot write any more cannot roll back either; the next one does.
    stuck = how in ("short", "always") or kind == "unlink"
    if litter and not stuck:
        problems.append(f"left {litter}")
    return problems


def hit_once(case):
    """(state, exit status, what is wrong); status None: there was no such call this time."""
    options, sequence, (calls, how, error, _), at, call, _ = case
    database = Database(own_place(options, "faults"), options)
    database.reset(sequence.before)
    log = own_place(options, "made") + ".log"
    if os.path.exists(log):
        os.unlink(log)
    child = database.start(sequence.all_at_once(),
                           shim(options, database.folder, calls, how, error, at, log))
    status, said = ended(child, options.prompt_s if how == "signal" else 60)
    litter = database.litter()
    state, wrong = sequence.state_of(database.path)
    problems = [wrong] if wrong else []
    is_beside = "--jobs" in sequence.arguments
    if is_beside and len(lines_of(log)) < at and status == 0 and state == sequence.last():
        return state, None, problems
    problems += verdict(case, status, said, state, litter)
    if litter or state not in ("before", sequence.last()):
        problems += sequence.ends_well(database)
    place = call.replace(own_place(options, "faults"), "").replace(options.place("count"), "")
    name = f"{hit_name(how, error)} at call {at} ({place})"
    return state, status, [f"{name}: {text}" for text in problems]


def hit_each(options, checks, name, sequence, fault):
    calls, how, _, every = fault
    counter = Database(options.place("count"), options)
    made = calls_of(options, counter, sequence, calls)
    step = 1 if every else options.share
    first = options.random(f"{name} {calls} {how}").randrange(step)
    names = ["trace.db", *map(os.path.basename, sequence.all_at_once())]
    cases = [(options, sequence, fault, at + 1, made[at], names)
             for at in range(len(made)) if at < ALWAYS_HIT or at % step == first]
    results = in_parallel(options, hit_once, cases)
    what = {CHANGES: "changes", NOT_WRITES: "other changes"}.get(calls, calls)
    title = f"{name}: {what}, {hit_name(how, fault[2])}"
    problems = [text for _, _, wrong in results for text in wrong]
    missed = sum(1 for _, status, _ in results if status is None)
    if missed > NOT_REACHED_MAX * len(cases):
        problems.append(f"{missed} of {len(cases)} calls were never made")
    if not cases:
        problems.append("there was no such call: the library is not in front of the program's")
    checks.say(title, problems,
               f"{len(cases)} of {len(made)} calls; "
               f"{tally('not made' if s is None else f'exit {s}' for _, s, _ in results)}; "
               f"{tally(state for state, _, _ in results)}")


def plain_rename(options, checks, sequence):
    """A file system whose rename takes no flags: the first ingest does without them."""
    for error in (errno.EINVAL, errno.ENOSYS):
        database = Database(options.place("rename"), options)
        database.reset(None)
        status, said = database.ingest(sequence.all_at_once(),
                                       shim(options, database.folder, "rename", "once", error, 1))
        state, wrong = sequence.state_of(database.path)
        well = status == 0 and state == sequence.last()
        checks.say(f"a file system whose rename says {errno.errorcode[error]} to flags",
                   [] if well else [f"exit {status}: {said.strip()}", f"{state} {wrong}"],
                   f"exit {status}, {state}")


def read_fails_once(case):
    """What is wrong after one read of an input failed."""
    options, before, sequence, path, arguments, at = case
    database = Database(own_place(options, "reads"), options)
    database.reset(before)
    status, said = database.ingest(arguments, shim(options, os.path.dirname(path), "read", "once",
                                                   errno.EIO, at))
    problems = []
    if status != 1:
        problems.append(f"exit {status}: {said.strip()}")
    else:
        wrong = bad_message(said, [path])
        problems += [wrong] if wrong else []
    state, harm = sequence.state_of(database.path)
    if state != "before" or database.litter():
        problems.append(f"{state} {harm}, left {database.litter()}")
    return [f"read {at} of {os.path.basename(path)}: {text}" for text in problems]


def inputs_that_fail(options, checks, maker, before):
    """A disk that cannot read on in the middle of an input, or while its hash is taken."""
    cases = []
    for path in (options.fixture("seqpar/rank1.pt.trace.json.gz", "reads"),
                 options.large("reads.json")):
        known = maker.made_of([path], options.place(os.path.basename(path) + ".db"))
        for start in (before, known):  # whose size is known, its hash is taken first
            sequence = Sequence(maker, start, [path])
            reads = len(calls_of(options, maker, sequence, "read", os.path.dirname(path)))
            cases += [(options, start, sequence, path, [path], at + 1) for at in range(reads)]
    problems = [text for wrong in in_parallel(options, read_fails_once, cases) for text in wrong]
    if not cases:
        problems.append("there was no read at all")
    checks.say("reading an input fails", problems, f"{len(cases)} reads, each EIO")


def folder_with_a_bad_file(options, checks, maker, before):
    """The other files of a folder go on; the end is exit 1 all the same."""
    bad = options.fixture("seqpar/rank1.pt.trace.json.gz", "folder/bad")
    good = options.fixture("seqpar/rank2.pt.trace.json.gz", "folder")
    sequence = Sequence(maker, before, [good])
    maker.reset(before)
    status, said = maker.ingest([os.path.dirname(good)],
                                shim(options, os.path.dirname(bad), "read", "once", errno.EIO, 1))
    state, wrong = sequence.state_of(maker.path)
    problems = []
    if status != 1 or bad not in said or state != sequence.last() or maker.litter():
        problems.append(f"exit {status}, {state} {wrong}, left {maker.litter()}: {said.strip()}")
    checks.say("a folder with a file that cannot be read", problems, f"exit {status}, {state}")


def run(options, checks):
    maker = Database(options.place("maker"), options)
    first, second = (options.fixture(f"legacy/rank{rank}.pt.trace.json") for rank in (0, 1))
    before = maker.made_of([first], options.place("fault-before.db"))
    begun = Sequence(maker, None, [first])
    merged = Sequence(maker, before, [second])
    replaced = Sequence(maker, before, [first], ["--replace"])
    pages = Sequence(maker, before, [options.many("many.json", 1)])
    for name, sequence in (("first ingest", begun), ("into a database", merged),
                           ("as pages", pages)):
        for fault in FAULTS:
            if (name, fault[0]) not in NOT_MADE:
                hit_each(options, checks, name, sequence, fault)
    for fault in FAULTS[:2]:
        hit_each(options, checks, "replace", replaced, (*fault[:3], False))
    # Both are read before either lands; the second's rows are numbered when the first is read.
    beside = Sequence(maker, before, [second, options.many("beside.json", 2, 12000)],
                      ["--jobs", "2", "--memory", "128M"])
    for fault in FAULTS:
        if (fault[0], fault[1]) in BESIDE:
            hit_each(options, checks, "side by side", beside, (*fault[:3], False))
    # The first takes longest to read; when it is done the others are as well, and all land at once.
    together = Sequence(maker, before, [options.many("first.json", 3, 36000),
                                        options.many("second.json", 4, 18000),
                                        options.many("third.json", 5, 18000)],
                        ["--jobs", "3", "--memory", "128M"])
    for fault in FAULTS:
        if (fault[0], fault[1]) in BESIDE:
            hit_each(options, checks, "together", together, (*fault[:3], False))
    plain_rename(options, checks, begun)
    inputs_that_fail(options, checks, maker, before)
    folder_with_a_bad_file(options, checks, maker, before)
