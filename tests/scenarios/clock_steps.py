"""Scenarios of a clock that is set while the job runs: what waits seem to be by it are none."""
import cause_checks
import checks
from checks import Check, Scenario, field
from trace_maker import Group, Job

RANKS, STEPS, FIRST_AFTER = 4, 40, 25
WAITS = "A wait is from a rank's own start to the last one's, by clocks that agree"


def job_of(name, set_ns, late_us=0, late_rank=1):
    """The clock of rank 2 is set in the middle of step FIRST_AFTER; late_us: by how much late_rank
    is late in each step."""
    job = Job(name, RANKS, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(RANKS)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, STEPS + 1):
            with host.step(number):
                if late_us and host.rank == late_rank:
                    host.work(late_us, "load", "user_annotation")
                for _ in range(6):
                    host.kernel("gemm", 500, op="aten::mm")
                host.collective("allreduce", job.groups[1], 100, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    begun = [s.start for s in capture.slices[2] if s.name == f"ProfilerStep#{FIRST_AFTER}"]
    capture.clock_steps[2] = (begun[0] - capture.begin + 1_500_000, set_ns)
    return job


def waits_are_doubted(least_ns):
    """Each wait of so much and more is uncertain: no clock tells it from the step."""
    def compare(program):
        rows = [row for row in program.rows("nccl_stalls")
                if checks.as_ns(field(row, "max_wait_ms")) >= least_ns]
        if not rows:
            yield "no wait seems to be as long"
        sure = [row["step"] for row in rows if not field(row, "uncertain")]
        if sure:
            yield f"{len(sure)} of {len(rows)} waits of steps {sure[:9]} are not doubted"
    return Check("waits_are_doubted", WAITS, compare)


def some_are_sure(rank, least_ns, least):
    """Waits of that length for this rank are longer than what its clock was set by."""
    def compare(program):
        sure = [row for row in program.rows("nccl_stalls")
                if not field(row, "uncertain") and field(row, "culprit_rank") == rank
                and checks.as_ns(field(row, "max_wait_ms")) >= least_ns]
        if len(sure) < least:
            yield f"{len(sure)} waits for rank {rank} are sure, the truth is {least} and more"
    return Check("some_are_sure", WAITS, compare)


def nobody(name, set_ns, says):
    job = job_of(name, set_ns)
    told = {"late": "nobody: the clock of rank 2 was set in mid-run", "set by": f"{set_ns} ns"}
    return Scenario(name, says, [job], told, [
        cause_checks.doctor(True, "clock_jumps"), waits_are_doubted(abs(set_ns) // 4),
        cause_checks.blames_no_rank(),
        cause_checks.says("says_what_is_left_out", "Waits are left out: clocks do not agree",
                          WAITS),
        cause_checks.no_words("is_no_waiting", "waiting for ranks that come late", WAITS),
        cause_checks.first_sentence("A clock was set", "rank 2 came late|rank 2's (GPU|host)")])


def late_as_well():
    """Rank 1 is late by much more than what the clock of rank 2 was set by."""
    job = job_of("set_and_late", 1_000_000, late_us=8000)
    told = {"late": "rank 1 in every step, by 8 ms", "set by": "1 ms, the clock of rank 2"}
    return Scenario("set_and_late", "A clock is set by little, and another rank is late by much",
                    [job], told, [
                        cause_checks.doctor(True, "clock_jumps"),
                        some_are_sure(1, 6_000_000, 35),
                        cause_checks.no_words("leaves_nothing_out", "are left out", WAITS),
                        cause_checks.says("blames_rank_1", "Rank 1 makes the others wait.* because "
                                          "of load", WAITS),
                        cause_checks.first_sentence("rank 1's host was held up.*A clock was set")])


def scenarios():
    return [nobody("set_forward", 3_000_000, "A rank's clock is set forward in mid-run"),
            nobody("set_back", -700_000, "A rank's clock is set back in mid-run"), late_as_well()]
