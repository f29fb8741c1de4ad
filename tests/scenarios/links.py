"""Scenarios of links between two ranks that are slow: nobody is late of itself."""
import cause_checks
import checks
import truth
from checks import Scenario
from trace_maker import Group, Job

RANKS, STEPS, BLOCKS = 4, 3, 6
SLOW = "what takes longer is named as far as the data allow, and what they do not is said"
MESSAGE = ("with messages between two ranks slower than those of the same size between others the "
           "link is named")


def ring(name, takes, ranks=RANKS, merges=True):
    """Each rank sends what it has to the next one while it computes a little with it, and goes on
    with what it gets; takes(sender): us of its messages."""
    job = Job(name, ranks, [Group("5", "CONTEXT_PARALLEL_GROUP", tuple(range(ranks)))])
    capture = job.capture(0)
    for host in capture.every_host():
        after, before = (host.rank + 1) % ranks, (host.rank - 1) % ranks
        for number in range(1, STEPS + 1):
            with host.step(number):
                for _ in range(BLOCKS):
                    host.wait(21, on=7)
                    host.collective("send", job.groups[1], takes(host.rank), 21, peer=after,
                                    joined=False)
                    host.kernel("attention", 100, op="aten::sdpa")
                    host.collective("recv", job.groups[1], takes(before), 22, peer=before)
                    host.wait(7, on=21)
                    if merges:
                        host.kernel("merge", 10, op="aten::logaddexp")
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def stages(name, takes):
    """Four stages that hand on four microbatches; takes(sender, receiver): us of a message."""
    job = Job(name, RANKS, [Group("13", "PIPELINE_MODEL_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        rank, group = host.rank, job.groups[1]
        for number in range(1, STEPS + 1):
            with host.step(number):
                for _ in range(4):
                    if rank > 0:
                        host.collective("recv", group, takes(rank - 1, rank), 31, peer=rank - 1)
                    host.kernel("forward_gemm", 500, op="aten::mm")
                    if rank + 1 < RANKS:
                        host.wait(32, on=7)
                        host.collective("send", group, takes(rank, rank + 1), 32, peer=rank + 1,
                                        joined=False)
                host.wait(7, on=32)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    return job


def share(job, even):
    """What the job gains, in percent, and what the check of it leaves open."""
    whole = truth.last_end(job.captures[0])
    pct = 100 * truth.gain_of(job, even) / (whole - job.captures[0].begin)
    return (pct - 1.5, pct + 1.5)


def slow_one(name, says, made, usual, words):
    jobs = [made]
    told = {"slow": words, "late": "nobody", "gain": f"{truth.gain_of(made, usual)} ns in all"}
    return Scenario(name, says, jobs, told, [
        *checks.basics(jobs), cause_checks.says("names_the_link", words, MESSAGE,
                                                share(made, usual)),
        cause_checks.no_words("names_no_other", "link from rank (?!2 to rank 3)", MESSAGE),
        cause_checks.blames_no_rank()])


def no_slow_one(name, says, job, why):
    return Scenario(name, says, [job], {"slow": why}, [
        *checks.basics([job]),
        cause_checks.no_words("names_no_link", "The link from rank", MESSAGE),
        cause_checks.blames_no_rank()])


def reducing(name, us):
    """All that is recorded are collectives of all ranks, which a slow link makes slow for all."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, STEPS + 1):
            with host.step(number):
                for _ in range(BLOCKS):
                    host.kernel("gemm", 500, op="aten::mm")
                    host.collective("allreduce", job.groups[1], us, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    told = {"slow": "cannot tell: a ring is as slow as its slowest link, on all ranks"}
    return Scenario(name, "A ring with a slow link, of which all ranks see the same", [job], told, [
        *checks.basics([job]), cause_checks.blames_no_rank(),
        cause_checks.says("cannot_tell", "Data parallel communication is not hidden.*whether one "
                          "link is slow cannot be told", SLOW)], cannot_tell=True)


def scenarios():
    by_rank = lambda rank: 150 + 300 * (rank == 2)
    return [
        slow_one("slow_neighbour", "One link of a ring is slow in one direction",
                 ring("slow_neighbour", by_rank), ring("slow_neighbour", lambda _: 150),
                 "link from rank 2 to rank 3 is slow.*3.0 times"),
        slow_one("slow_in_streams", "One link of a ring is slow, and three streams wait for others",
                 ring("slow_in_streams", by_rank, merges=False),
                 ring("slow_in_streams", lambda _: 150, merges=False),
                 "link from rank 2 to rank 3 is slow.*3.0 times"),
        slow_one("slow_stage_link", "The link between two stages of a pipeline is slow",
                 stages("slow_stage_link", lambda sender, _: 600 if sender == 2 else 100),
                 stages("slow_stage_link", lambda *_: 100),
                 "link from rank 2 to rank 3 is slow.*6.0 times"),
        no_slow_one("even_ring", "A ring whose links are alike", ring("even_ring", lambda _: 150),
                    "no link"),
        no_slow_one("ring_of_two", "Two ranks send to each other, one direction takes as long",
                    ring("ring_of_two", lambda _: 200, ranks=2), "no link"),
        reducing("ring_reduces", 400)]
