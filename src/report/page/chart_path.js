// What each step waited for: its critical path, one part of a bar for each owner of its time.

const kPathKinds = [
  { key: "host", label: "the host works", className: "fill-2" },
  { key: "own", label: "a rank by itself", className: "fill-3" },
  { key: "recorder", label: "the profiler holds a thread up", className: "fill-6" },
  { key: "launch", label: "from a launch to the GPU", className: "fill-4" },
  { key: "compute", label: "computing", className: "fill-compute" },
  { key: "memory", label: "copies and fills", className: "fill-memory" },
  { key: "communication", label: "communication of one rank", className: "fill-comm" },
  { key: "transfer", label: "a collective, all ranks there", className: "fill-comm-2" },
  { key: "waiting", label: "a GPU that waits", className: "fill-5" },
  { key: "gap", label: "gap before what came next", className: "fill-idle" },
  { key: "lag", label: "not explained", className: "fill-idle-2" },
  { key: "unrecorded", label: "before the first event", className: "fill-7" },
];
const kPathRest = { key: "", label: "smaller shares", className: "fill-idle-4" };
const kPathSteps = 40;

function pathStepName(result, row) {
  const capture = result.tableColumns.some((column) => column.name === "capture")
    ? `capture ${result.at(row, "capture")}` : "";
  const step = result.at(row, "step") === null ? "" : `step ${result.at(row, "step")}`;
  return [capture, step].filter(Boolean).join(", ") || "all of it";
}

function pathPart(result, row, name) {
  const at = (column) => result.at(row, column);
  const series = kPathKinds.find(({ key }) => key === at("kind")) || kPathRest;
  const times = at("stretches") === 1 ? "1 stretch" : `${whole.format(at("stretches"))} stretches`;
  return {
    series,
    value: at("dur_ms"),
    text: `rank ${at("rank")}: ${at("name") || series.label}`,
    lines: [name, `rank ${at("rank")}, ${series.label}: ${shortened(at("name") || at("kind"), 120)}`,
      `${shownTime(at("dur_ms"))}, ${shownShare(at("share_pct"))} of the step, ${times}`],
  };
}

// A step's rows stand together, the largest first; what is beyond them is the rest of the step.
function pathBars(result) {
  const bars = new Map();
  for (const row of rowNumbers(result)) {
    const name = pathStepName(result, row);
    if (!bars.has(name)) {
      const share = result.at(row, "share_pct");
      const length = share > 0 ? (100 * result.at(row, "dur_ms")) / share : 0;
      bars.set(name, { name, length, endText: shownTime(length), parts: [] });
    }
    bars.get(name).parts.push(pathPart(result, row, name));
  }
  for (const bar of bars.values()) {
    const rest = bar.length - d3.sum(bar.parts, (part) => part.value);
    const place = ({ series }) => kPathKinds.indexOf(series);
    bar.parts.sort((a, b) => place(a) - place(b) || b.value - a.value);
    if (rest > 1e-6 * bar.length) {
      bar.parts.push({
        series: kPathRest,
        value: rest,
        text: kPathRest.label,
        lines: [bar.name, `${kPathRest.label}: ${shownTime(rest)}`],
      });
    }
  }
  return [...bars.values()];
}

function pathChart(section, result) {
  const all = pathBars(result);
  const least = all.map((bar) => bar.length).sort(d3.descending)[kPathSteps - 1] || 0;
  const bars = all.filter((bar) => bar.length >= least).slice(0, kPathSteps);
  const used = [...kPathKinds, kPathRest].filter((one) =>
    bars.some((bar) => bar.parts.some((part) => part.series === one)));
  const which = bars.length < all.length ? ` The ${bars.length} longest of ${all.length} steps.` : "";
  return makeFigure({
    id: section.id,
    label: `${section.title}: a stacked bar for each of ${bars.length} steps`,
    caption: "Milliseconds of each step, by what its critical path went through; at the right how "
      + `long it took.${which}`,
    legend: used,
    draw: (svg, width) => drawBars(svg, width, bars, { isStacked: true, axisLabel: "ms" }),
  });
}
