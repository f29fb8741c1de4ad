"""kill -9 at random moments: the database is in a state between files, the next ingest cleans up.

The systematic ones, at every call that changes a file, are in crash_faults.py.
"""
import os
import time

from crash_check import in_parallel, own_place, tally
from crash_states import Database, Sequence, TIMEOUT_S, ended

LOOK_EVERY_S = 50e-6


def phase_of(litter):
    """What a process was at when it died, by what it left."""
    if any("-mj" in name for name in litter):
        return "committing"
    if "trace.db-journal" in litter:
        return "landing"
    return "making rows" if litter else "between files"


def seconds_of(database, sequence):
    """(the whole ingest, each of its landings) when nobody disturbs it."""
    database.reset(sequence.before)
    begun = time.monotonic()
    child = database.start(sequence.all_at_once())
    journal = database.path + "-journal"
    landings = []
    since = None
    while child.poll() is None:
        now = time.monotonic()
        there = os.path.exists(journal)
        if there and since is None:
            since = now
        elif not there and since is not None:
            landings.append(now - since)
            since = None
        time.sleep(LOOK_EVERY_S)
    ended(child, TIMEOUT_S)
    return time.monotonic() - begun, landings


def wait_for_landing(child, database, nth, delay_s):
    """Until the n-th landing of a child has begun, and then for `delay_s` seconds."""
    journal = database.path + "-journal"
    there = False
    while child.poll() is None:
        was, there = there, os.path.exists(journal)
        nth -= there and not was
        if nth == 0:
            time.sleep(delay_s)
            return
        time.sleep(LOOK_EVERY_S)


def look_after_kill(database, sequence, chance):
    """(state, what is wrong): by SQLite, by the program, or by neither before the next ingest."""
    look = chance.choice(("sqlite first", "program first", "ingest first"))
    if look == "ingest first":
        return "next ingest at once", []
    problems = []
    if look == "program first":
        status, _, said = database.query("SELECT count(*) AS n FROM traces")
        if status != 0 and not (status == 1 and "no such database" in said):
            problems.append(f"query: exit {status}: {said.strip()}")
    state, wrong = sequence.state_of(database.path)
    if wrong:
        return state, [*problems, f"{look}: {wrong}"]
    return state, problems + sequence.seen_by_program(database, state)


def kill_once(case):
    """(phase, state, what is wrong)"""
    options, name, sequence, number, when = case
    chance = options.random(f"{name} {number}")
    database = Database(own_place(options, "kill"), options)
    database.reset(sequence.before)
    child = database.start(sequence.all_at_once())
    if isinstance(when, tuple):
        wait_for_landing(child, database, *when)
    else:
        time.sleep(when)
    child.kill()
    status, said = ended(child, TIMEOUT_S)
    litter = database.litter()
    problems = [] if status in (0, -9) else [f"exit {status}: {said}"]
    state, wrong = look_after_kill(database, sequence, chance)
    problems += wrong + sequence.ends_well(database)
    return (phase_of(litter) if status == -9 else "after the end", state,
            [f"kill {number} (left {litter}): {text}" for text in problems])


def scenario(options, checks, name, sequence, kills):
    """Half of the kills evenly over the whole time, half of them while a file lands; that many
    with --all."""
    kills //= options.moments_share
    chance = options.random(name)
    database = Database(options.place("undisturbed"), options)
    runs = [seconds_of(database, sequence) for _ in range(3)]
    whole = min(seconds for seconds, _ in runs)
    landings = max((landings for _, landings in runs), key=len)
    cases = []
    for number in range(kills):
        when = whole * (number + chance.random()) / kills
        if number % 2 == 1 and landings:
            nth = chance.randrange(len(landings))
            when = (nth + 1, chance.uniform(0, landings[nth]))
        cases.append((options, name, sequence, number, when))
    results = in_parallel(options, kill_once, cases)
    checks.say(f"kill -9, {name}", [text for _, _, wrong in results for text in wrong],
               f"{kills} kills within {whole * 1000:.0f} ms: "
               f"{tally(phase for phase, _, _ in results)}; "
               f"then {tally(state for _, state, _ in results)}")


def wait_for_early_write(child, database):
    """Until SQLite has written into the database, though it has not committed."""
    first = os.stat(database.path).st_mtime_ns
    while child.poll() is None and os.stat(database.path).st_mtime_ns == first:
        time.sleep(LOOK_EVERY_S)


def new_database_after_kill(options, checks, old, new):
    """The user removes or empties a database after a kill, and makes it anew: SQLite's journal of
    the old one lies there still, and is nothing to the new one."""
    database = Database(options.place("anew"), options)
    large = options.large("large.json", rank=1)
    for doing in ("removed", "emptied"):
        left = []
        for _ in range(5):  # it might come to its end before
            database.reset(old)
            child = database.start(["--memory", "32M", large])
            wait_for_early_write(child, database)
            child.kill()
            ended(child, TIMEOUT_S)
            left = database.litter()
            if "trace.db-journal" in left:
                break
        problems = [] if "trace.db-journal" in left else ["no journal was left"]
        if doing == "removed":
            os.unlink(database.path)
        else:
            os.truncate(database.path, 0)
        problems += new.ends_well(database)
        state, wrong = new.state_of(database.path)
        if state != new.last():
            problems.append(f"the new database: {state} {wrong}")
        checks.say(f"a database {doing} after a kill", problems, f"left: {', '.join(left)}")


def run(options, checks):
    seqpar = [options.fixture(f"seqpar/rank{rank}.pt.trace.json.gz") for rank in range(3)]
    legacy = options.fixture("legacy/rank1.pt.trace.json")
    large = options.large("large.json", rank=1)
    maker = Database(options.place("maker"), options)
    before = maker.made_of([seqpar[0]], options.place("before.db"))
    full = maker.made_of([seqpar[0], seqpar[1], legacy], options.place("full.db"))
    folder = os.path.dirname(options.fixture("seqpar/rank1.pt.trace.json.gz", "two"))
    options.fixture("seqpar/rank2.pt.trace.json.gz", "two")
    in_folder = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    first = Sequence(maker, None, [seqpar[1], seqpar[2]])
    spill = ["--memory", "32M"]
    scenario(options, checks, "into a database",
             Sequence(maker, before, [seqpar[1], legacy, seqpar[2]]), 80)
    scenario(options, checks, "first ingest", first, 40)
    scenario(options, checks, "more than the cache", Sequence(maker, before, [large], spill), 20)
    pages = [options.many(f"many{rank}.json", rank) for rank in (1, 2)]
    scenario(options, checks, "as pages", Sequence(maker, before, pages), 60)
    scenario(options, checks, "a folder", Sequence(maker, before, in_folder, (), [folder]), 20)
    scenario(options, checks, "replace",
             Sequence(maker, full, [seqpar[1], legacy], ["--replace"]), 40)
    new_database_after_kill(options, checks, before, first)
