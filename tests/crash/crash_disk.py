"""Disks that fill up: limits on the size of a file, and a small file system of its own."""
import multiprocessing
import os
import resource

from crash_check import in_parallel, own_place, tally
from crash_states import Database, Sequence, bad_message
from crash_tmpfs import SmallDisk

LIMITS = 40
SIZES = 20


def look_at(database, sequence, status, said):
    """(state, what is wrong) after an ingest that may have met a full disk."""
    problems = []
    litter = database.litter()
    if any(name.startswith("trace.db.partial") for name in litter):
        problems.append(f"left {litter}")
    state, wrong = sequence.state_of(database.path)
    if wrong:
        return state, [*problems, wrong]
    problems += sequence.seen_by_program(database, state)
    if status == 0 and state != sequence.last():
        problems.append(f"exit 0, but {state}")
    if status == 1:
        names = ["trace.db", *map(os.path.basename, sequence.named)]
        wrong = bad_message(said, names)
        problems += [wrong] if wrong else []
    elif status != 0:
        problems.append(f"exit {status}: {said.strip()}")
    return state, problems


def limit_once(case):
    """(exit status, state, what is wrong) with a limit on the size of every file."""
    options, sequence, limit, ignored = case
    database = Database(own_place(options, "limit"), options)
    database.reset(sequence.before)
    # The limit's signal comes ignored from the parent, or as it is by default.
    status, said = database.ingest(
        sequence.all_at_once(), restore_signals=not ignored,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    state, problems = look_at(database, sequence, status, said)
    problems += sequence.ends_well(database)
    return status, state, [f"limit of {limit} bytes: {text}" for text in problems]


def limits(options, checks, name, sequence):
    largest = sequence.bytes
    chance = options.random(f"limit {name}")
    cases = [(options, sequence, int(largest * 1.05 * (n + chance.random()) / LIMITS), n % 2 == 0)
             for n in range(LIMITS)]
    results = in_parallel(options, limit_once, cases)
    checks.say(f"limit on file sizes, {name}", [text for _, _, wrong in results for text in wrong],
               f"{LIMITS} limits up to {largest * 1.05 / 1e6:.1f} MB: "
               f"{tally(f'exit {status}' for status, _, _ in results)}; "
               f"{tally(state for _, state, _ in results)}")


def small_disk_runs(options, disk, name, sequence):
    """(results of the sizes, what they were)"""
    chance = options.random(f"disk {name}")
    largest = sequence.bytes
    database = Database(os.path.join(disk.folder, "db"), options)
    least = os.path.getsize(sequence.before) if sequence.before else 0
    results = []
    for number in range(SIZES):
        size = least + 16384 + int((3 * largest - least) * (number + chance.random()) / SIZES)
        disk.resize(1 << 30)
        database.reset(sequence.before)
        disk.resize(size)
        status, said = database.ingest(sequence.all_at_once())
        state, problems = look_at(database, sequence, status, said)
        disk.resize(1 << 30)
        problems += sequence.ends_well(database)
        results.append((status, state, [f"disk of {size} bytes: {text}" for text in problems]))
    database.clear()
    return results


def full_for_temporary(options, disk, sequence):
    """The database's disk has room, the one for SQLite's temporary files has not."""
    database = Database(options.place("temporary"), options)
    results = []
    for size in (4096, 1 << 16, 1 << 18, 1 << 30):
        disk.resize(size)
        database.reset(sequence.before)
        status, said = database.ingest(sequence.all_at_once(), {"SQLITE_TMPDIR": disk.folder})
        state, problems = look_at(database, sequence, status, said)
        problems += sequence.ends_well(database)
        results.append((status, state, [f"{size} bytes for temporary files: {text}"
                                        for text in problems]))
    if {status for status, _, _ in results} != {0, 1}:
        results.append((0, "?", ["not both: some fail, and with room enough it succeeds"]))
    return results


def in_small_disk(options, scenarios, temporary, answer):
    """Runs in a process of its own, which has the small disk for itself."""
    disk = SmallDisk(options.place("disk"))
    if disk.trouble:
        answer.send((disk.trouble, {}))
        return
    results = {f"small disk, {name}": small_disk_runs(options, disk, name, sequence)
               for name, sequence in scenarios}
    results["small disk for temporary files"] = full_for_temporary(options, disk, temporary)
    answer.send(("", results))


def small_disks(options, checks, scenarios, temporary):
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=in_small_disk, args=(options, scenarios, temporary, theirs))
    process.start()
    theirs.close()
    try:
        trouble, by_name = mine.recv()
    except EOFError:
        trouble, by_name = "", {"small disk": [("?", "?", ["the test itself broke off"])]}
    process.join()
    if trouble:
        print(f"note: no small disk here ({trouble}): limits on file sizes only", flush=True)
    for name, results in by_name.items():
        checks.say(name, [text for _, _, wrong in results for text in wrong],
                   f"{len(results)} sizes: {tally(f'exit {status}' for status, _, _ in results)}; "
                   f"{tally(state for _, state, _ in results)}")


def run(options, checks):
    maker = Database(options.place("maker"), options)
    seqpar = [options.fixture(f"seqpar/rank{rank}.pt.trace.json.gz") for rank in range(2)]
    ddp = options.fixture("ddp/rank0.pt.trace.json.gz")
    large = options.large("large.json", rank=1)
    before = maker.made_of(seqpar[:1], options.place("disk-before.db"))
    filled = maker.made_of([large], options.place("disk-filled.db"))
    spill = ["--memory", "32M"]
    scenarios = [("first ingest", Sequence(maker, None, seqpar)),
                 ("into a database", Sequence(maker, before, [seqpar[1], ddp])),
                 ("more than the cache", Sequence(maker, before, [large], spill)),
                 ("as pages", Sequence(maker, before, [options.many("many.json", 1)]))]
    for name, sequence in scenarios:
        limits(options, checks, name, sequence)
    # What takes the old rows out can be undone by itself, for which SQLite has a temporary file.
    small_disks(options, checks, scenarios, Sequence(maker, filled, [large], ["--replace", *spill]))
