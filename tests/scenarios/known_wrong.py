"""What is known to be wrong: a ratchet, which may only shrink.

reason -> scenario -> names of its checks. A check that is here and passes is a failure too: take
it out. `check_scenarios.py --measure` prints what fails and is not here.
"""
ADDED_UP = "gains are added up from waits, not replayed"
NO_REPLAY = "there is no critical_path and no what-if"
NO_HOST = "what the host does after a synchronising call is blamed on the call"

BY_REASON = {
    ADDED_UP: {"hidden_waits": "gains_nothing",
               "straggler": "blames_rank_2", "slow_gpu": "blames_rank_1",
               "expert_imbalance": "blames_the_full_expert",
               "host_ahead": "blames_no_rank starts_are_busy",
               "rank_not_recorded": "blames_no_rank"},
    NO_REPLAY: {"hidden_waits": "what_if critical_path",
                "item_then_loading": "what_if critical_path", "straggler": "what_if critical_path",
                "one_of_eight": "what_if",
                "no_gpu_activity": "nothing_of_the_gpu", "one_clean_run": "columns"},
    NO_HOST: {"item_then_loading": "names_the_loader",
              "sync_then_other": "names_what_follows"},
}
KNOWN_WRONG = {(scenario, check): reason for reason, found in BY_REASON.items()
               for scenario, names in found.items() for check in names.split()}
assert len(KNOWN_WRONG) == sum(len(names.split()) for found in BY_REASON.values()
                               for names in found.values()), "a check has two reasons"
