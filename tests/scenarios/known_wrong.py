"""What is known to be wrong: a ratchet, which may only shrink.

reason -> scenario -> names of its checks. A check that is here and passes is a failure too: take
it out. `check_scenarios.py --measure` prints what fails and is not here.
"""
NO_RUNS = "the schema has no runs and no captures"
ONE_RUN = "all files of a database are one run"
PAUSE = "the time between captures is counted as span and idle"
GROUPS = "a communicator is its sorted ranks, whatever its name"
ACROSS = "parts of different captures are matched"
TIES = "where all arrive at once one of them is counted as the last"
ADDED_UP = "gains are added up from waits, not replayed"
NO_REPLAY = "there is no critical_path and no what-if"
DOCTOR = "doctor does not look at captures and runs"
NO_HOST = "what the host does after a synchronising call is blamed on the call"

OF_A_RUN = ("runs captures overlap stream_utilization nccl_stalls nccl_stall_ranks")
BY_REASON = {
    NO_RUNS: {
        "two_communicators": "runs captures", "two_communicators_seq": "runs captures",
        "two_communicators_unnamed": "runs", "megatron_expert_and_data": "runs captures",
        "expert_imbalance": "runs captures", "one_clean_run": "runs captures columns",
        "stray_files": "runs captures", "two_captures_minute": "runs captures by_capture",
        "two_captures_day": "runs captures by_capture", "missing_file": "runs captures",
        "restarted_same_folder": "runs captures", "restarted_rank_lost": "captures",
        "balanced_pipeline": "runs captures", "hidden_waits": "runs captures",
        "item_then_loading": "runs captures", "straggler": "runs captures",
        "slow_gpu": "runs captures", "no_gpu_activity": "runs captures",
        "files_one_by_one": "runs captures", "folders_of_nodes": "runs captures",
        "missing_file_restarted": "runs captures",
        "touching_captures": "runs captures by_capture"},
    ONE_RUN: {
        "two_runs_in_turn": f"{OF_A_RUN} by_run runs_of_recommendations",
        "two_runs_together": f"{OF_A_RUN} by_run runs_of_recommendations",
        "two_jobs": f"{OF_A_RUN} by_run", "nested_runs": OF_A_RUN,
        "restarted_other_folder": OF_A_RUN},
    PAUSE: {
        "two_captures_minute": "overlap stream_utilization",
        "two_captures_day": "overlap stream_utilization",
        "missing_file": "overlap stream_utilization",
        "missing_file_restarted": "overlap stream_utilization",
        "touching_captures": "overlap stream_utilization",
        "restarted_same_folder": "overlap stream_utilization"},
    GROUPS: {
        "two_communicators": "nccl_stalls nccl_stall_ranks communicators parts_by_communicator",
        "two_communicators_seq": "nccl_stalls nccl_stall_ranks communicators "
                                 "parts_by_communicator",
        "megatron_expert_and_data": "communicators parts_by_communicator exposed_by_parallelism "
                                    "no_pipeline expert_first",
        "group_descriptions": "communicators parts_by_communicator",
        "one_clean_run": "communicators parts_by_communicator",
        "balanced_pipeline": "communicators"},
    ACROSS: {"missing_file": "nccl_stalls nccl_stall_ranks",
             "missing_file_restarted": "nccl_stalls nccl_stall_ranks",
             "restarted_rank_lost": "nccl_stalls"},
    TIES: {"megatron_expert_and_data": "nobody_last_in_a_tie",
           "expert_imbalance": "nobody_last_in_a_tie",
           "balanced_pipeline": "nobody_last_in_a_tie"},
    ADDED_UP: {"balanced_pipeline": "blames_no_rank", "hidden_waits": "gains_nothing",
               "straggler": "blames_rank_2", "slow_gpu": "blames_rank_1",
               "expert_imbalance": "blames_the_full_expert"},
    NO_REPLAY: {"hidden_waits": "what_if critical_path",
                "item_then_loading": "what_if critical_path", "straggler": "what_if critical_path",
                "no_gpu_activity": "nothing_of_the_gpu"},
    NO_HOST: {"item_then_loading": "names_the_loader sync_gains_little"},
    DOCTOR: {"two_captures_day": "doctor", "restarted_same_folder": "doctor"},
}
KNOWN_WRONG = {(scenario, check): reason for reason, found in BY_REASON.items()
               for scenario, names in found.items() for check in names.split()}
assert len(KNOWN_WRONG) == sum(len(names.split()) for found in BY_REASON.values()
                               for names in found.values()), "a check has two reasons"
