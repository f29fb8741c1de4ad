"""Scenarios of what happens after the last collective of a step, and makes the next one late; and
of ranks that are late in one capture of a run."""
import random

import cause_checks
import checks
import truth
from checks import Scenario
from trace_maker import Group, Job

RANKS = 4
LAST = "the last to arrive is the culprit; its cause is what took longer there than on the others"


def training(name, last_step, at_begin=None, before_adam=None, at_end=None):
    """Steps whose loss is read at their end: hosts begin all steps with an idle GPU."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for step in range(1, last_step + 1):
            with host.step(step):
                if at_begin:
                    at_begin(host, step)
                for us, kernel in ((400, "fwd_gemm"), (800, "bwd_gemm")):
                    for _ in range(6):
                        host.kernel(kernel, us, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                if before_adam:
                    host.item()
                    before_adam(host, step)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.item()
                if at_end:
                    at_end(host, step)
    capture.simulate()
    return job


def writes_log(host, us):
    if us:
        host.work(us, "write_log", "user_annotation")


def of_two(name, says, rank, gain_ns, extra, **does):
    """`does`: where what happens, by a function of (host, step, on); with and without it."""
    steps = does.pop("steps")
    made = [training(name, steps, **{place: lambda host, step, one=one, on=on: one(host, step, on)
                                     for place, one in does.items()}) for on in (True, False)]
    job, even = made
    jobs, gain = [job], truth.gain_of(job, even)
    assert gain == gain_ns, gain
    told = {"late": f"rank {rank}, in the step after write_log", "gain without it": f"{gain} ns"}
    return Scenario(name, says, jobs, told, [
        *checks.basics(jobs), cause_checks.root_share(jobs, rank, "^write_log$", 99),
        cause_checks.blames(f"blames_rank_{rank}", rank, gain + 6_000_000, words="write_log",
                            first=False),
        cause_checks.no_words("once", "^The host is held by write_log", LAST), *extra],
        late={"rank": rank, "step": None, "cause": "write_log"})


def logs_at_end():
    """The host of rank 2 writes a log after loss.item(): the next step begins late."""
    return of_two("logs_at_end", "A host logs after the last synchronisation of a step", 2,
                  5 * 5_000_000, [cause_checks.first_sentence(
                      r"rank 2's host was held up for 5\.00 ms \(write_log\)")], steps=6,
                  at_end=lambda host, step, on: writes_log(host, 5000 * on * (host.rank == 2)))


def logs_then_loads():
    """All load data as a step begins; rank 2 has written a log before."""
    loader = "^The host is held by load_batch"
    return of_two("logs_then_loads", "A host logs at the end of a step, and all load data then", 2,
                  5 * 4_000_000, [
                      cause_checks.says("names_the_loader", loader, LAST),
                      cause_checks.gains_at_most("loader_gains", loader, 5_010_000, "^$")],
                  steps=6,
                  at_begin=lambda host, step, on: host.work(5000, "load_batch", "user_annotation"),
                  at_end=lambda host, step, on: writes_log(host, 4000 * on * (host.rank == 2)))


def logs_before_optimizer():
    """The host of rank 1 writes a log between the all-reduce and the optimizer, in every second
    step: the step after it is late."""
    return of_two("logs_before_optimizer", "A host logs after the all-reduce of a step", 1,
                  4 * 6_000_000, [], steps=8,
                  before_adam=lambda host, step, on: writes_log(
                      host, 6000 * on * (host.rank == 1 and step % 2 == 0)))


def all_log():
    """All write as much: nobody is late."""
    job = training("all_log", 6, at_end=lambda host, step: writes_log(host, 5000))
    jobs = [job]
    told = {"late": "nobody", "each step": "5 ms of write_log on all ranks"}
    return Scenario("all_log", "All hosts log after the last synchronisation of a step", jobs,
                    told, [
        *checks.basics(jobs), cause_checks.blames_no_rank(),
        cause_checks.says("names_what_they_do", "^The host is held by write_log", LAST)])


def logs_by_chance(name, seed):
    """How long a host logs after a step is chance, on all ranks alike."""
    chance = random.Random(seed)
    lengths = {(rank, step): chance.expovariate(1 / 400)
               for rank in range(RANKS) for step in range(1, 9)}
    jobs = [training(name, 8, at_end=lambda host, step: writes_log(host, lengths[host.rank, step]))]
    return Scenario(name, "Which host logs longest after a step is chance", jobs,
                    {"late": "nobody more than the others"}, [
                        *checks.basics(jobs), cause_checks.blames_no_rank()])


def in_captures(name, late, steps, loads_us=None, longer=1):
    """`late`: the late rank of each capture, of so many steps. It loads for so long (by capture),
    or its kernels take so many times as long."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    for place, rank in enumerate(late):
        capture = job.capture(60 * place)
        for host in capture.every_host():
            for step in range(10 * place + 1, 10 * place + 1 + steps):
                with host.step(step):
                    if loads_us and host.rank == rank:
                        host.work(loads_us[place], "load_batch", "user_annotation")
                    for number in range(12):
                        chance = (7 * host.rank + 5 * step + 3 * number) % 11 / 1000
                        times = (longer if host.rank == rank else 1) + chance
                        host.kernel("gemm", 600 * times, op="aten::mm")
                    host.collective("allreduce", job.groups[1], 300, 20)
                    host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                    host.sync()
        capture.simulate()
    return job


def apart(name, says, words, sentence, *how, **more):
    """Rank 1 in the first capture, rank 3 in the second: they do not take turns."""
    job = in_captures(name, (1, 3), *how, **more)
    jobs = [job]
    told = {"late": "rank 1 in all steps of the first capture, rank 3 in those of the second"}
    return Scenario(name, says, jobs, told, [
        *checks.basics(jobs), cause_checks.no_words("not_in_turn", "in turn", LAST),
        *(cause_checks.says(f"names_rank_{rank}", f"^Rank {rank} makes the others wait they .*"
                            f"{words}.*; in capture {capture} only", LAST, (10, 30))
          for rank, capture in ((1, 1), (3, 2))),
        cause_checks.first_sentence(sentence)])


def in_few_steps():
    """Some rank is the last in both steps of each capture: that happens by chance."""
    jobs = [in_captures("captures_by_chance", (1, 3), 2, longer=1.1)]
    return Scenario("captures_by_chance", "Another rank is late in each capture of two steps", jobs,
                    {"late": "rank 1, then rank 3, in two steps each"}, [
                        *checks.basics(jobs), cause_checks.blames_no_rank()])


def scenarios():
    return [logs_at_end(), logs_then_loads(), logs_before_optimizer(), all_log(),
            apart("captures_load", "Another rank loads slowly in each capture", "load_batch",
                  r"^Step 1\d of capture 2 took 1\d\.\d ms.*rank 3's host was held up for 6\.00 "
                  r"ms \(load_batch\), and everyone else waited; in other steps rank 1 came late",
                  4,
                  loads_us=(5000, 6000)),
            apart("captures_slow", "Another GPU is slow in each capture", "gemm",
                  "rank [13]'s GPU took longer than the others' .*and everyone else waited", 4,
                  longer=1.4),
            in_few_steps(), logs_by_chance("logs_by_chance", 2), logs_by_chance("logs_by_luck", 8)]
