"""Scenarios of steps that get slower, and of steps that only seem to."""
import random

import checks
from checks import Check, Scenario
from trace_maker import Group, Job

RANKS, STEPS = 4, 17
SAYS = "doctor says which part of the steps grows, and nothing where none does"


def training(name, kernel_us=None, moves_us=None, host_us=None):
    """Of rank r in step n: a kernel is kernel_us(r, n) long, the transfer moves_us(n), and the host
    does host_us(r, n) before it launches."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, STEPS + 1):
            with host.step(number):
                if host_us:
                    host.work(host_us(host.rank, number), "log", "user_annotation")
                for _ in range(4):
                    host.kernel("gemm", kernel_us(host.rank, number) if kernel_us else 500,
                                op="aten::mm")
                host.collective("allreduce", job.groups[1],
                                moves_us(number) if moves_us else 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def noise(rank, number):
    return random.Random(100 * number + rank).random()


def grows(part, rank=None):
    """part: what doctor says that grows; None: nothing does."""
    def compare(program):
        rows = program.rows("doctor/steps_get_slower")
        said = [(checks.field(row, "part"), checks.field(row, "rank")) for row in rows]
        if said != ([] if part is None else [(part, rank)]):
            yield f"said is {said}, the truth is {part} of rank {rank}"
        for row in rows:
            if not checks.field(row, "last_ms") > 1.05 * checks.field(row, "first_ms"):
                yield f"no growth: {row}"
    return Check("steps_get_slower", SAYS, compare)


def scenario(name, says, told, part, rank=None, **takes):
    job = training(name, **takes)
    return Scenario(name, says, [job], {"slower": told}, [*checks.basics([job]), grows(part, rank)])


def scenarios():
    return [
        scenario("throttles", "All GPUs get slower", "computation of all", "computation",
                 kernel_us=lambda rank, n: 500 + 8 * n + 10 * noise(rank, n)),
        scenario("throttles_one", "One GPU gets slower", "computation of rank 2", "computation", 2,
                 kernel_us=lambda rank, n: 500 + 12 * n * (rank == 2) + 10 * noise(rank, n)),
        scenario("throttles_at_once", "All GPUs are slower from the middle on",
                 "computation of all", "computation",
                 kernel_us=lambda rank, n: 500 + 80 * (n > 7) + 10 * noise(rank, n)),
        scenario("network_slower", "Transfers get longer", "communication", "communication",
                 moves_us=lambda n: 300 + 30 * n, kernel_us=lambda rank, n: 500 + noise(rank, n)),
        scenario("host_slower", "The host of one rank does more and more", "host of rank 1",
                 "host", 1, host_us=lambda rank, n: 20 + 60 * n * (rank == 1)),
        scenario("only_noise", "Kernels differ by a tenth", "nothing", None,
                 kernel_us=lambda rank, n: 500 + 50 * noise(rank, n)),
        scenario("only_warm_up", "The first step is slow", "nothing", None,
                 kernel_us=lambda rank, n: 500 + 900 * (n == 1) + 10 * noise(rank, n)),
        scenario("only_the_last", "The last step but one is slow", "nothing", None,
                 kernel_us=lambda rank, n: 500 + 900 * (n == STEPS - 1) + 10 * noise(rank, n)),
        scenario("up_and_down", "Each second step is slower", "nothing", None,
                 kernel_us=lambda rank, n: 500 + 100 * (n % 2) + 10 * noise(rank, n))]
