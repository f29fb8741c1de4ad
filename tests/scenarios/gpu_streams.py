"""What a simulated job consists of, and how GPU streams work through their queues."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Group:
    """A communicator as PyTorch describes it."""
    name: str
    description: str
    ranks: tuple


@dataclasses.dataclass
class Slice:
    """Something that the host did."""
    category: str
    name: str
    tid: int
    start: int
    end: int = None
    external: int = None
    correlation: int = None
    args: dict = dataclasses.field(default_factory=dict)
    work_end: int = None  # of a call that waits: when all that it waits for has ended


@dataclasses.dataclass(eq=False)
class Meeting:
    """A collective: the parts of all ranks."""
    key: tuple
    collective: str
    group: Group
    ranks: tuple  # that take part
    transfer: int
    in_bytes: int
    parts: dict = dataclasses.field(default_factory=dict)

    def starts(self):
        return {rank: part.start for rank, part in self.parts.items()}

    def waits(self):
        last = max(self.starts().values())
        return {rank: last - start for rank, start in self.starts().items()}


@dataclasses.dataclass(eq=False)
class Activity:
    """Something that a GPU stream does."""
    rank: int
    stream: int
    category: str
    name: str
    dur: int
    ready: int
    kind: str  # compute, communication, memory, waiting
    correlation: int
    external: int
    after: list = dataclasses.field(default_factory=list)
    meeting: Meeting = None
    start: int = None
    end: int = None
    args: dict = dataclasses.field(default_factory=dict)


class Stream:
    def __init__(self):
        self.queue = []
        self.done = 0
        self.owner = None  # the one thread that launches into it

    def last(self):
        return self.queue[-1] if self.queue else None

    def advance(self):
        moved = False
        while self.done < len(self.queue):
            activity = self.queue[self.done]
            before = ([self.queue[self.done - 1]] if self.done else []) + activity.after
            if any(other.end is None for other in before):
                return moved
            if activity.start is None:
                activity.start = max([activity.ready] + [other.end for other in before])
                moved = True
            if not self.finish(activity):
                return moved
            self.done += 1
            moved = True
        return moved

    @staticmethod
    def finish(activity):
        meeting = activity.meeting
        if meeting is None:
            activity.end = activity.start + activity.dur
        elif len(meeting.parts) == len(meeting.ranks) and activity.end is None:
            if all(part.start is not None for part in meeting.parts.values()):
                end = max(meeting.starts().values()) + meeting.transfer
                for part in meeting.parts.values():
                    part.end = end
        return activity.end is not None
