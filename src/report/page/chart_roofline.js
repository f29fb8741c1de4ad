// The roofline: what operators reach of what the GPU can do, by operations a byte; both axes are
// logarithmic.

function rooflinePoints(result) {
  return rowNumbers(result)
    .filter((row) => result.at(row, "intensity") > 0 && result.at(row, "tflops") > 0)
    .map((row) => ({
      row, x: result.at(row, "intensity"), y: result.at(row, "tflops"),
      share: result.at(row, "share_pct") || 0, category: result.at(row, "category") || "other",
    }));
}

// Each peak of the points once: {dtype, tflops, gbps}, the highest first.
function rooflinePeaks(result, points) {
  const peaks = new Map();
  for (const { row } of points) {
    const [dtype, tflops, gbps] = ["dtype", "peak_tflops", "peak_gbps"].map((name) => result.at(row, name));
    if (tflops !== null) peaks.set(`${dtype} ${tflops} ${gbps}`, { dtype, tflops, gbps });
  }
  return [...peaks.values()].sort((a, b) => b.tflops - a.tflops);
}

function drawRoofs(svg, peaks, x, y) {
  const [least, most] = x.domain();
  const named = [];
  for (const { dtype, tflops, gbps } of peaks) {
    const knee = gbps ? Math.max(tflops * 1000 / gbps, least) : least;
    const path = [[Math.min(knee, most), Math.min(tflops, (Math.min(knee, most) * (gbps || Infinity)) / 1000)],
      [most, Math.min(tflops, gbps ? (most * gbps) / 1000 : tflops)]];
    if (gbps) path.unshift([least, Math.min(tflops, (least * gbps) / 1000)]);
    svg.append("path").attr("class", "roof").attr("d", d3.line()(path.map(([a, b]) => [x(a), y(b)])));
    const at = y(tflops) - 4;
    if (named.some((other) => Math.abs(other - at) < 11) || knee > most) continue;
    named.push(at);
    svg.append("text").attr("class", "row-name").attr("x", x.range()[1] - 2).attr("y", at)
      .attr("text-anchor", "end").text(`${dtype || "peak"}: ${inOne.format(tflops)} TFLOP/s`);
  }
  const memory = peaks.find(({ gbps }) => gbps);
  if (!memory) return;
  const low = Math.max(least * 1.3, (y.domain()[0] * 1000 * 1.5) / memory.gbps);
  const angle = (Math.atan2(y((low * 10 * memory.gbps) / 1000) - y((low * memory.gbps) / 1000),
    x(low * 10) - x(low)) * 180) / Math.PI;
  svg.append("text").attr("class", "row-name")
    .attr("transform", `translate(${x(low)},${y((low * memory.gbps) / 1000) - 6}) rotate(${angle})`)
    .text(`memory: ${whole.format(memory.gbps)} GB/s`);
}

function rooflineLines(result, { row, y, share }) {
  const at = (name) => result.at(row, name);
  return [`${at("op")}${at("dtype") ? `, ${at("dtype")}` : ""}`, shortened(at("shapes") || "", 100),
    `${inTwo.format(y)} TFLOP/s${at("peak_pct") === null ? "" : ` (${shownShare(at("peak_pct"))} of the peak)`}, `
      + `${inOne.format(at("gbps"))} GB/s${at("gbps_pct") === null ? "" : ` (${shownShare(at("gbps_pct"))})`}`,
    `${shownTime(at("gpu_ms"))}, ${shownShare(share)} of the GPU time, ${whole.format(at("calls"))} calls${
      at("bound") === "neither" ? "; bound by neither" : at("bound") ? `; bound by ${at("bound")}` : ""}`];
}

function drawRoofline(svg, width, result, points, seriesOf) {
  const [left, right, top, bottom] = [64, width - 16, 24, 360];
  const peaks = rooflinePeaks(result, points);
  const around = ([least, most]) => [least / 1.8, most * 1.8];
  const knees = peaks.filter(({ gbps }) => gbps).map(({ tflops, gbps }) => (tflops * 1000) / gbps);
  const x = d3.scaleLog().domain(around(d3.extent([...points.map((p) => p.x), ...knees]))).range([left, right]);
  const y = d3.scaleLog().domain(around(d3.extent([...points.map((p) => p.y),
    ...peaks.map((p) => p.tflops)]))).range([bottom, top]);
  drawAxisLeft(svg, y, left, right, "TFLOP/s", logTicks(y, 12), d3.format("~g"));
  drawAxisBelow(svg, x, bottom, top, "operations a byte", logTicks(x, (right - left) / 70), d3.format("~g"));
  drawRoofs(svg, peaks, x, y);
  // An area is a share of the GPU time; the small ones are drawn last.
  const areaOf = d3.scaleLinear().domain([0, d3.max(points, (p) => p.share) || 1]).range([24, 420]);
  const marks = [...points].sort((a, b) => b.share - a.share).map((point) => {
    const series = seriesOf.get(point.category);
    const area = areaOf(point.share);
    const [px, py] = [x(point.x), y(point.y)];
    svg.append("path").attr("class", `${series.className} dot`).attr("fill-opacity", 0.8)
      .attr("transform", `translate(${px},${py})`).attr("d", d3.symbol().type(series.symbol).size(area)());
    const side = Math.max(Math.sqrt(area), 8);
    return { x: px - side / 2, y: py - side / 2, width: side, height: side, lines: rooflineLines(result, point) };
  });
  return { height: bottom + 44, marks: marks.reverse() };
}

function rooflineChart(section, result) {
  const points = rooflinePoints(result);
  const covered = `Operators whose arguments tell what they compute or move have ${
    shownShare(result.at(0, "covered_pct"))} of the GPU time; of the others nothing is said.`;
  if (points.length === 0) {
    return `No operator that multiplies matrices has sizes here: the table has what the others move. ${covered}`;
  }
  const kinds = [...new Set(points.map((point) => point.category))].sort();
  const seriesOf = new Map(kinds.map((kind, i) => [kind, {
    label: shortened(kind, 40), className: `fill-${i % kPalette}`, symbol: kSymbols[i % kSymbols.length],
  }]));
  const hasPeaks = rooflinePeaks(result, points).length > 0;
  return makeFigure({
    id: section.id,
    label: `${section.title}: ${points.length} operators and shapes`,
    caption: `A point is an operator with its shapes, larger the more of the GPU time it takes. ${hasPeaks
      ? "The lines are what the GPU can do: on the slope its memory is the limit, on the level its units."
      : "What this GPU can do is not known: -p peak_tflops and -p peak_gbps tell the query."} ${covered}`,
    legend: [...seriesOf.values()],
    draw: (svg, width) => drawRoofline(svg, width, result, points, seriesOf),
  });
}
