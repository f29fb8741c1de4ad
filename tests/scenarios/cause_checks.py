"""Checks of causes and gains: recommendations, what-if, critical_path, doctor."""
import csv
import html
import io
import re

import truth
from checks import Check, as_ns, field

GAINS = ("Gains come from replaying the recorded dependencies without the cause; they cannot "
         "exceed what is exposed, and a wait that computation hides gains nothing")


# What the synchronising call at the end of a step costs, with the launches after it: some 10 us
# in each of the few steps of a scenario.
END_OF_STEPS_NS = 50_000


def words_of(row):
    return " ".join(str(field(row, name)) for name in ("problem", "evidence", "advice"))


def names_it(row, words):
    return bool(re.search(words, words_of(row), re.I))


def show(row):
    return f"{field(row, 'number')}. {field(row, 'problem')} (gain {field(row, 'gain_ms')} ms)"


def blames(name, rank, gain_most_ns, step=None, words=None, first=True):
    """A recommendation names the rank (and what is wrong there), first of all."""
    def compare(program):
        rows = program.rows("recommendations")
        found = [row for row in rows if field(row, "rank") == rank
                 and (words is None or re.search(words, words_of(row), re.I))]
        if not found:
            yield f"no row for rank {rank} ({words or 'any problem'}): " + \
                "; ".join(map(show, rows))
            return
        if first and field(rows[0], "rank") != rank:
            yield f"the first is {show(rows[0])}, the truth is rank {rank}"
        if step is not None and field(found[0], "step") != step:
            yield f"step is {field(found[0], 'step')}, the truth is {step}"
        gain = as_ns(field(found[0], "gain_ms"))
        if gain is None or not 0 < gain <= gain_most_ns:
            yield f"gain is {gain} ns, the truth is at most {gain_most_ns}"
    return Check(name, GAINS, compare)


def blames_no_rank():
    def compare(program):
        for row in program.rows("recommendations"):
            gain = as_ns(field(row, "gain_ms")) or 0
            if field(row, "rank") is not None and gain > END_OF_STEPS_NS:
                yield f"nobody is late, but: {show(row)}, rank {row['rank']}"
    return Check("blames_no_rank", "Something makes the job slower only if the job would be "
                 "faster without it", compare)


def gains_nothing(words, rank):
    """What is hidden may be named (`words` of the problem, the rank), but without a gain."""
    def compare(program):
        for row in program.rows("recommendations"):
            gain = as_ns(field(row, "gain_ms")) or 0
            if (re.search(words, field(row, "problem"), re.I) and gain > 0) or \
                    (field(row, "rank") == rank and gain > END_OF_STEPS_NS):
                yield f"a gain of nothing: {show(row)}"
    return Check("gains_nothing", GAINS, compare)


def says(name, words, contract, gain_share=None):
    """A recommendation has these words; gain_share: (least, most) of gain_pct."""
    def compare(program):
        rows = program.rows("recommendations")
        found = [row for row in rows if names_it(row, words)]
        if not found:
            yield f"no row names /{words}/: " + "; ".join(map(show, rows))
        elif gain_share is not None:
            share = field(found[0], "gain_pct")
            if share is None or not gain_share[0] <= share <= gain_share[1]:
                yield f"gain_pct is {share}, the truth is between {gain_share}"
    return Check(name, contract, compare)


def gains_at_most(name, words, most_ns, but):
    """`but`: rows with these words are about something else."""
    def compare(program):
        for row in program.rows("recommendations"):
            if names_it(row, words) and not names_it(row, but) and \
                    (as_ns(field(row, "gain_ms")) or 0) > most_ns:
                yield f"gains at most {most_ns} ns: {show(row)}"
    return Check(name, GAINS, compare)


def first_of(name, about, words, contract):
    """Of the recommendations whose problem is `about` this, the first has these words."""
    def compare(program):
        rows = [row for row in program.rows("recommendations")
                if re.search(about, field(row, "problem"), re.I)]
        if not rows:
            yield f"no row is about /{about}/"
        elif not re.search(words, field(rows[0], "problem"), re.I):
            yield f"the first is {show(rows[0])}"
    return Check(name, contract, compare)


def no_words(name, words, contract):
    def compare(program):
        for row in program.rows("recommendations"):
            if names_it(row, words):
                yield f"not so: {show(row)}"
    return Check(name, contract, compare)


def what_if(cause, gains, within_ns=10_000):
    """gains: step -> ns that the step is shorter without the host's slice of this name."""
    return without("what_if", f"name={cause}", gains, within_ns)


def of_without(scenario):
    """Each cause that a scenario was simulated without as well: the gain of every step."""
    made = []
    for cause in scenario.without:
        [before], [after] = [job.captures for job in scenario.jobs + cause.jobs]
        shorter = truth.step_lengths(after)
        gains = {step: ns - shorter[step] for step, ns in truth.step_lengths(before).items()}
        made += [without(f"without {option}", option, gains) for option in cause.causes]
    return made


def without(name, option, gains, within_ns=10_000):
    """gains: step -> ns that the step is shorter without this; or with an option, such as
    "--balance stages".

    The replay may place a launch a few microseconds otherwise than the simulation does."""
    def compare(program):
        how = option.split() if option.startswith("--") else ["--without", option]
        text = program.must("what-if", *how, "--format", "csv")
        have = {}
        for row in csv.DictReader(io.StringIO(text)):
            if row["step"]:
                before, after, gain = (as_ns(float(row[f"{name}_ms"]))
                                       for name in ("before", "after", "gain"))
                have[int(row["step"])] = gain
                if abs(before - after - gain) > 1:
                    yield f"step {row['step']}: {before} - {after} ns are no gain of {gain}"
        for step, gain in gains.items():
            if step not in have:
                yield f"no row for step {step}"
            elif abs(have[step] - gain) > within_ns:
                yield f"step {step}: gain is {have[step]} ns, the truth is {gain}"
    return Check(name, GAINS, compare)


def on_critical_path(name, least_ns, most_ns, steps=None):
    """So much of the critical path of each of these steps has this name (or operator)."""
    def compare(program):
        found = {}
        for row in program.rows("critical_path"):
            found.setdefault(field(row, "step"), 0)
            if name in (field(row, "name"), field(row, "op")):
                found[row["step"]] += as_ns(field(row, "dur_ms"))
        for step in steps or found:
            if not least_ns <= found.get(step, -1) <= most_ns:
                yield (f"step {step}: {found.get(step)} ns of {name}, the truth is between "
                       f"{least_ns} and {most_ns}")
        if not found:
            yield "no rows"
    return Check("critical_path", "Idle belongs to a cause by what the host did in that time, "
                 "piece by piece: inside a synchronising call whose work had not ended: sync; "
                 "after it: host, named by what the host then did", compare)


def recorder_path(held):
    """held: step -> ns of its critical path in which the profiler held up a thread; others: 0."""
    def compare(program):
        found = {}
        for row in program.rows("critical_path"):
            found.setdefault(field(row, "step"), 0)
            if row["kind"] == "recorder":
                found[row["step"]] += as_ns(field(row, "dur_ms"))
        if not found:
            yield "no rows"
        for step, time in found.items():
            if time != held.get(step, 0):
                yield f"step {step}: {time} ns of the recorder, the truth is {held.get(step, 0)}"
    return Check("recorder_path", "What the profiler held up is a kind of its own on the critical "
                 "path, and only what it held up", compare)


def not_waiting_path(most_ns):
    """Communication that is hidden is no part of what a step takes."""
    def compare(program):
        found = {}
        for row in program.rows("critical_path"):
            found.setdefault(row["step"], 0)
            if "nccl" in str(field(row, "name")).lower():
                found[row["step"]] += as_ns(field(row, "dur_ms"))
        if not found:
            yield "no rows"
        for step, time in found.items():
            if time > most_ns:
                yield f"step {step}: {time} ns of communication, the truth is at most {most_ns}"
    return Check("critical_path", GAINS, compare)


def doctor(finds, words=None):
    """Whether doctor finds something, and names it."""
    def compare(program):
        done = program.run("doctor")
        said = (done.stdout + done.stderr).strip()
        want = 4 if finds else 0
        if done.returncode != want:
            yield f"doctor: exit {done.returncode}, the truth is {want}: {said[:160]!r}"
        elif words and not re.search(words, said, re.I):
            yield f"doctor does not say /{words}/: {said[:160]!r}"
    return Check("doctor", "doctor says what is suspicious: exit 4 with findings, 0 without",
                 compare)


def nobody_is_late(jobs, steps):
    """No rank is named as the one for which others wait: at most a twentieth of the waits, which
    are too short to have a cause, have a rank of their own."""
    def compare(program):
        for job in jobs:
            rows = program.rows_of("nccl_stall_ranks", job, jobs)
            own = sum(as_ns(field(row, "root_wait_ms")) for row in rows)
            every = sum(as_ns(field(row, "suffered_wait_ms")) for row in rows)
            if own * 20 > every:
                yield f"{own} of {every} ns of waits have a rank as their root"
            for row in program.rows_of("nccl_stall_roots", job, jobs):
                if field(row, "root_rank") is not None and field(row, "root_name") is not None:
                    yield f"root_rank {row['root_rank']}, because of {row['root_name']}"
            rows = program.rows_of("straggler_steps", job, jobs)
            if [field(row, "step") for row in rows] != list(steps):
                yield f"straggler_steps has the steps {[row['step'] for row in rows]}"
            for row in rows:
                if field(row, "slowest_rank") is not None or field(row, "cause") != "schedule":
                    yield (f"step {row['step']}: slowest_rank {row['slowest_rank']}, "
                           f"cause {row['cause']}")
    return Check("nobody_is_late", "Something makes the job slower only if the job would be "
                 "faster without it", compare)


def is_late(jobs, rank, steps, words):
    """The rank is named for each of these steps, with these words."""
    def compare(program):
        for job in jobs:
            found = {field(row, "step"): (field(row, "slowest_rank"), str(field(row, "cause_name")))
                     for row in program.rows_of("straggler_steps", job, jobs)}
            for step in steps:
                named, why = found.get(step, (None, ""))
                if named != rank or not re.search(words, why):
                    yield f"step {step}: rank {named}, because of {why}; the truth is {rank}"
    return Check("is_late", "the last to arrive is the culprit", compare)


def first_sentence(words, not_words=None):
    """What `report` says first has these words, and not those."""
    def compare(program):
        page = program.must("-q", "report", "-o", "-")
        found = re.search(r'<p id="verdict">(.*?)</p>', page)
        said = html.unescape(re.sub("<[^>]*>", "", found[1])) if found else ""
        if not re.search(words, said):
            yield f"not /{words}/: {said}"
        if not_words and re.search(not_words, said):
            yield f"/{not_words}/: {said}"
    return Check("first_sentence", "The page's first sentence names the right step, cause and "
                 "size, or says what cannot be told", compare)


def share_of(program, jobs, rank, words):
    """Of all waits those with this rank as their root, and with these words, in percent."""
    return sum(field(row, "share_pct") for job in jobs
               for row in program.rows_of("nccl_stall_roots", job, jobs)
               if field(row, "root_rank") == rank
               and re.search(words, str(field(row, "root_name")))) / len(jobs)


def root_share(jobs, rank, words, least_pct, most_pct=100):
    """So many of the waits go back to the rank, with these words."""
    def compare(program):
        share = share_of(program, jobs, rank, words)
        if not least_pct <= share <= most_pct + 1e-6:
            yield (f"{share:.1f} % of the waits have rank {rank} and /{words}/ as their root; the "
                   f"truth is between {least_pct} and {most_pct}")
    return Check(f"root_share_{rank}", "the last to arrive is the culprit, unless it waited "
                 "itself; its cause is what took longer there than on the others", compare)


def not_to_blame(jobs, ranks, most_pct):
    """None of these ranks is the root of more than so many of the waits."""
    def compare(program):
        for rank in ranks:
            share = share_of(program, jobs, rank, "")
            if share > most_pct:
                yield f"{share:.1f} % of the waits have rank {rank} as their root"
    return Check("not_to_blame", "Something makes the job slower only if the job would be faster "
                 "without it", compare)
