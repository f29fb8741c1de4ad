"""Scenarios of time that is lost, and of time that only looks so: hosts ahead of their GPUs, calls
that wait, a pipeline that ends in an all-reduce, one late rank of eight, nobody, and traces that
cannot tell."""
import causes
import cause_checks
import checks
import idle_checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

AHEAD_STEPS = (1, 2, 3, 4, 5, 6)


def running_ahead(pause_us):
    job = causes.data_parallel("host_ahead")
    capture = job.capture(0)
    for host in capture.every_host():
        for number in AHEAD_STEPS:
            with host.step(number):
                host.kernel("embed", 100, op="aten::embedding")
                if number == 1 and pause_us:
                    host.work(pause_us, "build_vocabulary", "user_annotation")
                for _ in range(20):
                    host.kernel("gemm", 500, op="aten::mm")
                host.collective("allreduce", job.groups[1], 200, 20)
                host.kernel("adam", 100, op="Optimizer.step#AdamW.step")
        host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    return job


def host_ahead():
    """Each host launches six steps in 2 ms, and the GPUs work on them for 60 ms."""
    job = running_ahead(1080)
    idle = truth.idle_sums(job.captures[0], 0)
    span = truth.overlap_of_rank(job, 0)["span"]
    total = sum(idle.values())
    assert 0.0155 < total / span < 0.0165 and idle["host"] == total
    begun = dict((number, start) for number, start, _ in truth.steps_of_rank(job, 0))
    busy_until = truth.step_ends(job.captures[0])
    assert all(begun[number] < busy_until[number - 1] for number in AHEAD_STEPS[1:])
    told = {"idle": f"{total} ns of {span}: 1.6 %, all of it in step 1",
            "steps 2 to 6": "begin on the host while the GPU works on the step before"}
    jobs = [job]
    return Scenario("host_ahead", "Hosts run ahead: steps begin while the GPU is busy", jobs, told,
                    [*checks.basics(jobs), cause_checks.blames_no_rank(),
                     cause_checks.gains_at_most("starts_are_busy", "begin|idle|launch", total,
                                                but="build_vocabulary"),
                     idle_checks.time_partition(jobs), idle_checks.gpu_gaps(jobs),
                     idle_checks.named_gaps(jobs, "build_vocabulary", 2, 970_000),
                     idle_checks.starts_are_busy(jobs, AHEAD_STEPS[1:])],
                    without=[Without(["name=build_vocabulary"], [running_ahead(0)])])


def pipeline_all_reduce():
    """The balanced pipeline; all ranks of the job reduce the norm of gradients at a step's end, so
    that the later stages, which are done first, wait there for the first."""
    job = causes.pipeline("pipeline_all_reduce", all_reduce_us=50)
    jobs = [job]
    bubbles = [truth.bubbles_of_step(job.captures[0], rank, 6) for rank in range(causes.STAGES)]
    ideal = (causes.STAGES - 1) * (causes.FORWARD_US + causes.BACKWARD_US) * 1000
    assert all(ideal < bubble < ideal + 500_000 for bubble in bubbles), bubbles
    told = {"bubble of a stage in step 6": f"{bubbles} ns, of which {ideal} must be",
            "wait in the all-reduce": "the rest of the cool-down: a bubble as well",
            "late": "nobody"}
    return Scenario("pipeline_all_reduce", "A balanced 1F1B pipeline; an all-reduce of the whole "
                    "job ends its steps", jobs, told,
                    [*checks.basics(jobs), cause_checks.blames_no_rank(),
                     cause_checks.nobody_is_late(jobs, (5, 6)),
                     idle_checks.pipeline_bubbles(jobs, 400_000)])


SAVE = "save_checkpoint"


def saving_steps(save_us):
    """.item(), whose copy the GPU takes up 350 us late; then the host does something else."""
    job = Job("sync_then_other", 1)
    host = job.capture(0).host(0)
    for number in range(1, 11):
        with host.step(number):
            host.kernel("gemm", 5000, op="aten::mm")
            host.item(latency_us=5348)
            if save_us:
                host.work(save_us, SAVE, "user_annotation")
            host.kernel("scale", 50, op="aten::mul")
            host.work(52)
    job.captures[0].simulate()
    return job


def sync_then_other():
    job = saving_steps(56_641)
    idle = truth.idle_sums(job.captures[0], 0)
    assert idle["sync"] == 3_500_000 and 569_900_000 < sum(idle.values()) < 570_100_000, idle
    told = {"idle": f"{sum(idle.values())} ns", "within .item() before its work had ended":
            f"{idle['sync']} ns", f"in {SAVE}, and launching": f"{idle['host']} ns"}
    jobs = [job]
    return Scenario("sync_then_other", "Ten calls that wait 0.35 ms each for nothing that runs, "
                    "and then 56 ms of something else", jobs, told,
                    [*checks.basics(jobs),
                     cause_checks.says("names_what_follows", SAVE, "after it: host, named by what "
                                       "the host then did"),
                     cause_checks.gains_at_most("sync_gains_little", r"\bitem|synchroni[sz]",
                                                3_600_000, but=SAVE),
                     idle_checks.time_partition(jobs), idle_checks.gpu_gaps(jobs),
                     idle_checks.named_gaps(jobs, SAVE, 10, 56_641_000),
                     # What of it is not sync: the call returns 3 us after its work has ended.
                     idle_checks.stalled(jobs, idle["sync"], idle["sync"] + 30_000)],
                    without=[Without([f"name={SAVE}"], [saving_steps(0)])])


def eight_ranks(name, sleep_us):
    """Tensor parallel pairs, four of each in data parallel groups; rank 5 may sleep in step 3."""
    groups = [Group(str(11 + at), "TENSOR_MODEL_PARALLEL_GROUP", (2 * at, 2 * at + 1))
              for at in range(4)]
    groups += [Group(str(21 + at), "DATA_PARALLEL_GROUP", tuple(range(at, 8, 2)))
               for at in range(2)]
    job = Job(name, 8, groups)
    capture = job.capture(0)
    for host in capture.every_host():
        tensor, data = groups[host.rank // 2], groups[4 + host.rank % 2]
        for number in (2, 3, 4):
            with host.step(number):
                if host.rank == 5 and number == 3 and sleep_us:
                    host.work(sleep_us, "injected_sleep", "user_annotation")
                for _ in range(4):
                    host.kernel("gemm", 900, op="aten::mm")
                    host.collective("allreduce", tensor, 60, 21)
                host.collective("_reduce_scatter_base", data, 300, 22)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def one_of_eight():
    job, even = eight_ranks("one_of_eight", 25_000), eight_ranks("one_of_eight", 0)
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    assert 24_900_000 < gain <= 25_000_000, gain
    told = {"late": "rank 5 in step 3, by injected_sleep; rank 4, its partner in the tensor "
            "parallel group, is late because of it", "gain without it": f"{gain} ns"}
    jobs = [job]
    return Scenario("one_of_eight", "Rank 5 of 8 sleeps 25 ms in step 3", jobs, told, [
        *checks.basics(jobs), checks.stall_details(jobs),
        idle_checks.time_partition(jobs), idle_checks.gpu_gaps(jobs),
        cause_checks.is_late(jobs, 5, (3,), "injected_sleep"),
        cause_checks.blames("blames_rank_5", 5, gain + 10_000, step=3, words="injected_sleep"),
        cause_checks.what_if("injected_sleep", {2: 0, 3: gain, 4: 0})],
        without=[Without(["name=injected_sleep", "rank-late=5"], [even])],
        late={"rank": 5, "step": 3, "cause": "injected_sleep"})


def nobody():
    job = eight_ranks("nobody", 0)
    jobs = [job]
    assert all(max(meeting.waits().values()) == 0 for meeting in truth.matched(job))
    told = {"late": "nobody: no rank waits for another", "waits": 0}
    return Scenario("nobody", "Eight ranks that do the same at the same time", jobs, told,
                    [*checks.basics(jobs), cause_checks.blames_no_rank(),
                     idle_checks.time_partition(jobs), idle_checks.gpu_gaps(jobs),
                     cause_checks.no_words("nobody_waits", r"(makes|keeps) the others|waits? for "
                                           "rank", "nobody waits for anybody"),
                     cause_checks.doctor(False)])


def rank_not_recorded():
    """The file of rank 1, which is late in each step, was lost: rank 0 waits, and no trace tells
    whether for the partner or for the transfer."""
    job = causes.data_parallel("rank_not_recorded")
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                host.kernel("gemm", 3000 + 2000 * host.rank, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.sync()
    capture.simulate()
    capture.missing = {1}
    jobs = [job]
    told = {"collectives without a partner": truth.lone_parts(job),
            "late": "cannot tell: the other rank is not there"}
    return Scenario("rank_not_recorded", "A rank waits for one whose trace is missing", jobs, told,
                    [checks.overlap(jobs), checks.nccl_stalls(jobs), checks.nccl_stall_ranks(jobs),
                     checks.steps(jobs), cause_checks.blames_no_rank()], cannot_tell=True)


def calls_not_recorded():
    """Only the GPU was recorded: half of the time it does nothing, and no trace tells why."""
    job = Job("calls_not_recorded", 1, host_recorded=False)
    host = job.capture(0).host(0)
    for number in (1, 2, 3):
        with host.step(number):
            host.kernel("gemm", 5000, op="aten::mm")
            host.sync()
            host.work(5000, "something", "user_annotation")
    host.kernel("last", 10)
    job.captures[0].simulate()
    jobs = [job]
    told = {"idle": f"{truth.overlap_of_rank(job, 0)['idle']} ns",
            "why": "cannot tell: no call of the host is there"}
    return Scenario("calls_not_recorded", "An idle GPU, and nothing of its host", jobs, told,
                    [checks.overlap(jobs), checks.stream_utilization(jobs),
                     cause_checks.no_words("no_cause", "because the next kernel is not launched|"
                                           "load data|synchroni[sz]", "cannot tell")],
                    cannot_tell=True)


def linked(slow_us):
    """Three tensor parallel groups of two; all-reduces of the last take so long, else 200 us."""
    pairs = [(0, 1), (2, 3), (4, 5)]
    job = Job("slow_link", 6, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(6)))]
              + [Group(str(4 + i), "TENSOR_MODEL_PARALLEL_GROUP", pair)
                 for i, pair in enumerate(pairs)])
    capture = job.capture(0)
    for host in capture.every_host():
        pair = host.rank // 2
        for number in (1, 2, 3):
            with host.step(number):
                for _ in range(8):
                    host.kernel("gemm", 500, op="aten::mm")
                    host.collective("allreduce", job.groups[2 + pair],
                                    slow_us if pair == 2 else 200, 21)
                host.kernel("norm", 10 + host.rank, op="aten::norm")  # nobody comes at one time
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def slow_link():
    job, even = linked(800), linked(200)
    jobs = [job]
    whole = truth.last_end(job.captures[0])
    gain = whole - truth.last_end(even.captures[0])
    share = 100 * gain / (whole - job.captures[0].begin)
    told = {"slow": "the link between ranks 4 and 5: four times as long; no rank is late of itself",
            "gain if it were as fast as the others": f"{gain} ns in all 3 steps"}
    assert 3 * 8 * 580_000 < gain <= 3 * 8 * 600_000
    return Scenario("slow_link", "The link of one tensor parallel group is slow", jobs, told, [
        *checks.basics(jobs),
        cause_checks.says("names_the_group", r"\[4,5\].* is slow", "a wait that computation hides "
                          "gains nothing", (share - 1.5, share + 1.5)),
        cause_checks.blames_no_rank()])


def reducing(name, once_us):
    """once_us: what one all-reduce of the 24 takes, in step 2; the others take 300 us."""
    job = Job(name, 4, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(4)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                for layer in range(8):
                    host.kernel("gemm", 500 + host.rank, op="aten::mm")
                    once = number == 2 and layer == 4
                    host.collective("allreduce", job.groups[1], once_us if once else 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def hiccup():
    job, usual = reducing("hiccup", 40_000), reducing("hiccup", 300)
    jobs, gain = [job], truth.gain_of(job, usual)
    told = {"slow": "one all-reduce of 24: 40 ms in place of 0.3; no rank is late",
            "gain if it were as the others": f"{gain} ns in step 2"}
    assert 39_600_000 < gain <= 39_700_000
    contract = "every conclusion is tested: larger buckets do not help against one bad moment"
    return Scenario("hiccup", "One collective takes a hundred times as long as usual", jobs, told, [
        *checks.basics(jobs),
        cause_checks.says("names_the_one", r"one allreduce in step 2 that took 40\.", contract),
        cause_checks.no_words("no_advice_for_all", "larger buckets", contract),
        cause_checks.blames_no_rank()])


def scenarios():
    return [host_ahead(), pipeline_all_reduce(), sync_then_other(), one_of_eight(), nobody(),
            rank_not_recorded(), calls_not_recorded(), slow_link(), hiccup()]
