"""Scenarios of who is to blame: a rank that comes late is not always slow, and what ran when the
others waited is not always what took longer."""
import cause_checks
import checks
import truth
from checks import Scenario
from trace_maker import Group, Job

RANKS = 4
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
STEPS = (1, 2, 3)


def data_parallel(name, write_step):
    """Steps that write_step(host, group) writes down, without noise."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in STEPS:
            with host.step(number):
                write_step(host, job.groups[1])
                host.kernel("adam", 300, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def scenario(name, says, job, told, rank, words, least=90, steps=STEPS):
    jobs = [job]
    return Scenario(name, says, jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, rank, steps, words),
        cause_checks.root_share(jobs, rank, words, least)],
        late={"rank": rank, "step": None, "cause": words.replace("\\", "")})


def buckets(load_us):
    """The backward pass hands its gradients over in ten buckets, and waits for none before the
    optimizer."""
    def step(host, group):
        if host.rank == 2 and load_us:
            host.work(load_us, LOADER, "user_annotation")
        for _ in range(10):
            host.kernel("forward_gemm", 250, op="aten::mm")
        for _ in range(10):
            host.kernel("backward_gemm", 500, op="aten::mm")
            host.wait(20, on=7)
            host.collective("allreduce", group, 100, 20, joined=False)
        host.wait(7, on=20)
    return data_parallel("loader_and_buckets", step)


def loader_and_buckets():
    job = buckets(3000)
    gain = truth.gain_of(job, buckets(0))
    assert 3 * 2_900_000 < gain <= 3 * 3_000_000, gain
    told = {"late": "rank 2 in every step, by its data loader: for all ten buckets alike",
            "gain without it": f"{gain} ns", "slow GPU": "none"}
    return scenario("loader_and_buckets", "One rank's data loader is late, and all buckets of its "
                    "gradients with it", job, told, 2, "DataLoader", 99)


def one_kernel(name, rank, write, words, says, told):
    """Ten matrix products on all ranks, and what write(host) has one of them do besides."""
    def step(host, group):
        write(host)
        for _ in range(10):
            host.kernel("gemm", 600, op="aten::mm")
        host.collective("allreduce", group, 100, 20)
    return scenario(name, says, data_parallel(name, step), told, rank, words)


def pageable_copy():
    def write(host):
        slow = host.rank == 1
        host.copy(4000 if slow else 400,
                  f"HtoD ({'Pageable' if slow else 'Pinned'} -> Device)", 1 << 26)
    return one_kernel("pageable_copy", 1, write, "Pageable", "One rank copies its batch from "
                      "pageable memory", {"late": "rank 1 in every step, by 3.6 ms of a copy"})


def kernels_of_one():
    def write(host):
        if host.rank == 0:
            for _ in range(20):
                host.kernel("histogram", 100, op="aten::histc")
    return one_kernel("kernels_of_one", 0, write, "histogram", "One rank computes histograms as "
                      "well", {"late": "rank 0 in every step, by 2 ms of histograms"})


def long_optimizer():
    """Rank 3's optimizer is long: it is late for the first collective of the step after."""
    job = Job("long_optimizer", RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in STEPS:
            with host.step(number):
                for _ in range(10):
                    host.kernel("gemm", 600, op="aten::mm")
                host.collective("allreduce", job.groups[1], 100, 20)
                long = host.rank == 3 and number == 2
                host.kernel("adam", 4000 if long else 300, op="Optimizer.step#AdamW.step")
                host.until(9000 * number)
    capture.simulate()
    told = {"late": "rank 3 in step 3, by its optimizer in step 2; its other kernels are alike"}
    return scenario("long_optimizer", "One rank's optimizer takes longer, in one step", job, told,
                    3, "adam", steps=(3,))


def item_in_layers():
    """Rank 1 waits for its GPU in each layer: it no longer runs ahead, and its GPU pauses."""
    def step(host, group):
        for _ in range(20):
            host.work(150, "aten::linear")
            host.kernel("gemm", 250, op="aten::mm")
            if host.rank == 1:
                host.item()
        host.collective("allreduce", group, 100, 20)
    return scenario("item_in_layers", "One rank calls .item() in each layer",
                    data_parallel("item_in_layers", step),
                    {"late": "rank 1 in every step, by aten::item; its kernels are alike"}, 1,
                    "aten::(item|_local_scalar_dense)")


def tensor_pair(factor):
    """Ranks 0 and 1 share tensors, as 2 and 3 do; 0 and 2 share gradients, as 1 and 3 do."""
    tensor = [Group("11", "TENSOR_MODEL_PARALLEL_GROUP", (0, 1)),
              Group("12", "TENSOR_MODEL_PARALLEL_GROUP", (2, 3))]
    data = [Group("21", "DATA_PARALLEL_GROUP", (0, 2)), Group("22", "DATA_PARALLEL_GROUP", (1, 3))]
    job = Job("partner_of_slow", RANKS, tensor + data)
    capture = job.capture(0)
    for host in capture.every_host():
        takes = factor if host.rank == 1 else 1
        for number in STEPS:
            with host.step(number):
                for _ in range(12):
                    host.kernel("gemm", 450 * takes, op="aten::mm")
                    host.collective("allreduce", tensor[host.rank // 2], 80, 21)
                host.collective("_reduce_scatter_base", data[host.rank % 2], 300, 22)
                host.kernel("adam", 200 * takes, op="Optimizer.step#AdamW.step")
                host.collective("_allgather_base", data[host.rank % 2], 300, 22)
                host.sync()
    capture.simulate()
    return job


def partner_of_slow():
    job = tensor_pair(1.3)
    gain = truth.gain_of(job, tensor_pair(1))
    told = {"late": "rank 1 in every step; rank 0 inherits it by 12 short waits, and is not slow",
            "gain": f"{gain} ns"}
    made = scenario("partner_of_slow", "The tensor parallel partner of a slow rank is late as "
                    "well", job, told, 1, "gemm|adam", 95)
    made.checks.append(cause_checks.not_to_blame(made.jobs, (0, 2, 3), 1))
    return made


def hot_layers():
    """In each layer another rank has twice as much to compute: over the step all have as much."""
    def step(host, group):
        for layer in range(4):
            host.kernel("experts", 1400 if layer == host.rank else 700, op="aten::_grouped_mm")
            host.collective("all_to_allv", group, 120, 23)
    job = data_parallel("hot_layers", step)
    jobs = [job]
    told = {"late": "each rank for one collective of four, by 0.7 ms of its experts kernel"}
    return Scenario("hot_layers", "In each layer another rank has more to compute", jobs, told, [
        *checks.basics(jobs)] + [
            cause_checks.root_share(jobs, rank, "experts", 24, 26) for rank in range(RANKS)])


def lm_head():
    """The last of four stages computes the loss over a large vocabulary, the others do as much of
    the rest as it does."""
    stages, batches = 4, 8
    job = Job("large_lm_head", stages, [Group("13", "PIPELINE_MODEL_PARALLEL_GROUP",
                                              tuple(range(stages)))])
    group, last = job.groups[1], stages - 1
    capture = job.capture(0)

    def forward(host):
        if host.rank > 0:
            host.collective("recv", group, 10, 31, peer=host.rank - 1)
        host.kernel("layer_forward", 1000, op="aten::mm")
        if host.rank == last:
            host.kernel("lm_head_forward", 300, op="aten::mm")
        else:
            host.wait(32, on=7)
            host.collective("send", group, 10, 32, peer=host.rank + 1, joined=False)

    def backward(host):
        if host.rank == last:
            host.kernel("lm_head_backward", 600, op="aten::mm")
        else:
            host.collective("recv", group, 10, 33, peer=host.rank + 1)
        host.kernel("layer_backward", 2000, op="aten::mm")
        if host.rank > 0:
            host.wait(34, on=7)
            host.collective("send", group, 10, 34, peer=host.rank - 1, joined=False)

    for host in capture.every_host():
        for number in STEPS:
            with host.step(number):
                ahead = last - host.rank
                for _ in range(ahead):
                    forward(host)
                for _ in range(batches - ahead):
                    forward(host)
                    backward(host)
                for _ in range(ahead):
                    backward(host)
                host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    return job


def large_lm_head():
    job = lm_head()
    made = scenario("large_lm_head", "The last stage of a pipeline has 30 % more to compute, which "
                    "no other runs", job, {"late": "rank 3 in every step, by its head"}, 3,
                    "lm_head", 30)
    made.checks.append(cause_checks.not_to_blame(made.jobs, (0, 1, 2), 1))
    return made


def backward_of(name, write):
    """Steps whose backward pass runs on another thread, as autograd's does, while the one that
    launches does nothing that was recorded. Of 4 ms; of rank 1 write(thread) comes on top."""
    job = Job(name, 2, [Group("3", "DATA_PARALLEL_GROUP", (0, 1))])
    capture = job.capture(0)
    for host in capture.every_host():
        engine = capture.thread(host.rank, "autograd")
        for number in STEPS:
            begin = 40_000 * number
            host.until(begin)
            engine.until(begin + 2_000)
            for layer in range(40):
                engine.work(100, "autograd::engine::evaluate_function: AddmmBackward0")
            if host.rank == 1:
                write(engine)
            with host.step(number):
                for _ in range(4):
                    host.kernel("forward_gemm", 300, op="aten::mm")
                host.until(begin + 6_000 + (8_000 if host.rank == 1 else 0))
                host.collective("allreduce", job.groups[1], 100, 20)
                host.sync()
    capture.simulate()
    return job


def late_hook():
    job = backward_of("late_hook", lambda engine: engine.work(8_000, "compress_gradients"))
    told = {"late": "rank 1 in every step, by a hook in its backward pass, on autograd's thread"}
    return scenario("late_hook", "A hook of the backward pass is late on a thread that launches "
                    "nothing", job, told, 1, "compress_gradients")


def late_backward():
    def write(engine):
        for layer in range(20):
            engine.work(270, f"autograd::engine::evaluate_function: Layer{layer}Backward0")
            engine.work(130, "aten::add")
    job = backward_of("late_backward", write)
    told = {"late": "rank 1 in every step: its backward pass takes longer, nothing in it is long"}
    return scenario("late_backward", "A backward pass is late on a thread that launches nothing",
                    job, told, 1, "backward pass in short pieces")


def scenarios():
    return [late_hook(), late_backward(),
            loader_and_buckets(), pageable_copy(), kernels_of_one(), long_optimizer(),
            item_in_layers(), partner_of_slow(), hot_layers(), large_lm_head()]
