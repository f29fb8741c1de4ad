"""Random jobs of known truth: ranks that do the same, of which one or two are late in some steps.

case(seed): a job, always the same of a seed, and that job without what makes its ranks late.
Hosts wait for their GPU after each collective, at the end of each step, once at the end, or never.
"""
import collections
import random

from trace_maker import COMPUTE_STREAM, Group, Job

# without: {rank: the job without its lateness}; even: without that of all of them.
Case = collections.namedtuple("Case", "name job late without even")
WAITS = ("collective", "step", "last", "never")
HIDES = ("never", "some", "all")


class Plan:
    """What every rank does, and who does it late."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.seed, self.ranks = seed, chance.choice((2, 3, 4, 5, 8))
        self.steps = chance.randrange(3, 6)
        self.waits = chance.choice(WAITS)
        self.hides = chance.choice(HIDES)
        self.stream = chance.choice((20, 20, 20, COMPUTE_STREAM))
        self.pieces = []  # of each step: kernels, then a collective
        for _ in range(chance.randrange(1, 5)):
            kernels = [chance.randrange(50, 900) for _ in range(chance.randrange(1, 8))]
            is_hidden = {"never": False, "some": chance.random() < 0.5, "all": True}[self.hides]
            self.pieces.append((kernels, chance.randrange(50, 600), is_hidden))
        self.ends_with = chance.choice(([], [200], [300, 800]))
        self.host_us = chance.choice((0, 0, 5, 100))  # before each launch
        self.loads_us = chance.choice((0, 0, 300, 2000))  # of all ranks, when a step begins
        late = chance.sample(range(self.ranks), min(self.ranks - 1, chance.choice((1, 1, 1, 2))))
        self.late = {rank: self.reason(chance) for rank in late}

    def reason(self, chance):
        what = chance.choice(("gpu", "gpu", "slice", "slice", "pieces"))
        size = {"gpu": chance.choice((1.3, 1.6, 2.5)), "slice": chance.randrange(1000, 8000),
                "pieces": chance.randrange(100, 600)}[what]
        every = list(range(1, self.steps + 1))
        steps = every if chance.random() < 0.5 else sorted(
            chance.sample(every, chance.randrange(1, self.steps)))
        return what, size, frozenset(steps)

    def words(self):
        late = ", ".join(f"rank {rank} {what} {size} in {sorted(steps)}"
                         for rank, (what, size, steps) in sorted(self.late.items()))
        hidden = "".join("xh"[piece[2]] for piece in self.pieces)
        return (f"{self.ranks} ranks, {self.steps} steps, waits {self.waits}, stream "
                f"{self.stream}, parts {hidden}, ends {self.ends_with}, host {self.host_us}, loads "
                f"{self.loads_us}; {late}")

    def job(self, late):
        """The job with the lateness of these ranks alone."""
        group = Group("3", "DATA_PARALLEL_GROUP", tuple(range(self.ranks)))
        job = Job(f"random{self.seed}", self.ranks, [group])
        capture = job.capture(0)
        for host in capture.every_host():
            reason = self.late[host.rank] if host.rank in late else (None, 0, ())
            chance = random.Random(f"{self.seed} {host.rank}")
            for number in range(1, self.steps + 1):
                what, size = reason[:2] if number in reason[2] else (None, 0)
                with host.step(number):
                    self.write_step(host, group, chance, what, size)
            if self.waits == "last":
                host.sync(None, "cudaDeviceSynchronize")
        capture.simulate()
        return job

    def write_step(self, host, group, chance, what, size):
        if self.loads_us:
            host.work(self.loads_us, "load", "user_annotation")
        if what == "slice":
            host.work(size, "collect", "user_annotation")
        joins = []
        for kernels, transfer_us, is_hidden in self.pieces:
            for us in kernels:
                host.work(self.host_us + (size if what == "pieces" else 0))
                longer = size if what == "gpu" else 1
                host.kernel("gemm", us * longer + chance.randrange(3), op="aten::mm")
            if self.stream == COMPUTE_STREAM:
                host.collective("allreduce", group, transfer_us, self.stream, joined=False)
            elif is_hidden:
                host.wait(self.stream, COMPUTE_STREAM)
                host.collective("allreduce", group, transfer_us, self.stream, joined=False)
                joins.append(self.stream)
            else:
                host.collective("allreduce", group, transfer_us, self.stream)
            if self.waits == "collective" and not is_hidden:
                host.sync(self.stream)
        if joins:
            host.wait(COMPUTE_STREAM, self.stream)
        for us in self.ends_with:
            host.kernel("adam", us + chance.randrange(3), op="Optimizer.step#AdamW.step")
        if self.waits in ("collective", "step"):
            host.sync(None, "cudaDeviceSynchronize")


def waits_for_more(launches):
    """In one step a rank has more for its GPU, and its host alone waits for that."""
    def job(is_late):
        group = Group("3", "DATA_PARALLEL_GROUP", (0, 1))
        made = Job(f"waits_for_more_{launches}", 2, [group])
        capture = made.capture(0)
        for host in capture.every_host():
            for number in (1, 2, 3):
                with host.step(number):
                    if is_late and host.rank == 1 and number == 2:
                        for _ in range(launches):
                            host.kernel("gemm_x", 3000 / launches, op="aten::bmm")
                        host.sync()
                    host.work(300)
                    host.kernel("gemm", 200, op="aten::mm")
                    host.collective("allreduce", group, 150, 20)
                    host.sync(None, "cudaDeviceSynchronize")
        capture.simulate()
        return made
    return Case("rank 1 evaluates and waits for it", job(True), [1], {1: job(False)}, job(False))


def case(seed):
    plan = Plan(seed)
    late = sorted(plan.late)
    without = {rank: plan.job([other for other in late if other != rank]) for rank in late}
    return Case(plan.words(), plan.job(late), late, without, plan.job([]))
