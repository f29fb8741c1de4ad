"""Scenarios of ranks of which by chance one or another is the last."""
import random

import cause_checks
import checks
import truth
from checks import Scenario
from trace_maker import Group, Job

RANKS, STEPS = 8, 40
NOBODY = "a rank that is the last as often as chance has it is not slow"


MAY_BE = "what chance explains is said with the chance, and is no finding"


def training(name, longer, ranks=RANKS, steps=STEPS):
    """Kernels of rank r take longer(r, step) times as long in a step."""
    job = Job(name, ranks, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(ranks)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, steps + 1):
            times = longer(host.rank, number)
            with host.step(number):
                for _ in range(6):
                    host.kernel("gemm", 500 * times, op="aten::mm")
                host.collective("allreduce", job.groups[1], 100, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def last_of(job_longer, step):
    return max(range(RANKS), key=lambda rank: job_longer(rank, step))


def by_chance():
    """Each rank is longer by a random bit in each step."""
    def longer(rank, step):
        return 1 + random.Random(1000 * step + rank).random() / 5
    often = [sum(last_of(longer, step) == rank for step in range(1, STEPS + 1))
             for rank in range(RANKS)]
    assert max(often) < 12, often
    job = training("late_by_chance", longer)
    told = {"late": f"all eight by chance, the last in so many steps: {often}"}
    return Scenario("late_by_chance", "Which of eight ranks is the last is chance", [job], told, [
        *checks.basics([job]), cause_checks.blames_no_rank(),
        cause_checks.says("says_chance", "^8 ranks make the others wait in turn .*none of "
                          "them is the last more often than chance", NOBODY),
        cause_checks.no_words("names_nobody", "more often than by chance", NOBODY)])


def collecting(name, in_step):
    """The host of rank in_step[n] pauses in step n."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number, rank in enumerate(in_step, start=1):
            with host.step(number):
                if host.rank == rank:
                    host.work(3000, "gc_collect", "user_annotation")
                host.kernel("gemm", 4000, op="aten::mm")
                host.collective("allreduce", job.groups[1], 100, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def one_more_often():
    """Any rank pauses, and rank 3 in 14 of 40 steps: by chance that has 0.03 %."""
    in_step = [3] * 14 + [rank for rank in range(RANKS) for _ in range(4) if rank != 3][:26]
    random.Random(1).shuffle(in_step)
    job = collecting("late_more_often", in_step)
    told = {"late": "rank 3 in 14 of 40 steps, the others in two to four each"}
    return Scenario("late_more_often", "One of eight ranks is the last more often than by chance",
                    [job], told, [
                        *checks.basics([job]),
                        cause_checks.says("names_rank_3", "in turn, rank 3 more often than by "
                                          "chance", NOBODY)])


def as_often():
    """Rank 3 in 10 of 40 steps: for one of eight ranks that is within what chance has."""
    in_step = [3] * 10 + [rank for rank in range(RANKS) for _ in range(5) if rank != 3][:30]
    random.Random(2).shuffle(in_step)
    job = collecting("late_as_often", in_step)
    told = {"late": "rank 3 in 10 of 40 steps, the others in up to five each"}
    return Scenario("late_as_often", "One of eight ranks is the last no more often than chance "
                    "has it", [job], told, [
                        *checks.basics([job]),
                        cause_checks.says("says_chance", "^. ranks make the others wait in turn .*"
                                          "none of them is the last more often than chance",
                                          NOBODY)])


def randomly(seed, width, rank=None, by=0.0):
    """Kernels take up to `width` longer by a random number for each rank and step, those of `rank`
    by so much more."""
    def longer(of_rank, step):
        number = random.Random(100_000 * seed + 1000 * step + of_rank).random()
        return 1 + width * number + (by if of_rank == rank else 0)
    return longer


def few_steps(name, says, seed, width, words, ranks=RANKS, steps=3):
    """In few steps one rank, or some, are the last more often than others: nobody can tell."""
    job = training(name, randomly(seed, width), ranks=ranks, steps=steps)
    told = {"late": "nobody: each rank takes longer by a random number in each step"}
    return Scenario(name, says, [job], told, [
        *checks.basics([job]), cause_checks.blames_no_rank(),
        cause_checks.says("may_be_chance", words, MAY_BE),
        cause_checks.no_words("hides_nobody", "late as well", MAY_BE),
        cause_checks.first_sentence("", r"rank \d+('s GPU took| came late)")])


def slow_in_noise(name, seed, width, by, ranks=RANKS, steps=4):
    """One rank is slower by more than what chance does to all of them."""
    job = training(name, randomly(seed, width, ranks - 1, by), ranks=ranks, steps=steps)
    even = training(name, randomly(seed, width), ranks=ranks, steps=steps)
    gain = truth.gain_of(job, even)
    told = {"late": f"rank {ranks - 1} in every step", "gain": f"{gain} ns"}
    return Scenario(name, "One rank is slower by more than chance, in few steps", [job], told, [
        *checks.basics([job]),
        cause_checks.blames("blames_the_slow", ranks - 1, round(1.6 * gain), first=False,
                            words=f"Rank {ranks - 1} makes the others wait(?!, which may)"),
        cause_checks.no_words("is_no_chance", "may be chance", MAY_BE)])


def unequal_hosts(name, says, seed, late_us):
    """Hosts take unequally long, each by a random number in each step: some rank is always the
    next, once others are taken not to be late. Rank 1 is late besides, by late_us."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    numbers = random.Random(seed)
    for host in capture.every_host():
        for number in range(1, 13):
            with host.step(number):
                if host.rank == 1 and late_us > 0:
                    host.work(late_us, "load", "user_annotation")
                host.work(abs(numbers.gauss(0, 1200)) + 10, "python", "user_annotation")
                for _ in range(6):
                    host.kernel("gemm", 900, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    told = {"late": f"rank 1 by {late_us} us" if late_us > 0 else "nobody"}
    others = cause_checks.no_words("hides_nobody", "late as well", MAY_BE)
    sentence = cause_checks.first_sentence("rank 1's host" if late_us > 0 else "",
                                           "not late either")
    return Scenario(name, says, [job], told, [*checks.basics([job]), others, sentence])


def scenarios():
    return [unequal_hosts("late_of_unequal", "One host is late, the others take unequally long", 22,
                          6000),
            unequal_hosts("late_of_unequal_2", "The same, by other numbers", 24, 6000),
            unequal_hosts("unequal_hosts", "Hosts take unequally long, and nobody is late", 3, 0),
            by_chance(), one_more_often(), as_often(),
            few_steps("last_in_three", "One of eight is the last in all steps by chance", 12,
                      0.2, "make the others wait, which may be chance"),
            few_steps("last_of_three", "One of three ranks is the last in all steps by chance",
                      1, 0.1, "^Rank 1 makes the others wait, which may be chance .*the last in 3 "
                      "of 3 steps.*with a chance of 11 %", ranks=3),
            few_steps("last_of_four", "One of four ranks is the last in two of three steps", 1, 0.1,
                      "^Rank 3 makes .*may be chance .*in 2 of 3 steps.*with a chance of 63 %",
                      ranks=4),
            few_steps("last_of_two", "One of two ranks is the last in all steps by chance", 1, 0.1,
                      "^Rank 1 makes the others wait, which may be chance", ranks=2),
            slow_in_noise("slow_in_noise", 1, 0.06, 0.08),
            slow_in_noise("slow_of_two", 1, 0.02, 0.1, ranks=2)]
