"""Traces for check_host.py: small ones that each show one thing, and random ones.

A trace is a list of events. Those at random have few names, starts and lengths, so that slices cross,
start together, last no time and call themselves all the time.
"""
import random

OPERATORS = ("aten::mm", "aten::add", "aten::to", "Attention")
FUNCTIONS = ("train.py(1): step", "model.py(7): forward", "nn.Module: Linear_0", "nn.Module: Linear_1")
ANNOTATIONS = ("forward", "optimizer", "ProfilerStepper#1")
CALLS = ("cudaLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync")
SHUFFLED = " shuffled"
FORWARD_THREADS = ((1, 1), (2, 1), (1, 2))
KERNELS = (("gemm", "kernel"), ("add", "kernel"), ("ncclAllReduce", "kernel"), ("Memcpy HtoD", "gpu_memcpy"),
           ("Memset (Device)", "gpu_memset"))


def event(category, name, ts, dur, thread=1, process=1, **args):
    """An X event; args are written with blanks for underscores. dur None: it has none."""
    made = {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": ts, "dur": dur,
            "args": {key.replace("_", " "): value for key, value in args.items()}}
    if dur is None:
        del made["dur"]
    if not args:
        del made["args"]
    return made


def op(name, ts, dur, *where, **args):
    return event("cpu_op", name, ts, dur, *where, **args)


def note(name, ts, dur, *where):
    return event("user_annotation", name, ts, dur, *where)


def function(name, ts, dur, *where):
    return event("python_function", name, ts, dur, *where)


def call(correlation, ts, dur, *where, **args):
    return event("cuda_runtime", "cudaLaunchKernel", ts, dur, *where, correlation=correlation, **args)


def kernel(correlation, ts, dur, name="gemm", **args):
    given = {} if correlation is None else {"correlation": correlation}
    return event("kernel", name, ts, dur, 7, 0, **given, **args)


def pair(category, name, ts, end, *, begin_args=None, end_args=None, thread=1):
    """A begin and its end."""
    begin = {"ph": "B", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": ts}
    close = {"ph": "E", "pid": 1, "tid": thread, "ts": end}
    if begin_args is not None:
        begin["args"] = begin_args
    if end_args is not None:
        close["args"] = end_args
    return [begin, close]


def forward(name, number, ts, dur, *where):
    return op(name, ts, dur, *where, Sequence_number=number, Fwd_thread_id=0)


def backward(name, number, fwd_thread, ts, dur, *where):
    return op(name, ts, dur, *where, Sequence_number=number, Fwd_thread_id=fwd_thread)


def by_hand():
    """(name, events)"""
    yield "crossing", [
        op("a", 0, 10), op("b", 5, 10), op("c", 9, 20), call(1, 6, 1), call(2, 9.5, 1), call(3, 10, 1),
        call(4, 14.999, 9), call(5, 15, 1), call(6, 29, 1),
        *(kernel(number, 40 + number, number) for number in range(1, 7))]
    yield "more paths than events", [
        *(op(str(number), number, 12) for number in range(12)),
        *(one for number in range(1, 24) for one in (call(number, number, 0.5), kernel(number, 50, 1)))]
    yield "no time", [
        op("a", 0, 0), call(1, 0, 0), op("b", 0, 5), op("b", 0, 0), op("c", 5, 0), call(2, 5, 0),
        op("d", 5, None), call(3, 5, None), call(4, 6, 1), note("n", 6, 1), op("e", 6, 0),
        *(kernel(number, 9, 0) for number in range(1, 4)), kernel(4, 9, None)]
    yield "one start", [
        # The longer is around the shorter, and of two alike the earlier in the file.
        op("short", 0, 3), op("long", 0, 9), call(1, 0, 5), call(2, 0, 2), call(3, 0, 20),
        op("first", 20, 4), call(4, 20, 4), op("second", 20, 4), call(5, 20, 4), function("f", 20, 4),
        *(kernel(number, 40 + number, 10 ** number) for number in range(1, 6))]
    yield "recursion", [
        op("r", 0, 100, Input_Dims=[[1]]), op("r", 10, 50, Input_Dims=[[2]]), op("s", 20, 30),
        op("r", 25, 10, Input_Dims=[[1]]), event("other_op", "r", 26, 2), note("r", 22, 20), note("r", 23, 5),
        function("r", 21, 25), function("r", 24, 9), call(1, 27, 1), call(2, 24, 1), call(3, 45, 1),
        call(4, 70, 1), *(kernel(number, 100 + number, 10 ** number) for number in range(1, 5))]
    yield "calls within calls", [
        op("a", 0, 50), call(1, 1, 20), call(2, 2, 5), event("cuda_driver", "cudaLaunchKernel", 3, 2),
        event("CUDA_Driver", "cuLaunchKernel", 4, 10, correlation=3), op("b", 5, 3), call(4, 6, 1),
        *(kernel(number, 100 + number, number) for number in range(1, 5))]
    yield "several threads", [
        op("a", 0, 50, 1, 1), op("b", 0, 50, 1, 2), op("c", 0, 50, 2, 1), op("d", 10, 10, "1", "1"),
        call(1, 12, 1, 1, 1), call(2, 12, 1, 1, 2), call(3, 12, 1, 2, 1), call(4, 12, 1, 3, 3),
        *(kernel(number, 100 + number, number) for number in range(1, 5))]
    yield "categories", [
        event("Operator", "a", 0, 50), event("LOOP", "b", 1, 40), event("operators", "c", 2, 30),
        event("user_annotation", "n", 3, 20), event("gpu_user_annotation", "g", 4, 10),
        event("python_function", "nn.Module:tight", 5, 10), event("python_function", "nn.Module: m", 6, 9),
        event("cpu_op", "nn.Module: an operator", 7, 5), event("Runtime", "r", 7.5, 1, correlation=1),
        event("privateuse1_DRIVER", "d", 8, 1, correlation=2), event("runtime_", "x", 8, 1, correlation=3),
        *(kernel(number, 100 + number, number) for number in range(1, 4))]
    yield "steps", [
        note("ProfilerStep#1", 0, 10), note("ProfilerStep#2", 10, 10), note("ProfilerStep#3", 15, 2),
        event("gpu_user_annotation", "ProfilerStep#9", 0, 100), op("a", 9, 10), op("a", 10, 1), op("a", 16, 1),
        op("a", 17, 1), op("a", 20, 1), call(1, 9.5, 1), call(2, 16, 1), call(3, 25, 1),
        *(kernel(number, number * 6, number) for number in range(1, 4)), kernel(None, 16, 2), kernel(9, 19, 3),
        kernel(None, 30, 5)]
    yield "args", [
        op("a", 0, 1, External_id=1, Ev_Idx=1, Input_Dims=[[4, 4]]),
        op("a", 2, 1, External_id=2, Ev_Idx=2, Input_Dims=[[4, 4]]),
        op("a", 4, 1, External_id=3, Ev_Idx=3, Input_Dims=[[8, 4]]), op("a", 6, 1), op("a", 8, 1, Size=5),
        op("a", 10, 1, Size=6), op("a", 12, 1, Size=5000), op("a", 14, 1, Size=6000),
        note("n", 0, 9), {**note("n", 10, 5), "args": {"External id": 4}},
        {**function("f", 0, 9), "args": {"Python id": 1}}, {**function("f", 10, 5), "args": {"x": "y"}}]
    yield from launches_by_hand()
    yield from pairs_by_hand()
    yield from backward_by_hand()


def launches_by_hand():
    yield "launches by External id", [
        # On a thread of its own: within an annotation, and under nothing.
        op("outer", 0, 30), note("part", 1, 20), op("inner", 2, 10, External_id=5), op("again", 15, 1,
                                                                                    External_id=5),
        note("elsewhere", 0, 100, 2), call(1, 10, 1, 2, External_id=5), call(2, 40, 1, 2, External_id=5),
        call(3, 41, 1, 2, External_id=6), call(4, 1, 1, 2, External_id=5), call(5, 50, 1, 3),
        call(6, 51, 1, 3, External_id=99), call(7, 2.5, 1, 1, External_id=6),
        op("late", 60, 5, External_id=6), op("theirs", 70, 5, External_id=8),
        *(kernel(number, 100 + number, 10 ** number) for number in range(1, 8)),
        kernel(None, 120, 3, External_id=5), kernel(77, 121, 4, External_id=8), kernel(3, 122, 5, External_id=8),
        kernel(2, 123, 6, External_id=8), kernel(5, 124, 7, External_id=8), kernel(None, 125, 8, External_id=99),
        kernel(78, 126, 9)]
    yield "one correlation, several calls", [
        op("a", 0, 10), op("b", 20, 10), call(1, 21, 1), call(1, 1, 1), call(1, 5, 1),
        kernel(1, 50, 1), kernel(1, 60, 2, "add"), kernel(1, 0.5, 3)]
    yield "negative", [
        op("a", 0, 10), op("b", 5, -3), call(1, 5, -1), call(2, 6, 1), note("n", 6, -1), call(3, 6, 1),
        op("c", 20, -5), call(4, 17, 1), kernel(1, 30, -2), kernel(2, 31, -1), kernel(3, 32, 4),
        kernel(3, 33, -4), kernel(None, 34, -4)]


def pairs_by_hand():
    yield "begins and ends", [
        *pair("cpu_op", "late", 50, 60), *pair("cpu_op", "early", 0, 10), call(1, 55, 1), call(2, 5, 1),
        *pair("cuda_runtime", "cudaLaunchKernel", 6, 7, end_args={"correlation": 3}),
        *pair("user_annotation", "around both", 0, 100),
        *pair("cpu_op", "args", 20, 30, begin_args={"External id": 7, "Input Dims": [[1]]}),
        call(4, 200, 1, 2, External_id=7), *pair("cpu_op", "backwards", 80, 70), call(5, 75, 1),
        {"ph": "b", "cat": "cpu_op", "name": "asynchronous", "id": 1, "pid": 1, "tid": 1, "ts": 0},
        {"ph": "e", "cat": "cpu_op", "name": "asynchronous", "id": 1, "pid": 1, "tid": 1, "ts": 90},
        pair("cpu_op", "never ended", 1, 2)[0],
        *(kernel(number, 300 + number, 10 ** number) for number in range(1, 6))]
    # The file's order decides which end is whose: b lasts from 20 to 45, a from 30 to 55.
    (begin_a, end_a), (begin_b, end_b) = pair("cpu_op", "a", 30, 55), pair("cpu_op", "b", 20, 45)
    yield "ends in another order", [
        *pair("cpu_op", "c", 10, 25), begin_a, begin_b, end_b, end_a, call(1, 31, 1), call(2, 46, 1),
        call(3, 21, 1), *(kernel(number, 90, 10 ** number) for number in range(1, 4))]
    yield "args at both ends", [
        *pair("cpu_op", "a", 0, 9, begin_args={"External id": 7}, end_args={"Input Dims": [[2]]}),
        *pair("cpu_op", "a", 10, 19, begin_args={"External id": 8}, end_args={"Input Dims": [[2]]})]


def backward_by_hand():
    yield "backward", [
        op("model", 0, 100), function("nn.Module: Linear_0", 1, 40), forward("linear", 3, 2, 20),
        forward("mm", 3, 5, 5), forward("relu", 4, 50, 5), forward("mm", 3, 900, 5),
        backward("evaluate", 3, 1, 200, 50, 2), op("plain", 205, 30, 2), backward("MmBackward", 3, 1, 210, 10, 2),
        call(1, 211, 1, 2), call(2, 221, 1, 2), backward("ReluBackward", 4, 1, 300, 50, 2),
        op("mm", 310, 10, 2), call(3, 311, 1, 2), backward("unknown", 77, 1, 400, 50, 2), call(4, 410, 1, 2),
        backward("unknown", 77, 1, 500, 90, 2), backward("linear", 3, 1, 510, 50, 2),
        backward("unknown", -1, 1, 520, 20, 2), call(5, 525, 1, 2), call(6, 6, 1),
        backward("no number", -1, 1, 600, 20, 2), call(7, 610, 1, 2),
        *(kernel(number, 1000 + number, 10 ** number) for number in range(1, 8))]
    yield "backward before forward", [
        backward("b", 3, 1, 0, 10, 2), call(1, 1, 1, 2), forward("f", 3, 20, 10), backward("b", 3, 1, 40, 10, 2),
        call(2, 41, 1, 2), kernel(1, 100, 1), kernel(2, 101, 10)]
    yield "two forward threads", [
        # 10 and 20 are on one thread each, which tells 1 from 2 where both have 11.
        forward("one", 10, 0, 5, 1), forward("one", 11, 10, 5, 1), forward("two", 11, 12, 5, 2),
        forward("two", 20, 20, 5, 2), backward("b", 20, 2, 100, 5, 3), call(1, 101, 1, 3),
        backward("b", 10, 1, 110, 5, 3), call(2, 111, 1, 3), backward("b", 11, 1, 120, 5, 3), call(3, 121, 1, 3),
        backward("b", 11, 2, 130, 5, 3), call(4, 131, 1, 3),
        *(kernel(number, 1000 + number, 10 ** number) for number in range(1, 5))]
    yield "numbers far apart", [
        function("f", 2845, 10, 1, 1), forward("other", 245, 132, 40, 1, 2), backward("b", 129, 1, 4851, 40, 2, 1),
        forward("other", 1043, 4474, 40, 1, 2), forward("meant", 129, 2655, 5, 1, 1), call(1, 4855, 1, 2, 1),
        kernel(1, 9999, 10)]


class Maker:
    """A random trace. grid: what starts are multiples of, in us; 0: no two slices start together."""

    def __init__(self, seed, size, grid):
        self.random, self.size, self.grid = random.Random(seed), size, grid
        self.length = size * 2
        self.made, self.taken, self.calls = [], set(), set()

    def moment(self):
        while True:
            ts = self.random.randrange(self.length * 1000)
            ts = ts / 1000 if not self.grid else ts // 1000 // self.grid * self.grid
            if self.grid or ts not in self.taken:
                self.taken.add(ts)
                return ts

    def duration(self):
        pick = self.random.choice
        return pick((0, pick((None, -5)), 10, 10, 40, 40, 200, self.random.randrange(self.length // 4)))

    def external_id(self):
        return self.random.randrange(1, self.size // 4)

    def add(self, category, name, *where, **args):
        self.made.append(event(category, name, self.moment(), self.duration(), *where, **args))

    def thread(self):
        return self.random.choice((FORWARD_THREADS[0], *FORWARD_THREADS))

    def add_operator(self):
        pick = self.random.choice
        args = {"Ev_Idx": len(self.made)}
        if pick((True, False)):
            args["External_id"] = self.external_id()
        if pick((True, False)):
            args["Input_Dims"] = [[pick((1, 2))]]
        thread, process = self.thread()
        if pick((True, True, False)):
            # Each forward thread has numbers of its own.
            forward_thread = pick((0, 0, 1, 2, 3))
            place = forward_thread - 1 if forward_thread else FORWARD_THREADS.index((thread, process))
            args.update(Sequence_number=self.random.randrange(self.size // 30) * 3 + place - pick((0, 0, 9)),
                        Fwd_thread_id=forward_thread)
        self.add(pick(("cpu_op", "cpu_op", "Operator", "my_OP")), pick(OPERATORS), thread, process, **args)

    def add_launch(self):
        pick = self.random.choice
        args = {"External_id": self.external_id()} if pick((True, False)) else {}
        correlation = self.random.randrange(self.size // 5)
        self.add(pick(("cuda_runtime", "cuda_driver", "Runtime")), pick(CALLS), *self.thread(),
                 correlation=correlation, **args)
        if (correlation, self.made[-1]["ts"]) in self.calls:
            self.made.pop()     # which of two calls is the first in time must be certain
        self.calls.add((correlation, self.made[-1]["ts"]))

    def add_activity(self):
        pick = self.random.choice
        name, category = pick(KERNELS)
        args = {"External_id": self.external_id()} if pick((True, False)) else {}
        if pick((True, True, True, False)):
            args["correlation"] = self.random.randrange(self.size // 4)
        self.add(category, name, pick((7, 20)), 0, device=0, **args)

    def add_pair(self):
        thread, process = self.thread()
        ts, dur = self.moment(), self.duration() or 0
        category, name = self.random.choice((("cpu_op", "aten::mm"), ("user_annotation", "forward"),
                                             ("python_function", FUNCTIONS[1]), ("cuda_runtime", CALLS[0])))
        self.made += pair(category, name, ts, ts + dur, thread=thread)
        self.made[-1]["pid"] = self.made[-2]["pid"] = process

    def events(self):
        pick = self.random.choice
        for number in range(4):
            self.made.append(note(f"ProfilerStep#{number}", number * self.length // 5,
                                  self.length // pick((3, 5, 6))))
        for _ in range(self.size):
            kind = self.random.randrange(10)
            if kind < 4:
                self.add_operator()
            elif kind < 6:
                self.add_launch()
            elif kind < 7:
                self.add_activity()
            elif kind < 8:
                self.add(pick(("user_annotation", "user_annotation", "gpu_user_annotation", "overhead")),
                         pick(ANNOTATIONS), *self.thread())
            elif kind < 9:
                self.add("python_function", pick(FUNCTIONS), *self.thread())
            else:
                self.add_pair()
        return self.made


def shuffled(events, seed):
    """In random order, but for ends, which stay right behind their begins."""
    units = []
    for one in events:
        if one["ph"] == "E":
            units[-1].append(one)
        else:
            units.append([one])
    random.Random(seed).shuffle(units)
    return [one for unit in units for one in unit]


def at_random(seeds):
    """(name, events). The sums of those whose name ends in SHUFFLED are the same as of those before
    them: where no two start together, the order in the file says nothing."""
    for seed in range(1, seeds + 1):
        grid = (0, 1, 10)[seed % 3]
        events = Maker(seed, (300, 1000, 3000)[seed // 3 % 3], grid).events()
        yield f"random {seed}", events
        yield f"random {seed}{' in another order' if grid else SHUFFLED}", shuffled(events, seed)
