#!/usr/bin/env python3
"""Makes traces of many ranks from those of few.

    python3 make_ranks.py FOLDER --copies 16 [--merge NAME,...] [--late-ns 1000] TRACE...

A TRACE's rank r of n becomes the ranks r, r + n, r + 2n and so on, its groups those of the same
copy. Groups whose description is one of --merge (the whole job's and those of data parallelism
without it) become one group over all copies instead. Copy k is k * --late-ns behind the first, and
every third copy another 10 of these: no two ranks start anything together. Prints the paths.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trace_oracle as oracle  # noqa: E402

MERGED = "default_pg,DATA_PARALLEL_GROUP,DATA_PARALLEL_GROUP_WITH_CP"


class Copier:
    def __init__(self, ranks, copies, merged, late_ns):
        self.ranks, self.copies, self.merged, self.late_ns = ranks, copies, merged, late_ns

    def group(self, ranks, description, copy):
        chosen = range(self.copies) if description in self.merged else [copy]
        return sorted(rank + self.ranks * k for k in chosen for rank in ranks)

    def args(self, args, copy):
        ranks = oracle.ranks_from(args.get("Process Group Ranks"))
        changed = dict(args)
        if ranks is not None:
            group = self.group(ranks, args.get("Process Group Description"), copy)
            changed["Process Group Ranks"] = json.dumps(group)
            changed["Group size"] = len(group)
        for key in ("Src Rank", "Dst Rank", "Rank"):
            if isinstance(args.get(key), int):
                changed[key] = args[key] + self.ranks * copy
        return changed

    def header(self, header, copy):
        changed = json.loads(json.dumps(header))
        info = changed["distributedInfo"]
        info["rank"] += self.ranks * copy
        info["world_size"] = self.ranks * self.copies
        for group in info.get("pg_config") or []:
            ranks = oracle.ranks_from(group.get("ranks"))
            if ranks is not None:
                group["ranks"] = self.group(ranks, group.get("pg_desc"), copy)
                group["pg_size"] = len(group["ranks"])
        late_ns = self.late_ns * (copy + (10 if copy % 3 == 2 else 0))
        changed["baseTimeNanoseconds"] = changed.get("baseTimeNanoseconds", 0) + late_ns
        return changed


def copy_trace(document, copier, folder):
    """The copies of one trace; its events as texts, as most of them do not change."""
    events = document["traceEvents"]
    header = {key: value for key, value in document.items() if key != "traceEvents"}
    texts = [json.dumps(event) for event in events]
    touched = [i for i, event in enumerate(events) if isinstance(event.get("args"), dict)
               and ("Process Group Ranks" in event["args"] or "Collective name" in event["args"])]
    for copy in range(copier.copies):
        for i in touched:
            event = events[i]
            texts[i] = json.dumps({**event, "args": copier.args(event["args"], copy)})
        head = copier.header(header, copy)
        path = os.path.join(folder, f"rank{head['distributedInfo']['rank']}.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
            file.write(",\n".join(texts) + "\n]}\n")
        yield path


def make_ranks(paths, folder, copies, merged=MERGED, late_ns=1000):
    os.makedirs(folder, exist_ok=True)
    copier = Copier(len(paths), copies, set(merged.split(",")), late_ns)
    made = []
    for path in paths:
        made += copy_trace(json.loads(oracle.read_text(path)), copier, folder)
    return made


def main():
    parser = argparse.ArgumentParser(description="Make traces of many ranks from those of few.")
    parser.add_argument("folder")
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--merge", default=MERGED)
    parser.add_argument("--late-ns", type=int, default=1000)
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    for path in make_ranks(options.traces, options.folder, options.copies, options.merge,
                           options.late_ns):
        print(path)


if __name__ == "__main__":
    main()
