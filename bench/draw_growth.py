#!/usr/bin/env python3
"""Draws how each step grows with a job's ranks, from what two benches left in runs/, as an SVG.

    bench/draw_growth.py --together bench/runs/ranks-DATE.csv \\
        --gathered bench/runs/gather-DATE.csv --output bench/growth.svg

Two drawings side by side, with the same axes: all ranks in one database (bench_ranks.py), and what
was gathered from their summaries (gather_scale.py). Both axes are logarithmic: what takes ten times
as long for ten times the ranks rises as the dashed lines do.
"""

import argparse
import csv
import html
import math
import pathlib
import sys

import bench_base as base

# Named in the CSV, and drawn in this order; what a job has not been asked is left out.
TOGETHER = {"ingest": "#1b5e9e", "report": "#b3541e", "recommendations": "#6a3d9a",
            "slowdown": "#117a65", "critical_path": "#8a6d00", "what_if": "#a61e4d",
            "doctor": "#555555", "nccl_stall_ranks": "#2f9e44", "straggler_steps": "#c2255c"}
GATHERED = {"gather": "#1b5e9e", "report": "#b3541e", "doctor": "#555555",
            "nccl_stall_ranks": "#2f9e44", "nccl_stall_roots": "#6a3d9a",
            "straggler_steps": "#c2255c", "metrics": "#117a65", "overlap": "#8a6d00"}
RANKS_MIN, RANKS_MAX = 8, 4096
SECONDS_MIN, SECONDS_MAX = 0.01, 100.0
WIDTH, HEIGHT = 460, 400  # of one drawing's axes, in pixels
LEFT, TOP, LABELS, BOTTOM = 60, 60, 170, 55
LINE_HEIGHT = 15
FONT = "font-family='system-ui, sans-serif' font-size='13'"


def read_rows(path: pathlib.Path):
    """{what: [(ranks, CPU s)]}, ranks rising."""
    found = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["cpu_s"]:
                what = row["what"].removeprefix("query ")
                found.setdefault(what, []).append((int(row["ranks"]), float(row["cpu_s"])))
    return {what: sorted(points) for what, points in found.items()}


def share(value, least, most):
    return math.log(value / least) / math.log(most / least)


def place_of(ranks, seconds):
    """x and y in a drawing's axes."""
    return (WIDTH * share(ranks, RANKS_MIN, RANKS_MAX),
            HEIGHT * (1 - share(max(seconds, SECONDS_MIN), SECONDS_MIN, SECONDS_MAX)))


def text(x, y, words, anchor="start", colour="#222222", more=""):
    return (f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{colour}' {FONT} {more}>"
            f"{html.escape(words)}</text>")


def axes():
    drawn = []
    seconds = SECONDS_MIN
    while seconds <= SECONDS_MAX * 1.01:
        _, y = place_of(RANKS_MIN, seconds)
        drawn.append(f"<path d='M0 {y:.1f}H{WIDTH}' stroke='#dddddd'/>")
        drawn.append(text(-8, y + 4, f"{round(seconds, 2):g} s", "end"))
        seconds *= 10
    ranks = RANKS_MIN
    while ranks <= RANKS_MAX:
        x, _ = place_of(ranks, 1)
        drawn.append(f"<path d='M{x:.1f} 0V{HEIGHT}' stroke='#eeeeee'/>")
        drawn.append(text(x, HEIGHT + 20, f"{ranks:,}", "middle"))
        ranks *= 2 if ranks == RANKS_MIN else 4 if ranks * 4 <= RANKS_MAX else 2
    for seconds in (0.01, 0.1, 1.0):  # as the ranks grow
        (x0, y0), (x1, y1) = place_of(RANKS_MIN, seconds), place_of(RANKS_MAX, seconds * 512)
        if y1 < 0:
            x1, y1 = x0 + (x1 - x0) * y0 / (y0 - y1), 0
        drawn.append(f"<path d='M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}' stroke='#bbbbbb' "
                     "stroke-dasharray='4 5'/>")
    drawn.append(text(WIDTH / 2, HEIGHT + 42, "ranks", "middle"))
    return drawn


def apart(wanted):
    """The y of each label, no two closer than a line: from the lowest one up, then down again."""
    placed = {}
    below = math.inf
    for name, y in sorted(wanted.items(), key=lambda each: -each[1]):
        placed[name] = below = min(y, below - LINE_HEIGHT)
    above = -LINE_HEIGHT
    for name, y in sorted(placed.items(), key=lambda each: each[1]):
        placed[name] = above = max(y, above + LINE_HEIGHT)
    return placed


def drawing(title, rows, colours):
    drawn = [text(0, -18, title, more="font-weight='600'"), *axes()]
    ends = {}
    for what, colour in colours.items():
        points = [point for point in rows.get(what, []) if RANKS_MIN <= point[0] <= RANKS_MAX]
        if not points:
            continue
        places = [place_of(*point) for point in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        drawn.append(f"<path d='M{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        drawn += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.5' fill='{colour}'/>"
                  for x, y in places]
        ends[what] = (places[-1], points[-1][1], colour)
    labels = apart({what: y for what, ((_, y), _, _) in ends.items()})
    for what, ((x, y), seconds, colour) in ends.items():
        at = labels[what]
        drawn.append(f"<path d='M{x + 4:.1f} {y:.1f}L{x + 12:.1f} {at:.1f}' stroke='{colour}' "
                     "fill='none'/>")
        drawn.append(text(x + 15, at + 4, f"{what} {seconds:.2g} s", colour=colour))
    return drawn


def picture(together, gathered) -> str:
    apart_px = LEFT + WIDTH + LABELS
    width, height = 2 * apart_px, TOP + HEIGHT + BOTTOM
    lines = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
             f"viewBox='0 0 {width} {height}' role='img'>",
             "<title>CPU seconds of each step by a job's ranks</title>",
             "<rect width='100%' height='100%' fill='white'/>"]
    for number, (title, rows, colours) in enumerate((
            ("All ranks in one database, CPU seconds", together, TOGETHER),
            ("Gathered from summaries, CPU seconds", gathered, GATHERED))):
        lines.append(f"<g transform='translate({LEFT + number * apart_px} {TOP})'>")
        lines += drawing(title, rows, colours)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>\n"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--together", type=pathlib.Path, required=True,
                        help="the CSV file of bench_ranks.py")
    parser.add_argument("--gathered", type=pathlib.Path, required=True,
                        help="the CSV file of gather_scale.py")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the SVG file")
    options = parser.parse_args()
    drawn = picture(read_rows(options.together), read_rows(options.gathered))
    options.output.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(base.run_main("draw_growth", main))
