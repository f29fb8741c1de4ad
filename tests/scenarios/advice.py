"""Scenarios of what to advise: how a cause is told from its remedy, and from what it hides."""
import cause_checks
import checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

RANKS = 4
GAIN = "Something makes the job slower only if the job would be faster without it"


def training(name, steps, at_begin=None, at_end=None, syncs=True, joins=None):
    """Six layers forward and back, an all-reduce, an optimizer; what `at_begin` and `at_end` add.
    joins: a stream that the computation waits for before its optimizer."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for step in range(1, steps + 1):
            with host.step(step):
                if at_begin:
                    at_begin(host, step)
                for us, kernel in ((400, "fwd_gemm"), (800, "bwd_gemm")):
                    for _ in range(6):
                        host.kernel(kernel, us, op="aten::mm")
                if joins:
                    host.wait(7, joins)
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                if syncs:
                    host.sync()
                if at_end:
                    at_end(host, step, job)
        host.sync()
    capture.simulate()
    return job


def saving_on_all(us_of_rank):
    def save(host, step, job):
        if step == 4 and us_of_rank(host.rank):
            host.copy(2000, nbytes=1 << 28)
            host.sync()
            host.work(us_of_rank(host.rank), "torch.save", "user_annotation")
            host.collective("barrier", job.groups[1], 20, 20)
            host.sync()
    return training("saving_on_all", 6, at_end=save)


def slow_disk():
    """All save for 20 ms, rank 3 for 60: mended, 20 are left for all."""
    job = saving_on_all(lambda rank: 60_000 if rank == 3 else 20_000)
    alike = saving_on_all(lambda rank: 20_000)
    jobs, gain = [job], truth.gain_of(job, alike)
    told = {"late": "rank 3, by 40 ms of torch.save", "gain without that": f"{gain} ns",
            "what all take": "20 ms"}
    assert gain == 40_000_000
    return Scenario("saving_on_all", "All ranks save, the disk of one is slow", jobs, told, [
        *checks.basics(jobs),
        cause_checks.blames("blames_rank_3", 3, gain // 6 + 10_000, step=4, words="torch.save"),
        cause_checks.says("names_what_all_do", "^The host is held by torch.save .*each rank takes "
                          r"20\.0 ms", GAIN, (17, 20)),
        cause_checks.first_sentence(r"rank 3's host was held up for 60\.0 ms \(torch\.save\)")],
        without=[Without(["rank-late=3"], [alike])],
        late={"rank": 3, "step": 4, "cause": "torch.save"})


def sharded(name, pause_us):
    """Parameters are gathered layer by layer, and the host waits for each layer."""
    job = Job(name, RANKS, [Group("3", "fsdp", tuple(range(RANKS)))])
    capture, group = job.capture(0), job.groups[1]
    for host in capture.every_host():
        for step in range(1, 6):
            with host.step(step):
                for layer in range(6):
                    if pause_us and (host.rank, step, layer) == (3, 3, 3):
                        host.work(pause_us, "gc_collect", "user_annotation")
                    host.collective("_allgather_base", group, 200, 20, joined=False)
                    host.wait(7, 20)
                    host.kernel("fwd_gemm", 600, op="aten::mm")
                    host.sync()
                for layer in range(6):
                    host.kernel("bwd_gemm", 1200, op="aten::mm")
                    host.wait(22, 7)
                    host.collective("_reduce_scatter_base", group, 300, 22, joined=False)
                host.wait(7, 22)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def pause_of_one():
    """Without the synchronising calls the pause would be hidden, but it is why step 3 is longer."""
    job, even = sharded("pause_of_one", 4000), sharded("pause_of_one", 0)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 3 in step 3, by gc_collect", "gain without it": f"{gain} ns"}
    assert gain == 4_000_000
    return Scenario("pause_of_one", "A pause in one step, and calls that wait in all", jobs, told, [
        *checks.basics(jobs),
        cause_checks.blames("blames_rank_3", 3, gain, step=3, words="gc_collect", first=False),
        cause_checks.first_sentence(r"^Step 3 took .*rank 3's host was held up for 4\.00 ms "
                                    r"\(gc_collect\)")],
        without=[Without(["name=gc_collect"], [even])],
        late={"rank": 3, "step": 3, "cause": "gc_collect"})


def small_messages():
    """A tensor parallel layer of little work and 4 KB to add up: each takes what latency is."""
    job = Job("small_messages", RANKS, [Group("3", "TENSOR_MODEL_PARALLEL_GROUP", (0, 1, 2, 3))])
    capture = job.capture(0)
    for host in capture.every_host():
        for step in range(1, 4):
            with host.step(step):
                for _ in range(60):
                    host.kernel("gemm", 30, op="aten::mm")
                    host.collective("allreduce", job.groups[1], 25, 20, nelems=2048)
                host.sync()
    capture.simulate()
    jobs = [job]
    told = {"transfers": "60 a step of 4 KB, 25 us each: latency", "late": "nobody"}
    return Scenario("small_messages", "Many small all-reduces", jobs, told, [
        *checks.basics(jobs), cause_checks.blames_no_rank(),
        cause_checks.says("names_latency", "^Tensor parallel .*180 of its messages are of 4.1 KB "
                          "or less and take 25.0 us each.*fewer and larger messages", GAIN,
                          (40, 50))])


def small_and_hidden():
    """36 small messages a step behind computation, and one of 100 MB that is not hidden."""
    job = Job("small_and_hidden", RANKS, [Group("3", "DATA_PARALLEL_GROUP", (0, 1, 2, 3))])
    capture = job.capture(0)
    for host in capture.every_host():
        for step in range(1, 6):
            with host.step(step):
                for _ in range(12):
                    for _ in range(3):
                        host.collective("allreduce", job.groups[1], 200, 20, nelems=1024,
                                        joined=False)
                    host.kernel("gemm", 700, op="aten::mm")
                host.wait(7, 20)
                host.collective("allreduce", job.groups[1], 5000, 20, nelems=25_000_000)
                host.sync()
    capture.simulate()
    jobs = [job]
    told = {"not hidden": "5 ms a step of one large message", "late": "nobody"}
    return Scenario("small_and_hidden", "Small all-reduces are hidden, a large one is not", jobs,
                    told, [
                        *checks.basics(jobs), cause_checks.blames_no_rank(),
                        cause_checks.says("overlaps_the_large_one",
                                          "^Data parallel .*overlap gradients", GAIN),
                        cause_checks.no_words("no_latency", "latency", GAIN)])


def slow_way_to_gpu():
    """Rank 2's batch comes by a slow link, on a stream of its own, in all steps."""
    def copies(slow):
        return lambda host, _: host.copy(12_000 if slow and host.rank == 2 else 2000,
                                         "HtoD (Pinned -> Device)", 1 << 26, 13)
    job = training("slow_way_to_gpu", 5, copies(True), joins=13)
    even = training("slow_way_to_gpu", 5, copies(False), joins=13)
    jobs, gain = [job], truth.gain_of(job, even)
    told = {"late": "rank 2, by copies", "gain without that": f"{gain} ns"}
    return Scenario("slow_way_to_gpu", "One rank's batch is copied slowly", jobs, told, [
        *checks.basics(jobs),
        cause_checks.blames("blames_rank_2", 2, gain, words="Memcpy HtoD"),
        cause_checks.says("advises_on_copies", "^Rank 2 .*not pinned.*NUMA", GAIN),
        cause_checks.no_words("no_slow_kernels", "its kernels take longer", GAIN)])


def hidden_kernel():
    """Rank 2 averages weights for six times as long, behind its computation."""
    def averages(host, _):
        host.kernel("ema", 3000 if host.rank == 2 else 500, stream=13, op="aten::_foreach_lerp_")
    jobs = [training("hidden_kernel", 5, averages, joins=13)]
    return Scenario("hidden_kernel", "A slow kernel of one rank, in a hidden stream", jobs,
                    {"late": "nobody", "gain without the kernel": "0"}, [
                        *checks.basics(jobs), cause_checks.blames_no_rank(),
                        cause_checks.first_sentence("Data parallel|data parallel", "rank 2")])


def loads_ahead():
    """Rank 2 loads for 5 ms in each third step, while its GPU has work for longer."""
    def loads(host, step):
        host.work(5000 if host.rank == 2 and step % 3 == 0 else 300, "next_batch",
                  "user_annotation")
    jobs = [training("loads_ahead", 9, loads, syncs=False)]
    return Scenario("loads_ahead", "A host loads in each third step, ahead of its GPU", jobs,
                    {"late": "nobody", "gain without loading": "0 but for the first step"}, [
                        *checks.basics(jobs), cause_checks.blames_no_rank(),
                        cause_checks.first_sentence("data parallel", "rank 2|next_batch")])


def scenarios():
    return [slow_disk(), pause_of_one(), small_messages(), small_and_hidden(), slow_way_to_gpu(),
            hidden_kernel(), loads_ahead()]
