"""What the groups of crash tests share: their inputs, and a line of verdict for each check."""
import concurrent.futures
import multiprocessing
import os
import random
import shutil

PROBLEMS_SHOWN = 8


class Options:
    """What crash_test.py was told, and the inputs in a folder of this run's own."""

    def __init__(self, told, folder):
        self.program = os.path.abspath(told.program)
        self.shim = os.path.abspath(told.shim)
        self.seed = told.seed
        self.share = 1 if told.all else 10  # of the calls that are many: every tenth
        self.moments_share = 1 if told.all else 2  # of random moments: every second
        self.jobs = told.jobs
        self.folder = folder
        self.inputs = os.path.join(folder, "inputs")
        self.fixtures = told.fixtures
        # Ends on its own within milliseconds; the rest is for busy machines and sanitizers.
        self.prompt_s = 60

    def place(self, name):
        return os.path.join(self.folder, name)

    def fixture(self, name, folder="inputs"):
        """A fixture's copy, under a name of its own."""
        path = os.path.join(self.folder, folder, name.replace("/", "-"))
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(os.path.join(self.fixtures, name), path)
        return path

    def large(self, name, rank=0, events=11000):
        """A trace whose rows are more than the cache of `--memory 32M`: SQLite then writes into
        the database long before it commits."""
        path = os.path.join(self.inputs, name)
        if os.path.exists(path):
            return path
        os.makedirs(self.inputs, exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write('{"distributedInfo":{"rank":%d},"traceEvents":[\n' % rank)
            for i in range(events):
                file.write('{"ph":"X","cat":"kernel","name":"%s%d","pid":1,"tid":1,"ts":%d,"dur":1,'
                           '"args":{"a":"%0300d"}},\n' % (name, i, i, i * 7919))
            file.write('{"ph":"i","name":"end","pid":1,"tid":1,"ts":1}]}\n')
        return path

    def many(self, name, rank=0, events=45000):
        """A trace of so many rows that they are added to a database as whole pages."""
        path = os.path.join(self.inputs, name)
        if os.path.exists(path):
            return path
        os.makedirs(self.inputs, exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write('{"distributedInfo":{"rank":%d},"traceEvents":[\n' % rank)
            for i in range(events):
                category, args = (("kernel", '"device":0,"stream":%d,' % (i % 5)) if i % 3 == 0
                                  else ("cpu_op", ""))
                file.write('{"ph":"X","cat":"%s","name":"%s%d","pid":1,"tid":1,"ts":%d.25,"dur":7,'
                           '"args":{%s"correlation":%d}},\n'
                           % (category, name, i % 9, i * 11 + rank, args, i * 3 + rank))
            file.write('{"ph":"i","name":"end","pid":1,"tid":1,"ts":1}]}\n')
        return path

    def random(self, name):
        return random.Random(f"{self.seed} {name}")


class Checks:
    """Prints a line a check; what a failed one met stands below it."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def say(self, name, problems, figures):
        verdict = "FAILED" if problems else "ok"
        self.failed += bool(problems)
        self.passed += not problems
        print(f"{verdict}: {name}: {figures}", flush=True)
        for problem in problems[:PROBLEMS_SHOWN]:
            print(f"    {problem}", flush=True)
        if len(problems) > PROBLEMS_SHOWN:
            print(f"    and {len(problems) - PROBLEMS_SHOWN} more", flush=True)


def own_place(options, name):
    """A folder that no other process of in_parallel uses."""
    return options.place(f"{name.replace(' ', '-')}-{os.getpid()}")


def in_parallel(options, function, cases):
    """function(case) of every case, in processes; the results in the cases' order."""
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        return list(pool.map(function, cases, chunksize=4))


def tally(words):
    """'3 landing, 2 making' of a list of words."""
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
