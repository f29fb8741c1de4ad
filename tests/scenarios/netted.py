"""Scenarios of hosts that do more of one thing and less of another: what counts is what they take
in all; and of a rank that is late by its host and by its GPU."""
import cause_checks
import checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

RANKS, STEPS = 4, (1, 2, 3)
LOG, LOAD = "write_log", "load_batch"


def training(name, hosts_us, slow_us=0, write=None):
    """Ranks that load and log before the GPU has work, and rank 1 with longer kernels.
    hosts_us(rank): how long it loads and logs."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        load_us, log_us = hosts_us(host.rank)
        for number in STEPS:
            with host.step(number):
                host.work(load_us, LOAD, "user_annotation")
                host.work(log_us, LOG, "user_annotation")
                for layer in range(10):
                    host.kernel("gemm", 600 + (slow_us / 10 if host.rank == 1 else 0),
                                op="aten::mm")
                host.collective("allreduce", job.groups[1], 100, 20)
                host.kernel("adam", 300, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def more_and_less(rank):
    return (2000, 5000) if rank == 1 else (5000, 2000)


def logs_for_loads():
    """Rank 1 logs for 3 ms more and loads for 3 ms less. It comes 4 ms late by its GPU."""
    job, even = training("logs_for_loads", more_and_less, 4000), \
        training("logs_for_loads", more_and_less)
    jobs, gain = [job], truth.gain_of(job, even)
    assert gain == 3 * 4_000_000, gain
    told = {"late": "rank 1 in every step, by 4 ms of gemm", "hosts": "as long on all ranks",
            "gain without it": f"{gain} ns"}
    return Scenario("logs_for_loads", "One rank logs longer and loads shorter, and its GPU is slow",
                    jobs, told, [
                        *checks.basics(jobs), cause_checks.is_late(jobs, 1, STEPS, "gemm"),
                        cause_checks.root_share(jobs, 1, "gemm", 99)],
                    without=[Without(["rank-late=1"], [even])],
                    late={"rank": 1, "step": None, "cause": "gemm"})


def logs_beyond_loads():
    """Rank 1 logs for 7 ms more and loads for 3 ms less: its host is 4 ms late."""
    job, even = training("logs_beyond_loads", lambda rank: (2000, 9000) if rank == 1
                         else (5000, 2000)), training("logs_beyond_loads", more_and_less)
    jobs, gain = [job], truth.gain_of(job, even)
    assert gain == 3 * 4_000_000, gain
    told = {"late": "rank 1 in every step, by its logs: 7 ms more, less 3 ms of loading",
            "gain without it": f"{gain} ns"}
    return Scenario("logs_beyond_loads", "One rank logs longer than it loads shorter", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 1, STEPS, LOG),
        cause_checks.root_share(jobs, 1, LOG, 99)],
        without=[Without(["rank-late=1"], [even])],
        late={"rank": 1, "step": None, "cause": LOG})


def host_and_gpu():
    """Rank 1 logs for 6 ms more, and its GPU takes 4 ms more: 10 ms in all."""
    job = training("host_and_gpu", lambda rank: (2000, 8000) if rank == 1 else (2000, 2000), 4000)
    even = training("host_and_gpu", lambda rank: (2000, 2000))
    jobs, gain = [job], truth.gain_of(job, even)
    assert gain == 3 * 10_000_000, gain
    told = {"late": "rank 1 in every step, by 6 ms of logs and 4 ms of gemm",
            "gain without its lateness": f"{gain} ns"}
    no_logs = training("host_and_gpu", lambda rank: (2000, 0), 4000)
    return Scenario("host_and_gpu", "One rank is late by its host and by its GPU", jobs, told, [
        *checks.basics(jobs), cause_checks.is_late(jobs, 1, STEPS, f"{LOG}|gemm")],
        without=[Without(["rank-late=1"], [even]), Without([f"name={LOG}"], [no_logs])],
        late={"rank": 1, "step": None, "cause": LOG})


def scenarios():
    return [logs_for_loads(), logs_beyond_loads(), host_and_gpu()]
