"""Scenarios of ranks of which by chance one or another is the last."""
import random

import cause_checks
import checks
from checks import Scenario
from trace_maker import Group, Job

RANKS, STEPS = 8, 40
NOBODY = "a rank that is the last as often as chance has it is not slow"


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


def scenarios():
    return [by_chance(), one_more_often(), as_often()]
