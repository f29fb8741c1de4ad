"""Scenarios of what the profiler itself takes: a thread that it holds up, one for which that does
not matter, and slices of it that hold up nobody."""
import causes
import cause_checks
import checks
import truth
from checks import Scenario, Without

HELD_US = 3000
STEPS = (1, 2, 3)


def recorded(name, gemm_us, record):
    """Two ranks; `record` says what rank 1 does in step 2 before its gradients."""
    job = causes.data_parallel(name)
    capture = job.capture(0)
    for host in capture.every_host():
        for number in STEPS:
            with host.step(number):
                host.kernel("gemm", gemm_us, op="aten::mm")
                if (host.rank, number) == (1, 2):
                    record(host)
                host.kernel("gemm_backward", 50, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def held_up(held_us, name, gemm_us):
    """In an operator, that goes on for 300 us; the profiler had begun before."""
    def record(host):
        with host.within("c10d::allreduce_coalesced_"):
            host.work(500, "aten::cat")
            if held_us:
                host.recorder(held_us, ahead_us=400)
            host.work(300)
    return recorded(name, gemm_us, record)


def of_held(name, title, gemm_us, told, on_path, more=()):
    job, without = held_up(HELD_US, name, gemm_us), held_up(0, name, gemm_us)
    jobs = [job]
    gain = truth.last_end(job.captures[0]) - truth.last_end(without.captures[0])
    assert gain == on_path
    told = {"gain without the recorder": f"{gain} ns in step 2", **told}
    return Scenario(name, title, jobs, told,
                    [*checks.basics(jobs), cause_checks.recorder_path({2: on_path}), *more],
                    without=[Without(["recorder"], [without])])


def recorder_holds():
    """The slice lies on no thread, and begins before the last thing that the thread did."""
    return of_held("recorder_holds", "The profiler holds up a thread of rank 1 for 3 ms", 100,
                   {"held": "rank 1 in step 2, for 3 ms, and rank 0 waits for it"},
                   HELD_US * 1000,
                   [cause_checks.blames("blames_the_profiler", 1, HELD_US * 1000, step=2,
                                       words="profiler")])


def recorder_hidden():
    """As before, while the GPUs have work for 20 ms."""
    return of_held("recorder_hidden", "The profiler holds up a thread that is ahead of its GPU",
                   20_000, {"held": "rank 1 in step 2, for 3 ms that it would have waited"}, 0)


def beside(recorder):
    def record(host):
        # It goes on with its operators all the time.
        recorder(host, 2500)
        for _ in range(30):
            host.work(100, "aten::copy_")
        # It sleeps, and for 5 ms more than the profiler took.
        recorder(host, 5000)
        host.work(10_000, "sleep", "user_annotation")
    return recorded("recorder_beside", 100, record)


def recorder_beside():
    """Nobody is held up: one thread works, another time it sleeps."""
    job = beside(lambda host, us: host.recorder(us, holds=False))
    without = beside(lambda host, us: None)
    jobs = [job]
    assert truth.last_end(job.captures[0]) == truth.last_end(without.captures[0])
    return Scenario("recorder_beside", "Slices of the profiler while a thread works or sleeps",
                    jobs, {"gain without the recorder": 0},
                    [*checks.basics(jobs), cause_checks.recorder_path({})],
                    without=[Without(["recorder"], [without])])


def scenarios():
    return [recorder_holds(), recorder_hidden(), recorder_beside()]
