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


def scenarios():
    return [collecting_in_turn(), lengths_in_turn(), one_of_all()]
