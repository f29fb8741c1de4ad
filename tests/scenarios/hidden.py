"""Scenarios of ranks that are never the last, as another one is later."""
import random

import cause_checks
import checks
import truth
from checks import Check, Scenario, Without
from trace_maker import Group, Job

RANKS, STEPS = 4, 4
DOUBT = "part of the waits may be for ranks that were not recorded"
BOTH = "Something makes the job slower only if the job would be faster without it"


def job_of(name, loads=None, slower=None, ranks=RANKS):
    """loads: {rank: (what, us)} before the launches of each step; slower: {rank: how many times as
    long its kernels take}."""
    job = Job(name, ranks, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(ranks)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, STEPS + 1):
            with host.step(number):
                if loads and host.rank in loads:
                    what, us = loads[host.rank]
                    host.work(us, what, "user_annotation")
                for _ in range(6):
                    host.kernel("gemm", 900 * (slower or {}).get(host.rank, 1), op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def adds(*hidden):
    """hidden: (rank, words, gain) of each row of a hidden rank, the most to gain first; a gain is
    what it adds to those of the others."""
    def compare(program):
        every = program.rows("recommendations")
        rows = [row for row in every if "as well" in checks.field(row, "problem")]
        if [checks.field(row, "rank") for row in rows] != [rank for rank, _, _ in hidden]:
            yield (f"hidden ranks: {list(map(cause_checks.show, rows))}; the truth is "
                   f"{[rank for rank, _, _ in hidden]}")
            return
        for row, (_, words, gain) in zip(rows, hidden):
            if not cause_checks.names_it(row, words):
                yield f"not /{words}/: {cause_checks.words_of(row)}"
            if abs(checks.as_ns(checks.field(row, "gain_ms")) * STEPS - gain) > 0.05 * gain:
                yield f"{cause_checks.show(row)}: the truth is {gain} ns in all steps"
        if sum(checks.field(row, "gain_pct") or 0 for row in every) > 100:
            yield f"gains are more than the step: {list(map(cause_checks.show, every))}"
    return Check("adds_the_hidden", BOTH, compare)


def nobody_hidden():
    return cause_checks.no_words("hides_nobody", "late as well", BOTH)


def pair(name, says, first, words, **of_both):
    """Rank 1 hides rank 2. first: how the job is without what makes rank 1 late."""
    job, without_first, even = job_of(name, **of_both), job_of(name, **first), job_of(name)
    jobs = [job]
    gain, of_first = truth.gain_of(job, even), truth.gain_of(job, without_first)
    told = {"late": "ranks 1 and 2 in every step, rank 1 more", "gain without both": f"{gain} ns",
            "without rank 1's": f"{of_first} ns"}
    return Scenario(name, says, jobs, told, [
        *checks.basics(jobs),
        adds((2, words, gain - of_first if of_first > gain / 50 else gain))],
        without=[Without(["rank-late=1"], [without_first]),
                 Without(["--without rank-late=1 --without rank-late=2"], [even])])


def launching(name, piece_us, loads=True):
    """Rank 1 loads for 12 ms. All hosts work piece_us(rank) before each of 120 launches."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, STEPS + 1):
            with host.step(number):
                if loads and host.rank == 1:
                    host.work(12_000, "load", "user_annotation")
                for _ in range(120):
                    with host.within("aten::mm"):
                        host.work(piece_us(host.rank))
                        host.kernel("gemm", 20)
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def short_pieces():
    """Rank 3's host is slow: 70 us more for each launch."""
    name, slow = "hides_short_pieces", lambda rank: 80 if rank == 3 else 10
    job, even = launching(name, slow), launching(name, lambda rank: 10, False)
    without_first = launching(name, slow, False)
    gain, of_first = truth.gain_of(job, even), truth.gain_of(job, without_first)
    told = {"late": "ranks 1 and 3 in every step, rank 1 more", "gain without both": f"{gain} ns",
            "without rank 1's": f"{of_first} ns"}
    return Scenario(name, "A late rank hides one whose host is slow in many short pieces", [job],
                    told, [
        *checks.basics([job]),
        adds((3, r"hidden by rank 1.*host works 33\.\d ms longer .*short", gain - of_first))],
        without=[Without(["rank-late=1"], [without_first]),
                 Without(["--without rank-late=1 --without rank-late=3"], [even])])


def short_noise():
    """Before each launch hosts work for as long as chance has it."""
    chance = random.Random(5)
    job = launching("hides_short_noise", lambda rank: chance.expovariate(1 / 30))
    return Scenario("hides_short_noise", "One rank is late, the hosts of all differ by chance",
                    [job], {"late": "rank 1"}, [*checks.basics([job]), nobody_hidden(),
                    cause_checks.first_sentence("rank 1's host was held up", "were rank")])


def chain():
    """Five of eight ranks are late, each for something else: each hides the next."""
    loads = {5: ("load", 6000), 2: ("gc_collect", 5200), 6: ("tokenize", 3600), 0: ("log", 1000)}
    slower = {3: 1.35}
    late = [5, 2, 6, 3, 0]
    made = []
    for count in range(len(late) + 1):
        left = set(late[count:])
        made.append(job_of("hides_four", ranks=8,
                           loads={rank: what for rank, what in loads.items() if rank in left},
                           slower={rank: what for rank, what in slower.items() if rank in left}))
    gains = [truth.gain_of(made[0], job) for job in made]
    without_all = truth.step_lengths(made[-1].captures[0])[1]
    adds_ns = [after - before for before, after in zip(gains, gains[1:])]
    told = {"late": "ranks 5, 2, 6, 3 and 0 in every step, each less than the one before",
            "gains": f"{adds_ns} ns, one after the other"}
    words = {2: "hidden by rank 5 .*gc_collect", 6: "hidden by ranks 5, 2 .*tokenize",
             3: "hidden by ranks 5, 2, 6 .*GPU computes", 0: "hidden by ranks 5, 2, 6, 3 .*log"}
    hidden = sorted(((rank, words[rank], ns) for rank, ns in zip(late[1:], adds_ns[1:])),
                    key=lambda row: -row[2])
    options = [" ".join(f"--without rank-late={rank}" for rank in late[:count])
               for count in range(1, len(late) + 1)]
    return Scenario("hides_four", "A late rank hides four more, late for other reasons", made[:1],
                    told, [*checks.basics(made[:1]), adds(*hidden),
                           cause_checks.first_sentence(
                               "rank 5's host was held up for 6.*were ranks 2, 6, 3 and 0, which "
                               f"that hides, not late either: {without_all / 1e6:.2f} ms")],
                    without=[Without([option], [job]) for option, job in zip(options, made[1:])])


def as_late_as_three():
    """Three ranks are as late, for different reasons: nothing is gained before all are mended."""
    loads = {1: ("load", 5000), 4: ("gc_collect", 4990), 6: ("tokenize", 4980)}
    job = job_of("hides_as_late_three", loads=loads, ranks=8)
    even = job_of("hides_as_late_three", ranks=8)
    gain = truth.gain_of(job, even)
    told = {"late": "ranks 1, 4 and 6 in every step by as much", "gain without all": f"{gain} ns"}
    return Scenario("hides_as_late_three", "Three ranks are as late, for different reasons", [job],
                    told, [*checks.basics([job]),
                           adds((6, "hidden by ranks 1, 4 .*tokenize", gain))],
                    without=[Without(["--without rank-late=1 --without rank-late=4 "
                                      "--without rank-late=6"], [even])])


def not_recorded():
    """The file of rank 3, which is later than rank 1, was lost. What its lateness costs nobody can
    tell, and so not what rank 1's does."""
    job = job_of("hidden_by_unknown", loads={1: ("load", 3000), 3: ("gc_collect", 5000)})
    job.captures[0].missing = {3}
    jobs = [job]
    told = {"late": "rank 1 of those that were recorded, by 3 ms a step; rank 3, by 5, was not",
            "gain without rank 1's": "0; that of the recorded ranks is 3 ms a step at most"}
    return Scenario("hidden_by_unknown", "The rank that is the last was not recorded", jobs, told, [
        cause_checks.says("doubts_the_gain", f"waited .*{DOUBT}", BOTH),
        cause_checks.first_sentence(f"rank 1's host was held up.*{DOUBT}")])


def scenarios():
    loads, collects = {1: ("load", 5000)}, {2: ("gc_collect", 4000)}
    alone, slow = job_of("hides_nobody", loads=loads), {1: 1.8}
    even = job_of("hides_nobody")
    almost = {rank: 1 + rank / 1000 for rank in (0, 2, 3)}
    noisy = job_of("hides_noise", loads=loads, slower=almost)
    return [
        pair("hides_a_loader", "A rank whose host is late hides another for another reason",
             {"loads": collects}, "hidden by rank 1.*gc_collect", loads={**loads, **collects}),
        pair("hides_as_late", "Two ranks are as late, for different reasons",
             {"loads": {2: ("gc_collect", 4990)}}, "hidden by rank 1.*gc_collect",
             loads={**loads, 2: ("gc_collect", 4990)}),
        pair("slow_hides_a_loader", "A slow GPU hides a rank whose host is late",
             {"loads": collects}, "hidden by rank 1.*gc_collect", loads=collects, slower=slow),
        pair("loader_hides_slow", "A rank whose host is late hides a slow GPU",
             {"slower": {2: 1.7}}, "hidden by rank 1.*GPU", loads=loads, slower={2: 1.7}),
        chain(), as_late_as_three(), not_recorded(), short_pieces(), short_noise(),
        Scenario("hides_nobody", "One rank is late, the others are alike", [alone],
                 {"late": "rank 1"}, [*checks.basics([alone]), nobody_hidden(),
                  cause_checks.no_words("all_are_recorded", DOUBT, BOTH)],
                 without=[Without(["rank-late=1"], [even])]),
        Scenario("hides_noise", "One rank is late, the others differ by a thousandth", [noisy],
                 {"late": "rank 1"}, [*checks.basics([noisy]), nobody_hidden()],
                 without=[Without(["rank-late=1"], [job_of("hides_noise", slower=almost)])])]
