"""Scenarios of causes: who or what makes a job slower, and what only looks like it."""
import cause_checks
import checks
import idle_checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

STAGES, MICROBATCHES = 4, 8
FORWARD_US, BACKWARD_US, TRANSFER_US = 1000, 2000, 10


def forward(host, group, factor):
    """Activations from the stage before, to the stage behind."""
    if host.rank > 0:
        host.collective("recv", group, TRANSFER_US, 31, peer=host.rank - 1)
    host.kernel("layer_forward", FORWARD_US * factor, op="aten::mm")
    if host.rank < STAGES - 1:
        host.wait(32, on=7)
        host.collective("send", group, TRANSFER_US, 32, peer=host.rank + 1, joined=False)


def backward(host, group, factor):
    if host.rank < STAGES - 1:
        host.collective("recv", group, TRANSFER_US, 33, peer=host.rank + 1)
    host.kernel("layer_backward", BACKWARD_US * factor, op="aten::mm")
    if host.rank > 0:
        host.wait(34, on=7)
        host.collective("send", group, TRANSFER_US, 34, peer=host.rank - 1, joined=False)


def pipeline(name, all_reduce_us=0, slow_stage=None, factor=1.3):
    """1F1B where all microbatches are equal, and all stages but a slow one, in steps 5 and 6."""
    job = Job(name, STAGES, [Group("13", "PIPELINE_MODEL_PARALLEL_GROUP", (0, 1, 2, 3))])
    group = job.groups[1]
    capture = job.capture(0)
    for host in capture.every_host():
        takes = factor if host.rank == slow_stage else 1
        for number in (5, 6):
            with host.step(number):
                ahead = STAGES - 1 - host.rank
                for _ in range(ahead):
                    forward(host, group, takes)
                for _ in range(MICROBATCHES - ahead):
                    forward(host, group, takes)
                    backward(host, group, takes)
                for _ in range(ahead):
                    backward(host, group, takes)
                if all_reduce_us:
                    host.collective("allreduce", job.groups[0], all_reduce_us, 35)
                host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    return job


def balanced_pipeline():
    """Bubbles, and nobody who is late."""
    name = "balanced_pipeline"
    job = pipeline(name)
    jobs = [job]
    # 11 slots of a forward and a backward pass, and some transfers of 10 us.
    assert all(33_000_000 < length < 33_300_000 for _, _, length in truth.steps_of_rank(job, 0))
    told = {"compute of a stage in a step": f"{MICROBATCHES * (FORWARD_US + BACKWARD_US)} us",
            "bubble": "the rest of the step: 3 of 11 slots, and the transfers",
            "late": "nobody"}
    for rank in range(STAGES):
        assert truth.overlap_of_rank(job, rank)["compute"] == \
            2 * MICROBATCHES * (FORWARD_US + BACKWARD_US) * 1000
    return Scenario(name, "A perfectly balanced 1F1B pipeline, 4 stages, 8 microbatches", jobs,
                    told, [*checks.basics(jobs), checks.nobody_last_in_a_tie(jobs),
                           checks.communicators(jobs, {"PIPELINE_MODEL_PARALLEL_GROUP":
                                                       "pipeline"}),
                           idle_checks.pipeline_bubbles(jobs, 400_000),
                           cause_checks.nobody_is_late(jobs, (5, 6)),
                           cause_checks.first_sentence("stages wait for each other", "rank"),
                           cause_checks.blames_no_rank()])


def slow_stage():
    """The same with a slow stage: it is late, and the others' waits are more than the bubble."""
    name = "slow_stage"
    job, even = pipeline(name, slow_stage=1), pipeline(name)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    told = {"late": "rank 1 in every step: its kernels take 1.3 times as long",
            "gain if it were as fast as the others": f"{gain} ns in both steps"}
    # 8 microbatches pass it, one after the other, in each step; two of them within the bubble.
    longer = 2 * MICROBATCHES * 0.3 * (FORWARD_US + BACKWARD_US) * 1000
    assert 0.7 * longer < gain < 0.8 * longer, (longer, gain)
    return Scenario(name, "A 1F1B pipeline whose second stage is slower", jobs, told,
                    [*checks.basics(jobs), cause_checks.is_late(jobs, 1, (5, 6), "layer_"),
                     cause_checks.first_sentence("rank 1's GPU took longer", "stages wait")],
                    without=[Without(["rank-late=1"], [even])],
                    late={"rank": 1, "step": None, "cause": "layer_backward"})


def two_pipelines(takes):
    """Two stages of two data parallel ranks each: ranks 0 and 1, then 2 and 3; takes: us of a
    microbatch by rank."""
    job = Job("uneven_stages", 4, [Group("3", "DATA_PARALLEL_GROUP", (0, 1)),
                                   Group("4", "DATA_PARALLEL_GROUP", (2, 3)),
                                   Group("7", "PIPELINE_MODEL_PARALLEL_GROUP", (0, 2)),
                                   Group("8", "PIPELINE_MODEL_PARALLEL_GROUP", (1, 3))])
    capture = job.capture(0)
    for host in capture.every_host():
        stage, group = host.rank // 2, job.groups[3 + host.rank % 2]
        for number in (1, 2):
            with host.step(number):
                for _ in range(4):
                    if stage == 1:
                        host.collective("recv", group, TRANSFER_US, 31, peer=host.rank - 2)
                    host.kernel("layers", takes[host.rank], op="aten::mm")
                    if stage == 0:
                        host.wait(32, on=7)
                        host.collective("send", group, TRANSFER_US, 32, peer=host.rank + 2,
                                        joined=False)
                host.collective("allreduce", job.groups[1 + stage], 200, 20)
                host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    return job


def uneven_stages():
    """The first stage has three times the layers of the second, and rank 1 is slow. Layers that
    move make the stages alike, 2.2 ms on average, and rank 1 still slow."""
    job, even = two_pipelines((3000, 3600, 1100, 1100)), two_pipelines((2000, 2400, 2200, 2200))
    alike = two_pipelines((2200, 2200, 2200, 2200))
    jobs = [job]
    ends = [truth.last_end(j.captures[0]) for j in (job, even, alike)]
    told = {"gain when stages are balanced": f"{ends[0] - ends[1]} ns in both steps",
            "gain when ranks are": f"{ends[0] - ends[2]} ns"}
    assert ends[0] > ends[1] > ends[2]
    return Scenario("uneven_stages", "Two pipelines with layers unevenly in two stages, and a slow "
                    "rank", jobs, told, checks.basics(jobs),
                    without=[Without(["--balance stages"], [even]),
                             Without(["--balance ranks"], [alike])])


def data_parallel(name, world_size=2):
    return Job(name, world_size, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(world_size)))])


def late_hooks(late_us):
    job = data_parallel("hidden_waits")
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                host.kernel("gemm", 40_000, op="aten::mm")
                if host.rank == 1 and late_us:
                    host.work(late_us, "late_hook", "user_annotation")
                host.collective("allreduce", job.groups[1], 500, 20, joined=False)
                host.wait(7, on=20)
                host.kernel("adam", 1000, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def hidden_waits():
    """Rank 1 joins each all-reduce 2 ms late, and 40 ms of computation hide it on both ranks."""
    job = late_hooks(2000)
    jobs = [job]
    told = {"wait of rank 0": "2 ms in each step", "exposed communication": 0, "gain": 0}
    assert truth.overlap_of_rank(job, 0)["exposed_comm"] == 0
    without = late_hooks(0)
    assert truth.last_end(without.captures[0]) == truth.last_end(job.captures[0])
    return Scenario("hidden_waits", "Waits that computation hides entirely", jobs, told, [
        *checks.basics(jobs),
        cause_checks.gains_nothing(r"commun|\bwait|\blate\b|nccl|parallel", 1),
        cause_checks.what_if("late_hook", {1: 0, 2: 0, 3: 0}),
        cause_checks.not_waiting_path(10_000)],
        without=[Without(["name=late_hook", "rank-late=1"], [without])])


LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def loading_steps(load_us):
    """.item(), whose copy the GPU takes up 20 us after the work before it; then data loading."""
    job = Job("item_then_loading", 1)
    capture = job.capture(0)
    host = capture.host(0)
    for number in (1, 2, 3, 4):
        with host.step(number):
            host.kernel("gemm", 5000, op="aten::mm")
            # The copy is launched 4 us after the kernel, which runs for 5 ms.
            host.item(latency_us=5018)
            if load_us:
                host.work(load_us, LOADER, "user_annotation")
            host.kernel("scale", 50, op="aten::mul")
            host.sync()
    capture.simulate()
    return job


def item_then_loading():
    job = loading_steps(50_000)
    jobs = [job]
    with_load, without = truth.last_end(job.captures[0]), loading_steps(0)
    gain = (with_load - truth.last_end(without.captures[0])) // 4
    activities = sorted(job.captures[0].activities(0), key=lambda a: a.start)
    idle_in_sync = activities[1].start - activities[0].end
    told = {"idle within .item() before its work had ended": f"{idle_in_sync} ns a step (sync)",
            "idle after it": "the host's, named by the data loader: 50 ms a step",
            "gain without loading": f"{gain} ns a step"}
    assert idle_in_sync == 20_000 and gain == 50_000_000
    share = 100 * gain / ((with_load - job.captures[0].begin) / 4)
    return Scenario("item_then_loading", ".item(), then 50 ms of data loading", jobs, told, [
        *checks.basics(jobs), idle_checks.time_partition(jobs), idle_checks.gpu_gaps(jobs),
        idle_checks.named_gaps(jobs, LOADER, 4, 50_000_000),
        cause_checks.on_critical_path(LOADER, 49_900_000, 50_100_000, (1, 2, 3, 4)),
        cause_checks.says("names_the_loader", "DataLoader", "host, named by what the host then "
                          "did", (share - 1, share + 1)),
        cause_checks.gains_at_most("sync_gains_little", r"\bitem|synchroni[sz]", 1_000_000,
                                   but="DataLoader"),
        cause_checks.what_if(LOADER, {2: gain, 3: gain})],
        without=[Without([f"name={LOADER}"], [without])])


def straggling(sleep_us):
    """Rank 2 of 4 sleeps in step 2, before the gradients."""
    job = data_parallel("straggler", 4)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                host.kernel("gemm_forward", 2000, op="aten::mm")
                if host.rank == 2 and number == 2 and sleep_us:
                    host.work(sleep_us, "injected_sleep", "user_annotation")
                host.kernel("gemm_backward", 4000 + 3 * host.rank, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def straggler():
    job, even = straggling(40_000), straggling(0)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    told = {"late": "rank 2 in step 2, by injected_sleep", "gain without it": f"{gain} ns"}
    assert 37_000_000 < gain < 40_000_000
    return Scenario("straggler", "Rank 2 of 4 sleeps 40 ms in step 2", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 2, (2,), "injected_sleep"),
        cause_checks.blames("blames_rank_2", 2, gain + 10_000, step=2, words="injected_sleep"),
        cause_checks.what_if("injected_sleep", {1: 0, 2: gain, 3: 0}),
        # 2 ms of the sleep pass while the GPU still computes: they may count as either.
        cause_checks.on_critical_path("injected_sleep", gain - 10_000, 40_000_000, (2,)),
        checks.stall_details(jobs),
        cause_checks.doctor(False)],
        without=[Without(["name=injected_sleep"], [even])],
        late={"rank": 2, "step": 2, "cause": "injected_sleep"})


def slow_kernels(factor):
    job = data_parallel("slow_gpu", 4)
    capture = job.capture(0)
    for host in capture.every_host():
        speed = factor if host.rank == 1 else 1
        for number in (1, 2, 3, 4):
            with host.step(number):
                for _ in range(8):
                    host.kernel("gemm", 500 * speed, op="aten::mm")
                    host.kernel("layer_norm", 100 * speed, op="aten::layer_norm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200 * speed, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def slow_gpu():
    job, even = slow_kernels(1.3), slow_kernels(1)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    told = {"late": "rank 1 in every step: its kernels take 1.3 times as long",
            "gain if it were as fast as the others": f"{gain} ns in all 4 steps"}
    return Scenario("slow_gpu", "The kernels of rank 1 take 1.3 times as long", jobs, told, [
        *checks.basics(jobs), cause_checks.blames("blames_rank_1", 1, gain + 10_000),
        # Evening out the ranks gains nothing then, and what it costs beside takes nothing from
        # other rows.
        cause_checks.says("names_what_else_is_exposed",
                          "^Data parallel communication is not hidden",
                          "What gains beside a late rank is told as well", (4.3, 4.5))],
        without=[Without(["rank-late=1"], [even])],
        late={"rank": 1, "step": None, "cause": "gemm"})


def behind_steps(pause_us):
    """Another rank of 4 pauses in each step before it launches what takes its GPU 3.6 ms."""
    job = data_parallel("behind", 4)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3, 4):
            with host.step(number):
                if pause_us and host.rank == (3 * number) % 4:
                    host.work(pause_us, "gc_collect", "user_annotation")
                for _ in range(6):
                    host.kernel("gemm", 500, op="aten::mm")
                    host.kernel("layer_norm", 100, op="aten::layer_norm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def behind():
    """The others wait while its GPU is busy, but with what it was given late: it is not slow."""
    job, even = behind_steps(5000), behind_steps(0)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    told = {"late": "ranks 3, 2, 1, 0 in steps 1, 2, 3, 4, by gc_collect; no GPU is slow",
            "gain without it": f"{gain} ns"}
    assert gain == 4 * 5_000_000
    return Scenario("behind", "Another rank in each step pauses before it launches", jobs, told, [
        *checks.basics(jobs),
        cause_checks.is_late(jobs, 3, (1,), "gc_collect"),
        cause_checks.no_words("names_no_gpu", r"gemm|throttled", "a busy GPU is not a slow one"),
        cause_checks.what_if("gc_collect", {number: 5_000_000 for number in (1, 2, 3, 4)}),
        cause_checks.doctor(False)],
        without=[Without(["name=gc_collect"], [even])])


def piecewise(call_us):
    """The host of rank 3 takes so long for each of 60 calls; the others' 20 us."""
    job = data_parallel("slow_host", 4)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                for _ in range(60):
                    host.work(call_us if host.rank == 3 else 20, "aten::linear")
                    host.kernel("gemm", 15, op="aten::mm")
                host.collective("allreduce", job.groups[1], 200, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def slow_host():
    job, even = piecewise(45), piecewise(20)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    told = {"late": "rank 3 in every step: its host takes twice as long, in pieces of 45 us",
            "gain if it were as fast as the others": f"{gain} ns in all 3 steps"}
    assert gain > 3 * 1_300_000
    return Scenario("slow_host", "The host of rank 3 takes twice as long a call", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 3, (1, 2, 3), "host work in short"),
        cause_checks.blames("blames_rank_3", 3, gain + 10_000)],
        late={"rank": 3, "step": None, "cause": "host work in short pieces"})


def compiling(compile_us):
    """All ranks compile in step 1, each a little longer than the one before."""
    job = data_parallel("all_compile", 4)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (1, 2, 3):
            with host.step(number):
                if number == 1 and compile_us:
                    host.work(compile_us + 400 * host.rank, "torch_compile", "user_annotation")
                host.kernel("gemm", 4000, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def all_compile():
    job, even = compiling(50_000), compiling(0)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(even.captures[0])
    told = {"late": "rank 3 in step 1, by 0.4 ms at most; no GPU is slow",
            "gain without compiling": f"{gain} ns in step 1"}
    return Scenario("all_compile", "All ranks compile in their first step", jobs, told, [
        *checks.basics(jobs),
        cause_checks.says("names_compiling", "held by torch_compile", "host, named by what the "
                          "host then did"),
        cause_checks.no_words("names_no_gpu", r"gemm|throttled", "a busy GPU is not a slow one"),
        cause_checks.blames_no_rank(),
        cause_checks.what_if("torch_compile", {1: gain, 2: 0, 3: 0})],
        without=[Without(["name=torch_compile"], [even])])


def scenarios():
    return [balanced_pipeline(), slow_stage(), uneven_stages(), hidden_waits(),
            item_then_loading(), straggler(), slow_gpu(), behind(), slow_host(), all_compile()]
