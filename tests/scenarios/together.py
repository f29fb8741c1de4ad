"""Scenarios of ranks that are late together, or by more work: none of them is the last alone."""
import cause_checks
import checks
import truth
from checks import Check, Scenario, Without
from trace_maker import Group, Job

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
BLAMES_ALL = "Something makes the job slower only if the job would be faster without it"


def training(name, ranks=8, slower=None, load_us=None, more=None, steps=5):
    """slower(rank): its kernels take so many times as long; load_us(rank, step): its loader takes
    so long; more(rank, step): it runs so many more kernels before a barrier."""
    job = Job(name, ranks, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(ranks)))])
    capture = job.capture(0)
    for host in capture.every_host():
        factor = slower(host.rank) if slower else 1
        for number in range(1, steps + 1):
            with host.step(number):
                if load_us:
                    host.work(load_us(host.rank, number), LOADER, "user_annotation")
                for _ in range(10):
                    host.kernel("forward_gemm", 300 * factor, op="aten::mm")
                for _ in range(10):
                    host.kernel("backward_gemm", 600 * factor, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200 * factor, op="Optimizer.step#AdamW.step")
                if more:
                    for _ in range(more(host.rank, number)):
                        host.kernel("forward_gemm", 300, op="aten::mm")
                    host.collective("barrier", job.groups[0], 15, 22)
                host.sync()
    capture.simulate()
    return job


def experts(name, hot):
    """hot(step, layer): the rank whose experts get twice as many tokens there."""
    job = Job(name, 4, [Group("31", "EXPERT_MODEL_PARALLEL_GROUP", (0, 1, 2, 3))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, 9):
            with host.step(number):
                for layer in range(4):
                    host.kernel("attention", 400, op="aten::sdpa")
                    host.collective("all_to_allv", job.groups[1], 120, 23)
                    times = 2 if hot(number, layer) == host.rank else 1
                    host.kernel("grouped_gemm", 700 * times, op="aten::_grouped_mm")
                    host.collective("all_to_allv", job.groups[1], 120, 23)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def late(ranks):
    """What `what-if` is asked for all of these."""
    return " ".join(f"--without rank-late={rank}" for rank in ranks)


def names(words, gain, steps, within=0.05):
    """The first recommendation has these words, and gains what the job would without the cause."""
    def compare(program):
        rows = program.rows("recommendations")
        if not rows or not cause_checks.names_it(rows[0], words):
            yield f"the first is {rows and cause_checks.show(rows[0])}, not /{words}/"
            return
        have = checks.as_ns(checks.field(rows[0], "gain_ms")) * steps
        if abs(have - gain) > within * gain:
            yield f"its gain is {have} ns, the truth is {gain}"
    return Check("names_the_late_ranks", BLAMES_ALL, compare)


def two_loaders():
    """Two ranks of a node wait for a slow disk: each alone would still hide the other."""
    job = training("two_loaders", 4, load_us=lambda rank, _: 6000 + rank if rank in (1, 3) else 300)
    even = training("two_loaders", 4, load_us=lambda rank, _: 300)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "ranks 1 and 3 in every step, by the loader", "gain": f"{gain} ns"}
    return Scenario("two_loaders", "Two of four ranks load data slowly", jobs, told, [
        *checks.basics(jobs), names("^Ranks 1, 3 make the others wait.*DataLoader", gain, 5)],
        without=[Without([late((1, 3))], [even])])


def slow_node():
    """Half of all ranks have slow GPUs: the others still say what is usual."""
    job = training("slow_node", slower=lambda rank: 1.3 + rank / 1000 if rank >= 4 else 1)
    even = training("slow_node")
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "ranks 4 to 7 in every step: their GPUs are slow", "gain": f"{gain} ns"}
    return Scenario("slow_node", "The GPUs of one node of two are slow", jobs, told, [
        *checks.basics(jobs), names("^Ranks 4, 5, 6, 7 make the others wait.*GPU", gain, 5)],
        without=[Without([late((4, 5, 6, 7))], [even])])


def loaders_in_turn():
    """In each step two other ranks of eight load data."""
    job = training("loaders_in_turn", steps=8,
                   load_us=lambda rank, step: 5000 + rank if (rank + 2 * step) % 8 < 2 else 200)
    even = training("loaders_in_turn", steps=8, load_us=lambda *_: 200)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "two ranks in each step, all eight in turn", "gain": f"{gain} ns"}
    return Scenario("loaders_in_turn", "In each step two other ranks load data", jobs, told, [
        *checks.basics(jobs), names("^8 ranks make the others wait in turn.*DataLoader", gain, 8),
        cause_checks.blames_no_rank()],
        without=[Without([late(range(8))], [even])])


def evaluates_alone():
    """More kernels are more work, however long each of them is."""
    job = training("evaluates_alone", 4, more=lambda rank, step: 60 * (rank == 0 and step == 3))
    even = training("evaluates_alone", 4, more=lambda *_: 0)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 0 in step 3: it runs 60 kernels more", "gain": f"{gain} ns in step 3"}
    assert gain > 17_900_000
    return Scenario("evaluates_alone", "Rank 0 alone evaluates in a step", jobs, told, [
        *checks.basics(jobs),
        cause_checks.blames("blames_rank_0", 0, gain + 10_000, step=3),
        names("^Rank 0 makes the others wait", gain, 5)],
        without=[Without([late((0,))], [even])])


def hot_experts():
    """In each layer another rank has the hot experts, all of them as much in a step."""
    job = experts("hot_experts", lambda step, layer: (3 * step + layer) % 4)
    even = experts("hot_experts", lambda *_: None)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "all four ranks, each in another layer", "gain": f"{gain} ns"}
    return Scenario("hot_experts", "In each layer another rank has the hot experts", jobs, told, [
        *checks.basics(jobs), names("^4 ranks make the others wait in turn", gain, 8),
        cause_checks.blames_no_rank()],
        without=[Without([late(range(4))], [even])])


def notes_late():
    """Rank 1 notes something before it launches its part, for 1.5 ms; rank 0 afterwards, for 3. In
    step 3 rank 1 writes something in its place, which rank 0 does not."""
    job = Job("notes_late", 2, [Group("3", "DATA_PARALLEL_GROUP", (0, 1))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                host.kernel("gemm", 500, op="aten::mm")
                if host.rank == 1:
                    host.work(2200 if number == 3 else 1500, "write" if number == 3 else "note")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 5000, op="Optimizer.step#AdamW.step")
                if host.rank == 0:
                    host.work(3000, "note")
                host.sync()
    capture.simulate()
    jobs = [job]
    told = {"late": "rank 1: in steps 1 and 2 by note, which takes rank 0 longer, but later; in "
                    "step 3 by write"}
    return Scenario("notes_late", "What makes rank 1 late takes longer on rank 0", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 1, (1, 2), "note"),
        cause_checks.says("names_where_it_was", "because of note, in which its host was",
                          BLAMES_ALL),
        cause_checks.no_words("is_not_longer_there", "takes longer there", BLAMES_ALL)])


def scenarios():
    return [notes_late(), two_loaders(), slow_node(), loaders_in_turn(), evaluates_alone(),
            hot_experts()]
