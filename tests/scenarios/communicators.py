"""Scenarios of communicators: which parts belong together, and what a communicator is for."""
import collections

import cause_checks
import checks
import truth
from checks import Scenario
from trace_maker import Group, Job

ROUNDS = 6


def two_communicators(name, says, unmatched=False, **options):
    """Data and expert parallel on two streams; the kernels start in another order on rank 1."""
    job = Job(name, 2, [Group("3", "DATA_PARALLEL_GROUP", (0, 1)),
                        Group("7", "EXPERT_MODEL_PARALLEL_GROUP", (0, 1))], **options)
    data, expert = job.groups[1:]
    capture = job.capture(0)
    part = {
        "data": lambda host: host.collective("allreduce", data, 50, 20, joined=False),
        "expert": lambda host: host.collective(
            "all_to_allv", expert, 90, 24, joined=False, in_split=[512, 512],
            out_split=[512, 512]),
    }
    order = {0: ("data", "expert"), 1: ("expert", "data")}
    for host in capture.every_host():
        with host.step(1):
            for at in range(ROUNDS):
                begin = 1000 * (at + 1)
                for number, which in enumerate(order[host.rank]):
                    host.until(begin + 100 * number)
                    part[which](host)
                host.kernel("gemm", 500)
            host.sync(None, "cudaDeviceSynchronize")
    capture.simulate()
    jobs = [job]
    assert [truth.stall_of(m) for m in capture.meetings.values() if m.group is data] == \
        [{"culprits": {1}, "total_wait": 100_000, "max_wait": 100_000, "transfer": 50_000}] * 6
    assert [truth.stall_of(m) for m in capture.meetings.values() if m.group is expert] == \
        [{"culprits": {0}, "total_wait": 100_000, "max_wait": 100_000, "transfer": 90_000}] * 6
    told = {"who is last": "rank 1 in the 6 of data, rank 0 in the 6 of expert parallel",
            "wait of the other": "100 us each", "transfers": "50 us (data), 90 us (expert)"}
    made = Scenario(name, says, jobs, told)
    if unmatched:
        # By the contract both are one communicator then, but an all-reduce is no partner of an
        # all-to-all: what cannot be matched is left out, and nothing is made up.
        made.checks = [checks.runs(jobs), checks.overlap(jobs),
                       checks.nccl_stalls(jobs, may_be_unmatched=True)]
    else:
        made.checks = checks.basics(jobs) + [
            checks.communicators(jobs, {"DATA_PARALLEL_GROUP": "data",
                                        "EXPERT_MODEL_PARALLEL_GROUP": "expert"}),
            checks.parts_by_communicator(jobs)]
    return made


MEGATRON_GROUPS = [  # of a Megatron-LM job with 2 ranks and expert parallel 2
    ("3", "DATA_PARALLEL_GROUP_WITH_CP"), ("5", "DATA_PARALLEL_GROUP"),
    ("19", "TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP"), ("20", "TENSOR_AND_DATA_PARALLEL_GROUP"),
    ("25", "EXPERT_MODEL_PARALLEL_GROUP"), ("28", "EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP"),
    ("29", "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP"),
    ("30", "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP_WITH_EGTP"),
    ("35", "INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP")]
MEGATRON_OWN = [  # of one rank each
    ("7", "CONTEXT_PARALLEL_GROUP"), ("11", "TENSOR_MODEL_PARALLEL_GROUP"),
    ("13", "PIPELINE_MODEL_PARALLEL_GROUP")]
MEGATRON_PARALLELISM = {"default_pg": "other", "DATA_PARALLEL_GROUP_WITH_CP": "data",
                        "EXPERT_MODEL_PARALLEL_GROUP": "expert",
                        "EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP": "expert"}


PIPELINE = r"pipeline.(parallel|commun|model|stage|bubble)"


def mixture_layer(host, job):
    """Attention, then the experts: routing, dispatch, experts, combine; all exposed."""
    expert = job.group("EXPERT_MODEL_PARALLEL_GROUP")
    routing = job.group("EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP")
    split = {"in_split": [1024, 1024], "out_split": [1024, 1024]}
    host.kernel("attention", 200 + 30 * host.rank, op="aten::scaled_dot_product_attention")
    host.collective("_allgather_base", routing, 15, 7, nelems=4, joined=False)
    host.collective("all_to_allv", expert, 120, 7, joined=False, **split)
    host.kernel("grouped_gemm", 300, op="aten::_grouped_mm")
    host.collective("all_to_allv", expert, 120, 7, joined=False, **split)


def megatron_expert_and_data():
    name = "megatron_expert_and_data"
    both = [Group(number, description, (0, 1)) for number, description in MEGATRON_GROUPS]
    own = [Group(number, description, (rank,)) for rank in (0, 1)
           for number, description in MEGATRON_OWN]
    job = Job(name, 2, both + own)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in (8, 9):
            with host.step(number):
                for _ in range(3):
                    mixture_layer(host, job)
                host.collective("allreduce", job.group("DATA_PARALLEL_GROUP_WITH_CP"), 400, 20)
                host.kernel("adam", 150, op="Optimizer.step#AdamW.step")
                host.collective("barrier", job.groups[0], 10, 7, nelems=0, joined=False)
                host.sync()
    capture.simulate()
    jobs = [job]
    told = {"communicators over [0, 1]": len(both) + 1, "exposed most": "expert parallel",
            "pipeline": "there is none: no time and no advice"}
    return Scenario(name, "A Megatron-LM job with a dozen communicators over [0, 1]", jobs, told, [
        *checks.basics(jobs), checks.nobody_last_in_a_tie(jobs),
        checks.communicators(jobs, MEGATRON_PARALLELISM),
        checks.parts_by_communicator(jobs),
        checks.exposed_by_parallelism(jobs, MEGATRON_PARALLELISM),
        cause_checks.no_words("no_pipeline", PIPELINE, "Megatron-LM makes a dozen communicators "
                              "over the same ranks: their parallelism is that of their own "
                              "description"),
        cause_checks.first_of("expert_first", "parallel|commun", "expert", "recommendations: the "
                              "largest exposed communication is the expert parallel one")])


DESCRIPTIONS = {  # what jobs call their communicators -> what they are for
    "TENSOR_MODEL_PARALLEL_GROUP": "tensor", "PIPELINE_MODEL_PARALLEL_GROUP": "pipeline",
    "DATA_PARALLEL_GROUP": "data", "CONTEXT_PARALLEL_GROUP": "context",
    "EXPERT_DATA_PARALLEL_GROUP": "data", "EXPERT_MODEL_PARALLEL_GROUP": "expert",
    "default_pg": "other",
    "mesh_tp": "tensor", "mesh_pp": "pipeline", "mesh_dp": "data", "mesh_dp_shard": "data",
    "mesh_dp_replicate": "data", "mesh_fsdp": "data", "mesh_cp": "context", "mesh_ep": "expert"}


def group_descriptions():
    name = "group_descriptions"
    job = Job(name, 2, [Group(str(at + 1), description, (0, 1))
                        for at, description in enumerate(DESCRIPTIONS)
                        if description != "default_pg"])
    capture = job.capture(0)
    for host in capture.every_host():
        with host.step(1):
            for group in job.groups:
                host.kernel("gemm", 40 + 5 * host.rank)
                host.collective("allreduce", group, 20, 20)
            host.sync()
    capture.simulate()
    jobs = [job]
    return Scenario(name, "Communicators by their descriptions, of several frameworks", jobs,
                    dict(DESCRIPTIONS), [checks.communicators(jobs, DESCRIPTIONS),
                                         checks.parts_by_communicator(jobs),
                                         checks.nccl_stalls(jobs)])


TOKENS = [  # rank -> tokens that it sends to each expert rank; rank 2 gets most
    [300, 200, 900, 200], [250, 250, 900, 200], [200, 300, 800, 300], [250, 250, 1000, 100]]
HIDDEN = 1024


def expert_imbalance():
    """Each expert computes 1 us a token; the combine waits for the one that got most."""
    name = "expert_imbalance"
    job = Job(name, 4, [Group("25", "EXPERT_MODEL_PARALLEL_GROUP", (0, 1, 2, 3))])
    group = job.groups[1]
    got = [sum(row[rank] for row in TOKENS) for rank in range(4)]
    capture = job.capture(0)
    for host in capture.every_host():
        sends, gets = TOKENS[host.rank], [row[host.rank] for row in TOKENS]
        sizes = lambda one, other: {"in_split": one, "out_split": other,
                                    "in_nelems": sum(one) * HIDDEN,
                                    "out_nelems": sum(other) * HIDDEN}
        for number in (1, 2):
            with host.step(number):
                for _ in range(3):
                    host.kernel("router", 50)
                    host.collective("all_to_allv", group, 80, 24, **sizes(sends, gets))
                    host.kernel("grouped_gemm", got[host.rank], op="aten::_grouped_mm")
                    host.collective("all_to_allv", group, 80, 24, **sizes(gets, sends))
                host.sync()
    capture.simulate()
    jobs = [job]
    told = {"tokens that an expert rank gets": got, "gets most": 2,
            "largest over mean": max(got) / (sum(got) / 4),
            "bytes to each peer in dispatch": [[tokens * HIDDEN * 2 for tokens in row]
                                               for row in TOKENS],
            "share of waits that it explains": 1.0}
    # In a dispatch nobody waits; in a combine all wait until rank 2 has computed.
    waits = [truth.stall_of(meeting)["total_wait"] for meeting in capture.meetings.values()]
    assert waits == [0, sum(max(got) - tokens for tokens in got) * 1000] * 6
    loads_of = truth.expert_loads(job)
    assert [step["wait"] for step in loads_of.values()] == [3 * waits[1]] * 2
    assert all(max(step["load"].values()) * 4 / sum(step["load"].values()) == 2.25
               for step in loads_of.values())
    # Without imbalance each expert rank computes the mean; 6 layers were recorded.
    gain = 6 * (max(got) - sum(got) // 4) * 1000
    return Scenario(name, "All-to-all-v of a mixture of experts; expert rank 2 gets most", jobs,
                    told, [*checks.basics(jobs), checks.nobody_last_in_a_tie(jobs),
                           part_bytes(jobs), peer_bytes(jobs), loads(jobs),
                           cause_checks.blames("blames_the_full_expert", 2, gain,
                                               words="expert|imbalance|uneven|token")])


def loads(jobs):
    """Each expert computes as long as it has tokens, so its surplus explains every wait."""
    def compare(program):
        for job in jobs:
            rows = {row["step"]: row for row in program.rows_of("expert_imbalance", job, jobs)}
            for step, want in truth.expert_loads(job).items():
                load, wait = want["load"], want["wait"] / 1_000_000
                most = max(load, key=load.get)
                yield from checks.differences(f"{job.folder}, step {step}", {
                    "collectives": want["count"], "unclear": 0, "most_rank": most,
                    "imbalance": load[most] * len(load) / sum(load.values()),
                    "most_share_pct": 100 * load[most] / sum(load.values()),
                    "most_bytes": load[most], "wait_ms": wait, "explained_ms": wait,
                    "explained_pct": 100, "unknown": None}, rows.get(step, {}))
    return checks.Check("loads", "MoE: bytes per peer from the split sizes, imbalance (largest "
                        "over mean), the expert rank that gets most, and how much of the wait it "
                        "explains", compare)


def peer_bytes(jobs):
    def compare(program):
        have = collections.Counter()
        for row in program.sql("SELECT rank, peer, in_bytes, out_bytes FROM collective_splits"):
            have[(row["rank"], row["peer"], row["in_bytes"], row["out_bytes"])] += 1
        row = HIDDEN * 2
        want = collections.Counter()
        for rank in range(len(TOKENS)):
            for peer in range(len(TOKENS)):
                there, back = TOKENS[rank][peer] * row, TOKENS[peer][rank] * row
                want[(rank, peer, there, back)] += 6
                want[(rank, peer, back, there)] += 6
        yield from checks.multiset_differences("(rank, peer, in_bytes, out_bytes)", want, have)
    return checks.Check("peer_bytes", "MoE: bytes per peer from the split sizes", compare)


def part_bytes(jobs):
    def compare(program):
        have = collections.Counter()
        for row in program.sql("SELECT rank, in_bytes, out_bytes FROM collectives"):
            have[(row["rank"], row["in_bytes"], row["out_bytes"])] += 1
        want = collections.Counter(
            (rank, part.args["In msg nelems"] * 2, part.args["Out msg nelems"] * 2)
            for job in jobs for capture in job.captures for meeting in capture.meetings.values()
            for rank, part in meeting.parts.items())
        yield from checks.multiset_differences("(rank, in_bytes, out_bytes)", want, have)
    return checks.Check("bytes", "collectives: in_bytes and out_bytes of each rank's part",
                        compare)


def scenarios():
    order = "Two communicators on the same ranks; kernels start in another order on rank 1"
    return [two_communicators("two_communicators", order),
            two_communicators("two_communicators_seq", f"{order}; with Seq", with_seq=True),
            two_communicators("two_communicators_unnamed", f"{order}; the trace has no names",
                              unmatched=True, with_names=False),
            megatron_expert_and_data(), group_descriptions(), expert_imbalance()]
