#!/usr/bin/env python3
"""What the host called and what the GPU did for it, worked out from a trace by brute force: what the
tables host_use, kernel_use, call_path and the paths in launch must hold. Times are integers of ns.

    python3 host_oracle.py TRACE...         how much of what is in it, and how long that took
"""
import bisect
import collections
import itertools
import lzma
import re
import sys
import time

import trace_oracle as oracle

OPERATOR, ANNOTATION, FUNCTION, MODULE, CALL = range(5)
KIND_NAMES = ("operator", "annotation", "function", "module", "call")
MODULE_PREFIX = "nn.Module: "
STEP = re.compile(r"ProfilerStep#(\d+)\Z")

# Args that have columns, and those that stay in the text whatever their size.
COLUMNS = {"Seq", "Addr", "Bytes", "bytes", "Ev Idx", "Python id", "correlation", "External id", "external id",
           "Fwd thread id", "Total Reserved", "Sequence number", "Total Allocated", "Python parent id",
           "Python module id", "Record function id", "Profiler Event Index"}
TEXT_ONLY = {"cbid", "stream", "device", "sort_index", "warps per SM", "shared memory", "blocks per SM",
             "In msg nelems", "Out msg nelems", "est. achieved occupancy %"}
SPARE_COLUMNS = 6
COLUMN = "\x00column"         # stands where a value was taken out


def without_numbers(args):
    """One text for an args object (None: none) whose values with a column are taken out."""
    if args is None:
        return None
    if not isinstance(args, dict):
        return oracle.canonical(args)
    left, spare = {}, SPARE_COLUMNS
    for key, value in args.items():
        has_column = key in COLUMNS and type(value) is int
        if not has_column and key not in TEXT_ONLY and spare and takes_many_values(value):
            has_column, spare = True, spare - 1
        left[key] = COLUMN if has_column else value
    return oracle.canonical(left)


def takes_many_values(value):
    if type(value) is int:
        return not -1000 < value < 1000
    if not isinstance(value, str):
        return False
    if value.startswith(oracle.NUMBER_MARK):
        return len(oracle.text_of(value)) > 3
    return value.startswith("0x") and len(value) > 4


def merged(begin, end):
    """The args of a slice that took two events."""
    args, more = begin.get("args"), end.get("args")
    return {**(args or {}), **more} if isinstance(more, dict) else args


def host_kind(category, name):
    lower = category.lower()
    if oracle.is_launch_category(category):
        return CALL
    if category == "python_function":
        return MODULE if name.startswith(MODULE_PREFIX) else FUNCTION
    if category == "user_annotation":
        return None if STEP.match(name) else ANNOTATION
    return OPERATOR if lower.endswith(("op", "operator")) else None


def whole(args, *keys):
    """The first of the keys that has an integer."""
    return next((args[key] for key in keys if type(args.get(key)) is int), None)


class Slice:
    """A slice of the host. around: the operators, annotations and functions that are open when it starts,
    the outermost first. place: its order on a thread, and between threads as far as they tell."""
    __slots__ = ("kind", "label", "shape", "thread", "ts", "end", "place", "around", "external_id",
                 "correlation", "sequence", "fwd_thread", "forward", "own_path")

    def __init__(self, kind, event, ts, dur, args, order):
        self.kind = kind
        self.label = (oracle.text_of(event.get("name")) or "", oracle.text_of(event.get("cat")) or "")
        # A begin and its end: the args of the begin.
        self.shape = without_numbers(event.get("args")) if kind == OPERATOR else None
        self.thread = (oracle.text_of(event.get("pid")), oracle.text_of(event.get("tid")))
        args = args if isinstance(args, dict) else {}
        self.ts, self.end = ts, ts + max(dur, 0)
        self.place = (ts, -max(dur, 0), order)
        self.around, self.forward, self.own_path = [], None, None
        self.external_id = whole(args, "External id", "external id")
        self.correlation = oracle.text_of(args.get("correlation"))
        self.sequence = whole(args, "Sequence number")
        self.fwd_thread = whole(args, "Fwd thread id")

    @property
    def dur(self):
        return self.end - self.ts

    @property
    def node(self):
        return (self.kind, self.label, self.shape)

    def path(self):
        """The slices in which something is that is launched right in this one."""
        if self.own_path is None:
            self.own_path = [*self.around, self]
        return self.own_path


class Activity:
    """A GPU activity. path, forward_path: slices, the innermost last; None: there is none."""

    def __init__(self, event, ts, dur):
        args = event.get("args")
        args = args if isinstance(args, dict) else {}
        self.label = (oracle.text_of(event.get("name")) or "", oracle.text_of(event["cat"]))
        self.ts, self.dur = ts, max(dur, 0)
        self.track = tuple(oracle.text_of(event.get(key) if args.get(arg) is None else args[arg])
                           for key, arg in (("pid", "device"), ("tid", "stream")))
        self.correlation = oracle.text_of(args.get("correlation"))
        self.external_id = whole(args, "External id", "external id")
        self.call = self.step = self.path = self.forward_path = None


def has_operator(path):
    return any(piece.kind == OPERATOR for piece in path)


def innermost_operator(path):
    return next((piece for piece in reversed(path or []) if piece.kind == OPERATOR), None)


def outermost_by_label(path):
    found = {}
    for piece in path:
        found.setdefault(piece.label, piece)
    return found


def innermost_by_kind(path):
    return list({piece.kind: piece for piece in path}.values())


class HostTrace:
    def __init__(self, events, base_ns=0):
        self.base_ns = base_ns
        self.slices, self.activities, self.steps = [], [], []
        self.several_threads = 0        # backward operators whose number several forward threads have
        self._read(events)
        self.threads = collections.defaultdict(list)
        for piece in sorted(self.slices, key=lambda piece: piece.place):
            self.threads[piece.thread].append(piece)
        for pieces in self.threads.values():
            self._nest(pieces)
        self.operators = sorted((piece for piece in self.slices if piece.kind == OPERATOR),
                                key=lambda piece: piece.place)
        self._find_forward()
        self._launch()
        self.host_rows = self._host_rows()
        self.kernel_rows = self._kernel_rows()

    # -- events to slices

    def _read(self, events):
        begun = collections.defaultdict(list)
        for order, event in enumerate(events):
            phase = event.get("ph") if isinstance(event, dict) else None
            ts = oracle.microseconds_to_ns(event.get("ts")) if phase in ("X", "B", "E") else None
            if ts is None:
                continue
            ts += self.base_ns
            thread = (oracle.text_of(event.get("pid")), oracle.text_of(event.get("tid")))
            if phase == "X":
                self._whole(event, ts, oracle.microseconds_to_ns(event.get("dur", 0)), order)
            elif phase == "B":
                begun[thread].append((event, ts, order))
            elif begun[thread]:
                begin, begin_ts, _ = begun[thread].pop()
                self._host(begin, begin_ts, ts - begin_ts, merged(begin, event), order)

    def _whole(self, event, ts, dur, order):
        if dur is None:
            return
        category = oracle.text_of(event.get("cat")) or ""
        name = oracle.text_of(event.get("name")) or ""
        step = STEP.match(name) if category.lower() == "user_annotation" else None
        if step:
            self.steps.append((ts, int(step.group(1)), ts + max(dur, 0)))
        elif oracle.is_gpu_category(category):
            self.activities.append(Activity(event, ts, dur))
        else:
            self._host(event, ts, dur, event.get("args"), order)

    def _host(self, event, ts, dur, args, order):
        kind = host_kind(oracle.text_of(event.get("cat")) or "", oracle.text_of(event.get("name")) or "")
        if kind is not None:
            self.slices.append(Slice(kind, event, ts, dur, args, order))

    def step_at(self, ts):
        return max(((start, step) for start, step, end in self.steps if start <= ts < end),
                   default=(None, None))[1]

    @staticmethod
    def _nest(pieces):
        """Gives each slice of a thread, in their order, those that are open when it starts."""
        still_open = []
        for piece in pieces:
            still_open = [outer for outer in still_open if outer.end > piece.ts]
            piece.around = still_open
            if piece.kind != CALL:
                still_open = [*still_open, piece]

    # -- the forward operator of a backward one

    def _find_forward(self):
        made = collections.defaultdict(lambda: collections.defaultdict(list))
        for piece in self.operators:
            if piece.sequence is not None and piece.sequence >= 0 and not piece.fwd_thread:
                made[piece.sequence][piece.thread].append(piece)
        backward = [piece for piece in self.operators if piece.fwd_thread
                    and piece.sequence is not None and piece.sequence >= 0]
        meant = collections.defaultdict(collections.Counter)   # {Fwd thread id: threads}
        for piece in backward:
            if len(made[piece.sequence]) == 1:
                meant[piece.fwd_thread][next(iter(made[piece.sequence]))] += 1
        for piece in backward:
            threads = made[piece.sequence]
            self.several_threads += len(threads) > 1
            if len(threads) > 1:
                assert len(meant[piece.fwd_thread]) < 2, "a Fwd thread id that means two threads"
                threads = {thread: threads[thread] for thread in meant[piece.fwd_thread]
                           if thread in threads}
            for candidates in threads.values():
                before = bisect.bisect_left(candidates, piece.ts, key=lambda candidate: candidate.ts)
                piece.forward = candidates[before - 1] if before else None
        for pieces in self.threads.values():
            for piece in pieces:
                # Where slices cross, what is around it may be over when something is launched in it.
                if piece.forward is None and piece.around:
                    piece.forward = piece.around[-1].forward

    # -- launches

    def _launch(self):
        calls, by_external_id = {}, collections.defaultdict(list)
        for piece in sorted(self.slices, key=lambda piece: (piece.ts, piece.place[2])):
            if piece.kind == CALL and piece.correlation is not None:
                calls.setdefault(piece.correlation, piece)
        for piece in self.operators:
            if piece.external_id is not None:
                by_external_id[piece.external_id].append(piece)
        for activity in self.activities:
            call = activity.call = calls.get(activity.correlation)
            activity.step = self.step_at(call.ts) if call else None
            if activity.step is None:
                activity.step = self.step_at(activity.ts)
            path = call.around if call else []
            if call and not has_operator(path):
                before = [piece for piece in by_external_id.get(call.external_id, [])
                          if piece.ts < call.ts]
                path = before[-1].path() if before else path
            if not has_operator(path):
                ever = by_external_id.get(activity.external_id)
                path = ever[-1].path() if ever else path
            activity.path = path or None
            forward = path[-1].forward if path else None
            activity.forward_path = forward.path() if forward else None

    # -- the rows

    def _host_rows(self):
        """{(step, kind, label, shape): calls, total_ns, self_ns, activities, gpu_ns, self_gpu_ns,
        backward_gpu_ns, self_backward_gpu_ns}"""
        rows = collections.defaultdict(lambda: [0] * 8)

        def add(piece, step, column, much):
            rows[(step, *piece.node)][column] += much

        for piece in self.slices:
            step = self.step_at(piece.ts)
            add(piece, step, 0, 1)
            if piece.kind == CALL or all(outer.label != piece.label for outer in piece.around):
                add(piece, step, 1, piece.dur)
        for pieces in self.threads.values():
            for kind in range(5):
                for piece, ns in self_times([piece for piece in pieces if piece.kind == kind]):
                    add(piece, self.step_at(piece.ts), 2, ns)
        for activity in self.activities:
            own = outermost_by_label(activity.path or [])
            for piece in own.values():
                add(piece, activity.step, 3, 1)
                add(piece, activity.step, 4, activity.dur)
            for piece in innermost_by_kind(activity.path or []):
                add(piece, activity.step, 5, activity.dur)
            forward = activity.forward_path or []
            for label, piece in outermost_by_label(forward).items():
                if label not in own:
                    add(piece, activity.step, 6, activity.dur)
            for piece in innermost_by_kind(forward):
                if piece.label not in own:
                    add(piece, activity.step, 7, activity.dur)
        return {key: tuple(row) for key, row in rows.items() if any(row)}

    def _kernel_rows(self):
        """{(step, operator, forward operator, kernel): activities, gpu_ns}; all three are labels."""
        rows = collections.defaultdict(lambda: [0, 0])
        for activity in self.activities:
            names = [piece.label if piece else None
                     for piece in (innermost_operator(activity.path),
                                   innermost_operator(activity.forward_path))]
            row = rows[(activity.step, *names, activity.label)]
            row[0] += 1
            row[1] += activity.dur
        return {key: tuple(row) for key, row in rows.items()}


def self_times(pieces):
    """(slice, ns) of slices of one thread in their order: at each instant the time is that of the last
    of those that are open."""
    points = sorted({point for piece in pieces for point in (piece.ts, piece.end)})
    still_open, coming = [], collections.deque(pieces)
    for start, end in itertools.pairwise(points):
        while coming and coming[0].ts <= start:
            still_open.append(coming.popleft())
        still_open = [piece for piece in still_open if piece.end > start]
        if still_open:
            yield still_open[-1], end - start


def read_text(path):
    if path.endswith(".xz"):
        with lzma.open(path, "rt", encoding="utf-8") as handle:
            return handle.read()
    return oracle.read_text(path)


def load(path):
    document = oracle.parse_json(read_text(path))
    if isinstance(document, list):
        return HostTrace(document)
    return HostTrace(document.get("traceEvents") or [],
                     oracle.whole_number(document.get("baseTimeNanoseconds")) or 0)


def main(paths):
    for path in paths:
        started = time.monotonic()
        trace = load(path)
        kinds = collections.Counter(KIND_NAMES[piece.kind] for piece in trace.slices)
        with_path = sum(activity.path is not None for activity in trace.activities)
        forward = sum(activity.forward_path is not None for activity in trace.activities)
        print(f"{path}: {dict(kinds)}, {len(trace.threads)} threads, {len(trace.steps)} steps, "
              f"{len(trace.activities)} activities, {with_path} with a path, {forward} of a backward "
              f"pass; {trace.several_threads} numbers on several threads; {len(trace.host_rows)} rows of "
              f"host_use, {len(trace.kernel_rows)} of kernel_use; {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: host_oracle.py TRACE...")
    main(sys.argv[1:])
