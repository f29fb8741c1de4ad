"""What is known to be wrong: a ratchet, which may only shrink.

reason -> scenario -> its checks' names. A check that is here and passes is a failure too: take
it out. `check_scenarios.py --measure` prints what fails and is not here.
"""
BY_REASON = {}
KNOWN_WRONG = {(scenario, check): reason for reason, found in BY_REASON.items()
               for scenario, names in found.items() for check in names}
assert len(KNOWN_WRONG) == sum(len(names) for found in BY_REASON.values()
                               for names in found.values()), "a check has two reasons"
