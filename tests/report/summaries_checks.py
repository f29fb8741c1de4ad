"""A report of what was gathered from summaries, and of more ranks than have a line each."""
import os
import re
import subprocess

import ranks_checks
from page_checks import page_data

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
ELSEWHERE = ["Timeline", "Which kernels take the time", "How busy each stream is, over time"]


def gathered(setting, name, inputs):
    """A database of the summaries of all files in `inputs`."""
    out = os.path.join(setting.folder, name + ".out")
    database = os.path.join(setting.folder, name + ".gathered.db")
    for rank, file in enumerate(sorted(os.listdir(inputs))):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(len(os.listdir(inputs))))
        subprocess.run([setting.program, "-q", "ingest", "--shard", out, "--run", "job", "--db",
                        os.path.join(setting.folder, f"{name}.{rank}.db"),
                        os.path.join(inputs, file)], env=environment, check=True)
    subprocess.run([setting.program, "-q", "gather", out, "-o", database], check=True)
    return database


def verdict_of(page):
    return page.evaluate("document.getElementById('verdict').textContent")


def what_summaries_lack_takes_no_room(setting):
    """Rank 5 slept 40 ms; parts about single events are named in one place, not failed ones."""
    database = gathered(setting, "summaries", os.path.join(FIXTURES, "megatron"))
    path = setting.report(database)
    page = setting.open(path)
    assert page.troubles() == [], page.troubles()
    sentence = verdict_of(page)
    found = re.search(r"for rank 5, summed over ranks, at most (4\d\.\d) ms at once \(mostly its "
                      r"host: injected_straggler_sleep\)", sentence)
    assert found, sentence
    assert "Without that it would be 31.0 ms shorter, by a replay of collectives" in sentence
    assert page.evaluate("document.querySelectorAll('.failed').length") == 0
    assert page.evaluate("document.getElementById('overview') === null")
    assert page.evaluate("document.getElementById('main').innerText.includes('No GPU')") is False
    named = page.evaluate("[...document.querySelectorAll('#elsewhere li')]"
                          ".map((e) => e.textContent)")
    assert set(ELSEWHERE) <= set(named), named
    there = page.evaluate("[...document.querySelectorAll('#main h2')].map((e) => e.textContent)")
    assert not set(named) & set(there), set(named) & set(there)
    assert "summaries.0.db" in page.evaluate("document.getElementById('elsewhere').textContent")
    advice = page.evaluate("document.getElementById('recommendations').innerText")
    assert "Rank 5 makes the others wait" in advice and "15.17 ms of a step" in advice, advice
    assert "only the ranks' own databases tell" in advice, advice
    assert "Show in the timeline" not in advice and "--detail --rank 5" in advice, advice
    top = page.evaluate("document.querySelector('#recommendations').getBoundingClientRect().top")
    assert top < 700, top
    assert page_data(path)["verdict"]["rank"] == 5
    setting.picture(page, "summaries")
    page.close()


# How much later rank 3 begins each of so many collectives, a millisecond apart, whether they are in
# a step, and how the page then begins.
JOBS = {
    "even": (0, 3, False, "No wait of one rank for another is known in what was gathered."),
    "unmarked": (300, 3, False, "No steps are marked in what was gathered. What"),
    "often": (30, 60, True, "Step 1 took 59.2 ms: the others waited 12.6 ms for rank 3, summed "
                            "over ranks, at most 30.0 us at once"),
    "hardly": (5, 60, True, "No rank stands out: in no step did the rank that others waited for "
                            "most make them wait 2 % of it and have a fifth of all waits. What"),
}


def who_is_late_is_told_by_all_that_others_waited(setting):
    for name, (late_us, collectives, has_step, begins) in JOBS.items():
        folder = os.path.join(setting.folder, name)
        ranks_checks.job(folder, 8, 3, late_us, collectives, has_step)
        page = setting.open(setting.report(gathered(setting, name, folder)))
        assert page.troubles() == [], page.troubles()
        assert verdict_of(page).startswith(begins), (name, verdict_of(page))
        page.close()


def of_many_ranks_those_that_differ_have_a_bar(setting):
    folder = os.path.join(setting.folder, "hundred")
    ranks_checks.job(folder, 100, 77, 300)
    page = setting.open(setting.report(setting.database("hundred", folder)))
    assert page.troubles() == [], page.troubles()
    for part in ("partition", "overlap"):
        names = page.evaluate("[...document.querySelectorAll('#%s .row-name')]"
                              ".map((e) => e.textContent)" % part)
        assert "rank 77" in names and "mean of the other 99" in names, (part, names)
        caption = page.evaluate("document.querySelector('#%s figcaption').textContent" % part)
        assert "differ most from the others, at most 24, of 100." in caption, caption
        shares = page.evaluate("[...document.querySelectorAll('#overlap .row-name')]"
                               ".filter((e) => e.textContent.endsWith(' %')).length")
        assert shares == 2, shares  # the mean's, too
        tall = page.evaluate("document.querySelector('#%s svg.plot').getBoundingClientRect()"
                             ".height" % part)
        assert tall < 800, (part, tall)
    setting.picture(page, "hundred")
    page.close()


CHECKS = [what_summaries_lack_takes_no_room, who_is_late_is_told_by_all_that_others_waited,
          of_many_ranks_those_that_differ_have_a_bar]
