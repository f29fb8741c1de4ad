"""Scenarios of several runs, and of several captures of one run, in a database."""
import collections
import os

import cause_checks
import checks
import filter_checks
import truth
from checks import Scenario
from trace_maker import Group, Job

HOUR_S = 3600
DAY_S = 24 * HOUR_S


def data_parallel_job(folder, world_size=2, **options):
    return Job(folder, world_size,
               [Group("3", "DATA_PARALLEL_GROUP", tuple(range(world_size)))], **options)


def train(capture, numbers, late_us, forward_us=300, after_us=()):
    """Steps of data parallel training: late_us[rank] passes on the host before the gradients are
    added up; some of that communication is hidden. after_us: rank -> work after all steps."""
    group = capture.job.group("DATA_PARALLEL_GROUP")
    for host in capture.every_host():
        for number in numbers:
            with host.step(number):
                host.copy(10, "HtoD (Pinned -> Device)", 65536)
                host.kernel("gemm_forward", forward_us, op="aten::mm")
                host.sync()
                host.work(late_us[host.rank], "prepare_gradients")
                host.kernel("gemm_backward_first", 2 * forward_us, op="aten::mm")
                host.wait(20, on=7)
                host.collective("allreduce", group, 150, 20, joined=False)
                host.kernel("gemm_backward_last", 80, op="aten::mm")
                host.wait(7, on=20)
                host.kernel("adam", 100, op="Optimizer.step#AdamW.step")
                host.sync()
        if host.rank in after_us:
            host.work(after_us[host.rank], "write_checkpoint", "user_annotation")
    return capture.simulate()


def two_runs(name, says, ingests=None):
    """One script, measured twice: the same ranks, steps and communicators."""
    first = data_parallel_job(f"{name}/morning")
    second = data_parallel_job(f"{name}/later")
    train(first.capture(0), (3, 4, 5), late_us=(0, 70))
    train(second.capture(HOUR_S, first_pid=9120), (3, 4, 5), late_us=(20, 0), forward_us=240)
    jobs = [first, second]
    told = {"runs": 2, "who is late": "rank 1 of the first by 70 us, rank 0 of the second by 20",
            "shared by both": "nothing"}
    assert {stall["total_wait"] for stall in truth.stalls(first)} == {70_000}
    assert {stall["total_wait"] for stall in truth.stalls(second)} == {20_000}
    return Scenario(name, says, jobs, told, checks.basics(jobs) + [
        filter_checks.by_run(jobs), filter_checks.runs_of_recommendations(jobs)],
                    ingests=ingests)


def two_jobs():
    """At the same time, so that only the folders tell them apart."""
    name = "two_jobs"
    small, large = data_parallel_job(f"{name}/small"), data_parallel_job(f"{name}/large", 4)
    train(small.capture(0), (1, 2), late_us=(0, 40))
    train(large.capture(0.0005, first_pid=5120), (1, 2, 3), late_us=(90, 0, 30, 10))
    jobs = [small, large]
    told = {"runs": 2, "ranks": {"small": 2, "large": 4}, "who is late": "small: 1, large: 0"}
    return Scenario(name, "Two different jobs, recorded at the same time", jobs, told,
                    checks.basics(jobs) + [filter_checks.by_run(jobs)])


def two_captures(name, pause_s):
    job = data_parallel_job(name)
    train(job.capture(0), (3, 4), late_us=(0, 70))
    train(job.capture(pause_s), (13, 14), late_us=(50, 0))
    jobs = [job]
    told = {"runs": 1, "captures": 2, "the pause": "belongs to nobody: neither span nor idle",
            "who is late": "rank 1 in the first capture by 70 us, rank 0 in the second by 50"}
    made = Scenario(name, f"schedule(repeat=2): two captures of a rank, {pause_s} s apart", jobs,
                    told, checks.basics(jobs) + [filter_checks.by_capture(job)])
    if pause_s >= DAY_S:
        made.checks.append(cause_checks.doctor(True, "apart|capture"))
    return made


def touching_captures():
    """Rank 1 writes a checkpoint when its first capture's steps are done. So its first capture
    still goes on when the second one of rank 0 begins; a rank is once in a capture."""
    name = "touching_captures"
    job = data_parallel_job(name)
    first, second = job.capture(0), job.capture(0.004)
    train(first, (3, 4), late_us=(0, 70), after_us={1: 5000})
    second.host(1, begin_us=4500)
    train(second, (13, 14), late_us=(50, 0))
    ends = [max(s.end for s in first.slices[rank]) for rank in (0, 1)]
    assert ends[0] < second.begin < ends[1] < second.hosts[1].begin
    jobs = [job]
    told = {"runs": 1, "captures": "2, each of both ranks"}
    return Scenario(name, "Two captures; the first of rank 1 ends after the second of rank 0 began",
                    jobs, told, checks.basics(jobs) + [filter_checks.by_capture(job)])


def missing_file(name, pause_s, **second_start):
    """Rank 1 has no file of the first capture: its second is the partner of rank 0's second."""
    job = data_parallel_job(name, with_seq=bool(second_start))
    first = train(job.capture(0), (3, 4), late_us=(0, 70))
    first.missing = {1}
    train(job.capture(pause_s, **second_start), (13, 14), late_us=(50, 0))
    jobs = [job]
    assert len(truth.matched(job)) == 2 and truth.lone_parts(job) == 2
    told = {"matched": "the 2 collectives of the second capture", "without a partner": "2 parts",
            "correction of clocks": 0}
    says = "Two captures; rank 1's file of the first one is lost"
    return Scenario(name, says + ("; Seq counts anew" if second_start else ""), jobs, told,
                    checks.basics(jobs) + [times_as_recorded(jobs)])


def times_as_recorded(jobs):
    """No clock is moved: kernels are where they were recorded."""
    def compare(program):
        rows = program.sql("SELECT rank, ts_ns, dur_ns FROM kernels WHERE kind = 'communication'")
        have = collections.Counter((row["rank"], row["ts_ns"], row["dur_ns"])
                                          for row in rows)
        want = collections.Counter(
            (rank, part.start, part.end - part.start) for job in jobs
            for capture in job.captures for meeting in capture.meetings.values()
            for rank, part in meeting.parts.items() if rank in capture.recorded_ranks())
        yield from checks.multiset_differences("(rank, ts_ns, dur_ns)", want, have)
    return checks.Check("times_as_recorded", "ts_ns is absolute Unix time where the trace has it "
                        "(base + ts), so ranks compare", compare)


def restarted(name, folders):
    """The script was started again an hour later: other pids, Seq counts anew, same steps."""
    same = len(set(folders)) == 1
    job = data_parallel_job(folders[0], with_seq=True)
    train(job.capture(0), (3, 4), late_us=(0, 70))
    jobs = [job]
    if not same:
        jobs.append(data_parallel_job(folders[1], with_seq=True))
    train(jobs[-1].capture(HOUR_S, first_pid=9120), (3, 4), late_us=(50, 0))
    told = {"runs": len(jobs), "captures": 2,
            "who is late": "rank 1 before, by 70 us; rank 0 after the restart, by 50"}
    where = "the same folder" if same else "another folder"
    made = Scenario(name, f"A job restarted an hour later into {where}; Seq counts anew", jobs,
                    told, checks.basics(jobs) + [times_as_recorded(jobs)])
    if same:
        made.checks.append(cause_checks.doctor(True, "apart|capture|restart|run"))
    return made


def restarted_with_a_rank_lost():
    """Of the first start only rank 0 was kept, of the second only rank 1: they share nothing."""
    name = "restarted_rank_lost"
    job = data_parallel_job(name, with_seq=True)
    first = train(job.capture(0), (3, 4), late_us=(0, 70))
    second = train(job.capture(HOUR_S, first_pid=9120), (3, 4), late_us=(50, 0))
    first.missing, second.missing = {1}, {0}
    jobs = [job]
    assert not truth.matched(job) and truth.lone_parts(job) == 4
    told = {"matched": "nothing: the ranks were not recorded at the same time",
            "without a partner": "all 4 parts", "correction of clocks": 0}
    return Scenario(name, "Rank 0 of one start and rank 1 of the next, an hour later", jobs, told,
                    [checks.captures(jobs), checks.overlap(jobs), checks.nccl_stalls(jobs),
                     times_as_recorded(jobs),
                     cause_checks.doctor(True, "overlap|apart|capture|same time|restart")])


def one_clean_run():
    """The positive control of all scenarios here."""
    name = "one_clean_run"
    job = data_parallel_job(name)
    train(job.capture(0), (3, 4, 5), late_us=(0, 70))
    jobs = [job]
    told = {"runs": 1, "captures": 1, "who is late": "rank 1, by 70 us in each of 3 steps"}
    return Scenario(name, "One run, one capture, nothing odd", jobs, told,
                    checks.basics(jobs) + [times_as_recorded(jobs), cause_checks.doctor(False),
                                           checks.communicators(jobs, {"DATA_PARALLEL_GROUP":
                                                                       "data"}),
                                           checks.parts_by_communicator(jobs),
                                           checks.stall_details(jobs), filter_checks.columns(),
                                           filter_checks.no_such_rank((0, 1))])


def one_job(name, says, **options):
    """However its files lie and come in, they are one run."""
    ingests = options.pop("ingests", None)
    job = data_parallel_job(name, **options)
    train(job.capture(0), (3, 4), late_us=(0, 70))
    return Scenario(name, says, [job], {"runs": 1, "captures": 1}, checks.basics([job]),
                    ingests=ingests)


def files_one_by_one():
    name = "files_one_by_one"
    files = [f"{name}/job.rank{rank}.pt.trace.json" for rank in (1, 0)]
    return one_job(name, "The files of a run, ingested one by one",
                   ingests=[[file] for file in files])


def folders_of_nodes():
    return one_job("folders_of_nodes", "A run whose nodes have a folder each, ingested by the "
                   "folder above", file_name="nodeRANK/job")


def nested_runs():
    """Two runs, each with a folder for each node, ingested by the folder above both."""
    name = "nested_runs"
    first = data_parallel_job(f"{name}/first", file_name="nodeRANK/job")
    second = data_parallel_job(f"{name}/second", file_name="nodeRANK/job")
    train(first.capture(0), (3, 4), late_us=(0, 70))
    train(second.capture(HOUR_S, first_pid=9120), (3, 4), late_us=(50, 0))
    jobs = [first, second]
    return Scenario(name, "Two runs with a folder a node, ingested by the folder above both", jobs,
                    {"runs": 2, "captures": "1 of each"}, checks.basics(jobs), ingests=[[name]])


def stray_files():
    """What lies beside traces and is none: lists of captures, what a launcher wrote down."""
    name = "stray_files"
    job = data_parallel_job(name)
    train(job.capture(0), (3, 4), late_us=(0, 70))
    jobs = [job]
    told = {"traces": 2, "captures": 1, "of the other files": "no row"}
    made = Scenario(name, "JSON files that are no traces beside the traces", jobs, told,
                    checks.basics(jobs) + [filter_checks.counts({"traces": 2, "ranks": 2})])
    made.other_files = {
        f"{name}/captures.json": '["job.rank0.pt.trace.json", "job.rank1.pt.trace.json"]\n',
        f"{name}/execution_details.json": '[{"step": 3, "seconds": 0.02, "name": "train"},\n'
                                          ' {"step": 4, "seconds": 0.02, "name": "train"}]\n'}
    return made


def scenarios():
    both = os.path.join("two_runs_together", "")
    return [one_clean_run(), files_one_by_one(), folders_of_nodes(), nested_runs(), stray_files(),
            two_runs("two_runs_in_turn", "Two runs of one script, ingested one after the other"),
            two_runs("two_runs_together", "Two runs of one script, ingested by their folder",
                     [[both]]),
            two_jobs(), two_captures("two_captures_minute", 60),
            two_captures("two_captures_day", DAY_S), missing_file("missing_file", 3),
            missing_file("missing_file_restarted", HOUR_S, first_pid=9120), touching_captures(),
            restarted("restarted_same_folder", ["restarted_same_folder"] * 2),
            restarted("restarted_other_folder",
                      ["restarted_other_folder/first", "restarted_other_folder/second"]),
            restarted_with_a_rank_lost()]
