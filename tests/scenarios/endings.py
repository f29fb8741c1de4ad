"""Scenarios of what happens at the end of a step, and of steps that take longer than the others."""
import cause_checks
import checks
import truth
from checks import Scenario
from trace_maker import Group, Job

SAVE_US = 40_000


def training(name, last_step, at_end=lambda host, step: None, longer=lambda rank, step: 1,
             ranks=4):
    """Steps 1 to `last_step` of some 7.6 ms: all but what is given takes as long on all ranks."""
    job = Job(name, ranks, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(ranks)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for step in range(1, last_step + 1):
            with host.step(step):
                for us, kernel in ((400, "fwd_gemm"), (800, "bwd_gemm")):
                    for _ in range(6):
                        host.kernel(kernel, us * longer(host.rank, step), op="aten::mm")
                host.collective("allreduce", job.groups[1], 100, 20)
                host.kernel("adam", 300, op="Optimizer.step#AdamW.step")
                host.sync()
                at_end(host, step)
    capture.simulate()
    return job


def gain_of(job, even):
    return truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])


def saving():
    """A checkpoint of rank 0 at the end of steps 3 and 6: the others wait in the next step's
    all-reduce, and the time is lost in the step that saves, as the host has it (no `without`, which
    goes by when GPUs end)."""
    def save(host, step):
        if host.rank == 0 and step % 3 == 0:
            host.work(SAVE_US, "torch.save", "user_annotation")
    job, even = training("saving", 7, save), training("saving", 7)
    jobs, gain = [job], gain_of(job, even)
    told = {"late": "rank 0 in steps 3 and 6, by torch.save",
            "gain without it": f"{gain} ns in both together"}
    assert gain == 2 * SAVE_US * 1000, gain
    return Scenario("saving", "Rank 0 saves a checkpoint at the end of every third step", jobs,
                    told, [
        *checks.basics(jobs),
        cause_checks.blames("blames_rank_0", 0, gain + 10_000, words="torch.save"),
        cause_checks.what_if("torch.save", {3: SAVE_US * 1000, 6: SAVE_US * 1000}),
        cause_checks.first_sentence(r"^Step [36] took 47\.\d ms; 7\.\d+ ms would do: rank 0's host "
                                    r"was held up for 40\.0 ms \(torch\.save\)", not_words="gemm")],
        late={"rank": 0, "step": None, "cause": "torch.save"})


def two_in_turn():
    """Of two ranks one or the other has longer sequences: neither is slow."""
    in_step = (0, 1, 1, 0, 1, 0, 0, 1)
    longer = lambda rank, step: 1.4 if in_step[step - 1] == rank else 1
    job, even = training("two_in_turn", 8, longer=longer, ranks=2), training("two_in_turn", 8,
                                                                              ranks=2)
    jobs, gain = [job], gain_of(job, even)
    told = {"late": "ranks 0, 1, 1, 0, 1, 0, 0, 1 in steps 1 to 8: they have more to compute",
            "gain if all had as much": f"at most {gain} ns", "slow GPU": "none"}
    return Scenario("two_in_turn", "Of two ranks one or the other has more to compute", jobs, told,
                    [*checks.basics(jobs),
                     cause_checks.is_late(jobs, 1, (2, 3), "gemm"),
                     cause_checks.first_sentence("rank 0.*; in other steps rank 1 came late|"
                                                 "rank 1.*; in other steps rank 0 came late")],
                    late={"rank": None, "step": None, "cause": "gemm"})


def one_of_four():
    """Rank 2 is slow, and rank 0 alone was recorded: its all-reduce is mostly waiting."""
    longer = lambda rank, step: 1.4 if rank == 2 else 1
    job = training("one_of_four", 4, longer=longer)
    job.captures[0].missing = {1, 2, 3}
    jobs = [job]
    told = {"late": "rank 2, which was not recorded", "exposed communication of rank 0":
            "3 ms a step, 0.1 of it transfers: cannot be told"}
    return Scenario("one_of_four", "One rank of four is recorded, and another was slow", jobs, told,
                    [*checks.basics(jobs), cause_checks.first_sentence(
                        "communication is not hidden .how much of that is waiting for ranks that "
                        "were not recorded cannot be told.*Only 1 of 4 ranks is recorded")],
                    cannot_tell=True)


def scenarios():
    return [saving(), two_in_turn(), one_of_four()]
