"""Scenarios of what happens at the end of a step, and of steps that take longer than the others."""
import random

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


def saving():
    """A checkpoint of rank 0 at the end of steps 3 and 6: the others wait in the next step's
    all-reduce, and the time is lost in the step that saves, as the host has it (no `without`, which
    goes by when GPUs end)."""
    def save(host, step):
        if host.rank == 0 and step % 3 == 0:
            host.work(SAVE_US, "torch.save", "user_annotation")
    job, even = training("saving", 7, save), training("saving", 7)
    jobs, gain = [job], truth.gain_of(job, even)
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
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "ranks 0, 1, 1, 0, 1, 0, 0, 1 in steps 1 to 8: they have more to compute",
            "gain if all had as much": f"at most {gain} ns", "slow GPU": "none"}
    return Scenario("two_in_turn", "Of two ranks one or the other has more to compute", jobs, told,
                    [*checks.basics(jobs),
                     cause_checks.is_late(jobs, 1, (2, 3), "gemm"),
                     cause_checks.first_sentence("rank 0.*; rank 1 came late too|"
                                                 "rank 1.*; rank 0 came late too")],
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


def evaluating():
    """All ranks evaluate at the end of step 3: nobody waits, and nothing is wrong."""
    def evaluate(host, step):
        if step == 3:
            with host.annotation("evaluate"):
                for _ in range(30):
                    host.kernel("eval_gemm", 700, op="aten::mm")
                host.item()
    job = training("evaluating", 5, evaluate)
    jobs, lengths = [job], truth.step_lengths(job.captures[0])
    told = {"step 3": f"{lengths[3]} ns, the others {lengths[2]}: 30 eval_gemm on all ranks",
            "late": "nobody"}
    return Scenario("evaluating", "All ranks evaluate in step 3", jobs, told, [
        *checks.basics(jobs), cause_checks.blames_no_rank(),
        cause_checks.first_sentence(r"Step 3 took 28\.\d ms, 3\.8 times the median .7\.6\d ms., on "
                                    r"all ranks alike: 21\.0 ms more of eval_gemm, and nobody made",
                                    not_words="Step 3 took.* could be saved")])


def warming_up():
    """The kernels of step 1 take four times as long on all ranks."""
    job = training("warming_up", 5, longer=lambda rank, step: 4 if step == 1 else 1)
    jobs, lengths = [job], truth.step_lengths(job.captures[0])
    told = {"step 1": f"{lengths[1]} ns, the others {lengths[2]}: on all ranks, by their kernels",
            "late": "nobody"}
    return Scenario("warming_up", "The first step is slow on all ranks", jobs, told, [
        *checks.basics(jobs), cause_checks.blames_no_rank(),
        cause_checks.first_sentence(r"Step 1 took 29\.\d ms, 3\.8 times the median .*on all ranks "
                                    r"alike: it is the first that was recorded, and may be warming "
                                    r"up .14\.4 ms more of bwd_gemm and 7\.20 ms more of fwd_gemm",
                                    not_words="Step 1 took.* could be saved")])


def heavy_tail():
    """Each kernel in 33 takes 1.4 times as long, by chance: no rank is slow, nothing is uneven."""
    chance = random.Random(3)
    job = Job("heavy_tail", 8, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(8)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for step in range(1, 11):
            with host.step(step):
                for _ in range(12):
                    takes = 1.4 if chance.random() < 0.03 else chance.uniform(0.98, 1.02)
                    host.kernel("gemm", 600 * takes, op="aten::mm")
                host.collective("allreduce", job.groups[1], 60, 20)
                host.kernel("adam", 300, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    jobs = [job]
    told = {"late": "in each step another rank, by chance", "slow": "none"}
    return Scenario("heavy_tail", "Kernels that by chance take longer, on all ranks alike", jobs,
                    told, [*checks.basics(jobs),
                           cause_checks.first_sentence("^Nothing stands out")])


def scenarios():
    return [saving(), two_in_turn(), one_of_four(), evaluating(), warming_up(), heavy_tail()]
