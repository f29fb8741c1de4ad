// Bars: where each GPU's time goes, how much communication is hidden, what takes the most time.

const kPartitionSeries = [
  { key: "compute_ms", label: "computing", className: "fill-compute" },
  { key: "exposed_comm_ms", label: "exposed communication", className: "fill-comm" },
  { key: "exposed_tensor_ms", label: "exposed: tensor parallel", className: "fill-comm" },
  { key: "exposed_pipeline_ms", label: "exposed: pipeline", className: "fill-comm-2" },
  { key: "exposed_data_ms", label: "exposed: data parallel", className: "fill-comm-3" },
  { key: "exposed_expert_ms", label: "exposed: experts", className: "fill-comm-4" },
  { key: "exposed_context_ms", label: "exposed: context parallel", className: "fill-comm-6" },
  { key: "exposed_other_ms", label: "exposed: other groups", className: "fill-comm-5" },
  { key: "exposed_memory_ms", label: "exposed copies and fills", className: "fill-memory" },
  { key: "idle_ms", label: "idle", className: "fill-idle" },
  { key: "idle_host_ms", label: "idle: waits for the host", className: "fill-idle" },
  { key: "idle_sync_ms", label: "idle: in a synchronisation", className: "fill-idle-2" },
  { key: "idle_dependency_ms", label: "idle: waits for another stream", className: "fill-idle-3" },
  { key: "idle_other_ms", label: "idle: other", className: "fill-idle-4" },
];

// Rows of bars: [{name, parts: [{series, value, lines}]}], side by side or, when `isStacked`, one
// part after the other; `endText` of a row stands at its end, `text` of a part inside it.
function drawBars(svg, width, bars, { isStacked, axisLabel, tickFormat }) {
  const left = widthOfNames(bars.map((bar) => bar.name), width * 0.4);
  const right = width - (bars.some((bar) => bar.endText) ? 64 : 12);
  const rowHeight = bars.length > 40 ? 12 : bars.length > 16 ? 18 : 26;
  const height = bars.length * rowHeight;
  const sumOf = (bar) => d3.sum(bar.parts, (part) => part.value);
  const maxOf = (bar) => d3.max(bar.parts, (part) => part.value);
  const most = d3.max(bars, isStacked ? sumOf : maxOf) || 1;
  const x = d3.scaleLinear().domain([0, most]).range([left, right]);
  // Formatted ones are longer.
  drawAxisBelow(svg, x, height, 0, axisLabel,
    Math.max(tickFormat ? 2 : 3, Math.round((right - left) / 110)), tickFormat);
  const yOf = (i) => i * rowHeight;
  drawRowNames(svg, bars.map((bar) => shortenedInside(bar.name, Math.floor((left - 12) / 6.4))), left - 6,
    yOf, rowHeight);
  const marks = [];
  bars.forEach((bar, i) => {
    let begun = 0;
    const inner = rowHeight - (rowHeight > 14 ? 6 : 2);
    bar.parts.forEach((part, place) => {
      const thick = isStacked ? inner : inner / bar.parts.length;
      const mark = {
        x: x(isStacked ? begun : 0),
        y: yOf(i) + (rowHeight - inner) / 2 + (isStacked ? 0 : place * thick),
        width: x(part.value) - x(0),
        height: thick,
        lines: part.lines,
      };
      begun += part.value;
      if (!(part.value > 0)) return;
      svg.append("rect").attr("class", part.series.className).attr("x", mark.x).attr("y", mark.y)
        .attr("width", mark.width).attr("height", mark.height);
      marks.push(mark);
      const fit = Math.floor((mark.width - 8) / 6.4);
      if (part.text && fit >= 8 && thick > 11) {
        svg.append("text").attr("class", "cell-dark part-name").attr("x", mark.x + 4)
          .attr("y", mark.y + thick / 2).attr("dy", "0.35em").text(shortenedInside(part.text, fit));
      }
    });
    if (bar.endText) {
      svg.append("text").attr("class", "row-name").attr("x", right + 6)
        .attr("y", yOf(i) + rowHeight / 2).attr("dy", "0.35em").text(bar.endText);
    }
  });
  return { height: height + 44, marks };
}

// Of many bars of the same series those that differ most from the others, and what the rest have on
// average: a page of a thousand lines says nothing.
const kBarsMax = 64;
const kBarsApart = 24;

function standingOut(bars, endTextOf) {
  if (bars.length <= kBarsMax) return bars;
  const usual = bars[0].parts.map((_, i) => d3.median(bars, (bar) => bar.parts[i].value));
  const distance = (bar) => d3.max(bar.parts, (part, i) => Math.abs(part.value - usual[i]));
  const differ = bars.filter((bar) => distance(bar) > 0);
  const apart = new Set(differ.sort((a, b) => distance(b) - distance(a)).slice(0, kBarsApart));
  const rest = bars.filter((bar) => !apart.has(bar));
  const name = `mean of the other ${whole.format(rest.length)}`;
  const parts = rest[0].parts.map(({ series }, i) => {
    const value = d3.mean(rest, (bar) => bar.parts[i].value);
    return { series, value, lines: [name, `${series.label}: ${shownTime(value)}`] };
  });
  const mean = { name, parts, endText: endTextOf && endTextOf(parts) };
  return [...bars.filter((bar) => apart.has(bar)), mean];
}

function barsWords(bars) {
  return bars.length <= kBarsMax ? `${bars.length} GPUs`
    : "the GPUs that differ most, and one of the others' mean";
}

function standingOutWords(bars, result) {
  if (bars.length <= kBarsMax) return "";
  const of = result.rows < result.found ? "the first " : "";
  return ` The GPUs that differ most from the others, at most ${kBarsApart}, of ${of}`
    + `${whole.format(bars.length)}.`;
}

// Sums over the steps of each device, where there are any.
function partitionBars(result) {
  const series = kPartitionSeries.filter((one) => result.has(one.key));
  const nameOf = deviceNamer(result);
  const sums = new Map();
  for (const row of rowNumbers(result)) {
    const name = nameOf(row);
    if (!sums.has(name)) sums.set(name, new Map());
    for (const { key } of [{ key: "span_ms" }, ...series]) {
      sums.get(name).set(key, (sums.get(name).get(key) || 0) + result.at(row, key));
    }
  }
  const used = series.filter(({ key }) => [...sums.values()].some((of) => of.get(key) > 0));
  const bars = [...sums].map(([name, of]) => ({
    name,
    parts: used.map((one) => ({
      series: one,
      value: of.get(one.key),
      lines: [name, `${one.label}: ${shownTime(of.get(one.key))}`,
        `${shownShare((100 * of.get(one.key)) / of.get("span_ms"))} of its time`],
    })),
  }));
  return { bars, series: used };
}

function partitionChart(section, result) {
  const { bars, series } = partitionBars(result);
  return makeFigure({
    id: section.id,
    label: `${section.title}: a stacked bar for each of ${barsWords(bars)}`,
    caption: `Milliseconds of each GPU, from its first activity to its last.${standingOutWords(bars, result)}`,
    legend: series,
    draw: (svg, width) => drawBars(svg, width, standingOut(bars), { isStacked: true, axisLabel: "ms" }),
  });
}

function overlapChart(section, result) {
  if (!rowNumbers(result).some((row) => result.at(row, "comm_ms") > 0)) {
    return "No communication kernel ran.";
  }
  const hidden = { label: "hidden behind computation", className: "fill-compute" };
  const exposed = { label: "exposed", className: "fill-comm" };
  const hiddenShare = ([{ value }, rest]) => shownShare((100 * value) / (value + rest.value));
  const nameOf = deviceNamer(result);
  const bars = rowNumbers(result).map((row) => {
    const name = nameOf(row);
    const overlap = result.at(row, "overlap_ms");
    const rest = result.at(row, "comm_ms") - overlap;
    const share = shownShare(result.at(row, "overlap_pct"));
    const lines = (series, ms) => [name, `${series.label}: ${shownTime(ms)}`, `hidden: ${share}`];
    return {
      name,
      endText: share,
      parts: [
        { series: hidden, value: overlap, lines: lines(hidden, overlap) },
        { series: exposed, value: rest, lines: lines(exposed, rest) },
      ],
    };
  });
  return makeFigure({
    id: section.id,
    label: `${section.title}: a stacked bar for each of ${barsWords(bars)}`,
    caption: "Milliseconds in which communication ran; at the right the share that is hidden."
      + standingOutWords(bars, result),
    legend: [hidden, exposed],
    draw: (svg, width) => drawBars(svg, width, standingOut(bars, hiddenShare), { isStacked: true, axisLabel: "ms" }),
  });
}

function waitsChart(section, result) {
  const series = [
    { key: "caused_wait_ms", label: "caused to others", className: "fill-comm" },
    { key: "root_wait_ms", label: "root of the chain", className: "fill-memory" },
    { key: "suffered_wait_ms", label: "suffered itself", className: "fill-idle" },
  ];
  const waits = (row) => series.some((one) => result.at(row, one.key) > 0);
  const waiting = rowNumbers(result).filter(waits);
  if (waiting.length === 0) return "Nobody waited in a collective whose ranks are known.";
  const bars = waiting.slice(0, 64).map((row) => ({
    name: `rank ${result.at(row, "rank")}`,
    parts: series.map((one) => ({
      series: one,
      value: result.at(row, one.key),
      lines: [`rank ${result.at(row, "rank")}`,
        `${one.label}: ${shownTime(result.at(row, one.key))}`],
    })),
  }));
  return makeFigure({
    id: section.id,
    label: `${section.title}: three bars for each of ${bars.length} ranks`,
    caption: "Milliseconds of waiting in collectives, the ranks that cause most of it first.",
    legend: series,
    draw: (svg, width) => drawBars(svg, width, bars, { isStacked: false, axisLabel: "ms" }),
  });
}

const kKindSeries = {
  compute: { label: "compute", className: "fill-compute" },
  communication: { label: "communication", className: "fill-comm" },
  memory: { label: "memory", className: "fill-memory" },
};

function topKernelsChart(section, result) {
  const bars = rowNumbers(result).map((row) => {
    const name = result.at(row, "name") || "(no name)";
    const total = result.at(row, "total_ms");
    const calls = whole.format(result.at(row, "activities"));
    return {
      name,
      endText: shownShare(result.at(row, "share_pct")),
      parts: [{
        series: kKindSeries[result.at(row, "kind")],
        value: total,
        lines: [shortened(name, 120), `${result.at(row, "kind")}, ${calls} times`, shownTime(total)],
      }],
    };
  });
  return makeFigure({
    id: section.id,
    label: `${section.title}: a bar for each of ${bars.length} kernels`,
    caption: "Milliseconds, summed over all ranks; at the right the share of all durations.",
    legend: Object.values(kKindSeries),
    draw: (svg, width) => drawBars(svg, width, bars, { isStacked: true, axisLabel: "ms" }),
  });
}

function topModulesChart(section, result) {
  const forward = { label: "forward", className: "fill-compute" };
  const backward = { label: "backward", className: "fill-memory" };
  const isModule = (row) => result.at(row, "kind") === "module";
  const rows = rowNumbers(result);
  const shown = (rows.some(isModule) ? rows.filter(isModule) : rows).slice(0, 20);
  const bars = shown.map((row) => {
    const name = result.at(row, "name") || "(no name)";
    const own = result.at(row, "gpu_ms");
    const back = result.at(row, "backward_gpu_ms") || 0;
    const lines = (series, ms) => [shortened(name, 120), `${series.label}: ${shownTime(ms)}`,
      `${whole.format(result.at(row, "calls"))} calls`];
    return {
      name,
      endText: shownShare(result.at(row, "share_pct")),
      parts: [
        { series: forward, value: own, lines: lines(forward, own) },
        { series: backward, value: back, lines: lines(backward, back) },
      ],
    };
  });
  return makeFigure({
    id: section.id,
    label: `${section.title}: a stacked bar for each of ${bars.length}`,
    caption: "Milliseconds on the GPU of what was launched in each, and in all that it called; at the "
      + "right the share of all GPU time.",
    legend: [forward, backward],
    draw: (svg, width) => drawBars(svg, width, bars, { isStacked: true, axisLabel: "ms" }),
  });
}
