#!/usr/bin/env python3
# long because: it must be read as one text, the definitions in the order of the contract.
"""Recompute, the slow and obvious way, what a tracedb database must hold for a set of trace files.

Standard library only, and nothing taken from the program: the inputs are the trace files and the
definitions of the contract. All times are integer nanoseconds; no time passes through a float.

    python3 trace_oracle.py TRACE...        prints a summary as JSON
"""
import collections
import gzip
import json
import os
import re
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import identity_oracle  # noqa: E402
from identity_oracle import Communicator  # noqa: E402

# ---------------------------------------------------------------------------------------------
# Reading JSON without losing a digit.
# A number with a point or an exponent is kept as its source text behind a mark that no ordinary
# string begins with; integers are Python integers, which are exact.

NUMBER_MARK = "\x00num:"


def _mark(text):
    return NUMBER_MARK + text


def parse_json(text):
    return json.loads(text, parse_float=_mark, parse_constant=_mark, strict=False)


def canonical(value):
    """One text for one JSON value: keys sorted, numbers by their source text, true unlike 1."""
    return json.dumps(value, sort_keys=True)


def is_number(value):
    if isinstance(value, str):
        return value.startswith(NUMBER_MARK)
    return isinstance(value, int) and not isinstance(value, bool)


def text_of(value):
    """A scalar as the text it has in the trace; None stays None."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value[len(NUMBER_MARK):] if value.startswith(NUMBER_MARK) else value
    if isinstance(value, int):
        return str(value)
    return json.dumps(value)


def whole_number(value):
    """The value as an integer (also when it was written as text), or None."""
    text = text_of(value)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return None


_DECIMAL = re.compile(r"\s*([-+]?)(\d*)(?:\.(\d*))?\s*\Z")


def microseconds_to_ns(value):
    """Decimal microseconds, a number or text, to integer ns; the 4th decimal rounds half up."""
    if type(value) is int:
        return value * 1000
    text = text_of(value)
    if text is None:
        return None
    match = _DECIMAL.match(text)
    if match and (match.group(2) or match.group(3)):
        fraction = match.group(3) or ""
        ns = int(match.group(2) or "0") * 1000 + int((fraction + "000")[:3])
        if len(fraction) > 3 and fraction[3] >= "5":
            ns += 1
        return -ns if match.group(1) == "-" else ns
    try:
        return int((Decimal(text) * 1000).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    except (ArithmeticError, ValueError):
        return None


def read_text(path):
    """The file's text; the compression is told by the content."""
    with open(path, "rb") as handle:
        head = handle.read(4)
    if head[:2] == b"\x1f\x8b":
        with gzip.open(path, "rb") as handle:
            data = handle.read()
    elif head == b"\x28\xb5\x2f\xfd":
        data = subprocess.run(["zstd", "-dc", path], check=True, stdout=subprocess.PIPE).stdout
    else:
        with open(path, "rb") as handle:
            data = handle.read()
    return data.decode("utf-8-sig", "replace")


# ---------------------------------------------------------------------------------------------
# The definitions.

KERNEL_CATEGORIES = {"kernel", "mtia_ccp_events"}
MEMORY_CATEGORIES = {"gpu_memcpy", "gpu_memset", "memcpy", "memset"}
COMMUNICATION_NAMES = ("nccl", "rccl", "msccl", "nvshmem", "deep_ep", "dpsk::ep",
                       "cross_device_reduce",
                       "multimem_", "one_shot_all_reduce", "two_shot_all_reduce", "userbuffers",
                       "oneccl", "hccl", "hcom_", "xccl", "allreduce_fusion", "twoshotallreduce",
                       "quickreduce")
MEMORY_NAMES = ("__amd_rocclr_copybuffer", "__amd_rocclr_fillbuffer", "memory_copy_", "dma_request")
WAITING_NAMES = ("event_wait",)
DTYPE_BYTES = {"byte": 1, "char": 1, "bool": 1, "short": 2, "half": 2, "bfloat16": 2, "int": 4,
               "float": 4, "long": 8, "double": 8, "uint16": 2, "uint32": 4, "uint64": 8,
               "complexhalf": 4, "complexfloat": 8, "complexdouble": 16,
               "qint8": 1, "quint8": 1, "qint32": 4, "float4_e2m1fn_x2": 1}
STEP_NAME = re.compile(r"ProfilerStep#(\d+)\Z")
RANK_OF_WAY = {"send": "Dst Rank", "recv": "Src Rank"}
RANK_IN_NAME = re.compile(r"rank[-_ \[]?(\d+)", re.IGNORECASE)


def is_gpu_category(category):
    return category.lower() in KERNEL_CATEGORIES or category.lower() in MEMORY_CATEGORIES


def is_launch_category(category):
    lower = category.lower()
    return lower.endswith("runtime") or lower.endswith("driver")


def kind_of(category, name, args):
    if category.lower() in MEMORY_CATEGORIES:
        return "memory"
    if args.get("Collective name") not in (None, ""):
        return "communication"
    lower = name.lower()
    if any(piece in lower for piece in COMMUNICATION_NAMES):
        return "communication"
    if any(piece in lower for piece in MEMORY_NAMES):
        return "memory"
    return "waiting" if any(piece in lower for piece in WAITING_NAMES) else "compute"


def dtype_bytes(dtype):
    text = text_of(dtype)
    if text is None:
        return None
    lower = text.lower()
    if lower.startswith("float8"):
        return 1
    return DTYPE_BYTES.get(lower)


def ranks_from(value):
    """The sorted ranks of "[0, 1]" or a list; None if missing, empty or shortened."""
    if value is None:
        return None
    if isinstance(value, list):
        numbers = [whole_number(item) for item in value]
        return None if not numbers or None in numbers else tuple(sorted(numbers))
    text = text_of(value)
    if not re.fullmatch(r"\s*\[\s*\d+(\s*,\s*\d+)*\s*\]\s*", text):
        return None
    return tuple(sorted(int(digits) for digits in re.findall(r"\d+", text)))


# ---------------------------------------------------------------------------------------------
# Interval sets.

def elementary(sets):
    """(start, end, frozenset(names)) of the pieces into which all boundaries of the named interval sets
    cut the time axis: every piece is inside or outside of each set as a whole.

    sets: {name: [(start, end), ...]}
    """
    points = sorted({point for intervals in sets.values() for pair in intervals for point in pair})
    index = {point: position for position, point in enumerate(points)}
    inside = {}
    for name, intervals in sets.items():
        flags = bytearray(max(len(points) - 1, 0))
        for start, end in intervals:
            first, last = index[start], index[end]
            if last > first:
                flags[first:last] = b"\x01" * (last - first)
        inside[name] = flags
    names = sorted(sets)
    for position in range(len(points) - 1):
        held = frozenset(name for name in names if inside[name][position])
        yield points[position], points[position + 1], held


def measure(sets):
    """How long each combination of the named interval sets holds: {frozenset(names): ns}."""
    result = collections.Counter()
    for start, end, held in elementary(sets):
        result[held] += end - start
    return result


def union_length(intervals):
    return sum(length for held, length in measure({"a": intervals}).items() if held)


# ---------------------------------------------------------------------------------------------
# One file.

class Slice:
    __slots__ = ("trace", "category", "name", "ts", "dur", "pid", "tid", "args", "source")

    def __init__(self, trace, category, name, ts, dur, pid, tid, args, source):
        self.trace, self.category, self.name = trace, category, name
        self.ts, self.dur, self.pid, self.tid = ts, dur, pid, tid
        self.args, self.source = args, source

    @property
    def rank(self):
        return self.trace.rank


class Activity:
    """A GPU activity. launches: starts of all runtime calls of its correlation, earliest first.
    step_options: the steps that the contract allows, the preferred first."""

    def __init__(self, piece, order):
        args = piece.args
        self.trace, self.order = piece.trace, order
        self.name, self.ts, self.dur, self.args = piece.name, piece.ts, piece.dur, args
        self.category_lower = piece.category.lower()
        device = args.get("device")
        stream = args.get("stream")
        self.device = text_of(device if device is not None else piece.pid)
        self.stream = text_of(stream if stream is not None else piece.tid)
        self.kind = kind_of(piece.category, piece.name, args)
        self.correlation = text_of(args.get("correlation"))
        self.bytes = whole_number(args.get("bytes"))
        self.launches = []
        self.step_options = [None]

    @property
    def rank(self):
        return self.trace.rank

    @property
    def end(self):
        return self.ts + self.dur

    @property
    def launch_ts(self):
        return self.launches[0] if self.launches else None

    @property
    def step(self):
        return self.step_options[0]


class Trace:
    def __init__(self, path, document=None, rank=None):
        self.path = path
        if document is None:
            document = parse_json(read_text(path))
        if isinstance(document, list):
            document = {"traceEvents": document}
        self.header = {key: value for key, value in document.items() if key != "traceEvents"}
        events = document.get("traceEvents") or []
        self.events = len(events)
        self.base_ns = whole_number(self.header.get("baseTimeNanoseconds"))
        info = self.header.get("distributedInfo")
        self.distributed = info if isinstance(info, dict) else {}
        self.world_size = whole_number(self.distributed.get("world_size"))
        self.header_rank = whole_number(self.distributed.get("rank"))
        self.rank = rank if rank is not None else self.header_rank
        if self.rank is None:
            found = RANK_IN_NAME.search(os.path.basename(path or ""))
            self.rank = int(found.group(1)) if found else None
        self.phases = collections.Counter()        # (ph, category) of every event
        self.slices, self.negative = [], []
        self.pairs = 0                             # slices that took two events
        self.unmatched = 0                         # B, E, b, e without a partner
        self.unusable = 0                          # X and others without a time
        self.other = collections.Counter()         # phases that have no table
        self.points = []                           # (ph, name, ts) of all that is no slice, counter or flow
        self.empty = 0
        self.instants, self.memory, self.counters, self.flows = [], [], [], []
        self.counter_series = 0
        self.metadata = 0
        self.process_names = collections.defaultdict(set)
        self.thread_names = collections.defaultdict(set)
        self.batches = self.numbers = None
        self._read(events)
        self._gpu()

    # -- events to records

    def absolute(self, value):
        ns = microseconds_to_ns(value)
        return None if ns is None else ns + (self.base_ns or 0)

    def _read(self, events):
        stacks = collections.defaultdict(list)
        open_async = collections.defaultdict(list)
        for event in events:
            if not isinstance(event, dict):
                self.other["not an object"] += 1
                continue
            if not event:
                self.empty += 1
                continue
            phase = event.get("ph")
            self.phases[(phase, event.get("cat"))] += 1
            if phase == "M":
                self._metadata(event)
                continue
            ts = self.absolute(event.get("ts"))
            if phase in ("X", "B", "E", "b", "e", "S", "F", "i", "I", "C", "s", "t", "f") and ts is None:
                self.unusable += 1
            elif phase == "X":
                dur = microseconds_to_ns(event.get("dur", 0))
                if dur is None:
                    self.unusable += 1
                else:
                    self._slice(event, ts, dur, event.get("args") or {}, "X")
            elif phase == "B":
                stacks[self._thread(event)].append((event, ts))
            elif phase == "E":
                self._close(stacks[self._thread(event)], event, ts, "B")
            elif phase in ("b", "e", "S", "F"):
                key = (phase in "be", text_of(event.get("cat")), text_of(event.get("id")),
                       text_of(event.get("scope")), text_of(event.get("name")))
                if phase in "bS":
                    open_async[key].append((event, ts))
                else:
                    self._close(open_async[key], event, ts, "b")
            elif phase in ("i", "I"):
                row = (text_of(event.get("name")) or "", ts)
                self.points.append((phase, *row))
                (self.memory if event.get("name") == "[memory]" else self.instants).append(row)
            elif phase == "C":
                self.counters.append((text_of(event.get("name")) or "", ts))
                series = event.get("args")
                self.counter_series += len(series) if isinstance(series, dict) else 0
            elif phase in ("s", "t", "f"):
                self.flows.append((text_of(event.get("name")) or "", ts))
            else:
                self.other[text_of(phase)] += 1
                if phase is not None and ts is not None:
                    self._point(event, ts)
        for stack in [*stacks.values(), *open_async.values()]:
            self.unmatched += len(stack)
            for event, ts in stack:
                self._point(event, ts)

    @staticmethod
    def _thread(event):
        return text_of(event.get("pid")), text_of(event.get("tid"))

    def _point(self, event, ts):
        phase = text_of(event["ph"])
        self.points.append((phase if len(phase) == 1 else "?", text_of(event.get("name")) or "", ts))

    def _close(self, stack, event, ts, source):
        if not stack:
            self.unmatched += 1
            self._point(event, ts)
            return
        begin, begin_ts = stack.pop()
        self.pairs += 1
        args = dict(begin.get("args") or {})
        args.update(event.get("args") or {})
        self._slice(begin, begin_ts, ts - begin_ts, args, source)

    def _slice(self, event, ts, dur, args, source):
        piece = Slice(self, text_of(event.get("cat")) or "", text_of(event.get("name")) or "",
                      ts, dur, event.get("pid"), event.get("tid"), args, source)
        (self.negative if dur < 0 else self.slices).append(piece)

    def _metadata(self, event):
        self.metadata += 1
        args = event.get("args")
        name = text_of(args.get("name")) if isinstance(args, dict) else None
        if name is None:
            return
        if event.get("name") == "process_name":
            self.process_names[text_of(event.get("pid"))].add(name)
        elif event.get("name") == "thread_name":
            self.thread_names[self._thread(event)].add(name)

    # -- GPU activities, their launches and steps

    def _gpu(self):
        self.steps = []
        launches = collections.defaultdict(list)
        self.activities = []
        for order, piece in enumerate(self.slices):
            if piece.source != "X":
                continue
            args = piece.args if isinstance(piece.args, dict) else {}
            if piece.category.lower() == "user_annotation":
                match = STEP_NAME.match(piece.name)
                if match:
                    self.steps.append((int(match.group(1)), piece.ts, piece.dur))
            elif is_gpu_category(piece.category):
                self.activities.append(Activity(piece, order))
            elif is_launch_category(piece.category) and args.get("correlation") is not None:
                launches[text_of(args["correlation"])].append(piece.ts)
        for activity in self.activities:
            activity.launches = sorted(launches.get(activity.correlation, []))
            activity.step_options = self._step_options(activity)

    def steps_at(self, ts):
        """The steps that hold a time, the latest begun first (the end does not belong to a step)."""
        holding = [(start, step) for step, start, dur in self.steps if start <= ts < start + dur]
        return [step for start, step in sorted(holding, reverse=True)]

    def _step_options(self, activity):
        options = []
        for launch in activity.launches:
            options += self.steps_at(launch)
        # Also where only some of several calls of one correlation lie in a step.
        outside = [launch for launch in activity.launches if not self.steps_at(launch)]
        if outside or not activity.launches:
            options += self.steps_at(activity.ts) or [None]
        return options

    # -- process groups

    def collective_args(self, activity):
        """The args that say which collective a kernel is: its own, or, where they name no group, those
        of the operator with its External id."""
        if self.group_of(activity.args) is not None and activity.args.get("Collective name"):
            return activity.args
        for piece in self.slices:
            if (piece.name == "record_param_comms" and piece.category == "cpu_op"
                    and isinstance(piece.args, dict) and piece.args.get("Collective name")
                    and piece.args.get("External id") is not None
                    and piece.args.get("External id") == activity.args.get("External id")
                    and self.group_of(piece.args) is not None):
                return piece.args
        return self._batch_args(activity) or activity.args

    def _batch_args(self, activity):
        """Args for the one kernel of messages that were given together: each an operator without a launch,
        before the annotation nccl:coalesced in which the kernel was launched. They say no group where it is
        not one other rank in one group."""
        if "SendRecv" not in activity.name or not activity.launches:
            return None
        around = [ending for ending in self._batches() if all(
            ending.ts <= launch <= ending.ts + ending.dur for launch in activity.launches[:1])]
        apart = [one for one in self._batches() if one not in around and any(
            one.ts <= ending.ts + ending.dur and ending.ts <= one.ts + one.dur for ending in around)]
        messages = [] if len(around) != 1 or apart else self.batches[around[0]]
        ways = [self.way_of(args) for args in messages]
        if not messages or None in ways:
            return None
        sums, first, count = {}, {}, collections.Counter(ways)
        for way, key in (("send", "In msg nelems"), ("recv", "Out msg nelems")):
            its = [args for args in messages if self.way_of(args) == way]
            sums[way] = [Part.bytes_of(args.get(key), dtype_bytes(args.get("dtype"))) for args in its]
            first[way] = min((self.numbers[id(args)] for args in its), default=None)
        shown = ("send" if "send" in ways else "recv", "recv" if "recv" in ways else "send")
        dtypes = {text_of(args.get("dtype")) for args in messages}
        told = {"Collective name": "".join(sorted(set(ways), reverse=True)),
                "dtype": messages[0].get("dtype") if len(dtypes) == 1 else None,
                "batch bytes": [None if None in sums[way] else sum(sums[way]) for way in shown]}
        peers = {whole_number(args.get(RANK_OF_WAY[self.way_of(args)])) for args in messages}
        groups = {self.group_of(args) for args in messages}
        if len(groups) == 1 and None not in groups:
            [told["batch group"]] = groups
            told["Process Group Description"] = messages[0].get("Process Group Description")
        if len(peers) > 1 or len(groups) > 1 or peers & {None, self.rank} or None in groups:
            return told
        [peer] = peers
        up, down = ("send", "recv") if peer > self.rank else ("recv", "send")
        return {**{key: value for key, value in messages[0].items() if key.startswith("Process Group")}, **told,
                "batch": (*sorted((self.rank, peer)), count[up], count[down],
                          first[down] - first[up] if len(count) > 1 else None),
                "batch number": first[up] if count[up] else first[down], "batch peer": peer}

    def way_of(self, args):
        way = (text_of(args.get("Collective name")) or "").lower()
        return way if way in RANK_OF_WAY else None

    def _batches(self):
        """{annotation nccl:coalesced: args of the calls since the annotation of NCCL before it, on its thread}"""
        if self.batches is None:
            self.batches, self.numbers = {}, {}
            threads, counts = collections.defaultdict(list), collections.Counter()
            for piece in sorted(self.slices, key=lambda one: one.ts):
                is_call = piece.name == "record_param_comms" and piece.category == "cpu_op"
                if is_call or piece.name.startswith("nccl:") and piece.category == "user_annotation":
                    threads[piece.pid, piece.tid].append((piece, is_call))
                args = piece.args if isinstance(piece.args, dict) else {}
                if is_call and self.way_of(args):
                    key = (self.group_of(args), args.get(RANK_OF_WAY[self.way_of(args)]), self.way_of(args))
                    counts[key] += 1
                    self.numbers[id(args)] = counts[key]
            for its in threads.values():
                messages = []
                for piece, is_call in its:
                    if not is_call:
                        if piece.name == "nccl:coalesced":
                            self.batches[piece] = messages
                        messages = []
                        continue
                    args = piece.args if isinstance(piece.args, dict) else {}
                    if (text_of(args.get("Collective name")) or "").lower() != "wait":
                        messages.append(args)
        return self.batches

    def group_of(self, args):
        """The communicator of a communication kernel, or None where the file does not say its ranks."""
        ranks = ranks_from(args.get("Process Group Ranks"))
        name = text_of(args.get("Process Group Name"))
        if ranks is None and name is not None:
            of_name = [group for group in self.groups() if text_of(group.get("pg_name")) == name]
            ranks = ranks_from(of_name[0].get("ranks")) if of_name else None
        return None if ranks is None else Communicator(name or "", ranks)

    def groups(self):
        config = self.distributed.get("pg_config")
        return [group for group in config if isinstance(group, dict)] if isinstance(config, list) else []

    def communicators(self):
        """[(communicator, description)] that the header tells of."""
        return [(Communicator(text_of(group.get("pg_name")) or "", ranks), text_of(group.get("pg_desc")))
                for group in self.groups() for ranks in [ranks_from(group.get("ranks"))]
                if ranks is not None]


# ---------------------------------------------------------------------------------------------
# All files of a run together.

class Part:
    """One rank's part in a collective."""

    def __init__(self, activity):
        args = activity.trace.collective_args(activity)
        self.activity = activity
        self.rank, self.ts, self.dur = activity.rank, activity.ts, activity.dur
        self.collective = text_of(args.get("Collective name"))
        self.dtype = text_of(args.get("dtype"))
        self.seq = whole_number(args.get("Seq"))
        self.group = activity.trace.group_of(args)
        self.batch_group = args.get("batch group")  # that of all its messages, where it has none
        self.description = text_of(args.get("Process Group Description"))
        size = dtype_bytes(args.get("dtype"))
        self.in_bytes, self.out_bytes = args.get("batch bytes") or (
            self.bytes_of(args.get("In msg nelems"), size), self.bytes_of(args.get("Out msg nelems"), size))
        self.peer = None
        self.batch, self.batch_number = args.get("batch"), args.get("batch number")
        self.goes_both_ways = self.batch is not None and self.collective == "sendrecv"
        if "batch bytes" in args:
            self.peer = args.get("batch peer")
        elif self.collective == "send":
            self.peer = whole_number(args.get("Dst Rank"))
        elif self.collective == "recv":
            self.peer = whole_number(args.get("Src Rank"))
        self.ordinal = None                        # from 0; None: the group is not known
        self.key = None                            # parts of one collective agree in group and key

    @staticmethod
    def bytes_of(elements, size):
        count = whole_number(elements)
        return None if count is None or size is None else count * size

    @property
    def pair(self):
        """(from, to) of a send or a recv; of a batch which messages it has."""
        if self.peer is None:
            return None
        if self.batch is not None:
            return self.batch
        return (self.rank, self.peer) if self.collective == "send" else (self.peer, self.rank)


class Collective:
    """The parts of the ranks that belong together, all of one capture."""

    def __init__(self, capture, group, key, parts):
        self.capture, self.group, self.key, self.parts = capture, group, key, parts
        per_rank = collections.Counter(part.rank for part in parts)
        self.repeated = any(count > 1 for count in per_rank.values())
        self.complete = not self.repeated and tuple(sorted(per_rank)) == group.ranks
        starts = [part.ts for part in parts]
        self.first_start, self.last_start = min(starts), max(starts)
        self.waits = {part.rank: self.last_start - part.ts for part in parts}
        last = [part for part in parts if part.ts == self.last_start]
        self.last = min(last, key=lambda part: part.rank)
        self.first_rank = min(part.rank for part in parts if part.ts == self.first_start)
        # Where nobody waited nobody was last.
        self.culprits = sorted(part.rank for part in last) if len(last) < len(parts) else []
        self.total_wait = sum(self.last_start - part.ts for part in parts)
        self.max_wait = self.last_start - self.first_start
        self.transfer = min(part.dur for part in parts)

    @property
    def culprit(self):
        return self.culprits[0] if self.culprits else None

    @property
    def matched(self):
        return len(self.waits) > 1

    @property
    def lacks_ranks(self):
        """Some that take part, by the group or by the message, were not recorded."""
        is_message = self.key[2] is not None
        return len(self.waits) < (2 if is_message else len(self.group.ranks))


class Job:
    """A run, or a capture of it. Traces have the number of their capture from here."""

    def __init__(self, traces, run=None, whole=None):
        """whole: the run, of a capture."""
        self.traces, self.run, self.whole = traces, run, whole
        if whole is None:
            for number, capture in enumerate(identity_oracle.captures(traces), 1):
                for trace in capture:
                    trace.run, trace.capture = run, number
        times = (whole or self).traces
        self.start = min((time[0] for time in map(identity_oracle.time_of, times) if time), default=None)
        self.alone = None
        self.activities = [a for trace in traces for a in trace.activities]
        self.ranks = sorted({trace.rank for trace in traces if trace.rank is not None})
        self.groups = self._groups()
        self.trace_devices = self._devices()
        self.trace_streams = self._streams()
        self.devices = self._over_captures(self.trace_devices)
        self.streams = self._over_captures(self.trace_streams)
        self.parts = self._parts()
        self.collectives = self._collectives()

    @staticmethod
    def by_kind(activities):
        """What waits is no work of any kind."""
        sets = {"compute": [], "communication": [], "memory": []}
        for activity in activities:
            if activity.kind != "waiting":
                sets[activity.kind].append((activity.ts, activity.end))
        return sets

    def _grouped(self, key):
        found = collections.defaultdict(list)
        for activity in self.activities:
            found[key(activity)].append(activity)
        return found

    @staticmethod
    def _over_captures(of_traces):
        """{(rank, ...)} of {(trace, ...)}: sums, but for the first start and the last end."""
        result = {}
        for (trace, *key), row in of_traces.items():
            before = result.get((trace.rank, *key))
            how = {"start": min, "end": max}
            result[(trace.rank, *key)] = dict(row) if before is None else {
                name: how.get(name, lambda a, b: a + b)(before[name], row[name]) for name in row}
        return result

    def _groups(self):
        """{communicator: its descriptions}, of headers and kernels."""
        found = collections.defaultdict(set)
        for trace in self.traces:
            for group, description in trace.communicators():
                found[group].add(description)
        return found

    def captures(self):
        """{number: a Job of that capture alone}"""
        if self.alone is None:
            numbers = sorted({trace.capture for trace in self.traces})
            self.alone = {number: Job([trace for trace in self.traces if trace.capture == number],
                                      self.run, self) for number in numbers} if len(numbers) > 1 else {}
        return self.alone

    @property
    def whole_captures(self):
        """The captures that have all ranks of the run."""
        seen = collections.defaultdict(set)
        for trace in self.traces:
            seen[trace.capture].add(trace.rank)
        return {number for number, ranks in seen.items() if ranks == set(self.ranks)}

    def _devices(self):
        """{(trace, device): {span, compute, comm, overlap, exposed_comm, exposed_memory, idle}}"""
        result = {}
        for key, activities in self._grouped(lambda a: (a.trace, a.device)).items():
            lengths = measure(self.by_kind(activities))

            def total(condition):
                return sum(ns for held, ns in lengths.items() if condition(held))

            start, end = min(a.ts for a in activities), max(a.end for a in activities)
            span = end - start
            result[key] = {
                "start": start,
                "end": end,
                "span": span,
                "compute": total(lambda held: "compute" in held),
                "comm": total(lambda held: "communication" in held),
                "overlap": total(lambda held: "compute" in held and "communication" in held),
                "exposed_comm": total(lambda held: "communication" in held and "compute" not in held),
                "exposed_memory": total(lambda held: held == {"memory"}),
                "idle": span - total(lambda held: bool(held)),
            }
        return result

    def _streams(self):
        """{(trace, device, stream): {activities, start, end, busy, compute, comm, memory}}"""
        result = {}
        for key, activities in self._grouped(lambda a: (a.trace, a.device, a.stream)).items():
            sets = self.by_kind(activities)
            result[key] = {
                "activities": len(activities),
                "start": min(a.ts for a in activities),
                "end": max(a.end for a in activities),
                "busy": union_length([(a.ts, a.end) for a in activities]),
                "compute": union_length(sets["compute"]),
                "comm": union_length(sets["communication"]),
                "memory": union_length(sets["memory"]),
            }
        return result

    def _parts(self):
        parts = [Part(a) for a in self.activities if a.kind == "communication"]
        parts = [part for part in parts if part.collective not in (None, "")]
        known = sorted((part for part in parts if part.group is not None), key=lambda part: part.ts)
        # The sort is stable: of two that start together the one earlier in the files comes first.
        counts = collections.Counter()

        def count(*key):
            counts[key] += 1
            return counts[key] - 1

        for part in parts:
            if part.group or part.batch_group:
                self.groups[part.group or part.batch_group].add(part.description)
        for part in known:
            place = (part.activity.trace, part.group)
            part.ordinal = count("group", *place)
            nth = count("pair", *place, part.pair)
            if part.batch is not None:
                part.key = ("batch", part.batch_number - 1, part.batch, 0)
            elif part.seq is not None and (part.pair is None or len(part.group.ranks) <= 2):
                part.key = ("seq", part.seq, part.pair, count("seq", *place, part.pair, part.seq))
            else:
                part.key = ("ordinal", nth, part.pair, 0)
        return parts

    def _collectives(self):
        found = collections.defaultdict(list)
        for part in self.parts:
            if part.group is not None:
                found[(part.activity.trace.capture, part.group, part.key)].append(part)
        return [Collective(*key, parts) for key, parts in sorted(found.items(), key=str)]

    def is_estimate(self, collective):
        """Whether how long it waited is guessed: alone, though all ranks were recorded then."""
        return (not collective.matched and len(collective.group.ranks) > 1
                and collective.capture in self.whole_captures)

    def stall_ranks(self, chosen):
        """Per rank over the collectives that chosen() accepts; times_last and caused_wait with the
        least and the most that a choice among tied culprits can give."""
        rows = {}
        for collective in self.collectives:
            if not chosen(collective):
                continue
            for rank in collective.waits:
                row = rows.setdefault(rank, collections.Counter())
                row["collectives"] += 1
                row["suffered_wait"] += collective.waits[rank]
                if rank in collective.culprits:
                    row["times_last_most"] += 1
                    row["caused_wait_most"] += collective.total_wait
                    if len(collective.culprits) == 1:
                        row["times_last_least"] += 1
                        row["caused_wait_least"] += collective.total_wait
                if rank == collective.culprit:
                    row["times_last"] += 1
                    row["caused_wait"] += collective.total_wait
        return rows


def jobs_of(traces, inputs=()):
    """A Job of each run; inputs: the folders that were given to ingest."""
    return [Job(of_run, os.path.basename(folder))
            for folder, of_run in sorted(identity_oracle.runs(traces, inputs).items())]


def load(paths, inputs=()):
    """The Jobs of the files, one a run."""
    return jobs_of([Trace(path) for path in paths], inputs)


def summary(job):
    return {
        "run": job.run, "captures": [[trace.path for trace in capture]
                                     for capture in identity_oracle.captures(job.traces)],
        "traces": [{
            "path": trace.path, "rank": trace.rank, "world_size": trace.world_size,
            "base_ns": trace.base_ns, "events": trace.events, "slices": len(trace.slices),
            "pairs": trace.pairs, "negative": len(trace.negative), "unmatched": trace.unmatched,
            "unusable": trace.unusable, "instants": len(trace.instants),
            "memory_events": len(trace.memory), "counters": len(trace.counters),
            "flows": len(trace.flows), "metadata": trace.metadata, "other": dict(trace.other),
            "activities": dict(collections.Counter(a.kind for a in trace.activities)),
            "steps": trace.steps,
            "phases": [[ph, cat, n] for (ph, cat), n in
                       sorted(trace.phases.items(), key=lambda item: str(item[0]))],
        } for trace in job.traces],
        "devices": [{"rank": r, "device": d, **row} for (r, d), row in sorted(job.devices.items(), key=str)],
        "streams": [{"rank": r, "device": d, "stream": s, **row}
                    for (r, d, s), row in sorted(job.streams.items(), key=str)],
        "collectives": {"parts": len(job.parts),
                        "complete": sum(c.complete for c in job.collectives),
                        "matched": sum(c.matched for c in job.collectives),
                        "without_partner": sum(not c.matched for c in job.collectives),
                        "total_wait": sum(c.total_wait for c in job.collectives if c.matched)},
        "stall_ranks": {rank: dict(row) for rank, row in
                        sorted(job.stall_ranks(lambda c: c.matched).items(), key=str)},
    }


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: trace_oracle.py TRACE...")
    json.dump([summary(job) for job in load(sys.argv[1:])], sys.stdout, indent=1)
    print()
