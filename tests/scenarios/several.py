"""Scenarios of one or two late ranks among others that are only unlike: in several groups, stages
and threads, in some steps, after the last collective of a step."""
import cause_checks
import causes
import checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
TENSOR, DATA, PIPELINE = (f"{of}_PARALLEL_GROUP" for of in ("TENSOR_MODEL", "DATA",
                                                            "PIPELINE_MODEL"))


def simulated(job, steps, write_step, threads=None):
    capture = job.capture(0)
    for host in capture.every_host():
        if threads:
            threads(capture, host.rank)
        for number in steps:
            with host.step(number):
                write_step(host, number)
                host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    return job


def adam(host, _=None):
    host.kernel("adam", 250, op="Optimizer.step#AdamW.step")


def data_parallel(name, ranks, steps, begin=None, factor=None, end=adam, threads=None):
    """begin(host, step), 8 layers of 1 ms times factor(rank, step), all-reduce, end(host, step)."""
    job = Job(name, ranks, [Group("3", DATA, tuple(range(ranks)))])

    def write(host, step):
        if begin:
            begin(host, step)
        times = factor(host.rank, step) if factor else 1
        for _ in range(8):
            host.kernel("attention", 400 * times, op="aten::sdpa")
            host.kernel("gemm", 600 * times, op="aten::mm")
        host.collective("allreduce", job.groups[1], 300, 20)
        end(host, step)
    return simulated(job, steps, write, threads)


def scenario(says, job, told, more, without=(), **settings):
    jobs = [job]
    return Scenario(job.folder, says, jobs, {"late": told}, [*checks.basics(jobs), *more(jobs)],
                    without=[Without([option], [other]) for option, other in without], **settings)


def late(rank, cause):
    return {"rank": rank, "step": None, "cause": cause}


def two_groups(load_us=6000, slower=1.3):
    tensor = [Group(str(11 + at), TENSOR, (2 * at, 2 * at + 1)) for at in range(4)]
    data = [Group(str(21 + at), DATA, tuple(range(at, 8, 2))) for at in range(2)]

    def write(host, _):
        host.work(1000 + (load_us if host.rank == 2 else 0), LOADER, "user_annotation")
        for _ in range(6):
            host.kernel("gemm", 700 * (slower if host.rank == 7 else 1), op="aten::mm")
            host.collective("allreduce", tensor[host.rank // 2], 60, 21)
        host.collective("_reduce_scatter_base", data[host.rank % 2], 300, 22)
        adam(host)
    return simulated(Job("two_groups", 8, tensor + data), (1, 2, 3), write)


def late_in_two_groups():
    both = "--without rank-late=2 --without rank-late=7"
    return scenario(
        "One rank loads slowly, and the GPU of one in other groups is slow", two_groups(),
        "rank 2 by 6 ms of loading; rank 7, hidden by it, by 1.26 ms of gemm",
        lambda jobs: [cause_checks.is_late(jobs, 2, (1, 2, 3), "DataLoader"),
                      cause_checks.first_sentence("rank 2's host.*rank 7, which that hides")],
        [("rank-late=2", two_groups(0)), ("rank-late=7", two_groups(slower=1)),
         (both, two_groups(0, 1))], late=late(2, LOADER))


def bubble(metrics_us=2000):
    """Two stages of two ranks each: forward passes of all microbatches, then the backward ones."""
    tensor = [Group("11", TENSOR, (0, 1)), Group("12", TENSOR, (2, 3))]
    pipes = [Group("13", PIPELINE, (0, 2)), Group("14", PIPELINE, (1, 3))]

    def write(host, _):
        first, pipe = host.rank < 2, pipes[host.rank % 2]
        peer = host.rank + 2 if first else host.rank - 2

        def layer(name, us, receive, send):
            if receive:
                host.collective("recv", pipe, 10, receive, peer=peer)
            host.kernel(name, us, op="aten::mm")
            host.collective("allreduce", tensor[host.rank // 2], 50, 21)
            if send:
                host.wait(send, on=7)
                host.collective("send", pipe, 10, send, peer=peer, joined=False)
        for _ in range(4):
            layer("layer_forward", 1000, None if first else 31, 32 if first else None)
        if first:
            if host.rank == 1 and metrics_us:
                host.kernel("metrics", metrics_us, op="aten::histc")
            host.collective("allreduce", tensor[0], 50, 21)
        for _ in range(4):
            layer("layer_backward", 2000, 33 if first else None, None if first else 34)
    return simulated(Job("late_in_bubble", 4, tensor + pipes), (1, 2, 3), write)


def late_in_bubble():
    return scenario(
        "A rank computes metrics while its stage has nothing to do", bubble(),
        "rank 1, for its tensor parallel partner, while both wait for the next stage: nothing lost",
        lambda jobs: [cause_checks.blames_no_rank(),
                      cause_checks.first_sentence("pipeline stages wait", "rank 1")],
        [("rank-late=1", bubble(0))])


def offloading(us=7000):
    """Rank 3 alone steps its optimizer on the CPU, but for the last step."""
    def end(host, step):
        if host.rank != 3 or not us or step == 4:
            return adam(host)
        host.copy(1500, "DtoH (Device -> Pinned)", 1 << 28)
        host.sync()
        host.work(us, "CPUAdam.step")
        host.copy(1500, "HtoD (Pinned -> Device)", 1 << 28)
    return data_parallel("offloads_optimizer", 4, (1, 2, 3, 4), end=end)


def offloads_optimizer():
    """What the copies take after a step's last collective is seen in the next step alone."""
    return scenario(
        "One rank's optimizer steps on the CPU", offloading(),
        "rank 3 in steps 2 to 4, by what it did at the end of those before: 7 ms of CPUAdam, and "
        "copies", lambda jobs: [cause_checks.is_late(jobs, 3, (2, 3, 4), "CPUAdam")],
        [("rank-late=3", offloading(0))])


def copies_then_saves():
    """26 ms after the last collective of step 2: they end the step."""
    def end(host, step):
        adam(host)
        if host.rank == 0 and step == 2:
            host.copy(6000, "DtoH (Device -> Pinned)", 1 << 30)
            host.sync()
            host.work(20_000, "torch.save")
    gains = {1: 0, 2: 26_000_000, 3: 0, 4: 0}
    return scenario(
        "One rank copies its weights to the host and saves them",
        data_parallel("copies_then_saves", 4, (1, 2, 3, 4), end=end),
        "rank 0 in step 3, by 6 ms of copying and 20 ms of saving in step 2",
        lambda jobs: [cause_checks.is_late(jobs, 0, (3,), "torch.save"),
                      cause_checks.without("without rank-late=0", "rank-late=0", gains)])


def experts(factor=2):
    job = Job("slow_expert", 4, [Group("5", "EXPERT_MODEL_PARALLEL_GROUP", (0, 1, 2, 3))])

    def write(host, _):
        for _ in range(6):
            host.kernel("router", 100, op="aten::topk")
            host.collective("all_to_allv", job.groups[1], 120, 23)
            host.kernel("grouped_gemm", 600 * (factor if host.rank == 2 else 1),
                        op="aten::_grouped_mm")
            host.collective("all_to_allv", job.groups[1], 120, 23)
        adam(host)
    return simulated(job, (1, 2, 3), write)


def slow_expert():
    return scenario(
        "The experts of one rank are slow in all layers", experts(),
        "rank 2, for every second collective, by 0.6 ms of grouped_gemm",
        lambda jobs: [cause_checks.is_late(jobs, 2, (1, 2, 3), "grouped_gemm"),
                      cause_checks.root_share(jobs, 2, "grouped_gemm", 99)],
        [("rank-late=2", experts(1))], late=late(2, "grouped_gemm"))


def compiling(us=60_000):
    def begin(host, step):
        if host.rank == 1 and step == 3 and us:
            with host.within("Torch-Compiled Region: 0/1"):
                host.work(us / 3, "inductor_compile")
                host.work(us * 2 / 3, "triton_compile")
    return data_parallel("one_compiles", 4, (1, 2, 3, 4, 5), begin=begin)


def one_compiles():
    return scenario(
        "One rank compiles anew in one step", compiling(), "rank 1 in step 3, by compiling: 60 ms",
        lambda jobs: [cause_checks.is_late(jobs, 1, (3,), "compile|Compiled"),
                      cause_checks.first_sentence("^Step 3.*rank 1's host.*compile")],
        [("rank-late=1", compiling(0))], late={"rank": 1, "step": 3, "cause": "triton_compile"})


def partners_not_recorded():
    tensor = [Group(str(11 + at), TENSOR, (2 * at, 2 * at + 1)) for at in range(4)]
    job = Job("partners_not_recorded", 8, tensor)

    def write(host, _):
        for _ in range(8):
            host.kernel("gemm", 800 * (1.4 if host.rank == 3 else 1), op="aten::mm")
            host.collective("allreduce", tensor[host.rank // 2], 60, 21)
        host.collective("allreduce", job.groups[0], 300, 22)
        adam(host)
    simulated(job, (1, 2, 3), write).captures[0].missing = {1, 3, 5, 7}
    jobs = [job]
    told = {"late": "rank 3, which was not recorded: rank 2 waited for it, the others for rank 2"}
    return Scenario(
        job.folder, "The tensor parallel partners of all ranks were not recorded, one of them is "
        "slow", jobs, told, [
            checks.overlap(jobs), checks.steps(jobs), cause_checks.blames_no_rank(),
            cause_checks.first_sentence("not recorded cannot be told", "rank 2")],
        cannot_tell=True)


def saves_aside():
    def thread(capture, rank):
        if rank == 0:
            saver = capture.thread(0, "saver")
            saver.until(3000)
            saver.work(40_000, "torch.save")
    job = data_parallel("saves_aside", 4, (1, 2, 3, 4, 5, 6), threads=thread)
    return scenario(
        "One rank saves on a thread that nothing waits for", job, "nobody",
        lambda jobs: [cause_checks.blames_no_rank(),
                      cause_checks.first_sentence(".", r"rank 0|torch\.save")])


def turns(load_us=5000, slower=1.5):
    def begin(host, step):
        host.work(1000 + (load_us if host.rank == 1 and step % 2 else 0), LOADER,
                  "user_annotation")
    return data_parallel("unlike_turns", 4, (1, 2, 3, 4), begin, lambda rank, step:
                         slower if rank == 2 and step % 2 == 0 else 1)


def unlike_turns():
    return scenario(
        "One rank loads slowly in odd steps, the GPU of another is slow in even ones", turns(),
        "rank 1 in steps 1 and 3, rank 2 in steps 2 and 4",
        lambda jobs: [cause_checks.is_late(jobs, 1, (1, 3), "DataLoader"),
                      cause_checks.root_share(jobs, 2, "gemm|attention", 40, 50)],
        [("rank-late=1", turns(0)), ("rank-late=2", turns(slower=1))])


def first_stage(load_us=10_000):
    job = Job("first_stage_loads", causes.STAGES, [Group("13", PIPELINE, (0, 1, 2, 3))])

    def write(host, _):
        if host.rank == 0 and load_us:
            host.work(load_us, LOADER, "user_annotation")
        ahead = causes.STAGES - 1 - host.rank
        for _ in range(ahead):
            causes.forward(host, job.groups[1], 1)
        for _ in range(causes.MICROBATCHES - ahead):
            causes.forward(host, job.groups[1], 1)
            causes.backward(host, job.groups[1], 1)
        for _ in range(ahead):
            causes.backward(host, job.groups[1], 1)
    return simulated(job, (5, 6), write)


def first_stage_loads():
    return scenario(
        "The first stage of a pipeline loads slowly", first_stage(), "rank 0, by 10 ms of loading",
        lambda jobs: [cause_checks.is_late(jobs, 0, (5, 6), "DataLoader"),
                      cause_checks.first_sentence("rank 0's host.*DataLoader")],
        [("rank-late=0", first_stage(0))], late=late(0, LOADER))


def while_saving(times=2):
    """The interpreter's lock is shared with a thread that saves, in steps 1 to 3."""
    def thread(capture, rank):
        if rank == 0 and times > 1:
            saver = capture.thread(0, "saver")
            saver.until(100)
            saver.work(30_000, "torch.save")
    job = Job("slow_while_saving", 4, [Group("3", DATA, (0, 1, 2, 3))])

    def write(host, step):
        for _ in range(40):
            host.work(180 * (times if host.rank == 0 and step < 4 else 1), "aten::linear")
            host.kernel("gemm", 200, op="aten::mm")
        host.collective("allreduce", job.groups[1], 100, 20)
        adam(host)
    return simulated(job, (1, 2, 3, 4), write, thread)


def slow_while_saving():
    return scenario(
        "One rank's host is slow while another of its threads saves", while_saving(),
        "rank 0 in steps 1 to 3: its host takes twice as long a call",
        lambda jobs: [cause_checks.is_late(jobs, 0, (1, 2, 3), "aten::linear"),
                      cause_checks.first_sentence("rank 0's host")],
        [("rank-late=0", while_saving(1))])


def throttled():
    def factor(times):
        return lambda rank, step: times if rank == 6 and step >= 3 else 1
    job, even = (data_parallel("throttled", 8, range(1, 7), factor=factor(times))
                 for times in (1.4, 1))
    return scenario(
        "The GPU of one rank is slow from the third step on", job, "rank 6 in steps 3 to 6",
        lambda jobs: [cause_checks.is_late(jobs, 6, (3, 4, 5, 6), "gemm|attention")],
        [("rank-late=6", even)], late=late(6, "gemm"))


def pauses(us=6000):
    """After a first kernel, in nothing that was recorded."""
    def begin(host, _):
        host.kernel("embed", 300, op="aten::embedding")
        if host.rank == 1 and us:
            host.work(us)
    return data_parallel("pauses_unseen", 4, (1, 2, 3), begin=begin)


def pauses_unseen():
    return scenario(
        "The host of one rank pauses in nothing that was recorded", pauses(),
        "rank 1 in every step, by its host; in what was not recorded",
        lambda jobs: [cause_checks.is_late(jobs, 1, (1, 2, 3), "host work in short pieces"),
                      cause_checks.first_sentence("rank 1's host")],
        [("rank-late=1", pauses(0))])


def scenarios():
    return [late_in_two_groups(), late_in_bubble(), offloads_optimizer(), copies_then_saves(),
            slow_expert(), one_compiles(), partners_not_recorded(), saves_aside(), unlike_turns(),
            first_stage_loads(), slow_while_saving(), throttled(), pauses_unseen()]
