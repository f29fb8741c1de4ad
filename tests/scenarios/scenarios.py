"""All scenarios, by theme."""
import accumulates
import advice
import blame
import boundaries
import cause_checks
import causes
import chance
import clock_steps
import communicators
import endings
import hidden
import kinds
import links
import losses
import netted
import recorder
import runs_and_captures
import several
import together
import trends
import turns
import uneven

THEMES = (communicators, runs_and_captures, causes, losses, kinds, recorder, blame, turns, together,
          boundaries, advice, endings, accumulates, hidden,
          chance, trends, clock_steps, links, uneven, netted, several)


def all_scenarios():
    made = [scenario for theme in THEMES for scenario in theme.scenarios()]
    names = [scenario.name for scenario in made]
    assert len(set(names)) == len(names), "two scenarios have one name"
    for scenario in made:
        scenario.checks += cause_checks.of_without(scenario)
        checks = [check.name for check in scenario.checks]
        assert len(set(checks)) == len(checks), f"{scenario.name}: two checks have one name"
    return made
