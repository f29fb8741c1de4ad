"""Several ingests into one database at a time, and readers beside them."""
import os
import sqlite3
import time

from crash_check import tally
from crash_states import BETWEEN_TRACES, Database, Sequence, TIMEOUT_S, ended, environment
from crash_states import integrity, logical, tables

ROUNDS = 10


def alone(options, path):
    """What a database holds of a trace that was ingested by itself."""
    database = Database(options.place("alone"), options)
    database.clear()
    database.ingest([path])
    traces, _ = logical(database.path)
    return traces[0]


def look_together(database, expected, done):
    """What is wrong after ingests of these inputs ended so: [(inputs, exit status, message)]."""
    problems = []
    wanted = set()
    for inputs, status, said in done:
        if status == 0:
            wanted |= set(inputs)
        elif status != -9 and not (status == 1 and said.startswith("tracedb: ")):
            problems.append(f"exit {status}: {said.strip()}")
    wrong = integrity(database.path)
    if wrong:
        return [*problems, wrong]
    traces, _ = logical(database.path)
    there = [path for path, _ in traces]
    if len(there) != len(set(there)):
        problems.append(f"a trace is there twice: {there}")
    if not wanted <= set(there):
        problems.append(f"reported as done and not there: {sorted(wanted - set(there))}")
    problems += [f"not whole: {path}" for path, parts in traces if (path, parts) != expected[path]]
    return problems


def at_a_time(options, checks, name, groups, expected, killed=False):
    """Each group of inputs in an ingest of its own, all started at once."""
    chance = options.random(name)
    problems, words = [], []
    for number in range(ROUNDS):
        database = Database(options.place("together"), options)
        database.clear()
        children = [(inputs, database.start(inputs)) for inputs in groups]
        if killed:
            time.sleep(chance.uniform(0.01, 0.15))
            children[chance.randrange(len(children))][1].kill()
        done = [(inputs, *ended(child, TIMEOUT_S)) for inputs, child in children]
        words += [f"exit {status}" for _, status, _ in done]
        wrong = look_together(database, expected, done)
        if not killed and any(status != 0 for _, status, _ in done):
            wrong.append(f"{[status for _, status, _ in done]}: {done[0][2]}{done[-1][2]}")
        everything = sorted({path for inputs in groups for path in inputs})
        last = database.ingest(everything)
        wrong += look_together(database, expected, [(everything, *last)])
        if last[0] != 0 or database.litter():
            wrong.append(f"the next ingest: exit {last[0]}, left {database.litter()}: {last[1]}")
        problems += [f"round {number}: {text}" for text in wrong]
    checks.say(name, problems, f"{ROUNDS} rounds of {len(groups)}: {tally(words)}")


def one_at_the_database_by_another_name(options, checks, expected, first, second):
    """A symbolic link to the database: another name, another lock; nothing is lost all the same."""
    problems, words = [], []
    for number in range(ROUNDS):
        database = Database(options.place("real"), options)
        linked = Database(options.place("linked"), options)
        for each in (database, linked):
            each.clear()
        database.ingest([first[0]])
        os.symlink(database.path, linked.path)
        children = [(first[1:], database.start(first[1:])), (second, linked.start(second))]
        done = [(inputs, *ended(child, TIMEOUT_S)) for inputs, child in children]
        words += [f"exit {status}" for _, status, _ in done]
        problems += [f"round {number}: the message does not say what to do: {said.strip()}"
                     for _, status, said in done if status == 1 and "another" not in said]
        problems += [f"round {number}: {text}"
                     for text in look_together(database, expected, done)]
    checks.say("two at a time, one through a link", problems, tally(words))


def counts_by_sqlite(path):
    """Rows of every table of what lands, in one transaction; None while there is no database."""
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=TIMEOUT_S,
                             isolation_level=None)
        db.execute("BEGIN")
    except sqlite3.OperationalError as error:
        if "unable to open" in str(error):
            return None
        raise
    found = tuple(db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables(db)
                  if name not in BETWEEN_TRACES)
    db.close()
    return found


def counts_by_program(database, names):
    sql = " || ',' || ".join(f"(SELECT count(*) FROM {name})" for name in names)
    status, rows, said = database.query(f"SELECT {sql} AS n")
    if status == 0:
        return tuple(int(word) for word in rows.strip().strip('"').split(","))
    if status == 1 and "no such database" in said:
        return None
    raise RuntimeError(f"query: exit {status}: {said.strip()}")


def read_during(options, checks, name, sequence, rounds):
    """Looks again and again while files land, by SQLite and by the program in turn."""
    names = [name for name in sequence.contents[-1] if name not in BETWEEN_TRACES]
    states = [None if content is None else tuple(content[name][0] for name in names)
              for content in sequence.contents]
    problems, seen = [], []
    database = Database(options.place("read"), options)
    for _ in range(rounds):
        database.reset(sequence.before)
        child = database.start(sequence.all_at_once(), environment())
        at = 0
        while child.poll() is None:
            try:
                for look in (counts_by_sqlite, lambda path: counts_by_program(database, names)):
                    found = look(database.path)
                    if found not in states[at:]:
                        known = f"state {states.index(found)}" if found in states else found
                        problems.append(f"after state {at} a reader sees {known}")
                    else:
                        at = states.index(found)
                        seen.append(sequence.names[at])
            except (sqlite3.Error, RuntimeError) as error:
                problems.append(f"a reader fails: {error}")
        status, said = ended(child, TIMEOUT_S)
        state, wrong = sequence.state_of(database.path)
        if status != 0 or state != sequence.last() or database.litter():
            problems.append(f"exit {status}, {state} {wrong}: {said}")
    if len(set(seen)) < 2:
        problems.append("the readers saw one state only: nothing was tested")
    checks.say(f"readers during an ingest, {name}", problems,
               f"{len(seen)} looks in {rounds} ingests: {tally(seen)}")


def run(options, checks):
    seqpar = [options.fixture(f"seqpar/rank{rank}.pt.trace.json.gz") for rank in range(4)]
    legacy = [options.fixture(f"legacy/rank{rank}.pt.trace.json") for rank in range(2)]
    expected = {path: alone(options, path) for path in seqpar + legacy}
    at_a_time(options, checks, "two at a time, different files",
              [seqpar[:2], [*seqpar[2:3], legacy[0]]], expected)
    at_a_time(options, checks, "two at a time, the same file", [seqpar[:1], seqpar[:1]], expected)
    at_a_time(options, checks, "three at a time",
              [seqpar[:2], seqpar[1:3], [legacy[1], seqpar[0]]], expected)
    at_a_time(options, checks, "three at a time, one of them killed",
              [seqpar[:2], seqpar[1:3], [legacy[1], seqpar[3]]], expected, killed=True)
    one_at_the_database_by_another_name(options, checks, expected, seqpar[:2], seqpar[2:])
    maker = Database(options.place("maker"), options)
    read_during(options, checks, "first ingest", Sequence(maker, None, seqpar), ROUNDS)
    large = options.large("large.json", rank=1)
    before = maker.made_of(seqpar[:1], options.place("read-before.db"))
    read_during(options, checks, "more than the cache",
                Sequence(maker, before, [large, seqpar[2]], ["--memory", "32M"]), 5)
    pages = [options.many(f"many{rank}.json", rank) for rank in (1, 2, 3)]
    read_during(options, checks, "as pages", Sequence(maker, before, pages), 5)
