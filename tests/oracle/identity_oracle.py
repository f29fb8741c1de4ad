"""Which traces belong together: runs, captures, communicators and what these are for, from the text of
the contract. Nothing is looked up twice: traces are compared with traces, one by one.
"""
import collections
import os
import re

Communicator = collections.namedtuple("Communicator", "name ranks")    # name: empty where there is none

# What Megatron-LM calls its communicators: by its own sources, less _GROUP and what comes after it.
MEGATRON = {
    "default_pg": "other", "model_parallel": "other", "embedding": "other",
    "position_embedding": "other", "tensor_and_data_parallel": "other",
    "tensor_and_context_parallel": "other", "expert_tensor_model_pipeline_parallel": "other",
    "data_parallel": "data", "intra_partial_data_parallel": "data",
    "inter_partial_data_parallel": "data", "expert_data_parallel": "data",
    "intra_partial_expert_data_parallel": "data", "inter_partial_expert_data_parallel": "data",
    "intra_distributed_optimizer_instance": "data",
    "inter_distributed_optimizer_instance": "data",
    "tensor_model_parallel": "tensor", "expert_tensor_parallel": "tensor",
    "gtp_weight_remat": "tensor", "expert_gtp_weight_remat": "tensor",  # generalized tensor parallel
    "pipeline_model_parallel": "pipeline", "context_parallel": "context",
    "hierarchical_context_parallel": "context",
    "expert_model_parallel": "expert", "expert_tensor_and_model_parallel": "expert",
}
# What frameworks on PyTorch call the sides of a mesh, and plain words.
SIDES = {
    "tp": "tensor", "etp": "tensor", "tensor": "tensor", "pp": "pipeline", "pipeline": "pipeline",
    "dp": "data", "ddp": "data", "fsdp": "data", "data": "data", "replicate": "data",
    "shard": "data", "cp": "context", "sp": "context", "context": "context",
    "sequence": "context", "ep": "expert", "expert": "expert",
}


def parallelism(description):
    """By a communicator's own description; a name that means several things is other."""
    text = re.sub(r"[^a-z0-9]+", "_", (description or "").lower()).strip("_")
    plain = re.sub(r"_group(_.*)?$", "", text)
    if plain in MEGATRON:
        return MEGATRON[plain]
    words = [word for word in plain.split("_") if word in SIDES]
    if words and words[0] in ("dp", "fsdp"):       # dp_shard_cp: over all of these gradients are added
        return "data"
    kinds = {SIDES[word] for word in words}
    return kinds.pop() if len(kinds) == 1 else "other"


# ---------------------------------------------------------------------------------------------

def folder_of(path):
    return os.path.dirname(os.path.abspath(path))


def is_below(folder, above):
    return folder == above or folder.startswith(above.rstrip("/") + "/")


def run_folder(trace, traces, inputs):
    """The folder that is the run: the input, unless folders below it hold the same rank again; of a
    file that was given itself the one in which it is."""
    own = folder_of(trace.path)
    given = [os.path.abspath(path) for path in inputs if os.path.isdir(path)]
    above = [folder for folder in given if is_below(own, folder)]
    if not above:
        return own
    whole = min(above, key=len)
    folders = collections.defaultdict(set)
    for other in traces:
        if is_below(folder_of(other.path), whole):
            folders[other.rank].add(folder_of(other.path))
    return own if any(len(several) > 1 for several in folders.values()) else whole


def runs(traces, inputs=()):
    """{folder: its traces}"""
    found = collections.defaultdict(list)
    for trace in traces:
        found[run_folder(trace, traces, inputs)].append(trace)
    return dict(found)


def time_of(trace):
    """(first start, last end) of the events of a trace; None when none has a time."""
    starts = [piece.ts for piece in trace.slices + trace.negative]
    ends = [piece.ts + max(piece.dur, 0) for piece in trace.slices + trace.negative]
    points = [ts for _, _, ts in trace.points] + [ts for _, ts in trace.counters + trace.flows]
    return (min(starts + points), max(ends + points)) if starts or points else None


def captures(traces):
    """The captures of a run in the order of time, as lists of traces: those whose times overlap. A rank
    is once in a capture, so a trace is of the one with which it shares most time."""
    timed = [(time_of(trace), trace) for trace in traces]
    found = []                                     # [[(time, trace)]]
    for time, trace in sorted((pair for pair in timed if pair[0]), key=lambda pair: pair[0]):
        def shared(capture):
            return max(min(time[1], end) - max(time[0], start) for (start, end), _ in capture)

        fitting = [capture for capture in found if shared(capture) >= 0
                   and all(other.rank != trace.rank for _, other in capture)]
        if fitting:
            max(fitting, key=shared).append((time, trace))
        else:
            found.append([(time, trace)])
    bare = [[trace] for time, trace in timed if not time]
    return [[trace for _, trace in capture] for capture in found] + bare
