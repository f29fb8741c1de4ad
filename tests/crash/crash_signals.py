"""Ctrl-C and its like: the program ends at once, says so, and takes its partial file along."""
import fcntl
import os
import signal
import sqlite3
import time

from crash_check import in_parallel, own_place, tally
from crash_kills import seconds_of, wait_for_landing
from crash_states import Database, Sequence, bad_message, ended

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MOMENTS = 40


def stop(child, number, prompt_s):
    """(exit status, standard error, seconds) after a signal."""
    begun = time.monotonic()
    child.send_signal(number)
    status, said = ended(child, prompt_s)
    return status, said, time.monotonic() - begun


def look_after_stop(database, sequence, status, said, others=()):
    """(state, what is wrong): exit 1 with a message; or it was done before; or the signal came
    before the program had begun to work, and so to catch it."""
    problems = []
    litter = [name for name in database.litter() if name not in others]
    if litter:
        problems.append(f"exit {status} left {litter}")
    state, wrong = sequence.state_of(database.path)
    problems += [wrong] if wrong else []
    if status == 0 and state != sequence.last():
        problems.append(f"exit 0, but {state}")
    elif status == 1:
        wrong = bad_message(said, [])
        problems += [wrong] if wrong else []
    elif status not in (0, 1) and not (isinstance(status, int) and status < 0 and
                                       state == "before"):
        problems.append(f"exit {status}, {state}")
    return state, problems


def stop_once(case):
    """(exit status, state, seconds, what is wrong)"""
    options, sequence, number, when = case
    database = Database(own_place(options, "stop"), options)
    database.reset(sequence.before)
    child = database.start(sequence.all_at_once())
    if isinstance(when, tuple):
        wait_for_landing(child, database, *when)
    else:
        time.sleep(when)
    status, said, seconds = stop(child, number, options.prompt_s)
    state, problems = look_after_stop(database, sequence, status, said)
    problems += sequence.ends_well(database)
    return status, state, seconds, [f"{signal.Signals(number).name} at {when}: {text}"
                                    for text in problems]


def random_moments(options, checks, sequence, number):
    name = signal.Signals(number).name
    chance = options.random(f"stop {name}")
    moments = MOMENTS // options.moments_share
    whole, landings = seconds_of(Database(options.place("undisturbed"), options), sequence)
    cases = []
    for moment in range(moments):
        when = whole * (moment + chance.random()) / moments
        if moment % 2 == 1 and landings:
            nth = chance.randrange(len(landings))
            when = (nth + 1, chance.uniform(0, landings[nth]))
        cases.append((options, sequence, number, when))
    results = in_parallel(options, stop_once, cases)
    checks.say(f"{name} at random moments", [text for *_, wrong in results for text in wrong],
               f"{moments} within {whole * 1000:.0f} ms, the slowest to end took "
               f"{max(seconds for _, _, seconds, _ in results):.2f} s: "
               f"{tally(f'exit {status}' for status, _, _, _ in results)}; "
               f"{tally(state for _, state, _, _ in results)}")


def wait_until(what, seconds=600):
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def while_a_reader_reads(options, checks, sequence):
    """A reader holds the database, so the landing waits: it does not make the user wait."""
    for number in SIGNALS[:2]:
        database = Database(options.place("reader-holds"), options)
        database.reset(sequence.before)
        reader = sqlite3.connect(database.path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM _trace").fetchall()
        child = database.start(sequence.all_at_once())
        waits = wait_until(lambda: "trace.db-journal" in database.litter())
        time.sleep(0.5)
        status, said, seconds = stop(child, number, options.prompt_s)
        reader.close()
        state, problems = look_after_stop(database, sequence, status, said)
        if not waits:
            problems.append("it never came to the landing")
        if status == 0:
            problems.append("it landed in spite of the reader: nothing was tested")
        problems += sequence.ends_well(database)
        checks.say(f"{signal.Signals(number).name} while a landing waits for a reader", problems,
                   f"exit {status} after {seconds:.2f} s, {state}")


def while_another_ingests(options, checks, sequence):
    """Another ingest holds NAME.partial, which is not to be touched."""
    for number in SIGNALS[:2]:
        database = Database(options.place("lock-held"), options)
        database.reset(sequence.before)
        with open(database.path + ".partial", "wb") as held:
            held.write(b"another's")
            held.flush()
            fcntl.flock(held, fcntl.LOCK_EX)
            child = database.start(sequence.all_at_once())
            os.set_blocking(child.stderr.fileno(), True)
            first = child.stderr.readline().decode()
            time.sleep(0.2)
            status, said, seconds = stop(child, number, options.prompt_s)
            state, problems = look_after_stop(database, sequence, status, said,
                                              ["trace.db.partial"])
            with open(database.path + ".partial", "rb") as file:
                if file.read() != b"another's":
                    problems.append("the other's partial file was changed")
        os.unlink(database.path + ".partial")
        if "waiting for another ingest" not in first:
            problems.append(f"it did not say that it waits: {first}")
        problems += sequence.ends_well(database)
        checks.say(f"{signal.Signals(number).name} while it waits for another ingest", problems,
                   f"exit {status} after {seconds:.2f} s, {state}")


def twice(options, checks, sequence):
    """The second signal ends it wherever it is; then the next ingest cleans up."""
    problems = []
    statuses = []
    chance = options.random("twice")
    database = Database(options.place("twice"), options)
    for number in range(10):
        database.reset(sequence.before)
        child = database.start(sequence.all_at_once())
        time.sleep(0.02 + 0.05 * chance.random())
        child.send_signal(signal.SIGINT)
        status, said, _ = stop(child, signal.SIGINT, options.prompt_s)
        statuses.append(f"exit {status}")
        if status not in (0, 1, -signal.SIGINT):
            problems.append(f"round {number}: exit {status}: {said.strip()}")
        _, wrong = sequence.state_of(database.path)
        problems += [wrong] if wrong else []
        problems += sequence.ends_well(database)
    checks.say("SIGINT twice", problems, tally(statuses))


def run(options, checks):
    maker = Database(options.place("maker"), options)
    seqpar = [options.fixture(f"seqpar/rank{rank}.pt.trace.json.gz") for rank in range(3)]
    before = maker.made_of(seqpar[:1], options.place("stop-before.db"))
    sequence = Sequence(maker, before, seqpar[1:])
    for number in SIGNALS:
        random_moments(options, checks, sequence, number)
    pages = Sequence(maker, before, [options.many(f"many{rank}.json", rank) for rank in (1, 2)])
    random_moments(options, checks, pages, SIGNALS[0])
    while_a_reader_reads(options, checks, sequence)
    while_a_reader_reads(options, checks, pages)
    while_another_ingests(options, checks, sequence)
    twice(options, checks, sequence)
