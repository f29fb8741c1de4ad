"""Scenarios of ranks that are late in turn: no one of them is at fault, what they do is."""
import cause_checks
import checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

RANKS, PAUSE_US = 4, 5000
NO_RANK = "the last to arrive is the culprit"


def steps(name, pauses=None, lengths=None):
    """A step for each of `pauses` (the rank whose host pauses in it) or `lengths` (the rank whose
    sequences are 1.5 times as long in it); None: none of them."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number, rank in enumerate(pauses or lengths, start=1):
            with host.step(number):
                if pauses and host.rank == rank:
                    host.work(PAUSE_US, "gc_collect", "user_annotation")
                longer = 1.5 if lengths and host.rank == rank else 1
                for layer in range(6):
                    host.kernel(f"attention_{layer}", 400 * longer, op="aten::sdpa")
                    host.kernel("gemm", 500 * longer, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def collecting_in_turn():
    """Garbage collection as Python does it: when enough was allocated, on each rank in a step of
    its own."""
    in_step = (0, 3, 1, 2, 1, 0, 2, 3)
    job, even = steps("gc_in_turn", pauses=in_step), steps("gc_in_turn", pauses=[None] * 8)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "ranks 0, 3, 1, 2, 1, 0, 2, 3 in steps 1 to 8, by gc_collect",
            "gain without it": f"{gain} ns, or an eighth of it a step"}
    assert gain == 8 * PAUSE_US * 1000
    return Scenario("gc_in_turn", "Each rank pauses in steps of its own", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 3, (2, 8), "gc_collect"),
        cause_checks.blames_no_rank(),
        cause_checks.first_of("names_all_in_turn", ".", "^4 ranks make the others wait in turn",
                              NO_RANK),
        cause_checks.says("names_what_they_do", "because gc_collect takes longer", NO_RANK)],
        without=[Without(["name=gc_collect"], [even])],
        late={"rank": None, "step": None, "cause": "gc_collect"})


def lengths_in_turn():
    """Sequences of unlike length: in each step another rank has the longest."""
    in_step = (2, 0, 1, 3, 0, 2, 3, 1)
    job, even = steps("lengths_in_turn", lengths=in_step), \
        steps("lengths_in_turn", lengths=[None] * 8)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "ranks 2, 0, 1, 3, 0, 2, 3, 1 in steps 1 to 8: they have more to compute",
            "gain if all had as much": f"at most {gain} ns", "slow GPU": "none"}
    assert gain == 8 * 6 * 450_000
    return Scenario("lengths_in_turn", "In each step another rank has more to compute", jobs, told,
                    [*checks.basics(jobs), cause_checks.is_late(jobs, 1, (3, 8), "attention|gemm"),
                     cause_checks.blames_no_rank(),
                     cause_checks.says("names_all_in_turn", "^4 ranks make the others wait in turn",
                                       NO_RANK),
                     cause_checks.no_words("names_no_gpu", "slow or throttled",
                                           "a GPU that is slow in one step of four is not slow")],
                    late={"rank": None, "step": None, "cause": "attention"})


def one_of_all():
    """All pause now and then, but rank 2 in most steps: it is at fault before the others."""
    in_step = (2, 0, 2, 2, 1, 2, 3, 2)
    job, even = steps("mostly_one", pauses=in_step), steps("mostly_one", pauses=[None] * 8)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 2 in five of eight steps, the others in one each",
            "gain without rank 2's": f"{5 * gain // 8} ns"}
    return Scenario("mostly_one", "All ranks pause, one of them in most steps", jobs, told, [
        *checks.basics(jobs),
        cause_checks.blames("blames_rank_2", 2, 5 * gain // 8 + 10_000, words="gc_collect"),
        cause_checks.no_words("not_in_turn", "wait in turn", NO_RANK)],
        without=[Without(["name=gc_collect"], [even])],
        late={"rank": 2, "step": None, "cause": "gc_collect"})


def of_several(name, does):
    """Hosts do what `does` has for their rank (names and us) before the launches of each step."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, 5):
            with host.step(number):
                for what, us in does.get(host.rank, ()):
                    host.work(us, what, "user_annotation")
                for layer in range(6):
                    host.kernel("gemm", 900, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def three_names():
    does = {1: (("load", 3000), ("tokenize", 2500), ("build_mask", 2000))}
    job, even = of_several("three_names", does), of_several("three_names", {})
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 1 in every step, by three things of which none is half of it",
            "gain without them": f"{gain} ns"}
    assert 4 * 7_400_000 < gain <= 4 * 7_500_000
    return Scenario("three_names", "What makes a rank late are several slices", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 1, (1, 2, 3, 4), "load"),
        cause_checks.blames("blames_rank_1", 1, gain, words="rank 1"),
        cause_checks.first_sentence(r"rank 1's host was held up for 7\.\d+ ms; the longest slice "
                                    r"in that is 3\.00 ms of load")],
        without=[Without(["rank-late=1"], [even])],
        late={"rank": 1, "step": None, "cause": "load"})


def loads_often():
    """The same slice before each of four microbatches."""
    def made(us):
        job = Job("loads_often", RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
        capture = job.capture(0)
        for host in capture.every_host():
            for number in range(1, 5):
                with host.step(number):
                    for _ in range(4):
                        if host.rank == 1 and us:
                            host.work(us, "load", "user_annotation")
                        host.kernel("forward_gemm", 400, op="aten::mm")
                        host.kernel("backward_gemm", 800, op="aten::mm")
                    host.collective("allreduce", job.groups[1], 300, 20)
                    host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                    host.sync()
        capture.simulate()
        return job
    job, even = made(2000), made(0)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 1 in every step, by four slices of one name", "gain": f"{gain} ns"}
    return Scenario("loads_often", "What makes a rank late is one slice many times", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 1, (1, 2, 3, 4), "load"),
        cause_checks.blames("blames_rank_1", 1, gain, words="load")],
        without=[Without(["rank-late=1"], [even])],
        late={"rank": 1, "step": None, "cause": "load"})


def unlike_reasons():
    """Two ranks late in each step, for different reasons: one hides the other."""
    loads, collects = {1: (("load", 5000),)}, {2: (("gc_collect", 4000),)}
    job = of_several("unlike_reasons", {**loads, **collects})
    jobs = [job]
    told = {"late": "ranks 1 and 2 in every step; without the first alone 1 ms a step is gained"}
    return Scenario("unlike_reasons", "Two ranks are late for different reasons", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 1, (1, 2, 3, 4), "load")],
        without=[Without(["rank-late=1"], [of_several("unlike_reasons", collects)]),
                 Without(["--without rank-late=1 --without rank-late=2"],
                         [of_several("unlike_reasons", {})])],
        late={"rank": 1, "step": None, "cause": "load"})


def scenarios():
    return [collecting_in_turn(), lengths_in_turn(), one_of_all(), three_names(), loads_often(),
            unlike_reasons()]
