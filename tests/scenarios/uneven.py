"""Scenarios of ranks that do more or less than others: nobody is slow, or not by its kernels."""
import cause_checks
import checks
import truth
from checks import Scenario, Without
from trace_maker import Group, Job

NOBODY = "Something makes the job slower only if the job would be faster without it"
COPY = "HtoD (Pinned -> Device)"


def training(name, ranks, steps, longer=None, copies=None):
    """longer(rank, step): its kernels take so many times as long; copies(rank): us of a copy before
    them."""
    job = Job(name, ranks, [Group("3", "DATA_PARALLEL_GROUP", tuple(range(ranks)))])
    capture = job.capture(0)
    for host in capture.every_host():
        for number in range(1, steps + 1):
            with host.step(number):
                if copies:
                    host.copy(copies(host.rank), COPY, 1 << 24)
                times = longer(host.rank, number) if longer else 1
                times += host.rank / 100_000  # nobody comes at one time
                for _ in range(6):
                    host.kernel("gemm", 500 * times, op="aten::mm")
                host.collective("allreduce", job.groups[1], 300, 20)
                host.kernel("adam", 200, op="Optimizer.step#AdamW.step")
                host.sync()
    capture.simulate()
    return job


def slow_copies():
    job = training("slow_copies", 4, 5, copies=lambda rank: 2500 if rank == 2 else 300)
    even = training("slow_copies", 4, 5, copies=lambda rank: 300)
    gain = truth.gain_of(job, even)
    told = {"late": "rank 2 in every step, by its copies", "gain": f"{gain} ns"}
    return Scenario("slow_copies", "The copies to one GPU are slow, its kernels are not", [job],
                    told, [*checks.basics([job]),
                     cause_checks.blames("blames_rank_2", 2, gain + 10_000, words="Memcpy HtoD"),
                     cause_checks.no_words("is_no_chance", "may be chance", NOBODY),
                     cause_checks.first_sentence("rank 2's GPU took longer")],
                    without=[Without(["rank-late=2"], [even])])


def halves_in_turn():
    """In odd steps four ranks have more to compute, in even steps the other four."""
    job = training("halves_in_turn", 8, 8, lambda rank, step: 1.3 if (rank // 4 + step) % 2 else 1)
    gain = truth.gain_of(job, training("halves_in_turn", 8, 8))
    told = {"late": "four ranks in each step, all eight as often", "gain": f"{gain} ns"}
    return Scenario("halves_in_turn", "Half of the ranks have more to do, then the others",
                    [job], told, [
                        *checks.basics([job]), cause_checks.blames_no_rank(),
                        cause_checks.says("says_chance", "^8 ranks make the others wait in turn "
                                          ".*more often than chance", NOBODY, (19, 22))])


def nobody(name, says, longer, told):
    job = training(name, 8, 5, lambda rank, _: longer(rank))
    return Scenario(name, says, [job], {"late": told}, [
        *checks.basics([job]), cause_checks.blames_no_rank(),
        cause_checks.no_words("hides_nobody", "late as well", NOBODY)])


def scenarios():
    return [slow_copies(), halves_in_turn(),
            nobody("one_has_less", "One rank has less to compute than all others",
                   lambda rank: 0.6 if rank == 1 else 1, "nobody: rank 1 has less to do"),
            nobody("most_are_slow", "Five of eight ranks take longer: that is what is usual",
                   lambda rank: 1.3 if rank < 5 else 1, "nobody: most take as long")]
