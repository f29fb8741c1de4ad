"""Scenarios of gradients that are added up over several steps before all ranks meet: what makes a
rank late lies in steps in which it meets nobody."""
import cause_checks
import checks
import truth
from checks import Scenario, Without
from together import names
from trace_maker import Group, Job

RANKS, ROUNDS, OF_A_ROUND = 4, 3, 4
STEPS = ROUNDS * OF_A_ROUND
LAST = tuple(OF_A_ROUND * n for n in range(1, ROUNDS + 1))


def training(name, load_us=None, slower=None, tensor=False):
    """Rounds of four steps. load_us(rank, step): before the
    launches of a step; slower(rank, step): its kernels take so many times as long; tensor: pairs
    of ranks meet in each step."""
    data = Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))
    pairs = [Group("11", "TENSOR_MODEL_PARALLEL_GROUP", (0, 1)),
             Group("12", "TENSOR_MODEL_PARALLEL_GROUP", (2, 3))]
    job = Job(name, RANKS, [data] + pairs * tensor)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, STEPS + 1):
            with host.step(number):
                if load_us and load_us(host.rank, number):
                    host.work(load_us(host.rank, number), "load", "user_annotation")
                times = slower(host.rank, number) if slower else 1
                for _ in range(4):
                    host.kernel("forward_gemm", 120 * times, op="aten::mm")
                    if tensor:
                        host.collective("allreduce", pairs[host.rank // 2], 20, 21)
                for _ in range(4):
                    host.kernel("backward_gemm", 250 * times, op="aten::mm")
                if number in LAST:
                    host.collective("allreduce", data, 300, 20)
                    host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                    host.sync()
    capture.simulate()
    return job


def loads_in_each():
    """2 ms in each of four steps, of which only the last has a collective."""
    job = training("accumulates_loads", lambda rank, _: 2500 if rank == 1 else 0)
    even = training("accumulates_loads")
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 1 in the last of each four steps, by what it loads in all four",
            "gain": f"{gain} ns"}
    assert gain > ROUNDS * 5_600_000, gain
    return Scenario("accumulates_loads", "A rank loads in each step, all meet in every fourth",
                    jobs, told, [
                        *checks.basics(jobs), cause_checks.is_late(jobs, 1, LAST, "load"),
                        cause_checks.blames("blames_rank_1", 1, gain + 10_000, words="load"),
                        names("^Rank 1 makes the others wait", gain, STEPS)],
                    without=[Without(["rank-late=1"], [even])],
                    late={"rank": 1, "step": None, "cause": "load"})


def early_only():
    """What made it late is over two steps before the collective."""
    job = training("accumulates_early",
                   lambda rank, step: 7000 if rank == 1 and step % OF_A_ROUND == 1 else 0)
    even = training("accumulates_early")
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 1 in the last of each four steps, by what it loads in the first",
            "gain": f"{gain} ns"}
    assert gain > ROUNDS * 6_900_000, gain
    return Scenario("accumulates_early", "A rank loads in the first step of four, all meet in the "
                    "last", jobs, told, [
                        *checks.basics(jobs),
                        cause_checks.blames("blames_rank_1", 1, gain + 10_000),
                        names("^Rank 1 makes the others wait", gain, STEPS)],
                    without=[Without(["rank-late=1"], [even])])


def slow_gpu(name, tensor):
    """Where pairs meet in each step, the slow one's partner is late as well."""
    def slower(rank, _):
        return 1.4 if rank == 2 else 1
    job, even = training(name, slower=slower, tensor=tensor), training(name, tensor=tensor)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 2, by its slow GPU in all four steps", "gain": f"{gain} ns"}
    assert gain > ROUNDS * 2_300_000, gain
    return Scenario(name, "The GPU of a rank is slow, all meet in every fourth step"
                    + ", pairs in each" * tensor, jobs, told, [
                        *checks.basics(jobs),
                        cause_checks.is_late(jobs, 2, LAST, "gemm"),
                        cause_checks.blames("blames_rank_2", 2, gain + 10_000,
                                            words="slow or throttled"),
                        names("^Rank 2 makes the others wait", gain, STEPS)],
                    without=[Without(["rank-late=2"], [even])])


def slow_pair():
    """Both of a pair are slow: they do not wait for each other, only the other pair does."""
    def slower(rank, _):
        return 1.4 + rank / 1000 if rank >= 2 else 1
    job = training("accumulates_pair", slower=slower, tensor=True)
    even = training("accumulates_pair", tensor=True)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "ranks 2 and 3, by their slow GPUs in all four steps", "gain": f"{gain} ns"}
    return Scenario("accumulates_pair", "The GPUs of two ranks are slow, which meet in each step, "
                    "and all in every fourth", jobs, told, [
                        *checks.basics(jobs),
                        names("^Rank 2 is late as well, hidden by rank 3.*GPU", gain, STEPS)],
                    without=[
                        Without(["--without rank-late=2 --without rank-late=3"], [even])])


def met_before():
    """Rank 1 is late in steps 2 and 3, but all meet in each: what it lost in step 2 is no part of
    what it is late for in step 3."""
    job, even = (every_step(name_us) for name_us in ({2: 4000, 3: 1000}, {}))
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 1: in step 2 by 4 ms, in step 3 by 1", "gain": f"{gain} ns"}
    return Scenario("meets_in_each", "All meet in each step, and a rank is late in two", jobs, told,
                    checks.basics(jobs), without=[Without(["rank-late=1"], [even])])


def every_step(load_us):
    job = Job("meets_in_each", 2, [Group("3", "DATA_PARALLEL_GROUP", (0, 1))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, 5):
            with host.step(number):
                if host.rank == 1 and load_us.get(number):
                    host.work(load_us[number], "load", "user_annotation")
                host.kernel("gemm", 900, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.sync()
    capture.simulate()
    return job


def nobody_late():
    """In each step another rank has more to do, and all as much in a round."""
    def slower(rank, step):
        return 1.2 if step % OF_A_ROUND == rank else 1
    job = training("accumulates_even", slower=slower)
    jobs = [job]
    return Scenario("accumulates_even", "Ranks are slow in turn, and alike when they meet", jobs,
                    {"late": "nobody"}, [*checks.basics(jobs), cause_checks.blames_no_rank()])


def scenarios():
    return [loads_in_each(), early_only(), slow_gpu("accumulates_slow", False),
            slow_gpu("accumulates_partner", True), slow_pair(), nobody_late(), met_before()]
