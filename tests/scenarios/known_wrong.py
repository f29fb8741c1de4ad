"""What is known to be wrong: a ratchet, which may only shrink.

(scenario, check) -> why. A check that is here and passes is a failure too: take it out.
"""
KNOWN_WRONG = {}
